//! Files cut into shards, each read by the splitter of its format.

use crate::decompress;
use crate::form_feed::FormFeeds;
use crate::opened::{Opened, Part};
use crate::options::ReadOptions;
use crate::plain_text::{Lines, WholeFile};
use crate::sniff::{self, SNIFFED_BYTES};
use crate::walk::{InFolders, InputFile, Walked, Walker};
use crate::window::{
    Damage, Filled, Splitter, Stream, Then, read_slice, read_stream, read_stream_within,
};
use crate::{Corpus, Event, Price, Visit};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::fault::{Fault, Severity};
use simtool_model::document::{Content, Record};
use simtool_model::input_format::{Compression, Format};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::Path;

/// Files as a [`Corpus`].
#[derive(Debug)]
pub struct Collection {
    pub(super) options: ReadOptions,
    pub(super) files: Vec<Opened>,
    shards: Vec<Shard>,
    /// What is odd about the paths and cost nothing, which the first shard tells.
    odd_paths: Vec<Fault>,
}

#[derive(Debug)]
struct Shard {
    file: u32,
    part: Part,
    /// Documents of it that are read, at the most.
    most: u64,
}

/// How a file is packed and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recognized {
    /// How it is packed.
    pub compression: Compression,
    /// What is in it.
    pub format: Format,
    /// What stands between the columns of a table.
    pub delimiter: Option<u8>,
}

impl Collection {
    /// Looks at each file's size, and at the content of large ones, and cuts them into shards.
    ///
    /// A file that cannot be opened is one shard that holds nothing but the fault.
    #[must_use]
    pub fn open(inputs: Vec<InputFile>, options: ReadOptions) -> Self {
        let (files, shards, odd_paths) = (Vec::new(), Vec::new(), Vec::new());
        let mut collection = Self { options, files, shards, odd_paths };
        for input in inputs {
            collection.add(input);
        }
        collection.end_at_limit();
        collection
    }

    /// The files that `paths` name, and all files of the folders among them that are not hidden, as
    /// [`Self::open`] takes them. A path that cannot be read is a fault of the reading.
    ///
    /// # Errors
    ///
    /// None of the paths leads to a file.
    pub fn of_paths<P: AsRef<Path>>(paths: &[P], options: ReadOptions) -> Result<Self> {
        let mut walker = Walker::default();
        for path in paths {
            walker.add(path.as_ref(), InFolders::default());
        }
        let Walked { files, faults, .. } = walker.finish();
        let Some(first) = paths.first().filter(|_| files.is_empty()) else {
            let mut collection = Self::open(files, options);
            for fault in faults {
                if fault.severity == Severity::Warning {
                    collection.odd_paths.push(fault);
                    continue;
                }
                let file = collection.files.len() as u32;
                collection.files.push(Opened::new(InputFile::new(&fault.file)));
                collection.shards.push(Shard {
                    file,
                    part: Part::Unreadable(fault),
                    most: u64::MAX,
                });
            }
            return Ok(collection);
        };
        let reason = faults.first().map_or("there is none to read".to_owned(), Fault::to_string);
        Err(Error::io(first, "read any file of", io::Error::other(reason)))
    }

    /// Leaves out the shards and files beyond the last document that is read.
    fn end_at_limit(&mut self) {
        let mut left = self.options.selection.limit;
        if left == u64::MAX {
            return;
        }
        for number in 0..self.shards.len() {
            self.shards[number].most = left;
            let mut found = 0;
            let counted = self.read_shard(number, &mut |event| {
                if let Event::Record(Record { content: Content::Document(_), .. }) = event {
                    found += 1;
                }
                Ok(ControlFlow::Continue(()))
            });
            // A format that this build cannot read is told of when the shard is read for good.
            drop(counted);
            left -= found;
            if left == 0 {
                let last = self.shard_file(number);
                self.shards.truncate(number + 1);
                self.files.truncate(last + 1);
                return;
            }
        }
    }

