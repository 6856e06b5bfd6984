//! Lists the faults of a collection: bad records, and damaged or unreadable files.

use super::face::{Face, Notice};
use crate::pipeline::{CollectionSummary, Quarantined};
use simtool_base::byte_text::path_text;
use simtool_base::error::{Error, Result};
use simtool_base::fault::{Fault, Severity, quoted};
use simtool_base::quantity::counted;
use simtool_model::document::Bad;
use simtool_model::page_text::PageText;
use simtool_read::{Collection, Corpus, Selector};
use std::collections::BTreeMap;

/// Returns whether some records or files of any of the collections could not be read.
pub fn has_losses<'r>(mut read: impl Iterator<Item = &'r CollectionSummary>) -> bool {
    read.any(|read| {
        let lost_file = read.faults.iter().any(|fault| fault.severity == Severity::Loss);
        lost_file || !read.quarantined.is_empty()
    })
}

/// Sends a note with the number of pages without a main content, if there are any.
pub(super) fn note_whole_pages<'r>(
    read: impl Iterator<Item = &'r CollectionSummary>,
    face: &dyn Face,
) {
    let pages: u64 = read.map(|read| read.pages.of(PageText::Whole)).sum();
    if pages > 0 {
        let pages = counted(pages, "page");
        let note = format!("{pages} without a main content, compared by the whole text");
        face.notice(Notice::Note(&note));
    }
}

/// Maximum number of bad records with the same kind of fault that are listed one by one. The file `quarantine.jsonl`
/// lists all of them.
const LISTED_RECORDS: usize = 1000;

/// Returns the faults of files, then one fault for all records without a text, then the other bad records. If very many
/// records have the same kind of fault, only the first of them are listed.
pub(super) fn all_faults(collection: &Collection, read: &CollectionSummary) -> Vec<Fault> {
    let mut faults = read.faults.clone();
    faults.extend(without_text(collection, read));
    let has_text = |bad: &Quarantined<'_>| bad.code != Bad::NO_TEXT;
    let mut counts: BTreeMap<&str, (usize, Quarantined<'_>)> = BTreeMap::new();
    for bad in read.quarantined.iter().filter(has_text) {
        counts.entry(bad.code).or_insert((0, bad)).0 += 1;
    }
    let many = counts.values().filter(|(count, _)| *count > LISTED_RECORDS);
    faults.extend(many.map(|&(count, first)| of_many_records(collection, first, count)));
    let mut left: BTreeMap<&str, usize> =
        counts.into_keys().map(|code| (code, LISTED_RECORDS)).collect();
    let mut is_listed = |bad: &Quarantined<'_>| {
        let left = left.get_mut(bad.code);
        left.is_some_and(|left| left.checked_sub(1).map(|fewer| *left = fewer).is_some())
    };
    for bad in read.quarantined.iter().filter(has_text).filter(|bad| is_listed(bad)) {
        faults.push(of_bad_record(collection, bad));
    }
    faults
}

/// Returns one fault for many records with the same kind of fault as `first`. `count` is the number of these records,
/// which are too many to be listed one by one.
fn of_many_records(collection: &Collection, first: Quarantined<'_>, count: usize) -> Fault {
    let one = of_bad_record(collection, first);
    let detail =
        format!("{count} records, and the first {LISTED_RECORDS} are listed; {}", one.detail);
    Fault { detail, ..one }
}

