#!/usr/bin/env python3
"""Writes texts that are hard for a search for repeated passages, in documents that form feeds divide.

usage: benches/hard_passages.py boilerplate|word|phrase > FILE

`boilerplate` is a passage of 60 words in a million documents, each with 17 words of its own (572 MB). `word` is one
word, and `phrase` are three words, that follow each other again and again (20 MB each). The same kind gives the same
bytes.
"""

import random
import sys


def boilerplate() -> None:
    choice = random.Random(3)
    passage = " ".join(f"w{choice.randrange(10**5)}" for _ in range(60))
    for number in range(10**6):
        before = " ".join(f"u{choice.randrange(10**7)}" for _ in range(9))
        behind = " ".join(f"v{choice.randrange(10**7)}" for _ in range(8))
        print(f"{number}\n{before} {passage} {behind}\n\f", end="")


def periodic(phrase: str) -> None:
    for number in range(10):
        print(f"{number}\n{phrase * (2_050_000 // len(phrase))}\n\f", end="")


match sys.argv[1:]:
    case ["boilerplate"]:
        boilerplate()
    case ["word"]:
        periodic("a ")
    case ["phrase"]:
        periodic("ab cd e ")
    case _:
        sys.exit(__doc__)
