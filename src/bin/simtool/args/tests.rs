//! Tests that the rows of the settings and the parsers of the commands agree.

use crate::generated_collection::GeneratedCollection;
use crate::plan::PlannedIndex;
use simtool::method::Method;
use simtool::options::Options;
use simtool::run::{
    self, AddRequest, AuditRequest, CompareRequest, ContaminationRequest, EvalRequest,
    ExportRequest, FilterRequest, FingerprintRequest, JoinRequest, OpenRequest, PassagesRequest,
    Paths, QueryRequest, RecordedRequest, ReferenceRequest, RemoveRequest, Request, ReviewRequest,
    Silent, TextRequest, WhyRequest, WordsRequest,
};
use simtool::setting::{
    CORPUS_FORM, CommandKind, Effect, Kind, MEMORY, NOTES, READING, Required, Setting, commands,
};
use simtool::stages::sides::Sides;
use simtool::{Error, ErrorKind};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// Parses the settings of a command as its function in the library does. Returns the request as text, without the
/// record of the given settings.
fn parse(command: &CommandKind, mut options: Options) -> Result<String, Error> {
    let (path, paths) = (|| PathBuf::from("in"), || vec![PathBuf::from("in")]);
    let holder = String::new;
    let queries = if command.words() == "match" { paths() } else { Vec::new() };
    match command.words() {
        "dedup" | "match" => {
            let words = match command.setting("directory") {
                Some(_) => WordsRequest::parse(None, None, &mut options),
                None => WordsRequest::default(),
            };
            let paths = Paths { corpus: paths(), queries };
            let mut request = Request::parse_with_words(paths, words, options)?;
            request.job.recorded = RecordedRequest::default();
            Ok(text(&request))
        }
        "passages" => {
            let mut request = PassagesRequest::parse(paths(), options)?;
            request.job.recorded = RecordedRequest::default();
            Ok(text(&request))
        }
        "contamination" => {
            let mut request = ContaminationRequest::parse(paths(), paths(), options)?;
            request.job.recorded = RecordedRequest::default();
            Ok(text(&request))
        }
        "combine" => {
            let combined =
                run::combine(Path::new("nowhere"), &options, &mut Vec::new(), &Silent).unwrap_err();
            match combined.kind() {
                ErrorKind::Missing { .. } => Ok(String::new()),
                _ => Err(combined),
            }
        }
        "text" => TextRequest::parse(paths(), options).map(|made| text(&made)),
        "compare" => CompareRequest::parse([path(), path()], options).map(|made| text(&made)),
        "why" => WhyRequest::parse(path(), String::new(), options).map(|made| text(&made)),
        "audit" => AuditRequest::parse(path(), options).map(|made| text(&made)),
        "review" => ReviewRequest::parse(path(), options).map(|made| text(&made)),
        "eval" => {
            options.take("format");
            EvalRequest::parse(paths(), Vec::new(), options).map(|made| text(&made))
        }
        "fingerprint" => FingerprintRequest::parse(paths(), options).map(|made| text(&made)),
        "join" => JoinRequest::parse(Sides::One(path()), options).map(|made| text(&made)),
        "search" => {
            let queries = options.take_path("queries").unwrap();
            JoinRequest::parse(Sides::Two(queries, path()), options).map(|made| text(&made))
        }
        "index create" => {
            let folder = tempfile::tempdir().unwrap();
            run::create_index(&folder.path().join("index"), options, "test").map(|made| text(&made))
        }
        "index add" => {
            AddRequest::parse(path(), holder(), paths(), options).map(|made| text(&made))
        }
        "index filter" => FilterRequest::parse(path(), holder(), options).map(|made| text(&made)),
        "index query" => {
            QueryRequest::parse(path(), holder(), paths(), options).map(|made| text(&made))
        }
        "index export" => ExportRequest::parse(path(), holder(), options).map(|made| text(&made)),
        "index remove" => RemoveRequest::parse(path(), holder(), options).map(|made| text(&made)),
        "index stat" | "index verify" | "index compact" | "index merge" | "index salvage" => {
            let copies_intact = command.setting("force").is_some() && options.take_flag("force")?;
            let request = OpenRequest::parse(path(), holder(), &mut options)?;
            options.refuse_rest("no such option")?;
            Ok(text(&(request, copies_intact)))
        }
        "plan" => PlannedIndex::parse(&mut options).map(|made| text(&made)),
        "reference" => {
            let words = WordsRequest::parse(None, None, &mut options);
            ReferenceRequest::parse(words, options).map(|made| text(&made))
        }
        "generate" => GeneratedCollection::parse(options).map(|made| text(&made)),
        "man" => {
            options.take("output");
            options.take("force");
            options.refuse_rest("no such option").map(|()| String::new())
        }
        _ => options.refuse_rest("no such option").map(|()| String::new()),
    }
}

