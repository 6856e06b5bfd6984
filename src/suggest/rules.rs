//! Rules that choose a method. They depend only on the description of a sample and on the settings of the
//! user.
//!
//! The constants come from two sources: the labelled collections that `simtool eval` was measured on, and the
//! times that joins take. On collections with a gap between unrelated documents and repeats, shingles of
//! characters with a threshold in the gap are best in every script. On others, such as pages of a crawl, the
//! default is best.

use super::gap::Evidence;
use super::nearest::{Nearest, documents, ratio};
use super::profile::{CorpusProfile, UNSPACED};
use crate::method::{Method, OF_TERMS, settings_of_exact};
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_base::quantity::{bytes, grouped, percent};
use simtool_model::similarity::{JACCARD, Measure};

/// Median number of characters of the documents below which shorter shingles are chosen. In a short document,
/// one changed word affects most of the longer shingles.
const SHORT: u64 = 200;
/// Median number of characters of the documents below which shingles of two characters are chosen, in scripts
/// without spaces. In these scripts, a character is a word or half of a word.
const SHORT_UNSPACED: u64 = 60;
/// Default value of the setting `shingle`, with its name. If the default method is chosen, it replaces the value that
/// was chosen from the sample. The next constant has the default value of `similarity`.
const DEFAULT_SHINGLE: (&str, &str) = ("shingle", "words:3");
const DEFAULT_SIMILARITY: (&str, &str) = ("similarity", "0.8");
/// Threshold of the default method, in hundredths of Jaccard similarity.
pub(super) const DEFAULT_LEAST: usize = 80;
/// Similarity, in hundredths, of two sets of equal size whose Jaccard similarity is 0.8. All measures except Jaccard
/// give this value.
const DEFAULT_LEAST_OTHERWISE: usize = 89;
/// High similarity threshold, in hundredths. From this threshold on, an exact join of sets skips nearly all
/// pairs without comparing them.
const HIGH: usize = 80;
/// Greatest cost at which sets are compared at a low threshold. The cost is the number of pairs times the mean number
/// of terms of a document, because at a low threshold, most pairs must be compared. A comparison with this cost takes
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
/// Chooses the value of the option `shingle`, for example `chars:5`, and returns it with the reason.
pub(super) fn shingle(profile: &CorpusProfile) -> (&'static str, String) {
    let median = profile.characters.median;
    let half =
        |rule: &str| format!("half of the documents have {rule} {} characters", grouped(median));
    if profile.unspaced >= UNSPACED {
        let (shingle, length) = match median {
            ..SHORT_UNSPACED => ("letters:2", half("at most")),
            SHORT_UNSPACED..SHORT => ("letters:4", half("at most")),
            SHORT.. => ("letters:6", half("at least")),
        };
        let why = format!(
            "{:.0} % of the letters belong to scripts without spaces between words, so words would be \
             guesses; {length}",
            profile.unspaced * 100.0
        );
        return (shingle, format!("`shingle` {shingle}: {why}"));
    }
    let (shingle, why) = if median < SHORT {
        ("letters:4", format!("documents are short: {}", half("at most")))
    } else {
        ("letters:6", format!("suits any script and topic; {}", half("at least")))
    };
    (shingle, format!("`shingle` {shingle}: {why}"))
}

/// Returns the minimum similarity of copies by `measure`, in hundredths. A pair of documents of equal size with this
/// similarity is also found by the default method.
pub(super) fn copies(measure: &Measure) -> usize {
    if measure.name == JACCARD.name { DEFAULT_LEAST } else { DEFAULT_LEAST_OTHERWISE }
}

/// The method that was chosen for a collection, with the settings that it needs and the reasons for the choice.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ChosenMethod {
    pub(super) name: &'static str,
    /// Names and values of settings that this method needs, for example `recall` and `0.95`. They replace the values
    /// that were chosen from the sample before the method was known.
    pub(super) instead: Vec<(&'static str, &'static str)>,
    /// Reason for the choice, as a line that begins with the setting: "`method` exact: the default".
    pub(super) reason: String,
    /// Reason for using the default threshold. `None` if the default threshold is not used.
    pub(super) default_because: Option<String>,
}

impl ChosenMethod {
    fn new(name: &'static str, instead: &[(&'static str, &'static str)], why: &str) -> Self {
        let reason = format!("`method` {name}: {why}");
        Self { name, instead: instead.to_vec(), reason, default_because: None }
    }

    /// Makes the method use the default value of the setting `shingle` instead of the value that was chosen from the
    /// sample. If the user gave `shingle` among the settings `given`, the user's value is kept.
    fn with_default_shingle(mut self, given: &Options) -> Self {
        if !given.has("shingle") {
            self.instead.push(DEFAULT_SHINGLE);
        }
        self
    }

