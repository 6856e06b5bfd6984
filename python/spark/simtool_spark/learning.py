"""Learning from the whole collection: tasks count terms, the engine adds the counts, and the package builds a
model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from simtool._simtool import Learner
from simtool_spark.transfer import Batches, Steps, collect, in_tasks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Number of documents from which common terms are learned if no sample is given.
SAMPLED = 20_000
# Number of these documents that one task counts.
COUNTED = 5_000
# Number of terms whose counts a task holds before it returns them.
MOST_HELD = 1_000_000
# Number of terms that go to each task if steps are not files. On Connect every step that is not a file
# carries the data of its tasks along, in messages of up to 128 MB.
FEW_TERMS = 250_000


class Learned(NamedTuple):
    """The models: `of_keys` for the fingerprints or the order of the terms of sets, `of_texts` for comparing
    texts.
    """

    of_keys: bytes | None
    of_texts: bytes | None


def learned(rows: DataFrame, options: dict[str, Any], sample: int, keep: Steps, max_terms: int) -> Learned:
    """Learns the models for the options from the texts of `rows`. If any order of terms will do, a `sample`
    of the texts is used.
    """
    models: dict[str | None, bytes | None] = {None: None}

    def model(of_texts: bool) -> bytes | None:
        learner = Learner(of_texts, **options)
        if learner.recipe not in models:
            known = _sampled(rows, sample or SAMPLED) if learner.is_order else rows
            models[learner.recipe] = _model(known, of_texts, options, keep, max_terms)
        return models[learner.recipe]

    of_texts = model(True)
    return Learned(model(False), of_texts)


def _sampled(rows: DataFrame, most: int) -> DataFrame:
    """Returns the texts of about `most` documents, chosen by hash from the whole collection, in few partitions."""
    from pyspark.sql import functions as f

    share = rows.count() // most
    sample = rows if share <= 1 else rows.where(f.pmod(f.hash("id"), f.lit(share)) == 0)
    return sample.select("text").repartition(-(-most // COUNTED))


def _model(rows: DataFrame, of_texts: bool, options: dict[str, Any], keep: Steps, max_terms: int) -> bytes:
    from pyspark.sql import functions as f

    def counts(learner: Learner) -> pa.RecordBatch:
        counted = pa.table(learner.take())
        terms = counted["term"].combine_chunks()
        is_of_words = pa.types.is_large_string(terms.type)
        terms = terms.cast(pa.string()) if is_of_words else terms.view(pa.int64())
        counted = pa.record_batch({"term": terms, "count": counted["count"].combine_chunks().view(pa.int64())})
        # Most terms of a sample are in one document of it. They are as rare as unknown terms, so they are
        # left out.
        return counted.filter(pc.greater(counted["count"], 1)) if learner.is_order else counted

    def counted(batches: Batches) -> Iterator[pa.RecordBatch]:
        learner = Learner(of_texts, **options)
        for batch in batches:
            if learner.add(batch.column(0)) > MOST_HELD:
                yield counts(learner)
        yield counts(learner)

    learner = Learner(of_texts, **options)
    kind = "string" if pa.types.is_string(counts(learner).schema.field("term").type) else "long"
    sums = in_tasks(rows.select("text"), counted, f"term {kind}, count long")
    sums = sums.groupBy("term").agg(f.sum("count").alias("count"))
    if learner.most is not None:
        # Among equal counts the first terms are taken. If any order will do, the order of hashes spreads the
        # terms over the table.
        first = f.hash("term") if learner.is_order else f.col("term")
        found = collect(sums.where("term IS NOT NULL").orderBy(f.desc("count"), first).limit(learner.most))
        return learner.learned(found["term"], found["count"], 0)
    # A term of a single document counts as an unknown term, so it is left out.
    known = keep("texts-terms" if of_texts else "terms", sums.where("count > 1 OR term IS NULL"))
    number = known.count()
    if keep.work_dir is None and FEW_TERMS < number <= max_terms:
        raise ValueError(
            f"{number:,} terms are in several documents, and their counts go to each task: more than "
            f"{FEW_TERMS:,} need a work_dir"
        )
    if number > max_terms:
        raise ValueError(
            f"{number:,} terms are in several documents: more than max_terms {max_terms:,}. Their counts go to each "
            "task, at 16 bytes each. Give a greater max_terms if the engine accepts messages of that size, or a "
            "weight that is not learned"
        )
    known = collect(known)
    is_term = known["term"].is_valid()
    documents = pc.sum(known.filter(pc.invert(is_term))["count"]).as_py() or 0
    known = known.filter(is_term)
    return learner.learned(known["term"], known["count"], documents)
