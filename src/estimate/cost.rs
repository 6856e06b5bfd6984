//! Estimates time and memory of a plan from a sample of the collection.
//!
//! The sample measures reading and making rows or terms. The later stages are not run. Their costs
//! are constants, which were measured with both threads of a 2-core AMD EPYC in November 2026, and
//! are multiplied by the [slowness](super::slowness) of this machine.

use super::slowness::Slowness;
use crate::method::Criterion;
use crate::pipeline::plan::Plan;
use crate::sample::{MethodSample, Sample};
use crate::write::report::EXAMPLES;
use simtool_hamming::layout::Layout;
use simtool_hamming::planner::Plan as SearchPlan;
use simtool_hamming::workload::{Task as SearchTask, Workload};
use simtool_model::sides::Sides;
use simtool_set_join::SetJoinCost;

/// Seconds of one core for each term that is kept in new memory and visited once more. Measured as the
/// difference between packed pages and the same pages as plain text.
const SECONDS_A_KEPT_TERM: f64 = 10e-9;
/// Seconds of one core for each term that has a weight, if shingles consist of words.
const SECONDS_A_WEIGHED_TERM: f64 = 150e-9;
/// Seconds for each file: to find it, recognize its format, and list it on the page.
const SECONDS_A_FILE: f64 = 6e-6;
/// Seconds for each document, in names, clusters and outputs.
const SECONDS_A_DOCUMENT: f64 = 0.2e-6;
/// Seconds of an empty run: threads, a folder, a page, syncs.
const SECONDS_OF_NOTHING: f64 = 0.01;
/// Seconds of one core, and bytes, to keep, sort and name a pair of fingerprints.
const PAIR: (f64, f64) = (100e-9, 60.0);
/// Seconds of one core for each term of a text that is compared with another text.
const SECONDS_A_VERIFIED_TERM: f64 = 2e-9;
/// Bytes for each different term of the texts that are compared.
const BYTES_A_VERIFIED_TERM: f64 = 8.0;

/// Bytes of an empty run. Ten million of them are the pages of the program itself.
const BYTES_OF_NOTHING: f64 = 14e6;
/// Bytes for each file: its paths, its state when it was found, and the summary of its reading.
const BYTES_A_FILE: f64 = 900.0;
/// Bytes for each document in addition to its ID: the end of the ID, the record, the length.
const BYTES_A_NAME: f64 = 12.0;
/// Number of copies of all names in memory while the names of shards are put together.
const TIMES_OF_NAMES: f64 = 1.5;
/// Bytes for each term that has a weight.
const BYTES_A_WEIGHED_TERM: f64 = 40.0;
/// Bytes for each kept term of input that is expensive to read: its hash, and room to grow.
const BYTES_A_KEPT_TERM: f64 = 9.0;

/// Seconds of the run, and bytes in addition to mapped files.
pub(super) struct Cost {
    pub(super) seconds: f64,
    pub(super) bytes: f64,
    /// Pairs of close fingerprints, and seconds of these that their join takes, if fingerprints are
    /// joined.
    pub(super) join: Option<(f64, f64)>,
}

/// Facts about a run that need no sample.
#[derive(Clone, Copy)]
pub(super) struct KnownFacts {
    pub(super) files: usize,
    /// Fraction of a complete reading that the page can afford.
    pub(super) affordable_part: f64,
    pub(super) slowness: Slowness,
}

