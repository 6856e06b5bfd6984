//! Arguments of `simtool eval`.

use super::common::output_folder;
use super::{CommonArgs, MemoryArgs};
use clap::{ValueEnum, ValueHint};
use simtool::Error;
use simtool::run::{EvaluatedDocuments, InputSettings};
use std::path::PathBuf;

/// Arguments of `simtool eval`.
#[derive(Debug, clap::Args)]
pub(crate) struct EvalArgs {
    /// Folders, each a collection: documents in docs.* (such as docs.jsonl.zst), pairs of
    /// near-duplicates in truth.tsv, and in gray.tsv, if it is there, pairs that do not count. With
    /// --sample and --suggest: files and folders of one collection without labels.
    #[arg(value_name = "PATH", required_unless_present = "corpus", conflicts_with = "corpus",
        value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Files and folders with the documents of one collection instead; its pairs are those of --truth.
    #[arg(long, value_name = "PATH", num_args = 1.., value_hint = ValueHint::AnyPath)]
    pub(crate) corpus: Vec<PathBuf>,

    /// The near-duplicates of --corpus: lines of two IDs with a tab between; what follows is not
    /// read. A first line without any document's ID is a header.
    #[arg(long, value_name = "FILE", requires = "corpus", value_hint = ValueHint::FilePath)]
    pub(crate) truth: Option<PathBuf>,

    /// Pairs of --corpus that count neither as true nor as wrong, as lines of two IDs.
    #[arg(long, value_name = "FILE", requires = "truth", value_hint = ValueHint::FilePath)]
    pub(crate) gray: Option<PathBuf>,

    /// What a line of the truth holds: two IDs, or an ID and the name of its cluster, in which every
    /// two documents are a pair.
    #[arg(long, value_name = "FORMAT", default_value = "pairs")]
    pub(crate) truth_format: TruthLines,

    /// Methods with commas between: names of presets, and methods with their options behind a colon,
    /// as in simhash:bits=128,shingle=words:2 [default: all presets].
    ///
    /// Presets: word-simhash, shingle-simhash, multi-lexicon, minhash, minhash-64, minhash-16,
    /// minhash-8, i-match, random-i-match and exact. One that is not a method's own name takes options
    /// too, in place of its own, as in word-simhash:bits=512. All thresholds are measured; the one that is given is told besides.
    #[arg(short, long, value_name = "LIST", help_heading = "Methods")]
    pub(crate) methods: Option<String>,

    /// All presets.
    #[arg(long, conflicts_with = "methods", help_heading = "Methods")]
    pub(crate) all: bool,

    /// Estimate what the methods miss and wrongly find in a collection without labels: draws S
    /// documents and compares each with all others exactly.
    #[arg(long, value_name = "S", conflicts_with_all = ["corpus", "report", "svg", "truth_format"],
        value_parser = clap::value_parser!(u32).range(2..), help_heading = "Sampling")]
    pub(crate) sample: Option<u32>,

    /// Another seed draws another sample.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        requires = "sample",
        help_heading = "Sampling"
    )]
    pub(crate) seed: u64,

    /// Least similarity of documents that count as near-duplicates in the sample; the measures are those of
    /// dedup --similarity [default: the value of the method's --verify, or 0.8].
    #[arg(long, value_name = "S", requires = "sample", help_heading = "Sampling")]
    pub(crate) similarity: Option<String>,

    /// Choose method, shingle and threshold for a collection by a sample of it, as dedup --method auto
    /// does: print what the sample says, the choice with the reasons, and the command to run. With
    /// --corpus and --truth measure the choice beside all presets.
    #[arg(long, conflicts_with_all = ["methods", "all", "sample"], help_heading = "Sampling")]
    pub(crate) suggest: bool,

    /// What is printed.
    #[arg(long, value_name = "FORMAT", default_value = "table", help_heading = "Writing")]
    pub(crate) format: EvalFormat,

    /// Write a page to look at, with plots and with the pairs that the best method gets wrong.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Writing")]
    pub(crate) report: Option<PathBuf>,

    /// Write the plots to this folder as files of SVG; made if it is not there.
    #[arg(long, value_name = "DIR", value_parser = output_folder(), value_hint = ValueHint::DirPath,
        help_heading = "Writing")]
    pub(crate) svg: Option<PathBuf>,

    /// Replace files that are there.
    #[arg(long, help_heading = "Writing")]
    pub(crate) force: bool,

    /// Field, column or dotted path of the text [default: text].
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    pub(crate) text_field: Option<String>,

    /// Field, column or dotted path of the ID; one that is named here must be there [default: id].
    #[arg(long, value_name = "NAME", help_heading = "Reading")]
    pub(crate) id_field: Option<String>,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl EvalArgs {
    /// Returns the documents of `paths`, to be read as the arguments say.
    pub(crate) fn documents(&self, paths: Vec<PathBuf>) -> Result<EvaluatedDocuments, Error> {
        let input = InputSettings {
            text_field: self.text_field.clone(),
            id_field: self.id_field.clone(),
            ..InputSettings::default()
        };
        let resources = self.common.resources(&self.memory)?;
        Ok(EvaluatedDocuments { paths, input, resources })
    }
}

/// What a line of the truth holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TruthLines {
    /// The IDs of two near-duplicates.
    Pairs,
    /// The ID of a document, and its cluster.
    Clusters,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EvalFormat {
    /// A line for each method, for people.
    Table,
    /// A line for each threshold where something changes, with tabs.
    Tsv,
    /// One object.
    Json,
}
