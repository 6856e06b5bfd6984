//! Rules that choose a method. They depend only on the description of a sample and on the settings of the
//! user.
//!
//! The constants come from two sources: the labelled collections that `simtool eval` was measured on, and the
//! times that joins take. On these collections, shingles of characters are best in every script. The best
//! threshold is between the similarities of unrelated documents and of near-duplicates.

use super::profile::{CorpusProfile, Nearest};
use crate::method::Method;
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_base::quantity::{bytes, counted, grouped, percent};
use simtool_model::similarity::Measure;

/// Median number of characters of the documents below which shorter shingles are chosen. In a short document,
/// one changed word affects most of the longer shingles.
const SHORT: u64 = 200;
/// Median number of characters of the documents below which shingles of two characters are chosen, in scripts
/// without spaces. In these scripts, a character is a word or half of a word.
const SHORT_UNSPACED: u64 = 60;
/// Minimum share of letters in scripts without spaces, such as Chinese, for which the rules for these scripts
/// are used.
const UNSPACED: f64 = 0.5;
/// Minimum median number of words of the documents for which shingles of five words can be chosen.
const LONG: u64 = 50;
/// Minimum number of probes from which a threshold is chosen. A probe is a sampled document that was compared
/// with the whole sample. With fewer probes, the threshold is [`USUAL`].
const ENOUGH: u64 = 20;
/// Similarity threshold, in hundredths, for a sample that is too small to choose a threshold from.
const USUAL: usize = 50;
/// Smallest similarity threshold, in hundredths, that the rules choose.
const LEAST: usize = 20;
/// Greatest similarity threshold, in hundredths, that the rules choose.
const MOST: usize = 95;
/// Distance from the middle of a window to its ends, in hundredths. A window is a range of similarities in
/// which pairs are counted.
const HALF: usize = 3;
/// Width of a window, in hundredths. It is also the distance between the middles of two adjacent windows.
const STEP: usize = 2 * HALF + 1;
/// High similarity threshold, in hundredths. From this threshold on, an exact join of sets skips nearly all
/// pairs without comparing them.
const HIGH: usize = 80;
/// Greatest cost for which sets are compared at a low threshold. The cost is the number of pairs times the
/// mean number of terms of a document, because most pairs must be compared. A comparison with this cost takes
/// about a minute on two cores.
const AFFORDABLE_TERMS: f64 = 1e11;
/// Greatest number of pairs for which fingerprints are compared at a low threshold, unless the user gave the
/// threshold. Comparing so many pairs takes about a minute on two cores.
const AFFORDABLE_PAIRS: f64 = 2e9;
/// Estimated number of bytes of memory for each term of each set, if sets are compared at a low threshold.
const BYTES_A_COMPARED_TERM: f64 = 12.0;
/// Estimated number of bytes of memory for each term of each set, if terms are only counted. This is enough
/// at a high threshold.
const BYTES_A_COUNTED_TERM: f64 = 1.25;
/// Names of the options that the method `exact` accepts. If the user gives any other option, a method with
/// fingerprints is needed.
const OF_SETS: [&str; 5] = ["shingle", "tokenizer", "stop_words", "similarity", "weight"];

/// Chooses the value of the option `shingle`, for example `chars:5`, and returns it with the reason.
pub(super) fn shingle(profile: &CorpusProfile) -> (&'static str, String) {
    let median = profile.characters.median;
    let half =
        |rule: &str| format!("half of the documents have {rule} {} characters", grouped(median));
    if profile.unspaced >= UNSPACED {
        let (shingle, length) = match median {
            ..SHORT_UNSPACED => ("chars:2", half("at most")),
            SHORT_UNSPACED..SHORT => ("chars:4", half("at most")),
            SHORT.. => ("chars:6", half("at least")),
        };
        let why = format!(
            "{:.0} % of the letters belong to scripts without spaces between words, so words would be \
             guesses; {length}",
            profile.unspaced * 100.0
        );
        return (shingle, format!("`shingle` {shingle}: {why}"));
    }
    let (shingle, why) = if median < SHORT {
        ("chars:4", format!("documents are short: {}", half("at most")))
    } else {
        ("chars:6", format!("suits any script and topic; {}", half("at least")))
    };
    (shingle, format!("`shingle` {shingle}: {why}"))
}

