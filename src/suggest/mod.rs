//! Chooses a method for a collection from a sample of it, and gives the reasons.
//!
//! The sample has a fixed size and is drawn without randomness or a clock. So the same collection and
//! settings give the same choice, with any number of threads. [`CorpusProfile`] describes the sample, and
//! [`Nearest`] has similarities of its documents. The rules that choose the method depend only on these
//! values and on the settings of the user.

mod profile;
mod rules;

pub use profile::{CorpusProfile, Nearest, Quantiles};

use crate::method::{Method, Terms};
use profile::SampledTexts;
use simtool_base::error::Result;
use simtool_base::options::Options;
use simtool_base::progress::Progress;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_model::sides::Sides;
use simtool_model::similarity::{COSINE, JACCARD, Measure, Threshold};
use simtool_read::Corpus;

/// The method that was chosen for a collection, and the reasons for this choice.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// The chosen method with all its settings.
    pub method: Method,
    /// One sentence for each setting that was chosen. Names of settings are in backquotes.
    pub reasons: Vec<String>,
    /// Description of the sample from which the method was chosen.
    pub profile: CorpusProfile,
    /// Similarities of some sampled documents, called probes, to the most similar documents of the sample.
    pub nearest: Nearest,
    /// Kind of the terms in the sets that were compared for `nearest`, and the measure of their similarity.
    pub compared: (Terms, &'static Measure),
    /// Chosen threshold in hundredths. Documents with at least this similarity count as near-duplicates.
    pub least: usize,
}

/// Chooses a method for removing near-duplicates from one collection, or for matching two collections.
/// Settings in `given` are kept. All other settings are chosen from a sample of the documents.
///
/// # Errors
///
/// The given settings contradict each other or every possible method, the threads cannot be
/// started, or `progress` is cancelled.
pub fn suggest(
    corpora: Sides<&dyn Corpus>,
    given: &Options,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Suggestion> {
    let context = &Context::new(resources, progress)?;
    let sampled = corpora.map(SampledTexts::from_corpus);
    let profile = CorpusProfile::from_sample(&sampled, resources);
    let mut options = given.clone();
    let mut reasons = Vec::new();
    if !given.has("shingle") && !given.has("tokenizer") {
        let (shingle, reason) = rules::shingle(&profile);
        options.set("shingle", shingle);
        reasons.push(reason);
    }
    let terms = Terms::parse(&mut options.clone())?;
    let asked = options.clone().take("similarity");
    let asked = asked.map(|text| Threshold::parse_measured("similarity", &text)).transpose()?;
    let named = options.clone().take("measure").filter(|measure| measure == "jaccard");
    let measure = match (asked, named) {
        (Some(asked), _) => asked.measure(),
        (None, Some(_)) => &JACCARD,
        (None, None) => &COSINE,
    };
    let nearest = profile::nearest(&sampled, (&terms, measure), context)?;
    let (found, reason) = rules::threshold(&nearest, measure);
    let least = match asked {
        Some(asked) => {
            let (part, whole) = asked.fraction();
            (u64::from(part) * 100).div_ceil(u64::from(whole)) as usize
        }
        None if given.has("max_distance") => found,
        None => {
            reasons.push(reason);
            found
        }
    };
    let chosen = rules::method(&profile, &nearest, (measure, least), given);
    let is_replaced = |reason: &String| {
        chosen.instead.iter().any(|(name, _)| reason.starts_with(&format!("`{name}` ")))
    };
    reasons.retain(|reason| !is_replaced(reason));
    reasons.push(chosen.reason.clone());
    let method = rules::complete(&chosen, least, options)?;
    Ok(Suggestion { method, reasons, profile, nearest, compared: (terms, measure), least })
}

#[cfg(test)]
mod tests;
