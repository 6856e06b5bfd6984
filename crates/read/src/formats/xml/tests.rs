//! Tests of the reader of XML.

use super::head::{declared_encoding, refusal};
use super::record::field_names;
use super::records::XmlRecords;
use crate::conformance::{Seen, gzip, options, read_as};
use crate::documents::ReadOptions;
use crate::formats::{Columns, Format, Selector, SplitStep, Splitter};
use proptest::prelude::*;
use quick_xml::events::Event;
use simtool_model::document::Content;
use simtool_model::document_id::DocumentId;

/// Reads XML in which `text` selects the text, plain and compressed.
#[track_caller]
fn read_with(text: &str, content: &[u8]) -> Seen {
    let options = ReadOptions {
        format: Some(Format::XML),
        text_field: Selector::from(text),
        ..options(1 << 20)
    };
    let seen = read_as("a.xml", content, options.clone());
    assert_eq!(seen.bytes, content);
    assert_eq!(read_as("a.xml.gz", &gzip(content), options), seen);
    seen
}

#[track_caller]
fn check(text: &str, content: &str, expected: &[(&str, &str)]) {
    let seen = read_with(text, content.as_bytes());
    assert_eq!(seen.texts(), expected, "{seen:?}");
    assert_eq!((seen.bad.len(), seen.lost.len(), seen.warned.len()), (0, 0, 0), "{seen:?}");
}

#[test]
fn dumps_and_feeds_with_known_roots_need_no_selector() {
    for (content, expected) in [
        (
            "<mediawiki xmlns=\"http://x\"><siteinfo><page_count/></siteinfo>\n<page><title>T</title><id>1</id>\
             <revision><id>7</id><text xml:space=\"preserve\">a &lt;b&gt; &amp;amp; c</text></revision></page>\n\
             <page><id>2</id><redirect title=\"T\"/><revision><text>#REDIRECT [[T]]</text></revision></page></mediawiki>",
            [("1", "a <b> &amp; c")].as_slice(),
        ),
        (
            "<posts><row Id=\"4\" Title=\"How?\" Body=\"&lt;p&gt;A &amp;amp; b&lt;/p&gt;&#xA;&lt;p&gt;c\" />\
             <row Id=\"5\" Body=\"plain\"/></posts>",
            &[("4", "How?\nA & b\nc"), ("5", "plain")],
        ),
        ("<comments><row Id=\"4\" Text=\"1 &lt; 2\"/></comments>", &[("4", "1 < 2")]),
        (
            "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version=\"1\">9</PMID><Article>\
             <ArticleTitle>On H<sub>2</sub>O.</ArticleTitle><Abstract><AbstractText Label=\"AIMS\">An <i>aim</i>.\
             </AbstractText><AbstractText>More.</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>\
             </PubmedArticleSet>",
            &[("9", "On H2O.\nAn aim.\nMore.")],
        ),
        (
            "<rss version=\"2.0\"><channel><title>C</title><item><title>A</title><link>u</link><media:title>M</media:title>\
             <description>&lt;p&gt;x &amp;eacute;</description></item><item><guid>g</guid><title>B</title>\
             <description>short</description><content:encoded><![CDATA[<p>lo<b>ng</b>]]></content:encoded></item>\
             </channel></rss>",
            &[("u", "A\nx é"), ("g", "B\nlong")],
        ),
        (
            "<feed xmlns=\"a\"><id>f</id><entry><id>1</id><title>T</title><summary>s</summary><content type=\"html\">\
             &lt;i&gt;c</content></entry></feed>",
            &[("1", "T\nc")],
        ),
        (
            "<TEI><teiHeader><title>T</title></teiHeader><text><body><p>one</p><p>two<lb/>three</p></body></text></TEI>",
            &[("", "one\ntwo\nthree")],
        ),
        ("<teiCorpus.2><TEI.2 xml:id='a'><text>x</text></TEI.2></teiCorpus.2>", &[("a", "x")]),
        (
            "<article><front><article-meta><article-id>7</article-id><title-group><article-title>T</article-title>\
             </title-group></article-meta></front><body><sec><p>x</p></sec></body></article>",
            &[("7", "T\nx")],
        ),
        ("<article><title>T</title><para>x</para></article>", &[("", "T\nx")]),
    ] {
        check("text", content, expected);
        check(
            "text",
            &format!("\u{feff}<?xml version=\"1.0\"?>\n{content}\n<!-- end -->"),
            expected,
        );
    }
    check(
        "@Title+@Body",
        "<posts><row Id='1' Title='a' Body='&lt;i>b'/></posts>",
        &[("1", "a\nb")],
    );
    check(
        "entry.summary",
        "<feed><entry><id>1</id><summary>&lt;i>s</summary></entry></feed>",
        &[("1", "s")],
    );
    let all = "<mediawiki><page><id>1</id><title>T</title></page></mediawiki>";
    check("*", all, &[("1", "1\nT")]);
}

