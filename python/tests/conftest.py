"""Generated texts, some of them near-duplicates."""

import random

import pytest

WORDS = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("a", "e", "in", "or", "us", "ey", "ash", "ilt")]


def generated(count: int, seed: int = 1) -> list[str | None]:
    """Texts with copies, near copies, empty ones and missing ones among them."""
    chance = random.Random(seed)
    texts: list[str | None] = []
    for row in range(count):
        kind = chance.random()
        known = [text for text in texts if text]
        if kind < 0.2 and known:
            texts.append(chance.choice(known))
        elif kind < 0.4 and known:
            words = chance.choice(known).split()
            words[chance.randrange(len(words))] = "Über"
            texts.append(" ".join(words))
        elif kind < 0.45:
            texts.append(None if kind < 0.43 else "")
        else:
            texts.append(" ".join(chance.choices(WORDS, k=chance.randrange(5, 60))))
    return texts


@pytest.fixture(scope="session")
def texts() -> list[str | None]:
    return generated(300)
