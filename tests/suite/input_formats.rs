//! Files of every format and encoding give the documents that a person would call their text.

use crate::inputs::{WORDS, line};
use crate::program::Folder;
use std::fs;
use std::io::{Read, Write as _};

#[test]
fn tables_of_any_delimiter_are_read() {
    let rows = |delimiter: &str| {
        let row = |id: &str| format!("{id}{delimiter}\"{WORDS}, again; and | more\"\n");
        format!("number{delimiter}text\n{}{}", row("1"), row("2"))
    };
    let folder = Folder::empty()
        .with("semicolon.csv", rows(";"))
        .with("bar.csv", rows("|"))
        .with("tab.csv", rows("\t"))
        .with("odd.csv", rows("^"))
        .with("odd.tsv", rows("^"));
    let check = |arguments: &str| {
        let run = folder.run_words(&format!("--corpus {arguments} --id-field number --force"));
        assert_eq!(run.code, 0, "{arguments}: {}", run.err);
        assert!(
            run.out.contains("removed                   1  50.0 %"),
            "{arguments}: {}",
            run.out
        );
        let removed = fs::read_to_string(folder.path("simtool-out/removed.jsonl")).unwrap();
        assert!(removed.starts_with("{\"id\":\"2\","), "{arguments}: {removed}");
    };
    for arguments in [
        "semicolon.csv",
        "bar.csv",
        "tab.csv",
        "semicolon.csv --delimiter ;",
        "tab.csv --delimiter tab",
        "odd.csv --delimiter ^",
        "odd.tsv --delimiter ^",
    ] {
        check(arguments);
    }
    let run = folder.run_words("--corpus odd.csv --delimiter xy");
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("must be one ASCII character, or the word tab"), "{}", run.err);
    // The guessed delimiter is used for messages, too.
    let run = folder.run_words("--corpus semicolon.csv --text-field body --force");
    assert!(run.err.contains("there are: number, text."), "{}", run.err);
}

#[test]
fn json_over_several_lines_is_read_unless_lines_are_asked_for() {
    let folder = Folder::empty()
        .with("a.json", format!("[\n{},\n{}]\n", line("a"), line("b")))
        .with("b.json", "{\n  \"text\": \"x\"\n}\n")
        .with("package.json", "{\n  \"files\": [\n    \"a\",\n    \"b\"\n  ]\n}\n")
        .with("numbers.json", "[1,\n2,\n3]\n");
    let run = folder.run_words("--corpus a.json b.json package.json numbers.json --json -q");
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.out.contains("\"documents\": 3,"), "{}", run.out);
    assert!(run.out.contains("\"quarantined\": 2"), "{}", run.out);
    let run = folder.run_words("fingerprint b.json --format jsonl --output -");
    assert_eq!(run.code, 1, "{}", run.err);
    let advice = "\"b.json\": is JSON, but not one object a line. Leave out --format";
    assert!(run.err.contains(advice), "{}", run.err);
}

