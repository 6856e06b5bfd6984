//! `review`: shows a finished run in the browser, and collects judgements and decisions of people.
//!
//! [`Review`] has the content of the pages, as functions that return JSON. [`review`] serves the pages.

mod below;
mod choices;
mod documents;
mod index;
mod index_building;
mod index_layout;
mod judging;
mod labels;
mod list;
mod merging;
mod moved;
mod overview;
mod pair;
mod quiet;
mod request;
#[cfg(feature = "serve")]
mod routes;
mod row_value;
mod sample;
mod search;
mod serving;

pub use labels::Label;
pub use list::{RowFilter, RowOrder};
pub use request::ReviewRequest;
pub(super) use sample::random;
pub use serving::review;

use super::face::Face;
use super::line_cache::LineCache;
use super::recorded_run::RecordedRun;
use crate::output::finished_rows::RowKind;
use crate::pipeline::{Decision, OutputName, source_name};
use below::BelowPair;
use choices::Choices;
use index::ReviewIndex;
use index_layout::document_key;
use labels::Labels;
use list::Selections;
use overview::{Bar, Overview};
use quiet::Quiet;
use search::{Searches, WorkState};
use serde_json::{Value, json};
use simtool_base::error::Result;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Maximum number of rows of a page of a list.
const MOST_ROWS: u64 = 500;
/// Maximum number of rows of a cluster that the page of a pair lists.
const MEMBERS: u32 = 50;

/// A pair of documents that a page shows: a row of the output, or a pair of kept documents just below the limit of the
/// run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairNumber {
    /// Number of a row, from 0.
    Row(u32),
    /// Number of a pair below the limit, from 0.
    Below(usize),
}

/// Decision of a person about a row, which names a removed document and the document that is kept in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowDecision {
    /// Keep the removed document.
    Keep,
    /// Keep the removed document in place of the kept one.
    Swap,
    /// Keep all documents of the cluster.
    KeepCluster,
    /// Keep all documents from the source of this removed document that were removed for documents from the source of
    /// the kept one. A source is for example a host.
    KeepSources,
}

/// A finished run that is reviewed.
pub struct Review<'r> {
    request: &'r ReviewRequest,
    face: &'r dyn Face,
    index: ReviewIndex,
    selections: Selections,
    overview: OnceLock<Overview>,
    below: Mutex<Option<Vec<BelowPair>>>,
    labels: Mutex<Labels>,
    other_labels: Vec<Labels>,
    choices: Mutex<Choices>,
    lines: LineCache,
    searches: Searches,
    work: WorkState,
}

impl std::fmt::Debug for Review<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Review").field("request", &self.request).finish_non_exhaustive()
    }
}

impl<'r> Review<'r> {
    /// Opens the run, and makes the index of its rows if there is none.
    ///
    /// # Errors
    ///
    /// The folder has no rows of `dedup`, `match`, `passages` or `contamination`, or a file of labels or decisions
    /// cannot be read.
    pub fn open(request: &'r ReviewRequest, face: &'r dyn Face) -> Result<Self> {
        let ReviewRequest { output, resources, .. } = request;
        // If the folder has no run, this is reported before anything else.
        let run = RecordedRun::open(output, resources, face)?;
        let labels = Labels::open(&request.labels)?;
        let other_labels = request.other_labels.iter().map(|path| Labels::open(path));
        let other_labels = other_labels.collect::<Result<Vec<_>>>()?;
        let choices = Choices::open(&request.decisions)?;
        // The index is named after the folder, so a slash at the end must go.
        let folder = output.components().as_path();
        let templates = template_keys(run.run.summary());
        let index = ReviewIndex::open(folder, resources, &templates, face.progress())?;
        Ok(Self {
            request,
            face,
            index,
            selections: Selections::default(),
            overview: OnceLock::new(),
            below: Mutex::default(),
            labels: Mutex::new(labels),
            other_labels,
            choices: Mutex::new(choices),
            lines: LineCache::default(),
            searches: Searches::default(),
            work: WorkState::default(),
        })
    }

    fn overview_of_rows(&self) -> Result<&Overview> {
        if let Some(overview) = self.overview.get() {
            return Ok(overview);
        }
        // Two requests may count at the same time, and both find the same.
        let overview = Overview::new(&self.index)?;
        Ok(self.overview.get_or_init(|| overview))
    }

