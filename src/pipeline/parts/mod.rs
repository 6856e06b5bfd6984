//! Stores the data that a run has read from each shard of a collection, so that a later run need not read the shard
//! again.
//!
//! The first reading of a shard gives a row of numbers for each document (its fingerprint, its terms or its words)
//! and a summary. Both are stored in a folder, under a key that is made from the settings and from the name, size and
//! time of the file. A later run takes a shard from the folder if it finds its key. So a shard of a file that has
//! changed, or of a run with other settings, is never used.
//!
//! The result of comparing all documents is stored as well, see [`Parts::store_result`].
//!
//! All missing shards are stored before any shard is used, see [`Parts::fill`]. So a run that is killed again and again
//! reads each shard once, and several machines can store the shards of one collection.

mod journal;
mod rows;

use super::excerpts::Excerpts;
use super::shard_summary::ShardSummary;
use super::stored_bytes::{BytesReader, BytesWriter};
use journal::{Frame, Journal, is_journal};
pub(crate) use rows::StoreRow;
use rows::{StoredShard, stored_shards};
use simtool_base::durable::{Disk, Durability};
use simtool_base::error::{Error, Result};
use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::progress::Work;
use simtool_base::stable_hash::wide_hash;
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_read::{Collection, Corpus};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Version of the stored bytes. It is part of every key, so a run never uses the bytes of another version.
const VERSION: &str = concat!("parts 6 of simtool ", env!("CARGO_PKG_VERSION"), " ");

/// Divisor of the free memory. A stored result with more than 1/`RESULT_SHARE` of the free memory is not used. The
/// objects that are made from it take about twice its bytes.
const RESULT_SHARE: u64 = 4;

/// Share of the shards of a collection. If several machines read a collection, each one reads the shards of one share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardShare {
    /// Number of the share, counted from 0.
    pub(crate) index: usize,
    /// Number of shares into which the shards are divided.
    pub(crate) count: usize,
}

/// The shards of a collection that are stored in a folder, each as one row of numbers for each document. Shards that
/// are missing in the folder can be added.
#[derive(Debug)]
pub(crate) struct Parts<'c> {
    folder: PathBuf,
    collection: &'c Collection,
    /// For each shard, the key under which it is stored. `None` if the shard cannot be stored.
    keys: Vec<Option<u128>>,
    stored: Vec<OnceLock<StoredShard>>,
    /// Key of the result of comparing all documents. `None` if the result cannot be stored.
    result_key: Option<u128>,
    /// The result of comparing all documents, if it is stored.
    result: OnceLock<StoredShard>,
    /// File to which this run appends. It is created when the run stores something for the first time.
    journal: OnceLock<Journal>,
    /// Excerpts of the texts of each shard, which are stored with the shard. `None` if no excerpts are needed.
    excerpts: Option<&'c Excerpts>,
    /// Number of shards in the folder that belong to other files or other settings.
    unfit: u64,
    /// Number of stored shards that turned out to be damaged when they were read.
    damaged: AtomicU64,
    _memory: Reservation,
}

