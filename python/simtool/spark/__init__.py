"""Near-duplicates of a Spark DataFrame: the engine moves rows, the wheel computes.

Only the DataFrame API and `mapInArrow` are used, so this runs on Spark 3.5 and later, on Connect and on
Sail; every worker needs this package, pyarrow and NumPy. What is found is what `simtool.deduplicate` and
`simtool.match` find of the same documents in the order of their ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simtool._simtool import Engine
from simtool.spark.buckets import Buckets, sampled
from simtool.spark.documents import classes, fingerprints, texts
from simtool.spark.fates import fate_schema, removed, settled, settled_by_chain, told
from simtool.spark.learning import learned
from simtool.spark.sets import alike, keyed
from simtool.spark.transfer import Steps, collect, distribute
from simtool.spark.verify import similar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["deduplicate", "match"]

# Fingerprints of one bucket that one task compares; fuller ones are cut by further blocks.
FULL_BUCKET = 4_000_000
# Close pairs of different documents that the driver clusters, in 200 bytes each.
MOST_PAIRS = 20_000_000
# Terms of which each task is told in how many documents they are, in 16 bytes each: what travels to a task
# on Connect is below 128 MB.
MOST_TERMS = 4_000_000


def deduplicate(
    df: DataFrame,
    *,
    text_column: str = "text",
    id_column: str = "id",
    keep_field: str | None = None,
    partitions: int | None = None,
    sample: int = 0,
    work_dir: str | None = None,
    full_bucket: int = FULL_BUCKET,
    max_pairs: int = MOST_PAIRS,
    max_terms: int = MOST_TERMS,
    **options: Any,
) -> DataFrame:
    """The documents that go: `id`, `kept_id` of the one that stays in its place, the `similarity` of their
    texts where these are compared, and the `distance` of their fingerprints where they have any (null where
    only a chain links them).

    Ids are texts or whole numbers, each of one document; their order is the reading order. `options` are
    those of `simtool dedup`, with `_` for `-`: `method` is simhash unless it is given. `keep="max"` and
    `"min"` keep the document with the greatest or smallest value of the column `keep_field`.

    Equal documents are put together first. `partitions` is how many parts the rest is compared in, by
    default as many as the session shuffles to; with a `sample` of so many fingerprints the keys tell these
    apart equally well; of the method exact, so many documents tell which terms are common. Steps that are
    used twice go to Parquet in `work_dir`, else they are persisted. A bucket of more than `full_bucket`
    fingerprints is cut by further blocks. The driver clusters up to `max_pairs` close pairs of different
    documents; of more, which takes a `work_dir`, each chain is clustered by one task. Where weights are
    learned, each task is told of up to `max_terms` terms in how many documents they are.
    """
    from pyspark.sql import functions as f

    engine, options = _engine(options)
    engine.check_field(keep_field is not None)
    keep = Steps(work_dir)
    rows = texts(df, text_column, id_column, keep_field)
    known = learned(rows, options, sample, keep, max_terms)
    if engine.has_fingerprints:
        documents = keep("documents", fingerprints(rows, engine, options, known))
    else:
        documents = keep("documents", keyed(rows, engine, options, known.of_keys))
    groups = keep("groups", classes(documents, engine.keep))
    if engine.has_fingerprints:
        different = _different(groups, engine)
        buckets = Buckets(options, sampled(different, sample, engine), partitions, full_bucket)
        near = buckets.pairs(different, sided=False)
    else:
        near = alike([documents], options, known.of_keys, partitions)
    if engine.verifies:
        near = similar(near, [(groups, rows)], options, known.of_texts, keep, partitions, full_bucket)
    near = keep("pairs", near.select("a", "b", *told(engine)))
    count = near.count()
    if count == 0:
        fates = None
    elif count <= max_pairs:
        ends = near.select(f.col("a").alias("class")).union(near.select("b")).distinct()
        of_class = [name for name in ("class", "id", "order") if name in groups.columns]
        members = collect(ends.join(groups, "class").select(*of_class))
        fates = distribute(near.sparkSession, settled(engine, members, collect(near)), fate_schema(engine, groups))
    elif work_dir is None:
        raise ValueError(
            f"{count:,} pairs of different documents are more than max_pairs {max_pairs:,}, which the "
            "driver clusters: give work_dir, for the steps of following their chains, or more"
        )
    else:
        fates = keep("fates", settled_by_chain(engine, options, near, groups, keep, partitions))
    return removed(documents, groups, fates, engine)


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
    max_terms: int = MOST_TERMS,
    **options: Any,
) -> DataFrame:
    """The documents of `queries` that are like one of `df`: `id`, `kept_id` of the document of `df` that
    is closest (of equals that of the first id), and how close that is, as `deduplicate` tells it. Takes what
    that takes, but for `keep` and `cluster`.
    """
    for name in ("keep", "cluster"):
        if options.get(name) is not None:
            raise ValueError(f"{name}: chooses among documents of one collection: it does not go with queries")
    from pyspark.sql import functions as f

    engine, options = _engine(options)
    keep = Steps(work_dir)
    rows = [texts(of, text_column, id_column) for of in (queries, df)]
    known = learned(rows[1], options, sample, keep, max_terms)
    if engine.has_fingerprints:
        asked, corpus = (fingerprints(of, engine, options, known, of is rows[0]) for of in rows)
    else:
        asked, corpus = (keyed(of, engine, options, known.of_keys) for of in rows)
        corpus = keep("corpus", corpus)
    asked, groups = keep("queries", asked), keep("groups", classes(corpus, "first"))
    both = [classes(asked, "first"), groups]
    if engine.has_fingerprints:
        different = [_different(of, engine) for of in both]
        buckets = Buckets(options, sampled(different[1], sample, engine), partitions, full_bucket)
        sides = [of.withColumn("side", f.lit(side)) for side, of in enumerate(different)]
        near = buckets.pairs(sides[0].union(sides[1]), sided=True)
    else:
        near = alike([asked, corpus], options, known.of_keys, partitions)
    if engine.verifies:
        near = similar(near, list(zip(both, rows)), options, known.of_texts, keep, partitions, full_bucket)
    # The most similar one, then the one at the smallest distance, then the first.
    order = [f.col("kept_id")]
    if engine.has_fingerprints:
        order.insert(0, f.col("distance"))
    if engine.verifies:
        order.insert(0, (-f.col("similarity")).alias("unlikeness"))
    closest = (
        near.join(groups.select(f.col("class").alias("b"), f.col("id").alias("kept_id")), "b")
        .groupBy("a")
        .agg(f.min(f.struct(*order)).alias("closest"))
        .select(f.col("a").alias("class"), "closest.*")
    )
    if engine.verifies:
        closest = closest.withColumn("similarity", -f.col("unlikeness"))
    return asked.join(closest, "class").select("id", "kept_id", *told(engine))


def _different(classes: DataFrame, engine: Engine) -> DataFrame:
    """Each `fingerprint` of classes once."""
    if engine.verifies:
        return classes.select("fingerprint").distinct()
    return classes.select(classes["class"].alias("fingerprint"))


def _engine(options: dict[str, Any]) -> tuple[Engine, dict[str, Any]]:
    options = {name: value for name, value in options.items() if value is not None}
    options.setdefault("method", "simhash")
    return Engine(**options), options
