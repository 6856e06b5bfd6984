//! Finds the gap between the similarities of unrelated documents and of repeats.
//!
//! The pairs of a sample become fewer as the similarity grows. Where there are repeats, the number of pairs
//! rises again, and between both is a valley. Three things look like a valley but are none:
//!
//! * Documents that share a template, such as a license header. Each of them has many partners, and a
//!   repeated document has few ([`PARTNERS`]).
//! * Pages of a crawl. They have every similarity, so the similarity of many documents to their most similar
//!   document is close to the threshold. If there is a gap, this is so for few documents ([`NEAR_SHARE`]).
//! * A few chance pairs. So a minimum number of documents must have a pair above the valley ([`BEYOND`]).
//!
//! The documents of each script are judged separately, because pairs in Chinese and pairs in English have
//! different similarities, and pairs of both have none.

use super::nearest::{HUNDREDTHS, Histogram, Nearest, documents, first, ratio};
use simtool_base::quantity::{counted, grouped, percent};
use std::ops::Range;

/// Minimum number of probes in a script. With fewer probes, no gap is looked for. A probe is a sampled document that
/// was compared with the whole sample.
const ENOUGH: usize = 20;
/// Distance from the middle of a window to its ends, in hundredths of similarity. A window is a range of similarities
/// in which pairs are counted.
const HALF: usize = 3;
/// Width of a window (a range of similarities), in hundredths. It is also the distance between the middles of two
/// adjacent windows.
const STEP: usize = 2 * HALF + 1;
/// Maximum number of documents in the whole collection whose similarity to a probe is between the new threshold and
/// that of copies. A probe with more such documents shares a template with them. The number is scaled down if the
/// sample is only a part of the collection. In the labelled collections, up to twelve documents are rewritten from one
/// source.
const PARTNERS: f64 = 12.0;
/// Maximum share of the probes (documents that were compared with the sample) that may have more than [`PARTNERS`] such
/// documents.
const TEMPLATE_SHARE: f64 = 0.02;
/// Distance from the new threshold, in hundredths. If the similarity of a probe to its most similar document is within
/// this distance, a small change of the threshold would change the decision about the probe.
const NEAR: usize = 5;
/// Maximum number of probes within [`NEAR`] of the new threshold, as a share of the probes whose greatest similarity is
/// between the new threshold and that of copies.
const NEAR_SHARE: f64 = 0.2;
/// Minimum number of probes whose greatest similarity to another document reaches the new threshold, but not the
/// default threshold. With fewer such probes, no gap is reported.
const BEYOND: usize = 8;
/// Minimum number of the same probes as for [`BEYOND`], as a share of all probes. The greater of the two minimums is
/// used.
const BEYOND_SHARE: f64 = 0.01;
/// Minimum width, in hundredths, of the range without pairs below the similarity of copies. If it is that wide, all
/// similar documents of a script are assumed to be copies.
const WIDE: usize = 20;
/// Smallest threshold, in hundredths, that is chosen in a range without pairs. The whole collection has unrelated
/// documents that are more similar than those of the sample, so a lower threshold would find such pairs.
const LEAST: usize = 30;
/// Rank of the first document that is assumed to be unrelated to a probe. Documents are ranked from the most to the
/// least similar to the probe. Most unrelated documents are at most as similar as the median of the similarity at this
/// rank over all probes.
const UNRELATED_RANK: u32 = 20;
/// Maximum share of all probes that may be in scripts with fewer than [`ENOUGH`] probes. If their share is greater, no
/// gap is reported.
const UNJUDGED: f64 = 0.05;

/// Result of looking for a gap between the similarities of unrelated documents and of repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    /// Similarity in the gap, in hundredths. `None` if there is no gap.
    pub(super) least: Option<usize>,
    /// Description of the similarities that were found, for example "gap between 0.45 and 0.62".
    pub(super) seen: String,
    /// Whether the description names similarities. It does not if the sample is too small.
    pub(super) has_similarities: bool,
}

/// Result of looking for a gap among the documents in one script, such as Latin. Similarities are in hundredths.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ScriptEvidence {
    /// Few pairs have a similarity in `range`, so repeats are separate from unrelated documents. `least` is the
    /// threshold in this range.
    Gap { least: usize, range: Range<usize> },
    /// There is no gap, but all similar documents are copies, which the default method finds, too. No pairs have a
    /// similarity between `last` and the similarity of copies.
    Copies { last: usize },
    /// There is no gap. The text has the reason.
    Blurred(String),
}

