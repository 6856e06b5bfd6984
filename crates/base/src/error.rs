//! The error type of simtool. Each error names a place and gives advice to the user.
//!
//! [`Error`] is opaque and has the size of a pointer. [`Error::kind`] returns its case. A message is one line in lower
//! case without a full stop. It does not repeat the message of its cause, because the program and the Python package
//! print the causes, too.

use crate::fault::Fault;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Result of a function that can fail with an [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of simtool. Its message names the place, such as a file or a setting, and gives advice
/// to the user.
pub struct Error(Box<ErrorKind>);

/// The cases of [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused an operation on a file.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// The operation as a verb, for example "read" or "create".
        action: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file breaks a rule of its format.
    #[error("{}, byte {byte}: expected {expected}", path.display())]
    Format {
        /// Path of the file that breaks the rule.
        path: PathBuf,
        /// Byte offset of the fault in the file, counted from 0.
        byte: u64,
        /// Description of the content that a valid file would have at this byte.
        expected: String,
    },
    /// A line of a text file cannot be parsed.
    #[error("{}, line {line}: expected {expected}", path.display())]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Number of the line in the file, from 1.
        line: usize,
        /// Description of how a valid line looks.
        expected: String,
    },
    /// A setting is out of its range, or contradicts another setting.
    ///
    /// In `rule`, names of other settings are in backquotes, for example `text_field`. The command line shows such a
    /// name as an option, for example `--text-field`.
    #[error("{field} {value}: {rule}")]
    Config {
        /// Name of the setting, with underscores, for example `max_memory`.
        field: &'static str,
        /// The value that was given.
        value: String,
        /// The rule that the value breaks, for example "must be from 10 to 31".
        rule: String,
    },
    /// A quantity that becomes known only during the run, such as the memory for the documents, is beyond a limit.
    #[error("{what}: {rule}")]
    Limit {
        /// Description of the quantity that is too large or too small.
        what: String,
        /// The limit, and advice for the user.
        rule: String,
    },
    /// Something that the user named does not exist or has changed, for example a document.
    #[error("{what}: {reason}")]
    Missing {
        /// Description of the missing thing, for example of a document or record.
        what: String,
        /// Reason why the thing is missing, or advice how to name one that exists.
        reason: String,
    },
    /// The operating system refused to allocate memory.
    #[error("cannot have {bytes} bytes of memory for {what}: {remedy}")]
    Memory {
        /// Data for which the memory was requested, for example "the terms of the documents".
        what: &'static str,
        /// Number of bytes that were requested.
        bytes: u64,
        /// Advice on what the user can do to get enough memory.
        remedy: &'static str,
    },
    /// A part of the input cannot be read, and the user chose that the run then fails (`--on-error fail`).
    #[error("{fault}; nothing was written, as `on_error` fail asks for")]
    Loss {
        /// The fault that lost a part of the input.
        fault: Fault,
    },
    /// A run reads a part of the input twice, and the second reading gave other content or failed. For example, another
    /// program has changed the file in the meantime.
    #[error("{fault}; nothing was written")]
    Changed {
        /// The file, and a description of the difference between the two readings.
        fault: Fault,
    },
    /// Another process writes to the index.
    #[error("folder {} is being written by {holder}: wait until it has ended", folder.display())]
    Locked {
        /// Folder of the index.
        folder: PathBuf,
        /// Description of the other process, for example `process 17 (simtool index add)`.
        holder: String,
    },
    /// A run would remove more than the user allows (`--fail-if`).
    #[error("`fail_if` {condition}: {found}; nothing was written")]
    Alarm {
        /// The condition that holds, for example `removed>30%`.
        condition: String,
        /// Counts of the removals, for example "412 of 1,000 documents are removed".
        found: String,
    },
    /// No document was read, so there are no results to write.
    #[error("no document was read: {reason}; nothing was written")]
    NothingRead {
        /// The most likely reason why no document was read.
        reason: String,
    },
    /// An earlier run with the same settings and inputs has completed its output, but was killed before it ended.
    #[error("the results of this run are in {}, complete", output.display())]
    Finished {
        /// Path of the complete output.
        output: PathBuf,
        /// Whether the earlier run could not read some records or files.
        has_losses: bool,
    },
    /// The user wants the work to stop.
    #[error("cancelled")]
    Cancelled,
    /// The input or a setting needs a Cargo feature that this build was compiled without.
    #[error("this build has no {what}; rebuild with --features {feature}")]
    FeatureOff {
        /// Name of the format, compression or tokenizer that this build does not have.
        what: &'static str,
        /// Name of the Cargo feature that adds the format, compression or tokenizer.
        feature: &'static str,
    },
    /// A line of the user's hash table is too short or has a wrong character. A hash table is a
    /// text file of the characters `0` and `1`, with one line per feature. It replaces the built-in
    /// random bits.
    #[error("{}, line {line}, column {column}: {found}; expected {expected}", path.display())]
    HashTable {
        /// Path of the file with the hash table.
        path: PathBuf,
        /// Line in the file, from 1.
        line: usize,
        /// Column in the line, from 1, counted in bytes.
        column: usize,
        /// Description of what the line has at this column.
        found: String,
        /// Description of a line that is long enough for the requested number of bits.
        expected: String,
    },
    /// The numbers of kept and removed documents do not add up to the number of documents that were
    /// read. This is a bug in simtool, so nothing is written.
    #[error(
        "internal error, please report it: {documents} documents were read, but {kept} kept and \
         {removed} removed; nothing was written"
    )]
    NotConserved {
        /// Number of documents that were read.
        documents: u64,
        /// Number of documents that are kept.
        kept: u64,
        /// Number of documents that are removed.
        removed: u64,
    },
}

