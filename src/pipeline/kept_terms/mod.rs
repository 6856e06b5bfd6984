//! Keeps the terms of texts that are expensive to read, so that these texts are read only once.
//!
//! A join of sets reads its documents two or three times, or more often if memory is scarce. Reading a mapped
//! text again costs nothing, but reading a compressed page of HTML costs a hundred times as much as reading
//! its terms. The terms of such expensive texts are therefore kept. They stay in memory as far as the budget
//! allows, and go to temporary files beyond that.
//!
//! Unpacking zstd takes about as long as writing a file of terms. So the terms of such texts are kept from
//! the first reading only if they all fit in memory. Otherwise, or if the files have no space for all terms,
//! terms are kept once few documents remain in the join. Texts whose terms fit nowhere are read again.
//!
//! The temporary files hold nothing but terms in the byte order of this machine.

mod cost;

pub(crate) use cost::{TERM_BYTES, are_unpacked_kept, kept_terms_cost, memory_share};

use super::spool::{Spool, SpoolPlace, Writing};
use simtool_base::durable::free_bytes;
use simtool_base::error::Result;
use simtool_base::large_buffer::reserve;
use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::progress::Progress;
use simtool_compute::context::Context;
use simtool_model::sides::Sides;
use simtool_read::{Corpus, Price};
use simtool_set_join::{TermSource, Wanted};
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

/// Description of the memory for terms that are kept. Out-of-memory messages contain it.
const WHAT: &str = "the terms of texts that are read once";

/// Number of terms that are read from or written to a temporary file at a time. So many terms take a megabyte.
const BLOCK_TERMS: usize = 128 << 10;

/// Minimum number of terms for which memory is reserved when the first terms of a shard are stored in memory.
const FIRST_TERMS: u64 = 4 << 10;

/// Divisor for deciding when terms are written to files. Reading zstd and Parquet texts again is not very
/// expensive. So their terms go to files only when at most 1/`FEW_REMAIN` of all terms are still needed.
const FEW_REMAIN: u64 = 4;

/// Maximum memory and disk space for the terms that are kept of one collection.
#[derive(Clone, Copy)]
pub(super) struct TermSpace {
    /// Maximum number of bytes of memory for the kept terms.
    pub(super) memory: u64,
    /// Maximum number of bytes of temporary files for the kept terms.
    pub(super) files: u64,
}

impl TermSpace {
    /// Returns the space that each of `corpora` gets. All corpora get the same space. It is empty if no text is
    /// expensive to read again.
    pub(super) fn of_each(corpora: &Sides<&dyn Corpus>, context: &Context<'_>) -> Self {
        if corpora.iter().all(|corpus| costs_at_most(*corpus, Price::Cheap)) {
            return Self { memory: 0, files: 0 };
        }
        let sides = corpora.iter().count() as u64;
        let memory = memory_share(context.memory().free()) / sides;
        // Other programs use the folder as well, so a tenth of its free space is left to them. If terms do
        // not fit, the texts are read again.
        Self { memory, files: free_bytes(context.temporary_folder()) / 10 * 9 / sides }
    }
}

/// Returns whether reading each shard of a collection costs at most `most`.
pub(super) fn costs_at_most(corpus: &dyn Corpus, most: Price) -> bool {
    (0..corpus.shard_count()).all(|shard| corpus.price(shard) <= most)
}

/// Function that returns how expensive it is to read a shard. The argument is the number of the shard.
pub(super) type PriceOf<'a> = dyn Fn(usize) -> Price + Sync + 'a;

/// Source of the terms of a collection. It keeps the terms of shards that are expensive to read, as far as
/// there is space. These shards are then read only once.
pub(super) struct KeptTerms<'a> {
    source: &'a dyn TermSource,
    /// Approximate number of terms of the collection. It is stored because `source` visits all shards to
    /// compute it.
    term_count: u64,
    price: &'a PriceOf<'a>,
    /// Receives the progress when kept terms are visited. When a text is read, `source` reports the progress.
    progress: &'a dyn Progress,
    /// For each shard, its kept terms. The entry is empty if the terms of the shard are not kept.
    shards: Vec<OnceLock<KeptShard>>,
    /// Memory budget for the kept terms that are not in files.
    memory: Ledger,
    spool: Spool,
}

/// Kept terms of the documents of one shard.
struct KeptShard {
    /// For each document of the shard, the index at which its terms end, in the list of all kept terms of the
    /// shard.
    ends: Vec<u64>,
    terms: Kept,
}

enum Kept {
    InMemory(
        Vec<u64>,
        #[expect(dead_code, reason = "held until it is dropped")] Option<Reservation>,
    ),
    /// The terms are in a temporary file.
    Spooled(SpoolPlace),
}

