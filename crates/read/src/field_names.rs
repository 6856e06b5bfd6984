//! The names of the fields that the records of a collection have, to tell a user who named another.

use crate::{Collection, Corpus, Event, Recognized, Visit};
use simtool_base::fault::quoted;
use simtool_model::input_format::Format;
use std::ops::ControlFlow;

/// Files that are looked at, at the most.
const MOST_FILES: usize = 1000;
/// Files that tell names, at the most.
const MOST_NAMING_FILES: usize = 8;
/// Records of a file that are looked at, at the most.
const MOST_RECORDS: usize = 16;
/// Names that are told, at the most.
const MOST_NAMES: usize = 40;

impl Collection {
    /// The names of the fields of the first records of the first files that have any, as they are
    /// met: the keys of JSON Lines, the columns of tables and of Parquet, the headers of WARC. Of
    /// nested fields those of JSON Lines are told by their first key alone.
    ///
    /// No more than some names of some files are told, and faults of the files are not.
    #[must_use]
    pub fn field_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        let (mut looked_at, mut naming, mut last) = (0, 0, None);
        for shard in 0..self.shard_count() {
            let file = self.shard_file(shard);
            if last.replace(file) == Some(file) {
                continue;
            }
            if looked_at == MOST_FILES || naming == MOST_NAMING_FILES || names.len() >= MOST_NAMES {
                break;
            }
            looked_at += 1;
            let found = self.names_of(file, shard);
            naming += usize::from(!found.is_empty());
            for name in found {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names.truncate(MOST_NAMES);
        names
    }

    /// What to tell of a record at that byte of a file, which has not the field of the text: which
    /// field that is, which fields there are instead, and what to do.
    #[must_use]
    pub fn lack_of_text(&self, file: usize, byte: u64) -> String {
        let mut names = self.names_at(file, byte);
        names.truncate(MOST_NAMES);
        let names: Vec<String> = names.iter().map(|name| quoted(name.as_bytes())).collect();
        let there = match &names[..] {
            [] => "there are no fields".to_owned(),
            names => format!("there are: {}", names.join(", ")),
        };
        let wanted = quoted(self.text_field().as_bytes());
        format!("no field \"{wanted}\"; {there}. Name the field of the text with `text_field`")
    }

    /// The names of the fields that the record at `byte` has, or all records of its file have.
    fn names_at(&self, file: usize, byte: u64) -> Vec<String> {
        let mut of_file = (0..self.shard_count()).filter(|&shard| self.shard_file(shard) == file);
        if self.recognize(file).is_ok_and(|known| known.format == Format::JsonLines) {
            let mut names = Vec::new();
            let Some(shard) = of_file.find(|&shard| self.may_hold(shard, byte)) else {
                return names;
            };
            let visit: &mut Visit<'_> = &mut |event| {
                let Event::Record(record) = event else { return Ok(ControlFlow::Continue(())) };
                if record.byte < byte {
                    return Ok(ControlFlow::Continue(()));
                }
                names = crate::jsonl::keys(record.bytes);
                Ok(ControlFlow::Break(()))
            };
            // What is wrong with the file was told when it was read for its documents.
            drop(self.read_shard(shard, visit));
            return names;
        }
        of_file.next().map_or_else(Vec::new, |shard| self.names_of(file, shard))
    }

    /// The names in one file, whose first shard is `shard`.
    fn names_of(&self, file: usize, shard: usize) -> Vec<String> {
        let Ok(recognized) = self.recognize(file) else { return Vec::new() };
        #[cfg(feature = "parquet")]
        if recognized.format == Format::Parquet {
            return crate::parquet::column_names(self.file_path(file));
        }
        let Some(of_record) = names_of_record(recognized) else { return Vec::new() };
        let is_table = recognized.delimiter.is_some();
        let mut names = Vec::new();
        let mut records = 0;
        let visit: &mut Visit<'_> = &mut |event| {
            let Event::Record(record) = event else { return Ok(ControlFlow::Continue(())) };
            let found = of_record(record.bytes);
            records += 1;
            // Of a table, the first row that is one is the header.
            let is_enough = records == MOST_RECORDS || (is_table && !found.is_empty());
            for name in found {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        // What is wrong with the file was told when it was read for its documents.
        drop(self.read_shard(shard, visit));
        names
    }
}

/// Tells the names of the fields of a record by its bytes.
type NamesOfRecord = Box<dyn Fn(&[u8]) -> Vec<String>>;

/// What tells the names of a record by its bytes, in a format that has them.
fn names_of_record(recognized: Recognized) -> Option<NamesOfRecord> {
    match (recognized.format, recognized.delimiter) {
        (Format::JsonLines, _) => Some(Box::new(crate::jsonl::keys)),
        (Format::Csv | Format::Tsv, Some(delimiter)) => {
            Some(Box::new(move |row| crate::delimited::columns(delimiter, row)))
        }
        (Format::Warc, _) => Some(Box::new(crate::warc::header_names)),
        _ => None,
    }
}

#[cfg(test)]
#[cfg(feature = "parquet")]
mod tests {
    use crate::walk::InputFile;
    use crate::{Collection, ReadOptions};

    fn names(files: &[(&str, &[u8])]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let inputs = files.iter().map(|(name, content)| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            InputFile::new(path)
        });
        Collection::open(inputs.collect(), ReadOptions::default()).field_names()
    }

    #[test]
    fn every_format_with_fields_names_them() {
        let warc = b"WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 3\r\n\r\na:b\r\n\r\n";
        let json = b"\n{\n{\"z\": {\"b\": 1}, \"a\": 1}\n{\"c\\n\": 1, \"a\": 2}\n";
        assert_eq!(names(&[("a.jsonl", json)]), ["z", "a", "c\n"]);
        let table = "\u{feff}\r\n\"x, y\",text\r\n1,2\r\n";
        assert_eq!(names(&[("a.csv", table.as_bytes())]), ["x, y", "text"]);
        assert_eq!(names(&[("a.tsv", b"text\tid\n")]), ["text", "id"]);
        assert_eq!(names(&[("a.warc", warc)]), ["WARC-Type", "Content-Length"]);
        assert_eq!(
            names(&[("a.txt", b"a"), ("b.tsv", b"text\n"), ("c.tsv", b"text\tb\n")]),
            ["text", "b"]
        );
        assert_eq!(names(&[("a.txt", b"a"), ("b.parquet", b"PAR1"), ("c", b"")]), [""; 0]);
    }

    #[test]
    fn parquet_names_its_columns_by_their_paths() {
        use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray, StructArray};
        use std::sync::Arc;
        let inner = |values| -> ArrayRef { Arc::new(Int32Array::from(values)) };
        let inner = RecordBatch::try_from_iter([("n", inner(vec![1])), ("m", inner(vec![2]))]);
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
        let meta: ArrayRef = Arc::new(StructArray::from(inner.unwrap()));
        let batch = RecordBatch::try_from_iter([("text", texts), ("meta", meta)]).unwrap();
        let mut bytes = Vec::new();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        assert_eq!(names(&[("a.parquet", &bytes)]), ["text", "meta.n", "meta.m"]);
    }

    #[test]
    fn not_more_names_than_a_message_can_hold_are_told() {
        let many: Vec<String> = (0..1000).map(|n| format!("c{n}")).collect();
        assert_eq!(names(&[("a.csv", (many.join(",") + ",text\n").as_bytes())]).len(), 40);
    }
}
