//! Adds up the costs of the stages of a plan.
//!
//! Samples of the collections measure reading, and making rows or terms. The later stages are not run:
//! each of them estimates its cost in its own room, from the amounts of the samples. The constants of
//! these costs were measured on one machine, so they are multiplied by the
//! [slowness](super::slowness) of this machine.

use super::slowness::Slowness;
use crate::method::Criterion;
use crate::output::shown_share;
use crate::pipeline::close_fingerprints::plan_ahead;
use crate::pipeline::kept_terms::kept_terms_cost;
use crate::pipeline::plan::Plan;
use crate::pipeline::shard_summary::NamesCost;
use crate::pipeline::verify::verify_cost;
use crate::sample::{Amounts, MethodSample, Sample};
use simtool_base::work_cost::WorkCost;
use simtool_hamming::close_by_chance::CloseByChance;
use simtool_hamming::planner::Plan as SearchPlan;
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;
use simtool_read::Collection;
use simtool_set_join::SetJoinCost;

/// Cost of an empty run: threads, a folder, a page, syncs. Ten million of the bytes are the pages of the
/// program itself.
const EMPTY_RUN: WorkCost = WorkCost { seconds: 0.01, bytes: 14e6 };

/// Estimated cost of a run.
pub(super) struct Cost {
    /// Seconds of wall time.
    pub(super) seconds: f64,
    /// Bytes of memory in addition to mapped files.
    pub(super) bytes: f64,
    /// The join, if fingerprints are joined.
    pub(super) join: Option<JoinCost>,
}

/// Estimated cost of a join of fingerprints.
pub(super) struct JoinCost {
    /// The plan of the join. `None` if the join uses bands, which need no plan.
    pub(super) plan: Option<SearchPlan>,
    /// Number of pairs that are close by chance.
    pub(super) pairs: f64,
    /// Seconds of wall time of the join, including the verification of its pairs.
    pub(super) seconds: f64,
}

/// Facts about a run that need no sample.
#[derive(Clone, Copy)]
pub(super) struct KnownFacts {
    pub(super) files: usize,
    /// Fraction of a complete reading that the report page can afford.
    pub(super) affordable_part: f64,
    pub(super) slowness: Slowness,
}

impl Cost {
    /// Estimates the cost of `plan` from the samples of its collections.
    pub(super) fn estimate(samples: &Sides<MethodSample>, facts: KnownFacts, plan: &Plan) -> Self {
        let amounts = Amounts::sum(samples.iter().map(|sample| sample.collection.amounts));
        let names = NamesCost::estimate(amounts.documents, amounts.id_bytes);
        let run = RunCost { samples, facts, plan, amounts, names };
        match plan.method().close() {
            Criterion::Similarity(threshold) => run.with_sets(threshold),
            Criterion::Distance(max_distance) => run.with_rows(max_distance),
        }
    }
}

/// Everything that the cost of a run depends on.
struct RunCost<'r> {
    samples: &'r Sides<MethodSample>,
    facts: KnownFacts,
    plan: &'r Plan,
    /// Sums of the amounts of all collections.
    amounts: Amounts,
    names: NamesCost,
}

