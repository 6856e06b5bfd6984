"""Deduplicates shards on several machines, without an engine.

    python shards.py fingerprint shard-0.jsonl fingerprints/0.jsonl     (on each machine, its shards)
    python shards.py join fingerprints removed                          (on one, with all fingerprints)

A fingerprint takes 100 bytes in a line, so these travel instead of the texts. What goes is written in a
file for each shard: the lines of `removed/0.jsonl` name what `kept_id` stands for.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import simtool


def program(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "simtool", *map(str, arguments)], check=True)


def fingerprint(shard: Path, fingerprints: Path, *options: str) -> None:
    fingerprints.parent.mkdir(parents=True, exist_ok=True)
    program("fingerprint", shard, "--output", fingerprints, "--force", "--quiet", *options)


def close(found: Path) -> Iterator[tuple[int, int, int]]:
    """Returns the pairs of rows that decide which rows are kept. Only the first of equal rows can be
    kept, so each pair has at least one such first row.
    """
    equal: dict[int, list[int]] = {}
    for line in found.open():
        kind, *numbers = line.split()
        first, *others = map(int, numbers)
        if kind == "group":
            equal[first] = others
            yield from ((first, other, 0) for other in others)
            continue
        second, distance = others
        yield first, second, distance
        yield from ((first, other, distance) for other in equal.get(second, ()))
        yield from ((other, second, distance) for other in equal.get(first, ()))


def join(folder: Path, removed: Path, max_distance: int = 3) -> None:
    # The reading order is the order of the names of the shards.
    shards = sorted(folder.glob("*.jsonl"))
    rows = [(shard.name, json.loads(line)["id"]) for shard in shards for line in shard.open()]
    with tempfile.TemporaryDirectory() as work:
        together, found = Path(work, "all.jsonl"), Path(work, "found.tsv")
        with together.open("wb") as out:
            for shard in shards:
                out.write(shard.read_bytes())
        limits = ["--max-distance", max_distance]
        program("join", together, *limits, "--rows", "--groups", "--output", found)
        result = simtool.cluster(close(found), rows=len(rows))
    removed.mkdir(parents=True, exist_ok=True)
    columns = (result.removed[name].to_pylist() for name in ("row", "kept", "distance"))
    files = {shard.name: (removed / shard.name).open("w") for shard in shards}
    for row, kept, distance in zip(*columns):
        (name, id), (_, kept_id) = rows[row], rows[kept]
        line = {"id": id, "kept_id": kept_id, "distance": distance}
        files[name].write(json.dumps(line) + "\n")
    for file in files.values():
        file.close()


if __name__ == "__main__":
    command, first, second, *options = sys.argv[1:]
    if command == "fingerprint":
        fingerprint(Path(first), Path(second), *options)
    else:
        join(Path(first), Path(second), *map(int, options))