    /// Replaces settings in `options` that were chosen from the sample by [`Self::instead`], and the `reasons` for
    /// them.
    pub(super) fn replace_settings(&self, options: &mut Options, reasons: &mut Vec<String>) {
        for &(name, value) in &self.instead {
            let is_of_setting = |reason: &String| reason.starts_with(&format!("`{name}` "));
            reasons.retain(|reason| !is_of_setting(reason));
            if options.take(name).is_some() && name == DEFAULT_SHINGLE.0 {
                reasons.push(format!("`{name}` {value}: the default"));
            }
            options.set(name, value);
        }
    }

    /// Returns the reason for the threshold. Returns `None` if the user gave the threshold. `nearest` has the
    /// similarities of the sample by `measure`, and `least` is the threshold in hundredths.
    pub(super) fn limit_reason(
        &self,
        nearest: &Nearest,
        measure: &Measure,
        least: usize,
        evidence: &Evidence,
        given: &Options,
    ) -> Option<String> {
        let share = |least| percent(nearest.repeated(least), nearest.probes);
        if let Some(why) = &self.default_because {
            let (name, value) = DEFAULT_SIMILARITY;
            let share = share(least);
            return Some(format!(
                "`{name}` {value}: the default ({why}); {share} of the documents have a near-duplicate"
            ));
        }
        if given.has("similarity") || given.has("max_distance") {
            return None;
        }
        Some(format!(
            "`similarity` {}:{}: {}; {} of the documents have a near-duplicate, and {} one that the default \
             would find, too",
            measure.name,
            ratio(least),
            evidence.seen,
            share(least),
            share(copies(measure))
        ))
    }
}

/// Chooses the method. If `evidence` has no gap and the user gave no limit, it is the default method. Otherwise it is
/// chosen for the threshold of the user, the one in the gap, or that of copies. `measure` is the measure of the
/// similarities in `nearest`. `asked` is the threshold that the user gave, in hundredths, and `given` has all settings
/// of the user.
pub(super) fn choose(
    profile: &CorpusProfile,
    nearest: &Nearest,
    evidence: &Evidence,
    (measure, asked): (&Measure, Option<usize>),
    given: &Options,
) -> ChosenMethod {
    let is_limited = asked.is_some() || given.has("max_distance");
    let Some(gap) = evidence.least else {
        if !is_limited {
            return default_method(given, &evidence.seen);
        }
        // Without a gap, there is no evidence for other shingles than the default ones.
        let least = asked.unwrap_or(copies(measure));
        return method(profile, nearest, measure, least, given).with_default_shingle(given);
    };
    method(profile, nearest, measure, asked.unwrap_or(gap), given)
}

/// Returns the default method, or one with fingerprints and the same threshold if the user gave an option that needs
/// them. `why` is the reason why no other method was chosen.
fn default_method(given: &Options, why: &str) -> ChosenMethod {
    let mut chosen = match needs_fingerprints(given) {
        Some(chosen) => chosen,
        None => ChosenMethod::new("exact", &[], "the default"),
    };
    chosen.instead.push(DEFAULT_SIMILARITY);
    chosen.default_because = Some(why.to_owned());
    chosen.with_default_shingle(given)
}

/// Returns the method with fingerprints if the user gave an option that no other method has.
fn needs_fingerprints(given: &Options) -> Option<ChosenMethod> {
    let of_sets = || settings_of_exact().chain(OF_TERMS.iter().copied());
    let option = given.names().find(|option| of_sets().all(|known| known != *option))?;
    Some(ChosenMethod::new("minhash", &[], &format!("`{option}` needs fingerprints")))
}

/// Chooses between the methods `exact` and `minhash`. `least` is the chosen threshold in hundredths, and
/// `given` has the settings of the user.
pub(super) fn method(
    profile: &CorpusProfile,
    nearest: &Nearest,
    measure: &Measure,
    least: usize,
    given: &Options,
) -> ChosenMethod {
    // Some settings exist for one kind of method only and so decide the choice.
    if let Some(chosen) = needs_fingerprints(given) {
        return chosen;
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
        return sets.method_for_high_threshold();
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
    let why = format!("{all} are too many for all pairs at {}", ratio(least));
    default_method(given, &why)
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

    /// Returns a phrase for sets that do not fit into memory.
    fn do_not_fit(&self) -> String {
        let all = documents(self.profile.documents);
        format!("the sets of {all} do not fit into {}", bytes(self.profile.memory))
    }

    /// Chooses the method for a high threshold. It is `exact` if the terms can be counted in memory,
    /// otherwise `minhash`.
    fn method_for_high_threshold(&self) -> ChosenMethod {
        let why = "so high a threshold leaves few pairs to compare";
        if self.fit(BYTES_A_COUNTED_TERM) {
            ChosenMethod::new("exact", &[], &format!("{why}, so the sets themselves are compared"))
        } else {
            let why = format!("{why}; {}", self.do_not_fit());
            ChosenMethod::new("minhash", &[("recall", "0.95")], &why)
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
