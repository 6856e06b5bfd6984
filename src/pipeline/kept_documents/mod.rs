//! Keeps the documents of shards that are expensive to read, so that these shards are read only once.
//!
//! If common lines are left out, every text is read at least twice: first to count its lines, and then to compare the
//! others. Reading a page of a compressed web archive takes fifty times as long as reading its text from a temporary
//! file. So the first reading of such a shard stores its events, without the bytes of its records, in blocks that are
//! packed with LZ4. Later readings get the same events from there. A shard that does not fit is read again.

mod events;
#[cfg(test)]
mod tests;

use super::spool::{Spool, SpoolPlace, Writing};
use super::stored_bytes::{BytesReader, BytesWriter};
use events::{FAULT, visit_event};
use lz4_flex::block::{compress_into, decompress_into, get_maximum_output_size};
use simtool_base::durable::free_bytes;
use simtool_base::error::Result;
use simtool_base::fault::Fault;
use simtool_compute::context::Context;
use simtool_model::document::Content;
use simtool_model::sides::Sides;
use simtool_read::{Collection, Corpus, Event, Price, Visit};
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// Number of bytes of stored events (records of a shard) after which a block of them is packed. Smaller blocks are
/// packed worse, and larger ones do not fit into the caches.
const BLOCK_BYTES: usize = 256 << 10;
/// Longest text that is kept. A shard with a longer one is read again, because packing the text would take as much
/// memory as the text itself.
const LONGEST_TEXT: usize = 16 << 20;
/// Divisor of the free space of the disk. Kept documents may take 1/`DISK_PART` of the free space. The rest is for
/// terms that do not fit in memory, and for other programs.
const DISK_PART: u64 = 2;
/// Number of bytes to which LZ4 packs a byte of text, for estimates. Texts of pages take 0.45 to 0.6.
const PACKED_SHARE: f64 = 0.6;

/// A view of a corpus that copies the documents of shards that are expensive to read to temporary files. It does so
/// when such a shard is read for the first time. Later readings of the shard use the copy.
#[derive(Debug)]
pub(crate) struct KeptDocuments<'c> {
    corpus: &'c dyn Corpus,
    /// For each shard, its kept documents. The entry is empty if the documents of the shard are not kept.
    shards: Vec<OnceLock<KeptShard>>,
    /// Temporary files for the kept documents. `None` if nothing is kept.
    spool: Option<Spool>,
}

/// Stored events of one shard, which are the records and faults that a visitor gets while the shard is read. The
/// records are in a temporary file, and the faults are in memory.
#[derive(Debug)]
struct KeptShard {
    place: SpoolPlace,
    blocks: Vec<Block>,
    /// Faults of the file in their order. There are few of them, so they stay in memory.
    faults: Vec<Fault>,
    /// Number of records of the shard.
    records: u64,
}

impl KeptShard {
    /// Reads the events of the shard from a temporary file of `spool` and passes them to `visit`, as when the shard was
    /// read. Returns the number of records.
    fn visit(&self, spool: &Spool, visit: &mut Visit<'_>) -> Result<u64> {
        let damaged = || spool.unreadable(io::ErrorKind::InvalidData.into());
        let (mut packed, mut events) = (Vec::new(), Vec::new());
        let mut offset = 0;
        let mut faults = self.faults.iter();
        for block in &self.blocks {
            packed.resize(block.packed_bytes as usize, 0);
            spool.read(self.place, offset, &mut packed)?;
            offset += u64::from(block.packed_bytes);
            events.resize(block.bytes as usize, 0);
            if decompress_into(&packed, &mut events).ok() != Some(events.len()) {
                return Err(damaged());
            }
            let mut from = BytesReader::new(&events);
            while !from.is_at_end() {
                let mut records = 0;
                let flow = visit_event(&mut from, &mut faults, &mut |event| {
                    if let Event::Record(record) = &event {
                        let is_counted = !matches!(record.content, Content::PassThrough);
                        records = record.number + u64::from(is_counted);
                    }
                    visit(event)
                });
                if flow.ok_or_else(damaged)??.is_break() {
                    return Ok(records);
                }
            }
            if visit(Event::Reached(block.reached))?.is_break() {
                break;
            }
        }
        Ok(self.records)
    }
}

/// A block in a temporary file: some consecutive events of a shard (records and faults), which were packed together by
/// LZ4.
#[derive(Clone, Copy, Debug)]
struct Block {
    packed_bytes: u32,
    bytes: u32,
    /// Number of bytes of the shard that had been read when the block ended.
    reached: u64,
}

/// Estimates the bytes of temporary files for the documents that are kept, if they have `text_bytes` bytes of text.
pub(crate) fn kept_documents_bytes(text_bytes: f64) -> f64 {
    text_bytes * PACKED_SHARE
}

impl<'c> KeptDocuments<'c> {
    /// Creates a view of each of `corpora`. The views keep documents only if `are_kept` is true. It should be true if
    /// all texts are read more than once.
    pub(crate) fn of_each(
        corpora: Sides<&'c dyn Corpus>,
        are_kept: bool,
        context: &Context<'_>,
    ) -> Sides<Self> {
        let folder = context.temporary_folder();
        let most = || free_bytes(folder) / DISK_PART / corpora.iter().count() as u64;
        corpora.map(|corpus| Self {
            corpus,
            shards: (0..corpus.shard_count()).map(|_| OnceLock::new()).collect(),
            spool: are_kept.then(|| Spool::new(folder.to_owned(), most())),
        })
    }

