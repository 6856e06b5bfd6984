"""Types of options, generated from the program."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypedDict

from ._types import _Integer, _Number, _Path


class DeduplicateOptions(TypedDict, total=False):
    """Options of `deduplicate`."""

    prefer: str | None
    keep_count: _Integer | None
    cluster: Literal["proven", "components"] | None
    decisions: _Path | None
    annotate: str | bool | None
    lose: _Integer | str | None
    verify: _Number | str | None
    within: str | None
    across: str | None
    boilerplate: _Integer | str | None
    stop_words: _Path | Collection[str] | None
    ignore: str | Sequence[str] | None
    fold: str | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None


class MatchOptions(TypedDict, total=False):
    """Options of `match`."""

    lose: _Integer | str | None
    verify: _Number | str | None
    within: str | None
    across: str | None
    boilerplate: _Integer | str | None
    stop_words: _Path | Collection[str] | None
    ignore: str | Sequence[str] | None
    fold: str | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None


class FingerprintOptions(TypedDict, total=False):
    """Options of `fingerprint`."""

    stop_words: _Path | Collection[str] | None
    ignore: str | Sequence[str] | None
    fold: str | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None


class CompareOptions(TypedDict, total=False):
    """Options of `compare`."""

    verify: _Number | str | None
    stop_words: _Path | Collection[str] | None
    ignore: str | Sequence[str] | None
    fold: str | None


class IndexOptions(TypedDict, total=False):
    """Options of `Index`."""

    stop_words: _Path | Collection[str] | None
    ignore: str | Sequence[str] | None
    fold: str | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None


class DeduplicateFilesOptions(TypedDict, total=False):
    """Options of `deduplicate_files`."""

    keep: str | None
    prefer: str | None
    keep_count: _Integer | None
    cluster: Literal["proven", "components"] | None
    decisions: _Path | None
    pairs: bool | None
    annotate: str | bool | None
    lose: _Integer | str | None
    method: Literal["exact", "covered", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None
    similarity: _Number | str | None
    max_distance: _Integer | None
    verify: _Number | str | None
    within: str | None
    across: str | None
    boilerplate: _Integer | str | None
    shingle: _Integer | str | None
    stop_words: _Path | Collection[str] | None
    ignore: str | Sequence[str] | None
    fold: str | None
    by: str | None
    fail_if: str | None
    force: bool | None
    output_format: Literal["jsonl", "tsv", "parquet", "ids"] | None
    write_kept: Literal["readable"] | bool | None
    write_removed: bool | None
    receipt: bool | None
    files_from: _Path | None
    glob: str | Sequence[str] | None
    hidden: bool | None
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "xml", "html", "mbox", "mail", "form-feed", "srt", "vtt", "text", "lines", "blank-lines"] | None
    split: Literal["file", "lines", "blank-lines"] | None
    encoding: str | None
    content: Literal["all", "main"] | None
    delimiter: str | None
    csv: str | None
    no_header: bool | None
    text_field: str | None
    id_field: str | None
    min_tokens: _Integer | None
    max_bytes: _Integer | str | None
    sample: _Number | str | None
    limit: _Integer | None
    on_error: Literal["skip", "fail"] | None
    max_record: _Integer | str | None
    max_expansion: _Integer | None
    zstd_window_log: _Integer | None
    anonymous: bool | None
    spool_size: _Integer | str | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None
    threads: _Integer | None
    config: _Path | None
    no_mmap: bool | None
    resume: bool | None
    shard: str | None


class MatchFilesOptions(TypedDict, total=False):
    """Options of `match_files`."""

    against_text_field: str | None
    against_id_field: str | None
    lose: _Integer | str | None
    method: Literal["exact", "covered", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None
    similarity: _Number | str | None
    max_distance: _Integer | None
    verify: _Number | str | None
    within: str | None
    across: str | None
    boilerplate: _Integer | str | None
    shingle: _Integer | str | None
    stop_words: _Path | Collection[str] | None
    ignore: str | Sequence[str] | None
    fold: str | None
    by: str | None
    fail_if: str | None
    force: bool | None
    output_format: Literal["jsonl", "tsv", "parquet", "ids"] | None
    write_kept: Literal["readable"] | bool | None
    write_removed: bool | None
    receipt: bool | None
    files_from: _Path | None
    glob: str | Sequence[str] | None
    hidden: bool | None
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "xml", "html", "mbox", "mail", "form-feed", "srt", "vtt", "text", "lines", "blank-lines"] | None
    split: Literal["file", "lines", "blank-lines"] | None
    encoding: str | None
    content: Literal["all", "main"] | None
    delimiter: str | None
    csv: str | None
    no_header: bool | None
    text_field: str | None
    id_field: str | None
    min_tokens: _Integer | None
    max_bytes: _Integer | str | None
    sample: _Number | str | None
    limit: _Integer | None
    on_error: Literal["skip", "fail"] | None
    max_record: _Integer | str | None
    max_expansion: _Integer | None
    zstd_window_log: _Integer | None
    anonymous: bool | None
    spool_size: _Integer | str | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None
    threads: _Integer | None
    config: _Path | None
    no_mmap: bool | None


class PreviewFilesOptions(TypedDict, total=False):
    """Options of `preview_files`."""

    keep: str | None
    prefer: str | None
    keep_count: _Integer | None
    cluster: Literal["proven", "components"] | None
    decisions: _Path | None
    lose: _Integer | str | None
    method: Literal["exact", "covered", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None
    similarity: _Number | str | None
    max_distance: _Integer | None
    verify: _Number | str | None
    within: str | None
    across: str | None
    boilerplate: _Integer | str | None
    shingle: _Integer | str | None
    stop_words: _Path | Collection[str] | None
    ignore: str | Sequence[str] | None
    fold: str | None
    files_from: _Path | None
    glob: str | Sequence[str] | None
    hidden: bool | None
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "xml", "html", "mbox", "mail", "form-feed", "srt", "vtt", "text", "lines", "blank-lines"] | None
    split: Literal["file", "lines", "blank-lines"] | None
    encoding: str | None
    content: Literal["all", "main"] | None
    delimiter: str | None
    csv: str | None
    no_header: bool | None
    text_field: str | None
    id_field: str | None
    min_tokens: _Integer | None
    max_bytes: _Integer | str | None
    sample: _Number | str | None
    limit: _Integer | None
    on_error: Literal["skip", "fail"] | None
    max_record: _Integer | str | None
    max_expansion: _Integer | None
    zstd_window_log: _Integer | None
    anonymous: bool | None
    spool_size: _Integer | str | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None
    threads: _Integer | None
    config: _Path | None
    no_mmap: bool | None
    against_text_field: str | None
    against_id_field: str | None


class CombineFilesOptions(TypedDict, total=False):
    """Options of `combine_files`."""

    force: bool | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None
    threads: _Integer | None
    config: _Path | None
    no_mmap: bool | None


class WhyOptions(TypedDict, total=False):
    """Options of `why`."""

    threads: _Integer | None
    config: _Path | None
    no_mmap: bool | None


class AuditOptions(TypedDict, total=False):
    """Options of `audit`."""

    sample: _Integer | None
    seed: _Number | str | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None
    threads: _Integer | None
    config: _Path | None
    no_mmap: bool | None


class ContaminationFilesOptions(TypedDict, total=False):
    """Options of `contamination_files`."""

    fields: str | None
    words: _Integer | None
    measure: Literal["words", "shingles", "weighted"] | None
    share: _Number | str | None
    ignore: str | Sequence[str] | None
    write_kept: Literal["drop", "cut", "mask"] | None
    write_removed: bool | None
    mask: str | None
    force: bool | None
    output_format: Literal["jsonl", "tsv", "parquet"] | None
    files_from: _Path | None
    glob: str | Sequence[str] | None
    hidden: bool | None
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "xml", "html", "mbox", "mail", "form-feed", "srt", "vtt", "text", "lines", "blank-lines"] | None
    split: Literal["file", "lines", "blank-lines"] | None
    encoding: str | None
    content: Literal["all", "main"] | None
    delimiter: str | None
    csv: str | None
    no_header: bool | None
    text_field: str | None
    id_field: str | None
    min_tokens: _Integer | None
    max_bytes: _Integer | str | None
    sample: _Number | str | None
    limit: _Integer | None
    on_error: Literal["skip", "fail"] | None
    max_record: _Integer | str | None
    max_expansion: _Integer | None
    zstd_window_log: _Integer | None
    anonymous: bool | None
    spool_size: _Integer | str | None
    resume: bool | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None
    threads: _Integer | None
    config: _Path | None
    no_mmap: bool | None


class PassagesFilesOptions(TypedDict, total=False):
    """Options of `passages_files`."""

    unit: Literal["words", "paragraph", "line", "sentence"] | None
    words: _Integer | None
    min_documents: _Integer | str | None
    ignore: str | Sequence[str] | None
    verify_words: bool | None
    output: _Path | None
    force: bool | None
    output_format: Literal["jsonl", "tsv", "parquet"] | None
    files_from: _Path | None
    glob: str | Sequence[str] | None
    hidden: bool | None
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "xml", "html", "mbox", "mail", "form-feed", "srt", "vtt", "text", "lines", "blank-lines"] | None
    split: Literal["file", "lines", "blank-lines"] | None
    encoding: str | None
    content: Literal["all", "main"] | None
    delimiter: str | None
    csv: str | None
    no_header: bool | None
    text_field: str | None
    id_field: str | None
    min_tokens: _Integer | None
    max_bytes: _Integer | str | None
    sample: _Number | str | None
    limit: _Integer | None
    on_error: Literal["skip", "fail"] | None
    max_record: _Integer | str | None
    max_expansion: _Integer | None
    zstd_window_log: _Integer | None
    anonymous: bool | None
    spool_size: _Integer | str | None
    resume: bool | None
    shard: str | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None
    threads: _Integer | None
    config: _Path | None
    no_mmap: bool | None


class CutPassagesFilesOptions(TypedDict, total=False):
    """Options of `cut_passages_files`."""

    unit: Literal["words", "paragraph", "line", "sentence"] | None
    words: _Integer | None
    min_documents: _Integer | str | None
    ignore: str | Sequence[str] | None
    verify_words: bool | None
    cut: Literal["first", "all"] | None
    mask: str | None
    min_left: _Integer | None
    write_removed: bool | None
    force: bool | None
    output_format: Literal["jsonl", "tsv", "parquet"] | None
    files_from: _Path | None
    glob: str | Sequence[str] | None
    hidden: bool | None
    format: Literal["warc", "parquet", "arrow", "csv", "tsv", "json", "jsonl", "xml", "html", "mbox", "mail", "form-feed", "srt", "vtt", "text", "lines", "blank-lines"] | None
    split: Literal["file", "lines", "blank-lines"] | None
    encoding: str | None
    content: Literal["all", "main"] | None
    delimiter: str | None
    csv: str | None
    no_header: bool | None
    text_field: str | None
    id_field: str | None
    min_tokens: _Integer | None
    max_bytes: _Integer | str | None
    sample: _Number | str | None
    limit: _Integer | None
    on_error: Literal["skip", "fail"] | None
    max_record: _Integer | str | None
    max_expansion: _Integer | None
    zstd_window_log: _Integer | None
    anonymous: bool | None
    spool_size: _Integer | str | None
    resume: bool | None
    shard: str | None
    max_memory: _Integer | str | None
    tmp_dir: _Path | None
    threads: _Integer | None
    config: _Path | None
    no_mmap: bool | None
