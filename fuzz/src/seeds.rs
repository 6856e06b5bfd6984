//! Small valid inputs of each format, made by code.

use arrow_array::{ArrayRef, Int64Array, ListArray, RecordBatch, StringArray, StructArray};
use std::io::Write;
use std::sync::Arc;

/// Texts of the documents, some with unusual characters.
const TEXTS: [&str; 4] = [
    "one two three four five",
    "caf\u{e9} \u{4e2d}\u{6587} \"quoted\" \\ back, tab\tend",
    "",
    "first line\nsecond line\n\nFrom a third one",
];

/// Returns a text as a string of JSON.
fn json_string(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// Returns an object of JSON for each text.
fn objects() -> Vec<String> {
    let object = |(id, text): (usize, &&str)| {
        let text = json_string(text);
        format!("{{\"id\": {id}, \"meta\": {{\"n\": [1, -2.5e3, null]}}, \"text\": {text}}}")
    };
    TEXTS.iter().enumerate().map(object).collect()
}

pub(super) fn jsonl() -> Vec<Vec<u8>> {
    let lines = objects().join("\n");
    let odd = "{\"text\": [\"a\", null, \"\\ud83d\\ude00\"], \"n\": NaN}\r\n\n{\"text\": 5}\n";
    vec![lines.clone().into_bytes(), format!("\u{feff}{lines}\n{odd}").into_bytes()]
}

pub(super) fn json() -> Vec<Vec<u8>> {
    let objects = objects();
    let array = format!("[{}]\n", objects.join(",\n"));
    let lines = objects.join("\n").replace(", ", ",\n  ");
    vec![
        array.into_bytes(),
        lines.into_bytes(),
        b"[[1, {\"text\": \"a\"}], {\"text\": null}]".to_vec(),
    ]
}

pub(super) fn csv() -> Vec<Vec<u8>> {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let rows = |delimiter: &str, end: &str| {
        let mut rows = vec![["id", "text", "n"].join(delimiter)];
        rows.extend(TEXTS.map(|text| ["a", &quoted(text), "5"].join(delimiter)));
        (rows.join(end) + end).into_bytes()
    };
    let escaped = b"sep=|\r\nid|text\r\n1|\"a \\\"b\\\" c\"\r\n2|'single'\r\n".to_vec();
    vec![rows(",", "\r\n"), rows("\t", "\n"), rows(";", "\n"), escaped]
}

/// Returns a record of a web archive.
fn record(kind: &str, content_type: &str, block: &[u8]) -> Vec<u8> {
    let header = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: https://a.example/x\r\nWARC-Date: \
         2026-01-01T00:00:00Z\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    [header.as_bytes(), block, b"\r\n\r\n"].concat()
}

pub(super) fn warc() -> Vec<Vec<u8>> {
    let page = "<html><head><title>t</title></head><body><p>one two</p></body></html>";
    let chunks = format!("{:x}\r\n{page}\r\n0\r\n\r\n", page.len());
    let response = |headers: &str, body: &[u8]| {
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{headers}\r\n");
        record("response", "application/http; msgtype=response", &[head.as_bytes(), body].concat())
    };
    let packed = gzipped(page.as_bytes());
    let records = [
        record("warcinfo", "application/warc-fields", b"software: a\r\n"),
        response("", page.as_bytes()),
        response("Transfer-Encoding: chunked\r\n", chunks.as_bytes()),
        response("Content-Encoding: gzip\r\n", &packed),
        record("conversion", "text/plain", TEXTS[1].as_bytes()),
    ];
    vec![records.concat(), records.map(|record| gzipped(&record)).concat()]
}

pub(super) fn html() -> Vec<Vec<u8>> {
    let page = |head: &str, body: &[u8]| {
        let head =
            format!("<!DOCTYPE html><html><head>{head}<title>a &amp; b</title></head><body>");
        [head.as_bytes(), body, b"<script>x<y</script><p>end</body></html>"].concat()
    };
    vec![
        page("<meta charset=\"windows-1251\">", b"\xcf\xf0\xe8\xe2\xe5\xf2 <b>b</b>"),
        page("<meta http-equiv=Content-Type content='text/html; charset=shift_jis'>", b"\x83\x65"),
        page("", b"<table><tr><td>1<td>2</table><svg><a/></svg>&#x4e2d;&nbsp;&notit;"),
        b"\xff\xfe<\0p\0>\0a\0".to_vec(),
    ]
}

pub(super) fn mail() -> Vec<Vec<u8>> {
    let header = "Message-ID: <1@a.example>\nSubject: =?utf-8?q?caf=C3=A9?=\nFrom: a@a.example\nDate: \
                  Thu, 1 Jan 2026 00:00:00 +0000\n";
    let plain =
        format!("From a@a.example Thu Jan  1 00:00:00 2026\n{header}\none two\n>From x\n\n");
    let parts = format!(
        "From b@a.example Thu Jan  1 00:00:00 2026\n{header}MIME-Version: 1.0\nContent-Type: \
         multipart/alternative; boundary=\"b\"\n\n--b\nContent-Type: text/plain; charset=latin1\n\
         Content-Transfer-Encoding: quoted-printable\n\ncaf=E9 =\nend\n--b\nContent-Type: \
         text/html\nContent-Transfer-Encoding: base64\n\nPHA+aGk8L3A+\n--b--\n\n"
    );
    vec![format!("{plain}{parts}").into_bytes(), plain.into_bytes()]
}

pub(super) fn xml() -> Vec<Vec<u8>> {
    let posts = "<?xml version=\"1.0\" encoding=\"latin1\"?>\n<posts>\n <row Id=\"1\" Title=\"a &amp; b\" \
                 Body=\"&lt;p&gt;one two&lt;/p&gt;\"/>\n <row Id='2' Body='x'/>\n</posts>";
    let wiki = "<mediawiki>\n <siteinfo/><!-- <page> -->\n <page><id>1</id><revision><text>a<![CDATA[<b>]]>&#65;&x;</text>\
                </revision></page>\n <page><redirect/></page>\n</mediawiki>\n";
    vec![posts.into(), wiki.into()]
}

/// Compresses bytes by gzip.
fn gzipped(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).expect("memory takes all bytes");
    encoder.finish().expect("memory takes all bytes")
}

