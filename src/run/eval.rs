//! `eval`: measures methods on labelled collections, or on a sample of one collection.

use super::eval_request::{EvalRequest, EvaluatedDocuments, Truth};
use super::face::{Face, Notice};
use super::files::{open_file, refuse_existing, without_links, write_whole_file};
use super::input::{Input, Places};
use super::pages;
use super::reading_faults::{has_losses, note_whole_pages};
use crate::evaluate::truth::TruthFormat;
use crate::evaluate::{
    DocumentsInMemory, Labelled, LabelledFolder, Labels, SampleSettings, SampledMethod,
    estimate_by_sample, evaluate,
};
use crate::method::presets::NamedMethod;
use crate::pipeline::boilerplate::without_boilerplate;
use crate::pipeline::timings::Timings;
use crate::suggest::{Suggestion, suggest};
use crate::write::evaluation::{PictureWriter, overview, plot_files, plot_names, write_page};
use simtool_base::durable::creation_error;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::fault::Fault;
use simtool_base::options::Options;
use simtool_base::quantity::counted;
use simtool_compute::context::Context;
use simtool_model::evaluation::Evaluation;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use simtool_read::walk::InputFile;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Name of a labelled collection whose path has no last component, for example `..`.
const COLLECTION: &str = "collection";

/// Result of [`eval`]: precision, recall and F1 of each method, measured on collections with labels.
#[derive(Debug)]
pub struct EvalOutcome {
    /// Precision, recall and F1 of each method at every threshold.
    pub evaluation: Evaluation,
    /// Faults of the input: bad records, and damaged or unreadable files.
    pub faults: Vec<Fault>,
    /// Whether some records or files could not be read.
    pub has_losses: bool,
    /// Time that each stage took.
    pub timings: Timings,
}

/// Result of [`eval_by_sample`]: recall and precision of each method, estimated from a sample of the documents.
#[derive(Debug)]
pub struct SampleOutcome {
    /// Estimated recall and precision of each method.
    pub methods: Vec<SampledMethod>,
    /// Faults of the input: bad records, and damaged or unreadable files.
    pub faults: Vec<Fault>,
    /// Whether some records or files could not be read.
    pub has_losses: bool,
    /// Time that each stage took.
    pub timings: Timings,
}

/// Result of [`suggest_method`]: the suggested method, and the reasons for it.
#[derive(Debug)]
pub struct SuggestOutcome {
    /// Suggested method, and the reasons for it.
    pub suggestion: Suggestion,
    /// Faults of the input paths, for example paths that do not exist.
    pub faults: Vec<Fault>,
}

impl EvaluatedDocuments {
    fn open(&self, face: &dyn Face) -> Result<Input<'_>> {
        let options = self.input.read_options(face.access(), &self.resources);
        let places = Places { output: Path::new(""), temporary: &self.resources.temporary_folder };
        Input::open(&self.paths, &self.input, options, places, face)
    }
}

/// Measures the methods of `request` on its collections, and writes the page and the plots if they are
/// requested.
///
/// # Errors
///
/// A file to write already exists, a collection has no documents, its labels are wrong, or a file cannot be
/// written.
pub fn eval(request: &EvalRequest, face: &dyn Face) -> Result<EvalOutcome> {
    // An existing file must be reported before a comparison that may take hours.
    request.refuse_outputs()?;
    // A machine without fonts must be reported before the comparison, too.
    let picture = request.plot.as_deref().map(PictureWriter::new).transpose()?;
    let mut timings = Timings::start();
    let mut faults = Vec::new();
    let collections = request.collections(&mut faults, face)?;
    timings.end("read");
    let (resources, seeds) = (&request.documents.resources, &request.hash_seeds);
    let evaluation = evaluate(&collections, &request.methods, seeds, resources, face.progress())?;
    timings.end("compare");
    request.write_files(&evaluation, picture.as_ref(), face)?;
    for note in collections.iter().flat_map(Labelled::notes) {
        face.notice(Notice::Note(note));
    }
    if let Some(note) = note_unlisted(&evaluation) {
        face.notice(Notice::Note(&note));
    }
    note_whole_pages(collections.iter().map(Labelled::summary), face);
    let has_losses = has_losses(collections.iter().map(Labelled::summary));
    Ok(EvalOutcome { evaluation, faults, has_losses, timings })
}

