"""Collections of files, as the program reads and writes them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from ._simtool import run_files

Path = str | os.PathLike[str]


def deduplicate_files(
    paths: Path | Iterable[Path], *, output: Path, progress: bool = False, **options: Any
) -> dict[str, Any]:
    """Finds the near-duplicates of files and folders, and writes what to keep to a folder.

    Does what `simtool dedup` does, in this process. `options` are those of the program that say what is
    compared, read and written, with `_` for `-`, `True` for one without a value and a list for one that may
    be repeated. Returns what `summary.json` holds; `removed.jsonl`, `clusters.jsonl`, `report.html` and what
    else was asked for are in `output`. Files must not change while they are read, unless `no_mmap=True` is
    given, which reads them into memory.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in [("a.txt", "one two three four"), ("b.txt", "One, two, three four!")]:
        ...     _ = (folder / name).write_text(text)
        >>> summary = simtool.deduplicate_files([folder / "a.txt", folder / "b.txt"], output=folder / "out")
        >>> summary["documents"], summary["removed"]
        (2, 1)
    """
    return json.loads(run_files(_listed(paths), [], os.fspath(output), progress, options))


def match_files(
    queries: Path | Iterable[Path],
    against: Path | Iterable[Path],
    *,
    output: Path,
    progress: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Finds the documents of files and folders that are like documents of others, `against`.

    Does what `simtool match` does, in this process, with `options` and results as `deduplicate_files`:
    `pairs.jsonl` holds all matches, `removed.jsonl` the queries that have one.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in [("new.txt", "one two three four"), ("known.txt", "One, two, three four!")]:
        ...     _ = (folder / name).write_text(text)
        >>> summary = simtool.match_files(folder / "new.txt", folder / "known.txt", output=folder / "out")
        >>> summary["documents"], summary["removed"], summary["corpus_documents"]
        (1, 1, 1)
    """
    listed = _listed(queries)
    if not listed:
        raise ValueError("queries: there must be at least one path")
    return json.loads(run_files(_listed(against), listed, os.fspath(output), progress, options))


def _listed(paths: Path | Iterable[Path]) -> list[str]:
    """One path or several as a list."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    return [os.fspath(path) for path in paths]
