//! Estimates from a random sample how many near-duplicates a method misses, and how many pairs it finds
//! wrongly. The collection needs no labels.
//!
//! Each sampled document is compared with the whole collection, because pairs within a sample are too rare.
//! For example, pairs within a sample of 1 % are 0.01 % of all pairs. A pair counts as true if the sets of
//! terms of its documents are similar enough. No person judges the pairs.

use super::compared::DenseRows;
use crate::evaluate::{RatioEstimate, SampledDocument, ratio_estimate};
use crate::method::presets::NamedMethod;
use crate::method::{Criterion, DocumentTerms, Fitted, Method, TermScratch};
use crate::pipeline::fingerprint_collection::{WithoutWords, fingerprint_collection};
use crate::pipeline::probe_sets::ProbeSets;
use crate::pipeline::shard_summary::{CollectionSummary, read_again};
use crate::pipeline::watched::Watched;
use simtool_base::error::{Error, Result};
use simtool_base::progress::{Progress, Work};
use simtool_base::stable_hash::{hash, mix};
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_model::document::DocOrdinal;
use simtool_model::similarity::Threshold;
use simtool_read::Corpus;

/// Maximum number of true near-duplicates that a document may have to count for [`SampledMethod::recall_of_small`].
/// Documents with more near-duplicates belong to large clusters, which dominate the recall of all documents.
const LARGE: u64 = 20;

/// Settings of a sample, and the similarity that defines the true near-duplicates.
#[derive(Clone, Copy, Debug)]
pub struct SampleSettings {
    /// Number of documents to draw. A smaller collection is used as a whole.
    pub size: usize,
    /// Seed of the random choice of documents. Each seed draws another sample.
    pub seed: u64,
    /// Minimum similarity of two sets of terms for which the documents count as true near-duplicates. If it
    /// is `None`, the minimum similarity of the method is used, or 0.8 if the method compares no sets.
    pub similarity: Option<Threshold>,
}

/// Estimates of the recall and precision of a method from a sample of documents.
#[derive(Clone, Debug)]
pub struct SampledMethod {
    /// Name by which the method was selected.
    pub name: String,
    /// All settings of the method as text, for example `simhash:bits=64,max_distance=3`.
    pub parameters: String,
    /// Number of documents in the collection.
    pub documents: u64,
    /// Number of documents in the sample.
    pub sample: u64,
    /// Minimum similarity of two sets of terms for which the documents count as true near-duplicates.
    pub similarity: Threshold,
    /// Description of the terms of the sets that are compared, for example `words:3`.
    pub terms: String,
    /// Estimated recall: the share of the true near-duplicates of sampled documents that the method finds.
    pub recall: RatioEstimate,
    /// Estimated precision: the share of true near-duplicates among the documents that the method finds near
    /// sampled documents.
    pub precision: RatioEstimate,
    /// Estimated recall for the sampled documents with at most 20 true near-duplicates.
    pub recall_of_small: RatioEstimate,
}

