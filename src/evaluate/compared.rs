//! Compares all pairs of documents of a collection by the fingerprints or the sets of terms that a method
//! defines.

use super::labelled::DocumentsInMemory;
use super::term_lists::TermLists;
use crate::evaluate::step;
use crate::evaluate::truth::Pair;
use crate::method::{Criterion, DocumentTerms, Fitted, Method, TermScratch, Terms};
use crate::pipeline::fingerprint_collection::{WithoutWords, learn_and_fingerprint};
use simtool_base::error::Result;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_kernels::row_distances::row_distances;
use simtool_model::evaluation::{SIMILARITY_STEPS, Scale};
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::similarity::{Measure, Threshold};
use simtool_read::Corpus;
use std::ops::AddAssign;

/// Number of documents in a block. A thread takes one block at a time and compares each of its documents with
/// all later documents.
const BLOCK: usize = 32;
/// Number of fingerprints in a tile. A tile stays in the processor caches while each fingerprint of a block
/// is compared with it.
const TILE: usize = 128;

/// All documents of a collection, ready to be compared: as fingerprints (rows), as sets of terms, or as both.
pub(super) enum RowsOrSets {
    /// Fingerprints are compared by their distance.
    Rows(DenseRows),
    /// Sets of terms are compared by their similarity, which the measure defines.
    Sets(TermLists, &'static Measure),
    /// Fingerprints are compared by their distance. A pair of documents counts only if the similarity of
    /// their sets of terms reaches the threshold.
    Verified(DenseRows, TermLists, Threshold),
}

/// Compares the documents of a collection with each other, by the threads of `context`.
pub(super) struct Comparing<'c> {
    pub(super) context: &'c Context<'c>,
}

/// Fingerprints of the documents of a collection. `words` has only the fingerprints of documents that have one, without
/// gaps between them.
pub(super) struct DenseRows {
    fingerprints: FingerprintRows<'static>,
    /// Numbers of the documents that have a fingerprint, in ascending order.
    documents: Vec<u32>,
    /// Words of the fingerprints of `documents`, in the same order.
    words: Vec<u64>,
}

impl DenseRows {
    pub(super) fn new(fingerprints: FingerprintRows<'static>) -> Self {
        let has_row = |&document: &u32| fingerprints.has_fingerprint(document as usize);
        let documents: Vec<u32> = (0..fingerprints.len() as u32).filter(has_row).collect();
        let of = |&document: &u32| fingerprints.row(document as usize);
        // Rows without gaps between them allow one call to compute the distances of many rows.
        let words = documents.iter().filter_map(of).flatten().copied().collect();
        Self { fingerprints, documents, words }
    }

    fn distance(&self, [a, b]: Pair) -> Option<u32> {
        let row = |document: u32| self.fingerprints.row(document as usize);
        Some(self.fingerprints.shape.distance(row(a)?, row(b)?))
    }

    /// Returns the numbers of the other documents whose fingerprints are within distance `limit` of the
    /// fingerprint of `document`, in ascending order.
    pub(super) fn near(&self, document: u32, limit: u32, isa: Isa) -> Vec<u32> {
        let Some(row) = self.fingerprints.row(document as usize) else { return Vec::new() };
        let mut distances = vec![0; self.documents.len()];
        row_distances(self.fingerprints.shape, row, &self.words, isa, &mut distances);
        let others = self.documents.iter().zip(distances);
        let is_near = |&(&other, distance): &(&u32, u32)| distance <= limit && other != document;
        others.filter(is_near).map(|(&other, _)| other).collect()
    }
}

impl RowsOrSets {
    /// Computes the values that `method` compares: the fingerprints of the documents, their sets of terms, or both.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`learn_and_fingerprint`].
    pub(super) fn new(
        method: &Method,
        documents: &DocumentsInMemory,
        comparing: &Comparing<'_>,
    ) -> Result<Self> {
        let corpus = documents.corpus();
        let rows = || -> Result<DenseRows> {
            let recipe = method.recipe();
            let made =
                learn_and_fingerprint(&corpus, recipe, WithoutWords::Allowed, comparing.context)?;
            Ok(DenseRows::new(made.rows))
        };
        let sets = || comparing.sets(method.compared(), documents, &corpus);
        Ok(match (method.close(), method.verify()) {
            (Criterion::Similarity(threshold), _) => Self::Sets(sets()?, threshold.measure()),
            (Criterion::Distance(_), None) => Self::Rows(rows()?),
            (Criterion::Coverage, _) => {
                method.check_pairs("a measurement")?;
                Self::Rows(rows()?)
            }
            (Criterion::Distance(_), Some(threshold)) => {
                Self::Verified(rows()?, sets()?, threshold)
            }
        })
    }

