//! Words of the page for the two documents of a pair. A deduplication removes one of them in favour of the other,
//! and a match compares queries with the documents of a corpus.

use crate::write::summary::Summary;

/// Words of the page for the two documents of a pair.
pub(super) struct Wording {
    /// Name of the document that was found to be similar, without an article, for example `removed document`.
    pub(super) similar: &'static str,
    /// Name of the other document of the pair, with the definite article, for example `the kept document`.
    pub(super) other: &'static str,
    /// Labels of the two documents of a pair: first of the other document, then of the similar document.
    pub(super) labels: [&'static str; 2],
    /// Beginning of a sentence: a phrase for the documents that a run with a stricter limit would find.
    pub(super) at_another_limit: &'static str,
}

const DEDUPLICATION: Wording = Wording {
    similar: "removed document",
    other: "the kept document",
    labels: ["kept", "removed"],
    at_another_limit: "Documents that a run with a stricter limit would remove",
};

const MATCH: Wording = Wording {
    similar: "matched document",
    other: "the most similar document of the corpus",
    labels: ["corpus", "query"],
    at_another_limit: "Queries that a run with a stricter limit would match",
};

/// Words for an item and a document that contains it.
pub(super) const ITEM: Wording = Wording {
    similar: "document",
    other: "the item",
    labels: ["item", "document"],
    at_another_limit: "",
};

impl Wording {
    /// Returns the words that fit a run: the words for a deduplication, or for a match.
    pub(super) fn of(summary: &Summary) -> &'static Self {
        if summary.is_match() { &MATCH } else { &DEDUPLICATION }
    }
}
