"""Near-duplicates of documents that an engine holds, by functions on batches of rows.

Engines such as Ray, Dask, polars, DuckDB and Daft call Python with batches of their rows. `fingerprint` describes the
documents of a batch, `pairs` finds near-duplicates among described documents, and `fates` decides which documents are
kept. `buckets` divides described documents among tasks, so that each pair meets in one of them.

A batch is any object that exports Arrow, for example of pyarrow, polars, DuckDB or pandas, or a list of such objects.
Results are tables of pyarrow. They depend only on the rows and the options: any division into batches gives the same
fates as `simtool dedup` does for the documents in the order of their ids. pyarrow and NumPy must be installed.

>>> from simtool import batches
>>> options = {"method": "exact", "similarity": 0.8}
>>> documents = {"id": ["a", "b", "c"], "text": ["to be or not to be", "that is the question", "To be, or not to be!"]}
>>> described = batches.fingerprint(documents, **options)
>>> batches.fates(described, batches.pairs(described, **options), **options).select(["id", "kept_id"]).to_pydict()
{'id': ['a', 'b', 'c'], 'kept_id': ['a', 'b', 'a']}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError as error:
    raise ImportError(f"simtool.batches needs pyarrow and NumPy: pip install pyarrow numpy ({error})") from error

from ._simtool import Engine, Learner, SetKeys, Verifier, deduplicate, match
from ._steps import engine_with_field, order_of, ranks_of, to_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from typing_extensions import Unpack

    from ._option_types import CompareOptions
    from ._simtool import _Arrow
    from ._types import _Integer, _Number

    class BatchOptions(CompareOptions, total=False):
        """Options of the functions on batches. `verify` and others are those of `simtool.compare`."""

        method: Literal["exact", "simhash", "multi-lexicon", "minhash"] | str | None
        similarity: _Number | str | None
        max_distance: _Integer | None
        shingle: _Integer | str | None
        keep: str | None
        cluster: Literal["proven", "components"] | None

    _Batch = _Arrow | dict[str, Sequence[Any]] | Sequence[_Arrow]

__all__ = ["buckets", "fates", "fingerprint", "pairs"]


def fingerprint(batch: _Batch, *, text: str = "text", id: str = "id", **options: Unpack[BatchOptions]) -> pa.Table:
    """Describes the documents of a batch: one row for each document, in the same order.

    Methods that learn from the whole collection, such as `simhash:weight=idf`, are refused, because a batch is only a part
    of the collection.

    Args:
        batch: Documents, one in each row.
        text: Name of the column of the texts.
        id: Name of the column of the ids: texts or whole numbers, one for each document. Their order is the reading
            order of the documents.
        options: Options of `simtool dedup` that say what is compared and kept, with `_` for `-`: `method` (default:
            simhash), `similarity`, `max_distance`, `verify`, `shingle`, `stop_words`, `ignore`, `fold`, `keep` and
            `cluster`. `keep="max:size"` needs the column `size`. Give the same options to each function.

    Returns:
        Table with the columns `id` and `group`. Documents of one group are equal for the method, and a document
        without words has the group null. Methods with fingerprints add the `fingerprint`, as the bytes of the number
        that `simtool fingerprint` prints. Methods that compare texts add the `text`. If more than the ids
        decides which document is kept, `order` has the values that decide it.

    Raises:
        ValueError: An option has a wrong value or does not work on batches, or a column or an ID is missing.

        >>> from simtool import batches
        >>> described = batches.fingerprint({"id": [1, 2], "text": ["to be or not to be", None]})
        >>> described.column_names, described["fingerprint"][0].as_py().hex(), described["group"].null_count
        (['id', 'group', 'fingerprint'], '7630146741601c01', 1)
    """
    engine, given, field = _engine(options)
    rows = _table(batch)
    ids, texts = _ids(_column(rows, "id", id)), _texts(_column(rows, "text", text), text)
    columns = {"id": ids}
    # Without texts to compare, equal fingerprints are equal documents.
    if engine.has_fingerprints:
        made = pa.array(engine.fingerprints(texts, ids))
        columns["group"] = columns["fingerprint"] = _to_bytes(made)
        if engine.verifies:
            groups = _to_bytes(_array(pa.table(Verifier(**given).groups(texts, made))["group"]))
            columns["group"] = pc.if_else(made.is_valid(), groups, _NO_BYTES)
    else:
        columns["group"] = _to_bytes(_array(pa.table(SetKeys(**given).keys(texts)[0])["group"]))
    if engine.verifies:
        columns["text"] = texts
    order = order_of(engine, texts, None if field is None else _array(_column(rows, "keep", field)))
    if order is not None:
        columns["order"] = order
    return pa.table(columns)


def buckets(described: _Batch, *, parts: int = 200, **options: Unpack[BatchOptions]) -> pa.Table:
    """Puts described documents into buckets: each document comes once for each of its buckets.

    Documents that are close enough share a bucket. An engine that groups the rows by `bucket` and calls `pairs` for each
    bucket thus finds all pairs, on as many machines as it has. Documents without words are left out. A method that
    compares sets, such as `exact`, has no buckets.

    Args:
        described: Result of `fingerprint`, or any part of it.
        parts: Number of buckets. A task of the engine holds a bucket in memory. The same for all parts of `described`.
        options: The options of `fingerprint`.

    Returns:
        The columns of `described`, and `bucket`, a number from 0 that is below `parts`.

    Raises:
        ValueError: An option has a wrong value, the method has no buckets, or a column is missing.

        >>> from simtool import batches
        >>> described = batches.fingerprint({"id": [1, 2], "text": ["to be or not to be", "To be, or not to be!"]})
        >>> batches.buckets(described, parts=1000, max_distance=3).select(["id", "bucket"]).to_pydict()
        {'id': [1, 1, 1, 1, 2, 2, 2, 2], 'bucket': [382, 721, 734, 985, 382, 721, 734, 985]}
    """
    engine, _, _ = _engine(options)
    rows = _grouped(described)
    found = pa.table(engine.buckets(to_rows(_fingerprints(rows, engine.words))))
    # Keys are hashes, so the remainder spreads them evenly. If several keys of a row lead to one part, the part has the row
    # once.
    places = np.unique(found["row"].to_numpy().astype(np.int64) * parts + found["bucket"].to_numpy() % parts)
    return rows.take(pa.array(places // parts)).append_column("bucket", pa.array(places % parts))


def pairs(
    left: _Batch, right: _Batch | None = None, *, threads: int = 1, **options: Unpack[BatchOptions]
) -> pa.Table:
    """Finds the pairs of groups that are near-duplicates: within a batch, or between two batches.

    Documents of one group are equal and count once, so many copies of a document make no additional pairs. Repeated rows, as
    from several buckets, change nothing.

    Args:
        left: Result of `fingerprint` or `buckets`, or any part of it.
        right: Another part. Then only pairs of a group of `left` with a group of `right` are returned, equal groups
            included.
        threads: Number of threads that compare texts; 0 uses all cores. Engines run a task on each core already.
        options: The options of `fingerprint`.

    Returns:
        Table with the groups `a` and `b` in ascending order, and how close they are: the `similarity` of the texts if the method
        compares texts, and the `distance` of the fingerprints if it has fingerprints.

    Raises:
        ValueError: An option has a wrong value, or a column is missing.
        MemoryError: The memory of the machine is too small.

        >>> from simtool import batches
        >>> texts = ["one two three four five six", "one two three four five seven"]
        >>> described = batches.fingerprint({"id": [1, 2], "text": texts}, method="exact", similarity=0.5)
        >>> batches.pairs(described, method="exact", similarity=0.5)["similarity"].to_pylist()
        [0.6]
    """
    engine, given, _ = _engine(options)
    sides = [_distinct(_grouped(side)) for side in (left, right) if side is not None]
    if engine.verifies:
        # The functions for texts in memory find exactly the pairs of the method.
        compared = {name: value for name, value in given.items() if name not in ("keep", "cluster")}
        texts = [_column(side, "described", "text") for side in sides]
        if right is None:
            found = deduplicate(texts[0], threads=threads, **compared).pairs
        else:
            found = match(texts[0], against=texts[1], threads=threads, **compared).pairs
        near = pa.table(found)
        a, b = near["a"], near["b"]
    else:
        near, a, b = _close(engine, sides)
    a, b = sides[0]["group"].take(a), sides[-1]["group"].take(b)
    # The order of the rows must not show in the result.
    if right is None:
        is_swapped = pc.less(b, a)
        a, b = pc.if_else(is_swapped, b, a), pc.if_else(is_swapped, a, b)
    columns = {name: near[name].cast(kind) for name, kind in _closeness(engine).items()}
    return pa.table({"a": a, "b": b, **columns}).sort_by([("a", "ascending"), ("b", "ascending")])


def fates(described: _Batch, pairs: _Batch, **options: Unpack[BatchOptions]) -> pa.Table:
    """Decides the fate of each document by the pairs, as `simtool dedup` does.

    Args:
        described: All results of `fingerprint`. Only the columns `id`, `group` and `order` are needed.
        pairs: All results of `pairs`. A pair may be there several times.
        options: The options of `fingerprint`.

    Returns:
        A row for each document, in the order of the ids: the `id`, whether the document is `kept`, the `kept_id` of
        the document that is kept instead (its own if it is kept), the closeness of the two as in `pairs`, `cluster_id` (the
        number of the kept document in the order of the ids) and `cluster_size`. A kept document has no closeness, and
        neither has one that only a chain links to the kept document.

    Raises:
        ValueError: An option has a wrong value, ids are missing or repeated, or a group of `pairs` has no document.

        >>> from simtool import batches
        >>> texts = ["to be or not to be", "that is the question", "To be, or not to be!"]
        >>> described = batches.fingerprint({"id": [1, 2, 3], "text": texts})
        >>> batches.fates(described, batches.pairs(described)).select(["id", "kept", "kept_id", "distance"]).to_pydict()
        {'id': [1, 2, 3], 'kept': [True, True, False], 'kept_id': [1, 2, 1], 'distance': [None, None, 0]}
    """
    engine, _, _ = _engine(options)
    documents = _by_id(_table(described))
    ranks, count = ranks_of(documents, engine), len(documents)
    names = pc.unique(documents["group"].drop_null())
    numbers = pc.fill_null(pc.index_in(documents["group"], names), -1).to_numpy().astype(np.int64)
    # Documents without words are in no group.
    rows = np.flatnonzero(numbers >= 0)
    rows = rows[np.lexsort((ranks[rows], numbers[rows]))]
    # The document that each group would keep. The engine takes groups in the order of these documents.
    firsts = rows[np.unique(numbers[rows], return_index=True)[1]]
    by_id = np.argsort(firsts)
    place = np.empty_like(by_id)
    place[by_id] = np.arange(len(by_id))
    reasons = pa.table(engine.settle(_numbered(_table(pairs), names, place, engine), pa.array(ranks[firsts[by_id]])))
    kept = np.arange(count)
    kept[rows] = firsts[numbers[rows]]

    # In `rows`, the documents of a group are neighbours in the order of preference. A reason is for a run of them: those
    # preferred after the document that the group `from` keeps, up to the one that the group `until` keeps.
    places, groups = numbers[rows] * count + ranks[rows], by_id[reasons["group"].to_numpy()]

    def ends(name: str, if_null: int) -> np.ndarray:
        last = np.append(ranks[firsts[by_id]], if_null)[pc.fill_null(reasons[name], len(firsts)).to_numpy()]
        return np.searchsorted(places, groups * count + last, side="right")

    begins = ends("from", -1)
    lengths = ends("until", count - 1) - begins
    of_reason = np.repeat(np.arange(len(reasons)), lengths)
    found = rows[np.arange(len(of_reason)) + np.repeat(begins - (lengths.cumsum() - lengths), lengths)]
    kept[found] = firsts[by_id[reasons["kept"].to_numpy()[of_reason]]]
    reason = np.full(count, -1)
    reason[found] = of_reason
    is_kept = kept == np.arange(count)
    columns = {"id": documents["id"], "kept": pa.array(is_kept), "kept_id": documents["id"].take(pa.array(kept))}
    for name, kind in _closeness(engine).items():
        closeness = _array(reasons[name].cast(kind)).take(pa.array(reason, mask=reason < 0))
        # Without a reason, a document is removed for an equal one.
        of_equal = pa.scalar({"similarity": 1.0, "distance": 0}[name], kind)
        columns[name] = pc.if_else(pa.array(~is_kept & (reason < 0)), of_equal, closeness)
    return pa.table({**columns, "cluster_id": kept, "cluster_size": np.bincount(kept, minlength=count)[kept]})


def _engine(options: Any) -> tuple[Engine, dict[str, Any], str | None]:
    """Returns the engine as `engine_with_field` does, for a method that needs no collection."""
    engine, given, field = engine_with_field(options)
    for of_texts in (False, True):
        learner = Learner(of_texts, **given)
        # Any order of terms gives the same pairs, so it need not be learned.
        if learner.recipe is not None and not learner.is_order:
            raise ValueError(
                f"method {engine.method}: learns from the whole collection, and a batch is only a part of it. Use "
                "simtool.deduplicate or simtool_spark.deduplicate, or a method that learns nothing"
            )
    return engine, given, field


def _closeness(engine: Engine) -> dict[str, pa.DataType]:
    """Returns the columns that say how close two documents are, with their types."""
    similarity = {"similarity": pa.float64()} if engine.verifies else {}
    return similarity | ({"distance": pa.int32()} if engine.has_fingerprints else {})


def _table(batch: Any) -> pa.Table:
    if isinstance(batch, (list, tuple)):
        return pa.concat_tables([_table(part) for part in batch])
    table = pa.table(batch)
    # Most functions of pyarrow refuse the views that polars exports.
    views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    for number, field in enumerate(table.schema):
        if field.type in views:
            table = table.set_column(number, field.name, table.column(number).cast(views[field.type]))
    return table


def _column(rows: pa.Table, parameter: str, name: str) -> pa.ChunkedArray:
    if name not in rows.column_names:
        raise ValueError(f"{parameter}: the batch has no column {name!r}, only {', '.join(rows.column_names)}")
    return rows[name]


def _array(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks()


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Returns a column whose values are not in a dictionary."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _texts(column: pa.ChunkedArray, name: str) -> pa.Array:
    column = _plain(column)
    if not _is_text(column.type) and not pa.types.is_null(column.type):
        raise ValueError(f"text: the column {name!r} must be text, not {column.type}")
    return _array(column.cast(pa.large_string()))


def _ids(column: pa.ChunkedArray) -> pa.Array:
    column = _plain(column)
    if not _is_text(column.type) and not pa.types.is_integer(column.type):
        raise ValueError(f"id: ids must be texts or whole numbers, not {column.type}")
    if column.null_count:
        raise ValueError(f"id: {column.null_count:,} documents have no ID: leave them out, or name another column")
    # Batches of one collection must have one type.
    kind = pa.large_string() if _is_text(column.type) else pa.int64()
    return _array(column if column.type == pa.uint64() else column.cast(kind))


def _grouped(described: Any) -> pa.Table:
    """Returns the rows of documents that have words."""
    rows = _table(described)
    rows = rows.filter(_column(rows, "described", "group").is_valid())
    # Engines return bytes in several types.
    return rows.set_column(rows.column_names.index("group"), "group", rows["group"].cast(pa.large_binary()))


def _distinct(rows: pa.Table) -> pa.Table:
    """Returns one row of each group."""
    # Which row of a group is taken does not matter: their texts have the same terms.
    numbers = pc.index_in(rows["group"], pc.unique(rows["group"])).to_numpy()
    return rows.take(pa.array(np.unique(numbers, return_index=True)[1])).combine_chunks()


def _by_id(rows: pa.Table) -> pa.Table:
    """Returns the columns that decide the fates, in the order of the ids."""
    columns = {"id": _ids(_column(rows, "described", "id"))}
    columns["group"] = _column(rows, "described", "group").cast(pa.large_binary())
    if "order" in rows.column_names:
        columns["order"] = rows["order"]
    rows = pa.table(columns)
    rows = rows.take(pc.sort_indices(rows["id"])).combine_chunks()
    ids = _array(rows["id"])
    is_repeated = pc.equal(ids[1:], ids[:-1])
    if pc.any(is_repeated).as_py():
        example = ids[pc.index(is_repeated, True).as_py()]
        raise ValueError(f"id: {pc.sum(is_repeated)} ids are repeated, such as {example}: give each document its own ID")
    return rows


def _numbered(near: pa.Table, names: pa.Array, place: np.ndarray, engine: Engine) -> pa.Table:
    """Returns each pair of different groups once, with the places of the groups."""
    ends = [pc.index_in(_column(near, "pairs", name).cast(pa.large_binary()), names) for name in ("a", "b")]
    if any(end.null_count for end in ends):
        raise ValueError("pairs: a group has no document in `described`: give all documents, described with the same options")
    a, b = (place[end.to_numpy()] for end in ends)
    a, b = np.minimum(a, b), np.maximum(a, b)
    # Tasks that share buckets find a pair several times, with the same closeness.
    first = np.unique(a * len(place) + b, return_index=True)[1]
    first = first[a[first] != b[first]]
    closeness = {name: near[name].cast(kind).take(pa.array(first)) for name, kind in _closeness(engine).items()}
    return pa.table({"a": a[first], "b": b[first], **closeness}).combine_chunks()


def _close(engine: Engine, sides: list[pa.Table]) -> tuple[pa.Table, pa.Array, pa.Array]:
    """Returns the pairs of close fingerprints, and their rows in the first and in the last side."""
    # The rows of both sides are numbered together, and the engine looks at those of one bucket after the other.
    rows = to_rows(np.concatenate([_fingerprints(side, engine.words) for side in sides]))
    placed = pa.table(engine.buckets(rows)).sort_by("bucket")
    at = _array(placed["row"])
    of_side = pa.array(np.repeat(np.arange(len(sides)), [len(side) for side in sides])).take(at)
    found = pa.table(engine.pairs(rows.take(at), placed["bucket"], [], of_side if len(sides) > 1 else None))
    a, b = (at.take(_array(found[name])) for name in ("a", "b"))
    return found, a, pc.subtract(b, pa.scalar(len(sides[0]) if len(sides) > 1 else 0, b.type))


# Fingerprints travel as bytes, because some engines make floats of numbers with nulls. The highest byte comes first, so
# that the bytes are the number that the program prints.

_NO_BYTES = pa.scalar(None, pa.binary())


def _to_bytes(rows: pa.Array) -> pa.Array:
    is_list = pa.types.is_fixed_size_list(rows.type)
    words = rows.type.list_size if is_list else 1
    numbers = (rows.values if is_list else rows.fill_null(0)).to_numpy().reshape(-1, words)
    data = pa.py_buffer(numbers[:, ::-1].astype(">u8").tobytes())
    bytes = pa.Array.from_buffers(pa.binary(8 * words), len(rows), [None, data]).cast(pa.binary())
    return pc.if_else(rows.is_valid(), bytes, _NO_BYTES)


def _fingerprints(rows: pa.Table, words: int) -> np.ndarray:
    """Returns the numbers of the fingerprints, the lowest word first."""
    column = _array(_column(rows, "described", "fingerprint").cast(pa.large_binary()))
    if pc.any(pc.not_equal(pc.binary_length(column), 8 * words)).as_py():
        raise ValueError(f"described: a fingerprint has not {8 * words} bytes: give each function the same options")
    # An empty column may have no buffers.
    if len(column) == 0:
        return np.empty((0, words), np.uint64)
    ends = np.frombuffer(column.buffers()[1], np.int64)[column.offset :][: len(column) + 1]
    data = np.frombuffer(column.buffers()[2], np.uint8)[ends[0] : ends[-1]]
    return data.view(">u8").astype(np.uint64).reshape(-1, words)[:, ::-1]
