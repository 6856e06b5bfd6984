//! Arguments of `simtool passages`.

use super::common::choices;
use super::{CommonArgs, InputArgs, MemoryArgs, PartsArgs, RowsArgs};
use clap::ValueHint;
use simtool::options::Options;
use simtool::passages::Cut;
use simtool::pipeline::Origin;
use simtool::tokenize::text_units::TextUnit;
use std::path::PathBuf;

/// Arguments of `simtool passages`.
#[derive(Debug, clap::Args)]
pub(crate) struct PassagesArgs {
    /// Files and folders to read, including subfolders; - is standard input.
    #[arg(value_name = "PATH", required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Unit of text that must be repeated.
    ///
    /// A paragraph, line or sentence is repeated if others have the same words, and passages are whole units. Units
    /// with fewer words than --words are left out.
    #[arg(long, value_name = "UNIT", default_value = "words", value_parser = choices::<TextUnit>())]
    pub(crate) unit: String,

    /// Minimum number of words of a passage, from 1 to 1000 [default: 50, or 8 for a --unit].
    #[arg(short, long, value_name = "N")]
    pub(crate) words: Option<String>,

    /// Minimum number of documents with the words of a passage [default: 2].
    #[arg(long, value_name = "N", conflicts_with = "anywhere")]
    pub(crate) min_documents: Option<String>,

    /// Documents that count as different ones for --min-documents [default: document].
    ///
    /// For example, with --of host, a passage must occur in several hosts, and the counts in the rows are counts
    /// of hosts.
    #[arg(long, value_name = "ORIGIN", conflicts_with = "anywhere", value_parser = choices::<Origin>())]
    pub(crate) of: Option<String>,

    /// Also list passages that are repeated only within one document.
    #[arg(long)]
    pub(crate) anywhere: bool,

    /// Compare the words of all passages whose hashes are equal.
    ///
    /// Two different runs of words have equal hashes with a probability of less than 1 in 3,000 for a
    /// hundred million words. Takes two more readings of the documents with passages. With --write-kept, copies with
    /// cuts are also read again and checked.
    #[arg(long)]
    pub(crate) verify_words: bool,

    #[command(flatten)]
    pub(crate) cutting: CuttingArgs,

    #[command(flatten)]
    pub(crate) rows: RowsArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) parts: PartsArgs,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl PassagesArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set("unit", &self.unit);
        options.set_given([
            ("words", &self.words),
            ("min_documents", &self.min_documents),
            ("of", &self.of),
        ]);
        options.set_flag("anywhere", self.anywhere);
        options.set_flag("verify_words", self.verify_words);
        self.cutting.set(options);
        self.parts.set(options);
        self.rows.set(options);
        self.input.set(options);
        self.memory.set(options);
        self.common.set(options);
    }
}

/// Arguments for cutting passages out of copies of the files.
#[derive(Debug, clap::Args)]
pub(crate) struct CuttingArgs {
    /// Copies of a passage that --write-kept cuts.
    #[arg(long, value_name = "COPIES", requires = "write_kept", help_heading = "Cutting",
        value_parser = choices::<Cut>())]
    pub(crate) cut: Option<String>,

    /// Text that replaces each cut. Without it, a line feed does.
    #[arg(long, value_name = "TEXT", requires = "write_kept", help_heading = "Cutting")]
    pub(crate) mask: Option<String>,

    /// Remove a cut document with fewer words left [default: 1].
    ///
    /// With --cut first, a document that keeps words of a passage, such as its first copy, is never removed.
    #[arg(long, value_name = "N", requires = "write_kept", help_heading = "Cutting")]
    pub(crate) min_left: Option<String>,

    /// Write copies of the input files without the passages to the folder --output.
    ///
    /// The copies are in kept/ and have the format of the input. Only the text of a document is changed: a string
    /// of JSON, a column of CSV, Parquet or Arrow, the block of a WET record, or a part of a text file. A document
    /// whose text was extracted or decoded, as from HTML, is copied whole and listed (uncut). The folder also has the
    /// passages, a list of the cut documents (cuts), a list of the copies (files), summary.json and report.html.
    #[arg(long, requires = "output", help_heading = "Cutting")]
    pub(crate) write_kept: bool,
}

impl CuttingArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    fn set(&self, options: &mut Options) {
        // The parser checks that options for cutting come with --write-kept.
        options.set_flag("write_kept", self.write_kept);
        options.set_given([("cut", &self.cut), ("mask", &self.mask), ("min_left", &self.min_left)]);
    }
}
