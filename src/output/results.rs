//! Data that outputs are written from, and the folder that they are written to.

use super::caught_texts::CaughtTexts;
use super::findings::Findings;
use super::settings::Outputs;
use super::sources::SourceCounts;
use crate::cluster::Cluster;
use crate::pipeline::CollectionSummary;
use crate::write::columns::{Column, IdType, RowTable, RowsFile};
use crate::write::output_folder::OutputFolder;
use simtool_base::error::{Error, Result};
use simtool_compute::context::Context;
use std::io::{self, Write};
use std::sync::atomic::AtomicU64;

/// Data that outputs are written from, and the folder that they are written to.
pub(super) struct Results<'f> {
    pub(super) findings: &'f Findings<'f>,
    pub(super) clusters: &'f [Cluster<'f>],
    /// For each document, whether it is kept.
    pub(super) kept: &'f [bool],
    /// Whether a removed document has the same ID as a kept document.
    pub(super) has_ambiguous_ids: bool,
    /// Recipe of the method, which is stored in the metadata of output files.
    pub(super) recipe: &'f str,
    pub(super) outputs: &'f Outputs,
    /// Numbers of removed documents by source, for example by file.
    pub(super) sources: &'f SourceCounts,
    pub(super) folder: &'f OutputFolder,
    /// Number of documents whose records in the output `annotated` have no added fields.
    pub(super) unannotated: AtomicU64,
    /// Number of files without a copy in the output `kept`, because no record of them can be read.
    pub(super) uncopied_files: AtomicU64,
    /// Collector of texts for the page while the inputs are copied. `None` if they are not copied.
    pub(super) texts: Option<&'f CaughtTexts>,
    /// Threads that write, and receiver of the progress.
    pub(super) context: &'f Context<'f>,
}

impl Results<'_> {
    /// Writes a file with rows in the format that the user chose. `fill` writes the rows. `name` is the file
    /// name without the extension.
    pub(super) fn write_rows<T: RowTable>(
        &self,
        name: &str,
        columns: &'static [Column<T>],
        fill: impl FnOnce(&mut RowsFile<T, &mut (dyn Write + Send)>) -> io::Result<()>,
    ) -> Result<()> {
        let format = self.outputs.rows;
        self.write_file(&format!("{name}.{}", format.extension()), |out| {
            let mut rows = RowsFile::new(out, format, columns, self.id_type(), self.recipe)?;
            fill(&mut rows)?;
            rows.finish().map(drop)
        })
    }

    /// Returns the type of all IDs in Parquet files. It is the same for all columns, because a kept document
    /// and a removed one may be of different collections.
    fn id_type(&self) -> IdType {
        let are_integers = |side: &CollectionSummary| side.ids.are_integers();
        IdType::of(self.findings.read.iter().all(are_integers))
    }

    /// Writes the file `name` of the folder. `fill` writes its content.
    pub(super) fn write_file(
        &self,
        name: &str,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<()> {
        write_file(self.folder, name, fill)
    }
}

/// Writes the file `file` of an output folder. `content` writes its content.
pub(crate) fn write_file(
    folder: &OutputFolder,
    file: &str,
    content: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<()> {
    let mut out = folder.file(file)?;
    content(&mut out)
        .and_then(|()| out.flush())
        .map_err(|e| Error::io(folder.name(file), "write", e))
}
