//! Request of `eval`: the documents, their labels, the methods and the files that are written.

use super::input_settings::InputSettings;
use crate::evaluate::SampleSettings;
use crate::evaluate::truth::TruthFormat;
use crate::method::presets::NamedMethod;
use crate::pipeline::Boilerplate;
use crate::write::output_folder::Existing;
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_compute::resources::Resources;
use simtool_model::similarity::Threshold;
use std::path::{Path, PathBuf};

/// Seed of a sample if the user gives none.
const SEED: u64 = 1;

/// Documents on which methods are measured, the settings for reading them, and the resources of the run.
#[derive(Clone, Debug)]
pub struct EvaluatedDocuments {
    /// Files and folders with the documents.
    pub paths: Vec<PathBuf>,
    /// Settings for reading documents.
    pub input: InputSettings,
    /// Lines that are left out of the comparison. `None` if whole texts are compared.
    pub boilerplate: Option<Boilerplate>,
    /// Memory and threads that the run may use.
    pub resources: Resources,
}

/// Location of the labels, which list the true near-duplicates among the documents.
#[derive(Clone, Debug)]
pub enum Truth {
    /// Each path is a folder with a labelled collection. `docs.*` has the documents, and `truth.tsv` the true
    /// pairs. If `gray.tsv` exists, it has pairs that count neither as true nor as false.
    Folders,
    /// The documents of all paths are one collection, whose labels are in the files named here.
    Files {
        /// File of the true pairs or clusters.
        truth: PathBuf,
        /// File of the pairs that count neither as true nor as false, if there is one.
        gray: Option<PathBuf>,
    },
}

/// Labelled collections, the methods that are measured on them, and the files that are written.
#[derive(Clone, Debug)]
pub struct EvalRequest {
    /// Documents of the collections, and the settings for reading them.
    pub documents: EvaluatedDocuments,
    /// Location of the labels of the documents.
    pub truth: Truth,
    /// Whether a line of labels holds a pair of documents or a document and its cluster.
    pub truth_format: TruthFormat,
    /// Methods that are measured.
    pub methods: Vec<NamedMethod>,
    /// Seeds of other hash functions. Each method with fingerprints is measured once more with each of them. Empty if
    /// only the usual hash functions are used.
    pub hash_seeds: Vec<u64>,
    /// Sample by which recall and precision are estimated without labels. `None` if labels are used.
    pub sample: Option<SampleSettings>,
    /// Whether a method is suggested from a sample of the documents. If there are labels, the suggested method is also
    /// measured.
    pub suggests: bool,
    /// File for an HTML page with plots and wrong pairs. `None` if it is not written.
    pub report: Option<PathBuf>,
    /// Folder for the plots as SVG files. `None` if they are not written.
    pub plots: Option<PathBuf>,
    /// SVG, PNG or PDF file for one picture of all methods. `None` if it is not written.
    pub plot: Option<PathBuf>,
    /// Whether existing files are replaced. Otherwise an existing file is an error.
    pub existing: Existing,
}

impl EvalRequest {
    /// Creates the request from two lists of files and folders, of which one is usually empty. `paths` are folders of
    /// labelled collections, or one collection without labels. `corpus` is one collection whose labels are in the files
    /// that the options `truth` and `gray` name. `options` may have the settings of the command `eval`, except
    /// `format`.
    ///
    /// # Errors
    ///
    /// A value is wrong, a setting lacks another one, or a setting is unknown.
    pub fn parse(
        mut paths: Vec<PathBuf>,
        corpus: Vec<PathBuf>,
        mut options: Options,
    ) -> Result<Self> {
        let methods = match options.take("method") {
            Some(list) => NamedMethod::parse_list(&list)?,
            None => NamedMethod::all()?,
        };
        let hash_seeds = seeds(&mut options)?;
        let sample = sample(&mut options, &hash_seeds)?;
        let suggests = options.take_flag("suggest")?;
        // A sample needs no labels.
        if sample.is_none() {
            refuse_without_truth(&options, &corpus, suggests)?;
        }
        paths.extend(corpus);
        let plot = options.take_path("plot");
        let formats = [("pairs", TruthFormat::Pairs), ("clusters", TruthFormat::Clusters)];
        let request = Self {
            truth_format: options.take_named("truth_format", &formats)?.unwrap_or(formats[0].1),
            truth: match (options.take_path("truth"), options.take_path("gray")) {
                (Some(truth), gray) => Truth::Files { truth, gray },
                (None, _) => Truth::Folders,
            },
            methods,
            hash_seeds,
            sample,
            suggests,
            report: options.take_path("report"),
            plots: plot.clone().filter(|path| !is_picture(path)),
            plot: plot.filter(|path| is_picture(path)),
            existing: Existing::by_force(options.take_flag("force")?),
            documents: EvaluatedDocuments {
                paths,
                input: InputSettings::parse(&mut options)?,
                boilerplate: Boilerplate::parse(&mut options)?,
                resources: Resources::parse(&mut options)?,
            },
        };
        options.refuse_rest("eval has no such option")?;
        Ok(request)
    }
}

/// Takes the seeds, which are separated by commas, out of `options`.
fn seeds(options: &mut Options) -> Result<Vec<u64>> {
    let mut seeds = Vec::new();
    for list in options.take_all("seed") {
        for seed in list.split(',') {
            let rule = "must be whole numbers, separated by commas";
            seeds.push(seed.parse().map_err(|_| Error::config("seed", seed, rule))?);
        }
    }
    Ok(seeds)
}

/// Takes the settings of a sample out of `options`. `None` if no sample is wanted.
fn sample(options: &mut Options, seeds: &[u64]) -> Result<Option<SampleSettings>> {
    let rule = "must be a whole number from 2 on";
    let size: Option<u32> = options.take_parsed("sample", rule)?;
    let similarity = options.take("similarity");
    let Some(size) = size else {
        let needless =
            similarity.map(|text| Error::config("similarity", text, "goes with `sample`"));
        return needless.map_or(Ok(None), Err);
    };
    let seed = match seeds {
        [] => SEED,
        [seed] => *seed,
        [first, ..] => {
            let rule = "must be one number with `sample`: the seed that draws it";
            return Err(Error::config("seed", format!("{first},…"), rule));
        }
    };
    if size < 2 {
        return Err(Error::config("sample", size, rule));
    }
    let similarity =
        similarity.map(|text| Threshold::parse_measured("similarity", &text)).transpose()?;
    Ok(Some(SampleSettings { size: size as usize, seed, similarity }))
}

/// Returns an error if settings were given that need labels, but no labels were given.
fn refuse_without_truth(options: &Options, corpus: &[PathBuf], suggests: bool) -> Result<()> {
    if options.has("truth") {
        return Ok(());
    }
    // With a suggestion, a collection alone is enough, but there is no measurement to report.
    let corpus = corpus.first().filter(|_| !suggests);
    if let Some(path) = corpus {
        return Err(Error::config("corpus", path.display(), "goes with `truth` FILE"));
    }
    let of_labels: &[&str] = if suggests { &["gray", "report", "plot"] } else { &["gray"] };
    match of_labels.iter().find_map(|name| Some((*name, options.get(name)?))) {
        Some((name, path)) => Err(Error::config(name, path, "goes with `truth` FILE")),
        None => Ok(()),
    }
}

/// Returns whether `path` is a file for a single picture. Otherwise it is a folder for several plots.
fn is_picture(path: &Path) -> bool {
    // A folder that exists may have a dot in its name.
    path.extension().is_some() && !path.is_dir()
}