impl<'a> KeptTerms<'a> {
    /// Wraps `source` without reading it. Terms of expensive shards are kept in memory as far as the budget
    /// `memory` allows. Further terms go to temporary files in `folder`, up to `most_spooled` bytes.
    pub(super) fn new(
        source: &'a dyn TermSource,
        price: &'a PriceOf<'a>,
        memory: Ledger,
        (folder, most_spooled): (&Path, u64),
        progress: &'a dyn Progress,
    ) -> Self {
        let spool = Spool::new(folder.to_owned(), most_spooled);
        let shards = (0..source.shard_count()).map(|_| OnceLock::new()).collect();
        let term_count = source.term_count_hint();
        Self { source, term_count, price, progress, shards, memory, spool }
    }

    /// Returns the number of bytes of the kept terms that are in temporary files.
    pub(super) fn spooled_bytes(&self) -> u64 {
        self.spool.spooled_bytes()
    }

    /// Returns whether the terms of the `wanted` documents of a shard should be kept when the shard is read now. Later
    /// readings get only the kept documents, so `wanted` must include all documents that are still needed.
    fn is_to_be_kept(&self, shard: usize, wanted: Wanted<'_>) -> bool {
        let all = self.term_count;
        let terms = match wanted {
            Wanted::All => all,
            Wanted::Remaining { terms, .. } => terms,
            Wanted::Some(_) => return false,
        };
        let bytes = terms.saturating_mul(TERM_BYTES);
        let room = match (self.price)(shard) {
            Price::Cheap => return false,
            Price::Unpacked if terms > all / FEW_REMAIN => self.memory.limit(),
            Price::Unpacked | Price::Expensive => {
                self.memory.limit().saturating_add(self.spool.most_bytes())
            }
        };
        // Once the terms of a shard did not fit, nothing more is kept. Otherwise each reading would try in
        // vain.
        bytes <= room && !self.spool.is_full()
    }

    /// Reads a shard, calls `visit` with the number and the terms of each wanted document, and keeps these
    /// terms if there is space.
    fn keep(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        let nothing =
            Keeping { of: self, ends: Vec::new(), terms: Vec::new(), taken: None, writing: None };
        let mut keeping = Some(nothing);
        let mut done = Ok(());
        self.source.visit_shard(shard, wanted, &mut |index, terms| {
            if let Some(kept) = &mut keeping
                && done.is_ok()
            {
                match kept.push(index, terms) {
                    Ok(true) => {}
                    Ok(false) => keeping = None,
                    Err(error) => done = Err(error),
                }
            }
            visit(index, terms);
        })?;
        done?;
        let Some(kept) = keeping.map(Keeping::finish).transpose()?.flatten() else {
            return Ok(());
        };
        // Another thread may have read the same shard. Its terms are equal, so these are dropped and their
        // memory is free again.
        drop(self.shards[shard].set(kept));
        Ok(())
    }

    /// Calls `visit` with the number and the terms of each wanted document of a shard whose terms are in a temporary
    /// file. `place` is the position of the shard's terms in the file, and `term_count` is their number. `wanted`
    /// lists, in ascending order, the number of each wanted document and the range of its terms among the terms of the
    /// shard.
    fn visit_spooled(
        &self,
        place: SpoolPlace,
        wanted: impl Iterator<Item = (u32, Range<u64>)>,
        term_count: u64,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        let mut block: Vec<u64> = Vec::new();
        let mut block_start = 0;
        for (index, range) in wanted {
            if range.end > block_start + block.len() as u64 {
                // A block of terms begins at a wanted document, so that skipped documents are not read. It
                // holds at least all terms of that document.
                let length = (range.end - range.start).max(BLOCK_TERMS as u64);
                let length = length.min(term_count - range.start) as usize;
                let more = length.saturating_sub(block.len());
                reserve(&mut block, more, WHAT)?;
                block.resize(length, 0);
                block_start = range.start;
                let bytes = bytemuck::cast_slice_mut(&mut block);
                self.spool.read(place, block_start * TERM_BYTES, bytes)?;
            }
            let start = (range.start - block_start) as usize;
            visit(index, &block[start..][..(range.end - range.start) as usize]);
        }
        Ok(())
    }
}

impl TermSource for KeptTerms<'_> {
    fn shard_count(&self) -> usize {
        self.source.shard_count()
    }

    fn term_count_hint(&self) -> u64 {
        self.term_count
    }

    fn held_bytes(&self) -> u64 {
        self.source.held_bytes() + self.memory.used()
    }

    fn keeping_bytes(&self) -> u64 {
        self.memory.limit()
    }

    fn is_weighted(&self) -> bool {
        self.source.is_weighted()
    }

    fn weight(&self, term: u64) -> u32 {
        self.source.weight(term)
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        self.source.shard_bytes(shard)
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        match self.shards[shard].get() {
            Some(KeptShard { ends, terms: Kept::InMemory(terms, _) }) => {
                for (index, range) in wanted_ranges(ends, wanted) {
                    visit(index, &terms[range.start as usize..range.end as usize]);
                }
                self.progress.advance(self.shard_bytes(shard));
                Ok(())
            }
            Some(KeptShard { ends, terms: Kept::Spooled(place) }) => {
                self.progress.advance(self.shard_bytes(shard));
                let term_count = ends.last().copied().unwrap_or(0);
                self.visit_spooled(*place, wanted_ranges(ends, wanted), term_count, visit)
            }
            None if self.is_to_be_kept(shard, wanted) => self.keep(shard, wanted, visit),
            None => self.source.visit_shard(shard, wanted, visit),
        }
    }
}

