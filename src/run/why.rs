//! `why`: explains what became of a document in a finished run.

use super::face::{Face, Notice};
use super::input_change::InputChange;
use super::recorded_run::{LocatedDocument, RecordedRun};
use super::why_parts::{DocumentParts, why_parts};
use crate::method::{Method, OF_TERMS};
use crate::output::finished_run::{FinishedRun, Member, MemberCluster, Sought, Status};
use crate::pipeline::compare::{Comparison, ReadDocument, compare_texts};
use crate::pipeline::lost_words::pair_loss;
use crate::pipeline::timings::Timings;
use crate::pipeline::{Boilerplate, PairLoss};
use simtool_base::byte_text::byte_text;
use simtool_base::error::{ErrorKind, Result};
use simtool_base::fault::Fault;
use simtool_base::options::Options;
use simtool_base::quantity::bytes;
use simtool_compute::resources::Resources;
use simtool_model::document::Bad;
use std::path::PathBuf;
use std::sync::Arc;

/// Default setting of shingles, which is assumed if the summary of the run does not name the setting.
const SHINGLE: &str = "words:3";

/// Request to explain what became of a document in a finished run.
#[derive(Clone, Debug)]
pub struct WhyRequest {
    /// Path of the output folder of the run.
    pub output: PathBuf,
    /// Name of the document: its ID, `FILE:RECORD` or `FILE#ID`.
    pub document: String,
    /// Threads that searching the inputs may use.
    pub resources: Resources,
}

/// The status of a document in a run, for example that it was removed, and the reasons for it.
#[derive(Debug)]
pub struct Why {
    /// Status of the document. If several documents have the name that the user gave, it is that of the first one.
    pub status: DocumentStatus,
    /// Other documents with the same ID as the explained one, each as `FILE:RECORD`.
    pub others: Vec<String>,
    /// Whether some kept documents of the run may be similar to each other, because some documents were not compared or
    /// several documents of a cluster were kept.
    pub keeps_similar: bool,
    /// Changes of input files since the run: of the file of the document, and of the file of the document that it is
    /// compared with.
    pub changes: Vec<InputChange>,
    /// Faults of the input files that were read again.
    pub faults: Vec<Fault>,
    /// Time that each stage took.
    pub timings: Timings,
}

/// Status of a document in a finished run.
#[derive(Debug)]
pub enum DocumentStatus {
    /// No output names the document. It was kept and is similar to no other, or it was not compared.
    Alone(LocatedDocument),
    /// The record could not be read as a document, so it was not compared.
    Bad {
        /// File of the record.
        file: String,
        /// Number of the record, counted from 0 in the file.
        record: u64,
        /// Stable name of the fault of the record.
        code: String,
        /// Description of the content that a good record would have in place of the fault.
        expected: String,
    },
    /// The document belongs to a cluster of similar documents.
    Clustered(Box<ClusteredDocument>),
    /// The run was a search for passages or evaluation items, which has found parts of the document.
    Parts(Box<DocumentParts>),
}

/// A document of a cluster, and the texts that show why the document is in this cluster.
#[derive(Debug)]
pub struct ClusteredDocument {
    /// Cluster that the document belongs to.
    pub cluster: Arc<MemberCluster>,
    /// Index of the document in the list of removed documents of the cluster. `None` if it is the kept document.
    pub at: Option<usize>,
    /// Whether the run was a match, so that the kept document is in the corpus and the removed ones are
    /// queries.
    pub is_match: bool,
    /// Whether the run decided by coverage: several kept documents together may have the words of a removed document,
    /// and no pairs were compared.
    pub is_coverage: bool,
    /// Weighting of the terms with which the run computed similarities, for example `idf`. `None` if the run
    /// did not weight terms.
    pub weight: Option<String>,
    /// Lines that the run left out of the comparison. `None` if the run compared whole texts.
    pub boilerplate: Option<Boilerplate>,
    /// Settings with which the command `compare` makes the same shingles as the run. Empty if the default
    /// settings make them.
    pub compare_settings: Vec<(&'static str, String)>,
    /// Texts of the kept document and of a removed one, or the error if they cannot be read. `None` if the
    /// cluster has no removed document.
    pub texts: Option<Result<ComparedTexts>>,
}

/// Texts of two documents of a cluster, and their similarity.
#[derive(Debug)]
pub struct ComparedTexts {
    /// Document that was kept.
    pub kept: ReadDocument,
    /// Document that was removed.
    pub removed: ReadDocument,
    /// Method that defines the shingles of the comparison.
    pub method: Method,
    /// Comparison of the two texts by their shingles.
    pub comparison: Comparison,
    /// Words of the removed text that the kept text lacks.
    pub lost: PairLoss,
}

impl WhyRequest {
    /// Creates the request for a document of the run in `output`. `options` may have the options of
    /// [`Resources`].
    ///
    /// # Errors
    ///
    /// A value is outside its range, or an option is unknown.
    pub fn parse(output: PathBuf, document: String, mut options: Options) -> Result<Self> {
        let resources = Resources::parse(&mut options)?;
        options.refuse_rest("why has no such option")?;
        Ok(Self { output, document, resources })
    }
}

impl DocumentStatus {
    /// Returns the file of the document, and the file of the document that it is compared with if that is another file.
    fn files(&self) -> Vec<&str> {
        let mut files = match self {
            Self::Alone(LocatedDocument { file, .. }) | Self::Bad { file, .. } => vec![&**file],
            Self::Parts(document) => vec![&*document.located.file],
            Self::Clustered(document) => {
                let compared = document.compared().map(|member| &*member.file);
                std::iter::once(&*document.cluster.kept.file).chain(compared).collect()
            }
        };
        files.dedup();
        files
    }

