//! What can go wrong, where, and what to do about it.
//!
//! One opaque [`Error`], one word wide; [`Error::kind`] tells the cases apart. A message is one
//! line, lower case, without a full stop and without its source: a face prints the chain.

use crate::fault::Fault;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Something that went wrong, with the place and the remedy.
pub struct Error(Box<ErrorKind>);

/// The cases of [`Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused an operation on a file.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was attempted, as a verb phrase: "read", "create".
        action: &'static str,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A file does not hold what its format asks for.
    #[error("{}, byte {byte}: expected {expected}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Byte offset in the file, from 0.
        byte: u64,
        /// What a valid file has there.
        expected: String,
    },
    /// A line of a file does not hold what it is read for.
    #[error("{}, line {line}: expected {expected}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line in the file, from 1.
        line: usize,
        /// What stands in a valid line.
        expected: String,
    },
    /// A setting is out of its range, or contradicts another.
    ///
    /// Rules name other settings in backquotes, as `text_field`: a face shows them as it spells them.
    #[error("{field} {value}: {rule}")]
    Config {
        /// The setting's name, with underscores.
        field: &'static str,
        /// The value that was given.
        value: String,
        /// The allowed range or combination.
        rule: String,
    },
    /// The input is more than a run can do, which shows only while it runs.
    #[error("{what}: {rule}")]
    Limit {
        /// What there is too much or too little of.
        what: String,
        /// How much would do, and what to change.
        rule: String,
    },
    /// Something that the caller named is not there, or is no longer what it was.
    #[error("{what}: {reason}")]
    Missing {
        /// What is missing, as a sentence.
        what: String,
        /// Why, or how to name something that is there.
        reason: String,
    },
    /// Memory that is needed cannot be had.
    #[error("cannot have {bytes} bytes of memory for {what}: {remedy}")]
    Memory {
        /// What it is for.
        what: &'static str,
        /// How many bytes were asked for.
        bytes: u64,
        /// What to change.
        remedy: &'static str,
    },
    /// Something of the input is lost, and the caller wanted nothing to be.
    #[error("{fault}; nothing was written, as `on_error` fail asks for")]
    Loss {
        /// What is lost.
        fault: Fault,
    },
    /// No document was read, so results would be of nothing.
    #[error("no document was read: {reason}; nothing was written")]
    NothingRead {
        /// The likeliest reason.
        reason: String,
    },
    /// The caller wanted the work to stop.
    #[error("cancelled")]
    Cancelled,
    /// This build lacks a part that the input or a setting needs.
    #[error("this build has no {what}; rebuild with --features {feature}")]
    FeatureOff {
        /// The format, compression or tokenizer, to be read or written.
        what: &'static str,
        /// The Cargo feature that holds it.
        feature: &'static str,
    },
    /// A row of the hash table cannot serve the features and bits that were asked for.
    #[error("{}, line {line}, column {column}: {found}; expected {expected}", path.display())]
    HashTable {
        /// The hash table's file.
        path: PathBuf,
        /// Line in the file, from 1.
        line: usize,
        /// Column in the line, from 1, in bytes.
        column: usize,
        /// What stands there.
        found: String,
        /// What the features and bits need there.
        expected: String,
    },
    /// Documents were lost or counted twice: a bug, for which outputs are withheld.
    #[error(
        "internal error, please report it: {documents} documents were read, but {kept} kept and \
         {removed} removed; nothing was written"
    )]
    NotConserved {
        /// Documents that were read.
        documents: u64,
        /// Documents that are kept.
        kept: u64,
        /// Documents that are removed.
        removed: u64,
    },
}

impl Error {
    /// The case, for programs that react to it.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// An [`ErrorKind::Io`] for `path`.
    pub fn io(path: impl AsRef<Path>, action: &'static str, source: io::Error) -> Self {
        ErrorKind::Io { path: path.as_ref().to_owned(), action, source }.into()
    }

    /// An [`ErrorKind::Config`] for the setting `field`.
    pub fn config(field: &'static str, value: impl fmt::Display, rule: impl Into<String>) -> Self {
        ErrorKind::Config { field, value: value.to_string(), rule: rule.into() }.into()
    }

    /// An [`ErrorKind::Limit`] of `what`.
    pub fn limit(what: impl Into<String>, rule: impl Into<String>) -> Self {
        ErrorKind::Limit { what: what.into(), rule: rule.into() }.into()
    }

    /// An [`ErrorKind::Memory`] of `bytes` bytes for `what`.
    #[must_use]
    pub fn memory(what: &'static str, bytes: u64) -> Self {
        let remedy = "give the machine more, close other programs, or set `max_memory` lower";
        ErrorKind::Memory { what, bytes, remedy }.into()
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
