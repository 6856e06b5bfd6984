"""Pairs of close fingerprints: fingerprints that agree in a key meet in a bucket and are compared."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simtool._simtool import Engine
from simtool_spark.transfer import Batches, collect, engine_of, fingerprint_type, in_tasks, to_ipc, to_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def sampled(fingerprints: DataFrame, count: int, engine: Engine) -> pa.Array | None:
    if count == 0:
        return None
    return to_words(collect(fingerprints.limit(count))["fingerprint"], engine.words)


class Buckets:
    """Finds pairs of close fingerprints: it compares those with the same key. A key is part of a fingerprint."""

    def __init__(
        self, options: dict[str, Any], sample: pa.Array | None, partitions: int | None, full_bucket: int
    ):
        self.engine = Engine(sample, **options)
        packed = None if sample is None else to_ipc(pa.record_batch({"sample": sample}))
        self.made_of = (tuple(sorted(options.items())), packed)
        self.partitions, self.full_bucket = partitions, full_bucket

    def pairs(self, fingerprints: DataFrame, sided: bool) -> DataFrame:
        """Returns the close pairs: the fingerprints `a` and `b`, their `distance`, and the `bucket` in which the pair
        was found.

        Without `sided`, the fingerprints must be distinct. With it, the column `side` is 0 or 1, and each pair has one
        fingerprint of each side.
        """
        words, made_of = self.engine.words, self.made_of
        full = self._full(fingerprints) if self.engine.cuts else []

        def scanned(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
            engine = engine_of(*made_of)
            for table in tables:
                rows = to_words(table["fingerprint"], words)
                sides = table["side"].combine_chunks() if sided else None
                found = pa.table(engine.pairs(rows, table["bucket"].combine_chunks(), full, sides))
                if len(found):
                    column = table["fingerprint"].combine_chunks()
                    a, b = (column.take(found[name].combine_chunks()) for name in ("a", "b"))
                    if not sided:
                        # A repeated task may see the rows of a bucket in another order, so the smaller fingerprint
                        # becomes `a`.
                        swap = pc.less(b, a)
                        a, b = pc.if_else(swap, b, a), pc.if_else(swap, a, b)
                    distance = found["distance"].combine_chunks().cast(pa.int32())
                    bucket = table["bucket"].combine_chunks().take(found["a"].combine_chunks())
                    yield pa.record_batch({"bucket": bucket, "a": a, "b": b, "distance": distance})

        rows, kind = self._rows(fingerprints, full, sided), fingerprint_type(words)
        return by_bucket(rows, scanned, f"bucket int, a {kind}, b {kind}, distance int", self.partitions)

    def _rows(self, fingerprints: DataFrame, full: list[int], sided: bool) -> DataFrame:
        """Returns a row for each bucket of each fingerprint. `full` has the numbers of buckets that are too full."""
        words, made_of = self.engine.words, self.made_of

        def rows(batches: Batches) -> Iterator[pa.RecordBatch]:
            engine = engine_of(*made_of)
            for batch in batches:
                found = pa.table(engine.buckets(to_words(batch.column(0), words), full))
                row = found["row"].combine_chunks()
                bucket = found["bucket"].combine_chunks().view(pa.int32())
                columns = [bucket, *(column.take(row) for column in batch.columns)]
                yield pa.RecordBatch.from_arrays(columns, ["bucket", *batch.schema.names])

        schema = f"bucket int, fingerprint {fingerprint_type(words)}" + (", side int" if sided else "")
        return in_tasks(fingerprints, rows, schema)

    def _full(self, fingerprints: DataFrame) -> list[int]:
        """Returns the numbers of the buckets with more than `full_bucket` fingerprints, in ascending order."""
        if fingerprints.count() <= self.full_bucket:
            return []
        counts = self._rows(fingerprints.select("fingerprint"), [], False).groupBy("bucket").count()
        full = counts.where(counts["count"] > self.full_bucket).select("bucket").collect()
        return sorted(row["bucket"] % 2**32 for row in full)


def by_bucket(
    rows: DataFrame,
    visit: Callable[[Iterable[pa.Table]], Iterator[pa.RecordBatch]],
    schema: str,
    partitions: int | None,
) -> DataFrame:
    """Applies `visit` to tables in each of which all rows of a bucket are together. Returns the rows that `visit`
    yields.

    `rows` has a column `bucket`. A table can have several buckets.
    """
    is_sorted = _keeps_order(rows.sparkSession)

    def visited(batches: Batches) -> Iterator[pa.RecordBatch]:
        yield from visit(_whole_runs(batches if is_sorted else _sorted(batches)))

    rows = rows.repartition(*([] if partitions is None else [partitions]), "bucket")
    rows = rows.sortWithinPartitions("bucket") if is_sorted else rows
    return in_tasks(rows, visited, schema)


@lru_cache(maxsize=4)
def _keeps_order(session: SparkSession) -> bool:
    """Checks whether rows sorted within partitions reach `mapInArrow` in that order. Sail does not keep the order."""

    def looked(batches: Batches) -> Iterator[pa.RecordBatch]:
        rows = [row for batch in batches for row in batch.column(0).to_pylist()]
        if rows:
            yield pa.record_batch({"kept": [rows == sorted(rows)]})

    mixed = session.range(64).selectExpr("id * 37 % 64 AS mixed")
    sorted_rows = mixed.repartition(1, "mixed").sortWithinPartitions("mixed")
    return all(row["kept"] for row in in_tasks(sorted_rows, looked, "kept boolean").collect())


def _sorted(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Yields all rows of a partition sorted by bucket, for engines that do not keep the order."""
    held = [batch for batch in batches if batch.num_rows]
    if held:
        table = pa.Table.from_batches(held)
        order = np.argsort(table["bucket"].to_numpy())
        yield from table.take(order).combine_chunks().to_batches()


def _whole_runs(batches: Batches) -> Iterator[pa.Table]:
    """Yields tables of the rows. `batches` are sorted by bucket, and all rows of a bucket get into one table."""
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