    /// Returns the file and the record number of the document as `FILE:RECORD`.
    fn place(&self) -> String {
        match self {
            Self::Alone(LocatedDocument { file, record, .. }) | Self::Bad { file, record, .. } => {
                format!("{file}:{record}")
            }
            Self::Clustered(document) => document.itself().place(),
            Self::Parts(document) => {
                format!("{}:{}", document.located.file, document.located.record)
            }
        }
    }
}

impl ClusteredDocument {
    /// Returns the removed document that is compared with the kept document. This is the document itself or, if the
    /// document was kept, the first removed document. `None` if the cluster has no removed document.
    #[must_use]
    pub fn compared(&self) -> Option<&Member> {
        self.cluster.removed.get(self.at.unwrap_or(0))
    }

    /// Returns the document that the request names.
    #[must_use]
    pub fn itself(&self) -> &Member {
        self.at.map_or(&self.cluster.kept, |at| &self.cluster.removed[at])
    }
}

/// Explains what became of the document of `request`.
///
/// # Errors
///
/// The folder has no outputs of a run, an output or input cannot be read, or the run has no such document.
pub fn why(request: &WhyRequest, face: &dyn Face) -> Result<Why> {
    let mut timings = Timings::start();
    let run = RecordedRun::open(&request.output, &request.resources, face)?;
    let sought = Sought::new(&request.document);
    if let Some(parts) = run.run.find_parts(sought)? {
        timings.end("read outputs");
        let mut document = why_parts(&run, sought, parts)?;
        timings.end("read inputs");
        return Ok(Why {
            others: std::mem::take(&mut document.others),
            keeps_similar: false,
            changes: run.change_of(&document.located.file).into_iter().collect(),
            faults: document
                .text
                .as_mut()
                .map_or_else(|_| Vec::new(), |t| t.faults.drain(..).collect()),
            status: DocumentStatus::Parts(Box::new(document)),
            timings,
        });
    }
    let mut statuses = run.run.find(sought)?.into_iter();
    timings.end("read outputs");
    // The outputs explain the document even if the inputs can no longer be read.
    let places = run.places_of(sought).ok().flatten();
    let mut reader = MemberReader { run: &run, face, faults: Vec::new() };
    let status = match statuses.next() {
        None => match run.look_for(sought) {
            Ok(found) => DocumentStatus::Alone(found),
            // The name of a file with one document also names the document.
            Err(error) => {
                let Some(document) = run.only_record(sought) else { return Err(error) };
                return why(&WhyRequest { document, ..request.clone() }, face);
            }
        },
        Some(Status::Clustered { cluster, at }) => {
            DocumentStatus::Clustered(Box::new(reader.explain(request, cluster, at)?))
        }
        Some(Status::Quarantined { file, record, code, expected }) => {
            // The output has the same text for every record without text. Here the name of the field is more
            // helpful.
            let expected = match (&*code, run.text_field_of(&file)) {
                (Bad::NO_TEXT, Some(field)) => format!("a text in the field \"{field}\""),
                _ => expected,
            };
            DocumentStatus::Bad { file, record, code, expected }
        }
    };
    timings.end("read inputs");
    let others = match places {
        Some(places) => places.into_iter().filter(|place| *place != status.place()).collect(),
        // Documents that are similar to no other are in no output, so they are missing here.
        None => statuses.map(place).collect(),
    };
    let changes = status.files().into_iter().filter_map(|file| run.change_of(file)).collect();
    let keeps_similar = run.run.keeps_similar();
    Ok(Why { status, others, keeps_similar, changes, faults: reader.faults, timings })
}

/// Returns the file and the record number of a document as `FILE:RECORD`.
fn place(status: Status) -> String {
    match status {
        Status::Clustered { cluster, at } => {
            at.map_or(&cluster.kept, |at| &cluster.removed[at]).place()
        }
        Status::Quarantined { file, record, .. } => format!("{file}:{record}"),
    }
}

/// Reads documents of clusters again from the inputs of the run.
pub(super) struct MemberReader<'r> {
    pub(super) run: &'r RecordedRun<'r>,
    pub(super) face: &'r dyn Face,
    /// Faults of the files that were read.
    pub(super) faults: Vec<Fault>,
}