    /// Returns counts of the run, histograms and pairs of sources.
    ///
    /// # Errors
    ///
    /// The run cannot be read.
    pub fn overview(&self) -> Result<Value> {
        let quiet = self.quiet();
        let run = RecordedRun::open(&self.request.output, &self.request.resources, &quiet)?;
        let summary = run.run.summary();
        let Overview { closeness, lost, sizes, sources, .. } = self.overview_of_rows()?;
        let source = |pair: &overview::SourcePair| {
            json!({
                "names": [self.source(pair.source), self.source(pair.kept_source)],
                "count": pair.count,
            })
        };
        let changes = run.run.inputs().filter_map(|(file, ..)| run.change_of(file));
        Ok(json!({
            "command": run.run.command(), "output": self.request.output.display().to_string(),
            "figures": self.figures(summary),
            "method": summary["parameters"]["method"], "limit": summary["parameters"]["similarity"],
            "is_distance": self.index.scale == row_value::Scale::Distance, "rows": self.index.rows,
            "closeness": bars_of(closeness), "lost": bars_of(lost), "sizes": bars_of(sizes),
            "sources": sources.iter().map(source).collect::<Value>(),
            "source_count": self.index.end.sources.len(), "templates": self.index.end.templates.len(),
            // A moved folder changes every input, and twenty of them show it.
            "changes": changes.map(|change| change.to_string()).take(20).collect::<Value>(),
            "labels": self.request.labels.display().to_string(),
            "decisions": self.request.decisions.display().to_string(),
        }))
    }

