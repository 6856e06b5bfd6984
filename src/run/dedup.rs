//! `dedup` and `match`: finds near-duplicates within a collection or between two.

use super::dedup_request::Request;
use super::face::{Face, Notice};
use super::files::{refuse_overlap, working_folder};
use super::input::Input;
use super::input_settings::InputSettings;
use super::job::{End, Job};
use super::pages::{adapted, note_of_pages};
use super::parts_folder::PartsPlan;
use super::reading_faults::has_losses;
use super::receipt::{hash_inputs, write_receipt};
use crate::estimate::{Care, estimate};
use crate::output::{Findings, SourceCounts, write_outputs, write_summaries};
use crate::pipeline::excerpts::{Excerpts, WithExcerpts};
use crate::pipeline::near_duplicates::find_in_context;
use crate::pipeline::scope::Relation;
use crate::pipeline::timings::Count;
use crate::pipeline::{Decided, NearDuplicates, Plan, RepeatedWords, Task, repeated_words};
use crate::suggest::suggest;
use crate::write::output_folder::OutputFolder;
use crate::write::report::Report;
use crate::write::summary::{Commands, Setting, Summary};
use simtool_base::byte_text::path_text;
use simtool_base::error::Result;
use simtool_base::fault::Fault;
use simtool_base::options::Choice;
use simtool_base::percentage::Percentage;
use simtool_base::progress::Work;
use simtool_base::quantity::counted;
use simtool_base::shell_word::{shell_argument, shell_word};
use simtool_base::utc_time::UtcTime;
use simtool_compute::context::Context;
use simtool_compute::resources::peak_memory;
use simtool_model::sides::Sides;
use simtool_passages::PassageSearch;
use simtool_read::remote::{is_address, without_credentials};
use simtool_read::{Collection, Corpus, Format, PageContent, Strict};
use std::fmt::Write;
use std::io;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

/// Share of removed documents of a source above which the user sees a note. The source may have pages of one template,
/// or a language that the method does not suit.
const EMPTIED: Percentage = Percentage::whole(90);

/// Result of a finished run, from which callers make their table, messages and exit code.
#[derive(Debug)]
pub struct Outcome {
    /// Counts, settings and times, which are also in the output folder.
    pub summary: Summary,
    /// Faults of the input: bad records, and damaged or unreadable files.
    pub faults: Vec<Fault>,
    /// Whether some records or files could not be read.
    pub has_losses: bool,
    /// Notes about the result for the user, one sentence each.
    pub notes: Vec<String>,
    /// Counts that stages reported, for example numbers of pairs.
    pub counts: Vec<Count>,
}