impl MemberReader<'_> {
    /// Explains why a document is in a cluster. `at` is its index among the removed documents, or `None` if it was
    /// kept.
    fn explain(
        &mut self,
        request: &WhyRequest,
        cluster: Arc<MemberCluster>,
        at: Option<usize>,
    ) -> Result<ClusteredDocument> {
        let run = &self.run.run;
        // Similarities are weighted if they were verified with a weight, or if the method itself compares
        // weighted sets.
        let of_criterion = run.parameter("similarity").and_then(|_| run.parameter("weight"));
        let weight = run.parameter("verify_weight").or(of_criterion).map(str::to_owned);
        let mut document = ClusteredDocument {
            cluster,
            at,
            is_match: run.is_match(),
            is_coverage: run.is_coverage(),
            weight,
            boilerplate: run.parameter("boilerplate").and_then(|rule| rule.parse().ok()),
            compare_settings: compare_settings(run),
            texts: None,
        };
        if let Some(removed) = document.compared() {
            let method = method_of(&document.compare_settings)?;
            // If the texts can no longer be read, the rest of the result is still useful, so the error
            // becomes a part of it.
            let texts = self.read_texts(&document.cluster.kept, removed);
            document.texts = Some(texts.map(|[kept, removed]| {
                let texts = [&kept.text[..], &removed.text];
                let comparison = compare_texts(texts, &method, request.resources.isa);
                let lost = pair_loss(texts, &method, request.resources.isa);
                ComparedTexts { kept, removed, method, comparison, lost }
            }));
        }
        Ok(document)
    }

    /// Reads the texts of a kept and a removed document again.
    fn read_texts(&mut self, kept: &Member, removed: &Member) -> Result<[ReadDocument; 2]> {
        // Both are read before an error is returned, so that the faults of both files are collected.
        let kept = self.read(kept, false);
        let removed = self.read(removed, self.run.run.is_match());
        Ok([kept?, removed?])
    }

    /// Reads a document again. Returns an error if it now has another ID than in the run. `is_query` says
    /// whether the document is one of the queries of a match.
    pub(super) fn read(&mut self, member: &Member, is_query: bool) -> Result<ReadDocument> {
        let mut found = self.run.read(&member.file, member.record, is_query)?;
        let size = bytes(found.text.len() as u64);
        let detail = format!("{}, {}, {size} of text", member.place(), found.format);
        self.face.notice(Notice::Detail(&detail));
        self.faults.append(&mut found.faults);
        // If the file was changed, the record may hold another document, whose text would be misleading.
        match found.id.as_deref().map(byte_text) {
            Some(id) if id != member.id => {
                let (record, file, recorded) = (member.record, &member.file, &member.id);
                let what = format!(
                    "record {record} of {file} now has the ID \"{id}\", not \"{recorded}\""
                );
                let reason = "the file was changed since".to_owned();
                Err(ErrorKind::Missing { what, reason }.into())
            }
            _ => Ok(found),
        }
    }
}

/// Returns the settings with which the command `compare` makes the same shingles as a run.
pub(super) fn compare_settings(run: &FinishedRun) -> Vec<(&'static str, String)> {
    let given = |name: &&'static str| Some((*name, run.parameter(name)?.to_owned()));
    let given = OF_TERMS.iter().filter_map(given);
    given.filter(|(name, value)| (*name, &**value) != ("shingle", SHINGLE)).collect()
}