    /// Returns the temporary files if the documents of a shard should be kept in them, and otherwise `None`.
    fn spool_for(&self, shard: usize) -> Option<&Spool> {
        let spool = self.spool.as_ref().filter(|spool| !spool.is_full());
        spool.filter(|_| self.corpus.price(shard) == Price::Expensive)
    }

    /// Reads a shard, and passes its events to `visit`. Keeps the events in `spool`, unless `visit` ends the reading
    /// early or the events do not fit.
    fn keep(&self, shard: usize, spool: &Spool, visit: &mut Visit<'_>) -> Result<u64> {
        // Nothing depends on the temporary file, so its faults are no errors.
        let mut keeping = spool.begin().ok().map(Keeping::new);
        let mut is_whole = true;
        let records = self.corpus.read_shard(shard, &mut |event| {
            if keeping.as_mut().is_some_and(|keeping| !keeping.push(&event)) {
                keeping = None;
            }
            let flow = visit(event)?;
            is_whole &= flow.is_continue();
            Ok(flow)
        })?;
        if let Some(keeping) = keeping.filter(|_| is_whole)
            && let Some(kept) = keeping.finish(records)
        {
            // Another thread may have read the same shard. Its events are equal, so these are dropped.
            drop(self.shards[shard].set(kept));
        }
        Ok(records)
    }
}

impl Corpus for KeptDocuments<'_> {
    fn file_count(&self) -> usize {
        self.corpus.file_count()
    }

    fn file_name(&self, file: usize) -> &Path {
        self.corpus.file_name(file)
    }

    fn shard_count(&self) -> usize {
        self.corpus.shard_count()
    }

    fn shard_file(&self, shard: usize) -> usize {
        self.corpus.shard_file(shard)
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        self.corpus.shard_bytes(shard)
    }

    fn known_records(&self, shard: usize) -> Option<u64> {
        self.corpus.known_records(shard)
    }

    fn content_bytes(&self, shard: usize) -> Option<u64> {
        self.corpus.content_bytes(shard)
    }

    fn price(&self, shard: usize) -> Price {
        // Unpacking LZ4 takes about as long as unpacking Zstandard.
        if self.shards[shard].get().is_some() { Price::Unpacked } else { self.corpus.price(shard) }
    }

    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64> {
        if let Some(spool) = &self.spool
            && let Some(kept) = self.shards[shard].get()
        {
            return kept.visit(spool, visit);
        }
        match self.spool_for(shard) {
            Some(spool) => self.keep(shard, spool, visit),
            None => self.corpus.read_shard(shard, visit),
        }
    }

    fn read_shard_behind(&self, shard: usize, byte: u64, visit: &mut Visit<'_>) -> Result<bool> {
        self.corpus.read_shard_behind(shard, byte, visit)
    }

    fn as_files(&self) -> Option<&Collection> {
        self.corpus.as_files()
    }
}

/// The events of a shard while they are being read and kept.
struct Keeping<'s> {
    writing: Writing<'s>,
    /// Events that are not yet packed and written to the temporary file.
    events: BytesWriter,
    packed: Vec<u8>,
    blocks: Vec<Block>,
    faults: Vec<Fault>,
    /// Number of bytes of the shard that have been read.
    reached: u64,
}

impl<'s> Keeping<'s> {
    fn new(writing: Writing<'s>) -> Self {
        let (events, packed, blocks, faults) = Default::default();
        Self { writing, events, packed, blocks, faults, reached: 0 }
    }

    /// Appends an event to the kept events. Returns false if it does not fit in the temporary file.
    fn push(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Record(record) => self.events.push_record(record),
            Event::Fault(fault) => {
                self.events.number(FAULT);
                self.faults.push(fault.clone());
            }
            Event::Reached(reached) => self.reached = *reached,
            // The bytes of a record are needed only to copy the file, and copies are made from the file itself.
            Event::Piece(_) => {}
        }
        let bytes = self.events.len();
        bytes < BLOCK_BYTES || (bytes <= LONGEST_TEXT && self.end_block())
    }

    /// Packs the collected events and writes them to the temporary file as a block. Returns false if they do not fit.
    fn end_block(&mut self) -> bool {
        let events = std::mem::take(&mut self.events).into_bytes();
        self.packed.resize(get_maximum_output_size(events.len()), 0);
        let Ok(packed) = compress_into(&events, &mut self.packed) else { return false };
        let (packed_bytes, bytes) = (packed as u32, events.len() as u32);
        self.blocks.push(Block { packed_bytes, bytes, reached: self.reached });
        self.writing.write(&self.packed[..packed]).unwrap_or(false)
    }

    /// Returns the kept shard, or `None` if its last events do not fit.
    fn finish(mut self, records: u64) -> Option<KeptShard> {
        if self.events.len() > 0 && !self.end_block() {
            return None;
        }
        let Self { writing, mut blocks, faults, .. } = self;
        blocks.shrink_to_fit();
        Some(KeptShard { place: writing.finish(), blocks, faults, records })
    }
}
