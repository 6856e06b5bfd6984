//! Requests for `dedup` and `match`, parsed from named text options.

use super::face::Face;
use super::fail_if::FailIf;
use super::input_settings::{InputSettings, refuse_joined};
use super::job::JobRequest;
use super::recorded_request::RecordedRequest;
use super::standard_streams::STANDARD_INPUT;
use super::word_features::{WordFeatures, WordsRequest};
use crate::method::Method;
use crate::output::{Annotation, BadRecords, ONLY_IDS, Outputs, READABLE};
use crate::pipeline::config::{Config, LostWordCount};
use crate::pipeline::{Plan, Task};
use crate::write::columns::RowFormat;
use crate::write::output_folder::Existing;
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use std::path::{Path, PathBuf};

/// Value of the option `method` with which the method is chosen from a sample.
pub(super) const AUTO: &str = "auto";
/// Default name of the output folder.
pub(super) const OUTPUT: &str = "simtool-out";

/// Paths of the documents: files and folders, or `-` for standard input.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// Paths of the collection.
    pub corpus: Vec<PathBuf>,
    /// Paths of documents that are matched with the collection. Empty if the collection is compared with
    /// itself.
    pub queries: Vec<PathBuf>,
}

/// Request for `dedup` or `match`: the paths of the documents and all settings.
#[derive(Clone, Debug)]
pub struct Request {
    /// Paths of the documents.
    pub paths: Paths,
    /// Settings for reading documents.
    pub input: InputSettings,
    /// Settings for reading the collection that queries are matched with. They differ from `input` only in the
    /// fields that the user named for this collection.
    pub corpus_input: InputSettings,
    /// Settings of the search for near-duplicates. The method in these settings is not used, because the
    /// requested method takes its place.
    pub config: Config,
    /// Settings that say which outputs are written.
    pub outputs: Outputs,
    /// Whether a receipt is written, with which other people can check the results.
    pub(super) has_receipt: bool,
    /// Conditions on which the run ends before it writes anything.
    pub(super) fail_if: FailIf,
    /// The output folder, and the request as the user wrote it.
    pub job: JobRequest,
    /// Requested method, which may still have to be chosen.
    method: MethodRequest,
    /// Settings of terms that the user gave, for example `shingle`. The summary has a command with these
    /// settings, which compares two documents in the same way as the run.
    terms: Vec<(&'static str, String)>,
}

/// Request for a method, which may be chosen later.
#[derive(Clone, Debug)]
enum MethodRequest {
    /// The method that the user named, or the default method.
    Given {
        method: Box<Method>,
        /// Whether the user gave no minimum similarity.
        is_default_similarity: bool,
    },
    /// A method that is chosen from a sample of the documents. The value has the settings that the user gave,
    /// which are kept.
    Auto(Options),
    /// Fingerprints of the N most frequent words with M bits, as in `simtool N M`. The values are N and M
    /// with the paths of their files, and the other options. The files, for example the hash table, are not
    /// read yet.
    Words(WordsRequest, Options),
}

impl Request {
    /// Creates the request for `paths`. `options` may have the options of [`InputSettings`], of [`Config`]
    /// and of the outputs.
    ///
    /// # Errors
    ///
    /// A value is outside its range, settings contradict each other, or an option is unknown.
    pub fn parse(paths: Paths, options: Options) -> Result<Self> {
        Self::parse_with_words(paths, WordsRequest::default(), options)
    }

