//! Search for documents by their texts and fields, which reads the inputs of the run again.

use super::index::ReviewIndex;
use super::index_layout::document_key;
use super::list::{RowFilter, RowSet};
use crate::run::recorded_run::RecordedRun;
use memchr::memmem::Finder;
use simtool_base::error::{ErrorKind, Result};
use simtool_base::progress::{Progress, Work};
use simtool_model::document::Document;
use simtool_read::Selector;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of rows of the output after which the search checks whether it is cancelled.
const ROWS: u32 = 1024;

/// Progress of a search. Other requests read it or cancel the search.
#[derive(Debug, Default)]
pub(super) struct WorkState {
    pub(super) done: AtomicU64,
    pub(super) total: AtomicU64,
    pub(super) is_cancelled: AtomicBool,
}

impl WorkState {
    /// Begins a new search. A request to cancel an earlier one does not count.
    pub(super) fn reset(&self) {
        self.begin(Work::Steps(0));
        self.is_cancelled.store(false, Ordering::Relaxed);
    }

    pub(super) fn begin(&self, work: Work) {
        self.total.store(work.amount(), Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
    }
}

/// Documents that a search selects, by their texts and fields.
#[derive(Clone, Debug, PartialEq)]
struct Wanted {
    /// Text in lower case that a document must have. Empty selects all documents.
    words: String,
    /// Name of a field that a document must have. Empty selects all documents.
    field: String,
    /// Value of the field. Empty selects the documents that have the field.
    value: String,
}

impl Wanted {
    /// Returns the conditions of `filter` on the texts and fields of documents. `None` if there are no such conditions.
    fn of(filter: &RowFilter) -> Option<Self> {
        let RowFilter { words, field, value, .. } = filter;
        let wanted =
            Self { words: words.to_lowercase(), field: field.clone(), value: value.clone() };
        (!words.is_empty() || !field.is_empty()).then_some(wanted)
    }

    fn selects(&self, document: &Document<'_>, words: &Finder<'_>) -> bool {
        let has_value = |found: &[u8]| self.value.is_empty() || found == self.value.as_bytes();
        (self.field.is_empty() || document.fields[0].is_some_and(has_value))
            && (self.words.is_empty() || has_words(document.text, words))
    }
}

/// Returns whether a text has some words, which are in lower case. Capital letters in the text count as small ones.
fn has_words(text: &[u8], words: &Finder<'_>) -> bool {
    words.find(String::from_utf8_lossy(text).to_lowercase().as_bytes()).is_some()
}

/// Cache of the rows that the last search found, which the next page of a list needs again.
#[derive(Debug, Default)]
pub(super) struct Searches(Mutex<Option<(Wanted, Arc<RowSet>)>>);

impl Searches {
    /// Returns the rows with a document that `filter` selects by its text and its field. `None` if the filter asks for
    /// neither. `open` opens the run, and `work` receives the progress of the search.
    ///
    /// # Errors
    ///
    /// The inputs cannot be read, or the search was cancelled.
    pub(super) fn rows<'r>(
        &self,
        index: &ReviewIndex,
        filter: &RowFilter,
        open: &dyn Fn() -> Result<RecordedRun<'r>>,
        work: &WorkState,
        progress: &dyn Progress,
    ) -> Result<Option<Arc<RowSet>>> {
        let Some(wanted) = Wanted::of(filter) else { return Ok(None) };
        // A second request for the same search waits for the first one.
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rows)) = last.as_ref().filter(|(earlier, _)| *earlier == wanted) {
            return Ok(Some(Arc::clone(rows)));
        }
        // A search that fails leaves no rows, so that the next request searches again.
        *last = None;
        work.reset();
        let rows = Arc::new(search(index, &wanted, &open()?, progress)?);
        *last = Some((wanted, Arc::clone(&rows)));
        Ok(Some(rows))
    }
}

fn search(
    index: &ReviewIndex,
    wanted: &Wanted,
    run: &RecordedRun<'_>,
    progress: &dyn Progress,
) -> Result<RowSet> {
    // Texts are compared in lower case. The words are in lower case already.
    let words = Finder::new(&wanted.words);
    let fields: Vec<Selector> = Some(&*wanted.field)
        .filter(|field| !field.is_empty())
        .map(Selector::from)
        .into_iter()
        .collect();
    // Eight bytes for each document are enough for millions of them.
    let mut documents = Vec::new();
    run.visit_wanted(
        &fields,
        &|document| wanted.selects(document, &words),
        &mut |file, record| documents.push(document_key(file, record)),
    )?;
    documents.sort_unstable();
    let mut rows = RowSet::empty(index.rows);
    // Without a found document, no row can match.
    if documents.is_empty() {
        return Ok(rows);
    }
    progress.begin("searching the rows", Work::Steps(index.rows));
    index.visit_found(&mut |row, found| {
        if row % ROWS == 0 {
            progress.advance(ROWS.into());
            if progress.is_cancelled() {
                return Err(ErrorKind::Cancelled.into());
            }
        }
        // A person looks for a pair by what either of its documents says.
        let keys = [&found.removed, &found.kept].map(|name| document_key(&name.file, name.record));
        if keys.iter().any(|key| documents.binary_search(key).is_ok()) {
            rows.insert(row);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(rows)
}
