//! `contamination`: finds the items of an evaluation set that documents contain.

use super::dedup::path_list;
use super::face::{Face, Notice};
use super::input::Input;
use super::input_settings::InputSettings;
use super::job::{End, Figures, Job, JobRequest};
use super::output_target::one_line_mask;
use super::parts_folder::PartsPlan;
use super::reading_faults::{has_losses, note_whole_pages};
use super::recorded_request::RecordedRequest;
use super::standard_streams::{STANDARD_INPUT, STANDARD_OUTPUT};
use crate::output::contamination::write_contamination;
use crate::output::contamination_page::PageItems;
use crate::output::item_sources::item_sources;
use crate::output::kept_without_items::WithoutItems;
use crate::output::write_file;
pub use crate::output::{FreedDocuments, ItemRemoval};
use crate::pipeline::find_contamination::find_in_parts;
use crate::pipeline::timings::Timings;
use crate::pipeline::{FoundContamination, ItemInDocument};
use crate::write::columns::RowFormat;
use crate::write::item_source::ItemSource;
use crate::write::output_folder::OutputFolder;
use crate::write::summary::Setting;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::fault::Fault;
use simtool_base::options::{Choice as _, Options};
use simtool_base::stable_hash::wide_hash;
use simtool_compute::resources::Resources;
use simtool_contamination::{ContaminationSearch, Measure};
use simtool_model::similarity::Threshold;
use simtool_read::{Corpus, Strict, TextSplit};
use simtool_terms::text_rules::TextRules;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Default number of words of a shingle.
const WORDS: usize = 5;
/// Default text in place of the words of items.
const MASK: &str = "[...]";
/// Default minimum share of an item with the measure `weighted`. Words that a document shares with an item by chance
/// seldom have large weights, so a smaller share than with the other measures is enough.
const WEIGHTED_SHARE: &str = "0.6";

/// Items of an evaluation set, the documents in which they are sought, and the output.
#[derive(Clone, Debug)]
pub struct ContaminationRequest {
    /// Files and folders with the items.
    pub items: Vec<PathBuf>,
    /// Files and folders with the documents.
    pub paths: Vec<PathBuf>,
    /// Fields of the items that are joined by line feeds. If there are none, the field `text`.
    pub fields: Vec<String>,
    /// Settings for reading documents.
    pub input: InputSettings,
    /// Settings for reading items.
    pub item_input: InputSettings,
    /// Number of words of a shingle.
    pub words: usize,
    /// Measure by which it is computed which share of an item a document contains.
    pub measure: Measure,
    /// Minimum share of an item that a document must contain, from 0 to 1.
    pub share: Threshold,
    /// Rules by which texts are changed before their words are compared.
    pub rules: TextRules,
    /// Format of the rows with the found items, for example JSON Lines.
    pub rows: RowFormat,
    /// Way in which items are removed from copies of the documents' files. `None` writes no copies.
    pub removal: Option<ItemRemoval>,
    /// Whether the documents that contain an item are also written to separate files.
    pub writes_removed: bool,
    /// Text that replaces the words of items with [`ItemRemoval::Mask`].
    pub mask: String,
    /// Memory and threads that the run may use.
    pub resources: Resources,
    /// The output, which is a folder if copies are written and otherwise a file, and the request as the user wrote it.
    pub job: JobRequest,
}

/// Result of [`contamination`]: counts of the items that were found and of the documents that contain them.
#[derive(Debug)]
pub struct ContaminationFound {
    /// Number of items in the evaluation set.
    pub items: u64,
    /// Number of items that a document contains.
    pub found_items: u64,
    /// Number of items with fewer words than a shingle, which were matched as a whole.
    pub short_items: u64,
    /// Number of items without words, which are in no document.
    pub items_without_words: u64,
    /// Number of documents that were searched.
    pub documents: u64,
    /// Number of documents that contain an item.
    pub found_documents: u64,
    /// Counts of each file of items, in reading order.
    pub item_sources: Vec<ItemSource>,
    /// Numbers of documents from which items were removed. `None` if no copies were written.
    pub freed: Option<FreedDocuments>,
    /// Faults of the items and of the documents: bad records, and damaged or unreadable files.
    pub faults: Vec<Fault>,
    /// Whether some records or files could not be read.
    pub has_losses: bool,
    /// Time that each stage took.
    pub timings: Timings,
}

