//! Compares candidate pairs of documents term by term. The terms of a batch of documents are in
//! memory at a time.
//!
//! If few pairs link a document to others, the terms of one document are looked up in a table of
//! the terms of the other. If many pairs link the same documents, for example the pages of one
//! template, their terms are numbered in the order in which they first occur. Terms that often
//! occur together then have near numbers, so a document becomes a few 64-bit words. Comparing a
//! pair costs no more than comparing these words.

use super::block_sets::{BlockSets, Comparable};
use super::candidate_links::{Links, NONE, PART, linked_rows, marked};
use super::pair_order::{Candidate, PAIRS, in_order};
use super::prune::{JoinShard, Stored, end_row, shard_of};
use super::term_numbers::TermNumbers;
use super::term_source::{TermSource as _, TermSources, Wanted};
use crate::close::SetPair;
use bytemuck::allocation::try_zeroed_vec;
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::memory_ledger::Reservation;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_model::distinct_terms::DistinctTerms;
use simtool_model::similarity::Threshold;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Number of pairs in one task of a worker thread, if terms are looked up in a table.
const CHUNK: usize = 128;
/// Number of pairs in one task of a worker thread, if documents are compared as bit sets.
const DENSE_CHUNK: usize = 4096;
/// Minimum number of pairs per document for comparing documents as bit sets. With fewer pairs,
/// numbering the terms takes longer than looking them up.
const MANY_PAIRS: usize = 4;
/// If a group has at least this many documents, all threads number its terms together. A group has all documents that
/// are linked by candidate pairs. Terms are divided into ranges of values, and each thread numbers the terms of one
/// range. More ranges need more 64-bit blocks per document, so smaller groups use one range.
const LARGE_GROUP: usize = 1024;
/// Maximum number of ranges into which the terms of a large group are divided, so that threads can number them in
/// parallel.
const MOST_PARTS: usize = 8;
/// Value in `Documents::stored_at` of a document that is not in memory.
const NOWHERE: (u32, u32) = (NONE, NONE);

/// Number of shared terms that is stored for a pair below the threshold. Similar documents always
/// share a term, so 0 has no other meaning.
const UNLIKE: u32 = 0;

/// The inputs for comparing candidate pairs term by term.
pub(super) struct TermComparison<'a> {
    pub(super) sources: &'a TermSources<'a>,
    pub(super) shards: &'a [JoinShard],
    pub(super) threshold: Threshold,
    /// Approximate number of terms for which there is memory. If the candidate documents have more,
    /// they are compared in batches.
    pub(super) fitting: u64,
    pub(super) context: &'a Context<'a>,
}