    /// Creates the request like [`Self::parse`]. If `words` has N, the number of features, the run compares
    /// fingerprints of the N most frequent words, as `simtool N M --corpus` does.
    ///
    /// # Errors
    ///
    /// The same as for [`Self::parse`].
    pub fn parse_with_words(
        paths: Paths,
        words: WordsRequest,
        mut options: Options,
    ) -> Result<Self> {
        let recorded = RecordedRequest {
            command: if paths.queries.is_empty() { "dedup" } else { "match" }.to_owned(),
            paths: paths.corpus.clone(),
            queries: paths.queries.clone(),
            words: words.clone(),
            ..RecordedRequest::default()
        };
        let job = JobRequest::parse(recorded, OUTPUT, &mut options)?;
        let input = InputSettings::parse(&mut options)?;
        let corpus_input = parse_corpus_input(&input, &paths, &mut options)?;
        let mut config = Config::parse_without_method(&mut options)?;
        let mut outputs = parse_outputs(&mut options)?;
        let fail_if = FailIf::parse(&mut options)?;
        let has_receipt = options.take_flag("receipt")?;
        outputs.any_number_of_pairs = job.existing == Existing::Replace;
        config.has_no_copies = !outputs.writes_copies();
        // Users who ask for all documents want to know all about them.
        let is_annotated = outputs.annotation.is_some();
        config.lost_words =
            if is_annotated { LostWordCount::Always } else { LostWordCount::IfCheap };
        if paths.queries.is_empty() {
            // A user who asks for the output of pairs wants all pairs.
            config.may_leave_pairs_out = !outputs.pairs;
            config.has_text_facts = outputs.annotation.is_some();
        } else {
            if outputs.annotation.is_some() {
                let rule = "is of a deduplication, which has clusters";
                return Err(Error::config("annotate", true, rule));
            }
            // In a match, the pairs are the result.
            outputs.pairs = true;
        }
        // The settings are copied, because the method will take them out of the options.
        let given = |name| Some((name, options.get(name)?.into_owned()));
        let terms = ["shingle", "stop_words"].into_iter().filter_map(given).collect();
        let method = MethodRequest::parse(words, options)?;
        let request = Self {
            paths,
            input,
            corpus_input,
            config,
            outputs,
            has_receipt,
            fail_if,
            job,
            method,
            terms,
        };
        request.check_fields()?;
        request.check_parts()?;
        request.refuse_second_standard_input()?;
        Ok(request)
    }

    /// Returns whether one collection is compared with itself or queries with a corpus.
    #[must_use]
    pub fn task(&self) -> Task {
        if self.paths.queries.is_empty() { Task::Deduplicate } else { Task::Match }
    }

    /// Returns the settings that the user gave for the choice of a method from a sample. Returns `None` if the method
    /// is not chosen from a sample.
    pub(super) fn chosen_by_sample(&self) -> Option<&Options> {
        match &self.method {
            MethodRequest::Auto(given) => Some(given),
            MethodRequest::Given { .. } | MethodRequest::Words(..) => None,
        }
    }

    /// Returns the requested method. If it is chosen from a sample, returns the default method instead, so
    /// that the other settings can be checked before anything is read.
    pub(super) fn method(&self, face: &dyn Face) -> Result<Method> {
        match &self.method {
            MethodRequest::Given { method, .. } => Ok((**method).clone()),
            MethodRequest::Auto(_) => Ok(Method::default()),
            MethodRequest::Words(words, options) => {
                let isa = self.config.resources.isa;
                method_of_words(words, options.clone(), isa, face)
            }
        }
    }

    /// Returns whether the user gave no minimum similarity. The minimum then depends on the documents.
    pub(super) fn is_default_similarity(&self) -> bool {
        matches!(&self.method, MethodRequest::Given { is_default_similarity: true, .. })
    }

    /// Returns the plan of the run, which compares documents by `method`.
    pub(super) fn plan(&self, method: Method) -> Result<Plan> {
        if method.is_coverage() && self.outputs.pairs && self.task() == Task::Deduplicate {
            let rule = "does not go with covered, which finds no pairs";
            return Err(Error::config("pairs", true, rule));
        }
        Plan::new(Config { method, ..self.config.clone() }, self.task())
    }

    /// Returns the value that the user gave for a setting of terms, such as `shingle`. `None` if there is no
    /// such value.
    pub(super) fn term(&self, name: &str) -> Option<&str> {
        let (_, value) = self.terms.iter().find(|(known, _)| *known == name)?;
        Some(value)
    }

    /// Returns an error if the option `resume` or `shard` makes the run store data of its input, but another setting
    /// does not allow that. For example, a match cannot store data.
    fn check_parts(&self) -> Result<()> {
        // A copy of standard input would be made before the folder of parts is opened.
        self.job.parts.refuse_standard_input(&self.paths.corpus)?;
        if self.task() == Task::Match {
            self.job.parts.refuse("is of a deduplication, not of a match")?;
        }
        if matches!(self.method, MethodRequest::Auto(_)) {
            self.job
                .parts
                .refuse_share("needs a `method` that is the same in all shards: name it")?;
        }
        Ok(())
    }

