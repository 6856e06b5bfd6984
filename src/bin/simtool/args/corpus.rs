//! Arguments of `simtool dedup`, `simtool match` and `simtool --corpus`, which can do both.

use super::given::{AgainstRows, Given, NearRows, PlanningRows, ResultsRows};
use super::{CommonArgs, InputArgs, KeepArgs, MemoryArgs, PartsArgs, TermArgs, WordsArgs};
use clap::ValueHint;
use simtool::Error;
use simtool::options::Options;
use simtool::run::{Paths, Request};
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
    pub(crate) fields: Given<AgainstRows>,

    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,
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
    pub(crate) fields: Given<AgainstRows>,

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
    fields: Option<&'a Given<AgainstRows>>,
    pub(crate) corpus: &'a CorpusArgs,
}

impl Job<'_> {
    /// Creates the request that the library carries out.
    pub(crate) fn request(self) -> Result<Request, Error> {
        let mut options = Options::new();
        if let Some(keep) = self.keep {
            keep.set(&mut options);
        }
        if let Some(parts) = self.parts {
            parts.set(&mut options);
        }
        if let Some(fields) = self.fields {
            fields.set(&mut options);
        }
        self.corpus.set(&mut options);
        let paths = Paths { corpus: self.paths.to_vec(), queries: self.queries.to_vec() };
        let words = self.words.map(WordsArgs::request).unwrap_or_default();
        Request::parse_with_words(paths, words, options)
    }
}

impl CorpusArgs {
    /// Adds the settings that were given on the command line to `options`.
    fn set(&self, options: &mut Options) {
        self.near.set(options);
        self.terms.set(options);
        self.results.set(options);
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
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Near-duplicates")]
pub(crate) struct CorpusArgs {
    #[command(flatten)]
    near: Given<NearRows>,

    #[command(flatten)]
    terms: TermArgs,

    #[command(flatten)]
    pub(crate) planning: Given<PlanningRows>,

    #[command(flatten)]
    pub(crate) results: Given<ResultsRows>,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
