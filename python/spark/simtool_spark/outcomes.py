"""Chooses the documents to keep, by the close pairs of classes. A class is a set of equal documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from simtool._simtool import Engine
from simtool._steps import ranks_of
from simtool_spark.buckets import by_bucket
from simtool_spark.transfer import Steps, engine_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Maximum number of rounds in which chains of pairs are followed. Each round halves the remaining length.
MOST_ROUNDS = 30


def settled(engine: Engine, known: pa.Table, near: pa.Table) -> pa.Table:
    """Decides which classes are removed. `known` has a row for each class in a pair, and `near` the close pairs.

    Returns a table of the removed classes and the `kept_id` of the document that is kept in place of a `class`. A
    class can have several rows for different documents. A row applies to documents that come, in the order of
    preference, after the document `from_id` (null means any document) and not after the document `until_id` (null
    means any document).
    """
    has_order = "order" in known.column_names
    known = known.take(pc.sort_indices(known["id"]))
    ids = known["id"].combine_chunks()
    if pc.count_distinct(ids).as_py() < len(ids):
        raise ValueError("id_column: two documents have one id")
    numbers = {name: pc.index_in(near[name], known["class"]) for name in ("a", "b")}
    if any(number.null_count for number in numbers.values()):
        raise RuntimeError("the documents are not the same each time that they are read: give work_dir")
    pairs = pa.table({**numbers, **{name: near[name] for name in told(engine)}}).combine_chunks()
    outcomes = pa.table(engine.settle(pairs, pa.array(ranks_of(known, engine))))
    of = {
        "class": known["class"].take(outcomes["group"]),
        "kept_id": known["id"].take(outcomes["kept"]),
    }
    kinds = {"similarity": pa.float64(), "distance": pa.int32()}
    of |= {name: outcomes[name].cast(kinds[name]) for name in told(engine)}
    for end in ("from", "until"):
        of[f"{end}_id"] = known["id"].take(outcomes[end])
        if has_order:
            of[f"{end}_order"] = known["order"].take(outcomes[end])
    return pa.table(of)


def told(engine: Engine) -> dict[str, str]:
    """Returns the names and types of the columns that say how close two documents are."""
    similarity = {"similarity": "double"} if engine.verifies else {}
    return similarity | ({"distance": "int"} if engine.has_fingerprints else {})


def outcome_schema(engine: Engine, classes: DataFrame) -> str:
    types = dict(classes.dtypes)
    ends = [f"{end}_{name} {types[name]}" for end in ("from", "until") for name in ("id", "order") if name in types]
    closeness = [f"{name} {kind}" for name, kind in told(engine).items()]
    return ", ".join([f"class {types['class']}, kept_id {types['id']}", *closeness, *ends])


def settled_by_chain(
    engine: Engine,
    options: dict[str, Any],
    near: DataFrame,
    classes: DataFrame,
    keep: Steps,
    partitions: int | None,
) -> DataFrame:
    """Returns the rows of `settled`, computed in tasks. Classes that a chain of pairs links are in the same task."""
    from pyspark.sql import functions as f

    roots = keep("roots", _roots(near, keep))
    types = {**dict(classes.dtypes), **told(engine)}
    types |= {"a": types["class"], "b": types["class"]}
    of_class = ["class", *(name for name in ("id", "order") if name in types)]
    of_pair = ["a", "b", *told(engine)]

    def null(name: str) -> Column:
        return f.lit(None).cast(types[name]).alias(name)

    known = roots.join(classes, "class").select("root", *of_class, *map(null, of_pair))
    pairs = near.join(roots.withColumnRenamed("class", "a"), "a")
    pairs = pairs.select("root", *map(null, of_class), *of_pair)
    # Different chains can have the same hash. They are then settled together, which does not change the result.
    rows = known.union(pairs).withColumn("bucket", f.hash("root")).drop("root")
    made_of = tuple(sorted(options.items()))

    def settled_here(tables: Iterable[pa.Table]) -> Iterator[pa.RecordBatch]:
        engine = engine_of(made_of)
        for table in tables:
            is_class = table["class"].is_valid()
            found = table.filter(pc.invert(is_class))
            yield from settled(engine, table.filter(is_class), found).combine_chunks().to_batches()

    return by_bucket(rows, settled_here, outcome_schema(engine, classes), partitions)


def _roots(near: DataFrame, keep: Steps) -> DataFrame:
    """Returns a table with the columns `class` and `root`, one row for each class that is in a pair.

    Classes are the nodes of a graph, and the pairs in `near` are its edges. The root of a class is the smallest class
    in its connected component. The method is alternating large-star and small-star steps (R. Kiveris and others,
    "Connected Components in MapReduce and Beyond", SoCC 2014).
    """
    from pyspark.sql import functions as f

    links = near.select(f.col("b").alias("node"), f.col("a").alias("other"))
    for number in range(MOST_ROUNDS):
        both = links.union(links.select(f.col("other"), f.col("node")))
        least = both.groupBy("node").agg(f.min("other").alias("least"))
        least = least.select("node", f.least("node", "least").alias("least"))
        large = both.join(least, "node").where(f.col("other") > f.col("node"))
        large = large.select(f.col("other").alias("node"), f.col("least").alias("other")).distinct()
        large = keep(f"large-{number}", large)
        least = large.groupBy("node").agg(f.min("other").alias("least"))
        small = large.join(least, "node").where(f.col("other") > f.col("least"))
        small = small.select(f.col("other").alias("node"), f.col("least").alias("other"))
        links = keep(f"small-{number}", small.union(least).distinct())
        # The components are complete if no root has a link to a smaller node and each node has exactly one link.
        roots = links.select(f.col("other").alias("node")).distinct()
        is_done = links.join(roots, "node").count() == 0 and (
            links.count() == links.select("node").distinct().count()
        )
        if is_done:
            own = roots.select("node", f.col("node").alias("other"))
            return links.union(own).toDF("class", "root")
    raise ValueError(f"max_pairs: chains of pairs are longer than {MOST_ROUNDS} rounds follow: give more")


def removed(documents: DataFrame, classes: DataFrame, outcomes: DataFrame | None, engine: Engine) -> DataFrame:
    """Returns a row for each removed document: its `id`, the `kept_id` and the columns of `told`.

    `outcomes` has the rows of `settled`, or is None if there are no close pairs.
    """
    from pyspark.sql import functions as f

    keep, closeness = engine.keep, list(told(engine))

    def is_after(end: str) -> Column:
        if keep == "last":
            return f.col("id") < f.col(f"{end}_id")
        later = f.col("id") > f.col(f"{end}_id")
        if "order" not in documents.columns:
            return later
        order, other = f.col("order"), f.col(f"{end}_order")
        return (order > other) | ((order == other) & later)

    of_equal = {"similarity": 1.0, "distance": 0}
    equal = classes.where(f.col("count") > 1)
    equal = equal.select("class", f.col("id").alias("kept_id"), *(f.lit(of_equal[name]).alias(name) for name in closeness))
    if outcomes is not None:
        equal = equal.join(outcomes.select("class").distinct(), "class", "left_anti")
        types = dict(outcomes.dtypes)
        others = [f.lit(None).cast(types[name]).alias(name) for name in outcomes.columns[len(equal.columns) :]]
        equal = equal.select("*", *others).union(outcomes)
    removed = documents.join(equal, "class").where(f.col("id") != f.col("kept_id"))
    if outcomes is not None:
        in_reach = f.col("from_id").isNull() | is_after("from")
        removed = removed.where(in_reach & (f.col("until_id").isNull() | ~is_after("until")))
    return removed.select("id", "kept_id", *closeness)
