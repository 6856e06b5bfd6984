"""A row for each document that says what became of it: the columns of the output `documents`."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, Iterator

import pyarrow as pa

from simtool._simtool import Engine, cluster_weights
from simtool_spark.outcomes import told
from simtool_spark.transfer import Batches, Steps, engine_of, in_tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Number of ids that one task sorts, maximum number of such tasks, and number of sampled ids for each of them.
FULL_PART = 1_000_000
MOST_PARTS = 200
SAMPLED = 20


def decided_rows(
    rows: DataFrame, removed: DataFrame, engine: Engine, options: dict[str, Any], weight: str, keep: Steps
) -> DataFrame:
    """Returns a row for each document of `rows`. `removed` has the documents that are removed, and `weight` is the
    rule for the weight of a kept document.
    """
    from pyspark.sql import functions as f

    outcome = removed.withColumnRenamed("id", "removed_id")
    documents = _described(rows, options).join(outcome, f.col("id") == f.col("removed_id"), "left")
    documents = documents.select(
        *("id", "bytes", "tokens", "hash"),
        f.col("removed_id").isNull().alias("kept"),
        f.coalesce("kept_id", "id").alias("kept_id"),
        *told(engine),
    )
    documents = keep("decided", documents)
    count = f.count(f.lit(1))
    copies = documents.groupBy("kept_id", "bytes", "hash").agg(count.alias("exact_copies"))
    clusters = documents.groupBy("kept_id").agg(count.alias("cluster_size"))
    clusters = clusters.join(_numbered(documents), "kept_id")
    documents = documents.join(_weighted(clusters, weight), "kept_id").join(copies, ["kept_id", "bytes", "hash"])
    return documents.select(
        *("id", "bytes", "tokens", "kept", "kept_id", *told(engine), "cluster_id", "cluster_size", "exact_copies"),
        f.when(f.col("kept"), f.col("weight")).otherwise(0.0).alias("weight"),
    )


def _described(rows: DataFrame, options: dict[str, Any]) -> DataFrame:
    """Returns `id`, the number of bytes and of tokens of each text, and a hash of its bytes."""
    made_of = tuple(sorted(options.items()))

    def described(batches: Batches) -> Iterator[pa.RecordBatch]:
        engine = engine_of(made_of)
        for batch in batches:
            facts = pa.table(engine.text_facts(batch.column("text")))
            columns = {name: facts[name].combine_chunks() for name in facts.column_names}
            numbers = {name: columns[name].cast(pa.int64()) for name in ("bytes", "tokens")}
            # Engines have only signed numbers, so the bits of the hash are reinterpreted.
            hashes = columns["hash"].view(pa.int64())
            yield pa.record_batch({"id": batch.column("id"), **numbers, "hash": hashes})

    schema = f"id {dict(rows.dtypes)['id']}, bytes long, tokens long, hash long"
    return in_tasks(rows.select("id", "text"), described, schema)


def _numbered(documents: DataFrame) -> DataFrame:
    """Returns `kept_id` and `cluster_id`: the number of each document in the order of the ids."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    ids = documents.select(f.col("id").alias("kept_id"))
    borders = _borders(ids)
    part = f.lit(0)
    for border in borders:
        part = part + (f.col("kept_id") >= f.lit(border)).cast("int")
    ids = ids.withColumn("part", part)
    counts = {row["part"]: row["count"] for row in ids.groupBy("part").count().collect()} if borders else {}
    sizes = [counts.get(number, 0) for number in range(len(borders))]
    firsts = f.array(*(f.lit(first).cast("long") for first in accumulate(sizes, initial=0)))
    place = f.row_number().over(Window.partitionBy("part").orderBy("kept_id")) - 1
    return ids.select("kept_id", (f.element_at(firsts, f.col("part") + 1) + place).alias("cluster_id"))


def _borders(ids: DataFrame) -> list[Any]:
    """Returns ids in ascending order that divide all ids into parts, each of which one task can sort."""
    from pyspark.sql import functions as f

    count = ids.count()
    parts = min(-(-count // FULL_PART), MOST_PARTS)
    if parts < 2:
        return []
    # A sample by hashes is the same each time that the documents are read.
    is_sampled = f.pmod(f.hash("kept_id"), f.lit(max(1, count // (SAMPLED * parts)))) == 0
    sample = {row["kept_id"] for row in ids.where(is_sampled).collect()}
    # Engines compare texts by their bytes.
    ordered = sorted(sample, key=lambda value: value.encode() if isinstance(value, str) else value)
    chosen = [ordered[len(ordered) * number // parts] for number in range(1, parts) if ordered]
    return list(dict.fromkeys(chosen))


def _weighted(clusters: DataFrame, weight: str) -> DataFrame:
    """Adds the `weight` of the kept document of each cluster. The wheel computes it, as on one machine."""

    def weighted(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            weights = pa.table(cluster_weights(weight, batch.column("cluster_size")))["weight"].combine_chunks()
            columns = dict(zip(batch.schema.names, batch.columns))
            yield pa.record_batch({**columns, "weight": weights})

    schema = ", ".join(f"{name} {kind}" for name, kind in clusters.dtypes)
    return in_tasks(clusters, weighted, f"{schema}, weight double")
