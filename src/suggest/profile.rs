//! Describes a collection from a sample of its documents: their lengths, their scripts, and their
//! similarities to each other.

use crate::evaluate::step;
use crate::method::{DocumentTerms, Fitted, TermScratch, Terms};
use crate::pipeline::probe_sets::ProbeSets;
use crate::sample::{Budget, Sample, TextReceiver};
use simtool_base::error::Result;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_model::evaluation::SIMILARITY_STEPS;
use simtool_model::sides::Sides;
use simtool_model::similarity::Measure;
use simtool_read::Corpus;
use simtool_terms::extract::weighting::Weighting;
use simtool_terms::tokenize::TokenizerKind;
use simtool_terms::tokenize::letters::Letters;
use simtool_terms::tokenize::stop_words::StopWords;
use std::num::NonZeroUsize;

/// Approximate number of bytes of the input that are read for the sample.
const LOOKED_AT: f64 = 32e6;
/// Number of bytes of sampled text that are kept in memory for comparisons.
const KEPT: f64 = 32e6;
/// Maximum number of probes, which are the sampled documents that are compared with all other sampled
/// documents.
const PROBES: usize = 1000;

/// Number of similarities that are counted for each probe, beginning with the greatest. A probe is a sampled
/// document that is compared with all other sampled documents. Further similarities say little: the probe
/// belongs to a large cluster, or the documents are unrelated.
const NEAREST: usize = 20;

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

/// Similarities of some sampled documents, called probes, to the most similar documents of the sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearest {
    /// Number of probes, which are the documents that were compared with the whole sample.
    pub probes: u64,
    /// Mean number of distinct terms of a sampled document.
    pub terms: u64,
    /// Histogram of the similarities between each probe and the 20 documents that are most similar to it.
    /// Element i counts similarities of i hundredths, for i from 0 to 100.
    pub of_all: Vec<u64>,
    /// Histogram of the similarities between each probe and the document that is most similar to it. Element
    /// i counts similarities of i hundredths, for i from 0 to 100.
    pub of_first: Vec<u64>,
    /// Median over all probes of the similarity between a probe and its 20th most similar document, in
    /// hundredths. Documents with a lower similarity are taken as unrelated.
    pub bulk: usize,
}

impl Nearest {
    /// Creates the histograms from `nearest`. For each probe, `nearest` has the similarities to its most
    /// similar documents, in hundredths and in descending order. `terms` is the mean number of distinct terms
    /// of a document.
    pub(super) fn new(nearest: &[Vec<u8>], terms: u64) -> Self {
        let mut of_all = vec![0; 101];
        let mut of_first = vec![0; 101];
        let mut twentieth: Vec<u8> = Vec::with_capacity(nearest.len());
        for similarities in nearest {
            for &hundredth in similarities {
                of_all[usize::from(hundredth)] += 1;
            }
            // A probe without any similar document counts as similarity 0.
            of_first[usize::from(similarities.first().copied().unwrap_or(0))] += 1;
            twentieth.push(similarities.get(NEAREST - 1).copied().unwrap_or(0));
        }
        twentieth.sort_unstable();
        let bulk = twentieth.get(twentieth.len() / 2).copied().unwrap_or(0).into();
        Self { probes: nearest.len() as u64, terms, of_all, of_first, bulk }
    }

    /// Returns the number of probes that have a document of at least this similarity, given in hundredths.
    #[must_use]
    pub fn repeated(&self, hundredths: usize) -> u64 {
        self.of_first.iter().skip(hundredths).sum()
    }
}

/// Returns the kind of terms for which each word is a term.
fn words() -> Terms {
    let tokenizer = TokenizerKind::DEFAULT;
    let length = NonZeroUsize::MIN;
    let stop_words = StopWords::default();
    let weighting = Weighting::default();
    Terms::Shingles { tokenizer, length, stop_words, weighting }
}

/// Sampled texts of a collection, and the estimated number of documents of the collection.
pub(super) struct SampledTexts {
    texts: Vec<Vec<u8>>,
    documents: u64,
    is_complete: bool,
    /// Number of bytes of text that may still be stored from the part of the input that is being read.
    left: usize,
}

impl TextReceiver for SampledTexts {
    #[expect(clippy::cast_sign_loss, reason = "no share is negative")]
    fn begin_stretch(&mut self, share: f64) {
        self.left = (KEPT * share) as usize;
    }

    fn receive(&mut self, text: &[u8]) -> usize {
        if self.left > 0 {
            self.left = self.left.saturating_sub(text.len());
            self.texts.push(text.to_vec());
        }
        0
    }
}

