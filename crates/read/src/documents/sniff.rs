//! Recognizes the compression and format of a file from its content, and then from its name.

use crate::bytes::{begins_page, is_utf8_so_far, is_utf16, without_byte_order_mark};
use crate::documents::ReadOptions;
use crate::documents::dumps;
use crate::documents::foreign_file::{self, ForeignKind};
use crate::formats::{Format, Head, TextSplit};
use simtool_model::compression::Compression;
use std::path::Path;

/// Returns the compression that the extension of a file's name stands for, such as gzip for `.gz`.
pub(crate) fn promised_compression(name: &Path) -> Compression {
    let extension = extension(name);
    let promises = |kind: &Compression| kind.extensions().contains(&&*extension);
    Compression::ALL.into_iter().find(promises).unwrap_or(Compression::None)
}

/// Recognizes the format of the file `name`. `head` is the start of its content. `whole` means that `head` is the whole
/// content.
///
/// # Errors
///
/// simtool cannot read the file. The error is the kind of the file.
pub(crate) fn format(head: &[u8], whole: bool, name: &Path) -> Result<Format, ForeignKind> {
    if let Some(format) = Format::all().find(|format| format.has_magic(head)) {
        return Ok(format);
    }
    let named = named(name);
    if head.starts_with(b"\xFF\xFE\0\0") {
        return Err(foreign_file::UTF32);
    }
    if is_utf16(head) {
        let start = &head[..head.len().min(8 << 10)];
        let (start, _, _) = encoding_rs::UTF_8.decode(start);
        if let Some(kind) = dumps::kind_of(start.as_bytes(), &inner_extension(name)) {
            return Err(kind);
        }
        // The reader of XML refuses UTF-16, so that the file is not one text with all its tags.
        if Format::XML.looks_like(&Head { text: start.as_bytes(), is_whole: whole, named }) {
            return Ok(Format::XML);
        }
        let by_content = if begins_page(start.as_bytes()) { Format::HTML } else { Format::TEXT };
        return Ok(named.unwrap_or(by_content));
    }
    let text = without_byte_order_mark(head);
    if let Some(kind) = foreign_file::kind_of(text, named) {
        return Err(kind);
    }
    if extension(name) == "br" && !is_utf8_so_far(head) {
        return Err(foreign_file::BROTLI);
    }
    if let Some(kind) = dumps::kind_of(text, &inner_extension(name)) {
        return Err(kind);
    }
    let head = Head { text, is_whole: whole, named };
    // Content decides before the name, because names of downloads are often wrong.
    match Format::all().find(|format| format.looks_like(&head)).or(named) {
        Some(format) => Ok(format),
        None if head.has_zero_bytes() => Err(foreign_file::BINARY),
        None => Ok(Format::TEXT),
    }
}

/// Returns the format in which a file is read: the format in the options, or else the recognized format. `head`,
/// `whole` and `name` are as in [`format()`].
///
/// # Errors
///
/// simtool cannot read the file. The error is the kind of the file.
pub(crate) fn chosen(
    options: &ReadOptions,
    head: &[u8],
    whole: bool,
    name: &Path,
) -> Result<Format, ForeignKind> {
    let mut chosen = match options.format {
        Some(format) => format,
        None => format(head, whole, name)?,
    };
    // Lines or blocks of pages are texts, unless the name says that the file is a page.
    let is_by_content = options.format.is_none() && named(name) != Some(chosen);
    if options.split != TextSplit::File && chosen == Format::HTML && is_by_content {
        chosen = Format::TEXT;
    }
    let chosen = chosen.with_split(options.split);
    // Only the readers of texts and of pages decode UTF-16.
    if is_utf16(head) && !chosen.is_one_document() && !chosen.is_table() {
        return Err(foreign_file::UTF16);
    }
    Ok(chosen)
}

/// Returns the format that the extension of a file's name stands for, such as JSON Lines for `.jsonl` and `.jsonl.gz`.
/// Returns `None` if no format has this extension.
pub(crate) fn named(name: &Path) -> Option<Format> {
    Format::from_extension(&inner_extension(name))
}

/// Returns the extension of a file's name in lower case and without the extension of a compression, such as `jsonl` for
/// `a.jsonl.gz`.
fn inner_extension(name: &Path) -> String {
    match promised_compression(name) {
        Compression::None => extension(name),
        _ => name.file_stem().map_or_else(String::new, |stem| extension(Path::new(stem))),
    }
}

/// Returns whether the name of a file contains the name of CC-100 or OSCAR. In the texts of these collections, blank
/// lines separate documents.
pub(crate) fn is_name_of_blocks(name: &Path) -> bool {
    let file = name.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    ["cc100", "cc-100", "oscar"].iter().any(|known| file.contains(known))
}

