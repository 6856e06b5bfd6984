//! Tells compression and format, by content and then by name.

use crate::form_feed::{FORM_FEED, is_white_space, without_byte_order_mark};
use simtool_model::input_format::{Compression, Format};
use std::path::Path;

/// How many bytes of content are looked at.
pub(super) const SNIFFED_BYTES: usize = 256 << 10;

/// How the file is packed, by its first bytes.
pub(super) fn compression(head: &[u8]) -> Compression {
    match head {
        [0x1F, 0x8B, ..] => Compression::Gzip,
        // A frame, or a skippable one.
        [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Compression::Zstd,
        _ => Compression::None,
    }
}

/// The compression that a name promises.
pub(super) fn promised_compression(name: &Path) -> Compression {
    match extension(name).as_str() {
        "gz" | "gzip" | "tgz" => Compression::Gzip,
        "zst" | "zstd" => Compression::Zstd,
        _ => Compression::None,
    }
}

/// Magic bytes of files that hold no text.
const BINARY: [(&[u8], &str); 14] = [
    (b"PK\x03\x04", "a ZIP archive"),
    (b"%PDF-", "a PDF document"),
    (b"\x7FELF", "a program"),
    (b"\x89PNG", "a PNG image"),
    (b"GIF8", "a GIF image"),
    (b"\xFF\xD8\xFF", "a JPEG image"),
    (b"BZh", "bzip2, which is not read"),
    (b"\xFD7zXZ", "xz, which is not read"),
    (b"7z\xBC\xAF", "a 7-Zip archive"),
    (b"\x04\x22\x4D\x18", "LZ4, which is not read"),
    (b"\x1F\x8B", "compressed twice"),
    (b"\x28\xB5\x2F\xFD", "compressed twice"),
    (b"SQLite format 3", "an SQLite database"),
    (b"filedesc:", "an ARC file, the format before WARC"),
];

/// Where the mark of a tar archive stands.
const TAR_MARK_AT: usize = 257;

/// The format of content that begins with `head`; `whole` tells that nothing follows.
///
/// # Errors
///
/// What the file is instead.
pub(super) fn format(head: &[u8], whole: bool, name: &Path) -> Result<Format, String> {
    if head.starts_with(b"PAR1") {
        return Ok(Format::Parquet);
    }
    let text = without_byte_order_mark(head);
    if text.starts_with(b"WARC/") {
        return Ok(Format::Warc);
    }
    if let Some((_, kind)) = BINARY.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(format!("is {kind}"));
    }
    if head.get(TAR_MARK_AT..).is_some_and(|rest| rest.starts_with(b"ustar")) {
        return Err("is a tar archive".to_owned());
    }
    let by_name = named(name);
    if let Some(format @ (Format::Csv | Format::Tsv)) = by_name {
        return Ok(format);
    }
    let is_array = by_name.is_none() && starts_with(text, [b"[", b"{"]);
    if starts_like_an_object(text) || is_array || by_name == Some(Format::JsonLines) {
        return Ok(Format::JsonLines);
    }
    if has_ids_behind_form_feeds(text, whole) {
        return Ok(Format::FormFeed);
    }
    match by_name {
        Some(format) => Ok(format),
        None if memchr::memchr(0, &head[..head.len().min(8 << 10)]).is_some() => {
            Err("holds zero bytes".to_owned())
        }
        None => Ok(Format::Text),
    }
}

/// The format that the name's ending means, behind a compression's.
pub(super) fn named(name: &Path) -> Option<Format> {
    let inner = match promised_compression(name) {
        Compression::None => extension(name),
        _ => extension(Path::new(name.file_stem()?)),
    };
    match inner.as_str() {
        "jsonl" | "ndjson" | "json" => Some(Format::JsonLines),
        "csv" => Some(Format::Csv),
        "tsv" | "tab" => Some(Format::Tsv),
        "warc" | "wet" | "wat" => Some(Format::Warc),
        "parquet" => Some(Format::Parquet),
        "txt" | "text" | "md" => Some(Format::Text),
        _ => None,
    }
}

fn extension(name: &Path) -> String {
    name.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// What JSON is that is no object a line, with the command that makes lines of it: an array, or
/// objects of several lines. They are not read: where a record begins cannot be told without all that
/// comes before it, so that no two threads could share a large file; and an array without some of its
/// elements is not its bytes without theirs.
pub(super) fn json_of_many_lines(
    head: &[u8],
    compression: Compression,
    name: &Path,
) -> Option<String> {
    let text = without_byte_order_mark(head).trim_ascii_start();
    let first_line = text.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    let (what, filter, large) = if starts_with(text, [b"[", b"{"]) {
        let large = "; if memory is short for that, jq -cn --stream \
                     'fromstream(1|truncate_stream(inputs))' instead of jq -c '.[]'";
        ("one JSON array", "'.[]'", large)
    } else if first_line == b"{" && starts_with(text, [b"{", b"\""]) {
        ("JSON of several lines an object", ".", "")
    } else {
        return None;
    };
    let name = name.to_string_lossy();
    let input = quoted_for_shell(&name);
    let stem = match compression {
        Compression::None => &*name,
        Compression::Gzip | Compression::Zstd => name.rsplit_once('.').map_or(&*name, |n| n.0),
    };
    let output = quoted_for_shell(&format!("{}.jsonl", stem.strip_suffix(".json").unwrap_or(stem)));
    let command = match compression {
        _ if &*name == "-" => {
            format!("put jq -c {filter} in front, as in … | jq -c {filter} | simtool …")
        }
        Compression::None => format!("jq -c {filter} {input} > {output}"),
        Compression::Gzip => format!("gzip -dc {input} | jq -c {filter} > {output}"),
        Compression::Zstd => format!("zstd -dc {input} | jq -c {filter} > {output}"),
    };
    Some(format!("is {what}, and read is a JSON object a line: {command}{large}"))
}

/// A word of a command.
fn quoted_for_shell(word: &str) -> String {
    if word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c)) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Whether the first two bytes that are not white space are these.
