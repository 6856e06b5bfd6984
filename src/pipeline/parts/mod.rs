//! Stores what a run has read of each shard of a collection, so that a later run need not read it again.
//!
//! The first reading of a shard gives a row of numbers for each document (its fingerprint, its terms or its words)
//! and a summary. Both are stored in a folder, under a key that is made from the settings and from the name, size and
//! time of the file. A later run takes a shard from the folder if it finds its key. So a shard of a file that has
//! changed, or of a run with other settings, is never used.
//!
//! All shards are stored before any is used, see [`Parts::fill`]. So a run that is killed again and again reads each
//! shard once, and several machines can store the shards of one collection.

mod journal;

use super::excerpts::Excerpts;
use super::shard_summary::ShardSummary;
use super::stored_bytes::{BytesReader, BytesWriter};
use journal::{Frame, FrameKind, Journal, content, frames, is_journal};
use simtool_base::durable::{Disk, Durability};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::progress::Work;
use simtool_base::stable_hash::wide_hash;
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_read::{Collection, Corpus};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Version of the stored bytes. Another version has other keys.
const VERSION: &str = concat!("parts 3 of simtool ", env!("CARGO_PKG_VERSION"), " ");
/// Number of numbers of a frame of rows, except for a document with more numbers.
const FRAME_NUMBERS: usize = 128 << 10;

/// Share of the shards of a collection that a run reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardShare {
    /// Number of the share, counted from 0.
    pub(crate) index: usize,
    /// Number of shares.
    pub(crate) count: usize,
}

/// Stored shards of a collection.
#[derive(Debug)]
pub(crate) struct Parts<'c> {
    folder: PathBuf,
    collection: &'c Collection,
    /// Key of each shard. `None` if the shard cannot be stored.
    keys: Vec<Option<u128>>,
    stored: Vec<OnceLock<StoredShard>>,
    /// File to which this run appends.
    journal: OnceLock<Journal>,
    /// Excerpts of the texts of each shard, which are stored, too. `None` if they are not needed.
    excerpts: Option<&'c Excerpts>,
    /// Number of stored shards that do not belong to the collection with these settings.
    unfit: u64,
    /// Number of stored shards that turned out to be damaged.
    damaged: AtomicU64,
    _memory: Reservation,
}

/// Frames of a stored shard.
#[derive(Debug)]
struct StoredShard {
    journal: Arc<Path>,
    rows: Vec<Frame>,
    end: Frame,
    /// Whether the shard cannot be used, so that its file is read again.
    is_damaged: AtomicBool,
}

/// Rows of a shard that are being stored.
pub(crate) struct StoreRow<'p, 'c> {
    parts: &'p Parts<'c>,
    key: u128,
    /// Number of numbers of each document that is not in a frame yet.
    lengths: Vec<u32>,
    /// Numbers of these documents.
    numbers: Vec<u64>,
    rows: Vec<Frame>,
    /// First error of a frame, which ends the storing.
    failed: Option<Error>,
}

impl<'c> Parts<'c> {
    /// Opens the folder and finds the stored shards of `collection`. `settings` is a text of all settings that decide
    /// what is stored. If `depends_on_all`, the rows of a shard also depend on the other shards.
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
        let mut unfit = 0;
        // Each run that was stopped has left a file of its own.
        for journal in journals(folder)? {
            for shard in stored_shards(&journal)? {
                match by_key.get(&shard.end.key) {
                    // Two runs may have stored the same shard.
                    Some(&number) => drop(stored[number].set(shard)),
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
            journal: OnceLock::new(),
            excerpts: None,
            unfit,
            damaged: AtomicU64::new(0),
            _memory: memory.hold(bytes as u64),
        })
    }

    /// Also stores and restores the excerpts of texts.
    pub(crate) fn with_excerpts(self, excerpts: Option<&'c Excerpts>) -> Self {
        Self { excerpts, ..self }
    }

    /// Returns a key for each file of the collection, which is made from the keys of its shards. `None` if a shard has
    /// no key.
    pub(crate) fn file_keys(&self) -> Vec<Option<u128>> {
        let mut keys: Vec<Option<Vec<u8>>> = vec![Some(Vec::new()); self.collection.file_count()];
        for (shard, key) in self.keys.iter().enumerate() {
            // One shard without a key is enough, because the copy of the file would have its documents.
            let of_file = &mut keys[self.collection.shard_file(shard)];
            match (of_file.as_mut(), key) {
                (Some(bytes), Some(key)) => bytes.extend(key.to_le_bytes()),
                _ => *of_file = None,
            }
        }
        keys.into_iter().map(|bytes| bytes.map(|bytes| wide_hash(&bytes))).collect()
    }

    /// Returns the numbers of the shards that are not stored and could be.
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