/// Chooses the similarity threshold in hundredths, and returns it with the reason.
///
/// The threshold lies between two groups of pairs. The first group is pairs of unrelated documents, which
/// become fewer as the similarity grows. The second group is near-duplicates, which have higher similarities.
pub(super) fn threshold(nearest: &Nearest, measure: &Measure) -> (usize, String) {
    let Nearest { probes, of_all, bulk, .. } = nearest;
    if *probes < ENOUGH {
        let why =
            format!("the usual value, because a sample of {} is too small", documents(*probes));
        return (USUAL, reason(measure, USUAL, &why));
    }
    let window =
        |at: usize| -> u64 { of_all.iter().skip(at.saturating_sub(HALF)).take(STEP).sum() };
    // `top` is the similarity that most unrelated documents have. Above it the counts decline until `foot`.
    let end = of_all.len() - STEP;
    let top = (*bulk..end).find(|&at| window(at + STEP) <= window(at)).unwrap_or(end);
    let foot = (top..end).find(|&at| window(at + STEP) > window(at)).unwrap_or(end);
    let valley = (foot..=foot + STEP).min_by_key(|&at| window(at)).unwrap_or(foot);
    let above = of_all.iter().skip(valley).position(|&count| count > 0);
    // If the valley has pairs, its lowest point is the threshold. If it has none, it is a gap, and the threshold is
    // the middle of the gap.
    let (least, why) = if window(valley) > 0 {
        let why = "the fewest pairs of the sample have about this similarity: unrelated documents \
                   have less, near-duplicates more";
        (valley, why.to_owned())
    } else {
        let below = of_all.iter().take(valley).rposition(|&count| count > 0).unwrap_or(0);
        let next = above.map_or(100, |above| valley + above);
        let unrelated = format!("unrelated documents of the sample are up to {}", ratio(below));
        let why = match above {
            Some(_) => format!("{unrelated} similar, near-duplicates at least {}", ratio(next)),
            None => format!("{unrelated} similar, and there are no near-duplicates"),
        };
        ((below + next).div_ceil(2), why)
    };
    let least = least.clamp(LEAST, MOST);
    let repeated = nearest.repeated(least);
    let share = match repeated {
        0 => String::new(),
        _ => format!("; {} of the documents have a near-duplicate", percent(repeated, *probes)),
    };
    (least, reason(measure, least, &(why + &share)))
}

fn reason(measure: &Measure, least: usize, why: &str) -> String {
    format!("`similarity` {}:{}: {why}", measure.name, ratio(least))
}

fn documents(count: u64) -> String {
    counted(count, "document")
}

fn ratio(hundredths: usize) -> String {
    match hundredths {
        100.. => "1".to_owned(),
        _ => format!("0.{hundredths:02}"),
    }
}

/// The chosen method, and the settings that it needs instead of settings that were chosen before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChosenMethod {
    pub(super) name: &'static str,
    /// Names and values of settings that replace the values chosen from the sample, for example `recall` and
    /// `0.95`.
    pub(super) instead: &'static [(&'static str, &'static str)],
    pub(super) reason: String,
}

impl ChosenMethod {
    fn new(
        name: &'static str,
        instead: &'static [(&'static str, &'static str)],
        why: &str,
    ) -> Self {
        Self { name, instead, reason: format!("`method` {name}: {why}") }
    }
}

/// Chooses between the methods `exact` and `minhash`. `least` is the chosen threshold in hundredths, and
/// `given` has the settings of the user.
pub(super) fn method(
    profile: &CorpusProfile,
    nearest: &Nearest,
    (measure, least): (&Measure, usize),
    given: &Options,
) -> ChosenMethod {
    // Some settings exist for one kind of method only and so decide the choice.
    if let Some(option) = given.names().find(|option| !OF_SETS.contains(option)) {
        return ChosenMethod::new("minhash", &[], &format!("`{option}` needs fingerprints"));
    }
    if !measure.is_estimated {
        let why = format!("{} compares the sets themselves", measure.name);
        return ChosenMethod::new("exact", &[], &why);
    }
    if given.has("weight") {
        return ChosenMethod::new("exact", &[], "`weight` applies to the terms of sets");
    }
    // Otherwise the size decides: sets are compared if they fit into memory and comparing them is not too slow.
    let sets = Sets::new(profile, nearest);
    if least >= HIGH {
        let why = "so high a threshold leaves few pairs to compare";
        return sets.method_for_high_threshold(&[("recall", "0.95")], &[], why);
    }
    let is_affordable = profile.pairs * nearest.terms as f64 <= AFFORDABLE_TERMS;
    let all = documents(profile.documents);
    if is_affordable && sets.fit(BYTES_A_COMPARED_TERM) {
        let why = format!("the sets of {all} can be compared directly, which is most accurate");
        return ChosenMethod::new("exact", &[], &why);
    }
    if given.has("similarity") || profile.pairs <= AFFORDABLE_PAIRS {
        let why = if is_affordable {
            sets.do_not_fit()
        } else {
            format!("{all} are too many to compare their sets at so low a threshold")
        };
        return ChosenMethod::new("minhash", &[], &format!("{why}; 64 bytes represent each"));
    }
    nearly_equal(profile, least, given, &sets)
}

