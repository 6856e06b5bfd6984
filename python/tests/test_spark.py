"""The same documents go on an engine as on one machine: one file of tests for every engine that is here.

The long ones run where SIMTOOL_SPARK_ALL is set.
"""

import datetime
import decimal
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import simtool

pyspark = pytest.importorskip("pyspark", reason="skipped: pyspark is not installed")
pa = pytest.importorskip("pyarrow", reason="skipped: pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="skipped: pyarrow is not installed")

simtool_spark = pytest.importorskip("simtool_spark", reason="skipped: simtool_spark is not installed")

ALL = bool(os.environ.get("SIMTOOL_SPARK_ALL"))
DATA = os.environ.get("SIMTOOL_DATA")
long = pytest.mark.skipif(not ALL, reason="skipped: SIMTOOL_SPARK_ALL is not set")

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.showConsoleProgress": "false",
    # Snappy has native code of its own.
    "spark.sql.parquet.compression.codec": "zstd",
}


class Cluster:
    """A standalone master and two workers on the loopback."""

    def __init__(self, folder):
        home = Path(pyspark.__file__).parent
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_WORKER_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1"}
        self.processes = []

        def start(*arguments):
            log = open(folder / f"{len(self.processes)}.log", "w")
            command = [home / "bin/spark-class", *arguments, "--host", "127.0.0.1"]
            self.processes.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True))
            return Path(log.name)

        port = 20_000 + os.getpid() % 10_000
        self.url = f"spark://127.0.0.1:{port}"
        log = start("org.apache.spark.deploy.master.Master", "--port", str(port), "--webui-port", "0")
        wait_for(log, "I have been elected leader")
        for _ in range(2):
            log = start("org.apache.spark.deploy.worker.Worker", self.url, "--cores", "1", "--memory", "1g", "--webui-port", "0")
            wait_for(log, "Successfully registered")

    def kill_worker(self):
        os.killpg(self.processes[-1].pid, signal.SIGKILL)

    def stop(self):
        for process in self.processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def wait_for(log, line, seconds=60):
    for _ in range(10 * seconds):
        if line in log.read_text():
            return
        time.sleep(0.1)
    raise TimeoutError(f"{log}: {log.read_text()[-2000:]}")


def classic(master):
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = pyspark.sql.SparkSession.builder.master(master)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    if "local" not in master:
        builder = builder.config("spark.executor.memory", "512m").config("spark.executor.cores", "1")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@pytest.fixture(scope="session", params=["local", "standalone", "sail", "connect"])
def spark(request, tmp_path_factory):
    engine = request.param
    if engine != "sail" and shutil.which("java") is None:
        pytest.skip("skipped: there is no Java")
    if engine == "local":
        session = classic("local[2]")
        yield session
        session.stop()
    elif engine == "connect":
        if not list(Path(pyspark.__file__).parent.glob("jars/spark-connect_*.jar")):
            pytest.skip("skipped: this pyspark has no Connect server")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        session = pyspark.sql.SparkSession.builder.remote("local[2]").getOrCreate()
        for name in ("spark.sql.shuffle.partitions", "spark.sql.parquet.compression.codec"):
            session.conf.set(name, SETTINGS[name])
        yield session
        session.stop()
    elif engine == "standalone":
        cluster = Cluster(tmp_path_factory.mktemp("cluster"))
        try:
            session = classic(cluster.url)
            session.cluster = cluster
            yield session
            session.stop()
        finally:
            cluster.stop()
    else:
        sail = pytest.importorskip("pysail.spark", reason="skipped: pysail is not installed")
        server = sail.SparkConnectServer()
        server.start(background=True)
        session = pyspark.sql.SparkSession.builder.remote(f"sc://localhost:{server.listening_address[1]}").getOrCreate()
        yield session
        session.stop()
        server.stop()


@pytest.fixture(autouse=True)
def short(request):
    """Runs a single test on Spark's cluster and server, unless all tests are requested."""
    is_slow = "standalone" in request.node.name or "connect" in request.node.name
    if is_slow and not ALL and request.node.originalname != "test_as_on_one_machine":
        pytest.skip("skipped: SIMTOOL_SPARK_ALL is not set")


