"""Seconds from texts in memory to the kept rows, compared with other packages.

    python python/benches/beside_others.py NEWSGROUPS_FOLDER|FILE.jsonl|PAGES.txt... [--threads 2] [--repeats 3]

Pages of a text file are separated by form feeds, as `scripts/real-crawl` writes them. Prints a table in Markdown
for each collection: simtool from a list and from Arrow, the program on the same documents as JSON Lines, and of
rensa, gaoya, datatrove, daft and text_dedup those that are installed, once each and for `--limit` seconds at most.
All look for word shingles of five at a Jaccard similarity of 0.7; those with MinHash take 128 values, in 16 bands
of 8 where they have bands. `F1` is that of the removed rows against those of the exact method.
"""

import argparse
import importlib.util
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa

import simtool

SIMILARITY, WORDS, VALUES, BANDS = 0.7, 5, 128, 16


def shingles(text: str) -> list[str]:
    words = re.findall(r"\w+", text.lower())
    return [" ".join(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1))] if words else []


def kept(first_alike) -> list[int]:
    """Returns the rows for which `first_alike` finds no earlier row."""
    return [row for row, alike in enumerate(first_alike) if alike is None]


def simtool_list(texts, column, threads):
    found = simtool.deduplicate(texts, similarity=SIMILARITY, shingle=f"words:{WORDS}", threads=threads)
    return found.kept["row"].to_numpy()


def simtool_arrow(texts, column, threads):
    return simtool_list(column, column, threads)


def simtool_minhash(texts, column, threads):
    options = {"similarity": SIMILARITY, "shingle": f"words:{WORDS}", "measure": "jaccard", "recall": 0.9}
    found = simtool.deduplicate(column, method="minhash", threads=threads, **options)
    return found.kept["row"].to_numpy()


def written(texts, folder) -> Path:
    path = Path(folder) / "texts.jsonl"
    path.write_text("".join(json.dumps({"id": str(row), "text": text}) + "\n" for row, text in enumerate(texts)))
    return path


def timed(command) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def program(texts, column, threads):
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "simtool", "dedup", written(texts, folder), "--threads", str(threads), "-q"]
        command += ["--similarity", str(SIMILARITY), "--shingle", f"words:{WORDS}", "--output", f"{folder}/out"]
        return timed(command)


def rensa(texts, column, threads):
    from rensa import RMinHash, RMinHashLSH

    rows = RMinHash.from_token_sets(map(shingles, texts), VALUES, 42)
    index, stays = RMinHashLSH(SIMILARITY, VALUES, BANDS), []
    for row, sketch in enumerate(rows):
        alike = (rows[other].jaccard(sketch) >= SIMILARITY for other in index.query(sketch))
        if any(alike):
            continue
        index.insert(row, sketch)
        stays.append(row)
    return stays


