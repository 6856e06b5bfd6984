//! A method for a collection, chosen by a sample of it, with the reasons.
//!
//! The sample is of a fixed size and drawn without chance or clock: the same collection and the same
//! settings give the same choice, on any number of threads. [`CorpusProfile`] is what it says, the
//! rules that choose are functions of it.

mod profile;
mod rules;

pub use profile::{CorpusProfile, Nearest, Quantiles};

use super::method::{Method, Terms};
use crate::context::Context;
use crate::error::Result;
use crate::options::Options;
use crate::progress::Progress;
use crate::read::Corpus;
use crate::resources::Resources;
use crate::sides::Sides;
use crate::similarity::{Measure, Threshold};
use profile::SampledTexts;

/// What to do with a collection, and why.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// The method.
    pub method: Method,
    /// Why so, a sentence for each part that was chosen. Settings stand in backquotes.
    pub reasons: Vec<String>,
    /// What the sample says.
    pub profile: CorpusProfile,
    /// How similar documents of the sample are.
    pub nearest: Nearest,
    /// The terms and the measure by which this was found.
    pub compared: (Terms, Measure),
    /// From which hundredths of it on documents count as repeats.
    pub least: usize,
}

/// Chooses a method for a collection, or for two that are matched; what `given` says is kept, and the
/// rest chosen.
///
/// # Errors
///
/// What was given contradicts itself, or every method that could be chosen; the threads cannot be
/// started; `progress` is cancelled.
pub fn suggest(
    corpora: Sides<&dyn Corpus>,
    given: &Options,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Suggestion> {
    let context = &Context::new(resources, progress)?;
    let sampled = corpora.map(SampledTexts::of);
    let profile = CorpusProfile::of(&sampled, resources);
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
        (None, Some(_)) => Measure::Jaccard,
        (None, None) => Measure::Cosine,
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
