//! Which documents are read, and how.

use super::sizes::bytes;
use clap::builder::PossibleValuesParser;
use clap::{Parser, ValueEnum, ValueHint};
use simtool::input_format::Format;
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
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,

    /// Field, column or dotted path of the text [default: text].
    #[arg(long, value_name = "NAME")]
    pub(crate) text_field: Option<String>,

    /// Field, column or dotted path of the ID; one that is named here must be there [default: id].
    #[arg(long, value_name = "NAME")]
    pub(crate) id_field: Option<String>,

    /// Pass over documents with fewer tokens (runs without white space); what is passed over is
    /// compared with nothing, and kept.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) min_tokens: usize,

    /// Pass over documents with more bytes of text, such as 20K or 1M (powers of 1000) or 1MiB (of
    /// 1024).
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(crate) max_bytes: Option<u64>,

    /// Pass over all but this share of the documents, told by the hash of their text.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) sample: Option<f64>,

    /// Read no further than the first N documents that are not passed over.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    /// What bad records and files do.
    #[arg(long, value_name = "WHAT", default_value = "skip")]
    pub(crate) on_error: OnError,

    /// Quarantine records of more bytes; K, M and G are powers of 1000, KiB, MiB and GiB of 1024.
    #[arg(long, value_name = "SIZE", default_value = "128MiB", value_parser = bytes)]
    pub(crate) max_record: u64,

    /// Give up on a compressed file that grows by more than this factor, beyond its first GiB.
    #[arg(long, value_name = "FACTOR", default_value_t = 2000)]
    pub(crate) max_expansion: u64,

    /// Largest window of Zstandard files, as a power of two: 27 is 128 MiB.
    #[arg(long, value_name = "LOG", default_value_t = 27, value_parser = clap::value_parser!(u32).range(10..=31))]
    pub(crate) zstd_window_log: u32,
}

impl Default for InputArgs {
    /// What the options are where none is given.
    fn default() -> Self {
        #[derive(Parser)]
        struct Alone {
            #[command(flatten)]
            input: InputArgs,
        }
        // No option must be given.
        Alone::parse_from([""]).input
    }
}

impl InputArgs {
    /// Field, column or dotted path of the text.
    pub(crate) fn text_field(&self) -> &str {
        self.text_field.as_deref().unwrap_or("text")
    }

    /// Field, column or dotted path of the ID.
    pub(crate) fn id_field(&self) -> &str {
        self.id_field.as_deref().unwrap_or("id")
    }
}

/// What bad records and files do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnError {
    /// They are told of and counted, and the rest goes on.
    Skip,
    /// The first ends the run, and nothing is written.
    Fail,
}

/// The names of the formats.
pub(super) fn formats() -> PossibleValuesParser {
    Format::ALL.map(Format::name).into()
}

/// A character that may stand between columns.
fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        &[character] if character.is_ascii() && !b"\"\r\n".contains(&character) => Ok(character),
        _ => Err("expected one ASCII character other than a quote, such as ';', or tab".to_owned()),
    }
}

/// A share from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1, such as 0.01".to_owned())
}