    /// Returns the kind of the thresholds (distances or similarities), and the number of different
    /// thresholds.
    ///
    /// The greatest possible distance is not a threshold, because documents at this distance have nothing in common.
    pub(super) fn scale(&self) -> (Scale, usize) {
        match self {
            Self::Rows(rows) | Self::Verified(rows, ..) => {
                (Scale::Distance, rows.fingerprints.shape.units() as usize)
            }
            Self::Sets(..) => (Scale::Similarity, SIMILARITY_STEPS as usize),
        }
    }

    /// Returns whether only sets of terms are compared, and no fingerprints.
    pub(super) fn are_sets(&self) -> bool {
        matches!(self, Self::Sets(..))
    }

    /// Returns the mean number of bytes per document that the fingerprints and the terms of the sets take. Each term
    /// takes 8 bytes.
    pub(super) fn bytes_per_document(&self) -> u64 {
        match self {
            Self::Rows(rows) => 8 * rows.fingerprints.shape.words() as u64,
            Self::Sets(lists, _) => lists.bytes_per_document(),
            Self::Verified(rows, lists, _) => {
                8 * rows.fingerprints.shape.words() as u64 + lists.bytes_per_document()
            }
        }
    }

    /// Returns the number of the strictest threshold at which the pair counts as near-duplicates. Thresholds are
    /// counted from 0, beginning with the strictest. Returns `None` if no threshold finds the pair.
    pub(super) fn step(&self, pair: Pair) -> Option<usize> {
        let step = match self {
            Self::Rows(rows) => rows.distance(pair)? as usize,
            Self::Sets(lists, measure) => lists.step(pair, lists.shared(pair), measure)?,
            Self::Verified(rows, lists, threshold) => {
                let is_similar = lists.is_similar(pair, lists.shared(pair), *threshold);
                is_similar.then(|| rows.distance(pair))?? as usize
            }
        };
        (step < self.scale().1).then_some(step)
    }

    /// Calls `visit` with every pair of documents that some threshold finds, and with the number of the strictest
    /// threshold that finds the pair (from 0). Pairs come in any order. `state` creates a value for each thread, which
    /// `visit` may change. Returns the values of all threads.
    ///
    /// # Errors
    ///
    /// The run was cancelled.
    pub(super) fn visit_pairs<S: Send>(
        &self,
        comparing: &Comparing<'_>,
        state: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, Pair, usize) + Sync,
    ) -> Result<Vec<S>> {
        let steps = self.scale().1;
        match self {
            Self::Rows(rows) => comparing.rows(rows, state, visit),
            Self::Sets(lists, measure) => comparing.shared(lists, state, |state, pair, shared| {
                if let Some(step) = lists.step(pair, shared, measure).filter(|&step| step < steps) {
                    visit(state, pair, step);
                }
            }),
            Self::Verified(rows, lists, threshold) => {
                comparing.shared(lists, state, |state, pair, shared| {
                    if lists.is_similar(pair, shared, *threshold)
                        && let Some(distance) = rows.distance(pair)
                    {
                        visit(state, pair, distance as usize);
                    }
                })
            }
        }
    }
}

impl TermLists {
    /// Returns the number of the strictest similarity threshold that two documents reach, or `None` if they
    /// share no term. `shared` is the total weight of the terms that both documents contain.
    fn step(&self, [a, b]: Pair, shared: u64, measure: &Measure) -> Option<usize> {
        (shared > 0).then(|| step(measure, shared, self.weight(a), self.weight(b)))
    }

    fn is_similar(&self, [a, b]: Pair, shared: u64, threshold: Threshold) -> bool {
        threshold.reached(shared, self.weight(a), self.weight(b)).is_some()
    }
}

