//! Recognizes compression and format of files, by content and then by name.

use crate::form_feed::without_byte_order_mark;
use crate::format::{Format, Head};
use simtool_model::compression::Compression;
use std::path::Path;

/// Number of bytes at the start of the content from which the format is recognized.
pub(super) const SNIFFED_BYTES: usize = 256 << 10;

/// Returns the compression of a file whose first bytes are `head`.
pub(super) fn compression(head: &[u8]) -> Compression {
    match head {
        [0x1F, 0x8B, ..] => Compression::Gzip,
        // The magic bytes of a Zstandard frame, or of a skippable frame.
        [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Compression::Zstd,
        _ => Compression::None,
    }
}

/// Returns the compression that belongs to the extension of a file's name, such as gzip for `.gz`.
pub(super) fn promised_compression(name: &Path) -> Compression {
    match extension(name).as_str() {
        "gz" | "gzip" | "tgz" => Compression::Gzip,
        "zst" | "zstd" => Compression::Zstd,
        _ => Compression::None,
    }
}

/// First bytes of binary files that cannot be read, and descriptions of these files for messages.
const BINARY: [(&[u8], &str); 15] = [
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
    (b"FEA1", "a Feather file of version 1; write it again as version 2 (Arrow IPC)"),
    (b"SQLite format 3", "an SQLite database"),
    (b"filedesc:", "an ARC file, the format before WARC"),
];

/// Byte offset at which a tar archive contains the text `ustar`.
const TAR_MARK_AT: usize = 257;

/// Recognizes the format of the file called `name`. `head` is the start of its decompressed
/// content, or the whole content if `whole` is set.
///
/// # Errors
///
/// The file has no format that can be read. The error describes the file, for example "is a ZIP
/// archive".
pub(super) fn format(head: &[u8], whole: bool, name: &Path) -> Result<Format, String> {
    if let Some(format) = Format::all().find(|format| format.has_magic(head)) {
        return Ok(format);
    }
    // Binary files would pass as text with strange words. A message that names the kind of the file
    // helps more than a document of noise.
    if let Some((_, kind)) = BINARY.iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(format!("is {kind}"));
    }
    if head.get(TAR_MARK_AT..).is_some_and(|rest| rest.starts_with(b"ustar")) {
        return Err("is a tar archive".to_owned());
    }
    let named = named(name);
    let head = Head { text: without_byte_order_mark(head), is_whole: whole, named };
    // Content decides before the name, because names of downloads are often wrong.
    match Format::all().find(|format| format.looks_like(&head)).or(named) {
        Some(format) => Ok(format),
        None if head.has_zero_bytes() => Err("holds zero bytes".to_owned()),
        None => Ok(Format::TEXT),
    }
}

/// Returns the format that belongs to the extension of a file's name, such as JSON Lines for
/// `.jsonl` and `.jsonl.gz`.
pub(super) fn named(name: &Path) -> Option<Format> {
    let inner = match promised_compression(name) {
        Compression::None => extension(name),
        _ => extension(Path::new(name.file_stem()?)),
    };
    Format::from_extension(&inner)
}

fn extension(name: &Path) -> String {
    name.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, content: &str, expected: Result<&str, &str>) {
        let found = format(content.as_bytes(), true, Path::new(name)).map(Format::name);
        assert_eq!(found, expected.map_err(str::to_owned), "{name}: {content:?}");
    }

    #[test]
    fn content_goes_before_the_name() {
        check("a.txt", "{\"text\": 1}", Ok("jsonl"));
        check("a", " {\n}", Ok("jsonl"));
        check("a", "[\n{\"text\": 1}]", Ok("jsonl"));
        check("a.txt", "[{\"text\": 1}]", Ok("text"));
        check("a.txt", "WARC/1.0\r\n", Ok("warc"));
        check("a.jsonl", "PAR1...", Ok("parquet"));
        check("a.txt", "PK\u{3}\u{4}", Err("is a ZIP archive"));
        let twice = format(b"\x1F\x8B\x08", true, Path::new("a.gz"));
        assert_eq!(twice, Err("is compressed twice".to_owned()));
        check("a.tar", &format!("{:\0<257}ustar\0", "name.jsonl"), Err("is a tar archive"));
        check("a", "a\0b", Err("holds zero bytes"));
        check("a.txt", "a\0b", Ok("text"));
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

    #[test]
    fn magic_bytes_tell_the_compression() {
        assert_eq!(compression(&[0x1F, 0x8B, 8]), Compression::Gzip);
        assert_eq!(compression(&[0x28, 0xB5, 0x2F, 0xFD]), Compression::Zstd);
        assert_eq!(compression(&[0x51, 0x2A, 0x4D, 0x18]), Compression::Zstd);
        assert_eq!(compression(b"WARC"), Compression::None);
    }
}
