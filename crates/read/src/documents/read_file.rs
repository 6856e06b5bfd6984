//! Reads one file, or a part of it.

use crate::bytes::{Damage, Expansion, SNIFFED_BYTES, decompress};
use crate::documents::{Collection, Opened, Recognized};
use crate::formats::{
    Columns, Event, Format, Reader, RecordMemory, SplitBytes, SplitJob, TableFormat, TableJob,
    Visit, refuse,
};
use simtool_base::error::Result;
use simtool_base::fault::{Fault, Severity};
use simtool_model::compression::Compression;
use simtool_model::document::MOST_FIELDS;
use std::io::{self, Read};
use std::ops::Range;

impl Collection {
    /// Reads a file that is a single shard. Recognizes the compression and format of the file, and passes its records
    /// to `visit`. Returns the number of records.
    pub(crate) fn read_whole(&self, opened: &Opened, visit: &mut Visit<'_>) -> Result<u64> {
        let source = match opened.open_unchanged() {
            Ok(source) => source,
            Err(fault) => return refuse(fault, visit),
        };
        // A small file is read as a whole by one system call. The length of a pipe is not known, so
        // its first byte shows whether it has any.
        let wanted = opened.bytes().clamp(1, SNIFFED_BYTES as u64) as usize;
        let head = match source.bytes_at(0, wanted) {
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
        // Several threads may read the file at the same time. All of them recognize the same
        // format, so it does not matter which thread stores the result.
        let Recognized { compression, format, .. } = *opened.recognized.get_or_init(|| recognized);
        // The content decides how the file is read, so a wrong name is only a warning.
        let notes = [opened.misnamed(compression), opened.detected(&self.options)];
        for fault in notes.into_iter().flatten() {
            if visit(Event::Fault(fault))?.is_break() {
                return Ok(0);
            }
        }
        if let Reader::Table(table) = format.reader() {
            if compression == Compression::None {
                return self.read_rows(opened, table, None, visit);
            }
            let title = format.title();
            let detail = format!("is {title} inside another compression; unpack it first");
            return refuse(opened.fault(Severity::Loss, "format", None, detail), visit);
        }
        if compression == Compression::None && head.len() as u64 == opened.bytes() {
            return self.read_bytes(format, SplitBytes::Slice(&head), 0, opened, visit);
        }
        let rest = source.stream(head.len() as u64);
        let reader = io::Cursor::new(head).chain(rest);
        let mut stream = decompress::open(compression, reader, self.options.decoding())?;
        self.read_bytes(format, SplitBytes::Stream(&mut *stream), 0, opened, visit)
    }

    /// Passes the records in `range`, a range of bytes of a large uncompressed file, to `visit`. `range` must begin and
    /// end between two records. Returns the number of records.
    pub(crate) fn read_range(
        &self,
        opened: &Opened,
        format: Format,
        range: &Range<u64>,
        visit: &mut Visit<'_>,
    ) -> Result<u64> {
        // The first range reports the encoding of the whole file.
        if let Some(fault) = opened.detected(&self.options).filter(|_| range.start == 0)
            && visit(Event::Fault(fault))?.is_break()
        {
            return Ok(0);
        }
        if let Some(map) = &opened.map {
            let bytes = &map[range.start as usize..range.end as usize];
            return self.read_bytes(format, SplitBytes::Slice(bytes), range.start, opened, visit);
        }
        let source = match opened.open_unchanged() {
            Ok(source) => source,
            Err(fault) => return refuse(fault, visit),
        };
        let reader = source.stream(range.start).take(range.end - range.start);
        let mut stream = decompress::open(Compression::None, reader, self.options.decoding())?;
        self.read_bytes(format, SplitBytes::Stream(&mut *stream), range.start, opened, visit)
    }

    /// Passes the rows of a Parquet or Arrow file to `visit` as records. `groups` has the indexes of the groups of rows
    /// to read. `None` means all groups. Returns the number of rows.
    pub(crate) fn read_rows(
        &self,
        opened: &Opened,
        table: &dyn TableFormat,
        groups: Option<Range<usize>>,
        visit: &mut Visit<'_>,
    ) -> Result<u64> {
        let source = match opened.open_unchanged() {
            Ok(source) => source,
            Err(fault) => return refuse(fault, visit),
        };
        let source = &source;
        let to_fault = &|Damage { code, detail, .. }: Damage, lost_records| {
            let fault = opened.fault(Severity::Loss, code, None, detail);
            Event::Fault(Fault { lost_records, ..fault })
        };
        let longest = self.options.max_record_bytes;
        let columns = self.columns();
        let memory = self.record_memory(opened);
        let expansion = Expansion::new(self.options.max_expansion);
        let job = TableJob { source, groups, columns, longest, expansion, to_fault, memory };
        table.read(job, visit)
    }

    fn record_memory<'m>(&'m self, opened: &'m Opened) -> RecordMemory<'m> {
        RecordMemory { turns: &self.options.turns, file: opened.name() }
    }

    /// Returns the selectors of the text, of the ID, and of the other fields that are read.
    fn columns(&self) -> Columns<'_> {
        let options = &self.options;
        Columns {
            text: &options.text_field,
            id: &options.id_field,
            fields: &options.fields[..options.fields.len().min(MOST_FIELDS)],
        }
    }

    /// Divides `bytes` into records as `format` requires, and passes the records to `visit`. `offset` is the offset in
    /// the file of the first byte of `bytes`. Returns the number of records.
    pub(crate) fn read_bytes(
        &self,
        format: Format,
        bytes: SplitBytes<'_>,
        offset: u64,
        opened: &Opened,
        visit: &mut Visit<'_>,
    ) -> Result<u64> {
        let longest = self.options.max_record_bytes.max(1);
        // CSV and TSV files are always a single shard, so their dialect was recognized before.
        let recognized = opened.recognized.get();
        let dialect = recognized.and_then(|recognized| recognized.dialect);
        let encoding = recognized.and_then(|recognized| recognized.encoding);
        let to_fault = |damage: Damage, lost: bool| {
            let severity = if lost { Severity::Loss } else { Severity::Warning };
            let Damage { code, byte, detail } = damage;
            Event::Fault(opened.fault(severity, code, Some(byte), detail))
        };
        let content = self.options.content;
        let to_fault = &to_fault;
        let memory = self.record_memory(opened);
        let job = SplitJob { longest, bytes, offset, encoding, content, to_fault, memory, visit };
        format.byte_reader()?.read(job, self.columns(), dialect)
    }
}
