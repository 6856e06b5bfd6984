//! Arguments of `simtool dedup`, `simtool match` and `simtool --corpus`, which can do both.

use super::common::{choices, output_folder};
use super::keep::KeepArgs;
use super::similarity::similarity_help;
use super::sketch::methods_or_auto;
use super::{CommonArgs, InputArgs, MemoryArgs, PartsArgs, SketchArgs, TermArgs, WordsArgs};
use clap::ValueHint;
use simtool::Error;
use simtool::options::Options;
use simtool::output::BadRecords;
use simtool::run::{Paths, RecordedInputs, Request};
use simtool::write::columns::RowFormat;
use std::path::PathBuf;

/// Arguments of `simtool dedup`.
#[derive(Debug, clap::Args)]
pub(crate) struct DedupArgs {
    /// Files and folders to read, including subfolders; - is standard input.
    #[arg(value_name = "PATH", required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) keep: KeepArgs,

    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,

    #[command(flatten)]
    pub(crate) parts: PartsArgs,
}

/// Arguments of `simtool match`.
#[derive(Debug, clap::Args)]
pub(crate) struct MatchArgs {
    /// Files and folders with the documents to match, including subfolders; - is standard input.
    #[arg(value_name = "QUERIES", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) queries: Vec<PathBuf>,

    /// Files and folders of the collection to match against.
    #[arg(long, value_name = "PATH", num_args = 1.., required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) against: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) fields: AgainstArgs,

    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,
}

/// Options for fields of the collection to match against.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct AgainstArgs {
    /// Fields of the text in the collection to match against [default: those of --text-field].
    #[arg(long, value_name = "NAMES")]
    pub(crate) against_text_field: Option<String>,

    /// Field of the ID in the collection to match against [default: that of --id-field].
    #[arg(long, value_name = "NAME")]
    pub(crate) against_id_field: Option<String>,
}

/// Arguments of `simtool [N M] --corpus`. With `--queries` it does the same as `simtool match`,
/// otherwise the same as `simtool dedup`.
#[derive(Debug, clap::Args)]
pub(crate) struct CorpusForm {
    #[command(flatten)]
    pub(crate) words: WordsArgs,

    /// Files and folders to read, including subfolders; - is standard input.
    #[arg(long = "corpus", value_name = "PATH", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Match these documents against the corpus, and keep the ones that are similar to no document of
    /// the corpus.
    #[arg(long, value_name = "PATH", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub(crate) queries: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) fields: AgainstArgs,

    #[command(flatten)]
    pub(crate) keep: KeepArgs,

    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,

    #[command(flatten)]
    pub(crate) parts: PartsArgs,
}

/// Arguments of a run on a collection, from `dedup`, `match` or `simtool --corpus`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    /// N and M of `simtool N M --corpus`, and the files that they need. `None` for `dedup` and
    /// `match`.
    pub(crate) words: Option<&'a WordsArgs>,
    /// Paths of the corpus, without the paths listed by `--files-from`.
    pub(crate) paths: &'a [PathBuf],
    /// Paths of the queries. Empty if the corpus is compared with itself.
    pub(crate) queries: &'a [PathBuf],
    /// Options that choose which documents are kept. `None` if no document of the corpus is removed.
    pub(crate) keep: Option<&'a KeepArgs>,
    /// Options for storing what the run reads. `None` if the run stores nothing.
    parts: Option<&'a PartsArgs>,
    /// Fields of the corpus, if they can differ from the fields of the queries.
    fields: Option<&'a AgainstArgs>,
    pub(crate) corpus: &'a CorpusArgs,
}

