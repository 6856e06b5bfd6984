//! Estimates the documents, memory and time of a run from a sample of its input.

mod cost;
mod slowness;

use crate::output::affordable_part;
use crate::pipeline::plan::Plan;
use crate::sample::{Amounts, Budget, MethodSample};
use cost::KnownFacts;
use simtool_base::quantity::unit;
use simtool_hamming::planner::Plan as SearchPlan;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use slowness::Slowness;
use std::fmt;
use std::time::Duration;

/// Time of the first look, which warms up the caches and decides the time of the second look.
const FIRST_LOOK: Duration = Duration::from_millis(15);
/// Maximum time of the second look.
const SECOND_LOOK: Duration = Duration::from_millis(420);
/// The share of the run's time that a quick second look may take.
const QUICK_SHARE: f64 = 0.03;
/// Number of standard deviations between the likely number and its bounds.
const DEVIATIONS: f64 = 2.0;
/// Bounds are printed only if the upper one exceeds the likely number by more than this fraction.
const SURE: f64 = 0.2;
/// Seconds and bytes from which a join of fingerprints gets a warning.
const EXPENSIVE: (f64, f64) = (120.0, 4e9);

/// Effort of an estimate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Takes a small fraction of the time of the run.
    Quick,
    /// Takes about half a second.
    Thorough,
}

/// An estimated number with its bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Guess {
    /// The most likely number.
    pub likely: f64,
    /// Lower bound. The true number is rarely smaller.
    pub least: f64,
    /// Upper bound. The true number is rarely larger.
    pub most: f64,
}

impl Guess {
    fn new(likely: f64, variance: f64) -> Self {
        let off = DEVIATIONS * variance.sqrt();
        // If the variance is large, `likely - off` would be negative. The second bound is as many times
        // smaller than `likely` as the upper bound is larger, and is never negative.
        let least = (likely - off).max(likely * likely / (likely + off).max(f64::MIN_POSITIVE));
        Self { likely, least, most: likely + off }
    }

    /// Converts the numbers to another unit.
    fn per(self, unit: f64) -> Self {
        Self { likely: self.likely / unit, least: self.least / unit, most: self.most / unit }
    }

    /// Returns whether the bounds admit only one whole number.
    fn is_known(self) -> bool {
        self.most - self.least < 0.5 && (self.likely - self.likely.round()).abs() < 1e-3
    }

    /// Returns whether the bounds are so far apart that they should be printed.
    fn is_unsure(self) -> bool {
        self.most > self.likely * (1.0 + SURE)
    }
}

/// Estimated size and cost of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Number of documents.
    pub documents: Guess,
    /// Bytes of text.
    pub text_bytes: Guess,
    /// Bytes of memory in addition to mapped files.
    pub memory_bytes: Guess,
    /// Seconds of wall time.
    pub seconds: Guess,
    /// Approximate number of documents that are queries. `None` if one collection is compared with
    /// itself.
    pub queries: Option<f64>,
    /// The plan of the join, if the method compares fingerprints.
    pub join_plan: Option<SearchPlan>,
    /// Warning that the run is expensive, with advice on cheaper settings.
    pub warning: Option<String>,
}

