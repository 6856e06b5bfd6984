//! Estimates the documents, memory and time of a run from a sample of its input.

mod cost;
mod guess;
mod slowness;

pub use guess::{Guess, GuessedBytes};

use crate::output::affordable_part;
use crate::pipeline::plan::Plan;
use crate::sample::{Amounts, Budget, MethodSample, Sample};
use cost::{Cost, FingerprintJoinCost, KnownFacts};
use guess::{Count, rounded, rounded_count};
use simtool_base::quantity::unit;
use simtool_hamming::planner::JoinPlan;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use slowness::Slowness;
use std::fmt;
use std::time::Duration;

/// Time for reading the first sample. It warms up the caches. The time of the run that is estimated from it decides how
/// long reading the second sample may take.
const FIRST_SAMPLE: Duration = Duration::from_millis(15);
/// Maximum time for reading the second sample.
const SECOND_SAMPLE: Duration = Duration::from_millis(420);
/// Fraction of the estimated time of a long run that reading a third sample takes with [`Care::Thorough`], and the
/// maximum of that time in seconds. Large compressed files are read from their beginnings, which say more about the files
/// if they are long.
const LONG_RUN: (f64, f64) = (0.03, 4.0);
/// Fraction of the estimated time of the run that reading the second sample may take with
/// [`Care::Quick`].
const QUICK_SHARE: f64 = 0.03;
/// A run gets a warning if its join of fingerprints is estimated to take at least this number of
/// seconds.
const EXPENSIVE_SECONDS: f64 = 120.0;
/// A run that joins fingerprints gets a warning if it is estimated to need at least this number of
/// bytes of memory.
const EXPENSIVE_BYTES: f64 = 4e9;

/// Time that an estimate may take. More time usually gives narrower bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// The estimate takes a small fraction of the time of the run.
    Quick,
    /// The estimate takes about half a second, and up to four seconds for a long run.
    Thorough,
}

/// Estimated size and cost of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Number of documents in all collections.
    pub documents: Guess,
    /// Number of bytes of the texts of all documents.
    pub text_bytes: Guess,
    /// Bytes of memory that the run needs in addition to mapped files.
    pub memory_bytes: Guess,
    /// Seconds of wall time that the run takes.
    pub seconds: Guess,
    /// Bytes of temporary files: texts that are expensive to read and are read more than once, their terms that do not
    /// fit in memory, or fingerprints of a join that does not fit in memory.
    pub temporary_bytes: Guess,
    /// Bytes of the terms or fingerprints of all documents, which a run with `resume` stores.
    pub stored_bytes: Guess,
    /// Bytes of the IDs of all documents.
    pub id_bytes: Guess,
    /// Approximate number of documents in the collection of queries. `None` if there are no queries,
    /// because one collection is compared with itself.
    pub queries: Option<f64>,
    /// Plan of the join. `None` if the method compares no fingerprints, or uses LSH bands.
    pub join_plan: Option<JoinPlan>,
    /// Warning that the run is expensive, with advice on cheaper settings.
    pub warning: Option<String>,
}

/// Estimates the size and cost of running `plan` on the collections `corpora`. To do so, reads a sample of
/// their documents in the same way as the run would. `care` limits the time for the sample: with more
/// time, the bounds of the estimates are usually narrower.
#[must_use]
pub fn estimate(corpora: Sides<&dyn Corpus>, plan: &Plan, care: Care) -> Estimate {
    let samples = read_samples(&corpora, plan, FIRST_SAMPLE);
    let facts = KnownFacts {
        files: corpora.iter().map(|corpus| corpus.file_count()).sum(),
        affordable_part: affordable_part(&corpora),
        slowness: Slowness::measured(),
    };
    let cost = Cost::estimate(&samples, facts, plan);
    let time = match care {
        Care::Quick => SECOND_SAMPLE.min(Duration::from_secs_f64(cost.seconds * QUICK_SHARE)),
        Care::Thorough => SECOND_SAMPLE,
    };
    // A second sample is useless if the first one read everything, and too noisy if it would be
    // shorter than the first one.
    let is_complete = samples.iter().all(|sample| sample.collection.is_complete);
    if is_complete || time < FIRST_SAMPLE {
        return Estimate::new(&samples, cost, plan);
    }
    let mut samples = read_samples(&corpora, plan, time);
    let facts = facts.measured_again();
    let mut cost = Cost::estimate(&samples, facts, plan);
    let (share, most) = LONG_RUN;
    let time = Duration::from_secs_f64((cost.seconds * share).min(most));
    if care == Care::Thorough && time > SECOND_SAMPLE {
        samples = read_samples(&corpora, plan, time);
        cost = Cost::estimate(&samples, facts.measured_again(), plan);
    }
    Estimate::new(&samples, cost, plan)
}

