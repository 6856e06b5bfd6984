//! Pairs of rows as a Parquet file: columns `a` and `b` of 64-bit integers, `distance` of 32-bit
//! ones; signed, since some readers make decimals of unsigned ones.

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use simtool_base::error::{Error, Result};
use simtool_model::matches::ValuePair;
use std::io;
use std::mem::take;
use std::sync::Arc;

/// A Parquet file of pairs that is being written.
#[derive(Debug)]
pub struct PairColumns {
    schema: SchemaRef,
    writer: ArrowWriter<Vec<u8>>,
}

impl PairColumns {
    /// A file without pairs.
    ///
    /// # Errors
    ///
    /// The library refuses.
    pub fn new() -> Result<Self> {
        let field = |name: &str, kind: DataType| Field::new(name, kind, false);
        let schema = Arc::new(Schema::new(vec![
            field("a", DataType::Int64),
            field("b", DataType::Int64),
            field("distance", DataType::Int32),
        ]));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties));
        Ok(Self { schema, writer: writer.map_err(refused)? })
    }

    /// Adds pairs; returns the file's next bytes, as far as they are made.
    ///
    /// # Errors
    ///
    /// The library refuses.
    pub fn write(&mut self, pairs: &[ValuePair]) -> Result<Vec<u8>> {
        let rows = |row: fn(&ValuePair) -> u32| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values(pairs.iter().map(|pair| row(pair).into())))
        };
        let distances =
            Int32Array::from_iter_values(pairs.iter().map(|pair| pair.distance.cast_signed()));
        let columns = vec![rows(|pair| pair.a), rows(|pair| pair.b), Arc::new(distances)];
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let batch = batch.map_err(|error| refused(error.into()))?;
        self.writer.write(&batch).map_err(refused)?;
        Ok(take(self.writer.inner_mut()))
    }

    /// The rest of the file.
    ///
    /// # Errors
    ///
    /// The library refuses.
    pub fn finish(self) -> Result<Vec<u8>> {
        self.writer.into_inner().map_err(refused)
    }
}

fn refused(error: ParquetError) -> Error {
    Error::io("Parquet", "write", io::Error::other(error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Int32Type, Int64Type};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

    #[test]
    fn pairs_come_back() {
        let pair = |a| ValuePair { a, b: u32::MAX - 1, distance: a % 7 };
        let parts: [Vec<_>; 3] =
            [(0..3).map(pair).collect(), vec![], (3..70_000).map(pair).collect()];
        let mut file = PairColumns::new().unwrap();
        let mut bytes = Vec::new();
        for part in &parts {
            bytes.extend(file.write(part).unwrap());
        }
        bytes.extend(file.finish().unwrap());
        let batches = ParquetRecordBatchReader::try_new(bytes::Bytes::from(bytes), 1000).unwrap();
        let mut found = Vec::new();
        for batch in batches {
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
