//! Counts of a run, with their names and explanations.

use super::Summary;
use simtool_model::non_document::NonDocumentCounts;
use simtool_model::page_text::PageText;
use simtool_model::sides::Sides;

/// Explanation of the number of pages without a main content.
const WHOLE_PAGES: &str =
    "pages without a main content: their whole text was compared, see simtool text";

/// Explanation of the number of elements without a text.
const SKIPPED_ELEMENTS: &str =
    "elements of lists without the field of the text, such as images among the parts of a message";

/// Kinds of text of HTML pages that are compared instead of an ordinary main content. Each kind is followed by the key,
/// the name and the explanation of the count of such pages.
const SPECIAL_PAGES: [(PageText, &str, &str, &str); 3] = [
    (
        PageText::Little,
        "little_pages",
        "little of the page",
        "pages with less than a tenth of their visible letters compared, see simtool text",
    ),
    (
        PageText::NoScript,
        "noscript_pages",
        "noscript pages",
        "pages that were compared by their text for browsers without scripts",
    ),
    (
        PageText::Hidden,
        "hidden_pages",
        "hidden text",
        "pages that were compared with hidden elements, which have much of their text",
    ),
];

/// Explanation of the number of documents that are outside the scope of the comparison.
const WITHOUT_SCOPE: &str = "without a value for within or across: kept";

/// Explanation of the number of documents whose copies have no added columns.
const UNANNOTATED: &str = "copied without columns: their records have no fields of their own, have these, or are no valid text";

/// Explanation of the number of documents that were compared without boilerplate.
const OWN_TEXTS: &str = "compared without lines that many documents have";

/// Explanation of the number of documents that have few words without boilerplate.
const FEW_OWN_WORDS: &str =
    "compared as a whole: without lines that many documents have, few words are left";

/// Explanation of the number of removals that lose words.
const WITH_LOSS: &str = "have words that the document kept in their place lacks, see lost_words";

/// Explanation of the number of removals by coverage that lose words.
const COVERED_WITH_LOSS: &str = "have words that no kept document has, see lost_words";

/// Explanation of the number of files without a copy.
const UNCOPIED: &str =
    "files without a copy in kept: nothing in them can be read, see the output files";

/// A count of the summary, such as the number of documents, with its names for programs and for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Name of the field in `summary.json`.
    pub key: &'static str,
    /// Name of the count in the table on the terminal and on the page.
    pub name: &'static str,
    /// The count. `None` if it is not known.
    pub count: Option<u64>,
    /// Count that corresponds to 100 % when `count` is also shown as a percentage. `None` if no percentage is
    /// shown.
    pub whole: Option<u64>,
    /// Remark for people that is shown next to the count. May be empty.
    pub note: &'static str,
    /// Readers to whom the count is shown.
    pub audience: Audience,
}

/// Readers to whom a [`Figure`] is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Programs and people see the count.
    Everyone,
    /// Programs always see the count. People see it only if it is not 0.
    IfAny,
    /// Only programs see the count, in `summary.json`.
    Programs,
}

impl Figure {
    fn new(key: &'static str, name: &'static str, count: impl Into<Option<u64>>) -> Self {
        let count = count.into();
        Self { key, name, count, whole: None, note: "", audience: Audience::Everyone }
    }

    fn of(self, whole: u64) -> Self {
        Self { whole: Some(whole), ..self }
    }

    fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    fn if_any(self) -> Self {
        Self { audience: Audience::IfAny, ..self }
    }

    /// Shows the count to people only if it is known.
    fn if_known(self) -> Self {
        if self.count.is_some() { self } else { self.for_programs() }
    }

    fn for_programs(self) -> Self {
        Self { audience: Audience::Programs, ..self }
    }

    /// Returns whether the count is shown to people: in the table on the terminal and on the HTML report page.
    #[must_use]
    pub(crate) fn is_for_people(&self) -> bool {
        match self.audience {
            Audience::Everyone => true,
            Audience::IfAny => self.count != Some(0),
            Audience::Programs => false,
        }
    }
}

