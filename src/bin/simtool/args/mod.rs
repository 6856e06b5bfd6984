//! The command line, in one definition: parsing, help, completions and man page come from it.

mod common;
mod corpus;
mod fingerprints;
mod input;
mod sizes;
#[cfg(feature = "jsonl")]
mod why;

pub(crate) use common::{CommonArgs, MemoryArgs};
pub(crate) use corpus::{ClusterBy, CorpusArgs, KeepWhich, OutputFormat, Quarantined};
pub(crate) use fingerprints::{FingerprintArgs, JoinArgs, SearchArgs};
pub(crate) use input::{InputArgs, OnError, ShowProgress};
#[cfg(feature = "jsonl")]
pub(crate) use why::WhyArgs;

use clap::{Parser, Subcommand, ValueHint};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  simtool 1000 16
      reads stopwords.txt, hashvalue.txt, article.txt and sample.txt in the current folder,
      fingerprints every document with 16 bits over the 1000 most frequent words, writes for
      each sample the articles within 3 bits to result.txt, and prints the first sample's
  simtool --directory DIR --max-distance 5 5000 64
      the same for the files in DIR, with matches up to 5 of 64 bits away
  simtool --articles corpus.txt --samples new.txt --result - 1000 64
      any two files of documents, the result of all samples on standard output
  simtool --corpus big/ --threads 16
      reads every file under big/ (WARC, WET, JSON Lines, Parquet, CSV, text; gzip or Zstandard),
      finds all near-duplicates and writes who repeats whom to simtool-out/
  simtool --corpus big/ --method simhash --max-distance 6 --verify 0.9
      by fingerprints instead, which take 16 bytes a document; then looks at the texts of each pair
  simtool --corpus big/ --queries new/ --write-kept
      writes the documents of new/ that are like none of big/ to simtool-out/kept/
  simtool --corpus dump.jsonl.gz --text-field body --similarity 0.7 --write-kept --output clean/
      also writes the documents without the repeats, in their own format, to clean/kept/

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but for bad records or files, 130 interrupted.";

/// Finds near-duplicate documents in large text collections, exactly and in parallel.
///
/// `simtool --corpus PATH…` finds all pairs of documents whose sets of shingles are at least 0.8
/// similar (Jaccard), decides for each near-duplicate which document is kept in its place, and
/// writes both, with the similarity as proof, to a folder.
///
/// `simtool N M` takes the N most frequent words of the articles as features, makes a fingerprint
/// of M bits (SimHash) of every article and every sample, and lists for each sample the articles
/// whose fingerprints differ in at most 3 bits, by distance and in their order.
///
/// Documents stand between form feeds; a document's first token is its ID, and the rest of that
/// line is no content. Words are runs of ASCII letters, compared in lower case.
#[derive(Debug, Parser)]
#[command(
    name = "simtool",
    version,
    after_long_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    arg_required_else_help = false,
    max_term_width = 100,
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) reference: ReferenceArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    #[command(flatten)]
    pub(crate) corpus: CorpusArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What else there is to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a file of fingerprints (SimHash) of documents, for join and search.
    ///
    /// Reads what --corpus reads. Rows come in reading order, so that row numbers of a join lead
    /// back to the documents.
    Fingerprint(FingerprintArgs),
    /// List all pairs of rows in a file of fingerprints that differ in few bits.
    ///
    /// Prints a, b and distance with tabs between, ascending by row, a before b: IDs where the file
    /// has them, else row numbers from 0.
    Join(JoinArgs),
    /// Search a file of fingerprints for those that differ in few bits from the ones of another.
    ///
    /// Prints a, b and distance with tabs between, ascending by row: the query and the fingerprint,
    /// by IDs where their files have them, else by row numbers from 0.
    Search(SearchArgs),
    /// Print the completions of a shell, to be put where that shell looks for them.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    Man,
    /// Compare two documents: how alike they are, and where they differ.
    Compare(CompareArgs),
    /// Tell what became of a document of a finished run: kept or removed, for which, and why.
    ///
    /// Reads the run's output folder, and the texts again from the input where it still is.
    #[cfg(feature = "jsonl")]
    Why(WhyArgs),
    /// Write a collection of generated documents with known near-duplicates.
    #[command(hide = true)]
    Generate(GenerateArgs),
}