    /// Returns the number of stored shards that do not belong to the collection with these settings.
    pub(crate) fn unfit_count(&self) -> u64 {
        self.unfit
    }

    /// Returns the number of stored shards that were found to be damaged. Their files were read again.
    pub(crate) fn damaged_count(&self) -> u64 {
        self.damaged.load(Ordering::Relaxed)
    }

    /// Reads the missing shards of `share` and stores them. `read` reads a shard, pushes a row for each of its
    /// documents, and returns its summary.
    ///
    /// # Errors
    ///
    /// A shard cannot be read or stored, or the work is cancelled.
    pub(crate) fn fill(
        &self,
        share: Option<ShardShare>,
        context: &Context<'_>,
        read: &(dyn Fn(usize, &mut StoreRow<'_, 'c>) -> Result<ShardSummary> + Sync),
    ) -> Result<()> {
        let is_own = |shard: &usize| share.is_none_or(|share| share.has(*shard));
        let missing: Vec<usize> = self.missing().filter(is_own).collect();
        // A run that only combines creates no file.
        if missing.is_empty() {
            return Ok(());
        }
        let journal = Journal::create(&self.folder, Disk::new(Durability::Synced))?;
        // Only this call sets the file.
        let journal = self.journal.get_or_init(|| journal);
        let bytes = missing.iter().map(|&shard| self.collection.shard_bytes(shard)).sum();
        context.progress().begin("storing", Work::Bytes(bytes));
        let store = |(): &mut (), at: usize| self.store(missing[at], read);
        // A run that is cancelled keeps the shards that it has stored.
        context.threads().try_map(missing.len(), || Ok(()), store)?;
        journal.sync()
    }

    fn store(
        &self,
        shard: usize,
        read: &(dyn Fn(usize, &mut StoreRow<'_, 'c>) -> Result<ShardSummary> + Sync),
    ) -> Result<()> {
        let Some(key) = self.keys[shard] else { return Ok(()) };
        let (lengths, numbers, rows) = (Vec::new(), Vec::new(), Vec::new());
        let mut store = StoreRow { parts: self, key, lengths, numbers, rows, failed: None };
        let summary = read(shard, &mut store)?;
        // The end comes last: a shard without it was not read to its end, and is not used.
        store.write()?;
        let mut out = BytesWriter::default();
        summary.store(&mut out);
        let (texts, ends) = self.excerpts.map_or((&[][..], &[][..]), |all| all.of_shard(shard));
        out.bytes(texts);
        out.numbers(ends.iter().copied().map(u64::from));
        let mut bytes = content();
        bytes.extend(out.into_bytes());
        let documents = summary.document_count();
        let end = self.append(FrameKind::End, key, documents, bytes)?;
        let journal = self.journal.get().map_or(Path::new(""), Journal::path).into();
        let is_damaged = AtomicBool::new(false);
        drop(self.stored[shard].set(StoredShard { journal, rows: store.rows, end, is_damaged }));
        Ok(())
    }

    fn append(
        &self,
        kind: FrameKind,
        key: u128,
        documents: u32,
        content: Vec<u8>,
    ) -> Result<Frame> {
        match self.journal.get() {
            Some(journal) => journal.append(kind, key, documents, content),
            // Shards are stored only while the file is there.
            None => Err(ErrorKind::Cancelled.into()),
        }
    }

    /// Returns whether the rows of a shard can be visited.
    pub(crate) fn has(&self, shard: usize) -> bool {
        self.stored[shard].get().is_some_and(|stored| !stored.is_damaged.load(Ordering::Relaxed))
    }

    /// Returns the summary of a shard, and restores its excerpts. Returns `None` if the shard is not stored, or if
    /// it is damaged. Then its file must be read.
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
        let Some(bytes) = stored.end.read(&mut file).map_err(failed)? else { return Ok(None) };
        let mut from = BytesReader::new(&bytes);
        let restored = self.restore(shard, &mut from);
        // Frames of two shards with one key would be mixed, which the number of documents shows.
        Ok(restored.filter(|summary| {
            from.is_at_end() && [documents, stored.end.documents] == [summary.document_count(); 2]
        }))
    }

    fn restore(&self, shard: usize, from: &mut BytesReader<'_>) -> Option<ShardSummary> {
        let summary = ShardSummary::restore(from, self.collection.shard_file(shard) as u32)?;
        let (texts, ends) = (from.bytes()?, from.list(BytesReader::short_number)?);
        if let Some(excerpts) = self.excerpts {
            excerpts.restore(shard, texts, &ends);
        }
        Some(summary)
    }

    /// Visits the rows of the `wanted` documents of a stored shard. [`summary`](Self::summary) has checked them.
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
            let read = frame.read(&mut file);
            let read = read.map_err(|error| Error::io(&stored.journal, "read", error))?;
            let rows = read.and_then(|content| Rows::parse(&content, frame.documents));
            // Rows that were visited before cannot be replaced by those of the file, so the run ends.
            let Some(rows) = rows else { return Err(stored.changed(frame)) };
            for (document, row) in numbers.zip(rows.iter()).filter(|(number, _)| wanted(*number)) {
                visit(document, row)?;
            }
        }
        Ok(())
    }
}

