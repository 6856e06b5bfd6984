//! The option `of`: rule for the documents that count as one document in a search for repeated passages.

use super::scope::{Relation, Scope, ScopeValue};
use simtool_base::options::Choice;

/// Origin of a document in a search for repeated passages. All documents of one origin count as one document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Each document has its own origin.
    #[default]
    Document,
    /// The file of the document.
    File,
    /// The folder of the document's ID if the ID is a URI, or else of its file.
    Folder,
    /// The host of the document's ID. All documents whose IDs are not URIs have one origin.
    Host,
}

impl Choice for Origin {
    const ALL: &'static [Self] = &[Self::Document, Self::File, Self::Folder, Self::Host];

    fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::File => "file",
            Self::Folder => "folder",
            Self::Host => "host",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Document => "Each document counts",
            Self::File => "Documents of a file count as one",
            Self::Folder => {
                "Documents in the same folder count as one. This is the folder of the ID if the ID is a URI, or else \
                 the folder of the file"
            }
            Self::Host => {
                "Documents whose IDs have the same host count as one. All documents without a host count as one"
            }
        }
    }
}

impl Origin {
    /// Returns the scope whose values are origins. `None` if each document has its own origin.
    pub(super) fn scope(self) -> Option<Scope> {
        let value = match self {
            Self::Document => return None,
            Self::File => ScopeValue::File,
            Self::Folder => ScopeValue::Folder,
            Self::Host => ScopeValue::Host,
        };
        // The relation has no effect, because the search for passages reads only the values.
        Some(Scope { relation: Relation::Across, value })
    }
}
