//! The documents that a command reads: which files, how, and what was wrong with them.

use crate::args::{InputArgs, OnError};
use crate::inputs::{self, Access, STANDARD_INPUT};
use crate::{Outcome, console};
use simtool::document::Bad;
use simtool::fault::{Fault, Severity, quoted};
use simtool::input_format::Format;
use simtool::pipeline::{CollectionSummary, Quarantined};
use simtool::read::globs::Globs;
use simtool::read::selection::Selection;
use simtool::read::walk::{InFolders, Walked, Walker, listed_paths};
use simtool::read::{Collection, Corpus, ReadOptions, Strict};
use simtool::{Error, ErrorKind};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Faults of one kind that are shown; the rest is counted.
const SHOWN_FAULTS: usize = 20;

/// How the files are read.
pub(crate) fn read_options(args: &InputArgs, access: Access) -> Result<ReadOptions, Error> {
    let bytes = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
    let format = inputs::format(args.format.as_deref())?;
    if let (true, Some(format)) = (args.per_line, format.filter(|format| !format.is_plain())) {
        let rule = "has no plain text, with which `per_line` goes";
        return Err(Error::config("format", format, rule));
    }
    Ok(ReadOptions {
        format,
        per_line: args.per_line,
        delimiter: args.delimiter,
        text_field: args.text_field().to_owned(),
        id_field: args.id_field().to_owned(),
        max_record_bytes: bytes(args.max_record),
        max_expansion: args.max_expansion,
        zstd_window_log: args.zstd_window_log,
        selection: Selection {
            min_tokens: args.min_tokens,
            max_bytes: args.max_bytes.map_or(usize::MAX, bytes),
            sample: args.sample.unwrap_or(1.0),
            limit: args.limit.unwrap_or(u64::MAX),
        },
        access: inputs::collection_access(access),
        ..ReadOptions::default()
    })
}

/// The paths with those of the list of `--files-from`.
pub(crate) fn with_listed(paths: &[PathBuf], args: &InputArgs) -> Result<Vec<PathBuf>, Error> {
    let mut all = paths.to_vec();
    if let Some(list) = &args.files_from {
        all.extend(listed_paths(list, args.null, &mut io::stdin().lock())?);
        let is_input = |path: &PathBuf| path == Path::new(STANDARD_INPUT);
        if is_input(list) && all.iter().any(is_input) {
            let rule =
                "reads the list from standard input, which can be read once; name no other -";
            return Err(Error::config("files_from", "-", rule));
        }
    }
    Ok(all)
}

/// The files to read, and what is wrong with other paths. In folders, `output` is not read.
pub(crate) fn walk(
    paths: &[PathBuf],
    args: &InputArgs,
    output: &Path,
    temporary: &Path,
) -> Result<Walked, Error> {
    let globs = Globs::new(&args.glob)?;
    let output = resolved(output);
    let in_folders = InFolders {
        wanted: &|path| globs.select(path),
        hidden: args.hidden,
        output: Some(&output),
    };
    let mut walker = Walker::default();
    for path in paths {
        if path == Path::new(STANDARD_INPUT) {
            inputs::add_standard_input(&mut walker, temporary)?;
        } else {
            walker.add(path, in_folders);
        }
    }
    let mut walked = walker.finish();
    walked.faults.append(&mut walked.left_out);
    if walked.files.is_empty() {
        show(&walked.faults, Shown { verbose: false, quiet: false });
        let first = paths.first().map_or(Path::new("an empty list"), PathBuf::as_path);
        let reason = match &args.glob[..] {
            [] => "there is none to read".to_owned(),
            globs => format!("there is none that --glob {} lets be read", globs.join(", ")),
        };
        return Err(Error::io(first, "read any file of", io::Error::other(reason)));
    }
    refuse_losses(args, &walked.faults)?;
    Ok(walked)
}

/// The path without links, as far as it exists.
pub(crate) fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = path
        .ancestors()
        .find_map(|folder| Some(folder.canonicalize().ok()?.join(path.strip_prefix(folder).ok()?)));
    real.unwrap_or(path)
}

/// Done, unless records or files were lost.
pub(crate) fn outcome<'r>(mut read: impl Iterator<Item = &'r CollectionSummary>) -> Outcome {
    let lost = |read: &CollectionSummary| {
        let lost_file = read.faults.iter().any(|fault| fault.severity == Severity::Loss);
        lost_file || !read.quarantined.is_empty()
    };
    if read.any(lost) { Outcome::DoneWithLosses } else { Outcome::Done }
}

