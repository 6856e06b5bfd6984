//! Fields that copies of files have in addition to the fields of the input.

use crate::formats::Dialect;
use simtool_base::byte_text::byte_text;
use simtool_base::json_text::write_string;
use std::fmt;
use std::io::{self, Write};

/// Name and type of a field that a copy adds to each record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddedField {
    /// Name of the field, which the records of the input do not have.
    pub name: String,
    /// Type of the values. A table gets a new column of this type.
    pub kind: AddedKind,
}

/// Type of the values of an added field. Each value may also be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddedKind {
    /// A text, or the ID of a document.
    Text,
    /// A number of up to 63 bits.
    Number,
    /// `true` or `false`.
    Flag,
    /// A floating-point number, such as a similarity.
    Ratio,
}

/// Value of an added field for one record.
#[derive(Clone, Debug, PartialEq)]
pub enum AddedValue {
    /// No value.
    Missing,
    /// A text.
    Text(Vec<u8>),
    /// The digits of a number that is the ID of a document. JSON files get it as a number, and tables as a text.
    Digits(Vec<u8>),
    /// A number of up to 63 bits.
    Number(u64),
    /// `true` or `false`.
    Flag(bool),
    /// A floating-point number, such as a similarity.
    Ratio(f64),
}

impl AddedValue {
    /// Writes the value as JSON.
    pub(crate) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Missing => out.write_all(b"null"),
            Self::Text(text) => write_string(out, text),
            Self::Digits(digits) => out.write_all(digits),
            Self::Number(number) => write!(out, "{number}"),
            Self::Flag(flag) => write!(out, "{flag}"),
            // `Display` writes the shortest decimal that reads back as the same number.
            Self::Ratio(ratio) => write!(out, "{ratio}"),
        }
    }

    /// Returns the value as UTF-8 text, which is empty for a missing value.
    pub(crate) fn text(&self) -> Vec<u8> {
        match self {
            Self::Missing => Vec::new(),
            Self::Text(bytes) | Self::Digits(bytes) => byte_text(bytes).into_owned().into_bytes(),
            Self::Number(number) => number.to_string().into_bytes(),
            Self::Flag(flag) => flag.to_string().into_bytes(),
            Self::Ratio(ratio) => ratio.to_string().into_bytes(),
        }
    }
}

/// Fields that a copy adds to the records of a file, and their values.
#[derive(Clone, Copy)]
pub struct AddedFields<'a, K> {
    /// Names and types of the fields, in the order in which they are added.
    pub fields: &'a [AddedField],
    /// Function that returns the values of all fields for one record, in the order of `fields`. Its argument identifies
    /// the record. It returns `None` if the record was not compared, so that it has no values.
    pub values: &'a (dyn Fn(K) -> Option<Vec<AddedValue>> + Sync),
}

/// A record of the input, and the fields that are added to it in a copy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AddedRecord<'a> {
    /// The bytes of the record in the input.
    pub(crate) record: &'a [u8],
    /// Names and types of the added fields.
    pub(crate) fields: &'a [AddedField],
    /// Values of the added fields. `None` if the bytes are not a record. They may be the row with the names of the
    /// columns.
    pub(crate) values: Option<&'a [AddedValue]>,
    /// Whether the record is bad. A bad record may not have the structure that its format requires.
    pub(crate) is_bad: bool,
    /// Dialect of the file if it is a text table.
    pub(crate) dialect: Option<Dialect>,
}

