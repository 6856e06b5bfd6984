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

# Number of documents from which the common terms are learned if `sample` is 0.
SAMPLED = 20_000
# Number of sampled documents whose terms one task counts.
COUNTED = 5_000
# Number of terms whose counts a task holds before it returns them.
MOST_HELD = 1_000_000
# Maximum number of terms that are sent to each task if there is no `work_dir`. On Connect, the plan of a step that is
# not stored in files includes the data for its tasks, and a message has at most 128 MB.
FEW_TERMS = 250_000


class Learned(NamedTuple):
    """The learned models. None means that no model is needed.

    `of_keys` is the model for fingerprints or, in a method without fingerprints, for the order of the terms of sets.
    `of_texts` is the model for comparing texts.
    """

    of_keys: bytes | None
    of_texts: bytes | None


def learned(rows: DataFrame, options: dict[str, Any], sample: int, keep: Steps, max_terms: int) -> Learned:
    """Learns the models that the options need, from the texts of `rows`.

    An order of terms is learned from about `sample` texts (20,000 for 0), because the results are the same with every
    order.
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
    """Returns the texts of about `most` documents, chosen by the hash of their ids, with `COUNTED` in a partition."""
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
        # Most terms of a sample are in only one of its documents. They are left out, because they count as rare
        # without an entry too.
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
        # Among terms with equal counts, the first are taken. For an order of terms, these are the first by hash, so
        # that the chosen terms are spread over the whole table.
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