/// Returns a note about pairs that the best method finds and that have no label. Without it, users may believe that
/// such pairs do not count.
fn note_unlisted(evaluation: &Evaluation) -> Option<String> {
    let best = &evaluation.methods[evaluation.best()?];
    let unlisted = best.measured.iter().map(|measured| measured.unlisted).sum();
    let pairs = counted(unlisted, "pair");
    (unlisted > 0).then(|| {
        format!(
            "at its best threshold, {} finds {pairs} without a label, which count as wrong. `report` FILE shows them: \
             label those that are near-duplicates with yes, and those that should not count with gray",
            best.name
        )
    })
}

/// Draws a sample of `documents`, compares it exactly with all documents, and estimates the recall and the
/// precision of each method.
///
/// # Errors
///
/// There are no documents, or no document has a field that was named.
pub fn eval_by_sample(
    documents: &EvaluatedDocuments,
    methods: &[NamedMethod],
    settings: SampleSettings,
    face: &dyn Face,
) -> Result<SampleOutcome> {
    let input = documents.open(face)?;
    let (mut sampled, mut read, mut timings) = (Vec::new(), None, Timings::start());
    for method in methods {
        let (collection, resources) = (&input.collection, &documents.resources);
        let (estimate, summary) =
            estimate_by_sample(collection, method, settings, resources, face.progress())?;
        sampled.push(estimate);
        // Every method reads the same documents, so one summary is enough.
        read.get_or_insert(summary);
    }
    timings.end("compare");
    note_whole_pages(read.iter(), face);
    let mut faults = Vec::new();
    if let Some(read) = &mut read {
        input.add_faults(read, face);
        Input::refuse_missing_ids(&[(&input, read)])?;
        faults = input.faults(read);
    }
    Ok(SampleOutcome { methods: sampled, faults, has_losses: has_losses(read.iter()), timings })
}

/// Chooses a method for `documents` from a sample of them.
///
/// # Errors
///
/// There are no documents.
pub fn suggest_method(documents: &EvaluatedDocuments, face: &dyn Face) -> Result<SuggestOutcome> {
    let input = documents.open(face)?;
    let corpus = Sides::One(&input.collection as &dyn Corpus);
    let suggestion = suggest(corpus, &Options::new(), &documents.resources, face.progress())?;
    // Without documents, the suggestion would only be the default method.
    if suggestion.profile.sampled == 0 {
        let reason = "there is nothing to suggest a method for".to_owned();
        return Err(ErrorKind::NothingRead { reason }.into());
    }
    Ok(SuggestOutcome { suggestion, faults: input.path_faults().to_vec() })
}

impl EvalRequest {
    /// Returns an error if a file to write exists and may not be replaced. This is checked before anything is
    /// compared.
    fn refuse_outputs(&self) -> Result<()> {
        if let Some(path) = &self.report {
            refuse_existing("report", path, self.existing)?;
        }
        if let Some(path) = &self.plot {
            refuse_existing("plot", path, self.existing)?;
        }
        let Some(folder) = &self.plots else { return Ok(()) };
        // The names of the plots depend only on the methods, so they are known before the evaluation.
        let methods = self.methods.iter().enumerate();
        let mut names = methods.flat_map(|(at, method)| plot_names(at, &method.name));
        names.try_for_each(|name| refuse_existing("svg", &folder.join(name), self.existing))
    }

    fn write_files(
        &self,
        evaluation: &Evaluation,
        picture: Option<&PictureWriter>,
        face: &dyn Face,
    ) -> Result<()> {
        if let Some(path) = &self.report {
            let mut page = Vec::new();
            write_page(&mut page, evaluation).map_err(|error| Error::io(path, "write", error))?;
            write_whole_file(path, self.existing, face, |file| file.write(&page))?;
        }
        if let (Some(path), Some(picture)) = (&self.plot, picture) {
            let bytes = picture.convert(overview(evaluation))?;
            write_whole_file(path, self.existing, face, |file| file.write(&bytes))?;
        }
        if let Some(folder) = &self.plots {
            let failed = |error| Error::io(folder, "create", creation_error(folder, error));
            fs::create_dir_all(folder).map_err(failed)?;
            for plot in plot_files(evaluation) {
                let path = folder.join(&plot.name);
                write_whole_file(&path, self.existing, face, |file| {
                    file.write(plot.svg.as_bytes())
                })?;
            }
        }
        Ok(())
    }

