//! `contamination`: finds the items of an evaluation set that documents contain.

use super::dedup::path_list;
use super::face::{Face, Notice};
use super::files::working_folder;
use super::input::{Input, Places};
use super::input_settings::InputSettings;
use super::output_target::{OutputPlace, OutputTarget, one_line_mask, refuse_stream_as_folder};
use super::parts_folder::{PartsFolder, PartsPlan, PartsRequest, end_parts, open_copies};
use super::reading_faults::{has_losses, note_whole_pages};
use super::recorded_request::RecordedRequest;
use super::standard_streams::{STANDARD_INPUT, STANDARD_OUTPUT, is_standard_output};
use crate::output::contamination::write_contamination;
use crate::output::kept_without_items::WithoutItems;
use crate::output::write_file;
pub use crate::output::{FreedDocuments, ItemRemoval};
use crate::pipeline::find_contamination::find_in_parts;
use crate::pipeline::parts::Parts;
use crate::pipeline::timings::Timings;
use crate::pipeline::{FoundContamination, ItemInDocument};
use crate::write::columns::RowFormat;
use crate::write::output_folder::{Existing, OutputFolder};
use crate::write::summary::{Setting, ShortSummary};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::fault::Fault;
use simtool_base::options::{Choice as _, Options};
use simtool_base::stable_hash::wide_hash;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_contamination::{ContaminationSearch, Measure};
use simtool_model::similarity::Threshold;
use simtool_read::{Corpus, Strict, TextSplit};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Default number of words of a shingle.
const WORDS: usize = 5;
/// Default text in place of the words of items.
const MASK: &str = "[...]";
/// Default share of the measure `weighted`. Words that were changed weigh about as much as others, but the rest of
/// an item seldom weighs much in a document that has it by chance.
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
    /// Measure of the share of an item.
    pub measure: Measure,
    /// Minimum share of an item that a document must have.
    pub share: Threshold,
    /// Format of the output.
    pub rows: RowFormat,
    /// Path of the output file, or of the output folder if copies are written; `-` is standard output.
    pub output: PathBuf,
    /// Way in which copies of the documents' files are freed from items. `None` writes no copies.
    pub removal: Option<ItemRemoval>,
    /// Text that replaces the words of items with [`ItemRemoval::Mask`].
    pub mask: String,
    /// The request as the user wrote it, which the output folder records.
    pub recorded: RecordedRequest,
    /// Whether an existing output is replaced.
    pub existing: Existing,
    /// Memory and threads that the run may use.
    pub resources: Resources,
    /// Whether the run stores what it reads for a later run.
    pub(super) parts: PartsRequest,
}

/// Result of a finished [`contamination`].
#[derive(Debug)]
pub struct ContaminationFound {
    /// Number of items.
    pub items: u64,
    /// Number of items that a document contains.
    pub found_items: u64,
    /// Number of items with fewer words than a shingle, which were matched as a whole.
    pub short_items: u64,
    /// Number of items without words, which are in no document.
    pub wordless_items: u64,
    /// Number of documents.
    pub documents: u64,
    /// Number of documents that contain an item.
    pub found_documents: u64,
    /// Numbers of documents that were freed from items. `None` if no copies were written.
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
    /// [`InputSettings`] and [`Resources`], and `words`, `measure`, `share`, `fields`, `write_kept`, `mask`,
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
            options: options.clone(),
            ..RecordedRequest::default()
        };
        let parts = PartsRequest::parse(&mut options)?;
        parts.refuse_share("is of other commands: use `resume`")?;
        let fields = options.take("fields");
        let fields: Vec<String> =
            fields.iter().flat_map(|list| list.split(',')).map(str::to_owned).collect();
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
            output: options.take_path("output").unwrap_or_else(|| STANDARD_OUTPUT.into()),
            removal,
            mask: mask.map_or_else(|| Ok(MASK.to_owned()), one_line_mask)?,
            recorded,
            existing: Existing::by_force(options.take_flag("force")?),
            resources: Resources::parse(&mut options)?,
            parts,
        };
        options.refuse_rest("a search for contamination has no such option")?;
        request.refuse_second_standard_input()?;
        if is_standard_output(&request.output) {
            request.parts.refuse("needs `output`, next to which it stores what it reads")?;
        }
        if request.removal.is_some() {
            refuse_stream_as_folder(&request.output)?;
        }
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

