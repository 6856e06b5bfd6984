//! Words of the page for the two documents of a pair. A deduplication removes one of them in favour of the other,
//! and a match compares queries with the documents of a corpus.

use crate::write::summary::Summary;

/// Words of the page for the two documents of a pair.
pub(super) struct Wording {
    /// Name of a document that is similar to another document, without an article and in the singular.
    pub(super) similar: &'static str,
    /// Name of the document that it is similar to, with the definite article.
    pub(super) other: &'static str,
    /// Labels of the two documents of a pair: first of the other document, then of the similar document.
    pub(super) labels: [&'static str; 2],
    /// Documents that a run with a stricter limit would find.
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
    /// Returns the words for a run.
    pub(super) fn of(summary: &Summary) -> &'static Self {
        if summary.is_match() { &MATCH } else { &DEDUPLICATION }
    }
}
