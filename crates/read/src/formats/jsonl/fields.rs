//! Finds the fields of a line of JSON with a parser that validates the whole line.

use crate::bytes::without_byte_order_mark;
use crate::formats::jsonl::non_finite::without_non_finite;
use crate::formats::jsonl::object::{Object, Refusal, SelectedValues, elements};
use crate::formats::jsonl::strings::unescaped;
use crate::formats::{Columns, Selector};
use serde_json::value::RawValue;
use simtool_model::document::{FieldValues, MOST_FIELDS};
use simtool_model::document_id::DocumentId;

/// Largest depth of nested objects and arrays in a line. Lines with deeper nesting are bad records.
pub(super) const DEEPEST: usize = 128;

/// Index of the field with the text in [`WantedFields::plain_names`].
pub(super) const TEXT: usize = 0;
/// Index of the field with the ID in [`WantedFields::plain_names`].
pub(super) const ID: usize = 1;
/// Index in [`WantedFields::plain_names`] of the first field other than the text and the ID.
pub(super) const OTHERS: usize = 2;

/// Reusable memory for decoding the values of a line.
#[derive(Debug, Default)]
pub(super) struct ValueScratch {
    pub(super) text: Vec<u8>,
    pub(super) id: Vec<u8>,
    pub(super) fields: [Vec<u8>; MOST_FIELDS],
    /// Text of one field while the texts of several fields are joined.
    pub(super) part: Vec<u8>,
    /// Copy of a line in which numbers that JSON does not have are replaced.
    pub(super) finite: String,
}

/// Selectors of the fields of a line that are read.
#[derive(Clone, Debug)]
pub(crate) struct WantedFields {
    /// Name of the field of the text, name of the field of the ID, and then the names of the other fields. `None` if
    /// one of the selectors is more than the name of a field. The fast parser then cannot read the line.
    pub(super) plain_names: Option<Vec<String>>,
    pub(super) text: Selector,
    id: Selector,
    fields: Vec<Selector>,
}

impl WantedFields {
    pub(crate) fn new(wanted: Columns<'_>) -> Self {
        let Columns { text, id, fields } = wanted;
        let name = |selector: &Selector| selector.plain_name().map(str::to_owned);
        let plain_names = [text, id].into_iter().chain(fields).map(name).collect();
        Self { plain_names, text: text.clone(), id: id.clone(), fields: fields.to_vec() }
    }
}

/// The values of the wanted fields of a line. They are borrowed from the line, and escapes in them are not resolved.
#[derive(Default)]
pub(super) struct FoundValues<'de> {
    /// Values of the text. Nulls are left out. `None` if the line lacks the text.
    pub(super) texts: Option<Vec<&'de RawValue>>,
    /// Number of list elements that lack the field of the text.
    pub(super) skipped: u32,
    pub(super) id: Option<&'de RawValue>,
    pub(super) fields: [Option<&'de RawValue>; MOST_FIELDS],
}

/// Returns the values of the `wanted` fields in `line`, or the reason why the line is bad.
pub(super) fn find_fields<'de>(
    line: &'de str,
    wanted: &WantedFields,
) -> Result<FoundValues<'de>, Refusal> {
    // The parser skips unwanted values recursively, so a deep line could overflow the stack.
    if is_too_deep(line.as_bytes(), DEEPEST) {
        return Err(("json-depth", "nesting of at most 128".into()));
    }
    let object = Object::parse(line)?;
    let found = match wanted.text.alternatives() {
        Some(alternatives) => object.select(alternatives)?,
        None => Some(SelectedValues::default()),
    };
    let skipped = found.as_ref().map_or(0, |found| found.skipped);
    let texts = found.map(|found| found.values);
    let one = |selector: &Selector| match selector.alternatives() {
        Some(alternatives) => {
            let values = object.select(alternatives)?;
            Ok(values.and_then(|found| found.values.first().copied()))
        }
        None => Ok(None),
    };
    let mut fields = [None; MOST_FIELDS];
    for (value, selector) in fields.iter_mut().zip(&wanted.fields) {
        *value = one(selector)?;
    }
    Ok(FoundValues { texts, skipped, id: one(&wanted.id)?, fields })
}