/// Estimates the cost of `plan` from the samples of its collections.
pub(super) fn of(samples: &Sides<MethodSample>, facts: KnownFacts, plan: &Plan) -> Cost {
    let resources = plan.resources();
    let (threads, memory) = (resources.threads as f64, resources.memory as f64);
    let sum =
        |of: fn(&Sample) -> f64| samples.iter().map(|sample| of(&sample.collection)).sum::<f64>();
    let documents = sum(|sample| sample.amounts.documents);
    let terms = sum(|sample| sample.amounts.terms);
    let read = sum(|sample| sample.amounts.read_seconds);
    let make = sum(|sample| sample.amounts.make_seconds);
    let longest =
        samples.iter().map(|sample| sample.collection.longest_seconds).fold(0.0, f64::max);
    // A single shard that is most of the work is read by one thread, however many there are.
    let shared = |seconds: f64| {
        let alone = longest * seconds / (read + make).max(f64::MIN_POSITIVE);
        (seconds / threads).max(alone.min(seconds))
    };
    let slowness = facts.slowness;
    // The texts on the page are read once more. In a file that is expensive to read, everything before
    // a text is read again, too, within the budget of the page.
    let shown: f64 = samples
        .iter()
        .map(|sample| {
            let sample = &sample.collection;
            let few = 2.0 * EXAMPLES as f64 / sample.expensive_shards.max(1.0);
            shared(sample.expensive_seconds * few.min(facts.affordable_part))
        })
        .sum();
    let seconds = SECONDS_OF_NOTHING
        + shown
        + slowness.of_others * facts.files as f64 * SECONDS_A_FILE
        + slowness.of_others * documents * SECONDS_A_DOCUMENT
        + shared(read + make);

    let names = sum(|sample| sample.amounts.id_bytes) + documents * BYTES_A_NAME;
    let readers = samples.iter().map(|sample| {
        let count = resources.threads.min(sample.collection.shards);
        sample.collection.reader_memory.of_readers(count)
    });
    let readers = readers.fold(0.0, f64::max);
    // Names are gathered by shard and then put together, shard by shard.
    let bytes = BYTES_OF_NOTHING + facts.files as f64 * BYTES_A_FILE + TIMES_OF_NAMES * names;

    let is_learned = plan.method().recipe().terms().is_learned();
    let learned = if is_learned { shared(read + make) } else { 0.0 };
    match plan.method().close() {
        Criterion::Similarity(threshold) => {
            let sides = samples.as_ref().map(MethodSample::sets);
            let shares = MethodSample::term_shares(samples);
            let join = SetJoinCost::estimate(&sides, shares, threshold, plan.resources().isa);
            let compared = join.compared_share;
            let kept_terms = sum(|s| s.amounts.terms * s.expensive_share);
            let kept = (kept_terms * BYTES_A_KEPT_TERM).min(memory / 3.0);
            let reading = join.reading_bytes.min(memory - kept);
            let comparing = join.comparing_bytes.min(memory - kept);
            let weighed = if is_learned { terms } else { 0.0 };
            let again = read - sum(|sample| sample.expensive_seconds);
            let made_again = sum(|s| s.amounts.make_seconds * (1.0 - s.expensive_share)) * compared;
            Cost {
                seconds: seconds
                    + learned
                    + shared(again + made_again)
                    + slowness.of_joins * join.seconds / threads
                    + slowness.of_joins * kept_terms * SECONDS_A_KEPT_TERM / threads
                    + slowness.of_joins * weighed * SECONDS_A_WEIGHED_TERM / threads,
                bytes: bytes
                    + kept
                    + (readers + reading).max(comparing).max(weighed * BYTES_A_WEIGHED_TERM),
                join: None,
            }
        }
        Criterion::Distance(max_distance) => {
            let row = plan.method().recipe().row_bytes() as f64;
            let join = join_plan(samples, plan);
            let chosen = join
                .as_ref()
                .and_then(|join| join.costs.iter().find(|cost| cost.join == join.join));
            let (join_seconds, join_bytes) =
                chosen.map_or((0.0, 0.0), |cost| (cost.seconds, cost.bytes as f64));
            let ByChance { pairs, share } = by_chance(samples, max_distance);
            let (mut of_pairs, mut pair_bytes) = (pairs * PAIR.0, pairs * PAIR.1);
            let mut verified = 0.0;
            if plan.method().verify().is_some() {
                let terms_each = terms / documents.max(1.0);
                of_pairs += pairs * terms_each * SECONDS_A_VERIFIED_TERM;
                pair_bytes += (terms * share * BYTES_A_VERIFIED_TERM).min(memory / 2.0);
                verified = shared(read + make * share);
            }
            let joined = verified + slowness.of_joins * (join_seconds + of_pairs) / threads;
            Cost {
                seconds: seconds + learned + joined,
                // Rows are gathered by shard too; they are joined when the names are together.
                bytes: bytes
                    + readers
                    + documents * row
                    + (documents * row).max(join_bytes - (TIMES_OF_NAMES - 1.0) * names)
                    + pair_bytes,
                join: Some((pairs, joined)),
            }
        }
    }
}

