//! The formats and compressions that inputs come in, and copies of them are written in.

use std::fmt;

/// How a file's bytes hold documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Form feeds between documents; a document's first token is its ID.
    FormFeed,
    /// The file is the document.
    Text,
    /// Every line is a document.
    Lines,
    /// Every line is a JSON object.
    JsonLines,
    /// Comma-separated values with a header row.
    Csv,
    /// Tab-separated values with a header row.
    Tsv,
    /// WARC or WET records.
    Warc,
    /// An Apache Parquet file.
    Parquet,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 8] = [
        Self::FormFeed,
        Self::Text,
        Self::Lines,
        Self::JsonLines,
        Self::Csv,
        Self::Tsv,
        Self::Warc,
        Self::Parquet,
    ];

    /// The name that options and reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FormFeed => "form-feed",
            Self::Text => "text",
            Self::Lines => "lines",
            Self::JsonLines => "jsonl",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Warc => "warc",
            Self::Parquet => "parquet",
        }
    }

    /// Whether a file of this format is text and nothing else.
    #[must_use]
    pub fn is_plain(self) -> bool {
        matches!(self, Self::Text | Self::Lines)
    }

    /// Whether its records have fields or columns with names.
    #[must_use]
    pub fn has_fields(self) -> bool {
        matches!(self, Self::JsonLines | Self::Csv | Self::Tsv | Self::Parquet)
    }

    /// The format of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How a file's bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    None,
    /// Gzip, of one member or many.
    Gzip,
    /// Zstandard, of one frame or many.
    Zstd,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_format() {
        for format in Format::ALL {
            assert_eq!(Format::from_name(&format.to_string()), Some(format));
        }
        assert_eq!(Format::from_name("docx"), None);
    }
}