impl ContaminationRequest {
    /// Creates the request for `items` and for the documents in `paths`. `options` may have the options of
    /// [`InputSettings`] and [`Resources`], and `words`, `ignore`, `measure`, `share`, `fields`, `write_kept`, `mask`,
    /// `output_format`, `output`, `force` and `resume`.
    ///
    /// Items are read with the settings for documents, except for the format, the columns and the choice of
    /// documents. Each line of a plain-text file is an item unless `split` divides it otherwise.
    ///
    /// # Errors
    ///
    /// A value is outside its range, an option is unknown, or standard input is both items and documents.
    pub fn parse(items: Vec<PathBuf>, paths: Vec<PathBuf>, mut options: Options) -> Result<Self> {
        let recorded = RecordedRequest {
            command: "contamination".to_owned(),
            paths: paths.clone(),
            queries: items.clone(),
            ..RecordedRequest::default()
        };
        let job = JobRequest::parse(recorded, STANDARD_OUTPUT, &mut options)?;
        job.parts.refuse_share("is of other commands: use `resume`")?;
        let fields = item_fields(&mut options);
        let measure = options.take_choice("measure")?.unwrap_or_default();
        let share = options.take("share");
        let share = match (share.as_deref(), measure) {
            (Some(share), _) => Threshold::parse("share", share)?,
            (None, Measure::Weighted) => Threshold::parse("share", WEIGHTED_SHARE)?,
            (None, _) => Threshold::DEFAULT,
        };
        let input = InputSettings::parse(&mut options)?;
        let removal = options.take_choice("write_kept")?;
        let mask = options.take("mask");
        if let Some(mask) = mask.as_deref().filter(|_| removal != Some(ItemRemoval::Mask)) {
            return Err(Error::config("mask", mask, "goes with `write_kept` mask"));
        }
        let request = Self {
            items,
            paths,
            item_input: item_settings(&input, &fields),
            fields,
            input,
            words: options.take_parsed("words", "must be a number of words")?.unwrap_or(WORDS),
            measure,
            share,
            rows: options.take_choice("output_format")?.unwrap_or(RowFormat::JsonLines),
            removal,
            writes_removed: options.take_flag("write_removed")?,
            rules: TextRules::parse_in_place(&mut options)?,
            mask: mask.map_or_else(|| Ok(MASK.to_owned()), one_line_mask)?,
            resources: Resources::parse(&mut options)?,
            job,
        };
        options.refuse_rest("a search for contamination has no such option")?;
        request.refuse_second_standard_input()?;
        request.job.refuse_unnamed(request.removal.is_some())?;
        Ok(request)
    }

    /// Returns an error if standard input would be read twice, for example as items and as documents.
    fn refuse_second_standard_input(&self) -> Result<()> {
        let is_input = |path: &&PathBuf| *path == Path::new(STANDARD_INPUT);
        let paths = self.items.iter().chain(&self.paths).chain(&self.input.files_from);
        if paths.filter(is_input).count() > 1 {
            let rule = "standard input can be read once";
            return Err(Error::config("PATH", STANDARD_INPUT, rule));
        }
        Ok(())
    }
}

/// Takes the option `fields` out of `options`: the fields of items that are joined. Empty if the user named none.
pub(super) fn item_fields(options: &mut Options) -> Vec<String> {
    let fields = options.take("fields");
    fields.iter().flat_map(|list| list.split(',')).map(str::to_owned).collect()
}

/// Returns the settings for reading items, if `input` are the settings for documents.
pub(super) fn item_settings(input: &InputSettings, fields: &[String]) -> InputSettings {
    // Evaluation sets seldom have the format, the columns or the sizes of the documents.
    let usual = InputSettings::default();
    InputSettings {
        // A text file with all items as one text would be of no use.
        split: match input.split {
            TextSplit::File => TextSplit::Lines,
            split => split,
        },
        encoding: input.encoding,
        content: input.content,
        text_field: joined_fields(fields),
        text_setting: "fields",
        id_field: input.id_field.clone(),
        on_error: input.on_error,
        max_record: input.max_record,
        max_expansion: input.max_expansion,
        zstd_window_log: input.zstd_window_log,
        ..usual
    }
}

/// Returns one selector that joins the values of `fields`, for example `question?+answer?`. `None` if no field is
/// named.
fn joined_fields(fields: &[String]) -> Option<String> {
    match fields {
        [] => None,
        [field] => Some(field.clone()),
        // The `?` makes each field optional: an item without an answer can still be found by its question.
        fields => Some(format!("{}?", fields.join("?+"))),
    }
}

