//! Describes a collection from a sample of its documents: their lengths and their scripts.

use crate::method::{DocumentTerms, Fitted, TermScratch, Terms};
use crate::sample::{Budget, Sample, TextReceiver};
use simtool_compute::resources::Resources;
use simtool_model::document::Document;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use simtool_terms::extract::weighting::Weighting;
use simtool_terms::text_rules::TextRules;
use simtool_terms::tokenize::TokenizerKind;
use simtool_terms::tokenize::letters::Letters;
use simtool_terms::tokenize::stop_words::StopWords;
use std::num::NonZeroUsize;

/// Approximate number of bytes of the input that are read for the sample.
const LOOKED_AT: f64 = 32e6;
/// Number of bytes of sampled text that are kept in memory for comparisons.
const KEPT: f64 = 32e6;
/// Minimum share of letters in scripts without spaces, such as Chinese, for which the rules for these scripts
/// are used.
pub(super) const UNSPACED: f64 = 0.5;
/// Maximum number of characters of an ID that is shown.
const SHOWN_ID: usize = 100;
/// Maximum number of characters of a text that are shown instead of an ID.
const SHOWN_TEXT: usize = 40;

/// Description of a collection, or of two collections that are matched, from a sample of the documents.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CorpusProfile {
    /// Approximate number of documents in the collection, or in both collections together.
    pub documents: u64,
    /// Approximate number of pairs of documents that a run would compare.
    pub pairs: f64,
    /// Number of documents in the sample.
    pub sampled: u64,
    /// Whether the sample contains all documents.
    pub is_complete: bool,
    /// Quantiles of the number of characters of the sampled documents.
    pub characters: Quantiles,
    /// Quantiles of the number of words of the sampled documents.
    pub words: Quantiles,
    /// Name of each script, such as Latin, and the share of the letters that belong to it. The greatest share
    /// comes first.
    pub scripts: Vec<(&'static str, f64)>,
    /// Share of the letters that belong to scripts without spaces between words, such as Chinese.
    pub unspaced: f64,
    /// Number of bytes of memory that a run may use.
    pub memory: u64,
}

/// Quantiles of a number, such as the number of words, over the sampled documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// Value that a tenth of the documents do not exceed.
    pub tenth: u64,
    /// Value that half of the documents do not exceed.
    pub median: u64,
    /// Value that nine tenths of the documents do not exceed.
    pub ninetieth: u64,
}

impl Quantiles {
    fn from_numbers(mut numbers: Vec<u64>) -> Self {
        numbers.sort_unstable();
        let at = |tenths: usize| {
            numbers.get((numbers.len() * tenths / 10).saturating_sub(1)).copied().unwrap_or(0)
        };
        Self { tenth: at(1), median: at(5), ninetieth: at(9) }
    }
}

/// Returns the rules for terms that are single words.
pub(super) fn words() -> Terms {
    let tokenizer = TokenizerKind::DEFAULT;
    let length = NonZeroUsize::MIN;
    let stop_words = StopWords::default();
    let weighting = Weighting::default();
    let rules = TextRules::default();
    Terms::Shingles { tokenizer, length, stop_words, weighting, rules }
}

/// A sampled document.
pub(super) struct SampledDocument {
    pub(super) text: Vec<u8>,
    /// Name of the script of most letters. All scripts without spaces between words, such as Chinese, count as
    /// one.
    pub(super) script: &'static str,
    /// ID of the document. `None` if it has no ID.
    id: Option<String>,
}

impl SampledDocument {
    fn new(document: &Document<'_>) -> Self {
        let mut letters = Letters::default();
        letters.add(&String::from_utf8_lossy(document.text));
        let script = match letters.shares().first() {
            _ if letters.unspaced_share() >= UNSPACED => "scripts without spaces",
            Some(&(script, _)) => script,
            None => "no script",
        };
        let id = document.id.map(|id| String::from_utf8_lossy(id.bytes()).into_owned());
        Self { text: document.text.to_vec(), script, id }
    }

