//! Arguments that choose the documents to read, and how to read them.

use super::MemoryArgs;
use super::common::choices;
use clap::ValueHint;
use clap::builder::{PossibleValue, PossibleValuesParser};
use simtool::Error;
use simtool::options::{Choice, Options};
use simtool::read::{Format, PageContent, TextSplit};
use simtool::run::{InputSettings, OnError};
use std::path::PathBuf;

/// Options for reading documents. Each command has its own arguments for paths.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct InputArgs {
    /// File that lists more paths to read, one a line, optionally compressed with gzip; - is standard
    /// input.
    #[arg(long, value_name = "LIST", value_hint = ValueHint::FilePath)]
    pub(crate) files_from: Option<PathBuf>,

    /// Paths in the list are separated by zero bytes.
    #[arg(short = '0', long, requires = "files_from")]
    pub(crate) null: bool,

    /// When reading folders, include only files matching this glob (repeatable).
    ///
    /// A glob without a slash is compared with the names of files, and a glob with a slash with their paths
    /// below the folder, where `**` matches any number of folders. A glob that begins with `!` leaves files
    /// out, like --exclude.
    #[arg(long, value_name = "GLOB")]
    pub(crate) glob: Vec<String>,

    /// When reading folders, leave out files matching this glob (repeatable).
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,

    /// When reading folders, include hidden files and folders, whose names begin with a dot.
    ///
    /// Without this option they are skipped, and a note reports their number. Paths on the command
    /// line are read even if they are hidden. In folders, links to files are followed, links to
    /// folders are not, and results of simtool are skipped.
    #[arg(long)]
    pub(crate) hidden: bool,

    /// Format of every file [default: recognized by content and name].
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    pub(crate) format: Option<String>,

    /// Division of plain-text files into documents.
    #[arg(long, value_name = "BY", default_value = "file", value_parser = choices::<TextSplit>())]
    pub(crate) split: String,

    /// Treat each line of a plain-text file as a document (the same as --split lines).
    #[arg(long, conflicts_with = "split")]
    pub(crate) per_line: bool,

    /// Encoding of texts that are not UTF-8 and do not declare another one: a name of the web such
    /// as windows-1251 or gbk, or detect [default: UTF-8].
    ///
    /// `detect` guesses the encoding of each file whose first 256 KiB are not UTF-8 from these bytes,
    /// and a note names it. A byte order mark goes before this option. So does the encoding that an HTML
    /// page, its HTTP header or a mail declares. Pages and mails that declare none are always detected one
    /// by one, unless this option names an encoding. Copies keep the bytes of the input.
    #[arg(long, value_name = "NAME")]
    pub(crate) encoding: Option<String>,

    /// Text of an HTML page that is compared.
    ///
    /// Holds for files and for web archives. Mails are always read as a whole.
    #[arg(long, value_name = "PART", default_value_t = usual_content(),
        value_parser = choices::<PageContent>())]
    pub(crate) content: String,

    /// Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV; in CSV
    /// the comma, semicolon, tab or bar, recognized by the first rows].
    #[arg(long, value_name = "CHAR")]
    pub(crate) delimiter: Option<String>,

    /// Character that encloses fields of CSV and TSV, or the word none if quotes are letters
    /// [default: recognized by the first rows; in TSV they are letters unless fields begin and end with them].
    #[arg(long, value_name = "CHAR")]
    pub(crate) quote: Option<String>,

    /// Character before a quote inside a quoted field of CSV and TSV [default: a backslash if the first
    /// rows need it; quotes may also be doubled].
    #[arg(long, value_name = "CHAR")]
    pub(crate) escape: Option<String>,

    /// The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so on.
    #[arg(long)]
    pub(crate) no_header: bool,

    /// Fields or columns of the text [default: text].
    ///
    /// `meta.text` is a field of an object, `messages[].content` a field of each element of a list,
    /// and `title+body` joins fields by a newline. Of `text,body`, only the first field that a record
    /// has is read: a comma joins nothing, unlike in `simtool contamination --fields`. A field whose name is exactly as written comes first, and a backslash takes the
    /// meaning from a dot, comma, plus sign or bracket in a name.
    #[arg(long, value_name = "NAMES", conflicts_with = "all_strings")]
    pub(crate) text_field: Option<String>,

    /// Compare all texts of a record, joined by newlines: every string of JSON, every text column.
    #[arg(long)]
    pub(crate) all_strings: bool,

    /// Field or column of the ID, written like --text-field; it must exist if named [default: id].
    #[arg(long, value_name = "NAME")]
    pub(crate) id_field: Option<String>,

    /// Pass over documents with fewer tokens (runs without white space). Documents that are passed
    /// over are compared with nothing, and kept.
    #[arg(long, value_name = "N", default_value = "0")]
    pub(crate) min_tokens: String,

    /// Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000) or 1MiB
    /// (powers of 1024).
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_bytes: Option<String>,

    /// Process only this share of the documents, selected by the hash of the text.
    #[arg(long, value_name = "SHARE")]
    pub(crate) sample: Option<String>,

    /// Stop after the first N documents that are not passed over. Copies end there, too.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<String>,

    /// Action for unreadable records and files.
    #[arg(long, value_name = "WHAT", default_value = "skip",
        value_parser = choices::<OnError>())]
    pub(crate) on_error: String,

    /// Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of 1024. By default
    /// 128MiB, whatever the memory is.
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_record: Option<String>,

    /// Stop reading a compressed file that grows by more than this factor, beyond its first GiB.
    #[arg(long, value_name = "FACTOR", default_value = "2000")]
    pub(crate) max_expansion: String,

    /// Maximum window of Zstandard and dictionary of xz files, as a power of two: 27 is 128 MiB.
    #[arg(long, value_name = "LOG", default_value = "27")]
    pub(crate) zstd_window_log: String,
}