impl<K> fmt::Debug for AddedFields<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddedFields").field("fields", &self.fields).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{Collection, Corpus, ReadOptions};
    use crate::formats::Event;
    use std::ops::ControlFlow;

    /// Returns the copy of a file in which each record has the fields `new` and `id`, with the values `value` and 7.
    fn extended(name: &str, content: &str, value: &AddedValue) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let collection = Collection::of_paths(&[&path], ReadOptions::default()).unwrap();
        let field = |name: &str, kind| AddedField { name: name.to_owned(), kind };
        let fields = [field("new", AddedKind::Text), field("id_2", AddedKind::Number)];
        let values = [value.clone(), AddedValue::Number(7)];
        let mut copy = Vec::new();
        let mut visit = |event: Event<'_>| {
            if let Event::Record(record) = event {
                let added = collection.record_with_fields(0, &record, &fields, &values);
                copy.extend_from_slice(added.as_deref().unwrap_or(record.bytes));
            }
            Ok(ControlFlow::Continue(()))
        };
        collection.read_shard(0, &mut visit).unwrap();
        String::from_utf8(copy).unwrap()
    }

    #[test]
    fn objects_get_fields_behind_their_own() {
        let text = AddedValue::Text(b"a \"b\"\n\xff".to_vec());
        for (content, expected) in [
            (
                "{\"text\":\"x\"}\n",
                "{\"text\":\"x\",\"new\":\"a \\\"b\\\"\\n\\\\xff\",\"id_2\":7}\n",
            ),
            ("{\"text\":\"x\", \"new\": 1}\n", "{\"text\":\"x\", \"new\": 1}\n"),
            (
                "{\"text\":\"x\",\"n\":NaN} \r\n",
                "{\"text\":\"x\",\"n\":NaN,\"new\":\"a \\\"b\\\"\\n\\\\xff\",\"id_2\":7} \r\n",
            ),
            ("{}\nno object\n", "{}\nno object\n"),
        ] {
            assert_eq!(extended("a.jsonl", content, &text), expected);
        }
        let digits = AddedValue::Digits(b"1.50".to_vec());
        let array = "[{\"text\":\"x\"},\n{\"text\": \"}\"}]";
        let expected = "[{\"text\":\"x\",\"new\":1.50,\"id_2\":7},\n{\"text\": \"}\",\"new\":1.50,\"id_2\":7}]";
        assert_eq!(extended("a.json", array, &digits), expected);
    }

    #[test]
    fn rows_get_columns_that_fit_their_dialect() {
        let text = AddedValue::Text(b"b\xffad.txt".to_vec());
        assert_eq!(extended("a.csv", "text\nx\n", &text), "text,new,id_2\nx,b\\xffad.txt,7\n");
        let text = AddedValue::Text(b"a;\"b\"\n".to_vec());
        for (name, content, expected) in [
            (
                "a.csv",
                "text;n\nx;1\n\ny;2",
                "text;n;new;id_2\nx;1;\"a;\"\"b\"\"\n\";7\n\ny;2;\"a;\"\"b\"\"\n\";7",
            ),
            (
                "a.csv",
                "sep=,\r\ntext,n\r\nx,1\r\n",
                "sep=,\r\ntext,n,new,id_2\r\nx,1,\"a;\"\"b\"\"\n\",7\r\n",
            ),
        ] {
            assert_eq!(extended(name, content, &text), expected);
        }
        assert_eq!(
            extended("a.csv", "text,n\nx,1\n", &AddedValue::Missing),
            "text,n,new,id_2\nx,1,,7\n"
        );
    }

    #[test]
    fn bad_rows_get_empty_columns() {
        for (content, expected) in [
            ("text,n\nx,1,2\ny,3\n", "text,n,new,id_2\nx,1,2,,\ny,3,true,7\n"),
            ("text,n\nw,1\nx\ny,3\n", "text,n,new,id_2\nw,1,,\nx,,\ny,3,true,7\n"),
            ("m,n\r\nx,\"1\r\n2\"\r\n", "m,n,new,id_2\r\nx,\"1\r\n2\",,\r\n"),
            // The lines of a row that is not closed as it should be may be inside quotes.
            (
                "text,n\n\"x\n,\ny,3\n\"z,4\ny,5\n",
                "text,n,new,id_2\n\"x\n,\ny,3\n\"z,4\ny,5,true,7\n",
            ),
        ] {
            assert_eq!(extended("a.csv", content, &AddedValue::Flag(true)), expected);
        }
        assert_eq!(extended("a.jsonl", "{\"n\":1}\n", &AddedValue::Flag(true)), "{\"n\":1}\n");
    }

    #[test]
    fn records_of_other_formats_stay() {
        let mail = "From: a\nSubject: b\n\nSome text.\n";
        assert_eq!(extended("a.eml", mail, &AddedValue::Ratio(0.5)), mail);
        assert_eq!(extended("a.txt", "Some text.\n", &AddedValue::Ratio(0.5)), "Some text.\n");
    }
}
