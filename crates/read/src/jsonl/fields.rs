//! Finds the fields of a line of JSON with a parser that validates the whole line.

use crate::form_feed::without_byte_order_mark;
use crate::jsonl::strings::unescaped;
use serde_json::value::RawValue;
use simtool_base::fault::quoted;
use std::borrow::Cow;
use std::fmt;

/// Largest depth of nested objects and arrays in a line. Deeper lines are bad records.
pub(super) const DEEPEST: usize = 128;

/// Index of the field with the text in arrays of three fields, such as [`FoundValues::values`].
pub(super) const TEXT: usize = 0;
/// Index of the field with the ID in arrays of three fields, such as [`FoundValues::values`].
pub(super) const ID: usize = 1;
/// Index of the field that decides which documents are kept in arrays of three fields, such as
/// [`FoundValues::values`].
pub(super) const KEEP: usize = 2;

/// Reason why a line is a bad record: the code of the bad record, and a description of a valid
/// line.
pub(super) type Refusal = (&'static str, Cow<'static, str>);

/// Reusable memory for the decoded values of three fields of a line: the text, the ID, and the
/// field that decides which documents are kept.
#[derive(Debug, Default)]
pub(super) struct ValueScratch(pub(super) [Vec<u8>; 3]);

/// Paths to three fields of a line: the text, the ID, and the field that decides which documents
/// are kept. A path is a list of keys, from the outermost object to the field. An empty path leads
/// to no field.
#[derive(Clone, Debug)]
pub(super) struct FieldPaths(pub(super) [Vec<String>; 3]);

impl FieldPaths {
    /// Creates the paths from the names of the fields. A name with dots, such as `meta.id`, leads
    /// into nested objects.
    pub(super) fn new(text: &str, id: &str, keep: Option<&str>) -> Self {
        let path = |name: &str| name.split('.').map(str::to_owned).collect();
        Self([path(text), path(id), keep.map(path).unwrap_or_default()])
    }
}

/// Returns the values of the fields in `line` to which `paths` lead, or the reason why the line is
/// bad.
pub(super) fn find_fields<'a>(
    line: &'a str,
    paths: &FieldPaths,
) -> Result<FoundValues<'a>, Refusal> {
    // The parser skips unwanted values recursively, so a deep line could overflow the stack.
    if is_too_deep(line.as_bytes(), DEEPEST) {
        return Err(("json-depth", "nesting of at most 128".into()));
    }
    let mut found = FoundValues::default();
    let mut json = serde_json::Deserializer::from_str(line);
    let fields = FieldVisitor { paths, depth: 0, wanted: 0b111, found: &mut found };
    serde::Deserializer::deserialize_map(&mut json, fields)
        .and_then(|()| json.end())
        .map_err(|error| ("json", explanation(&error)))?;
    if found.duplicate {
        return Err(("json-dup-key", "every wanted field only once".into()));
    }
    Ok(found)
}

/// Returns the keys of the object in `line`, in order. Returns an empty list if the line is not an
/// object.
pub(super) fn keys(line: &[u8]) -> Vec<String> {
    struct KeyList;
    impl<'de> serde::de::Visitor<'de> for KeyList {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(
            self,
            mut map: A,
        ) -> Result<Vec<String>, A::Error> {
            let mut keys = Vec::new();
            while let Some((key, serde::de::IgnoredAny)) = map.next_entry()? {
                keys.push(key);
            }
            Ok(keys)
        }
    }
    let line = without_byte_order_mark(line);
    if is_too_deep(line, DEEPEST) {
        return Vec::new();
    }
    let mut json = serde_json::Deserializer::from_slice(line);
    serde::Deserializer::deserialize_map(&mut json, KeyList).unwrap_or_default()
}