/// Creates a method that makes the same shingles as a run. `settings` has the names and values of the settings of the
/// run that shingles depend on, for example `shingle` and `stop_words`. [`compare_settings`] returns them. The method
/// is SimHash, whatever the method of the run was.
pub(super) fn method_of(settings: &[(&'static str, String)]) -> Result<Method> {
    let mut options = Options::new();
    for (name, value) in settings {
        options.set(name, value);
    }
    Method::parse("simhash", &mut options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Paths, Request, Silent, dedup};
    use std::fs;
    use std::path::Path;

    /// Runs `dedup` on one file in a new folder, and returns the folder.
    fn finished(lines: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.jsonl");
        fs::write(&file, lines).unwrap();
        let mut options = Options::parse("similarity=0.5").unwrap();
        options.set("output", folder.path().join("out"));
        let paths = Paths { corpus: vec![file], queries: Vec::new() };
        dedup(&Request::parse(paths, options).unwrap(), &Silent).unwrap();
        folder
    }

    fn asked(folder: &Path, document: &str, face: &dyn Face) -> Result<Why> {
        let output = folder.join("out");
        why(&WhyRequest::parse(output, document.to_owned(), Options::new())?, face)
    }

    const LINES: &str = "{\"id\":\"a\",\"text\":\"one two three four five\"}\n\
                         {\"id\":\"b\",\"text\":\"One, two, three, four, five!\"}\n\
                         {\"id\":\"c\",\"text\":\"nothing like the others\"}\n\
                         {\"id\":\"d\"}\n";

    #[test]
    fn a_removed_document_is_shown_with_the_kept_one() {
        let folder = finished(LINES);
        let DocumentStatus::Clustered(found) = asked(folder.path(), "b", &Silent).unwrap().status
        else {
            panic!("b was removed")
        };
        assert_eq!((found.at, &*found.cluster.kept.id, &*found.itself().id), (Some(0), "a", "b"));
        let texts = found.texts.unwrap().unwrap();
        assert_eq!((texts.comparison.shared, texts.comparison.union()), (3, 3));
        assert!(found.compare_settings.is_empty() && !found.is_match);
    }

    #[test]
    fn documents_that_no_output_names_are_found_in_the_inputs() {
        let folder = finished(LINES);
        let DocumentStatus::Alone(found) = asked(folder.path(), "c", &Silent).unwrap().status
        else {
            panic!("c is like no other")
        };
        assert_eq!((found.record, found.is_passed_over), (2, false));
        let error = asked(folder.path(), "x", &Silent).unwrap_err().to_string();
        assert!(error.starts_with("x is no document of this run: its IDs are those of"), "{error}");
        let place = format!("{}:3", folder.path().join("a.jsonl").display());
        let DocumentStatus::Bad { expected, .. } =
            asked(folder.path(), &place, &Silent).unwrap().status
        else {
            panic!("record 3 has no text")
        };
        assert_eq!(expected, "a text in the field \"text\"");
    }

    #[test]
    fn a_file_that_was_changed_shows_no_texts() {
        let folder = finished(LINES);
        fs::write(folder.path().join("a.jsonl"), LINES.replace("\"a\"", "\"z\"")).unwrap();
        let DocumentStatus::Clustered(found) = asked(folder.path(), "a", &Silent).unwrap().status
        else {
            panic!("a was kept")
        };
        assert_eq!(found.at, None);
        let reason = found.texts.unwrap().unwrap_err().to_string();
        let expected = "now has the ID \"z\", not \"a\": the file was changed since";
        assert!(reason.ends_with(expected), "{reason}");
    }

    #[test]
    fn other_documents_with_the_same_id_are_listed() {
        let lines = "{\"id\":\"a\",\"text\":\"one two three four five\"}\n\
                     {\"id\":\"a\",\"text\":\"nothing like the other one\"}\n\
                     {\"id\":\"b\",\"text\":\"a third text of its own\"}\n";
        let folder = finished(lines);
        let other = format!("{}:1", folder.path().join("a.jsonl").display());
        assert_eq!(asked(folder.path(), "a", &Silent).unwrap().others, [other]);
        assert_eq!(asked(folder.path(), "b", &Silent).unwrap().others, [""; 0]);
    }
}