/// Reads a sample of each collection. Each collection gets a share of `time` in proportion to its
/// bytes.
fn read_samples(corpora: &Sides<&dyn Corpus>, plan: &Plan, time: Duration) -> Sides<MethodSample> {
    let bytes = corpora.iter().map(|corpus| corpus.bytes()).sum::<u64>().max(1) as f64;
    corpora.map(|corpus| {
        let budget = Budget::Time(time.mul_f64(corpus.bytes() as f64 / bytes));
        MethodSample::read(corpus, plan.method(), plan.resources(), budget)
    })
}

impl Estimate {
    fn new(samples: &Sides<MethodSample>, cost: Cost, plan: &Plan) -> Self {
        let collections = samples.as_ref().map(|sample| &sample.collection);
        let documents = guess(&collections, |amounts| amounts.documents);
        let text_bytes = guess(&collections, |amounts| amounts.text_bytes);
        let work = guess(&collections, Amounts::seconds);
        let warning = cost.join.as_ref().and_then(|join| warning(join, cost.bytes));
        // Memory and time are computed from sampled numbers, so they get the same relative bounds as
        // these numbers.
        let sizes = if documents.is_unsure() { documents } else { text_bytes };
        Self {
            documents,
            text_bytes,
            // A run keeps its limit where its stages allow it, also if there are more documents than is likely.
            memory_bytes: sizes.scaled_to(cost.bytes).within(plan.resources().memory as f64),
            seconds: work.scaled_to(cost.seconds),
            temporary_bytes: sizes.scaled_to(cost.temporary_bytes),
            stored_bytes: sizes.scaled_to(cost.stored_bytes),
            id_bytes: guess(&collections, |amounts| amounts.id_bytes),
            queries: samples.is_two().then(|| collections.first().amounts.documents),
            join_plan: cost.join.and_then(|join| join.plan),
            warning,
        }
    }
}

/// Returns the sum of one amount over all collections, with its bounds. `amount` selects the amount.
fn guess(samples: &Sides<&Sample>, amount: fn(&Amounts) -> f64) -> Guess {
    let likely = samples.iter().map(|sample| amount(&sample.amounts)).sum();
    let variance = samples.iter().map(|sample| amount(&sample.variances)).sum();
    Guess::new(likely, variance)
}

/// Returns a warning if the join takes too much time, or the run takes too much memory. `bytes` is the
/// memory of the run.
fn warning(join: &FingerprintJoinCost, bytes: f64) -> Option<String> {
    let workload = join.plan.as_ref()?.workload;
    if join.seconds < EXPENSIVE_SECONDS && bytes < EXPENSIVE_BYTES {
        return None;
    }
    Some(format!(
        "the join is expensive: about {} pairs of fingerprints are within {} of {}, which are worth {} \
         bits: about {} s and {}. A smaller `max_distance`, more bits or a longer `shingle` makes \
         them fewer",
        rounded_count(join.pairs),
        workload.max_distance,
        workload.shape,
        workload.effective_bits,
        rounded(join.seconds),
        rounded_bytes(bytes)
    ))
}

/// Formats a number of bytes with a unit, with the digits that [`rounded`] keeps.
fn rounded_bytes(bytes: f64) -> String {
    let (unit, size) = unit(bytes);
    format!("{} {unit}", rounded(bytes / size))
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { documents, text_bytes, memory_bytes, seconds, .. } = self;
        let [text, memory] = [*text_bytes, *memory_bytes].map(GuessedBytes);
        let documents = Count(*documents);
        let noun = if documents.is_one() { "document" } else { "documents" };
        write!(
            f,
            "{documents} {noun} with {text} of text: {memory} of memory in addition to the files, {seconds} s"
        )
    }
}
