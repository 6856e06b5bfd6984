"""Types of the functions on files."""

import os
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal, SupportsFloat, SupportsIndex

Path = str | os.PathLike[str]
# Values of options. Numbers may also be those of NumPy, fractions and decimals.
_Integer = SupportsIndex
_Number = SupportsFloat | SupportsIndex
_Path = str | os.PathLike[str]

def deduplicate_files(
    paths: Path | Iterable[Path],
    *,
    output: Path,
    progress: bool = False,
    # Options of deduplicate_files, generated.
    keep: str | None = "first",
    prefer: str | None = None,
    keep_count: _Integer | None = 1,
    cluster: Literal["proven", "components"] | None = "proven",
    pairs: bool | None = False,
    annotate: str | bool | None = False,
    method: Literal["exact", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "exact",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    verify: _Number | str | None = None,
    within: str | None = None,
    across: str | None = None,
    boilerplate: _Integer | str | None = None,
    shingle: _Integer | str | None = "words:3",
    stop_words: _Path | Collection[str] | None = None,
    force: bool | None = False,
    output_format: Literal["jsonl", "tsv", "parquet", "ids"] | None = "jsonl",
    write_kept: Literal["readable"] | bool | None = False,
    files_from: _Path | None = None,
    glob: str | Sequence[str] | None = None,
    hidden: bool | None = False,
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "html", "mbox", "mail", "form-feed", "text", "lines", "blank-lines"] | None = None,
    split: Literal["file", "lines", "blank-lines"] | None = "file",
    encoding: str | None = "UTF-8",
    content: Literal["all", "main"] | None = "main",
    delimiter: str | None = None,
    csv: str | None = None,
    no_header: bool | None = False,
    text_field: str | None = "text",
    id_field: str | None = "id",
    min_tokens: _Integer | None = 0,
    max_bytes: _Integer | str | None = None,
    sample: _Number | str | None = None,
    limit: _Integer | None = None,
    on_error: Literal["skip", "fail"] | None = "skip",
    max_record: _Integer | str | None = None,
    max_expansion: _Integer | None = 2000,
    zstd_window_log: _Integer | None = 27,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
    threads: _Integer | None = 0,
    config: _Path | None = None,
    no_mmap: bool | None = False,
    resume: bool | None = False,
    shard: str | None = None,
    # End of the options.
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
        progress: Show a bar, if tqdm is installed.

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

    Options:
        keep: Document to keep of several near-duplicates: rules, separated by commas [default: first].
        prefer: Keep documents whose field has the first of these values, or else the next, before
            `keep` decides.
        keep_count: Keep up to this number of documents of each cluster [default: 1].
        cluster: Documents to remove: only documents near a kept document (proven), or also documents
            that a chain of near-duplicates links to it (components) [default: proven]. Values: proven,
            components.
        pairs: Also write every pair; more than 100 million only with `force`. All pairs must fit in
            memory: with exact, 24 bytes for each pair of unequal documents.
        annotate: Also write documents.jsonl: every document, kept or removed, with its cluster, in
            reading order [default: false].
        method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
            [default: exact]. Values: exact, simhash, multi-lexicon, minhash, i-match, auto.
        similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
            0.8, or 0.9 with minhash by cosine].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        within: Compare only documents with the same value of this field.
        across: Compare only documents with different values of this field, written as for `within`.
        boilerplate: Leave lines that at least this number of documents have, such as menus, out of the
            comparison.
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
        force: Replace the output folder if an earlier run of simtool wrote it.
        output_format: Format of the files removed and pairs [default: jsonl]. Values: jsonl, tsv,
            parquet, ids.
        write_kept: Also write copies of the input files without the removed documents to kept/, in the
            same format [default: false]. Values: true, false, readable.
        files_from: File that lists more paths to read, one a line or with a zero byte after each,
            optionally compressed with gzip; - is standard input.
        glob: When reading folders, include only files matching this glob, or leave them out if it
            begins with ! (repeatable).
        hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
        format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
            arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
        split: Division of plain-text files into documents [default: file]. Values: file, lines,
            blank-lines.
        encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
            such as windows-1251 or gbk, or detect [default: UTF-8].
        content: Text of an HTML page that is compared [default: main]. Values: all, main.
        delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
            in CSV the comma, semicolon, tab or bar, recognized by the first rows].
        csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
            recognized by the first rows].
        no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
            on.
        text_field: Fields or columns of the text [default: text].
        id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
            id].
        min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
            passed over are compared with nothing, and kept [default: 0].
        max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
            or 1MiB (powers of 1024).
        sample: Process only this share of the documents, selected by the hash of the text.
        limit: Stop after the first N documents that are not passed over. Copies end there, too.
        on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
        max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
            1024. By default 128MiB, whatever the memory is.
        max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
            first GiB [default: 2000].
        zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
            is 128 MiB [default: 27].
        max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
            memory].
        tmp_dir: Folder for temporary files [default: the system's temporary folder].
        threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
        config: File with options of this command in TOML; options of the command line go before them.
        no_mmap: Read files into memory instead of mapping them.
        resume: Store what was read, and go on from there if this run was stopped before.
        shard: Read shard I of N, such as 2/4, store it in OUTPUT.parts, and end.
    """
def match_files(
    paths: Path | Iterable[Path],
    *,
    against: Path | Iterable[Path],
    output: Path,
    progress: bool = False,
    # Options of match_files, generated.
    against_text_field: str | None = None,
    against_id_field: str | None = None,
    method: Literal["exact", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "exact",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    verify: _Number | str | None = None,
    within: str | None = None,
    across: str | None = None,
    boilerplate: _Integer | str | None = None,
    shingle: _Integer | str | None = "words:3",
    stop_words: _Path | Collection[str] | None = None,
    force: bool | None = False,
    output_format: Literal["jsonl", "tsv", "parquet", "ids"] | None = "jsonl",
    write_kept: Literal["readable"] | bool | None = False,
    files_from: _Path | None = None,
    glob: str | Sequence[str] | None = None,
    hidden: bool | None = False,
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "html", "mbox", "mail", "form-feed", "text", "lines", "blank-lines"] | None = None,
    split: Literal["file", "lines", "blank-lines"] | None = "file",
    encoding: str | None = "UTF-8",
    content: Literal["all", "main"] | None = "main",
    delimiter: str | None = None,
    csv: str | None = None,
    no_header: bool | None = False,
    text_field: str | None = "text",
    id_field: str | None = "id",
    min_tokens: _Integer | None = 0,
    max_bytes: _Integer | str | None = None,
    sample: _Number | str | None = None,
    limit: _Integer | None = None,
    on_error: Literal["skip", "fail"] | None = "skip",
    max_record: _Integer | str | None = None,
    max_expansion: _Integer | None = 2000,
    zstd_window_log: _Integer | None = 27,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
    threads: _Integer | None = 0,
    config: _Path | None = None,
    no_mmap: bool | None = False,
    # End of the options.
) -> dict[str, Any]:
    """Finds the documents of `paths` that are similar to a document of `against`.

    Does the work of `simtool match` in this process, with options and results as in `deduplicate_files`.

    Args:
        paths: Files and folders with the documents to find: one path, or several.
        against: Files and folders of the collection to compare with: one path, or several.
        output: Folder for the results. `pairs.jsonl` has all matches, and `removed.jsonl` the documents of
            `paths` that have a match.
        progress: Show a bar, if tqdm is installed.

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

    Options:
        against_text_field: Fields of the text in the collection to match against [default: those of
            `text_field`].
        against_id_field: Field of the ID in the collection to match against [default: that of
            `id_field`].
        method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
            [default: exact]. Values: exact, simhash, multi-lexicon, minhash, i-match, auto.
        similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
            0.8, or 0.9 with minhash by cosine].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        within: Compare only documents with the same value of this field.
        across: Compare only documents with different values of this field, written as for `within`.
        boilerplate: Leave lines that at least this number of documents have, such as menus, out of the
            comparison.
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
        force: Replace the output folder if an earlier run of simtool wrote it.
        output_format: Format of the files removed and pairs [default: jsonl]. Values: jsonl, tsv,
            parquet, ids.
        write_kept: Also write copies of the input files without the removed documents to kept/, in the
            same format [default: false]. Values: true, false, readable.
        files_from: File that lists more paths to read, one a line or with a zero byte after each,
            optionally compressed with gzip; - is standard input.
        glob: When reading folders, include only files matching this glob, or leave them out if it
            begins with ! (repeatable).
        hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
        format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
            arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
        split: Division of plain-text files into documents [default: file]. Values: file, lines,
            blank-lines.
        encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
            such as windows-1251 or gbk, or detect [default: UTF-8].
        content: Text of an HTML page that is compared [default: main]. Values: all, main.
        delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
            in CSV the comma, semicolon, tab or bar, recognized by the first rows].
        csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
            recognized by the first rows].
        no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
            on.
        text_field: Fields or columns of the text [default: text].
        id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
            id].
        min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
            passed over are compared with nothing, and kept [default: 0].
        max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
            or 1MiB (powers of 1024).
        sample: Process only this share of the documents, selected by the hash of the text.
        limit: Stop after the first N documents that are not passed over. Copies end there, too.
        on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
        max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
            1024. By default 128MiB, whatever the memory is.
        max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
            first GiB [default: 2000].
        zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
            is 128 MiB [default: 27].
        max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
            memory].
        tmp_dir: Folder for temporary files [default: the system's temporary folder].
        threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
        config: File with options of this command in TOML; options of the command line go before them.
        no_mmap: Read files into memory instead of mapping them.
    """
def preview_files(
    paths: Path | Iterable[Path],
    *,
    against: Path | Iterable[Path] | None = None,
    progress: bool = False,
    # Options of preview_files, generated.
    keep: str | None = "first",
    prefer: str | None = None,
    keep_count: _Integer | None = 1,
    cluster: Literal["proven", "components"] | None = "proven",
    method: Literal["exact", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "exact",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    verify: _Number | str | None = None,
    within: str | None = None,
    across: str | None = None,
    boilerplate: _Integer | str | None = None,
    shingle: _Integer | str | None = "words:3",
    stop_words: _Path | Collection[str] | None = None,
    files_from: _Path | None = None,
    glob: str | Sequence[str] | None = None,
    hidden: bool | None = False,
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "html", "mbox", "mail", "form-feed", "text", "lines", "blank-lines"] | None = None,
    split: Literal["file", "lines", "blank-lines"] | None = "file",
    encoding: str | None = "UTF-8",
    content: Literal["all", "main"] | None = "main",
    delimiter: str | None = None,
    csv: str | None = None,
    no_header: bool | None = False,
    text_field: str | None = "text",
    id_field: str | None = "id",
    min_tokens: _Integer | None = 0,
    max_bytes: _Integer | str | None = None,
    sample: _Number | str | None = None,
    limit: _Integer | None = None,
    on_error: Literal["skip", "fail"] | None = "skip",
    max_record: _Integer | str | None = None,
    max_expansion: _Integer | None = 2000,
    zstd_window_log: _Integer | None = 27,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
    threads: _Integer | None = 0,
    config: _Path | None = None,
    no_mmap: bool | None = False,
    against_text_field: str | None = None,
    against_id_field: str | None = None,
    # End of the options.
) -> dict[str, Any]:
    """Returns what `deduplicate_files` would remove, or `match_files` if `against` is given. Writes nothing.

    Does the work of `simtool dedup --preview` in this process, with options as in `deduplicate_files`.

    Args:
        paths: Files and folders to read: one path, or several.
        against: Files and folders of the collection to compare with, as for `match_files`.
        progress: Show a bar, if tqdm is installed.

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

    Options:
        keep: Document to keep of several near-duplicates: rules, separated by commas [default: first].
        prefer: Keep documents whose field has the first of these values, or else the next, before
            `keep` decides.
        keep_count: Keep up to this number of documents of each cluster [default: 1].
        cluster: Documents to remove: only documents near a kept document (proven), or also documents
            that a chain of near-duplicates links to it (components) [default: proven]. Values: proven,
            components.
        method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
            [default: exact]. Values: exact, simhash, multi-lexicon, minhash, i-match, auto.
        similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
            0.8, or 0.9 with minhash by cosine].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        within: Compare only documents with the same value of this field.
        across: Compare only documents with different values of this field, written as for `within`.
        boilerplate: Leave lines that at least this number of documents have, such as menus, out of the
            comparison.
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
        files_from: File that lists more paths to read, one a line or with a zero byte after each,
            optionally compressed with gzip; - is standard input.
        glob: When reading folders, include only files matching this glob, or leave them out if it
            begins with ! (repeatable).
        hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
        format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
            arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
        split: Division of plain-text files into documents [default: file]. Values: file, lines,
            blank-lines.
        encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
            such as windows-1251 or gbk, or detect [default: UTF-8].
        content: Text of an HTML page that is compared [default: main]. Values: all, main.
        delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
            in CSV the comma, semicolon, tab or bar, recognized by the first rows].
        csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
            recognized by the first rows].
        no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
            on.
        text_field: Fields or columns of the text [default: text].
        id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
            id].
        min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
            passed over are compared with nothing, and kept [default: 0].
        max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
            or 1MiB (powers of 1024).
        sample: Process only this share of the documents, selected by the hash of the text.
        limit: Stop after the first N documents that are not passed over. Copies end there, too.
        on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
        max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
            1024. By default 128MiB, whatever the memory is.
        max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
            first GiB [default: 2000].
        zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
            is 128 MiB [default: 27].
        max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
            memory].
        tmp_dir: Folder for temporary files [default: the system's temporary folder].
        threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
        config: File with options of this command in TOML; options of the command line go before them.
        no_mmap: Read files into memory instead of mapping them.
        against_text_field: Fields of the text in the collection to match against [default: those of
            `text_field`].
        against_id_field: Field of the ID in the collection to match against [default: that of
            `id_field`].
    """
def combine_files(
    output: _Path,
    *,
    progress: bool = False,
    # Options of combine_files, generated.
    force: bool | None = False,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
    threads: _Integer | None = 0,
    config: _Path | None = None,
    no_mmap: bool | None = False,
    # End of the options.
) -> dict[str, Any]:
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

def why(
    output: _Path,
    document: str,
    *,
    progress: bool = False,
    # Options of why, generated.
    threads: _Integer | None = 0,
    config: _Path | None = None,
    no_mmap: bool | None = False,
    # End of the options.
) -> dict[str, Any]:
    """Explains what became of a document in a finished run, and for which other document.

    Does the work of `simtool why --json` in this process. Texts are read from the input files if they still exist.

    Args:
        output: Folder with the results of the run.
        document: ID of the document, or its place as `FILE:RECORD` or `FILE#ID`.

    Returns:
        `fate` is kept, removed, quarantined, passed over or unknown. A document of a cluster also has the `kept` document, the
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
        >>> answer["fate"], answer["similarity"], answer["kept"]["file"] == str(folder / "a.txt")
        ('removed', 1.0, True)
    """

def contamination_files(
    items: Path | Iterable[Path],
    documents: Path | Iterable[Path],
    *,
    output: Path | None = None,
    progress: bool = False,
    # Options of contamination_files, generated.
    fields: str | None = "text",
    words: _Integer | None = 5,
    measure: Literal["words", "shingles", "weighted"] | None = "words",
    share: _Number | str | None = None,
    write_kept: Literal["drop", "cut", "mask"] | None = None,
    mask: str | None = "[...]",
    force: bool | None = False,
    output_format: Literal["jsonl", "tsv", "parquet"] | None = "jsonl",
    files_from: _Path | None = None,
    glob: str | Sequence[str] | None = None,
    hidden: bool | None = False,
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "html", "mbox", "mail", "form-feed", "text", "lines", "blank-lines"] | None = None,
    split: Literal["file", "lines", "blank-lines"] | None = "file",
    encoding: str | None = "UTF-8",
    content: Literal["all", "main"] | None = "main",
    delimiter: str | None = None,
    csv: str | None = None,
    no_header: bool | None = False,
    text_field: str | None = "text",
    id_field: str | None = "id",
    min_tokens: _Integer | None = 0,
    max_bytes: _Integer | str | None = None,
    sample: _Number | str | None = None,
    limit: _Integer | None = None,
    on_error: Literal["skip", "fail"] | None = "skip",
    max_record: _Integer | str | None = None,
    max_expansion: _Integer | None = 2000,
    zstd_window_log: _Integer | None = 27,
    resume: bool | None = False,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
    threads: _Integer | None = 0,
    config: _Path | None = None,
    no_mmap: bool | None = False,
    # End of the options.
) -> dict[str, Any]:
    """Finds the items of an evaluation set that documents contain.

    Does the work of `simtool contamination` in this process, with options as in `deduplicate_files`, for example
    `fields="question,answer"`, `measure="weighted"` or `share=0.7`.

    Args:
        items: Files and folders with the items to find: one path, or several.
        documents: Files and folders to search: one path, or several.
        output: File for the rows, or folder with `write_kept`. By default, the rows are returned.
        progress: Show a bar, if tqdm is installed.

    Returns:
        The numbers of `items`, `documents`, `found_items`, `found_documents`, `short_items` (matched as a
        whole) and `wordless_items`. Without `output`, also `rows`, with a dict for each item and document.

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

    Options:
        fields: Fields of the items, joined by newlines, such as question,answer [default: text].
        words: Number of words of a shingle, from 1 to 1000 [default: 5].
        measure: Measure of how much of an item a document has [default: words]. Values: words,
            shingles, weighted.
        share: Minimum share of an item that a document has, as 0.8 or 4/5 [default: 0.8, and 0.6 with
            `measure` weighted].
        write_kept: Write copies of the documents' files without the items to the folder `output`.
            Values: drop, cut, mask.
        mask: Text in place of the words of items, with `write_kept` mask [default: [...]].
        force: Replace an existing output.
        output_format: Format of the rows [default: jsonl]. Values: jsonl, tsv, parquet.
        files_from: File that lists more paths to read, one a line or with a zero byte after each,
            optionally compressed with gzip; - is standard input.
        glob: When reading folders, include only files matching this glob, or leave them out if it
            begins with ! (repeatable).
        hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
        format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
            arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
        split: Division of plain-text files into documents [default: file]. Values: file, lines,
            blank-lines.
        encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
            such as windows-1251 or gbk, or detect [default: UTF-8].
        content: Text of an HTML page that is compared [default: main]. Values: all, main.
        delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
            in CSV the comma, semicolon, tab or bar, recognized by the first rows].
        csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
            recognized by the first rows].
        no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
            on.
        text_field: Fields or columns of the text [default: text].
        id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
            id].
        min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
            passed over are compared with nothing, and kept [default: 0].
        max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
            or 1MiB (powers of 1024).
        sample: Process only this share of the documents, selected by the hash of the text.
        limit: Stop after the first N documents that are not passed over. Copies end there, too.
        on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
        max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
            1024. By default 128MiB, whatever the memory is.
        max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
            first GiB [default: 2000].
        zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
            is 128 MiB [default: 27].
        resume: Store what was found, and go on from there if this run was stopped before.
        max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
            memory].
        tmp_dir: Folder for temporary files [default: the system's temporary folder].
        threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
        config: File with options of this command in TOML; options of the command line go before them.
        no_mmap: Read files into memory instead of mapping them.
    """
def passages_files(
    paths: Path | Iterable[Path],
    *,
    progress: bool = False,
    # Options of passages_files, generated.
    unit: Literal["words", "paragraph", "line", "sentence"] | None = "words",
    words: _Integer | None = None,
    min_documents: _Integer | str | None = 2,
    verify_words: bool | None = False,
    output: _Path | None = None,
    force: bool | None = False,
    output_format: Literal["jsonl", "tsv", "parquet"] | None = "jsonl",
    files_from: _Path | None = None,
    glob: str | Sequence[str] | None = None,
    hidden: bool | None = False,
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "html", "mbox", "mail", "form-feed", "text", "lines", "blank-lines"] | None = None,
    split: Literal["file", "lines", "blank-lines"] | None = "file",
    encoding: str | None = "UTF-8",
    content: Literal["all", "main"] | None = "main",
    delimiter: str | None = None,
    csv: str | None = None,
    no_header: bool | None = False,
    text_field: str | None = "text",
    id_field: str | None = "id",
    min_tokens: _Integer | None = 0,
    max_bytes: _Integer | str | None = None,
    sample: _Number | str | None = None,
    limit: _Integer | None = None,
    on_error: Literal["skip", "fail"] | None = "skip",
    max_record: _Integer | str | None = None,
    max_expansion: _Integer | None = 2000,
    zstd_window_log: _Integer | None = 27,
    resume: bool | None = False,
    shard: str | None = None,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
    threads: _Integer | None = 0,
    config: _Path | None = None,
    no_mmap: bool | None = False,
    # End of the options.
) -> list[dict[str, Any]]:
    """Returns the passages of at least 50 words that several documents of files and folders have.

    Does the work of `simtool passages` in this process, with options as in `deduplicate_files`, for example
    `words=20`, `unit="sentence"` and `min_documents="2:host"`.

    Args:
        paths: Files and folders to read: one path, or several.
        progress: Show a bar, if tqdm is installed.

    Returns:
        A dict for each passage, in reading order, with the columns of the program's rows.

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

    Options:
        unit: Unit of text that must be repeated [default: words]. Values: words, paragraph, line,
            sentence.
        words: Minimum number of words of a passage, from 1 to 1000 [default: 50, or 8 for a `unit`].
        min_documents: Minimum number of documents with the words of a passage, or 1 to list also
            passages that are repeated only within one document [default: 2].
        verify_words: Compare the words of all passages whose hashes are equal.
        output: File to write, or the folder to write with `write_kept`; - is standard output [default:
            -].
        force: Replace an existing output.
        output_format: Format of the rows [default: jsonl]. Values: jsonl, tsv, parquet.
        files_from: File that lists more paths to read, one a line or with a zero byte after each,
            optionally compressed with gzip; - is standard input.
        glob: When reading folders, include only files matching this glob, or leave them out if it
            begins with ! (repeatable).
        hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
        format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
            arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
        split: Division of plain-text files into documents [default: file]. Values: file, lines,
            blank-lines.
        encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
            such as windows-1251 or gbk, or detect [default: UTF-8].
        content: Text of an HTML page that is compared [default: main]. Values: all, main.
        delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
            in CSV the comma, semicolon, tab or bar, recognized by the first rows].
        csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
            recognized by the first rows].
        no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
            on.
        text_field: Fields or columns of the text [default: text].
        id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
            id].
        min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
            passed over are compared with nothing, and kept [default: 0].
        max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
            or 1MiB (powers of 1024).
        sample: Process only this share of the documents, selected by the hash of the text.
        limit: Stop after the first N documents that are not passed over. Copies end there, too.
        on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
        max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
            1024. By default 128MiB, whatever the memory is.
        max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
            first GiB [default: 2000].
        zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
            is 128 MiB [default: 27].
        resume: Store what was read, and go on from there if this run was stopped before.
        shard: Read shard I of N, such as 2/4, store it in OUTPUT.parts, and end.
        max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
            memory].
        tmp_dir: Folder for temporary files [default: the system's temporary folder].
        threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
        config: File with options of this command in TOML; options of the command line go before them.
        no_mmap: Read files into memory instead of mapping them.
    """
def cut_passages_files(
    paths: Path | Iterable[Path],
    *,
    output: Path,
    progress: bool = False,
    # Options of cut_passages_files, generated.
    unit: Literal["words", "paragraph", "line", "sentence"] | None = "words",
    words: _Integer | None = None,
    min_documents: _Integer | str | None = 2,
    verify_words: bool | None = False,
    cut: Literal["first", "all"] | None = None,
    mask: str | None = None,
    min_left: _Integer | None = 1,
    force: bool | None = False,
    output_format: Literal["jsonl", "tsv", "parquet"] | None = "jsonl",
    files_from: _Path | None = None,
    glob: str | Sequence[str] | None = None,
    hidden: bool | None = False,
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "html", "mbox", "mail", "form-feed", "text", "lines", "blank-lines"] | None = None,
    split: Literal["file", "lines", "blank-lines"] | None = "file",
    encoding: str | None = "UTF-8",
    content: Literal["all", "main"] | None = "main",
    delimiter: str | None = None,
    csv: str | None = None,
    no_header: bool | None = False,
    text_field: str | None = "text",
    id_field: str | None = "id",
    min_tokens: _Integer | None = 0,
    max_bytes: _Integer | str | None = None,
    sample: _Number | str | None = None,
    limit: _Integer | None = None,
    on_error: Literal["skip", "fail"] | None = "skip",
    max_record: _Integer | str | None = None,
    max_expansion: _Integer | None = 2000,
    zstd_window_log: _Integer | None = 27,
    resume: bool | None = False,
    shard: str | None = None,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
    threads: _Integer | None = 0,
    config: _Path | None = None,
    no_mmap: bool | None = False,
    # End of the options.
) -> dict[str, Any]:
    """Writes copies of files without the passages that several documents have. The first copy of each stays.

    Does the work of `simtool passages --write-kept` in this process, with options as in `passages_files`, for
    example `cut="all"`, `mask="[...]"` and `min_left=50`.

    Args:
        paths: Files and folders to read: one path, or several.
        output: Folder for the results. It gets the copies in `kept`, `passages.jsonl`, `cuts.jsonl`,
            `files.jsonl`, `summary.json` and `report.html`.
        progress: Show a bar, if tqdm is installed.

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

    Options:
        unit: Unit of text that must be repeated [default: words]. Values: words, paragraph, line,
            sentence.
        words: Minimum number of words of a passage, from 1 to 1000 [default: 50, or 8 for a `unit`].
        min_documents: Minimum number of documents with the words of a passage, or 1 to list also
            passages that are repeated only within one document [default: 2].
        verify_words: Compare the words of all passages whose hashes are equal.
        cut: Copies of a passage that `write_kept` cuts. Values: first, all.
        mask: Text that replaces each cut. Without it, a line feed does.
        min_left: Remove a cut document with fewer words left [default: 1].
        force: Replace an existing output.
        output_format: Format of the rows [default: jsonl]. Values: jsonl, tsv, parquet.
        files_from: File that lists more paths to read, one a line or with a zero byte after each,
            optionally compressed with gzip; - is standard input.
        glob: When reading folders, include only files matching this glob, or leave them out if it
            begins with ! (repeatable).
        hidden: When reading folders, include hidden files and folders, whose names begin with a dot.
        format: Format of every file [default: recognized by content and name]. Values: warc, parquet,
            arrow, csv, tsv, json, jsonl, html, mbox, mail, form-feed, text, lines, blank-lines.
        split: Division of plain-text files into documents [default: file]. Values: file, lines,
            blank-lines.
        encoding: Encoding of texts that are not UTF-8 and do not declare another one: a name of the web
            such as windows-1251 or gbk, or detect [default: UTF-8].
        content: Text of an HTML page that is compared [default: main]. Values: all, main.
        delimiter: Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV;
            in CSV the comma, semicolon, tab or bar, recognized by the first rows].
        csv: Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default:
            recognized by the first rows].
        no_header: The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so
            on.
        text_field: Fields or columns of the text [default: text].
        id_field: Field or column of the ID, written like `text_field`; it must exist if named [default:
            id].
        min_tokens: Pass over documents with fewer tokens (runs without white space). Documents that are
            passed over are compared with nothing, and kept [default: 0].
        max_bytes: Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000)
            or 1MiB (powers of 1024).
        sample: Process only this share of the documents, selected by the hash of the text.
        limit: Stop after the first N documents that are not passed over. Copies end there, too.
        on_error: Action for unreadable records and files [default: skip]. Values: skip, fail.
        max_record: Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of
            1024. By default 128MiB, whatever the memory is.
        max_expansion: Stop reading a compressed file that grows by more than this factor, beyond its
            first GiB [default: 2000].
        zstd_window_log: Maximum window of Zstandard and dictionary of xz files, as a power of two: 27
            is 128 MiB [default: 27].
        resume: Store what was read, and go on from there if this run was stopped before.
        shard: Read shard I of N, such as 2/4, store it in OUTPUT.parts, and end.
        max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
            memory].
        tmp_dir: Folder for temporary files [default: the system's temporary folder].
        threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
        config: File with options of this command in TOML; options of the command line go before them.
        no_mmap: Read files into memory instead of mapping them.
    """
