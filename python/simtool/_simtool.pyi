"""The compiled part of the package; its names are taken from `simtool`."""

import os
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal, Protocol, SupportsFloat, SupportsIndex

import numpy
import numpy.typing

__version__: str

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

# Objects that export Arrow: from pyarrow, polars, DuckDB, pandas and others.
_Arrow = _ArrowStream | _ArrowArray
_Texts = Iterable[str | None] | _Arrow
_Fingerprints = Fingerprints | numpy.typing.NDArray[Any] | _Arrow
_Pairs = Table | _Arrow | Iterable[Sequence[float]] | numpy.typing.NDArray[Any]
# One value for each document (numbers, texts, points in time), or the name of a column of the texts' table.
_Values = str | Iterable[Any] | _Arrow
# Values of options. Numbers may also be those of NumPy, fractions and decimals.
_Integer = SupportsIndex
_Number = SupportsFloat | SupportsIndex
_Path = str | os.PathLike[str]

class Table:
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Column: ...
    def to_numpy(self) -> Any: ...
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def _repr_html_(self) -> str: ...

class Column:
    @property
    def name(self) -> str: ...
    @property
    def null_count(self) -> int: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def to_numpy(self) -> numpy.typing.NDArray[Any]: ...
    def to_pylist(self) -> list[Any]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class NearDuplicates:
    @property
    def kept(self) -> Table: ...
    @property
    def removed(self) -> Table: ...
    @property
    def clusters(self) -> Table: ...
    @property
    def documents(self) -> Table: ...
    @property
    def pairs(self) -> Table: ...
    @property
    def pair_count(self) -> int: ...
    @property
    def method(self) -> str: ...
    def __len__(self) -> int: ...
    def _repr_html_(self) -> str: ...

class Fingerprints:
    @property
    def recipe(self) -> str | None: ...
    @property
    def bits(self) -> int: ...
    @property
    def null_count(self) -> int: ...
    def __len__(self) -> int: ...
    def to_numpy(self) -> numpy.typing.NDArray[numpy.uint64]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class Comparison:
    @property
    def similarity(self) -> float | None: ...
    @property
    def distance(self) -> int | None: ...
    @property
    def shared(self) -> int: ...
    @property
    def shingles(self) -> tuple[int, int]: ...

class Engine:
    def __init__(self, sample: _Arrow | None = None, learned: bytes | None = None, **options: Any) -> None: ...
    @property
    def method(self) -> str: ...
    @property
    def words(self) -> int: ...
    @property
    def tables(self) -> int: ...
    @property
    def keep(self) -> str: ...
    @property
    def cuts(self) -> bool: ...
    @property
    def has_fingerprints(self) -> bool: ...
    @property
    def verifies(self) -> bool: ...
    def check_field(self, is_there: bool) -> None: ...
    def order(self, values: _Arrow) -> Table: ...
    def fingerprints(self, texts: _Texts, ids: Any, of_queries: bool = False) -> Fingerprints: ...
    def buckets(self, fingerprints: _Arrow, full: Sequence[int] = ()) -> Table: ...
    def pairs(
        self, fingerprints: _Arrow, buckets: _Arrow, full: Sequence[int] = (), sides: _Arrow | None = None
    ) -> Table: ...
    def settle(self, pairs: _Arrow, ranks: _Arrow) -> Table: ...

class Learner:
    def __init__(self, of_texts: bool = False, **options: Any) -> None: ...
    @property
    def recipe(self) -> str | None: ...
    @property
    def is_order(self) -> bool: ...
    @property
    def most(self) -> int | None: ...
    def add(self, texts: _Texts) -> int: ...
    def take(self) -> Table: ...
    def learned(self, terms: _Arrow, counts: _Arrow, documents: int) -> bytes: ...

class SetKeys:
    def __init__(self, learned: bytes | None = None, **options: Any) -> None: ...
    def keys(self, texts: _Texts) -> tuple[Table, Table]: ...
    @staticmethod
    def parted(
        classes: _Arrow, weights: _Arrow, sides: _Arrow, keys: _Arrow, ends: _Arrow, parts: int
    ) -> tuple[Table, Table]: ...
    def candidates(
        self, sets: _Arrow, is_sided: bool, on: tuple[int, int] = (0, 0)
    ) -> tuple[Table, tuple[int, int] | None]: ...

class Verifier:
    def __init__(self, learned: bytes | None = None, **options: Any) -> None: ...
    def groups(self, texts: _Texts, fingerprints: _Arrow) -> Table: ...
    def similar(self, texts: _Texts, owners: _Arrow, pairs: _Arrow) -> Table: ...

# Paths to columns: names, and None for a step from a list to its elements.
def selected_columns(
    schema: bytes, text: str | None, id: str, keep: str | None = None
) -> tuple[list[list[list[str | None]]], list[list[str | None]], list[list[str | None]]]: ...