def written(seed, count, words=60, vocabulary=4000):
    """Builds documents with repeats: equal ones, changed ones, changes of changed ones, and empty ones."""
    rng = random.Random(seed)
    texts = []
    for _ in range(count):
        kind = rng.random()
        if texts and kind < 0.15:
            text = rng.choice(texts)
        elif texts and kind < 0.5:
            changed = rng.choice(texts).split()
            if changed:
                changed[rng.randrange(len(changed))] = f"w{rng.randrange(vocabulary)}"
            text = " ".join(changed)
        elif kind < 0.52:
            text = rng.choice(["", "…", " "])
        else:
            length = rng.randint(words // 2, words)
            text = " ".join(f"w{rng.randrange(vocabulary)}" for _ in range(length))
        texts.append(text)
    return texts


@pytest.fixture
def frame(spark, tmp_path):
    """Makes a DataFrame of texts."""

    def made(texts, ids=None, parts=None, **others):
        ids = list(range(len(texts))) if ids is None else ids
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
        pq.write_table(pa.table({"id": ids, "text": texts, **others}), path, compression="zstd")
        rows = spark.read.parquet(str(path))
        return rows if parts is None else rows.repartition(parts)

    return made


def on_engine(rows):
    """Returns the removed documents, with the `similarity` if texts were compared."""
    known = ["id", "kept_id", "similarity", "distance"]
    assert rows.columns in [known, known[:3], [*known[:2], "distance"]]
    return sorted(tuple(row) for row in rows.collect())


def in_order(removed):
    return sorted(zip(*(removed[name].to_pylist() for name in removed.column_names)))


def on_one_machine(texts, ids=None, **options):
    """Returns the documents that one machine removes, with documents in the order of their ids."""
    ids = list(range(len(texts))) if ids is None else ids
    order = sorted(range(len(ids)), key=lambda row: ids[row].encode() if isinstance(ids[row], str) else ids[row])
    removed = simtool.deduplicate([texts[row] for row in order], **{"method": "simhash", **options}).removed
    return sorted((ids[order[row]], ids[order[kept]], *how) for row, kept, *how in in_order(removed))


OPTIONS = [
    {},
    {"method": "simhash:bits=128", "max_distance": 12, "keep": "longest"},
    {"max_distance": 10, "keep": "last", "cluster": "components"},
    {"method": "simhash:bits=512", "max_distance": 40},
    {"method": "minhash:measure=jaccard", "max_distance": 20},
    {"method": "minhash:recall=0.95", "max_distance": 200},
    {"method": "multi-lexicon:lexicons=6,votes=4", "max_distance": 8},
    {"method": "i-match:lexicons=6,idf_band=0-1,least_terms=1,least_share=0.01,lexicon_share=0.5", "max_distance": 3},
]

VERIFIED = [
    {"max_distance": 16, "verify": 0.7},
    {"method": "simhash:bits=128", "max_distance": 40, "verify": "cosine:0.6", "shingle": "words:2", "keep": "longest"},
    {"max_distance": 16, "verify": "containment:0.9", "keep": "last", "cluster": "components"},
    {"method": "minhash:recall=0.95", "max_distance": 200, "verify": 0.5},
]


LEARNED = [
    {"method": "simhash:weight=idf,verify_weight=idf", "max_distance": 10, "shingle": "words:2", "verify": 0.6},
    {"method": "simhash:bits=64", "words": 500, "max_distance": 6, "keep": "longest"},
    {"method": "minhash:lanes=32,bits=4,measure=jaccard,idf_band=0.15-1", "max_distance": 8, "shingle": "chars:7"},
    {"method": "simhash:weight=levels,top=20,verify_weight=idf", "max_distance": 8, "verify": "cosine:0.6"},
]


@pytest.mark.parametrize("options", [*OPTIONS, *VERIFIED] if ALL else [*OPTIONS[1:3], VERIFIED[0]], ids=str)
def test_as_on_one_machine(spark, frame, monkeypatch, options):
    # With this limit several tasks number the ids.
    monkeypatch.setattr(simtool_spark.decided, "FULL_PART", 400)
    texts = written(1, 1500)
    texts += ["one and the same text", "One and the same text", "one and the same text", None]
    expected = on_one_machine(texts, **options)
    assert len(expected) > 200
    # The rows of all documents have the removed ones among them.
    rows = simtool_spark.deduplicate(frame(texts), annotate="weight=log", **options)
    rows = sorted(rows.collect(), key=lambda row: row["id"])
    closeness = [name for name in ("similarity", "distance") if name in rows[0]]
    assert [(row["id"], row["kept_id"], *(row[name] for name in closeness)) for row in rows if not row["kept"]] == expected
    found = simtool.deduplicate(texts, annotate="weight=log", **{"method": "simhash", **options}).documents.to_pydict()
    kept = found.pop("kept")
    found["id"], found["kept_id"] = found.pop("row"), kept
    found["kept"] = [row == by for row, by in enumerate(kept)]
    names = ["bytes", "tokens", "kept", "kept_id", *closeness, "cluster_id", "cluster_size", "exact_copies", "weight"]
    assert rows[0].asDict().keys() == found.keys() and list(rows[0].asDict()) == ["id", *names]
    assert [row.asDict() for row in rows] == [dict(zip(found, values)) for values in zip(*found.values())]
    assert max(found["exact_copies"]) > 1


EXACT = [
    {"similarity": 0.7, "shingle": "words:2"},
    {"method": "exact:weight=idf", "similarity": 0.6, "keep": "longest"},
    {"similarity": "cosine:0.8", "shingle": "words:1", "keep": "last", "cluster": "components"},
    {"similarity": "containment:0.9", "shingle": "words:2"},
    {"similarity": "tversky:0.7", "shingle": "chars:5"},
    {"similarity": "dice:0.8", "shingle": "words:2"},
    {"similarity": 1},
]


@pytest.mark.parametrize("options", EXACT if ALL else EXACT[:3], ids=str)
def test_sets_are_joined_as_on_one_machine(spark, frame, monkeypatch, options):
    boilerplate = " ".join(f"b{at}" for at in range(15))
    texts = [f"{text} {boilerplate}" if row % 3 else text for row, text in enumerate(written(15, 700))]
    texts += [None, "", None] + ["a hot block of one and the same text " * 2] * 500
    expected = on_one_machine(texts, **{"method": "exact", **options})
    assert 500 < len(expected) < 1150
    # Keys are chosen by a sample, and without one.
    for parts, sample in [(1, 50), (7, 0)] if ALL else [(7, 50)]:
        found = simtool_spark.deduplicate(frame(texts, parts=parts), sample=sample, **{"method": "exact", **options})
        assert on_engine(found) == expected


def test_queries_are_matched_by_sets(spark, frame):
    corpus, queries = written(16, 400), written(16, 200)[100:] + written(17, 100) + [None]
    for options in [{"similarity": 0.6, "shingle": "words:1"}, {"method": "exact:weight=idf", "similarity": 0.5}][: 2 if ALL else 1]:
        options = {"method": "exact", **options}
        expected = in_order(simtool.match(queries, against=corpus, **options).removed)
        found = simtool_spark.match(frame(queries), against=frame(corpus), **options)
        assert on_engine(found) == expected
        assert len(expected) > 80


def test_many_sets_of_one_key(spark, frame, tmp_path):
    # All sets have the same keys, and there are more pairs than the driver accepts.
    rng = random.Random(18)
    words = [f"w{at}" for at in range(12)]
    texts = [" ".join(words + rng.sample(words, 3)) + f" v{row % 40}" for row in range(300)]
    options = {"method": "exact", "similarity": 0.7, "shingle": "words:1"}
    expected = on_one_machine(texts, **options)
    assert len(expected) == 299
    found = simtool_spark.deduplicate(frame(texts), max_pairs=10, work_dir=str(tmp_path / "work"), **options)
    assert on_engine(found) == expected


@pytest.mark.parametrize("options", LEARNED if ALL else LEARNED[:3], ids=str)
def test_the_model_is_that_of_one_machine(spark, frame, monkeypatch, options):
    # With this limit a task returns its counts several times.
    monkeypatch.setattr(simtool_spark.learning, "MOST_HELD", 3000)
    # Some words have letters only.
    letters = str.maketrans("0123456789", "abcdefghij")
    texts = [text.translate(letters) for text in written(13, 900)] + [None, "", None]
    expected = on_one_machine(texts, **options)
    assert 100 < len(expected) < 700
    for parts in [1, 7] if ALL else [7]:
        assert on_engine(simtool_spark.deduplicate(frame(texts, parts=parts), **options)) == expected


def test_too_many_terms_for_a_task(spark, frame, tmp_path, monkeypatch):
    texts = written(14, 100)
    with pytest.raises(ValueError, match="terms are in several documents: more than max_terms 10"):
        simtool_spark.deduplicate(frame(texts), method="simhash:weight=idf", max_terms=10)
    monkeypatch.setattr(simtool_spark.learning, "FEW_TERMS", 10)
    with pytest.raises(ValueError, match="more than 10 need a work_dir"):
        simtool_spark.deduplicate(frame(texts), method="simhash:weight=idf")
    found = simtool_spark.deduplicate(frame(texts), method="simhash:weight=idf", work_dir=str(tmp_path / "work"))
    assert on_engine(found) == on_one_machine(texts, method="simhash:weight=idf")


def test_texts_as_ids_and_many_partitions(spark, frame):
    texts = written(2, 600)
    ids = [f"ä{number * 7919 % 600}/{'x' * (number % 3)}" for number in range(600)]
    expected = on_one_machine(texts, ids, max_distance=8)
    found = simtool_spark.deduplicate(frame(texts, ids, 20 if ALL else 5), max_distance=8, partitions=200 if ALL else 30, sample=100)
    assert on_engine(found) == expected
    assert expected


def test_one_partition_and_files_between(spark, frame, tmp_path, monkeypatch):
    # With this limit all texts travel, as if very many had close ones.
    monkeypatch.setattr(simtool_spark.verify, "MOST_TOLD", 0)
    texts = written(3, 600)
    for options in [{"max_distance": 8}, {"max_distance": 12, "verify": 0.7}]:
        found = simtool_spark.deduplicate(frame(texts, parts=1), partitions=1, work_dir=str(tmp_path / "work"), **options)
        assert on_engine(found) == on_one_machine(texts, **options)


def test_a_hot_block_and_full_buckets(spark, frame):
    copies = 100_000 if ALL else 2_000
    texts = ["one and the same text of a mirror " * 3] * copies + written(4, 1000) + [""] * 500
    expected = on_one_machine(texts, max_distance=6)
    assert len(expected) >= copies - 1
    found = simtool_spark.deduplicate(frame(texts), max_distance=6, full_bucket=3)
    assert on_engine(found) == expected
    found = simtool_spark.deduplicate(frame(texts), max_distance=6, full_bucket=3, verify=0.7)
    assert on_engine(found) == on_one_machine(texts, max_distance=6, verify=0.7)


def shuffled(seed, count):
    """Builds texts with equal fingerprints and different sets: lines that are repeated, often or seldom."""
    rng = random.Random(seed)
    lines = [" ".join(f"v{rng.randrange(90)}" for _ in range(9)) + "." for _ in range(12)]
    often = [" ".join(lines)] * 30
    return [" ".join(often + rng.sample(lines, 3) + [f"x{rng.randrange(9)}"] * rng.randrange(4)) for _ in range(count)]


def test_texts_of_equal_fingerprints_are_compared(spark, frame):
    copies = 100_000 if ALL else 2_000
    hot = [f"{'One' if row % 2 else 'one'} and the same text of a mirror, {'' if row % 3 else '!'}" for row in range(copies)]
    texts = hot + shuffled(10, 300) + written(11, 300) + [""] * 50
    options = {"max_distance": 4, "verify": "0.95"}
    without = on_one_machine(texts, max_distance=4)
    expected = on_one_machine(texts, **options)
    assert copies < len(expected) < len(without)
    found = simtool_spark.deduplicate(frame(texts), partitions=200 if ALL else 3, **options)
    assert on_engine(found) == expected


def columns(seed, count):
    """Builds columns of every kind that can decide which document is kept, with ties and nulls."""
    rng = random.Random(seed)

    def some(made, null=None):
        return [null if rng.random() < 0.1 else made(rng.randrange(12)) for _ in range(count)]

    nan = float("nan")
    start = datetime.datetime(2024, 5, 1)
    return {
        "whole": pa.array(some(lambda number: number * 10**17 - 10**18), pa.int64()),
        "few": pa.array(some(lambda number: number - 6), pa.int16()),
        "float": pa.array(some(lambda number: number / 4 - 1, nan), pa.float64()),
        # Some texts read as numbers, which are sorted before other texts.
        "word": pa.array(some(lambda number: ["9", "10", "-2.5", "", "a", "ab", "ä"][number % 7])),
        "day": pa.array(some(lambda number: start.date() + datetime.timedelta(number))),
        "time": pa.array(some(lambda number: start + datetime.timedelta(0, 0, number)), pa.timestamp("us", "UTC")),
        "flag": pa.array(some(lambda number: number < 6)),
        "decimal": pa.array(some(lambda number: decimal.Decimal(number) / 4), pa.decimal128(6, 2)),
    }


def test_a_column_decides_who_is_kept(spark, frame, tmp_path):
    texts = written(19, 500) + ["a hot block of one and the same text"] * 60 + [None, ""]
    fields = columns(20, len(texts))
    documents = frame(texts, parts=3, **fields)
    simhash, components = {"max_distance": 10}, {"max_distance": 10, "cluster": "components"}
    ways = [("max", simhash), ("min", components), ("max", {"method": "exact", "similarity": 0.7, "shingle": "words:2"})]
    ways.append(("min", {"max_distance": 16, "verify": 0.7, "max_pairs": 10, "work_dir": str(tmp_path / "work")}))
    for number, (name, values) in enumerate(fields.items()):
        # In memory, decimals are accepted from lists only.
        values = values.to_pylist() if name == "decimal" else values
        for keep, options in ways if ALL else [ways[number % 4]]:
            found = simtool_spark.deduplicate(documents, keep=f"{keep}:{name}", **options)
            alone = {name: value for name, value in options.items() if name not in ("max_pairs", "work_dir")}
            assert on_engine(found) == on_one_machine(texts, keep=keep, keep_field=values, **alone), (name, keep)


def test_short_texts_are_repeats_of_equal_ones(spark, frame):
    # Most lexicons have none of the words of a short text. Equal short texts are repeats all the same, on either
    # side.
    rng = random.Random(19)
    texts = [" ".join(rng.sample([f"w{at}" for at in range(8)], rng.randint(1, 3))) for _ in range(300)]
    options = {"method": "i-match:lexicons=6,idf_band=0-1,least_terms=1,least_share=0.01", "max_distance": 3}
    options["method"] += ",lexicon_share=0.3"
    expected = on_one_machine(texts, **options)
    repeats = len(texts) - len(set(texts))
    assert 20 < repeats <= len(expected)
    assert any(distance > 0 for *_, distance in expected)
    assert on_engine(simtool_spark.deduplicate(frame(texts, parts=3), **options)) == expected
    expected = in_order(simtool.match(texts[100:], against=texts[:200], **options).removed)
    assert len(expected) > 20
    assert on_engine(simtool_spark.match(frame(texts[100:]), against=frame(texts[:200]), **options)) == expected


def test_nothing_to_find(spark, frame):
    assert on_engine(simtool_spark.deduplicate(frame(["", "one two three four"]))) == []


def test_queries_are_matched(spark, frame):
    corpus, queries = written(5, 500), written(5, 200)[100:] + written(6, 100)
    learned = {"method": "simhash:weight=idf,verify_weight=idf", "max_distance": 8, "verify": 0.6, "shingle": "words:2"}
    every = [{"max_distance": 8, "verify": 0.7}, {"max_distance": 8}, learned, {"method": "simhash:bits=128", "max_distance": 12}]
    for options in every[: 4 if ALL else 3]:
        expected = in_order(simtool.match(queries, against=corpus, **{"method": "simhash", **options}).removed)
        found = simtool_spark.match(frame(queries), against=frame(corpus), **options)
        assert on_engine(found) == expected
        assert expected


def test_options_that_are_not_distributed_are_refused(spark, frame):
    few = frame(["one two three"])
    for options, message in [
        ({"method": "minhash"}, "distances that no keys are known for"),
        ({"keep": "max"}, "needs a field, as in max:score"),
        ({"keep": "min:size"}, "column size: must be one of id, text"),
        ({"colour": "red"}, "no such option"),
        ({"text_column": "body"}, "column body: must be one of id, text"),
        ({"annotate": "weight=cube"}, "weight cube: must be 1, log, sqrt"),
    ]:
        with pytest.raises(ValueError, match=message):
            simtool_spark.deduplicate(few, **options)
    lists = few.selectExpr("id", "text", "array(id) AS all")
    with pytest.raises(ValueError, match="keep all: all must be numbers, texts, points in time or booleans, not lists"):
        simtool_spark.deduplicate(lists, keep="min:all")
    with pytest.raises(ValueError, match="does not go with a match"):
        simtool_spark.match(few, against=few, keep="last")


def nested(texts):
    """Builds columns that have the texts in fields, lists and lists of objects. Some values are missing."""
    chat, lists, meta, dotted, first, second = [], [], [], [], [], []
    for row, text in enumerate(texts):
        words = (text or "").split()
        parts = [" ".join(words[:5]), " ".join(words[5:])]
        messages = [{"role": "user", "content": part} for part in parts]
        chat.append(None if text is None else [*messages, None, {"role": "none", "content": None}])
        lists.append(None if text is None else [[parts[0], None], None, [], [parts[1]]])
        meta.append(None if text is None else {"text.raw": text, "n": row})
        dotted.append(text)
        first.append(text if row % 3 == 0 else None)
        second.append(text if row % 3 else "of no importance")
    content = pa.list_(pa.struct({"role": pa.string(), "content": pa.string()}))
    return {
        "messages": pa.array(chat, content),
        "lists": pa.array(lists, pa.list_(pa.list_(pa.string()))),
        "meta": pa.array(meta, pa.struct({"text.raw": pa.string(), "n": pa.int64()})),
        "a.b": pa.array(dotted, pa.string()),
        "first": pa.array(first, pa.string()),
        "second": pa.array(second, pa.string()),
    }


def test_selectors_select_what_files_have(spark, tmp_path):
    texts = [*written(21, 120), None]
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"id": [f"u{row:03}" for row in range(len(texts))], **nested(texts)}), path, compression="zstd")
    documents = spark.read.parquet(str(path))
    fields = ["messages[].content", "lists[][]", "lists[]", r"meta.text\.raw", "meta.text.raw", "a.b", "first,second"]
    for field in [*fields, "a.b+messages[].content", "first+second,a.b", None]:
        how = {"text_field": "*"} if field is None else {"text_field": field}
        simtool.deduplicate_files(path, output=tmp_path / "out", force=True, method="simhash", max_distance=12, **how)
        lines = (tmp_path / "out" / "removed.jsonl").read_text().splitlines()
        expected = sorted((line["id"], line["kept_id"], line["distance"]) for line in map(json.loads, lines))
        how = {"text_column": "*" if field is None else field}
        assert on_engine(simtool_spark.deduplicate(documents, max_distance=12, **how)) == expected, field
        assert len(expected) > 10, field