fn extension(name: &Path) -> String {
    name.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, content: &str, expected: Result<&str, &str>) {
        let found = format(content.as_bytes(), true, Path::new(name));
        let found = found.map(Format::name).map_err(|kind| kind.description);
        assert_eq!(found, expected, "{name}: {content:?}");
    }

    #[test]
    fn content_goes_before_the_name() {
        check("a.txt", "{\"text\": 1}", Ok("jsonl"));
        check("a", " {\n}", Ok("json"));
        check("a", "[\n{\"text\": 1}]", Ok("json"));
        check("a.jsonl", "[{\"text\": 1}]", Ok("json"));
        check("a.json", "{\"text\": 1}\n", Ok("jsonl"));
        check("a.json", "damaged\n{\"text\": 1}\n", Ok("jsonl"));
        check("a.json", "no JSON", Ok("json"));
        check("a.json", "[1,\n2]", Ok("json"));
        check("a.txt", "{\n  \"text\": 1\n}", Ok("json"));
        check("a.txt", "[{\"text\": 1}]", Ok("text"));
        check("a.txt", "WARC/1.0\r\n", Ok("warc"));
        check("a.jsonl", "PAR1...", Ok("parquet"));
        check("a.txt", "PK\u{3}\u{4}", Err("a ZIP archive, an office document or an e-book"));
        let twice = format(b"\x1F\x8B\x08", true, Path::new("a.gz"));
        assert_eq!(twice.unwrap_err().description, "compressed twice");
        check("a.tar", &format!("{:\0<257}ustar\0", "name.jsonl"), Err("a tar archive"));
        check("a", "a\0b", Err(foreign_file::BINARY.description));
        check("a.txt", "a\0b", Ok("text"));
        check("a", "<!DOCTYPE html>", Ok("html"));
        check("a.txt", "<!DOCTYPE html>", Ok("html"));
        check("a.html", "plain words", Ok("html"));
        let xhtml = "<?xml version='1.0'?>\n<html>";
        check("a.xml", xhtml, Ok("html"));
        check("a.xml.bz2", "<mediawiki>", Ok("xml"));
        check("a.rss", "<rss>", Ok("xml"));
        check("a", "<mediawiki xmlns=\"x\">", Ok("xml"));
        check("a", "<mediawiki>", Ok("text"));
        check("a.txt", "<?xml version=\"1.0\"?>\n<records>", Ok("xml"));
        check("a.xml", "plain words", Ok("xml"));
        check("a.txt", "TY  - JOUR", Err("a list of references in RIS"));
        check("a.html", "<?xml version='1.0'?><div>", Ok("html"));
        check("a.jsonl.br", "{\"text\": 1}", Ok("jsonl"));
        let packed = format(b"\x0B\x02\x80ab\xFF", true, Path::new("a.jsonl.br"));
        assert_eq!(packed, Err(foreign_file::BROTLI));
        let utf16: Vec<u8> = "\u{FEFF}<html>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(format(&utf16, true, Path::new("a")).map(Format::name), Ok("html"));
        assert_eq!(format(b"\xFF\xFE\0\0a\0\0\0", true, Path::new("a")), Err(foreign_file::UTF32));
        let per_line = ReadOptions { split: TextSplit::Lines, ..ReadOptions::default() };
        let chosen = |head: &[u8], name: &str| {
            let found = chosen(&per_line, head, true, Path::new(name));
            found.map(Format::name).map_err(|kind| kind.description)
        };
        assert_eq!(chosen(b"<html>\n<html>\n", "a.txt"), Ok("lines"));
        assert_eq!(chosen(b"<html>\n<html>\n", "a.html"), Ok("html"));
        assert_eq!(chosen(&utf16[..2], "a.txt"), Err(foreign_file::UTF16.description));
    }

    #[test]
    fn names_decide_where_content_does_not() {
        check("a.jsonl.gz", "[]", Ok("jsonl"));
        check("a.csv", "id,text\n", Ok("csv"));
        check("a.TSV.zst", "id\ttext\n", Ok("tsv"));
        check("a", "plain words", Ok("text"));
        check("gz", "plain words", Ok("text"));
    }

    #[test]
    fn form_feed_text_has_ids() {
        check("a", "id-1\r\nsome text\r\n\x0C\r\nid-2\r\nmore text", Ok("form-feed"));
        check("a", "\u{FEFF}id-1\n\x0C", Ok("form-feed"));
        check("a", "a page of text\nand more\x0Canother page", Ok("text"));
        check("a", "id-1\ntext", Ok("text"));
        check("a", "\x0C\n", Ok("text"));
        let cut =
            format(b"id-1\nx\x0Cid-2 and what is cut", false, Path::new("a")).map(Format::name);
        assert_eq!(cut, Ok("form-feed"));
    }
}