impl<'c> Parts<'c> {
    /// Opens `folder` and finds the stored shards of `collection`. `settings` is a text of all settings that decide
    /// which numbers are stored. `depends_on_all` is true if the rows of a shard also depend on the other shards, for
    /// example by weights that are learned from the whole collection.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    pub(crate) fn open(
        folder: &Path,
        collection: &'c Collection,
        settings: &str,
        depends_on_all: bool,
        memory: &Ledger,
    ) -> Result<Self> {
        let keys = keys(collection, settings, depends_on_all);
        let by_key: UnorderedMap<u128, usize> =
            keys.iter().enumerate().filter_map(|(shard, key)| Some(((*key)?, shard))).collect();
        let stored: Vec<OnceLock<StoredShard>> = keys.iter().map(|_| OnceLock::new()).collect();
        let result_key = result_key(&keys);
        let result = OnceLock::new();
        let mut unfit = 0;
        // Each run that was stopped has left a file of its own.
        for journal in journals(folder)? {
            for shard in stored_shards(&journal)? {
                // Two runs may have stored the same shard.
                match by_key.get(&shard.end.key) {
                    Some(&number) => drop(stored[number].set(shard)),
                    None if result_key == Some(shard.end.key) => drop(result.set(shard)),
                    None => unfit += 1,
                }
            }
        }
        let frames =
            |shard: &OnceLock<StoredShard>| shard.get().map_or(0, |shard| shard.rows.len());
        let frames: usize = stored.iter().map(frames).sum();
        let bytes = frames * size_of::<Frame>() + keys.len() * size_of::<OnceLock<StoredShard>>();
        Ok(Self {
            folder: folder.to_owned(),
            collection,
            keys,
            stored,
            result_key,
            result,
            journal: OnceLock::new(),
            excerpts: None,
            unfit,
            damaged: AtomicU64::new(0),
            _memory: memory.hold(bytes as u64),
        })
    }

    /// Sets the excerpts of texts that are stored and restored together with each shard.
    pub(crate) fn with_excerpts(self, excerpts: Option<&'c Excerpts>) -> Self {
        Self { excerpts, ..self }
    }

    /// Returns for each file of the collection a key, made from the keys of its shards. The key changes if the file or
    /// the settings change. `None` if a shard of the file has no key.
    pub(crate) fn file_keys(&self) -> Vec<Option<u128>> {
        let mut keys: Vec<Option<Vec<u8>>> = vec![Some(Vec::new()); self.collection.file_count()];
        for (shard, key) in self.keys.iter().enumerate() {
            // One shard without a key is enough to leave the file without a key, because a copy of the file has the
            // documents of all its shards.
            let of_file = &mut keys[self.collection.shard_file(shard)];
            match (of_file.as_mut(), key) {
                (Some(bytes), Some(key)) => bytes.extend(key.to_le_bytes()),
                _ => *of_file = None,
            }
        }
        keys.into_iter().map(|bytes| bytes.map(|bytes| wide_hash(&bytes))).collect()
    }

    /// Returns the indexes of the shards that can be stored but are not stored yet.
    pub(crate) fn missing(&self) -> impl Iterator<Item = usize> {
        (0..self.keys.len())
            .filter(|&shard| self.keys[shard].is_some() && self.stored[shard].get().is_none())
    }

    /// Returns the number of stored shards of the collection.
    pub(crate) fn stored_count(&self) -> u64 {
        self.stored.iter().filter(|shard| shard.get().is_some()).count() as u64
    }

    /// Returns the number of shards of the collection.
    pub(crate) fn shard_count(&self) -> u64 {
        self.keys.len() as u64
    }

    /// Returns the number of shards in the folder that belong to other files or other settings.
    pub(crate) fn unfit_count(&self) -> u64 {
        self.unfit
    }

    /// Returns the number of stored shards that turned out to be damaged. Their files were read again.
    pub(crate) fn damaged_count(&self) -> u64 {
        self.damaged.load(Ordering::Relaxed)
    }

    /// Reads the shards that are missing in the folder, and stores them. If `share` is given, reads only missing shards
    /// of this share. `read` must read the shard with the given index, push a row of numbers for each of its documents,
    /// and return its summary.
    ///
    /// # Errors
    ///
    /// A shard cannot be read or stored, or the work is cancelled.
    pub(crate) fn fill(
        &self,
        share: Option<ShardShare>,
        context: &Context<'_>,
        read: &(dyn Fn(usize, &mut StoreRow<'_>) -> Result<ShardSummary> + Sync),
    ) -> Result<()> {
        let is_own = |shard: &usize| share.is_none_or(|share| share.has(*shard));
        let missing: Vec<usize> = self.missing().filter(is_own).collect();
        // A run that only combines stored shards creates no file.
        if missing.is_empty() {
            return Ok(());
        }
        self.journal()?;
        let bytes = missing.iter().map(|&shard| self.collection.shard_bytes(shard)).sum();
        context.progress().begin("storing", Work::Bytes(bytes));
        let store = |(): &mut (), at: usize| self.store(missing[at], read);
        // A run that is cancelled keeps the shards that it has stored.
        context.threads().try_map(missing.len(), || Ok(()), store)?;
        self.sync()
    }

    /// Stores the result of comparing all documents, which `push_rows` pushes as rows of numbers. Does nothing if the
    /// result cannot be stored.
    ///
    /// # Errors
    ///
    /// The file of this run cannot be written.
    pub(crate) fn store_result(&self, push_rows: impl FnOnce(&mut StoreRow<'_>)) -> Result<()> {
        let Some(key) = self.result_key else { return Ok(()) };
        let mut store = StoreRow::new(self.journal()?, key);
        push_rows(&mut store);
        store.end(0, &[])?;
        self.sync()
    }

    /// Calls `visit` with each row of the result that an earlier run has stored. Returns true if all rows were visited.
    /// Returns false if there is no result, if it is damaged, if `visit` returns `None` for a row, or if the result
    /// does not fit in the free memory. Then `visit` may have been called for some rows already.
    ///
    /// # Errors
    ///
    /// The result cannot be read.
    pub(crate) fn visit_result(
        &self,
        memory: &Ledger,
        visit: &mut dyn FnMut(&[u64]) -> Option<()>,
    ) -> Result<bool> {
        let Some(stored) = self.result.get() else { return Ok(false) };
        if stored.bytes() > memory.free() / RESULT_SHARE {
            return Ok(false);
        }
        let mut file = stored.open()?;
        for frame in &stored.rows {
            // Each frame has a checksum, so a damaged one is noticed here and nothing of it is used.
            let Some(rows) = stored.rows_of(frame, &mut file)? else { return Ok(false) };
            if rows.iter().any(|row| visit(row).is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes sure that the file of this run is on the disk.
    fn sync(&self) -> Result<()> {
        self.journal()?.sync()
    }

    /// Returns the file to which this run appends. The first call creates the file, and must come before several
    /// threads append.
    fn journal(&self) -> Result<&Journal> {
        if let Some(journal) = self.journal.get() {
            return Ok(journal);
        }
        let journal = Journal::create(&self.folder, Disk::new(Durability::Synced))?;
        Ok(self.journal.get_or_init(|| journal))
    }

    fn store(
        &self,
        shard: usize,
        read: &(dyn Fn(usize, &mut StoreRow<'_>) -> Result<ShardSummary> + Sync),
    ) -> Result<()> {
        let Some(key) = self.keys[shard] else { return Ok(()) };
        let mut store = StoreRow::new(self.journal()?, key);
        let summary = read(shard, &mut store)?;
        let mut out = BytesWriter::default();
        summary.store(&mut out);
        let (texts, ends) = self.excerpts.map_or((&[][..], &[][..]), |all| all.of_shard(shard));
        out.bytes(texts);
        out.numbers(ends.iter().copied().map(u64::from));
        let shard_end = store.end(summary.document_count(), &out.into_bytes())?;
        drop(self.stored[shard].set(shard_end));
        Ok(())
    }

    /// Returns whether a shard is stored and not known to be damaged, so that its rows can be visited.
    pub(crate) fn has(&self, shard: usize) -> bool {
        self.stored[shard].get().is_some_and(|stored| !stored.is_damaged.load(Ordering::Relaxed))
    }

    /// Checks all bytes of a stored shard, restores its excerpts and returns its summary. Returns `None` if the shard
    /// is damaged or not stored. Then the caller must read its file. A damaged shard is marked and counted.
    ///
    /// # Errors
    ///
    /// The stored shard cannot be read.
    pub(crate) fn summary(&self, shard: usize) -> Result<Option<ShardSummary>> {
        let Some(stored) = self.stored[shard].get().filter(|_| self.has(shard)) else {
            return Ok(None);
        };
        let summary = self.checked_summary(shard, stored)?;
        if summary.is_none() {
            stored.is_damaged.store(true, Ordering::Relaxed);
            self.damaged.fetch_add(1, Ordering::Relaxed);
        }
        Ok(summary)
    }

    /// Returns the summaries of all shards, without checking the rows of the shards. Returns `None` if a shard is not
    /// stored, or if its summary is damaged.
    ///
    /// # Errors
    ///
    /// A stored shard cannot be read.
    pub(crate) fn summaries(&self) -> Result<Option<Vec<ShardSummary>>> {
        let mut summaries = Vec::with_capacity(self.stored.len());
        for (shard, stored) in self.stored.iter().enumerate() {
            let Some(stored) = stored.get() else { return Ok(None) };
            // The summary has a checksum of its own.
            let Some(summary) = self.end_summary(shard, stored, &mut stored.open()?)? else {
                return Ok(None);
            };
            summaries.push(summary);
        }
        Ok(Some(summaries))
    }

    /// Returns the summary of a stored shard, or `None` if any of its frames is damaged.
    fn checked_summary(&self, shard: usize, stored: &StoredShard) -> Result<Option<ShardSummary>> {
        let mut file = stored.open()?;
        let failed = |error| Error::io(&stored.journal, "read", error);
        let mut documents = 0_u32;
        // All frames are checked before any row is used, because a row that was used cannot be taken back.
        for frame in &stored.rows {
            documents = documents.saturating_add(frame.documents);
            if frame.read(&mut file).map_err(failed)?.is_none() {
                return Ok(None);
            }
        }
        let summary = self.end_summary(shard, stored, &mut file)?;
        // If two shards had the same key, their frames would be mixed. Then the numbers of documents differ.
        Ok(summary.filter(|summary| summary.document_count() == documents))
    }

    /// Returns the summary at the end of a stored shard, or `None` if it is damaged.
    fn end_summary(
        &self,
        shard: usize,
        stored: &StoredShard,
        file: &mut File,
    ) -> Result<Option<ShardSummary>> {
        let failed = |error| Error::io(&stored.journal, "read", error);
        let Some(bytes) = stored.end.read(file).map_err(failed)? else { return Ok(None) };
        let mut from = BytesReader::new(&bytes);
        let restored = self.restore(shard, &mut from);
        let documents = stored.end.documents;
        Ok(restored.filter(|summary| from.is_at_end() && summary.document_count() == documents))
    }

    fn restore(&self, shard: usize, from: &mut BytesReader<'_>) -> Option<ShardSummary> {
        let summary = ShardSummary::restore(from, self.collection.shard_file(shard) as u32)?;
        let (texts, ends) = (from.bytes()?, from.list(BytesReader::short_number)?);
        if let Some(excerpts) = self.excerpts {
            excerpts.restore(shard, texts, &ends);
        }
        Some(summary)
    }

    /// Calls `visit` with the index and the row of numbers of each document of a stored shard for which `wanted`
    /// returns true. [`summary`](Self::summary) must have checked the shard. Does nothing if the shard is not stored.
    ///
    /// # Errors
    ///
    /// The stored shard cannot be read again, or `visit` fails.
    pub(crate) fn visit(
        &self,
        shard: usize,
        wanted: &dyn Fn(u32) -> bool,
        visit: &mut dyn FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let Some(stored) = self.stored[shard].get() else { return Ok(()) };
        let mut file = stored.open()?;
        let mut first = 0;
        for frame in &stored.rows {
            let numbers = first..first + frame.documents;
            first = numbers.end;
            // Later readings want few documents, and skip most frames.
            if !numbers.clone().any(wanted) {
                continue;
            }
            // Rows that were visited before cannot be replaced by those of the file, so the run ends.
            let rows = stored.rows_of(frame, &mut file)?;
            let rows = rows.ok_or_else(|| stored.changed(frame))?;
            for (document, row) in numbers.zip(rows.iter()).filter(|(number, _)| wanted(*number)) {
                visit(document, row)?;
            }
        }
        Ok(())
    }
}

impl ShardShare {
    /// Returns whether the shard with index `shard` is in the share.
    pub(crate) fn has(self, shard: usize) -> bool {
        // Neighbouring shards go to different runs, so that large files are divided evenly.
        shard % self.count == self.index
    }
}

/// Returns the key of each shard. Two shards with equal keys have the same rows and summary.
fn keys(collection: &Collection, settings: &str, depends_on_all: bool) -> Vec<Option<u128>> {
    let order = if cfg!(target_endian = "big") { "big" } else { "little" };
    let mut common = format!("{VERSION}{order} {settings}\0").into_bytes();
    let shards = 0..collection.shard_count();
    // A file that is added, changed or removed changes the weights, and with them all rows.
    if depends_on_all {
        common
            .extend(shards.clone().filter_map(|shard| collection.shard_identity(shard)).flatten());
    }
    // Keys are made from a hash, because the list of all files would be long.
    let common = wide_hash(&common).to_le_bytes();
    let key = |shard| Some(wide_hash(&[&common[..], &collection.shard_identity(shard)?].concat()));
    shards.map(key).collect()
}

/// Returns the key of the result of comparing all documents, made from the `keys` of all shards. `None` if a shard has
/// no key, because its file may have other documents in a later run.
fn result_key(keys: &[Option<u128>]) -> Option<u128> {
    let mut bytes = b"result".to_vec();
    for key in keys {
        bytes.extend((*key)?.to_le_bytes());
    }
    Some(wide_hash(&bytes))
}

/// Returns the paths of the files in `folder` that runs have written, sorted by name.
fn journals(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |error| Error::io(folder, "list", error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if is_journal(&path) {
            found.push(path);
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// Removes from `folder` the files that runs have written, and the files with the names `others`. Then removes the
/// folder if it is empty. Errors are ignored, because the results are complete without this cleanup.
pub(crate) fn remove_parts(folder: &Path, others: &[&str]) {
    let journals = journals(folder).unwrap_or_default();
    let others = others.iter().map(|name| folder.join(name));
    for path in journals.into_iter().chain(others) {
        drop(fs::remove_file(path));
    }
    drop(fs::remove_dir(folder));
}