    fn add(&mut self, input: InputFile) {
        let file = self.files.len() as u32;
        let mut opened = Opened::new(input);
        match opened.cut(&self.options) {
            Ok(parts) => {
                self.shards.extend(parts.into_iter().map(|part| Shard {
                    file,
                    part,
                    most: u64::MAX,
                }));
            }
            Err(error) => {
                let part = Part::Unreadable(opened.unreadable("input-open", &error));
                self.shards.push(Shard { file, part, most: u64::MAX });
            }
        }
        self.files.push(opened);
    }

    /// The faults of files that were written to since they were found.
    pub fn changed_files(&self) -> impl Iterator<Item = Fault> {
        self.files.iter().filter_map(Opened::changed_since)
    }

    /// Whether nothing of a file is in memory between readings.
    #[cfg(test)]
    pub(super) fn is_streamed(&self, file: usize) -> bool {
        self.files[file].map.is_none()
    }

    /// The name of the field, column or path that holds the text.
    pub(super) fn text_field(&self) -> &str {
        &self.options.text_field
    }

    /// Whether a record that begins at that byte of the shard's file may be in the shard.
    pub(super) fn may_hold(&self, shard: usize, byte: u64) -> bool {
        match &self.shards[shard].part {
            Part::Range(_, range) => range.contains(&byte),
            _ => true,
        }
    }

    /// The relative path under which a copy of a file stands.
    #[must_use]
    pub fn copy_name(&self, file: usize) -> &Path {
        &self.files[file].input.copy_name
    }

    /// Where a file's bytes are.
    #[must_use]
    pub fn file_path(&self, file: usize) -> &Path {
        self.files[file].input.path()
    }

    /// How a file is packed and what is in it, as its name tells.
    #[must_use]
    pub fn named_kind(&self, file: usize) -> (Compression, Option<Format>) {
        let name = &self.files[file].input.name;
        (sniff::promised_compression(name), self.options.format.or_else(|| sniff::named(name)))
    }

    /// How a file is packed and what is in it.
    ///
    /// # Errors
    ///
    /// The file cannot be read or recognized.
    pub fn recognize(&self, file: usize) -> Result<Recognized, Fault> {
        let opened = &self.files[file];
        if let Some(&recognized) = opened.recognized.get() {
            return Ok(recognized);
        }
        let mut head = Vec::new();
        let result = File::open(opened.input.path())
            .and_then(|file| file.take(SNIFFED_BYTES as u64).read_to_end(&mut head));
        match result {
            Ok(_) => self.recognize_head(opened, &head),
            Err(error) => Err(opened.unreadable("input-open", &error)),
        }
    }

    /// The same from the file's first bytes.
    fn recognize_head(&self, opened: &Opened, head: &[u8]) -> Result<Recognized, Fault> {
        let compression = sniff::compression(head);
        let unpacked;
        let (content, whole) = if compression == Compression::None {
            (head, head.len() as u64 >= opened.bytes)
        } else {
            let mut space = vec![0; SNIFFED_BYTES];
            let (filled, ended) = match decompress::open(compression, head, &self.options) {
                Ok(mut stream) => fill_up(&mut *stream, &mut space),
                Err(_) => (0, false),
            };
            space.truncate(filled);
            unpacked = space;
            (&unpacked[..], ended && head.len() as u64 >= opened.bytes)
        };
        let format = match self.options.format {
            Some(format) => format,
            None => sniff::format(content, whole, &opened.input.name).map_err(|what| {
                let detail = format!(
                    "{what}; not WARC, JSON Lines, Parquet, CSV or text (first bytes {}). \
                     Unpack or convert it, or name its format with `format`",
                    hexadecimal(&content[..content.len().min(4)])
                );
                opened.fault(Severity::Loss, "format", None, detail)
            })?,
        };
        let format = match format {
            Format::Text if self.options.per_line => Format::Lines,
            format => format,
        };
        if format == Format::JsonLines
            && let Some(detail) =
                sniff::json_of_many_lines(content, compression, &opened.input.name)
        {
            return Err(opened.fault(Severity::Loss, "format", None, detail));
        }
        let delimiter = match format {
            Format::Csv => Some(
                self.options
                    .delimiter
                    .unwrap_or_else(|| crate::delimited::guess(content, &self.options.text_field)),
            ),
            Format::Tsv => Some(self.options.delimiter.unwrap_or(b'\t')),
            _ => None,
        };
        Ok(Recognized { compression, format, delimiter })
    }

