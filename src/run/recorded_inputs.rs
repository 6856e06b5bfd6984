//! Inputs of a finished run.

use super::input_settings::InputSettings;
use std::path::PathBuf;

/// The inputs that the command line of a finished run names.
#[derive(Clone, Debug)]
pub struct RecordedInputs {
    /// Paths of the corpus, without the paths of `files_from`.
    pub corpus: Vec<PathBuf>,
    /// Paths of the queries; none if the corpus was compared with itself.
    pub queries: Vec<PathBuf>,
    /// Settings with which documents were read.
    pub settings: InputSettings,
    /// The output folder, as the run named it.
    pub output: PathBuf,
}
