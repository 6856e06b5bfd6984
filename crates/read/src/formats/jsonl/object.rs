//! Objects and lists of JSON, in which the values of selected fields are found.

use crate::formats::{FieldPath, Step};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use simtool_base::fault::quoted;
use std::borrow::Cow;
use std::fmt;

/// Reason why a line is a bad record: the code of the bad record, and a description of how a valid line looks.
pub(super) type Refusal = (&'static str, Cow<'static, str>);

/// Values of one object to which the paths of a selector lead.
#[derive(Default)]
pub(super) struct SelectedValues<'de> {
    /// The values in order. Nulls are left out.
    pub(super) values: Vec<&'de RawValue>,
    /// Number of list elements that lack the field to which a path leads.
    pub(super) skipped: u32,
}

/// An object of JSON: its keys and values in order. Values are as they are in the line.
pub(super) struct Object<'de>(Vec<(Cow<'de, str>, &'de RawValue)>);

impl<'de> Object<'de> {
    /// Parses an object, and checks the syntax of everything in it.
    ///
    /// # Errors
    ///
    /// `json` is not a valid object.
    pub(super) fn parse(json: &'de str) -> Result<Self, Refusal> {
        let mut parser = serde_json::Deserializer::from_str(json);
        let object = parser.deserialize_map(ObjectVisitor);
        let object = object.and_then(|object| parser.end().map(|()| object));
        object.map_err(|error| ("json", explanation(&error)))
    }

    /// Returns the keys and values of the object, in order.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, &'de RawValue)> {
        self.0.iter().map(|(key, value)| (&**key, *value))
    }

    /// Returns the value of the field `key`, or `None` if there is no such field.
    ///
    /// # Errors
    ///
    /// The object has the key twice.
    fn get(&self, key: &str) -> Result<Option<&'de RawValue>, Refusal> {
        let mut values = self.0.iter().filter(|(name, _)| name == key).map(|&(_, value)| value);
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(("json-dup-key", "every wanted field only once".into())),
            (value, None) => Ok(value),
        }
    }

    /// Returns the values of the first alternative whose required fields the object has, with at least one value that
    /// is not null. An alternative is a list of paths to fields. Nulls are left out. If all such alternatives have only
    /// nulls, the list of values is empty. Returns `None` if the object lacks a required field of each alternative.
    pub(super) fn select(
        &self,
        alternatives: &[Vec<FieldPath>],
    ) -> Result<Option<SelectedValues<'de>>, Refusal> {
        let mut without_values = None;
        for paths in alternatives {
            let mut found = SelectedValues::default();
            let mut lacks_field = false;
            let mut has_field = false;
            for path in paths {
                let has_this = self.collect(path.steps(), &mut found)?;
                has_field |= has_this;
                lacks_field |= !has_this && !path.is_optional();
            }
            // Texts that lack a part would be equal although their records are not.
            if lacks_field {
                continue;
            }
            if !found.values.is_empty() {
                return Ok(Some(found));
            }
            // The elements that were passed over are counted also if no text is left.
            if has_field && without_values.is_none() {
                without_values = Some(found);
            }
        }
        Ok(without_values)
    }

    /// Finds the values to which `steps` lead from this object, and adds them to `found` unless they are null. `steps`
    /// are the parts of a path such as `meta.id`. Returns whether the field exists.
    fn collect(&self, steps: &[Step], found: &mut SelectedValues<'de>) -> Result<bool, Refusal> {
        let Some((Step::Key { name, rest }, inner)) = steps.split_first() else { return Ok(false) };
        if let Some(value) = self.get(rest)? {
            return collect(value, &[], found);
        }
        match self.get(name)? {
            Some(value) if !inner.is_empty() => collect(value, inner, found),
            _ => Ok(false),
        }
    }
}

/// Finds the values to which `steps` lead from `value`, and adds them to `found` unless they are null. `steps` are the
/// parts of a path such as `meta.id`. Returns whether the field exists. The field does not exist if a step leads into a
/// value that is neither an object nor a list.
fn collect<'de>(
    value: &'de RawValue,
    steps: &[Step],
    found: &mut SelectedValues<'de>,
) -> Result<bool, Refusal> {
    let json = value.get();
    match steps.split_first() {
        None => {
            if json != "null" {
                found.values.push(value);
            }
            Ok(true)
        }
        Some((Step::Key { .. }, _)) if json.starts_with('{') => {
            Object::parse(json)?.collect(steps, found)
        }
        Some((Step::Each, inner)) if json.starts_with('[') => {
            let elements = elements(json)?;
            // An empty list is like null: the field exists and has no text.
            let mut is_found = elements.is_empty();
            for element in elements {
                let has_field = collect(element, inner, found)?;
                found.skipped += u32::from(!has_field && element.get() != "null");
                is_found |= has_field;
            }
            Ok(is_found)
        }
        // Some programs write a list with one element as the element itself, and an element that has only a text as
        // this text.
        Some((Step::Each, _)) if json.starts_with('"') => collect(value, &[], found),
        // An object is a list of itself.
        Some((Step::Each, inner)) if json.starts_with('{') => collect(value, inner, found),
        // Null is like an empty list: the field exists and has no text.
        Some((Step::Each, _)) if json == "null" => Ok(true),
        Some(_) => Ok(false),
    }
}

/// Returns the elements of a list.
///
/// # Errors
///
/// `json` is not a valid list.
pub(super) fn elements(json: &str) -> Result<Vec<&RawValue>, Refusal> {
    serde_json::from_str(json).map_err(|error| ("json", explanation(&error)))
}

/// Returns all strings in a valid JSON value, in order and with their quotes. Keys of objects are left out.
pub(super) fn all_strings(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json;
    std::iter::from_fn(move || {
        loop {
            let begin = memchr::memchr(b'"', rest.as_bytes())?;
            rest = &rest[begin..];
            let (string, behind) = rest.split_at(string_length(rest)?);
            rest = behind;
            // A string before a colon is a key.
            if !behind.trim_ascii_start().starts_with(':') {
                return Some(string);
            }
        }
    })
}

/// Returns the length in bytes of the string at the start of `json`, including its quotes. Returns `None` if the string
/// does not end.
pub(super) fn string_length(json: &str) -> Option<usize> {
    let bytes = json.as_bytes();
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        // The character after the backslash belongs to the escape.
        at += 2;
    }
}

/// Returns an error of the JSON parser as text for the message about a bad record. The text has a line number only if
/// the object has several lines.
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

/// Serde visitor of an object.
struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(key) = map.next_key_seed(KeyVisitor)? {
            fields.push((key, map.next_value()?));
        }
        Ok(Object(fields))
    }
}

/// Serde visitor of a key. The key is borrowed if it has no escapes.
struct KeyVisitor;

impl<'de> DeserializeSeed<'de> for KeyVisitor {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Cow<'de, str>, D::Error> {
        json.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeyVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E>(self, key: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(key.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_strings_are_values_and_no_keys() {
        let json = r#"{"a": "x\"y", "b": ["z:", {"c" : "\\"}], "d" :1, "e":""}"#;
        let found: Vec<&str> = all_strings(json).collect();
        assert_eq!(found, [r#""x\"y""#, r#""z:""#, r#""\\""#, r#""""#]);
        assert_eq!(all_strings("12").count(), 0);
    }
}
