//! The rules of the option `keep`, each of which chooses among several near-duplicates.

use super::date_value::date_value;
use simtool_base::options::Choice;
use simtool_model::field_value::FieldValue;
use std::cmp::Ordering;

/// Rule for choosing which document of several near-duplicates is kept.
///
/// ```
/// use simtool::{Config, Keep, Texts, deduplicate};
///
/// let texts = Texts::of(&["a b c", "A b c", "a, b, c"]).with_fields(&["9", "10", ""])?;
/// let found = deduplicate(&texts, &Config { keep: Keep::FieldMax.into(), ..Config::default() })?;
/// assert_eq!(found.kept().collect::<Vec<_>>(), [1]);
/// # Ok::<(), simtool::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The first document in reading order.
    #[default]
    First,
    /// The last document in reading order.
    Last,
    /// The document with the most bytes of text. If several are equally long, the first one of them.
    Longest,
    /// The document with the greatest value of the field that the rule names. If several have
    /// this value, the first one of them.
    FieldMax,
    /// The document with the smallest value of the field that the rule names. If several have
    /// this value, the first one of them.
    FieldMin,
    /// The document with the latest date. The option `keep_field` names the field with the date. If documents are read
    /// from files and the option is missing, the date is taken from a field that usually holds one. If several
    /// documents have the latest date, the first one of them.
    Newest,
    /// The document with the earliest date. Everything else is like [`Self::Newest`].
    Oldest,
}

impl Choice for Keep {
    const ALL: &'static [Self] = &[
        Self::First,
        Self::Last,
        Self::Longest,
        Self::Newest,
        Self::Oldest,
        Self::FieldMax,
        Self::FieldMin,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Longest => "longest",
            Self::FieldMax => "max",
            Self::FieldMin => "min",
            Self::Newest => "newest",
            Self::Oldest => "oldest",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::First => "The first in reading order",
            Self::Last => "The last in reading order",
            Self::Longest => "The one with most bytes of text",
            Self::FieldMax => "The one with the greatest value of a field, as in max:score",
            Self::FieldMin => "The one with the smallest value of a field, as in min:score",
            Self::Newest => {
                "The one with the latest date, as in newest:updated, or newest for a usual field of dates"
            }
            Self::Oldest => "The one with the earliest date",
        }
    }
}

impl Keep {
    /// Returns whether this rule compares the values of a field of the documents.
    #[must_use]
    pub(crate) fn is_by_field(self) -> bool {
        matches!(self, Self::FieldMax | Self::FieldMin) || self.is_by_date()
    }

    /// Returns whether this rule compares the dates of the documents.
    #[must_use]
    pub(crate) fn is_by_date(self) -> bool {
        matches!(self, Self::Newest | Self::Oldest)
    }

    /// Returns whether this rule cannot use a value that a document has, because it is no date or no number. `value` is
    /// the parsed value. Do not call it for a document without a value, which would be parsed as missing, too.
    pub(super) fn is_unread(self, value: &FieldValue) -> bool {
        match self {
            Self::Newest | Self::Oldest => *value == FieldValue::Missing,
            Self::FieldMax | Self::FieldMin => matches!(value, FieldValue::Text(_)),
            Self::First | Self::Last | Self::Longest => false,
        }
    }

    /// Parses the bytes of the field that this rule compares. `None` means that the document lacks the field.
    #[must_use]
    pub fn value(self, bytes: Option<&[u8]>) -> FieldValue {
        if self.is_by_date() { date_value(bytes) } else { FieldValue::parse(bytes) }
    }

    /// Compares the field values of two documents. `Less` means that the first document is preferred.
    pub(super) fn compare(self, a: &FieldValue, b: &FieldValue) -> Ordering {
        match self {
            // A document without the value comes last, whether great or small values are preferred.
            Self::FieldMax | Self::Newest => a.compare_greatest_first(b),
            Self::FieldMin | Self::Oldest => a.compare(b),
            Self::First | Self::Last | Self::Longest => Ordering::Equal,
        }
    }

    /// Converts the field value of a document to bytes that sort in the order of preference. Of several
    /// near-duplicates, the document with the smallest bytes is kept. With these bytes, other engines such as
    /// Spark can apply this rule.
    #[must_use]
    pub fn ordered_bytes(self, value: &FieldValue) -> Vec<u8> {
        let mut bytes = value.to_ordered_bytes();
        // Complemented bytes sort in the opposite order. The first byte is the kind of the value: numbers
        // come before text, and text before missing values, in either direction.
        if matches!(self, Self::FieldMax | Self::Newest) {
            for byte in &mut bytes[1..] {
                *byte = !*byte;
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_order_documents_by_their_fields() {
        let values = [Some("9"), Some("10"), Some("10.5"), Some("a"), Some("ab"), None];
        let order = |keep: Keep| {
            let mut ordered = values;
            ordered.sort_by_key(|value| {
                keep.ordered_bytes(&FieldValue::parse(value.map(str::as_bytes)))
            });
            ordered
        };
        assert_eq!(order(Keep::FieldMin), values);
        let mut greatest = values;
        greatest[..3].reverse();
        greatest[3..5].reverse();
        assert_eq!(order(Keep::FieldMax), greatest);
        let bytes = |keep: Keep, date: &str| keep.ordered_bytes(&keep.value(Some(date.as_bytes())));
        let [old, new] = ["Fri, 02 Jan 2026 03:04:05 GMT", "2026-05-01"];
        assert!(bytes(Keep::Newest, new) < bytes(Keep::Newest, old));
        assert!(bytes(Keep::Oldest, old) < bytes(Keep::Oldest, new));
        assert!(bytes(Keep::Newest, new) < bytes(Keep::Newest, "soon"));
    }
}
