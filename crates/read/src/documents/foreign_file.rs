//! Files that are not collections of documents: how simtool recognizes them, and which advice it gives.
//!
//! Most of these files would otherwise be read as text with strange words. A message that names their kind helps more
//! than a document of noise.

use crate::bytes::{begins_page, is_utf8_so_far};
use crate::formats::Format;

/// A kind of files that simtool cannot read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ForeignKind {
    /// Byte offset of `magic` in the file.
    at: usize,
    /// Bytes that all files of this kind have at offset `at`.
    magic: &'static [u8],
    /// Whether the file must also be binary, that is, have zero bytes or invalid UTF-8 at its start. This is for kinds
    /// whose `magic` can also begin a text.
    is_binary: bool,
    /// Description of such a file for messages, after the word "is".
    pub(crate) description: &'static str,
    /// Sentence about what the user can do with the file.
    pub(crate) advice: &'static str,
}

impl ForeignKind {
    const fn new(magic: &'static [u8], description: &'static str, advice: &'static str) -> Self {
        Self { at: 0, magic, is_binary: false, description, advice }
    }

    /// Creates a kind that is recognized by other rules than its first bytes.
    pub(crate) const fn described(description: &'static str, advice: &'static str) -> Self {
        Self::new(b"", description, advice)
    }
}

const EXPORT: &str = "Export its texts, for example as JSON Lines or Parquet";
const NO_TEXT: &str = "It has no text. Leave it out, for example with `glob`";
const UNPACK: &str = "Unpack it and name the folder";
const CONVERT: &str = "Convert it to Parquet or JSON Lines";
const ZLIB: &str = "a zlib stream, which lacks the header of gzip";
const UNPACK_ZLIB: &str = "Unpack it, for example with `python3 -c 'import sys, zlib; out = sys.stdout.buffer; \
     out.write(zlib.decompress(sys.stdin.buffer.read()))' < FILE > FILE.jsonl`";

/// The kinds of files that simtool cannot read, in the order in which a file is compared with them.
const KINDS: [ForeignKind; 29] = [
    ForeignKind::new(
        b"version https://git-lfs.github.com/spec/",
        "a pointer of Git LFS and not the data",
        "Fetch the data with `git lfs pull`",
    ),
    ForeignKind::new(
        b"PK\x03\x04",
        "a ZIP archive, an office document or an e-book",
        "Unpack an archive and name the folder. Convert a document to text, for example with \
         `pandoc -t plain FILE -o FILE.txt`",
    ),
    ForeignKind::new(b"PK\x05\x06", "an empty ZIP archive", UNPACK),
    ForeignKind::new(
        b"%PDF-",
        "a PDF document",
        "Convert it to text, for example with `pdftotext`",
    ),
    ForeignKind::new(
        b"%!PS",
        "a PostScript document",
        "Convert it to text, for example with `ps2ascii`",
    ),
    ForeignKind::new(b"{\\rtf", "a document in Rich Text Format", "Save it as text"),
    ForeignKind::new(
        b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1",
        "an office document of the older kind",
        "Save it as text",
    ),
    ForeignKind::new(b"Obj\x01", "an Avro file", CONVERT),
    ForeignKind { is_binary: true, ..ForeignKind::new(b"ORC", "an ORC file", CONVERT) },
    ForeignKind::new(b"SQLite format 3\0", "an SQLite database", EXPORT),
    ForeignKind::new(b"\x89HDF\r\n\x1A\n", "an HDF5 file", EXPORT),
    ForeignKind::new(b"\x93NUMPY", "an array of NumPy", EXPORT),
    ForeignKind {
        is_binary: true,
        ..ForeignKind::new(
            b"FEA1",
            "a Feather file of version 1",
            "Write it again as version 2 (Arrow IPC)",
        )
    },
    ForeignKind::new(
        b"filedesc://",
        "an ARC file, the format before WARC",
        "Convert it to WARC, for example with `warcio recompress`",
    ),
    ForeignKind::new(b"7z\xBC\xAF\x27\x1C", "a 7-Zip archive", UNPACK),
    ForeignKind { at: 257, is_binary: true, ..ForeignKind::new(b"ustar", "a tar archive", UNPACK) },
    ForeignKind::new(b"\x1F\x8B", "compressed twice", "Unpack it once"),
    ForeignKind::new(b"\x28\xB5\x2F\xFD", "compressed twice", "Unpack it once"),
    ForeignKind::new(b"\xFD7zXZ\0", "compressed twice", "Unpack it once"),
    ForeignKind::new(b"\x04\x22\x4D\x18", "compressed twice", "Unpack it once"),
    ForeignKind {
        is_binary: true,
        ..ForeignKind::new(b"BZh", "compressed twice", "Unpack it once")
    },
    ForeignKind { is_binary: true, ..ForeignKind::new(b"\x78\x01", ZLIB, UNPACK_ZLIB) },
    ForeignKind { is_binary: true, ..ForeignKind::new(b"\x78\x9C", ZLIB, UNPACK_ZLIB) },
    ForeignKind { is_binary: true, ..ForeignKind::new(b"\x78\xDA", ZLIB, UNPACK_ZLIB) },
    ForeignKind::new(b"\x7FELF", "a program", NO_TEXT),
    ForeignKind::new(b"\x89PNG\r\n", "a PNG image", NO_TEXT),
    ForeignKind { is_binary: true, ..ForeignKind::new(b"GIF87a", "a GIF image", NO_TEXT) },
    ForeignKind { is_binary: true, ..ForeignKind::new(b"GIF89a", "a GIF image", NO_TEXT) },
    ForeignKind::new(b"\xFF\xD8\xFF", "a JPEG image", NO_TEXT),
];