    /// Returns the ID in a form that fits into a line, or the beginning of the text in quotes if there is no ID.
    pub(super) fn name(&self) -> String {
        let line = |text: &str, length: usize| -> String {
            let printable = text.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c });
            printable.take(length).collect()
        };
        if let Some(id) = &self.id {
            return line(id, SHOWN_ID);
        }
        // No character has more than four bytes.
        let start = &self.text[..self.text.len().min(4 * SHOWN_TEXT)];
        format!("\"{}\"", line(&String::from_utf8_lossy(start), SHOWN_TEXT))
    }
}

/// Sampled documents of a collection, and the estimated number of documents of the collection.
pub(super) struct SampledTexts {
    pub(super) documents: Vec<SampledDocument>,
    /// Estimated number of documents in the collection.
    pub(super) all: u64,
    is_complete: bool,
    /// Number of bytes of text that may still be stored from the part of the input that is being read.
    left: usize,
}

impl TextReceiver for SampledTexts {
    #[expect(clippy::cast_sign_loss, reason = "no share is negative")]
    fn begin_section(&mut self, share: f64) {
        self.left = (KEPT * share) as usize;
    }

    fn receive(&mut self, document: &Document<'_>) -> usize {
        if self.left > 0 {
            self.left = self.left.saturating_sub(document.text.len());
            self.documents.push(SampledDocument::new(document));
        }
        0
    }
}

impl SampledTexts {
    /// Reads a sample of the documents of a collection. The sample depends only on the collection, and not on
    /// a random number or the time.
    #[expect(clippy::cast_sign_loss, reason = "no number of documents is negative")]
    pub(super) fn from_corpus(corpus: &dyn Corpus) -> Self {
        let mut sampled = Self { documents: Vec::new(), all: 0, is_complete: true, left: 0 };
        let sample = Sample::read(corpus, &mut sampled, Budget::Bytes(LOOKED_AT));
        let kept = sampled.documents.len() as u64;
        sampled.all = (sample.amounts.documents.round() as u64).max(kept);
        sampled.is_complete = sample.is_complete && sampled.all == kept;
        sampled
    }
}

impl CorpusProfile {
    pub(super) fn from_sample(sampled: &Sides<SampledTexts>, resources: &Resources) -> Self {
        let words = DocumentTerms::new(&words(), &Fitted::Nothing, resources.isa);
        let mut scratch = TermScratch::default();
        let mut letters = Letters::default();
        let mut of_characters = vec![];
        let mut of_words = vec![];
        for document in sampled.iter().flat_map(|side| &side.documents) {
            let text = &document.text[..];
            let decoded = String::from_utf8_lossy(text);
            letters.add(&decoded);
            of_characters.push(decoded.chars().count() as u64);
            of_words.push(words.find(text, &mut scratch).len() as u64);
        }
        let documents = |side: &SampledTexts| side.all as f64;
        Self {
            documents: sampled.iter().map(|side| side.all).sum(),
            pairs: match sampled {
                Sides::One(all) => documents(all) * documents(all) / 2.0,
                Sides::Two(queries, corpus) => documents(queries) * documents(corpus),
            },
            sampled: of_words.len() as u64,
            is_complete: sampled.iter().all(|side| side.is_complete),
            characters: Quantiles::from_numbers(of_characters),
            words: Quantiles::from_numbers(of_words),
            scripts: letters.shares(),
            unspaced: letters.unspaced_share(),
            memory: resources.memory,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_of_the_documents() {
        let found = Quantiles::from_numbers((1..=10).rev().collect());
        assert_eq!(found, Quantiles { tenth: 1, median: 5, ninetieth: 9 });
        assert_eq!(
            Quantiles::from_numbers(vec![7]),
            Quantiles { tenth: 7, median: 7, ninetieth: 7 }
        );
        assert_eq!(Quantiles::from_numbers(vec![]), Quantiles::default());
    }
}
