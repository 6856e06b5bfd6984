//! Kinds of XML documents that are recognized by their root element: kinds with known records, and kinds without texts.

use crate::formats::Selector;

/// A kind of XML documents with known records.
#[derive(Debug)]
pub(super) struct KnownRoot {
    /// Possible names of the root element, without the prefix of a namespace.
    names: &'static [&'static str],
    /// Selector of the text. The first name of each path is the element of a record.
    text: &'static str,
    /// Selector of the ID. Its paths begin inside the element of a record.
    pub(super) id: &'static str,
    /// Names of elements and attributes whose text is HTML with escaped markup.
    pub(super) html: &'static [&'static str],
    /// Name of the element that marks a record as a redirect, which has no text of its own and only names another
    /// record.
    pub(super) redirect: Option<&'static str>,
}

/// Selector of the ID in documents of unknown kinds.
pub(super) const ANY_ID: &str = "id,@id";

const PLAIN: KnownRoot = KnownRoot { names: &[], text: "", id: ANY_ID, html: &[], redirect: None };

/// The known kinds. To add a kind, add its row.
static KNOWN: [KnownRoot; 7] = [
    KnownRoot {
        names: &["mediawiki"],
        text: "page.revision.text",
        redirect: Some("redirect"),
        ..PLAIN
    },
    // Dumps of Stack Exchange.
    KnownRoot {
        names: &["posts", "comments", "posthistory"],
        text: "row.@Title?+row.@Body,row.@Text",
        id: "@Id",
        html: &["Body"],
        ..PLAIN
    },
    KnownRoot {
        names: &["PubmedArticleSet"],
        text: "PubmedArticle.MedlineCitation.Article.ArticleTitle?+\
               PubmedArticle.MedlineCitation.Article.Abstract.AbstractText?",
        id: "MedlineCitation.PMID",
        ..PLAIN
    },
    // JATS, and articles of DocBook.
    KnownRoot {
        names: &["article", "pmc-articleset"],
        text: "article.front.article-meta.title-group.article-title?+\
               article.front.article-meta.abstract?+article.body?,article",
        id: "front.article-meta.article-id,@id",
        ..PLAIN
    },
    KnownRoot {
        names: &["rss", "RDF"],
        text: "item.title?+item.encoded,item.title?+item.description,item.title",
        id: "guid,link,@about",
        html: &["encoded", "description"],
        ..PLAIN
    },
    // Atom.
    KnownRoot {
        names: &["feed"],
        text: "entry.title?+entry.content,entry.title?+entry.summary,entry.title",
        id: "id,link.@href",
        html: &["content", "summary"],
        ..PLAIN
    },
    KnownRoot {
        names: &["TEI", "TEI.2", "teiCorpus", "teiCorpus.2"],
        text: r"TEI.text,TEI\.2.text",
        id: "@id,teiHeader.fileDesc.publicationStmt.idno",
        ..PLAIN
    },
];

/// Kinds of XML documents without texts.
struct Textless {
    names: &'static [&'static str],
    description: &'static str,
}

const TEXTLESS: [Textless; 3] = [
    Textless {
        names: &["urlset", "sitemapindex"],
        description: "a sitemap: addresses in XML and no texts. Leave it out, for example with `glob`",
    },
    Textless {
        names: &["svg", "plist"],
        description: "an image or a list of settings in XML and no text. Leave it out, for example with `glob`",
    },
    Textless {
        names: &["Error", "ListBucketResult"],
        description: "the answer of a storage service in XML and not the data. Download the file again",
    },
];

impl KnownRoot {
    /// Returns the known kind whose root element has this name without a prefix, or `None`.
    pub(super) fn from_name(name: &[u8]) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.names.iter().any(|known| known.as_bytes() == name))
    }

    pub(super) fn text(&self) -> Selector {
        Selector::from(self.text)
    }
}

/// Returns the description of documents without texts, by the name of their root element without a prefix. Returns
/// `None` if documents with this root element may have texts.
pub(super) fn textless(name: &[u8]) -> Option<&'static str> {
    let has_name = |kind: &&Textless| kind.names.iter().any(|known| known.as_bytes() == name);
    TEXTLESS.iter().find(has_name).map(|kind| kind.description)
}