    /// Reads a file that is one shard.
    fn read_whole(&self, opened: &Opened, visit: &mut Visit<'_>) -> Result<u64> {
        let mut file = match File::open(opened.input.path()) {
            Ok(file) => file,
            Err(error) => return refuse(opened.unreadable("input-open", &error), visit),
        };
        if let Some(fault) = opened.changed(&file) {
            return refuse(fault, visit);
        }
        let head = match head_of(&mut file, opened.bytes) {
            Ok(head) => head,
            Err(error) => return refuse(opened.unreadable("input-read", &error), visit),
        };
        if head.is_empty() {
            let detail = "holds no records".to_owned();
            return refuse(opened.fault(Severity::Warning, "empty", None, detail), visit);
        }
        let recognized = match self.recognize_head(opened, &head) {
            Ok(recognized) => recognized,
            Err(fault) => return refuse(fault, visit),
        };
        // Others have found the same.
        let Recognized { compression, format, .. } = *opened.recognized.get_or_init(|| recognized);
        if let Some(fault) = opened.misnamed(compression)
            && visit(Event::Fault(fault))?.is_break()
        {
            return Ok(0);
        }
        #[cfg(feature = "parquet")]
        if format == Format::Parquet {
            if compression == Compression::None {
                return self.read_rows(opened, None, visit);
            }
            let detail = "is Parquet inside another compression; unpack it first".to_owned();
            return refuse(opened.fault(Severity::Loss, "format", None, detail), visit);
        }
        if compression == Compression::None && head.len() as u64 == opened.bytes {
            return self.read_format(format, Bytes::Slice(&head), 0, opened, visit);
        }
        let reader = io::Cursor::new(head).chain(file);
        let mut stream = decompress::open(compression, reader, &self.options)?;
        self.read_format(format, Bytes::Stream(&mut *stream), 0, opened, visit)
    }

    /// Reads a part of a large plain file.
    fn read_range(
        &self,
        opened: &Opened,
        format: Format,
        range: &Range<u64>,
        visit: &mut Visit<'_>,
    ) -> Result<u64> {
        if let Some(map) = &opened.map {
            let bytes = &map[range.start as usize..range.end as usize];
            return self.read_format(format, Bytes::Slice(bytes), range.start, opened, visit);
        }
        let file = File::open(opened.input.path()).and_then(|mut file| {
            file.seek(SeekFrom::Start(range.start))?;
            Ok(file)
        });
        let file = match file {
            Ok(file) => file,
            Err(error) => return refuse(opened.unreadable("input-open", &error), visit),
        };
        if let Some(fault) = opened.changed(&file) {
            return refuse(fault, visit);
        }
        let reader = file.take(range.end - range.start);
        let mut stream = decompress::open(Compression::None, reader, &self.options)?;
        self.read_format(format, Bytes::Stream(&mut *stream), range.start, opened, visit)
    }

    /// Reads row groups of a Parquet file.
    #[cfg(feature = "parquet")]
    fn read_rows(
        &self,
        opened: &Opened,
        groups: Option<Range<usize>>,
        visit: &mut Visit<'_>,
    ) -> Result<u64> {
        use crate::parquet::{Columns, read};
        let file = match File::open(opened.input.path()) {
            Ok(file) => file,
            Err(error) => return refuse(opened.unreadable("input-open", &error), visit),
        };
        if let Some(fault) = opened.changed(&file) {
            return refuse(fault, visit);
        }
        let options = &self.options;
        let columns = Columns {
            text: &options.text_field,
            id: &options.id_field,
            keep: options.keep_field.as_deref(),
        };
        let to_fault = |Damage { code, detail, .. }: Damage, lost_records| {
            let fault = opened.fault(Severity::Loss, code, None, detail);
            Event::Fault(Fault { lost_records, ..fault })
        };
        read(&file, groups, columns, options.max_record_bytes, &to_fault, visit)
    }