/// Returns an error if most records of a file, or most records of all files, lack the field of the text.
/// Then the user has probably named the wrong field, and the results would be of little use.
///
/// # Errors
///
/// More than half of the records of a file lack the text. A file of a single record does not count on its
/// own.
pub(super) fn refuse_most_without_text(
    collection: &Collection,
    read: &CollectionSummary,
) -> Result<()> {
    let records = records_of_files(collection, read);
    let all_records: u64 = records.iter().sum();
    let files = files_without_text(read);
    let is_most = |count: u64, records: u64| count > records / 2;
    let most_of_file = files.iter().find_map(|&(first, count)| {
        let records = records[first.file];
        (records > 1 && is_most(count, records)).then(|| {
            let name = quoted(path_text(collection.file_name(first.file)).as_bytes());
            (first, format!("{count} of {records} records of \"{name}\""))
        })
    });
    let count = files.iter().map(|(_, count)| count).sum();
    let most_of_all = files.first().filter(|_| is_most(count, all_records));
    let most_of_all =
        most_of_all.map(|&(first, _)| (first, format!("{count} of {all_records} records")));
    let Some((first, most)) = most_of_file.or(most_of_all) else { return Ok(()) };
    let there = collection.fields_at(first.file, first.byte);
    let kinds = other_kinds(collection, &files, first.file);
    let others = kinds.iter().map(|(file, there)| format!("; in \"{file}\" {there}"));
    let there = there + &others.collect::<String>();
    let (these, advice) = if collection.text_field().joins_fields() {
        ("all of these fields", "Mark a field that may be missing, as in title+body?".to_owned())
    } else {
        let example = example_fields(collection, files.len(), &there);
        let advice = "Name the field of the text, or one for each kind of file, such as";
        ("this field", format!("{advice} {example}"))
    };
    let header = collection.advice_on_header(first.file);
    let rule =
        format!("{most} do not have {these}; {there}. {advice}{header}. Nothing was written");
    Err(Error::config(collection.text_setting(), collection.text_field(), rule))
}

/// Returns whether the files without the field of the text have different fields, so that no single name is right for all
/// of them.
pub(super) fn have_different_fields(collection: &Collection, read: &CollectionSummary) -> bool {
    let files = files_without_text(read);
    files.first().is_some_and(|(first, _)| !other_kinds(collection, &files, first.file).is_empty())
}

/// Number of files whose records are read again, to find files with other fields.
const EXAMINED_FILES: usize = 100;
/// Number of files with other fields that an error names.
const OTHER_KINDS: usize = 19;

/// Names of fields that usually have the text of a document.
const USUAL_FIELDS: [&str; 10] = [
    "text",
    "content",
    "body",
    "raw_content",
    "article",
    "message",
    "description",
    "abstract",
    "comment",
    "title",
];

