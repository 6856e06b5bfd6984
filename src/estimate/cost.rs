//! Adds up the costs of the stages of a plan.
//!
//! Samples of the collections measure the time for reading texts and for making rows or terms of them.
//! A row is the fingerprint of one document. The later stages are not run. The module of each later
//! stage estimates its cost from the amounts that the samples estimate. The constants of these costs
//! were measured on one machine, so the costs are multiplied by the [slowness](super::slowness) of this
//! machine.

use super::slowness::Slowness;
use crate::method::Criterion;
use crate::output::shown_share;
use crate::pipeline::close_fingerprints::plan_ahead;
use crate::pipeline::excerpts::excerpts_cost;
use crate::pipeline::kept_documents::kept_documents_bytes;
use crate::pipeline::kept_terms::{TERM_BYTES, are_unpacked_kept, kept_terms_cost, memory_share};
use crate::pipeline::plan::Plan;
use crate::pipeline::shard_summary::NamesCost;
use crate::pipeline::verify::verify_cost;
use crate::sample::{Amounts, MethodSample, PricedPart, Sample};
use simtool_base::work_cost::WorkCost;
use simtool_coverage::coverage_cost;
use simtool_hamming::close_by_chance::CloseByChance;
use simtool_hamming::planner::JoinPlan;
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;
use simtool_read::Collection;
use simtool_set_join::SetJoinCost;
use simtool_set_join::kept_pairs::MANY_PAIRS;

/// Cost of a run without documents: starting threads, creating a folder, writing a report page and syncing files. 10 MB
/// of its 14 MB are the memory pages of the program itself.
const EMPTY_RUN: WorkCost = WorkCost { seconds: 0.01, bytes: 14e6 };

/// Number of times that texts are read for comparing documents that do not fit in memory. They come in batches, and each
/// batch is compared with the kept documents and with itself.
const STREAMED_READINGS: f64 = 6.0;

/// Seconds of one core for each byte of text whose common lines are left out. The lines are hashed and counted, and texts
/// that are expensive to read are written to a temporary file and read from it.
const SECONDS_A_COUNTED_BYTE: f64 = 11e-9;

/// Estimated cost of a run.
pub(super) struct Cost {
    /// Seconds of wall time that the whole run takes.
    pub(super) seconds: f64,
    /// Bytes of memory in addition to mapped files.
    pub(super) bytes: f64,
    /// Bytes of temporary files.
    pub(super) temporary_bytes: f64,
    /// Bytes of the terms or fingerprints of all documents, with the names of the documents.
    pub(super) stored_bytes: f64,
    /// Cost of the join. `None` if the run joins no fingerprints.
    pub(super) join: Option<FingerprintJoinCost>,
}

/// Estimated cost of a join of fingerprints.
pub(super) struct FingerprintJoinCost {
    /// Plan of the join. `None` if the join uses LSH bands, which need no plan.
    pub(super) plan: Option<JoinPlan>,
    /// Number of pairs of fingerprints that are close although their documents are not similar.
    pub(super) pairs: f64,
    /// Seconds of wall time of the join, including the verification of its pairs.
    pub(super) seconds: f64,
}

/// Estimated cost of verifying close fingerprints.
#[derive(Clone, Copy, Default)]
struct VerifyingCost {
    /// Seconds of wall time on this machine, unlike the seconds of a [`WorkCost`].
    wall_seconds: f64,
    /// Bytes of memory that the verification needs.
    bytes: f64,
}

/// Data for the estimate that need no sample: number of files, budget for reading texts again, and slowness of this
/// machine.
#[derive(Clone, Copy)]
pub(super) struct KnownFacts {
    pub(super) files: usize,
    /// Maximum cost of reading texts again for the report page, as a fraction of the cost of reading all input.
    pub(super) affordable_part: f64,
    pub(super) slowness: Slowness,
}

impl KnownFacts {
    /// Returns the same facts, with the lesser slowness of two measurements. It is less likely that another program slowed
    /// both of them.
    pub(super) fn measured_again(self) -> Self {
        Self { slowness: self.slowness.min(Slowness::measured()), ..self }
    }
}

impl Cost {
    /// Estimates the cost of a run of `plan`. `samples` has a sample of each collection.
    pub(super) fn estimate(samples: &Sides<MethodSample>, facts: KnownFacts, plan: &Plan) -> Self {
        let amounts = Amounts::sum(samples.iter().map(|sample| sample.collection.amounts));
        let names = NamesCost::estimate(amounts.documents, amounts.id_bytes);
        let run = RunCost { samples, facts, plan, amounts, names };
        match plan.method().close() {
            Criterion::Similarity(threshold) => run.with_sets(threshold),
            Criterion::Distance(max_distance) => run.with_rows(max_distance),
            Criterion::Coverage => run.with_coverage(),
        }
    }
}

