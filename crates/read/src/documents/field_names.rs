//! The names of the fields in a collection, for the message to a user who named a field that does
//! not exist.

use crate::documents::partitions::partitions;
use crate::documents::{Collection, Corpus, ReadOptions, Recognized};
use crate::formats::{Event, FieldNames, Reader, Selector, Visit, jsonl};
use simtool_base::fault::quoted;
use std::ops::ControlFlow;

/// Largest number of files that are searched for field names.
const MOST_FILES: usize = 1000;
/// Number of files with field names after which the search ends.
const MOST_NAMING_FILES: usize = 8;
/// Largest number of records of a file that are searched for field names.
const MOST_RECORDS: usize = 16;
/// Largest number of field names that are returned.
const MOST_NAMES: usize = 40;

/// Returns a message that a JSON line lacks the field with the text. It has the same form as
/// [`Collection::lack_of_text`].
///
/// ```
/// use simtool_read::{ReadOptions, lack_of_text_in_line};
///
/// let message = lack_of_text_in_line(br#"{"id": 1, "body": "a text"}"#, &ReadOptions::default());
/// assert!(message.starts_with("no field \"text\"; there are: id, body."));
/// ```
#[must_use]
pub fn lack_of_text_in_line(line: &[u8], options: &ReadOptions) -> String {
    let there = listed(jsonl::field_names(line));
    lack_of_text(&options.text_field, &there, options.text_setting)
}

fn lack_of_text(wanted: &Selector, there: &str, setting: &str) -> String {
    let wanted = quoted(wanted.as_str().as_bytes());
    format!("no field \"{wanted}\"; {there}. Name the field of the text with `{setting}`")
}

/// Returns the names of the fields of a record as the end of a message, for example "there are: id, body".
fn listed(mut names: Vec<String>) -> String {
    names.truncate(MOST_NAMES);
    let names: Vec<String> = names.iter().map(|name| quoted(name.as_bytes())).collect();
    match &names[..] {
        [] => "there are no fields".to_owned(),
        names => format!("there are: {}", names.join(", ")),
    }
}

impl Collection {
    /// Returns the names of the fields in the first records of the first files, in the order in which they first occur.
    /// The names are the keys of JSON Lines, the columns of CSV, TSV, Parquet and Arrow, the header fields of WARC, or
    /// the names of Hive partitions in paths. The names of nested fields are paths, such as `messages[].content`.
    ///
    /// At most 40 names are returned, and only a limited number of files is searched. Faults of the files are not
    /// reported.
    #[must_use]
    pub fn field_names(&self) -> Vec<String> {
        let mut names = Vec::new();
        self.visit_names(&mut |_, found| {
            for name in found {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            names.len() < MOST_NAMES
        });
        names.truncate(MOST_NAMES);
        names
    }

    /// Returns the different names of the fields that `selector` selects in the first files. In each file, this is the
    /// first alternative of the selector that the first records have. Files are left out if `is_wanted` returns false
    /// for their index.
    #[must_use]
    pub fn selected_names(
        &self,
        selector: &Selector,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<String> {
        let mut names = Vec::new();
        self.visit_names(&mut |file, found| {
            if is_wanted(file)
                && let Some(name) = selector.first_of(&found)
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
            }
            true
        });
        names
    }

    /// Returns the alternatives of `selector` that the first records of one file have, such as `title` and `body`. Only
    /// one alternative is read from each record, which users may not expect. The file is the first one with at least
    /// two of the alternatives. Returns an empty list if there is no such file.
    #[must_use]
    pub fn rival_fields(&self, selector: &Selector) -> Vec<String> {
        let mut rivals = Vec::new();
        if selector.alternative_names().nth(1).is_none() {
            return rivals;
        }
        self.visit_names(&mut |_, found| {
            let has = |name: &str| found.iter().any(|known| known == name);
            let names =
                selector.alternative_names().filter(|names| names.iter().all(|name| has(name)));
            rivals = names.map(|names| names.join("+")).collect();
            // One file is enough for the message.
            rivals.len() < 2
        });
        if rivals.len() < 2 { Vec::new() } else { rivals }
    }

    /// Calls `visit` for each of the first files with the index of the file and the names of the fields in its first
    /// records. Stops when `visit` returns false.
    fn visit_names(&self, visit: &mut dyn FnMut(usize, Vec<String>) -> bool) {
        let (mut looked_at, mut naming, mut last) = (0, 0, None);
        for shard in 0..self.shard_count() {
            let file = self.shard_file(shard);
            if last.replace(file) == Some(file) {
                continue;
            }
            if looked_at == MOST_FILES || naming == MOST_NAMING_FILES {
                break;
            }
            looked_at += 1;
            let mut found = self.names_of(file, shard);
            // A field in the path of the file is a field of all its records.
            found.extend(partitions(self.files[file].name()).into_iter().map(|(name, _)| name));
            naming += usize::from(!found.is_empty());
            if !visit(file, found) {
                break;
            }
        }
    }

    /// Returns a message about a record that lacks the field with the text. The message has the name of the missing
    /// field, the names of the fields in the record, and advice. `file` is the index of the file, and `byte` is the
    /// offset of the record in it.
    #[must_use]
    pub fn lack_of_text(&self, file: usize, byte: u64) -> String {
        let lack =
            lack_of_text(self.text_field(), &self.fields_at(file, byte), self.text_setting());
        lack + self.advice_on_header(file)
    }

    /// Returns advice, as the end of a sentence, for a text table whose first row may be a document and not the names
    /// of the columns. Returns an empty text for all other files.
    #[must_use]
    pub fn advice_on_header(&self, file: usize) -> &'static str {
        let dialect = self.recognize(file).ok().and_then(|recognized| recognized.dialect);
        if dialect.is_some_and(|dialect| dialect.has_header) {
            ", or use `no_header` if the first row is a document and not the names of the columns"
        } else {
            ""
        }
    }

