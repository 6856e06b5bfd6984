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
//! The temporary files have no names and hold nothing but terms in the byte order of this machine. They
//! disappear with the value. Each thread writes to a file of its own, shard after shard.

use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::reserve;
use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::progress::Progress;
use simtool_read::Price;
use simtool_set_join::{TermSource, Wanted};
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Number of terms that are read from or written to a temporary file at a time. They take a megabyte.
const BLOCK_TERMS: usize = 128 << 10;
/// Number of terms for which memory is reserved when a shard begins.
const FIRST_TERMS: u64 = 4 << 10;
const TERM_BYTES: u64 = size_of::<u64>() as u64;
/// Name of this use of memory in error messages.
const WHAT: &str = "the terms of texts that are read once";

/// Terms of zstd and Parquet texts go to files only when at most 1/`FEW_REMAIN` of all terms are still
/// needed.
const FEW_REMAIN: u64 = 4;

/// Function that returns how expensive it is to read the shard with this number.
pub(super) type PriceOf<'a> = dyn Fn(usize) -> Price + Sync + 'a;

/// Source of the terms of a collection that keeps the terms of expensive shards after their first reading.
pub(super) struct KeptTerms<'a> {
    source: &'a dyn TermSource,
    /// Approximate number of terms of the collection. It is stored because the source visits all shards to
    /// compute it.
    term_count: u64,
    price: &'a PriceOf<'a>,
    /// Receiver of the progress for shards that are kept. For other shards, `source` reports the progress.
    progress: &'a dyn Progress,
    /// For each shard its kept terms, if it is expensive and was read.
    shards: Vec<OnceLock<KeptShard>>,
    /// Budget for the terms that stay in memory.
    memory: Ledger,
    spool: Spool,
}

/// Kept terms of the documents of one shard.
struct KeptShard {
    /// For each document, the index in the terms of the shard at which its terms end.
    ends: Vec<u64>,
    terms: Kept,
}

enum Kept {
    InMemory(
        Vec<u64>,
        #[expect(dead_code, reason = "held until it is dropped")] Option<Reservation>,
    ),
    /// The terms are in the temporary file with number `file`, beginning at byte `start`.
    Spooled { file: usize, start: u64 },
}

/// Temporary files without names, to which terms go that do not fit in memory.
struct Spool {
    folder: PathBuf,
    files: Mutex<Files>,
    spooled_bytes: AtomicU64,
    /// Maximum number of bytes of all files together.
    most_bytes: u64,
    /// Whether the terms of some shard did not fit. From then on, no more shards are kept.
    is_full: AtomicBool,
}

#[derive(Default)]
struct Files {
    all: Vec<SpoolFile>,
    /// Numbers and lengths of the files that no thread is writing to.
    free: Vec<(usize, u64)>,
}

/// A temporary file. Its readers share one position in the file, so they lock it.
type SpoolFile = std::sync::Arc<Mutex<File>>;

impl<'a> KeptTerms<'a> {
    /// Wraps `source` without reading it. Terms of expensive shards may take up to `memory`. Beyond that, up
    /// to `most_spooled` bytes go to temporary files in `folder`.
    pub(super) fn new(
        source: &'a dyn TermSource,
        price: &'a PriceOf<'a>,
        memory: Ledger,
        (folder, most_spooled): (&Path, u64),
        progress: &'a dyn Progress,
    ) -> Self {
        let spool = Spool {
            folder: folder.to_owned(),
            files: Mutex::default(),
            spooled_bytes: AtomicU64::new(0),
            most_bytes: most_spooled,
            is_full: AtomicBool::new(false),
        };
        let shards = (0..source.shard_count()).map(|_| OnceLock::new()).collect();
        let term_count = source.term_count_hint();
        Self { source, term_count, price, progress, shards, memory, spool }
    }

    /// Returns the number of bytes of terms in temporary files.
    pub(super) fn spooled_bytes(&self) -> u64 {
        self.spool.spooled_bytes.load(Ordering::Relaxed)
    }