/// Estimates the cost of `plan` for `corpora`. Some of their documents are read as the run reads them.
#[must_use]
pub fn estimate(corpora: Sides<&dyn Corpus>, plan: &Plan, care: Care) -> Estimate {
    let bytes = corpora.iter().map(|corpus| corpus.bytes()).sum::<u64>().max(1) as f64;
    let look = |time: Duration| {
        // Each side gets time in proportion to its bytes.
        corpora.map(|corpus| {
            let budget = Budget::Time(time.mul_f64(corpus.bytes() as f64 / bytes));
            MethodSample::read(corpus, plan.method(), plan.resources().isa, budget)
        })
    };
    let first = look(FIRST_LOOK);
    let facts = KnownFacts {
        files: corpora.iter().map(|corpus| corpus.file_count()).sum(),
        affordable_part: affordable_part(&corpora),
        slowness: Slowness::measured(),
    };
    let cost = cost::of(&first, facts, plan);
    let second = match care {
        Care::Quick => SECOND_LOOK.min(Duration::from_secs_f64(cost.seconds * QUICK_SHARE)),
        Care::Thorough => SECOND_LOOK,
    };
    // A second look is useless if the first one read everything, and too noisy if it would be
    // shorter than the first one.
    let is_known = first.iter().all(|sample| sample.collection.is_complete);
    let (samples, cost) = if is_known || second < FIRST_LOOK {
        (first, cost)
    } else {
        let samples = look(second);
        // Measuring again makes it less likely that another program slowed both measurements.
        let slowness = facts.slowness.or_less(Slowness::measured());
        let cost = cost::of(&samples, KnownFacts { slowness, ..facts }, plan);
        (samples, cost)
    };
    let guess = |of: fn(&Amounts) -> f64| {
        let sum = |amounts: fn(&MethodSample) -> &Amounts| -> f64 {
            samples.iter().map(|sample| of(amounts(sample))).sum()
        };
        Guess::new(
            sum(|sample| &sample.collection.amounts),
            sum(|sample| &sample.collection.variances),
        )
    };
    let (documents, text_bytes) = (guess(|a| a.documents), guess(|a| a.text_bytes));
    let work = guess(|a| a.read_seconds + a.make_seconds);
    // Memory and time follow from sampled numbers, so their relative bounds are the same.
    let as_unsure = |likely: f64, as_guess: Guess| {
        let share = likely / as_guess.likely.max(f64::MIN_POSITIVE);
        Guess { likely, least: as_guess.least * share, most: as_guess.most * share }
    };
    let join_plan = cost::join_plan(&samples, plan);
    let queries = match &samples {
        Sides::One(_) => None,
        Sides::Two(queries, _) => Some(queries.collection.amounts.documents),
    };
    Estimate {
        documents,
        text_bytes,
        memory_bytes: as_unsure(
            cost.bytes,
            if documents.is_unsure() { documents } else { text_bytes },
        ),
        seconds: as_unsure(cost.seconds, work),
        queries,
        warning: warning(&cost, join_plan.as_ref()),
        join_plan,
    }
}

/// Returns a warning if the join takes too much time or memory.
fn warning(cost: &cost::Cost, join: Option<&SearchPlan>) -> Option<String> {
    let (join, (pairs, seconds)) = (join?, cost.join?);
    if seconds < EXPENSIVE.0 && cost.bytes < EXPENSIVE.1 {
        return None;
    }
    let workload = &join.workload;
    Some(format!(
        "the join is expensive: about {} pairs of fingerprints are within {} of {}, which are worth {} \
         bits: about {} s and {}. A smaller `max_distance`, more `bits` or a longer `shingle` makes \
         them fewer",
        rounded(pairs),
        workload.max_distance,
        workload.shape,
        workload.effective_bits,
        rounded(seconds),
        rounded_bytes(cost.bytes)
    ))
}

/// Formats a number with two or three significant digits, because an estimate is not more exact.
fn rounded(number: f64) -> String {
    let digits = number.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
    if digits < 2 {
        let behind_point = (1 - digits).clamp(0, 2).unsigned_abs() as usize;
        return format!("{number:.behind_point$}");
    }
    let unit = 10_f64.powi(digits - 2);
    format!("{:.0}", (number / unit).round() * unit)
}

/// Formats a size as [`rounded`] does, with its unit.
fn rounded_bytes(bytes: f64) -> String {
    let (unit, size) = unit(bytes);
    format!("{} {unit}", rounded(bytes / size))
}

/// Writes a known number as it is, for example `7`. An estimate is `about 7`, or `about 5 to 9` if its
/// bounds are far apart.
impl fmt::Display for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_unsure() {
            write!(f, "about {} to {}", rounded(self.least), rounded(self.most))
        } else if self.is_known() {
            write!(f, "{:.0}", self.likely)
        } else {
            write!(f, "about {}", rounded(self.likely))
        }
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { documents, text_bytes, memory_bytes, seconds, .. } = self;
        let [(text_unit, text_size), (memory_unit, memory_size)] =
            [text_bytes, memory_bytes].map(|bytes| unit(bytes.likely));
        let noun = if documents.to_string() == "1" { "document" } else { "documents" };
        write!(
            f,
            "{documents} {noun} with {} {text_unit} of text: {} {memory_unit} of memory in \
             addition to the files, {seconds} s",
            text_bytes.per(text_size),
            memory_bytes.per(memory_size),
        )
    }
}
