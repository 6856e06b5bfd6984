//! Lists the faults of a collection: bad records, and damaged or unreadable files.

use crate::pipeline::{CollectionSummary, Quarantined};
use simtool_base::error::{Error, Result};
use simtool_base::fault::{Fault, Severity, quoted};
use simtool_model::document::Bad;
use simtool_read::{Collection, Corpus};
use std::collections::BTreeMap;

/// Returns whether some records or files of any of the collections could not be read.
pub fn has_losses<'r>(mut read: impl Iterator<Item = &'r CollectionSummary>) -> bool {
    read.any(|read| {
        let lost_file = read.faults.iter().any(|fault| fault.severity == Severity::Loss);
        lost_file || !read.quarantined.is_empty()
    })
}

/// Maximum number of bad records with the same kind of fault that are listed one by one. The quarantine has all
/// of them.
const LISTED_RECORDS: usize = 1000;

/// Returns the faults of files, then one fault for all records without a text, then the other bad records. Of
/// very many records with the same kind of fault, only the first ones are listed.
pub(super) fn all_faults(collection: &Collection, read: &CollectionSummary) -> Vec<Fault> {
    let mut faults = read.faults.clone();
    faults.extend(without_text(collection, read));
    let has_text = |bad: &&Quarantined| bad.record.code != Bad::NO_TEXT;
    let mut counts: BTreeMap<&str, (usize, &Quarantined)> = BTreeMap::new();
    for bad in read.quarantined.iter().filter(has_text) {
        counts.entry(bad.record.code).or_insert((0, bad)).0 += 1;
    }
    let many = counts.values().filter(|(count, _)| *count > LISTED_RECORDS);
    faults.extend(many.map(|&(count, first)| of_many_records(collection, first, count)));
    let mut left: BTreeMap<&str, usize> =
        counts.into_keys().map(|code| (code, LISTED_RECORDS)).collect();
    let mut is_listed = |bad: &&Quarantined| {
        let left = left.get_mut(bad.record.code);
        left.is_some_and(|left| left.checked_sub(1).map(|fewer| *left = fewer).is_some())
    };
    for bad in read.quarantined.iter().filter(has_text).filter(|bad| is_listed(bad)) {
        faults.push(of_bad_record(collection, bad));
    }
    faults
}

/// Returns a fault that counts the records with the same kind of fault as `first`. There are `count` of them,
/// which are too many to list.
fn of_many_records(collection: &Collection, first: &Quarantined, count: usize) -> Fault {
    let one = of_bad_record(collection, first);
    let detail = format!("{count} records, of which {LISTED_RECORDS} are listed; {}", one.detail);
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
    let has_no_text = |bad: &&Quarantined| bad.record.code == Bad::NO_TEXT;
    let lacking: Vec<&Quarantined> = read.quarantined.iter().filter(has_no_text).collect();
    // Bad records come in reading order, so all records of a file follow each other.
    let most_of_file = lacking.chunk_by(|a, b| a.file == b.file).find_map(|of_file| {
        let (file, count) = (of_file[0].file, of_file.len() as u64);
        let is_most = records[file] > 1 && count > records[file] / 2;
        is_most.then(|| {
            let name = quoted(collection.file_name(file).to_string_lossy().as_bytes());
            (of_file[0], format!("{count} of {} records of \"{name}\"", records[file]))
        })
    });
    let count = lacking.len() as u64;
    let most_of_all = lacking.first().filter(|_| count > all_records / 2);
    let most_of_all =
        most_of_all.map(|first| (*first, format!("{count} of {all_records} records")));
    let Some((first, most)) = most_of_file.or(most_of_all) else { return Ok(()) };
    let there = collection.fields_at(first.file, first.record.byte);
    let rule = format!(
        "{most} do not have this field; {there}. Name the field of the text, or one for each kind of \
         file, such as text,body. Nothing was written"
    );
    Err(Error::config("text_field", collection.text_field(), rule))
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

fn of_bad_record(collection: &Collection, bad: &Quarantined) -> Fault {
    let Quarantined { file, record } = bad;
    Fault {
        severity: Severity::Loss,
        code: record.code,
        file: collection.file_name(*file).to_owned(),
        byte: Some(record.byte),
        detail: format!("record {}: expected {}", record.record, record.expected),
        lost_records: 0,
    }
}

/// Returns one fault for all records that lack the field of the text. `None` if there are no such records. If
/// the user named the wrong field, one message is better than one for each record.
fn without_text(collection: &Collection, read: &CollectionSummary) -> Option<Fault> {
    let has_no_text = |bad: &&Quarantined| bad.record.code == Bad::NO_TEXT;
    let mut records = read.quarantined.iter().filter(has_no_text).peekable();
    let first = *records.peek()?;
    let mut here = 0_u64;
    let mut elsewhere = 0_u64;
    let mut other_files = 0;
    let mut last_file = first.file;
    // Bad records come in reading order, so all records of a file follow each other.
    for Quarantined { file, .. } in records {
        other_files += usize::from(*file != last_file);
        last_file = *file;
        *(if *file == first.file { &mut here } else { &mut elsewhere }) += 1;
    }
    let records = if here == 1 { "record" } else { "records" };
    let elsewhere = match other_files {
        0 => String::new(),
        1 => format!(" here and {elsewhere} in another file"),
        _ => format!(" here and {elsewhere} in {other_files} other files"),
    };
    let have = if here == 1 && other_files == 0 { "has" } else { "have" };
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
