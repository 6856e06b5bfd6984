//! The inputs of a finished run, parsed from its command line.

use super::input_settings::InputSettings;
use super::standard_streams::STANDARD_INPUT;
use std::path::{Path, PathBuf};

/// Inputs of a finished run, as the command line of the run names them.
#[derive(Clone, Debug)]
pub struct RecordedInputs {
    /// Paths of the corpus, without the paths listed in `files_from`.
    pub corpus: Vec<PathBuf>,
    /// Paths of the queries. Empty if the corpus was compared with itself.
    pub queries: Vec<PathBuf>,
    /// Settings with which the run read documents.
    pub settings: InputSettings,
    /// Path of the output folder, as the run wrote it.
    pub output: PathBuf,
}

impl RecordedInputs {
    /// Returns whether the run read standard input, as documents or as the list of its files.
    #[must_use]
    pub(super) fn have_standard_input(&self) -> bool {
        let paths = self.corpus.iter().chain(&self.queries).chain(&self.settings.files_from);
        paths.into_iter().any(|path| path == Path::new(STANDARD_INPUT))
    }
}