    /// Returns whether the terms of a shard should be kept when it is read now for the `wanted` documents.
    /// Later readings then find only these documents.
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
            Price::Unpacked | Price::Dear => {
                self.memory.limit().saturating_add(self.spool.most_bytes)
            }
        };
        // Once the terms of a shard did not fit, nothing more is kept. Otherwise each reading would try in
        // vain.
        bytes <= room && !self.spool.is_full.load(Ordering::Relaxed)
    }

    /// Reads a shard, calls `visit` for its wanted documents and keeps their terms.
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
}

impl TermSource for KeptTerms<'_> {
    fn shard_count(&self) -> usize {
        self.source.shard_count()
    }

    fn term_count_hint(&self) -> u64 {
        self.term_count
    }

    fn told_bytes(&self) -> u64 {
        self.source.told_bytes() + self.memory.used()
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
            Some(KeptShard { ends, terms: Kept::Spooled { file, start } }) => {
                self.progress.advance(self.shard_bytes(shard));
                self.spool.visit(*file, *start, ends, wanted, visit)
            }
            None if self.is_to_be_kept(shard, wanted) => self.keep(shard, wanted, visit),
            None => self.source.visit_shard(shard, wanted, visit),
        }
    }
}

/// Returns the numbers of the wanted documents of a shard, and the range of their terms among the terms of
/// the shard.
fn wanted_ranges<'e>(
    ends: &'e [u64],
    wanted: Wanted<'e>,
) -> impl Iterator<Item = (u32, std::ops::Range<u64>)> + 'e {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let ranges = starts.zip(ends).map(|(start, &end)| start..end);
    (0..).zip(ranges).filter(move |&(index, _)| wanted.has(index))
}

/// State of keeping one shard while it is read.
struct Keeping<'k, 'a> {
    of: &'k KeptTerms<'a>,
    ends: Vec<u64>,
    /// Terms of the documents so far. If they go to a file, only the terms that are not yet written to it.
    terms: Vec<u64>,
    /// Memory that is reserved for `terms`.
    taken: Option<Reservation>,
    /// File that the terms go to, once they no longer fit in memory.
    writing: Option<Writing<'k>>,
}

impl Keeping<'_, '_> {
    /// Keeps the terms of document number `index` of the shard, and returns whether they fit. Skipped
    /// documents before it are stored without terms.
    fn push(&mut self, index: u32, terms: &[u64]) -> Result<bool> {
        let end = self.ends.last().copied().unwrap_or(0);
        // A skipped document ends where the document before it ends, so its range is empty.
        self.ends.resize(index as usize, end);
        self.ends.push(end + terms.len() as u64);
        if let Some(writing) = &mut self.writing {
            if self.terms.len() + terms.len() > BLOCK_TERMS {
                if !writing.write(&self.terms)? {
                    return Ok(false);
                }
                self.terms.clear();
            }
            if terms.len() > BLOCK_TERMS {
                return writing.write(terms);
            }
        } else if !self.has_room(terms.len()) {
            // The terms no longer fit in memory, so the terms so far and all later ones go to a file.
            let mut writing = self.of.spool.begin()?;
            let has_room = writing.write(&self.terms)? && writing.write(terms)?;
            self.writing = Some(writing);
            self.terms = Vec::new();
            self.taken = None;
            return Ok(has_room);
        }
        reserve(&mut self.terms, terms.len(), WHAT)?;
        self.terms.extend_from_slice(terms);
        Ok(true)
    }

    /// Reserves memory for `more` terms. Returns false if the budget does not allow it.
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

    /// Reserves `bytes` more bytes. Returns false if the budget does not allow it.
    fn take(&mut self, bytes: u64) -> bool {
        if let Some(taken) = &mut self.taken {
            return taken.try_grow(bytes);
        }
        self.taken = self.of.memory.try_reserve(bytes);
        self.taken.is_some()
    }

