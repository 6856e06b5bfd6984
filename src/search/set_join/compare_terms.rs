//! Candidates compared term by term, a batch of documents in memory at a time.
//!
//! Documents that a few pairs link are compared by looking the terms of one up among those of the
//! other. Where many pairs link the same documents, as those that one template made, their terms are
//! numbered in the order in which they are first met: what belongs together comes to stand together,
//! so that a document is a few words of bits, and a pair costs no more than comparing these.

use super::block_sets::{BlockSets, Comparable};
use super::prune::{Shard, Stored, shard_of};
use super::threads::Threads;
use super::{Sources, TermSource as _};
use crate::disjoint_sets::DisjointSets;
use crate::distinct_terms::DistinctTerms;
use crate::error::{ErrorKind, Result};
use crate::kernels::Isa;
use crate::matches::SetPair;
use crate::progress::{Progress, Work};
use crate::similarity::Threshold;
use std::ops::Range;

/// Pairs that a worker compares at a time, term by term, and by words of bits.
const CHUNK: usize = 128;
const DENSE_CHUNK: usize = 4096;
/// Pairs for each document from which it pays to number the terms.
const MANY_PAIRS: usize = 4;
/// No place.
const NONE: u32 = u32::MAX;

/// A pair of documents that may be alike.
pub(super) type Candidate = (u32, u32);

/// What is needed to compare documents term by term.
pub(super) struct TermComparison<'a> {
    pub(super) sources: &'a Sources<'a>,
    pub(super) shards: &'a [Shard],
    pub(super) threshold: Threshold,
    /// Terms that are in memory at once, about.
    pub(super) fitting: u64,
    pub(super) threads: Threads<'a>,
    pub(super) isa: Isa,
    pub(super) progress: &'a dyn Progress,
}

/// A pair of documents, by their places among those that are linked.
#[derive(Clone, Copy)]
struct Link {
    /// The first one that they are linked to, directly or by others.
    first: u32,
    a: u32,
    b: u32,
}