/// Returns the names of the fields of the object in `line`, in order. The names of nested fields are paths, such as
/// `meta.id` or `messages[].content`. For a list, the fields of its first element are listed. Returns an empty list if
/// the line is not an object.
pub(crate) fn field_names(line: &[u8]) -> Vec<String> {
    let line = String::from_utf8_lossy(without_byte_order_mark(line));
    let mut finite = String::new();
    // A reader accepts numbers that JSON does not have, so the line is no other object because of them.
    let line = without_non_finite(&line, &mut finite).unwrap_or(&line);
    let mut names = Vec::new();
    if !is_too_deep(line.as_bytes(), DEEPEST) && Object::parse(line).is_ok() {
        add_names(line, "", &mut names);
    }
    names
}

/// Adds the names of the fields in the valid JSON value `json` to `names`. `prefix` is the path that leads to this
/// value.
fn add_names(json: &str, prefix: &str, names: &mut Vec<String>) {
    let json = json.trim_ascii_start();
    let before = names.len();
    if json.starts_with('{')
        && let Ok(object) = Object::parse(json)
    {
        let dot = if prefix.is_empty() { "" } else { "." };
        for (key, value) in object.fields() {
            add_names(value.get(), &format!("{prefix}{dot}{key}"), names);
        }
    } else if json.starts_with('[')
        && let Some(first) = elements(json).ok().and_then(|list| list.first().copied())
        && first.get().starts_with(['{', '['])
    {
        add_names(first.get(), &format!("{prefix}[]"), names);
    }
    // A value without fields is a field itself.
    if names.len() == before && !prefix.is_empty() {
        names.push(prefix.to_owned());
    }
}

/// Returns whether objects and arrays in `json` are nested more than `deepest` levels deep. First counts the opening
/// brackets, because nearly all values have at most `deepest` of them.
pub(super) fn is_too_deep(json: &[u8], deepest: usize) -> bool {
    if memchr::memchr2_iter(b'[', b'{', json).nth(deepest).is_none() {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for &byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > deepest {
            return true;
        }
    }
    false
}

/// Returns a JSON value as an ID, which is a number if the value is one, and a text otherwise. Returns `None` for null
/// and for the empty string.
pub(super) fn as_id<'a>(value: &'a RawValue, scratch: &'a mut Vec<u8>) -> Option<DocumentId<'a>> {
    let is_number = value.get().starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let id = as_written(value, scratch)?;
    Some(if is_number { DocumentId::Number(id) } else { DocumentId::Text(id) })
}

/// Returns the bytes of each of `values`: the content of a string, or any other value as it is in the line. Null and
/// the empty string become `None`.
pub(super) fn all_as_written<'a>(
    values: &[Option<&'a RawValue>],
    scratch: &'a mut [Vec<u8>; MOST_FIELDS],
) -> FieldValues<'a> {
    let mut written = [None; MOST_FIELDS];
    for ((written, value), scratch) in written.iter_mut().zip(values).zip(scratch) {
        *written = value.and_then(|value| as_written(value, scratch));
    }
    written
}

/// Returns the bytes of a JSON value: the content of a string, or any other value as it is in the line.
/// Returns `None` for null and for the empty string.
pub(super) fn as_written<'a>(value: &'a RawValue, scratch: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    let written = value.get();
    let bytes = match written {
        "null" => return None,
        _ if written.starts_with('"') => unescaped(written, scratch).0,
        _ => written.as_bytes(),
    };
    (!bytes.is_empty()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_count_as_nesting() {
        for (json, expected) in [
            ("[[1], {}]", false),
            ("[[{}]]", true),
            (r#"["[[[", {"{{{": "]"}]"#, false),
            (r#"["\"", [[1]]]"#, true),
            (r#"["\"[[["]"#, false),
        ] {
            assert_eq!(is_too_deep(json.as_bytes(), 2), expected, "{json}");
        }
    }
}
