"""Seconds from texts in memory to the kept rows, compared with other packages.

    python python/benches/beside_others.py NEWSGROUPS_FOLDER|FILE.jsonl|PAGES.txt... [--threads 2] [--repeats 3]

Pages of a text file are separated by form feeds, as `scripts/real-crawl` writes them. Prints a table in Markdown
for each collection: simtool from a list and from Arrow, the program on the same documents as JSON Lines, and the
packages of `peers.py` that are installed, once each and for `--limit` seconds at most. `F1` is that of the removed
rows against those of the exact method.
"""

import argparse
import importlib.util
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
from peers import OTHERS, SIMILARITY, WORDS, timed, written

import simtool


def simtool_list(texts, column, threads):
    found = simtool.deduplicate(texts, similarity=SIMILARITY, shingle=f"words:{WORDS}", threads=threads)
    return found.kept["row"].to_numpy()


def simtool_arrow(texts, column, threads):
    return simtool_list(column, column, threads)


def simtool_minhash(texts, column, threads):
    options = {"similarity": SIMILARITY, "shingle": f"words:{WORDS}"}
    found = simtool.deduplicate(column, method="minhash:measure=jaccard,recall=0.9", threads=threads, **options)
    return found.kept["row"].to_numpy()


def program(texts, column, threads):
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "simtool", "dedup", written(texts, folder), "--threads", str(threads), "-q"]
        command += ["--similarity", str(SIMILARITY), "--shingle", f"words:{WORDS}", "--output", f"{folder}/out"]
        return timed(command)


OURS = {
    "simtool, list": simtool_list,
    "simtool, Arrow": simtool_arrow,
    "simtool minhash, Arrow": simtool_minhash,
    "the program": program,
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
            found = limited(way, asked.limit, texts, asked.threads)
            if isinstance(found, str):
                print(f"| {name} | {found} | | | |", flush=True)
            else:
                show(name, *found)


if __name__ == "__main__":
    main()