impl RunCost<'_> {
    /// Adds the costs of a run that joins sets of terms.
    fn with_sets(&self, threshold: Threshold) -> Cost {
        let resources = self.plan.resources();
        let memory = resources.memory as f64;
        let sides = self.samples.as_ref().map(MethodSample::sets);
        let shares = MethodSample::term_shares(self.samples);
        let join = SetJoinCost::estimate(&sides, shares, threshold, resources.isa);
        let kept = kept_terms_cost(
            self.sum(|sample| sample.amounts.terms * sample.expensive_share),
            memory,
        );
        let weighing = self.plan.method().recipe().terms().weighing_cost(self.amounts.terms);
        // Texts that are cheap to read are read again. Terms are made again only of those documents that
        // are compared.
        let again = self.amounts.read_seconds - self.sum(|sample| sample.expensive_seconds);
        let made_again = join.compared_share
            * self.sum(|sample| sample.amounts.make_seconds * (1.0 - sample.expensive_share));
        let reading_bytes = self.reader_bytes() + join.reading_bytes.min(memory - kept.bytes);
        let comparing_bytes = join.comparing_bytes.min(memory - kept.bytes);
        Cost {
            seconds: self.base_seconds()
                + self.reading_seconds(again + made_again)
                + self.joining_seconds(join.seconds + kept.seconds + weighing.seconds),
            bytes: self.base_bytes()
                + kept.bytes
                + reading_bytes.max(comparing_bytes).max(weighing.bytes),
            join: None,
        }
    }

    /// Adds the costs of a run that joins fingerprints.
    fn with_rows(&self, max_distance: u32) -> Cost {
        let method = self.plan.method();
        let row_bytes = self.amounts.documents * method.recipe().row_bytes() as f64;
        let join_plan = self.join_plan();
        let join = join_plan.as_ref().and_then(SearchPlan::cost);
        let by_chance = self.close_by_chance(max_distance);
        let pairs = by_chance.cost();
        let verifying = self.verifying_cost(by_chance);
        let join_seconds = join.map_or(0.0, |join| join.seconds);
        let seconds = self.joining_seconds(join_seconds + pairs.seconds) + verifying.seconds;
        // Rows are gathered by shard, as names are, and joined when the names are together.
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
            join: Some(JoinCost { plan: join_plan, pairs: by_chance.pairs, seconds }),
        }
    }

    /// Returns the seconds of the stages that every run has.
    fn base_seconds(&self) -> f64 {
        let files = Collection::FILE_COST.times(self.facts.files as f64);
        let readings = if self.plan.method().recipe().terms().is_learned() { 2.0 } else { 1.0 };
        EMPTY_RUN.seconds
            + self.facts.slowness.others * (files.seconds + self.names.seconds)
            + readings * self.reading_seconds(self.amounts.seconds())
            + self.report_seconds()
    }

    /// Returns the bytes of the stages that every run has.
    fn base_bytes(&self) -> f64 {
        let files = Collection::FILE_COST.times(self.facts.files as f64);
        EMPTY_RUN.bytes + files.bytes + self.names.merging_bytes
    }

    /// Returns the seconds for reading the texts of the report page again.
    fn report_seconds(&self) -> f64 {
        let seconds = self.samples.iter().map(|sample| {
            let sample = &sample.collection;
            let share = shown_share(sample.expensive_shards, self.facts.affordable_part);
            self.reading_seconds(sample.expensive_seconds * share)
        });
        seconds.sum()
    }

    /// Returns the wall time of a reading that takes these seconds of one core. A single shard that is
    /// most of the work is read by one thread, however many there are.
    fn reading_seconds(&self, seconds: f64) -> f64 {
        let longest = self.samples.iter().map(|sample| sample.collection.longest_seconds);
        let longest = longest.fold(0.0, f64::max);
        let alone = longest * seconds / self.amounts.seconds().max(f64::MIN_POSITIVE);
        (seconds / self.threads()).max(alone.min(seconds))
    }

    /// Returns the wall time of a join that takes these seconds of one core.
    fn joining_seconds(&self, seconds: f64) -> f64 {
        self.facts.slowness.joins * seconds / self.threads()
    }

    /// Returns the bytes of all readers at the same time.
    fn reader_bytes(&self) -> f64 {
        let bytes = self.samples.iter().map(|sample| {
            let readers = self.plan.resources().threads.min(sample.collection.shards);
            sample.collection.reader_memory.of_readers(readers)
        });
        bytes.fold(0.0, f64::max)
    }

    /// Estimates the cost of reading the texts of close fingerprints again and comparing them, if the
    /// method does so. The seconds are wall time.
    fn verifying_cost(&self, close: CloseByChance) -> WorkCost {
        if self.plan.method().verify().is_none() {
            return WorkCost::default();
        }
        let Amounts { documents, terms, read_seconds, make_seconds, .. } = self.amounts;
        let compared = close.pairs * terms / documents.max(1.0);
        let memory = self.plan.resources().memory as f64;
        let cost = verify_cost(compared, terms * close.document_share, memory);
        let reading = self.reading_seconds(read_seconds + make_seconds * close.document_share);
        WorkCost { seconds: reading + self.joining_seconds(cost.seconds), ..cost }
    }

    /// Plans the join of the fingerprints.
    #[expect(clippy::cast_sign_loss, reason = "no number of documents is negative")]
    fn join_plan(&self) -> Option<SearchPlan> {
        let count = |sample: &MethodSample| sample.collection.amounts.documents.round() as usize;
        let counts = self.samples.as_ref().map(count);
        let sampled = self.samples.second().rows.as_ref();
        plan_ahead(counts, sampled, self.plan.method(), self.plan.resources().memory)
    }

    /// Estimates the pairs of fingerprints that are close by chance.
    fn close_by_chance(&self, max_distance: u32) -> CloseByChance {
        let counts = self.samples.as_ref().map(|sample| sample.collection.amounts.documents);
        let pairs = match counts {
            Sides::One(corpus) => corpus * corpus / 2.0,
            Sides::Two(queries, corpus) => queries * corpus,
        };
        let rows = self.samples.second().rows.as_ref();
        rows.map(|rows| CloseByChance::estimate(rows, max_distance, pairs)).unwrap_or_default()
    }

    /// Returns the sum of a number over the collections.
    fn sum(&self, number: fn(&Sample) -> f64) -> f64 {
        self.samples.iter().map(|sample| number(&sample.collection)).sum()
    }

    fn threads(&self) -> f64 {
        self.plan.resources().threads as f64
    }
}