/// Returns the settings for reading items, if `input` are the settings for documents.
fn item_settings(input: &InputSettings, fields: &[String]) -> InputSettings {
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
        text_field: (!fields.is_empty()).then(|| fields.join("+")),
        text_setting: "fields",
        id_field: input.id_field.clone(),
        on_error: input.on_error,
        max_record: input.max_record,
        max_expansion: input.max_expansion,
        zstd_window_log: input.zstd_window_log,
        ..usual
    }
}

/// The face of a run, for messages about items.
struct ItemFace<'f>(&'f dyn Face);

impl Face for ItemFace<'_> {
    fn spelled(&self, name: &str) -> Option<String> {
        self.0.spelled(if name == "text_field" { "fields" } else { name })
    }
}

/// Finds the items of which documents contain a share, and writes them in the order of the items.
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
    let mut timings = Timings::start();
    // Wrong settings are reported before any file is opened.
    let context = &Context::new(&request.resources, face.progress())?;
    let search = ContaminationSearch::new(request.words, context)?
        .with_measure(request.measure)
        .with_share(request.share);
    // The list of more paths can be a stream, so it is read once.
    let paths = request.input.with_listed(&request.paths)?;
    let [items, documents] = &open_inputs(request, &paths, face)?;
    let place = OutputPlace { path: &request.output, existing: request.existing, mark: None };
    let files = [&items.collection, &documents.collection];
    request.parts.refuse_finished(&request.output, &files)?;
    let target = open_target(request, [items, documents], &paths, standard_output, face)?;
    timings.end("find files");

    let [strict_items, strict] = [items, documents].map(|input| Strict(&input.collection));
    let folder = request.parts.open(&request.output, &request.paths, &request.recorded, face)?;
    let parts = open_parts(request, folder.as_ref(), [items, documents], context, face)?;
    let found = find_in_parts(
        items.corpus(&strict_items),
        documents.corpus(&strict),
        &search,
        parts.as_ref(),
    );
    let mut found = found?;
    timings.end("find items");
    // Losses must be refused before the file is written.
    let mut faults = complete_items(request, items, &mut found, face)?;
    faults.extend(documents.complete(&mut found.documents, face)?);
    Input::refuse_missing_ids(&[(items, &found.items), (documents, &found.documents)])?;

    let collections: [&dyn Corpus; 2] = [&items.collection, &documents.collection];
    let write = |path: &Path, out: &mut (dyn Write + Send)| {
        let mut out = BufWriter::with_capacity(1 << 20, out);
        let written = write_contamination(collections, &found, request.rows, &mut out);
        written.map_err(|error| Error::io(path, "write", error))
    };
    let copies = open_copies(folder.as_ref(), parts.as_ref(), request.removal.is_some())?;
    let mut result = outcome(request, &found, faults, timings);
    let mark = request.parts.mark(&request.output, &files, result.has_losses);
    let place = OutputPlace { mark: mark.as_ref(), ..place };
    let mut write_folder = |folder: &OutputFolder| {
        let Some(removal) = request.removal else { return Ok(()) };
        let format = request.rows;
        write_file(folder, &format!("contamination.{}", format.extension()), |out| {
            write_contamination(collections, &found, format, out)
        })?;
        let files = &documents.collection;
        let (mask, stored) = (&*request.mask, copies.as_ref());
        let freed = WithoutItems { files, found: &found, removal, mask, stored };
        result.freed = Some(freed.write(folder, format, context)?);
        result.timings.end("copy");
        // The summary has the times of all stages, so it comes last.
        request.recorded.write(folder)?;
        let files = folder.written_files()?;
        write_file(folder, "summary.json", |out| {
            write_summary(request, removal, &result, &files, out)
        })
    };
    target.write(place, &write, &mut write_folder, face)?;
    end_parts(folder.as_ref(), parts.as_ref(), copies, face);
    note_whole_pages(std::iter::once(&found.documents), face);
    result.timings.end("write");
    Ok(result)
}

/// Opens the output. An output that cannot be written must end the run before the long search.
fn open_target<'t>(
    request: &ContaminationRequest,
    inputs: [&Input<'_>; 2],
    paths: &[PathBuf],
    standard_output: &'t mut (dyn Write + Send),
    face: &dyn Face,
) -> Result<OutputTarget<'t>> {
    let place = OutputPlace { path: &request.output, existing: request.existing, mark: None };
    // Without copies, the output is one file.
    if request.removal.is_none() {
        return OutputTarget::file(place, &inputs, standard_output);
    }
    let paths = [&request.items[..], paths].concat();
    OutputTarget::folder(place, &paths, face)
}

