//! Arguments of `simtool dedup` and `simtool match`, and of `simtool --corpus`, which is either.

use super::common::{choices, output_folder};
use super::similarity::similarity_help;
use super::sketch::methods_or_auto;
use super::{CommonArgs, InputArgs, MemoryArgs, SketchArgs, TermArgs, WordsArgs};
use clap::ValueHint;
use simtool::Error;
use simtool::options::Options;
use simtool::output::BadRecords;
use simtool::run::{Paths, RecordedInputs, Request};
use simtool::write::columns::RowFormat;
use simtool::{ClusterRule, Keep};
use std::path::PathBuf;

/// Arguments of `simtool dedup`.
#[derive(Debug, clap::Args)]
pub(crate) struct DedupArgs {
    /// Files and folders with the documents; folders are read with all that is in them, - is
    /// standard input.
    #[arg(value_name = "PATH", required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) keep: KeepArgs,

    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,
}

/// Arguments of `simtool match`.
#[derive(Debug, clap::Args)]
pub(crate) struct MatchArgs {
    /// Files and folders with the documents to match; folders are read with all that is in them, -
    /// is standard input.
    #[arg(value_name = "QUERIES", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) queries: Vec<PathBuf>,

    /// Files and folders of the collection that they are matched against.
    #[arg(long, value_name = "PATH", num_args = 1.., required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) against: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,
}

/// Arguments of `simtool [N M] --corpus`: those of `simtool dedup`, with `--queries` those of
/// `simtool match`.
#[derive(Debug, clap::Args)]
pub(crate) struct CorpusForm {
    #[command(flatten)]
    pub(crate) words: WordsArgs,

    /// Files and folders with the documents; folders are read with all that is in them, - is
    /// standard input.
    #[arg(long = "corpus", value_name = "PATH", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Match these documents against the corpus instead, and keep those that are like none of its.
    #[arg(long, value_name = "PATH", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub(crate) queries: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) keep: KeepArgs,

    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,
}

/// What is to be done to which documents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a> {
    /// N and M in front, with their files.
    pub(crate) words: Option<&'a WordsArgs>,
    /// The paths of the corpus, without those of a list.
    pub(crate) paths: &'a [PathBuf],
    /// The paths of the queries; none where the corpus is compared with itself.
    pub(crate) queries: &'a [PathBuf],
    /// Which documents of the corpus stay, if any go.
    pub(crate) keep: Option<&'a KeepArgs>,
    pub(crate) corpus: &'a CorpusArgs,
}

impl Job<'_> {
    /// Returns the inputs of a finished run that had these arguments.
    pub(crate) fn inputs(self) -> Result<RecordedInputs, Error> {
        Ok(RecordedInputs {
            corpus: self.paths.to_vec(),
            queries: self.queries.to_vec(),
            settings: self.corpus.input.settings()?,
            output: self.corpus.output.clone(),
        })
    }

    /// Creates the request to the library; `command` is the command line.
    pub(crate) fn request(self, command: String) -> Result<Request, Error> {
        let mut options = Options::new();
        if let Some(keep) = self.keep {
            keep.set(&mut options);
        }
        self.corpus.set(&mut options);
        let paths = Paths { corpus: self.paths.to_vec(), queries: self.queries.to_vec() };
        let words = self.words.map(WordsArgs::request).unwrap_or_default();
        let mut request = Request::parse_with_words(paths, words, options)?;
        request.command = command;
        Ok(request)
    }
}

impl KeepArgs {
    /// Adds what was given.
    fn set(&self, options: &mut Options) {
        options.set("keep", &self.keep);
        options.set("cluster", &self.cluster);
        options.set_given([("keep_field", &self.keep_field)]);
        options.set_flag("pairs", self.pairs);
    }
}

impl CorpusArgs {
    /// Adds what was given.
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
        ]);
        options.set("output", &self.output);
        options.set_flag("force", self.force);
        options.set("output_format", &self.output_format);
        options.set_flag("ids_only", self.ids_only);
        options.set_flag("write_kept", self.write_kept);
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
        let Self { paths, keep, corpus } = self;
        Job { words: None, paths, queries: &[], keep: Some(keep), corpus }
    }
}

impl MatchArgs {
    pub(crate) fn job(&self) -> Job<'_> {
        let Self { queries, against, corpus } = self;
        Job { words: None, paths: against, queries, keep: None, corpus }
    }
}

impl CorpusForm {
    pub(crate) fn job(&self) -> Job<'_> {
        let Self { words, paths, queries, keep, corpus } = self;
        Job { words: Some(words), paths, queries, keep: Some(keep), corpus }
    }
}

