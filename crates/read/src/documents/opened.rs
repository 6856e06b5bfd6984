//! One input file: its state when it was opened, its division into shards, and its faults.

use crate::bytes::{SNIFFED_BYTES, magic_bytes};
use crate::documents::walk::InputFile;
use crate::documents::{ReadOptions, sniff};
use crate::formats::text_blocks::seems_to_have_blocks;
use crate::formats::{Dialect, Format, Price, Reader, Separator, TableFormat, TableShare};
use crate::source::{OpenSource, SourceState};
use encoding_rs::Encoding;
use simtool_base::fault::{Fault, Severity};
use simtool_base::mapped_file::MappedFile;
use simtool_model::compression::Compression;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::UNIX_EPOCH;

/// Smallest number of bytes of a shard of a table, except for the last shard. A shard may have several groups of rows.
/// Smaller shards would cost time, since the reader of each shard reads the footer of the file.
const ROW_GROUP_BYTES: u64 = 8 << 20;

/// Number of bytes of a file that are read and searched at once for a separator of records.
const SEARCHED_BYTES: usize = 64 << 10;

/// Smallest number of bytes of a shard of an object in a store. Finding the end of a shard needs a request, and blocks
/// of this length are downloaded at once.
const FETCHED_SHARD_BYTES: u64 = 8 << 20;

/// Largest number of shards of an object in a store.
const FETCHED_SHARDS: u64 = 256;

/// Length in bytes of the longest separator that is found even if it begins in one searched part of a file and ends in
/// the next.
const LONGEST_SEPARATOR: usize = 64;

/// An input file, with its state when the collection was opened.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) input: InputFile,
    pub(crate) state: SourceState,
    /// Memory map of a large uncompressed file; `None` if the file is read from disk.
    pub(crate) map: Option<MappedFile>,
    /// Cost of reading the whole file again. The cost of a small file is guessed from the name of
    /// the file.
    pub(crate) price: Price,
    /// Compression and format of the content. They are set when the start of the file is first read.
    pub(crate) recognized: OnceLock<Recognized>,
    /// Whether the file is a large text in which blank lines seem to separate documents.
    pub(crate) has_blocks: bool,
}

/// Compression, format and dialect of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognized {
    /// Compression of the file.
    pub compression: Compression,
    /// Format of the decompressed content.
    pub format: Format,
    /// Dialect of a CSV or TSV file. `None` in other formats.
    pub dialect: Option<Dialect>,
    /// Encoding of texts that do not declare an encoding. `None` means UTF-8, or that a byte order mark shows the
    /// encoding.
    pub encoding: Option<&'static Encoding>,
}

/// The part of a file that makes up a shard.
#[derive(Debug)]
pub(crate) enum Part {
    /// The whole file. Its format is recognized when it is read.
    Whole,
    /// A range of bytes of an uncompressed file. The range begins and ends between two records.
    Range(Format, Range<u64>),
    /// Some groups of rows of a Parquet or Arrow file.
    Rows(&'static dyn TableFormat, TableShare),
    /// Nothing, because the file cannot be opened. Reading the shard reports the fault.
    Unreadable(Fault),
}

impl Opened {
    /// Wraps a file that was not yet opened.
    pub(crate) fn new(input: InputFile) -> Self {
        let recognized = OnceLock::new();
        let (state, price) = (SourceState::default(), Price::Cheap);
        Self { input, state, map: None, price, recognized, has_blocks: false }
    }

    /// Returns the name of the file.
    pub(crate) fn name(&self) -> &Path {
        self.input.name()
    }

    /// Returns the length of the file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.state.bytes
    }

    /// Opens the file for reading.
    pub(crate) fn open(&self) -> io::Result<Arc<dyn OpenSource>> {
        self.input.source.open()
    }

