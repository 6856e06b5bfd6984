//! Arguments of `simtool eval`.

use super::given::{choices_of, default_of};
use super::{CommonArgs, MemoryArgs};
use clap::{ValueEnum, ValueHint};
use simtool::Error;
use simtool::options::Options;
use simtool::pipeline::Boilerplate;
use simtool::run::{EvaluatedDocuments, InputSettings};
use std::path::PathBuf;

/// Arguments of `simtool eval`.
#[derive(Debug, clap::Args)]
pub(crate) struct EvalArgs {
    /// Labelled collections, one a folder: documents in docs.* (for example docs.jsonl.zst),
    /// near-duplicate pairs in truth.tsv or truth.csv, and optionally pairs to ignore in gray.tsv or
    /// gray.csv. With --sample and --suggest: files and folders of one collection without labels.
    #[arg(value_name = "PATH", required_unless_present = "corpus", conflicts_with = "corpus",
        value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Files and folders of one collection, whose near-duplicate pairs are in --truth.
    #[arg(long, value_name = "PATH", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub(crate) corpus: Vec<PathBuf>,

    /// Near-duplicate pairs of --corpus: lines of two IDs separated by a tab, or by a comma in a file
    /// named .csv. A first line that contains no document's ID is a header.
    ///
    /// A third column may say yes or no (true or false, 1 or 0), or gray for a pair that counts as neither right nor
    /// wrong. Another word, such as light, is a kind of near-duplicates. Further columns are ignored.
    #[arg(long, value_name = "FILE", requires = "corpus", value_hint = ValueHint::FilePath)]
    pub(crate) truth: Option<PathBuf>,

    /// Pairs of --corpus that count as neither right nor wrong, as lines of two IDs.
    #[arg(long, value_name = "FILE", requires = "truth", value_hint = ValueHint::FilePath)]
    pub(crate) gray: Option<PathBuf>,

    /// Format of a line in the truth file: two IDs, or an ID and the name of its cluster. Every two
    /// documents of a cluster are a pair.
    #[arg(long, value_name = "FORMAT", default_value = "pairs")]
    pub(crate) truth_format: TruthLines,

    /// Comma-separated methods: names of presets, or methods with options after a colon, for example
    /// simhash:bits=128,shingle=words:2 [default: all presets].
    ///
    /// Presets: word-simhash, shingle-simhash, multi-lexicon, minhash, minhash-64, minhash-16,
    /// minhash-8, i-match, random-i-match and exact. Options after a preset replace its own, for
    /// example word-simhash:bits=512. All thresholds are measured; a threshold that you give is
    /// reported in addition.
    #[arg(short, long, value_name = "LIST", help_heading = "Methods")]
    pub(crate) method: Option<String>,

    /// Estimate recall and precision in a collection without labels: draw S documents and compare
    /// each of them exactly with all others.
    #[arg(long, value_name = "S", conflicts_with_all = ["corpus", "report", "plot", "truth_format"],
        value_parser = clap::value_parser!(u32).range(2..), help_heading = "Sampling")]
    pub(crate) sample: Option<u32>,

    /// Seeds of further hash functions, with which methods are measured as well. With --sample, the seed of the sample
    /// [default: 1].
    ///
    /// The result of a method with fingerprints depends on its hash functions as on chance. The result of exact
    /// does not. Each seed takes as long as the measurement without it. The table has the mean and the standard
    /// deviation of F1 over the usual hash functions and these.
    #[arg(long, value_name = "SEEDS", value_delimiter = ',', help_heading = "Methods")]
    pub(crate) seed: Vec<u64>,

    /// Minimum similarity of near-duplicates in the sample, with the same measures as dedup
    /// --similarity [default: the value of the method's --verify, or 0.8].
    #[arg(long, value_name = "S", requires = "sample", help_heading = "Sampling")]
    pub(crate) similarity: Option<String>,

    /// Choose method, shingle and threshold from a sample, as dedup --method auto does. Print
    /// statistics of the sample, pairs just above and just below the threshold, the choice with its
    /// reasons, and the command to run. With --corpus and --truth, measure the choice next to all
    /// presets.
    #[arg(long, conflicts_with_all = ["method", "sample"], help_heading = "Sampling")]
    pub(crate) suggest: bool,

    /// Format of the printed results.
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Writing")]
    pub(crate) format: EvalFormat,

    /// Write an HTML page with plots and the pairs that the best method gets wrong.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Writing")]
    pub(crate) report: Option<PathBuf>,

    /// Write a picture of all methods for a paper, or all plots to a folder. The ending of the name is the format of a
    /// picture: .svg, .png or .pdf. A name without an ending is a folder, which gets SVG files.
    ///
    /// PNG and PDF have the text in a font of this machine. SVG needs none, and rsvg-convert and Inkscape convert it.
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath, help_heading = "Writing")]
    pub(crate) plot: Option<PathBuf>,

    /// Replace existing files.
    #[arg(long, help_heading = "Writing")]
    pub(crate) force: bool,

    /// Fields or columns of the text, as in `simtool dedup` [default: text].
    #[arg(long, value_name = "NAMES", help_heading = "Reading")]
    pub(crate) text_field: Option<String>,

    /// Field or column of the ID; a field named here must exist [default: id].
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    pub(crate) id_field: Option<String>,

    /// Text of an HTML page that is compared, in files and in web archives.
    #[arg(long, value_name = "PART", default_value = default_of("content"),
        value_parser = choices_of("content"), help_heading = "Reading")]
    pub(crate) content: String,

    /// Leave lines that at least this number of documents have out of the comparison, as `simtool dedup` does.
    #[arg(long, value_name = "DOCUMENTS[:SITE]", conflicts_with_all = ["sample", "suggest"], help_heading = "Methods")]
    pub(crate) boilerplate: Option<String>,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl EvalArgs {
    /// Returns the documents in `paths`, with the settings for reading them.
    pub(crate) fn documents(&self, paths: Vec<PathBuf>) -> Result<EvaluatedDocuments, Error> {
        let mut options = Options::new();
        options.set_given([("text_field", &self.text_field), ("id_field", &self.id_field)]);
        options.set("content", &self.content);
        options.set_given([("boilerplate", &self.boilerplate)]);
        self.memory.set(&mut options);
        let input = InputSettings::parse(&mut options)?;
        let boilerplate = Boilerplate::parse(&mut options)?;
        let resources = self.common.resources(&self.memory)?;
        Ok(EvaluatedDocuments { paths, input, boilerplate, resources })
    }
}

/// Format of a line in the truth file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TruthLines {
    /// The IDs of two near-duplicates.
    Pairs,
    /// The ID of a document and the name of its cluster.
    Clusters,
}

/// Format of the printed results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalFormat {
    /// A line for each method, for people.
    Table,
    /// Tab-separated lines, one for each threshold at which a figure changes.
    Tsv,
    /// One JSON object.
    Json,
}
