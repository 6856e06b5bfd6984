//! Tests of all formats: the same documents read the same in every format, and a damaged record
//! loses no other record.

mod costs;
mod html;
#[cfg(feature = "parquet")]
mod parquet;
mod sources;

use crate::bytes::decoded_stream::tests::packed;
use crate::documents::walk::InputFile;
use crate::documents::{Collection, Corpus, ReadOptions};
use crate::formats::{Event, Format, TextSplit};
use simtool_base::fault::Severity;
use simtool_base::mapped_file::FileAccess;
use simtool_model::compression::Compression;
use simtool_model::document::{Content, Record};
use simtool_model::document_id::DocumentId;
use simtool_model::non_document::NonDocumentCounts;
use simtool_model::page_text::PageText;
use std::fs;
use std::ops::ControlFlow;

/// Documents, bad records and faults that a test has read from files. Records are numbered within
/// their file.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Seen {
    /// Number of the file, number of the record, ID and text of each document.
    pub(crate) documents: Vec<(usize, u64, String, String)>,
    /// Number of pages that were read as a whole because they have no main content.
    pub(crate) whole_pages: usize,
    /// Records of web archives that are no documents.
    pub(crate) non_documents: NonDocumentCounts,
    /// Number of list elements that lack the field of the text, in all documents.
    pub(crate) skipped_elements: u32,
    /// IDs that are numbers in the input.
    pub(crate) numbers: Vec<String>,
    /// Record number, byte offset, length and code of each bad record.
    pub(crate) bad: Vec<(u64, u64, u64, &'static str)>,
    pub(crate) lost: Vec<&'static str>,
    pub(crate) warned: Vec<&'static str>,
    /// The bytes of all records, good and bad, in reading order.
    pub(crate) bytes: Vec<u8>,
}

