"""Near-duplicates of a Spark DataFrame: the engine moves rows, the wheel computes.

Only the DataFrame API and `mapInArrow` are used, so this runs on Spark 3.5 and later, on Connect and on
Sail; every worker needs this package, pyarrow and NumPy. What is found is what `simtool.deduplicate` and
`simtool.match` find of the same documents in the order of their ids.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import simtool
from simtool._simtool import Engine

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["deduplicate", "match"]

# Fingerprints of one bucket that one task compares; fuller ones are cut by further blocks.
FULL_BUCKET = 4_000_000
# Close pairs of different fingerprints that the driver clusters, in 200 bytes each.
MOST_PAIRS = 20_000_000
# Rounds in which chains of more pairs are followed: each halves what is left of them.
MOST_ROUNDS = 30
# Rows of a batch that the driver hands out.
BATCH = 10_000

Batches = Iterable[pa.RecordBatch]


def deduplicate(
    df: DataFrame,
    *,
    text_column: str = "text",
    id_column: str = "id",
    partitions: int | None = None,
    sample: int = 0,
    work_dir: str | None = None,
    full_bucket: int = FULL_BUCKET,
    max_pairs: int = MOST_PAIRS,
    **options: Any,
) -> DataFrame:
    """The documents that go: `id`, `kept_id` of the one that stays in its place, and the `distance` of
    their fingerprints (null where only a chain links them).

    Ids are texts or whole numbers, each of one document; their order is the reading order. `options` are
    those of `simtool dedup`, with `_` for `-`: `method` is simhash unless it is given; all but learned
    weights, `verify`, `keep` by a field and the method exact are distributed.

    Equal fingerprints are put together first. `partitions` is how many parts the rest is compared in, by
    default as many as the session shuffles to; with a `sample` of so many fingerprints the keys tell these
    apart equally well. Steps that are used twice go to Parquet in `work_dir`, else they are persisted. A
    bucket of more than `full_bucket` fingerprints is cut by further blocks. The driver clusters up to
    `max_pairs` close pairs of different fingerprints; of more, which takes a `work_dir`, each chain is
    clustered by one task.
    """
    from pyspark.sql import functions as f

    engine, options = _engine(options)
    longest = engine.keep == "longest"
    fate_columns = ["fingerprint", "id", *(["length"] if longest else [])]
    keep = _Steps(work_dir)
    documents = keep("documents", _fingerprints(df, text_column, id_column, engine, options, longest))
    groups = keep("groups", _groups(documents, engine.keep))
    fingerprints = groups.select("fingerprint")
    buckets = _Buckets(options, _sampled(fingerprints, sample, engine), partitions, full_bucket)
    near = keep("pairs", buckets.pairs(fingerprints, sided=False))
    count = near.count()
    if count == 0:
        fates = None
    elif count <= max_pairs:
        ends = near.select(f.col("a").alias("fingerprint")).union(near.select("b")).distinct()
        known = _collect(ends.join(groups, "fingerprint").select(*fate_columns))
        settled = _settled(engine, known, _collect(near))
        fates = _distribute(near.sparkSession, settled, _fate_schema(groups))
    elif work_dir is None:
        raise ValueError(
            f"{count:,} pairs of different fingerprints are more than max_pairs {max_pairs:,}, which the "
            "driver clusters: give work_dir, for the steps of following their chains, or more"
        )
    else:
        fates = keep("fates", _settled_by_chain(options, near, groups, keep, partitions))
    return _removed(documents, groups, fates, engine.keep)


def match(
    df: DataFrame,
    queries: DataFrame,
    *,
    text_column: str = "text",
    id_column: str = "id",
    partitions: int | None = None,
    sample: int = 0,
    work_dir: str | None = None,
    full_bucket: int = FULL_BUCKET,
    **options: Any,
) -> DataFrame:
    """The documents of `queries` that are like one of `df`: `id`, `kept_id` of the document of `df` that
    is closest (of equals that of the first id) and the `distance`. Takes what `deduplicate` takes, but
    for `keep` and `cluster`.
    """
    for name in ("keep", "cluster"):
        if options.get(name) is not None:
            raise ValueError(f"{name}: chooses among documents of one collection: it does not go with queries")
    from pyspark.sql import functions as f

    engine, options = _engine(options)
    keep = _Steps(work_dir)
    asked = keep("queries", _fingerprints(queries, text_column, id_column, engine, options, False))
    documents = _fingerprints(df, text_column, id_column, engine, options, False)
    groups = keep("groups", _groups(documents, "first").select("fingerprint", "id"))
    fingerprints = groups.select("fingerprint")
    buckets = _Buckets(options, _sampled(fingerprints, sample, engine), partitions, full_bucket)
    sides = [asked.select("fingerprint").distinct(), fingerprints]
    sides = [rows.withColumn("side", f.lit(side)) for side, rows in enumerate(sides)]
    near = buckets.pairs(sides[0].union(sides[1]), sided=True)
    closest = (
        near.join(groups.select(f.col("fingerprint").alias("b"), f.col("id").alias("kept_id")), "b")
        .groupBy("a")
        .agg(f.min(f.struct("distance", "kept_id")).alias("closest"))
        .select(f.col("a").alias("fingerprint"), "closest.kept_id", "closest.distance")
    )
    return asked.join(closest, "fingerprint").select("id", "kept_id", "distance")


class _Steps:
    """Keeps steps that are used more than once."""

    def __init__(self, work_dir: str | None):
        self.work_dir = work_dir

    def __call__(self, name: str, step: DataFrame) -> DataFrame:
        if self.work_dir is None:
            return step.persist()
        path = f"{self.work_dir.rstrip('/')}/{name}"
        step.write.mode("overwrite").parquet(path)
        return step.sparkSession.read.parquet(path)


def _engine(options: dict[str, Any]) -> tuple[Engine, dict[str, Any]]:
    options = {name: value for name, value in options.items() if value is not None}
    options.setdefault("method", "simhash")
    return Engine(**options), options


@lru_cache(maxsize=4)
def _engine_of(options: tuple[tuple[str, Any], ...], sample: bytes | None) -> Engine:
    """The engine of a task, made once for each process."""
    return Engine(None if sample is None else _of_ipc(sample)["sample"].combine_chunks(), **dict(options))


def _to_ipc(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return sink.getvalue().to_pybytes()


def _of_ipc(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()


# Fingerprints travel as a long where they have one word, else as binary.


def _fingerprint_type(words: int) -> str:
    return "long" if words == 1 else "binary"


def _to_column(fingerprints: pa.Array, words: int) -> pa.Array:
    """Fingerprints without nulls as the engine moves them."""
    if words == 1:
        return fingerprints.view(pa.int64())
    values = fingerprints.flatten()
    data = values.buffers()[1].slice(8 * values.offset, 8 * len(values))
    ends = np.arange(0, 8 * words * (len(fingerprints) + 1), 8 * words, dtype=np.int32)
    return pa.Array.from_buffers(pa.binary(), len(fingerprints), [None, pa.py_buffer(ends), data])


def _to_words(column: pa.Array | pa.ChunkedArray, words: int) -> pa.Array:
    """The inverse."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if words == 1:
        return column
    if column.type != pa.binary():
        column = column.cast(pa.binary())
    begin = column.offset
    starts = np.frombuffer(column.buffers()[1], dtype=np.int32)[begin : begin + len(column) + 1]
    first = int(starts[0]) if len(column) else 0
    data = column.buffers()[2] if len(column) else pa.py_buffer(b"")
    values = np.frombuffer(data, dtype=np.uint8)[first : first + 8 * words * len(column)].view(np.uint64)
    return pa.FixedSizeListArray.from_arrays(pa.array(values), words)


