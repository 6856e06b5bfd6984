//! The output `documents`: every document, kept or removed, with its cluster and its weight.

use super::named::{CONTENT_MEANING, RECORD_MEANING, lost_share_column, lost_words_column};
use super::output_kind::{Output, WRITE_STAGE};
use super::results::Results;
use crate::cluster::{Cluster, Removal};
use crate::pipeline::LostWords;
use crate::write::columns::{
    Column, OutputDescription, RowTable, RowVisitor, Value, describe_columns,
};
use simtool_base::error::Result;
use simtool_model::closeness::Closeness;
use simtool_model::document::{DocOrdinal, DocumentIds};
use simtool_model::document_name::DocumentName;
use simtool_model::page_text::PageText;
use std::io;
use std::ops::Range;

pub(super) const OUTPUT: Output = Output {
    description: OutputDescription {
        name: "documents",
        files: &["documents.jsonl", "documents.tsv", "documents.parquet"],
        command: "dedup",
        description: "Each document in reading order, kept or removed, with its cluster. Written with \
                      --annotate.",
        columns: || describe_columns(DocumentRows::COLUMNS),
    },
    stage: WRITE_STAGE,
    is_wanted: |results| results.outputs.annotation.is_some(),
    write: write_documents,
};

/// Columns of the output `documents`, for example `id` and `cluster_size`.
#[derive(Debug)]
pub(super) struct DocumentRows;

/// Data of one row of the output: a document, and the cluster of near-duplicates that it belongs to.
pub(super) struct DocumentRow<'r> {
    name: &'r DocumentName<'r>,
    /// Number of bytes of the text of the document.
    bytes: u32,
    /// Part of the document that is compared.
    content: PageText,
    /// Number of words of the document that are not compared. `None` if they were not counted.
    left_out: Option<u32>,
    /// Number of tokens of the document. `None` if they were not counted.
    tokens: Option<u32>,
    /// Closeness to the kept document. `None` if the document is kept, or was not compared with the kept one.
    closeness: Option<Closeness>,
    /// Words that the kept document lacks. `None` if the document is kept, or if they were not counted.
    lost: Option<LostWords>,
    is_kept: bool,
    /// The kept document of the cluster.
    kept: &'r DocumentName<'r>,
    kept_row: u32,
    size: u32,
    /// Number of documents of the cluster with the same text. `None` if these documents were not counted.
    exact_copies: Option<u32>,
    sources: u32,
    repeated_share: Option<f64>,
    weight: f64,
}

impl RowTable for DocumentRows {
    type Row<'r> = DocumentRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "ID of the document.", Value::Id(|row| row.name.id())),
        Column::new("file", "File of the document.", Value::Text(|row| row.name.file_bytes())),
        Column::new("record", RECORD_MEANING, Value::Number(|row| row.name.record)),
        Column::new("bytes", "Number of bytes of its text.", Value::Number(|row| row.bytes.into())),
        Column::new("content", CONTENT_MEANING, Value::Text(|row| row.content.name().as_bytes())),
        Column::new(
            "left_out",
            "Number of its words that are not compared: in other parts of an HTML page, or in lines that many documents \
             have (`--boilerplate`).",
            Value::OptionalCount(|row| row.left_out),
        ),
        Column::new(
            "tokens",
            "Number of tokens of its text, by the tokenizer of the method.",
            Value::OptionalCount(|row| row.tokens),
        ),
        Column::new("kept", "Whether the document is kept.", Value::Flag(|row| row.is_kept)),
        Column::new(
            "kept_id",
            "ID of the document that is kept of its cluster: its own if it is kept.",
            Value::Id(|row| row.kept.id()),
        ),
        Column::new(
            "kept_file",
            "File of the kept document.",
            Value::Text(|row| row.kept.file_bytes()),
        ),
        Column::new(
            "kept_record",
            "Number of the kept document's record in its file, from 0.",
            Value::Number(|row| row.kept.record),
        ),
        Column::new(
            "similarity",
            "Similarity to the kept document, if the document is removed and the method computes it.",
            Value::Ratio(|row| row.closeness.and_then(Closeness::similarity)),
        ),
        Column::new(
            "distance",
            "Number of bits in which its fingerprint differs from that of the kept document, if the document \
             is removed and the method has fingerprints.",
            Value::OptionalCount(|row| row.closeness.and_then(Closeness::distance)),
        ),
        lost_words_column(|row| row.lost.map(|lost| lost.lost)),
        lost_share_column(|row| row.lost.map(LostWords::share)),
        Column::new(
            "cluster_id",
            "Number of the kept document in reading order, from 0. All documents of a cluster have the same.",
            Value::Number(|row| row.kept_row.into()),
        ),
        Column::new(
            "cluster_size",
            "Number of documents in its cluster, the kept one included.",
            Value::Count(|row| row.size),
        ),
        Column::new(
            "exact_copies",
            "Number of documents in its cluster whose texts have the same bytes as its own text, the document itself \
             included.",
            Value::OptionalCount(|row| row.exact_copies),
        ),
        Column::new(
            "cluster_sources",
            "Number of different files that the documents of its cluster are from.",
            Value::Count(|row| row.sources),
        ),
        Column::new(
            "repeated_share",
            "Share of its words in passages that are also in another document. Computed with \
             --annotate=repeated=N, for documents with words.",
            Value::Ratio(|row| row.repeated_share),
        ),
        Column::new(
            "weight",
            "Weight of the document by the rule of --annotate=weight. 0 if it is removed.",
            Value::Ratio(|row| Some(row.weight)),
        ),
    ];
}