/// Draws a sample of the documents of `corpus` and estimates the recall and precision of the method in
/// `named`. Also returns the summary of the corpus.
///
/// # Errors
///
/// The threads cannot be started, there are no documents or more than 2³² − 1, or `progress` is cancelled. Unreadable
/// records and files are no error but part of the summary.
pub fn estimate_by_sample(
    corpus: &dyn Corpus,
    named: &NamedMethod,
    settings: SampleSettings,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<(SampledMethod, CollectionSummary)> {
    let NamedMethod { name, method } = named;
    let context = &Context::new(resources, progress)?;
    let watched = &Watched { corpus, progress } as &dyn Corpus;
    let (rows, summary) = match method.close() {
        Criterion::Similarity(_) | Criterion::Coverage => {
            method.check_pairs("a measurement")?;
            progress.begin("reading", Work::Bytes(watched.bytes()));
            (None, CollectionSummary::read(watched, context.threads())?)
        }
        Criterion::Distance(distance) => {
            let recipe = method.recipe();
            let without_words = WithoutWords::Allowed;
            let made = fingerprint_collection(corpus, recipe, resources, without_words, progress)?;
            (Some((DenseRows::new(made.rows), distance)), made.summary)
        }
    };
    if summary.ids.is_empty() {
        return Err(Error::limit("no document was read", "there is nothing to draw a sample of"));
    }
    let sample = drawn(watched, &summary, settings);
    let similarity = settings.similarity.unwrap_or_else(|| own_similarity(method));
    let similar = Similar { corpus: watched, summary: &summary, context };
    let thresholds = PartnerMinimums { truth: similarity, found: threshold_of_sets(method) };
    let partners = similar.partners(method, &sample, thresholds)?;

    let mut recall = Vec::new();
    let mut precision = Vec::new();
    for (&document, partners) in sample.iter().zip(&partners) {
        let near =
            rows.as_ref().map(|(rows, distance)| rows.near(document, *distance, resources.isa));
        let found = partners.found_by(method, near);
        let hits = partners.count_true(&found);
        recall.push(SampledDocument { hits, partners: partners.truth.len() as u64 });
        precision.push(SampledDocument { hits, partners: found.len() as u64 });
    }
    let all = summary.ids.len() as u64;
    let is_small = |document: &&SampledDocument| document.partners <= LARGE;
    let small: Vec<SampledDocument> = recall.iter().filter(is_small).copied().collect();
    let sampled = SampledMethod {
        name: name.clone(),
        parameters: method.to_string(),
        documents: all,
        sample: sample.len() as u64,
        similarity,
        terms: describe_terms(method),
        recall: ratio_estimate(&recall, all),
        precision: ratio_estimate(&precision, all),
        recall_of_small: ratio_estimate(&small, all),
    };
    Ok((sampled, summary))
}

/// Returns the minimum similarity of the sets that the method requires, or `None` if it compares fingerprints only.
fn threshold_of_sets(method: &Method) -> Option<Threshold> {
    match method.close() {
        Criterion::Similarity(own) => Some(own),
        Criterion::Distance(_) | Criterion::Coverage => method.verify(),
    }
}

/// Returns a description of the terms of the sets that the method compares, for example `words:3`.
fn describe_terms(method: &Method) -> String {
    match method.compared() {
        terms if terms.are_weighed_in_sets() => format!("{terms} weighted by IDF"),
        terms => terms.to_string(),
    }
}

/// Returns the minimum similarity of the sets that the method requires, or 0.8 if it compares fingerprints only.
fn own_similarity(method: &Method) -> Threshold {
    match method.close() {
        Criterion::Similarity(own) => own,
        Criterion::Distance(_) | Criterion::Coverage => {
            method.verify().unwrap_or(Threshold::DEFAULT)
        }
    }
}

/// Draws the sample: the documents whose IDs have the smallest hashes. Returns the numbers of these documents in
/// ascending order.
fn drawn(corpus: &dyn Corpus, summary: &CollectionSummary, settings: SampleSettings) -> Vec<u32> {
    let key = |row: u32| {
        let document = DocOrdinal(row);
        // The choice depends on IDs (or on file name and record number) only, so the same documents are drawn if the
        // files come in another order.
        let name = summary.ids.id(document).map_or_else(
            || {
                let place = summary.ids.place(document);
                let file = corpus.file_name(place.file as usize);
                hash(format!("{}:{}", file.display(), place.record).as_bytes())
            },
            |id| hash(id.bytes()),
        );
        (mix(name.wrapping_add(settings.seed)), row)
    };
    let mut keys: Vec<(u64, u32)> = (0..summary.ids.len() as u32).map(key).collect();
    // The smallest hashes are a random sample that does not depend on the order of the documents.
    keys.sort_unstable();
    keys.truncate(settings.size.max(1));
    let mut rows: Vec<u32> = keys.into_iter().map(|(_, row)| row).collect();
    rows.sort_unstable();
    rows
}

/// Minimum similarities that define the partners of a sampled document. A partner is another document that is
/// similar to it.
#[derive(Clone, Copy)]
struct PartnerMinimums {
    /// Minimum similarity of two sets of terms for which the documents count as true near-duplicates.
    truth: Threshold,
    /// Minimum similarity of two sets that the method requires. `None` if the method compares fingerprints
    /// only.
    found: Option<Threshold>,
}

/// Numbers of the documents that are similar to one sampled document, in ascending order. `truth` has its
/// true near-duplicates, and `similar` the documents whose sets the method finds similar.
#[derive(Clone, Default)]
struct FoundPartners {
    truth: Vec<u32>,
    similar: Vec<u32>,
}

impl FoundPartners {
    /// Returns the numbers of the documents that `method` finds as near-duplicates of the sampled document. `near`
    /// lists the documents with near fingerprints. It is `None` if the method compares only sets.
    fn found_by(&self, method: &Method, near: Option<Vec<u32>>) -> Vec<u32> {
        let Some(near) = near else { return self.similar.clone() };
        if method.verify().is_none() {
            return near;
        }
        let is_similar = |other: &u32| self.similar.binary_search(other).is_ok();
        near.into_iter().filter(is_similar).collect()
    }

    /// Returns how many documents of `found` are true near-duplicates of the sampled document.
    fn count_true(&self, found: &[u32]) -> u64 {
        found.iter().filter(|other| self.truth.binary_search(other).is_ok()).count() as u64
    }
}

/// Compares sampled documents with all documents of the collection by their sets of terms.
struct Similar<'s> {
    corpus: &'s dyn Corpus,
    summary: &'s CollectionSummary,
    context: &'s Context<'s>,
}