#[test]
fn the_first_name_of_a_path_is_the_element_of_a_record() {
    let content = "<a><r id=\"1\"><t>x</t><t>y</t><u k=\"v\">z</u></r><r xml:id=\"2\"><t/></r><s><t>w</t></s></a>";
    for (text, expected) in [
        ("r.t", [("1", "x\ny"), ("2", "")].as_slice()),
        ("r.u,r.t", &[("1", "z"), ("2", "")]),
        ("r.t+r.u?", &[("1", "x\ny\nz"), ("2", "")]),
        ("r[].t[]", &[("1", "x\ny"), ("2", "")]),
        ("r", &[("1", "x\ny\nz"), ("2", "")]),
        ("t", &[("", "x"), ("", "y"), ("", ""), ("", "w")]),
        ("s.t", &[("", "w")]),
        ("r.t,s.t", &[("1", "x\ny"), ("2", ""), ("", "w")]),
    ] {
        check(text, content, expected);
    }
    let seen = read_with("r.u.@k", content.as_bytes());
    assert_eq!((seen.texts(), seen.bad.len()), (vec![("1", "v")], 1));
    assert_eq!(seen.bad[0].3, "text-field");
    let none = read_with("x.t", content.as_bytes());
    assert_eq!((none.documents.len(), &none.warned[..]), (0, &["empty"][..]));
}

#[test]
fn names_match_with_and_without_their_prefix() {
    let content = "<o:a><o:r><o:t>x</o:t></o:r><o:r><p:t>y</p:t></o:r><o:r><p:t>z</p:t><o:t>x</o:t><p:t>z</p:t></o:r></o:a>";
    check("r.t", content, &[("", "x"), ("", "y"), ("", "x")]);
    check("o:r.p:t,r.t", content, &[("", "x"), ("", "y"), ("", "z\nz")]);
}

#[test]
fn markup_that_is_no_text_is_left_out_and_references_are_resolved() {
    let content = "<!DOCTYPE a [<!ENTITY e \"<r><t>'\"> <!-- ' --> ]>\n<a><?x <r> ?><!-- <r><t>no</t></r> --><r><t>a<!-- <x> -->b\
                   <?p ?><![CDATA[<&lt;]]>&#65;&#x42;&apos;&quot;&gt;</t></r><![CDATA[<r>]]></a>";
    check("r.t", content, &[("", "ab<&lt;AB'\">")]);
    let seen = read_with("r.t", b"<a><r><t>&e; &nbsp; AT&T &#0; &#xD800; &amp;</t></r></a>");
    assert_eq!(seen.texts(), [("", "&e; &nbsp; AT&T &#0; &#xD800; &")]);
}

