//! Definition of the command line, from which parsing, help, completions and manual pages come.

mod combine;
mod common;
mod contamination;
mod corpus;
mod eval;
mod examples;
mod fingerprints;
mod given;
mod index;
mod input;
mod passages;
mod short_help;
mod sizes;
mod values;
mod why;
mod words;

pub(crate) use combine::CombineArgs;
pub(crate) use common::{CommonArgs, MemoryArgs, RunningArgs, ShowProgress};
pub(crate) use contamination::ContaminationArgs;
pub(crate) use corpus::{CorpusForm, DedupArgs, Job, MatchArgs};
pub(crate) use eval::{EvalArgs, EvalFormat, TruthLines};
pub(crate) use fingerprints::{FingerprintArgs, JoinArgs, PairsArgs, SearchArgs};
pub(crate) use given::{KeepArgs, PartsArgs, RowsArgs, TermArgs};
pub(crate) use index::{
    AddArgs, CreateArgs, ExportArgs, FilterArgs, IndexCommand, IndexedArgs, MergeArgs,
    OneIndexArgs, PlanArgs, QueryArgs, RemoveArgs, SalvageArgs, StatArgs,
};
pub(crate) use input::InputArgs;
pub(crate) use passages::PassagesArgs;
pub(crate) use short_help::with_short_help;
pub(crate) use values::ending;
pub(crate) use why::WhyArgs;
pub(crate) use words::WordsArgs;

use crate::papers::cited_methods;
use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand, ValueEnum, ValueHint};
use given::choices_of;
use simtool::options::Options;
use std::path::PathBuf;
use values::output_folder;

