//! Pairs of rows to bytes, in ascending order, a bounded number of them in memory at a time.

use crate::output::row_names::RowNames;
pub use crate::output::row_names::SideIds;
use crate::write::columns::{Column, OutputDescription, RowTable, Value, describe_columns};
use crate::write::pair_table;
use simtool_base::error::Result;
use simtool_base::progress::Progress;
use simtool_hamming::partners::{Partners, count, for_each, in_order, listed};
use simtool_model::matches::ValuePair;
use std::ops::Range;

/// The pairs of a join, for the reference pages.
pub(crate) const OUTPUT: OutputDescription = OutputDescription {
    name: "joined-pairs",
    files: &[],
    command: "join, search",
    description: "Every pair of rows of fingerprints within the distance, in ascending order.",
    columns: || describe_columns(JoinedRows::COLUMNS),
};

/// Pairs of rows of fingerprints. Text and NumPy arrays of the same columns are written by
/// [`pair_table`], which is faster than a table of columns could be.
#[derive(Debug)]
struct JoinedRows;

impl RowTable for JoinedRows {
    type Row<'r> = ValuePair;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new(
            "a",
            "The first row: its number, or in text its ID if rows have IDs.",
            Value::Number(|pair| pair.a.into()),
        ),
        Column::new("b", "The second row.", Value::Number(|pair| pair.b.into())),
        Column::new(
            "distance",
            "Number of positions in which their fingerprints differ.",
            Value::Count(|pair| pair.distance),
        ),
    ];
}

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
    use crate::write::columns::ParquetRows;
    use simtool_base::error::Error;
    let failed = |error| Error::io("Parquet", "write", error);
    let mut file: ParquetRows<JoinedRows, Vec<u8>> =
        ParquetRows::new(Vec::new(), JoinedRows::COLUMNS, None).map_err(failed)?;
    let mut all = 0;
    in_order(
        pairs,
        progress,
        |rows| listed(pairs, rows),
        |part| {
            all += part.len() as u64;
            file.write_batch(&part).map_err(failed)?;
            sink(&std::mem::take(file.out()))
        },
    )?;
    progress.counted("pairs", all);
    sink(&file.finish().map_err(failed)?)
}

#[cfg(not(feature = "parquet"))]
fn emit_columns(_: &dyn Partners, _: &dyn Progress, _: &mut Sink<'_>) -> Result<()> {
    Err(simtool_base::error::ErrorKind::FeatureOff { what: "parquet", feature: "parquet" }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::columns::write_tsv_line;

    #[test]
    fn the_fast_text_has_the_columns_of_the_table() {
        let pair = ValuePair { a: 0, b: u32::MAX, distance: 10 };
        let mut fast = Vec::new();
        pair_table::push_tsv(pair.a, pair.b, pair.distance, &mut fast);
        let mut by_columns = Vec::new();
        write_tsv_line(&mut by_columns, JoinedRows::COLUMNS, &pair).unwrap();
        assert_eq!(fast, by_columns);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn pairs_of_a_parquet_file_come_back() {
        use crate::write::columns::ParquetRows;
        use arrow_array::cast::AsArray;
        use arrow_array::types::{Int32Type, Int64Type};
        use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
        let pair = |a| ValuePair { a, b: u32::MAX - 1, distance: a % 7 };
        let parts: [Vec<_>; 3] =
            [(0..3).map(pair).collect(), vec![], (3..70_000).map(pair).collect()];
        let mut file: ParquetRows<JoinedRows, Vec<u8>> =
            ParquetRows::new(Vec::new(), JoinedRows::COLUMNS, None).unwrap();
        for part in &parts {
            file.write_batch(part).unwrap();
        }
        let bytes = bytes::Bytes::from(file.finish().unwrap());
        let mut found = Vec::new();
        for batch in ParquetRecordBatchReader::try_new(bytes, 1000).unwrap() {
            let batch = batch.unwrap();
            let rows = |name| batch[name].as_primitive::<Int64Type>().values().to_vec();
            let distances = batch["distance"].as_primitive::<Int32Type>().values().to_vec();
            for ((a, b), distance) in rows("a").into_iter().zip(rows("b")).zip(distances) {
                found.push(ValuePair {
                    a: u32::try_from(a).unwrap(),
                    b: u32::try_from(b).unwrap(),
                    distance: distance.cast_unsigned(),
                });
            }
        }
        assert_eq!(found, parts.concat());
    }
}
