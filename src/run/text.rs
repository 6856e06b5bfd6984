//! `text`: writes the text of each document as the other commands compare it, as lines or as a page to look at.

use super::face::Face;
use super::input::Input;
use super::input_settings::InputSettings;
use super::output_target::{OutputPlace, OutputTarget};
use super::pages::boilerplate;
use super::reading_faults::has_losses;
use crate::output::TextFormat;
use crate::output::texts::{ComparedTexts, write_texts};
use crate::pipeline::Boilerplate;
use crate::pipeline::boilerplate::without_boilerplate;
use crate::pipeline::kept_documents::KeptDocuments;
use crate::pipeline::timings::Timings;
use crate::write::output_folder::Existing;
use simtool_base::error::Result;
use simtool_base::fault::Fault;
use simtool_base::options::Options;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_model::page_text::PageTextCounts;
use simtool_model::sides::Sides;
use simtool_read::{Corpus, Strict};
use simtool_terms::text_rules::TextRules;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Documents whose texts are written, and the output file.
#[derive(Clone, Debug)]
pub struct TextRequest {
    /// Files and folders with the documents.
    pub paths: Vec<PathBuf>,
    /// Settings for reading documents.
    pub input: InputSettings,
    /// Rule for lines that are left out. `None` takes the usual rule for the inputs.
    pub boilerplate: Option<Boilerplate>,
    /// Rules by which texts are changed before they are compared.
    pub rules: TextRules,
    /// Format of the output.
    pub format: TextFormat,
    /// Path of the output file; `-` is standard output.
    pub output: PathBuf,
    /// Whether an existing output file is replaced.
    pub existing: Existing,
    /// Memory and threads that the run may use.
    pub resources: Resources,
}

/// Result of [`text`]: numbers of documents and pages, and faults of the input. The texts are in the output.
#[derive(Debug)]
pub struct WrittenTexts {
    /// Number of documents.
    pub documents: u64,
    /// Numbers of HTML pages, one for each part of a page that can be compared, such as the main content.
    pub pages: PageTextCounts,
    /// Number of records that could not be read as documents.
    pub bad_records: u64,
    /// Faults of the input: bad records, and damaged or unreadable files.
    pub faults: Vec<Fault>,
    /// Whether some records or files could not be read.
    pub has_losses: bool,
    /// Time that each stage took.
    pub timings: Timings,
}

impl TextRequest {
    /// Creates the request to write the texts of the documents in `paths`. `options` may have the options of
    /// [`InputSettings`], [`Resources`] and [`TextRules`], and `boilerplate`, `output_format`, `output` and `force`.
    ///
    /// # Errors
    ///
    /// A value is outside its range, or an option is unknown.
    pub fn parse(paths: Vec<PathBuf>, mut options: Options) -> Result<Self> {
        let request = Self {
            paths,
            input: InputSettings::parse(&mut options)?,
            boilerplate: Boilerplate::parse(&mut options)?,
            rules: TextRules::parse(&mut options)?,
            format: options.take_choice("output_format")?.unwrap_or(TextFormat::JsonLines),
            output: options.take_path("output").unwrap_or_else(|| "-".into()),
            existing: Existing::by_force(options.take_flag("force")?),
            resources: Resources::parse(&mut options)?,
        };
        options.refuse_rest("text has no such option")?;
        Ok(request)
    }
}

/// Writes the text of each document of `request`, in reading order: as a line of JSON, or as an article of an HTML
/// page. If the output is `-`, writes to `standard_output`.
///
/// # Errors
///
/// The output is an input or already exists, the input has no document or lacks a field that was named, or the output
/// cannot be written.
pub fn text(
    request: &TextRequest,
    standard_output: &mut (dyn Write + Send),
    face: &dyn Face,
) -> Result<WrittenTexts> {
    let mut timings = Timings::start();
    let TextRequest { paths, input, output, resources, .. } = request;
    let input = Input::open_listed(paths, input, output, resources, face)?;
    let place = OutputPlace { path: &request.output, existing: request.existing, mark: None };
    let target = OutputTarget::file(place, &[&input], standard_output)?;
    Input::refuse_idle(&[&input], &[])?;
    timings.end("find files");

    let is_page = request.format == TextFormat::Html;
    let whole = is_page.then(|| input.collection.with_whole_texts());
    let strict = Strict(&input.collection);
    let corpus = input.corpus(&strict);
    let context = &Context::new(&request.resources, face.progress())?;
    face.progress().begin("read", Work::Bytes(corpus.bytes()));
    let done = Mutex::new(None);
    // Texts are written while they are read, so faults are known only after the last one.
    let write_rows = |path: &_, out: &mut (dyn Write + Send)| {
        // The texts are those of a deduplication without further options.
        let rule = boilerplate(request.boilerplate, corpus)?;
        let is_reread = rule.is_some_and(|rule| rule != Boilerplate::Nothing);
        let kept = KeptDocuments::of_each(Sides::One(corpus), is_reread, context);
        let corpora = kept.as_ref().map(|corpus| corpus as &dyn Corpus);
        without_boilerplate(corpora, rule, context, |corpora| {
            let threads = request.resources.threads;
            let compared = ComparedTexts {
                corpus: *corpora.first(),
                rules: &request.rules,
                whole: whole.as_ref(),
            };
            let mut read = write_texts(compared, threads, path, out)?;
            let faults = input.complete(&mut read, face)?;
            *done.lock().unwrap_or_else(PoisonError::into_inner) = Some((read, faults));
            Ok(())
        })
    };
    target.write(place, &write_rows, &mut |_| Ok(()), face)?;
    timings.end("write");
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (read, faults) = done.unwrap_or_default();
    Ok(WrittenTexts {
        documents: read.ids.len() as u64,
        pages: read.pages,
        bad_records: read.quarantined.len() as u64,
        has_losses: has_losses(std::iter::once(&read)),
        faults,
        timings,
    })
}