pub(super) fn gzip() -> Vec<Vec<u8>> {
    let lines = jsonl().concat();
    let members = lines.chunks(100).flat_map(gzipped).collect();
    let mut named = flate2::GzBuilder::new()
        .filename("a.jsonl")
        .comment("c")
        .extra(vec![1, 2, 3])
        .write(Vec::new(), flate2::Compression::best());
    named.write_all(&lines).expect("memory takes all bytes");
    vec![gzipped(&lines), members, named.finish().expect("memory takes all bytes")]
}

pub(super) fn zstd() -> Vec<Vec<u8>> {
    let lines = jsonl().concat();
    let frame = |content: &[u8]| zstd::encode_all(content, 3).expect("memory takes all bytes");
    let frames: Vec<u8> = lines.chunks(100).flat_map(frame).collect();
    // A frame to skip has its length after four magic bytes.
    let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3], &frame(&lines)[..]].concat();
    vec![frame(&lines), frames, skipped]
}

/// Returns a table with texts in a column, in a struct and in lists.
fn table() -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(2), None, Some(4)]));
    let texts: ArrayRef = Arc::new(StringArray::from(TEXTS.map(Some).to_vec()));
    let inner = RecordBatch::try_from_iter([("text", Arc::clone(&texts))]).expect("a table");
    let meta: ArrayRef = Arc::new(StructArray::from(inner));
    let lists = ListArray::new(
        Arc::new(arrow_schema::Field::new("element", arrow_schema::DataType::Utf8, true)),
        arrow_buffer::OffsetBuffer::from_lengths([2, 0, 1, 1]),
        Arc::clone(&texts),
        None,
    );
    let columns =
        [("id", ids), ("text", texts), ("meta", meta), ("lists", Arc::new(lists) as ArrayRef)];
    RecordBatch::try_from_iter(columns).expect("the columns have one length")
}

pub(super) fn parquet() -> Vec<Vec<u8>> {
    use parquet::arrow::ArrowWriter;
    use parquet::basic::Compression;
    use parquet::file::properties::WriterProperties;
    let written = |compression| {
        let properties = WriterProperties::builder()
            .set_compression(compression)
            .set_max_row_group_row_count(Some(3))
            .build();
        let mut bytes = Vec::new();
        let table = table();
        let writer = ArrowWriter::try_new(&mut bytes, table.schema(), Some(properties));
        let mut writer = writer.expect("a writer");
        writer.write(&table).expect("memory takes all bytes");
        writer.close().expect("memory takes all bytes");
        bytes
    };
    vec![written(Compression::UNCOMPRESSED), written(Compression::SNAPPY)]
}

pub(super) fn arrow() -> Vec<Vec<u8>> {
    use arrow_ipc::writer::{FileWriter, StreamWriter};
    let table = table();
    let (mut stream, mut file) = (Vec::new(), Vec::new());
    let mut writer = StreamWriter::try_new(&mut stream, &table.schema()).expect("a writer");
    writer.write(&table).expect("memory takes all bytes");
    writer.finish().expect("memory takes all bytes");
    drop(writer);
    let mut writer = FileWriter::try_new(&mut file, &table.schema()).expect("a writer");
    for _ in 0..2 {
        writer.write(&table).expect("memory takes all bytes");
    }
    writer.finish().expect("memory takes all bytes");
    drop(writer);
    vec![stream, file]
}

pub(super) fn settings() -> Vec<Vec<u8>> {
    [
        "method=simhash,bits=128,max-distance=6,verify=cosine:0.8,shingle=chars:5",
        "method=exact,similarity=4/5,weight=idf,tokenizer=words+symbols,stop-words=english",
        "method=multi-lexicon,lexicons=6,votes=4,idf_band=0.1-0.9",
        "text-field=title+body,messages[].content,id-field=meta\\.id,delimiter=tab,quote=none",
        "format=csv,encoding=windows-1251,max-record=2KiB,sample=0.5,limit=10,keep=max,keep-field=n",
        "simhash:bits=64,max_distance=3,word-simhash:bits=512,minhash,exact:similarity=0.8",
        "similarity=0.30000000000000004,recall=0.95,max-memory=2G,threads=2,cluster=components",
    ]
    .map(|list| list.as_bytes().to_vec())
    .to_vec()
}
