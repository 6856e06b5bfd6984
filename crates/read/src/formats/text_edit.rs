//! Cuts parts out of the text of a document, for a copy of its record.

use crate::formats::{Dialect, Selector};
use std::borrow::Cow;
use std::ops::Range;

/// Parts to cut from the text of a document in a copy.
///
/// ```
/// use simtool_read::TextEdit;
///
/// let text = b"new words, old words, and new ones";
/// let edit = TextEdit { cuts: &[11..20], mask: Some("[...]") };
/// assert_eq!(edit.apply(text).unwrap(), b"new words, [...], and new ones");
/// let edit = TextEdit { mask: None, ..edit };
/// assert_eq!(edit.apply(text).unwrap(), b"new words, \n, and new ones");
/// assert!(edit.apply(b"another text").is_none());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TextEdit<'e> {
    /// Bytes of the text that are cut: ranges in ascending order that do not overlap, and that begin and end
    /// between two characters.
    pub cuts: &'e [Range<usize>],
    /// Text that replaces each cut. With `None`, a line feed is put between the texts before and after a cut. If a cut
    /// consists of whole lines, the line break after them is cut, too, and no line feed is put, so that no empty line
    /// remains.
    pub mask: Option<&'e str>,
}

impl TextEdit<'_> {
    /// Returns the edited text, or `None` if a cut lies beyond the end of `text`.
    #[must_use]
    pub fn apply(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.fits(text).then(|| self.edited_part(text, 0, b'\n').into_owned())
    }

    /// Returns whether all cuts lie within `text`.
    fn fits(&self, text: &[u8]) -> bool {
        self.cuts.last().is_none_or(|cut| cut.end <= text.len())
    }

    /// Returns the edited form of `part`, a part of the text that begins at byte `start` of the text. If there is no
    /// mask, the byte `joint` is put between the texts before and after a cut.
    pub(crate) fn edited_part<'p>(&self, part: &'p [u8], start: usize, joint: u8) -> Cow<'p, [u8]> {
        let end = start + part.len();
        // Cuts before this part concern other parts.
        let first = self.cuts.partition_point(|cut| cut.end <= start);
        let cuts = self.cuts[first..].iter().take_while(|cut| cut.start < end);
        let mut edited = Vec::new();
        let mut at = start;
        for cut in cuts {
            let cut_end = cut.end.min(end);
            // The line break before this cut may have gone with the last cut.
            let cut_start = cut.start.max(at);
            edited.extend_from_slice(&part[at - start..cut_start - start]);
            at = cut_end;
            match self.mask {
                // A cut over several parts is masked in the first of them.
                Some(mask) if cut.start >= start => edited.extend_from_slice(mask.as_bytes()),
                None if edited.last().is_none_or(|&byte| byte == b'\n') => {
                    at += line_break(&part[cut_end - start..]);
                }
                None if cut_end < end => edited.push(joint),
                Some(_) | None => {}
            }
        }
        if at == start && edited.is_empty() {
            return Cow::Borrowed(part);
        }
        edited.extend_from_slice(&part[at - start..]);
        Cow::Owned(edited)
    }
}

/// Returns the number of bytes of the line break at the start of `text`, or 0 if `text` does not begin with one.
fn line_break(text: &[u8]) -> usize {
    match text {
        [b'\r', b'\n', ..] => 2,
        [b'\n', ..] => 1,
        _ => 0,
    }
}

/// Record whose text is edited, and the options with which its file is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordEdit<'e> {
    /// The bytes of the record in the input.
    pub(crate) record: &'e [u8],
    /// Text of the document in the record.
    pub(crate) text: &'e [u8],
    pub(crate) edit: TextEdit<'e>,
    /// Fields or columns of the text.
    pub(crate) selector: &'e Selector,
    /// Dialect of the file if it is a text table.
    pub(crate) dialect: Option<Dialect>,
}