/// Returns several text fields, for example `text,body`, which the user can copy into the option. `there` lists the
/// fields of some files, with semicolons between files. The result has one usual text field of each list. It begins
/// with the present text field, unless all files lack it: `lacking` is the number of files that lack it.
fn example_fields(collection: &Collection, lacking: usize, there: &str) -> String {
    let present = collection.text_field().to_string();
    let present = Some(present).filter(|_| lacking < collection.file_count());
    // A field such as `body_text` is the next best choice.
    let usual = |list: &str| {
        let fields = || list.split([' ', ',']);
        let is_there = |name: &&&str| fields().any(|field| field == **name);
        let whole = USUAL_FIELDS.iter().find(is_there).copied();
        let found = whole.or_else(|| {
            fields().find(|field| field.split('_').any(|part| USUAL_FIELDS.contains(&part)))
        });
        found.map(str::to_owned)
    };
    let mut fields: Vec<String> = Vec::new();
    for field in present.into_iter().chain(there.split(';').filter_map(usual)) {
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    // A single field is no example of a list.
    if fields.len() < 2 { "text,body".to_owned() } else { fields.join(",") }
}

/// Returns the names of files without a text whose fields differ from those of the file `first`, each with a list of
/// its fields. If several files have the same fields, only one of them is returned.
fn other_kinds(
    collection: &Collection,
    files: &[(Quarantined<'_>, u64)],
    first: usize,
) -> Vec<(String, String)> {
    let mut kinds: Vec<(usize, String)> = Vec::new();
    let mut examined: Vec<_> = files.iter().take(EXAMINED_FILES).map(|(bad, _)| bad).collect();
    examined.sort_by_key(|bad| bad.file != first);
    // Files of one kind usually have the same fields, so the lists of their fields are compared.
    for bad in examined {
        let fields = collection.fields_at(bad.file, bad.byte);
        if kinds.iter().all(|(_, known)| *known != fields) {
            kinds.push((bad.file, fields));
        }
    }
    let name = |file: usize| quoted(path_text(collection.file_name(file)).as_bytes());
    let others = kinds.into_iter().filter(|(file, _)| *file != first).take(OTHER_KINDS);
    others.map(|(file, fields)| (name(file), fields)).collect()
}

/// Returns the files that have records without the field of the text. Each entry is the first of these records of a
/// file, and their number in the file.
fn files_without_text(read: &CollectionSummary) -> Vec<(Quarantined<'_>, u64)> {
    let mut files: Vec<(Quarantined<'_>, u64)> = Vec::new();
    for bad in read.quarantined.iter().filter(|bad| bad.code == Bad::NO_TEXT) {
        // Bad records come in reading order, so all records of a file follow each other.
        match files.last_mut() {
            Some((first, count)) if first.file == bad.file => *count += 1,
            _ => files.push((bad, 1)),
        }
    }
    files
}

/// Returns the number of records of each file.
fn records_of_files(collection: &Collection, read: &CollectionSummary) -> Vec<u64> {
    let mut records = vec![0; collection.file_count()];
    for shard in 0..collection.shard_count() {
        // The last shard of a file ends with the last record of the file.
        records[collection.shard_file(shard)] = read.ids.end_record_of_shard(shard);
    }
    records
}

fn of_bad_record(collection: &Collection, bad: Quarantined<'_>) -> Fault {
    let Quarantined { file, record, byte, code, expected, .. } = bad;
    Fault {
        severity: Severity::Loss,
        code,
        file: collection.file_name(file).to_owned(),
        byte: Some(byte),
        detail: format!("record {record}: expected {expected}"),
        lost_records: 0,
    }
}

/// Returns one fault for all records that lack the field of the text. `None` if there are no such records. If
/// the user named the wrong field, one message is better than one for each record.
fn without_text(collection: &Collection, read: &CollectionSummary) -> Option<Fault> {
    let files = files_without_text(read);
    let (&(first, here), others) = files.split_first()?;
    let elsewhere: u64 = others.iter().map(|(_, count)| count).sum();
    let other_files = others.len();
    let records = if here == 1 { "record" } else { "records" };
    let elsewhere = match other_files {
        0 => String::new(),
        1 => format!(" here and {elsewhere} in another file"),
        _ => format!(" here and {elsewhere} in {other_files} other files"),
    };
    let have = if here == 1 && other_files == 0 { "has" } else { "have" };
    let lack = collection.lack_of_text(first.file, first.byte);
    Some(Fault {
        severity: Severity::Loss,
        code: Bad::NO_TEXT,
        file: collection.file_name(first.file).to_owned(),
        byte: None,
        detail: format!("{here} {records}{elsewhere} {have} {lack}"),
        lost_records: 0,
    })
}

/// Returns an error if the field is not among `all`, the names of the fields that records have. A name may be there
/// several times. `setting` is the option that names the field.
///
/// # Errors
///
/// The field is not among `all`. The error lists the fields in `all`.
pub(super) fn refuse_unknown_field(
    setting: &'static str,
    field: &str,
    all: impl Iterator<Item = String>,
) -> Result<()> {
    let mut names: Vec<String> = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // A field that is always empty is unusual, but its name is not misspelled.
    let selector = Selector::from(field);
    if names.iter().any(|name| selector.names(name)) {
        return Ok(());
    }
    let names: Vec<String> = names.iter().map(|name| quoted(name.as_bytes())).collect();
    let there = match &names[..] {
        [] => " none".to_owned(),
        names => format!(": {}", names.join(", ")),
    };
    let rule = format!("no record has this field; there are{there}");
    Err(Error::config(setting, field, rule))
}
