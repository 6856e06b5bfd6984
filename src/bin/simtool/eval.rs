//! `simtool eval`: what methods get right.

use crate::args::{EvalArgs, EvalFormat, InputArgs, TruthLines};
use crate::inputs::{self, Access};
use crate::output_file::{existing, refuse_existing};
use crate::progress_line::ProgressLine;
use crate::{Outcome, console, documents, eval_sample, eval_suggest, interrupt};
use simtool::Error;
use simtool::evaluate::truth::TruthFormat;
use simtool::evaluation::Evaluation;
use simtool::pipeline::CollectionSummary;
use simtool::pipeline::evaluate::{DocumentsInMemory, Labelled, LabelledFolder, Labels, evaluate};
use simtool::pipeline::method::presets::NamedMethod;
use simtool::pipeline::timings::Timings;
use simtool::read::walk::{InputFile, Walked};
use simtool::read::{Collection, ReadOptions};
use simtool::resources::Resources;
use simtool::write::evaluation::{
    plot_files, plot_names, write_json, write_lines, write_page, write_table,
};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Measures the methods and prints what they reach.
pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<Outcome> {
    let mut methods = match &args.methods {
        Some(list) => NamedMethod::parse_list(list)?,
        None => NamedMethod::all()?,
    };
    if let Some(size) = args.sample {
        return eval_sample::run(args, &methods, size);
    }
    refuse_without_truth(args)?;
    let suggested = args.suggest.then_some(eval_suggest::NAME);
    let names = methods.iter().map(|method| method.name.as_str());
    refuse_outputs(args, suggested.into_iter().chain(names))?;
    if args.suggest {
        let (suggestion, outcome) = eval_suggest::run(args)?;
        if args.truth.is_none() {
            return Ok(outcome);
        }
        methods.insert(0, suggestion);
    }
    let progress = ProgressLine::new(args.common.running.quiet, args.common.running.progress);
    let reader = Reader {
        args,
        input: args.input(),
        options: documents::read_options(&args.input(), Access::of(args.common.running.no_mmap))?,
        resources: args.common.resources(&args.memory),
        progress: &progress,
    };
    let mut timings = Timings::start();
    let collections = reader.collections()?;
    timings.end("read");
    let evaluation = evaluate(&collections, &methods, &reader.resources, &progress)?;
    progress.end();
    timings.end("compare");

    let mut out = Vec::new();
    match args.format {
        EvalFormat::Table => write_table(&mut out, &evaluation)?,
        EvalFormat::Tsv => write_lines(&mut out, &evaluation)?,
        EvalFormat::Json => write_json(&mut out, &evaluation)?,
    }
    write_files(args, &evaluation)?;
    console::out(&out)?;
    if args.format == EvalFormat::Table && !args.common.running.quiet {
        explain(&evaluation);
    }
    if args.common.running.stats {
        console::stats(&console::stage_times(timings.stages(), timings.counts()));
    }
    Ok(documents::outcome(collections.iter().map(Labelled::summary)))
}

/// What the table's columns are.
fn explain(evaluation: &Evaluation) {
    let of_each = "F1 over all pairs, at the best threshold, which stands behind @";
    if evaluation.collections.len() > 1 {
        console::note(&format!("{of_each}; then the mean, and the mean at one threshold for all"));
    } else if let [collection] = &evaluation.collections[..] {
        let (documents, positives) = (collection.documents, collection.positives);
        console::note(&format!("{of_each}; {documents} documents, {positives} true pairs"));
    }
}

/// Refuses what needs labels where there are none.
fn refuse_without_truth(args: &EvalArgs) -> Result<(), Error> {
    let of_choice = [("report", args.report.as_ref()), ("svg", args.svg.as_ref())];
    let of_corpus = [("corpus", args.corpus.first())];
    let given: &[_] = if args.suggest { &of_choice } else { &of_corpus };
    match given.iter().find_map(|&(option, path)| Some((option, path?))) {
        Some((option, path)) if args.truth.is_none() => {
            Err(Error::config(option, path.display(), "goes with `truth` FILE"))
        }
        _ => Ok(()),
    }
}