impl TermComparison<'_> {
    /// The candidates that are alike enough, as pairs of a smaller and a larger row, in no order that
    /// means anything but always in the same one.
    ///
    /// # Complexity
    /// O(terms of the pairs), much less where many pairs link few documents. Documents are read once,
    /// unless those that are linked are too many for the memory.
    ///
    /// # Errors
    /// Those of the source; the memory cannot be had.
    pub(super) fn alike(&self, candidates: &[Candidate]) -> Result<Vec<SetPair>> {
        let rows = linked_rows(candidates, self.shards.last().map_or(0, Shard::end_row));
        let mut links = self.links(candidates, &rows);
        let mut alike = Vec::new();
        for batch in self.batches(&mut links, &rows) {
            let links = &links[batch];
            self.progress.begin("read candidates", Work::Bytes(self.sources.bytes()));
            let documents = self.read(links, &rows)?;
            self.progress.begin("compare terms", Work::Steps(links.len() as u64));
            self.progress.counted("candidates", candidates.len() as u64);
            let comparisons = self.comparisons(&documents, links)?;
            let found = self.threads.try_map(
                comparisons.tasks.len(),
                || Ok(DistinctTerms::default()),
                |table, task| {
                    let (range, sets) = &comparisons.tasks[task];
                    let links = &links[range.clone()];
                    if self.progress.is_cancelled() {
                        return Err(ErrorKind::Cancelled.into());
                    }
                    self.progress.advance(links.len() as u64);
                    match sets {
                        Some(sets) => {
                            let sets = &comparisons.sets[*sets];
                            Ok(self.compare_sets(&documents, links, sets, &comparisons.numbers))
                        }
                        None => self.compare_pairs(&documents, links, table),
                    }
                },
            )?;
            alike.extend(found.into_iter().flatten());
        }
        Ok(alike)
    }

    /// Numbers the terms of documents that are densely linked, and shares out all pairs.
    fn comparisons(&self, documents: &Documents<'_>, links: &[Link]) -> Result<Comparisons> {
        let (mut dense, mut tasks, mut start, mut end) = (Vec::new(), Vec::new(), 0, 0);
        for linked in links.chunk_by(|a, b| a.first == b.first) {
            let places = dense_places(linked);
            if start < end && (places.is_some() || end - start >= CHUNK) {
                tasks.push((start..end, None));
                start = end;
            }
            end += linked.len();
            if let Some(places) = places {
                let parts = (start..end).step_by(DENSE_CHUNK);
                let part = |start: usize| (start..end.min(start + DENSE_CHUNK), Some(dense.len()));
                tasks.extend(parts.map(part));
                dense.push(places);
                start = end;
            }
        }
        tasks.extend((start < end).then_some((start..end, None)));
        let mut numbers = vec![NONE; documents.rows.len()];
        for places in &dense {
            for (number, &place) in (0..).zip(places) {
                numbers[place as usize] = number;
            }
        }
        let sets = self.threads.try_map(
            dense.len(),
            || Ok(()),
            |(), number| {
                let mut sets = BlockSets::default();
                for &place in &dense[number] {
                    sets.push(documents.terms_of(place))?;
                }
                sets.comparable()
            },
        )?;
        Ok(Comparisons { tasks, sets, numbers })
    }

    /// Looks up the terms of one document of each pair among those of the other.
    fn compare_pairs(
        &self,
        documents: &Documents<'_>,
        links: &[Link],
        table: &mut DistinctTerms,
    ) -> Result<Vec<SetPair>> {
        let mut alike = Vec::new();
        for of_one in links.chunk_by(|a, b| a.a == b.a) {
            let one = of_one[0].a;
            let size = table.replace(documents.terms_of(one))?.len();
            for &Link { b: other, .. } in of_one {
                let terms = documents.terms_of(other);
                let shared = table.count(terms);
                let sizes = [size, terms.len()];
                alike.extend(self.judged(documents, [one, other], shared, sizes));
            }
        }
        Ok(alike)
    }

    /// Compares documents whose terms are numbered.
    fn compare_sets(
        &self,
        documents: &Documents<'_>,
        links: &[Link],
        sets: &Comparable,
        numbers: &[u32],
    ) -> Vec<SetPair> {
        let pairs = links.iter().filter_map(|link| {
            let places = [link.a, link.b];
            let [a, b] = places.map(|place| numbers[place as usize] as usize);
            let sizes = places.map(|place| documents.terms_of(place).len());
            self.judged(documents, places, sets.shared(a, b, self.isa), sizes)
        });
        pairs.collect()
    }

    /// The pair of two documents, if it is alike enough.
    fn judged(
        &self,
        documents: &Documents<'_>,
        places: [u32; 2],
        shared: usize,
        sizes: [usize; 2],
    ) -> Option<SetPair> {
        let [left, right] = sizes.map(|size| size as u64);
        let similarity = self.threshold.reached(shared as u64, left, right)?;
        let [a, b] = places.map(|place| documents.rows[place as usize]);
        Some(SetPair { a: a.min(b), b: a.max(b), similarity })
    }

    /// The candidates, those that are linked one after the other.
    fn links(&self, candidates: &[Candidate], rows: &[u32]) -> Vec<Link> {
        let end_row = self.shards.last().map_or(0, Shard::end_row);
        let mut places = vec![NONE; end_row as usize];
        for (place, &row) in (0..).zip(rows) {
            places[row as usize] = place;
        }
        let place = |row: u32| places[row as usize];
        let mut linked = DisjointSets::new(rows.len() as u32);
        for &(a, b) in candidates {
            linked.join(place(a), place(b));
        }
        let link = |&(a, b): &Candidate| (place(a), place(b));
        // Shared out by what they are linked to, in the order in which they are.
        let mut next = vec![0_usize; rows.len() + 1];
        let firsts: Vec<u32> =
            candidates.iter().map(|pair| linked.smallest(link(pair).0)).collect();
        for &first in &firsts {
            next[first as usize + 1] += 1;
        }
        for place in 1..next.len() {
            next[place] += next[place - 1];
        }
        let mut links = vec![Link { first: NONE, a: NONE, b: NONE }; candidates.len()];
        for (pair, &first) in candidates.iter().zip(&firsts) {
            let (a, b) = link(pair);
            links[next[first as usize]] = Link { first, a, b };
            next[first as usize] += 1;
        }
        links
    }

    /// Reads the documents of some pairs.
    fn read<'r>(&self, links: &[Link], rows: &'r [u32]) -> Result<Documents<'r>> {
        let places = places_of(links);
        let row_of = |place: u32| rows[place as usize];
        let terms: u64 = places.iter().map(|&place| self.size(row_of(place))).sum();
        let expected = terms as usize / self.threads.count() * 3 / 2;
        let parts = self.threads.try_fold(
            self.shards.len(),
            || Ok((Stored::with_capacity(expected), DistinctTerms::default())),
            |(stored, distinct), number| {
                let shard = &self.shards[number];
                let before = |row: u32| places.partition_point(|&place| row_of(place) < row);
                let own = &places[before(shard.first_row)..before(shard.end_row())];
                if own.is_empty() {
                    self.progress.advance(self.sources.shard_bytes(number));
                    return Ok(());
                }
                let wanted = |index: u32| {
                    own.binary_search_by_key(&(shard.first_row + index), |&p| row_of(p)).is_ok()
                };
                self.sources.try_visit(number, &wanted, &mut |index, terms| {
                    stored.push(shard.first_row + index, distinct.replace(terms)?)
                })
            },
        )?;
        let parts: Vec<Stored> = parts.into_iter().map(|(stored, _)| stored).collect();
        let mut stored_at = vec![(NONE, NONE); rows.len()];
        for (number, part) in (0..).zip(&parts) {
            for (document, row) in (0..).zip(&part.rows) {
                if let Ok(place) = rows.binary_search(row) {
                    stored_at[place] = (number, document);
                }
            }
        }
        Ok(Documents { rows, stored_at, parts })
    }

    /// Cuts the candidates into batches whose documents fit into the memory, in which documents that
    /// are linked come together if they can.
    fn batches(&self, links: &mut [Link], rows: &[u32]) -> Vec<Range<usize>> {
        let sizes: Vec<u64> = rows.iter().map(|&row| self.size(row)).collect();
        if links.is_empty() {
            return Vec::new();
        }
        if sizes.iter().sum::<u64>() <= self.fitting {
            return std::iter::once(0..links.len()).collect();
        }
        // Too many that are linked are taken in blocks, of which every two fit into the memory.
        let mut block_of = vec![0; rows.len()];
        for linked in links.chunk_by_mut(|a, b| a.first == b.first) {
            let mut before = 0;
            for place in places_of(linked) {
                block_of[place as usize] = before / (self.fitting / 2).max(1);
                before += sizes[place as usize];
            }
            let blocks = |link: &Link| {
                let [a, b] = [link.a, link.b].map(|place| block_of[place as usize]);
                (a.min(b), a.max(b), link.a, link.b)
            };
            linked.sort_unstable_by_key(blocks);
        }
        let (mut batches, mut start, mut terms) = (Vec::new(), 0, 0);
        let mut batch_of = vec![usize::MAX; rows.len()];
        for (at, link) in links.iter().enumerate() {
            let places = [link.a, link.b].map(|place| place as usize);
            let new = places.iter().filter(|&&place| batch_of[place] != start);
            if at > start && terms + new.map(|&place| sizes[place]).sum::<u64>() > self.fitting {
                batches.push(start..at);
                (start, terms) = (at, 0);
            }
            for place in places {
                if std::mem::replace(&mut batch_of[place], start) != start {
                    terms += sizes[place];
                }
            }
        }
        batches.push(start..links.len());
        batches
    }

    /// Occurrences of terms in a document.
    fn size(&self, row: u32) -> u64 {
        let shard = &self.shards[shard_of(self.shards, row)];
        u64::from(shard.sizes[(row - shard.first_row) as usize])
    }
}

