//! The table of all documents of a result. It has the columns of the output `documents` that exist for texts in memory.

use crate::capsules::Imported;
use crate::closeness_columns::ClosenessColumns;
use crate::columns::{ColumnData, Values};
use crate::errors::exception;
use crate::numbers::whole_numbers;
use crate::tables::Table;
use pyo3::prelude::*;
use simtool::Error;
use simtool::cluster::{Removal, clusters};
use simtool::output::ClusterWeight;
use simtool::pipeline::{NearDuplicates as Found, RepeatedWords};

/// Columns of the table of documents that are computed from the texts.
#[derive(Default)]
pub(crate) struct TextColumns {
    /// Number of bytes of each text.
    pub(crate) bytes: Vec<u32>,
    /// Number of tokens of each text.
    pub(crate) tokens: Vec<u32>,
    /// For each text, the number of documents in its cluster with the same text.
    pub(crate) exact_copies: Vec<u32>,
    /// For each text, the share of its words that are repeated, or NaN for a text without words. `None` if the share is
    /// not wanted.
    pub(crate) repeated_share: Option<Vec<f64>>,
}

impl TextColumns {
    /// Takes the values from the result of a search. `repeated` has the repeated words of each text, if they are
    /// wanted.
    pub(crate) fn new(found: &Found, repeated: Option<Vec<RepeatedWords>>) -> Self {
        let read = found.read.first();
        let share_or_nan = |repeated: &RepeatedWords| repeated.share().unwrap_or(f64::NAN);
        Self {
            bytes: read.lengths.clone(),
            tokens: read.text_facts.token_counts().to_vec(),
            exact_copies: read.text_facts.exact_copies(&read.lengths, &found.clusters()),
            repeated_share: repeated.map(|rows| rows.iter().map(share_or_nan).collect()),
        }
    }

    /// Returns whether each column has a value for each of `rows` documents.
    pub(crate) fn are_of(&self, rows: usize) -> bool {
        let lengths = [self.bytes.len(), self.tokens.len(), self.exact_copies.len()];
        let shares = self.repeated_share.as_ref().map_or(rows, Vec::len);
        lengths == [rows; 3] && shares == rows
    }
}

/// The parts of a result from which the table of all documents is made.
pub(crate) struct DocumentRows<'d> {
    /// Number of documents in the collection, which is the number of rows of the table.
    pub(crate) count: u32,
    pub(crate) removals: &'d [Removal],
    pub(crate) texts: Option<&'d TextColumns>,
    pub(crate) weight: &'d ClusterWeight,
    pub(crate) shown: ClosenessColumns,
}

/// Creates the table of all documents, with the columns in the order of the output `documents`.
pub(crate) fn documents_table(documents: &DocumentRows<'_>) -> Table {
    let DocumentRows { count: rows, removals, texts, weight, shown } = *documents;
    let mut kept: Vec<u32> = (0..rows).collect();
    let mut how = vec![None; kept.len()];
    for removal in removals {
        kept[removal.row as usize] = removal.kept;
        how[removal.row as usize] = removal.closeness;
    }
    // A row without near-duplicates is a cluster of its own.
    let mut sizes = vec![1; kept.len()];
    for cluster in clusters(removals) {
        // Rows are numbered in 32 bits.
        sizes[cluster.kept as usize] = 1 + cluster.removed.len() as u32;
    }
    let sizes: Vec<u32> = kept.iter().map(|&row| sizes[row as usize]).collect();
    let of_row = |(row, size): (u32, u32)| {
        if kept[row as usize] == row { weight.of(size) } else { 0.0 }
    };
    let weights = (0..).zip(sizes.iter().copied()).map(of_row).collect();
    let numbers = |name, values: &Vec<u32>| ColumnData::new(name, Values::U32(values.clone()));
    let of_texts = |name, values: fn(&TextColumns) -> &Vec<u32>| {
        texts.map(|texts| numbers(name, values(texts)))
    };

    let mut columns = vec![ColumnData::new("row", Values::U32((0..rows).collect()))];
    columns.extend(of_texts("bytes", |texts| &texts.bytes));
    columns.extend(of_texts("tokens", |texts| &texts.tokens));
    columns.push(numbers("kept", &kept));
    columns.extend(shown.columns(&how));
    columns.push(numbers("cluster_id", &kept));
    columns.push(ColumnData::new("cluster_size", Values::U32(sizes)));
    columns.extend(of_texts("exact_copies", |texts| &texts.exact_copies));
    columns.extend(texts.and_then(|texts| texts.repeated_share.as_ref()).map(|shares| {
        let values = Values::F64(shares.clone());
        ColumnData::nullable("repeated_share", values, |row| !shares[row].is_nan())
    }));
    columns.push(ColumnData::new("weight", Values::F64(weights)));
    Table::new(columns)
}

/// Returns the weight of the kept document for clusters of the given `sizes`: a table with the column `weight`. `rule`
/// is the rule for weights in the option `annotate`.
#[pyfunction]
pub(crate) fn cluster_weights(rule: &str, sizes: &Bound<'_, PyAny>) -> PyResult<Table> {
    let refused = |()| exception(Error::config("weight", rule, ClusterWeight::EXPECTED));
    let rule: ClusterWeight = rule.parse().map_err(refused)?;
    let sizes = match Imported::of(sizes)? {
        Some(_) => whole_numbers(sizes, "sizes")?,
        None => sizes.try_iter()?.map(|size| size?.extract()).collect::<PyResult<Vec<i64>>>()?,
    };
    // Documents are numbered in 32 bits, so a larger cluster has the weight of the largest.
    let weight = |size: &i64| rule.of(u32::try_from(*size).unwrap_or(u32::MAX));
    let weights = sizes.iter().map(weight).collect();
    Ok(Table::new(vec![ColumnData::new("weight", Values::F64(weights))]))
}