/// Wraps the face of a run, which receives its messages, for messages about items. They name the option `fields` in
/// place of `text_field`.
struct ItemFace<'f>(&'f dyn Face);

impl Face for ItemFace<'_> {
    fn spelled(&self, name: &str) -> Option<String> {
        self.0.spelled(if name == "text_field" { "fields" } else { name })
    }
}

/// Finds the items of an evaluation set that documents contain, wholly or in part, and writes them in the order of the
/// items.
///
/// If the output is `-`, they are written to `standard_output`.
///
/// # Errors
///
/// The output exists already, there is no item or no document, no item has one of the fields, the items do not fit
/// in memory, or the output cannot be written. In all these cases, no file is written.
pub fn contamination(
    request: &ContaminationRequest,
    standard_output: &mut (dyn Write + Send),
    face: &dyn Face,
) -> Result<ContaminationFound> {
    // Wrong settings are reported before any file is opened.
    let mut job = Job::open(&request.job, &request.resources, face)?;
    let search = ContaminationSearch::new(request.words, &job.context)?
        .with_measure(request.measure)
        .with_share(request.share);
    // The list of more paths can be a stream, so it is read once.
    let paths = request.input.with_listed(&request.paths)?;
    let items = &job.input(&request.items, &request.item_input, Vec::new())?;
    let documents = &job.input(&paths, &request.input, Vec::new())?;
    Input::refuse_idle(&[documents], &[])?;
    let inputs = [items, documents];
    // Neither items nor documents may be in the folder that is written.
    let all_paths = [&request.items[..], &paths].concat();
    let target = job.target(request.removal.is_some(), &inputs, &all_paths, standard_output)?;
    job.timings.end("find files");

    let [strict_items, strict] = inputs.map(|input| Strict(&input.collection));
    let mut stored = job.stored(|| parts_plan(request, items, documents))?;
    let corpora = (items.corpus(&strict_items), documents.corpus(&strict));
    let mut found = find_in_parts(corpora.0, corpora.1, &search, &request.rules, stored.parts())?;
    job.timings.end("find items");
    // Losses must be refused before the file is written.
    let mut faults = complete_items(request, items, &mut found, face)?;
    faults.extend(documents.complete(&mut found.documents, face)?);
    Input::refuse_missing_ids(&[(items, &found.items), (documents, &found.documents)])?;

    stored.open_copies(request.removal.is_some())?;
    let sources = item_sources(&items.collection, &found);
    let mut result = outcome(request, &found, faults, job.timings.clone());
    result.item_sources.clone_from(&sources);
    let end = End { inputs: &inputs, has_losses: result.has_losses };
    let collections: [&dyn Corpus; 2] = [&items.collection, &documents.collection];
    let format = request.rows;
    let write_rows =
        |out: &mut (dyn Write + Send)| write_contamination(collections, &found, format, out);
    let mut write_folder = |folder: &OutputFolder| {
        let Some(removal) = request.removal else { return Ok(()) };
        write_file(folder, &format!("contamination.{}", format.extension()), write_rows)?;
        let (files, mask) = (&documents.collection, &*request.mask);
        let freed = WithoutItems {
            files,
            found: &found,
            removal,
            mask,
            writes_removed: request.writes_removed,
            stored: stored.copies(),
        };
        result.freed = Some(freed.write(folder, format, &job.context)?);
        result.timings.end("copy");
        let page = PageItems {
            items: &items.collection,
            documents: files,
            found: &found,
            sources: &sources,
            found_documents: result.found_documents,
            freed: result.freed.unwrap_or_default(),
        };
        let texts = page.texts(&job.context)?;
        let parameters = parameters(request, removal);
        let of_run = job.page_summary(&parameters, &result.timings);
        write_file(folder, "report.html", |out| page.write(out, of_run, &texts))?;
        let figures = Figures {
            parameters: &parameters,
            counts: &result.counts(),
            more: &|out| ItemSource::write_json(&sources, out),
        };
        job.write_summary(folder, figures, &result.timings)
    };
    job.write(target, end, &write_rows, &mut write_folder)?;
    if let Some(note) = stored.remove() {
        face.notice(Notice::Note(&note));
    }
    note_whole_pages(std::iter::once(&found.documents), face);
    result.timings.end("write");
    Ok(result)
}

