//! Reads the inputs again and writes them without what is not kept.

use crate::document::{Content, DocOrdinal, DocumentIds};
use crate::error::{Error, Result};
use crate::read::{Collection, Corpus, Event};
use crate::write::kept_documents::{KeptFile, distinct_names};
use rayon::prelude::*;
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

/// Writes a copy of every file of `collection` to `folder`: byte for byte, but for the documents
/// that `is_kept` denies and for bad records. Files that cannot be read have no copy.
///
/// Files are written in parallel, in the threads of the caller's pool.
///
/// # Errors
///
/// A copy cannot be written, or a file is not what it was when `ids` was made.
pub fn write_kept_copies(
    collection: &Collection,
    ids: &DocumentIds,
    is_kept: &(dyn Fn(DocOrdinal) -> bool + Sync),
    folder: &Path,
) -> Result<()> {
    let names: Vec<PathBuf> =
        (0..collection.file_count()).map(|file| collection.copy_name(file).to_owned()).collect();
    let names = distinct_names(&names);
    let mut shards = Vec::with_capacity(names.len());
    let mut next = 0;
    for file in 0..names.len() {
        let first = next;
        while next < collection.shard_count() && collection.shard_file(next) == file {
            next += 1;
        }
        shards.push(first..next);
    }
    names.into_par_iter().zip(shards).enumerate().try_for_each(|(file, (name, shards))| {
        let copy = Copy { collection, ids, is_kept, file, shards };
        copy.write(&folder.join(name))
    })
}

/// The copy of one file.
struct Copy<'c> {
    collection: &'c Collection,
    ids: &'c DocumentIds,
    is_kept: &'c (dyn Fn(DocOrdinal) -> bool + Sync),
    file: usize,
    shards: Range<usize>,
}

impl Copy<'_> {
    fn write(&self, path: &Path) -> Result<()> {
        let Ok(recognized) = self.collection.recognize(self.file) else { return Ok(()) };
        #[cfg(feature = "parquet")]
        if recognized.format == crate::input_format::Format::Parquet {
            return self.write_rows(path);
        }
        let mut copy = KeptFile::create(path, recognized.format, recognized.compression)?;
        self.read(&mut |bytes, _| copy.write(bytes))?;
        copy.finish()
    }

    #[cfg(feature = "parquet")]
    fn write_rows(&self, path: &Path) -> Result<()> {
        let mut kept = Vec::new();
        self.read(&mut |_, row| {
            kept.push(row);
            Ok(())
        })?;
        crate::write::kept_rows::copy_rows(self.collection.file_path(self.file), path, &kept)
    }

    /// Gives the bytes and number of every record that stays.
    fn read(&self, keep: &mut dyn FnMut(&[u8], u64) -> Result<()>) -> Result<()> {
        let mut first_record = 0;
        for shard in self.shards.clone() {
            let first = self.ids.first_of_shard(shard).0;
            let mut next = first;
            let records = self.collection.read_shard(shard, &mut |event| {
                let Event::Record(record) = event else { return Ok(ControlFlow::Continue(())) };
                let stays = match record.content {
                    Content::Document(_) => {
                        let document = DocOrdinal(next);
                        next += 1;
                        document.index() < self.ids.len() && (self.is_kept)(document)
                    }
                    Content::PassThrough | Content::PassedOver => true,
                    Content::Bad(_) => false,
                };
                if stays {
                    keep(record.bytes, first_record + record.number)?;
                }
                Ok(ControlFlow::Continue(()))
            })?;
            if next != self.ids.end_of_shard(shard).0 {
                return Err(self.changed());
            }
            first_record += records;
        }
        Ok(())
    }

    fn changed(&self) -> Error {
        let reason = "it changed while it was read; run again when nothing writes to it";
        Error::io(self.collection.file_name(self.file), "copy", io::Error::other(reason))
    }
}

#[cfg(test)]
#[cfg(all(feature = "gzip", feature = "jsonl", feature = "zstd"))]
mod tests {
    use super::*;
    use crate::document::ShardIds;
    use crate::read::ReadOptions;
    use crate::read::walk::Walker;
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Write;

    fn collection(folder: &Path) -> Collection {
        let mut walker = Walker::new(folder);
        walker.add(folder, &|_| true, &mut io::empty()).unwrap();
        let options = ReadOptions { shard_bytes: 5000, ..ReadOptions::default() };
        Collection::open(walker.finish().files, options)
    }

