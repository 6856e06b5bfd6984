//! Settings of `simtool generate`.

use simtool::Error;
use simtool::generate::collection::Size;
use simtool::options::Options;
use simtool::stages::quantity::{BYTES_EXPECTED, parse_bytes};
use simtool::write::output_folder::Existing;
use std::path::PathBuf;

/// Default value of `--seed`.
const SEED: u64 = 1;
/// Default value of `--samples`.
const SAMPLES: u64 = 200;

/// A collection to generate, and the folder for its files.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GeneratedCollection {
    pub(crate) size: Size,
    /// Number of documents. 0 if the size is in bytes.
    pub(crate) documents: u64,
    pub(crate) samples: u64,
    pub(crate) seed: u64,
    pub(crate) with_tables: bool,
    /// Name of the kind of the collection. `None` for articles and samples.
    pub(crate) kind: Option<String>,
    pub(crate) output: PathBuf,
    pub(crate) existing: Existing,
}

impl GeneratedCollection {
    pub(crate) fn parse(mut options: Options) -> Result<Self, Error> {
        let rule = "must be a whole number";
        let documents = options.take_parsed("documents", rule)?;
        let bytes = options.take("bytes").map(|given| {
            parse_bytes(&given).ok_or_else(|| Error::config("bytes", given, BYTES_EXPECTED))
        });
        // The parser of the arguments requires one of the two.
        let size = match (documents, bytes.transpose()?) {
            (Some(documents), _) => Size::Documents(documents),
            (None, bytes) => Size::Bytes(bytes.unwrap_or(0)),
        };
        let made = Self {
            size,
            documents: documents.unwrap_or(0),
            samples: options.take_parsed("samples", rule)?.unwrap_or(SAMPLES),
            seed: options.take_parsed("seed", rule)?.unwrap_or(SEED),
            with_tables: options.take_flag("with_tables")?,
            kind: options.take("kind"),
            output: options.take_path("output").unwrap_or_default(),
            existing: Existing::by_force(options.take_flag("force")?),
        };
        options.refuse_rest("generate has no such option")?;
        Ok(made)
    }
}