/// Similarity of copies, and the share of the collection that is in the sample. The share limits how many similar
/// documents a probe can have in the sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Minimum similarity, in hundredths, of copies, which are pairs that the default method also finds.
    pub(super) copies: usize,
    /// Fraction of the collection that is in the sample, from 0 to 1.
    pub(super) sampled_share: f64,
}

impl Limits {
    #[expect(clippy::cast_sign_loss, reason = "no share is negative")]
    fn partners(&self) -> u32 {
        (PARTNERS * self.sampled_share.min(1.0)).ceil().max(1.0) as u32
    }
}

/// Looks in each script for the gap between the similarities of unrelated documents and of repeats. Returns the highest
/// threshold of all scripts, if every script allows one, and a description.
pub(super) fn find_gap(nearest: &Nearest, limits: Limits) -> Evidence {
    let (judged, few): (Vec<_>, Vec<_>) =
        nearest.scripts.iter().partition(|script| script.probes.len() >= ENOUGH);
    if judged.is_empty() {
        let seen = format!("a sample of {} is too small", documents(nearest.probes));
        return Evidence { least: None, seen, has_similarities: false };
    }
    let found: Vec<_> = judged
        .iter()
        .map(|script| (script.name, script_evidence(&script.probes, limits)))
        .collect();
    let mut seen: Vec<String> = found
        .iter()
        .map(|(name, evidence)| match found.len() {
            1 => evidence.describe(limits),
            _ => format!("{name}: {}", evidence.describe(limits)),
        })
        .collect();
    let unjudged: usize = few.iter().map(|script| script.probes.len()).sum();
    if unjudged > 0 {
        seen.push(format!("{} in other scripts are too few to judge", documents(unjudged as u64)));
    }
    // A threshold applies to all documents, so too many without a judgement leave the choice to the user.
    let is_judged = unjudged as f64 <= UNJUDGED * nearest.probes as f64;
    let least = strictest(&found, limits).filter(|_| is_judged);
    Evidence { least, seen: seen.join("; "), has_similarities: true }
}

/// Returns the threshold that suits every script. `found` has the name and the result of each script. Returns `None` if
/// no script has a gap, or if the result of a script is [`ScriptEvidence::Blurred`].
fn strictest(found: &[(&str, ScriptEvidence)], limits: Limits) -> Option<usize> {
    let least = |evidence: &ScriptEvidence| match evidence {
        ScriptEvidence::Gap { least, .. } => Some(*least),
        // Any threshold in the empty range separates the copies. The middle is farthest from both ends.
        ScriptEvidence::Copies { last } => Some((last + limits.copies).div_ceil(2)),
        ScriptEvidence::Blurred(_) => None,
    };
    let has_gap = found.iter().any(|(_, evidence)| matches!(evidence, ScriptEvidence::Gap { .. }));
    let all: Option<Vec<usize>> = found.iter().map(|(_, evidence)| least(evidence)).collect();
    // The highest threshold removes the fewest documents. If there are copies alone, the default finds them.
    all?.into_iter().max().filter(|_| has_gap)
}

impl ScriptEvidence {
    fn describe(&self, limits: Limits) -> String {
        match self {
            Self::Gap { range, .. } => {
                format!("gap between {} and {}", ratio(range.start), ratio(range.end))
            }
            Self::Copies { last } => {
                format!(
                    "no pairs between {} and {}: copies only",
                    ratio(*last),
                    ratio(limits.copies)
                )
            }
            Self::Blurred(reason) => format!("no gap: {reason}"),
        }
    }
}

/// Looks for the gap between the similarities of unrelated documents and of repeats, in one script. `probes` has the
/// similarities of each document that was compared with the sample.
fn script_evidence(probes: &[Histogram], limits: Limits) -> ScriptEvidence {
    let pairs = Pairs::new(probes, limits.copies);
    let Some(least) = pairs.valley() else {
        return match pairs.last_before_copies() {
            last if limits.copies - last >= WIDE => ScriptEvidence::Copies { last },
            _ => ScriptEvidence::Blurred(format!(
                "pairs become fewer without a break up to {}",
                ratio(limits.copies)
            )),
        };
    };
    let is_numerous =
        |probe: &&Histogram| probe[least..limits.copies].iter().sum::<u32>() > limits.partners();
    let numerous = probes.iter().filter(is_numerous).count();
    if numerous as f64 > probes.len() as f64 * TEMPLATE_SHARE {
        return ScriptEvidence::Blurred(format!(
            "{} of the documents share a template: each is at least {} similar to more than {}",
            percent(numerous as u64, probes.len() as u64),
            ratio(least),
            documents(limits.partners().into())
        ));
    }
    let count = |range: Range<usize>| {
        probes.iter().filter(|probe| first(probe).is_some_and(|at| range.contains(&at))).count()
    };
    let beyond = count(least..limits.copies);
    let near = count(least.saturating_sub(NEAR)..least + NEAR);
    let end = format!("between {} and {}", ratio(least), ratio(limits.copies));
    if (beyond as f64) < (probes.len() as f64 * BEYOND_SHARE).max(BEYOND as f64) {
        let nearest = counted(beyond as u64, "nearest document");
        return ScriptEvidence::Blurred(format!("only {nearest} {end}"));
    }
    // If many documents are close to the limit, a small change of the limit changes many decisions.
    if near as f64 > NEAR_SHARE * beyond as f64 {
        return ScriptEvidence::Blurred(format!(
            "{} within 0.05 of {}, and only {} {end}",
            counted(near as u64, "nearest document"),
            ratio(least),
            grouped(beyond as u64)
        ));
    }
    ScriptEvidence::Gap { least, range: pairs.sparse_range(least) }
}