impl Comparing<'_> {
    /// Computes the set of distinct terms of each document.
    fn sets(
        &self,
        terms: &Terms,
        documents: &DocumentsInMemory,
        corpus: &dyn Corpus,
    ) -> Result<TermLists> {
        let context = self.context;
        let progress = context.progress();
        let fitted = Fitted::learn(terms, corpus, context)?;
        let reader = DocumentTerms::new(terms, &fitted, context.isa());
        progress.begin("reading", Work::Bytes(corpus.bytes()));
        let blocks = (0..documents.len()).step_by(BLOCK).collect();
        let sets = context.threads().map(blocks, |first: usize| {
            let mut scratch = TermScratch::default();
            let end = (first + BLOCK).min(documents.len());
            let set = |row| {
                let text = documents.text(row as u32);
                progress.advance(text.len() as u64);
                let mut set = reader.find(text, &mut scratch).clone();
                set.sort_unstable();
                set.dedup();
                set
            };
            (first..end).map(set).collect::<Vec<_>>()
        });
        context.check_cancelled()?;
        let weight = |term| reader.weight(term);
        // If all terms weigh the same, the lists can store frequent terms as bits.
        let weight = reader.frequencies().map(|_| &weight as &dyn Fn(u64) -> u32);
        TermLists::new(&sets.concat(), weight, context.threads(), context.isa())
    }

    /// Divides `documents` documents into blocks for threads. A thread calls `work` with its state, the first document
    /// of a block, and the end of the block. `work` compares these documents with all later documents. Returns the
    /// states of all threads.
    fn blocks<S: Send>(
        &self,
        documents: usize,
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize, usize) + Sync,
    ) -> Result<Vec<S>> {
        // A document is compared with later ones only, so early blocks have more pairs than late blocks.
        let pairs = |first: usize| {
            let end = (first + BLOCK).min(documents);
            (first..end).map(|row| (documents - row - 1) as u64).sum::<u64>()
        };
        let all = documents as u64 * (documents as u64).saturating_sub(1) / 2;
        let progress = self.context.progress();
        progress.begin("comparing", Work::Steps(all));
        self.context.threads().try_fold(
            documents.div_ceil(BLOCK),
            || Ok(state()),
            |state, block| {
                self.context.check_cancelled()?;
                let first = block * BLOCK;
                work(state, first, (first + BLOCK).min(documents));
                progress.advance(pairs(first));
                Ok(())
            },
        )
    }

    /// Calls `visit` with every pair of documents that have fingerprints, and with the distance between their
    /// fingerprints. `state` creates a value for each thread, which `visit` may change. Returns the values of all
    /// threads.
    fn rows<S: Send>(
        &self,
        rows: &DenseRows,
        state: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, Pair, usize) + Sync,
    ) -> Result<Vec<S>> {
        let DenseRows { fingerprints: FingerprintRows { shape, .. }, documents, words } = rows;
        let width = shape.words();
        let count = documents.len();
        self.blocks(count, state, |state, first, end| {
            let mut distances = [0; TILE];
            // All rows of the block are compared with a tile while it is in the caches.
            for tile in (first + 1..count).step_by(TILE) {
                let tile_end = (tile + TILE).min(count);
                for row in first..end {
                    // Each pair is compared once: a fingerprint is compared only with later fingerprints.
                    let from = tile.max(row + 1);
                    let Some(distances) = distances.get_mut(..tile_end.saturating_sub(from)) else {
                        continue;
                    };
                    // The last fingerprints of a block may have no later fingerprints in this tile.
                    if distances.is_empty() {
                        continue;
                    }
                    let query = &words[row * width..(row + 1) * width];
                    let others = &words[from * width..tile_end * width];
                    row_distances(*shape, query, others, self.context.isa(), distances);
                    let document = documents[row];
                    for (&other, &distance) in documents[from..].iter().zip(&*distances) {
                        visit(state, [document, other], distance as usize);
                    }
                }
            }
        })
    }

    /// Calls `visit` with every pair of documents that share terms, and with the total weight of the shared terms.
    /// `state` creates a value for each thread, which `visit` may change. Returns the values of all threads.
    fn shared<S: Send>(
        &self,
        lists: &TermLists,
        state: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, Pair, u64) + Sync,
    ) -> Result<Vec<S>> {
        // Without weights, sums are numbers of terms and fit in 32 bits, so more sums fit in the caches.
        if lists.is_weighted() {
            self.summed::<u64, _>(lists, state, visit)
        } else {
            self.summed::<u32, _>(lists, state, visit)
        }
    }

    /// Does the work of [`Self::shared`]. `N` is the integer type for the total weight of shared terms.
    fn summed<
        N: Copy + Default + PartialEq + From<u32> + Into<u64> + AddAssign + Send + Sync,
        S: Send,
    >(
        &self,
        lists: &TermLists,
        state: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, Pair, u64) + Sync,
    ) -> Result<Vec<S>> {
        let count = lists.len();
        let nothing = N::default();
        let state = || (state(), vec![nothing; count]);
        let states = self.blocks(count, state, |(state, sums), first, end| {
            for document in first..end {
                let sums = &mut sums[document + 1..];
                let document = document as u32;
                lists.add_shared(document, sums);
                for (other, shared) in (document + 1..).zip(sums) {
                    if *shared != nothing {
                        visit(state, [document, other], (*shared).into());
                        // Only the changed sums are reset. So the time depends on the pairs that share terms, and not
                        // on all pairs.
                        *shared = nothing;
                    }
                }
            }
        })?;
        Ok(states.into_iter().map(|(state, _)| state).collect())
    }
}