    /// Returns a list of the fields of a record as the end of a message, for example "there are: id, body". `file` is
    /// the index of the file, and `byte` is the offset of the record in it.
    #[must_use]
    pub fn fields_at(&self, file: usize, byte: u64) -> String {
        listed(self.names_at(file, byte))
    }

    /// Returns the names of the fields of the record at offset `byte` of the file with index `file`. If the file is a
    /// table, returns the names of its columns.
    fn names_at(&self, file: usize, byte: u64) -> Vec<String> {
        let mut of_file = (0..self.shard_count()).filter(|&shard| self.shard_file(shard) == file);
        let Ok(recognized) = self.recognize(file) else { return Vec::new() };
        let Some(FieldNames::InEachRecord(names_of)) = field_names(recognized) else {
            return of_file.next().map_or_else(Vec::new, |shard| self.names_of(file, shard));
        };
        let mut names = Vec::new();
        let Some(shard) = of_file.find(|&shard| self.may_hold(shard, byte)) else {
            return names;
        };
        let visit: &mut Visit<'_> = &mut |event| {
            let Event::Record(record) = event else { return Ok(ControlFlow::Continue(())) };
            if record.byte < byte {
                return Ok(ControlFlow::Continue(()));
            }
            names = names_of(record.bytes);
            Ok(ControlFlow::Break(()))
        };
        // The faults of the file were reported when it was read for its documents.
        drop(self.read_shard(shard, visit));
        names
    }

    /// Returns the names of the fields in the first records of the file with index `file`. `shard` is the index of the
    /// first shard of this file.
    pub(crate) fn names_of(&self, file: usize, shard: usize) -> Vec<String> {
        let Ok(recognized) = self.recognize(file) else { return Vec::new() };
        if let Reader::Table(table) = recognized.format.reader() {
            let source = self.files[file].open();
            return source.map_or_else(|_| Vec::new(), |source| table.column_names(&source));
        }
        let Some(source) = field_names(recognized) else { return Vec::new() };
        let is_header = matches!(source, FieldNames::InHeader(_));
        let mut names = Vec::new();
        let mut records = 0;
        let visit: &mut Visit<'_> = &mut |event| {
            let Event::Record(record) = event else { return Ok(ControlFlow::Continue(())) };
            let found = match source {
                FieldNames::Nowhere => Vec::new(),
                FieldNames::InEachRecord(names_of) => names_of(record.bytes),
                FieldNames::InHeader(names_of) => recognized
                    .dialect
                    .map_or_else(Vec::new, |dialect| names_of(dialect, record.bytes)),
            };
            records += 1;
            // The first row of a table that is not blank is its header.
            let is_enough = records == MOST_RECORDS || (is_header && !found.is_empty());
            for name in found {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        // The faults of the file were reported when it was read for its documents.
        drop(self.read_shard(shard, visit));
        names
    }
}

/// Returns where a file of the recognized format names its fields, or `None` if the format has no field names.
fn field_names(recognized: Recognized) -> Option<FieldNames> {
    match recognized.format.byte_reader().ok()?.field_names() {
        FieldNames::Nowhere => None,
        source => Some(source),
    }
}

#[cfg(test)]
#[cfg(feature = "parquet")]
mod tests {
    use crate::documents::walk::InputFile;
    use crate::documents::{Collection, ReadOptions};

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
        let json = b"\n{\n{\"z\": {\"b\": 1}, \"a\": 1}\n{\"c\\n\": {}, \"a\": [2], \"m\": [{\"x\": 1}]}\n";
        assert_eq!(names(&[("a.jsonl", json)]), ["z.b", "a", "c\n", "m[].x"]);
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
    fn a_table_that_lacks_the_column_of_the_text_may_lack_its_header() {
        let folder = tempfile::tempdir().unwrap();
        let lack = |name: &str, content: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            Collection::open(vec![InputFile::new(path)], ReadOptions::default()).lack_of_text(0, 0)
        };
        let message = lack("a.csv", "1,plain words\n2,more words\n");
        assert!(message.contains("or use `no_header` if the first row is a document"), "{message}");
        assert!(!lack("a.jsonl", "{\"body\": \"x\"}\n").contains("no_header"));
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