    /// Stores the state of the file in `self`, and returns the parts that become its shards. A large uncompressed file
    /// is divided into several parts, and is memory-mapped if `options` allow it.
    pub(crate) fn cut(&mut self, options: &ReadOptions) -> io::Result<Vec<Part>> {
        self.state = self.input.source.state()?;
        self.price = price(
            sniff::promised_compression(self.name()),
            options.format.or_else(|| sniff::named(self.name())),
        );
        let is_fetched = self.input.source.fetching().is_some();
        let shard_bytes = if is_fetched {
            let share = self.bytes().div_ceil(FETCHED_SHARDS);
            options.shard_bytes.max(FETCHED_SHARD_BYTES).max(share)
        } else {
            options.shard_bytes
        };
        if self.bytes() <= shard_bytes.max(SNIFFED_BYTES as u64) {
            return Ok(vec![Part::Whole]);
        }
        // Reading recognizes the compression, so a name that promises one saves a request now.
        if is_fetched && sniff::promised_compression(self.name()) != Compression::None {
            return Ok(vec![Part::Whole]);
        }
        let source = self.open()?;
        let mut head = vec![0; SNIFFED_BYTES];
        let filled = source.peek_full_at(0, &mut head)?;
        head.truncate(filled);
        let compression = magic_bytes::compression(&head);
        self.price = price(compression, options.format);
        // Compressed bytes can only be read from the start, so a compressed file is one shard.
        if compression != Compression::None {
            return Ok(vec![Part::Whole]);
        }
        // A file that is refused is reported when it is read.
        let Ok(recognized) = self.recognized_as(options, compression, &head, false) else {
            return Ok(vec![Part::Whole]);
        };
        let format = self.recognized.get_or_init(|| recognized).format;
        self.price = price(compression, Some(format));
        self.has_blocks = format == Format::TEXT && seems_to_have_blocks(&head);
        let separator = match format.reader() {
            Reader::Table(table) => {
                let shares = table.shares(&source, ROW_GROUP_BYTES).unwrap_or_default();
                if shares.is_empty() {
                    return Ok(vec![Part::Whole]);
                }
                return Ok(shares.into_iter().map(|share| Part::Rows(table, share)).collect());
            }
            Reader::Bytes(bytes) => bytes.separator(),
            Reader::FeatureOff(_) => None,
        };
        let Some(separator) = separator else { return Ok(vec![Part::Whole]) };
        // A file that cannot be mapped is streamed from the disk, because a copy in memory could be
        // too large.
        self.map = self.input.source.map(options.access);
        if let Some(map) = &self.map {
            // If the length of the file has changed since, the length of the map counts.
            self.state.bytes = map.len() as u64;
        }
        let mut parts = Vec::new();
        let mut start = 0;
        while start < self.bytes() {
            let nominal = start.saturating_add(shard_bytes.max(1));
            let end = match &self.map {
                Some(map) => behind(map, nominal, separator),
                None => behind_in_source(&*source, nominal, separator)?,
            };
            let end = end.unwrap_or(self.bytes()).min(self.bytes());
            parts.push(Part::Range(format, start..end));
            start = end;
        }
        Ok(parts)
    }

    /// Returns bytes that identify the present content of the file: its name, length and modification time, and its
    /// version in a store. Returns `None` for standard input, and if neither the time nor the version is known.
    pub(crate) fn identity(&self) -> Option<Vec<u8>> {
        let SourceState { modified, tag, .. } = self.state;
        if !self.input.source.is_lasting() || modified.is_none() && tag.is_none() {
            return None;
        }
        // The Hub has no times, but its tags say as much.
        let modified = modified.unwrap_or(UNIX_EPOCH).duration_since(UNIX_EPOCH).ok()?;
        let mut identity = self.name().as_os_str().as_encoded_bytes().to_vec();
        // No name has a zero byte.
        identity.push(0);
        identity.extend(self.bytes().to_le_bytes());
        identity.extend(modified.as_nanos().to_le_bytes());
        identity.extend(tag.into_iter().flat_map(u64::to_le_bytes));
        Some(identity)
    }