impl ShardShare {
    /// Returns whether a shard is in the share.
    pub(crate) fn has(self, shard: usize) -> bool {
        // Neighbouring shards go to different runs, so that large files are divided evenly.
        shard % self.count == self.index
    }
}

impl StoredShard {
    fn open(&self) -> Result<File> {
        File::open(&self.journal).map_err(|error| Error::io(&*self.journal, "read", error))
    }

    /// Returns the error for a frame that was whole before.
    fn changed(&self, frame: &Frame) -> Error {
        let expected = "the bytes that were there before in this run; run again".to_owned();
        ErrorKind::Format { path: (*self.journal).to_owned(), byte: frame.start, expected }.into()
    }
}

impl StoreRow<'_, '_> {
    /// Adds the row of the next document. An error is returned at the end of the shard.
    pub(crate) fn push(&mut self, row: &[u64]) {
        // Documents without numbers have lengths, so both lists are limited.
        let is_full = self.numbers.len() + row.len() > FRAME_NUMBERS;
        if (is_full || self.lengths.len() == FRAME_NUMBERS)
            && let Err(error) = self.write()
        {
            self.failed.get_or_insert(error);
        }
        // A text with 2³² terms does not fit into a record.
        self.lengths.push(row.len() as u32);
        self.numbers.extend_from_slice(row);
    }

    /// Writes the rows that are not in a frame yet.
    fn write(&mut self) -> Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.lengths.is_empty() {
            return Ok(());
        }
        // All bytes are written by one call, so that frames of several threads are never mixed.
        let mut content = content();
        content.extend(self.lengths.iter().flat_map(|length| length.to_le_bytes()));
        content.extend(self.numbers.iter().flat_map(|number| number.to_le_bytes()));
        let documents = self.lengths.len() as u32;
        self.rows.push(self.parts.append(FrameKind::Rows, self.key, documents, content)?);
        self.lengths.clear();
        self.numbers.clear();
        Ok(())
    }
}

/// Rows of the documents of a frame.
struct Rows {
    lengths: Vec<u32>,
    numbers: Vec<u64>,
}

impl Rows {
    /// Parses the content of a frame. Returns `None` if the numbers of its documents contradict its length.
    fn parse(content: &[u8], documents: u32) -> Option<Self> {
        let (lengths, numbers) = content.split_at_checked(documents as usize * size_of::<u32>())?;
        let lengths: Vec<u32> =
            lengths.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let numbers: Vec<u64> =
            numbers.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let sum: u64 = lengths.iter().copied().map(u64::from).sum();
        (sum == numbers.len() as u64).then_some(Self { lengths, numbers })
    }

    fn iter(&self) -> impl Iterator<Item = &[u64]> {
        let mut end = 0;
        self.lengths.iter().map(move |&length| {
            let start = end;
            end += length as usize;
            &self.numbers[start..end]
        })
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

/// Returns the files in the folder to which runs have appended, in the order of their names.
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

/// Returns the whole shards of a file.
fn stored_shards(journal: &Path) -> Result<Vec<StoredShard>> {
    let found = frames(journal).map_err(|error| Error::io(journal, "read", error))?;
    let path: Arc<Path> = journal.into();
    let mut rows: UnorderedMap<u128, Vec<Frame>> = UnorderedMap::default();
    let mut shards = Vec::new();
    for frame in found {
        match frame.kind {
            // Several threads append to a file, so frames of shards alternate.
            FrameKind::Rows => rows.entry(frame.key).or_default().push(frame),
            FrameKind::End => shards.push(StoredShard {
                journal: Arc::clone(&path),
                rows: rows.remove(&frame.key).unwrap_or_default(),
                end: frame,
                is_damaged: AtomicBool::new(false),
            }),
        }
    }
    Ok(shards)
}

/// Removes the files to which runs have appended from the folder, and the folder if nothing else is in it but
/// `others`. Errors are ignored, because the results are complete without that.
pub(crate) fn remove_parts(folder: &Path, others: &[&str]) {
    let journals = journals(folder).unwrap_or_default();
    let others = others.iter().map(|name| folder.join(name));
    for path in journals.into_iter().chain(others) {
        drop(fs::remove_file(path));
    }
    drop(fs::remove_dir(folder));
}
