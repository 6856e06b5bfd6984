//! Text files of many records in formats that are not read, such as dumps of databases or of wikis in XML: how they are
//! recognized, and what to do with them.
//!
//! Read as plain text, such a file would be one document with the markup of all records. To recognize another kind, add
//! it to one of the two tables.

use crate::bytes::begins_page;
use crate::documents::foreign_file::ForeignKind;

/// Number of bytes at the start of a file that decide.
const HEAD_BYTES: usize = 4 << 10;

/// A kind of XML documents.
struct XmlKind {
    /// Names of the root element, without the prefix of a namespace. A kind without names is any XML document.
    roots: &'static [&'static str],
    kind: ForeignKind,
}

/// A kind of other text files.
struct DumpKind {
    /// Extensions of the names of such files, if they decide.
    extensions: &'static [&'static str],
    /// Whether a file begins in this way.
    begins: fn(&[u8]) -> bool,
    kind: ForeignKind,
}

/// Makes the advice to write a JSON line for each element with one of the names `$names`. `$text` is Python for the text
/// of the element `e`.
macro_rules! json_lines {
    ($names:literal, $text:literal) => {
        concat!(
            "Write one JSON line for each record, for example with `python3 -c 'import json, sys, xml.etree.ElementTree \
             as T; [(print(json.dumps({\"text\": ",
            $text,
            "})), e.clear()) for _, e in T.iterparse(sys.stdin.buffer) if e.tag.split(\"}\")[-1] in \"",
            $names,
            "\".split()]' < FILE > FILE.jsonl`, or read the file as one text with `format=text`"
        )
    };
}

/// The kinds of XML documents, in the order in which files are compared with them.
const XML: [XmlKind; 10] = [
    XmlKind {
        roots: &["mediawiki"],
        kind: ForeignKind::described(
            "a dump of MediaWiki: pages in XML",
            "Write one JSON line for each page, for example with `python3 -m wikiextractor.WikiExtractor --json -o pages \
             FILE`, or read the file as one text with `format=text`",
        ),
    },
    XmlKind {
        roots: &["posts", "comments", "posthistory"],
        kind: ForeignKind::described(
            "a dump of Stack Exchange: rows in XML",
            json_lines!("row", "e.get(\"Body\") or e.get(\"Text\")"),
        ),
    },
    XmlKind {
        roots: &["PubmedArticleSet", "PubmedBookArticleSet"],
        kind: ForeignKind::described(
            "a file of PubMed: articles in XML",
            json_lines!(
                "PubmedArticle",
                "\" \".join(\"\".join(a.itertext()) for a in e.iter(\"AbstractText\"))"
            ),
        ),
    },
    XmlKind {
        roots: &["article", "pmc-articleset"],
        kind: ForeignKind::described(
            "an article in XML (JATS or DocBook)",
            json_lines!("p para", "\"\".join(e.itertext())"),
        ),
    },
    XmlKind {
        roots: &["rss", "feed", "RDF"],
        kind: ForeignKind::described(
            "a feed (RSS or Atom): items in XML",
            json_lines!("item entry", "\" \".join(e.itertext())"),
        ),
    },
    XmlKind {
        roots: &["TEI", "TEI.2", "teiCorpus", "teiCorpus.2"],
        kind: ForeignKind::described(
            "a text or corpus in TEI (XML)",
            json_lines!("text", "\" \".join(e.itertext())"),
        ),
    },
    XmlKind {
        roots: &["urlset", "sitemapindex"],
        kind: ForeignKind::described(
            "a sitemap: addresses in XML and no texts",
            "Leave it out, for example with `glob`",
        ),
    },
    XmlKind {
        roots: &["svg", "plist"],
        kind: ForeignKind::described(
            "an image or a list of settings in XML and no text",
            "Leave it out, for example with `glob`",
        ),
    },
    XmlKind {
        roots: &["Error", "ListBucketResult"],
        kind: ForeignKind::described(
            "the answer of a storage service in XML and not the data",
            "Download the file again",
        ),
    },
    XmlKind {
        roots: &[],
        kind: ForeignKind::described(
            "an XML document, whose tags are no text",
            json_lines!("RECORD", "\" \".join(e.itertext())"),
        ),
    },
];

const REFERENCES: &str = "Write one JSON line for each entry, for example with `pandoc -f FORMAT -t csljson FILE | jq -c \
                          \".[] | {id, text: .abstract}\" > FILE.jsonl`, where FORMAT is `bibtex` or `ris`";

