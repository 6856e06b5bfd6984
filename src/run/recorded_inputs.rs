//! The inputs of a finished run, as its request names them.

use super::contamination::item_fields;
use super::dedup_request::OUTPUT;
use super::input_settings::InputSettings;
use super::recorded_request::RecordedRequest;
use super::standard_streams::STANDARD_INPUT;
use simtool_base::error::{ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Returns the request of the run whose results are in `folder`.
pub(super) fn recorded(folder: &Path) -> Result<RecordedRequest> {
    // Without its request, nothing says how the run read its documents.
    RecordedRequest::read(folder)?.ok_or_else(|| {
        let what = format!("{} has no request.json", folder.display());
        let reason = "another version of simtool wrote it: run again".to_owned();
        ErrorKind::Missing { what, reason }.into()
    })
}

/// Inputs of a finished run, as its request names them.
pub(super) struct RecordedInputs {
    /// Paths of the corpus, without the paths listed in `files_from`.
    pub(super) corpus: Vec<PathBuf>,
    /// Paths of the queries. Empty if the corpus was compared with itself.
    pub(super) queries: Vec<PathBuf>,
    /// Settings with which the run read documents.
    pub(super) settings: InputSettings,
    /// Fields of the text and, in the next member, of the ID of documents in the corpus. `None` if they are those of
    /// the queries.
    pub(super) against_text_field: Option<String>,
    pub(super) against_id_field: Option<String>,
    /// Fields of evaluation items, which are the queries of a search for contamination.
    pub(super) item_fields: Option<Vec<String>>,
    /// Path of the output folder, as the run wrote it.
    pub(super) output: PathBuf,
}

impl RecordedInputs {
    pub(super) fn of(mut recorded: RecordedRequest) -> Result<Self> {
        Ok(Self {
            // The settings take their options out, and those of a match remain.
            settings: InputSettings::parse(&mut recorded.options)?,
            against_text_field: recorded.options.take("against_text_field"),
            against_id_field: recorded.options.take("against_id_field"),
            item_fields: (recorded.command == "contamination")
                .then(|| item_fields(&mut recorded.options)),
            output: recorded.output().unwrap_or_else(|| OUTPUT.into()),
            corpus: recorded.paths,
            queries: recorded.queries,
        })
    }

    /// Returns whether the run read standard input, as documents or as the list of its files.
    pub(super) fn have_standard_input(&self) -> bool {
        let paths = self.corpus.iter().chain(&self.queries).chain(&self.settings.files_from);
        paths.into_iter().any(|path| path == Path::new(STANDARD_INPUT))
    }
}
