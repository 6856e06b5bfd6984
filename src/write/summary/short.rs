//! Writes the summary of a run that finds no near-duplicates, such as `simtool passages`.

use super::Setting;
use super::json::{write_parameters, write_seconds};
use crate::write::output_inventory::write_written_files;
use simtool_base::byte_text::path_text;
use simtool_base::json_text::write_string;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Summary of a run that finds no near-duplicates, such as `simtool passages`: its settings, counts and times.
#[derive(Clone, Copy)]
pub(crate) struct ShortSummary<'s> {
    /// Command line of the run.
    pub(crate) command: &'s str,
    /// Output folder, as the user named it.
    pub(crate) output: &'s Path,
    /// Folder in which the run was started. With `None`, the summary has no such field.
    pub(crate) working_folder: Option<&'s str>,
    /// Names and values of the settings.
    pub(crate) parameters: &'s [(&'static str, Setting)],
    /// Names and values of the counts.
    pub(crate) counts: &'s [(&'static str, u64)],
    /// Paths of all files in the output folder except the summary. `None` if the summary is in no output folder.
    pub(crate) written_files: Option<&'s [PathBuf]>,
    /// Function that writes other fields of the JSON object, each followed by a comma.
    pub(crate) more: &'s dyn Fn(&mut dyn Write) -> io::Result<()>,
    /// Name and time of each stage.
    pub(crate) stages: &'s [(&'static str, Duration)],
}

impl ShortSummary<'_> {
    /// Writes the summary as a JSON object. Only the field `seconds` differs between runs that are
    /// started in the same folder.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let program = concat!("simtool ", env!("CARGO_PKG_VERSION"));
        out.write_all(b"{\n")?;
        let output = path_text(self.output);
        let texts = [("program", program), ("command", self.command), ("output", &output)];
        let folder = self.working_folder.map(|folder| ("working_folder", folder));
        for (name, value) in texts.into_iter().chain(folder) {
            write!(out, "  \"{name}\": ")?;
            write_string(out, value.as_bytes())?;
            out.write_all(b",\n")?;
        }
        write_parameters(out, self.parameters)?;
        // Counts are fields of the object itself, as in the summary of `dedup`.
        for (name, count) in self.counts {
            writeln!(out, "  \"{name}\": {count},")?;
        }
        (self.more)(out)?;
        if let Some(files) = self.written_files {
            write_written_files(out, files)?;
        }
        write_seconds(out, self.stages)?;
        out.write_all(b"}\n")
    }
}