impl Error {
    /// Returns the case of the error, so that callers can handle some cases in a special way.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// Creates an [`ErrorKind::Io`] for `path`. `action` is the operation that failed, for example "read".
    pub fn io(path: impl AsRef<Path>, action: &'static str, source: io::Error) -> Self {
        ErrorKind::Io { path: path.as_ref().to_owned(), action, source }.into()
    }

    /// Creates an [`ErrorKind::Config`] for the setting `field`, for example `max_memory`. `rule` is the rule that
    /// `value` breaks, for example "must be from 10 to 31".
    pub fn config(field: &'static str, value: impl fmt::Display, rule: impl Into<String>) -> Self {
        ErrorKind::Config { field, value: value.to_string(), rule: rule.into() }.into()
    }

    /// Creates an [`ErrorKind::Limit`] for the quantity `what`. `rule` names the limit and gives advice to the user.
    pub fn limit(what: impl Into<String>, rule: impl Into<String>) -> Self {
        ErrorKind::Limit { what: what.into(), rule: rule.into() }.into()
    }

    /// Creates an [`ErrorKind::Memory`]. `bytes` is the number of bytes that were requested. `what` is the data that
    /// they were for, for example "the terms of the documents".
    #[must_use]
    pub fn memory(what: &'static str, bytes: u64) -> Self {
        let remedy = "use a larger machine, close other programs, or set `max_memory` lower";
        ErrorKind::Memory { what, bytes, remedy }.into()
    }

    /// Returns the message of the error followed by its direct cause, for example that a file does not exist.
    #[must_use]
    pub fn with_cause(&self) -> String {
        match std::error::Error::source(self) {
            Some(cause) => format!("{self}: {cause}"),
            None => self.to_string(),
        }
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// Calls `work`, which uses a library, and converts a panic to an error message with the reason of the panic.
///
/// # Errors
///
/// `work` panics.
///
/// ```
/// use simtool_base::error::caught;
///
/// assert_eq!(caught(|| 2), Ok(2));
/// let reason = caught(|| -> u8 { panic!("no page {}", 7) }).unwrap_err();
/// assert_eq!(reason, "the decoder gave up: no page 7");
/// ```
pub fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    // A panic may leave data half changed. This data belongs to the library and is dropped.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("the decoder gave up: {}", message.unwrap_or("without a reason"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn an_error_is_one_word_and_keeps_its_source() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        let error = Error::io("a/b.txt", "read", io::Error::other("disk on fire"));
        assert_eq!(error.to_string(), "cannot read a/b.txt");
        assert_eq!(error.source().unwrap().to_string(), "disk on fire");
    }

    #[test]
    fn a_config_error_names_option_value_and_rule() {
        let error = Error::config("N", 0, "must be from 1 to 10000");
        assert_eq!(error.to_string(), "N 0: must be from 1 to 10000");
    }
}
