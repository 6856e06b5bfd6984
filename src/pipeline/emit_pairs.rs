//! Pairs of rows to bytes, in ascending order, a bounded number of them in memory at a time.

use crate::error::Result;
use crate::progress::Progress;
#[cfg(feature = "parquet")]
use crate::search::partners::listed;
use crate::search::partners::{Partners, count, for_each, in_order};
use crate::write::pair_table;
use std::ops::Range;

/// In which form pairs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOutput {
    /// Their number alone.
    Count,
    /// A line with tabs for each: `a`, `b`, `distance`.
    Tsv,
    /// An array of shape n × 3.
    Numpy,
    /// A Parquet file with the columns `a`, `b` and `distance`.
    Parquet,
    /// Groups of equal rows, and pairs of groups.
    Groups,
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
    output: PairOutput,
    progress: &dyn Progress,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let push = match output {
        PairOutput::Count => {
            let count = count(pairs, progress);
            progress.counted("pairs", count);
            return sink(format!("{count}\n").as_bytes());
        }
        PairOutput::Parquet => return emit_columns(pairs, progress, sink),
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
    Err(crate::error::ErrorKind::FeatureOff { what: "parquet", feature: "parquet" }.into())
}