/// Refuses files that are there before anything is compared.
fn refuse_outputs<'m>(
    args: &EvalArgs,
    methods: impl Iterator<Item = &'m str>,
) -> Result<(), Error> {
    let existing = existing(args.force);
    if let Some(path) = &args.report {
        refuse_existing("report", path, existing)?;
    }
    let Some(folder) = &args.svg else { return Ok(()) };
    let mut names = methods.enumerate().flat_map(|(at, method)| plot_names(at, method));
    names.try_for_each(|name| refuse_existing("svg", &folder.join(name), existing))
}

fn write_files(args: &EvalArgs, evaluation: &Evaluation) -> anyhow::Result<()> {
    let existing = existing(args.force);
    if let Some(path) = &args.report {
        let mut page = Vec::new();
        write_page(&mut page, evaluation)?;
        interrupt::whole_file(path, existing, |file| file.write(&page))?;
    }
    if let Some(folder) = &args.svg {
        fs::create_dir_all(folder).map_err(|error| Error::io(folder, "create", error))?;
        for plot in plot_files(evaluation) {
            interrupt::whole_file(&folder.join(&plot.name), existing, |file| {
                file.write(plot.svg.as_bytes())
            })?;
        }
    }
    Ok(())
}

/// Reads collections with their labels.
struct Reader<'r> {
    args: &'r EvalArgs,
    input: InputArgs,
    options: ReadOptions,
    resources: Resources,
    progress: &'r ProgressLine,
}

impl Reader<'_> {
    fn collections(&self) -> anyhow::Result<Vec<Labelled>> {
        if let Some(truth) = &self.args.truth {
            let none = Path::new("");
            let Walked { files, faults, .. } = documents::walk(
                &self.args.corpus,
                &self.input,
                none,
                &self.resources.temporary_folder,
            )?;
            let collection = Collection::open(files, self.options.clone());
            let mut read = self.documents(&collection)?;
            documents::add_faults(&collection, faults, &mut read.summary);
            self.told(&collection, &read.summary);
            let name = self.args.corpus.first().map_or(none, |path| path);
            return Ok(vec![self.labelled(name, read, truth, self.args.gray.as_deref())?]);
        }
        self.args.paths.iter().map(|folder| self.folder(folder)).collect()
    }

    fn folder(&self, folder: &Path) -> anyhow::Result<Labelled> {
        let files = LabelledFolder::find(folder)?;
        let file = InputFile::new(&files.documents);
        let collection = Collection::open(vec![file], self.options.clone());
        let read = self.documents(&collection)?;
        self.told(&collection, &read.summary);
        self.labelled(folder, read, &files.truth, files.gray.as_deref())
    }

    fn documents(&self, collection: &Collection) -> anyhow::Result<DocumentsInMemory> {
        let read = DocumentsInMemory::read(collection, self.resources.threads, self.progress)?;
        documents::refuse_nothing(collection, &read.summary)?;
        documents::refuse_missing_ids(&self.input, &[(collection, &read.summary)])?;
        Ok(read)
    }

    /// Shows what was wrong with the documents.
    fn told(&self, collection: &Collection, read: &CollectionSummary) {
        let (verbose, quiet) = (self.args.common.running.verbose, self.args.common.running.quiet);
        let faults = documents::all_faults(collection, read);
        if !faults.is_empty() {
            self.progress.end();
            documents::show(&faults, documents::Shown { verbose, quiet });
        }
    }

    fn labelled(
        &self,
        path: &Path,
        documents: DocumentsInMemory,
        truth: &Path,
        gray: Option<&Path>,
    ) -> anyhow::Result<Labelled> {
        let access = Access::of(self.args.common.running.no_mmap);
        let truth_file = inputs::open(truth, access)?;
        let gray_file = gray.map(|path| inputs::open(path, access)).transpose()?;
        let format = match self.args.truth_format {
            TruthLines::Pairs => TruthFormat::Pairs,
            TruthLines::Clusters => TruthFormat::Clusters,
        };
        let truth = Labels { path: truth, bytes: &truth_file, format };
        let gray = gray.zip(gray_file.as_deref());
        let gray = gray.map(|(path, bytes)| Labels { path, bytes, format: TruthFormat::Pairs });
        let path = documents::resolved(path);
        let name = path.file_name().unwrap_or(OsStr::new("collection")).to_string_lossy();
        Ok(Labelled::new(name, documents, truth, gray)?)
    }
}
