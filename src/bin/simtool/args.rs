//! The command line, in one definition: parsing, help, completions and man page come from it.

use crate::generate;
use clap::{ArgGroup, Parser, Subcommand, ValueEnum, ValueHint};
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
    /// Prints a, b and distance with tabs between: row numbers from 0, a below b, ascending.
    Join(JoinArgs),
    /// Search a file of fingerprints for those that differ in few bits from the ones of another.
    ///
    /// Prints a, b and distance with tabs between: the query's row, the fingerprint's row, from 0,
    /// ascending.
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
    /// Write a collection of generated documents with known near-duplicates.
    #[command(hide = true)]
    Generate(GenerateArgs),
}

/// Arguments of `simtool generate`.
#[derive(Debug, clap::Args)]
pub(crate) struct GenerateArgs {
    /// Number of articles.
    #[arg(long, value_name = "N", required_unless_present = "bytes", conflicts_with = "bytes")]
    pub(crate) documents: Option<u64>,

    /// Size of the articles instead, in bytes or with K, M or G for powers of 1000.
    #[arg(long, value_name = "SIZE", value_parser = generate::bytes)]
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

    /// Folder of article.txt, sample.txt and truth.tsv; made if it is not there.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
}

/// Arguments of `simtool compare A B`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// A file that holds one document, `FILE:RECORD` for one of many, or - for standard input.
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    pub(crate) left: PathBuf,

    /// The other.
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub(crate) right: PathBuf,

    /// What is compared: sets of so many consecutive words (words:N) or characters (chars:N).
    #[arg(long, value_name = "UNIT:N", default_value = "words:3")]
    pub(crate) shingle: String,

    /// Format of both files [default: by content].
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,

    /// Field or column that holds the text.
    #[arg(long, value_name = "NAME", default_value = "text")]
    pub(crate) text_field: String,

    /// Print one JSON object, without the difference.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `simtool N M`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
pub(crate) struct ReferenceArgs {
    /// Number of features: the N most frequent words of the articles, or with --corpus, in front of
    /// which N and M stand, of all its documents.
    #[arg(value_name = "N", allow_negative_numbers = true)]
    pub(crate) features: Option<String>,

    /// Number of bits of a fingerprint, up to 128.
    #[arg(value_name = "M", allow_negative_numbers = true)]
    pub(crate) bits: Option<String>,

    /// Worker threads, up to 512; 0 takes all cores.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=512))]
    pub(crate) threads: u16,

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

    /// Read the files into memory instead of mapping them.
    ///
    /// A mapped file must not change while it is read.
    #[arg(long)]
    pub(crate) no_mmap: bool,

    /// Print no notes and no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Print every fault of an input, not the first of each kind.
    #[arg(short, long)]
    pub(crate) verbose: bool,

    /// Print counts, and the time and share of each stage, on standard error.
    #[arg(long)]
    pub(crate) stats: bool,
}

/// Arguments of `simtool join`.
#[derive(Debug, clap::Args)]
pub(crate) struct JoinArgs {
    #[command(flatten)]
    pub(crate) shared: SharedJoinArgs,
}

/// Arguments of `simtool search`.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) shared: SharedJoinArgs,

    /// The fingerprints that are searched for.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) queries: PathBuf,
}

/// What `simtool join` and `simtool search` have in common.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
pub(crate) struct SharedJoinArgs {
    /// Fingerprints, in a format that is told by content.
    ///
    /// simtool's packed file; a NumPy array of uint64 with shape n or n x 2; text with a lower-case
    /// hexadecimal number a line, an empty line where a row has none; JSON Lines with such a number
    /// or null in the field "fingerprint"; Parquet with a column "fingerprint" of 2, 4, 8 or 16
    /// bytes (the highest first), of 64-bit integers or of hexadecimal text, null where a row has
    /// none.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) fingerprints: PathBuf,

    /// Most bits in which the rows of a pair may differ.
    #[arg(short = 'k', long, value_name = "K", default_value_t = 3)]
    pub(crate) max_distance: u32,

