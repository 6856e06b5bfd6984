//! Pairs of rows to bytes, in ascending order, a bounded number of them in memory at a time.

use crate::pipeline::row_names::RowNames;
pub use crate::pipeline::row_names::SideIds;
use crate::write::pair_table;
use simtool_base::error::Result;
use simtool_base::progress::Progress;
use simtool_hamming::partners::{Partners, count, for_each, in_order, listed};
use std::ops::Range;

/// In which form pairs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOutput {
    /// Their number alone.
    Count,
    /// A line with tabs for each: `a`, `b`, `distance`; rows are called by their IDs, if they have
    /// any.
    Tsv,
    /// An array of shape n × 3.
    Numpy,
    /// A Parquet file with the columns `a`, `b` and `distance`.
    Parquet,
    /// Groups of equal rows, and pairs of groups.
    Groups,
}

/// What pairs are written as.
#[derive(Clone, Copy, Debug)]
pub struct PairForm<'i, 'f> {
    /// The form.
    pub output: PairOutput,
    /// What the rows `a` and `b` are called in lines, where not by their numbers.
    pub ids: SideIds<'i, 'f>,
}

/// Where bytes of output go, in order.
pub type Sink<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;

/// Writes all pairs to `sink`. Rows that are compared one by one are so while their pairs are listed.
///
/// # Errors
///
/// The sink fails, or this build cannot write Parquet.
pub fn emit(
    pairs: &dyn Partners,
    form: PairForm<'_, '_>,
    progress: &dyn Progress,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let push = match form.output {
        PairOutput::Count => {
            let count = count(pairs, progress);
            progress.counted("pairs", count);
            return sink(format!("{count}\n").as_bytes());
        }
        PairOutput::Parquet => return emit_columns(pairs, progress, sink),
        PairOutput::Tsv | PairOutput::Groups if form.ids.iter().any(Option::is_some) => {
            return emit_named(pairs, form.ids, progress, sink);
        }
        PairOutput::Tsv | PairOutput::Groups => pair_table::push_tsv,
        PairOutput::Numpy => {
            sink(&pair_table::numpy_header(count(pairs, progress)))?;
            pair_table::push_numpy
        }
    };
    let bytes = |rows: Range<usize>| {
        let (mut out, mut count) = (Vec::new(), 0);
        for_each(pairs, rows, |pair| {
            push(pair.a, pair.b, pair.distance, &mut out);
            count += 1;
        });
        (out, count)
    };
    let mut all = 0;
    in_order(pairs, progress, bytes, |(part, count)| {
        all += count;
        if part.is_empty() { Ok(()) } else { sink(&part) }
    })?;
    progress.counted("pairs", all);
    Ok(())
}

/// Lines of rows that are called by their IDs, which are not looked at where there is no pair.
fn emit_named(
    pairs: &dyn Partners,
    ids: SideIds<'_, '_>,
    progress: &dyn Progress,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let lines = |rows: Range<usize>| -> Result<(Vec<u8>, usize)> {
        let (list, mut out) = (listed(pairs, rows), Vec::new());
        if !list.is_empty() {
            let names = RowNames::of(ids)?;
            for pair in &list {
                names.push_pair([pair.a, pair.b], pair.distance, &mut out);
            }
        }
        Ok((out, list.len()))
    };
    let mut all = 0;
    in_order(pairs, progress, lines, |part| {
        let (part, count) = part?;
        all += count as u64;
        if part.is_empty() { Ok(()) } else { sink(&part) }
    })?;
    progress.counted("pairs", all);
    Ok(())
}

#[cfg(feature = "parquet")]
fn emit_columns(pairs: &dyn Partners, progress: &dyn Progress, sink: &mut Sink<'_>) -> Result<()> {
    let mut file = crate::write::pair_columns::PairColumns::new()?;
    let mut all = 0;
    in_order(
        pairs,
        progress,
        |rows| listed(pairs, rows),
        |part| {
            all += part.len() as u64;
            sink(&file.write(&part)?)
        },
    )?;
    progress.counted("pairs", all);
    sink(&file.finish()?)
}

#[cfg(not(feature = "parquet"))]
fn emit_columns(_: &dyn Partners, _: &dyn Progress, _: &mut Sink<'_>) -> Result<()> {
    Err(simtool_base::error::ErrorKind::FeatureOff { what: "parquet", feature: "parquet" }.into())
}