/// Returns an error of the JSON parser as text for the message about a bad record. The text has a
/// line number only for an object over several lines.
fn explanation(error: &serde_json::Error) -> Cow<'static, str> {
    let message = error.to_string();
    let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
    let line = match error.line() {
        0 | 1 => String::new(),
        line => format!("line {line}, "),
    };
    let reason = quoted(reason.as_bytes());
    format!("a JSON object; {line}column {}: {reason}", error.column()).into()
}

/// Returns whether objects and arrays in `json` are nested more than `deepest` deep. First counts
/// the opening brackets, because nearly all values have at most `deepest` of them.
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

/// The values of three fields of a line: the text, the ID, and the field that decides which
/// documents are kept. The values are as they are in the line, and escapes in them are not yet
/// resolved.
#[derive(Default)]
pub(super) struct FoundValues<'de> {
    pub(super) values: [Option<&'de RawValue>; 3],
    duplicate: bool,
}

/// Serde visitor of a JSON object, which is the whole line or a nested object that a path leads
/// into. The visitor stores the values of the wanted fields in `found`.
struct FieldVisitor<'p, 'de> {
    paths: &'p FieldPaths,
    /// Depth of the object: 0 for the whole line, 1 for an object in it, and so on.
    depth: usize,
    /// Set of the fields whose paths lead into this object. Bit [`TEXT`], [`ID`] or [`KEEP`] is set
    /// for each of these fields.
    wanted: u8,
    found: &'p mut FoundValues<'de>,
}

impl<'de> serde::de::Visitor<'de> for FieldVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { paths, depth, wanted, found } = self;
        while let Some(mask) = map.next_key_seed(KeyVisitor { paths, depth, wanted })? {
            // Values of other keys are checked for syntax, but not stored.
            if mask == 0 {
                map.next_value::<serde::de::IgnoredAny>()?;
                continue;
            }
            let value: &'de RawValue = map.next_value()?;
            let mut inner = 0;
            for field in 0..3 {
                if mask >> field & 1 == 0 {
                    continue;
                }
                if paths.0[field].len() > depth + 1 {
                    inner |= 1 << field;
                } else {
                    // A key that occurs twice is only noted here. If the line also has a syntax
                    // error, the syntax error is reported instead.
                    found.duplicate |= found.values[field].replace(value).is_some();
                }
            }
            // If a path leads through a value that is not an object, the field is missing.
            if inner != 0 && value.get().starts_with('{') {
                let next =
                    FieldVisitor { paths, depth: depth + 1, wanted: inner, found: &mut *found };
                let mut json = serde_json::Deserializer::from_str(value.get());
                serde::Deserializer::deserialize_map(&mut json, next)
                    .map_err(serde::de::Error::custom)?;
            }
        }
        Ok(())
    }
}

/// Serde visitor of a key of an object. It returns the set of the wanted fields whose paths have
/// this key at `depth`. Bit [`TEXT`], [`ID`] or [`KEEP`] is set for each of these fields.
struct KeyVisitor<'p> {
    paths: &'p FieldPaths,
    depth: usize,
    wanted: u8,
}

impl<'de> serde::de::DeserializeSeed<'de> for KeyVisitor<'_> {
    type Value = u8;

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<u8, D::Error> {
        json.deserialize_str(self)
    }
}

impl serde::de::Visitor<'_> for KeyVisitor<'_> {
    type Value = u8;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<u8, E> {
        let mut mask = 0;
        for (field, path) in self.paths.0.iter().enumerate() {
            let wanted = self.wanted >> field & 1 == 1;
            if wanted && path.get(self.depth).is_some_and(|step| step == key) {
                mask |= 1 << field;
            }
        }
        Ok(mask)
    }
}

/// Returns a JSON value as an ID: the content of a string, or any other value as it is in the line.
/// Returns `None` for null and for the empty string.
pub(super) fn as_written<'a>(value: &'a RawValue, scratch: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    let written = value.get();
    let bytes = match written {
        "null" => return None,
        _ if written.starts_with('"') => unescaped(value, scratch).0,
        _ => written.as_bytes(),
    };
    (!bytes.is_empty()).then_some(bytes)
}
