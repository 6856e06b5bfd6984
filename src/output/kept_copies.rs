//! Reads the inputs again and writes them without what is not kept.

use super::ordered_pieces::{OrderedPieces, UnitWriter};
use crate::pipeline::watched::Watched;
use crate::write::kept_documents::{Chunk, Packing, distinct_names};
use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use simtool_base::error::{Error, Result};
use simtool_base::fault::Severity;
use simtool_base::options::Choice;
use simtool_base::progress::{Progress, Work};
use simtool_model::compression::Compression;
use simtool_model::document::{Content, DocOrdinal, DocumentIds};
use simtool_read::{Collection, Corpus, Event, Recognized, RowsCopy};
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

/// Bytes that are packed together: a gzip member or a Zstandard frame of its own.
const CHUNK_BYTES: usize = 1 << 20;

/// What becomes of bad records in copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadRecords {
    /// They stay in their places, byte for byte: what was not compared repeats nothing.
    #[default]
    Keep,
    /// They go.
    Drop,
}

impl Choice for BadRecords {
    const ALL: &'static [Self] = &[Self::Keep, Self::Drop];

    fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Drop => "drop",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Keep => "They stay: what was not compared was not found to be a repetition",
            Self::Drop => "They go",
        }
    }
}

/// Writes a copy of every file of `collection` to `folder`: byte for byte, but for the documents
/// that `is_kept` denies, and for bad records if these are to go. What is damaged so that it cannot
/// be read is not copied either. A text file that is one removed document has no copy, and neither
/// has a file of which nothing could be read.
///
/// Large files are written in parallel, in the threads of the caller's pool, and compressed in
/// chunks; the copies are the same bytes for any number of threads.
///
/// # Errors
///
/// A copy cannot be written, or a file is not what it was when `ids` was made.
pub fn write_kept_copies(
    collection: &Collection,
    ids: &DocumentIds,
    is_kept: &(dyn Fn(DocOrdinal) -> bool + Sync),
    bad_records: BadRecords,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<()> {
    progress.begin("copying", Work::Bytes(collection.bytes()));
    let names: Vec<PathBuf> =
        (0..collection.file_count()).map(|file| collection.copy_name(file).to_owned()).collect();
    let names = distinct_names(&names);
    let mut files = Vec::with_capacity(names.len());
    let mut shards = Vec::with_capacity(names.len());
    let mut tables = Vec::new();
    let mut next = 0;
    for (file, name) in names.into_iter().enumerate() {
        let first = next;
        while next < collection.shard_count() && collection.shard_file(next) == file {
            next += 1;
        }
        let path = folder.join(name);
        // Of a small file it is known from its reading.
        let recognized = collection.recognize(file).ok();
        let is_table = recognized.is_some_and(is_table);
        let is_cut = next - first > 1 && recognized.is_some() && !is_table;
        let units = match (is_table, is_cut) {
            (true, _) => 0,
            (false, true) => next - first,
            (false, false) => 1,
        };
        if is_table {
            tables.push((file, path.clone()));
        }
        files.push((path, units));
        shards.push(FileShards { shards: first..next, is_cut, recognized });
    }
    let copies = Copies { collection, progress, ids, is_kept, bad_records, shards };
    let pieces = OrderedPieces::new(files, rayon::current_num_threads());
    rayon::broadcast(|_| pieces.work(&|writer| copies.write(writer)));
    pieces.finish()?;
    tables
        .into_par_iter()
        .with_max_len(1)
        .try_for_each(|(file, path)| copies.write_rows(file, &path))?;
    Ok(())
}

/// Whether a file's rows are written by the writer of tables.
fn is_table(recognized: Recognized) -> bool {
    recognized.format.is_table() && recognized.compression == Compression::None
}

/// What the copies of all files are made from.
struct Copies<'c> {
    collection: &'c Collection,
    progress: &'c dyn Progress,
    ids: &'c DocumentIds,
    is_kept: &'c (dyn Fn(DocOrdinal) -> bool + Sync),
    bad_records: BadRecords,
    shards: Vec<FileShards>,
}

/// The shards of a file.
struct FileShards {
    shards: Range<usize>,
    /// Whether they are copied one by one.
    is_cut: bool,
    /// How it is packed and what is in it, if that can be told.
    recognized: Option<Recognized>,
}