/// Number of pairs of a probe and a sampled document, for each similarity in hundredths. The pairs of several probes
/// are counted together.
struct Pairs {
    all: [u64; HUNDREDTHS],
    /// Similarity, in hundredths, that most unrelated documents do not exceed. It is the median of the similarities of
    /// all probes to their documents with the rank [`UNRELATED_RANK`].
    bulk: usize,
    copies: usize,
}

impl Pairs {
    fn new(probes: &[Histogram], copies: usize) -> Self {
        let mut all = [0; HUNDREDTHS];
        for probe in probes {
            for (sum, &count) in all.iter_mut().zip(probe.iter()) {
                *sum += u64::from(count);
            }
        }
        let mut ranked: Vec<usize> = probes.iter().map(similarity_of_rank).collect();
        ranked.sort_unstable();
        let bulk = ranked.get(ranked.len() / 2).copied().unwrap_or(0);
        Self { all, bulk, copies }
    }

    /// Returns the number of pairs whose similarity is at most [`HALF`] hundredths from `middle`.
    fn window(&self, middle: usize) -> u64 {
        self.all.iter().skip(middle.saturating_sub(HALF)).take(STEP).sum()
    }

    /// Returns the greatest similarity, in hundredths, of a pair that is not a copy, or 0 if there is none.
    fn last_before_copies(&self) -> usize {
        self.all[..self.copies].iter().rposition(|&count| count > 0).unwrap_or(0)
    }

    /// Returns the similarity, in hundredths, in the valley of the numbers of pairs below copies. The valley begins at
    /// the similarity that most pairs have, and ends where the number of pairs rises again. If there is a range without
    /// pairs, the result is about its middle. Returns `None` if the number of pairs does not rise again below the
    /// similarity of copies.
    fn valley(&self) -> Option<usize> {
        let end = self.copies - HALF;
        let densest = (HALF..end).rev().max_by_key(|&at| self.window(at))?;
        let foot = (densest.max(self.bulk)..end.saturating_sub(STEP))
            .find(|&at| self.window(at + STEP) > self.window(at))?;
        let valley = (foot..=foot + STEP).min_by_key(|&at| self.window(at))?;
        if self.window(valley) > 0 {
            return Some(valley);
        }
        let below = self.all[..valley].iter().rposition(|&count| count > 0)?;
        let above = self.all[valley..].iter().position(|&count| count > 0)? + valley;
        let middle = (below + above.min(self.copies)).div_ceil(2);
        Some(middle.max(LEAST.min(above)))
    }

    /// Returns the range of similarities around `least` that few pairs have, in hundredths.
    fn sparse_range(&self, least: usize) -> Range<usize> {
        let few = self.window(least) * 5 / 4;
        let is_dense = |at: &usize| self.window(*at) > few;
        let start = (0..least).rev().find(is_dense).map_or(0, |at| at + 1);
        let end = (least + 1..self.copies).find(is_dense).unwrap_or(self.copies);
        // In a dense window, the pairs are at its far end, because the next window is not dense.
        start.saturating_sub(HALF)..(end + HALF).min(self.copies)
    }
}

/// Returns the similarity, in hundredths, of a probe to its 20th most similar document ([`UNRELATED_RANK`]), or 0 if
/// the sample is smaller.
fn similarity_of_rank(probe: &Histogram) -> usize {
    let mut rank = 0;
    let at = probe.iter().rposition(|&count| {
        rank += count;
        rank >= UNRELATED_RANK
    });
    at.unwrap_or(0)
}

#[cfg(test)]
mod tests;
