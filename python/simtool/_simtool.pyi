"""The compiled part of the package; its names are taken from `simtool`."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol, SupportsIndex

import numpy
import numpy.typing
from typing_extensions import Unpack

from . import _option_types
from ._types import _Integer, _Number, _Path

__version__: str

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

# A lazy frame of polars, which is collected.
class _LazyFrame(Protocol):
    def collect(self) -> Any: ...

# Objects that export Arrow: from pyarrow, polars, DuckDB, pandas and others.
_Arrow = _ArrowStream | _ArrowArray
_Texts = Iterable[str | None] | _Arrow | _LazyFrame
_Fingerprints = Fingerprints | numpy.typing.NDArray[Any] | _Arrow
_Pairs = Table | _Arrow | Iterable[Sequence[float]] | numpy.typing.NDArray[Any]
# One value for each document (numbers, texts, points in time), or the name of a column of the texts' table.
_Values = str | Iterable[Any] | _Arrow

class Table:
    """A table: columns of one length. It has Arrow's PyCapsule interface: `pyarrow.table(table)` and
    `polars.DataFrame(table)` take it without a copy, and so does DuckDB through these libraries.

        >>> table = simtool.deduplicate(["a b c d", "A b, c d!"]).removed
        >>> table.column_names, len(table), table["kept"].to_pylist()
        (['row', 'kept', 'similarity'], 1, [0])
        >>> table.to_pydict()
        {'row': [1], 'kept': [0], 'similarity': [1.0]}
    """
    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
    def __len__(self) -> int: ...
    def __getitem__(self, name: str) -> Column: ...
    def to_numpy(self) -> Any:
        """Returns a dict of the columns as NumPy arrays, or the array itself if the table has one
        column. Numbers are not copied.
        """
    def to_pydict(self) -> dict[str, list[Any]]:
        """Returns a dict of the columns as lists."""
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def _repr_html_(self) -> str: ...

class Rows:
    """Rows of a command on files. `pyarrow.table(rows)` and `polars.DataFrame(rows)` take the columns without a copy. As a
    sequence, it has a dict for each row. Ids are numbers if all ids of the rows are, and texts otherwise.

        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in ["a.txt", "b.txt"]:
        ...     _ = (folder / name).write_text("to be or not to be")
        >>> rows = simtool.passages_files(folder, words=6)
        >>> len(rows), rows.column_names[:3], rows[1]["whole"]
        (2, ['id', 'file', 'record'], True)
    """
    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    def __iter__(self) -> Iterator[dict[str, Any]]: ...
    def to_pylist(self) -> list[dict[str, Any]]:
        """Returns a list with a dict for each row."""
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Column:
    """A column of a table, which Arrow and NumPy take without a copy.

    >>> column = simtool.deduplicate(["a b c d", "e f g h"]).kept["row"]
    >>> column.name, len(column), column.null_count, column.to_pylist()
    ('row', 2, 0, [0, 1])
    """
    @property
    def name(self) -> str:
        """The name of the column."""
    @property
    def null_count(self) -> int:
        """Number of values that are null."""
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]:
        """Iterates over the values as Python numbers and texts, with `None` for a null."""
    def to_numpy(self) -> numpy.typing.NDArray[Any]:
        """Returns a NumPy array. Numbers are not copied, except whole numbers with nulls. They become floats, with NaN for
        a null. Rows without a fingerprint are zeros.
        """
    def to_pylist(self) -> list[Any]:
        """Returns a list of Python numbers and texts, with `None` for a null."""
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class NearDuplicates:
    """Near-duplicates among rows. Rows are numbered from 0.

    >>> found = simtool.deduplicate(["a b c d", "e f g", "A b, c d!"])
    >>> found.kept["row"].to_pylist(), found.clusters.to_pydict()
    ([0, 1], {'kept': [0], 'removed': [[2]]})
    >>> found.pairs
    a  b  similarity
    0  2       1.000
    [1 row]
    >>> len(found), found.pair_count, found.method
    (3, 1, 'exact:similarity=0.8,shingle=words:3')
    """
    @property
    def kept(self) -> Table:
        """The kept rows in ascending order: a table with the column `row`."""
    @property
    def removed(self) -> Table:
        """The removed rows, each with the row that is kept in its place, and how close the two rows are. With the method
        covered, `lost_words` is the number of words of the removed row that no kept row has. `covered_by` is the number
        of kept rows that together have its other words.
        """
    @property
    def clusters(self) -> Table:
        """The clusters: each kept row in whose place other rows are removed, with the list of these removed rows."""
    @property
    def documents(self) -> Table:
        """All rows, with the columns of the output `documents` that exist for texts in memory. `kept` and `cluster_id` are
        both the kept row of the cluster. For a kept row, this is the row itself, and its closeness is null. Without
        texts, as in the result of `cluster`, `bytes`, `tokens` and `exact_copies` are missing. A match has no clusters.
        """
    @property
    def pairs(self) -> Table:
        """All pairs of close rows, with their closeness. `a` is before `b`. Equal documents are pairs, too. For a match,
        `a` is one of the texts, and `b` is one of the texts in `against`.
        """
    @property
    def pair_count(self) -> int:
        """Number of pairs. It is computed without the table of pairs."""
    @property
    def method(self) -> str:
        """The method with all its settings, in the form of the argument `method`."""
    def __len__(self) -> int: ...
    def _repr_html_(self) -> str: ...

class Fingerprints:
    """Fingerprints: one row for each text. The row of a text without words is null.

    >>> made = simtool.fingerprint(["one two three four", None], method="simhash:bits=128")
    >>> len(made), made.bits, made.null_count
    (2, 128, 1)
    >>> made.recipe.split("/")[0]
    'simhash128'
    """
    @property
    def recipe(self) -> str | None:
        """The recipe of the fingerprints. Fingerprints of different recipes cannot be compared."""
    @property
    def bits(self) -> int:
        """Number of bits of a fingerprint."""
    @property
    def null_count(self) -> int:
        """Number of texts without words."""
    def __len__(self) -> int: ...
    def to_numpy(self) -> numpy.typing.NDArray[numpy.uint64]:
        """Returns a NumPy array of `uint64` without copying. If a row has several words, the array has two dimensions, and
        the lowest word of a row comes first. Rows without a fingerprint are zeros.
        """
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class Comparison:
    """The similarity of two texts: their shared shingles, and the distance of their fingerprints.

    >>> compared = simtool.compare("one two three four", "one two three five")
    >>> compared.shared, compared.shingles
    (1, (2, 2))
    """
    @property
    def similarity(self) -> float | None:
        """Jaccard similarity of the sets of shingles. `None` if neither text has a shingle."""
    @property
    def distance(self) -> int | None:
        """Distance of the fingerprints. `None` if one text has no shingle."""
    @property
    def shared(self) -> int:
        """Number of shingles that both texts have."""
    @property
    def shingles(self) -> tuple[int, int]:
        """Number of distinct shingles of the first and of the second text."""

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
    def text_facts(self, texts: _Texts) -> Table: ...

def cluster_weights(rule: str, sizes: Iterable[int] | _Arrow) -> Table: ...

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
    """The quality of methods: precision, recall and F1 at every threshold.

    >>> measured = simtool.evaluate(["a b c d", "a b c d", "e f g"], [(0, 1)], "exact")
    >>> measured.to_html()[:15]
    '<!DOCTYPE html>'
    """
    def to_dict(self) -> dict[str, Any]:
        """Returns the output of `simtool eval --format json` as a dict."""
    def to_html(self) -> str:
        """Returns the page of `simtool eval --report`: curves and wrong pairs in HTML."""
    def to_svg(self) -> str:
        """Returns the picture of `simtool eval --plot`: F1 of all methods, and their precision and recall, in SVG."""
    def _repr_html_(self) -> str: ...

class IndexLockedError(OSError):
    """Another process writes to the index. Try again when it has ended.

    >>> issubclass(simtool.IndexLockedError, OSError)
    True
    """

class Index:
    """A growing index of documents in a folder: it finds documents that were seen before, and adds new
    ones.

    A missing or empty folder becomes a new index with the given `method` and its options. If `path` has an
    index and options of the method are given, they must be those of the index. `threads`, `max_memory` and
    `tmp_dir` apply to each call.

    Args:
        path: Folder of the index.

    Raises:
        TypeError: A keyword does not exist here.
        ValueError: An option has a wrong value, or is not that of the index.
        OSError: The folder has no index and is not empty, or a file cannot be read.

        >>> import tempfile
        >>> index = simtool.Index(tempfile.mkdtemp() + "/seen.idx", max_distance=3)
        >>> index.filter(["one two three four", "five six", "One, two, three four!"]).to_pydict()
        {'row': [0, 1]}
        >>> index.add(["five six"], ids=["later"])
        number  repeats  distance
          null        1         0
        [1 row]
        >>> index.query(["one two three four"], only_nearest=True).to_pydict()
        {'row': [0], 'number': [0], 'id': ['0'], 'distance': [0]}
        >>> index.remove(["0"]), len(index), index.stat()["removed"]
        (1, 1, 1)

    Options:
        method: Method that makes the fingerprints. Its settings follow a colon, as in simhash:bits=128
            [default: simhash]. Values: simhash, multi-lexicon, minhash.
        max_distance: Maximum number of bits or lanes in which a document differs from the document that
            it repeats [default: 3, or the method's own].
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or
            words:8 with covered].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
        ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
            expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
        fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
            hyphens; commas separate several.
        threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
        max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
            memory].
        tmp_dir: Folder for temporary files [default: the system's temporary folder].
    """
    def __init__(
        self,
        path: _Path,
        *,
        # Options of Index, generated.
        method: Literal["simhash", "multi-lexicon", "minhash"] | str | None = "simhash",
        max_distance: _Integer | None = None,
        shingle: _Integer | str | None = None,
        threads: _Integer | None = 0,
        **options: Unpack[_option_types.IndexOptions],
        # End of the options.
    ) -> None: ...
    @property
    def path(self) -> Any:
        """The folder of the index."""
    @property
    def method(self) -> str:
        """The method with all its settings."""
    def __len__(self) -> int: ...
    def add(
        self,
        texts: _Texts,
        ids: _Texts | None = None,
        *,
        source: str = "default",
        column: str | None = None,
        progress: bool = False,
    ) -> Table:
        """Adds texts in their order. A text that is near a known document, or near an earlier text of the same call, is
        not added.

        Args:
            texts: Iterable of `str` and `None`, or a table or column with Arrow's PyCapsule interface, for
                example of pyarrow, polars, DuckDB or pandas. A lazy frame of polars is collected. A missing
                text keeps its row: it counts as a document without words, which is similar to nothing.
            column: Name of the column of the texts. Needed if a table has several columns of text.
            ids: IDs of the texts, one for each. By default, their row numbers.
            source: Name of the source of the texts, for example of a crawl.
            progress: Show a bar, if tqdm is installed.

        Returns:
            Table with a row for each text. `number` is the new number of the text in the index. If the text
            repeats a document, `repeats` is the number of that document, and `distance` their distance. All
            columns are null for a text without words.

        Raises:
            TypeError: A text or an ID is not `str`.
            ValueError: There are more or fewer IDs than texts, or `column` names no column of the table.
            IndexLockedError: Another process writes to the index.
        """
    def filter(
        self,
        texts: _Texts,
        ids: _Texts | None = None,
        *,
        source: str = "default",
        column: str | None = None,
        progress: bool = False,
    ) -> Table:
        """Adds texts like `add`, and returns the texts that repeat no known document.

        Args:
            texts: Iterable of `str` and `None`, or a table or column with Arrow's PyCapsule interface, for
                example of pyarrow, polars, DuckDB or pandas. A lazy frame of polars is collected. A missing
                text keeps its row: it counts as a document without words, which is similar to nothing.
            column: Name of the column of the texts. Needed if a table has several columns of text.
            ids: IDs of the texts, one for each. By default, their row numbers.
            source: Name of the source of the texts, for example of a crawl.
            progress: Show a bar, if tqdm is installed.

        Returns:
            Table with the column `row`: the numbers of the texts that repeat no document, in their order.

        Raises:
            TypeError: A text or an ID is not `str`.
            ValueError: There are more or fewer IDs than texts, or `column` names no column of the table.
            IndexLockedError: Another process writes to the index.
        """
    def query(
        self,
        texts: _Texts,
        *,
        only_nearest: bool = False,
        column: str | None = None,
        progress: bool = False,
    ) -> Table:
        """Finds the documents that are near each text. The index is not changed.

        Args:
            texts: Iterable of `str` and `None`, or a table or column with Arrow's PyCapsule interface, for
                example of pyarrow, polars, DuckDB or pandas. A lazy frame of polars is collected. A missing
                text keeps its row: it counts as a document without words, which is similar to nothing.
            column: Name of the column of the texts. Needed if a table has several columns of text.
            only_nearest: Return at most one document for each text.
            progress: Show a bar, if tqdm is installed.

        Returns:
            Table with the `row` of the text and the `number`, `id` and `distance` of each near document, the
            nearest first.

        Raises:
            TypeError: A text is not `str`.
            ValueError: `column` names no column of the table.
        """
    def remove(self, ids: Sequence[str]) -> int:
        """Removes documents from the index, and returns their number.

        Args:
            ids: IDs of the documents. An ID that no document has is ignored.

        Raises:
            IndexLockedError: Another process writes to the index.
        """
    def compact(self) -> None:
        """Merges all segments into one, which makes queries fastest."""
    def verify(self) -> None:
        """Checks every byte of the index, and raises an error if it is damaged."""
    def stat(self) -> dict[str, Any]:
        """Returns the size of the index as a dict."""

def deduplicate(
    texts: _Texts,
    *,
    column: str | None = None,
    keep_field: _Values | None = None,
    progress: bool = False,
    # Options of deduplicate, generated.
    keep: str | None = "first",
    method: Literal["exact", "covered", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "exact",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    shingle: _Integer | str | None = None,
    threads: _Integer | None = 0,
    **options: Unpack[_option_types.DeduplicateOptions],
    # End of the options.
) -> NearDuplicates:
    """Finds the near-duplicates among texts, and chooses which to remove.

    The options are those of `simtool dedup`, with `_` for `-`. Fields in `keep="max:score"`, `prefer`,
    `within` and `across` are columns of the table of texts.

    Args:
        texts: Iterable of `str` and `None`, or a table or column with Arrow's PyCapsule interface, for
            example of pyarrow, polars, DuckDB or pandas. A lazy frame of polars is collected. A missing
            text keeps its row: it counts as a document without words, which is similar to nothing.
        column: Name of the column of the texts. Needed if a table has several columns of text.
        keep_field: Name of a column of the same table, or the values, one for each text. `keep="max"`
            and `"min"` keep the document with the greatest or smallest value. `"newest"` and
            `"oldest"` read these values as dates.
        progress: Show a bar, if tqdm is installed.

    Returns:
        The kept and the removed rows, the clusters and the pairs, as tables.

    Raises:
        TypeError: A text is not `str`, or a keyword does not exist here.
        ValueError: An option has a wrong value, or `column` names no column of the table.
        MemoryError: `max_memory` is too small.

        >>> texts = ["one two three four", "five six seven", "One, two, three four!"]
        >>> simtool.deduplicate(texts)
        NearDuplicates(3 documents, 2 kept, 1 removed, 1 pair; exact:similarity=0.8,shingle=words:3)
        >>> simtool.deduplicate(texts, keep="max", keep_field=[2019, 2020, 2024]).kept.to_pydict()
        {'row': [1, 2]}

    Options:
        keep: Document to keep of several near-duplicates: rules, separated by commas [default: first].
        prefer: Keep documents whose field has the first of these values, or else the next, before
            `keep` decides.
        keep_count: Keep up to this number of documents of each cluster [default: 1].
        cluster: Documents to remove: only documents near a kept document (proven), or also documents
            that a chain of near-duplicates links to it (components) [default: proven]. Values: proven,
            components.
        decisions: Apply the decisions of a review: keep a document, a cluster or a source, or swap the
            kept document.
        annotate: Also write documents.jsonl: every document, kept or removed, with its cluster, in
            reading order [default: false].
        lose: Keep a document whose removal would lose more than N words, or more than N% of its words,
            as in 3 or 1% [default: 3 with covered, otherwise any number].
        method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
            [default: exact]. Values: exact, covered, simhash, multi-lexicon, minhash, i-match, auto.
        similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
            0.8, or 0.65 if all inputs are web pages, or 0.9 with minhash by cosine].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        within: Compare only documents with the same value of this field.
        across: Compare only documents with different values of this field, written as for `within`.
        boilerplate: Leave lines that many documents have, such as menus, out of the comparison: at
            least this number of documents, pages or none [default: pages if all inputs are web pages,
            otherwise none].
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or
            words:8 with covered].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
        ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
            expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
        fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
            hyphens; commas separate several.
        threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
        max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
            memory].
        tmp_dir: Folder for temporary files [default: the system's temporary folder].
    """
def match(
    texts: _Texts,
    *,
    against: _Texts,
    column: str | None = None,
    progress: bool = False,
    # Options of match, generated.
    method: Literal["exact", "covered", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "exact",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    shingle: _Integer | str | None = None,
    threads: _Integer | None = 0,
    **options: Unpack[_option_types.MatchOptions],
    # End of the options.
) -> NearDuplicates:
    """Finds the texts that are similar to a text of `against`. These texts are removed, and all other texts are kept. In
    the table `removed`, the column `kept` has rows of `against`.

    The options are those of `deduplicate`, except `keep` and `cluster`, which choose among documents of
    one collection.

    Args:
        texts: Texts to find in the other collection, in any form that `deduplicate` takes.
        against: Texts of the collection to compare with, in any of these forms.
        column: Name of the column of the texts, in both tables. Needed if a table has several columns
            of text.
        progress: Show a bar, if tqdm is installed.

    Returns:
        The kept and the removed texts, and the pairs, as tables.

    Raises:
        TypeError: A text is not `str`, or a keyword does not exist here.
        ValueError: An option has a wrong value, or `column` names no column of the table.
        MemoryError: `max_memory` is too small.

        >>> known = ["one two three four", "five six"]
        >>> found = simtool.match(["seven eight", "One, two, three four!"], against=known)
        >>> found.removed.to_pydict()
        {'row': [1], 'kept': [0], 'similarity': [1.0]}

    Options:
        lose: Keep a document whose removal would lose more than N words, or more than N% of its words,
            as in 3 or 1% [default: 3 with covered, otherwise any number].
        method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
            [default: exact]. Values: exact, covered, simhash, multi-lexicon, minhash, i-match, auto.
        similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
            0.8, or 0.65 if all inputs are web pages, or 0.9 with minhash by cosine].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        within: Compare only documents with the same value of this field.
        across: Compare only documents with different values of this field, written as for `within`.
        boilerplate: Leave lines that many documents have, such as menus, out of the comparison: at
            least this number of documents, pages or none [default: pages if all inputs are web pages,
            otherwise none].
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or
            words:8 with covered].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
        ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
            expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
        fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
            hyphens; commas separate several.
        threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
        max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
            memory].
        tmp_dir: Folder for temporary files [default: the system's temporary folder].
    """
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
) -> NearDuplicates:
    """Chooses which of the rows in pairs are kept.

    Args:
        pairs: Table with the columns `a`, `b` and, if known, `similarity` or `distance`, or an iterable
            of tuples with these values.
        rows: Number of documents. Needed if documents follow the last row that a pair names.
        keep: Document to keep of a cluster, first or last.
        cluster: Documents to remove: only documents in a pair with a kept document (proven), or also
            documents that a chain of pairs links to it (components).
        keep_count: Keep up to this number of documents of each cluster.
        threads: Number of worker threads, up to 512; 0 uses all cores.
        max_memory: Memory to use, for example `"512M"` or `"8G"`. By default, four fifths of the memory
            of the machine.
        tmp_dir: Folder for temporary files. By default, the temporary folder of the system.

    Returns:
        The kept and the removed rows, and the clusters, as tables.

    Raises:
        TypeError: `pairs` has another form, or a keyword does not exist here.
        ValueError: A pair names a row that does not exist, or an option has a wrong value.

        >>> simtool.cluster([(0, 3), (3, 4)], rows=5, cluster="components").clusters.to_pydict()
        {'kept': [0], 'removed': [[3, 4]]}
    """
def fingerprint(
    texts: _Texts,
    *,
    column: str | None = None,
    by: Fingerprints | None = None,
    progress: bool = False,
    # Options of fingerprint, generated.
    method: Literal["simhash", "multi-lexicon", "minhash", "i-match"] | str | None = "simhash",
    shingle: _Integer | str | None = None,
    threads: _Integer | None = 0,
    **options: Unpack[_option_types.FingerprintOptions],
    # End of the options.
) -> Fingerprints:
    """Computes the fingerprint of every text. The options are those of `simtool fingerprint`.

    Args:
        texts: Iterable of `str` and `None`, or a table or column with Arrow's PyCapsule interface, for
            example of pyarrow, polars, DuckDB or pandas. A lazy frame of polars is collected. A missing
            text keeps its row: it counts as a document without words, which is similar to nothing.
        column: Name of the column of the texts. Needed if a table has several columns of text.
        by: Fingerprints of other texts. Their method is used, with the model learned from those texts,
            so that both can be compared even if weights or words depend on the collection. With `by`,
            only `threads`, `max_memory` and `tmp_dir` may be given.
        progress: Show a bar, if tqdm is installed.

    Returns:
        One fingerprint for each text. A text without words has a null.

    Raises:
        TypeError: A text is not `str`, or a keyword does not exist here.
        ValueError: An option has a wrong value, or `column` names no column of the table.
        MemoryError: `max_memory` is too small.

        >>> made = simtool.fingerprint(["one two three four", "five six"], method="simhash:weight=idf")
        >>> later = simtool.fingerprint(["One, two, three four!"], by=made)
        >>> simtool.pairs(later, against=made).to_pydict()
        {'a': [0], 'b': [0], 'distance': [0]}

    Options:
        method: Method that makes the fingerprints. Its settings follow a colon, as in simhash:bits=128
            [default: simhash]. Values: simhash, multi-lexicon, minhash, i-match.
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or
            words:8 with covered].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
        ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
            expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
        fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
            hyphens; commas separate several.
        threads: Number of worker threads, up to 512; 0 uses all cores [default: 0].
        max_memory: Memory to use, for example 512M or 8G [default: four fifths of the machine's
            memory].
        tmp_dir: Folder for temporary files [default: the system's temporary folder].
    """
def pairs(
    fingerprints: _Fingerprints,
    max_distance: int = 3,
    *,
    against: _Fingerprints | None = None,
    index: str | None = None,
    progress: bool = False,
    threads: _Integer | None = 0,
    max_memory: _Integer | str | None = None,
    tmp_dir: _Path | None = None,
) -> Table:
    """Returns all pairs of fingerprints that differ in at most `max_distance`.

    Args:
        fingerprints: Result of `fingerprint`, or 64-bit integers in Arrow or NumPy: one for each
            document, or a row of several.
        max_distance: Maximum distance of a pair, inclusive.
        against: Fingerprints of another collection, of the same kinds. Only pairs between the two are returned.
        index: Search method, as in `simtool join` and `simtool search`. By default, the planner chooses.
        progress: Show a bar, if tqdm is installed.
        threads: Number of worker threads, up to 512; 0 uses all cores.
        max_memory: Memory to use, for example `"512M"` or `"8G"`. By default, four fifths of the memory
            of the machine.
        tmp_dir: Folder for temporary files. By default, the temporary folder of the system.

    Returns:
        Table with the columns `a`, `b` and `distance`. With `against`, `b` is a row of `against`.

    Raises:
        TypeError: The two collections were made by other rules, or a value has another type.
        ValueError: `max_distance` or an option has a wrong value.
        MemoryError: `max_memory` is too small.

        >>> simtool.pairs(simtool.fingerprint(["a b c d", "e f g", "A b, c d!"]), max_distance=3)
        a  b  distance
        0  2         0
        [1 row]
    """
def compare(
    a: str,
    b: str,
    *,
    # Options of compare, generated.
    method: Literal["exact", "covered", "simhash", "multi-lexicon", "minhash", "i-match", "auto"] | str | None = "exact",
    similarity: _Number | str | None = None,
    max_distance: _Integer | None = None,
    shingle: _Integer | str | None = None,
    **options: Unpack[_option_types.CompareOptions],
    # End of the options.
) -> Comparison:
    """Compares two texts by the terms that the method compares. The options are those of `simtool dedup`.

    Args:
        a: First text.
        b: Second text.

    Returns:
        The similarity and, if the method has fingerprints, their distance.

    Raises:
        TypeError: A keyword does not exist here.
        ValueError: An option has a wrong value.

        >>> simtool.compare("one two three four", "one two three five", method="simhash:bits=64")
        Comparison(similarity=0.333, distance=17, shared=1, shingles=(2, 2))

    Options:
        method: Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128
            [default: exact]. Values: exact, covered, simhash, multi-lexicon, minhash, i-match, auto.
        similarity: Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default:
            0.8, or 0.65 if all inputs are web pages, or 0.9 with minhash by cosine].
        max_distance: With fingerprints: maximum distance of near-duplicates, with simhash in bits
            [default: 3 with simhash].
        verify: With fingerprints: read the texts of the pairs again and keep only pairs with a
            similarity of at least S. S can name the same measures as `similarity`. The terms of the
            texts need memory.
        shingle: Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or
            words:8 with covered].
        stop_words: Leave these words out before shingles are made, so that their neighbours become
            adjacent: none, english, chinese, or a file of words separated by white space [default:
            none; with N and M in front, stopwords.txt in the folder if it exists, otherwise english].
        ignore: Compare texts without these pieces: numbers, links, mentions, dates, or regular
            expressions such as 're:ORDER-[0-9]+'; commas separate them (repeatable).
        fold: Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han,
            hyphens; commas separate several.
    """
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
) -> Evaluation:
    """Measures methods on texts whose near-duplicates are known.

    All pairs are compared, so n texts take n² comparisons.

    Args:
        texts: Iterable of `str` and `None`, or a table or column with Arrow's PyCapsule interface, for
            example of pyarrow, polars, DuckDB or pandas. A lazy frame of polars is collected. A missing
            text keeps its row: it counts as a document without words, which is similar to nothing.
        column: Name of the column of the texts. Needed if a table has several columns of text.
        truth: The true pairs of rows, in any form that `cluster` accepts.
        methods: Names of presets and methods with their options, as in `simtool eval --method`: a text
            with commas or a list. By default, all presets.
        hash_seeds: Seeds of further hash functions, as in `simtool eval --seed`.
        progress: Show a bar, if tqdm is installed.
        threads: Number of worker threads, up to 512; 0 uses all cores.
        max_memory: Memory to use, for example `"512M"` or `"8G"`. By default, four fifths of the memory
            of the machine.
        tmp_dir: Folder for temporary files. By default, the temporary folder of the system.

    Returns:
        Precision, recall and F1 of each method at all thresholds.

    Raises:
        TypeError: A text is not `str`, or a keyword does not exist here.
        ValueError: A method or an option is wrong, or there is no true pair.

        >>> texts = ["a b c d e f g h", "a b c d e f g i", "j k l m n o p", "q r s t u v"]
        >>> measured = simtool.evaluate(texts, [(0, 1)], ["exact", "word-simhash"])
        >>> [method["method"] for method in measured.to_dict()["methods"]]
        ['exact', 'word-simhash']
    """
def command(arguments: list[str]) -> int: ...
def method_text(name: str, settings: dict[str, Any]) -> str: ...
def run_files(
    paths: list[str], queries: list[str], output: str, progress: bool, options: dict[str, Any]
) -> str: ...
def passages_of_files(paths: list[str], progress: bool, options: dict[str, Any]) -> str: ...
def combined_files(output: str, progress: bool, options: dict[str, Any]) -> str: ...
def why_in_files(output: str, document: str, progress: bool, options: dict[str, Any]) -> str: ...
def audit_of_files(output: str, progress: bool, options: dict[str, Any]) -> str: ...
def preview_of_files(
    paths: list[str], queries: list[str], progress: bool, options: dict[str, Any]
) -> str: ...
def contamination_of_files(
    items: list[str], documents: list[str], progress: bool, options: dict[str, Any]
) -> tuple[list[tuple[str, int]], str]: ...