/// A part of a record that stays.
enum Kept<'k> {
    /// A record with its number in the file.
    Record(&'k [u8], u64),
    /// The next bytes of a record that is not lent whole.
    Stretch(&'k [u8]),
}

/// What was in some shards.
#[derive(Default)]
struct Met {
    records: u64,
    /// The same with those that are known to be lost.
    records_with_lost: u64,
    removed: u64,
    has_loss: bool,
}

impl Copies<'_> {
    /// Copies a unit: a shard, or a file.
    fn write(&self, writer: &mut UnitWriter<'_>) -> Result<()> {
        let unit = writer.unit();
        let FileShards { shards, is_cut, recognized } = &self.shards[unit.file];
        let Some(recognized) = *recognized else { return Ok(()) };
        let shards = if *is_cut {
            let shard = shards.start + unit.number;
            shard..shard + 1
        } else {
            shards.clone()
        };
        let packing = Packing::new(recognized.compression, recognized.format.is_packed_by_record());
        let (mut chunk, mut is_begun) = (Chunk::default(), false);
        writer.wait()?;
        let met = self.read(unit.file, shards, &mut |kept| {
            match kept {
                Kept::Record(bytes, _) => chunk.push(bytes),
                Kept::Stretch(bytes) => chunk.push_stretch(bytes),
            }
            if chunk.bytes() < CHUNK_BYTES {
                return Ok(());
            }
            is_begun = true;
            writer.write(std::mem::take(&mut chunk), packing, false)
        })?;
        let is_nothing = !is_cut && !is_begun && chunk.bytes() == 0;
        let is_removed_text = recognized.format.is_one_document() && met.removed > 0;
        if is_nothing && (is_removed_text || met.is_unreadable()) {
            return Ok(());
        }
        writer.write(chunk, packing, true)
    }

    /// Copies a table. All threads read its shards and then encode its groups of rows.
    fn write_rows(&self, file: usize, path: &Path) -> Result<()> {
        let shards = self.shards[file].shards.clone();
        let read = shards.into_par_iter().with_max_len(1).map(|shard| {
            let mut kept = Vec::new();
            let met = self.read(file, shard..shard + 1, &mut |record| {
                if let Kept::Record(_, row) = record {
                    kept.push(row);
                }
                Ok(())
            })?;
            Ok((met, kept))
        });
        let (mut all, mut kept) = (Met::default(), Vec::new());
        for (met, rows) in read.collect::<Result<Vec<_>>>()? {
            kept.extend(rows.into_iter().map(|row| all.records_with_lost + row));
            all.add(&met);
        }
        if all.is_unreadable() {
            return Ok(());
        }
        let copy = RowsCopy {
            to: path,
            kept: &kept,
            at_once: rayon::current_num_threads(),
            in_parallel: &|count, work| {
                (0..count).into_par_iter().with_max_len(1).for_each(work);
            },
        };
        self.collection.copy_rows(file, &copy)
    }

    /// Gives everything of some shards of a file that stays.
    fn read(
        &self,
        file: usize,
        shards: Range<usize>,
        keep: &mut dyn FnMut(Kept<'_>) -> Result<()>,
    ) -> Result<Met> {
        let (mut met, mut first_record) = (Met::default(), 0);
        let keeps_bad = self.bad_records == BadRecords::Keep;
        let watched = Watched { corpus: self.collection, progress: self.progress };
        for shard in shards {
            let mut next = self.ids.first_of_shard(shard).0;
            let records = watched.read_shard(shard, &mut |event| {
                let record = match event {
                    Event::Record(record) => record,
                    Event::Stretch(bytes) if keeps_bad => {
                        return keep(Kept::Stretch(bytes)).map(ControlFlow::Continue);
                    }
                    Event::Stretch(_) | Event::Reached(_) => return Ok(ControlFlow::Continue(())),
                    Event::Fault(fault) => {
                        met.has_loss |= fault.severity == Severity::Loss;
                        return Ok(ControlFlow::Continue(()));
                    }
                };
                met.records += 1;
                let stays = match record.content {
                    Content::Document(_) => {
                        let document = DocOrdinal(next);
                        next += 1;
                        document.index() < self.ids.len() && (self.is_kept)(document)
                    }
                    Content::PassThrough | Content::PassedOver => true,
                    Content::Bad(_) => keeps_bad,
                };
                if stays {
                    let kept = Kept::Record(record.bytes, first_record + record.number);
                    return keep(kept).map(ControlFlow::Continue);
                }
                met.removed += u64::from(matches!(record.content, Content::Document(_)));
                Ok(ControlFlow::Continue(()))
            })?;
            if next != self.ids.end_of_shard(shard).0 {
                return Err(self.changed(file));
            }
            first_record += records;
        }
        met.records_with_lost = first_record;
        Ok(met)
    }

    fn changed(&self, file: usize) -> Error {
        let reason = "it changed while it was read; run again when nothing writes to it";
        Error::io(self.collection.file_name(file), "copy", io::Error::other(reason))
    }
}

impl Met {
    fn add(&mut self, other: &Self) {
        self.records += other.records;
        self.records_with_lost += other.records_with_lost;
        self.removed += other.removed;
        self.has_loss |= other.has_loss;
    }

    /// Whether there is nothing but damage.
    fn is_unreadable(&self) -> bool {
        self.records == 0 && self.has_loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::progress::NoProgress;
    use simtool_model::document::ShardIds;
    use simtool_read::ReadOptions;
    use simtool_read::walk::{InFolders, Walker};
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Write;

    fn collection(folder: &Path) -> Collection {
        let mut walker = Walker::default();
        walker.add(folder, InFolders::default());
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
        if true {
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
        write_kept_copies(&whole, &ids, &|_| true, BadRecords::Drop, &everything, &NoProgress)
            .unwrap();
        for (name, content) in inputs() {
            let good: String =
                content.split_inclusive('\n').filter(|l| *l != "no object\n").collect();
            assert!(
                fs::read_to_string(everything.join("in").join(name)).unwrap() == good,
                "{name}"
            );
        }

        let some = folder.path().join("some");
        write_kept_copies(&whole, &ids, &|d| d.0 % 3 != 0, BadRecords::Keep, &some, &NoProgress)
            .unwrap();
        let copies = collection(&some.join("in"));
        let kept = all.iter().enumerate().filter(|(at, _)| at % 3 != 0).map(|(_, d)| d.clone());
        assert!(documents(&copies).0 == kept.collect::<Vec<_>>());
        for file in 0..copies.file_count() {
            assert_eq!(copies.recognize(file).unwrap(), whole.recognize(file).unwrap());
        }
    }
}