/// Finds near-duplicate documents in large text collections, exactly and in parallel.
///
/// `simtool dedup PATH` finds all pairs of documents that are at least 0.8 similar, and lists the
/// near-duplicates to remove, each with the document that is kept in its place and their similarity.
///
/// `simtool N M` compares the samples of a folder with its articles, by fingerprints of M bits of the N most
/// frequent words.
#[derive(Debug, Parser)]
#[command(
    name = "simtool",
    version,
    override_usage = "simtool COMMAND [ARGUMENTS]\n       simtool N M [OPTIONS]\n       simtool \
                      [N M] --corpus PATH... [OPTIONS]",
    after_long_help = examples::PROGRAM,
    max_term_width = 100,
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find the near-duplicates of a collection, and write which documents to remove.
    ///
    /// Finds all pairs of documents whose sets of shingles have a Jaccard similarity of at least
    /// 0.8, or as --method says, decides for each near-duplicate which document is kept in its
    /// place, and writes both, with the similarity as proof, to a folder: removed.jsonl,
    /// clusters.jsonl, quarantine.jsonl (bad records), summary.json and report.html.
    #[command(aliases = ["dedupe", "deduplicate"], after_long_help = examples::DEDUP)]
    Dedup(DedupArgs),
    /// Find the documents that are near-duplicates of documents in another collection.
    ///
    /// Writes a folder: pairs.jsonl has all matches, removed.jsonl has the queries with a match, each
    /// with its most similar document, and kept/ (with --write-kept) has the queries without a match.
    #[command(after_long_help = examples::MATCH)]
    Match(MatchArgs),
    /// Find the passages that occur in several documents, with all their places.
    ///
    /// A passage has at least 50 words, or as many as --words says. Each of its words is in a sequence of so
    /// many words that another document has, too. Such sequences that overlap or touch are one passage, which
    /// need not be in another document as a whole. With --unit, passages are whole paragraphs, lines or sentences. Upper
    /// and lower case, punctuation and white space do not matter. Prints a row for each passage of each
    /// document, in reading order. The search is exact.
    #[command(after_long_help = examples::PASSAGES)]
    Passages(PassagesArgs),
    /// Find the items of an evaluation set, such as questions, that documents contain.
    ///
    /// A shingle is a sequence of 5 words, or of as many as --words says. A document contains an item if it
    /// has shingles with at least 0.8 of the item's words, or as --measure and --share say, all within a
    /// region of three times the item's length. An item that is shorter than a shingle is matched as a
    /// whole. Upper and lower case, punctuation and white space do not matter. Prints a row for each item
    /// and document, in the order of the items. The search is exact. Of an HTML page, it searches the main
    /// content; --content all searches the whole page.
    #[command(after_long_help = examples::CONTAMINATION)]
    Contamination(ContaminationArgs),
    /// Write the results of a command whose input was read in shards, with --shard.
    ///
    /// The results are the same as of one run. If a shard is missing, prints the command for it.
    #[command(after_long_help = examples::COMBINE)]
    Combine(CombineArgs),
    /// Compare two documents: print their similarity and where they differ.
    #[command(after_long_help = examples::COMPARE)]
    Compare(CompareArgs),
    /// Explain why a finished run kept or removed a document, and for which other document.
    ///
    /// Reads the run's output folder, and the texts from the input files if they still exist.
    #[command(after_long_help = examples::WHY)]
    Why(WhyArgs),
    /// Measure methods on labelled collections, or on a sample of your own.
    ///
    /// Compares all pairs of documents with each method, and prints precision, recall and F1 at every
    /// threshold. A found pair that is not among the true pairs is wrong. With --sample, no labels are
    /// needed: a random sample is compared exactly with the whole collection.
    #[command(alias = "evaluate", after_long_help = examples::EVAL)]
    Eval(EvalArgs),
    /// Write a file of fingerprints of documents, for join and search.
    ///
    /// Rows are in reading order, so that row numbers of a join identify documents.
    #[command(after_long_help = examples::FINGERPRINT)]
    Fingerprint(FingerprintArgs),
    /// List all pairs of rows in a file of fingerprints that differ in few bits.
    ///
    /// Prints tab-separated lines of a, b and distance, in order of rows, with a before b. a and b are
    /// IDs if the file has them, otherwise row numbers from 0.
    #[command(after_long_help = examples::JOIN)]
    Join(JoinArgs),
    /// Search a file of fingerprints for rows near the rows of another file.
    ///
    /// Prints tab-separated lines of query, row and distance, in order of rows. Rows are named by IDs
    /// if their file has them, otherwise by row numbers from 0.
    #[command(after_long_help = examples::SEARCH)]
    Search(SearchArgs),
    /// Maintain an index of seen documents: query it, add to it, filter a stream.
    #[command(subcommand, after_long_help = examples::INDEX)]
    Index(IndexCommand),
    /// Estimate the tables, bytes, time and machines of a very large index of fingerprints.
    ///
    /// Each table finds fingerprints by a prefix, which is a part of their bits. With more tables,
    /// prefixes are longer and candidates fewer, but more memory is needed. The first line is the
    /// design of `simtool index`.
    #[command(after_long_help = examples::PLAN)]
    Plan(PlanArgs),
    /// Match the samples of a folder with its articles, as `simtool N M` does.
    ///
    /// Takes the N most frequent words of the articles as features, makes a fingerprint of M bits
    /// (SimHash) of every article and every sample, and lists for each sample the articles whose
    /// fingerprints differ in at most 3 bits, nearest first and then in the order of the file.
    ///
    /// Form feeds separate documents. A document's first token is its ID, and the rest of that line is
    /// ignored. Words are runs of ASCII letters, compared in lower case.
    ///
    /// Progress is shown on a terminal, and elsewhere only with --progress always.
    #[command(after_long_help = examples::REFERENCE)]
    Reference(ReferenceArgs),
    /// Write a collection of generated documents with known near-duplicates.
    #[command(after_long_help = examples::GENERATE)]
    Generate(GenerateArgs),
    /// Print a settings file with all options of a command, their meanings and defaults.
    ///
    /// Remove the # before an option to change it, and use the file with --config. A few settings are only in such
    /// files and in the environment, such as the limits of readers.
    #[command(after_long_help = examples::CONFIG)]
    Config {
        /// Words of the command, such as `dedup` or `index add`.
        #[arg(value_name = "COMMAND", required = true, num_args = 1..=2)]
        words: Vec<String>,
    },
    /// Print the papers behind the methods, as BibTeX, to cite them in a publication.
    #[command(after_long_help = examples::CITE)]
    Cite(CiteArgs),
    /// Print the completion script of a shell, to save where that shell looks for it.
    #[command(after_long_help = examples::COMPLETIONS)]
    Completions {
        /// Shell to complete commands in.
        shell: clap_complete::Shell,
    },
    /// Print a manual page, or write all of them to a folder.
    #[command(after_long_help = examples::MAN)]
    Man(ManArgs),
    /// `simtool [N M] --corpus PATH…`, a command line without the name of a command.
    #[command(skip)]
    Corpus(CorpusForm),
}

/// Arguments of `simtool cite`.
#[derive(Debug, clap::Args)]
pub(crate) struct CiteArgs {
    /// Methods whose papers to print [default: all].
    #[arg(value_name = "METHOD", value_parser = PossibleValuesParser::new(cited_methods()))]
    pub(crate) methods: Vec<String>,
}

/// Arguments of `simtool man`.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Command whose page to print [default: the main page].
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,

    /// Write the pages of the program and of every command to this folder, created if needed.
    #[arg(short, long, value_name = "DIR", conflicts_with = "command", value_parser = output_folder(),
        value_hint = ValueHint::DirPath)]
    pub(crate) output: Option<PathBuf>,

    /// Replace existing pages.
    #[arg(long, requires = "output")]
    pub(crate) force: bool,
}