    /// File, ID and text of every document, and the identities.
    fn documents(collection: &Collection) -> (Vec<(PathBuf, String, String)>, DocumentIds) {
        let (mut documents, mut shards) = (Vec::new(), Vec::new());
        for shard in 0..collection.shard_count() {
            let file = collection.shard_file(shard);
            let mut ids = ShardIds::new(file as u32);
            let records = collection.read_shard(shard, &mut |event| {
                if let Event::Record(record) = event
                    && let Content::Document(document) = record.content
                {
                    ids.push(record.number, document.id)?;
                    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                    documents.push((
                        collection.copy_name(file).to_owned(),
                        text(document.id.unwrap_or_default()),
                        text(document.text),
                    ));
                }
                Ok(ControlFlow::Continue(()))
            });
            ids.close(records.unwrap());
            shards.push(ids);
        }
        (documents, DocumentIds::new(shards).unwrap())
    }

    fn inputs() -> BTreeMap<&'static str, String> {
        let ids = 0..3000;
        let jsonl = |n| match n % 10 {
            7 => "no object\n".to_owned(),
            8 => "\n".to_owned(),
            _ => format!("{{\"id\": {n}, \"text\": \"text {n}\"}}\n"),
        };
        let warc = |n: i32| {
            let kind = if n % 10 == 0 { "request" } else { "conversion" };
            let block = format!("text {n}");
            let length = block.len();
            format!(
                "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: w{n}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n"
            )
        };
        let mut inputs = BTreeMap::from([
            (
                "a.txt",
                ids.clone()
                    .map(|n| format!("\r\nf{n}\ntext\n{n}\x0C"))
                    .collect::<Vec<_>>()
                    .concat(),
            ),
            (
                "b/last-is-open.txt",
                ids.clone().map(|n| format!("\x0Cg{n}\ntext {n}")).collect::<Vec<_>>().concat(),
            ),
            ("b/c.jsonl", ids.clone().map(jsonl).collect::<String>() + "{\"text\": \"end\"}"),
        ]);
        if cfg!(feature = "warc") {
            inputs.insert("d.warc", ids.map(warc).collect());
        }
        inputs
    }

    #[cfg(feature = "parquet")]
    fn write_rows(path: &Path) {
        use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
        use std::sync::Arc;
        let ids = Int64Array::from_iter_values(0..3000);
        let texts = (0..3000).map(|n| (n % 10 != 7).then(|| format!("row {n}")));
        let texts: StringArray = texts.collect();
        let other = StringArray::from_iter_values((0..3000).map(|n| format!("other {n}")));
        let columns: [(&str, ArrayRef); 3] =
            [("id", Arc::new(ids)), ("other", Arc::new(other)), ("text", Arc::new(texts))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = parquet::file::properties::WriterProperties::builder()
            .set_max_row_group_row_count(Some(1100))
            .set_compression(parquet::basic::Compression::SNAPPY)
            .build();
        let file = fs::File::create(path).unwrap();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn copies_hold_exactly_the_kept_documents_in_the_same_format() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in");
        fs::create_dir_all(input.join("b")).unwrap();
        for (name, content) in inputs() {
            fs::write(input.join(name), &content).unwrap();
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(content.as_bytes()).unwrap();
            fs::write(input.join(format!("{name}.gz")), gzip.finish().unwrap()).unwrap();
            let packed = zstd::encode_all(content.as_bytes(), 1).unwrap();
            fs::write(input.join(format!("{name}.zst")), packed).unwrap();
        }
        #[cfg(feature = "parquet")]
        write_rows(&input.join("e.parquet"));
        let whole = collection(&input);
        let (all, ids) = documents(&whole);
        assert!(all.len() > 20_000, "{} documents", all.len());

        let everything = folder.path().join("all");
        write_kept_copies(&whole, &ids, &|_| true, &everything).unwrap();
        for (name, content) in inputs() {
            let good: String =
                content.split_inclusive('\n').filter(|l| *l != "no object\n").collect();
            assert!(
                fs::read_to_string(everything.join("in").join(name)).unwrap() == good,
                "{name}"
            );
        }

        let some = folder.path().join("some");
        write_kept_copies(&whole, &ids, &|d| d.0 % 3 != 0, &some).unwrap();
        let copies = collection(&some.join("in"));
        let kept = all.iter().enumerate().filter(|(at, _)| at % 3 != 0).map(|(_, d)| d.clone());
        assert!(documents(&copies).0 == kept.collect::<Vec<_>>());
        for file in 0..copies.file_count() {
            assert_eq!(copies.recognize(file).unwrap(), whole.recognize(file).unwrap());
        }
    }
}
