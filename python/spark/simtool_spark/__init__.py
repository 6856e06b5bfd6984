"""Near-duplicates of a Spark DataFrame: the engine moves rows, the wheel computes.

Only the DataFrame API and `mapInArrow` are used, so this runs on Spark 3.5 and later, on Connect and on Sail.
Every worker needs this package, `simtool`, pyarrow and NumPy. The results are those of `simtool.deduplicate` and
`simtool.match` on the same documents in the order of their ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simtool._docstrings import documented
from simtool._simtool import Engine, cluster_weights
from simtool._steps import engine_with_field
from simtool_spark._options import OPTIONS
from simtool_spark.buckets import Buckets, sampled
from simtool_spark.decided import decided_rows
from simtool_spark.documents import classes, fingerprints, texts
from simtool_spark.outcomes import outcome_schema, removed, settled, settled_by_chain, told
from simtool_spark.learning import learned
from simtool_spark.selectors import Selectors
from simtool_spark.sets import alike, keyed
from simtool_spark.transfer import Steps, collect, distribute
from simtool_spark.verify import similar

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

    from simtool_spark import _option_types

__all__ = ["deduplicate", "match"]

# Number of fingerprints of one bucket that one task compares. Fuller buckets are cut by further blocks.
FULL_BUCKET = 4_000_000
# Number of close pairs of different documents that the driver clusters, at 200 bytes each.
MOST_PAIRS = 20_000_000
# Number of terms whose document counts go to each task, at 16 bytes each. On Connect a message to a task must
# be below 128 MB.
MOST_TERMS = 4_000_000


@documented(OPTIONS, "")
def deduplicate(
    df: DataFrame,
    *,
    text_column: str = "text",
    id_column: str = "id",
    check_ids: bool = True,
    partitions: int | None = None,
    sample: int = 0,
    work_dir: str | None = None,
    full_bucket: int = FULL_BUCKET,
    max_pairs: int = MOST_PAIRS,
    max_terms: int = MOST_TERMS,
    annotate: bool | str = False,
    **keywords: Unpack[_option_types.DeduplicateOptions],
) -> DataFrame:
    """Returns the removed documents: `id`, and `kept_id` of the document that is kept instead.

    If texts are compared, the column `similarity` has their similarity. If documents have fingerprints,
    `distance` has the distance of these. Both are null if only a chain links the two documents.

    The options are those of `simtool dedup` that are listed below, with `_` for `-`. The default `method` is simhash. `keep="max:size"`
    and `"min:size"` keep the document with the greatest or smallest value of the column `size`.

    `text_column`, `id_column` and the column of `keep` are selected as `--text-field` does, for example
    `title+body`, `messages[].content`, `text,body`, `meta\\.text` or `*` for all texts of a row. Ids are texts or whole numbers, one for each
    document, and their order is the reading order.

    Args:
        df: Documents, one in each row.
        text_column: Selector of the text.
        id_column: Selector of the ID.
        check_ids: Look for missing and repeated ids in a job of its own. They are an error.
        partitions: Number of parts in which different documents are compared. By default, the number of
            shuffle partitions of the session.
        sample: Number of fingerprints from which keys are chosen that separate them equally well. With
            the method exact, number of documents from which the common terms are learned (20,000 for 0).
        work_dir: Folder for steps that are used twice, as Parquet. Without it, they are persisted.
        full_bucket: Number of fingerprints of one bucket that one task compares. A fuller bucket is cut
            by further blocks.
        max_pairs: Number of close pairs of different documents that the driver clusters. More pairs need
            a `work_dir`, and one task clusters each chain.
        max_terms: Number of terms whose document counts go to each task, if weights are learned.
        annotate: Return a row for every document, kept or removed. `weight=RULE` is the rule for the column
            `weight`: 1, sqrt, log (1 + ln n), or sizes from which a weight holds, such as weight=1:1,2:2,10:3.

    Returns:
        The columns `id`, `kept_id` and the closeness. With `annotate`, the columns of the output
        `documents`: `bytes`, `tokens`, whether it is `kept`, `kept_id`, the closeness, `cluster_id` (the
        number of the kept document in the order of the ids), `cluster_size`, `exact_copies` and `weight`.

    Raises:
        ValueError: An option does not exist here or has a wrong value, a selector names no column, ids
            are missing or repeated, or a limit is too small.
        RuntimeError: The documents changed between two readings, and there is no `work_dir`.
    """
    from pyspark.sql import functions as f

    engine, options, field = engine_with_field(keywords)
    # A wrong rule is reported before anything is read.
    weight = annotate.removeprefix("weight=") if isinstance(annotate, str) else "1"
    cluster_weights(weight, [])
    keep = Steps(work_dir)
    selectors = Selectors(None if text_column == "*" else text_column, id_column, field)
    rows = texts(df, selectors, check_ids)
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
        outcomes = None
    elif count <= max_pairs:
        ends = near.select(f.col("a").alias("class")).union(near.select("b")).distinct()
        of_class = [name for name in ("class", "id", "order") if name in groups.columns]
        members = collect(ends.join(groups, "class").select(*of_class))
        outcomes = distribute(near.sparkSession, settled(engine, members, collect(near)), outcome_schema(engine, groups))
    elif work_dir is None:
        raise ValueError(
            f"{count:,} pairs of different documents are more than max_pairs {max_pairs:,}, the limit of the "
            "driver: give work_dir, for the steps that follow chains of pairs, or a greater max_pairs"
        )
    else:
        outcomes = keep("outcomes", settled_by_chain(engine, options, near, groups, keep, partitions))
    gone = removed(documents, groups, outcomes, engine)
    return decided_rows(rows, gone, engine, options, weight, keep) if annotate else gone


@documented(OPTIONS, deduplicate.__doc__ or "")
def match(
    df: DataFrame,
    *,
    against: DataFrame,
    text_column: str = "text",
    id_column: str = "id",
    against_text_column: str | None = None,
    against_id_column: str | None = None,
    check_ids: bool = True,
    partitions: int | None = None,
    sample: int = 0,
    work_dir: str | None = None,
    full_bucket: int = FULL_BUCKET,
    max_terms: int = MOST_TERMS,
    **keywords: Unpack[_option_types.MatchOptions],
) -> DataFrame:
    """Returns the documents of `df` that are similar to a document of `against`.

    The options are those of `deduplicate`, except `keep` and `cluster`.

    Args:
        df: Documents to find in the other collection, one in each row.
        against: Documents of the collection to compare with, one in each row. Their ids may be repeated.
        against_text_column: Selector of the text in `against`. By default, as in `df`.
        against_id_column: Selector of the ID in `against`. By default, as in `df`.

    Returns:
        The columns `id`, `kept_id` of the closest document of `against` (among equally close ones the first
        id), and the closeness as in `deduplicate`.

    Raises:
        ValueError: An option does not exist here or has a wrong value, a selector names no column, ids of
            `df` are missing or repeated, or a limit is too small.
        RuntimeError: The documents changed between two readings, and there is no `work_dir`.
    """
    for name in ("keep", "cluster"):
        if keywords.get(name) is not None:
            raise ValueError(f"{name}: chooses among documents of one collection: it does not go with a match")
    from pyspark.sql import functions as f

    engine, options, _ = engine_with_field(keywords)
    keep = Steps(work_dir)
    of_text = against_text_column or text_column
    of_queries = Selectors(None if text_column == "*" else text_column, id_column)
    of_corpus = Selectors(None if of_text == "*" else of_text, against_id_column or id_column)
    rows = [texts(df, of_queries, check_ids), texts(against, of_corpus, False)]
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
    # The most similar document is the closest, then the document at the smallest distance, then the first.
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
    """Returns each distinct `fingerprint` of the classes once."""
    if engine.verifies:
        return classes.select("fingerprint").distinct()
    return classes.select(classes["class"].alias("fingerprint"))
