//! Similarities of some sampled documents, called probes, to all documents of the sample.

use super::profile::{SampledDocument, SampledTexts};
use crate::evaluate::step;
use crate::method::{DocumentTerms, Fitted, TermScratch, Terms};
use crate::pipeline::probe_sets::ProbeSets;
use simtool_base::error::Result;
use simtool_base::progress::Work;
use simtool_base::quantity::counted;
use simtool_compute::context::Context;
use simtool_model::evaluation::SIMILARITY_STEPS;
use simtool_model::sides::Sides;
use simtool_model::similarity::Measure;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Maximum number of probes: sampled documents that are compared with the whole sample.
const PROBES: usize = 1000;
/// Number of similarities that are distinguished: 0 to 100 hundredths.
pub(super) const HUNDREDTHS: usize = 101;
/// Maximum number of example pairs on each side of the threshold.
const EXAMPLES: usize = 5;

/// Value in place of the index of a sampled document if there is no such document.
const NONE: u32 = u32::MAX;

/// Similarities of one probe (a sampled document) to the other documents of the sample. Element i is the number of
/// documents with a similarity of i hundredths. Documents that share no term with the probe have the similarity 0.
pub(super) type Histogram = [u32; HUNDREDTHS];

/// Similarities of some sampled documents, called probes, to all documents of the sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nearest {
    /// Number of probes, which are the documents that were compared with the whole sample.
    pub probes: u64,
    /// Mean number of distinct terms of the documents in the sample.
    pub terms: u64,
    /// Histogram of the similarities between each probe and the document that is most similar to it. Element
    /// i counts similarities of i hundredths, for i from 0 to 100.
    pub of_first: Vec<u64>,
    /// Similarities of the probes of each script, the script with most probes first.
    pub(super) scripts: Vec<ScriptSimilarities>,
    /// For each probe and each similarity in hundredths, the index of the first sampled document with this similarity,
    /// or [`NONE`].
    examples: Vec<[u32; HUNDREDTHS]>,
}

/// Similarities of the probes in one script to the sampled documents in the same script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ScriptSimilarities {
    /// Name of the script, for example Latin.
    pub(super) name: &'static str,
    /// Histogram of the similarities of each probe.
    pub(super) probes: Vec<Histogram>,
}

/// Two documents of the sample with a similarity close to the threshold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExamplePair {
    /// Similarity in hundredths, rounded down.
    pub similarity: usize,
    /// ID of each document, or the beginning of its text if it has no ID.
    pub names: [String; 2],
}

impl fmt::Display for ExamplePair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, right] = &self.names;
        write!(f, "{:.2} {left} ~ {right}", self.similarity as f64 / 100.0)
    }
}

/// Pairs of sampled documents whose similarities are closest to the threshold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExamplePairs {
    /// Pairs that reach the threshold, with the least similar pair first.
    pub above: Vec<ExamplePair>,
    /// Pairs that do not reach the threshold, with the most similar pair first.
    pub below: Vec<ExamplePair>,
}

impl ExamplePairs {
    /// Returns one sentence with the pairs above the threshold and one with the pairs below it, if there are such
    /// pairs.
    #[must_use]
    pub(crate) fn sentences(&self) -> Vec<String> {
        let sides = [("above", &self.above), ("below", &self.below)];
        let sentences = sides.into_iter().filter(|(_, pairs)| !pairs.is_empty());
        let pairs = |pairs: &[ExamplePair]| -> Vec<String> {
            pairs.iter().map(ExamplePair::to_string).collect()
        };
        sentences
            .map(|(side, all)| format!("just {side} the threshold: {}", pairs(all).join("; ")))
            .collect()
    }
}

impl Nearest {
    /// Returns the number of probes (sampled documents that were compared with the sample) that have a document of at
    /// least this similarity, given in hundredths.
    #[must_use]
    pub fn repeated(&self, hundredths: usize) -> u64 {
        self.of_first.iter().skip(hundredths).sum()
    }

