//! `passages`: finds the passages of a collection that occur more than once.

use super::dedup::path_list;
use super::face::{Face, Notice};
use super::input::Input;
use super::input_settings::InputSettings;
use super::job::{End, Figures, Job, JobRequest, Stored};
use super::output_target::one_line_mask;
use super::parts_folder::{PartsPlan, StoredParts};
use super::preview::WRITES_NOTHING;
use super::reading_faults::{has_losses, note_whole_pages};
use super::recorded_request::RecordedRequest;
use super::standard_streams::STANDARD_OUTPUT;
use crate::output::cut_texts::Cutting;
use crate::output::passages::{repetition, write_passages};
use crate::output::passages_page::PagePassages;
pub use crate::output::{CutCounts, CutRules};
use crate::output::{StoredCopies, write_file};
use crate::pipeline::find_passages::{WordSettings, find_in_parts, store_words};
use crate::pipeline::timings::Timings;
use crate::pipeline::{FoundPassages, Origin};
use crate::write::columns::RowFormat;
use crate::write::output_folder::OutputFolder;
use crate::write::repetition_summary::RepetitionSummary;
use crate::write::summary::Setting;
use simtool_base::error::{Error, Result};
use simtool_base::fault::Fault;
use simtool_base::options::{Choice as _, Options};
use simtool_compute::resources::Resources;
use simtool_passages::{PassageSearch, Repeated};
use simtool_read::{Collection, Strict};
use simtool_terms::text_rules::TextRules;
use simtool_terms::tokenize::text_units::TextUnit;
use std::io::Write;
use std::path::PathBuf;

/// Default number of words of a passage.
const WORDS: usize = 50;

/// Default number of words of a unit, such as a sentence. Shorter units are often equal by chance.
const WORDS_OF_UNIT: usize = 8;

/// Default of [`CutRules::min_left`]: a document of which nothing is left is removed.
const MIN_LEFT: u64 = 1;

/// Documents whose repeated passages are sought, the kind of passages, and the output.
#[derive(Clone, Debug)]
pub struct PassagesRequest {
    /// Files and folders with the documents.
    pub paths: Vec<PathBuf>,
    /// Settings for reading documents.
    pub input: InputSettings,
    /// Unit of text that is repeated: any consecutive words, or whole units such as sentences.
    pub unit: TextUnit,
    /// Minimum number of words of a passage or unit.
    pub words: usize,
    /// Condition under which a passage counts as repeated, for example that at least two documents have it.
    pub rule: Repeated,
    /// Origin of a document, such as its host. All documents of one origin count as one document.
    pub origin: Origin,
    /// Whether the words of all passages that were found equal are compared, and whether copies with cuts are read
    /// again and checked.
    pub is_verified: bool,
    /// Rules that change texts before their words are compared.
    pub rules: TextRules,
    /// Format of the output.
    pub rows: RowFormat,
    /// Rules for cutting passages out of copies of the files. `None` writes no copies.
    pub cutting: Option<CutRules>,
    /// Memory and threads that the run may use.
    pub resources: Resources,
    /// The output, which is a folder if there are rules for cutting and otherwise a file, and the request as the user
    /// wrote it.
    pub job: JobRequest,
}

/// Result of [`passages`]: counts of the repeated passages and of their words.
#[derive(Debug)]
pub struct PassagesFound {
    /// Number of documents that were read.
    pub documents: u64,
    /// Number of words of all documents.
    pub words: u64,
    /// Number of repeated passages that were found. Each occurrence of a text counts.
    pub passages: u64,
    /// Number of words that are in repeated passages.
    pub repeated_words: u64,
    /// Number of words that would be removed if only the first copy of each passage stayed, as with
    /// [`Cut::First`](simtool_passages::Cut::First).
    pub later_words: u64,
    /// Number of passages that are whole documents.
    pub whole_documents: u64,
    /// How much of the collection is repeated, and the texts that are repeated most.
    pub repetition: RepetitionSummary,
    /// Numbers of documents and words that were cut. `None` if no copies were written.
    pub cut: Option<CutCounts>,
    /// Faults of the input: bad records, and damaged or unreadable files.
    pub faults: Vec<Fault>,
    /// Whether some records or files could not be read.
    pub has_losses: bool,
    /// Time that each stage took.
    pub timings: Timings,
}