    /// Runs the splitter of a format.
    pub(super) fn read_format(
        &self,
        format: Format,
        bytes: Bytes<'_>,
        offset: u64,
        opened: &Opened,
        visit: &mut Visit<'_>,
    ) -> Result<u64> {
        let options = &self.options;
        let run = Run { longest: options.max_record_bytes.max(1), bytes, offset, opened, visit };
        match format {
            Format::FormFeed => run.with(&mut FormFeeds::new(offset == 0)),
            Format::Text => run.with(&mut WholeFile),
            Format::Lines => run.with(&mut Lines::new(offset == 0)),
            Format::JsonLines => {
                use crate::jsonl::{FieldPaths, JsonLines};
                let keep = options.keep_field.as_deref();
                let paths = FieldPaths::new(&options.text_field, &options.id_field, keep);
                run.with(&mut JsonLines::new(paths, offset == 0))
            }
            Format::Csv | Format::Tsv => {
                // A table is read whole, after it was recognized.
                let recognized = opened.recognized.get();
                let delimiter = recognized.and_then(|known| known.delimiter).unwrap_or(b',');
                let keep = options.keep_field.as_deref();
                let (text, id) = (&options.text_field, &options.id_field);
                run.with(&mut crate::delimited::Rows::new(delimiter, text, id, keep))
            }
            Format::Warc => {
                let keep = options.keep_field.as_deref();
                run.with(&mut crate::warc::WarcRecords::new(keep, options.max_record_bytes))
            }
            // Tables are read by their own reader, if this build has it.
            Format::Parquet => {
                Err(ErrorKind::FeatureOff { what: format.name(), feature: "parquet" }.into())
            }
        }
    }
}