    /// Print only the number of pairs.
    #[arg(long)]
    pub(crate) count: bool,

    /// Print each group of equal rows once, then the pairs of groups, each named by its first row.
    ///
    /// Lines are "group" and the rows, then "pair", a, b and distance; of a search, groups of
    /// queries are "query-group".
    #[arg(long, conflicts_with = "count")]
    pub(crate) groups: bool,

    /// Write to a file: text if it ends in .tsv, an array of shape n x 3 if it ends in .npy, the
    /// columns a, b and distance if it ends in .parquet.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// The method, instead of the planner's choice; see --explain.
    #[arg(long, value_name = "NAME")]
    pub(crate) index: Option<String>,

    /// Print on standard error which methods there are, what they would take, and the choice.
    #[arg(long)]
    pub(crate) explain: bool,

    /// Memory for the search, such as 512M or 8G; a self-join that needs more uses temporary files.
    #[arg(long, value_name = "SIZE", value_parser = memory_size)]
    pub(crate) max_memory: Option<u64>,

    /// Where temporary files go [default: the system's folder for them].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) tmp_dir: Option<PathBuf>,

    /// Worker threads, up to 512; 0 takes all cores.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=512))]
    pub(crate) threads: u16,

    /// Read the files into memory instead of mapping them.
    #[arg(long)]
    pub(crate) no_mmap: bool,
}

/// Which documents are read, beside the paths themselves, which are the argument `corpus`.
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("source").multiple(true))]
pub(crate) struct InputArgs {
    /// A file that lists paths, one a line, in place of or beside those of --corpus; may be
    /// compressed with gzip.
    #[arg(long, value_name = "LIST", group = "source", value_hint = ValueHint::FilePath)]
    pub(crate) files_from: Option<PathBuf>,

    /// The paths of the list are separated by zero bytes.
    #[arg(short = '0', long, requires = "files_from")]
    pub(crate) null: bool,

    /// Of folders, read only the files that match; may be repeated.
    #[arg(long, value_name = "GLOB", requires = "source")]
    pub(crate) glob: Vec<String>,

    /// The format of every file [default: told by content and name].
    #[arg(long, value_name = "FORMAT", requires = "source")]
    pub(crate) format: Option<String>,

    /// A line of a plain text is a document, not the file.
    #[arg(long, requires = "source")]
    pub(crate) per_line: bool,

    /// Field, column or dotted path of the text.
    #[arg(long, requires = "source", value_name = "NAME", default_value = "text")]
    pub(crate) text_field: String,

    /// Field, column or dotted path of the ID.
    #[arg(long, requires = "source", value_name = "NAME", default_value = "id")]
    pub(crate) id_field: String,

    /// Pass over documents with fewer tokens (runs without white space); what is passed over is
    /// compared with nothing, and kept.
    #[arg(long, value_name = "N", requires = "source", default_value_t = 0)]
    pub(crate) min_tokens: usize,

    /// Pass over documents with more bytes of text.
    #[arg(long, value_name = "SIZE", requires = "source", value_parser = memory_size)]
    pub(crate) max_bytes: Option<u64>,

    /// Pass over all but this share of the documents, told by the hash of their text.
    #[arg(long, value_name = "SHARE", requires = "source", value_parser = share)]
    pub(crate) sample: Option<f64>,

    /// Read no further than the first N documents that are not passed over.
    #[arg(long, value_name = "N", requires = "source", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    /// What bad records and files do.
    #[arg(long, requires = "source", value_name = "WHAT", default_value = "skip")]
    pub(crate) on_error: OnError,

    /// When progress is shown: as a bar on a terminal, else as a line every ten seconds.
    #[arg(long, requires = "source", value_name = "WHEN", default_value = "auto")]
    pub(crate) progress: ShowProgress,

    /// Quarantine records of more bytes.
    #[arg(long, requires = "source", value_name = "SIZE", default_value = "128M", value_parser = memory_size)]
    pub(crate) max_record: u64,