/// Returns a request as text. Leaves out the settings that decide which data is stored, because they are the given
/// settings.
fn text(request: &impl Debug) -> String {
    let text = format!("{request:?}");
    match text.split_once("settings: \"") {
        Some((before, behind)) => {
            before.to_owned() + behind.split_once('"').map_or("", |(_, after)| after)
        }
        None => text,
    }
}

/// Commands that have settings, and the form of `dedup` with N and M.
fn with_form() -> impl Iterator<Item = &'static CommandKind> {
    commands().chain([&CORPUS_FORM]).filter(|command| !command.is_group())
}

/// Returns the settings of a command that its function in the library parses.
fn parsed(command: &CommandKind) -> impl Iterator<Item = &'static Setting> {
    let is_note = |row: &Setting| NOTES.iter().any(|note| note.name == row.name);
    command.settings().filter(move |row| {
        let is_input = matches!(row.kind, Kind::Paths(_) | Kind::SettingsFile(_));
        row.effect != Effect::Printing && !is_note(row) && !is_input
    })
}

/// Returns a value of a setting. It may be wrong.
fn sample(row: &Setting) -> String {
    match row.kind {
        Kind::Flag | Kind::FlagOrText(_) => "true".to_owned(),
        Kind::Path(_) => "a.parquet".to_owned(),
        _ => row
            .default
            .or(row.kind.choices().first().map(|(name, _)| *name))
            .unwrap_or("5")
            .to_owned(),
    }
}

/// Returns the settings without which the command cannot run.
fn required(command: &CommandKind) -> Options {
    let mut options = Options::new();
    for row in parsed(command).filter(|row| row.required == Required::Always) {
        options.set(row.name, sample(row));
    }
    options
}

#[test]
fn every_setting_is_read_by_the_parser_of_its_command_and_others_are_unknown() {
    let names = || with_form().flat_map(CommandKind::settings).map(|row| row.name);
    for command in with_form() {
        for row in parsed(command) {
            // No method has all settings, and a setting may lack another one.
            let methods = Method::kinds().map(|(name, _)| Some(name)).chain([None]);
            let has_method = command.setting("method").is_some() && row.name != "method";
            let refusals = methods.map(|method| {
                let mut options = required(command);
                if let Some(method) = method.filter(|_| has_method) {
                    options.set("method", method);
                }
                if !options.has(row.name) {
                    options.set(row.name, sample(row));
                }
                parse(command, options).err().map(|error| error.to_string())
            });
            let refusals: Vec<Option<String>> = refusals.collect();
            let is_known = |refusal: &Option<String>| {
                !refusal.as_ref().is_some_and(|text| text.contains("such option"))
            };
            assert!(
                refusals.iter().any(is_known),
                "{}: {}: {refusals:?}",
                command.words(),
                row.name
            );
        }
        // Settings of a method may also be given outside of its name, and some of their names are settings of other
        // commands. Parsers that several commands share read all settings of reading and of resources.
        let has_method = command.setting("method").is_some();
        let is_shared = |name: &str| READING.iter().chain(MEMORY).any(|row| row.name == name);
        let is_foreign =
            |name: &&str| !has_method && !is_shared(name) && command.setting(name).is_none();
        let foreign = names().filter(is_foreign);
        for name in foreign.chain(["no_such_setting"]) {
            let mut options = required(command);
            options.set(name, "true");
            assert!(parse(command, options).is_err(), "{} takes {name}", command.words());
        }
    }
}

#[test]
fn defaults_of_rows_are_those_of_the_parsers() {
    for command in with_form() {
        let usual = parse(command, required(command)).map_err(|error| error.to_string());
        for row in parsed(command).filter(|row| row.required == Required::No) {
            let Some(default) = row.default else { continue };
            let mut options = required(command);
            options.set(row.name, default);
            let given = parse(command, options).map_err(|error| error.to_string());
            assert_eq!(given, usual, "{}: {}", command.words(), row.name);
        }
    }
}