/// Finds the near-duplicates that `request` asks for, and writes the results to its output folder.
///
/// # Errors
///
/// Settings contradict each other, or the output folder cannot be written. It is also an error if the input
/// has no document, lacks a field that was named, or has a loss although `on_error` is `fail`. The work can
/// also be cancelled. In all these cases, nothing is written.
pub fn dedup(request: &Request, face: &dyn Face) -> Result<Outcome> {
    let begin = UtcTime::from(SystemTime::now());
    // The results are a folder, so nothing goes to a stream.
    let mut sink = io::sink();
    // Wrong settings are reported before any file is opened.
    let plan = request.plan(request.method(face)?)?;
    let job = Job::open(&request.job, &request.config.resources, face)?;
    let inputs = open_inputs(request, &job)?;
    let strict = inputs.as_ref().map(|input| Strict(&input.collection));
    let corpora = corpora(&inputs, &strict);
    let chosen = choose(request, plan, corpora, face)?;
    announce(&chosen, corpora, face);

    request.job.refuse_share()?;
    let files: Vec<&Input<'_>> = inputs.iter().collect();
    let target = job.target(true, &files, &[], &mut sink)?;
    let context = &job.context.with_turns(inputs.first().collection.turns());
    let excerpts = excerpts(request, corpora, context);
    let stored = job.stored(|| Ok(parts_plan(&inputs.first().collection, &chosen.plan)))?;
    let mut stored = stored.with_excerpts(excerpts.as_ref().map(Sides::first));
    let watched = excerpts.as_ref().map(|excerpts| {
        let pairs = corpora.zip(excerpts.as_ref());
        pairs.map(|(corpus, excerpts)| WithExcerpts { corpus, excerpts })
    });
    let read = watched.as_ref().map(|views| views.as_ref().map(|view| view as &dyn Corpus));
    let read = read.unwrap_or(corpora);
    let mut found = find_in_context(read, &chosen.plan, stored.parts(), context)?;
    // Files that change while they are hashed are faults, which the next step finds.
    let hashes = request.has_receipt.then(|| hash_inputs(&inputs, context)).transpose()?;
    if hashes.is_some() {
        found.timings.end("hash inputs");
    }
    // Losses are refused before anything is written.
    let faults = complete(request, &inputs, &mut found, face)?;
    stored.open_copies(request.outputs.kept)?;
    let repeated = count_repeated(request, &chosen.plan, *corpora.first(), &mut found, context)?;
    let mut summary = begin_summary(request, &chosen, &found, begin);
    request.describe_inputs(&inputs, &found.read, &mut summary);
    let findings = Findings::new(&found, corpora, &chosen.plan)
        .with_excerpts(excerpts.as_ref())
        .with_repeated_words(repeated.as_deref())
        .with_stored_copies(stored.copies());
    let sources = SourceCounts::new(&findings);
    // Nothing has been written yet.
    request.fail_if.check(&sources)?;
    summary.emptied_sources = sources.count_above(EMPTIED);
    let has_losses = has_losses(found.read.iter()) || request.has_unread_dates(found.read.first());
    let end = End { inputs: &files, has_losses };
    job.write(target, end, &|_| Ok(()), &mut |folder| {
        let outputs = &request.outputs;
        let page = write_outputs(&findings, &sources, outputs, folder, &mut summary, context)?;
        request.job.recorded.write(folder)?;
        if let Some(hashes) = &hashes {
            let begun = Instant::now();
            let recorded = &request.job.recorded;
            write_receipt(folder, hashes.clone(), recorded, &chosen.plan, &summary, context)?;
            summary.add_time("hash outputs", begun.elapsed());
        }
        write_end(folder, &mut summary, &page, face)
    })?;
    let mut notes = notes(request, &chosen.plan, &inputs, &found, &summary);
    notes.extend(sources.described_above(EMPTIED));
    notes.extend(stored.remove());
    Ok(Outcome {
        faults,
        has_losses: end.has_losses,
        notes,
        counts: found.timings.counts().to_vec(),
        summary,
    })
}

/// Counts the repeated words of each document, which are words in passages that occur more than once. Reads the
/// collection again. Returns `None` if the request does not ask for the share of repeated words.
fn count_repeated(
    request: &Request,
    plan: &Plan,
    corpus: &dyn Corpus,
    found: &mut NearDuplicates,
    context: &Context<'_>,
) -> Result<Option<Vec<RepeatedWords>>> {
    let annotation = request.outputs.annotation.as_ref();
    let Some(words) = annotation.and_then(|parts| parts.repeated_share) else { return Ok(None) };
    let rules = plan.method().compared().rules();
    let repeated = repeated_words(corpus, &PassageSearch::new(words, context)?, rules)?;
    found.timings.end("find passages");
    Ok(Some(repeated))
}

/// Prepares short excerpts of the texts for the page `report.html`. Returns `None` if the request also copies the input
/// files.
pub(super) fn excerpts(
    request: &Request,
    corpora: Sides<&dyn Corpus>,
    context: &Context<'_>,
) -> Option<Sides<Excerpts>> {
    // Copying reads all texts again, and then the page needs no excerpts.
    (!request.outputs.kept).then(|| Excerpts::of_collections(&corpora, context.memory()))
}

/// Returns the plan for storing the terms or fingerprints of `collection`, so that a later run need not compute them
/// again.
pub(super) fn parts_plan<'c>(collection: &'c Collection, plan: &Plan) -> PartsPlan<'c> {
    // With `method` auto, the options do not name the method that was chosen.
    let method = plan.method();
    PartsPlan {
        collection,
        method: format!("{method} {} {}", method.recipe(), method.compared()),
        depends_on_all: depends_on_all(plan),
    }
}

