#!/usr/bin/env python3
"""Counts the words that the removals of any tool lose, by the slowest and plainest definition.

usage: benches/lost_words.py CORPUS.jsonl KEPT...

CORPUS.jsonl has a document with the field `text` on each line. Each KEPT is a file with the numbers of the kept lines, from 0,
as `python/benches/peers.py` writes it, or the folder of results of simtool. A word of a removed document is lost if no run
of eight words around it is in a kept document. Prints a row of a table in Markdown for each KEPT: removed documents, their
words, lost words, and the most words that one document loses.
"""

import json
import re
import sys
from pathlib import Path

RUN = 8
# Chinese, Japanese and Korean have no spaces between words, so each of their characters is a word.
CHARACTERS = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
WORDS = re.compile(rf"[{CHARACTERS}]|[^\W_{CHARACTERS}]+")


def runs(words: list[str]) -> list[int]:
    """Returns a hash of each run of a document. A shorter document is one run."""
    if not words:
        return []
    return [hash(tuple(words[at : at + RUN])) for at in range(max(1, len(words) - RUN + 1))]


def lost(words: list[str], kept: set[int]) -> int:
    """Returns the number of words that are in no kept run."""
    end = count = 0
    for start, run in enumerate(runs(words)):
        if run in kept:
            count += max(0, start - end)
            end = max(end, min(start + RUN, len(words)))
    return count + len(words) - end


def kept_lines(path: Path, documents: int) -> set[int]:
    if path.is_dir():
        with open(path / "removed.jsonl", encoding="utf-8") as rows:
            return set(range(documents)) - {json.loads(row)["record"] for row in rows}
    return {int(line) for line in path.read_text().split()}


def main() -> None:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as lines:
        documents = [[sys.intern(word) for word in WORDS.findall(json.loads(line)["text"].lower())] for line in lines]
    print("| | removed | their words | words lost | most of one |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for path in map(Path, sys.argv[2:]):
        kept = kept_lines(path, len(documents))
        present: set[int] = set()
        for row in kept:
            present.update(runs(documents[row]))
        removed = [documents[row] for row in range(len(documents)) if row not in kept]
        losses = [lost(words, present) for words in removed]
        counts = [len(removed), sum(map(len, removed)), sum(losses), max(losses, default=0)]
        name = path.name if path.is_dir() else path.stem
        print(f"| {name} | " + " | ".join(f"{count:,}" for count in counts) + " |", flush=True)


main()