/// Chooses the method for a collection that has too many pairs to compare all of them at a low threshold. The
/// method then searches only nearly equal documents, with a similarity of at least 0.8.
fn nearly_equal(
    profile: &CorpusProfile,
    least: usize,
    given: &Options,
    sets: &Sets<'_>,
) -> ChosenMethod {
    let all = documents(profile.documents);
    let why = format!(
        "{all} are too many for all pairs at {}, so only nearly equal documents are searched, at 0.8",
        ratio(least)
    );
    let takes_words = !given.has("shingle")
        && !given.has("tokenizer")
        && profile.unspaced < UNSPACED
        && profile.words.median >= LONG;
    if takes_words {
        sets.method_for_high_threshold(
            &[("shingle", "words:5"), ("similarity", "0.8"), ("recall", "0.95")],
            &[("shingle", "words:5"), ("similarity", "0.8")],
            &format!("{why} of five consecutive words"),
        )
    } else {
        let for_rows = &[("similarity", "0.8"), ("recall", "0.95")];
        sets.method_for_high_threshold(for_rows, &[("similarity", "cosine:0.8")], &why)
    }
}

/// Profile of a collection, and the estimated number of terms of all its sets together.
struct Sets<'p> {
    profile: &'p CorpusProfile,
    terms: f64,
}

impl<'p> Sets<'p> {
    fn new(profile: &'p CorpusProfile, nearest: &Nearest) -> Self {
        Self { profile, terms: profile.documents as f64 * nearest.terms as f64 }
    }

    /// Returns whether the sets fit into memory if each term takes `bytes_a_term` bytes.
    fn fit(&self, bytes_a_term: f64) -> bool {
        self.terms * bytes_a_term <= self.profile.memory as f64
    }

    /// Returns a phrase which says that the sets do not fit into memory.
    fn do_not_fit(&self) -> String {
        let all = documents(self.profile.documents);
        format!("the sets of {all} do not fit into {}", bytes(self.profile.memory))
    }

    /// Chooses the method for a high threshold. It is `exact` if the terms can be counted in memory,
    /// otherwise `minhash`. The settings in `for_sets` (for `exact`) or `for_rows` (for `minhash`) replace
    /// settings that were chosen from the sample.
    fn method_for_high_threshold(
        &self,
        for_rows: &'static [(&'static str, &'static str)],
        for_sets: &'static [(&'static str, &'static str)],
        why: &str,
    ) -> ChosenMethod {
        if self.fit(BYTES_A_COUNTED_TERM) {
            let why = format!("{why}, so the sets themselves are compared");
            ChosenMethod::new("exact", for_sets, &why)
        } else {
            ChosenMethod::new("minhash", for_rows, &format!("{why}; {}", self.do_not_fit()))
        }
    }
}

/// Creates the method. `options` has the settings of the user and the settings that were chosen from the
/// sample. `least` is the chosen threshold in hundredths.
pub(super) fn complete(
    chosen: &ChosenMethod,
    least: usize,
    mut options: Options,
) -> Result<Method> {
    // Settings that the chosen method needs replace the ones that were chosen from the sample.
    for &(name, value) in chosen.instead {
        drop(options.take(name));
        options.set(name, value);
    }
    let is_replaced = chosen.instead.iter().any(|(name, _)| *name == "similarity");
    let is_limited = options.has("similarity") || options.has("max_distance");
    if chosen.name == "exact" && !is_limited {
        options.set("similarity", format!("cosine:{}", ratio(least)));
    } else if !is_limited {
        options.set("similarity", ratio(least));
    } else if chosen.name == "minhash"
        && let Some(given) = options.take("similarity")
    {
        // Distances must use the measure by which the threshold was chosen.
        let (measure, similarity) = match given.split_once(':') {
            Some((measure, similarity)) => (measure.to_owned(), similarity.to_owned()),
            None if is_replaced => ("cosine".to_owned(), given),
            None => ("jaccard".to_owned(), given),
        };
        let measured = simtool_model::similarity::measure(&measure);
        if measured.is_some_and(|measure| !measure.is_estimated) {
            let rule = "needs `method` exact, which these settings do not allow";
            return Err(Error::config("similarity", format!("{measure}:{similarity}"), rule));
        }
        options.complete(&[("measure", &measure)]);
        options.set("similarity", similarity);
    }
    let method = Method::parse(chosen.name, &mut options)?;
    match options.first() {
        Some((option, value)) => Err(method.refusal(option, &value)),
        None => Ok(method),
    }
}