impl InputArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        if let Some(list) = &self.files_from {
            options.set("files_from", list);
        }
        options.set_flag("null", self.null);
        for glob in &self.glob {
            options.set("glob", glob);
        }
        for glob in &self.exclude {
            options.set("exclude", glob);
        }
        options.set_flag("hidden", self.hidden);
        options.set_flag("per_line", self.per_line);
        if !self.per_line {
            options.set("split", &self.split);
        }
        options.set_flag("no_header", self.no_header);
        options.set_flag("all_strings", self.all_strings);
        options.set_given([
            ("format", &self.format),
            ("encoding", &self.encoding),
            ("delimiter", &self.delimiter),
            ("quote", &self.quote),
            ("escape", &self.escape),
            ("text_field", &self.text_field),
            ("id_field", &self.id_field),
            ("max_bytes", &self.max_bytes),
            ("sample", &self.sample),
            ("limit", &self.limit),
            ("max_record", &self.max_record),
        ]);
        options.set("content", &self.content);
        options.set("min_tokens", &self.min_tokens);
        options.set("on_error", &self.on_error);
        options.set("max_expansion", &self.max_expansion);
        options.set("zstd_window_log", &self.zstd_window_log);
    }

    /// Returns the settings for reading documents. `memory` limits the length of a record.
    pub(crate) fn settings(&self, memory: &MemoryArgs) -> Result<InputSettings, Error> {
        let mut options = Options::new();
        self.set(&mut options);
        memory.set(&mut options);
        InputSettings::parse(&mut options)
    }
}

/// Returns the name of the default value of `--content`.
pub(super) fn usual_content() -> String {
    PageContent::default().name().to_owned()
}

/// Returns a parser that accepts the names of file formats and shows their descriptions.
pub(super) fn formats() -> PossibleValuesParser {
    let values = Format::all().map(|format| PossibleValue::new(format.name()).help(format.about()));
    values.collect::<Vec<_>>().into()
}