/// The plan of the join, with the bits' worth of the fingerprints that the sample has.
#[expect(clippy::cast_sign_loss, reason = "no number of documents is negative")]
pub(super) fn join_plan(samples: &Sides<MethodSample>, plan: &Plan) -> Option<SearchPlan> {
    let Criterion::Distance(max_distance) = plan.method().close() else { return None };
    let shape = plan.method().recipe().sketch()?.shape();
    let recall = plan.method().recall();
    if recall.is_some_and(|recall| Layout::with_recall(shape, max_distance, recall).is_some()) {
        return None;
    }
    let rows = |sample: &MethodSample| sample.collection.amounts.documents.round() as usize;
    let task = match samples {
        Sides::One(_) => SearchTask::SelfJoin,
        Sides::Two(queries, _) => SearchTask::Search { queries: rows(queries) },
    };
    let corpus = samples.second();
    let memory = plan.resources().memory;
    let workload = match &corpus.rows {
        Some(sampled) if sampled.len() > 1 => {
            Workload { rows: rows(corpus), ..Workload::of(task, sampled, max_distance, memory) }
        }
        _ => Workload {
            task,
            rows: rows(corpus),
            shape,
            effective_bits: shape.units(),
            max_distance,
            memory,
        },
    };
    SearchPlan::for_collections(workload).ok()
}

/// Fingerprints that are close although their documents are not similar.
#[derive(Clone, Copy, Default)]
struct ByChance {
    pairs: f64,
    /// Share of the documents that are in such a pair.
    share: f64,
}

/// Estimates the pairs of fingerprints that are close by chance, from the pairs in the sample. Most of
/// them differ in nearly as many bits as allowed. If many pairs are much closer, they are true
/// near-duplicates, and their number does not grow with the square of the documents.
fn by_chance(samples: &Sides<MethodSample>, max_distance: u32) -> ByChance {
    let documents = |sample: &MethodSample| sample.collection.amounts.documents;
    let of_all = match samples {
        Sides::One(corpus) => documents(corpus) * documents(corpus) / 2.0,
        Sides::Two(queries, corpus) => documents(queries) * documents(corpus),
    };
    let Some(rows) = &samples.second().rows else { return ByChance::default() };
    let (mut close, mut near, mut compared) = (0_u64, 0_u64, 0_u64);
    let mut has_partner = vec![false; rows.len()];
    // Neighbours in a collection are more similar than other documents.
    let apart = (rows.len() / 4).max(1);
    for b in apart..rows.len() {
        for a in 0..=b - apart {
            let two = rows.row(a).zip(rows.row(b));
            let distance = two.map_or(0, |(a, b)| rows.shape.distance(a, b));
            compared += 1;
            // Equal ones are one fingerprint to a join.
            if distance > 0 && distance <= max_distance {
                close += 1;
                near += u64::from(distance * 4 <= max_distance * 3);
                (has_partner[a], has_partner[b]) = (true, true);
            }
        }
    }
    if near * 3 > close {
        return ByChance::default();
    }
    let with_partner = has_partner.iter().filter(|&&has| has).count();
    ByChance {
        pairs: close as f64 / compared.max(1) as f64 * of_all,
        share: with_partner as f64 / rows.len().max(1) as f64,
    }
}