/// Adds to what reading a collection told the faults of paths to it, and of files that were written
/// to meanwhile. Settings that these name are options here, in whatever output they are read.
pub(crate) fn add_faults(
    collection: &Collection,
    of_paths: Vec<Fault>,
    read: &mut CollectionSummary,
) {
    read.faults.splice(0..0, of_paths);
    for fault in collection.changed_files() {
        let is_same = |known: &Fault| (known.code, &known.file) == (fault.code, &fault.file);
        if !read.faults.iter().any(is_same) {
            read.faults.push(fault);
        }
    }
    for fault in &mut read.faults {
        fault.detail = console::with_options(&fault.detail);
    }
    for Quarantined { record, .. } in &mut read.quarantined {
        let Bad { code, expected, .. } = &mut record.bad;
        // There may be as many of these as there are records: one text serves all.
        if *code == Bad::NO_TEXT {
            *expected = "a text in the field that --text-field names".into();
        } else if expected.contains('`') {
            *expected = console::with_options(expected).into();
        }
    }
}

/// What is wrong with a collection's files, then its bad records, of which those without a text are
/// one fault.
pub(crate) fn all_faults(collection: &Collection, read: &CollectionSummary) -> Vec<Fault> {
    let has_text = |bad: &&Quarantined| bad.record.bad.code != Bad::NO_TEXT;
    let bad = read.quarantined.iter().filter(has_text).map(|Quarantined { file, record }| Fault {
        severity: Severity::Loss,
        code: record.bad.code,
        file: collection.file_name(*file).to_owned(),
        byte: Some(record.byte),
        detail: format!("record {}: expected {}", record.record, record.bad.expected),
        lost_records: 0,
    });
    read.faults.iter().cloned().chain(without_text(collection, read)).chain(bad).collect()
}

/// The fault of all records that have not the field of the text, if there are any: whoever names the
/// wrong field wants to know it once.
fn without_text(collection: &Collection, read: &CollectionSummary) -> Option<Fault> {
    let mut records =
        read.quarantined.iter().filter(|bad| bad.record.bad.code == Bad::NO_TEXT).peekable();
    let first = *records.peek()?;
    let (mut here, mut elsewhere, mut files, mut last) = (0_u64, 0_u64, 0, first.file);
    for Quarantined { file, .. } in records {
        files += usize::from(std::mem::replace(&mut last, *file) != *file);
        *(if *file == first.file { &mut here } else { &mut elsewhere }) += 1;
    }
    let (records, have) = if here == 1 { ("record", "has") } else { ("records", "have") };
    let (elsewhere, have) = match files {
        0 => (String::new(), have),
        1 => (format!(" here and {elsewhere} in another file"), "have"),
        _ => (format!(" here and {elsewhere} in {files} other files"), "have"),
    };
    let lack = collection.lack_of_text(first.file, first.record.byte);
    Some(Fault {
        severity: Severity::Loss,
        code: Bad::NO_TEXT,
        file: collection.file_name(first.file).to_owned(),
        byte: None,
        detail: format!("{here} {records}{elsewhere} {have} {lack}"),
        lost_records: 0,
    })
}

/// The collection, which ends its reading at the first loss if that is what the user asked for.
pub(crate) fn watched<'c>(args: &InputArgs, strict: &'c Strict<'c>) -> &'c dyn Corpus {
    match args.on_error {
        OnError::Skip => strict.0,
        OnError::Fail => strict,
    }
}

/// Fails on the first of these losses, if that is what the user asked for.
pub(crate) fn refuse_losses(args: &InputArgs, faults: &[Fault]) -> Result<(), Error> {
    let is_loss = |fault: &&Fault| fault.severity == Severity::Loss;
    match faults.iter().find(is_loss) {
        Some(fault) if args.on_error == OnError::Fail => {
            Err(ErrorKind::Loss { fault: fault.clone() }.into())
        }
        _ => Ok(()),
    }
}

/// Fails where no document was read: results of nothing must not take the place of good ones.
pub(crate) fn refuse_nothing(
    collection: &Collection,
    read: &CollectionSummary,
) -> anyhow::Result<()> {
    if !read.ids.is_empty() || read.passed_over > 0 {
        return Ok(());
    }
    let faults = all_faults(collection, read);
    let wrong_field = faults.iter().find(|fault| fault.code == Bad::NO_TEXT);
    let loss = wrong_field.or_else(|| faults.iter().find(|fault| fault.severity == Severity::Loss));
    // What was left out of folders is told before what is wrong with files.
    let reason = loss.or(faults.last()).map_or("there are no records".into(), Fault::to_string);
    Err(anyhow::anyhow!("no document was read: {reason}; nothing was written"))
}