impl Summary {
    /// Returns all counts in the order in which they are shown. In a match, the counts of the corpus follow
    /// the counts of the queries.
    #[must_use]
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let read = self.read.first();
        let is_coverage = self.covered_by_several.is_some();
        let names = match (self.is_match(), is_coverage) {
            (true, true) => &OF_COVERED_QUERIES,
            (true, false) => &OF_QUERIES,
            (false, _) => &OF_DOCUMENTS,
        };
        let new = |key, name, count: u64| Figure::new(key, name, count);
        let pairs = Figure::new("pairs", "pairs", self.pairs);
        let many = if is_coverage {
            "not searched: the method covered compares no pairs"
        } else {
            "not counted: there are too many pairs"
        };
        let mut figures = vec![
            new("files", names.files, read.files),
            new("records_in", "records", read.records()).for_programs(),
            new("documents", names.documents, read.documents),
            new("kept", "kept", self.kept).of(read.documents).note(names.kept),
            Figure::new("kept_for_words", "  for words", self.kept_for_words)
                .if_known()
                .note("would lose more words than --lose allows"),
            Figure::new("decisions", "  decisions", self.decisions)
                .if_known()
                .note("of --decisions, which overrule the removals"),
            Figure::new("unfit_decisions", "  unfit", self.unfit_decisions).if_known().note(
                "decisions that no longer fit: the documents are removed or kept without them",
            ),
            new("removed", "removed", self.removed).of(read.documents).note(names.removed),
            Figure::new("covered_by_several", "  by several", self.covered_by_several)
                .if_known()
                .note("no single kept document has all their words, but several together do"),
            Figure::new("removed_with_loss", "  losing words", self.losing_removals)
                .if_known()
                .note(if is_coverage { COVERED_WITH_LOSS } else { WITH_LOSS }),
            Figure::new("lost_words", "  words lost", self.lost_words).if_known(),
            new("clusters", names.clusters, self.clusters).note(names.clusters_note),
            new("template_clusters", "templates", self.templates.clusters)
                .if_any()
                .note("clusters that may be pages of one template: look at them before you delete"),
            new("emptied_sources", "sources emptied", self.emptied_sources)
                .if_any()
                .note("more than 90 % of their documents, at least 100, were removed"),
            new("template_removed", "removed as templates", self.templates.removed).for_programs(),
            pairs.note(if self.pairs.is_none() { many } else { "" }),
            new("without_terms", "without words", read.without_terms),
            new("quarantined", "quarantined", read.quarantined),
            new("lost", "lost", read.lost).if_any().note("rows of damaged files"),
            new("passed_over", "passed over", read.passed_over)
                .if_any()
                .note("excluded by the selection: kept without comparison"),
            new("not_compared", "not compared", read.without_scope).if_any().note(WITHOUT_SCOPE),
            new("mended", "repaired", read.repaired)
                .if_any()
                .note("bytes that are not text were replaced, or unknown references kept"),
            new("skipped_elements", "elements skipped", read.skipped_elements)
                .if_any()
                .note(SKIPPED_ELEMENTS),
            new("whole_pages", "whole pages", read.pages.of(PageText::Whole))
                .if_any()
                .note(WHOLE_PAGES),
            new("own_texts", "without boilerplate", read.own_texts).if_any().note(OWN_TEXTS),
            new("few_own_words", "few own words", read.few_own_words).if_any().note(FEW_OWN_WORDS),
            new("left_out_bytes", "bytes left out", read.left_out_bytes).if_any().for_programs(),
            new("file_faults", "file faults", read.file_faults)
                .if_any()
                .note("files, or parts of them, that could not be read"),
            new("shared_ids", "shared IDs", read.shared_ids)
                .if_any()
                .note("documents whose ID another document has, too"),
            new("ambiguous_ids", "ambiguous IDs", self.ambiguous_ids)
                .if_any()
                .note("removed documents that have the same ID as a kept document"),
            new("uncopied_files", "not copied", self.uncopied_files).if_any().note(UNCOPIED),
            new("unannotated", "not annotated", self.unannotated).if_any().note(UNANNOTATED),
            new("text_bytes", "bytes of text", read.text_bytes).for_programs(),
            new("removed_bytes", "bytes of text removed", self.removed_bytes).for_programs(),
        ];
        if let Some(dates) = &self.dates {
            let without = new("without_date", "without date", dates.without);
            let unread = new("unread_dates", "unclear dates", dates.unread);
            figures.extend([
                without.note(
                    "no date, or none that is understood: documents with a date are preferred",
                ),
                unread.if_any().note("dates that are not understood: write them as 2026-01-31"),
            ]);
        }
        figures.push(
            new("unread_numbers", "unclear numbers", self.unread_numbers)
                .if_any()
                .note("values that are no numbers: documents with a number are preferred"),
        );
        if let Sides::Two(_, corpus) = &self.read {
            figures.extend([
                new("corpus_files", "corpus files", corpus.files),
                new("corpus_documents", "corpus documents", corpus.documents),
                new("corpus_without_terms", "  without words", corpus.without_terms).if_any(),
                new("corpus_quarantined", "  quarantined", corpus.quarantined).if_any(),
                new("corpus_lost", "  lost", corpus.lost).if_any().note("rows of damaged files"),
                new("corpus_passed_over", "  passed over", corpus.passed_over)
                    .if_any()
                    .note("excluded by the selection: not compared"),
                new("corpus_not_compared", "  not compared", corpus.without_scope)
                    .if_any()
                    .note(WITHOUT_SCOPE),
                new("corpus_mended", "  repaired", corpus.repaired)
                    .if_any()
                    .note("bytes that are not text were replaced, or unknown references kept"),
                new("corpus_skipped_elements", "  elements skipped", corpus.skipped_elements)
                    .if_any()
                    .note(SKIPPED_ELEMENTS),
                new("corpus_whole_pages", "  whole pages", corpus.pages.of(PageText::Whole))
                    .if_any()
                    .note(WHOLE_PAGES),
                new("corpus_own_texts", "  without boilerplate", corpus.own_texts)
                    .if_any()
                    .note(OWN_TEXTS),
                new("corpus_few_own_words", "  few own words", corpus.few_own_words)
                    .if_any()
                    .note(FEW_OWN_WORDS),
                new("corpus_left_out_bytes", "bytes left out", corpus.left_out_bytes)
                    .if_any()
                    .for_programs(),
                new("corpus_file_faults", "  file faults", corpus.file_faults)
                    .if_any()
                    .note("files, or parts of them, that could not be read"),
                new("corpus_shared_ids", "  shared IDs", corpus.shared_ids)
                    .if_any()
                    .note("documents whose ID another document has, too"),
                new("corpus_text_bytes", "bytes of text", corpus.text_bytes).for_programs(),
            ]);
        }
        figures.extend(self.page_figures());
        figures.extend(self.non_document_figures());
        figures
    }

    /// Returns a count for each kind of HTML pages whose compared text is not an ordinary main content. Leaves out
    /// kinds without pages.
    fn page_figures(&self) -> impl Iterator<Item = Figure> {
        SPECIAL_PAGES.into_iter().filter_map(|(part, key, name, note)| {
            let count: u64 = self.read.iter().map(|read| read.pages.of(part)).sum();
            (count > 0).then(|| Figure::new(key, name, count).note(note))
        })
    }

    /// Returns the counts of records of web archives that are no documents, for the kinds that occur. People
    /// do not see kinds that ordinary archives have.
    fn non_document_figures(&self) -> impl Iterator<Item = Figure> {
        let mut counts = NonDocumentCounts::default();
        self.read.iter().for_each(|read| counts += read.non_documents);
        let kinds: Vec<_> = counts.kinds().collect();
        kinds.into_iter().map(|(kind, count)| {
            let figure = Figure::new(kind.key(), kind.title(), count)
                .note("records of web archives and wikis without a text to compare");
            if kind.is_routine() { figure.for_programs() } else { figure }
        })
    }
}

/// Names and remarks of some counts, which are different for `dedup` and for `match`.
struct Names {
    files: &'static str,
    documents: &'static str,
    kept: &'static str,
    removed: &'static str,
    clusters: &'static str,
    clusters_note: &'static str,
}

const OF_DOCUMENTS: Names = Names {
    files: "files",
    documents: "documents",
    kept: "",
    removed: "",
    clusters: "clusters",
    clusters_note: "",
};

const OF_QUERIES: Names = Names {
    files: "query files",
    documents: "queries",
    kept: "similar to no document of the corpus",
    removed: "similar to a document of the corpus",
    clusters: "matched",
    clusters_note: "documents of the corpus that queries are similar to",
};

const OF_COVERED_QUERIES: Names = Names {
    kept: "have words that no document of the corpus has",
    removed: "have their words in documents of the corpus",
    clusters_note: "documents of the corpus that have most words of a query",
    ..OF_QUERIES
};
