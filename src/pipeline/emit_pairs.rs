//! Pairs of rows to bytes, in ascending order, a bounded number of them in memory at a time.

use crate::error::Result;
use crate::pipeline::row_names::RowNames;
pub use crate::pipeline::row_names::SideIds;
use crate::search::partners::{Partners, count, for_each, in_order, listed};
use crate::write::pair_table;
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

/// Where bytes of output go, in order.
pub type Sink<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;

/// Writes all pairs to `sink`. `ids` are those of the rows `a` and `b`.
///
/// # Errors
///
/// The sink fails, or this build cannot write Parquet.
pub fn emit(
    pairs: &dyn Partners,
    output: PairOutput,
    ids: SideIds<'_, '_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let push = match output {
        PairOutput::Count => return sink(format!("{}\n", count(pairs)).as_bytes()),
        PairOutput::Parquet => return emit_columns(pairs, sink),
        PairOutput::Tsv | PairOutput::Groups if ids.iter().any(Option::is_some) => {
            return emit_named(pairs, ids, sink);
        }
        PairOutput::Tsv | PairOutput::Groups => pair_table::push_tsv,
        PairOutput::Numpy => {
            sink(&pair_table::numpy_header(count(pairs)))?;
            pair_table::push_numpy
        }
    };
    let bytes = |rows: Range<usize>| {
        let mut out = Vec::new();
        for_each(pairs, rows, |pair| push(pair.a, pair.b, pair.distance, &mut out));
        out
    };
    in_order(pairs, bytes, |part| if part.is_empty() { Ok(()) } else { sink(&part) })
}

/// Lines of rows that are called by their IDs, which are not looked at where there is no pair.
fn emit_named(pairs: &dyn Partners, ids: SideIds<'_, '_>, sink: &mut Sink<'_>) -> Result<()> {
    let lines = |rows: Range<usize>| -> Result<Vec<u8>> {
        let (list, mut out) = (listed(pairs, rows), Vec::new());
        if !list.is_empty() {
            let names = RowNames::of(ids)?;
            for pair in list {
                names.push_pair([pair.a, pair.b], pair.distance, &mut out);
            }
        }
        Ok(out)
    };
    in_order(pairs, lines, |part| {
        let part = part?;
        if part.is_empty() { Ok(()) } else { sink(&part) }
    })
}

#[cfg(feature = "parquet")]
fn emit_columns(pairs: &dyn Partners, sink: &mut Sink<'_>) -> Result<()> {
    let mut file = crate::write::pair_columns::PairColumns::new()?;
    in_order(pairs, |rows| listed(pairs, rows), |part| sink(&file.write(&part)?))?;
    sink(&file.finish()?)
}

#[cfg(not(feature = "parquet"))]
fn emit_columns(_: &dyn Partners, _: &mut Sink<'_>) -> Result<()> {
    Err(crate::error::ErrorKind::FeatureOff { what: "parquet", feature: "parquet" }.into())
}