impl TermComparison<'_> {
    /// Compares the candidates, and returns the pairs that are similar enough, in ascending order.
    /// Writes the number of distinct terms of each candidate document to `sizes_of`, which is indexed
    /// by row number.
    ///
    /// # Complexity
    /// O(terms of the pairs), but much less if many pairs link few documents. Each document is read
    /// once, unless the documents do not fit into memory.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory.
    pub(super) fn similar(
        &self,
        mut candidates: LargeBuffer<Candidate>,
        sizes_of: &mut [u32],
    ) -> Result<LargeBuffer<SetPair>> {
        // From here on, candidates hold indices into `rows` instead of row numbers, so that all
        // tables have entries for candidate documents only.
        let rows = linked_rows(&mut candidates, end_row(self.shards), self.context.threads());
        if rows.is_empty() {
            return LargeBuffer::try_zeroed(0, PAIRS);
        }
        // The sizes count repeated terms. Numbers of distinct terms are only known after reading.
        let sizes: Vec<u64> = rows.iter().map(|&row| self.size(row)).collect();
        let similar = if sizes.iter().sum::<u64>() <= self.fitting {
            self.compared(&candidates, &rows, sizes_of)?
        } else if candidates.len() < MANY_PAIRS * rows.len() {
            self.streamed(&candidates, &rows, &sizes, sizes_of)?
        } else {
            let batches = self.batches(&candidates, &sizes);
            // Batches group the pairs by their links, so their results must be put in order again.
            let compared = batches.iter().map(|batch| self.compared(batch, &rows, sizes_of));
            in_order(&compared.collect::<Result<Vec<_>>>()?, self.context)?
        };
        self.context.progress().counted("candidates", candidates.len() as u64);
        Ok(similar)
    }

    /// Reads the documents of some candidate pairs and compares them. Returns the similar pairs as row numbers. `rows`
    /// has the row numbers of all candidate documents, and `pairs` holds indices into `rows`, in ascending order.
    /// Writes the number of distinct terms of each document to `sizes_of`, by row number.
    fn compared(
        &self,
        pairs: &[Candidate],
        rows: &[u32],
        sizes_of: &mut [u32],
    ) -> Result<LargeBuffer<SetPair>> {
        let is_wanted = marked(pairs.as_flattened().iter().copied(), rows.len());
        let documents = self.read(&is_wanted, rows)?;
        self.context.progress().begin("compare terms", Work::Steps(pairs.len() as u64));
        let links = Links::new(pairs, rows.len());
        let comparisons = self.comparisons(&documents, &links)?;
        let (shared, _held) = self.shared_counts(pairs.len())?;
        self.context.threads().try_fold(
            comparisons.tasks.len(),
            || Ok((DistinctTerms::default(), Vec::new())),
            |(table, room), task| {
                let (range, sets) = &comparisons.tasks[task];
                self.context.check_cancelled()?;
                self.context.progress().advance(range.len() as u64);
                let sets = sets.map(|sets| &comparisons.sets[sets]);
                for (place, of_place) in links.runs(range.clone()) {
                    let run = PairRun {
                        place,
                        pairs: &pairs[of_place.clone()],
                        shared: &shared[of_place],
                    };
                    if let Some(sets) = sets {
                        self.compare_sets(&documents, &run, sets, &comparisons.numbers, room);
                    } else {
                        self.compare_terms(&documents, &run, table)?;
                    }
                }
                Ok(())
            },
        )?;
        documents.write_sizes(rows, sizes_of);
        self.found(pairs, &shared, rows)
    }

    /// Returns a list of `pairs` zeros, and the reservation of its memory. Element i is for the number of terms that
    /// the documents of pair i share.
    pub(super) fn shared_counts(&self, pairs: usize) -> Result<(Vec<AtomicU32>, Reservation)> {
        let bytes = (pairs * size_of::<AtomicU32>()) as u64;
        let held = self.context.memory().hold(bytes);
        // Zeros are `UNLIKE`, so a pair that is not similar needs no write.
        let counts = try_zeroed_vec(pairs).map_err(|()| Error::memory(PAIRS, bytes))?;
        Ok((counts, held))
    }

    /// Reports to the progress that a reading of the candidate documents begins.
    pub(super) fn begin_reading(&self) {
        self.context.progress().begin("read candidates", Work::Bytes(self.sources.bytes()));
    }

    /// Returns the similar pairs of `pairs` as row numbers. Pair i is similar if its number of shared terms,
    /// `shared[i]`, is not [`UNLIKE`]. `rows` has the row numbers of all candidate documents, and `pairs` holds indices
    /// into `rows`.
    pub(super) fn found(
        &self,
        pairs: &[Candidate],
        shared: &[AtomicU32],
        rows: &[u32],
    ) -> Result<LargeBuffer<SetPair>> {
        let parts: Vec<_> = pairs.chunks(PART).zip(shared.chunks(PART)).collect();
        let similar = |shared: &AtomicU32| {
            Some(shared.load(Ordering::Relaxed)).filter(|&shared| shared != UNLIKE)
        };
        // Counting first gives the exact size of the result, and each part its own place in it.
        // This keeps the pairs in order without a lock.
        let counts = self.context.threads().map(parts.clone(), |(_, shared): (_, &[AtomicU32])| {
            shared.iter().filter_map(similar).count()
        });
        let mut found = LargeBuffer::try_zeroed(counts.iter().sum(), PAIRS)?;
        found = found.entered_in(self.context.memory());
        let mut rest = &mut found[..];
        let mut work = Vec::new();
        for (part, count) in parts.into_iter().zip(counts) {
            let (own, after) = rest.split_at_mut(count);
            work.push((part, own));
            rest = after;
        }
        self.context.threads().map(work, |((pairs, shared), own): (_, &mut [SetPair])| {
            let pairs = pairs.iter().zip(shared).filter_map(|(pair, shared)| {
                let [a, b] = pair.map(|place| rows[place as usize]);
                Some(SetPair { a, b, shared: similar(shared)? })
            });
            for (place, pair) in own.iter_mut().zip(pairs) {
                *place = pair;
            }
        });
        Ok(found)
    }

    /// Divides all pairs of `links` into tasks for the worker threads. A group has all documents that are linked by
    /// pairs. If a group has many pairs, numbers the terms of its documents, so that they are compared as bit sets.
    fn comparisons(&self, documents: &Documents, links: &Links) -> Result<Comparisons> {
        let mut dense = Vec::new();
        let mut tasks = Vec::new();
        let mut start = 0;
        let mut end = 0;
        for places in &links.groups {
            let linked = links.ends[places.end - 1] - end;
            // Numbering is a pass over all terms of the group. Only many pairs for each document
            // pay for it.
            let is_dense = linked >= MANY_PAIRS * places.len();
            // Small groups share a task. A dense group ends it, because a task has only one way to
            // compare.
            if start < end && (is_dense || end - start >= CHUNK) {
                tasks.push((start..end, None));
                start = end;
            }
            end += linked;
            if is_dense {
                let parts = (start..end).step_by(DENSE_CHUNK);
                let part = |start: usize| (start..end.min(start + DENSE_CHUNK), Some(dense.len()));
                tasks.extend(parts.map(part));
                // The tasks above already refer to the group by the number that it gets here.
                dense.push(&links.order[places.clone()]);
                start = end;
            }
        }
        tasks.extend((start < end).then_some((start..end, None)));
        let mut numbers = vec![NONE; documents.stored_at.len()];
        // The number of a set is its index in its group, because `numbered` adds the sets in this
        // order.
        for places in &dense {
            for (number, &place) in (0..).zip(*places) {
                numbers[place as usize] = number;
            }
        }
        let sets = self.numbered(documents, &dense)?;
        Ok(Comparisons { tasks, sets, numbers })
    }

    /// Numbers the distinct terms of each of `groups`, which are lists of documents. Returns for each
    /// group the sets of its documents, as bits by term number. For a large group, terms are divided
    /// into ranges of values, because they are 64-bit hashes. Each thread then numbers the terms of one
    /// range.
    fn numbered(&self, documents: &Documents, groups: &[&[u32]]) -> Result<Vec<Comparable>> {
        let parts_of = |group: &[u32]| match group.len() {
            ..LARGE_GROUP => 1,
            _ => self.context.threads().count().min(MOST_PARTS) as u64,
        };
        let parts = groups.iter().flat_map(|group| {
            let parts = parts_of(group);
            (0..parts).map(move |part| (*group, part, parts))
        });
        let parts: Vec<(&[u32], u64, u64)> = parts.collect();
        let sets = self.context.threads().try_map(
            parts.len(),
            || Ok((Vec::new(), TermNumbers::default())),
            |(own, numbers), number| {
                let (group, part, parts) = parts[number];
                // Terms are hashes, so equal ranges of values have about equally many terms. Each
                // term is in exactly one range, so the parts can be numbered independently.
                let is_own =
                    |&term: &u64| (u128::from(term) * u128::from(parts)) >> 64 == part.into();
                let mut sets = BlockSets::default();
                numbers.clear();
                for &place in group {
                    own.clear();
                    own.extend(documents.terms_of(place).iter().copied().filter(is_own));
                    sets.push(own, numbers)?;
                }
                Ok(sets)
            },
        )?;
        // Results come in the order of the parts, so the parts of a group are neighbours.
        let mut sets = sets.into_iter();
        let comparable = groups.iter().map(|group| {
            let parts = sets.by_ref().take(parts_of(group) as usize).collect();
            BlockSets::joined(parts)?.comparable()
        });
        comparable.collect()
    }

    /// Compares the documents of each pair of `run` term by term, and stores the number of shared terms of each similar
    /// pair in `run`. All these pairs begin with the same document. Fills `table` with the terms of this document, and
    /// looks up the terms of each second document there.
    fn compare_terms(
        &self,
        documents: &Documents,
        run: &PairRun<'_>,
        table: &mut DistinctTerms,
    ) -> Result<()> {
        // All pairs of a run begin with the same document, so its table is built only once.
        let size = table.replace(documents.terms_of(run.place))?.len() as u32;
        for (&pair, shared) in run.pairs.iter().zip(run.shared) {
            let terms = documents.terms_of(pair[1]);
            let needed = self.threshold.min_shared(size, terms.len() as u32) as usize;
            if let Some(found) = table.count_if_enough(terms, needed) {
                self.judge(documents.sizes_of(pair), found, shared);
            }
        }
        Ok(())
    }

    /// Compares the documents of each pair of `run` as bit sets, and stores the number of shared terms of each similar
    /// pair in `run`. All these pairs begin with the same document. `sets` has the bit sets of a group of documents,
    /// and `numbers` has for each document the index of its set in `sets`. `room` is a buffer.
    fn compare_sets(
        &self,
        documents: &Documents,
        run: &PairRun<'_>,
        sets: &Comparable,
        numbers: &[u32],
        room: &mut Vec<u64>,
    ) {
        let number = |place: u32| numbers[place as usize] as usize;
        let others = run.pairs.iter().map(|pair| number(pair[1]));
        // `shared_with` reports the others in the order in which they were given, so pairs and
        // reports advance together.
        let mut pairs = run.pairs.iter().zip(run.shared);
        sets.shared_with(number(run.place), others, self.context.isa(), room, |found| {
            if let Some((&pair, shared)) = pairs.next() {
                self.judge(documents.sizes_of(pair), found, shared);
            }
        });
    }

    /// Decides whether two documents are similar enough. `sizes` are their numbers of distinct terms, and `found` is
    /// the number of terms that they share. If they are similar enough, writes `found` to `shared`.
    pub(super) fn judge(&self, sizes: [u32; 2], found: usize, shared: &AtomicU32) {
        let [left, right] = sizes.map(u64::from);
        if self.threshold.reached(found as u64, left, right).is_some() {
            // The number fits into 32 bits, because no set has more terms.
            shared.store(found as u32, Ordering::Relaxed);
        }
    }

    /// Reads documents into memory. Document i has row number `rows[i]`, and is read if `is_wanted[i]` is true. A term
    /// that is repeated in a document is kept only once.
    pub(super) fn read(&self, is_wanted: &[bool], rows: &[u32]) -> Result<Documents> {
        self.begin_reading();
        let wanted = rows.iter().zip(is_wanted).filter(|&(_, &is_wanted)| is_wanted);
        let terms: u64 = wanted.map(|(&row, _)| self.size(row)).sum();
        // Threads do not get equal shares, so each one reserves half as much again.
        let expected = terms as usize / self.context.threads().count() * 3 / 2;
        let parts = self.context.threads().try_fold(
            self.shards.len(),
            || {
                let stored = Stored::with_capacity(expected, self.context.memory());
                Ok((stored, DistinctTerms::default()))
            },
            |(stored, distinct), number| {
                let shard = &self.shards[number];
                // Rows ascend from shard to shard, so the linked rows of a shard are neighbours.
                let before = |row: u32| rows.partition_point(|&linked| linked < row);
                let places = before(shard.first_row)..before(shard.end_row());
                let own = &rows[places.clone()];
                let is_wanted = &is_wanted[places];
                if !is_wanted.contains(&true) {
                    // A shard that is skipped counts as done. Otherwise the stage would never reach
                    // its end.
                    self.context.progress().advance(self.sources.shard_bytes(number));
                    return Ok(());
                }
                let wanted = |index: u32| {
                    own.binary_search(&(shard.first_row + index)).is_ok_and(|at| is_wanted[at])
                };
                self.sources.try_visit(number, Wanted::Some(&wanted), &mut |index, terms| {
                    stored.push(shard.first_row + index, distinct.distinct(terms)?)
                })
            },
        )?;
        let parts: Vec<Stored> = parts.into_iter().map(|(stored, _)| stored).collect();
        let mut stored_at = vec![NOWHERE; rows.len()];
        for (number, part) in (0..).zip(&parts) {
            for (document, row) in (0..).zip(&part.rows) {
                if let Ok(place) = rows.binary_search(row) {
                    stored_at[place] = (number, document);
                }
            }
        }
        let sizes = stored_at.iter().map(|&at| terms_at(&parts, at).len() as u32).collect();
        Ok(Documents { stored_at, parts, sizes })
    }

    /// Divides the pairs into batches such that the documents of one batch fit into memory. If
    /// possible, documents that are linked by pairs are in the same batch. `sizes` has the number of
    /// terms of each document.
    fn batches(&self, pairs: &[Candidate], sizes: &[u64]) -> Vec<Vec<Candidate>> {
        // If too many documents are linked, they are taken in blocks. Every two blocks fit into the
        // memory.
        let mut block_of = vec![0; sizes.len()];
        let links = Links::new(pairs, sizes.len());
        let mut linked = Vec::with_capacity(pairs.len());
        let mut start = 0;
        for (group, places) in (0_u32..).zip(&links.groups) {
            let mut before = 0;
            for &place in &links.order[places.clone()] {
                block_of[place as usize] = before / (self.fitting / 2).max(1);
                before += sizes[place as usize];
            }
            let end = links.ends[places.end - 1];
            for (_, of_place) in links.runs(start..end) {
                linked.extend(of_place.map(|pair| {
                    let [a, b] = pairs[pair].map(|place| block_of[place as usize]);
                    (group, a.min(b), a.max(b), pairs[pair])
                }));
            }
            start = end;
        }
        // Pairs of one group and of the same two blocks become neighbours, so a batch reads few
        // documents for many pairs.
        linked.sort_unstable();
        let mut batches = Vec::new();
        let mut batch = Vec::new();
        let mut terms = 0;
        let mut batch_of = vec![usize::MAX; sizes.len()];
        for (.., pair) in linked {
            // Only documents that the batch does not have yet take more memory.
            let new = pair.iter().filter(|&&place| batch_of[place as usize] != batches.len());
            if !batch.is_empty()
                && terms + new.map(|&place| sizes[place as usize]).sum::<u64>() > self.fitting
            {
                batches.push(std::mem::take(&mut batch));
                terms = 0;
            }
            for place in pair {
                if std::mem::replace(&mut batch_of[place as usize], batches.len()) != batches.len()
                {
                    terms += sizes[place as usize];
                }
            }
            batch.push(pair);
        }
        batches.push(batch);
        // `Links` expects ascending pairs, and the order by groups and blocks is another one.
        for batch in &mut batches {
            batch.sort_unstable();
        }
        batches
    }

    /// Returns the number of terms of the document with row number `row`, counting repeated terms.
    fn size(&self, row: u32) -> u64 {
        let shard = &self.shards[shard_of(self.shards, row)];
        u64::from(shard.sizes[(row - shard.first_row) as usize])
    }
}