    /// Give up on a compressed file that grows by more than this factor, beyond its first GiB.
    #[arg(long, requires = "source", value_name = "FACTOR", default_value_t = 2000)]
    pub(crate) max_expansion: u64,

    /// Largest window of Zstandard files, as a power of two: 27 is 128 MiB.
    #[arg(long, requires = "source", value_name = "LOG", default_value_t = 27, value_parser = clap::value_parser!(u32).range(10..=31))]
    pub(crate) zstd_window_log: u32,
}

/// Arguments of `simtool fingerprint`.
#[derive(Debug, clap::Args)]
pub(crate) struct FingerprintArgs {
    /// Files and folders with the documents; folders are read with all that is in them, - is
    /// standard input.
    #[arg(value_name = "PATH", group = "source", required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) corpus: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Bits of a fingerprint: 64 or 128.
    #[arg(long, value_name = "BITS", default_value = "64")]
    pub(crate) bits: String,

    /// What a document is taken for: so many consecutive words (words:N) or characters (chars:N).
    #[arg(long, value_name = "UNIT:N", default_value = "words:3")]
    pub(crate) shingle: String,

    /// The file to write; - prints JSON Lines.
    ///
    /// Its name says what it holds: .jsonl and .parquet have id, file, record and fingerprint of
    /// each document, in reading order; .npy an array of uint64 of shape n, or n x 2 with the lower
    /// half first; .txt a hexadecimal number a line; any other name a packed file, which simtool
    /// reads fastest. Documents without words have no fingerprint, which an array cannot say.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// Folder for temporary files [default: the system's].
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) tmp_dir: Option<PathBuf>,

    /// Worker threads, up to 512; 0 takes all cores.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=512))]
    pub(crate) threads: u16,

    /// Read the files into memory instead of mapping them.
    #[arg(long)]
    pub(crate) no_mmap: bool,

    /// Print no notes and no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Print every fault of an input, not the first of each kind.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Arguments of `simtool --corpus`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Near-duplicates within a collection")]
pub(crate) struct CorpusArgs {
    /// Files and folders with the documents; folders are read with all that is in them, - is
    /// standard input.
    #[arg(long, value_name = "PATH", num_args = 1.., group = "source",
        value_hint = ValueHint::AnyPath)]
    pub(crate) corpus: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Folder for the results; it appears when it is complete.
    #[arg(long, requires = "source", value_name = "DIR", default_value = "simtool-out", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// Replace an output folder that simtool wrote.
    #[arg(long, requires = "source")]
    pub(crate) force: bool,

    /// Format of removed and pairs.
    #[arg(long, requires = "source", value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) output_format: OutputFormat,

    /// Of removed documents, write only the IDs.
    #[arg(long, requires = "source")]
    pub(crate) ids_only: bool,

    /// Also write every pair.
    #[arg(long, requires = "source")]
    pub(crate) pairs: bool,

    /// Also write the files without what is removed, in their own format, to kept/.
    #[arg(long, requires = "source")]
    pub(crate) write_kept: bool,

    /// How near-duplicates are found.
    #[arg(long, value_name = "METHOD", default_value = "exact", requires = "source")]
    pub(crate) method: MethodName,

    /// With exact: least Jaccard similarity of near-duplicates, a decimal or a ratio such as 4/5
    /// [default: 0.8].
    #[arg(long, value_name = "S", requires = "source")]
    pub(crate) similarity: Option<String>,

    /// Match these documents against the corpus instead, and keep those that are like none of its.
    ///
    /// pairs.jsonl then holds all matches, removed.jsonl the documents that have one, with the
    /// corpus document that is most like it, and kept/ those that have none.
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "source",
        value_hint = ValueHint::AnyPath)]
    pub(crate) queries: Vec<PathBuf>,

    /// With simhash: keep only pairs whose texts, read again, have a Jaccard similarity of at least
    /// S; their terms are in memory meanwhile.
    #[arg(long, value_name = "S", requires = "source")]
    pub(crate) verify: Option<String>,

    /// With simhash: bits of a fingerprint, 64 or 128 [default: 64].
    #[arg(long = "bits", value_name = "BITS", requires = "source")]
    pub(crate) simhash_bits: Option<String>,

    /// What is compared: sets of so many consecutive words (words:N) or characters (chars:N).
    #[arg(long, requires = "source", value_name = "UNIT:N", default_value = "words:3")]
    pub(crate) shingle: String,

    /// Which of several near-duplicates is kept.
    #[arg(long, requires = "source", value_name = "WHICH", default_value = "first")]
    pub(crate) keep: KeepWhich,

    /// Field that decides for --keep max and --keep min.
    #[arg(long, value_name = "NAME", requires = "source")]
    pub(crate) keep_field: Option<String>,

    /// What may be removed: only what is close to a kept document (proven), or all that a chain of
    /// close ones links (components).
    #[arg(long, requires = "source", value_name = "RULE", default_value = "proven")]
    pub(crate) cluster: ClusterBy,

    /// Memory for the join, such as 512M or 8G; with less it reads the collection more often.
    #[arg(long, value_name = "SIZE", value_parser = memory_size, requires = "source")]
    pub(crate) max_memory: Option<u64>,

    /// Folder for temporary files [default: the system's].
    #[arg(long, value_name = "DIR", requires = "source", value_hint = ValueHint::DirPath)]
    pub(crate) tmp_dir: Option<PathBuf>,

    /// Print one JSON object instead of a table: what summary.json holds.
    #[arg(long, requires = "source")]
    pub(crate) json: bool,

    /// Print on standard error how near-duplicates are found, and why so.
    #[arg(long, requires = "source")]
    pub(crate) explain: bool,

    /// Read a sample, print what would be done and what it would take, and write nothing.
    #[arg(short = 'n', long, requires = "source")]
    pub(crate) dry_run: bool,
}

