//! Reading that begins in the middle of a file. In a compressed file, it begins at the start of a gzip member or
//! Zstandard frame.
//!
//! Web crawls are compressed with one gzip member for each record, so a record can be read without the records before
//! it. A sample of such a file can therefore start anywhere. Some bytes look like the start of a member by chance. They
//! cannot be decompressed or contain no record, so they are skipped.

use crate::bytes::decompress::{self, first_start};
use crate::bytes::zstd_dictionary::{HEADER_BYTES, has_dictionary};
use crate::documents::{Collection, Recognized};
use crate::formats::{ByteFormat, Event, SplitBytes, Visit};
use simtool_base::error::Result;
use simtool_model::compression::Compression;
use std::io::{Cursor, Read};
use std::ops::ControlFlow;

/// Number of compressed bytes in which the start of a gzip member or Zstandard frame is searched. The start of a record
/// is then searched in the same number of bytes from there on. If one of these searches finds nothing, nothing is read.
const SEARCHED_BYTES: usize = 256 << 10;

impl Collection {
    /// Passes the records of the file with index `file` to `visit`, from the first record that is found after offset
    /// `byte`. The first event is [`Event::Reached`] with the approximate start of that record. Returns `false`, and
    /// passes no record, if none is found or the format cannot be read from there. See
    /// [`Corpus::read_shard_behind`](crate::Corpus::read_shard_behind).
    pub(crate) fn read_behind(
        &self,
        file: usize,
        byte: u64,
        visit: &mut Visit<'_>,
    ) -> Result<bool> {
        let opened = &self.files[file];
        let Ok(recognized) = self.recognize(file) else { return Ok(false) };
        let Recognized { compression, format, .. } = *opened.recognized.get_or_init(|| recognized);
        if !format.byte_reader().is_ok_and(ByteFormat::can_start_inside) {
            return Ok(false);
        }
        // Frames cannot be read without the dictionary at the start of the file.
        let Ok(source) = opened.open_unchanged() else { return Ok(false) };
        let head = source.bytes_at(0, HEADER_BYTES).unwrap_or_default();
        if compression == Compression::Zstd && has_dictionary(&head) {
            return Ok(false);
        }
        let Ok(mut ahead) = source.bytes_at(byte, SEARCHED_BYTES) else { return Ok(false) };
        let rest = source.stream(byte + ahead.len() as u64);
        let Some(start) = first_start(compression, &ahead) else { return Ok(false) };
        ahead.drain(..start);
        let began = byte + start as u64;
        let reader = Cursor::new(ahead).chain(rest);
        let mut stream = decompress::open(compression, reader, self.options.decoding())?;
        let mut is_found = false;
        let bytes = SplitBytes::Within(&mut *stream, SEARCHED_BYTES as u64);
        // The offset is at least 1, so that the splitter does not take the bytes for the start of
        // the file.
        self.read_bytes(format, bytes, began.max(1), opened, &mut |event| match event {
            Event::Fault(_) => Ok(ControlFlow::Continue(())),
            Event::Reached(reached) => {
                is_found = true;
                visit(Event::Reached(began + reached))
            }
            event => visit(event),
        })?;
        Ok(is_found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{Corpus, ReadOptions};
    use simtool_model::document::Content;
    use std::io::Write;

    fn gzip(content: &[u8], level: u32) -> Vec<u8> {
        let level = flate2::Compression::new(level);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn zstd(content: &[u8]) -> Vec<u8> {
        ::zstd::encode_all(content, 3).unwrap()
    }

    /// Returns the text with this number. No two numbers have the same text.
    fn text(number: u64) -> String {
        let words = (0..30 + number % 70).map(|word| format!("{number}-{}", word * word));
        words.collect::<Vec<_>>().join(" ")
    }

    fn wet(number: u64) -> Vec<u8> {
        let text = text(number);
        let length = text.len();
        let header = "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length:";
        format!("{header} {length}\r\n\r\n{text}\r\n\r\n").into_bytes()
    }

    fn json_line(number: u64) -> Vec<u8> {
        format!("{{\"text\": \"{}\"}}\n", text(number)).into_bytes()
    }

    /// Reads the file `content` once for each offset in `bytes`, beginning after that offset.
    /// Returns the offset at which the reading began and the texts that were read, or `None` if no
    /// record was found.
    fn read_behind(name: &str, content: &[u8], bytes: &[u64]) -> Vec<Option<(u64, Vec<String>)>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let collection = Collection::of_paths(&[&path], ReadOptions::default()).unwrap();
        let read = |&byte: &u64| {
            let (mut began, mut texts) = (None, Vec::new());
            let is_found = collection.read_shard_behind(0, byte, &mut |event| {
                match event {
                    Event::Reached(reached) => {
                        assert!(began.is_some() || texts.is_empty());
                        began.get_or_insert(reached);
                    }
                    Event::Record(record) => match record.content {
                        Content::Document(document) => {
                            texts.push(String::from_utf8(document.text.to_vec()).unwrap());
                        }
                        other => assert!(
                            matches!(other, Content::PassThrough | Content::NonDocument(_)),
                            "{other:?}"
                        ),
                    },
                    other => panic!("{other:?}"),
                }
                Ok(ControlFlow::Continue(()))
            });
            assert_eq!(is_found.unwrap(), began.is_some(), "{name} at {byte}");
            began.map(|began| (began, texts))
        };
        bytes.iter().map(read).collect()
    }

    #[test]
    fn what_is_read_from_inside_is_the_last_documents() {
        let texts: Vec<String> = (0..2000).map(text).collect();
        let records = |record: fn(u64) -> Vec<u8>| (0..2000).map(record);
        let pieces = records(json_line).collect::<Vec<_>>().concat();
        for (name, file) in [
            ("a.wet", records(wet).flatten().collect::<Vec<u8>>()),
            ("a.wet.gz", records(wet).flat_map(|record| gzip(&record, 6)).collect()),
            ("a.wet.zst", records(wet).flat_map(|record| zstd(&record)).collect()),
            ("a.jsonl.gz", records(json_line).flat_map(|line| gzip(&line, 6)).collect()),
            // The members and frames of these files begin in the middle of records.
            ("b.jsonl.gz", pieces.chunks(997).flat_map(|piece| gzip(piece, 6)).collect()),
            ("b.jsonl.zst", pieces.chunks(9001).flat_map(zstd).collect()),
        ] {
            let size = file.len() as u64;
            let read = read_behind(name, &file, &[1, size / 3, size / 2, size * 9 / 10]);
            for (read, part) in read.into_iter().zip([0.0, 1.0 / 3.0, 0.5, 0.9]) {
                let (began, read) = read.unwrap();
                assert!(texts.ends_with(&read), "{name} from {part}");
                let missing = 1.0 - read.len() as f64 / 2000.0;
                assert!((missing - part).abs() < 0.03, "{name} from {part}: {missing}");
                let begun = began as f64 / size as f64;
                assert!((begun - missing).abs() < 0.03, "{name}: {begun} of bytes, {missing}");
            }
        }
    }

    #[test]
    fn of_a_single_member_nothing_is_found_inside() {
        let content: Vec<u8> = (0..3000).flat_map(wet).collect();
        for (name, file) in [("a.wet.gz", gzip(&content, 6)), ("a.wet.zst", zstd(&content))] {
            let size = file.len() as u64;
            assert_eq!(
                read_behind(name, &file, &[1, size / 2, size - 1, size]),
                [const { None }; 4]
            );
        }
        let table = "id,text\n1,one\n".repeat(100);
        assert_eq!(read_behind("a.csv", table.as_bytes(), &[500]), [None]);
    }

    #[test]
    fn what_only_looks_like_a_member_is_passed_over() {
        let look_alike = [0x1F, 0x8B, 8, 0, 1, 2, 3, 4, 0, 3, 0xAB, 0xCD, b'\n', b'x'];
        let page = gzip(b"<p>a page that a server packed, in a record that is stored as it is", 6);
        for inside in [&look_alike[..], &look_alike.repeat(500), &page] {
            let block = [b"HTTP/1.1 200 OK\r\n\r\n", inside, b"\r\n"].concat();
            let header = "WARC/1.0\r\nWARC-Type: request\r\nContent-Length:";
            let mut record = format!("{header} {}\r\n\r\n", block.len()).into_bytes();
            record.extend(&block);
            record.extend(b"\r\n\r\n");
            let first = gzip(&record, 0);
            let rest: Vec<u8> = (0..50).flat_map(|number| gzip(&wet(number), 6)).collect();
            let at = memchr::memmem::find(&first, inside).unwrap() as u64;
            let file = [first, rest].concat();
            let read = read_behind("a.warc.gz", &file, &[at - 1, at]);
            for read in read {
                let (_, read) = read.unwrap();
                // Later members are read one after the other, so only the first one has to be
                // searched.
                assert!(read.len() >= 49, "{} documents", read.len());
                assert!((0..50).map(text).collect::<Vec<_>>().ends_with(&read));
            }
        }
    }

    #[test]
    fn damage_inside_is_not_reported() {
        let mut file: Vec<u8> = (0..2000).flat_map(|number| gzip(&wet(number), 6)).collect();
        let middle = file.len() / 2;
        file[middle..middle + 100].fill(0);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wet.gz");
        std::fs::write(&path, &file).unwrap();
        let collection = Collection::of_paths(&[&path], ReadOptions::default()).unwrap();
        let mut documents = 0;
        let is_found = collection.read_shard_behind(0, middle as u64 - 10_000, &mut |event| {
            assert!(!matches!(event, Event::Fault(_)), "{event:?}");
            if let Event::Record(record) = event {
                documents += u32::from(matches!(record.content, Content::Document(_)));
            }
            Ok(ControlFlow::Continue(()))
        });
        assert!(is_found.unwrap());
        assert!(documents > 990, "{documents} documents");
    }
}
