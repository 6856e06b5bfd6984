//! The request for a review.

use simtool_base::error::Result;
use simtool_base::options::Options;
use simtool_compute::resources::Resources;
use std::path::PathBuf;

/// Request to review a finished run.
#[derive(Clone, Debug)]
pub struct ReviewRequest {
    /// Path of the output folder of the run.
    pub output: PathBuf,
    /// Path of the file to which judgements about pairs are written.
    pub labels: PathBuf,
    /// Paths of files with judgements of other people, which are compared with those in `labels`.
    pub other_labels: Vec<PathBuf>,
    /// Path of the file to which decisions about removed documents are written.
    pub decisions: PathBuf,
    /// Port of the server on this machine, or 0 for any free port.
    pub port: u16,
    /// Threads and memory.
    pub resources: Resources,
}

impl ReviewRequest {
    /// Creates the request for the run in `output`. `options` may have `labels`, `decisions`, `port` and the options of
    /// [`Resources`].
    ///
    /// # Errors
    ///
    /// A value is outside its range, or an option is unknown.
    pub fn parse(output: PathBuf, mut options: Options) -> Result<Self> {
        // Files of a review are next to the folder, which a later run may replace.
        let beside = |suffix: &str| {
            // `out/` and `out` are one folder.
            let mut path = output.components().as_path().as_os_str().to_owned();
            path.push(suffix);
            PathBuf::from(path)
        };
        // The first file is written, and the others are only read.
        let mut labels = options.take_all("labels").into_iter().map(PathBuf::from);
        let request = Self {
            labels: labels.next().unwrap_or_else(|| beside(".labels.tsv")),
            other_labels: labels.collect(),
            decisions: options.take_path("decisions").unwrap_or_else(|| beside(".decisions.jsonl")),
            port: options.take_parsed("port", "must be a number up to 65535")?.unwrap_or(0),
            resources: Resources::parse(&mut options)?,
            output,
        };
        options.refuse_rest("review has no such option")?;
        Ok(request)
    }
}