    /// Returns a face for short work while pages are served.
    fn quiet(&self) -> Quiet<'_> {
        Quiet { face: self.face, work: None }
    }

    /// Returns a face for a long search, whose progress the page shows.
    fn searching(&self) -> Quiet<'_> {
        Quiet { face: self.face, work: Some(&self.work) }
    }

    /// Returns how much of the present search is done, and the amount of all of its work.
    #[must_use]
    pub fn progress(&self) -> Value {
        let [done, total] = [&self.work.done, &self.work.total].map(|n| n.load(Relaxed));
        json!({ "done": done, "total": total })
    }

    /// Cancels the present search.
    pub fn cancel(&self) {
        self.work.is_cancelled.store(true, Relaxed);
    }

    /// Returns the kind of the rows, for example passages. It decides what the pages show.
    #[must_use]
    pub fn kind(&self) -> Value {
        json!({ "kind": self.index.kind().name() })
    }

    /// Returns the names and values of the counts of the run, for the first page.
    fn figures(&self, summary: &Value) -> Value {
        // The index counts rows as they are in the file, which somebody may have filtered after the run.
        let (rows, groups) = (json!(self.index.rows), json!(self.index.clusters));
        let of_run = |name: &str| summary[name].clone();
        let figures = match self.index.kind() {
            RowKind::Removed => vec![
                ("documents", of_run("documents")),
                ("kept", of_run("kept")),
                ("removed", rows),
                ("clusters", groups),
                ("words lost", of_run("lost_words")),
            ],
            RowKind::Passages => vec![
                ("documents", of_run("documents")),
                ("documents with passages", groups),
                ("passages", rows),
                ("words", of_run("words")),
                ("words in passages", of_run("repeated_words")),
            ],
            RowKind::Items => vec![
                ("items", of_run("items")),
                ("items found", groups),
                ("documents", of_run("documents")),
                ("documents with items", of_run("found_documents")),
            ],
        };
        figures.into_iter().map(|(name, value)| json!([name, value])).collect()
    }

    /// Returns the name of the source with this number, for example a host.
    fn source(&self, number: u16) -> &str {
        self.index.end.sources.get(usize::from(number)).map_or("(other sources)", String::as_str)
    }

    /// Returns a page of the list of rows that `filter` selects: at most `most` rows after the first `from` ones. Also
    /// returns the number of all selected rows.
    ///
    /// # Errors
    ///
    /// The rows or the inputs cannot be read, or the search was cancelled.
    pub fn rows(&self, filter: &RowFilter, order: RowOrder, from: u64, most: u64) -> Result<Value> {
        let quiet = self.searching();
        let ReviewRequest { output, resources, .. } = self.request;
        let open: &dyn Fn() -> Result<_> = &|| RecordedRun::open(output, resources, &quiet);
        let searched = self.searches.rows(&self.index, filter, open, &self.work, &quiet)?;
        let selected = self.selections.select(&self.index, filter, order, searched.as_deref())?;
        // A request for all rows must not build an answer of gigabytes.
        let page = selected.page(from, most.min(MOST_ROWS)).into_iter();
        let rows = page.map(|row| self.row(row)).collect::<Result<Value>>()?;
        Ok(json!({ "count": selected.count(), "from": from, "rows": rows }))
    }

    /// Returns row number `row` as a JSON object for a list.
    fn row(&self, row: u32) -> Result<Value> {
        let indexed = self.index.row(row)?;
        let found = self.index.read(indexed.offset)?;
        let cluster = self.index.cluster(indexed.cluster.into())?;
        let mut value = self.names(&found.removed, &found.kept);
        value["pair"] = format!("r{row}").into();
        value["similarity"] = found.similarity.into();
        value["distance"] = found.distance.into();
        value["lost_words"] = found.lost_words.into();
        value["cluster"] = indexed.cluster.into();
        value["size"] = self.index.size(cluster).into();
        value["is_template"] = self.index.is_template(indexed.cluster).into();
        Ok(value)
    }

    /// Returns the names of two documents, with the judgement and the decision of people about the pair.
    fn names(&self, removed: &OutputName, kept: &OutputName) -> Value {
        let labels = lock(&self.labels);
        let judgement = labels.get(&removed.id, &kept.id);
        let choices = lock(&self.choices);
        let decision = choices.about(removed, kept).map(Decision::object);
        json!({
            "removed": name_of(removed), "kept": name_of(kept),
            "label": judgement.map(|judgement| judgement.label.name()),
            "note": judgement.map(|judgement| &judgement.note),
            "decision": decision,
        })
    }

    /// Returns clusters, the largest first, each with its kept document and the number of its documents. Skips the
    /// first `from` clusters, and returns at most `most`. With `are_templates`, only clusters are returned that may be
    /// pages of one template.
    ///
    /// # Errors
    ///
    /// The rows cannot be read.
    pub fn clusters(&self, are_templates: bool, from: u64, most: u64) -> Result<Value> {
        let templates = Some(&self.index.end.templates).filter(|_| are_templates);
        let count = templates.map_or(self.index.clusters, |numbers| numbers.len() as u64);
        let to = from.saturating_add(most.min(MOST_ROWS)).min(count);
        let of_place = |place: u64| {
            let number = templates.map_or(place, |numbers| numbers[place as usize].into());
            let first = self.index.rows_of_cluster(self.index.cluster(number)?, 0, 1)?;
            let mut value = self.row(first.first().copied().unwrap_or_default())?;
            value["number"] = number.into();
            Ok(value)
        };
        let rows = (from..to).map(of_place).collect::<Result<Value>>()?;
        Ok(json!({ "count": count, "from": from, "rows": rows }))
    }

    /// Returns the documents of a pair with their texts, and where the texts differ. `words` limits the words that are
    /// shown; the default is 3000.
    ///
    /// # Errors
    ///
    /// There is no such pair. Texts that cannot be read are no error: the value says why.
    pub fn pair(&self, number: PairNumber, words: Option<usize>) -> Result<Value> {
        let mut value = match number {
            PairNumber::Row(row) => {
                let mut value = self.row(row)?;
                value["others"] = self.members(row)?;
                value
            }
            PairNumber::Below(at) => self.below_row(at, &self.below_pair(at)?),
        };
        let found = self.found(number)?;
        self.add_texts(&found, words.unwrap_or(pair::WORDS), &mut value)?;
        Ok(value)
    }

    /// Returns the first rows of the cluster that row number `row` belongs to.
    fn members(&self, row: u32) -> Result<Value> {
        let cluster = self.index.cluster(self.index.row(row)?.cluster.into())?;
        let rows = self.index.rows_of_cluster(cluster, 0, MEMBERS)?;
        let rows = rows.into_iter().map(|row| self.row(row)).collect::<Result<Value>>()?;
        Ok(json!({ "count": cluster.removed, "rows": rows }))
    }
}

/// Returns the hashes of the kept documents of the clusters that may be pages of one template.
fn template_keys(summary: &Value) -> Vec<u64> {
    // Most runs have no such clusters, and neither have runs of earlier versions.
    let names = summary["template_kept"].as_array().into_iter().flatten();
    let key = |name: &Value| Some(document_key(name["file"].as_str()?, name["record"].as_u64()?));
    names.filter_map(key).collect()
}

/// Returns the bars of a histogram as JSON.
fn bars_of(bars: &[Bar]) -> Value {
    let objects = bars.iter();
    objects.map(|bar| json!({ "from": bar.from, "below": bar.below, "count": bar.count })).collect()
}

/// Returns the ID, the file, the record number and the source of a document as JSON.
fn name_of(OutputName { id, file, record }: &OutputName) -> Value {
    json!({ "id": id, "file": file, "record": record, "source": source_name(id, file) })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