def test_ids_are_selected_and_checked(spark, frame):
    texts = ["one and the same text of some words"] * 3 + ["another text that is like no other one"]
    ids = pa.array([{"a.b": row if row < 2 else None, "c": f"x{row}"} for row in range(4)], pa.struct({"a.b": pa.int64(), "c": pa.string()}))
    removed = simtool_spark.deduplicate(frame(texts, meta=ids), id_column=r"meta.a\.b,meta.c")
    assert on_engine(removed) == [("1", "0", 0), ("x2", "0", 0)]
    for wrong, message in [
        ([0, 1, 1, 0], r"id_column id: several documents have one ID: 0 \(2 documents\), 1 \(2 documents\)"),
        ([0, None, 1, None], "id_column id: 2 documents have no ID"),
        (["a", "", "b", "c"], "id_column id: 1 documents have no ID"),
    ]:
        documents = frame(texts, wrong)
        with pytest.raises(ValueError, match=message):
            simtool_spark.deduplicate(documents)
        with pytest.raises(ValueError, match=message):
            simtool_spark.match(documents, against=frame(texts))
    # Repeated ids of the collection to match against do no harm.
    known = frame(texts, ["a", "a", "b", "c"], body=texts)
    repeated = simtool_spark.match(frame(texts[2:]), against=known, against_text_column="body")
    assert on_engine(repeated) == [(0, "a", 0), (1, "c", 0)]
    documents = frame(texts, body=[text.encode() for text in texts])
    with pytest.raises(ValueError, match="text_column body: body is binary, not text"):
        simtool_spark.deduplicate(documents, text_column="body")
    with pytest.raises(ValueError, match="text_column: the column \"id\" holds Int64, not text"):
        simtool_spark.deduplicate(documents, text_column="id")
    with pytest.raises(ValueError, match="id_column meta: meta must be text or whole numbers, not struct"):
        simtool_spark.deduplicate(frame(texts, meta=ids), id_column="meta")


