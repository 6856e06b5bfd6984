//! Columns with the names of documents and their closeness, which several outputs share.

use crate::pipeline::LostWords;
use crate::write::columns::{Column, RowTable, Value};
use simtool_model::closeness::Closeness;
use simtool_model::document_name::DocumentName;

/// Description of the column `content`, which says which part of a document is compared.
pub(super) const CONTENT_MEANING: &str = "The compared part: `all`, the whole text. Of an HTML page: `main`, the main content; `little`, a main content with \
     a small share of the letters of the page; `whole`, because the page has no main content; `noscript` or `hidden`, \
     because most of the text is in such elements.";

/// Description of the columns with the number of a record.
pub(super) const RECORD_MEANING: &str =
    "Number of its record in the file, from 0. Empty lines count, too.";

/// Columns of the name of a document (ID, file and record number), for objects in the rows of other outputs.
pub(super) struct NameColumns;

impl RowTable for NameColumns {
    type Row<'r> = DocumentName<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "ID of the document.", Value::Id(|name| name.id())),
        Column::new("file", "File of the document.", Value::Text(|name| name.file_bytes())),
        Column::new("record", RECORD_MEANING, Value::Number(|name| name.record)),
    ];
}

/// Returns the column with the similarity of two documents.
pub(super) const fn similarity_column<T>() -> Column<T>
where
    T: for<'r> RowTable<Row<'r> = NamedPair<'r>>,
{
    Column::new(
        "similarity",
        "Similarity of the two documents, if the method computes it.",
        Value::Ratio(|row| row.similarity()),
    )
}

/// Returns the column with the distance of two documents.
pub(super) const fn distance_column<T>() -> Column<T>
where
    T: for<'r> RowTable<Row<'r> = NamedPair<'r>>,
{
    Column::new(
        "distance",
        "Number of bits in which their fingerprints differ, if the method has fingerprints.",
        Value::OptionalCount(|row| row.distance()),
    )
}

/// Returns the column with the number of lost words, which `lost` returns for a row.
pub(super) const fn lost_words_column<T: RowTable>(
    lost: for<'r> fn(&'r T::Row<'r>) -> Option<u32>,
) -> Column<T> {
    Column::new(
        "lost_words",
        "Number of words of the removed document that are in none of the shingles it shares with the kept document \
         (characters, with --shingle chars). Counted with the method exact and with --verify; for compressed files \
         without web pages, only with --annotate or --lose. With the method covered, words that no kept document has.",
        Value::OptionalCount(lost),
    )
}

/// Returns the column with the share of lost words, which `share` returns for a row.
pub(super) const fn lost_share_column<T: RowTable>(
    share: for<'r> fn(&'r T::Row<'r>) -> Option<f64>,
) -> Column<T> {
    let meaning = "Share of its words that are lost. 0 if none is lost.";
    Column::new("lost_share", meaning, Value::Ratio(share))
}

/// Names of two documents, and the similarity or distance of these documents.
pub(super) struct NamedPair<'r> {
    pub(super) first: &'r DocumentName<'r>,
    pub(super) second: &'r DocumentName<'r>,
    /// Similarity or distance of the two documents. `None` if they were not compared, because only other
    /// documents link them.
    pub(super) closeness: Option<Closeness>,
    /// Words of the first document that the second one lacks. `None` if they were not counted.
    pub(super) lost: Option<LostWords>,
    /// Number of kept documents that together have the words of the first document. `None` unless the run decides by
    /// coverage.
    pub(super) covered_by: Option<u32>,
}

impl NamedPair<'_> {
    pub(super) fn similarity(&self) -> Option<f64> {
        self.closeness.and_then(Closeness::similarity)
    }

    pub(super) fn distance(&self) -> Option<u32> {
        self.closeness.and_then(Closeness::distance)
    }
}