/// The first bytes of a file that has `bytes` bytes, by one call of the system where it is small and as
/// long as it was.
fn head_of(file: &mut File, bytes: u64) -> io::Result<Vec<u8>> {
    let wanted = bytes.min(SNIFFED_BYTES as u64) as usize;
    // A byte more shows that nothing follows.
    let mut head = vec![0; (wanted + 1).min(SNIFFED_BYTES)];
    let mut filled = 0;
    while filled < head.len() {
        match file.read(&mut head[filled..]) {
            Ok(0) => break,
            Ok(read) => {
                filled += read;
                if filled == wanted {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(filled);
    Ok(head)
}

/// Tells why nothing is read.
fn refuse(fault: Fault, visit: &mut Visit<'_>) -> Result<u64> {
    visit(Event::Fault(fault)).map(|_| 0)
}

impl Corpus for Collection {
    fn file_count(&self) -> usize {
        self.files.len()
    }

    fn file_name(&self, file: usize) -> &Path {
        &self.files[file].input.name
    }

    fn shard_count(&self) -> usize {
        self.shards.len()
    }

    fn shard_file(&self, shard: usize) -> usize {
        self.shards[shard].file as usize
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        match &self.shards[shard].part {
            Part::Whole => self.files[self.shard_file(shard)].bytes,
            Part::Range(_, range) => range.end - range.start,
            #[cfg(feature = "parquet")]
            Part::RowGroups(share) => share.bytes,
            Part::Unreadable(_) => 0,
        }
    }

    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64> {
        let opened = &self.files[self.shard_file(shard)];
        let Shard { part, most, .. } = &self.shards[shard];
        for fault in self.odd_paths.iter().filter(|_| shard == 0) {
            if visit(Event::Fault(fault.clone()))?.is_break() {
                return Ok(0);
            }
        }
        self.options.selection.visit(*most, visit, |visit| match part {
            Part::Whole => self.read_whole(opened, visit),
            Part::Range(format, range) => self.read_range(opened, *format, range, visit),
            #[cfg(feature = "parquet")]
            Part::RowGroups(share) => self.read_rows(opened, Some(share.groups.clone()), visit),
            Part::Unreadable(fault) => refuse(fault.clone(), visit),
        })
    }

    fn read_shard_behind(&self, shard: usize, byte: u64, visit: &mut Visit<'_>) -> Result<bool> {
        let Shard { file, part, most } = &self.shards[shard];
        if !matches!(part, Part::Whole) || *most < u64::MAX {
            return Ok(false);
        }
        let mut is_found = false;
        self.options.selection.visit(*most, visit, |visit| {
            is_found = self.read_behind(*file as usize, byte, visit)?;
            Ok(0)
        })?;
        Ok(is_found)
    }

    fn known_records(&self, shard: usize) -> Option<u64> {
        match &self.shards[shard].part {
            #[cfg(feature = "parquet")]
            Part::RowGroups(share) => Some(share.rows),
            _ => None,
        }
    }

    fn content_bytes(&self, shard: usize) -> Option<u64> {
        let Shard { file, part: Part::Whole, .. } = &self.shards[shard] else { return None };
        let opened = &self.files[*file as usize];
        let Recognized { compression, .. } = opened.recognized.get()?;
        let mut file = File::open(opened.input.path()).ok()?;
        decompress::content_bytes(*compression, &mut file, opened.bytes)
    }

    fn price(&self, shard: usize) -> Price {
        match &self.shards[shard].part {
            Part::Whole => self.files[self.shard_file(shard)].price,
            Part::Range(..) | Part::Unreadable(_) => Price::Cheap,
            #[cfg(feature = "parquet")]
            Part::RowGroups(..) => Price::Unpacked,
        }
    }

    fn as_files(&self) -> Option<&Collection> {
        Some(self)
    }
}

/// Where a splitter's bytes come from.
pub(super) enum Bytes<'b> {
    Slice(&'b [u8]),
    Stream(&'b mut dyn Stream),
    /// Begins within a record, behind which another is looked for within so many bytes on disk.
    Within(&'b mut dyn Stream, u64),
}

/// What a splitter is run with.
struct Run<'b, 'r, 'v> {
    longest: usize,
    bytes: Bytes<'b>,
    offset: u64,
    opened: &'r Opened,
    visit: &'r mut Visit<'v>,
}

impl Run<'_, '_, '_> {
    fn with<S: Splitter>(self, splitter: &mut S) -> Result<u64> {
        let Self { longest, bytes, offset, opened, visit } = self;
        let to_fault = |damage: Damage, lost: bool| {
            let severity = if lost { Severity::Loss } else { Severity::Warning };
            let Damage { code, byte, detail } = damage;
            Event::Fault(opened.fault(severity, code, Some(byte), detail))
        };
        match bytes {
            Bytes::Slice(bytes) => read_slice(splitter, bytes, offset, longest, visit),
            Bytes::Stream(stream) => {
                read_stream(splitter, stream, offset, longest, &to_fault, visit)
            }
            Bytes::Within(stream, searched) => {
                read_stream_within(splitter, stream, (longest, searched), &to_fault, visit)
            }
        }
    }
}

/// Fills `space` as far as the stream goes; the bytes written and whether the stream ended well.
fn fill_up(stream: &mut dyn Stream, space: &mut [u8]) -> (usize, bool) {
    let mut filled = 0;
    while filled < space.len() {
        let Filled { bytes, then } = stream.fill(&mut space[filled..]);
        filled += bytes;
        match then {
            Then::More | Then::Warning(_) => {}
            Then::End => return (filled, true),
            Then::Loss { .. } => return (filled, false),
        }
    }
    (filled, false)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}