def _fingerprints(
    df: DataFrame, text_column: str, id_column: str, engine: Engine, options: dict[str, Any], lengths: bool
) -> DataFrame:
    """`id`, `fingerprint` and with `lengths` the bytes of the text, of the documents that have one."""
    from pyspark.sql import functions as f
    from pyspark.sql import types as t

    for name in (text_column, id_column):
        if name not in df.columns:
            raise ValueError(f"column {name}: must be one of {', '.join(df.columns)}")
    id_type = df.schema[id_column].dataType
    if not isinstance(id_type, (t.StringType, t.ByteType, t.ShortType, t.IntegerType, t.LongType)):
        raise ValueError(f"id_column {id_column}: must be text or whole numbers, not {id_type.simpleString()}")
    if not isinstance(df.schema[text_column].dataType, t.StringType):
        raise ValueError(f"text_column {text_column}: must be text")
    words = engine.words

    def made(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ids, texts = batch.columns
            if ids.null_count:
                raise ValueError(f"id_column {id_column}: a document has none")
            found = pa.array(simtool.fingerprint(texts, threads=1, **options))
            has = found.is_valid()
            columns = {"id": ids.filter(has), "fingerprint": _to_column(found.filter(has), words)}
            if lengths:
                columns["length"] = pc.cast(pc.fill_null(pc.binary_length(texts), 0), pa.int64()).filter(has)
            yield pa.record_batch(columns)

    schema = f"id {id_type.simpleString()}, fingerprint {_fingerprint_type(words)}"
    schema += ", length long" if lengths else ""
    rows = df.select(f.col(id_column).alias("id"), f.col(text_column).alias("text"))
    return rows.mapInArrow(made, schema)


def _groups(documents: DataFrame, keep: str) -> DataFrame:
    """Equal fingerprints: how many, and which document would stay."""
    from pyspark.sql import functions as f

    groups = documents.groupBy("fingerprint")
    count = f.count("id").alias("count")
    if keep == "longest":
        best = f.min(f.struct((-f.col("length")).alias("shortness"), "id")).alias("best")
        best = groups.agg(count, best)
        length = (-f.col("best.shortness")).alias("length")
        return best.select("fingerprint", "count", "best.id", length)
    best = f.max("id") if keep == "last" else f.min("id")
    return groups.agg(count, best.alias("id"))


def _sampled(fingerprints: DataFrame, count: int, engine: Engine) -> pa.Array | None:
    if count == 0:
        return None
    return _to_words(_collect(fingerprints.limit(count))["fingerprint"], engine.words)


class _Buckets:
    """Compares the fingerprints that agree in a key."""

    def __init__(
        self, options: dict[str, Any], sample: pa.Array | None, partitions: int | None, full_bucket: int
    ):
        self.engine = Engine(sample, **options)
        packed = None if sample is None else _to_ipc(pa.record_batch({"sample": sample}))
        self.made_of = (tuple(sorted(options.items())), packed)
        self.partitions, self.full_bucket = partitions, full_bucket

    def pairs(self, fingerprints: DataFrame, sided: bool) -> DataFrame:
        """The close pairs `a`, `b` and `distance` of different fingerprints, or of two sides."""
        words, made_of = self.engine.words, self.made_of
        full = self._full(fingerprints) if self.engine.cuts else []

        def scanned(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
            engine = _engine_of(*made_of)
            for table in tables:
                rows = _to_words(table["fingerprint"], words)
                sides = table["side"].combine_chunks() if sided else None
                found = pa.table(engine.pairs(rows, table["bucket"].combine_chunks(), full, sides))
                if len(found):
                    column = table["fingerprint"].combine_chunks()
                    a, b = (column.take(found[name].combine_chunks()) for name in ("a", "b"))
                    if not sided:
                        # A task that runs again may see the rows of a bucket in another order.
                        swap = pc.less(b, a)
                        a, b = pc.if_else(swap, b, a), pc.if_else(swap, a, b)
                    distance = found["distance"].combine_chunks().cast(pa.int32())
                    yield pa.record_batch({"a": a, "b": b, "distance": distance})

        rows, kind = self._rows(fingerprints, full, sided), _fingerprint_type(words)
        return _by_bucket(rows, scanned, f"a {kind}, b {kind}, distance int", self.partitions)

    def _rows(self, fingerprints: DataFrame, full: list[int], sided: bool) -> DataFrame:
        """Every fingerprint once for each bucket that it stands in."""
        words, made_of = self.engine.words, self.made_of

        def rows(batches: Batches) -> Iterator[pa.RecordBatch]:
            engine = _engine_of(*made_of)
            for batch in batches:
                found = pa.table(engine.buckets(_to_words(batch.column(0), words), full))
                row = found["row"].combine_chunks()
                bucket = found["bucket"].combine_chunks().view(pa.int32())
                columns = [bucket, *(column.take(row) for column in batch.columns)]
                yield pa.RecordBatch.from_arrays(columns, ["bucket", *batch.schema.names])

        schema = f"bucket int, fingerprint {_fingerprint_type(words)}" + (", side int" if sided else "")
        return fingerprints.mapInArrow(rows, schema)

    def _full(self, fingerprints: DataFrame) -> list[int]:
        """The buckets that are too full."""
        if fingerprints.count() <= self.full_bucket:
            return []
        counts = self._rows(fingerprints.select("fingerprint"), [], False).groupBy("bucket").count()
        full = counts.where(counts["count"] > self.full_bucket).select("bucket").collect()
        return sorted(row["bucket"] % 2**32 for row in full)


def _by_bucket(
    rows: DataFrame,
    visit: Callable[[Iterable[pa.Table]], Iterator[pa.RecordBatch]],
    schema: str,
    partitions: int | None,
) -> DataFrame:
    """What `visit` makes of tables of whole buckets."""
    is_sorted = _keeps_order(rows.sparkSession)

    def visited(batches: Batches) -> Iterator[pa.RecordBatch]:
        yield from visit(_whole_runs(batches if is_sorted else _sorted(batches)))

    rows = rows.repartition(*([] if partitions is None else [partitions]), "bucket")
    rows = rows.sortWithinPartitions("bucket") if is_sorted else rows
    return rows.mapInArrow(visited, schema)


@lru_cache(maxsize=4)
def _keeps_order(session: SparkSession) -> bool:
    """Whether what is sorted within partitions comes so to `mapInArrow`: Sail forgets it."""

    def looked(batches: Batches) -> Iterator[pa.RecordBatch]:
        rows = [row for batch in batches for row in batch.column(0).to_pylist()]
        if rows:
            yield pa.record_batch({"kept": [rows == sorted(rows)]})

    mixed = session.range(64).selectExpr("id * 37 % 64 AS mixed")
    sorted_rows = mixed.repartition(1, "mixed").sortWithinPartitions("mixed")
    return all(row["kept"] for row in sorted_rows.mapInArrow(looked, "kept boolean").collect())


def _sorted(batches: Batches) -> Iterator[pa.RecordBatch]:
    """All rows of a partition by their bucket, where the engine does not sort."""
    held = [batch for batch in batches if batch.num_rows]
    if held:
        table = pa.Table.from_batches(held)
        order = np.argsort(table["bucket"].to_numpy(), kind="stable")
        yield table.take(order).combine_chunks().to_batches()[0]


def _whole_runs(batches: Batches) -> Iterator[pa.Table]:
    """The same rows, so that those of one bucket, which are neighbours, are in one table."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        if batch.num_rows == 0:
            continue
        buckets = batch.column("bucket").to_numpy()
        before = held[-1].column("bucket")[0].as_py() if held else buckets[0]
        if before > buckets[0] or (buckets[1:] < buckets[:-1]).any():
            raise RuntimeError("the engine hands out sorted rows in another order")
        last = int(np.searchsorted(buckets, buckets[-1]))
        if last == 0 and held and before == buckets[0]:
            held.append(batch)
            continue
        whole = [*held, batch.slice(0, last)]
        if any(part.num_rows for part in whole):
            yield pa.Table.from_batches(whole)
        held = [batch.slice(last)]
    if held:
        yield pa.Table.from_batches(held)


def _settled(engine: Engine, known: pa.Table, near: pa.Table) -> pa.Table:
    """What takes the place of documents whose whole group goes; `known` are the groups of the pairs."""
    longest = engine.keep == "longest"
    known = known.take(pc.sort_indices(known["id"]))
    ids = known["id"].combine_chunks()
    if pc.count_distinct(ids).as_py() < len(ids):
        raise ValueError("id_column: two documents have one id")
    if longest:
        order = pc.sort_indices(known, sort_keys=[("length", "descending"), ("id", "ascending")])
    else:
        order = pa.array(np.arange(len(ids))[:: -1 if engine.keep == "last" else 1])
    ranks = np.empty(len(ids), dtype=np.int64)
    ranks[order.to_numpy()] = np.arange(len(ids))
    numbers = {name: pc.index_in(near[name], known["fingerprint"]) for name in ("a", "b")}
    if any(number.null_count for number in numbers.values()):
        raise RuntimeError("the documents are not the same each time that they are read: give work_dir")
    pairs = pa.table({**numbers, "distance": near["distance"]}).combine_chunks()
    fates = pa.table(engine.settle(pairs, pa.array(ranks)))
    of = {
        "fingerprint": known["fingerprint"].take(fates["group"]),
        "kept_id": known["id"].take(fates["kept"]),
        "distance": fates["distance"].cast(pa.int32()),
    }
    for end in ("from", "until"):
        of[f"{end}_id"] = known["id"].take(fates[end])
        if longest:
            of[f"{end}_length"] = known["length"].take(fates[end])
    return pa.table(of)


def _fate_schema(groups: DataFrame) -> str:
    types = dict(groups.dtypes)
    ends = [f"{end}_{name} {types[name]}" for end in ("from", "until") for name in ("id", "length") if name in types]
    return ", ".join([f"fingerprint {types['fingerprint']}, kept_id {types['id']}, distance int", *ends])


def _settled_by_chain(
    options: dict[str, Any], near: DataFrame, groups: DataFrame, keep: _Steps, partitions: int | None
) -> DataFrame:
    """The same, by a task for the groups that chains of pairs link."""
    from pyspark.sql import functions as f

    roots = keep("roots", _roots(near, keep))
    types = dict(groups.dtypes)
    group_columns = [name for name in ("id", "length") if name in types]

    def null(kind: str, name: str) -> Column:
        return f.lit(None).cast(kind).alias(name)

    kind = types["fingerprint"]
    known = roots.join(groups, "fingerprint").select(
        "root", "fingerprint", null(kind, "a"), null(kind, "b"), null("int", "distance"), *group_columns
    )
    pairs = near.join(roots.withColumnRenamed("fingerprint", "a"), "a").select(
        "root", null(kind, "fingerprint"), "a", "b", "distance", *(null(types[name], name) for name in group_columns)
    )
    # Chains that share a bucket are settled together, which changes nothing.
    rows = known.union(pairs).withColumn("bucket", f.hash("root")).drop("root")
    made_of = tuple(sorted(options.items()))

    def settled(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
        engine = _engine_of(made_of, None)
        for table in tables:
            is_group = table["fingerprint"].is_valid()
            found = table.filter(pc.invert(is_group))
            yield from _settled(engine, table.filter(is_group), found).combine_chunks().to_batches()

    return _by_bucket(rows, settled, _fate_schema(groups), partitions)


def _roots(near: DataFrame, keep: _Steps) -> DataFrame:
    """The smallest fingerprint that chains of pairs lead to: `fingerprint` and `root`.

    Large and small stars in turn (R. Kiveris and others, "Connected components in MapReduce and beyond",
    SoCC 2014).
    """
    from pyspark.sql import functions as f

    links = near.select(f.col("b").alias("node"), f.col("a").alias("other"))
    for number in range(MOST_ROUNDS):
        both = links.union(links.select(f.col("other"), f.col("node")))
        least = both.groupBy("node").agg(f.min("other").alias("least"))
        least = least.select("node", f.least("node", "least").alias("least"))
        large = both.join(least, "node").where(f.col("other") > f.col("node"))
        large = large.select(f.col("other").alias("node"), f.col("least").alias("other")).distinct()
        large = keep(f"large-{number}", large)
        least = large.groupBy("node").agg(f.min("other").alias("least"))
        small = large.join(least, "node").where(f.col("other") > f.col("least"))
        small = small.select(f.col("other").alias("node"), f.col("least").alias("other"))
        links = keep(f"small-{number}", small.union(least).distinct())
        # Each node is linked to its root alone once no root is linked to another node.
        roots = links.select(f.col("other").alias("node")).distinct()
        is_done = links.join(roots, "node").count() == 0 and (
            links.count() == links.select("node").distinct().count()
        )
        if is_done:
            own = roots.select("node", f.col("node").alias("other"))
            return links.union(own).toDF("fingerprint", "root")
    raise ValueError(f"max_pairs: chains of pairs are longer than {MOST_ROUNDS} rounds follow: give more")


def _removed(documents: DataFrame, groups: DataFrame, fates: DataFrame | None, keep: str) -> DataFrame:
    """The documents that go."""
    from pyspark.sql import functions as f

    def is_after(end: str) -> Column:
        if keep == "last":
            return f.col("id") < f.col(f"{end}_id")
        later = f.col("id") > f.col(f"{end}_id")
        if keep != "longest":
            return later
        length, other = f.col("length"), f.col(f"{end}_length")
        return (length < other) | ((length == other) & later)

    repeated = groups.where(f.col("count") > 1)
    equal = repeated.select("fingerprint", f.col("id").alias("kept_id"), f.lit(0).alias("distance"))
    if fates is not None:
        decided = fates.select("fingerprint").distinct()
        equal = equal.join(decided, "fingerprint", "left_anti")
        types = dict(fates.dtypes)
        others = [f.lit(None).cast(types[name]).alias(name) for name in fates.columns[3:]]
        equal = equal.select("*", *others).union(fates)
    removed = documents.join(equal, "fingerprint").where(f.col("id") != f.col("kept_id"))
    if fates is not None:
        in_reach = f.col("from_id").isNull() | is_after("from")
        removed = removed.where(in_reach & (f.col("until_id").isNull() | ~is_after("until")))
    return removed.select("id", "kept_id", "distance")


def _collect(df: DataFrame) -> pa.Table:
    """The rows, on the driver."""

    def packed(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.record_batch({"part": pa.array([_to_ipc(batch)], pa.binary())})

    parts = [_of_ipc(bytes(row["part"])) for row in df.mapInArrow(packed, "part binary").collect()]
    if parts:
        return pa.concat_tables(parts).combine_chunks()
    kinds = {"string": pa.string(), "binary": pa.binary(), "int": pa.int32(), "bigint": pa.int64()}
    return pa.table({name: pa.array([], kinds[kind]) for name, kind in df.dtypes})


def _distribute(session: SparkSession, table: pa.Table, schema: str) -> DataFrame:
    """The inverse."""
    parts = [(_to_ipc(batch),) for batch in table.to_batches(max_chunksize=BATCH)]

    def unpacked(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch.column(0):
                yield from _of_ipc(part.as_py()).to_batches()

    return session.createDataFrame(parts, "part binary").mapInArrow(unpacked, schema)