/// The rows of the candidates, ascending.
fn linked_rows(candidates: &[Candidate], end_row: u32) -> Vec<u32> {
    let mut is_linked = vec![false; end_row as usize];
    for &(a, b) in candidates {
        is_linked[a as usize] = true;
        is_linked[b as usize] = true;
    }
    (0..).zip(is_linked).filter_map(|(row, linked)| linked.then_some(row)).collect()
}

/// The places of some pairs, ascending.
fn places_of(links: &[Link]) -> Vec<u32> {
    let mut places: Vec<u32> = Vec::new();
    for of_one in links.chunk_by(|a, b| a.a == b.a) {
        places.push(of_one[0].a);
        places.extend(of_one.iter().map(|link| link.b));
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// The places of linked documents, if so many pairs link them that it pays to number their terms.
fn dense_places(links: &[Link]) -> Option<Vec<u32>> {
    // The documents need not be counted where even two of them would be too many.
    if links.len() < MANY_PAIRS * 2 {
        return None;
    }
    let places = places_of(links);
    (links.len() >= MANY_PAIRS * places.len()).then_some(places)
}

/// How the pairs of a batch are compared.
struct Comparisons {
    /// Pairs for a worker each, with the number of their numbered sets if they have such.
    tasks: Vec<(Range<usize>, Option<usize>)>,
    sets: Vec<Comparable>,
    /// The number of each place's set.
    numbers: Vec<u32>,
}

/// Documents in memory, with their distinct terms.
struct Documents<'r> {
    /// The rows of all linked documents.
    rows: &'r [u32],
    /// Part, and place in the part, of each that is in memory.
    stored_at: Vec<(u32, u32)>,
    parts: Vec<Stored>,
}

impl Documents<'_> {
    /// The distinct terms of a document; none if it is no longer where it was.
    fn terms_of(&self, place: u32) -> &[u64] {
        let (part, document) = self.stored_at[place as usize];
        self.parts.get(part as usize).map_or(&[], |part| part.terms_of(document as usize))
    }
}
