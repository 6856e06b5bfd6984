//! Changes of the input files of a finished run.

use std::fmt;

/// Change of an input file since a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputChange {
    /// Name of the file, as the run wrote it.
    pub file: String,
    /// Size of the file in bytes during the run. `None` if the file was not among the inputs of the run.
    pub bytes: Option<u64>,
    /// Size of the file in bytes now.
    pub bytes_now: u64,
}

impl fmt::Display for InputChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, bytes, bytes_now } = self;
        match bytes {
            Some(bytes) if bytes == bytes_now => {
                write!(f, "{file} was written since the run, and has {bytes} bytes as before")
            }
            Some(bytes) => {
                write!(
                    f,
                    "{file} was written since the run: it had {bytes} bytes, and now has {bytes_now}"
                )
            }
            None => write!(f, "{file} was not among the inputs of the run"),
        }
    }
}
