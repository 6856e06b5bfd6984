//! What a run will take, from a sample of its input.

mod amounts;
mod cost;
mod maker;
mod sample;
mod slowness;
mod stratum;
mod stretch;

use crate::output::affordable_part;
use crate::pipeline::plan::Plan;
use amounts::Amounts;
use cost::Told;
pub(crate) use sample::Sample;
use simtool_base::quantity::unit;
use simtool_hamming::planner::Plan as SearchPlan;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use slowness::Slowness;
use std::fmt;
use std::time::Duration;
pub(crate) use stretch::{Budget, Making};

/// The first look, which warms up and tells how long the second may be.
const FIRST_LOOK: Duration = Duration::from_millis(15);
/// The second look at the longest.
const SECOND_LOOK: Duration = Duration::from_millis(420);
/// The share of the run's time that a quick second look may take.
const QUICK_SHARE: f64 = 0.03;
/// How many standard deviations the truth is away at the most, in all likelihood.
const DEVIATIONS: f64 = 2.0;
/// Bounds that are no farther apart than that from what is likely are not worth telling.
const SURE: f64 = 0.2;
/// Seconds and bytes from which one should think again before a join of fingerprints.
const EXPENSIVE: (f64, f64) = (120.0, 4e9);

/// How exactly is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// In a small part of the time that the run will take.
    Quick,
    /// In about half a second.
    Thorough,
}

/// A number that is not known: what it likely is, and bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Guess {
    /// The most likely.
    pub likely: f64,
    /// It is hardly less.
    pub least: f64,
    /// It is hardly more.
    pub most: f64,
}

impl Guess {
    fn new(likely: f64, variance: f64) -> Self {
        let off = DEVIATIONS * variance.sqrt();
        // As many times less as it may be more: nothing that is there is less than nothing.
        let least = (likely - off).max(likely * likely / (likely + off).max(f64::MIN_POSITIVE));
        Self { likely, least, most: likely + off }
    }

    /// The same in another unit.
    fn per(self, unit: f64) -> Self {
        Self { likely: self.likely / unit, least: self.least / unit, most: self.most / unit }
    }

    /// Whether it is a whole number, and no other.
    fn is_known(self) -> bool {
        self.most - self.least < 0.5 && (self.likely - self.likely.round()).abs() < 1e-3
    }

    /// Whether the bounds say more than the likely number alone.
    fn is_unsure(self) -> bool {
        self.most > self.likely * (1.0 + SURE)
    }
}

/// What a run will take, about.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Documents.
    pub documents: Guess,
    /// Bytes of text.
    pub text_bytes: Guess,
    /// Bytes of memory beside mapped files.
    pub memory_bytes: Guess,
    /// Seconds.
    pub seconds: Guess,
    /// Documents among these that will be matched against the others, about; none if all are
    /// compared.
    pub queries: Option<f64>,
    /// The plan of the join of fingerprints, if it is one.
    pub join_plan: Option<SearchPlan>,
    /// What is so expensive that other settings are better, with what to do.
    pub warning: Option<String>,
}

/// Estimates what `plan` takes for `corpora`, by reading some of their documents as the run does.
#[must_use]
pub fn estimate(corpora: Sides<&dyn Corpus>, plan: &Plan, care: Care) -> Estimate {
    let bytes = corpora.iter().map(|corpus| corpus.bytes()).sum::<u64>().max(1) as f64;
    let look = |time: Duration| {
        corpora.map(|corpus| Sample::of(corpus, plan, time.mul_f64(corpus.bytes() as f64 / bytes)))
    };
    let first = look(FIRST_LOOK);
    let told = Told {
        files: corpora.iter().map(|corpus| corpus.file_count()).sum(),
        affordable_part: affordable_part(&corpora),
        slowness: Slowness::measured(),
    };
    let cost = cost::of(&first, told, plan);
    let second = match care {
        Care::Quick => SECOND_LOOK.min(Duration::from_secs_f64(cost.seconds * QUICK_SHARE)),
        Care::Thorough => SECOND_LOOK,
    };
    let is_known = first.iter().all(|sample| sample.is_complete);
    let (samples, cost) = if is_known || second < FIRST_LOOK {
        (first, cost)
    } else {
        let samples = look(second);
        let slowness = told.slowness.or_less(Slowness::measured());
        let cost = cost::of(&samples, Told { slowness, ..told }, plan);
        (samples, cost)
    };
    let guess = |of: fn(&Amounts) -> f64| {
        let sum = |amounts: fn(&Sample) -> &Amounts| -> f64 {
            samples.iter().map(|sample| of(amounts(sample))).sum()
        };
        Guess::new(sum(|sample| &sample.amounts), sum(|sample| &sample.variances))
    };
    let (documents, text_bytes) = (guess(|a| a.documents), guess(|a| a.text_bytes));
    let work = guess(|a| a.read_seconds + a.make_seconds);
    // What follows from an unsure number is as unsure.
    let as_unsure = |likely: f64, as_guess: Guess| {
        let share = likely / as_guess.likely.max(f64::MIN_POSITIVE);
        Guess { likely, least: as_guess.least * share, most: as_guess.most * share }
    };
    let join_plan = cost::join_plan(&samples, plan);
    let queries = match &samples {
        Sides::One(_) => None,
        Sides::Two(queries, _) => Some(queries.amounts.documents),
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

/// What to say of a join that takes too much.
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

/// A number with as many digits as a guess has.
fn rounded(number: f64) -> String {
    let digits = number.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
    if digits < 2 {
        let behind_point = (1 - digits).clamp(0, 2).unsigned_abs() as usize;
        return format!("{number:.behind_point$}");
    }
    let unit = 10_f64.powi(digits - 2);
    format!("{:.0}", (number / unit).round() * unit)
}

/// A size with as many digits as a guess has.
fn rounded_bytes(bytes: f64) -> String {
    let (unit, size) = unit(bytes);
    format!("{} {unit}", rounded(bytes / size))
}

/// What is known as it is, else "about" what is likely, or from where to where.
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
            "{documents} {noun} with {} {text_unit} of text: {} {memory_unit} of memory beside \
             the files, {seconds} s",
            text_bytes.per(text_size),
            memory_bytes.per(memory_size),
        )
    }
}
