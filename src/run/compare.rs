//! `compare`: compares two documents by their shingles and fingerprints.

use super::face::Face;
use super::input_settings::InputSettings;
use super::one_document::{NamedBy, NamedDocument, NamedReader};
use super::standard_streams::STANDARD_INPUT;
use crate::method::Method;
use crate::pipeline::compare::{Comparison, compare_texts};
use crate::pipeline::timings::Timings;
use simtool_base::error::{Error, Result};
use simtool_base::options::{Choice, Options};
use simtool_compute::resources::Resources;
use simtool_read::{Format, PageContent};
use std::path::{Path, PathBuf};

/// Name of the method that makes the compared fingerprints.
const METHOD: &str = "simhash";

/// Two documents to compare, and the settings for reading and comparing them.
#[derive(Clone, Debug)]
pub struct CompareRequest {
    /// Names of the documents: a file with one document, `FILE:RECORD`, `FILE#ID`, `OUT#ID` for a document of
    /// a finished run, or `-` for standard input.
    pub names: [PathBuf; 2],
    /// Settings for reading the files.
    pub input: InputSettings,
    /// Method that defines the shingles and the fingerprints.
    pub method: Method,
    /// Threads and temporary folder that reading may use.
    pub resources: Resources,
    /// Options of the method that the user gave. They have precedence over the settings of a finished run that `names`
    /// refers to.
    given: Options,
}

/// Two documents and the result of comparing them.
#[derive(Debug)]
pub struct Compared {
    /// Documents that were compared.
    pub documents: [NamedDocument; 2],
    /// Method that defines the shingles and the fingerprints. It is the method of the request. If a document comes from
    /// a finished run, the settings of that run for shingles apply unless the user gave others.
    pub method: Method,
    /// Similarity of the sets of shingles, and distance of the fingerprints.
    pub comparison: Comparison,
    /// Time that each stage took.
    pub timings: Timings,
}

impl CompareRequest {
    /// Creates the request to compare the documents with these two names. `options` may have the options of terms, of
    /// SimHash and of [`Resources`], and `format`, `content`, `text_field` and `id_field`.
    ///
    /// # Errors
    ///
    /// A value is outside its range, a weight must be learned from a collection, both documents are standard
    /// input, or an option is unknown.
    pub fn parse(names: [PathBuf; 2], mut options: Options) -> Result<Self> {
        // The settings of the method are taken before the given ones are copied, which are compared with those of runs.
        let named = Method::take_name(&mut options)?;
        if let Some(other) = named.filter(|name| name != METHOD) {
            let rule = "must be simhash: its distance is printed next to the exact similarity";
            return Err(Error::config("method", other, rule));
        }
        let given = options.clone();
        let method = Method::parse(METHOD, &mut options)?;
        refuse_learned(&method)?;
        if names.iter().all(|name| name == Path::new(STANDARD_INPUT)) {
            let rule = "only one document can be standard input";
            return Err(Error::config("B", STANDARD_INPUT, rule));
        }
        let input = InputSettings::parse(&mut options)?;
        let resources = Resources::parse(&mut options)?;
        // An option that is still there is unknown or belongs to another method.
        match options.first() {
            Some((option, value)) => Err(method.refusal(option, &value)),
            None => Ok(Self { names, input, method, resources, given }),
        }
    }

    /// Returns the method by which `documents` are compared. Its settings for terms are those of the finished runs from
    /// which the documents come. Settings that the user gave have precedence over those of the runs.
    ///
    /// # Errors
    ///
    /// The two documents are of runs with other settings, or the stop words of the run cannot be read.
    fn method_for(&self, documents: &[NamedDocument; 2]) -> Result<Method> {
        let terms_of = |named: &NamedDocument| {
            let terms = named.terms.iter().filter(|(name, _)| !self.given.has(name));
            terms.cloned().collect::<Vec<_>>()
        };
        let [left, right] = [&documents[0], &documents[1]].map(terms_of);
        if documents.iter().all(|named| named.by == NamedBy::Run) && left != right {
            let differing = left
                .iter()
                .chain(&right)
                .find(|term| !(left.contains(term) && right.contains(term)));
            let (name, value) = differing.cloned().unwrap_or_default();
            let rule = "is the setting of one run, and the other run has another: give the one to compare with";
            return Err(Error::config(name, value, rule));
        }
        if left.is_empty() && right.is_empty() {
            return Ok(self.method.clone());
        }
        let mut options = self.given.clone();
        for (name, value) in if left.is_empty() { right } else { left } {
            options.set(name, value);
        }
        Method::parse(METHOD, &mut options)
    }

