"""Sets of terms that are alike: those that share one of their rarest terms come together."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Iterable, Iterator

import numpy as np
import pyarrow as pa

from simtool._simtool import Engine, SetKeys
from simtool.spark.buckets import by_bucket
from simtool.spark.documents import described, description
from simtool.spark.transfer import Batches, Options, engine_of, in_tasks, of_binary, of_rows, to_binary, to_column, to_rows, to_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Parts of all keys: what an engine moves is rows of many sets, not a row for each set and key.
PARTS = 4096
# Numbers of a set under a key.
NUMBERS = 6
# Documents whose sets are put side by side at once.
TOGETHER = 4096


@lru_cache(maxsize=4)
def keys_of(options: Options, order: bytes | None) -> SetKeys:
    """What finds keys in a task, made once for each process."""
    return SetKeys(order, **dict(options))


def keyed(rows: DataFrame, engine: Engine, options: dict[str, Any], order: bytes | None) -> DataFrame:
    """`id` and `class` of the texts that have terms: equal sets are of one class. With the `weight` of the
    set, and as `keys` the terms of its prefix, each with what it and all behind it weigh, in eight bytes each;
    and the `order`.
    """
    made_of = tuple(sorted(options.items()))

    def made(batches: Batches) -> Iterator[pa.RecordBatch]:
        engine, finder = engine_of(made_of), keys_of(made_of, order)
        for batch in batches:
            of_texts, keys = map(pa.table, finder.keys(batch.column("text")))
            groups = of_texts["group"].combine_chunks()
            has = groups.is_valid()
            ends = np.searchsorted(keys["row"].to_numpy(), np.arange(batch.num_rows + 1))
            numbers = np.stack([keys["term"].to_numpy(), keys["rest"].to_numpy()], axis=1)
            columns = {"class": to_column(groups.filter(has), 2)}
            columns["weight"] = of_texts["weight"].combine_chunks().view(pa.int64()).filter(has)
            columns["keys"] = to_binary(numbers, ends).filter(has)
            yield pa.record_batch({**described(batch, has, engine), **columns})

    schema = f"{description(rows, engine)}, class binary, weight long, keys binary"
    return in_tasks(rows, made, schema)


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
    sides = [side.withColumn("side", f.lit(number)) for number, side in enumerate(sides)]
    rows = sides[0].union(sides[1]) if is_sided else sides[0]
    parts = max(PARTS, 16 * (partitions or 0))

    def parted(batches: Batches) -> Iterator[pa.RecordBatch]:
        # What a set is under each of its keys, in rows of many that stand under keys of one part.
        for batch in batches:
            for at in range(0, batch.num_rows, TOGETHER):
                some = batch.slice(at, TOGETHER)
                keys, ends = of_binary(some.column("keys"), 2)
                classes = to_words(some.column("class"), 2)
                given = (classes, some.column("weight"), some.column("side"), to_rows(keys), pa.array(ends[1:]))
                sets, rows = map(pa.table, SetKeys.parted(*given, parts))
                sets = to_binary(of_rows(sets["set"].combine_chunks()), np.append(0, rows["end"].to_numpy()))
                yield pa.record_batch({"bucket": rows["part"].combine_chunks().view(pa.int32()), "sets": sets})

    def candidates(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
        finder = keys_of(made_of, order)
        for table in tables:
            sets = np.concatenate([of_binary(chunk, NUMBERS)[0] for chunk in table["sets"].chunks])
            on = (0, 0)
            while on is not None:
                found, on = finder.candidates(to_rows(sets), is_sided, on)
                found = pa.table(found)
                a, b = (to_column(found[name].combine_chunks(), 2) for name in ("a", "b"))
                yield pa.record_batch({"bucket": found["term"].combine_chunks().view(pa.int64()), "a": a, "b": b})

    rows = in_tasks(rows, parted, "bucket int, sets binary")
    found = by_bucket(rows, candidates, "bucket long, a binary, b binary", partitions)
    # The texts of a set go to few buckets: the first that it shares with each of those that it is like.
    found = found.groupBy("a", "b").agg(f.min("bucket").alias("bucket"))
    return found.select(f.hash("bucket").alias("bucket"), "a", "b", f.lit(0).alias("distance"))
