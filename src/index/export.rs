//! Writes all documents of an index to a file, or a document near a query as a line.

use super::lookup::Near;
use super::stored::{Index, KnownDocument};
use crate::output::index_rows::{IndexRow, IndexRows, NearRow, write_near};
use crate::write::columns::{IdType, RowFormat, RowTable, RowsFile};
use simtool_base::error::{Error, Result};
use simtool_base::utc_time::UtcTime;
use simtool_fingerprint::file::write_hexadecimal;
use simtool_model::document_name::DocumentName;
use std::io::Write;

impl Index {
    /// Writes every document of the index to `out`, in the order of document numbers. A row has the number,
    /// the ID, the fingerprint, the number of repeats and the sources of a document. It also has the first
    /// and the last time at which the document or a repeat of it was added.
    ///
    /// # Errors
    ///
    /// The index is damaged, or `out` fails.
    pub fn export<W: Write + Send>(&self, out: W, format: RowFormat) -> Result<()> {
        let failed = |error| Error::io("the export", "write", error);
        let is_json = matches!(format, RowFormat::JsonLines);
        let columns = if is_json { IndexRows::JSON_LINES } else { IndexRows::COLUMNS };
        let mut rows = RowsFile::new(out, format, columns, IdType::Text, self.shared().0.recipe())
            .map_err(failed)?;
        let shape = self.shape();
        let mut digits = Vec::new();
        self.visit(&mut |known, words| {
            digits.clear();
            write_hexadecimal(words, shape, &mut digits).map_err(failed)?;
            let fingerprint = String::from_utf8_lossy(&digits);
            let sources = self.source_names(known);
            rows.write(&index_row(known, &sources, &fingerprint)).map_err(failed)
        })?;
        rows.finish().map(drop).map_err(failed)
    }

    /// Writes a line about a query document, which `name` names, and about `near`, a document of the index
    /// near it. The line is a JSON object, or both IDs and the distance separated by tabs. Writes nothing if
    /// `near` is no longer in the index.
    ///
    /// # Errors
    ///
    /// The index is damaged, or `out` fails.
    pub(crate) fn write_near(
        &self,
        out: &mut dyn Write,
        is_json: bool,
        name: &DocumentName<'_>,
        near: Near,
    ) -> Result<()> {
        let Some(known) = self.document(near.number)? else { return Ok(()) };
        let sources = self.source_names(&known);
        let found = index_row(&known, &sources, "");
        let row = NearRow { name, distance: near.distance, near: &found };
        write_near(out, is_json, &row).map_err(|e| Error::io("standard output", "write", e))
    }

    fn source_names(&self, known: &KnownDocument) -> Vec<&str> {
        // Names are in the manifest and numbers in the segments. If a number has no name, an empty name is
        // written, because the rest of the row is still useful.
        let name = |source: &u32| self.sources().get(*source as usize).map_or("", String::as_str);
        known.sources.iter().map(name).collect()
    }
}

fn index_row<'r>(
    known: &'r KnownDocument,
    sources: &'r [&'r str],
    fingerprint: &'r str,
) -> IndexRow<'r> {
    IndexRow {
        number: known.number,
        id: &known.id,
        repeats: known.repeats,
        sources,
        first: UtcTime::from_seconds(known.first),
        last: UtcTime::from_seconds(known.last),
        fingerprint,
    }
}
