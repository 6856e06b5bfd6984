#!/usr/bin/env python3
"""Repeats the documents of a form-feed file, each time with other words exchanged, as sites that copy
each other do: for measuring how runs grow on real text.

usage: benches/repeat_with_edits.py FILE COPIES FIRST [turned] > out.txt

The first copy, number FIRST, is unchanged if it is 0; in the others a document keeps all of its words,
or one in 100, 20 or 5 becomes another word of the document. With "turned", each copy but the first begins with
another document, and the documents before it follow at its end. The same numbers give the same bytes.
"""

import random
import sys
from bisect import bisect
from itertools import accumulate

RATES = [0, 0.01, 0.05, 0.2]


def edited(document: bytes, rate: float, choice: random.Random) -> bytes:
    words = document.split(b" ")
    for _ in range(round(rate * len(words))):
        words[choice.randrange(len(words))] = words[choice.randrange(len(words))]
    return b" ".join(words)


def main() -> None:
    path, copies, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    is_turned = sys.argv[4:] == ["turned"]
    with open(path, "rb") as file:
        documents = file.read().split(b"\f")
    ends = list(accumulate(len(document) + 1 for document in documents))
    for copy in range(first, first + copies):
        choice = random.Random(copy)
        # By bytes, as files are that are parts of one long file.
        start = bisect(ends, choice.randrange(ends[-1])) if copy and is_turned else 0
        for document in documents[start:] + documents[:start]:
            rate = choice.choice(RATES) if copy else 0
            sys.stdout.buffer.write(edited(document, rate, choice) + b"\f")


if len(sys.argv) != 4 and sys.argv[4:] != ["turned"]:
    sys.exit(__doc__)
main()
