//! The rows of an Arrow file or stream as documents, batch by batch.

use crate::formats::arrow_ipc::layout::{ArrowLayout, BatchPlace};
use crate::formats::arrow_ipc::selection::SelectedFields;
use crate::formats::table::documents::VisitedRows;
use crate::formats::table::shares_of;
use crate::formats::{Event, Flow, TableJob, TableShare, Visit, give, part_of};
use crate::source::OpenSource;
use arrow_array::RecordBatch;
use arrow_ipc::reader::FileDecoder;
use simtool_base::error::Result;
use simtool_base::fault::quoted;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Number of rows between two reports of progress.
const SLICE_ROWS: usize = 1024;
/// Largest number of shares into which a file is divided. More shares would cost time, since the reader of a share
/// visits all messages of a stream before the share.
const MOST_SHARES: u64 = 64;

/// Divides the file into shares of at least `bytes` bytes. A share consists of consecutive record batches, and one
/// thread reads it independently of the other shares. Returns `None` if the file is damaged or cannot be read. The file
/// is then read as a whole.
pub(super) fn shares(file: &dyn OpenSource, bytes: u64) -> Option<Vec<TableShare>> {
    let layout = ArrowLayout::load(file, usize::MAX).ok()?;
    if layout.damage.is_some() {
        return None;
    }
    let all_bytes: u64 = layout.batches.iter().map(BatchPlace::bytes).sum();
    let batches = layout.batches.iter().enumerate();
    let groups = batches.map(|(group, batch)| (batch.bytes(), layout.rows(file, group)));
    Some(shares_of(groups, bytes.max(all_bytes / MOST_SHARES)))
}

/// Passes the rows of the record batches in `job.groups` to `visit`. Returns the number of rows that the file declares
/// for these batches. If `visit` stopped the reading, returns the number of rows that it got instead.
///
/// # Errors
///
/// The first error of `visit`.
pub(super) fn read(job: TableJob<'_>, visit: &mut Visit<'_>) -> Result<u64> {
    let most = job.groups.as_ref().map_or(usize::MAX, |groups| groups.end);
    let layout = match ArrowLayout::load(&**job.source, most) {
        Ok(layout) => layout,
        Err(reason) => {
            let detail = format!("{}; no rows were read", quoted(reason.as_bytes()));
            return visit(job.damage("arrow-footer", detail, 0)).map(|_| 0);
        }
    };
    let selected = match SelectedFields::new(&layout.schema, job.columns) {
        Ok(selected) => selected,
        // The fault concerns the whole file. Only the first share reports it, since users would
        // otherwise see it once for every share.
        Err(_) if !job.has_first_group() => return Ok(0),
        Err(reason) => {
            let batches = 0..layout.batches.len();
            let rows = batches.map(|group| layout.rows(&**job.source, group)).sum();
            return visit(job.damage("arrow-column", reason, rows)).map(|_| 0);
        }
    };
    let count = layout.batches.len();
    let groups = job.groups.clone().unwrap_or(0..count);
    let mut reading = BatchReading { job, layout, selected, decoder: None, rows: 0, bytes: 0 };
    for group in groups.start..groups.end.min(count) {
        if let ControlFlow::Break(ended) = reading.read_batch(group, visit) {
            return ended.map(|()| reading.rows);
        }
    }
    if let Some(reason) = &reading.layout.damage {
        let reason = quoted(reason.as_bytes());
        let detail = format!(
            "{reason}; the rows of {count} complete record batches were kept. Get the file again"
        );
        return visit(reading.job.damage("arrow-truncated", detail, 0)).map(|_| reading.rows);
    }
    Ok(reading.rows)
}

/// State while record batches are read, one after the other.
struct BatchReading<'j> {
    job: TableJob<'j>,
    layout: ArrowLayout,
    selected: SelectedFields,
    /// Index of the batch that was decoded last, and the decoder that decoded it.
    decoder: Option<(usize, FileDecoder)>,
    /// Number of rows in the batches that were read so far, including rows lost by damage.
    rows: u64,
    /// Number of bytes of the batches that were read so far.
    bytes: u64,
}