impl PassagesRequest {
    /// Creates the request to find the repeated passages of the documents in `paths`. `options` may have the options of
    /// [`InputSettings`] and [`Resources`], and `ignore`, `unit`, `words`, `anywhere`, `min_documents`, `of`,
    /// `verify_words`, `write_kept`, `cut`, `mask`, `min_left`, `write_removed`, `output_format`, `output`, `force`, `resume` and
    /// `shard`.
    ///
    /// # Errors
    ///
    /// A value is outside its range, or an option is unknown.
    pub fn parse(paths: Vec<PathBuf>, mut options: Options) -> Result<Self> {
        let recorded = RecordedRequest {
            command: "passages".to_owned(),
            paths: paths.clone(),
            ..RecordedRequest::default()
        };
        let job = JobRequest::parse(recorded, STANDARD_OUTPUT, &mut options)?;
        // The default number of words depends on the unit, so the unit comes first.
        let unit = options.take_choice("unit")?.unwrap_or_default();
        let default_words = if unit == TextUnit::Words { WORDS } else { WORDS_OF_UNIT };
        let words = options.take_parsed("words", "must be a number of words")?;
        let (rule, origin) = condition(&mut options)?;
        let request = Self {
            paths,
            unit,
            words: words.unwrap_or(default_words),
            rule,
            origin,
            is_verified: options.take_flag("verify_words")?,
            rows: options.take_choice("output_format")?.unwrap_or(RowFormat::JsonLines),
            cutting: cut_rules(&mut options)?,
            rules: TextRules::parse_in_place(&mut options)?,
            input: InputSettings::parse(&mut options)?,
            resources: Resources::parse(&mut options)?,
            job,
        };
        options.refuse_rest("passages have no such option")?;
        request.job.refuse_unnamed(request.cutting.is_some())?;
        Ok(request)
    }

    /// Returns the request for a preview, which finds the same passages and writes neither a file nor copies.
    ///
    /// # Errors
    ///
    /// The request has an option that stores what the run reads.
    pub fn into_preview(mut self) -> Result<Self> {
        self.job.parts.refuse(WRITES_NOTHING)?;
        self.job.output = STANDARD_OUTPUT.into();
        // Copies are outputs, and a preview writes none.
        self.cutting = None;
        Ok(self)
    }

    fn word_settings(&self) -> WordSettings {
        WordSettings { unit: self.unit, origin: self.origin, rules: self.rules.clone() }
    }
}

/// Opens the store with the words of `collection` that earlier runs have read.
fn stored<'j, 'c>(job: &Job<'j>, collection: &'c Collection) -> Result<Stored<'j, 'c>> {
    job.stored(|| Ok(PartsPlan { collection, method: "words".to_owned(), depends_on_all: false }))
}

/// Reads the share of the input that the option `shard` of `request` names, and stores its words next to the output.
/// Writes no passages.
///
/// # Errors
///
/// The parts cannot be stored, or they belong to runs with other settings. A part of the input cannot be read and
/// `on_error` is `fail`, or the work is cancelled.
pub fn store_passage_shard(request: &PassagesRequest, face: &dyn Face) -> Result<StoredParts> {
    let job = Job::open(&request.job, &request.resources, face)?;
    let paths = request.input.with_listed(&request.paths)?;
    let input = job.input(&paths, &request.input, Vec::new())?;
    Input::refuse_idle(&[&input], &[])?;
    let stored = stored(&job, &input.collection)?;
    let strict = Strict(&input.collection);
    let corpus = input.corpus(&strict);
    stored.fill(request.job.share(), |parts, share| {
        store_words(corpus, request.word_settings(), parts, Some(share), &job.context)
    })
}

