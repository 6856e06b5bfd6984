//! Edits the text of a JSON object, or adds fields to it. All other bytes of the object stay as they are.

use crate::formats::jsonl::fields::{DEEPEST, is_too_deep};
use crate::formats::jsonl::lines::{content, strings};
use crate::formats::jsonl::non_finite::without_non_finite;
use crate::formats::jsonl::object::{Object, all_strings};
use crate::formats::{AddedRecord, RecordEdit};
use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;

/// Returns the record with the edited text in place of the strings from which the text was read. Returns `None` if the
/// record is not a valid object, or if its strings, joined by line feeds, differ from the text.
pub(super) fn edited(job: &RecordEdit<'_>) -> Option<Vec<u8>> {
    let mut finite = String::new();
    let (begin, json, object) = parsed(job.record, &mut finite)?;
    let strings = match job.selector.alternatives() {
        None => all_strings(json).collect(),
        Some(alternatives) => {
            let values = object.select(alternatives).ok()??.values;
            strings(&values, job.selector).ok()?
        }
    };
    let mut replaced: Vec<(Range<usize>, Cow<'_, [u8]>)> = Vec::new();
    let (mut scratch, mut start) = (Vec::new(), 0);
    for (number, string) in strings.into_iter().enumerate() {
        // The strings are joined by line feeds.
        start += usize::from(number > 0);
        let (content, is_repaired) = content(string, &mut scratch);
        let end = start + content.len();
        // A text that was changed after reading has other offsets than its strings.
        if is_repaired || job.text.get(start..end) != Some(content) {
            return None;
        }
        if let Cow::Owned(new) = job.edit.edited_part(content, start, b'\n') {
            // A number that is cut would become another number.
            if !string.starts_with('"') {
                return None;
            }
            let at = begin + string.as_ptr().addr().checked_sub(json.as_ptr().addr())?;
            let string_of_new = serde_json::to_string(str::from_utf8(&new).ok()?).ok()?;
            replaced.push((at..at + string.len(), Cow::Owned(string_of_new.into_bytes())));
        }
        start = end;
    }
    // The strings are in the order in which the user named their fields.
    replaced.sort_by_key(|(place, _)| place.start);
    let is_each_once = replaced.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start);
    (start == job.text.len() && is_each_once).then(|| job.replaced(replaced))
}

/// Returns the record with additional fields after its own fields. Returns `None` if the record is bad, is not a valid
/// object, or has a field of the same name.
pub(super) fn with_fields(job: &AddedRecord<'_>) -> Option<Vec<u8>> {
    let AddedRecord { record, fields, values, is_bad, .. } = *job;
    if is_bad {
        return None;
    }
    let mut finite = String::new();
    let (begin, json, object) = parsed(record, &mut finite)?;
    let has = |name: &str| object.fields().any(|(key, _)| key == name);
    if fields.iter().any(|field| has(&field.name)) {
        return None;
    }
    let end = begin + json.len() - 1;
    let mut extended = record[..end].to_vec();
    let mut separator = if object.fields().next().is_some() { "," } else { "" };
    for (field, value) in fields.iter().zip(values?) {
        // Writing to a vector cannot fail.
        write!(extended, "{separator}\"{}\":", field.name).ok()?;
        value.write_json(&mut extended).ok()?;
        separator = ",";
    }
    extended.extend_from_slice(&record[end..]);
    Some(extended)
}

/// Returns the position in the record at which its object begins, the JSON of the object, and the parsed object. If the
/// object has `NaN` or `Infinity`, its JSON is a copy in `finite`, in which valid values of the same length replace
/// these words.
fn parsed<'r>(record: &'r [u8], finite: &'r mut String) -> Option<(usize, &'r str, Object<'r>)> {
    let record = str::from_utf8(record).ok()?;
    let begin = record.find('{')?;
    let written = record[begin..].trim_ascii_end();
    if is_too_deep(written.as_bytes(), DEEPEST) {
        return None;
    }
    if let Ok(object) = Object::parse(written) {
        return Some((begin, written, object));
    }
    let json = without_non_finite(written, finite)?;
    Some((begin, json, Object::parse(json).ok()?))
}
