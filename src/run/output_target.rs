//! The place to which a command writes its rows: standard output, a file, or a folder.

use super::face::{Face, give_name};
use super::files::{create_output_folder, refuse_existing, refuse_overlap, write_whole_file};
use super::finish_mark::FinishMark;
use super::input::Input;
use super::standard_streams::{STANDARD_OUTPUT, is_standard_output};
use crate::output::files_of_folders;
use crate::write::output_folder::{Existing, OutputFolder};
use crate::write::output_inventory::SUMMARY;
use simtool_base::error::{Error, Result};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Output that the user named.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutputPlace<'p> {
    /// Path of the file or folder; `-` is standard output.
    pub(super) path: &'p Path,
    /// Whether an existing output is replaced.
    pub(super) existing: Existing,
    /// Mark, a file which says that the output is complete. It is written before the output gets its name. `None` if
    /// the run stores no parts.
    pub(super) mark: Option<&'p FinishMark>,
}

impl OutputPlace<'_> {
    /// Writes the mark that the output is complete, if there is one. `last` is the file of the output that was written
    /// last.
    fn write_mark(&self, last: &Path) -> Result<()> {
        self.mark.map_or(Ok(()), |mark| mark.write(last))
    }
}

/// Output that is being written.
pub(super) enum OutputTarget<'t> {
    /// Standard output.
    Stream(&'t mut (dyn Write + Send)),
    /// A file, which gets its final name when it is complete.
    File,
    /// A folder, which gets its final name when it is complete.
    Folder(Box<OutputFolder>),
}

impl<'t> OutputTarget<'t> {
    /// Checks that a file may be written. A path of `-` means `standard_output`.
    ///
    /// # Errors
    ///
    /// The file exists or is one of the inputs.
    pub(super) fn file(
        place: OutputPlace<'_>,
        inputs: &[&Input<'_>],
        standard_output: &'t mut (dyn Write + Send),
    ) -> Result<Self> {
        if is_standard_output(place.path) {
            return Ok(Self::Stream(standard_output));
        }
        // This check comes first, because its message is more helpful.
        inputs.iter().try_for_each(|input| input.refuse_as_output(place.path))?;
        refuse_existing("output", place.path, place.existing)?;
        Ok(Self::File)
    }

    /// Creates an output folder under a temporary name. `paths` are the inputs.
    ///
    /// # Errors
    ///
    /// The path overlaps an input, has content that may not be replaced, or cannot be created.
    pub(super) fn folder(
        place: OutputPlace<'_>,
        paths: &[PathBuf],
        face: &dyn Face,
    ) -> Result<Self> {
        // A folder that cannot be created must end the run before the long search.
        refuse_overlap(place.path, paths)?;
        let folder = create_output_folder(place.path, place.existing, &files_of_folders(), face)?;
        Ok(Self::Folder(Box::new(folder)))
    }

    /// Writes the output, and gives it its final name. If it is a file or standard output, calls `write_rows` with the
    /// name of the output, for error messages, and the writer. If it is a folder, calls `write_folder`, which writes
    /// the files of the folder.
    ///
    /// # Errors
    ///
    /// The output cannot be written.
    pub(super) fn write(
        self,
        place: OutputPlace<'_>,
        write_rows: &dyn Fn(&Path, &mut (dyn Write + Send)) -> Result<()>,
        write_folder: &mut dyn FnMut(&OutputFolder) -> Result<()>,
        face: &dyn Face,
    ) -> Result<()> {
        match self {
            Self::Stream(out) => write_rows(Path::new("standard output"), out),
            Self::File => write_whole_file(place.path, place.existing, face, |file| {
                write_rows(place.path, &mut file.file())?;
                file.staging().map_or(Ok(()), |last| place.write_mark(last))
            }),
            Self::Folder(folder) => {
                write_folder(&folder)?;
                folder.sync()?;
                place.write_mark(&folder.staging().join(SUMMARY))?;
                give_name(face, place.path, || folder.finish())
            }
        }
    }
}

/// Returns an error if an output folder would be standard output.
pub(super) fn refuse_stream_as_folder(output: &Path) -> Result<()> {
    if is_standard_output(output) {
        let rule = "is needed with `write_kept`: name the folder to write";
        return Err(Error::config("output", STANDARD_OUTPUT, rule));
    }
    Ok(())
}

/// Returns `mask`, the text that replaces each cut, if it is one line.
///
/// # Errors
///
/// The text has control characters. A line end could divide a record into two.
pub(super) fn one_line_mask(mask: String) -> Result<String> {
    if mask.contains(char::is_control) {
        let rule = "must be one line without control characters";
        return Err(Error::config("mask", mask, rule));
    }
    Ok(mask)
}
