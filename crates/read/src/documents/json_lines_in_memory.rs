//! Lines of JSON in memory as a corpus, for example a batch of lines from a stream.

use crate::documents::{Corpus, ReadOptions, Selection};
use crate::formats::jsonl::{JsonLineSplitter, ObjectParser, WantedFields};
use crate::formats::records::read_slice;
use crate::formats::{Columns, Price, Visit};
use simtool_base::error::Result;
use std::ops::Range;
use std::path::Path;

/// Approximate length of a shard in bytes. The shards are short, so that even a small batch of
/// lines keeps several threads busy.
const SHARD_BYTES: usize = 128 << 10;

/// A [`Corpus`] that borrows complete JSON lines in memory. Each line is an object with a text and
/// perhaps an ID. The corpus has a single file, called `-`, and every line is a record.
#[derive(Debug)]
pub struct JsonLinesInMemory<'l> {
    lines: &'l [u8],
    wanted: WantedFields,
    shards: Vec<Range<usize>>,
    longest: usize,
}

impl<'l> JsonLinesInMemory<'l> {
    /// Creates the corpus of `lines`. Of `options`, only `text_field`, `id_field` and
    /// `max_record_bytes` are used.
    #[must_use]
    pub fn new(lines: &'l [u8], options: &ReadOptions) -> Self {
        let mut shards = Vec::with_capacity(lines.len() / SHARD_BYTES + 1);
        let mut start = 0;
        while start < lines.len() {
            // A shard ends after the first line end at or after `SHARD_BYTES`, so no line is cut.
            let from = (start + SHARD_BYTES).min(lines.len());
            let end = memchr::memchr(b'\n', &lines[from..]).map_or(lines.len(), |at| from + at + 1);
            shards.push(start..end);
            start = end;
        }
        let ReadOptions { text_field, id_field, .. } = options;
        let wanted = WantedFields::new(Columns { text: text_field, id: id_field, fields: &[] });
        Self { lines, wanted, shards, longest: options.max_record_bytes.max(1) }
    }
}

impl Corpus for JsonLinesInMemory<'_> {
    fn file_count(&self) -> usize {
        1
    }

    fn file_name(&self, _file: usize) -> &Path {
        Path::new("-")
    }

    fn shard_count(&self) -> usize {
        self.shards.len()
    }

    fn shard_file(&self, _shard: usize) -> usize {
        0
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        self.shards[shard].len() as u64
    }

    fn price(&self, _shard: usize) -> Price {
        Price::Cheap
    }

    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64> {
        let range = self.shards[shard].clone();
        let mut splitter =
            JsonLineSplitter::new(ObjectParser::new(self.wanted.clone(), None), false);
        let lines = &self.lines[range.clone()];
        // Every line is taken, but a text that cannot be decoded is bad.
        Selection::default().visit(u64::MAX, visit, |visit| {
            read_slice(&mut splitter, lines, range.start as u64, self.longest, visit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Event;
    use simtool_model::document::Content;
    use simtool_model::document_id::DocumentId;
    use std::ops::ControlFlow;

    #[test]
    fn lines_are_read_in_shards_and_none_is_lost() {
        let line =
            |at: usize| format!("{{\"text\": \"{}\", \"id\": {at}}}\n", "rose ".repeat(at % 90));
        let lines: String = (0..2000).map(line).chain(["\n{\n".to_owned()]).collect();
        let corpus = JsonLinesInMemory::new(lines.as_bytes(), &ReadOptions::default());
        assert!(corpus.shard_count() > 2);
        let (mut bytes, mut documents, mut bad) = (Vec::new(), 0, 0);
        for shard in 0..corpus.shard_count() {
            corpus
                .read_shard(shard, &mut |event| {
                    if let Event::Record(record) = event {
                        assert_eq!(record.byte as usize, bytes.len());
                        bytes.extend_from_slice(record.bytes);
                        match record.content {
                            Content::Document(document) => {
                                let id = documents.to_string();
                                assert_eq!(document.id, Some(DocumentId::Number(id.as_bytes())));
                                documents += 1;
                            }
                            Content::Bad(_) => bad += 1,
                            _ => {}
                        }
                    }
                    Ok(ControlFlow::Continue(()))
                })
                .unwrap();
        }
        assert_eq!((documents, bad, bytes), (2000, 1, lines.into_bytes()));
    }
}