    /// Returns an error if a setting for reading was given that affects neither document.
    fn refuse_idle(&self, documents: &[NamedDocument; 2]) -> Result<()> {
        let fields = "applies to jsonl, xml, csv, tsv and parquet files, and neither document is in one (OUT#ID is read as its run read it)";
        let of_run = "OUT#ID is read as its run read it";
        let with_id = "needs a document FILE#ID whose file has fields";
        let has_file = documents.iter().any(NamedDocument::is_of_file);
        let has_fields = documents.iter().any(NamedDocument::is_of_fields);
        // The ID of a document of a run is found in the outputs of the run, so the name of the field has no
        // effect.
        let has_id = documents.iter().any(|named| named.by == NamedBy::Id && named.is_of_fields());
        let format = self.input.format.map(Format::name);
        let pages = "applies to HTML pages, and neither document is in a file of pages (OUT#ID is read as its run read it)";
        let has_pages = documents.iter().any(NamedDocument::is_of_pages);
        let content = Some(self.input.content).filter(|part| *part != PageContent::default());
        for (setting, value, is_used, rule) in [
            ("format", format, has_file, of_run),
            ("content", content.map(PageContent::name), has_pages, pages),
            ("text_field", self.input.text_field.as_deref(), has_fields, fields),
            ("id_field", self.input.id_field.as_deref(), has_id, with_id),
        ] {
            if let Some(value) = value.filter(|_| !is_used) {
                return Err(Error::config(setting, value, rule));
            }
        }
        Ok(())
    }
}

/// Returns an error if a weight must be learned from a collection, because there are only two documents.
fn refuse_learned(method: &Method) -> Result<()> {
    let terms = method.recipe().terms();
    let weighting = terms.weighting().parameters().pop();
    match weighting.filter(|_| terms.is_learned()) {
        Some((field, value)) => {
            let rule = "is learned from a collection: it goes with `simtool dedup`";
            Err(Error::config(field, value, rule))
        }
        None => Ok(()),
    }
}

/// Reads the two documents of `request` and compares them.
///
/// # Errors
///
/// A document does not exist or cannot be read, or a setting for reading has no effect.
pub fn compare(request: &CompareRequest, face: &dyn Face) -> Result<Compared> {
    let mut timings = Timings::start();
    let options = request.input.read_options(face.access(), &request.resources);
    let reader = NamedReader { options, resources: &request.resources, face };
    let [left, right] = &request.names;
    let documents = [reader.read(left)?, reader.read(right)?];
    timings.end("read");
    // The formats of the documents are only known after reading.
    request.refuse_idle(&documents)?;
    let texts = [&documents[0].document.text[..], &documents[1].document.text];
    let method = request.method_for(&documents)?;
    let comparison = compare_texts(texts, &method, request.resources.isa);
    timings.end("compare");
    Ok(Compared { documents, method, comparison, timings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Silent;
    use std::fs;

    fn compared(names: [PathBuf; 2], options: &str) -> Result<Compared> {
        compare(&CompareRequest::parse(names, Options::parse(options)?)?, &Silent)
    }

    #[test]
    fn documents_are_named_by_file_record_and_id() {
        let folder = tempfile::tempdir().unwrap();
        let lines = folder.path().join("a.jsonl");
        fs::write(&lines, "{\"id\":\"x\",\"text\":\"a b c d\"}\n{\"text\":\"a b c e\"}\n").unwrap();
        let text = folder.path().join("b#1.txt");
        fs::write(&text, "A b c d!").unwrap();
        let behind = |end: &str| PathBuf::from(format!("{}{end}", lines.display()));
        let found = compared([behind("#x"), behind(":1")], "").unwrap();
        let similarity = found.comparison.similarity.unwrap();
        assert_eq!((similarity.shared, similarity.union), (1, 3));
        assert_eq!(found.documents.map(|named| named.by), [NamedBy::Id, NamedBy::Place]);
        let found = compared([behind("#x"), text], "bits=128,shingle=words:2").unwrap();
        assert_eq!(found.comparison.distance, Some(0));
        assert!(compared([behind("#y"), behind(":1")], "").is_err());
        assert!(compared([behind(":2"), behind(":1")], "").is_err());
    }

    #[test]
    fn settings_that_nothing_uses_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        fs::write(&file, "one two three").unwrap();
        for (options, message) in [
            ("text_field=body", "text_field body: applies to jsonl, xml, csv, tsv and parquet"),
            ("id_field=key", "id_field key: needs a document FILE#ID"),
            ("content=all", "content all: applies to HTML pages, and neither document"),
            ("weight=idf", "weight idf: is learned from a collection"),
            ("colour=red", "options colour=red: "),
            ("bits=3", "method simhash:bits=3: "),
        ] {
            let error = compared([file.clone(), file.clone()], options).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        let error = compared(["-".into(), "-".into()], "").unwrap_err().to_string();
        assert_eq!(error, "B -: only one document can be standard input");
    }
}
