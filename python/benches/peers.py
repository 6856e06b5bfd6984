"""Other packages that find near-duplicates, each as a function from texts to the kept rows.

    python python/benches/peers.py NAME CORPUS.jsonl KEPT.txt THREADS

runs one of them on the field `text` of each line, and writes the numbers of the kept lines. All look for word
shingles of five at a Jaccard similarity of 0.7. Those with MinHash take 128 values, in 16 bands of 8 where they have
bands. `scripts/bench-peers` and `beside_others.py` call them. This file does not need simtool.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIMILARITY, WORDS, VALUES, BANDS = 0.7, 5, 128, 16


def shingles(text: str) -> list[str]:
    words = re.findall(r"\w+", text.lower())
    return [" ".join(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1))] if words else []


def written(texts, folder) -> Path:
    path = Path(folder) / "texts.jsonl"
    path.write_text("".join(json.dumps({"id": str(row), "text": text}) + "\n" for row, text in enumerate(texts)))
    return path


def timed(command) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def datasketch(texts, threads):
    from datasketch import MinHash, MinHashLSH

    index, stays = MinHashLSH(num_perm=VALUES, params=(BANDS, VALUES // BANDS)), {}
    for row, text in enumerate(texts):
        sketch = MinHash(num_perm=VALUES)
        sketch.update_batch([shingle.encode() for shingle in set(shingles(text))])
        if any(stays[other].jaccard(sketch) >= SIMILARITY for other in index.query(sketch)):
            continue
        index.insert(row, sketch)
        stays[row] = sketch
    return list(stays)


def rensa(texts, threads):
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


def gaoya(texts, threads):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(32, SIMILARITY, BANDS, VALUES // BANDS, None, "word", True, (WORDS, WORDS), "smallvec")
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    alike = index.par_bulk_query(texts)
    return [row for row, others in enumerate(alike) if not any(other < row for other in others)]


def datatrove(texts, threads):
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


def daft(texts, threads):
    """Makes only signatures: Daft leaves bands, clusters and the choice to its user."""
    import daft

    words = daft.from_pydict({"text": texts})
    normal = words["text"].normalize(remove_punct=True, lowercase=True)
    words.with_column("signature", normal.minhash(num_hashes=VALUES, ngram_size=WORDS)).collect()


def text_dedup(texts, threads):
    import datasets

    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--split", "train", "--column", "text"]
        command += ["--data_files", written(texts, folder), "--cache_dir", folder, "--output", f"{folder}/out"]
        command += ["--num_proc", str(threads), "--threshold", str(SIMILARITY), "--ngram", str(WORDS)]
        command += ["--min_length", "1", "--num_perm", str(VALUES), "--b", str(BANDS), "--r", str(VALUES // BANDS)]
        command += ["--hash_func", "xxh3", "--hash_bits", "32"]
        return timed(command), [int(row) for row in datasets.load_from_disk(f"{folder}/out")["id"]]


# Name of the package on its registry, and the function that runs it.
OTHERS = {
    "datasketch": datasketch,
    "rensa": rensa,
    "gaoya": gaoya,
    "datatrove": datatrove,
    "daft, signatures only": daft,
    "text_dedup, from JSON Lines": text_dedup,
}


def main() -> None:
    name, corpus, kept, threads = sys.argv[1:]
    with open(corpus, encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines]
    found = OTHERS[name](texts, int(threads))
    # text-dedup is a program: it returns its time, too.
    rows = found[1] if isinstance(found, tuple) else found
    Path(kept).write_text("".join(f"{row}\n" for row in rows or []))


if __name__ == "__main__":
    main()