impl CorpusArgs {
    /// Whether a collection is named.
    pub(crate) fn is_asked_for(&self) -> bool {
        !self.corpus.is_empty() || self.input.files_from.is_some()
    }
}

/// How near-duplicates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// All pairs whose sets of shingles have a Jaccard similarity of at least --similarity; takes
    /// some bytes of memory for each word, or reads the input more often.
    Exact,
    /// All pairs whose SimHash fingerprints differ in at most --max-distance bits; takes 16 bytes a
    /// document and reads the input once, so it goes where exact cannot.
    Simhash,
}

/// What bad records and files do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnError {
    /// They are told of and counted, and the rest goes on.
    Skip,
    /// The first ends the run, and nothing is written.
    Fail,
}

/// When progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowProgress {
    /// Unless --quiet is given.
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// Format of rows of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// One JSON object a line.
    Jsonl,
    /// Fields between tabs.
    Tsv,
    /// Columns, compressed with Zstandard.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Which of several near-duplicates is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepWhich {
    /// The first in reading order.
    First,
    /// The last in reading order.
    Last,
    /// The one with most bytes of text.
    Longest,
    /// The one with the greatest value of --keep-field.
    Max,
    /// The one with the smallest value of --keep-field.
    Min,
}

/// What may be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClusterBy {
    /// What is close to a kept document.
    Proven,
    /// All that a chain of close documents links, but one.
    Components,
}

/// Most differing bits, where `--max-distance` does not say.
pub(crate) const MAX_DISTANCE: u32 = 3;

/// The number of worker threads that `--threads` asks for.
pub(crate) fn thread_count(asked: u16) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => usize::from(threads),
    }
}

/// A number of bytes, with or without a unit of 2^10, 2^20, 2^30 or 2^40.
fn memory_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => Some(0),
        "K" => Some(10),
        "M" => Some(20),
        "G" => Some(30),
        "T" => Some(40),
        _ => None,
    };
    let number = digits.parse::<u64>().ok().zip(shift);
    let bytes = number.and_then(|(number, shift)| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "expected a number of bytes, such as 512M or 8G".to_owned())
}

/// A share from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1, such as 0.01".to_owned())
}
