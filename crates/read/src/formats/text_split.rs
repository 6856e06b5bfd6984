//! The division of plain texts into documents.

use simtool_base::options::Choice;

/// Rule by which plain-text files are divided into documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextSplit {
    /// A file is one document.
    #[default]
    File,
    /// Each line that is not blank is a document.
    Lines,
    /// Each block of lines between blank lines is a document.
    BlankLines,
}

impl Choice for TextSplit {
    const ALL: &'static [Self] = &[Self::File, Self::Lines, Self::BlankLines];

    fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Lines => "lines",
            Self::BlankLines => "blank-lines",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::File => "A file is one document",
            Self::Lines => "Each line is a document",
            Self::BlankLines => "Blank lines separate documents, as in CC-100 and OSCAR",
        }
    }
}
