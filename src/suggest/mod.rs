//! Chooses a method for a collection from a sample of it, and gives the reasons.
//!
//! The sample has a fixed size and is drawn without randomness or a clock. So the same collection and
//! settings give the same choice, with any number of threads. [`CorpusProfile`] describes the sample, and
//! [`Nearest`] has similarities of its documents. The rules that choose the method depend only on these
//! values and on the settings of the user.
//!
//! A threshold other than the default is chosen only if there is a gap between the similarities of unrelated
//! documents and of repeats. Otherwise the default is used.

mod gap;
mod nearest;
mod profile;
mod rules;

pub use nearest::{ExamplePair, ExamplePairs, Nearest};
pub use profile::{CorpusProfile, Quantiles};

use crate::method::{Method, Terms};
use gap::{Limits, find_gap};
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
    /// Description of the similarities in the sample, for example "gap between 0.45 and 0.62".
    pub seen: String,
    /// Sampled pairs with similarities just above and just below the threshold.
    pub pairs: ExamplePairs,
}

/// Chooses a method for removing near-duplicates from one collection, or for matching two collections.
/// Settings in `given` are kept. All other settings are chosen from a sample of the documents.
///
/// # Errors
///
/// The given settings contradict each other or every possible method, the threads cannot be
/// started, or `progress` is cancelled.
pub(crate) fn suggest(
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
    if !given.has("shingle") {
        let (shingle, reason) = rules::shingle(&profile);
        options.set("shingle", shingle);
        reasons.push(reason);
    }
    let terms = Terms::parse(&mut options.clone())?;
    let (asked, measure) = asked(&options)?;
    let nearest = nearest::nearest(&sampled, &terms, measure, context)?;
    let sampled_share = profile.sampled as f64 / profile.documents.max(1) as f64;
    let limits = Limits { copies: rules::copies(measure), sampled_share };
    let mut evidence = find_gap(&nearest, limits);
    if evidence.has_similarities {
        // The threshold may be of another measure, so the description names its own.
        evidence.seen = format!("{}, by {} of {terms}", evidence.seen, measure.described);
    }
    let chosen = rules::choose(&profile, &nearest, &evidence, (measure, asked), given);
    chosen.replace_settings(&mut options, &mut reasons);
    let (limit_measure, least) = match chosen.default_because {
        Some(_) => (&JACCARD, rules::DEFAULT_LEAST),
        None => (measure, asked.or(evidence.least).unwrap_or(limits.copies)),
    };
    let limit_terms = Terms::parse(&mut options.clone())?;
    let is_compared = limit_terms == terms && limit_measure.name == measure.name;
    let nearest = if is_compared {
        nearest
    } else {
        nearest::nearest(&sampled, &limit_terms, limit_measure, context)?
    };
    reasons.extend(chosen.limit_reason(&nearest, limit_measure, least, &evidence, given));
    reasons.push(chosen.reason.clone());
    Ok(Suggestion {
        method: rules::complete(&chosen, least, options)?,
        reasons,
        profile,
        pairs: nearest.examples(least, &sampled),
        nearest,
        compared: (limit_terms, limit_measure),
        least,
        seen: evidence.seen,
    })
}

/// Returns the threshold, in hundredths, that the user gave in `options`, if any, and the measure of similarity by
/// which the sample is compared.
fn asked(options: &Options) -> Result<(Option<usize>, &'static Measure)> {
    let asked = options.clone().take("similarity");
    let asked = asked.map(|text| Threshold::parse_measured("similarity", &text)).transpose()?;
    let named = options.clone().take("measure").filter(|measure| measure == "jaccard");
    let measure = match (asked, named) {
        (Some(asked), _) => asked.measure(),
        (None, Some(_)) => &JACCARD,
        (None, None) => &COSINE,
    };
    let hundredths = asked.map(|asked| {
        let (part, whole) = asked.fraction();
        (u64::from(part) * 100).div_ceil(u64::from(whole)) as usize
    });
    Ok((hundredths, measure))
}

#[cfg(test)]
mod tests;