/// Takes the option `min_documents`, for example `2:host`, out of `options`. Returns the condition for repeated
/// passages and the origin, such as the host. Documents of one origin count as one document.
fn condition(options: &mut Options) -> Result<(Repeated, Origin)> {
    let Some(given) = options.take("min_documents") else {
        return Ok((Repeated::default(), Origin::default()));
    };
    let wrong = |rule: &str| Err(Error::config("min_documents", &given, rule));
    let (least, origin) = match given.split_once(':') {
        Some((least, origin)) => {
            (least, Origin::ALL.iter().copied().find(|known| known.name() == origin))
        }
        None => (&*given, Some(Origin::default())),
    };
    let Some(origin) = origin else {
        return wrong("must have document, file, folder or host behind its colon");
    };
    // With 1, a passage may be repeated within one document. Then no documents are counted, and origins have no
    // meaning.
    match least.parse() {
        Ok(1) if origin == Origin::default() => Ok((Repeated::Anywhere, origin)),
        Ok(1) => wrong("counts no documents, so an origin has no effect. Use 1, or 2:host"),
        Ok(least) if least > 1 => Ok((Repeated::Documents(least), origin)),
        _ => wrong("must be a number of documents, such as 2 or 2:host"),
    }
}

/// Takes the options for cutting. Returns `None` if no copies are wanted.
fn cut_rules(options: &mut Options) -> Result<Option<CutRules>> {
    if !options.take_flag("write_kept")? {
        let rule = "needs `write_kept`, which writes the copies to cut from";
        // An option without effect would surprise its user.
        for name in ["cut", "mask", "min_left", "write_removed"] {
            if let Some(value) = options.take(name) {
                return Err(Error::config(name, value, rule));
            }
        }
        return Ok(None);
    }
    let mask = options.take("mask").map(one_line_mask).transpose()?;
    let rule = "must be a number of words";
    let min_left = options.take_parsed("min_left", rule)?.unwrap_or(MIN_LEFT);
    let cut = options.take_choice("cut")?.unwrap_or_default();
    Ok(Some(CutRules { cut, mask, min_left, writes_removed: options.take_flag("write_removed")? }))
}

/// Finds the passages or units that occur more than once, and writes them in reading order. With
/// rules for cutting, also writes copies of the files without the passages.
///
/// If the output is `-`, the passages are written to `standard_output`.
///
/// # Errors
///
/// The output exists already, the input has no document or lacks a field that was named, the number of words is
/// wrong, or the output cannot be written. In all these cases, nothing is written.
pub fn passages(
    request: &PassagesRequest,
    standard_output: &mut (dyn Write + Send),
    face: &dyn Face,
) -> Result<PassagesFound> {
    request.job.refuse_share()?;
    let mut job = Job::open(&request.job, &request.resources, face)?;
    let search = PassageSearch::new(request.words, &job.context)?;
    let search = search.with_rule(request.rule).with_verification(request.is_verified);
    let paths = request.input.with_listed(&request.paths)?;
    let input = job.input(&paths, &request.input, Vec::new())?;
    Input::refuse_idle(&[&input], &[])?;
    let target = job.target(request.cutting.is_some(), &[&input], &paths, standard_output)?;
    let mut stored = stored(&job, &input.collection)?;
    job.timings.end("find files");

    let strict = Strict(&input.collection);
    let corpus = input.corpus(&strict);
    let mut found = find_in_parts(corpus, &search, request.word_settings(), stored.parts())?;
    job.timings.end("find passages");
    // Losses must be refused before anything is written.
    let faults = input.complete(&mut found.summary, face)?;
    Input::refuse_missing_ids(&[(&input, &found.summary)])?;
    note_whole_pages(std::iter::once(&found.summary), face);
    let all = &found.passages;
    let mut result = PassagesFound {
        documents: all.documents,
        words: all.words,
        passages: all.passages.len() as u64,
        repeated_words: all.covered_words(),
        later_words: all.later_words(),
        whole_documents: all.passages.iter().filter(|passage| passage.is_whole).count() as u64,
        repetition: repetition(&input.collection, &found, request.origin.name()),
        cut: None,
        has_losses: has_losses(std::iter::once(&found.summary)),
        faults,
        timings: job.timings.clone(),
    };
    stored.open_copies(request.cutting.is_some())?;
    let has_losses = result.has_losses;
    let write_rows =
        |out: &mut (dyn Write + Send)| write_passages(&input.collection, &found, request.rows, out);
    let copies = stored.copies();
    let mut write_folder = |folder: &OutputFolder| match &request.cutting {
        Some(rules) => {
            let run =
                CutRun { request, rules, collection: &input.collection, found: &found, copies };
            run.write(folder, &job, &mut result)
        }
        None => Ok(()),
    };
    let end = End { inputs: &[&input], has_losses };
    job.write(target, end, &write_rows, &mut write_folder)?;
    // Stored parts are only needed until all outputs are whole.
    if let Some(note) = stored.remove() {
        face.notice(Notice::Note(&note));
    }
    result.timings.end("write");
    Ok(result)
}

