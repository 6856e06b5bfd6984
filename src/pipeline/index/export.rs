//! What an index knows of its documents, written.

use super::stored::{Index, KnownDocument};
use crate::pipeline::method::Method;
#[cfg(feature = "parquet")]
use crate::write::index_columns::IndexColumns;
use crate::write::index_rows::IndexRow;
use simtool_base::error::{Error, Result};
use simtool_base::utc_time::UtcTime;
use simtool_fingerprint::file::write_hexadecimal;
use simtool_model::fingerprint_rows::Shape;
use std::io::{self, Write};

/// Where the rows of an index go.
#[derive(Debug)]
pub struct IndexRows<W: Write + Send>(Rows<W>);

#[derive(Debug)]
enum Rows<W: Write + Send> {
    JsonLines(W),
    #[cfg(feature = "parquet")]
    Parquet(Box<IndexColumns<W>>),
}

impl<W: Write + Send> IndexRows<W> {
    /// Lines of JSON.
    pub fn json_lines(out: W) -> Self {
        Self(Rows::JsonLines(out))
    }

    /// A Parquet file, with the recipe of `method` in its metadata.
    ///
    /// # Errors
    ///
    /// Those of `out`; this build writes no Parquet.
    pub fn parquet(out: W, method: &Method) -> Result<Self> {
        #[cfg(feature = "parquet")]
        {
            let columns = IndexColumns::new(out, &method.recipe().to_string());
            let columns = columns.map_err(|e| Error::io("the table", "write", e))?;
            Ok(Self(Rows::Parquet(Box::new(columns))))
        }
        #[cfg(not(feature = "parquet"))]
        {
            drop((out, method));
            Err(simtool_base::error::ErrorKind::FeatureOff { what: "Parquet", feature: "parquet" }
                .into())
        }
    }

    /// Writes every document of `index`, in the order of their numbers: number, ID, fingerprint,
    /// repeats, sources, first and last time.
    ///
    /// # Errors
    ///
    /// The index is damaged; those of the output.
    pub fn write(mut self, index: &Index) -> Result<()> {
        let shape = index.shape();
        let failed = |e| Error::io("the export", "write", e);
        index.visit(&mut |known, words| {
            index.lend_row(known, |row| self.push(row, words, shape)).map_err(failed)
        })?;
        match self.0 {
            Rows::JsonLines(mut out) => out.flush().map_err(failed),
            #[cfg(feature = "parquet")]
            Rows::Parquet(columns) => columns.finish().map_err(failed),
        }
    }

    fn push(&mut self, row: &IndexRow<'_>, words: &[u64], shape: Shape) -> io::Result<()> {
        match &mut self.0 {
            Rows::JsonLines(out) => {
                out.write_all(b"{")?;
                row.write_fields(out)?;
                out.write_all(b",\"fingerprint\":\"")?;
                write_hexadecimal(words, shape, out)?;
                out.write_all(b"\"}\n")
            }
            #[cfg(feature = "parquet")]
            Rows::Parquet(columns) => {
                let mut digits = Vec::new();
                write_hexadecimal(words, shape, &mut digits)?;
                columns.write(row, &String::from_utf8_lossy(&digits))
            }
        }
    }
}

impl Index {
    /// Lends what is known of a document as a row for writers.
    pub fn lend_row<T>(&self, known: &KnownDocument, lend: impl FnOnce(&IndexRow<'_>) -> T) -> T {
        let KnownDocument { number, id, repeats, sources, first, last } = known;
        let name = |source: &u32| self.sources().get(*source as usize).map_or("", String::as_str);
        let sources: Vec<&str> = sources.iter().map(name).collect();
        let [first, last] = [*first, *last].map(UtcTime::from_seconds);
        lend(&IndexRow { number: *number, id, repeats: *repeats, sources: &sources, first, last })
    }
}
