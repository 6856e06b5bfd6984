#!/usr/bin/env python3
"""Makes evaluation items, plants some of them in documents, and counts how many of the plants were found.

usage: benches/plant_items.py make FILE ITEMS > planted.txt
       benches/plant_items.py count FOUND

FILE has documents that form feeds divide, whose first lines are their IDs. `make` writes 20,000 items to the
file ITEMS, one a line, and to the standard output the documents with the plants: a family of 500 items for each
way in which an item is changed. An item is a chain of 15 to 62 words of letters, in which each word follows the word
before it somewhere in FILE, and is another word. The same FILE gives the same bytes.

`count` reads the rows that the example `items_in_text` of the crate `contamination` prints, and prints the share
of each family that was found, and how many documents without a plant were found.
"""

import random
import re
import sys
from collections import Counter, defaultdict

ITEMS = 20_000
PLANTS = 500


def changed(words: list[str], count: int, choice: random.Random) -> list[str]:
    """Returns the words with `count` of them replaced by words of the item in another order of letters."""
    words = list(words)
    for place in choice.sample(range(len(words)), count):
        words[place] = "x" + words[place][::-1]
    return words


FAMILIES = {
    "verbatim": lambda words, choice: " ".join(words),
    "re-wrapped": lambda words, choice: "\n  ".join(words),
    "embedded": lambda words, choice: "Before it. " + " ".join(words).upper() + "! Behind it.",
    "one-word-changed": lambda words, choice: " ".join(changed(words, 1, choice)),
    "three-words-changed": lambda words, choice: " ".join(changed(words, 3, choice)),
    "first-half": lambda words, choice: " ".join(words[: len(words) // 2]),
}


def documents(path: str) -> list[tuple[str, str]]:
    """Returns the ID and the text of each document of the file."""
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        parts = (part.strip() for part in file.read().split("\f"))
        return [part.partition("\n")[::2] for part in parts if part]


def chains(texts: list[str], choice: random.Random) -> list[list[str]]:
    """Returns the words of each item."""
    followers: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        words = re.findall(r"[^\W\d_]+", text)
        for word, follower in zip(words, words[1:]):
            # Encoded files repeat a few words thousands of times, which questions and answers do not.
            if word != follower:
                followers[word].append(follower)
    starts = sorted(followers)
    items = []
    while len(items) < ITEMS:
        item = [choice.choice(starts)]
        wanted = choice.randint(15, 62)
        while len(item) < wanted and item[-1] in followers:
            item.append(choice.choice(followers[item[-1]]))
        if len(item) == wanted:
            items.append(item)
    return items


def make(path: str, items_path: str) -> None:
    read = documents(path)
    choice = random.Random(7)
    # Lines with a colon near their start are headers of mails, which many documents have word for word.
    bodies = ["\n".join(line for line in text.split("\n") if ":" not in line[:20]) for _, text in read[:16_000]]
    items = chains(bodies, choice)
    with open(items_path, "w", encoding="utf-8") as file:
        file.writelines(" ".join(item) + "\n" for item in items)
    planted = []
    for number, (family, change) in enumerate(FAMILIES.items()):
        for item in range(number * PLANTS, (number + 1) * PLANTS):
            frame = choice.choice(bodies)[:2000]
            text = change(items[item], choice)
            planted.append((f"plant-{family}-{item}", f"{frame}\n{text}\n{choice.choice(bodies)[:2000]}"))
    every = len(read) // len(planted) + 1
    with open(1, "w", encoding="utf-8", newline="", closefd=False) as out:
        for at, (name, text) in enumerate(read):
            out.write(f"{name}\n{text}\n\f")
            if at % every == 0 and planted:
                out.write("{}\n{}\n\f".format(*planted.pop()))
        for name, text in planted:
            out.write(f"{name}\n{text}\n\f")


def count(found_path: str) -> None:
    families: Counter[str] = Counter()
    others = set()
    with open(found_path, encoding="utf-8") as file:
        for line in file:
            item, _, rest = line.partition("\t")
            name = rest.split("\t")[0]
            if name.startswith("plant-") and name.endswith(f"-{item}"):
                families[name[len("plant-") : -len(item) - 1]] += 1
            elif "\t" in rest and not name.startswith("plant-"):
                others.add(name)
    for family in FAMILIES:
        print(f"{family}\t{100 * families[family] / PLANTS:.1f} %")
    print(f"other documents\t{len(others)}")


match sys.argv[1:]:
    case ["make", path, items]:
        make(path, items)
    case ["count", found]:
        count(found)
    case _:
        sys.exit(__doc__)