    fn refuse_second_standard_input(&self) -> Result<()> {
        let is_input = |path: &&PathBuf| *path == Path::new(STANDARD_INPUT);
        // Without queries, two uses of standard input are reported when the list is read, with another
        // message.
        let list = self.input.files_from.iter().filter(|_| self.task() == Task::Match);
        let paths = self.paths.corpus.iter().chain(&self.paths.queries).chain(list);
        if paths.filter(is_input).count() > 1 {
            let rule = "standard input can be read once";
            return Err(Error::config("PATH", STANDARD_INPUT, rule));
        }
        Ok(())
    }
}

impl MethodRequest {
    fn parse(words: WordsRequest, mut options: Options) -> Result<Self> {
        let name = Method::take_name(&mut options)?;
        let is_auto = name.as_deref() == Some(AUTO);
        if words.features.is_none() {
            // Without N, the files for N and M would silently have no effect.
            words.refuse_files()?;
            if is_auto {
                return Ok(Self::Auto(options));
            }
            let name = name.as_deref().unwrap_or(Method::DEFAULT);
            let is_default_similarity = !options.has("similarity");
            let method = Box::new(Method::parse_whole(name, &mut options)?);
            return Ok(Self::Given { method, is_default_similarity });
        }
        if let Some(name) = name {
            options.set("method", name);
        }
        if is_auto {
            let features = words.features.unwrap_or_default();
            let rule = "in front is of simhash, which leaves `method` auto nothing to choose";
            return Err(Error::config("N", features, rule));
        }
        Ok(Self::Words(words, options))
    }
}

/// Reads the files that `simtool N M` needs, for example the hash table. Creates the method that compares the
/// N most frequent words of documents.
fn method_of_words(
    words: &WordsRequest,
    mut options: Options,
    isa: simtool_kernels::Isa,
    face: &dyn Face,
) -> Result<Method> {
    // The name of the method is checked last, so that errors about N and M come first.
    let named = options.take("method");
    let features = words.read(options.get("stop_words").as_deref(), isa, face)?;
    let Some(WordFeatures { hash_table, stop_words }) = features else {
        return Err(Error::config("N", "", "is needed, with M"));
    };
    // Verifying compares texts by their shingles, so these settings have an effect only then.
    let is_verified = options.has("verify");
    if let Some(shingle) = options.get("shingle").filter(|_| !is_verified) {
        let rule = "N and M fingerprint words, so that it goes with `verify` only";
        return Err(Error::config("shingle", shingle, rule));
    }
    // The stop words were read together with the features, and the method does not have this option.
    options.take("stop_words");
    let method = Method::frequent_words(hash_table, stop_words, &mut options)?;
    if let Some(named) = named.filter(|named| *named != method.name()) {
        let rule = format!("N and M in front are of {}: leave one of both away", method.name());
        return Err(Error::config("method", named, rule));
    }
    match options.first() {
        Some((option, value)) => Err(method.refusal(option, &value)),
        None => Ok(method),
    }
}

/// Takes the fields of the collection that queries are matched with out of `options`. Returns the settings
/// for reading this collection. `input` are the settings for reading the queries.
fn parse_corpus_input(
    input: &InputSettings,
    paths: &Paths,
    options: &mut Options,
) -> Result<InputSettings> {
    let mut corpus_input = input.clone();
    for (name, field) in [
        ("against_text_field", &mut corpus_input.text_field),
        ("against_id_field", &mut corpus_input.id_field),
    ] {
        let Some(given) = options.take(name) else { continue };
        if paths.queries.is_empty() {
            let rule = "is of a match, which has two collections";
            return Err(Error::config(name, given, rule));
        }
        *field = Some(given);
    }
    if let Some(field) = corpus_input.id_field.as_ref().filter(|_| corpus_input != *input) {
        refuse_joined("against_id_field", field)?;
    }
    if !paths.queries.is_empty() {
        corpus_input.text_setting = "against_text_field";
    }
    Ok(corpus_input)
}

/// Takes the settings of the outputs out of `options`.
fn parse_outputs(options: &mut Options) -> Result<Outputs> {
    // The value is no format of its own: it says which columns the rows have.
    let only_ids = options.get("output_format").is_some_and(|format| format == ONLY_IDS);
    if only_ids {
        options.take("output_format");
    }
    let rows = options.take_choice("output_format")?.unwrap_or(RowFormat::JsonLines);
    let pairs = options.take_flag("pairs")?;
    let copies = [
        ("true", (true, BadRecords::Keep)),
        ("false", (false, BadRecords::Keep)),
        (READABLE, (true, BadRecords::Drop)),
    ];
    let copies = options.take_named("write_kept", &copies)?;
    let (kept, bad_records) = copies.unwrap_or((false, BadRecords::Keep));
    let annotation = options.take("annotate").map(|parts| Annotation::parse(&parts)).transpose()?;
    Ok(Outputs {
        rows,
        only_ids,
        pairs,
        any_number_of_pairs: false,
        kept,
        removed: options.take_flag("write_removed")?,
        annotation: annotation.flatten(),
        bad_records,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(options: &str, queries: &[&str]) -> Result<Request> {
        let corpus = vec![PathBuf::from("in")];
        let queries = queries.iter().map(PathBuf::from).collect();
        Request::parse(Paths { corpus, queries }, Options::parse(options).unwrap())
    }

    #[test]
    fn a_request_is_parsed_from_named_options() {
        let options = "method=simhash,bits=128,keep=max:year,text_field=body,threads=2,\
                       output=out,force=true,output_format=tsv,write_kept=readable";
        let request = parsed(options, &[]).unwrap();
        assert_eq!(request.task(), Task::Deduplicate);
        assert_eq!(request.config.keep.written(&request.config.fields), "max:year");
        assert_eq!(request.job.output, Path::new("out"));
        assert_eq!(request.job.existing, Existing::Replace);
        assert_eq!((request.outputs.rows, request.config.resources.threads), (RowFormat::Tsv, 2));
        assert_eq!(request.outputs.bad_records, BadRecords::Drop);
        assert!(request.config.may_leave_pairs_out && !request.outputs.pairs);
        let method = request.method(&crate::run::Silent).unwrap();
        assert_eq!(method.to_string(), "simhash:bits=128,max_distance=3,shingle=words:3");
    }

    #[test]
    fn pairs_are_wanted_where_they_are_asked_for_or_are_the_result() {
        let pairs = parsed("pairs=true", &[]).unwrap();
        assert!(pairs.outputs.pairs && !pairs.config.may_leave_pairs_out);
        let matched = parsed("", &["new"]).unwrap();
        assert!(matched.outputs.pairs && matched.task() == Task::Match);
        let own = parsed("text_field=a,against_text_field=b,against_id_field=c", &["new"]).unwrap();
        assert_eq!((own.input.text_field(), own.input.id_field()), ("a", "id"));
        assert_eq!((own.corpus_input.text_field(), own.corpus_input.id_field()), ("b", "c"));
    }

    #[test]
    fn contradictions_are_refused_before_anything_is_read() {
        for (options, queries, message) in [
            ("keep=max", &[][..], "keep max: needs a field, as in max:score"),
            ("within=a+b", &[], "within a+b: joins fields"),
            ("within=a,across=b", &[], "across b: does not go with `within`"),
            ("against_id_field=a", &[], "against_id_field a: is of a match"),
            ("against_id_field=a+b", &["new"], "against_id_field a+b: joins fields"),
            ("write_kept=dropped", &[], "write_kept dropped: must be one of true, false, readable"),
            ("annotate=repeated=0", &[], "annotate repeated=0: must be a number of words from 1"),
            ("output_format=xml", &[], "output_format xml: must be one of jsonl, tsv"),
            ("colour=red", &[], "options colour=red: exact has no such option"),
            ("", &["-", "-"], "PATH -: standard input can be read once"),
            ("files_from=-", &["-"], "PATH -: standard input can be read once"),
        ] {
            let error = parsed(options, queries).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn words_in_front_leave_no_method_to_choose() {
        let words = |features: &str| WordsRequest {
            features: Some(features.to_owned()),
            ..WordsRequest::default()
        };
        let auto = Options::parse("method=auto").unwrap();
        let error = Request::parse_with_words(Paths::default(), words("10"), auto).unwrap_err();
        assert!(error.to_string().starts_with("N 10: in front is of simhash"), "{error}");
        let request = Request::parse_with_words(Paths::default(), words("10"), Options::new());
        let error = request.unwrap().method(&crate::run::Silent).unwrap_err();
        assert!(error.to_string().starts_with("N 10: N and M stand together"), "{error}");
    }
}