impl BatchReading<'_> {
    fn read_batch(&mut self, group: usize, visit: &mut Visit<'_>) -> Flow {
        let declared = self.layout.rows(&**self.job.source, group);
        let bytes_before = self.bytes;
        let batch_bytes = self.layout.batches[group].bytes();
        self.bytes = self.bytes.saturating_add(batch_bytes);
        let batch = self.decode(group).and_then(|batch| {
            let rows = batch.num_rows() as u64;
            // Rows are numbered by the numbers that batches declare. With more or fewer rows, a copy would not find
            // the rows behind them.
            if rows == declared {
                Ok(batch)
            } else {
                Err(format!("the batch has {rows} rows, and its message declares {declared}"))
            }
        });
        let (longest, found) = (self.job.longest, &self.selected.found);
        let mut rows = VisitedRows::new(self.rows, longest, "arrow-type", found);
        let result = batch.and_then(|batch| {
            visit_slices(&batch, &mut rows, visit, &|read| {
                bytes_before + part_of(batch_bytes, read, declared)
            })
        });
        let read = rows.read;
        match result {
            Ok(ControlFlow::Continue(())) => {
                // The next batch begins at the number that the file declares, even if rows are missing.
                // Otherwise the rows of one file could have different numbers in different shares.
                self.rows = self.rows.saturating_add(declared.max(read));
                ControlFlow::Continue(())
            }
            Ok(ended @ ControlFlow::Break(_)) => {
                self.rows += read;
                ended
            }
            Err(reason) => {
                self.rows = self.rows.saturating_add(declared.max(read));
                let detail = format!(
                    "record batch {group}, column \"{}\": {}; {read} of {declared} rows were kept, \
                     the others are lost",
                    quoted(self.selected.first.as_bytes()),
                    quoted(reason.as_bytes())
                );
                let lost = declared.saturating_sub(read);
                give(self.job.damage("arrow-batch", detail, lost), visit)
            }
        }
    }

    /// Decodes the record batch with index `group`. Reuses the decoder of the batch that was decoded last if both
    /// batches have the same dictionaries.
    fn decode(&mut self, group: usize) -> Result<RecordBatch, String> {
        let wanted = &self.layout.batches[group].dictionaries;
        let known = self
            .decoder
            .take()
            // Batches share the list of dictionaries until one changes, so the address shows
            // whether the decoder of the last batch still fits.
            .filter(|(last, _)| Arc::ptr_eq(&self.layout.batches[*last].dictionaries, wanted));
        let decoder = if let Some((_, decoder)) = known {
            decoder
        } else {
            let projection = Some(&self.selected.projection[..]);
            self.layout.decoder(&**self.job.source, group, projection)?
        };
        let (_, decoder) = self.decoder.insert((group, decoder));
        self.layout.decode(&**self.job.source, group, decoder)
    }
}

/// Passes the rows of a record batch to `visit`. Reports progress after every [`SLICE_ROWS`] rows. `reached` converts
/// the number of rows so far to a number of bytes for this report.
fn visit_slices(
    batch: &RecordBatch,
    rows: &mut VisitedRows<'_>,
    visit: &mut Visit<'_>,
    reached: &dyn Fn(u64) -> u64,
) -> Result<Flow, String> {
    let mut at = 0;
    while at < batch.num_rows() {
        let slice = batch.slice(at, SLICE_ROWS.min(batch.num_rows() - at));
        at += slice.num_rows();
        if let ended @ ControlFlow::Break(_) = rows.visit(&slice, visit)? {
            return Ok(ended);
        }
        let reached = Event::Reached(reached(rows.read));
        if let ended @ ControlFlow::Break(_) = give(reached, visit) {
            return Ok(ended);
        }
    }
    Ok(ControlFlow::Continue(()))
}
