"""Fingerprints of documents, and classes of equal documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

import pyarrow as pa

from simtool._simtool import Engine
from simtool._steps import order_of
from simtool_spark.learning import Learned
from simtool_spark.selectors import Selectors
from simtool_spark.transfer import Batches, engine_of, fingerprint_type, in_tasks, to_column, verifier_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def texts(df: DataFrame, selectors: Selectors, check_ids: bool) -> DataFrame:
    """Returns the columns `id` and `text` and, if a column decides which document is kept, that column as `field`.

    `check_ids` raises a ValueError if documents have no ID or the same one.
    """
    rows = df.select(*selectors.of_rows(df))
    if check_ids:
        _check_ids(rows, selectors.id)
    return rows


def _check_ids(rows: DataFrame, id_column: str) -> None:
    """Raises a ValueError if documents have no ID or the same ID.

    If ids were repeated, a caller who removes documents by ID would also lose documents that are not duplicates.
    """
    from pyspark.sql import functions as f

    counts = rows.groupBy("id").agg(f.count(f.lit(1)).alias("documents"))
    bad = counts.where(f.col("id").isNull() | (f.col("documents") > 1)).orderBy("id").limit(3).collect()
    if not bad:
        return
    if bad[0]["id"] is None:
        count = bad[0]["documents"]
        raise ValueError(f"id_column {id_column}: {count:,} documents have no ID: leave them out, or give another column")
    examples = ", ".join(f"{row['id']} ({row['documents']:,} documents)" for row in bad)
    raise ValueError(
        f"id_column {id_column}: several documents have one ID: {examples}. Give a column with an ID for each "
        "document, or leave the repeated documents out"
    )


def described(batch: pa.RecordBatch, has: pa.Array, engine: Engine) -> dict[str, pa.Array]:
    """Returns the columns `id` and `order` of those documents of a batch for which `has` is true.

    The document with the smallest `order` is kept. The column is missing if the ids alone decide which document is
    kept.
    """
    ids, texts, *field = batch.columns
    if ids.null_count:
        raise ValueError("id_column: a document has no ID: leave it out, or give another column")
    order = order_of(engine, texts, field[0] if field else None)
    return {"id": ids.filter(has)} | ({} if order is None else {"order": order.filter(has)})


def description(rows: DataFrame, engine: Engine) -> str:
    """Returns the names and types of the columns of `described`, as a schema for Spark."""
    order = {"longest": ", order long"} | dict.fromkeys(("max", "min", "newest", "oldest"), ", order string")
    return f"id {dict(rows.dtypes)['id']}" + order.get(engine.keep, "")


def fingerprints(
    rows: DataFrame, engine: Engine, options: dict[str, Any], learned: Learned, of_queries: bool = False
) -> DataFrame:
    """Returns `id` and `class` of the texts that have a fingerprint. Equal documents have the same class.

    If texts are compared, there is also a column `fingerprint`. Otherwise the class is the fingerprint. The column
    `order` is that of `described`. `of_queries` is true if the documents are searched for in another collection.
    """
    words, verifies = engine.words, engine.verifies
    made_of = tuple(sorted(options.items()))

    def made(batches: Batches) -> Iterator[pa.RecordBatch]:
        engine = engine_of(made_of, learned=learned.of_keys)
        verifier = verifier_of(made_of, learned.of_texts) if verifies else None
        for batch in batches:
            texts = batch.column("text")
            found = pa.array(engine.fingerprints(texts, batch.column("id"), of_queries))
            has = found.is_valid()
            fingerprints = to_column(found.filter(has), words)
            columns = described(batch, has, engine)
            if verifier is not None:
                classes = pa.table(verifier.groups(texts, found))["group"].combine_chunks()
                columns |= {"class": to_column(classes.filter(has), 2), "fingerprint": fingerprints}
            else:
                columns["class"] = fingerprints
            yield pa.record_batch(columns)

    kind = fingerprint_type(words)
    schema = f"{description(rows, engine)}, class " + (f"binary, fingerprint {kind}" if verifies else kind)
    return in_tasks(rows, made, schema)


def classes(documents: DataFrame, keep: str) -> DataFrame:
    """Returns a row for each class: its number of documents (`count`), and the `id` and `order` of the document that is
    kept if no other class is similar.
    """
    from pyspark.sql import functions as f

    names = [name for name in ("class", "fingerprint") if name in documents.columns]
    groups = documents.groupBy(*names)
    count = f.count("id").alias("count")
    if "order" in documents.columns:
        best = groups.agg(count, f.min(f.struct("order", "id")).alias("best"))
        return best.select(*names, "count", "best.id", "best.order")
    best = f.max("id") if keep == "last" else f.min("id")
    return groups.agg(count, best.alias("id"))