    /// Returns the kept shard, or `None` if its last terms did not fit.
    fn finish(mut self) -> Result<Option<KeptShard>> {
        self.ends.shrink_to_fit();
        let ends = std::mem::take(&mut self.ends);
        let terms = if let Some(mut writing) = self.writing.take() {
            if !writing.write(&self.terms)? {
                return Ok(None);
            }
            writing.finish()
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

/// A temporary file that a thread writes the terms of one shard to. Dropping the value removes the terms of
/// an unfinished shard and makes the file free for another shard.
struct Writing<'s> {
    spool: &'s Spool,
    number: usize,
    file: SpoolFile,
    /// Byte offset in the file at which the last finished shard ends and this one begins.
    start: u64,
    end: u64,
}

impl Writing<'_> {
    /// Appends terms to the file. Returns false if they do not fit.
    fn write(&mut self, terms: &[u64]) -> Result<bool> {
        let bytes: &[u8] = bytemuck::cast_slice(terms);
        let spooled = self.spool.spooled_bytes.load(Ordering::Relaxed);
        if spooled + bytes.len() as u64 > self.spool.most_bytes {
            return Ok(self.no_room());
        }
        let mut file = locked(&self.file);
        let written = file.seek(SeekFrom::Start(self.end)).and_then(|_| file.write_all(bytes));
        match written.map_err(|error| (error.kind(), error)) {
            Ok(()) => {}
            // A full disk is not an error: the texts are read again instead.
            Err((ErrorKind::StorageFull | ErrorKind::QuotaExceeded, _)) => {
                return Ok(self.no_room());
            }
            Err((_, error)) => {
                return Err(Error::io(&self.spool.folder, "write a temporary file in", error));
            }
        }
        self.end += bytes.len() as u64;
        self.spool.spooled_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(true)
    }

    fn no_room(&self) -> bool {
        self.spool.is_full.store(true, Ordering::Relaxed);
        false
    }

    fn finish(mut self) -> Kept {
        // Moving `start` behind the terms marks the shard as finished, so that dropping does not remove it.
        let start = std::mem::replace(&mut self.start, self.end);
        Kept::Spooled { file: self.number, start }
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        // If truncating fails, the next shard overwrites the terms of the unfinished one.
        drop(locked(&self.file).set_len(self.start));
        self.spool.spooled_bytes.fetch_sub(self.end - self.start, Ordering::Relaxed);
        locked(&self.spool.files).free.push((self.number, self.start));
    }
}

impl Spool {
    /// Returns a file that no other thread writes to, or creates one.
    fn begin(&self) -> Result<Writing<'_>> {
        let mut files = locked(&self.files);
        let (number, start) = if let Some(free) = files.free.pop() {
            free
        } else {
            let file = tempfile::tempfile_in(&self.folder)
                .map_err(|e| Error::io(&self.folder, "create a temporary file in", e))?;
            files.all.push(SpoolFile::new(Mutex::new(file)));
            (files.all.len() - 1, 0)
        };
        let file = SpoolFile::clone(&files.all[number]);
        Ok(Writing { spool: self, number, file, start, end: start })
    }

    /// Calls `visit` for the wanted documents of a shard whose terms begin at byte `first_byte` of a file.
    fn visit(
        &self,
        file: usize,
        first_byte: u64,
        ends: &[u64],
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        let file = SpoolFile::clone(&locked(&self.files).all[file]);
        let end_of_shard = ends.last().copied().unwrap_or(0);
        let (mut block, mut block_start): (Vec<u64>, u64) = (Vec::new(), 0);
        for (index, range) in wanted_ranges(ends, wanted) {
            if range.end > block_start + block.len() as u64 {
                // A block of terms begins at a wanted document, so that skipped documents are not read. It
                // holds at least all terms of that document.
                let length = (range.end - range.start).max(BLOCK_TERMS as u64);
                let length = length.min(end_of_shard - range.start) as usize;
                let more = length.saturating_sub(block.len());
                reserve(&mut block, more, WHAT)?;
                block.resize(length, 0);
                block_start = range.start;
                let mut file = locked(&file);
                // Readers share the position in the file, so seeking and reading must happen under one lock.
                let place = SeekFrom::Start(first_byte + block_start * TERM_BYTES);
                let bytes = bytemuck::cast_slice_mut(&mut block);
                let read = file.seek(place).and_then(|_| file.read_exact(bytes));
                read.map_err(|e| Error::io(&self.folder, "read a temporary file in", e))?;
            }
            let start = (range.start - block_start) as usize;
            visit(index, &block[start..][..(range.end - range.start) as usize]);
        }
        Ok(())
    }
}

