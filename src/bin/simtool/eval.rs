//! `simtool eval`: what methods get right.

use crate::args::{EvalArgs, EvalFormat, TruthLines};
use crate::interrupt::Interrupted;
use crate::terminal::Terminal;
use crate::{ExitStatus, console, eval_sample, eval_suggest};
use simtool::Error;
use simtool::evaluate::truth::TruthFormat;
use simtool::evaluate::{DocumentsInMemory, Labelled, LabelledFolder, Labels, evaluate};
use simtool::evaluation::Evaluation;
use simtool::method::presets::NamedMethod;
use simtool::pipeline::CollectionSummary;
use simtool::pipeline::timings::Timings;
use simtool::read::walk::InputFile;
use simtool::resources::Resources;
use simtool::run::{
    Face, Input, InputSettings, Places, has_losses, open_file, refuse_existing, without_links,
    write_whole_file,
};
use simtool::write::evaluation::{
    plot_files, plot_names, write_json, write_lines, write_page, write_table,
};
use simtool::write::output_folder::Existing;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

/// Measures the methods and prints what they reach.
pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<ExitStatus> {
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
    let reader = Reader {
        args,
        settings: args.input(),
        resources: args.common.resources(&args.memory)?,
        terminal: Terminal::new(&args.common.running),
    };
    let mut timings = Timings::start();
    let collections = reader.collections()?;
    timings.end("read");
    let evaluation =
        evaluate(&collections, &methods, &reader.resources, reader.terminal.progress())?;
    reader.terminal.end(&[]);
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
    Ok(ExitStatus::after(has_losses(collections.iter().map(Labelled::summary))))
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
    let existing = Existing::by_force(args.force);
    if let Some(path) = &args.report {
        refuse_existing("report", path, existing)?;
    }
    let Some(folder) = &args.svg else { return Ok(()) };
    let mut names = methods.enumerate().flat_map(|(at, method)| plot_names(at, method));
    names.try_for_each(|name| refuse_existing("svg", &folder.join(name), existing))
}

fn write_files(args: &EvalArgs, evaluation: &Evaluation) -> anyhow::Result<()> {
    let existing = Existing::by_force(args.force);
    if let Some(path) = &args.report {
        let mut page = Vec::new();
        write_page(&mut page, evaluation)?;
        write_whole_file(path, existing, &Interrupted, |file| file.write(&page))?;
    }
    if let Some(folder) = &args.svg {
        fs::create_dir_all(folder).map_err(|error| Error::io(folder, "create", error))?;
        for plot in plot_files(evaluation) {
            write_whole_file(&folder.join(&plot.name), existing, &Interrupted, |file| {
                file.write(plot.svg.as_bytes())
            })?;
        }
    }
    Ok(())
}

/// Reads collections with their labels.
struct Reader<'r> {
    args: &'r EvalArgs,
    settings: InputSettings,
    resources: Resources,
    terminal: Terminal,
}

impl Reader<'_> {
    fn collections(&self) -> anyhow::Result<Vec<Labelled>> {
        if let Some(truth) = &self.args.truth {
            let none = Path::new("");
            let places = Places { output: none, temporary: &self.resources.temporary_folder };
            let settings = &self.settings;
            let options = settings.read_options(self.terminal.access());
            let input = Input::open(&self.args.corpus, settings, options, places, &self.terminal)?;
            let mut read = self.documents(&input)?;
            input.add_faults(&mut read.summary, &self.terminal);
            self.show_faults(&input, &read.summary);
            let name = self.args.corpus.first().map_or(none, |path| path);
            return Ok(vec![self.labelled(name, read, truth, self.args.gray.as_deref())?]);
        }
        self.args.paths.iter().map(|folder| self.folder(folder)).collect()
    }

    fn folder(&self, folder: &Path) -> anyhow::Result<Labelled> {
        let files = LabelledFolder::find(folder)?;
        let file = InputFile::new(&files.documents);
        let options = self.settings.read_options(self.terminal.access());
        let input = Input::of_files(vec![file], &self.settings, options);
        let read = self.documents(&input)?;
        self.show_faults(&input, &read.summary);
        self.labelled(folder, read, &files.truth, files.gray.as_deref())
    }

    fn documents(&self, input: &Input<'_>) -> anyhow::Result<DocumentsInMemory> {
        let threads = self.resources.threads;
        let progress = self.terminal.progress();
        let read = DocumentsInMemory::read(&input.collection, threads, progress)?;
        input.refuse_nothing(&read.summary)?;
        Input::refuse_missing_ids(&[(input, &read.summary)])?;
        Ok(read)
    }

    /// Shows what was wrong with the documents.
    fn show_faults(&self, input: &Input<'_>, read: &CollectionSummary) {
        let faults = input.faults(read);
        if !faults.is_empty() {
            self.terminal.end(&faults);
        }
    }

    fn labelled(
        &self,
        path: &Path,
        documents: DocumentsInMemory,
        truth: &Path,
        gray: Option<&Path>,
    ) -> anyhow::Result<Labelled> {
        let access = self.terminal.access();
        let truth_file = open_file(truth, access)?;
        let gray_file = gray.map(|path| open_file(path, access)).transpose()?;
        let format = match self.args.truth_format {
            TruthLines::Pairs => TruthFormat::Pairs,
            TruthLines::Clusters => TruthFormat::Clusters,
        };
        let truth = Labels { path: truth, bytes: &truth_file, format };
        let gray = gray.zip(gray_file.as_deref());
        let gray = gray.map(|(path, bytes)| Labels { path, bytes, format: TruthFormat::Pairs });
        let path = without_links(path);
        let name = path.file_name().unwrap_or(OsStr::new("collection")).to_string_lossy();
        Ok(Labelled::new(name, documents, truth, gray)?)
    }
}