class Evaluation:
    def to_dict(self) -> dict[str, Any]: ...
    def to_html(self) -> str: ...
    def to_svg(self) -> str: ...
    def _repr_html_(self) -> str: ...

class IndexLockedError(OSError): ...

class Index:
    def __init__(
        self,
        path: _Path,
        *,
        # Options of Index, generated.
        method: Literal["simhash", "multi-lexicon", "minhash"] | str | None = "simhash",
        max_distance: _Integer | None = None,
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
        threads: _Integer | None = 0,
        max_memory: _Integer | str | None = None,
        tmp_dir: _Path | None = None,
        # End of the options.
    ) -> None: ...
    @property
    def path(self) -> Any: ...
    @property
    def method(self) -> str: ...
    def __len__(self) -> int: ...
    def add(
        self,
        texts: _Texts,
        ids: _Texts | None = None,
        *,
        source: str = "default",
        column: str | None = None,
        progress: bool = False,
    ) -> Table: ...
    def filter(
        self,
        texts: _Texts,
        ids: _Texts | None = None,
        *,
        source: str = "default",
        column: str | None = None,
        progress: bool = False,
    ) -> Table: ...
    def query(
        self,
        texts: _Texts,
        *,
        only_nearest: bool = False,
        column: str | None = None,
        progress: bool = False,
    ) -> Table: ...
    def remove(self, ids: Sequence[str]) -> int: ...
    def compact(self) -> None: ...
    def verify(self) -> None: ...
    def stat(self) -> dict[str, Any]: ...

def deduplicate(
    texts: _Texts,
    *,
    column: str | None = None,
    keep_field: _Values | None = None,
    progress: bool = False,
    # Options of deduplicate, generated.
    keep: str | None = "first",
    prefer: str | None = None,
    keep_count: _Integer | None = 1,
    cluster: Literal["proven", "components"] | None = "proven",
    method: Literal["exact", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "exact",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    verify: _Number | str | None = None,
    verify_weight: Literal["binary", "idf"] | None = "binary",
    recall: _Number | str | None = None,
    within: str | None = None,
    across: str | None = None,
    boilerplate: _Integer | str | None = None,
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
    threads: _Integer | None = 0,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
    # End of the options.
) -> NearDuplicates: ...
def match(
    corpus: _Texts,
    queries: _Texts,
    *,
    column: str | None = None,
    progress: bool = False,
    # Options of match, generated.
    method: Literal["exact", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "exact",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    verify: _Number | str | None = None,
    verify_weight: Literal["binary", "idf"] | None = "binary",
    recall: _Number | str | None = None,
    within: str | None = None,
    across: str | None = None,
    boilerplate: _Integer | str | None = None,
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
    threads: _Integer | None = 0,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
    # End of the options.
) -> NearDuplicates: ...
def cluster(
    pairs: _Pairs,
    rows: SupportsIndex | None = None,
    *,
    keep: Literal["first", "last"] | None = "first",
    cluster: Literal["proven", "components"] | None = "proven",
    keep_count: _Integer | None = 1,
    threads: _Integer | None = 0,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
) -> NearDuplicates: ...
def fingerprint(
    texts: _Texts,
    *,
    column: str | None = None,
    by: Fingerprints | None = None,
    progress: bool = False,
    # Options of fingerprint, generated.
    method: Literal["simhash", "multi-lexicon", "minhash", "i-match"] | str | None = "simhash",
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
    threads: _Integer | None = 0,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
    # End of the options.
) -> Fingerprints: ...
def pairs(
    fingerprints: _Fingerprints,
    max_distance: int = 3,
    *,
    queries: _Fingerprints | None = None,
    index: str | None = None,
    progress: bool = False,
    threads: _Integer | None = 0,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
) -> Table: ...
def compare(
    a: str,
    b: str,
    *,
    # Options of compare, generated.
    method: Literal["exact", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "exact",
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
) -> Comparison: ...
def evaluate(
    texts: _Texts,
    truth: _Pairs,
    methods: str | Sequence[str] | None = None,
    *,
    hash_seeds: Sequence[int] = ...,
    column: str | None = None,
    progress: bool = False,
    threads: _Integer | None = 0,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
) -> Evaluation: ...
def command(arguments: list[str]) -> int: ...
def run_files(
    paths: list[str], queries: list[str], output: str, progress: bool, options: dict[str, Any]
) -> str: ...
def passages_of_files(paths: list[str], progress: bool, options: dict[str, Any]) -> str: ...
def preview_of_files(
    paths: list[str], queries: list[str], progress: bool, options: dict[str, Any]
) -> str: ...
def contamination_of_files(
    items: list[str], documents: list[str], progress: bool, options: dict[str, Any]
) -> tuple[list[tuple[str, int]], str]: ...