/// Kind of a generated collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GeneratedKind {
    /// A small crawl: pages.warc.wet.gz, pages.jsonl and pages.parquet.
    #[cfg(feature = "parquet")]
    Crawl,
    /// A labelled collection for `simtool eval`: docs.jsonl, truth.tsv and gray.tsv, in English and Chinese.
    Labelled,
}

/// Arguments of `simtool generate`.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct GenerateArgs {
    /// Number of articles.
    #[arg(long, value_name = "N", group = "what")]
    pub(crate) documents: Option<u64>,

    /// Total size of the articles, in bytes, with K, M or G for powers of 1000, or KiB, MiB or GiB
    /// for powers of 1024.
    #[arg(long, value_name = "SIZE", value_parser = sizes::bytes, group = "what")]
    pub(crate) bytes: Option<u64>,

    /// Maximum number of samples, which are texts to look up in the articles [default: 200].
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u64>,

    /// Seed; the same seed gives the same files on every machine [default: 1].
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,

    /// Also write stopwords.txt and hashvalue.txt (500 lines of 64 digits).
    #[arg(long)]
    pub(crate) with_tables: bool,

    /// Collection to write instead of articles and samples.
    #[arg(long, value_name = "KIND", requires = "documents", conflicts_with_all = ["with_tables", "samples"])]
    pub(crate) kind: Option<GeneratedKind>,

    /// Write a crawl of the HTML pages in this folder instead: the responses in warc/, and their texts
    /// in wet/, jsonl/, parquet/ and text/.
    #[cfg(feature = "parquet")]
    #[arg(long, value_name = "FOLDER", group = "what", value_parser = values::folder(),
        conflicts_with_all = ["with_tables", "samples", "seed"], value_hint = ValueHint::DirPath)]
    pub(crate) pages: Option<PathBuf>,

    /// Folder for the files, created if needed; without other options they are article.txt,
    /// sample.txt and truth.tsv.
    #[arg(long, value_name = "DIR", value_parser = output_folder(), value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// Replace existing files.
    #[arg(long)]
    pub(crate) force: bool,

    /// Print no notes.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Arguments of `simtool compare A B`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// File with one document, or - for standard input. Use `FILE:RECORD` or `FILE#ID` for a file with
    /// many documents, and `OUT#ID` for a document of a finished run with output folder OUT.
    ///
    /// Documents of a run are compared with its shingles and stop words, unless you name others.
    #[arg(value_name = "A", value_hint = ValueHint::FilePath)]
    pub(crate) left: PathBuf,

    /// The other document. Its name can have the same forms as A.
    #[arg(value_name = "B", value_hint = ValueHint::FilePath)]
    pub(crate) right: PathBuf,

    #[command(flatten)]
    pub(crate) terms: TermArgs,

    /// Settings of the SimHash fingerprints whose distance is printed, as in simhash:bits=128.
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: Option<String>,

    /// Format of both files [default: recognized by content].
    #[arg(long, value_name = "FORMAT", value_parser = choices_of("format"))]
    pub(crate) format: Option<String>,

    /// Fields or columns of the text, as in `simtool dedup` [default: text].
    #[arg(long, value_name = "NAMES")]
    pub(crate) text_field: Option<String>,

    /// Field or column of the ID, for `FILE#ID` [default: id].
    #[arg(long, value_name = "NAME")]
    pub(crate) id_field: Option<String>,

    /// Text of an HTML page that is compared.
    #[arg(long, value_name = "PART", value_parser = choices_of("content"))]
    pub(crate) content: Option<String>,

    /// Print one JSON object, without the differences between the texts.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) running: RunningArgs,
}

impl CompareArgs {
    /// Returns options with the settings that were given on the command line.
    pub(crate) fn options(&self) -> Options {
        let Self { terms, method, format, text_field, id_field, content, .. } = self;
        let mut options = Options::new();
        terms.set(&mut options);
        options.set_given([
            ("method", method),
            ("format", format),
            ("text_field", text_field),
            ("id_field", id_field),
            ("content", content),
        ]);
        options
    }
}

/// Arguments of `simtool N M`, short for `simtool reference N M`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReferenceArgs {
    #[command(flatten)]
    pub(crate) words: WordsArgs,

    /// File of words that are never features, separated by white space [default: stopwords.txt in the
    /// folder if it exists, otherwise a built-in English list].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) stop_words: Option<PathBuf>,

    /// File of the articles to search [default: article.txt in the folder].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) articles: Option<PathBuf>,

    /// File of the samples to match [default: sample.txt in the folder].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) samples: Option<PathBuf>,

    /// File for the matches of all samples; - is standard output [default: result.txt in the folder].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) result: Option<PathBuf>,

    /// Replace an existing file of --result; result.txt in the folder is always replaced.
    #[arg(long, requires = "result")]
    pub(crate) force: bool,

    /// Maximum number of bits in which a match differs from its sample.
    #[arg(short = 'k', long, value_name = "K", default_value_t = 3)]
    pub(crate) max_distance: u32,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