/// Refuses what the user said of fields, columns or lines, if no file of the input has any.
pub(crate) fn refuse_idle(
    args: &InputArgs,
    keep_field: Option<&String>,
    collections: &[&Collection],
) -> Result<(), Error> {
    let delimiter =
        args.delimiter.map(|delimiter| char::from(delimiter).escape_debug().to_string());
    let is_table = |format| matches!(format, Format::Csv | Format::Tsv);
    let options: [(_, _, &dyn Fn(Format) -> bool); 5] = [
        ("text_field", args.text_field.clone(), &Format::has_fields),
        ("id_field", args.id_field.clone(), &Format::has_fields),
        ("keep_field", keep_field.cloned(), &Format::has_fields),
        ("delimiter", delimiter, &is_table),
        ("per_line", args.per_line.then(String::new), &Format::is_plain),
    ];
    for (option, value, is_meant) in options {
        let Some(value) = value else { continue };
        let files = collections.iter().flat_map(|collection| {
            (0..collection.file_count()).map(|file| collection.recognize(file).ok())
        });
        // A file that is not recognized is told of when it is read.
        let formats: Option<BTreeSet<&str>> = files
            .map(|file| file.map(|file| file.format).filter(|format| !is_meant(*format)))
            .map(|format| format.map(Format::name))
            .collect();
        if let Some(formats) = formats {
            let meant = Format::ALL.into_iter().filter(|format| is_meant(*format));
            let meant: Vec<_> = meant.map(Format::name).collect();
            let found: Vec<_> = formats.into_iter().collect();
            let rule = format!("is of {}; the input is {}", meant.join(", "), found.join(", "));
            return Err(Error::config(option, value, rule));
        }
    }
    Ok(())
}

/// Refuses an ID's field that the user named and no document has.
pub(crate) fn refuse_missing_ids(
    args: &InputArgs,
    read: &[(&Collection, &CollectionSummary)],
) -> Result<(), Error> {
    let Some(field) = &args.id_field else { return Ok(()) };
    let has_documents = read.iter().any(|(_, read)| !read.ids.is_empty());
    if !has_documents || read.iter().any(|(_, read)| read.ids.has_any_id()) {
        return Ok(());
    }
    let collections: Vec<&Collection> = read.iter().map(|(collection, _)| *collection).collect();
    refuse_missing_field("id_field", field, &collections)
}

/// Refuses a field of which no document has a value, unless records have it without one.
pub(crate) fn refuse_missing_field(
    option: &'static str,
    field: &str,
    collections: &[&Collection],
) -> Result<(), Error> {
    let mut names: Vec<String> = Vec::new();
    for name in collections.iter().flat_map(|collection| collection.field_names()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.iter().any(|name| name == field) {
        return Ok(());
    }
    let there = match &names[..] {
        [] => " none".to_owned(),
        names => {
            let names: Vec<_> = names.iter().map(|name| quoted(name.as_bytes())).collect();
            format!(": {}", names.join(", "))
        }
    };
    Err(Error::config(option, field, format!("no record has this field; there are{there}")))
}

/// Which faults are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown {
    /// All, not the first of each kind.
    pub(crate) verbose: bool,
    /// Losses alone.
    pub(crate) quiet: bool,
}

/// Shows faults on standard error.
pub(crate) fn show(faults: &[Fault], Shown { verbose, quiet }: Shown) {
    let shown = if verbose { usize::MAX } else { SHOWN_FAULTS };
    let is_told = |fault: &&Fault| !quiet || fault.severity == Severity::Loss;
    let faults: Vec<&Fault> = faults.iter().filter(is_told).collect();
    let mut codes: Vec<&str> = faults.iter().map(|fault| fault.code).collect();
    codes.sort_unstable();
    codes.dedup();
    for code in codes {
        let of_code = || faults.iter().filter(|fault| fault.code == code);
        for fault in of_code().take(shown) {
            match fault.severity {
                Severity::Warning => console::note(&fault.to_string()),
                Severity::Loss => console::error(&fault.to_string()),
            }
        }
        let more = of_code().count().saturating_sub(shown);
        if more > 0 {
            console::note(&format!("[{code}] {more} more; --verbose shows all"));
        }
    }
}