/// Passages to write to an output folder, and the rules for cutting them.
#[derive(Clone, Copy)]
struct CutRun<'r> {
    request: &'r PassagesRequest,
    rules: &'r CutRules,
    collection: &'r Collection,
    found: &'r FoundPassages,
    /// Store of finished copies. A run that was stopped has left them there.
    copies: Option<&'r StoredCopies>,
}

impl CutRun<'_> {
    /// Writes all files of the output folder: the passages, the copies without them, the page and the summary. Adds the
    /// counts of the cut documents to `result`.
    fn write(
        &self,
        folder: &OutputFolder,
        job: &Job<'_>,
        result: &mut PassagesFound,
    ) -> Result<()> {
        let Self { request, rules, collection, found, copies: stored } = *self;
        let format = request.rows;
        write_file(folder, &format!("passages.{}", format.extension()), |out| {
            write_passages(collection, found, format, out)
        })?;
        let is_checked = request.is_verified;
        let cutting = Cutting { files: collection, found, rules, is_checked, stored };
        result.cut = Some(cutting.write(folder, format, &job.context)?);
        result.timings.end("copy");
        let page = PagePassages {
            collection,
            found,
            repetition: &result.repetition,
            cut: result.cut.unwrap_or_default(),
        };
        let parameters = parameters(request, rules);
        let of_run = job.page_summary(&parameters, &result.timings);
        write_file(folder, "report.html", |out| page.write(out, of_run))?;
        let figures = Figures {
            parameters: &parameters,
            counts: &result.counts(),
            more: &|out| result.repetition.write_json(out),
        };
        job.write_summary(folder, figures, &result.timings)
    }
}

/// Returns the names and values of the settings of a run.
fn parameters(request: &PassagesRequest, rules: &CutRules) -> Vec<(&'static str, Setting)> {
    let least_documents = match (request.rule, request.origin) {
        (Repeated::Anywhere, _) => "1".to_owned(),
        (Repeated::Documents(least), Origin::Document) => least.to_string(),
        (Repeated::Documents(least), origin) => format!("{least}:{}", origin.name()),
    };
    let ignored = request.rules.parameters().map(|(name, value)| (name, Setting::Text(value)));
    let parameters = [
        ("paths", path_list(&request.paths)),
        ("unit", Setting::Text(request.unit.name().to_owned())),
        ("words", Setting::Count(request.words as u64)),
        ("min_documents", Setting::Text(least_documents)),
        ("verify_words", Setting::Flag(request.is_verified)),
        ("cut", Setting::Text(rules.cut.name().to_owned())),
        ("mask", Setting::text(rules.mask.as_deref())),
        ("min_left", Setting::Count(rules.min_left)),
        ("write_removed", Setting::Flag(rules.writes_removed)),
        ("text_field", Setting::Text(request.input.text_field().to_owned())),
        ("content", Setting::Text(request.input.content.name().to_owned())),
    ];
    parameters.into_iter().chain(ignored).collect()
}

impl PassagesFound {
    /// Returns the names and values of the counts in the summary.
    fn counts(&self) -> [(&'static str, u64); 11] {
        let CutCounts { cut, removed, uncut, words } = self.cut.unwrap_or_default();
        [
            ("documents", self.documents),
            ("words", self.words),
            ("passages", self.passages),
            ("repeated_words", self.repeated_words),
            ("later_words", self.later_words),
            ("whole_documents", self.whole_documents),
            ("cut_documents", cut),
            ("removed_documents", removed),
            ("uncut_documents", uncut),
            ("cut_words", words),
            ("faults", self.faults.len() as u64),
        ]
    }
}