#[test]
fn records_of_web_archives_without_a_document_are_counted_by_kind() {
    let record = |kind: &str, block: &str| {
        let length = block.len();
        format!("WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n")
    };
    let response = |kind: &str| {
        record("response", &format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\nsome words"))
    };
    let others = [
        record("warcinfo", "software: x"),
        record("revisit", ""),
        response("image/png"),
        response("image/gif"),
    ];
    let folder = Folder::empty()
        .with("a.warc", others.concat() + &response("text/html"))
        .with("b.warc", others.concat());
    let run = folder.run_words("--corpus a.warc --json -q");
    assert_eq!(run.code, 0, "{}", run.err);
    for count in ["records_warcinfo\": 1", "records_revisit\": 1", "responses_image\": 2"] {
        assert!(run.out.contains(count), "{count}: {}", run.out);
    }
    let run = folder.run_words("--corpus a.warc -q --force");
    assert!(run.out.contains("images"), "{}", run.out);
    assert!(!run.out.contains("warcinfo"), "{}", run.out);
    let run = folder.run_words("--corpus b.warc -q --force");
    assert_eq!(run.code, 1, "{}", run.err);
    let reason = "no record in \"b.warc\" has a page or a text; there are: 1 warcinfo records, 1 revisit \
                  records, 2 images";
    assert!(run.err.contains(reason), "{}", run.err);
}

#[test]
fn texts_in_a_named_or_detected_encoding_are_compared() {
    let russian = "Съешь же еще этих мягких французских булок, да выпей чаю";
    // In windows-1251, the letters of Russian follow each other as in Unicode.
    let byte = |c: char| u8::try_from(u32::from(c) - if c >= 'А' { 0x350 } else { 0 }).unwrap();
    let bytes: Vec<u8> = russian.chars().map(byte).collect();
    let folder = Folder::empty().with("a.txt", &bytes).with("b.txt", russian).with("c.txt", &bytes);
    let run = folder.run_words("--corpus a.txt b.txt --encoding detect --write-kept");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("\"a.txt\": is not UTF-8; read as windows-1251"), "{}", run.err);
    assert!(run.out.contains("removed                   1"), "{}", run.out);
    assert_eq!(fs::read(folder.path("simtool-out/kept/a.txt")).unwrap(), bytes);
    let run = folder.run_words("--corpus a.txt c.txt --encoding cp1251 -q --force");
    assert!(run.out.contains("removed                   1"), "{}", run.out);
    let run = folder.run_words("--corpus a.txt --encoding morse");
    assert_eq!(run.code, 2, "{}", run.err);
}

#[test]
fn plain_text_is_divided_as_asked_for() {
    let block = format!("{WORDS}\nsecond line\n\n");
    let folder = Folder::empty()
        .with("a.txt", block.repeat(3))
        .with("big.txt", format!("{}\n{block}", WORDS.repeat(9)).repeat(6000))
        .with("in.mbox", format!("From a@b Mon Jan  1\nFrom: a@b\nDate: Mon\n\n{block}").repeat(2));
    let documents = |arguments: &str| {
        let run = folder.run_words(&format!("{arguments} --json --force"));
        assert_eq!(run.code, 0, "{}", run.err);
        let at = run.out.find("\"documents\": ").unwrap();
        (run.out[at..].split([' ', ',']).nth(1).unwrap().to_owned(), run.err)
    };
    for (arguments, count) in [
        ("--corpus a.txt", "1"),
        ("--corpus a.txt --split lines", "6"),
        ("--corpus a.txt --split lines", "6"),
        ("--corpus a.txt --split blank-lines", "3"),
        ("--corpus in.mbox", "2"),
    ] {
        assert_eq!(documents(arguments).0, count, "{arguments}");
    }
    let note = folder.run_words("--corpus big.txt --force").err;
    assert!(note.contains("1 text file is one document each, but blank lines"), "{note}");
}

/// Returns a page whose template is far longer than its article.
fn page(article: &str) -> String {
    let sections: Vec<String> = (0..70)
        .map(|section| format!("<li><a href=\"/{section}/\">Section {section}</a></li>"))
        .collect();
    let menu = sections.join("\n");
    format!(
        "<!DOCTYPE html>\n<html><head><style>li {{ margin: 0 }}</style><script>let x = 1 < 2;</script>\
         </head><body><p>{article}</p></body><!-- {menu} --></html>"
    )
}

#[test]
fn pages_of_one_template_are_compared_by_their_text() {
    let articles: Vec<String> = (0..6)
        .map(|article| {
            let words = (0..45).map(|word| format!("word{}", article * 100 + word));
            words.collect::<Vec<String>>().join(" ")
        })
        .collect();
    let mut folder = Folder::empty();
    for (number, article) in articles.iter().enumerate() {
        folder = folder.with(&format!("{number}.html"), page(article));
    }
    let copy = format!("<html><body><div><b>{}</b></div></body></html>", articles[0]);
    let folder = folder.with("copy.html", copy);
    let run = folder.run_words("dedup . --write-kept --output found");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("documents                 7\n"), "{}", run.out);
    let removed = fs::read_to_string(folder.path("found/removed.jsonl")).unwrap();
    assert_eq!(removed.lines().count(), 1, "{removed}");
    assert!(removed.contains("copy.html"), "{removed}");
    // Kept pages are the bytes of their files.
    assert_eq!(fs::read_to_string(folder.path("found/kept/3.html")).unwrap(), page(&articles[3]));
    assert!(!folder.path("found/kept/copy.html").exists());
}

