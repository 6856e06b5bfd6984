"""Types of the functions on Spark."""

import os
from collections.abc import Collection, Sequence
from typing import Literal, SupportsFloat, SupportsIndex

from pyspark.sql import DataFrame

# Values of options. Numbers may also be those of NumPy, fractions and decimals.
_Integer = SupportsIndex
_Number = SupportsFloat | SupportsIndex
_Path = str | os.PathLike[str]

def deduplicate(
    df: DataFrame,
    *,
    text_column: str = "text",
    id_column: str = "id",
    keep_field: str | None = None,
    all_strings: bool = False,
    check_ids: bool = True,
    partitions: int | None = None,
    sample: int = 0,
    work_dir: str | None = None,
    full_bucket: int = 4_000_000,
    max_pairs: int = 20_000_000,
    max_terms: int = 4_000_000,
    annotate: bool = False,
    cluster_weight: _Number | str | None = None,
    # Options of deduplicate, generated.
    keep: str | None = "first",
    cluster: Literal["proven", "components"] | None = "proven",
    method: Literal["exact", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "simhash",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    verify: _Number | str | None = None,
    verify_weight: Literal["binary", "idf"] | None = "binary",
    bits: _Integer | None = None,
    lexicons: _Integer | None = None,
    lexicon_share: _Number | str | None = None,
    votes: _Integer | str | None = None,
    lexicon_bits: Literal["own", "shared"] | None = "own",
    lanes: _Integer | None = None,
    hashing: Literal["one-permutation", "classical"] | None = "one-permutation",
    measure: Literal["jaccard", "cosine"] | None = "cosine",
    least_terms: _Integer | None = 5,
    least_share: _Number | str | None = 0.1,
    shingle: _Integer | str | None = "words:3",
    tokenizer: Literal["words", "words+symbols", "chars", "ascii", "chinese", "auto", "lecture"] | None = "words",
    stop_words: _Path | Collection[str] | None = None,
    weight: Literal["tf", "binary", "log-tf", "idf", "tf-idf", "log-tf-idf", "levels"] | None = None,
    top: _Integer | None = None,
    idf_band: str | None = None,
    # End of the options.
) -> DataFrame: ...
def match(
    df: DataFrame,
    queries: DataFrame,
    *,
    text_column: str = "text",
    id_column: str = "id",
    against_text_column: str | None = None,
    against_id_column: str | None = None,
    all_strings: bool = False,
    check_ids: bool = True,
    partitions: int | None = None,
    sample: int = 0,
    work_dir: str | None = None,
    full_bucket: int = 4_000_000,
    max_terms: int = 4_000_000,
    # Options of match, generated.
    method: Literal["exact", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "simhash",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    verify: _Number | str | None = None,
    verify_weight: Literal["binary", "idf"] | None = "binary",
    bits: _Integer | None = None,
    lexicons: _Integer | None = None,
    lexicon_share: _Number | str | None = None,
    votes: _Integer | str | None = None,
    lexicon_bits: Literal["own", "shared"] | None = "own",
    lanes: _Integer | None = None,
    hashing: Literal["one-permutation", "classical"] | None = "one-permutation",
    measure: Literal["jaccard", "cosine"] | None = "cosine",
    least_terms: _Integer | None = 5,
    least_share: _Number | str | None = 0.1,
    shingle: _Integer | str | None = "words:3",
    tokenizer: Literal["words", "words+symbols", "chars", "ascii", "chinese", "auto", "lecture"] | None = "words",
    stop_words: _Path | Collection[str] | None = None,
    weight: Literal["tf", "binary", "log-tf", "idf", "tf-idf", "log-tf-idf", "levels"] | None = None,
    top: _Integer | None = None,
    idf_band: str | None = None,
    # End of the options.
) -> DataFrame: ...
