"""Compares the texts of documents with close fingerprints. The texts to compare are in the same bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simtool_spark.buckets import by_bucket
from simtool_spark.transfer import Steps, verifier_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Maximum number of fingerprints of a bucket whose texts one task holds. Fuller buckets are divided.
FULL_OF_TEXTS = 50_000
# If at most this many texts are needed, hashes of their ids are sent to each machine, so that only these texts are
# sent to the join.
MOST_TOLD = 2_000_000


def similar(
    near: DataFrame,
    sides: list[tuple[DataFrame, DataFrame]],
    options: dict[str, Any],
    learned: bytes | None,
    keep: Steps,
    partitions: int | None,
    full: int,
) -> DataFrame:
    """Returns the pairs of classes with similar texts (`a`, `b`, `similarity` and `distance`) among the pairs
    of close fingerprints in `near`.

    A side consists of a table of classes and a table of texts. With one side, `a` and `b` are both of that side, and
    different classes with equal fingerprints are also compared. With two sides, `a` is of the first side and `b` is
    of the second. `learned` is the model for comparing texts. A bucket with more than `full` fingerprints is divided.

    A text is sent once to each bucket in which its fingerprint has pairs. Of equal texts, only one is sent.
    """
    from pyspark.sql import functions as f

    is_within = len(sides) == 1
    # A method without fingerprints finds pairs of sets. The class then takes the place of the fingerprint.
    of_sets = "fingerprint" not in sides[0][0].columns
    if of_sets:
        sides = [(classes.withColumn("fingerprint", f.col("class")), texts) for classes, texts in sides]
    elif is_within:
        several = sides[0][0].groupBy("fingerprint").count().where(f.col("count") > 1)
        own = f.col("fingerprint")
        near = near.union(several.select(f.hash(own), own, own, f.lit(0)))
    near = _cut(keep("candidates", near), min(full, FULL_OF_TEXTS))

    def null(name: str, kind: str) -> Column:
        return f.lit(None).cast(kind).alias(name)

    kind = dict(near.dtypes)["a"]
    of_text = {"side": "int", "fingerprint": kind, "class": "binary", "text": "string"}
    of_pair = {"a": kind, "b": kind, "distance": "int"}
    rows = near.select("bucket", *(null(*column) for column in of_text.items()), *of_pair)
    for side, (classes, texts) in enumerate(sides):
        ends = _ends(near, "ab" if is_within else "ab"[side])
        wanted = ends.join(classes.select("fingerprint", "class", "id"), "fingerprint")
        wanted, texts = keep(f"wanted-{side}", wanted), texts.select("id", "text")
        if wanted.count() <= MOST_TOLD:
            told = wanted.select(f.hash("id").alias("hash")).distinct()
            texts = texts.join(f.broadcast(told), f.hash(texts["id"]) == told["hash"], "left_semi")
        brought = wanted.join(texts, "id").withColumn("side", f.lit(side))
        rows = rows.union(brought.select("bucket", *of_text, *(null(*column) for column in of_pair.items())))
    made_of = tuple(sorted(options.items()))

    def compared(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
        verifier = verifier_of(made_of, learned)
        for table in tables:
            is_pair = table["a"].is_valid()
            pairs, members = table.filter(is_pair), table.filter(pc.invert(is_pair))
            # Several rows may have the same text. Only the first is kept.
            numbers, _ = _numbered(members["class"], members["side"].to_numpy())
            is_first = np.zeros(len(members), dtype=bool)
            is_first[np.unique(numbers, return_index=True)[1]] = True
            members = members.filter(pa.array(is_first))
            side = members["side"].to_numpy()
            numbers, known = _numbered(members["fingerprint"], side)
            numbers, owners = np.unique(numbers, return_inverse=True)
            ends = {}
            for name, of_side in (("a", 0), ("b", 0 if is_within else 1)):
                end = pc.fill_null(pc.index_in(pairs[name], known), -1).to_numpy() * 2 + of_side
                if not np.isin(end, numbers).all():
                    raise RuntimeError("the documents are not the same each time that they are read: give work_dir")
                ends[name] = np.searchsorted(numbers, end)
            found = pa.table({**ends, "distance": pairs["distance"]})
            found = pa.table(verifier.similar(members["text"], pa.array(owners), found))
            if len(found):
                found = {name: found[name].combine_chunks() for name in found.column_names}
                classes = members["class"].combine_chunks()
                a, b = classes.take(found["a"]), classes.take(found["b"])
                # A repeated task may see the rows of a bucket in another order, so the smaller class becomes `a`.
                swap = pc.less(b, a) if is_within else pa.array(side[found["a"].to_numpy()] == 1)
                a, b = pc.if_else(swap, b, a), pc.if_else(swap, a, b)
                distance = found["distance"].cast(pa.int32())
                yield pa.record_batch({"a": a, "b": b, "similarity": found["similarity"], "distance": distance})

    return by_bucket(rows, compared, "a binary, b binary, similarity double, distance int", partitions)


def _ends(near: DataFrame, names: str) -> DataFrame:
    """Returns the columns `bucket` and `fingerprint`: the distinct fingerprints of the pairs of each bucket. `names` is
    "a", "b" or "ab", and says which fingerprints of a pair are taken.
    """
    from pyspark.sql import functions as f

    first, *rest = (near.select("bucket", f.col(name).alias("fingerprint")) for name in names)
    for ends in rest:
        first = first.union(ends)
    return first.distinct()


def _cut(near: DataFrame, full: int) -> DataFrame:
    """Distributes the pairs of each bucket with more than `full` fingerprints over several new buckets."""
    from pyspark.sql import functions as f

    counts = _ends(near, "ab").groupBy("bucket").count()
    fullest = counts.where(counts["count"] > full).collect()
    if not fullest:
        return near
    parts = max(row["count"] for row in fullest) // full + 1
    part = f.hash("bucket", f.pmod(f.hash("a"), f.lit(parts)))
    is_full = f.col("bucket").isin([row["bucket"] for row in fullest])
    return near.withColumn("bucket", f.when(is_full, part).otherwise(f.col("bucket")))


def _numbered(column: pa.ChunkedArray, side: np.ndarray) -> tuple[np.ndarray, pa.Array]:
    """Returns a number for each row, and the distinct values of `column`.

    If a row has the distinct value at index `i`, its number is `2 * i` if it is of side 0, and `2 * i + 1` if it is of
    side 1.
    """
    known = pc.unique(column)
    return pc.index_in(column, known).to_numpy() * 2 + side, known