#[test]
fn kept_copies_have_the_compression_of_their_input() {
    let lines =
        [line("a"), line("b"), "{\"id\":\"c\",\"text\":\"other words\"}\n".to_owned()].concat();
    let kept = lines.replace(&line("b"), "");
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(lines.as_bytes()).unwrap();
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::default()).unwrap();
    xz.write_all(lines.as_bytes()).unwrap();
    let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
    lz4.write_all(lines.as_bytes()).unwrap();
    for (extension, packed) in [
        ("bz2", bzip2.finish().unwrap()),
        ("xz", xz.finish().unwrap()),
        ("lz4", lz4.finish().unwrap()),
    ] {
        let name = format!("a.jsonl.{extension}");
        let folder = Folder::empty().with(&name, packed);
        let run = folder.run(&["dedup", &name, "--write-kept", "--output", "found"]);
        assert_eq!(run.code, 0, "{extension}: {}", run.err);
        let file = fs::File::open(folder.path(&format!("found/kept/{name}"))).unwrap();
        let mut reader: Box<dyn Read> = match extension {
            "bz2" => Box::new(bzip2::read::MultiBzDecoder::new(file)),
            "xz" => Box::new(lzma_rust2::XzReader::new(file, true)),
            _ => Box::new(lz4_flex::frame::FrameDecoder::new(file)),
        };
        let mut content = String::new();
        reader.read_to_string(&mut content).unwrap();
        assert_eq!(content, kept, "{extension}");
    }
}

#[test]
fn files_that_are_no_documents_are_named_with_advice() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 123456\n";
    let not_found = "<!DOCTYPE html><html><title>404 Not Found</title></html>";
    let folder = Folder::empty()
        .with("a.jsonl", line("a") + &line("b"))
        .with("b.jsonl", pointer)
        .with("c.parquet", pointer)
        .with("d.txt", pointer)
        .with("e.jsonl.gz", not_found)
        .with("f.csv", not_found)
        .with("g.avro", "Obj\u{1}\u{4}\u{16}avro.schema")
        .with("h", "%PDF-1.7\n");
    let run = folder.run_words("dedup . --write-kept --output found");
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.out.contains("documents                 2\n"), "{}", run.out);
    for (name, message) in [
        ("b.jsonl", "is a pointer of Git LFS and not the data"),
        ("c.parquet", "Fetch the data with `git lfs pull`"),
        ("d.txt", "is a pointer of Git LFS and not the data"),
        ("e.jsonl.gz", "is an HTML page and not data"),
        ("f.csv", "is an HTML page and not data"),
        ("g.avro", "is an Avro file"),
        ("h", "is a PDF document"),
    ] {
        let about = run.err.lines().find(|line| line.contains(&format!("{name}\"")));
        assert!(about.is_some_and(|line| line.contains(message)), "{name}: {}", run.err);
    }
}

