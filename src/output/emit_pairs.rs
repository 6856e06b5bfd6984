//! Writes pairs of fingerprints as bytes, in ascending order. Only a limited number of pairs is in memory.

use crate::output::row_names::RowNames;
pub use crate::output::row_names::SideIds;
use crate::write::columns::{Column, OutputDescription, RowTable, Value, describe_columns};
use crate::write::pair_table;
use simtool_base::error::Result;
use simtool_base::progress::Progress;
use simtool_hamming::partners::{Partners, count, for_each, in_order, listed};
use simtool_model::matches::ValuePair;
use std::ops::Range;

/// Description of the pairs that `simtool join` writes, for the reference pages.
pub(crate) const OUTPUT: OutputDescription = OutputDescription {
    name: "joined-pairs",
    files: &[],
    command: "join, search",
    description: "Every pair of rows of fingerprints within the distance, in ascending order.",
    columns: || describe_columns(JoinedRows::COLUMNS),
};

/// Columns of pairs of fingerprints. Only Parquet files are written from this list. Text and NumPy arrays
/// have the same columns, but [`pair_table`] writes them faster.
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

/// Form in which the pairs of a join are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairOutput {
    /// Only a line with the number of pairs.
    Count,
    /// One line for each pair: `a`, `b` and `distance`, separated by tabs. `a` and `b` are the IDs of the
    /// fingerprints, or their row numbers if they have no IDs.
    Tsv,
    /// A NumPy array of shape n × 3. Each row has `a`, `b` and `distance` of a pair.
    Numpy,
    /// A Parquet file with the columns `a`, `b` and `distance`.
    Parquet,
    /// One line for each group of several equal fingerprints, and then one line for each pair of groups.
    Groups,
}

/// Form of the written pairs, and the names of the fingerprints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PairForm<'i, 'f> {
    /// Form in which the pairs are written.
    pub output: PairOutput,
    /// IDs of the fingerprints: one list for `a` and one for `b`. If a list is missing, lines have row
    /// numbers instead.
    pub ids: SideIds<'i, 'f>,
}

/// Function that is called with the next bytes of an output.
pub(crate) type Sink<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;

/// Writes all pairs to `sink`. Some joins find the pairs of a row only when the row is requested. With these
/// joins, the search runs while the pairs are written.
///
/// # Errors
///
/// The sink fails, or this build cannot write Parquet.
pub(crate) fn emit(
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
            // The header has the number of pairs, so they are counted first.
            sink(&pair_table::numpy_header(count(pairs, progress)))?;
            pair_table::push_numpy
        }
    };
    // Threads turn ranges of rows into bytes, and `in_order` passes on the bytes in the order of the ranges.
    let format_rows = |rows: Range<usize>| {
        let mut out = Vec::new();
        let mut count = 0;
        for_each(pairs, rows, |pair| {
            push(pair.a, pair.b, pair.distance, &mut out);
            count += 1;
        });
        (out, count)
    };
    let mut all = 0;
    in_order(pairs, progress, format_rows, |(part, count)| {
        all += count;
        if part.is_empty() { Ok(()) } else { sink(&part) }
    })?;
    progress.counted("pairs", all);
    Ok(())
}

/// Writes one line for each pair, with the IDs of both fingerprints.
fn emit_named(
    pairs: &dyn Partners,
    ids: SideIds<'_, '_>,
    progress: &dyn Progress,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let format_rows = |rows: Range<usize>| -> Result<(Vec<u8>, usize)> {
        let list = listed(pairs, rows);
        let mut out = Vec::new();
        // The IDs are looked up only if there is a pair, because that may mean reading the whole file.
        if !list.is_empty() {
            let names = RowNames::from_ids(ids)?;
            for pair in &list {
                names.push_pair([pair.a, pair.b], pair.distance, &mut out);
            }
        }
        Ok((out, list.len()))
    };
    let mut all = 0;
    in_order(pairs, progress, format_rows, |part| {
        let (part, count) = part?;
        all += count as u64;
        if part.is_empty() { Ok(()) } else { sink(&part) }
    })?;
    progress.counted("pairs", all);
    Ok(())
}

/// Writes pairs as a Parquet file.
#[cfg(feature = "parquet")]
fn emit_columns(pairs: &dyn Partners, progress: &dyn Progress, sink: &mut Sink<'_>) -> Result<()> {
    use crate::write::columns::{IdType, ParquetRows};
    use simtool_base::error::Error;
    let failed = |error| Error::io("Parquet", "write", error);
    let mut file: ParquetRows<JoinedRows, Vec<u8>> =
        ParquetRows::new(Vec::new(), JoinedRows::COLUMNS, IdType::Text, None).map_err(failed)?;
    let mut all = 0;
    in_order(
        pairs,
        progress,
        |rows| listed(pairs, rows),
        |part| {
            all += part.len() as u64;
            file.write_batch(&part).map_err(failed)?;
            // The file is written to a buffer, which is passed on and emptied after each part.
            sink(&std::mem::take(file.out()))
        },
    )?;
    progress.counted("pairs", all);
    sink(&file.finish().map_err(failed)?)
}

/// Returns an error, because this build cannot write Parquet.
#[cfg(not(feature = "parquet"))]
fn emit_columns(_: &dyn Partners, _: &dyn Progress, _: &mut Sink<'_>) -> Result<()> {
    Err(simtool_base::error::ErrorKind::FeatureOff { what: "parquet", feature: "parquet" }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::columns::write_tsv_line;

    #[test]
    fn text_lines_equal_the_columns_of_the_table() {
        let pair = ValuePair { a: 0, b: u32::MAX, distance: 10 };
        let mut fast = Vec::new();
        pair_table::push_tsv(pair.a, pair.b, pair.distance, &mut fast);
        let mut by_columns = Vec::new();
        write_tsv_line(&mut by_columns, JoinedRows::COLUMNS, &pair).unwrap();
        assert_eq!(fast, by_columns);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn a_parquet_file_contains_the_pairs_that_were_written() {
        use crate::write::columns::{IdType, ParquetRows};
        use arrow_array::cast::AsArray;
        use arrow_array::types::{Int32Type, Int64Type};
        use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
        let pair = |a| ValuePair { a, b: u32::MAX - 1, distance: a % 7 };
        let parts: [Vec<_>; 3] =
            [(0..3).map(pair).collect(), vec![], (3..70_000).map(pair).collect()];
        let mut file: ParquetRows<JoinedRows, Vec<u8>> =
            ParquetRows::new(Vec::new(), JoinedRows::COLUMNS, IdType::Text, None).unwrap();
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
