"""Builds the output `documents`: for each document a row that says whether it is kept, and in which cluster it is."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, Iterator

import pyarrow as pa

from simtool._simtool import Engine, cluster_weights
from simtool_spark.outcomes import told
from simtool_spark.transfer import Batches, Steps, engine_of, in_tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Number of ids that one task sorts, maximum number of such tasks, and number of sampled ids for each task.
FULL_PART = 1_000_000
MOST_PARTS = 200
SAMPLED = 20


def decided_rows(
    rows: DataFrame, removed: DataFrame, engine: Engine, options: dict[str, Any], weight: str, keep: Steps
) -> DataFrame:
    """Returns a row for each document of `rows`. `removed` has a row for each removed document, as the function
    `removed` returns it. `weight` is the rule for the weight of a kept document, such as "sqrt".
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
    """Returns `id`, `bytes` and `tokens` (numbers of bytes and tokens of the text), and `hash`, a hash of the text."""
    made_of = tuple(sorted(options.items()))

    def described(batches: Batches) -> Iterator[pa.RecordBatch]:
        engine = engine_of(made_of)
        for batch in batches:
            facts = pa.table(engine.text_facts(batch.column("text")))
            columns = {name: facts[name].combine_chunks() for name in facts.column_names}
            numbers = {name: columns[name].cast(pa.int64()) for name in ("bytes", "tokens")}
            # Spark has only signed integers, so the 64 bits of the hash are read as a signed integer.
            hashes = columns["hash"].view(pa.int64())
            yield pa.record_batch({"id": batch.column("id"), **numbers, "hash": hashes})

    schema = f"id {dict(rows.dtypes)['id']}, bytes long, tokens long, hash long"
    return in_tasks(rows.select("id", "text"), described, schema)


def _numbered(documents: DataFrame) -> DataFrame:
    """Returns a row for each document: its ID as `kept_id`, and its index (from 0) by ascending ID as `cluster_id`."""
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
    """Returns the first ids of all parts but the first, in ascending order. The parts divide the sorted ids, so that
    one task can sort each of them.
    """
    from pyspark.sql import functions as f

    count = ids.count()
    parts = min(-(-count // FULL_PART), MOST_PARTS)
    if parts < 2:
        return []
    # A sample by hashes is the same each time that the documents are read.
    is_sampled = f.pmod(f.hash("kept_id"), f.lit(max(1, count // (SAMPLED * parts)))) == 0
    sample = {row["kept_id"] for row in ids.where(is_sampled).collect()}
    # Spark compares strings by their bytes in UTF-8.
    ordered = sorted(sample, key=lambda value: value.encode() if isinstance(value, str) else value)
    chosen = [ordered[len(ordered) * number // parts] for number in range(1, parts) if ordered]
    return list(dict.fromkeys(chosen))


def _weighted(clusters: DataFrame, weight: str) -> DataFrame:
    """Adds a column `weight`: the weight of the kept document of each cluster, by the rule `weight`."""

    def weighted(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            weights = pa.table(cluster_weights(weight, batch.column("cluster_size")))["weight"].combine_chunks()
            columns = dict(zip(batch.schema.names, batch.columns))
            yield pa.record_batch({**columns, "weight": weights})

    schema = ", ".join(f"{name} {kind}" for name, kind in clusters.dtypes)
    return in_tasks(clusters, weighted, f"{schema}, weight double")
