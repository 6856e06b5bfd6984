//! Which documents are read, and how.

use super::common::choices;
use clap::ValueHint;
use clap::builder::{PossibleValue, PossibleValuesParser};
use simtool::Error;
use simtool::options::Options;
use simtool::read::Format;
use simtool::run::{InputSettings, OnError};
use std::path::PathBuf;

/// Which documents are read, beside the paths themselves, which are each command's own.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct InputArgs {
    /// A file that lists more paths of the collection, one a line; may be compressed with gzip; - is
    /// standard input.
    #[arg(long, value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub(crate) files_from: Option<PathBuf>,

    /// The paths of the list are separated by zero bytes.
    #[arg(short = '0', long, requires = "files_from")]
    pub(crate) null: bool,

    /// Of folders, read only the files that match; may be repeated.
    #[arg(long, value_name = "GLOB")]
    pub(crate) glob: Vec<String>,

    /// Of folders, also read what is hidden: files and folders whose names begin with a dot.
    ///
    /// Without it they are left out, which a note tells with their number. What is named is read.
    /// Links in folders are followed to files, and not to folders; results of simtool are left out.
    #[arg(long)]
    pub(crate) hidden: bool,

    /// The format of every file [default: told by content and name].
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<String>,

    /// A line of a plain text is a document, not the file.
    #[arg(long)]
    pub(crate) per_line: bool,

    /// What stands between the columns of CSV and TSV: one character, or tab [default: in TSV a
    /// tab; in CSV the comma, semicolon, tab or bar that the first rows tell].
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<String>,

    /// Field, column or dotted path of the text [default: text].
    #[arg(long, value_name = "NAME")]
    pub(crate) text_field: Option<String>,

    /// Field, column or dotted path of the ID; one that is named here must be there [default: id].
    #[arg(long, value_name = "NAME")]
    pub(crate) id_field: Option<String>,

    /// Pass over documents with fewer tokens (runs without white space); what is passed over is
    /// compared with nothing, and kept.
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) min_tokens: String,

    /// Pass over documents with more bytes of text, such as 20K or 1M (powers of 1000) or 1MiB (of
    /// 1024).
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<String>,

    /// Pass over all but this share of the documents, told by the hash of their text.
    #[arg(long, value_name = "SHARE")]
    pub(crate) sample: Option<String>,

    /// Read no further than the first N documents that are not passed over.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<String>,

    /// What bad records and files do.
    #[arg(long, value_name = "WHAT", default_value = "skip",
        value_parser = choices::<OnError>())]
    pub(crate) on_error: String,

    /// Quarantine records of more bytes; K, M and G are powers of 1000, KiB, MiB and GiB of 1024.
    #[arg(long, value_name = "SIZE", default_value = "128MiB")]
    pub(crate) max_record: String,

    /// Give up on a compressed file that grows by more than this factor, beyond its first GiB.
    #[arg(long, value_name = "FACTOR", default_value = "2000")]
    pub(crate) max_expansion: String,

    /// Largest window of Zstandard files, as a power of two: 27 is 128 MiB.
    #[arg(long, value_name = "LOG", default_value = "27")]
    pub(crate) zstd_window_log: String,
}

impl InputArgs {
    /// Adds what was given.
    pub(crate) fn set(&self, options: &mut Options) {
        if let Some(list) = &self.files_from {
            options.set("files_from", list);
        }
        options.set_flag("null", self.null);
        for glob in &self.glob {
            options.set("glob", glob);
        }
        options.set_flag("hidden", self.hidden);
        options.set_flag("per_line", self.per_line);
        options.set_given([
            ("format", &self.format),
            ("delimiter", &self.delimiter),
            ("text_field", &self.text_field),
            ("id_field", &self.id_field),
            ("max_bytes", &self.max_bytes),
            ("sample", &self.sample),
            ("limit", &self.limit),
        ]);
        options.set("min_tokens", &self.min_tokens);
        options.set("on_error", &self.on_error);
        options.set("max_record", &self.max_record);
        options.set("max_expansion", &self.max_expansion);
        options.set("zstd_window_log", &self.zstd_window_log);
    }

    /// How documents are read.
    pub(crate) fn settings(&self) -> Result<InputSettings, Error> {
        let mut options = Options::new();
        self.set(&mut options);
        InputSettings::parse(&mut options)
    }
}

/// Returns the names of the formats with their descriptions, from the table of formats.
pub(super) fn formats() -> PossibleValuesParser {
    let values = Format::all().map(|format| PossibleValue::new(format.name()).help(format.about()));
    values.collect::<Vec<_>>().into()
}
