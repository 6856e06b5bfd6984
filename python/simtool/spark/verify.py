"""The texts of close fingerprints come together and are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from simtool.spark.buckets import by_bucket
from simtool.spark.transfer import Steps, verifier_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Classes of documents, and the texts of all documents.
Side = tuple["DataFrame", "DataFrame"]


def similar(near: DataFrame, sides: list[Side], options: dict[str, Any], keep: Steps, partitions: int | None) -> DataFrame:
    """The pairs of classes whose texts are similar enough, `a`, `b`, `similarity` and `distance`, by those of
    fingerprints: within one side, equal fingerprints included, or from the first to the second.

    A text goes once to each bucket in which its fingerprint has pairs.
    """
    from pyspark.sql import functions as f

    is_within = len(sides) == 1
    if is_within:
        several = sides[0][0].groupBy("fingerprint").count().where(f.col("count") > 1)
        fingerprint = f.col("fingerprint")
        own = several.select(f.hash("fingerprint"), fingerprint, fingerprint, f.lit(0))
        near = near.union(own)
    near = keep("candidates", near)
    types = dict(near.dtypes)
    rows = near.select(
        "bucket", *(f.lit(None).cast(kind).alias(name) for name, kind in
                    {"side": "int", "fingerprint": types["a"], "class": "binary", "text": "string"}.items()),
        "a", "b", "distance",
    )
    for number, (classes, texts) in enumerate(sides):
        ends = [near.select("bucket", f.col(name).alias("fingerprint")) for name in ("ab" if is_within else "ab"[number])]
        ends = (ends[0].union(ends[1]) if is_within else ends[0]).distinct()
        wanted = ends.join(classes.select("fingerprint", "class", "id"), "fingerprint").join(texts, "id")
        nothing = (f.lit(None).cast(types[name]).alias(name) for name in ("a", "b", "distance"))
        rows = rows.union(wanted.select("bucket", f.lit(number).alias("side"), "fingerprint", "class", "text", *nothing))
    made_of = tuple(sorted(options.items()))

    def compared(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
        verifier = verifier_of(made_of)
        for table in tables:
            is_pair = table["a"].is_valid()
            pairs, members = table.filter(is_pair), table.filter(pc.invert(is_pair))
            # A class is here several times where several of its buckets are.
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
                ends[name] = np.searchsorted(numbers, end)
                if not np.isin(end, numbers).all():
                    raise RuntimeError("the documents are not the same each time that they are read: give work_dir")
            found = pa.table({**ends, "distance": pairs["distance"]})
            found = pa.table(verifier.similar(members["text"], pa.array(owners), found)).combine_chunks()
            if len(found):
                rows = [found[name].combine_chunks() for name in ("a", "b")]
                column = members["class"].combine_chunks()
                a, b = (column.take(row) for row in rows)
                # A task that runs again may see the rows of a bucket in another order.
                swap = pc.less(b, a) if is_within else pa.array(side[rows[0].to_numpy()] == 1)
                a, b = pc.if_else(swap, b, a), pc.if_else(swap, a, b)
                similarity, distance = (found[name].combine_chunks() for name in ("similarity", "distance"))
                columns = {"a": a, "b": b, "similarity": similarity, "distance": distance.cast(pa.int32())}
                yield pa.record_batch(columns)

    return by_bucket(rows, compared, "a binary, b binary, similarity double, distance int", partitions)


def _numbered(column: pa.ChunkedArray, side: np.ndarray) -> tuple[np.ndarray, pa.Array]:
    """A number for each value of a side, and the values that these are the places of, twice."""
    known = pc.unique(column)
    return pc.index_in(column, known).to_numpy() * 2 + side, known