/// Locks `mutex`, even if another thread panicked while it held the lock. Such a panic ends the run anyway,
/// so the data is never used.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_compute::context::Context;

    use simtool_base::progress::NoProgress;
    use simtool_base::stable_hash::mix;
    use simtool_compute::resources::Resources;
    use simtool_model::similarity::Threshold;
    use simtool_set_join::SetJoin;
    use std::sync::atomic::AtomicUsize;

    /// Documents in shards that count their readings, and how often the number of terms was asked
    /// for.
    struct Counted {
        shards: Vec<Vec<Vec<u64>>>,
        readings: Vec<AtomicUsize>,
        asked: AtomicUsize,
    }

    impl TermSource for Counted {
        fn shard_count(&self) -> usize {
            self.shards.len()
        }

        fn term_count_hint(&self) -> u64 {
            self.asked.fetch_add(1, Ordering::Relaxed);
            self.shards.iter().flatten().map(|terms| terms.len() as u64).sum()
        }

        fn visit_shard(
            &self,
            shard: usize,
            wanted: Wanted<'_>,
            visit: &mut dyn FnMut(u32, &[u64]),
        ) -> Result<()> {
            self.readings[shard].fetch_add(1, Ordering::Relaxed);
            for (index, terms) in (0..).zip(&self.shards[shard]) {
                if wanted.has(index) {
                    visit(index, terms);
                }
            }
            Ok(())
        }
    }

    /// Shards of similar documents, some empty, one longer than a block.
    fn counted() -> Counted {
        let document = |shard: u64, index: u64| -> Vec<u64> {
            let length = match (shard, index) {
                (2, 3) => BLOCK_TERMS as u64 + 1000,
                (_, 5) => 0,
                _ => 100 + mix(index) % 3000,
            };
            (0..length).map(|term| mix(if term % 50 == shard { shard } else { term })).collect()
        };
        let shard = |shard| (0..20 * shard).map(|index| document(shard, index)).collect();
        let shards: Vec<Vec<Vec<u64>>> = (0..6).map(shard).collect();
        let readings = shards.iter().map(|_| AtomicUsize::new(0)).collect();
        Counted { shards, readings, asked: AtomicUsize::new(0) }
    }

    #[test]
    fn expensive_shards_are_read_once_and_give_the_same_pairs() {
        let folder = tempfile::tempdir().unwrap();
        let resources = Resources { threads: 3, ..Resources::default() };
        let context = Context::new(&resources, &NoProgress).unwrap();
        let threshold = Threshold::new(3, 5).unwrap();
        let all_bytes = counted().term_count_hint() * TERM_BYTES;
        let mut expected = None;
        for memory in [0, 1, all_bytes / 3, all_bytes, u64::MAX] {
            for memory_bytes in [u64::MAX, 3 << 20] {
                let source = counted();
                let is_dear = |shard: usize| shard % 3 != 1;
                let price = |shard| if is_dear(shard) { Price::Dear } else { Price::Cheap };
                let kept = KeptTerms::new(
                    &source,
                    &price,
                    Ledger::new(memory),
                    (folder.path(), u64::MAX),
                    &NoProgress,
                );
                let context = context.with_memory(memory_bytes);
                let join = SetJoin::new(threshold, &context);
                let alike = join.self_join(&kept).unwrap();
                assert!(alike.pairs.len() > 100);
                // Adding up all shards once per shard would take hours for a million files.
                assert_eq!(source.asked.load(Ordering::Relaxed), 1);
                let plain = expected.get_or_insert_with(|| join.self_join(&source).unwrap());
                assert_eq!(&alike, plain);
                if memory_bytes < u64::MAX {
                    let readings = |shard: &AtomicUsize| shard.load(Ordering::Relaxed);
                    let readings: Vec<usize> = source.readings.iter().map(readings).collect();
                    let dear = (0..6).filter(|&shard| is_dear(shard));
                    assert!(dear.clone().all(|shard| readings[shard] == 1), "{readings:?}");
                    assert!(readings[4] > 2, "{readings:?}");
                }
                let spooled = kept.spooled_bytes();
                match memory {
                    0 => assert!(spooled > all_bytes / 3),
                    u64::MAX => assert_eq!(spooled, 0),
                    _ => assert!(spooled < all_bytes),
                }
                let used = kept.memory.used();
                let in_memory = |shard: &KeptShard| match &shard.terms {
                    Kept::InMemory(terms, _) => terms.len() as u64 * TERM_BYTES,
                    Kept::Spooled { .. } => 0,
                };
                let held: u64 = kept.shards.iter().filter_map(OnceLock::get).map(in_memory).sum();
                assert_eq!(used, held);
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// Reads all shards and returns their documents.
    fn read(kept: &KeptTerms<'_>, wanted: Wanted<'_>) -> Vec<Vec<(u32, Vec<u64>)>> {
        let read = |shard| {
            let mut found = Vec::new();
            let visit = &mut |index, terms: &[u64]| found.push((index, terms.to_vec()));
            kept.visit_shard(shard, wanted, visit).unwrap();
            found
        };
        (0..kept.shard_count()).map(read).collect()
    }

    #[test]
    fn only_wanted_documents_are_visited() {
        let folder = tempfile::tempdir().unwrap();
        let source = counted();
        let expected = |wanted: Wanted<'_>| -> Vec<Vec<(u32, Vec<u64>)>> {
            let wanted = |shard: &Vec<Vec<u64>>| {
                let all = (0..).zip(shard.iter().cloned());
                all.filter(|&(index, _)| wanted.has(index)).collect()
            };
            source.shards.iter().map(wanted).collect()
        };
        let few = |index: u32| index % 7 < 2;
        let fewer = |index: u32| index % 7 == 1;
        let terms =
            expected(Wanted::Some(&few)).concat().iter().map(|(_, terms)| terms.len() as u64).sum();
        let remaining = Wanted::Remaining { is_one: &few, terms };
        // In turn, all shards have room, none has, or only the first ones.
        let two_shards = 2 * TERM_BYTES * source.shards[1].concat().len() as u64;
        for price in [Price::Unpacked, Price::Dear] {
            for (memory, most) in
                [(0, u64::MAX), (u64::MAX, 0), (0, 0), (0, two_shards), (1 << 16, 1)]
            {
                let folder = (folder.path(), most);
                let price = &|_| price;
                let kept = KeptTerms::new(&source, price, Ledger::new(memory), folder, &NoProgress);
                for wanted in
                    [Wanted::All, remaining, Wanted::Some(&fewer), Wanted::Some(&|_| false)]
                {
                    assert_eq!(read(&kept, wanted), expected(wanted));
                }
                assert!(kept.spooled_bytes() <= most);
                let is_kept = |shard: &OnceLock<KeptShard>| shard.get().is_some();
                assert_eq!(kept.shards.iter().all(is_kept), memory == u64::MAX || most == u64::MAX);
            }
        }
    }

    #[test]
    fn cheaply_unpacked_texts_go_to_files_once_few_documents_remain() {
        let folder = tempfile::tempdir().unwrap();
        let source = counted();
        let all = source.term_count_hint();
        for (remaining, is_kept) in [(all / 2, false), (all / 5, true)] {
            let folder = (folder.path(), u64::MAX);
            let kept =
                KeptTerms::new(&source, &|_| Price::Unpacked, Ledger::new(0), folder, &NoProgress);
            read(&kept, Wanted::All);
            read(&kept, Wanted::Some(&|index| index.is_multiple_of(5)));
            assert_eq!(kept.spooled_bytes(), 0);
            let is_one = &|index: u32| index.is_multiple_of(5);
            read(&kept, Wanted::Remaining { is_one, terms: remaining });
            assert_eq!(kept.spooled_bytes() > 0, is_kept);
            assert!(kept.spooled_bytes() < all * TERM_BYTES / 2);
        }
    }

    #[test]
    fn a_folder_that_takes_no_files_is_named() {
        let source = counted();
        let folder = (Path::new("/nowhere/at/all"), u64::MAX);
        let kept = KeptTerms::new(&source, &|_| Price::Dear, Ledger::new(0), folder, &NoProgress);
        let error = kept.visit_shard(3, Wanted::All, &mut |_, _| {}).unwrap_err();
        assert_eq!(error.to_string(), "cannot create a temporary file in /nowhere/at/all");
    }
}