/// The tasks into which the comparison of one batch of pairs is divided.
struct Comparisons {
    /// One range of pairs for each task, and the way of comparing them. `Some` has the index in `sets`
    /// of the bit sets to compare. With `None`, terms are looked up in a table.
    tasks: Vec<(Range<usize>, Option<usize>)>,
    sets: Vec<Comparable>,
    /// For each document, the index of its set among the sets of its group.
    numbers: Vec<u32>,
}

/// Consecutive pairs that begin with the same document. The number of terms that the documents of pair
/// i share is stored in `shared[i]`.
struct PairRun<'r> {
    place: u32,
    pairs: &'r [Candidate],
    shared: &'r [AtomicU32],
}

/// The documents of one batch, which are in memory with their distinct terms.
pub(super) struct Documents {
    /// For each document, the index of its part in `parts` and its index in that part. It is
    /// [`NOWHERE`] if the document is not in memory.
    stored_at: Vec<(u32, u32)>,
    parts: Vec<Stored>,
    /// Number of distinct terms of each document.
    sizes: Vec<u32>,
}

impl Documents {
    /// Returns the distinct terms of the document with index `place`. Returns an empty list if the
    /// document is not in memory.
    pub(super) fn terms_of(&self, place: u32) -> &[u64] {
        terms_at(&self.parts, self.stored_at[place as usize])
    }

    /// Returns the numbers of distinct terms of the documents of a pair.
    fn sizes_of(&self, pair: Candidate) -> [u32; 2] {
        pair.map(|place| self.sizes[place as usize])
    }

    /// Writes the number of distinct terms of each document in memory to `sizes_of`, which is indexed by row number.
    /// `rows` has the row number of each document.
    pub(super) fn write_sizes(&self, rows: &[u32], sizes_of: &mut [u32]) {
        for (place, &row) in rows.iter().enumerate() {
            // The other documents belong to another batch.
            if self.stored_at[place] != NOWHERE {
                sizes_of[row as usize] = self.sizes[place];
            }
        }
    }
}

fn terms_at(parts: &[Stored], (part, document): (u32, u32)) -> &[u64] {
    // `NOWHERE` is the index of no part, so a document that is not in memory has no terms.
    parts.get(part as usize).map_or(&[], |part| part.terms_of(document as usize))
}