def test_more_pairs_than_the_driver_takes(spark, frame, tmp_path):
    texts = written(7, 500)
    with pytest.raises(ValueError, match="are more than max_pairs 10"):
        simtool_spark.deduplicate(frame(texts), max_distance=10, max_pairs=10)
    for options in [*OPTIONS[1:3], *VERIFIED[:3]] if ALL else [OPTIONS[2], VERIFIED[0]]:
        found = simtool_spark.deduplicate(frame(texts), max_pairs=10, work_dir=str(tmp_path / "work"), **options)
        assert on_engine(found) == on_one_machine(texts, **options)


def test_the_script_for_submitting(spark, tmp_path):
    from simtool_spark.__main__ import main

    texts = written(9, 300)
    lines = [json.dumps({"url": row, "body": text, "size": len(text)}) + "\n" for row, text in enumerate(texts)]
    (tmp_path / "in.jsonl").write_text("".join(lines))
    out = str(tmp_path / "out")
    fields = ["--text-field", "body", "--id-field", "url"]
    keep = ["--keep=min:size", "--annotate=weight=sqrt"]
    main([str(tmp_path / "in.jsonl"), "--output", out, *fields, "--max-distance=8", *keep, "--write-kept"], spark)
    expected = on_one_machine(texts, max_distance=8, keep="min", keep_field=[len(text) for text in texts])
    assert on_engine(spark.read.parquet(f"{out}/removed")) == expected
    of_all = spark.read.parquet(f"{out}/documents").collect()
    assert len(of_all) == 300 and sum(row["weight"] > 1 for row in of_all) > 10
    kept = sorted(row["url"] for row in spark.read.parquet(f"{out}/kept").collect())
    assert kept == sorted(set(range(300)) - {removed for removed, _, _ in expected})