/// Returns the plan for storing which items were found in each document, so that a run after an interruption need not
/// search these documents again.
///
/// # Errors
///
/// The items are not in files.
fn parts_plan<'c>(
    request: &ContaminationRequest,
    items: &Input<'_>,
    documents: &'c Input<'_>,
) -> Result<PartsPlan<'c>> {
    // The stored rows are the items of each document, so other items need other rows.
    let items = &items.collection;
    let identities = (0..items.shard_count()).map(|shard| items.shard_identity(shard));
    let Some(identities) = identities.collect::<Option<Vec<_>>>() else {
        let rule = "needs items in files that can be read";
        return Err(Error::config("resume", true, rule));
    };
    Ok(PartsPlan {
        collection: &documents.collection,
        method: format!("items {:032x}", wide_hash(&identities.concat())),
        depends_on_all: request.measure.needs_counts(),
    })
}

/// Returns the names and values of the settings of a run that writes copies, for its summary.
fn parameters(
    request: &ContaminationRequest,
    removal: ItemRemoval,
) -> Vec<(&'static str, Setting)> {
    let mask = (removal == ItemRemoval::Mask).then_some(&*request.mask);
    let rules = request.rules.parameters().map(|(name, value)| (name, Setting::Text(value)));
    let parameters = [
        ("items", path_list(&request.items)),
        ("paths", path_list(&request.paths)),
        ("fields", Setting::List(request.fields.clone())),
        ("words", Setting::Count(request.words as u64)),
        ("measure", Setting::Text(request.measure.name().to_owned())),
        ("share", Setting::read(&request.share.to_string())),
        ("write_kept", Setting::Text(removal.name().to_owned())),
        ("write_removed", Setting::Flag(request.writes_removed)),
        ("mask", Setting::text(mask)),
        ("text_field", Setting::Text(request.input.text_field().to_owned())),
        ("content", Setting::Text(request.input.content.name().to_owned())),
    ];
    parameters.into_iter().chain(rules).collect()
}

impl ContaminationFound {
    /// Returns the names and values of the counts, for the summary.
    fn counts(&self) -> [(&'static str, u64); 10] {
        let freed = self.freed.unwrap_or_default();
        [
            ("items", self.items),
            ("found_items", self.found_items),
            ("short_items", self.short_items),
            ("items_without_words", self.items_without_words),
            ("documents", self.documents),
            ("found_documents", self.found_documents),
            ("dropped_documents", freed.dropped),
            ("cut_documents", freed.cut),
            ("uncut_documents", freed.uncut),
            ("faults", self.faults.len() as u64),
        ]
    }
}

/// Adds the faults that are only known after reading to the summary of the items in `found`. Returns all faults of the
/// items.
///
/// # Errors
///
/// There is no item, or no item has one of the fields.
fn complete_items(
    request: &ContaminationRequest,
    items: &Input<'_>,
    found: &mut FoundContamination,
    face: &dyn Face,
) -> Result<Vec<Fault>> {
    let completed = items.complete(&mut found.items, &ItemFace(face));
    // The setting for the text of items has another name than the setting for the text of documents.
    let faults = completed.map_err(|error| match error.kind() {
        ErrorKind::Config { field: "text_field", value, rule } => {
            Error::config("fields", value, rule.clone())
        }
        ErrorKind::NothingRead { reason } => {
            ErrorKind::NothingRead { reason: ItemFace(face).message(reason) }.into()
        }
        _ => error,
    })?;
    for field in &request.fields {
        Input::refuse_missing_field("fields", field, &[items])?;
    }
    Ok(faults)
}

/// Returns the result of a finished run, with the counts in `found`.
fn outcome(
    request: &ContaminationRequest,
    found: &FoundContamination,
    faults: Vec<Fault>,
    timings: Timings,
) -> ContaminationFound {
    let count = |is_meant: &dyn Fn(usize) -> bool| {
        found.item_words.iter().filter(|&&words| is_meant(words as usize)).count() as u64
    };
    // The rows of an item, or of a document, may be in any order.
    let distinct = |number: &dyn Fn(&ItemInDocument) -> u32| {
        let mut numbers: Vec<u32> = found.found.iter().map(number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len() as u64
    };
    ContaminationFound {
        items: found.items.ids.len() as u64,
        found_items: distinct(&|row| row.item),
        short_items: count(&|words| words > 0 && words < request.words),
        items_without_words: count(&|words| words == 0),
        documents: found.documents.ids.len() as u64,
        found_documents: distinct(&|row| row.document),
        item_sources: Vec::new(),
        freed: None,
        has_losses: has_losses([&found.items, &found.documents].into_iter()),
        faults,
        timings,
    }
}