/// Inputs of the estimated cost of a run: samples, plan and known facts.
struct RunCost<'r> {
    samples: &'r Sides<MethodSample>,
    facts: KnownFacts,
    plan: &'r Plan,
    /// Sum of the amounts of all collections, for example their number of documents.
    amounts: Amounts,
    names: NamesCost,
}

impl RunCost<'_> {
    /// Returns the cost of a run that joins sets of terms. It includes the stages that every run has.
    fn with_sets(&self, threshold: Threshold) -> Cost {
        let resources = self.plan.resources();
        let memory = resources.memory as f64;
        let sides = self.samples.as_ref().map(MethodSample::sets);
        let shares = MethodSample::term_shares(self.samples);
        let join = SetJoinCost::estimate(&sides, shares, threshold, resources.isa);
        let kept = kept_terms_cost(self.kept_terms(), memory);
        let weighing = self.plan.method().recipe().terms().weighing_cost(self.amounts.terms);
        // Texts that are cheap to read are read again for the join. Terms are made again only of the
        // documents that are compared, unless all documents are read again to drop some.
        let read =
            self.amounts.read_seconds - self.sum(|sample| self.kept_part(sample).read_seconds);
        let made = self
            .sum(|sample| sample.amounts.make_seconds * (1.0 - self.kept_part(sample).text_share));
        let for_dropping = if join.is_read_again { read + made } else { 0.0 };
        let left = memory - kept.bytes;
        let readings = if join.is_streamed(left) { STREAMED_READINGS } else { 1.0 };
        let again = for_dropping + read * readings + made * join.compared_share;
        let reading_bytes = self.reader_bytes() + join.reading_bytes(left).min(left);
        let comparing_bytes = join.comparing_bytes(left) + join.pairs_bytes(self.most_pairs());
        let comparing_bytes = comparing_bytes.min(left);
        let stages = kept.bytes + reading_bytes.max(comparing_bytes).max(weighing.bytes);
        Cost {
            seconds: self.base_seconds()
                + self.reading_seconds(again)
                + self.joining_seconds(join.seconds + kept.seconds + weighing.seconds),
            bytes: self.within_limit(stages),
            temporary_bytes: self.temporary_text_bytes(),
            stored_bytes: self.names.bytes + TERM_BYTES as f64 * self.amounts.terms,
            join: None,
        }
    }

    /// Returns the bytes of memory of a run whose stages, which share the memory that the limit allows, take `stages` bytes.
    /// Only the memory that every run needs can exceed the limit.
    fn within_limit(&self, stages: f64) -> f64 {
        let base = self.base_bytes();
        (base + stages).min(self.plan.resources().memory as f64).max(base)
    }

    /// Returns the cost of a run that looks for the words of documents in other documents.
    fn with_coverage(&self) -> Cost {
        let memory = self.plan.resources().memory as f64;
        let kept = kept_terms_cost(self.kept_terms(), memory);
        let search = coverage_cost(self.amounts.terms);
        // All texts are read once more, except those whose terms are kept.
        let again = self.sum(|sample| {
            let Amounts { read_seconds, make_seconds, .. } = sample.amounts;
            (read_seconds + make_seconds) * (1.0 - self.kept_part(sample).text_share)
        });
        Cost {
            seconds: self.base_seconds()
                + self.reading_seconds(again)
                + self.joining_seconds(search.seconds + kept.seconds),
            bytes: self.within_limit(self.reader_bytes() + kept.bytes + search.bytes),
            temporary_bytes: self.temporary_text_bytes(),
            stored_bytes: self.names.bytes + TERM_BYTES as f64 * self.amounts.terms,
            join: None,
        }
    }

    /// Returns the cost of a run that joins fingerprints. It includes the stages that every run has.
    fn with_rows(&self, max_distance: u32) -> Cost {
        let method = self.plan.method();
        let row_bytes = self.amounts.documents * method.recipe().row_bytes() as f64;
        let join_plan = self.join_plan();
        let join = join_plan.as_ref().and_then(JoinPlan::cost);
        let by_chance = self.close_by_chance(max_distance);
        let kept = CloseByChance { pairs: by_chance.pairs.min(self.most_pairs()), ..by_chance };
        let pairs = kept.cost();
        let verifying = self.verifying_cost(by_chance);
        let join_seconds = join.map_or(0.0, |join| join.seconds);
        let seconds = self.joining_seconds(join_seconds + pairs.seconds) + verifying.wall_seconds;
        // Rows, like names, are gathered by shard. The join begins when the names are together, so the
        // additional memory for putting them together is free again.
        let join_bytes = join.map_or(0.0, |join| join.bytes as f64)
            - (self.names.merging_bytes - self.names.bytes);
        Cost {
            seconds: self.base_seconds() + seconds,
            bytes: self.base_bytes()
                + self.reader_bytes()
                + row_bytes
                + row_bytes.max(join_bytes)
                + pairs.bytes
                + verifying.bytes,
            temporary_bytes: self
                .kept_text_bytes()
                .max(join_plan.as_ref().map_or(0.0, JoinPlan::temporary_bytes)),
            stored_bytes: self.names.bytes + row_bytes,
            join: Some(FingerprintJoinCost { plan: join_plan, pairs: by_chance.pairs, seconds }),
        }
    }

    /// Returns the part of a collection whose terms are kept when it is read for the first time, so that it is not read
    /// again.
    fn kept_part(&self, sample: &Sample) -> PricedPart {
        let memory = self.plan.resources().memory;
        if are_unpacked_kept(self.amounts.terms, memory) {
            sample.packed()
        } else {
            sample.expensive
        }
    }

    /// Returns the number of terms that are kept when they are read for the first time.
    fn kept_terms(&self) -> f64 {
        self.sum(|sample| sample.amounts.terms * self.kept_part(sample).text_share)
    }

    /// Returns the bytes of temporary files for texts that are expensive to read. If common lines are left out, the
    /// files hold the texts, and otherwise the terms that do not fit in memory.
    fn temporary_text_bytes(&self) -> f64 {
        if self.plan.boilerplate().is_some() {
            return self.kept_text_bytes();
        }
        let terms = self.kept_terms();
        // The rest of the memory is for the join.
        let in_memory = memory_share(self.plan.resources().memory) as f64;
        (TERM_BYTES as f64 * terms - in_memory).max(0.0)
    }

    /// Returns the bytes of temporary files for texts that are expensive to read. This is 0 unless common lines are
    /// left out.
    fn kept_text_bytes(&self) -> f64 {
        let bytes = self.sum(|sample| sample.amounts.text_bytes * sample.expensive.text_share);
        if self.plan.boilerplate().is_some() { kept_documents_bytes(bytes) } else { 0.0 }
    }

    /// Returns the seconds of wall time for the stages that every run has, such as reading the input.
    fn base_seconds(&self) -> f64 {
        let files = Collection::FILE_COST.times(self.facts.files as f64);
        let readings = if self.plan.method().recipe().terms().is_learned() { 2.0 } else { 1.0 };
        EMPTY_RUN.seconds
            + self.facts.slowness.others * (files.seconds + self.names.seconds)
            + readings * self.reading_seconds(self.amounts.seconds())
            + self.reading_seconds(self.counting_lines_seconds())
            + self.report_seconds()
    }

    /// Returns the seconds of one core for counting the lines of all documents. This is 0 unless common lines are left
    /// out.
    fn counting_lines_seconds(&self) -> f64 {
        let of_line_bytes = SECONDS_A_COUNTED_BYTE * self.amounts.text_bytes;
        if self.plan.boilerplate().is_some() { of_line_bytes } else { 0.0 }
    }

    /// Returns the bytes of memory for the stages that every run has, without the memory of the
    /// readers.
    fn base_bytes(&self) -> f64 {
        let files = Collection::FILE_COST.times(self.facts.files as f64);
        let expensive = self.sum(|sample| sample.amounts.documents * sample.packed().text_share);
        let excerpts = excerpts_cost(expensive, self.plan.resources().memory);
        EMPTY_RUN.bytes + files.bytes + self.names.merging_bytes + excerpts
    }

    /// Returns the seconds of wall time for reading again the texts that the report page shows.
    fn report_seconds(&self) -> f64 {
        let seconds = self.samples.iter().map(|sample| {
            let sample = &sample.collection;
            let PricedPart { read_seconds, shards, .. } = sample.packed();
            self.reading_seconds(read_seconds * shown_share(shards, self.facts.affordable_part))
        });
        seconds.sum()
    }

    /// Converts `seconds` of one core for reading texts to seconds of wall time. If a single shard is
    /// most of the work, its time is the minimum, because only one thread can read a shard.
    fn reading_seconds(&self, seconds: f64) -> f64 {
        let longest = self.samples.iter().map(|sample| sample.collection.longest_seconds);
        let longest = longest.fold(0.0, f64::max);
        let alone = longest * seconds / self.amounts.seconds().max(f64::MIN_POSITIVE);
        (seconds / self.threads()).max(alone.min(seconds))
    }

    /// Converts `seconds` of one core for a join to seconds of wall time. `seconds` come from the
    /// constants of the cost model, so they are multiplied by the slowness of this machine.
    fn joining_seconds(&self, seconds: f64) -> f64 {
        self.facts.slowness.joins * seconds / self.threads()
    }

    /// Returns the bytes of memory that all reading threads take together, for the collection that
    /// needs most.
    fn reader_bytes(&self) -> f64 {
        let bytes = self.samples.iter().map(|sample| {
            let readers = self.plan.resources().threads.min(sample.collection.shards);
            sample.collection.reader_memory.of_readers(readers)
        });
        bytes.fold(0.0, f64::max)
    }

    /// Estimates the cost of verifying close fingerprints: their documents are read again and compared.
    /// The cost is zero if the method verifies nothing.
    fn verifying_cost(&self, close: CloseByChance) -> VerifyingCost {
        if self.plan.method().verify().is_none() {
            return VerifyingCost::default();
        }
        let Amounts { documents, terms, read_seconds, make_seconds, .. } = self.amounts;
        let compared = close.pairs * terms / documents.max(1.0);
        let memory = self.plan.resources().memory as f64;
        let cost = verify_cost(compared, terms * close.document_share, memory);
        let reading = self.reading_seconds(read_seconds + make_seconds * close.document_share);
        let wall_seconds = reading + self.joining_seconds(cost.seconds);
        VerifyingCost { wall_seconds, bytes: cost.bytes }
    }

    /// Returns the greatest number of pairs for which a run keeps all pairs. With more pairs, it keeps only those that
    /// decide which documents stay. The number is infinite if the run must keep all pairs.
    fn most_pairs(&self) -> f64 {
        if self.plan.deciding_rule().is_some() { MANY_PAIRS as f64 } else { f64::INFINITY }
    }

    /// Plans the join of the fingerprints. Returns `None` if there is no plan, for example because the
    /// join uses LSH bands.
    #[expect(clippy::cast_sign_loss, reason = "no number of documents is negative")]
    fn join_plan(&self) -> Option<JoinPlan> {
        let count = |sample: &MethodSample| sample.collection.amounts.documents.round() as usize;
        let counts = self.samples.as_ref().map(count);
        let sampled = self.samples.second().rows.as_ref();
        plan_ahead(counts, sampled, self.plan.method(), self.plan.resources().memory)
    }

    /// Estimates how many fingerprints are close although their documents are not similar.
    fn close_by_chance(&self, max_distance: u32) -> CloseByChance {
        let counts = self.samples.as_ref().map(|sample| sample.collection.amounts.documents);
        let pairs = match counts {
            Sides::One(corpus) => corpus * corpus / 2.0,
            Sides::Two(queries, corpus) => queries * corpus,
        };
        let rows = self.samples.second().rows.as_ref();
        rows.map(|rows| CloseByChance::estimate(rows, max_distance, pairs)).unwrap_or_default()
    }

    /// Adds up `number`, a function of a sample, over the samples of all collections.
    fn sum(&self, number: impl Fn(&Sample) -> f64) -> f64 {
        self.samples.iter().map(|sample| number(&sample.collection)).sum()
    }

    fn threads(&self) -> f64 {
        self.plan.resources().threads as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::config::Config;
    use crate::pipeline::plan::Task;
    use crate::sample::Budget;
    use simtool_read::Texts;

    #[test]
    fn the_memory_of_fingerprints_counts_twice_while_they_are_put_together() {
        const DOCUMENTS: f64 = 1e6;
        let bytes = |method: &str| {
            let config = Config { method: method.parse().unwrap(), ..Config::default() };
            let plan = Plan::new(config, Task::Deduplicate).unwrap();
            let texts = Texts::of(&["one two three"]);
            let budget = Budget::Bytes(1e6);
            let mut sample = MethodSample::read(&texts, plan.method(), plan.resources(), budget);
            sample.collection.amounts.documents = DOCUMENTS;
            sample.rows = None;
            let slowness = Slowness { joins: 1.0, others: 1.0 };
            let facts = KnownFacts { files: 1, affordable_part: 1.0, slowness };
            Cost::estimate(&Sides::One(sample), facts, &plan).bytes
        };
        let (narrow, wide) = (bytes("simhash:bits=64"), bytes("simhash:bits=512"));
        // The fingerprints of the second method have 56 bytes more.
        assert!((wide - narrow) / DOCUMENTS >= 2.0 * 56.0, "{wide} bytes, {narrow} bytes");
    }
}