@long
@pytest.mark.skipif(shutil.which("java") is None, reason="skipped: there is no Java")
def test_the_script_as_it_is_submitted(tmp_path):
    import simtool_spark.__main__

    texts = written(12, 300)
    pq.write_table(pa.table({"url": [f"u{row:03}" for row in range(300)], "text": texts}), tmp_path / "in.parquet", compression="zstd")
    settings = [f"--conf={name}={value}" for name, value in SETTINGS.items()]
    command = [Path(pyspark.__file__).parent / "bin/spark-submit", "--master=local[2]", *settings, simtool_spark.__main__.__file__]
    arguments = ["in.parquet", "--id-field=url", "--output=out", "--max-distance=16", "--verify=0.7", "--work-dir=work"]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run([*command, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    removed = sorted(tuple(row.values()) for row in pq.read_table(tmp_path / "out/removed").to_pylist())
    assert removed == on_one_machine(texts, [f"u{row:03}" for row in range(300)], max_distance=16, verify=0.7)


def unpacked(path):
    return pa.input_stream(path, compression="zstd").read().decode("utf-8", "replace")


@long
@pytest.mark.skipif(not DATA, reason="skipped: SIMTOOL_DATA is not set")
def test_published_data(spark, frame, tmp_path):
    texts = unpacked(f"{DATA}/newsgroups/article.txt.zst").split("\f")
    for path in sorted(Path(DATA, "labelled").glob("*/docs.jsonl.zst")):
        texts += [json.loads(line)["text"] for line in unpacked(str(path)).splitlines()]
    assert len(texts) > 1000
    simhash = [{"max_distance": 3}, {"method": "simhash:bits=128", "max_distance": 10}, {"max_distance": 10, "verify": 0.6}]
    exact = {"method": "exact", "similarity": 0.6, "shingle": "words:5"}
    for options in [*simhash, {"method": "simhash:weight=idf", "max_distance": 6}, exact, {**exact, "method": "exact:weight=idf"}]:
        found = simtool_spark.deduplicate(frame(texts), work_dir=str(tmp_path / "work"), **options)
        assert on_engine(found) == on_one_machine(texts, **options)


@long
def test_a_worker_is_killed(spark, frame):
    if not hasattr(spark, "cluster"):
        pytest.skip("skipped: this engine has no workers")
    texts = written(8, 20_000)
    how = [{"max_distance": 6}, {"max_distance": 6, "verify": 0.7}]
    expected = [on_one_machine(texts, **options) for options in how]
    documents = frame(texts, parts=40)
    kill = threading.Timer(4, spark.cluster.kill_worker)
    kill.start()
    rounds = 0
    while kill.is_alive() or rounds < 2:
        options = how[rounds % 2]
        assert on_engine(simtool_spark.deduplicate(documents, **options)) == expected[rounds % 2]
        rounds += 1
