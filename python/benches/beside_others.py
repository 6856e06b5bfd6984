"""Seconds from texts in memory to the rows that stay, beside other packages.

    python python/benches/beside_others.py NEWSGROUPS_FOLDER|FILE.jsonl... [--threads 2] [--repeats 3]

Prints a table in Markdown for each collection: simtool from a list and from Arrow, the program on the same
documents as JSON Lines, and of rensa, gaoya, datatrove and daft those that are installed. All look for word
shingles of five at a Jaccard similarity of 0.7; those with MinHash take 128 values, in 16 bands of 8 where
they have bands. `F1` is that of the removed rows against those of the exact method.
"""

import argparse
import importlib.util
import json
import os
import re
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
    """The rows for which `first_alike` tells no row before them."""
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


def program(texts, column, threads):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        path.write_text("".join(json.dumps({"id": str(row), "text": text}) + "\n" for row, text in enumerate(texts)))
        command = [sys.executable, "-m", "simtool", "dedup", str(path), "--threads", str(threads), "-q"]
        command += ["--similarity", str(SIMILARITY), "--shingle", f"words:{WORDS}", "--output", f"{folder}/out"]
        began = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - began


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
    """Signatures alone: Daft leaves bands, clusters and the choice to its user."""
    import daft

    words = daft.from_pydict({"text": texts})
    normal = words["text"].normalize(remove_punct=True, lowercase=True)
    words.with_column("signature", normal.minhash(num_hashes=VALUES, ngram_size=WORDS)).collect()


WAYS = {
    "simtool, list": simtool_list,
    "simtool, Arrow": simtool_arrow,
    "simtool minhash, Arrow": simtool_minhash,
    "the program": program,
    "rensa": rensa,
    "gaoya": gaoya,
    "datatrove": datatrove,
    "daft, signatures only": daft,
}


def texts_of(path: Path) -> list[str]:
    if path.is_dir():
        return (path / "article.txt").read_bytes().decode("utf-8", "replace").split("\f")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = str(asked.threads)
    for path in asked.paths:
        texts = texts_of(path)
        column, megabytes = pa.array(texts), sum(map(len, map(str.encode, texts))) / 1e6
        print(f"\n{path.name}: {len(texts):,} documents, {megabytes:.0f} MB, {asked.threads} threads\n", flush=True)
        print("| | seconds | MB/s | stay | F1 of removed |\n| --- | ---: | ---: | ---: | ---: |")
        exact = set()
        for name, way in WAYS.items():
            package = name.split(",")[0].split()[0]
            if package not in ("simtool", "the") and importlib.util.find_spec(package) is None:
                continue
            repeats = asked.repeats if package in ("simtool", "the") else 1
            times = []
            for _ in range(repeats):
                began = time.perf_counter()
                found = way(texts, column, asked.threads)
                times.append(time.perf_counter() - began)
            if isinstance(found, float):
                times, found = [found], None
            seconds, shown = sorted(times)[len(times) // 2], "| – | – |"
            if found is not None:
                removed = set(range(len(texts))) - set(map(int, found))
                exact = exact or removed
                f1 = 2 * len(removed & exact) / max(1, len(removed) + len(exact))
                shown = f"| {len(texts) - len(removed):,} | {f1:.3f} |"
            print(f"| {name} | {seconds:.2f} | {megabytes / seconds:,.0f} {shown}", flush=True)


if __name__ == "__main__":
    main()
