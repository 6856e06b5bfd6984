//! Dumps in XML are read by every command, and copied without the records that are removed.

use crate::inputs::WORDS;
use crate::program::Folder;
use std::fs;

/// Text that two documents of each file have.
const SHARED: &str = "a river runs between two old towns and feeds the mills on both banks";

fn page(id: u32, text: &str) -> String {
    format!(
        "  <page>\n    <title>T{id}</title>\n    <id>{id}</id>\n    <revision><id>9{id}</id><text \
         xml:space=\"preserve\">{text} &amp;c. &lt;ref/&gt;</text></revision>\n  </page>\n"
    )
}

/// Returns the dump of a wiki with these pages.
fn wiki(pages: &[String]) -> String {
    format!(
        "<mediawiki xmlns=\"http://www.mediawiki.org/xml/export-0.11/\">\n  <siteinfo><page_/></siteinfo>\n{}</mediawiki>\n",
        pages.concat()
    )
}

/// Returns the names and contents of small dumps of four kinds. Each has two equal documents and another one.
fn dumps() -> [(&'static str, String); 4] {
    let other = "completely different words about something else that nobody has said before";
    let row = |id: u32, text: &str| {
        format!("  <row Id=\"{id}\" Title=\"Q\" Body=\"&lt;p&gt;{text}&lt;/p&gt;&#xA;\" />\n")
    };
    let article = |id: u32, text: &str| {
        format!(
            "<PubmedArticle><MedlineCitation><PMID Version=\"1\">{id}</PMID><Article><ArticleTitle>On <i>it</i>.\
             </ArticleTitle><Abstract><AbstractText>{text}</AbstractText></Abstract></Article></MedlineCitation>\
             </PubmedArticle>\n"
        )
    };
    let item = |id: u32, text: &str| {
        format!(
            "<item><title>News</title><guid>{id}</guid><description><![CDATA[<p>{text}</p>]]></description></item>\n"
        )
    };
    let texts = |of: &dyn Fn(u32, &str) -> String| {
        [(1, SHARED), (2, other), (3, SHARED)].map(|(id, text)| of(id, text)).concat()
    };
    [
        ("wiki.xml", wiki(&[page(1, SHARED), page(2, other), page(3, SHARED)])),
        (
            "Posts.xml",
            format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<posts>\n{}</posts>", texts(&row)),
        ),
        (
            "pubmed.xml",
            format!(
                "<?xml version=\"1.0\"?>\n<!DOCTYPE PubmedArticleSet SYSTEM \"x.dtd\">\n<PubmedArticleSet>\n{}\
                 </PubmedArticleSet>\n",
                texts(&article)
            ),
        ),
        ("news.rss", format!("<rss version=\"2.0\"><channel>\n{}</channel></rss>\n", texts(&item))),
    ]
}

#[test]
fn copies_of_dumps_lack_the_removed_records_and_nothing_else() {
    for (name, content) in dumps() {
        let folder = Folder::empty().with(name, &content);
        let run = folder.run_words(&format!("dedup {name} --write-kept --force"));
        assert_eq!(run.code, 0, "{name}: {}", run.err);
        assert!(run.out.contains("documents                 3\n"), "{name}: {}", run.out);
        let removed = fs::read_to_string(folder.path("simtool-out/removed.jsonl")).unwrap();
        assert_eq!(removed.lines().count(), 1, "{name}: {removed}");
        assert!(removed.starts_with("{\"id\":\"3\","), "{name}: {removed}");
        let kept = fs::read_to_string(folder.path("simtool-out/kept").join(name)).unwrap();
        // The third record ends before the end tag of the element around it.
        let [start, end] = match name {
            "wiki.xml" => ["<page>\n    <title>T3", "</mediawiki>"],
            "Posts.xml" => ["<row Id=\"3\"", "</posts>"],
            "pubmed.xml" => {
                ["<PubmedArticle><MedlineCitation><PMID Version=\"1\">3", "</PubmedArticleSet>"]
            }
            _ => ["<item><title>News</title><guid>3", "</channel>"],
        };
        let [start, end] = [start, end].map(|part| content.find(part).unwrap());
        assert_eq!(kept, [&content[..start], &content[end..]].concat(), "{name}");
        // No two documents of the copy are copies of each other.
        let run =
            folder.run_words(&format!("dedup simtool-out/kept/{name} --output again --force"));
        assert_eq!(run.code, 0, "{name}: {}", run.err);
        assert!(run.out.contains("documents                 2\n"), "{name}: {}", run.out);
    }
}

#[test]
fn every_command_reads_dumps() {
    let [(_, wiki), posts, ..] = dumps();
    let long = format!("{SHARED} and many words of its own that stay in the text after the cut");
    let cut = format!("<mediawiki>{}{}</mediawiki>", page(1, SHARED), page(2, &long));
    let folder = Folder::empty()
        .with("wiki.xml", &wiki)
        .with("cut.xml", &cut)
        .with("Posts.xml", posts.1)
        .with("items.jsonl", format!("{{\"text\":\"{SHARED}\"}}\n"));
    for (command, expected) in [
        ("dedup wiki.xml --output a --id-field page.title", "documents                 3"),
        ("match wiki.xml --against Posts.xml --output b --similarity 0.5", "documents"),
        ("passages cut.xml --words 8 --output c --write-kept", "passages"),
        ("contamination items.jsonl --in wiki.xml --output d", "1 of 1 item found"),
        ("fingerprint wiki.xml --output e.parquet --method simhash", ""),
        ("text wiki.xml --output f.jsonl", ""),
        ("index create i", ""),
        ("index add i wiki.xml", ""),
        ("index query i Posts.xml", ""),
        ("compare wiki.xml#1 wiki.xml#3", ""),
    ] {
        let run = folder.run_words(command);
        assert_eq!(run.code, 0, "{command}: {} {}", run.err, run.out);
        assert!(run.out.contains(expected) || run.err.contains(expected), "{command}: {}", run.out);
    }
    let texts = fs::read_to_string(folder.path("f.jsonl")).unwrap();
    assert!(texts.contains(&format!("{SHARED} &c. <ref/>\"")), "{texts}");
    // Records of XML cannot be edited, so the copy of the cut document is whole and listed.
    assert_eq!(fs::read_to_string(folder.path("c/kept/cut.xml")).unwrap(), cut);
    assert!(fs::read_to_string(folder.path("c/uncut.jsonl")).unwrap().contains("\"2\""));
}

#[test]
fn unknown_documents_need_the_element_of_a_record() {
    let content = format!(
        "<?xml version=\"1.0\"?>\n<library><books><book n=\"1\"><body>{WORDS}</body></book><book n=\"2\"><body>{WORDS}\
         </body></book><book><body>cut</book></books></library>\n"
    );
    let folder = Folder::empty()
        .with("a.xml", content)
        .with("items.jsonl", format!("{{\"text\":\"{SHARED}\"}}\n"))
        .with("sitemap.xml", "<urlset><url><loc>http://a</loc></url></urlset>");
    let run = folder.run_words("dedup items.jsonl a.xml sitemap.xml");
    assert_eq!(run.code, 3, "{}", run.err);
    let advice = "--text-field book.body; the first one has @n, body. To read the file as one text, use --format text";
    assert!(run.err.contains(advice), "{}", run.err);
    assert!(run.err.contains("is a sitemap: addresses in XML and no texts"), "{}", run.err);
    let run = folder.run_words("dedup a.xml --text-field book.body --id-field @n --force");
    assert_eq!(run.code, 3, "{}", run.err);
    let removed = fs::read_to_string(folder.path("simtool-out/removed.jsonl")).unwrap();
    assert!(removed.starts_with("{\"id\":\"2\","), "{removed}");
    let bad = fs::read_to_string(folder.path("simtool-out/quarantine.jsonl")).unwrap();
    assert!(bad.contains("</body> before </book> at byte 15 of the record"), "{bad}");
    let run = folder.run_words("dedup a.xml --text-field book.boddy --force");
    assert!(run.err.contains("there are: @n, body."), "{}", run.err);
}