/// Returns the number of each wanted document of a shard, and the range of its terms in the list of all kept
/// terms of the shard. `ends` is [`KeptShard::ends`].
fn wanted_ranges<'e>(
    ends: &'e [u64],
    wanted: Wanted<'e>,
) -> impl Iterator<Item = (u32, Range<u64>)> + 'e {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let ranges = starts.zip(ends).map(|(start, &end)| start..end);
    (0..).zip(ranges).filter(move |&(index, _)| wanted.has(index))
}

/// Terms of one shard that are being kept while the shard is read.
struct Keeping<'k, 'a> {
    of: &'k KeptTerms<'a>,
    ends: Vec<u64>,
    /// Terms of the documents that were read so far. If the terms go to a file, only the terms that are not in the file
    /// yet.
    terms: Vec<u64>,
    /// Memory that is reserved for `terms`.
    taken: Option<Reservation>,
    /// File that the terms go to, once they no longer fit in memory.
    writing: Option<Writing<'k>>,
}

impl Keeping<'_, '_> {
    /// Keeps the terms of document number `index` of the shard. Returns false if the terms fit neither in
    /// memory nor in files. Documents between the last kept document and this document are stored without
    /// terms.
    fn push(&mut self, index: u32, terms: &[u64]) -> Result<bool> {
        let end = self.ends.last().copied().unwrap_or(0);
        // A skipped document ends where the document before it ends, so its range is empty.
        self.ends.resize(index as usize, end);
        self.ends.push(end + terms.len() as u64);
        if let Some(writing) = &mut self.writing {
            if self.terms.len() + terms.len() > BLOCK_TERMS {
                if !writing.write(bytemuck::cast_slice(&self.terms))? {
                    return Ok(false);
                }
                self.terms.clear();
            }
            if terms.len() > BLOCK_TERMS {
                return writing.write(bytemuck::cast_slice(terms));
            }
        } else if !self.has_room(terms.len()) {
            // The terms no longer fit in memory, so the terms so far and all later ones go to a file.
            let mut writing = self.of.spool.begin()?;
            let has_room = writing.write(bytemuck::cast_slice(&self.terms))?
                && writing.write(bytemuck::cast_slice(terms))?;
            self.writing = Some(writing);
            self.terms = Vec::new();
            self.taken = None;
            return Ok(has_room);
        }
        reserve(&mut self.terms, terms.len(), WHAT)?;
        self.terms.extend_from_slice(terms);
        Ok(true)
    }

    /// Makes sure that memory is reserved for `more` terms in addition to `self.terms`. Returns false if the
    /// memory budget does not allow this.
    fn has_room(&mut self, more: usize) -> bool {
        let needed = (self.terms.len() + more) as u64;
        let taken = self.taken.as_ref().map_or(0, Reservation::bytes);
        if needed <= taken / TERM_BYTES {
            return true;
        }
        // The reservation is doubled, so that the terms are rarely moved. If the budget does not allow that,
        // only the needed memory is reserved.
        for terms in [needed.max(FIRST_TERMS).max(taken / TERM_BYTES * 2), needed] {
            if self.take(terms * TERM_BYTES - taken) {
                let have = self.terms.len();
                return self.terms.try_reserve_exact(terms as usize - have).is_ok();
            }
        }
        false
    }

    /// Increases the reserved memory by `bytes`. Returns false if the memory budget does not allow this.
    fn take(&mut self, bytes: u64) -> bool {
        if let Some(taken) = &mut self.taken {
            return taken.try_grow(bytes);
        }
        self.taken = self.of.memory.try_reserve(bytes);
        self.taken.is_some()
    }

    /// Returns the kept shard, or `None` if its last terms did not fit in the file.
    fn finish(mut self) -> Result<Option<KeptShard>> {
        self.ends.shrink_to_fit();
        let ends = std::mem::take(&mut self.ends);
        let terms = if let Some(mut writing) = self.writing.take() {
            if !writing.write(bytemuck::cast_slice(&self.terms))? {
                return Ok(None);
            }
            Kept::Spooled(writing.finish())
        } else {
            self.terms.shrink_to_fit();
            let mut taken = self.taken.take();
            if let Some(taken) = &mut taken {
                taken.shrink_to(self.terms.len() as u64 * TERM_BYTES);
            }
            Kept::InMemory(std::mem::take(&mut self.terms), taken)
        };
        Ok(Some(KeptShard { ends, terms }))
    }
}

#[cfg(test)]
mod tests;
