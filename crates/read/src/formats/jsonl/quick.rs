//! A fast path for ordinary lines of JSON. It finds the fields and resolves the escapes of the text
//! in one pass over the line.

use crate::formats::jsonl::fields::{
    DEEPEST, ID, OTHERS, TEXT, ValueScratch, WantedFields, all_as_written, as_id, is_too_deep,
};
use crate::formats::jsonl::strings::string;
use serde_json::value::RawValue;
use simtool_model::document::{Document, MOST_FIELDS};

/// Extracts the document of an ordinary line in one pass. Returns `None` for an unusual or invalid line, which the
/// parser that validates the whole line then reads. Both parsers extract the same document.
pub(super) fn quick_document<'a>(
    line: &'a str,
    wanted: &WantedFields,
    scratch: &'a mut ValueScratch,
) -> Option<Document<'a>> {
    let names = wanted.plain_names.as_ref()?;
    let ValueScratch { text, id: id_scratch, fields: field_scratch, .. } = scratch;
    let mut text_scratch = Some(text);
    let (mut text, mut values) = (None, [None; OTHERS + MOST_FIELDS]);
    let mut rest = line.trim_start_matches(WHITE).strip_prefix('{')?;
    loop {
        rest = rest.trim_start_matches(WHITE).strip_prefix('"')?;
        let end = memchr::memchr3(b'"', b'\\', b'\n', rest.as_bytes())?;
        let key = &rest[..end];
        // A key with control characters or escapes is left to the full parser.
        rest = rest[end..].strip_prefix('"')?;
        if key.bytes().any(|byte| byte < b' ') {
            return None;
        }
        rest = rest.trim_start_matches(WHITE).strip_prefix(':')?.trim_start_matches(WHITE);
        let is_text = names[TEXT] == key;
        // If the text is also the ID or another wanted field, its raw value is needed, too. The other
        // branch then reads the value, and the line is left to the full parser.
        if is_text && !names[ID..].iter().any(|name| name == key) {
            // The buffer can be taken only once. So a line with two texts is left to the full
            // parser, which reports the duplicate key.
            let (content, behind) = string(rest, text_scratch.take()?)?;
            (text, rest) = (Some(content), behind);
        } else {
            let mut json = serde_json::Deserializer::from_str(rest).into_iter::<&'a RawValue>();
            let value = json.next()?.ok()?;
            rest = &rest[json.byte_offset()..];
            if is_too_deep(value.get().as_bytes(), DEEPEST - 1) {
                return None;
            }
            for (name, known) in names.iter().zip(&mut values) {
                if name == key && known.replace(value).is_some() {
                    return None;
                }
            }
        }
        rest = rest.trim_start_matches(WHITE);
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind,
            None => break,
        }
    }
    if !rest.strip_prefix('}')?.trim_start_matches(WHITE).is_empty() {
        return None;
    }
    Some(Document {
        id: values[ID].and_then(|id| as_id(id, id_scratch)),
        fields: all_as_written(&values[OTHERS..], field_scratch),
        ..Document::new(text?)
    })
}

/// The characters that count as white space in JSON.
const WHITE: [char; 4] = [' ', '\t', '\r', '\n'];