impl Job<'_> {
    /// Returns the inputs that a finished run with these arguments has read, for `simtool why`.
    pub(crate) fn inputs(self) -> Result<RecordedInputs, Error> {
        Ok(RecordedInputs {
            corpus: self.paths.to_vec(),
            queries: self.queries.to_vec(),
            settings: self.corpus.input.settings(&self.corpus.memory)?,
            output: self.corpus.output.clone(),
        })
    }

    /// Creates the request that the library carries out. `command` is the command line, which the summary
    /// records.
    pub(crate) fn request(self, command: String) -> Result<Request, Error> {
        let mut options = Options::new();
        if let Some(keep) = self.keep {
            keep.set(&mut options);
        }
        if let Some(parts) = self.parts {
            parts.set(&mut options);
        }
        if let Some(AgainstArgs { against_text_field, against_id_field }) = self.fields {
            options.set_given([
                ("against_text_field", against_text_field),
                ("against_id_field", against_id_field),
            ]);
        }
        self.corpus.set(&mut options);
        let paths = Paths { corpus: self.paths.to_vec(), queries: self.queries.to_vec() };
        let words = self.words.map(WordsArgs::request).unwrap_or_default();
        let mut request = Request::parse_with_words(paths, words, options)?;
        request.command = command;
        Ok(request)
    }
}

impl CorpusArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    fn set(&self, options: &mut Options) {
        self.terms.set(options);
        self.sketch.set(options);
        options.set_given([
            ("method", &self.method),
            ("similarity", &self.similarity),
            ("max_distance", &self.max_distance),
            ("verify", &self.verify),
            ("verify_weight", &self.verify_weight),
            ("recall", &self.recall),
            ("within", &self.within),
            ("across", &self.across),
            ("boilerplate", &self.boilerplate),
        ]);
        options.set("output", &self.output);
        options.set_flag("force", self.force);
        options.set("output_format", &self.output_format);
        options.set_flag("ids_only", self.ids_only);
        options.set_flag("write_kept", self.write_kept);
        // The option has a default value, which must not look like a given one.
        if self.write_kept {
            options.set("quarantined", &self.quarantined);
        }
        self.input.set(options);
        self.memory.set(options);
        self.common.set(options);
    }
}

impl DedupArgs {
    pub(crate) fn job(&self) -> Job<'_> {
        let Self { paths, keep, parts, corpus } = self;
        let (keep, parts) = (Some(keep), Some(parts));
        Job { words: None, paths, queries: &[], keep, parts, fields: None, corpus }
    }
}

impl MatchArgs {
    pub(crate) fn job(&self) -> Job<'_> {
        let Self { queries, against, fields, corpus } = self;
        let (keep, parts, fields) = (None, None, Some(fields));
        Job { words: None, paths: against, queries, keep, parts, fields, corpus }
    }
}

impl CorpusForm {
    pub(crate) fn job(&self) -> Job<'_> {
        let Self { words, paths, queries, fields, keep, parts, corpus } = self;
        let (words, keep, parts, fields) = (Some(words), Some(keep), Some(parts), Some(fields));
        Job { words, paths, queries, keep, parts, fields, corpus }
    }
}

/// Options for finding near-duplicates and for writing results.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Near-duplicates")]
pub(crate) struct CorpusArgs {
    /// Method that finds near-duplicates [default: exact].
    #[arg(long, value_name = "METHOD", value_parser = methods_or_auto())]
    pub(crate) method: Option<String>,

    /// Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default: 0.8, or
    /// 0.9 with minhash by cosine].
    #[arg(long, value_name = "S", long_help = similarity_help())]
    pub(crate) similarity: Option<String>,

    /// With fingerprints: maximum distance of near-duplicates, with simhash in bits [default: 3 with
    /// simhash].
    ///
    /// With 64-bit fingerprints over shingles, two documents at distance 3 have on average a Jaccard
    /// similarity of 0.98, at distance 6 of 0.92, and at distance 10 of 0.79. With 128 bits, these
    /// distances double. The distance of a single pair can be a few bits above or below the average.
    /// With minhash, the unit is lanes or thousandths (see --measure); with i-match, it is lexicons
    /// that differ.
    #[arg(short = 'k', long, value_name = "K")]
    pub(crate) max_distance: Option<String>,

    /// With fingerprints: read the texts of the pairs again and keep only pairs with a similarity
    /// of at least S. S can name the same measures as --similarity. The terms of the texts need
    /// memory.
    #[arg(long, value_name = "S")]
    pub(crate) verify: Option<String>,

