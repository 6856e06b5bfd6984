"""Results equal those of the program, in columns that Arrow and NumPy share."""

import json
import os
import re
import subprocess
import sys

import pytest

import simtool

METHODS = [
    {},
    {"similarity": 0.6, "shingle": "words:2"},
    {"similarity": "dice:0.75", "shingle": "words:2"},
    {"method": "simhash", "max_distance": 8},
    {"method": "simhash:bits=128", "verify": 0.7, "max_distance": 20},
    {"method": "minhash", "similarity": "0.7"},
    {"keep": "longest", "cluster": "components"},
    {"keep": "last"},
    {"method": "auto"},
    {"method": "simhash:bits=256,max_distance=12", "threads": 1},
]


def program(*arguments, **settings):
    command = [sys.executable, "-m", "simtool", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, **settings)


@pytest.mark.parametrize("options", METHODS)
def test_the_program_finds_the_same(texts, options, tmp_path):
    lines = (json.dumps({"id": str(row), "text": text or ""}) for row, text in enumerate(texts))
    (tmp_path / "texts.jsonl").write_text("\n".join(lines))
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    flags += ["--annotate=weight=sqrt,repeated=4"]
    done = program("dedup", tmp_path / "texts.jsonl", "--pairs", "-q", "--output", tmp_path / "out", *flags)
    assert done.returncode == 0, done.stderr

    def rows(name):
        return [json.loads(line) for line in (tmp_path / "out" / name).read_text().splitlines()]

    found = simtool.deduplicate(texts, annotate="weight=sqrt,repeated=4", **options)
    removed = [(int(row["id"]), int(row["kept_id"])) for row in rows("removed.jsonl")]
    columns = found.removed.to_pydict()
    assert list(zip(columns["row"], columns["kept"])) == removed
    assert len(removed) > 10
    pairs = found.pairs.to_pydict()
    expected = rows("pairs.jsonl")
    assert list(zip(pairs["a"], pairs["b"])) == [(int(p["a_id"]), int(p["b_id"])) for p in expected]
    assert found.pair_count == len(expected)
    for name in ("similarity", "distance"):
        if name in pairs:
            told = [round(value, 6) for value in pairs[name]]
            assert told == [round(pair[name], 6) for pair in expected]
    kept = sorted(set(range(len(texts))) - {row for row, _ in removed})
    assert found.kept.to_pydict()["row"] == kept
    clusters = {}
    for row, by in removed:
        clusters.setdefault(by, []).append(row)
    told = found.clusters.to_pydict()
    assert dict(zip(told["kept"], told["removed"])) == clusters
    told = found.documents.to_pydict()
    assert told["row"] == list(range(len(texts)))
    assert told["kept"] == [dict(removed).get(row, row) for row in told["row"]]
    assert told["cluster_size"] == [1 + len(clusters.get(kept, ())) for kept in told["kept"]]
    # The other columns are those of the program, which has more columns for files.
    expected = rows("documents.jsonl")
    assert told["kept"] == [int(row["kept_id"]) for row in expected]
    names = [name for name in expected[0] if name in told and name != "kept"]
    assert names[:2] == ["bytes", "tokens"] and names[-3:] == ["exact_copies", "repeated_share", "weight"]
    assert [name for name in told if name not in ("row", "kept")] == names
    for name in names:
        values = [row[name] for row in expected]
        if name in ("similarity", "repeated_share"):
            assert told[name] == pytest.approx(values, abs=1e-6), name
        else:
            assert told[name] == values, name
    assert max(told["exact_copies"]) > 1 and 0.1 < max(share for share in told["repeated_share"] if share) <= 1