/// Arguments of `simtool generate`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct GenerateArgs {
    /// Number of articles.
    #[arg(long, value_name = "N", group = "what")]
    pub(crate) documents: Option<u64>,

    /// Size of the articles instead, in bytes or with K, M or G for powers of 1000.
    #[arg(long, value_name = "SIZE", value_parser = sizes::bytes, group = "what")]
    pub(crate) bytes: Option<u64>,

    /// Most samples.
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) samples: u64,

    /// The same seed gives the same files on every machine.
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Write stopwords.txt and hashvalue.txt (500 lines of 64) too.
    #[arg(long)]
    pub(crate) with_tables: bool,

    /// Write a crawl in miniature instead: pages.warc.wet.gz, pages.jsonl and pages.parquet.
    #[cfg(all(feature = "gzip", feature = "jsonl", feature = "parquet"))]
    #[arg(long, requires = "documents", conflicts_with = "with_tables")]
    pub(crate) crawl: bool,

    /// Write a crawl of the pages of HTML in this folder instead: the responses in warc/, and their
    /// texts in wet/, jsonl/, parquet/ and text/.
    #[cfg(all(feature = "jsonl", feature = "parquet", feature = "warc", feature = "zstd"))]
    #[arg(long, value_name = "FOLDER", group = "what", value_hint = ValueHint::DirPath)]
    pub(crate) pages: Option<PathBuf>,

    /// Folder of article.txt, sample.txt and truth.tsv; made if it is not there.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
}

/// Arguments of `simtool compare A B`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// A file that holds one document, or - for standard input; of many `FILE:RECORD` or `FILE#ID`;
    /// a document of a finished run as `OUT#ID`, with its output folder.
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    pub(crate) left: PathBuf,

    /// The other.
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub(crate) right: PathBuf,

    /// What is compared: sets of so many consecutive words (words:N) or characters (chars:N).
    #[arg(long, value_name = "UNIT:N", default_value = "words:3")]
    pub(crate) shingle: String,

    /// Bits of the SimHash fingerprints whose distance is told [default: 64].
    #[arg(long, value_name = "BITS")]
    pub(crate) bits: Option<String>,

    /// Format of both files [default: by content].
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,

    /// Field or column that holds the text.
    #[arg(long, value_name = "NAME", default_value = "text")]
    pub(crate) text_field: String,

    /// Field or column that holds the ID, for `FILE#ID`.
    #[arg(long, value_name = "NAME", default_value = "id")]
    pub(crate) id_field: String,

    /// Print one JSON object, without the difference.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `simtool N M`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReferenceArgs {
    /// Number of features: the N most frequent words of the articles, or with --corpus, in front of
    /// which N and M stand, of all its documents.
    #[arg(value_name = "N", allow_negative_numbers = true)]
    pub(crate) features: Option<String>,

    /// Number of bits of a fingerprint, up to 128.
    #[arg(value_name = "M", allow_negative_numbers = true)]
    pub(crate) bits: Option<String>,

    /// Folder of the four input files and of the result.
    #[arg(long, value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub(crate) directory: PathBuf,

    /// The corpus [default: article.txt in the folder].
    #[arg(long, conflicts_with = "source", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) articles: Option<PathBuf>,

    /// The queries [default: sample.txt in the folder].
    #[arg(long, conflicts_with = "source", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) samples: Option<PathBuf>,

    /// Words that are no features, separated by white space [default: stopwords.txt in the folder,
    /// else a built-in English list].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) stop_words: Option<PathBuf>,

    /// A line of 0s and 1s for each feature [default: hashvalue.txt in the folder, else a built-in
    /// table of 10,000 lines of 128].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) hash_table: Option<PathBuf>,

    /// Where the matches of all samples go; - is standard output [default: result.txt in the
    /// folder].
    #[arg(long, conflicts_with = "source", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) result: Option<PathBuf>,

    /// Most bits in which a match may differ from its sample, or the fingerprints of two
    /// near-duplicates with --method simhash [default: 3].
    ///
    /// For fingerprints of 64 bits over shingles, two documents at distance 3 have on average a
    /// Jaccard similarity of 0.98, at 6 of 0.92, at 10 of 0.79; with 128 bits, at twice as many.
    /// Any one distance can be a few bits more or less than the similarity promises.
    #[arg(short = 'k', long, value_name = "K")]
    pub(crate) max_distance: Option<u32>,
}

/// Most differing bits, where `--max-distance` does not say.
pub(crate) const MAX_DISTANCE: u32 = 3;
