"""Near-duplicates in collections of files, with the inputs and outputs of the program."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from ._simtool import preview_of_files, run_files

Path = str | os.PathLike[str]


def deduplicate_files(
    paths: Path | Iterable[Path], *, output: Path, progress: bool = False, **options: Any
) -> dict[str, Any]:
    """Finds the near-duplicates in files and folders, and writes the results to a folder.

    Does the work of `simtool dedup` in this process. `options` are the options of the program that concern
    methods, inputs and outputs. Write `_` for `-`, `True` for an option without a value, and a list for a
    repeatable option. `config=` is the path of a settings file with more of them, as for `--config`. The table
    `[dedup]` counts, or `[match]` for `match_files`. Given options go before those of the file.

    Returns the contents of `summary.json` as a dict. `output` has `removed.jsonl`, `clusters.jsonl`,
    `report.html` and the other requested files. Files must not change while they are read, unless
    `no_mmap=True` is given, which reads them into memory.

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
    """Finds the documents of `queries` that are similar to a document of `against`. Both are files and
    folders.

    Does the work of `simtool match` in this process, with options and results as in `deduplicate_files`:
    `pairs.jsonl` has all matches, and `removed.jsonl` the queries that have a match.

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


def preview_files(
    paths: Path | Iterable[Path],
    *,
    against: Path | Iterable[Path] | None = None,
    progress: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Returns what `deduplicate_files` would remove, or `match_files` if `against` is given. Writes nothing.

    Does the work of `simtool dedup --preview` in this process, with options as in `deduplicate_files`. The counts
    are those of the run. The other entries are lists: `removed_by_closeness`, `removed_by_cluster_size`,
    `largest_clusters` with the words that their documents share, and the pairs closest to the limit,
    `above_limit` and `below_limit`.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in [("a.txt", "one two three four"), ("b.txt", "One, two, three four!")]:
        ...     _ = (folder / name).write_text(text)
        >>> preview = simtool.preview_files(folder)
        >>> preview["removed"], preview["above_limit"][0]["similarity"]
        (1, 1)
    """
    if against is None:
        return json.loads(preview_of_files(_listed(paths), [], progress, options))
    listed = _listed(paths)
    if not listed:
        raise ValueError("paths: there must be at least one path")
    return json.loads(preview_of_files(_listed(against), listed, progress, options))


def _listed(paths: Path | Iterable[Path]) -> list[str]:
    """Returns one path or several paths as a list."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    return [os.fspath(path) for path in paths]