fn write_documents(results: &Results<'_>) -> Result<()> {
    let documents = ClusteredDocuments::new(results);
    let count = results.findings.documents().read.lengths.len() as u32;
    let removals = results.findings.removals;
    let visit = |rows: Range<u32>, write: &mut RowVisitor<'_, DocumentRows>| {
        // Removals are in reading order, too, so only the first one of the range has to be searched.
        let first = removals.partition_point(|removal| removal.row < rows.start);
        let mut removals = removals[first..].iter().peekable();
        rows.into_iter().try_for_each(|row| {
            let removal = removals.next_if(|removal| removal.row == row);
            documents.visit_as(row, removal, |row| write(row))
        })
    };
    let threads = results.context.threads();
    results.write_rows("documents", DocumentRows::COLUMNS, |rows| {
        threads.run(|| rows.write_all(count, visit)).map_err(io::Error::other)?
    })
}

/// Value in place of the number of a cluster, for a document without near-duplicates.
const ALONE: u32 = u32::MAX;

/// Source of the rows of the output `documents`. It stores for each document the number of its cluster of
/// near-duplicates.
pub(super) struct ClusteredDocuments<'r> {
    results: &'r Results<'r>,
    /// For each document, the number of its cluster, or [`ALONE`].
    clusters: Vec<u32>,
    /// For each cluster, the number of files that its documents are from.
    sources: Vec<u32>,
    /// For each document, the number of its exact copies. Empty if the copies were not counted.
    exact_copies: Vec<u32>,
}

impl<'r> ClusteredDocuments<'r> {
    pub(super) fn new(results: &'r Results<'r>) -> Self {
        let read = results.findings.documents().read;
        let sources = |cluster| source_count(&read.ids, cluster);
        let mut clusters = vec![ALONE; read.lengths.len()];
        for (number, cluster) in results.clusters.iter().enumerate() {
            for row in cluster.rows() {
                // There are fewer than 2³² documents, so there are fewer clusters.
                clusters[row as usize] = number as u32;
            }
        }
        Self {
            results,
            clusters,
            sources: results.clusters.iter().map(sources).collect(),
            exact_copies: read.text_facts.exact_copies(&read.lengths, results.clusters),
        }
    }

    /// Calls `visit` with the output row of the document with number `row`. Returns the result of `visit`.
    pub(super) fn visit<R>(&self, row: u32, visit: impl FnOnce(&DocumentRow<'_>) -> R) -> R {
        let removals = self.results.findings.removals;
        let found = removals.binary_search_by_key(&row, |removal| removal.row);
        self.visit_as(row, found.ok().map(|at| &removals[at]), visit)
    }

    /// Calls `visit` with the output row of the document with number `row`, and returns the result. `removal` is the
    /// removal of this document, or `None` if the document is kept.
    fn visit_as<R>(
        &self,
        row: u32,
        removal: Option<&Removal>,
        visit: impl FnOnce(&DocumentRow<'_>) -> R,
    ) -> R {
        let Self { results, clusters, sources, exact_copies } = self;
        let documents = results.findings.documents();
        // A document without near-duplicates is a cluster of its own, and its only exact copy is itself.
        let (size, sources) = match clusters[row as usize] {
            ALONE => (1, 1),
            cluster => {
                (size_of_cluster(&results.clusters[cluster as usize]), sources[cluster as usize])
            }
        };
        let facts = &documents.read.text_facts;
        let annotation = results.outputs.annotation.as_ref();
        let weight = if removal.is_some() {
            0.0
        } else {
            annotation.map_or(1.0, |parts| parts.weight.of(size))
        };
        // A kept document is its own kept document, and making a name takes time.
        let name = documents.name(row);
        let of_other = removal.map(|removal| documents.name(removal.kept));
        visit(&DocumentRow {
            name: &name,
            bytes: documents.read.lengths[row as usize],
            content: facts.content(row).unwrap_or(PageText::All),
            left_out: facts.left_out_words().get(row as usize).copied(),
            tokens: facts.token_counts().get(row as usize).copied(),
            closeness: removal.and_then(|removal| removal.closeness),
            lost: removal.and_then(|removal| results.findings.lost_words(removal.row)),
            is_kept: removal.is_none(),
            kept: of_other.as_ref().unwrap_or(&name),
            kept_row: removal.map_or(row, |removal| removal.kept),
            size,
            exact_copies: exact_copies.get(row as usize).copied(),
            sources,
            repeated_share: results.findings.repeated_share(row),
            weight,
        })
    }
}

fn size_of_cluster(cluster: &Cluster<'_>) -> u32 {
    // There are fewer than 2³² documents.
    1 + cluster.removed.len() as u32
}

/// Returns the number of different files that the documents of a cluster are from.
fn source_count(ids: &DocumentIds, cluster: &Cluster<'_>) -> u32 {
    let file = |row| ids.place(DocOrdinal(row)).file;
    let mut files: Vec<u32> = cluster.rows().map(file).collect();
    files.sort_unstable();
    files.dedup();
    files.len() as u32
}