def gaoya(texts, column, threads):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(32, SIMILARITY, BANDS, VALUES // BANDS, None, "word", True, (WORDS, WORDS), "smallvec")
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    alike = index.par_bulk_query(texts)
    return [row for row, others in enumerate(alike) if not any(other < row for other in others)]


def datatrove(texts, column, threads):
    from datatrove.data import Document
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.utils.typeshelper import Languages

    config = MinhashConfig(n_grams=WORDS, num_buckets=BANDS, hashes_per_bucket=VALUES // BANDS)
    documents = [Document(text=text, id=str(row)) for row, text in enumerate(texts)]
    stays = []

    def collect(data, rank=0, world_size=1):
        stays.extend(int(document.id) for document in data)
        return iter(())

    with tempfile.TemporaryDirectory() as folder:
        steps = [
            [documents, MinhashDedupSignature(f"{folder}/signatures", config=config, language=Languages.english)],
            [MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=config)],
            [MinhashDedupCluster(f"{folder}/buckets", f"{folder}/removed", config=config)],
            [documents, MinhashDedupFilter(f"{folder}/removed"), collect],
        ]
        for step, pipeline in enumerate(steps):
            tasks = BANDS if step == 1 else 1
            LocalPipelineExecutor(pipeline, tasks=tasks, workers=1, logging_dir=f"{folder}/{step}").run()
    return sorted(stays)


def daft(texts, column, threads):
    """Makes only signatures: Daft leaves bands, clusters and the choice to its user."""
    import daft

    words = daft.from_pydict({"text": texts})
    normal = words["text"].normalize(remove_punct=True, lowercase=True)
    words.with_column("signature", normal.minhash(num_hashes=VALUES, ngram_size=WORDS)).collect()


def text_dedup(texts, column, threads):
    import datasets

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--split", "train", "--column", "text"]
        command += ["--data_files", written(texts, folder), "--cache_dir", folder, "--output", f"{folder}/out"]
        command += ["--num_proc", str(threads), "--threshold", str(SIMILARITY), "--ngram", str(WORDS)]
        command += ["--min_length", "1", "--num_perm", str(VALUES), "--b", str(BANDS), "--r", str(VALUES // BANDS)]
        command += ["--hash_func", "xxh3", "--hash_bits", "32"]
        return timed(command), [int(row) for row in datasets.load_from_disk(f"{folder}/out")["id"]]


OURS = {
    "simtool, list": simtool_list,
    "simtool, Arrow": simtool_arrow,
    "simtool minhash, Arrow": simtool_minhash,
    "the program": program,
}
OTHERS = {
    "rensa": rensa,
    "gaoya": gaoya,
    "datatrove": datatrove,
    "daft, signatures only": daft,
    "text_dedup, from JSON Lines": text_dedup,
}


def measured(way, *given) -> tuple[float, list[int] | None]:
    """Returns the seconds (unless the way measures them itself) and the kept rows (if the way reports them)."""
    began = time.perf_counter()
    found = way(*given)
    seconds = time.perf_counter() - began
    match found:
        case float():
            return found, None
        case float(), list():
            return found
    return seconds, found


def limited(way, limit, *given):
    """Measures a way in a separate process with all its children. Returns `None` if that takes longer than
    `limit`.
    """
    receive, send = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            send.send(measured(way, *given))
        except BaseException as error:
            send.send(f"{type(error).__name__}: {error}".splitlines()[0][:120])
        os._exit(0)
    send.close()
    try:
        return receive.recv() if receive.poll(limit) else f"stopped after {limit} s"
    except EOFError:
        return "died"
    finally:
        try:
            os.killpg(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(child, 0)


def texts_of(path: Path) -> list[str]:
    if path.is_dir():
        path /= "article.txt"
    if path.suffix == ".txt":
        # The first line of each has its ID.
        pages = path.read_bytes().decode("utf-8", "replace").split("\f")
        return [page.lstrip().partition("\n")[2] for page in pages]
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=int, default=600)
    asked = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = str(asked.threads)
    for path in asked.paths:
        texts = texts_of(path)
        column, megabytes = pa.array(texts), sum(map(len, map(str.encode, texts))) / 1e6
        print(f"\n{path.name}: {len(texts):,} documents, {megabytes:.0f} MB, {asked.threads} threads\n", flush=True)
        print("| | seconds | MB/s | stay | F1 of removed |\n| --- | ---: | ---: | ---: | ---: |")
        given, exact = (texts, column, asked.threads), set()

        def show(name, seconds, found):
            nonlocal exact
            shown = "| – | – |"
            if found is not None:
                removed = set(range(len(texts))) - set(map(int, found))
                exact = exact or removed
                f1 = 2 * len(removed & exact) / max(1, len(removed) + len(exact))
                shown = f"| {len(texts) - len(removed):,} | {f1:.3f} |"
            print(f"| {name} | {seconds:.2f} | {megabytes / seconds:,.0f} {shown}", flush=True)

        for name, way in OURS.items():
            runs = sorted((measured(way, *given) for _ in range(asked.repeats)), key=lambda run: run[0])
            show(name, *runs[len(runs) // 2])
        for name, way in OTHERS.items():
            if importlib.util.find_spec(name.split(",")[0]) is None:
                continue
            found = limited(way, asked.limit, *given)
            if isinstance(found, str):
                print(f"| {name} | {found} | | | |", flush=True)
            else:
                show(name, *found)


if __name__ == "__main__":
    main()