    /// With --verify: weight of each shingle, as in --weight with exact [default: binary].
    #[arg(long, value_name = "WEIGHT", value_parser = ["binary", "idf"], requires = "verify")]
    pub(crate) verify_weight: Option<String>,

    /// With fingerprints: use LSH bands that find at least this fraction of the pairs at the maximum
    /// distance [default: find all].
    #[arg(long, value_name = "PART")]
    pub(crate) recall: Option<String>,

    /// Compare only documents with the same value of this field.
    ///
    /// NAME is a field, written like --text-field, or `file`, `folder` or `host`. `folder` and `host` are those of
    /// the ID if it is a URI, such as WARC-Target-URI. Otherwise, `folder` is the folder of the file. The result is
    /// equal to separate runs, except that weights, words and lexicons are learned from all documents. Documents
    /// without a value are counted, kept and compared with no other.
    #[arg(long, value_name = "NAME", conflicts_with = "across")]
    pub(crate) within: Option<String>,

    /// Compare only documents with different values of this field, written as for --within.
    #[arg(long, value_name = "NAME")]
    pub(crate) across: Option<String>,

    /// Leave lines that at least this number of documents have, such as menus, out of the comparison.
    ///
    /// A document with fewer than 50 other words is compared as a whole. Takes one more reading. With
    /// :host behind the number, documents are counted for each host of their IDs, such as
    /// WARC-Target-URI; with :folder, for each folder of their IDs or files. `match` counts the
    /// documents of the collection to match against.
    #[arg(long, value_name = "DOCUMENTS[:SITE]")]
    pub(crate) boilerplate: Option<String>,

    #[command(flatten)]
    pub(crate) sketch: SketchArgs,

    #[command(flatten)]
    pub(crate) terms: TermArgs,

    /// Print the plan for finding near-duplicates, with its reasons, on standard error.
    #[arg(long)]
    pub(crate) explain: bool,

    /// Read a sample, print the planned steps with estimated time and memory, and write nothing. --preview
    /// shows what would be removed.
    #[arg(short = 'n', long, conflicts_with = "json")]
    pub(crate) dry_run: bool,

    /// Find the near-duplicates as the run does, print what it would remove, and write nothing.
    ///
    /// Prints the counts of the run, which are exact; the removed documents by similarity and by the size
    /// of their cluster; the largest clusters, with the words that their documents share; a warning about
    /// clusters that may be pages of one template; and the 20 pairs closest to the limit, with their
    /// texts. Pairs just below the limit are searched with a similarity other than cosine. With --json, it
    /// is one JSON object. Takes about as long as the run.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) preview: bool,

    /// Folder for the results; it appears once all results are complete.
    ///
    /// It contains report.html, a page for people, and summary.json, which has all counts, settings
    /// and faults, with the same numbers as the printed table.
    #[arg(long, value_name = "DIR", default_value = "simtool-out", value_parser = output_folder(),
        value_hint = ValueHint::DirPath, help_heading = "Writing")]
    pub(crate) output: PathBuf,

    /// Replace the output folder if an earlier run of simtool wrote it.
    #[arg(long, help_heading = "Writing")]
    pub(crate) force: bool,

    /// Format of the files removed and pairs.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", help_heading = "Writing",
        value_parser = choices::<RowFormat>())]
    pub(crate) output_format: String,

    /// Write only the IDs of removed documents.
    ///
    /// If a kept document has the ID of a removed one, the list also has the file and the record
    /// number, because the ID alone would name both.
    #[arg(long, help_heading = "Writing")]
    pub(crate) ids_only: bool,

    /// Also write copies of the input files without the removed documents to kept/, in the same format.
    #[arg(long, help_heading = "Writing")]
    pub(crate) write_kept: bool,

    /// Whether kept/ includes bad records, at their places.
    #[arg(
        long,
        requires = "write_kept",
        value_name = "WHAT",
        default_value = "keep",
        value_parser = choices::<BadRecords>(),
        help_heading = "Writing"
    )]
    pub(crate) quarantined: String,

    /// Print the content of summary.json instead of a table.
    #[arg(long, help_heading = "Writing")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
