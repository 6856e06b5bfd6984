//! The format Apache Parquet. A file is a table, whose rows are stored in row groups.

#[cfg(feature = "parquet")]
mod chunks;
#[cfg(feature = "parquet")]
mod copy;
#[cfg(feature = "parquet")]
mod reader;

use crate::formats::{Fields, InputFormat, Price, Reader};
#[cfg(feature = "parquet")]
use {
    crate::formats::{RowsCopy, Selector, TableFormat, TableJob, TableRows, TableShare, Visit},
    crate::source::{OpenSource, Source},
    simtool_base::error::Result,
    std::sync::Arc,
};

/// Entry of Parquet in the table of input formats.
pub(crate) static PARQUET: Parquet = Parquet;

/// The format Apache Parquet.
#[derive(Debug)]
pub(crate) struct Parquet;

impl InputFormat for Parquet {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn title(&self) -> &'static str {
        "Parquet"
    }

    fn about(&self) -> &'static str {
        "Each row is a document"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["parquet"]
    }

    fn fields(&self) -> Fields {
        Fields::Named
    }

    fn has_magic(&self, head: &[u8]) -> bool {
        head.starts_with(b"PAR1")
    }

    fn price(&self) -> Price {
        Price::Unpacked
    }

    #[cfg(feature = "parquet")]
    fn reader(&'static self) -> Reader {
        Reader::Table(self)
    }

    #[cfg(not(feature = "parquet"))]
    fn reader(&'static self) -> Reader {
        Reader::FeatureOff("parquet")
    }
}

#[cfg(feature = "parquet")]
impl TableFormat for Parquet {
    fn shares(&self, source: &Arc<dyn OpenSource>, bytes: u64) -> Option<Vec<TableShare>> {
        reader::shares(source, bytes)
    }

    fn column_names(&self, source: &Arc<dyn OpenSource>) -> Vec<String> {
        reader::column_names(source)
    }

    fn read(&self, job: TableJob<'_>, visit: &mut Visit<'_>) -> Result<u64> {
        reader::read(job, visit)
    }

    fn edits_texts(&self, source: &Arc<dyn OpenSource>, text: &Selector) -> bool {
        reader::is_readable(source) && copy::edits_texts(source, text)
    }

    fn copy_rows(&self, from: &dyn Source, copy: &RowsCopy<'_>, text: &Selector) -> Result<()> {
        copy::copy_rows(from, copy, text)
    }

    /// Estimates the memory as about seven pages of texts, because a page is in memory in several forms at once:
    /// compressed, decompressed, and as rows. The writer of a file checks only after every 1,024 rows whether a page
    /// has reached 1 MB, so pages of long texts are longer than 1 MB.
    fn reader_bytes(&self, rows: TableRows) -> f64 {
        const LEAST_PAGE_BYTES: f64 = 1e6;
        const PAGE_ROWS: f64 = 1024.0;
        const PAGES: f64 = 7.0;
        PAGES * (PAGE_ROWS * rows.text_bytes).max(LEAST_PAGE_BYTES)
    }
}