#[test]
fn files_of_many_records_with_markup_are_named_with_advice_in_every_command() {
    let map = "<?xml version=\"1.0\"?>\n<urlset>\n<url><loc>http://a</loc></url>\n</urlset>\n";
    let folder = Folder::empty()
        .with("a.jsonl", line("a"))
        .with("map.xml", map)
        .with("dump.sql", "-- MySQL dump 10.19\nINSERT INTO `page` VALUES (1);\n")
        .with("refs.bib", "@article{a,\n  title = {b},\n}\n");
    for command in [
        "dedup . --output found --force",
        "match a.jsonl --against . --output found --force",
        "passages . --output found.jsonl --force",
        "contamination a.jsonl --in . --output items.jsonl --force",
        "fingerprint . --output found.parquet --method simhash --force",
    ] {
        let run = folder.run_words(command);
        assert_eq!(run.code, 3, "{command}: {}", run.err);
        for message in [
            "is a sitemap: addresses in XML and no texts",
            "is a dump of a database in SQL",
            "is a list of references in BibTeX",
        ] {
            assert!(run.err.contains(message), "{command}: {message}: {}", run.err);
        }
    }
    let run =
        folder.run_words("dedup map.xml dump.sql refs.bib --format text --output found --force");
    assert!(run.code == 0 && run.out.contains("documents                 3\n"), "{run:?}");
}

#[test]
fn stray_bytes_and_replaced_characters_are_counted_where_they_are() {
    let mut bytes = line("a").into_bytes();
    // The text has no invalid byte.
    bytes.extend(b"\xef\xbb\xbf{\"text\": \"another text of words\", \"by\": \"\xff\"}\n\0\0\x1a");
    let folder = Folder::empty().with("a.jsonl", bytes);
    let run = folder.run_words("dedup a.jsonl --json --output found");
    assert_eq!(run.code, 0, "{}", run.err);
    let note = "1 byte order mark and 3 bytes of padding between records were passed over";
    assert!(run.err.contains(note), "{}", run.err);
    let summary: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&summary["documents"], &summary["quarantined"]), (&2.into(), &0.into()));
    assert!(summary["mended"].as_u64().unwrap_or(0) == 0, "{summary}");
}

#[test]
fn texts_in_another_encoding_are_kept_without_comparison() {
    let footer = "\nwww.example.org/books/index.html download free text version 2 build 17\n";
    // Russian words in windows-1251, in which each letter is one byte.
    let cp1251 = |text: &str| -> Vec<u8> {
        let byte = |letter: char| u8::try_from(u32::from(letter) - 0x430 + 0xE0).unwrap();
        let letters = text.chars().map(|letter| if letter == ' ' { b' ' } else { byte(letter) });
        letters.chain(footer.bytes()).collect()
    };
    let first = "утром над долиной стоял густой туман старик медленно шел к реке ".repeat(3);
    let second = "физика изучает самые общие законы движения материи измерения ".repeat(3);
    let utf16 =
        |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let english = "The harbour was quiet before dawn, and the boats rocked slowly on the water. ";
    let folder = Folder::empty()
        .with("a.txt", cp1251(&first))
        .with("b.txt", cp1251(&second))
        .with("c.txt", cp1251(&first))
        .with("d.txt", english)
        .with("e.txt", utf16(&format!("\u{FEFF}{english}")))
        .with("f.jsonl", utf16("\u{FEFF}{\"text\": \"a\"}"))
        .with("g.csv", [&b"id,text\n1,"[..], &cp1251(&first)].concat());
    let run = folder.run_words("dedup . --write-kept --output found");
    assert_eq!(run.code, 3, "{}", run.err);
    let removed = fs::read_to_string(folder.path("found/removed.jsonl")).unwrap();
    assert_eq!(removed.lines().count(), 1, "{removed}");
    assert!(removed.contains("e.txt") && removed.contains("d.txt"), "{removed}");
    let quarantine = fs::read_to_string(folder.path("found/quarantine.jsonl")).unwrap();
    for name in ["a.txt", "b.txt", "c.txt", "g.csv"] {
        assert!(quarantine.contains(name), "{name}: {quarantine}");
        let copy = fs::read(folder.path(&format!("found/kept/{name}"))).unwrap();
        assert_eq!(copy, fs::read(folder.path(name)).unwrap(), "{name}");
    }
    assert!(quarantine.contains("undecodable"), "{quarantine}");
    assert!(run.err.contains("is in UTF-16, which is read only in text and HTML"), "{}", run.err);
}