    /// Reads the labelled collections into memory: their documents, and the pairs that are known to be near-duplicates.
    /// Records and files that cannot be read are added to `faults`.
    fn collections(&self, faults: &mut Vec<Fault>, face: &dyn Face) -> Result<Vec<Labelled>> {
        // If the labels are in files that were named, all paths together are one collection.
        if let Truth::Files { truth, gray } = &self.truth {
            let input = self.documents.open(face)?;
            let mut read = self.read(&input, face)?;
            input.add_faults(&mut read.summary, face);
            faults.extend(input.faults(&read.summary));
            let name = self.documents.paths.first().map_or(Path::new(""), PathBuf::as_path);
            return Ok(vec![self.labelled(name, read, truth, gray.as_deref(), face)?]);
        }
        self.documents.paths.iter().map(|folder| self.folder(folder, faults, face)).collect()
    }

    /// Reads the labelled collection in a folder. Faults of its documents are added to `faults`.
    fn folder(&self, folder: &Path, faults: &mut Vec<Fault>, face: &dyn Face) -> Result<Labelled> {
        let files = LabelledFolder::find(folder)?;
        let file = InputFile::new(&files.documents);
        let settings = &self.documents.input;
        let input = Input::of_files(
            vec![file],
            settings,
            settings.read_options(face.access(), &self.documents.resources),
        );
        let read = self.read(&input, face)?;
        faults.extend(input.faults(&read.summary));
        self.labelled(folder, read, &files.truth, files.gray.as_deref(), face)
    }

    fn read(&self, input: &Input<'_>, face: &dyn Face) -> Result<DocumentsInMemory> {
        let EvaluatedDocuments { boilerplate, resources, .. } = &self.documents;
        let context = Context::new(resources, face.progress())?;
        let corpus = Sides::One(&input.collection as &dyn Corpus);
        let rule = pages::boilerplate(*boilerplate, *corpus.first())?;
        let read = without_boilerplate(corpus, rule, &context, |corpus| {
            DocumentsInMemory::read(*corpus.first(), rule, resources.threads, face.progress())
        })?;
        // For a collection without documents, the figures would mean nothing.
        input.refuse_nothing(&read.summary)?;
        Input::refuse_missing_ids(&[(input, &read.summary)])?;
        Ok(read)
    }