def test_documents_of_a_match_have_no_clusters():
    texts = ["one two three", "four five six", "One, two three!"]
    found = simtool.deduplicate(texts).documents.to_pydict()
    assert found == {
        "row": [0, 1, 2],
        "bytes": [13, 13, 15],
        "tokens": [3, 3, 3],
        "kept": [0, 1, 0],
        "similarity": [None, None, 1.0],
        "cluster_id": [0, 1, 0],
        "cluster_size": [2, 1, 2],
        "exact_copies": [1, 1, 1],
        "weight": [1.0, 1.0, 0.0],
    }
    # A result of pairs knows no texts.
    found = simtool.cluster([(0, 2)], rows=3).documents.to_pydict()
    assert list(found) == ["row", "kept", "cluster_id", "cluster_size", "weight"]
    for wrong, message in [
        ({"annotate": "repeated=0"}, "annotate repeated=0: must be a number of words from 1 to 1000"),
        ({"annotate": "weight=cube"}, "annotate weight=cube: must be 1, log, sqrt"),
    ]:
        with pytest.raises(ValueError, match=message):
            simtool.deduplicate(texts, **wrong)
    for option in ({"annotate": "repeated=5"}, {"annotate": "weight=log"}):
        with pytest.raises(ValueError, match="no such option"):
            simtool.match(texts, against=texts, **option)
    with pytest.raises(ValueError, match="a match has no clusters"):
        simtool.match(texts, against=texts).documents


def test_pairs_are_clustered_as_documents_are(texts):
    for options in METHODS[:5]:
        found = simtool.deduplicate(texts, **options)
        for how in ({}, {"cluster": "components"}, {"keep": "last"}):
            expected = simtool.deduplicate(texts, **options, **how)
            again = simtool.cluster(found.pairs, rows=len(texts), **how)
            assert again.kept.to_pydict() == expected.kept.to_pydict()
            if how.get("cluster") != "components":
                assert again.removed.to_pydict() == expected.removed.to_pydict()


def test_pairs_come_as_tuples_too():
    found = simtool.cluster([(3, 0), (3, 4)], rows=6, cluster="components")
    assert found.clusters.to_pydict() == {"kept": [0], "removed": [[3, 4]]}
    found = simtool.cluster([(0, 3, 0.5), (3, 4, 0.75)])
    assert found.removed.to_pydict() == {"row": [3], "kept": [0], "similarity": [0.5]}
    np = pytest.importorskip("numpy")
    found = simtool.cluster(np.array([[0, 2, 1], [2, 1, 3]]))
    assert found.removed.to_pydict() == {"row": [2], "kept": [0], "distance": [1]}
    for wrong, message in [
        ([(0,)], "pairs must be a table"),
        ([(0, -1)], "pairs: -1 is no row"),
        ([(0, 1, 0.5), (1, 2, 3)], "all similarities or all distances"),
    ]:
        with pytest.raises((TypeError, ValueError), match=message):
            simtool.cluster(wrong)
    with pytest.raises(ValueError, match="rows: must be at least 4"):
        simtool.cluster([(0, 3)], rows=2)
    with pytest.raises(ValueError, match="keep longest: needs the documents"):
        simtool.cluster([(0, 3)], keep="longest")


def naive_pairs(fingerprints, distance):
    values = fingerprints.to_numpy().tolist()
    nulls = {row for row, text in enumerate(fingerprints_texts) if not text}
    return [
        (a, b, bin(values[a] ^ values[b]).count("1"))
        for a in range(len(values))
        for b in range(a + 1, len(values))
        if not {a, b} & nulls and bin(values[a] ^ values[b]).count("1") <= distance
    ]


fingerprints_texts: list = []


def test_pairs_of_fingerprints_are_all_pairs(texts):
    pytest.importorskip("numpy")
    fingerprints_texts[:] = texts
    fingerprints = simtool.fingerprint(texts)
    for distance in (0, 3, 9):
        found = simtool.pairs(fingerprints, distance).to_pydict()
        assert list(zip(found["a"], found["b"], found["distance"])) == naive_pairs(fingerprints, distance)
    found = simtool.pairs(simtool.fingerprint(texts[:9]), against=fingerprints).to_pydict()
    assert set(found["a"]) == {row for row in range(9) if texts[row]}
    with pytest.raises(TypeError, match="do not compare with those of `against`: simhash128 and"):
        simtool.pairs(simtool.fingerprint(texts[:9], method="simhash:bits=128"), against=fingerprints)


