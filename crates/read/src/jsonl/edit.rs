//! Edits the text of a JSON object. All other bytes of the object stay as they are.

use crate::jsonl::fields::{DEEPEST, is_too_deep};
use crate::jsonl::lines::strings;
use crate::jsonl::non_finite::without_non_finite;
use crate::jsonl::object::{Object, all_strings};
use crate::jsonl::strings::unescaped;
use crate::text_edit::RecordEdit;
use std::borrow::Cow;
use std::ops::Range;

/// Returns the record with an edited text. Returns `None` if the record is no valid object, or if the text was
/// not read from its strings as they are.
pub(super) fn edited(job: &RecordEdit<'_>) -> Option<Vec<u8>> {
    let record = str::from_utf8(job.record).ok()?;
    let begin = record.find('{')?;
    let written = record[begin..].trim_ascii_end();
    if is_too_deep(written.as_bytes(), DEEPEST) {
        return None;
    }
    let mut finite = String::new();
    let (object, json) = if let Ok(object) = Object::parse(written) {
        (object, written)
    } else {
        // The replacing numbers are as long as the replaced words, so that strings keep their places.
        let json = without_non_finite(written, &mut finite)?;
        (Object::parse(json).ok()?, json)
    };
    let strings = match job.selector.alternatives() {
        None => all_strings(json).collect(),
        Some(alternatives) => {
            let values = object.select(alternatives).ok()??;
            strings(&values, job.selector).ok()?
        }
    };
    let mut replaced: Vec<(Range<usize>, Cow<'_, [u8]>)> = Vec::new();
    let (mut scratch, mut start) = (Vec::new(), 0);
    for (number, string) in strings.into_iter().enumerate() {
        // The strings are joined by line feeds.
        start += usize::from(number > 0);
        let (content, is_repaired) = unescaped(string, &mut scratch);
        let end = start + content.len();
        // A text that was changed after reading has other offsets than its strings.
        if is_repaired || job.text.get(start..end) != Some(content) {
            return None;
        }
        if let Cow::Owned(new) = job.edit.edited_part(content, start, b'\n') {
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