    /// Reads the labels of `documents` from the files `truth` and `gray`. The last component of `path`
    /// becomes the name of the collection.
    fn labelled(
        &self,
        path: &Path,
        documents: DocumentsInMemory,
        truth: &Path,
        gray: Option<&Path>,
        face: &dyn Face,
    ) -> Result<Labelled> {
        let truth_file = open_file(truth, face.access())?;
        let gray_file = gray.map(|path| open_file(path, face.access())).transpose()?;
        let truth = Labels { path: truth, bytes: &truth_file, format: self.truth_format };
        let gray = gray.zip(gray_file.as_deref());
        let gray = gray.map(|(path, bytes)| Labels { path, bytes, format: TruthFormat::Pairs });
        // A path such as `.` has a last component only after links are resolved.
        let path = without_links(path);
        let name = path.file_name().unwrap_or(OsStr::new(COLLECTION)).to_string_lossy();
        Labelled::new(name, documents, truth, gray)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{InputSettings, Silent};
    use crate::write::output_folder::Existing;
    use simtool_compute::resources::Resources;

    const DOCUMENTS: &str = "{\"id\":\"a\",\"text\":\"one two three four\"}\n\
                             {\"id\":\"b\",\"text\":\"one two three four\"}\n\
                             {\"id\":\"c\",\"text\":\"five six seven eight\"}\nno object\n";

    /// Creates a folder with labelled documents that have one true pair.
    fn labelled_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("docs.jsonl"), DOCUMENTS).unwrap();
        fs::write(folder.path().join("truth.tsv"), "a\tb\n").unwrap();
        folder
    }

    fn documents(path: &Path) -> EvaluatedDocuments {
        EvaluatedDocuments {
            boilerplate: None,
            paths: vec![path.to_owned()],
            input: InputSettings::default(),
            resources: Resources { threads: 1, ..Resources::default() },
        }
    }

    fn request(folder: &Path) -> EvalRequest {
        EvalRequest {
            documents: documents(folder),
            truth: Truth::Folders,
            truth_format: TruthFormat::Pairs,
            methods: NamedMethod::parse_list("exact").unwrap(),
            hash_seeds: Vec::new(),
            sample: None,
            suggests: false,
            report: None,
            plots: None,
            plot: None,
            existing: Existing::Refuse,
        }
    }

    #[test]
    fn folders_and_files_with_the_same_labels_have_the_same_results() {
        let folder = labelled_folder();
        let by_folder = eval(&request(folder.path()), &Silent).unwrap();
        let truth = folder.path().join("truth.tsv");
        let by_files = EvalRequest {
            documents: documents(&folder.path().join("docs.jsonl")),
            truth: Truth::Files { truth, gray: None },
            ..request(folder.path())
        };
        let by_files = eval(&by_files, &Silent).unwrap();
        for outcome in [by_folder, by_files] {
            let curve = &outcome.evaluation.methods[0].measured[0].curve;
            assert_eq!(curve.counts[curve.best()].true_found, 1);
            assert!(outcome.has_losses && outcome.faults.len() == 1);
        }
    }

    #[test]
    fn files_that_exist_are_refused_before_documents_are_read() {
        let folder = labelled_folder();
        let report = folder.path().join("page.html");
        fs::write(&report, "mine").unwrap();
        let nowhere = Path::new("no-such-folder");
        let request = EvalRequest { report: Some(report.clone()), ..request(nowhere) };
        let error = eval(&request, &Silent).unwrap_err().to_string();
        assert!(error.starts_with("report "), "{error}");
        assert_eq!(fs::read_to_string(&report).unwrap(), "mine");
    }

    #[test]
    fn a_picture_has_the_format_of_its_name() {
        let folder = labelled_folder();
        let path = |name: &str| folder.path().join(name);
        let plot = |name: &str| EvalRequest { plot: Some(path(name)), ..request(folder.path()) };
        eval(&plot("all.svg"), &Silent).unwrap();
        let picture = fs::read_to_string(path("all.svg")).unwrap();
        assert!(picture.starts_with("<svg") && picture.contains(">exact</text>"), "{picture}");
        assert!(eval(&plot("all.svg"), &Silent).is_err());
        let error = eval(&plot("all.gif"), &Silent).unwrap_err().to_string();
        assert!(error.ends_with("all.gif: must end in .svg, .png or .pdf"), "{error}");
        for (name, start) in [("all.png", &b"\x89PNG"[..]), ("all.pdf", b"%PDF-")] {
            match eval(&plot(name), &Silent) {
                Ok(_) => assert!(fs::read(path(name)).unwrap().starts_with(start), "{name}"),
                // The machine has no fonts, or this build writes only SVG.
                Err(error) => {
                    let error = error.to_string();
                    assert!(error.contains("all.svg"), "{error}");
                    assert!(!path(name).exists());
                }
            }
        }
    }

    #[test]
    fn a_sample_and_a_suggestion_need_no_labels() {
        let folder = labelled_folder();
        let labelled = documents(&folder.path().join("docs.jsonl"));
        let methods = NamedMethod::parse_list("exact,word-simhash").unwrap();
        let settings = SampleSettings { size: 3, seed: 1, similarity: None };
        let sampled = eval_by_sample(&labelled, &methods, settings, &Silent).unwrap();
        assert_eq!((sampled.methods.len(), sampled.has_losses), (2, true));
        let suggested = suggest_method(&labelled, &Silent).unwrap();
        assert_eq!(suggested.suggestion.profile.sampled, 3);
        let empty = tempfile::tempdir().unwrap();
        assert!(suggest_method(&documents(empty.path()), &Silent).is_err());
    }
}