/// Returns whether the terms or the fingerprint of a document depend on other documents.
pub(super) fn depends_on_all(plan: &Plan) -> bool {
    let method = plan.method();
    let is_learned = [method.recipe().terms(), method.compared()].iter().any(|t| t.is_learned());
    is_learned || plan.boilerplate().is_some()
}

/// Opens the files of the corpus and, for a match, also those of the queries. Returns an error if a setting for
/// reading, such as `text_field`, has no effect on any of the files.
pub(super) fn open_inputs<'r>(request: &'r Request, job: &Job<'_>) -> Result<Sides<Input<'r>>> {
    let paths = request.input.with_listed(&request.paths.corpus)?;
    let corpus = open_side(request, &request.corpus_input, &paths, job)?;
    let inputs = match request.task() {
        Task::Deduplicate => Sides::One(corpus),
        Task::Match => {
            Sides::Two(open_side(request, &request.input, &request.paths.queries, job)?, corpus)
        }
    };
    // A setting may affect only one of two collections, so both are checked together.
    let all: Vec<&Input<'_>> = inputs.iter().collect();
    Input::refuse_idle(&all, &request.named_fields())?;
    Ok(inputs)
}

/// Opens the files of one collection, in `paths`. `settings` say how the files are read.
fn open_side<'r>(
    request: &'r Request,
    settings: &'r InputSettings,
    paths: &[PathBuf],
    job: &Job<'_>,
) -> Result<Input<'r>> {
    refuse_overlap(&request.job.output, paths)?;
    job.input(paths, settings, request.field_selectors())
}

/// Returns the collections to compare, which `inputs` has. If `on_error` is `fail`, returns those of `strict` instead,
/// in which reading ends at the first record or file that cannot be read.
pub(super) fn corpora<'c>(
    inputs: &'c Sides<Input<'_>>,
    strict: &'c Sides<Strict<'c>>,
) -> Sides<&'c dyn Corpus> {
    inputs.as_ref().zip(strict.as_ref()).map(|(input, strict)| input.corpus(strict))
}

/// Plan of the run, and the reasons for its method if it was chosen from a sample.
pub(super) struct ChosenPlan {
    pub(super) plan: Plan,
    /// One sentence for each setting of the method that was chosen. Empty if the user named the method.
    pub(super) reasons: Vec<String>,
    /// Sentences with sampled pairs just above and just below the chosen threshold.
    pub(super) examples: Vec<String>,
    /// Whether the method was chosen from a sample that had documents.
    is_by_documents: bool,
}

/// Chooses the method from a sample of the documents if the request leaves the method open.
pub(super) fn choose(
    request: &Request,
    plan: Plan,
    corpora: Sides<&dyn Corpus>,
    face: &dyn Face,
) -> Result<ChosenPlan> {
    // If the user named a method, no sample is needed.
    let Some(given) = request.chosen_by_sample() else {
        let plan = adapted(plan, request.is_default_similarity(), corpora)?;
        let (reasons, examples) = (Vec::new(), Vec::new());
        return Ok(ChosenPlan { plan, reasons, examples, is_by_documents: false });
    };
    let suggestion = suggest(corpora, given, plan.resources(), face.progress())?;
    let reasons = suggestion.reasons.iter().map(|reason| face.message(reason)).collect();
    let is_by_documents = suggestion.profile.sampled > 0;
    let examples = suggestion.pairs.sentences();
    let plan = adapted(request.plan(suggestion.method)?, false, corpora)?;
    Ok(ChosenPlan { plan, reasons, examples, is_by_documents })
}

/// Sends notices about the plan to `face`. If the method was chosen from a sample, this is the method with the reasons.
/// If the user of `face` sees notes, it is also the plan with its estimated costs.
pub(super) fn announce(chosen: &ChosenPlan, corpora: Sides<&dyn Corpus>, face: &dyn Face) {
    let ChosenPlan { plan, reasons, examples, is_by_documents } = chosen;
    if *is_by_documents {
        face.notice(Notice::Chosen(plan.method(), reasons));
        for example in examples {
            face.notice(Notice::Note(example));
        }
    }
    if !face.reads_notes() {
        return;
    }
    // The estimate reads a sample, so it is not made if nobody sees it.
    let estimate = estimate(corpora, plan, Care::Quick);
    if let Some(warning) = &estimate.warning {
        face.notice(Notice::Warning(warning));
    }
    face.notice(Notice::Explanation(&plan.to_string()));
    face.notice(Notice::Note(&estimate.to_string()));
}