    pub(crate) fn fault(
        &self,
        severity: Severity,
        code: &'static str,
        byte: Option<u64>,
        detail: String,
    ) -> Fault {
        Fault { severity, code, file: self.name().to_owned(), byte, detail, lost_records: 0 }
    }

    pub(crate) fn unreadable(&self, code: &'static str, error: &io::Error) -> Fault {
        self.fault(Severity::Loss, code, None, format!("{error}; skipped"))
    }

    /// Opens the file again for reading, unless it has changed.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or has changed since it was first opened. The fault says that the file was not read.
    pub(crate) fn open_unchanged(&self) -> Result<Arc<dyn OpenSource>, Fault> {
        let source = self.open().map_err(|error| self.unreadable("input-open", &error))?;
        let state = source.state().ok();
        let change = state.and_then(|state| self.difference(state, "not read"));
        change.map_or(Ok(source), Err)
    }

    /// Returns a fault if the file at this path has changed since it was first opened, otherwise `None`. The fault
    /// includes the text `consequence`, for example that the file was not read.
    pub(crate) fn changed_since(&self, consequence: &str) -> Option<Fault> {
        // If the file could not be opened, its time is not known, so nothing can be compared.
        self.state.modified?;
        self.difference(self.input.source.state().ok()?, consequence)
    }

    fn difference(&self, now: SourceState, consequence: &str) -> Option<Fault> {
        // A file is read several times, and its size decided where its shards begin. If the file
        // changed in between, records would be cut in the middle, and the numbers of records would
        // be wrong.
        if now == self.state {
            return None;
        }
        let detail = format!(
            "was {} bytes when it was found and is now {}, or was written since; {consequence}",
            self.bytes(),
            now.bytes,
        );
        Some(self.fault(Severity::Loss, "changed", None, detail))
    }

    /// Returns a warning if the extension of the file's name stands for another compression than `compression`, which
    /// was found in the content. Returns `None` otherwise.
    pub(crate) fn misnamed(&self, compression: Compression) -> Option<Fault> {
        if sniff::promised_compression(self.name()) == compression {
            return None;
        }
        let word = compression.title();
        let detail = format!("starts like {word}, unlike its name; read as {word}");
        Some(self.fault(Severity::Warning, "format", None, detail))
    }
}

/// Returns the cost of reading a file of this compression and format again.
fn price(compression: Compression, format: Option<Format>) -> Price {
    let of_format = format.map_or(Price::Cheap, Format::price);
    let of_compression = match compression {
        Compression::None => Price::Cheap,
        Compression::Zstd | Compression::Lz4 => Price::Unpacked,
        Compression::Gzip | Compression::Bzip2 | Compression::Xz => Price::Expensive,
    };
    of_format.max(of_compression)
}

/// Returns the position after the first `separator` that begins at position `from` or later. Returns `None` if there is
/// no such separator.
fn behind(bytes: &[u8], from: u64, separator: Separator) -> Option<u64> {
    let rest = bytes.get(usize::try_from(from).ok()?..)?;
    separator.end_in(rest).map(|end| from + end as u64)
}

/// Returns the same position as [`behind`], for a source that is not in memory.
fn behind_in_source(
    source: &dyn OpenSource,
    from: u64,
    separator: Separator,
) -> io::Result<Option<u64>> {
    let mut block = vec![0; SEARCHED_BYTES];
    let mut at = from;
    loop {
        let filled = source.peek_full_at(at, &mut block)?;
        if let Some(end) = separator.end_in(&block[..filled]) {
            return Ok(Some(at + end as u64));
        }
        if filled < SEARCHED_BYTES {
            return Ok(None);
        }
        // A separator of several bytes may begin in these bytes and end in the next ones. Longer
        // separators, which are blank lines with many spaces, do not end a shard.
        at += (SEARCHED_BYTES - LONGEST_SEPARATOR) as u64;
    }
}
