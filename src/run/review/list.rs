//! Lists of rows: which rows a filter selects, in which order, and the rows of one page.

use super::index::ReviewIndex;
use super::index_layout::IndexedRow;
use super::row_value::{Scale, UNKNOWN};
use memchr::memmem::Finder;
use simtool_base::error::Result;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

/// Conditions on the rows that a list shows. The default selects all rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowFilter {
    /// Minimum similarity or distance. `None` for no limit.
    pub from: Option<f64>,
    /// Upper limit of the similarity or distance. Selected rows are below it. `None` for no limit.
    pub below: Option<f64>,
    /// Whether only rows are selected whose documents were not compared, because a chain of other documents links them.
    pub is_chain: bool,
    /// Minimum number of words that the removal loses. `None` for no limit.
    pub lost_from: Option<u32>,
    /// Maximum number of words that the removal loses. `None` for no limit.
    pub lost_to: Option<u32>,
    /// Source of the removed document. Empty for all sources.
    pub source: String,
    /// Source of the kept document. Empty for all sources.
    pub kept_source: String,
    /// Minimum number of documents of the cluster. `None` for no limit.
    pub size_from: Option<u64>,
    /// Maximum number of documents of the cluster. `None` for no limit.
    pub size_to: Option<u64>,
    /// Whether only rows of clusters are selected whose documents may be pages of one template.
    pub is_template: bool,
    /// Text in the IDs or files of the two documents. Empty for any text.
    pub text: String,
    /// Words in the text of one of the two documents. Empty for any text. Otherwise the inputs are read again.
    pub words: String,
    /// Name of a field of one of the two documents. Empty for no condition. Otherwise the inputs are read again.
    pub field: String,
    /// Value of the field `field`. Empty for any value.
    pub value: String,
}

/// Order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowOrder {
    /// The order of the output.
    #[default]
    Output,
    /// The smallest similarity or distance first.
    Closeness,
    /// The largest similarity or distance first.
    ClosenessDown,
    /// The row that loses most words first.
    Lost,
    /// The rows of the largest cluster first.
    Cluster,
}

impl RowOrder {
    /// Returns the order with this name, or the order of the output.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        match name {
            "closeness" => Self::Closeness,
            "closeness-down" => Self::ClosenessDown,
            "lost" => Self::Lost,
            "cluster" => Self::Cluster,
            _ => Self::Output,
        }
    }

    /// Returns the number by which `row` is sorted in this order. The row with the smallest number is first.
    fn key(self, row: IndexedRow) -> u32 {
        match self {
            Self::Output => 0,
            Self::Closeness => row.closeness,
            // Rows without a closeness are last in both orders.
            Self::ClosenessDown if row.closeness == UNKNOWN => UNKNOWN,
            Self::ClosenessDown => UNKNOWN - 1 - row.closeness,
            Self::Lost if row.lost == UNKNOWN => UNKNOWN,
            Self::Lost => UNKNOWN - 1 - row.lost,
            Self::Cluster => row.cluster,
        }
    }
}

/// A [`RowFilter`] whose limits are converted to the numbers in the index.
struct NumberFilter<'i> {
    closeness: [u32; 2],
    lost: [u32; 2],
    cluster: [u64; 2],
    /// Numbers of the sources of the removed and of the kept document. `None` for all sources.
    sources: [Option<u16>; 2],
    /// The index, if only clusters that may be pages of one template are selected: it knows which ones these are.
    /// `None` for all clusters.
    templates: Option<&'i ReviewIndex>,
}

impl<'i> NumberFilter<'i> {
    fn new(filter: &RowFilter, index: &'i ReviewIndex) -> Result<Self> {
        let value = |shown: f64| index.scale.value(shown);
        let below = match (filter.below, index.scale) {
            // A limit above 1 ends the band of similarity 1, so that band is included.
            (Some(below), Scale::Similarity) if below > 1.0 => UNKNOWN - 1,
            (Some(below), _) => value(below).saturating_sub(1),
            (None, _) if filter.from.is_some() => UNKNOWN - 1,
            (None, _) => UNKNOWN,
        };
        let closeness =
            if filter.is_chain { [UNKNOWN; 2] } else { [filter.from.map_or(0, value), below] };
        // Rows whose lost words were not counted are selected only if the filter has no limit of lost words.
        let has_lost = filter.lost_from.is_some() || filter.lost_to.is_some();
        let most = if has_lost { UNKNOWN - 1 } else { UNKNOWN };
        // The largest clusters have the smallest numbers.
        let clusters = [
            filter.size_to.map_or(Ok(0), |most| index.clusters_from(most.saturating_add(1)))?,
            filter.size_from.map_or(Ok(u64::MAX), |least| index.clusters_from(least))?,
        ];
        Ok(Self {
            closeness,
            lost: [filter.lost_from.unwrap_or(0), filter.lost_to.unwrap_or(most).min(most)],
            cluster: clusters,
            sources: [&filter.source, &filter.kept_source].map(|name| index.source_number(name)),
            templates: filter.is_template.then_some(index),
        })
    }