/// The kinds of other text files, in the order in which files are compared with them.
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
            "a message of Apple Mail, with its length before it and settings behind it",
            "Take the message out, for example with `tail -c +$(($(head -n 1 FILE | wc -c) + 1)) FILE | head -c $(head -n 1 \
             FILE) > FILE.eml`",
        ),
    },
];

/// Returns the kind of a file that starts with `head`, if it is one of the tables. `extension` is the extension of the
/// file's name without that of a compression, in lower case.
pub(crate) fn kind_of(head: &[u8], extension: &str) -> Option<ForeignKind> {
    // The declaration and the document type before the root element are short.
    let head = &head[..head.len().min(HEAD_BYTES)];
    let is_xml = extension == "xml" || head.trim_ascii_start().starts_with(b"<?xml");
    // A page may be written as XML.
    if is_xml && !begins_page(head) && !matches!(extension, "html" | "htm" | "xhtml") {
        // A file with the name of an XML document that has no element is something else.
        let root = root_element(head)?;
        let found = XML.iter().find(|kind| {
            kind.roots.is_empty() || kind.roots.iter().any(|name| name.as_bytes() == root)
        });
        return found.map(|found| found.kind);
    }
    let found =
        DUMPS.iter().find(|dump| dump.extensions.contains(&extension) || (dump.begins)(head));
    found.map(|found| found.kind)
}

/// Returns the name of the first element of an XML document, without the prefix of its namespace. Returns `None` if the
/// text begins with no element.
fn root_element(head: &[u8]) -> Option<&[u8]> {
    let mut rest = head.trim_ascii_start();
    loop {
        let ending: &[u8] = match rest {
            [b'<', b'!', b'-', b'-', ..] => b"-->",
            [b'<', b'?', ..] => b"?>",
            // A document type may have declarations in brackets.
            [b'<', b'!', ..] if is_before(rest, b'[', b'>') => b"]>",
            [b'<', b'!', ..] => b">",
            _ => break,
        };
        let end = memchr::memmem::find(rest, ending)?;
        rest = rest[end + ending.len()..].trim_ascii_start();
    }
    let name = rest.strip_prefix(b"<")?;
    let end = name.iter().position(|byte| byte.is_ascii_whitespace() || b"/>".contains(byte));
    let name = &name[..end.unwrap_or(name.len())];
    // The prefix of a namespace can have any name.
    let local = name.iter().rposition(|&byte| byte == b':').map_or(name, |at| &name[at + 1..]);
    local.first().is_some_and(u8::is_ascii_alphabetic).then_some(local)
}

/// Whether `first` occurs in the text before `second`.
fn is_before(text: &[u8], first: u8, second: u8) -> bool {
    text.iter().find(|&&byte| byte == first || byte == second) == Some(&first)
}

/// Whether a line at the start of a file is the title of a dump in SQL.
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

/// Whether a file begins with an entry of BibTeX, such as `@article{knuth,`.
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
    fn xml_is_named_by_its_root_element() {
        check("xml", "<mediawiki xmlns=\"http://x\">", "MediaWiki");
        check(
            "",
            "<?xml version=\"1.0\"?>\n<posts>\n  <row Id=\"1\" Body=\"x\"/>",
            "Stack Exchange",
        );
        let types = "<?xml version='1.0'?><!-- <a> --><!DOCTYPE PubmedArticleSet SYSTEM \"x.dtd\">";
        check("txt", &format!("{types}<PubmedArticleSet>"), "PubMed");
        check("xml", "<!DOCTYPE a [\n<!ENTITY b \"c>\">\n]>\n<rss version=\"2.0\">", "RSS");
        check("xml", "<atom:feed>", "RSS or Atom");
        check("xml", "<TEI.2>", "TEI");
        check("xml", "<urlset/>", "sitemap");
        check("xml", "<records><record/></records>", "an XML document");
        check("", "<?xml version=\"1.0\"?>", "");
        check("xml", "plain words", "");
        check("", "<mediawiki>", "");
        check("", "<?xml version=\"1.0\"?><!DOCTYPE html><html>", "");
        check("xhtml", "<?xml version=\"1.0\"?><div>", "");
    }

    #[test]
    fn other_dumps_are_named_by_their_start_or_name() {
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
