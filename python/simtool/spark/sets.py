"""Sets of terms that are alike: those that share one of their rarest terms come together."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simtool._simtool import Engine, SetKeys
from simtool.spark.buckets import by_bucket
from simtool.spark.documents import described, description
from simtool.spark.transfer import Batches, Options, engine_of, to_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@lru_cache(maxsize=4)
def keys_of(options: Options, order: bytes | None) -> SetKeys:
    """What finds keys in a task, made once for each process."""
    return SetKeys(order, **dict(options))


def keyed(rows: DataFrame, engine: Engine, options: dict[str, Any], order: bytes | None) -> DataFrame:
    """`id` and `class` of the texts that have terms: equal sets are of one class. With the `weight` of the
    set, and as `keys` the terms of its prefix, each with what it and all behind it weigh; and the `order`.
    """
    made_of = tuple(sorted(options.items()))

    def made(batches: Batches) -> Iterator[pa.RecordBatch]:
        engine, finder = engine_of(made_of), keys_of(made_of, order)
        for batch in batches:
            of_texts, keys = map(pa.table, finder.keys(batch.column("text")))
            groups = of_texts["group"].combine_chunks()
            has = groups.is_valid()
            ends = np.searchsorted(keys["row"].to_numpy(), np.arange(batch.num_rows + 1)).astype(np.int32)
            term, rest = (keys[name].combine_chunks().view(pa.int64()) for name in ("term", "rest"))
            lists = pa.ListArray.from_arrays(pa.array(ends), pa.StructArray.from_arrays([term, rest], ["term", "rest"]))
            columns = {"class": to_column(groups.filter(has), 2)}
            columns["weight"] = of_texts["weight"].combine_chunks().view(pa.int64()).filter(has)
            columns["keys"] = lists.filter(has)
            yield pa.record_batch({**described(batch, has, engine), **columns})

    schema = f"{description(rows, engine)}, class binary, weight long, keys array<struct<term: long, rest: long>>"
    return rows.mapInArrow(made, schema)


def alike(
    sides: list[DataFrame], options: dict[str, Any], order: bytes | None, partitions: int | None
) -> DataFrame:
    """The pairs `a` and `b` of classes that may be alike enough, within one side of documents or from
    the first to the second, with their `bucket` and, as of fingerprints, a `distance`.
    """
    from pyspark.sql import functions as f

    made_of, is_sided = tuple(sorted(options.items())), len(sides) > 1
    # Of equal sets one.
    sides = [side.select("class", "weight", "keys").dropDuplicates(["class"]) for side in sides]
    if is_sided:
        queries, corpus = (side.withColumn("side", f.lit(number)) for number, side in enumerate(sides))
        sides = [queries.union(corpus)]
    rows = sides[0].withColumn("key", f.explode("keys")).drop("keys")
    rows = rows.withColumn("bucket", f.col("key.term")).withColumn("rest", f.col("key.rest")).drop("key")

    def candidates(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
        finder = keys_of(made_of, order)
        for table in tables:
            columns = {name: table[name].combine_chunks() for name in table.column_names}
            under = [columns[name] for name in ("bucket", "weight", "rest")]
            on = (0, 0)
            while on is not None:
                found, on = finder.candidates(*under, columns["side"] if is_sided else None, on)
                found = pa.table(found)
                a, b = (columns["class"].take(found[name].combine_chunks()) for name in ("a", "b"))
                if not is_sided:
                    # Two sets come together under each key that they share, in any order.
                    swap = pc.less(b, a)
                    a, b = pc.if_else(swap, b, a), pc.if_else(swap, a, b)
                yield pa.record_batch({"bucket": columns["bucket"].take(found["a"].combine_chunks()), "a": a, "b": b})

    found = by_bucket(rows, candidates, "bucket long, a binary, b binary", partitions)
    # The texts of a set go to few buckets: the first that it shares with each of those that it is like.
    found = found.groupBy("a", "b").agg(f.min("bucket").alias("bucket"))
    return found.select(f.hash("bucket").alias("bucket"), "a", "b", f.lit(0).alias("distance"))