impl RecordEdit<'_> {
    /// Returns the range of bytes of the text in the record. Returns `None` if the bytes of the record do not contain
    /// the text, because it was decoded, or if a cut lies beyond the end of the text.
    pub(crate) fn place(&self) -> Option<Range<usize>> {
        let start = self.text.as_ptr().addr().checked_sub(self.record.as_ptr().addr())?;
        let place = start..start.checked_add(self.text.len())?;
        let is_there = self.record.get(place.clone()).is_some_and(|bytes| bytes == self.text);
        (is_there && self.edit.fits(self.text)).then_some(place)
    }

    /// Returns the record with the edited text. Returns `None` if the bytes of the record do not contain the text. If
    /// there is no mask, the byte `joint` is put between the texts before and after a cut.
    pub(crate) fn in_place(&self, joint: u8) -> Option<Vec<u8>> {
        let place = self.place()?;
        Some(self.replaced([(place, self.edit.edited_part(self.text, 0, joint))]))
    }

    /// Returns the record in which some ranges of bytes are replaced. `replacements` has these ranges in ascending
    /// order, each with the bytes that replace it.
    pub(crate) fn replaced<'r>(
        &self,
        replacements: impl IntoIterator<Item = (Range<usize>, Cow<'r, [u8]>)>,
    ) -> Vec<u8> {
        let mut edited = Vec::with_capacity(self.record.len());
        let mut at = 0;
        for (place, bytes) in replacements {
            edited.extend_from_slice(&self.record[at..place.start]);
            edited.extend_from_slice(&bytes);
            at = place.end;
        }
        edited.extend_from_slice(&self.record[at..]);
        edited
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{Collection, Corpus, ReadOptions};
    use crate::formats::Event;
    use simtool_model::document::Content;
    use std::ops::ControlFlow;

    /// Words that the tests cut wherever they occur.
    const OLD: &str = "old words";

    /// Returns the places of [`OLD`] in `text`.
    fn places(text: &[u8]) -> Vec<Range<usize>> {
        let found = memchr::memmem::find_iter(text, OLD);
        found.map(|start| start..start + OLD.len()).collect()
    }

    /// Returns the content of a file in which all texts are edited. `None` stands for a record that cannot be
    /// edited.
    fn edited(name: &str, content: &[u8], mask: Option<&str>) -> Option<String> {
        edited_with(name, content, mask, ReadOptions::default())
    }

    fn edited_with(
        name: &str,
        content: &[u8],
        mask: Option<&str>,
        options: ReadOptions,
    ) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let collection = Collection::of_paths(&[&path], options).unwrap();
        let mut copy = Some(Vec::new());
        // A record is copied as it is if nothing is cut from its text.
        let mut visit = |event: Event<'_>| {
            if let Event::Record(record) = event {
                let bytes = match record.content {
                    Content::Document(document) if !places(document.text).is_empty() => {
                        let cuts = &places(document.text);
                        collection.edited_record(0, &record, TextEdit { cuts, mask })
                    }
                    _ => Some(record.bytes.to_vec()),
                };
                copy = copy.take().zip(bytes).map(|(copy, bytes)| [copy, bytes].concat());
            }
            Ok(ControlFlow::Continue(()))
        };
        collection.read_shard(0, &mut visit).unwrap();
        copy.map(|copy| String::from_utf8(copy).unwrap())
    }

    #[test]
    fn texts_are_edited_in_every_format_of_bytes() {
        let cases = [
            ("a.txt", "\u{feff}new old words.\nend", "\u{feff}new \n.\nend", "new [x].\nend"),
            ("a.txt", "old words new old words", " new ", "[x] new [x]"),
            (
                "a.jsonl",
                "{\"id\": 1,  \"text\":\"\\u00fcnew old words\\n\\\"end\\\"\" , \"b\":[ 1e3 ]}\n\n{\"text\": \"none\"}\r\n",
                "{\"id\": 1,  \"text\":\"ünew \\n\\n\\\"end\\\"\" , \"b\":[ 1e3 ]}\n\n{\"text\": \"none\"}\r\n",
                "\"ünew [x]\\n\\\"end\\\"\" ,",
            ),
            (
                "nan.jsonl",
                "{\"a\": NaN, \"text\": \"new old words end\", \"b\": -Infinity}\n",
                "{\"a\": NaN, \"text\": \"new \\n end\", \"b\": -Infinity}\n",
                "NaN, \"text\": \"new [x] end\"",
            ),
            (
                "a.json",
                "[\n  {\"text\": \"old words first\", \"id\": 1},\n  {\"id\": 2, \"text\": \"second old words\"}\n]\n",
                "[\n  {\"text\": \" first\", \"id\": 1},\n  {\"id\": 2, \"text\": \"second \"}\n]\n",
                "{\"id\": 2, \"text\": \"second [x]\"}",
            ),
            (
                "a.csv",
                "id,text,more\n1,new old words,\"a, b\"\r\n2,\"new \"\"old words\"\" end\",c\r\n3,none,d\n",
                "id,text,more\n1,\"new \",\"a, b\"\r\n2,\"new \"\"\n\"\" end\",c\r\n3,none,d\n",
                "1,\"new [x]\",\"a, b\"\r\n2,\"new \"\"[x]\"\" end\",c\r\n",
            ),
            (
                "a.wet",
                "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Block-Digest: sha1:ABC\r\nContent-Length: 17\r\nX: y\r\n\r\nnew old words end\r\n\r\n",
                "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 9\r\nX: y\r\n\r\nnew \n end\r\n\r\n",
                "Content-Length: 11\r\nX: y\r\n\r\nnew [x] end\r\n\r\n",
            ),
        ];
        for (name, content, cut, masked) in cases {
            assert_eq!(edited(name, content.as_bytes(), None).unwrap(), cut, "{name}");
            let found = edited(name, content.as_bytes(), Some("[x]")).unwrap();
            assert!(found.contains(masked), "{name}: {found}");
        }
    }

    #[test]
    fn a_divided_text_stays_divided_in_the_same_way() {
        let lines = |split, content: &str| {
            let options = ReadOptions { split, ..ReadOptions::default() };
            edited_with("a.txt", content.as_bytes(), None, options).unwrap()
        };
        let text = "new old words end\nold words\nlast\n\nsecond\n";
        assert_eq!(lines(crate::TextSplit::Lines, text), "new   end\n\nlast\n\nsecond\n");
        assert_eq!(lines(crate::TextSplit::BlankLines, text), "new \n end\nlast\n\nsecond\n");
    }

    #[test]
    fn texts_of_several_fields_are_edited_in_each_field() {
        let options = ReadOptions { text_field: "a+b[]".into(), ..ReadOptions::default() };
        let line = "{\"b\": [\"old words\", \"x\"], \"a\": \"1 old words 2\"}\n";
        let found = edited_with("a.jsonl", line.as_bytes(), Some("[x]"), options).unwrap();
        assert_eq!(found, "{\"b\": [\"[x]\", \"x\"], \"a\": \"1 [x] 2\"}\n");
    }

    #[test]
    fn a_text_that_is_not_in_the_record_is_not_edited() {
        let page = b"<html><body><p>new <b>old</b> words old words</p></body></html>";
        let utf16: Vec<u8> =
            "\u{feff}new old words".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let half_a_pair = format!("{{\"text\": \"old words {}\\ud800\"}}", "x".repeat(200));
        let two_columns = b"text,copy\nold words,old words\n";
        let mail = b"From: a\r\nSubject: old words\r\n\r\nnew old words\r\n";
        // Both columns of the table have the text, so it is not known which one to edit.
        let cases: [(&str, &[u8]); 5] = [
            ("a.html", page),
            ("a.txt", &utf16),
            ("a.jsonl", half_a_pair.as_bytes()),
            ("a.csv", two_columns),
            ("a.eml", mail),
        ];
        for (name, content) in cases {
            assert_eq!(edited(name, content, None), None, "{name}");
        }
    }

    #[test]
    fn a_cut_of_whole_lines_takes_a_line_break_with_it() {
        for (text, expected) in [
            ("one\nold words\ntwo", "one\ntwo"),
            ("one\r\nold words\r\ntwo", "one\r\ntwo"),
            ("old words\ntwo", "two"),
            ("one\nold words", "one\n"),
            ("one\nold words\nold words\ntwo", "one\ntwo"),
            ("one\n\nold words\n\ntwo", "one\n\n\ntwo"),
            ("one\nold words two", "one\n two"),
            ("one old words\ntwo", "one \n\ntwo"),
        ] {
            let cuts = &places(text.as_bytes());
            let edited = TextEdit { cuts, mask: None }.apply(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(edited).unwrap(), expected, "{text}");
        }
        // The line break between two cuts is part of the second one.
        let edit = TextEdit { cuts: &[2..3, 3..5], mask: None };
        assert_eq!(edit.apply(b"a\nb\ncd").unwrap(), b"a\nd");
    }

    #[test]
    fn a_cut_over_several_parts_is_masked_once() {
        let edit = TextEdit { cuts: &[1..4, 5..6], mask: Some("#") };
        let parts = [(&b"ab"[..], 0), (b"de", 3), (b"gh", 6)];
        let parts = parts.map(|(part, start)| edit.edited_part(part, start, b'\n').into_owned());
        assert_eq!(parts, [&b"a#"[..], b"e", b"gh"]);
        assert_eq!(edit.edited_part(b"ghi", 5, b'\n'), &b"#hi"[..]);
    }
}
