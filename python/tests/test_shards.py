"""Three shards on separate machines give the result of one machine."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

import simtool

pytest.importorskip("numpy", reason="skipped: numpy is not installed")

SCRIPT = Path(__file__).parents[1] / "examples" / "shards.py"


def documents(count):
    rng = random.Random(1)
    texts = []
    for number in range(count):
        if texts and rng.random() < 0.4:
            changed = rng.choice(texts).split()
            if changed and rng.random() < 0.6:
                changed[rng.randrange(len(changed))] = f"w{rng.randrange(2000)}"
            texts.append(" ".join(changed))
        else:
            texts.append(" ".join(f"w{rng.randrange(2000)}" for _ in range(rng.choice([0, 30, 60, 90]))))
    return [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]


def test_shards_as_one_collection(tmp_path):
    whole = documents(900)

    def script(*arguments):
        subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], check=True)

    for shard in range(3):
        path = tmp_path / f"{shard}.jsonl"
        lines = (json.dumps(document) + "\n" for document in whole[300 * shard : 300 * shard + 300])
        path.write_text("".join(lines))
        script("fingerprint", path, tmp_path / "fingerprints" / path.name)
    script("join", tmp_path / "fingerprints", tmp_path / "removed", 8)
    found = []
    for path in sorted((tmp_path / "removed").iterdir()):
        found += [tuple(json.loads(line).values()) for line in path.open()]
    result = simtool.deduplicate([document["text"] for document in whole], method="simhash", max_distance=8)
    columns = (result.removed[name].to_pylist() for name in ("row", "kept", "distance"))
    expected = [(f"d{row}", f"d{kept}", distance) for row, kept, distance in zip(*columns)]
    assert found == expected
    assert len(found) > 100