    /// Creates the similarities of Latin probes. For each probe, `similarities` has the similarities to other
    /// documents in hundredths.
    #[cfg(test)]
    pub(super) fn of_one_script(similarities: &[Vec<usize>], terms: u64) -> Self {
        Self::of_scripts(&[("Latin", similarities.to_vec())], terms)
    }

    /// Creates the similarities of probes in several scripts.
    #[cfg(test)]
    pub(super) fn of_scripts(scripts: &[(&'static str, Vec<Vec<usize>>)], terms: u64) -> Self {
        let probe = |similarities: &Vec<usize>| {
            let mut found = ProbeFound::default();
            for &hundredth in similarities {
                found.add(hundredth, 0);
            }
            found
        };
        let compared = scripts.iter().flat_map(|(name, probes)| {
            probes.iter().map(move |similarities| (*name, probe(similarities)))
        });
        Self::new(compared.collect(), terms)
    }

    /// Creates the similarities from the documents that were found for each probe. `terms` is the mean number
    /// of distinct terms of a document.
    fn new(compared: Vec<(&'static str, ProbeFound)>, terms: u64) -> Self {
        let mut nearest = Self {
            probes: compared.len() as u64,
            terms,
            of_first: vec![0; HUNDREDTHS],
            ..Self::default()
        };
        let mut scripts: BTreeMap<&str, Vec<Histogram>> = BTreeMap::new();
        for (script, found) in compared {
            // A probe without any similar document counts as similarity 0.
            nearest.of_first[first(&found.counts).unwrap_or(0)] += 1;
            scripts.entry(script).or_default().push(found.counts);
            nearest.examples.push(found.examples);
        }
        nearest.scripts =
            scripts.into_iter().map(|(name, probes)| ScriptSimilarities { name, probes }).collect();
        // The sort is stable, so scripts with equally many probes stay in the order of their names.
        nearest.scripts.sort_by_key(|script| std::cmp::Reverse(script.probes.len()));
        nearest
    }

    /// Returns the pairs whose similarities are closest to the threshold `least`, in hundredths. Each document is in at
    /// most one pair, so that a large cluster does not supply all pairs.
    pub(super) fn examples(&self, least: usize, sampled: &Sides<SampledTexts>) -> ExamplePairs {
        let places = &places(sampled);
        let all = |similarity: usize| {
            let examples = self.examples.iter().map(move |examples| examples[similarity]);
            let pairs = places.iter().zip(examples).filter(|(_, other)| *other != NONE);
            pairs.map(move |(&place, other)| (similarity, [place as u32, other]))
        };
        // Pairs near the threshold come first, because these are the ones that a person has to judge.
        let mut chooser = ExampleChooser { sampled, used: [BTreeSet::new(), BTreeSet::new()] };
        ExamplePairs {
            above: chooser.choose((least..HUNDREDTHS).flat_map(all)),
            below: chooser.choose((1..least).rev().flat_map(all)),
        }
    }
}

/// Returns the greatest similarity in a histogram, in hundredths, or `None` if the histogram is empty.
pub(super) fn first(counts: &Histogram) -> Option<usize> {
    counts.iter().rposition(|&count| count > 0)
}

/// Returns a number of documents as text.
pub(super) fn documents(count: u64) -> String {
    counted(count, "document")
}

/// Returns a similarity as a decimal number, for example 0.05.
pub(super) fn ratio(hundredths: usize) -> String {
    match hundredths {
        100.. => "1".to_owned(),
        _ => format!("0.{hundredths:02}"),
    }
}

/// Chooses example pairs so that no document is in two of them.
struct ExampleChooser<'s> {
    sampled: &'s Sides<SampledTexts>,
    /// Indexes of the documents that were chosen as first and as second documents of pairs. If there is only one
    /// collection, only the first set is used.
    used: [BTreeSet<u32>; 2],
}

impl ExampleChooser<'_> {
    fn choose(&mut self, pairs: impl Iterator<Item = (usize, [u32; 2])>) -> Vec<ExamplePair> {
        let second = usize::from(self.sampled.is_two());
        let mut chosen = Vec::new();
        for (similarity, [left, right]) in pairs {
            if self.used[0].contains(&left) || self.used[second].contains(&right) {
                continue;
            }
            // Each example is about other documents, so that one template does not fill the list.
            self.used[0].insert(left);
            self.used[second].insert(right);
            let left = self.sampled.first().documents[left as usize].name();
            let right = self.sampled.second().documents[right as usize].name();
            chosen.push(ExamplePair { similarity, names: [left, right] });
            if chosen.len() == EXAMPLES {
                break;
            }
        }
        chosen
    }
}

/// Documents that were found similar to one probe.
#[derive(Clone)]
struct ProbeFound {
    counts: Histogram,
    /// For each similarity in hundredths, the index of the first sampled document with this similarity, or [`NONE`].
    examples: [u32; HUNDREDTHS],
}

impl Default for ProbeFound {
    fn default() -> Self {
        Self { counts: [0; HUNDREDTHS], examples: [NONE; HUNDREDTHS] }
    }
}

impl ProbeFound {
    fn add(&mut self, hundredth: usize, place: u32) {
        self.counts[hundredth] += 1;
        // The document that comes first is kept, so that the number of threads does not matter.
        self.examples[hundredth] = self.examples[hundredth].min(place);
    }

    fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count += more;
        }
        for (example, place) in self.examples.iter_mut().zip(other.examples) {
            *example = place.min(*example);
        }
    }
}

/// State of one thread that compares sampled documents with the probes.
struct ProbeComparing {
    /// For each probe, the number of terms that it shares with the document that is compared now. All numbers
    /// are 0 before each document.
    counts: Vec<u64>,
    scratch: TermScratch,
    found: Vec<ProbeFound>,
    all_terms: u64,
}

/// Returns the indexes of the probes among the sampled documents of the first collection. They are evenly spread.
fn places(sampled: &Sides<SampledTexts>) -> Vec<usize> {
    let documents = sampled.first().documents.len();
    let count = documents.min(PROBES);
    (0..count).map(|probe| probe * documents / count).collect()
}

/// Compares some sampled documents, called probes, with all sampled documents in the same script. Probes are
/// at most [`PROBES`] documents of the first collection, and they are compared with the second collection. If
/// there is only one collection, it is used as both.
pub(super) fn nearest(
    sampled: &Sides<SampledTexts>,
    terms: &Terms,
    measure: &Measure,
    context: &Context<'_>,
) -> Result<Nearest> {
    let terms = &DocumentTerms::new(terms, &Fitted::Nothing, context.isa());
    let set = |document: &SampledDocument, scratch: &mut TermScratch| {
        let set = terms.find(&document.text, scratch);
        set.sort_unstable();
        set.dedup();
        std::mem::take(set)
    };
    let asked = &sampled.first().documents;
    let others = &sampled.second().documents;
    let places = places(sampled);
    let mut scratch = TermScratch::default();
    let sets: Vec<Vec<u64>> =
        places.iter().map(|&place| set(&asked[place], &mut scratch)).collect();
    let probes = ProbeSets::new(sets.iter().map(|set| &set[..]), |_| 1);
    context.progress().begin("comparing a sample", Work::Steps(others.len() as u64));
    let start = || {
        Ok(ProbeComparing {
            counts: vec![0; probes.len()],
            scratch: TermScratch::default(),
            found: vec![ProbeFound::default(); probes.len()],
            all_terms: 0,
        })
    };
    // The sets of the probes are inverted once, so each document of the sample is tokenized once only.
    let parts = context.threads().try_fold(others.len(), start, |state, place| {
        let ProbeComparing { counts, scratch, found, all_terms } = state;
        let other = &others[place];
        let set = set(other, scratch);
        *all_terms += set.len() as u64;
        probes.visit_shared(&set, counts, |probe, shared, size| {
            let is_other = sampled.is_two() || places[probe] != place;
            if is_other && asked[places[probe]].script == other.script {
                let hundredths = hundredths(measure, shared, set.len() as u64, size);
                found[probe].add(hundredths, place as u32);
            }
        });
        context.progress().advance(1);
        context.check_cancelled()
    })?;
    let scripts = places.iter().map(|&place| asked[place].script);
    let mut compared: Vec<_> = scripts.map(|script| (script, ProbeFound::default())).collect();
    let mut all_terms = 0;
    for part in parts {
        all_terms += part.all_terms;
        for ((_, compared), found) in compared.iter_mut().zip(&part.found) {
            compared.merge(found);
        }
    }
    // Documents that share no term with a probe were not visited, but they have the similarity 0.
    count_unrelated(&mut compared, sampled);
    Ok(Nearest::new(compared, all_terms / (others.len() as u64).max(1)))
}