/// The kind of an HTML page in a file that should have data. It can be the message of a server instead of a download.
const PAGE: ForeignKind = ForeignKind::new(
    b"<",
    "an HTML page and not data, perhaps the message of a server",
    "Download the file again, or give it the extension `.html` if it is a page",
);

/// The kind of an XML document in a file that should have data. It can be the error message of a storage service.
const XML: ForeignKind = ForeignKind::new(
    b"<?xml",
    "an XML document and not data, perhaps the message of a server",
    "Download the file again",
);

/// The kind of binary files that no entry of [`KINDS`] describes.
pub(crate) const BINARY: ForeignKind = ForeignKind::new(
    b"\0",
    "a binary file: it has zero bytes",
    "Convert it to text, or name its format with `format`",
);

/// The kind of files that are compressed with Brotli. Such files have no magic bytes.
pub(crate) const BROTLI: ForeignKind =
    ForeignKind::described("compressed with Brotli, by its name", "Unpack it with `brotli -d`");

/// The kind of files in UTF-32.
pub(crate) const UTF32: ForeignKind = ForeignKind::new(
    b"\xFF\xFE\0\0",
    "in UTF-32",
    "Convert it to UTF-8, for example with `iconv -f UTF-32 -t UTF-8`",
);

/// The kind of files in UTF-16 that are neither text nor HTML.
pub(crate) const UTF16: ForeignKind = ForeignKind::new(
    b"\xFF\xFE",
    "in UTF-16, which is read only in text and HTML",
    "Convert it to UTF-8, for example with `iconv -f UTF-16 -t UTF-8`",
);

/// Returns the kind of a file that starts with `head`, if simtool cannot read this kind. Returns `None` if the file may
/// have documents. `named` is the format that the extension of the file's name stands for.
pub(crate) fn kind_of(head: &[u8], named: Option<Format>) -> Option<ForeignKind> {
    let is_text = || !head.contains(&0) && is_utf8_so_far(head);
    let is_of = |kind: &&ForeignKind| {
        let has_magic = head.get(kind.at..).is_some_and(|rest| rest.starts_with(kind.magic));
        has_magic && !(kind.is_binary && is_text())
    };
    if let Some(kind) = KINDS.iter().find(is_of) {
        return Some(*kind);
    }
    // A server that cannot deliver a file of data often answers with a page that explains why.
    let promises_data = |named: Format| {
        let has_records = named.has_fields() || named.is_table() || named.is_packed_by_record();
        has_records && named != Format::XML
    };
    if !named.is_some_and(promises_data) {
        return None;
    }
    let is_xml = head.trim_ascii_start().starts_with(XML.magic);
    begins_page(head).then_some(PAGE).or_else(|| is_xml.then_some(XML))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(head: &[u8], named: Option<&str>) -> Option<&'static str> {
        kind_of(head, named.and_then(Format::from_name)).map(|kind| kind.description)
    }

    #[test]
    fn a_text_that_begins_like_a_binary_file_is_a_text() {
        assert_eq!(kind(b"ORCHARDS ARE OLD", None), None);
        let mustard = format!("{}mustard", "x".repeat(255));
        assert_eq!(kind(mustard.as_bytes(), Some("text")), None);
        assert_eq!(kind("BZh\u{e9}".as_bytes(), None), None);
        assert_eq!(kind(b"ORC\x01\x00\xFF", None), Some("an ORC file"));
        assert_eq!(kind(b"BZh91AY&SY\xFF", None), Some("compressed twice"));
        assert_eq!(kind("ORC\u{e9}".as_bytes().split_last().unwrap().1, None), None);
    }

    #[test]
    fn a_page_is_refused_only_in_the_place_of_data() {
        let page = b"<!DOCTYPE html><title>404 Not Found</title>";
        assert_eq!(kind(page, Some("jsonl")), Some(PAGE.description));
        assert_eq!(kind(page, Some("parquet")), Some(PAGE.description));
        assert_eq!(kind(page, Some("warc")), Some(PAGE.description));
        assert_eq!(kind(page, Some("text")), None);
        assert_eq!(kind(page, None), None);
        let message = b"<?xml version=\"1.0\"?>\n<Error><Code>SlowDown</Code></Error>";
        assert_eq!(kind(message, Some("jsonl")), Some(XML.description));
        assert_eq!(kind(message, Some("text")), None);
    }

    #[test]
    fn streams_of_zlib_are_named() {
        for level in [0, 1, 6, 9] {
            let mut packed =
                flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(level));
            std::io::Write::write_all(&mut packed, b"{\"text\": \"a b c d e\"}\n").unwrap();
            let packed = packed.finish().unwrap();
            assert_eq!(kind(&packed, Some("jsonl")), Some(ZLIB), "{level}");
        }
        assert_eq!(kind(b"x\x01y", None), None);
    }

    #[test]
    fn pointers_of_git_lfs_are_named() {
        let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0a\nsize 7\n";
        for named in [None, Some("text"), Some("parquet")] {
            assert_eq!(kind(pointer, named), Some(KINDS[0].description));
        }
    }
}