impl Seen {
    pub(crate) fn texts(&self) -> Vec<(&str, &str)> {
        self.documents.iter().map(|(_, _, id, text)| (&**id, &**text)).collect()
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read(file: InputFile, options: ReadOptions) -> Seen {
    read_collection(&Collection::open(vec![file], options))
}

/// Reads all shards of a collection.
pub(crate) fn read_collection(collection: &Collection) -> Seen {
    let mut seen = Seen::default();
    let (mut file, mut base) = (0, 0);
    for shard in 0..collection.shard_count() {
        if collection.shard_file(shard) != file {
            (file, base) = (collection.shard_file(shard), 0);
        }
        let end = collection.shard_bytes(shard);
        let records = collection.read_shard(shard, &mut |event| {
            match event {
                Event::Record(Record { number, byte, bytes, content, known_hash: _ }) => {
                    seen.bytes.extend_from_slice(bytes);
                    match content {
                        Content::Document(d) => {
                            let id = lossy(d.id.map_or(&[], DocumentId::bytes));
                            seen.numbers.extend(
                                d.id.is_some_and(DocumentId::is_number).then(|| id.clone()),
                            );
                            seen.skipped_elements += d.skipped_elements;
                            seen.whole_pages += usize::from(
                                d.page_text.is_some_and(|page| page.part == PageText::Whole),
                            );
                            seen.documents.push((file, base + number, id, lossy(d.text)));
                        }
                        Content::Bad(bad) => {
                            assert!(bytes.is_empty() || bytes.len() as u64 == bad.length);
                            seen.bad.push((base + number, byte, bad.length, bad.code));
                        }
                        Content::NonDocument(kind) => seen.non_documents.count(kind),
                        Content::PassThrough | Content::PassedOver => {}
                    }
                }
                Event::Piece(bytes) => seen.bytes.extend_from_slice(bytes),
                Event::Fault(fault) if fault.severity == Severity::Loss => {
                    seen.lost.push(fault.code);
                }
                Event::Fault(fault) => seen.warned.push(fault.code),
                // Positions are counted from the start of the shard.
                Event::Reached(at) => assert!(at <= end, "{at} is behind {end}"),
            }
            Ok(ControlFlow::Continue(()))
        });
        base += records.unwrap();
    }
    seen
}

/// Writes `content` to a file called `name`, reads the file and returns everything that was read.
/// Also reads the same bytes from memory, and checks that the result is the same.
pub(crate) fn read_as(name: &str, content: &[u8], options: ReadOptions) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let seen = read(InputFile::new(&path), options.clone());
    assert!(read(InputFile::in_memory(name, content.to_vec()), options) == seen, "{name}");
    seen
}

pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

/// Compresses `content` as several gzip members. Each member holds `bytes` bytes of the content.
fn gzip_members(content: &[u8], bytes: usize) -> Vec<u8> {
    content.chunks(bytes).flat_map(gzip).collect()
}

fn zstd(content: &[u8]) -> Vec<u8> {
    zstd::encode_all(content, 1).unwrap()
}

/// Returns IDs and texts of documents of growing size, 2 MB in total, some with unusual characters.
pub(crate) fn documents() -> Vec<(String, String)> {
    (0..120_usize)
        .map(|at| {
            let text = match at {
                7 => String::new(),
                8 => "caf\u{e9} \u{4e2d}\u{6587} \"quoted\" \\ back, tab\tend\n\nx".to_owned(),
                _ => format!("line {at} of some text\n").repeat(at * at / 8 + 1),
            };
            (format!("id-{at}"), text)
        })
        .collect()
}

fn json_string(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn warc_record(kind: &str, id: &str, block: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {id}\r\nContent-Type: text/plain\r\n\
         content-length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

/// Returns the test documents as a table whose columns of texts and IDs lie between two other
/// columns.
fn delimited(delimiter: char, line_end: &str) -> Vec<u8> {
    let quoted = |field: &str| format!("\"{}\"", field.replace('"', "\"\""));
    let mut rows = [["n", "text", "id", ""].join(&delimiter.to_string())].to_vec();
    for (id, text) in documents() {
        rows.push(["5", &quoted(&text), &id, ""].join(&delimiter.to_string()));
    }
    rows.push(String::new());
    rows.join(line_end).into_bytes()
}

/// Returns one file name and file content for each format that has IDs and is a sequence of bytes.
/// Every content holds the test documents.
pub(crate) fn encodings() -> Vec<(&'static str, Vec<u8>)> {
    let documents = documents();
    let form_feed: Vec<String> =
        documents.iter().map(|(id, text)| format!("{id}\n{text}")).collect();
    let jsonl = documents.iter().map(|(id, text)| {
        format!(
            "{{\"id\": {}, \"n\": [1, {{}}], \"text\": {}}}\n",
            json_string(id),
            json_string(text)
        )
    });
    let objects: Vec<String> = jsonl.clone().collect();
    let warc = documents.iter().map(|(id, text)| warc_record("conversion", id, text));
    let page = |(id, text): &(String, String)| {
        format!("<page><id>{id}</id>\n <revision><id>0</id><text>{text}</text></revision></page>\n")
    };
    let pages = documents.iter().map(page).collect::<Vec<_>>().concat();
    vec![
        ("array.json", format!(" [{}]\n", objects.join(", ")).into_bytes()),
        ("a.json", objects.concat().replace("\"n\": ", "\"n\":\n ").into_bytes()),
        ("a.csv", delimited(',', "\r\n")),
        ("a.tsv", delimited('\t', "\n")),
        ("a.xml", format!("<mediawiki>\n<siteinfo/>\n{pages}</mediawiki>\n").into_bytes()),
        ("a.wet", warc.collect::<String>().into_bytes()),
        ("a.txt", form_feed.join("\x0C").into_bytes()),
        ("a.jsonl", jsonl.collect::<String>().into_bytes()),
    ]
}

pub(crate) fn options(shard_bytes: u64) -> ReadOptions {
    ReadOptions { shard_bytes, ..ReadOptions::default() }
}

fn mapping(options: ReadOptions) -> ReadOptions {
    ReadOptions { access: FileAccess::map_own_files(), ..options }
}

#[test]
fn the_same_documents_read_the_same_in_every_format_compression_and_shard_size() {
    let expected: Vec<_> = documents()
        .into_iter()
        .enumerate()
        .map(|(at, (id, text))| (0, at as u64, id, text))
        .collect();
    for (name, content) in encodings() {
        let check = |name: &str, packed: &[u8], options: ReadOptions| {
            let what = format!("{name}, {options:?}");
            let seen = read_as(name, packed, options);
            assert_eq!(seen.lost, [""; 0], "{what}");
            assert_eq!(seen.warned, [""; 0], "{what}");
            assert_eq!(seen.bad, [], "{what}");
            assert!(seen.documents == expected, "{what}");
            assert!(seen.bytes == content, "{what}");
        };
        for shard_bytes in [1, 70_000, 1 << 30] {
            check(name, &content, options(shard_bytes));
            check(name, &content, mapping(options(shard_bytes)));
        }
        check(&format!("{name}.gz"), &gzip(&content), options(1));
        for bytes in [997, 100_000] {
            check(&format!("{name}.gz"), &gzip_members(&content, bytes), options(1));
        }
        check(&format!("{name}.zst"), &zstd(&content), options(1));
        let frames: Vec<u8> = content.chunks(9_001).flat_map(zstd).collect();
        check(&format!("{name}.zst"), &frames, options(1));
        for compression in [Compression::Bzip2, Compression::Xz, Compression::Lz4] {
            let name = format!("{name}.{}", compression.extensions()[0]);
            check(&name, &packed(compression, &content), options(1));
            let parts: Vec<u8> =
                content.chunks(300_001).flat_map(|part| packed(compression, part)).collect();
            check(&name, &parts, options(1));
        }
    }
}

/// Checks that a visitor can stop the reading of any shard of a file after any event. No more
/// events are visited, and the result of the reading is the number of records so far.
pub(crate) fn stops_anywhere(name: &str, content: &[u8], options: ReadOptions) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let collection = Collection::open(vec![InputFile::new(&path)], options);
    for shard in 0..collection.shard_count() {
        // The number of each record, and `None` for each event that is no record.
        let mut counts = Vec::new();
        let all = collection.read_shard(shard, &mut |event| {
            counts.push(if let Event::Record(record) = event { Some(record.number) } else { None });
            Ok(ControlFlow::Continue(()))
        });
        counts.push(Some(all.unwrap()));
        for enough in (1..counts.len()).step_by(7) {
            let mut visited = 0;
            let counted = collection.read_shard(shard, &mut |_| {
                visited += 1;
                Ok(if visited < enough {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                })
            });
            assert_eq!(visited, enough, "{name}, shard {shard}");
            let counted = counted.unwrap();
            let expected = counts[enough].unwrap_or(counted);
            assert_eq!(counted, expected, "{name}, shard {shard}, {enough} events");
        }
    }
}

#[test]
fn a_reading_ends_where_its_visitor_has_enough() {
    for (name, content) in encodings() {
        let content = &content[..300_000];
        for shard_bytes in [70_000, 1 << 30] {
            stops_anywhere(name, content, options(shard_bytes));
        }
        // The first event is a warning about the name.
        let packed = gzip(content);
        stops_anywhere(name, &packed, options(1));
        stops_anywhere(name, &packed[..packed.len() / 2], options(1));
        stops_anywhere(name, &packed, ReadOptions { max_record_bytes: 3000, ..options(1) });
    }
    let unreadable = b"\x7FELF";
    stops_anywhere("a.txt", unreadable, options(1));
}

#[test]
fn large_files_that_cannot_be_mapped_are_read_in_parts() {
    use simtool_base::mapped_file::REFUSES_MAPS;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let (_, content) = encodings().pop().unwrap();
    fs::write(&path, content).unwrap();
    let mapped = read(InputFile::new(&path), mapping(options(70_000)));
    REFUSES_MAPS.set(true);
    let seen = read(InputFile::new(&path), mapping(options(70_000)));
    let held = Collection::open(vec![InputFile::new(&path)], mapping(options(70_000)));
    REFUSES_MAPS.set(false);
    assert!(seen == mapped);
    assert!(held.shard_count() > 10, "{} shards", held.shard_count());
    assert!(held.is_streamed(0));
}

/// Checks that both good records are read if a bad record lies between them. The bad record may be
/// longer than the longest allowed record. It must be reported with `code`.
fn neighbours_survive(name: &str, good: [&str; 2], bad: &str, code: &'static str) {
    let content = [good[0], bad, good[1]].concat();
    for packed in [false, true] {
        let (name, bytes) = if packed {
            (format!("{name}.gz"), gzip(content.as_bytes()))
        } else {
            (name.to_owned(), content.clone().into_bytes())
        };
        let seen = read_as(&name, &bytes, ReadOptions { max_record_bytes: 600, ..options(1) });
        let records: Vec<u64> = seen.documents.iter().map(|d| d.1).collect();
        assert_eq!(records, [0, 2], "{name}: {seen:?}");
        let offset = good[0].len() as u64;
        assert_eq!(seen.bad, [(1, offset, bad.len() as u64, code)], "{name}");
    }
}

#[test]
fn a_bad_record_costs_itself_alone() {
    let lines = ["{\"text\": \"a b\"}\n", "{\"text\": \"c d\"}\n"];
    neighbours_survive("a.jsonl", lines, "{\"text\": 5}\n", "json");
    neighbours_survive("a.jsonl", lines, "\0\x1B}{\n", "json");
    let long = format!("{{\"text\": \"{}\"}}\n", "x".repeat(100_000));
    neighbours_survive("a.jsonl", lines, &long, "oversize");
    let long = format!("b\n{}\x0C", "x".repeat(100_000));
    let rows = ["<row Id=\"1\" Text=\"a\"/>\n", "<row Id=\"3\" Text=\"c\"/>\n"];
    let rows = [&format!("<posts>\n{}", rows[0]), &format!("{}</posts>", rows[1])];
    neighbours_survive("a.xml", rows.map(String::as_str), "<row Text=b/>\n", "xml");
    let long_row = format!("<row Text=\"{}\"/>\n", "x".repeat(100_000));
    neighbours_survive("a.xml", rows.map(String::as_str), &long_row, "oversize");
    neighbours_survive("a.txt", ["a\nx\x0C", "c\ny\x0C"], &long, "oversize");
}

#[test]
fn a_bad_warc_record_costs_itself_alone() {
    let (first, last) = (warc_record("conversion", "a", "x"), warc_record("conversion", "c", "z"));
    let good = [&*first, &*last];
    let middle = warc_record("conversion", "b", "some text");
    let with_length = |length: &str| middle.replace(": 9\r", &format!(": {length}\r"));
    for length in
        ["", "-1", "7", "20", "500", "99999", "9999999999999999999", "99999999999999999999"]
    {
        neighbours_survive("a.warc", good, &with_length(length), "warc-length");
    }
    neighbours_survive("a.warc", good, "garbage\r\n\r\n", "warc-header");
    neighbours_survive("a.warc", good, "\0WARC/1.0 in the middle of a line\n\n", "warc-header");
    neighbours_survive("a.warc", good, "WARC/1.0\r\nno: end\r\n", "warc-header");
    let long = warc_record("conversion", "b", &"x".repeat(100_000));
    neighbours_survive("a.warc", good, &long, "oversize");
}

#[test]
fn line_ends_around_warc_records_are_forgiven() {
    let record = |id: &str| warc_record("conversion", id, "text");
    for between in ["\r\n", "\r\n\r\n", "\n"] {
        let content = [record("a"), record("b"), record("c")].join(between);
        let seen = read_as("a.warc", content.as_bytes(), options(1));
        assert_eq!(seen.texts(), [("a", "text"), ("b", "text"), ("c", "text")]);
        assert_eq!((seen.bad.len(), seen.bytes), (0, content.into_bytes()));
    }
    // The first block has one line end more than its length says, and the second block has fewer
    // bytes.
    for (block, text) in [("text\r\n", "text"), ("te", "te\r\n")] {
        let content = record("a").replace("text\r\n", &format!("{block}\r\n")) + &record("b");
        let seen = read_as("a.warc", content.as_bytes(), options(1));
        assert_eq!(seen.texts(), [("a", text), ("b", "text")]);
    }
}

#[test]
fn warc_records_that_are_no_documents_pass_through() {
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>A <b>page</b>";
    let image = "HTTP/1.1 200 OK\r\nContent-Type: image/gif\r\n\r\nGIF89a";
    let content = [
        warc_record("warcinfo", "", "software: x"),
        warc_record("request", "u", "GET / HTTP/1.1\r\n\r\n"),
        warc_record("response", "u", page),
        warc_record("response", "v", image),
        warc_record("resource", "<w>", "as it is"),
        warc_record("conversion", "", "text").replace("Target-URI", "Record-ID"),
    ]
    .concat();
    let seen = read_as("a.warc", content.as_bytes(), options(1));
    let records: Vec<_> = seen.documents.iter().map(|d| (d.1, &*d.2, &*d.3)).collect();
    assert_eq!(records, [(2, "u", "A page"), (4, "w", "as it is"), (5, "", "text")]);
    assert!(seen.bytes == content.into_bytes());
}

#[test]
fn records_up_to_the_limit_are_read_and_longer_ones_are_not() {
    let line = |length: usize| format!("{{\"text\":\"{}\"}}\n", "x".repeat(length - 12));
    for (longest, name) in [(300, "a.jsonl"), (300_000, "b.jsonl")] {
        let content = [line(longest - 1), line(longest), line(longest + 1), line(20)].concat();
        let options = ReadOptions { max_record_bytes: longest, ..options(1) };
        let plain = read_as(name, content.as_bytes(), mapping(options.clone()));
        let at = (2 * longest - 1) as u64;
        assert_eq!(plain.bad, [(2, at, longest as u64 + 1, "oversize")]);
        assert_eq!(plain.documents.len(), 3);
        let packed = read_as(&format!("{name}.gz"), &gzip(content.as_bytes()), options.clone());
        assert_eq!(packed, plain);
        assert_eq!(read_as(name, content.as_bytes(), options), plain);
    }
}

#[test]
fn a_clipped_gzip_file_keeps_its_complete_records() {
    let content = "{\"text\": \"some words\"}\n".repeat(2000);
    let packed = gzip_members(content.as_bytes(), 10_000);
    for length in (1..packed.len()).step_by(7) {
        let seen = read_as("a.jsonl.gz", &packed[..length], options(1));
        assert!(seen.documents.iter().all(|d| d.3 == "some words"));
        assert!(seen.documents.len() * 23 + seen.bad.len() * 23 <= content.len());
        // If the cut lies between two members, no fault is reported, but the line that is cut is a
        // bad record.
        assert!(!seen.lost.is_empty() || !seen.bad.is_empty() || length < 3, "cut at {length}");
    }
}

#[test]
fn a_bad_gzip_member_costs_its_records_alone() {
    let member = |at: usize| gzip(format!("{{\"text\": \"words of member {at}\"}}\n").as_bytes());
    let good: Vec<Vec<u8>> = (0..5).map(member).collect();
    for position in 0..good[2].len() {
        for bit in [0, 3, 7] {
            let mut members = good.clone();
            members[2][position] ^= 1 << bit;
            let seen = read_as("a.jsonl.gz", &members.concat(), options(1));
            for at in [0, 1, 3, 4] {
                let text = format!("words of member {at}");
                let found = seen.documents.iter().filter(|d| d.3 == text).count();
                assert_eq!(found, 1, "byte {position}, bit {bit}, member {at}: {seen:?}");
            }
            // Flags, time and system of the header may change without harm.
            let harmless = seen.texts()[2] == ("", "words of member 2");
            assert_eq!(seen.lost.is_empty(), harmless, "byte {position}, bit {bit}: {seen:?}");
            assert!(harmless || seen.documents.len() == 4);
        }
    }
}

#[test]
fn a_bad_zstd_frame_costs_its_records_alone() {
    let frame = |at: usize| {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.include_checksum(true).unwrap();
        let text = format!("{{\"text\": \"words of frame {at}\"}}\n");
        std::io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let good: Vec<Vec<u8>> = (0..4).map(frame).collect();
    for position in 6..good[1].len() {
        let mut frames = good.clone();
        frames[1][position] ^= 0x10;
        let seen = read_as("a.jsonl.zst", &frames.concat(), options(1));
        for at in [0, 2, 3] {
            let text = format!("words of frame {at}");
            assert!(seen.documents.iter().any(|d| d.3 == text), "byte {position}: {seen:?}");
        }
        assert_eq!(seen.documents.len(), 3, "byte {position}: {seen:?}");
        assert!(!seen.lost.is_empty());
    }
}

#[test]
fn zeros_after_the_last_member_are_a_warning_and_other_bytes_are_a_loss() {
    let line = b"{\"text\": \"x\"}\n";
    for (name, packed) in [
        ("a.gz", gzip(line)),
        ("a.zst", zstd(line)),
        ("a.bz2", packed(Compression::Bzip2, line)),
        ("a.lz4", packed(Compression::Lz4, line)),
    ] {
        let mut damaged = packed.clone();
        damaged[0] ^= 1;
        let long = vec![0; 300_000];
        for (behind, is_lost) in [
            (&[0; 600][..], false),
            (&[0; 1], false),
            (&long, false),
            (&damaged, true),
            (&[&long[..], &damaged].concat(), true),
            (&[&[1], &long[..]].concat(), true),
            (line, true),
        ] {
            let seen = read_as(name, &[&packed, behind].concat(), options(1));
            assert_eq!(seen.texts(), [("", "x")], "{name}");
            let expected: [&[&str]; 2] =
                if is_lost { [&[], &["trailing"]] } else { [&["trailing"], &[]] };
            assert_eq!(
                [&seen.warned[..], &seen.lost[..]],
                expected,
                "{name}: {} bytes",
                behind.len()
            );
        }
    }
}

#[test]
fn a_bomb_is_stopped() {
    let mut bomb = zstd::Encoder::new(Vec::new(), 1).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(b'\n'), 1 << 31), &mut bomb).unwrap();
    let options = ReadOptions { format: Format::from_name("form-feed"), ..options(1) };
    let seen = read_as("a.zst", &bomb.finish().unwrap(), options);
    assert_eq!(seen.lost, ["bomb"]);
}

#[test]
fn names_and_contents_that_do_not_hold_together_are_named() {
    assert_eq!(read_as("a.jsonl", b"", options(1)).warned, ["empty"]);
    assert_eq!(read_as("a.jsonl", &gzip(b"{\"text\": \"x\"}"), options(1)).warned, ["format"]);
    assert_eq!(read_as("a.bin", b"PK\x03\x04", options(1)).lost, ["format"]);
    let seen = read(InputFile::new("/no such file"), options(1));
    assert_eq!(seen.lost, ["input-open"]);
}

#[test]
fn lines_and_whole_files_are_documents() {
    let per_line = ReadOptions { split: TextSplit::Lines, ..options(1) };
    let seen = read_as("a.txt", "\u{FEFF}one\r\n\r\ntwo".as_bytes(), per_line);
    let records: Vec<_> = seen.documents.iter().map(|d| (d.1, &*d.3)).collect();
    assert_eq!(records, [(0, "one"), (2, "two")]);
    let large = "words and more\n".repeat(100_000);
    for options in [options(1), mapping(options(1))] {
        let seen = read_as("a.txt", large.as_bytes(), options);
        assert!(seen.texts() == [("", &*large)]);
    }
}