fn starts_with(text: &[u8], first: [&[u8; 1]; 2]) -> bool {
    let bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    bytes.take(2).eq(first.into_iter().flatten())
}

/// An opening brace and a key or the closing brace.
fn starts_like_an_object(text: &[u8]) -> bool {
    starts_with(text, [b"{", b"\""]) || starts_with(text, [b"{", b"}"])
}

/// Whether there are form feeds and the first line of each part is one token, as far as is seen.
fn has_ids_behind_form_feeds(text: &[u8], whole: bool) -> bool {
    let mut parts = text.split(|&byte| byte == FORM_FEED).peekable();
    let (mut ids, mut separators) = (0, 0);
    while let Some(part) = parts.next() {
        let complete = parts.peek().is_some();
        separators += usize::from(complete);
        let Some(start) = part.iter().position(|&byte| !is_white_space(byte)) else { continue };
        let part = &part[start..];
        let line = match memchr::memchr(b'\n', part) {
            Some(end) => &part[..end],
            None if complete || whole => part,
            // The line is cut off.
            None => continue,
        };
        let tokens = line.split(|&byte| is_white_space(byte)).filter(|token| !token.is_empty());
        if tokens.count() != 1 {
            return false;
        }
        ids += 1;
    }
    separators > 0 && ids > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, content: &str, expected: Result<Format, &str>) {
        let found = format(content.as_bytes(), true, Path::new(name));
        assert_eq!(found, expected.map_err(str::to_owned), "{name}: {content:?}");
    }

    #[test]
    fn content_goes_before_the_name() {
        check("a.txt", "{\"text\": 1}", Ok(Format::JsonLines));
        check("a", " {\n}", Ok(Format::JsonLines));
        check("a", "[\n{\"text\": 1}]", Ok(Format::JsonLines));
        check("a.txt", "[{\"text\": 1}]", Ok(Format::Text));
        check("a.txt", "WARC/1.0\r\n", Ok(Format::Warc));
        check("a.jsonl", "PAR1...", Ok(Format::Parquet));
        check("a.txt", "PK\u{3}\u{4}", Err("is a ZIP archive"));
        let twice = format(b"\x1F\x8B\x08", true, Path::new("a.gz"));
        assert_eq!(twice, Err("is compressed twice".to_owned()));
        check("a.tar", &format!("{:\0<257}ustar\0", "name.jsonl"), Err("is a tar archive"));
        check("a", "a\0b", Err("holds zero bytes"));
        check("a.txt", "a\0b", Ok(Format::Text));
    }

    #[test]
    fn json_that_is_no_lines_gets_a_command() {
        let told = |name: &str, content: &str, compression| {
            json_of_many_lines(content.as_bytes(), compression, Path::new(name))
        };
        let array = told("in/a.json", " [\n  {", Compression::None).unwrap();
        let command = "is one JSON array, and read is a JSON object a line: \
                       jq -c '.[]' in/a.json > in/a.jsonl; if memory";
        assert!(array.starts_with(command), "{array}");
        let pretty = told("it's.json.gz", "\u{feff}{\r\n  \"text\": 1", Compression::Gzip).unwrap();
        let command = r"gzip -dc 'it'\''s.json.gz' | jq -c . > 'it'\''s.jsonl'";
        assert!(pretty.ends_with(command), "{pretty}");
        let piped = told("-", "[{", Compression::None).unwrap();
        assert!(piped.contains("as in … | jq -c '.[]' | simtool …; if"), "{piped}");
        for lines in ["{\"a\":\n", "{\n{\"a\": 1}\n", "{\n}", "[]", "[1]", "", "{"] {
            assert_eq!(told("a.json", lines, Compression::None), None, "{lines}");
        }
    }

    #[test]
    fn names_decide_where_content_does_not() {
        check("a.jsonl.gz", "[]", Ok(Format::JsonLines));
        check("a.csv", "id,text\n", Ok(Format::Csv));
        check("a.TSV.zst", "id\ttext\n", Ok(Format::Tsv));
        check("a", "plain words", Ok(Format::Text));
        check("gz", "plain words", Ok(Format::Text));
    }

    #[test]
    fn form_feed_text_has_ids() {
        check("a", "id-1\r\nsome text\r\n\x0C\r\nid-2\r\nmore text", Ok(Format::FormFeed));
        check("a", "\u{FEFF}id-1\n\x0C", Ok(Format::FormFeed));
        check("a", "a page of text\nand more\x0Canother page", Ok(Format::Text));
        check("a", "id-1\ntext", Ok(Format::Text));
        check("a", "\x0C\n", Ok(Format::Text));
        let cut = format(b"id-1\nx\x0Cid-2 and what is cut", false, Path::new("a"));
        assert_eq!(cut, Ok(Format::FormFeed));
    }

    #[test]
    fn magic_bytes_tell_the_compression() {
        assert_eq!(compression(&[0x1F, 0x8B, 8]), Compression::Gzip);
        assert_eq!(compression(&[0x28, 0xB5, 0x2F, 0xFD]), Compression::Zstd);
        assert_eq!(compression(&[0x51, 0x2A, 0x4D, 0x18]), Compression::Zstd);
        assert_eq!(compression(b"WARC"), Compression::None);
    }
}
