"""Near-duplicates in collections of files, with the inputs and outputs of the program."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ._docstrings import documented
from ._options import OPTIONS, PROGRESS
from ._simtool import (
    Rows,
    audit_of_files,
    combined_files,
    contamination_of_files,
    passages_of_files,
    preview_of_files,
    run_files,
    why_in_files,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _option_types

Path = str | os.PathLike[str]


@documented(OPTIONS, PROGRESS)
def deduplicate_files(
    paths: Path | Iterable[Path], *, output: Path, progress: bool = False, **options: Unpack[_option_types.DeduplicateFilesOptions]
) -> dict[str, Any]:
    """Finds the near-duplicates in files and folders, and writes the results to a folder.

    Does the work of `simtool dedup` in this process. `options` are the options of the program that concern
    methods, inputs and outputs. Write `_` for `-`, `True` for an option without a value, and a list for a
    repeatable option. `config=` is the path of a settings file with more of them, as for `--config`. The table
    `[dedup]` counts, or `[match]` for `match_files`. Given options go before those of the file.

    Files must not change while they are read, unless `no_mmap=True` is given, which reads them into memory.

    Args:
        paths: Files and folders to read: one path, or several.
        output: Folder for the results. It gets `removed.jsonl`, `clusters.jsonl`, `report.html` and the
            other requested files.

    Returns:
        The contents of `summary.json`.

    Raises:
        ValueError: An option does not exist here or has a wrong value, or `output`
            exists and `force` is not given.
        OSError: There is no file to read, or a file cannot be read or written.
        MemoryError: `max_memory` is too small.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in [("a.txt", "one two three four"), ("b.txt", "One, two, three four!")]:
        ...     _ = (folder / name).write_text(text)
        >>> summary = simtool.deduplicate_files([folder / "a.txt", folder / "b.txt"], output=folder / "out")
        >>> summary["documents"], summary["removed"]
        (2, 1)
    """
    return json.loads(run_files(_listed(paths), [], os.fspath(output), progress, dict(options)))


@documented(OPTIONS, PROGRESS)
def match_files(
    paths: Path | Iterable[Path],
    *,
    against: Path | Iterable[Path],
    output: Path,
    progress: bool = False,
    **options: Unpack[_option_types.MatchFilesOptions],
) -> dict[str, Any]:
    """Finds the documents of `paths` that are similar to a document of `against`.

    Does the work of `simtool match` in this process, with options and results as in `deduplicate_files`.

    Args:
        paths: Files and folders with the documents to find: one path, or several.
        against: Files and folders of the collection to compare with: one path, or several.
        output: Folder for the results. `pairs.jsonl` has all matches, and `removed.jsonl` the documents of
            `paths` that have a match.

    Returns:
        The contents of `summary.json`.

    Raises:
        ValueError: There is no path, an option does not exist here or has a wrong value, or `output`
            exists and `force` is not given.
        OSError: There is no file to read, or a file cannot be read or written.
        MemoryError: `max_memory` is too small.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in [("new.txt", "one two three four"), ("known.txt", "One, two, three four!")]:
        ...     _ = (folder / name).write_text(text)
        >>> summary = simtool.match_files(folder / "new.txt", against=folder / "known.txt", output=folder / "out")
        >>> summary["documents"], summary["removed"], summary["corpus_documents"]
        (1, 1, 1)
    """
    listed = _listed(paths)
    if not listed:
        raise ValueError("paths: there must be at least one path")
    return json.loads(run_files(_listed(against), listed, os.fspath(output), progress, dict(options)))


@documented(OPTIONS, PROGRESS)
def preview_files(
    paths: Path | Iterable[Path],
    *,
    against: Path | Iterable[Path] | None = None,
    progress: bool = False,
    **options: Unpack[_option_types.PreviewFilesOptions],
) -> dict[str, Any]:
    """Returns what `deduplicate_files` would remove, or `match_files` if `against` is given. Writes nothing.

    Does the work of `simtool dedup --preview` in this process, with options as in `deduplicate_files`.

    Args:
        paths: Files and folders to read: one path, or several.
        against: Files and folders of the collection to compare with, as for `match_files`.

    Returns:
        The counts of the run, and lists: `removed_by_closeness`, `removed_by_cluster_size`,
        `largest_clusters` with the words that their documents share, and the pairs closest to the limit,
        `above_limit` and `below_limit`.

    Raises:
        ValueError: There is no path, or an option does not exist here or has a wrong value.
        OSError: There is no file to read, or a file cannot be read.
        MemoryError: `max_memory` is too small.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in [("a.txt", "one two three four"), ("b.txt", "One, two, three four!")]:
        ...     _ = (folder / name).write_text(text)
        >>> preview = simtool.preview_files(folder)
        >>> preview["removed"], preview["above_limit"][0]["similarity"]
        (1, 1)
    """
    if against is None:
        return json.loads(preview_of_files(_listed(paths), [], progress, dict(options)))
    listed = _listed(paths)
    if not listed:
        raise ValueError("paths: there must be at least one path")
    return json.loads(preview_of_files(_listed(against), listed, progress, dict(options)))


@documented(OPTIONS, PROGRESS)
def combine_files(output: Path, *, progress: bool = False, **options: Unpack[_option_types.CombineFilesOptions]) -> dict[str, Any]:
    """Writes the results of a run whose input was read in shards, by `deduplicate_files` or `passages_files` with `shard`.

    Does the work of `simtool combine` in this process. The settings are those of the shards.

    Args:
        output: Output of the shards. Their parts are in the folder with this name and `.parts` at the end.

    Returns:
        The contents of `summary.json`, or the counts of passages.

    Raises:
        ValueError: An option does not exist here, or `output` exists and `force` is not given.
        OSError: A shard is missing, or a file cannot be read or written.
        MemoryError: `max_memory` is too small.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in [("a.txt", "one two three four"), ("b.txt", "One, two, three four!")]:
        ...     _ = (folder / name).write_text(text)
        >>> arguments = ["dedup", str(folder / "a.txt"), str(folder / "b.txt"), "-q", "--output", str(folder / "out")]
        >>> [simtool._simtool.command(["simtool", *arguments, "--shard", f"{shard}/2"]) for shard in (1, 2)]
        [0, 0]
        >>> simtool.combine_files(folder / "out")["removed"]
        1
    """
    return json.loads(combined_files(os.fspath(output), progress, dict(options)))


@documented(OPTIONS, PROGRESS)
def why(output: Path, document: str, *, progress: bool = False, **options: Unpack[_option_types.WhyOptions]) -> dict[str, Any]:
    """Explains what became of a document in a finished run, and for which other document.

    Does the work of `simtool why --json` in this process. Texts are read from the input files if they still exist.

    Args:
        output: Folder with the results of the run.
        document: ID of the document, or its place as `FILE:RECORD` or `FILE#ID`.

    Returns:
        `status` is kept, removed, quarantined, passed over or unknown. A document of a cluster also has the `kept` document, the
        `removed` ones and their closeness.

    Raises:
        ValueError: An option does not exist here or has a wrong value, or no document has this name.
        OSError: `output` has no results, or a file cannot be read.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in [("a.txt", "one two three four"), ("b.txt", "One, two, three four!")]:
        ...     _ = (folder / name).write_text(text)
        >>> _ = simtool.deduplicate_files(folder, output=folder / "out")
        >>> answer = simtool.why(folder / "out", f"{folder / 'b.txt'}:0")
        >>> answer["status"], answer["similarity"], answer["kept"]["file"] == str(folder / "a.txt")
        ('removed', 1.0, True)
    """
    return json.loads(why_in_files(os.fspath(output), document, progress, dict(options)))


@documented(OPTIONS, PROGRESS)
def audit(output: Path, *, progress: bool = False, **options: Unpack[_option_types.AuditOptions]) -> dict[str, Any]:
    """Checks a finished run by its receipt, and a random sample of its removals by their texts.

    Does the work of `simtool audit --json` in this process. The run needs the option `receipt`.

    Args:
        output: Folder with the results of the run.

    Returns:
        `changed` has a sentence for each file, setting or count that is not as in the receipt, and `failures` the removals
        that do not hold, each with its reasons. `not_compared` and `not_checked` name what could not be checked. `hold` is the
        number of removals that hold, and `share` the interval of 95 % of their share among all removals.

    Raises:
        ValueError: An option does not exist here or has a wrong value.
        OSError: `output` has no results of `dedup` or `match` with a receipt, or one of its files cannot be read.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in [("a.txt", "one two three four"), ("b.txt", "One, two, three four!")]:
        ...     _ = (folder / name).write_text(text)
        >>> _ = simtool.deduplicate_files([folder / "a.txt", folder / "b.txt"], output=folder / "out", receipt=True)
        >>> found = simtool.audit(folder / "out")
        >>> found["removals"], found["hold"], found["changed"], found["failures"]
        (1, 1, [], [])
    """
    return json.loads(audit_of_files(os.fspath(output), progress, dict(options)))


@documented(OPTIONS, PROGRESS)
def contamination_files(
    items: Path | Iterable[Path],
    documents: Path | Iterable[Path],
    *,
    output: Path | None = None,
    progress: bool = False,
    **options: Unpack[_option_types.ContaminationFilesOptions],
) -> dict[str, Any]:
    """Finds the items of an evaluation set that documents contain.

    Does the work of `simtool contamination` in this process, with options as in `deduplicate_files`, for example
    `fields="question,answer"`, `measure="weighted"` or `share=0.7`.

    Args:
        items: Files and folders with the items to find: one path, or several.
        documents: Files and folders to search: one path, or several.
        output: File for the rows, or folder with `write_kept`. By default, the rows are returned.

    Returns:
        The numbers of `items`, `documents`, `found_items`, `found_documents`, `short_items` (matched as a
        whole) and `items_without_words`. Without `output`, also `rows`: `Rows` with a row for each item and document.

    Raises:
        ValueError: There is no path, an option does not exist here or has a wrong value, or `output`
            exists and `force` is not given.
        OSError: There is no file to read, or a file cannot be read or written.
        MemoryError: `max_memory` is too small.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "items.txt").write_text("who wrote the tale of the white whale")
        >>> _ = (folder / "page.txt").write_text("Quiz: Who wrote the tale of the white whale?")
        >>> found = simtool.contamination_files(folder / "items.txt", folder / "page.txt")
        >>> found["found_items"], found["rows"][0]["spans"]
        (1, [[6, 43]])
    """
    listed_items, listed = _listed(items), _listed(documents)
    if not listed_items or not listed:
        raise ValueError("items and documents: there must be at least one path of each")
    given: dict[str, Any] = dict(options)
    if output is not None:
        given["output"] = os.fspath(output)
    counts, rows = contamination_of_files(listed_items, listed, progress, given)
    found: dict[str, Any] = dict(counts)
    if output is None:
        found["rows"] = rows
    return found


@documented(OPTIONS, PROGRESS)
def passages_files(
    paths: Path | Iterable[Path], *, progress: bool = False, **options: Unpack[_option_types.PassagesFilesOptions]
) -> Rows:
    """Returns the passages of at least 50 words that several documents of files and folders have.

    Does the work of `simtool passages` in this process, with options as in `deduplicate_files`, for example
    `words=20`, `unit="sentence"` and `min_documents="2:host"`.

    Args:
        paths: Files and folders to read: one path, or several.

    Returns:
        `Rows` with a row for each passage, in reading order, and the columns of the program's rows.

    Raises:
        ValueError: An option does not exist here or has a wrong value.
        OSError: There is no file to read, or a file cannot be read.
        MemoryError: `max_memory` is too small.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name, text in [("a.txt", "so it was to be or not to be"), ("b.txt", "To be, or not to be!")]:
        ...     _ = (folder / name).write_text(text)
        >>> first, second = simtool.passages_files(folder, words=6)
        >>> first["word_start"], first["word_end"], second["whole"]
        (3, 9, True)
    """
    return passages_of_files(_listed(paths), progress, dict(options))


@documented(OPTIONS, PROGRESS)
def cut_passages_files(
    paths: Path | Iterable[Path], *, output: Path, progress: bool = False, **options: Unpack[_option_types.CutPassagesFilesOptions]
) -> dict[str, Any]:
    """Writes copies of files without the passages that several documents have. The first copy of each stays.

    Does the work of `simtool passages --write-kept` in this process, with options as in `passages_files`, for
    example `cut="all"`, `mask="[...]"` and `min_left=50`.

    Args:
        paths: Files and folders to read: one path, or several.
        output: Folder for the results. It gets the copies in `kept`, `passages.jsonl`, `cuts.jsonl`,
            `files.jsonl`, `summary.json` and `report.html`.

    Returns:
        The contents of `summary.json`.

    Raises:
        ValueError: An option does not exist here or has a wrong value, or `output`
            exists and `force` is not given.
        OSError: There is no file to read, or a file cannot be read or written.
        MemoryError: `max_memory` is too small.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> texts = {"a.txt": "so it was to be or not to be", "b.txt": "To be, or not to be! Why?"}
        >>> for name, text in texts.items():
        ...     _ = (folder / name).write_text(text)
        >>> paths = [folder / name for name in texts]
        >>> summary = simtool.cut_passages_files(paths, output=folder / "out", words=6)
        >>> summary["cut_documents"], summary["cut_words"]
        (1, 6)
        >>> (folder / "out" / "kept" / "b.txt").read_text()
        '! Why?'
    """
    passages_of_files(_listed(paths), progress, {**options, "write_kept": True, "output": os.fspath(output)})
    return json.loads((pathlib.Path(output) / "summary.json").read_text())


def _listed(paths: Path | Iterable[Path]) -> list[str]:
    """Returns one path or several paths as a list."""
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    return [os.fspath(path) for path in paths]
