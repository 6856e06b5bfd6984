#!/usr/bin/env python3
"""Repeats the documents of a form-feed file, each time with other words exchanged, as sites that copy
each other do: for measuring how runs grow on real text.

usage: benches/repeat_with_edits.py FILE COPIES FIRST > out.txt

The first copy, number FIRST, is unchanged if it is 0; in the others a document keeps all of its words,
or one in 100, 20 or 5 becomes another word of the document. The same numbers give the same bytes.
"""

import random
import sys

RATES = [0, 0.01, 0.05, 0.2]


def edited(document: bytes, rate: float, choice: random.Random) -> bytes:
    words = document.split(b" ")
    for _ in range(round(rate * len(words))):
        words[choice.randrange(len(words))] = words[choice.randrange(len(words))]
    return b" ".join(words)


def main() -> None:
    path, copies, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(path, "rb") as file:
        documents = file.read().split(b"\f")
    for copy in range(first, first + copies):
        choice = random.Random(copy)
        for document in documents:
            rate = choice.choice(RATES) if copy else 0
            sys.stdout.buffer.write(edited(document, rate, choice) + b"\f")


if len(sys.argv) != 4:
    sys.exit(__doc__)
main()