    fn selects(&self, row: IndexedRow) -> bool {
        let is_in = |[from, to]: [u32; 2], value| from <= value && value <= to;
        is_in(self.closeness, row.closeness)
            && is_in(self.lost, row.lost)
            && (self.cluster[0]..self.cluster[1]).contains(&row.cluster.into())
            && self.sources[0].is_none_or(|source| source == row.source)
            && self.sources[1].is_none_or(|source| source == row.kept_source)
            && self.templates.is_none_or(|index| index.is_template(row.cluster))
    }
}

/// Set of rows: one bit for each row.
#[derive(Debug)]
pub(super) struct RowSet(Vec<u64>);

impl RowSet {
    /// Returns an empty set for rows whose numbers are less than `rows`.
    pub(super) fn empty(rows: u64) -> Self {
        Self(vec![0; rows.div_ceil(64) as usize])
    }

    pub(super) fn insert(&mut self, row: u32) {
        self.0[row as usize / 64] |= 1 << (row % 64);
    }

    fn contains(&self, row: u32) -> bool {
        self.0.get(row as usize / 64).is_some_and(|bits| bits >> (row % 64) & 1 == 1)
    }
}

/// Numbers of the rows that a filter selects, in the order of the list.
#[derive(Clone, Debug)]
pub(super) enum SelectedRows {
    /// All rows, in the order of the output.
    All(u64),
    Listed(Arc<Vec<u32>>),
}

impl SelectedRows {
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::All(count) => *count,
            Self::Listed(rows) => rows.len() as u64,
        }
    }

    /// Returns the numbers of the rows of a page: at most `most` rows after the first `from` ones.
    pub(super) fn page(&self, from: u64, most: u64) -> Vec<u32> {
        let to = from.saturating_add(most).min(self.count());
        let numbers = from.min(to)..to;
        match self {
            Self::All(_) => numbers.map(|row| row as u32).collect(),
            Self::Listed(rows) => rows[numbers.start as usize..numbers.end as usize].to_vec(),
        }
    }
}

/// Cache of the last selected rows, which the next page of a list needs again.
#[derive(Debug, Default)]
pub(super) struct Selections(Mutex<Option<LastSelection>>);

#[derive(Debug)]
struct LastSelection {
    filter: RowFilter,
    order: RowOrder,
    rows: SelectedRows,
}

impl Selections {
    /// Returns the rows that `filter` selects, in the order `order`. `searched` has the rows that a search for the
    /// words and the field of the filter found.
    pub(super) fn select(
        &self,
        index: &ReviewIndex,
        filter: &RowFilter,
        order: RowOrder,
        searched: Option<&RowSet>,
    ) -> Result<SelectedRows> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && last.filter == *filter
            && last.order == order
        {
            return Ok(last.rows.clone());
        }
        // The memory of the last selection is freed before the next one is made.
        *last = None;
        let rows = select(index, filter, order, searched)?;
        *last = Some(LastSelection { filter: filter.clone(), order, rows: rows.clone() });
        Ok(rows)
    }
}

fn select(
    index: &ReviewIndex,
    filter: &RowFilter,
    order: RowOrder,
    searched: Option<&RowSet>,
) -> Result<SelectedRows> {
    if *filter == RowFilter::default() && order == RowOrder::Output {
        return Ok(SelectedRows::All(index.rows));
    }
    let numbers = NumberFilter::new(filter, index)?;
    let mut has_text = HasText::new(index, &filter.text)?;
    // The key is in the upper half, so that sorting the numbers sorts the rows.
    let mut keyed: Vec<u64> = Vec::new();
    index.visit_rows(&mut |row, indexed| {
        let is_searched = searched.is_none_or(|rows| rows.contains(row));
        if is_searched && numbers.selects(indexed) && has_text.next_is(row) {
            keyed.push(u64::from(order.key(indexed)) << 32 | u64::from(row));
        }
        ControlFlow::Continue(())
    })?;
    if order != RowOrder::Output {
        keyed.sort_unstable();
    }
    // The list of keys is freed as soon as the rows are taken from it.
    let mut rows: Vec<u32> = Vec::with_capacity(keyed.len());
    rows.extend(keyed.into_iter().map(|keyed| keyed as u32));
    Ok(SelectedRows::Listed(Arc::new(rows)))
}

/// Test whether the line of a row in the output has a text. Its value is the numbers of these rows in ascending order,
/// or `None` for an empty text, which all rows have.
struct HasText {
    rows: Option<std::iter::Peekable<std::vec::IntoIter<u32>>>,
}

impl HasText {
    fn new(index: &ReviewIndex, text: &str) -> Result<Self> {
        if text.is_empty() {
            return Ok(Self { rows: None });
        }
        let written = index.written(text);
        let finder = Finder::new(&written);
        let (mut rows, mut row) = (Vec::new(), 0);
        index.visit_lines(&mut |line| {
            // The names of the columns are in each line, too, but nobody looks for them.
            if finder.find(line).is_some() {
                rows.push(row);
            }
            row += 1;
            ControlFlow::Continue(())
        })?;
        Ok(Self { rows: Some(rows.into_iter().peekable()) })
    }

    /// Returns whether the line of `row` has the text. Calls must be in ascending order of the rows.
    fn next_is(&mut self, row: u32) -> bool {
        let Some(rows) = &mut self.rows else { return true };
        while rows.next_if(|&found| found < row).is_some() {}
        rows.peek() == Some(&row)
    }
}