/// Adds the faults that are only known after reading to the summary of each collection in `found`, and returns all
/// faults. Returns an error if a record or file could not be read although `on_error` is `fail`. It is also an error if
/// there is no document, or if no record has a field that was named.
pub(super) fn complete(
    request: &Request,
    inputs: &Sides<Input<'_>>,
    found: &mut NearDuplicates,
    face: &dyn Face,
) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for (input, read) in inputs.iter().zip(found.read.iter_mut()) {
        faults.extend(input.complete(read, face)?);
    }
    let read: Vec<_> = inputs.iter().zip(found.read.iter()).collect();
    Input::refuse_missing_ids(&read)?;
    request.refuse_missing_fields(inputs, &found.read)?;
    Ok(faults)
}

/// Creates the summary, with everything that is known before outputs are written.
pub(super) fn begin_summary(
    request: &Request,
    chosen: &ChosenPlan,
    found: &NearDuplicates,
    begin: UtcTime,
) -> Summary {
    let method = chosen.plan.method();
    Summary {
        command: request.job.recorded.command_line.clone(),
        output: path_text(&request.job.output).into_owned(),
        working_folder: working_folder(),
        // The commands read the results from this machine.
        commands: (!is_address(&request.job.output)).then(|| commands(request, &chosen.plan)),
        begin: Some(begin),
        parameters: parameters(request, &chosen.plan, &chosen.reasons),
        recipe: method.recipe().to_string(),
        distance_means: method.distance_means(),
        found_share: method.found_share(),
        stages: found.timings.stages().to_vec(),
        ..Summary::default()
    }
}

/// Writes the summary and the page, which are the last files of the output folder.
fn write_end(
    folder: &OutputFolder,
    summary: &mut Summary,
    page: &Report,
    face: &dyn Face,
) -> Result<()> {
    face.progress().begin("syncing", Work::Steps(0));
    let begun = Instant::now();
    folder.sync()?;
    summary.add_time("write", begun.elapsed());
    summary.end = Some(UtcTime::from(SystemTime::now()));
    summary.peak_memory = peak_memory();
    // The summary and the page show the times of all stages, so they come last. Writing them takes almost no
    // time.
    write_summaries(folder, summary, page)
}

/// Returns notes about the result for the user, for example about a rule that decided nothing because its field is
/// empty.
pub(super) fn notes(
    request: &Request,
    plan: &Plan,
    inputs: &Sides<Input<'_>>,
    found: &NearDuplicates,
    summary: &Summary,
) -> Vec<String> {
    let mut notes = Vec::new();
    if request.outputs.only_ids && summary.ambiguous_ids > 0 {
        let count = counted(summary.ambiguous_ids, "removed document");
        notes.push(format!(
            "the IDs of {count} belong to kept documents, too, so the list also has file and record"
        ));
    }
    notes.extend(request.notes_about_fields(inputs, &found.read));
    notes.extend(note_of_pages(request, plan));
    notes.extend(plan.method().recall_means());
    // Lost words would be counted if the texts were cheap to read again.
    if found.losses.is_none() && summary.removed > 0 && plan.counts_lost_words(true) {
        notes.push(
            "the words that removals lose are not counted, because these files take long to read again; the setting annotate \
             counts them"
                .to_owned(),
        );
    }
    notes.extend(found.decided.iter().flat_map(Decided::notes));
    notes
}