/// Adds, for each probe in `compared`, the documents in its script that share no term with it. They are counted as
/// documents with the similarity 0.
fn count_unrelated(compared: &mut [(&'static str, ProbeFound)], sampled: &Sides<SampledTexts>) {
    let mut in_script: BTreeMap<&str, u32> = BTreeMap::new();
    for document in &sampled.second().documents {
        *in_script.entry(document.script).or_default() += 1;
    }
    for (script, found) in compared {
        let others = in_script.get(script).copied().unwrap_or(0);
        // A probe is not compared with itself.
        let others = if sampled.is_two() { others } else { others.saturating_sub(1) };
        found.counts[0] += others - found.counts.iter().sum::<u32>();
    }
}

/// Returns the similarity of two sets in hundredths, rounded down. The sets share `shared` terms, and the
/// pair `(left, right)` holds the numbers of their terms.
fn hundredths(measure: &Measure, shared: u64, left: u64, right: u64) -> usize {
    let steps = SIMILARITY_STEPS as usize;
    (steps - step(measure, shared, left, right)) * 100 / steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suggest::profile::{CorpusProfile, words};
    use simtool_base::progress::NoProgress;
    use simtool_compute::resources::Resources;
    use simtool_model::similarity::JACCARD;
    use simtool_read::Texts;

    #[test]
    fn each_document_is_compared_with_all_others_in_its_script() {
        let texts =
            ["aaaa bbbb cccc", "aaaa bbbb cccc", "aaaa bbbb dddd", "eeee ffff", "aaaa дддддддд"];
        let resources = Resources { threads: 2, ..Resources::default() };
        let sampled = Sides::One(SampledTexts::from_corpus(&Texts::of(&texts)));
        let profile = CorpusProfile::from_sample(&sampled, &resources);
        assert_eq!((profile.documents, profile.sampled, profile.is_complete), (5, 5, true));
        assert_eq!(profile.words.median, 2);
        let context = Context::new(&resources, &NoProgress).unwrap();
        let found = nearest(&sampled, &words(), &JACCARD, &context).unwrap();
        let first = &found.of_first;
        assert_eq!((first[100], first[50], first[0], first.iter().sum::<u64>()), (2, 1, 2, 5));
        let counted = found.scripts.iter().map(|script| (script.name, script.probes.len()));
        assert_eq!(counted.collect::<Vec<_>>(), [("Latin", 4), ("Cyrillic", 1)]);
        assert_eq!((found.terms, found.repeated(50)), (2, 3));
        let examples = found.examples(60, &sampled);
        assert_eq!(examples.above.len(), 1);
        assert_eq!(examples.above[0].similarity, 100);
        assert_eq!(examples.above[0].names, ["\"aaaa bbbb cccc\"", "\"aaaa bbbb cccc\""]);
        // Both pairs below 0.60 have a document that the pair above has.
        assert_eq!(examples.below, []);
        assert_eq!(found.examples(40, &sampled).above.len(), 1);
        assert_eq!(found.examples(101, &sampled).below[0].similarity, 100);
    }
}