/// Opens the stored parts of the documents in `folder`. Returns `None` if the run stores nothing.
fn open_parts<'c>(
    request: &ContaminationRequest,
    folder: Option<&PartsFolder<'_>>,
    [items, documents]: [&'c Input<'_>; 2],
    context: &Context<'_>,
    face: &dyn Face,
) -> Result<Option<Parts<'c>>> {
    let Some(folder) = folder else { return Ok(None) };
    // The stored rows are the items of each document, so other items need other rows.
    let items = &items.collection;
    let identities = (0..items.shard_count()).map(|shard| items.shard_identity(shard));
    let Some(identities) = identities.collect::<Option<Vec<_>>>() else {
        let rule = "needs items in files that can be read";
        return Err(Error::config("resume", true, rule));
    };
    let plan = PartsPlan {
        collection: &documents.collection,
        method: format!("items {:032x}", wide_hash(&identities.concat())),
        depends_on_all: request.measure.needs_counts(),
    };
    folder.parts(&plan, context.memory(), face).map(Some)
}

/// Writes the settings, counts and times of a run as a JSON object.
fn write_summary(
    request: &ContaminationRequest,
    removal: ItemRemoval,
    result: &ContaminationFound,
    files: &[PathBuf],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mask = (removal == ItemRemoval::Mask).then_some(&*request.mask);
    let parameters = [
        ("items", path_list(&request.items)),
        ("paths", path_list(&request.paths)),
        ("fields", Setting::List(request.fields.clone())),
        ("words", Setting::Count(request.words as u64)),
        ("measure", Setting::Text(request.measure.name().to_owned())),
        ("share", Setting::read(&request.share.to_string())),
        ("write_kept", Setting::Text(removal.name().to_owned())),
        ("mask", Setting::text(mask)),
        ("text_field", Setting::Text(request.input.text_field().to_owned())),
        ("content", Setting::Text(request.input.content.name().to_owned())),
    ];
    let freed = result.freed.unwrap_or_default();
    let counts = [
        ("items", result.items),
        ("found_items", result.found_items),
        ("short_items", result.short_items),
        ("wordless_items", result.wordless_items),
        ("documents", result.documents),
        ("found_documents", result.found_documents),
        ("dropped_documents", freed.dropped),
        ("cut_documents", freed.cut),
        ("uncut_documents", freed.uncut),
        ("faults", result.faults.len() as u64),
    ];
    let folder = working_folder();
    let summary = ShortSummary {
        command: &request.recorded.command_line,
        output: &request.output,
        working_folder: folder.as_deref(),
        parameters: &parameters,
        counts: &counts,
        written_files: Some(files),
        more: &|_| Ok(()),
        stages: result.timings.stages(),
    };
    summary.write(out)
}

/// Opens the items, and the documents in `paths`.
fn open_inputs<'r>(
    request: &'r ContaminationRequest,
    paths: &[PathBuf],
    face: &dyn Face,
) -> Result<[Input<'r>; 2]> {
    let places = Places { output: &request.output, temporary: &request.resources.temporary_folder };
    let open = |paths: &[PathBuf], settings: &'r InputSettings| {
        Input::open(
            paths,
            settings,
            settings.read_options(face.access(), &request.resources),
            places,
            face,
        )
    };
    let items = open(&request.items, &request.item_input)?;
    let documents = open(paths, &request.input)?;
    Input::refuse_idle(&[&documents], &[])?;
    note_alternatives(&documents, face);
    Ok([items, documents])
}

/// Shows a note if `text_field` chooses one of several fields that the documents have. A comma joins the fields of
/// items, so users may expect that it joins the fields of documents, too.
fn note_alternatives(documents: &Input<'_>, face: &dyn Face) {
    let rivals = documents.collection.rival_fields(documents.collection.text_field());
    if let [first, .., last] = &rivals[..] {
        face.notice(Notice::Note(&face.message(&format!(
            "`text_field` reads the first of its fields that a document has: {first}, not {last}. A comma joins \
             fields only in `fields`. To join the fields of the documents, name them with a plus sign: {}",
            rivals.join("+")
        ))));
    }
}

/// Completes the summary of reading the items, and returns their faults.
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

/// Returns the counts of a finished run.
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
        wordless_items: count(&|words| words == 0),
        documents: found.documents.ids.len() as u64,
        found_documents: distinct(&|row| row.document),
        freed: None,
        has_losses: has_losses([&found.items, &found.documents].into_iter()),
        faults,
        timings,
    }
}