/// Returns the commands `simtool why` and `simtool compare` with the options of this run. Users append the
/// names of documents to examine the results.
fn commands(request: &Request, plan: &Plan) -> Commands {
    // A shingle that was chosen from a sample is not among the user's settings, so it comes from the plan.
    let chosen = plan.method().compared().to_string();
    let shingle = match request.chosen_by_sample() {
        Some(_) => Some(chosen.as_str()),
        None => request.term("shingle"),
    };
    let input = &request.input;
    let text_field = input.text_field.as_deref().filter(|field| *field != "text");
    let content = Some(input.content).filter(|content| *content != PageContent::default());
    // Settings with their default values are left out, which keeps the command short.
    let reading = [
        ("format", input.format.map(Format::name)),
        ("text-field", text_field),
        ("content", content.map(PageContent::name)),
    ];
    // If the fields of both collections differ, documents are named as documents of the run, which reads
    // each of them with its own fields. These names refuse settings for reading.
    let has_two_texts = request.corpus_input.text_field != input.text_field;
    let parameters = plan.method().parameters();
    let rule = |wanted| {
        let found = parameters.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| value.as_str())
    };
    let given = [
        ("shingle", shingle.filter(|shingle| *shingle != "words:3")),
        ("stop-words", request.term("stop_words")),
        ("ignore", rule("ignore")),
        ("fold", rule("fold")),
    ];
    let mut compare = "simtool compare".to_owned();
    for (option, value) in reading.into_iter().filter(|_| !has_two_texts).chain(given) {
        if let Some(value) = value {
            // Writing to a string cannot fail.
            let value =
                if value.is_empty() { String::new() } else { format!(" {}", shell_word(value)) };
            let _ = write!(compare, " --{option}{value}");
        }
    }
    let output = path_text(&request.job.output);
    Commands {
        why: format!("simtool why {}", shell_argument(request.job.output.as_os_str())),
        compare,
        compared_in: if has_two_texts { format!("{output}#") } else { String::new() },
    }
}

/// Returns the names and values of the settings that affected the result, for the summary.
fn parameters(request: &Request, plan: &Plan, reasons: &[String]) -> Vec<(&'static str, Setting)> {
    let method = plan.method();
    let mut parameters = vec![("method", Setting::Text(method.name().to_owned()))];
    // Settings of the method are text, but the summary writes numbers and flags as such.
    let of_method = method.parameters();
    parameters.extend(of_method.into_iter().map(|(name, value)| (name, Setting::read(&value))));
    if !reasons.is_empty() {
        parameters.push(("chosen_because", Setting::List(reasons.to_vec())));
    }
    let input = &request.input;
    let against = |field: fn(&InputSettings) -> &str| {
        let field = (field(&request.corpus_input), field(input));
        Setting::text(Some(field.0).filter(|of_corpus| *of_corpus != field.1))
    };
    let (fields, outputs) = (&request.config.fields, &request.outputs);
    let scope_by = |relation| {
        let scope = plan.scope().filter(|scope| scope.relation == relation);
        Setting::text(scope.map(|scope| scope.value.written(fields)))
    };
    parameters.extend([
        ("keep", Setting::Text(plan.keep().written(fields))),
        ("prefer", Setting::text(plan.keep().written_values(fields))),
        ("keep_count", Setting::Count(plan.keep_count().0.get() as u64)),
        ("lose", Setting::text(plan.lose().map(|most| most.to_string()))),
        ("decisions", Setting::text(plan.decisions_path())),
        ("within", scope_by(Relation::Within)),
        ("across", scope_by(Relation::Across)),
        ("by", Setting::text(plan.source().map(|source| source.written(fields)))),
        ("fail_if", Setting::text(request.fail_if.written())),
        ("cluster", Setting::Text(plan.clusters().name().to_owned())),
        ("annotate", Setting::text(outputs.annotation.as_ref().map(ToString::to_string))),
        ("pairs", Setting::Flag(outputs.pairs)),
        ("output_format", Setting::Text(outputs.format_name().to_owned())),
        ("write_kept", Setting::Text(outputs.kept_name().to_owned())),
        ("write_removed", Setting::Flag(outputs.removed)),
        ("boilerplate", Setting::text(plan.boilerplate().map(|rule| rule.to_string()))),
        ("corpus", path_list(&request.paths.corpus)),
        ("queries", path_list(&request.paths.queries)),
        ("against_text_field", against(InputSettings::text_field)),
        ("against_id_field", against(InputSettings::id_field)),
    ]);
    parameters.extend(input.parameters());
    parameters
}

pub(super) fn path_list(paths: &[PathBuf]) -> Setting {
    let shown = paths.iter().map(|path| path_text(&without_credentials(path)).into_owned());
    Setting::List(shown.collect())
}
