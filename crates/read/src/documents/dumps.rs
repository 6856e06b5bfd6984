//! Text files of many records in formats that simtool does not read, such as dumps of databases: how they are
//! recognized, and which advice it gives.
//!
//! If such a file were read as plain text, it would be one document with the markup of all records. To recognize
//! another kind, add it to the table.

use crate::documents::foreign_file::ForeignKind;

/// Number of bytes at the start of a file by which its kind is recognized.
const HEAD_BYTES: usize = 4 << 10;

/// A kind of text files that simtool cannot read.
struct DumpKind {
    /// Extensions of file names that only this kind has.
    extensions: &'static [&'static str],
    /// Function that returns whether the start of a file has this kind.
    begins: fn(&[u8]) -> bool,
    kind: ForeignKind,
}

const REFERENCES: &str = "Write one JSON line for each entry, for example with `pandoc -f FORMAT -t csljson FILE | jq -c \
                          \".[] | {id, text: .abstract}\" > FILE.jsonl`, where FORMAT is `bibtex` or `ris`";

/// The kinds of text files that simtool cannot read, in the order in which a file is compared with them.
const DUMPS: [DumpKind; 6] = [
    DumpKind {
        extensions: &[],
        begins: begins_sql_dump,
        kind: ForeignKind::described(
            "a dump of a database in SQL",
            "Load it into a database and export the texts, for example as CSV or JSON Lines",
        ),
    },
    DumpKind {
        extensions: &["bib", "bibtex"],
        begins: begins_bibtex,
        kind: ForeignKind::described("a list of references in BibTeX", REFERENCES),
    },
    DumpKind {
        extensions: &["ris"],
        begins: |head| head.starts_with(b"TY  - "),
        kind: ForeignKind::described("a list of references in RIS", REFERENCES),
    },
    DumpKind {
        extensions: &["cdx", "cdxj"],
        begins: |head| head.starts_with(b" CDX "),
        kind: ForeignKind::described(
            "an index of a web archive (CDX) and not its pages",
            "Name the WARC files that it lists",
        ),
    },
    DumpKind {
        extensions: &[],
        begins: |head| head.starts_with(b"\x01\x01\x01\x01\n"),
        kind: ForeignKind::described(
            "a mailbox in the format MMDF",
            "Convert it to mbox, for example with `python3 -c 'import mailbox, sys; m = mailbox.mbox(sys.argv[2]); \
             [m.add(x) for x in mailbox.MMDF(sys.argv[1])]; m.close()' FILE FILE.mbox`",
        ),
    },
    DumpKind {
        extensions: &["emlx"],
        begins: |_| false,
        kind: ForeignKind::described(
            "a message of Apple Mail (.emlx), which begins with its length and ends with a property list",
            "Take the message out, for example with `tail -c +$(($(head -n 1 FILE | wc -c) + 1)) FILE | head -c $(head -n 1 \
             FILE) > FILE.eml`",
        ),
    },
];

/// Returns the kind of a text file that simtool cannot read, or `None` if the file has none of these kinds. `head` is
/// the start of the file. `extension` is the extension of its name in lower case, without the extension of a
/// compression.
pub(crate) fn kind_of(head: &[u8], extension: &str) -> Option<ForeignKind> {
    let head = &head[..head.len().min(HEAD_BYTES)];
    let found =
        DUMPS.iter().find(|dump| dump.extensions.contains(&extension) || (dump.begins)(head));
    found.map(|found| found.kind)
}

/// Returns whether a line at the start of a file is the title of a dump in SQL.
fn begins_sql_dump(head: &[u8]) -> bool {
    const TITLES: [&[u8]; 5] = [
        b"-- MySQL dump",
        b"-- MariaDB dump",
        b"-- PostgreSQL database dump",
        b"-- phpMyAdmin SQL Dump",
        b"PRAGMA foreign_keys=OFF;",
    ];
    // Some programs write remarks about the server before the title.
    let mut lines = head.split(|&byte| byte == b'\n').take(5);
    lines.any(|line| TITLES.iter().any(|title| line.starts_with(title)))
}

/// Returns whether a file begins with an entry of BibTeX, such as `@article{knuth,`.
fn begins_bibtex(head: &[u8]) -> bool {
    const TYPES: [&str; 8] = [
        "article",
        "book",
        "incollection",
        "inproceedings",
        "misc",
        "phdthesis",
        "string",
        "techreport",
    ];
    // A name with an @ in an ordinary text is no type with a brace behind it.
    let Some(entry) = head.trim_ascii_start().strip_prefix(b"@") else { return false };
    let Some(end) = entry.iter().position(|&byte| byte == b'{') else { return false };
    TYPES.iter().any(|name| entry[..end].eq_ignore_ascii_case(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(extension: &str, head: &str, expected: &str) {
        let found = kind_of(head.as_bytes(), extension);
        let described = found.map_or("", |kind| kind.description);
        let is_found =
            if expected.is_empty() { described.is_empty() } else { described.contains(expected) };
        assert!(is_found, "{head}: {described}");
    }

    #[test]
    fn dumps_are_named_by_their_start_or_name() {
        check("sql", "-- MySQL dump 10.19\n", "SQL");
        check("", "--\n-- PostgreSQL database dump\n--\n", "SQL");
        check("sql", "SELECT 1;", "");
        check("", "@Article{knuth,", "BibTeX");
        check("", "@media {", "");
        check("bib", "% a comment", "BibTeX");
        check("txt", "TY  - JOUR\nAU  - A", "RIS");
        check("", " CDX N b a m s k r M S V g\n", "CDX");
        check("cdxj", "com,example)/ 2020 {}", "CDX");
        check("", "\x01\x01\x01\x01\nFrom a", "MMDF");
        check("emlx", "123\nFrom: a", "Apple Mail");
        check("txt", "a text", "");
    }
}