impl Similar<'_> {
    fn partners(
        &self,
        method: &Method,
        sample: &[u32],
        wanted: PartnerMinimums,
    ) -> Result<Vec<FoundPartners>> {
        let fitted = Fitted::learn(method.compared(), self.corpus, self.context)?;
        let terms = &DocumentTerms::new(method.compared(), &fitted, self.context.isa());
        let mut sets = self
            .visit_sets(
                terms,
                &|row| sample.binary_search(&row).is_ok(),
                Vec::new,
                |sets, row, set| {
                    sets.push((row, set.to_vec()));
                },
            )?
            .concat();
        // Workers finish in any order, but the result must be in the order of the sample.
        sets.sort_unstable_by_key(|(row, _)| *row);
        let probes =
            ProbeSets::new(sets.iter().map(|(_, set)| &set[..]), |term| terms.weight(term));
        let state = || (vec![0_u64; probes.len()], vec![FoundPartners::default(); probes.len()]);
        let states = self.visit_sets(terms, &|_| true, state, |(sums, partners), row, set| {
            let left = probes.size(set);
            probes.visit_shared(set, sums, |at, shared, right| {
                let is_reached =
                    |threshold: Threshold| threshold.reached(shared, left, right).is_some();
                // A document is not a partner of itself.
                if row == sets[at].0 {
                    return;
                }
                if is_reached(wanted.truth) {
                    partners[at].truth.push(row);
                }
                if wanted.found.is_some_and(is_reached) {
                    partners[at].similar.push(row);
                }
            });
        })?;
        let mut all = vec![FoundPartners::default(); sets.len()];
        for (_, parts) in states {
            for (all, part) in all.iter_mut().zip(parts) {
                all.truth.extend(part.truth);
                all.similar.extend(part.similar);
            }
        }
        for partners in &mut all {
            // Threads read shards in any order, but these lists are searched by bisection.
            partners.truth.sort_unstable();
            partners.similar.sort_unstable();
        }
        Ok(all)
    }

    /// Reads the collection and calls `visit` with the number and the distinct terms of every document for
    /// which `wanted` returns true. `state` creates a value for each thread, which `visit` may change.
    /// Returns the values of all threads.
    fn visit_sets<S: Send>(
        &self,
        terms: &DocumentTerms,
        wanted: &(dyn Fn(u32) -> bool + Sync),
        state: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, u32, &[u64]) + Sync,
    ) -> Result<Vec<S>> {
        self.context.progress().begin("joining the sample", Work::Bytes(self.corpus.bytes()));
        let states = self.context.threads().try_fold(
            self.corpus.shard_count(),
            || Ok((state(), TermScratch::default())),
            |(state, scratch), shard| {
                let first = self.summary.ids.first_of_shard(shard).0;
                let count = self.summary.ids.end_of_shard(shard).0 - first;
                let is_wanted = |index: u32| wanted(first + index);
                read_again(self.corpus, shard, count, &is_wanted, &mut |index, text| {
                    let set = terms.find(text, scratch);
                    set.sort_unstable();
                    set.dedup();
                    visit(state, first + index, set);
                })?;
                self.context.check_cancelled()
            },
        )?;
        Ok(states.into_iter().map(|(state, _)| state).collect())
    }
}