/// Which of several near-duplicates stay.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Keeping")]
pub(crate) struct KeepArgs {
    /// Which of several near-duplicates is kept.
    #[arg(long, value_name = "WHICH", default_value = "first",
        value_parser = choices::<Keep>())]
    pub(crate) keep: String,

    /// Field that decides for --keep max and --keep min.
    #[arg(long, value_name = "NAME")]
    pub(crate) keep_field: Option<String>,

    /// What may be removed: only what is close to a kept document (proven), or all that a chain of
    /// close ones links (components).
    #[arg(long, value_name = "RULE", default_value = "proven",
        value_parser = choices::<ClusterRule>())]
    pub(crate) cluster: String,

    /// Also write every pair, for which there must be memory: 24 bytes each with exact, beside equal
    /// documents.
    #[arg(long)]
    pub(crate) pairs: bool,
}

/// How near-duplicates are found, and what is written.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Near-duplicates")]
pub(crate) struct CorpusArgs {
    /// How near-duplicates are found [default: exact].
    #[arg(long, value_name = "METHOD", value_parser = methods_or_auto())]
    pub(crate) method: Option<String>,

    /// Least similarity of near-duplicates, a decimal or a ratio such as 4/5 [default: 0.8].
    #[arg(long, value_name = "S", long_help = similarity_help())]
    pub(crate) similarity: Option<String>,

    /// With fingerprints: the greatest distance of near-duplicates, with simhash in bits [default: with
    /// simhash 3].
    ///
    /// For fingerprints of 64 bits over shingles, two documents at distance 3 have on average a
    /// Jaccard similarity of 0.98, at 6 of 0.92, at 10 of 0.79; with 128 bits, at twice as many.
    /// Any one distance can be a few bits more or less than the similarity promises. With minhash it
    /// is lanes or thousandths, as --measure says, with i-match lexicons that differ.
    #[arg(short = 'k', long, value_name = "K")]
    pub(crate) max_distance: Option<String>,

    /// With fingerprints: read the texts of the pairs again and keep only pairs with a similarity of at
    /// least S; the measures are those of --similarity. The terms of the texts are in memory meanwhile.
    #[arg(long, value_name = "S")]
    pub(crate) verify: Option<String>,

    /// With --verify: how much each shingle of the texts counts, as --weight says of exact [default:
    /// binary].
    #[arg(long, value_name = "WEIGHT", value_parser = ["binary", "idf"], requires = "verify")]
    pub(crate) verify_weight: Option<String>,

    /// With fingerprints: look for them by bands, in which at least this part of the pairs at the
    /// greatest distance agree, and miss others [default: all are found].
    #[arg(long, value_name = "PART")]
    pub(crate) recall: Option<String>,

    #[command(flatten)]
    pub(crate) sketch: SketchArgs,

    #[command(flatten)]
    pub(crate) terms: TermArgs,

    /// Print on standard error how near-duplicates are found, and why so.
    #[arg(long)]
    pub(crate) explain: bool,

    /// Read a sample, print what would be done and what it would take, and write nothing.
    #[arg(short = 'n', long, conflicts_with = "json")]
    pub(crate) dry_run: bool,

    /// Folder for the results; it appears when it is complete.
    ///
    /// report.html in it is a page to look at, summary.json holds all counts, settings and faults:
    /// the same numbers as the table that is printed.
    #[arg(long, value_name = "DIR", default_value = "simtool-out", value_parser = output_folder(),
        value_hint = ValueHint::DirPath, help_heading = "Writing")]
    pub(crate) output: PathBuf,

    /// Replace an output folder that simtool wrote.
    #[arg(long, help_heading = "Writing")]
    pub(crate) force: bool,

    /// Format of removed and pairs.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", help_heading = "Writing",
        value_parser = choices::<RowFormat>())]
    pub(crate) output_format: String,

    /// Of removed documents, write only the IDs.
    #[arg(long, help_heading = "Writing")]
    pub(crate) ids_only: bool,

    /// Also write the files without what is removed, in their own format, to kept/.
    #[arg(long, help_heading = "Writing")]
    pub(crate) write_kept: bool,

    /// Whether bad records stay in kept/, in their places.
    #[arg(
        long,
        requires = "write_kept",
        value_name = "WHAT",
        default_value = "keep",
        value_parser = choices::<BadRecords>(),
        help_heading = "Writing"
    )]
    pub(crate) quarantined: String,

    /// Print one JSON object instead of a table: what summary.json holds.
    #[arg(long, help_heading = "Writing")]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