#[test]
fn encodings_are_those_that_the_file_declares() {
    for (label, encoding) in [
        ("ISO-8859-1", encoding_rs::WINDOWS_1252),
        ("windows-1251", encoding_rs::WINDOWS_1251),
        ("gb2312", encoding_rs::GBK),
        ("UTF-8", encoding_rs::UTF_8),
        ("utf-16", encoding_rs::UTF_8),
    ] {
        let word = if encoding == encoding_rs::WINDOWS_1251 { "слово" } else { "été" };
        let word = if encoding == encoding_rs::GBK { "中文" } else { word };
        let content = format!(
            "<?xml version='1.0' encoding='{label}'?>\n<a><{word}><t>{word}&#233;</t></{word}></a>"
        );
        let bytes = encoding.encode(&content).0;
        let seen = read_with(&format!("{word}.t"), &bytes);
        assert_eq!(seen.texts(), [("", &*format!("{word}é"))], "{label}");
    }
    assert_eq!(declared_encoding(b"<a encoding='latin1'?>"), None);
    let content = "<?xml version=\"1.0\"?><mediawiki></mediawiki>";
    let utf16: Vec<u8> =
        format!("\u{feff}{content}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(read_as("a.xml", &utf16, options(1)).lost, ["format"]);
    assert_eq!(read_as("a", &utf16, options(1)).lost, ["format"]);
}

#[test]
fn a_damaged_record_costs_itself_alone() {
    let good = "<page><id>1</id><revision><text>a</text></revision></page>\n";
    for bad in [
        "<page><id>2</id><revision><text>b</revision></page>\n",
        "<page><id>2</id><revision><text>b</text></revision>\n",
        "<page><id a=2><revision><text>b</text></revision></page>\n",
        "<page><id a=\"2><revision><text>b</text></revision></page>\n",
        "<page><revision><text>1 < 2</text></revision></page>\n",
        "<page><revision><text>1</text</revision></page>\n",
        "<page></revision></page>\n",
        "<page><revision><text><!-- b</text></revision></page>\n",
        "<page><revision><text><![CDATA[b</text></revision></page>\n",
    ] {
        let content = format!("<mediawiki>\n{good}{bad}{good}</mediawiki>\n");
        let seen = read_with("text", content.as_bytes());
        assert_eq!(seen.texts(), [("1", "a"); 2], "{bad}: {seen:?}");
        let at = (12 + good.len()) as u64;
        assert_eq!(seen.bad, [(1, at, bad.len() as u64, "xml")], "{bad}");
    }
    // A comment without an end between records is a bad record up to the next one.
    let open = format!("<mediawiki>\n{good}<!-- \n{good}</mediawiki>\n");
    let seen = read_with("text", open.as_bytes());
    assert_eq!((seen.texts(), seen.bad.len()), (vec![("1", "a"); 2], 1));
    // An unknown kind of records may have records inside, so the end of the root shows the damage.
    let open = "<a><r><t>x</t><r><t>y</t></r>\n<r><t>z</t></r></a>";
    let seen = read_with("r.t", open.as_bytes());
    assert_eq!((seen.texts(), seen.bad.len()), (vec![("", "y"), ("", "z")], 1));
    check("r.t", "<a><r><t>x</t><r><t>y</t></r></r></a>", &[("", "x")]);
    let deep = format!("<a><r>{}</r><r><t>z</t></r></a>", "<x>".repeat(100_000));
    let seen = read_with("r.t", deep.as_bytes());
    assert_eq!((seen.texts(), seen.bad.len()), (vec![("", "z")], 1));
}

#[test]
fn a_cut_file_names_the_place() {
    let content = "<a>\n<r><t>x</t></r>\n<r><t>y</t></r>\n</a>\n";
    let ends = [18, 20, 36, 39].map(|end| {
        let seen = read_with("r.t", &content.as_bytes()[..end]);
        (seen.documents.len(), seen.bad.iter().map(|bad| (bad.1, bad.3)).collect::<Vec<_>>())
    });
    let cut = |byte| vec![(byte, "truncated")];
    assert_eq!(ends, [(0, cut(4)), (1, cut(20)), (2, cut(36)), (2, cut(36))]);
    for end in 3..content.len() - 1 {
        let seen = read_with("r.t", &content.as_bytes()[..end]);
        assert_eq!(seen.bad.len(), 1, "cut at {end}: {seen:?}");
    }
}

#[test]
fn unknown_documents_are_refused_with_the_selector_to_use() {
    let of = |content: &str, text: &str| refusal(content.as_bytes(), &Selector::from(text));
    let unknown =
        "<lib><info/><books><book id=\"1\"><a.b>x</a.b><t>y</t></book><book/></books></lib>";
    let message = of(unknown, "text").unwrap();
    assert!(message.contains("root element lib"), "{message}");
    assert!(
        message.contains("`text_field=book.a\\.b`; the first one has @id, a\\.b, t."),
        "{message}"
    );
    assert_eq!(of(unknown, "book.t"), None);
    assert_eq!(
        of("<lib><book>x</book></lib>", "text").unwrap().matches("`text_field=lib.book`").count(),
        1
    );
    assert!(of("<lib/>", "@Body").is_some() && of("<posts/>", "@Body").is_none());
    assert!(of("<urlset/>", "url.loc").unwrap().contains("sitemap"));
    assert!(of("words", "a.b").unwrap().contains("no element"));
    assert_eq!(read_as("a.xml", unknown.as_bytes(), options(1)).lost, ["format"]);
    for name in ["a.jsonl", "a.html"] {
        let seen = read_as(name, b"<?xml version='1.0'?>\n<mediawiki/>", options(1));
        assert!(seen.lost == ["format"] || seen.texts() == [("", "")], "{name}");
    }
}

#[test]
fn fields_are_named_by_their_paths() {
    let record = b"<r a=\"1\"><t>x</t><u><v b='2'/><v>y</v></u>\n<t>z</t></r>";
    assert_eq!(field_names(record), ["@a", "t", "u.v.@b", "u.v"]);
    assert_eq!(field_names(b"<row Id=\"1\"/>"), ["@Id"]);
    for other in [&b"<a><b>x</b>"[..], b"text", b"", b"</a>", b"<?xml?>"] {
        assert_eq!(field_names(other), [""; 0]);
    }
}

/// Returns the offset, the length, and the text or code of each record of `content`. The splitter gets windows of
/// `size` bytes at first, and longer ones only if it requests more bytes.
fn in_windows(content: &[u8], size: usize) -> Vec<(usize, usize, String)> {
    let [text, id] = ["r.t,r.@t", "id"].map(Selector::from);
    let mut records = XmlRecords::new(Columns { text: &text, id: &id, fields: &[] }, None);
    let mut seen = Vec::new();
    let (mut at, mut end) = (0, size);
    while at < content.len() {
        let window = &content[at..end.min(content.len())];
        let last = end >= content.len();
        match records.next(window, last) {
            SplitStep::Record { length, counted, content } => {
                assert!(length > 0 && length <= window.len());
                let found = match content {
                    Content::Document(d) => {
                        let id = d.id.map_or(&b""[..], |id: DocumentId<'_>| id.bytes());
                        format!(
                            "{} {}",
                            String::from_utf8_lossy(id),
                            String::from_utf8_lossy(d.text)
                        )
                    }
                    Content::Bad(bad) => format!("{}: {}", bad.code, bad.expected),
                    other => format!("{other:?}"),
                };
                if counted {
                    seen.push((at, length, found));
                }
                at += length;
                end = at + size;
            }
            SplitStep::More if last => {
                seen.push((at, content.len() - at, "truncated".to_owned()));
                break;
            }
            SplitStep::More => end += size,
        }
    }
    seen
}

/// Returns the texts of the elements `<t>` that quick-xml finds, without white space.
fn twin(content: &str) -> Vec<String> {
    let mut reader = quick_xml::Reader::from_str(content);
    let mut texts = Vec::new();
    let mut open = 0;
    loop {
        let piece = match reader.read_event().unwrap() {
            Event::Start(tag) if tag.name().as_ref() == "t" => {
                open += 1;
                texts.push(String::new());
                continue;
            }
            Event::End(tag) if tag.name().as_ref() == "t" => {
                open -= 1;
                continue;
            }
            Event::Text(text) => text.to_string(),
            Event::CData(text) => text.to_string(),
            Event::GeneralRef(reference) => {
                let character = reference.resolve_char_ref().unwrap().map(String::from);
                let named = || quick_xml::escape::resolve_predefined_entity(&reference).unwrap();
                character.unwrap_or_else(|| named().to_owned())
            }
            Event::Eof => return texts,
            _ => continue,
        };
        if open > 0 {
            texts.last_mut().unwrap().push_str(&without_space(&piece));
        }
    }
}

fn without_space(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Pieces of well-formed content of an element.
fn content() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-c \né]{1,6}",
        "&(lt|gt|amp|quot|apos|#65|#x1F600);",
        "<!-- ?[a<&\"']{0,3} -->",
        "<!\\[CDATA\\[[a<&\\]>]{0,2}\\]\\]>",
        "<\\?x [<>a]{0,3}\\?>",
        "<i( b=\"[a>']{0,3}\")?>[a-c]{0,3}(&lt;)?</i>",
        "<e c='[\">/]{0,2}'/>",
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn texts_are_those_of_the_twin(texts in prop::collection::vec(content(), 1..6)) {
        let record = |text: &String| format!("<r><u>{text}</u><t>{text}</t></r>");
        let records = texts.iter().map(record).collect::<Vec<_>>().concat();
        let content = format!("<?xml version=\"1.0\"?><a>{records}</a>");
        let seen = in_windows(content.as_bytes(), content.len());
        let found: Vec<String> = seen.iter().map(|(_, _, text)| without_space(text)).collect();
        prop_assert_eq!(found, twin(&content));
    }

    #[test]
    fn windows_of_any_size_give_the_same_records(
        content in "(<r>|</r>|<r t=\"x&y\" id='1'/>|<t>|</t>|<t/>|<!--|-->|<!\\[CDATA\\[|\\]\\]>|<\\?x|\\?>|<a>|</a>|<!DOCTYPE \\[|\\]>|<|>|\"|'|&lt;|[ab \n]{1,4}|é){0,40}",
        size in 1_usize..40,
    ) {
        for content in [content.clone(), format!("<a><r><t>{content}</r><r><t>x</t></r></a>")] {
            let whole = in_windows(content.as_bytes(), content.len().max(1));
            prop_assert_eq!(in_windows(content.as_bytes(), size), whole, "{}", content);
            drop(field_names(content.as_bytes()));
            drop(refusal(content.as_bytes(), &Selector::from("text")));
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic(content in prop::collection::vec(0_u8..=0xFF, 0..60)) {
        let content = [b"<a><r><t>", &content[..]].concat();
        drop(in_windows(&content, 7));
        _ = declared_encoding(&content);
    }
}