impl SampledTexts {
    /// Reads a sample of the documents of a collection. The sample depends only on the collection, and not on
    /// a random number or the time.
    #[expect(clippy::cast_sign_loss, reason = "no number of documents is negative")]
    pub(super) fn from_corpus(corpus: &dyn Corpus) -> Self {
        let mut sampled = Self { texts: Vec::new(), documents: 0, is_complete: true, left: 0 };
        let sample = Sample::read(corpus, &mut sampled, Budget::Bytes(LOOKED_AT));
        let kept = sampled.texts.len() as u64;
        sampled.documents = (sample.amounts.documents.round() as u64).max(kept);
        sampled.is_complete = sample.is_complete && sampled.documents == kept;
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
        for text in sampled.iter().flat_map(|side| &side.texts) {
            let decoded = String::from_utf8_lossy(text);
            letters.add(&decoded);
            of_characters.push(decoded.chars().count() as u64);
            of_words.push(words.find(text, &mut scratch).len() as u64);
        }
        let documents = |side: &SampledTexts| side.documents as f64;
        Self {
            documents: sampled.iter().map(|side| side.documents).sum(),
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

/// State of one thread that compares sampled documents with the probes.
struct ProbeComparing {
    /// For each probe, the number of terms that it shares with the document that is compared now. All numbers
    /// are 0 before each document.
    counts: Vec<u64>,
    scratch: TermScratch,
    /// For each probe, the greatest similarities found so far, in hundredths.
    found: Vec<Vec<u8>>,
    all_terms: u64,
}

/// Compares some sampled documents, called probes, with all sampled documents. Probes are at most [`PROBES`]
/// documents of the first collection, and they are compared with the second collection. If there is only one
/// collection, it is used as both.
pub(super) fn nearest(
    sampled: &Sides<SampledTexts>,
    (terms, measure): (&Terms, &Measure),
    context: &Context<'_>,
) -> Result<Nearest> {
    let terms = &DocumentTerms::new(terms, &Fitted::Nothing, context.isa());
    let set = |text: &[u8], scratch: &mut TermScratch| {
        let set = terms.find(text, scratch);
        set.sort_unstable();
        set.dedup();
        std::mem::take(set)
    };
    let asked = &sampled.first().texts;
    let others = &sampled.second().texts;
    let count = asked.len().min(PROBES);
    let places: Vec<usize> = (0..count).map(|probe| probe * asked.len() / count).collect();
    let mut scratch = TermScratch::default();
    let sets: Vec<Vec<u64>> =
        places.iter().map(|&place| set(&asked[place], &mut scratch)).collect();
    let probes = ProbeSets::new(sets.iter().map(|set| &set[..]), |_| 1);
    context.progress().begin("comparing a sample", Work::Steps(others.len() as u64));
    let start = || {
        Ok(ProbeComparing {
            counts: vec![0; probes.len()],
            scratch: TermScratch::default(),
            found: vec![Vec::new(); probes.len()],
            all_terms: 0,
        })
    };
    let parts = context.threads().try_fold(others.len(), start, |state, place| {
        let ProbeComparing { counts, scratch, found, all_terms } = state;
        let set = set(&others[place], scratch);
        *all_terms += set.len() as u64;
        probes.visit_shared(&set, counts, |probe, shared, size| {
            if sampled.is_two() || places[probe] != place {
                let sizes = (set.len() as u64, size);
                keep(&mut found[probe], hundredths(measure, shared, sizes));
            }
        });
        context.progress().advance(1);
        context.check_cancelled()
    })?;
    let mut nearest = vec![Vec::new(); probes.len()];
    let mut all_terms = 0;
    for part in parts {
        all_terms += part.all_terms;
        for (nearest, found) in nearest.iter_mut().zip(part.found) {
            for similarity in found {
                keep(nearest, similarity);
            }
        }
    }
    Ok(Nearest::new(&nearest, all_terms / (others.len() as u64).max(1)))
}

/// Returns the similarity of two sets in hundredths, rounded down. The sets share `shared` terms, and the
/// pair `(left, right)` holds the numbers of their terms.
fn hundredths(measure: &Measure, shared: u64, (left, right): (u64, u64)) -> u8 {
    let steps = SIMILARITY_STEPS as usize;
    // The value is at most 100, because `step` is not negative.
    ((steps - step(measure, shared, left, right)) * 100 / steps) as u8
}

/// Inserts `similarity` into `greatest`, which holds the 20 greatest similarities so far in descending order.
fn keep(greatest: &mut Vec<u8>, similarity: u8) {
    if greatest.len() == NEAREST {
        if greatest[NEAREST - 1] >= similarity {
            return;
        }
        greatest.pop();
    }
    let at = greatest.partition_point(|&other| other >= similarity);
    greatest.insert(at, similarity);
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::progress::NoProgress;
    use simtool_model::similarity::JACCARD;
    use simtool_read::Texts;

    #[test]
    fn the_greatest_are_kept_in_order() {
        let mut greatest = Vec::new();
        for number in 0..100_u32 {
            keep(&mut greatest, (number * 37 % 101) as u8);
        }
        let expected: Vec<u8> = {
            let mut all: Vec<u8> = (0..100_u32).map(|n| (n * 37 % 101) as u8).collect();
            all.sort_unstable_by(|a, b| b.cmp(a));
            all.truncate(NEAREST);
            all
        };
        assert_eq!(greatest, expected);
    }

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

    #[test]
    fn each_document_is_compared_with_all_others() {
        let texts = ["aaaa bbbb cccc", "aaaa bbbb cccc", "aaaa bbbb dddd", "eeee ffff"];
        let resources = Resources { threads: 2, ..Resources::default() };
        let sampled = Sides::One(SampledTexts::from_corpus(&Texts::of(&texts)));
        let profile = CorpusProfile::from_sample(&sampled, &resources);
        assert_eq!((profile.documents, profile.sampled, profile.is_complete), (4, 4, true));
        assert_eq!(profile.words, Quantiles { tenth: 2, median: 3, ninetieth: 3 });
        assert_eq!(profile.scripts, [("Latin", 1.0)]);
        let context = Context::new(&resources, &NoProgress).unwrap();
        let compared = (&words(), &JACCARD);
        let found = nearest(&sampled, compared, &context).unwrap();
        let counts = |of: &[u64]| (of[100], of[50], of[0], of.iter().sum::<u64>());
        assert_eq!(counts(&found.of_first), (2, 1, 1, 4));
        assert_eq!(counts(&found.of_all), (2, 4, 0, 6));
        assert_eq!((found.terms, found.bulk, found.repeated(50)), (2, 0, 3));
    }
}
