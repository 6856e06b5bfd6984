"""Finds pairs of similar sets of terms: sets that share one of their rarest terms are compared."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Iterable, Iterator

import numpy as np
import pyarrow as pa

from simtool._simtool import Engine, SetKeys
from simtool._steps import of_rows, to_rows
from simtool_spark.buckets import by_bucket
from simtool_spark.documents import described, description
from simtool_spark.transfer import Batches, Options, engine_of, in_tasks, of_binary, to_binary, to_column, to_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Minimum number of parts into which the keys are divided. A row has many sets of one part, so that Spark moves fewer
# rows than one for each set and key.
PARTS = 4096
# Number of 64-bit numbers that describe a set under one of its keys.
NUMBERS = 6
# Number of documents whose sets are sorted by key in one call.
TOGETHER = 4096


@lru_cache(maxsize=4)
def keys_of(options: Options, order: bytes | None) -> SetKeys:
    """Returns the object that finds the keys of sets in a task. It is built once for each process."""
    return SetKeys(order, **dict(options))


def keyed(rows: DataFrame, engine: Engine, options: dict[str, Any], order: bytes | None) -> DataFrame:
    """Returns `id` and `class` of the texts that have terms. Texts with equal sets have the same class.

    `weight` is the weight of the set. The column `order` is that of `described`. `keys` has the rarest terms of the
    set. Each key is two 64-bit numbers: the term, and the weight of this term and of all later terms of the set.
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
    """Returns the pairs of classes that may be similar enough, in the columns `a` and `b`.

    With one side, `a` and `b` are both of that side. With two sides, `a` is of the first side and `b` is of the
    second. As in pairs of fingerprints, there are columns `bucket` and `distance`. The distance is always 0.
    """
    from pyspark.sql import functions as f

    made_of, is_sided = tuple(sorted(options.items())), len(sides) > 1
    # Only one of several equal sets is compared.
    sides = [side.select("class", "weight", "keys").dropDuplicates(["class"]) for side in sides]
    sides = [side.withColumn("side", f.lit(number)) for number, side in enumerate(sides)]
    rows = sides[0].union(sides[1]) if is_sided else sides[0]
    parts = max(PARTS, 16 * (partitions or 0))

    def parted(batches: Batches) -> Iterator[pa.RecordBatch]:
        # A set has a description for each of its keys. A row has the descriptions whose keys are in one part.
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
    # A pair is found under each key that its sets share. Only the smallest such key is kept as the bucket, so that
    # the texts of a set are sent to few buckets.
    found = found.groupBy("a", "b").agg(f.min("bucket").alias("bucket"))
    return found.select(f.hash("bucket").alias("bucket"), "a", "b", f.lit(0).alias("distance"))