@pytest.mark.parametrize("bits", [64, 128, 512])
def test_fingerprints_come_back_from_arrow_and_numpy(texts, bits):
    pa = pytest.importorskip("pyarrow")
    np = pytest.importorskip("numpy")
    fingerprints = simtool.fingerprint(texts, method=f"simhash:bits={bits}")
    expected = simtool.pairs(fingerprints, 5).to_pydict()
    array = pa.array(fingerprints)
    assert array.null_count == fingerprints.null_count == sum(not text for text in texts)
    several = pa.chunked_array([array[:5], array[5:17], array[17:]])
    for given in (array, several, pa.table({"fingerprint": array}), pa.table({"fingerprint": several})[0:]):
        assert simtool.pairs(given, 5).to_pydict() == expected
    signed = array.view(pa.int64()) if bits == 64 else array
    assert simtool.pairs(signed, 5).to_pydict() == expected
    numbers = fingerprints.to_numpy()
    assert numbers.shape == ((len(texts),) if bits == 64 else (len(texts), bits // 64))
    full = np.array([bool(text) for text in texts])
    few = simtool.pairs(numbers[full], 5).to_pydict()
    assert len(few["a"]) == len(expected["a"])


def test_queries_are_matched(texts):
    found = simtool.match(texts[200:], against=texts[:200])
    corpus, expected = texts[:200], set()
    both = simtool.deduplicate(texts).pairs.to_pydict()
    expected = {(b - 200, a) for a, b in zip(both["a"], both["b"]) if a < 200 <= b}
    pairs = found.pairs.to_pydict()
    assert set(zip(pairs["a"], pairs["b"])) == expected
    assert set(found.removed.to_pydict()["row"]) == {a for a, _ in expected}
    assert len(found) == len(texts) - len(corpus)
    with pytest.raises(ValueError, match="keep last: chooses among documents of one collection"):
        simtool.match(texts, against=texts, keep="last")
    with pytest.raises(TypeError, match="takes 1 positional argument"):
        simtool.match(texts, texts)
    with pytest.raises(TypeError, match="against"):
        simtool.match(texts)
    with pytest.raises(TypeError, match="`simtool.match` compares texts with another collection"):
        simtool.match(texts, against=texts, queries=texts)


def test_two_texts_are_compared():
    compared = simtool.compare("one two three four", "one two three five")
    assert (compared.similarity, compared.shared, compared.shingles) == (1 / 3, 1, (2, 2))
    assert repr(compared).startswith("Comparison(similarity=0.333, distance=")
    assert simtool.compare("", "").similarity is None


def test_an_index_may_be_chosen(texts):
    fingerprints = simtool.fingerprint(texts)
    expected = simtool.pairs(fingerprints, 5).to_pydict()
    assert simtool.pairs(fingerprints, 5, index="linear-scan").to_pydict() == expected
    with pytest.raises(ValueError, match="index tree: must be one of linear-scan"):
        simtool.pairs(fingerprints, index="tree")


def test_later_texts_are_fingerprinted_by_what_was_learned(texts):
    half = len(texts) // 2
    for options in ({"method": "simhash:weight=idf"}, {"words": 100}, {"method": "simhash:bits=128"}):
        first = simtool.fingerprint(texts[:half], **options)
        later = simtool.fingerprint(texts[half:], by=first, threads=1)
        assert (later.recipe, later.bits, len(later)) == (first.recipe, first.bits, len(texts) - half)
        again = simtool.fingerprint(texts[:half], by=first)
        assert again.to_numpy().tolist() == first.to_numpy().tolist()
        assert len(simtool.pairs(later, against=first)) > 0
    with pytest.raises(TypeError, match="unexpected keyword 'bits'"):
        simtool.fingerprint(texts, by=first, bits=64)


def test_tables_are_shared_not_copied(texts):
    np = pytest.importorskip("numpy")
    pa = pytest.importorskip("pyarrow")
    found = simtool.deduplicate(texts, method="simhash", max_distance=9)
    pairs = found.pairs
    numbers = pairs["a"].to_numpy()
    assert numbers.dtype == np.uint32 and not numbers.flags.owndata and not numbers.flags.writeable
    array = pa.array(pairs["a"])
    assert array.buffers()[1].address == numbers.ctypes.data
    table = pa.table(pairs)
    assert table.column_names == pairs.column_names == ["a", "b", "distance"]
    del pairs, found
    assert table["a"].to_pylist() == numbers.tolist()
    fingerprints = simtool.fingerprint(texts)
    assert fingerprints.to_numpy().ctypes.data == pa.array(fingerprints).buffers()[1].address


def test_nulls_go_out():
    np = pytest.importorskip("numpy")
    pa = pytest.importorskip("pyarrow")
    chain = [" ".join(f"w{n}" for n in range(at, at + 40)) for at in range(0, 40, 4)]
    found = simtool.deduplicate(chain, similarity=0.75, cluster="components")
    table = pa.table(found.removed)
    assert table["similarity"].null_count > 0
    assert np.isnan(found.removed["similarity"].to_numpy()).sum() == table["similarity"].null_count
    found = simtool.deduplicate(chain, method="simhash", max_distance=20, cluster="components")
    if found.removed["distance"].null_count:
        assert np.isnan(found.removed["distance"].to_numpy()).any()


def test_results_are_shown():
    found = simtool.deduplicate(["a b c d", "a b c d", "<b> e f g"])
    assert repr(found) == (
        "NearDuplicates(3 documents, 2 kept, 1 removed, 1 pair; exact:similarity=0.8,shingle=words:3)"
    )
    assert repr(found.removed) == "row  kept  similarity\n  1     0       1.000\n[1 row]"
    assert repr(found.kept["row"]) == "row\n  0\n  2\n[2 rows]"
    assert "<svg" in found._repr_html_() and "<td>1</td>" in found._repr_html_()
    assert repr(simtool.fingerprint(["a b c d"])).startswith("Fingerprints(1 rows of 64 bits; simhash64/")
    many = simtool.deduplicate(["a b c d"] * 100)
    assert repr(many.removed).endswith("…\n[99 rows]")
    with pytest.raises(KeyError):
        found.removed["colour"]


@pytest.mark.parametrize(
    ("options", "charts"),
    [
        ({"method": "exact"}, ["similarities", "sizes"]),
        ({"method": "simhash"}, ["distances", "sizes"]),
        ({"method": "simhash", "verify": 0.7}, ["similarities", "distances", "sizes"]),
    ],
)
def test_a_notebook_shows_the_charts_of_the_report(texts, options, charts, tmp_path):
    lines = (json.dumps({"text": text or ""}) for text in texts)
    (tmp_path / "texts.jsonl").write_text("\n".join(lines))
    simtool.deduplicate_files(tmp_path / "texts.jsonl", output=tmp_path / "out", **options)
    report = (tmp_path / "out" / "report.html").read_text()
    shown = simtool.deduplicate(texts, **options)._repr_html_()
    figures = re.findall(r"<figure class=\"chart\">.*?</figure>", shown, re.S)
    assert [re.search(r'h3 id="(\w+)"', figure)[1] for figure in figures] == charts
    lead = re.search(r'<p class="lead">.*?</p>', shown)[0]
    assert all(part in report for part in [lead, *figures])
    assert "<iframe" not in shown and shown.count("<style>") == 1


def test_unknown_values_are_not_shown():
    assert 'id="sizes"' in simtool.cluster([(0, 1)])._repr_html_()
    assert 'id="distances"' not in simtool.cluster([(0, 1)])._repr_html_()
    assert "of 2 queries" in simtool.match(["a b c d", "e f"], against=["a b c d"])._repr_html_()
    assert "<figure" not in simtool.deduplicate([])._repr_html_()


def test_many_pairs_are_counted_and_refused():
    found = simtool.deduplicate(["a b c d"] * 20_000, max_memory="100M")
    assert found.pair_count == 20_000 * 19_999 // 2
    with pytest.raises(MemoryError, match="199,990,000 pairs do not fit in max_memory"):
        found.pairs  # noqa: B018
    assert len(found.removed) == 19_999


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "red"}, "options colour=red: exact has no such option"),
        ({"method": "magic"}, "method magic: must be one of exact, covered, simhash"),
        ({"method": "exact:bits=64"}, "method exact:bits=64: works only with `method` simhash, minhash"),
        ({"similarity": 2}, "similarity 2: "),
        ({"threads": 1000}, "threads 1000: must be a whole number up to 512"),
        ({"max_memory": "lots"}, "max_memory lots: expected a whole number of bytes"),
        ({"method": "simhash", "max_distance": 64}, "max_distance 64: would match unrelated"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        simtool.deduplicate(["a"], **options)


def test_values_of_other_kinds_are_refused():
    with pytest.raises(TypeError, match="similarity must be text or a number, not list"):
        simtool.deduplicate(["a"], similarity=[0.8])
    assert len(simtool.deduplicate(["a b c d"] * 2, similarity=None, threads=None).removed) == 1


def test_missing_files_are_reported(tmp_path):
    with pytest.raises(ValueError, match="stop_words"):
        simtool.deduplicate(["a"], stop_words=tmp_path / "none.txt")
    with pytest.raises(OSError) as raised:
        simtool.deduplicate(["a"], stop_words=tmp_path)
    assert raised.value.errno and "cannot read" in str(raised.value)
    assert os.fspath(tmp_path) in str(raised.value)


def test_dice_is_found_as_by_brute_force():
    texts = [" ".join(f"w{(row * 7 + at) % 40}" for at in range(5 + row % 9)) for row in range(60)]
    sets = [set(text.split()) for text in texts]
    expected = [
        (a, b)
        for a, left in enumerate(sets)
        for b, right in enumerate(sets[a + 1 :], a + 1)
        if 10 * 2 * len(left & right) >= 8 * (len(left) + len(right))
    ]
    found = simtool.deduplicate(texts, similarity="dice:0.8", shingle="words:1").pairs.to_pydict()
    assert list(zip(found["a"], found["b"])) == expected
    assert len(expected) > 20


GUESSES = [
    ({"threshold": 0.8}, "unexpected keyword 'threshold': `similarity` is the minimum similarity"),
    ({"ngram": 5}, 'unexpected keyword \'ngram\': `shingle` sets the shingles, for example `shingle="words:5"`'),
    ({"num_perm": 128}, '`method="minhash:lanes=128"`'),
    ({"text_field": "body"}, "`column` names the column of a table with the texts"),
    ({"output": "out"}, "`simtool.deduplicate_files` reads and writes files"),
    ({"seed": 1}, "only `simtool.evaluate` takes `hash_seeds`"),
]


@pytest.mark.parametrize(("options", "message"), GUESSES)
def test_guessed_keywords_are_answered_by_name(options, message):
    with pytest.raises(TypeError, match=re.escape(message)):
        simtool.deduplicate(["a"], **options)


def test_guesses_of_files_have_the_keywords_of_files(tmp_path):
    (tmp_path / "a.txt").write_text("some text")
    with pytest.raises(TypeError, match="`text_field` names the field"):
        simtool.deduplicate_files(tmp_path, output=tmp_path / "x", text_column="body")
    with pytest.raises(TypeError, match="`share` is the minimum share"):
        simtool.contamination_files(tmp_path, tmp_path, threshold=0.8)
    with pytest.raises(TypeError, match="`words` is the minimum number of words of a passage"):
        simtool.passages_files(tmp_path, min_length=20)


def test_stop_words_may_be_a_list(tmp_path):
    texts = ["der Hund und die Katze liegen dort", "Hund Katze liegen dort"]
    (tmp_path / "german.txt").write_text("der\ndie\nund\n")
    words = ["und", "der", "die"]
    assert len(simtool.deduplicate(texts).removed) == 0
    for stop_words in (words, tuple(words), set(words), tmp_path / "german.txt", f"english+{tmp_path}/german.txt"):
        assert len(simtool.deduplicate(texts, stop_words=stop_words).removed) == 1, stop_words
    found = simtool.deduplicate(texts, stop_words=words)
    assert found.method == "exact:similarity=0.8,shingle=words:3,stop_words=words:der die und"
    (tmp_path / "docs.txt").write_text("\n".join(texts))
    options = {"output": tmp_path / "out", "split": "lines", "stop_words": words}
    assert simtool.deduplicate_files(tmp_path / "docs.txt", **options)["removed"] == 1
    for names in (["english", "der"], ["german.txt"]):
        with pytest.raises(TypeError, match=re.escape('as in stop_words="english+german.txt"')):
            simtool.deduplicate(texts, stop_words=names)
    with pytest.raises(TypeError, match="the words of a list must be str"):
        simtool.deduplicate(texts, stop_words=[1])
