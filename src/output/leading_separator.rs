//! The separators and ends in copies of arrays from which elements were left out.

use simtool_model::document::{Content, Record};
use simtool_read::Recognized;

/// Removes the separator before the first element of a copied array, for example the comma before the first object of a
/// JSON array. All other elements keep their separators.
#[derive(Debug, Default)]
pub(super) struct LeadingSeparator {
    /// The character at the start of each element except the first. `None` if the format has none.
    character: Option<u8>,
    /// Whether an element of the array was copied.
    has_kept: bool,
    /// Whether an element was left out before the first copied one.
    has_left_out: bool,
    state: ArrayState,
}

/// State of the copy of an array: whether the array has begun or ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ArrayState {
    /// No array has begun, or its end was copied.
    #[default]
    Outside,
    /// The array has begun.
    Inside,
    /// The array has begun, and a bad record in it was left out. The end of the array may be a part of that record.
    MayHaveEnded,
}

impl LeadingSeparator {
    /// Creates the value for copying a file of the format `recognized`, which is `None` if the format is not known.
    pub(super) fn of_format(recognized: Option<Recognized>) -> Self {
        let character = recognized.and_then(|recognized| recognized.format.leading_separator());
        Self { character, ..Self::default() }
    }

    /// Returns the bytes of `record` that the copy gets. A record that is not an element, such as `[` or `][`, begins
    /// or ends an array, and is copied whole.
    pub(super) fn copied_record<'b>(&mut self, record: &Record<'b>) -> &'b [u8] {
        if matches!(record.content, Content::PassThrough) {
            (self.has_kept, self.has_left_out) = (false, false);
            match record.bytes.iter().rfind(|byte| b"[]".contains(byte)) {
                Some(b'[') => self.state = ArrayState::Inside,
                Some(_) => self.state = ArrayState::Outside,
                None => {}
            }
            return record.bytes;
        }
        self.copied(record.bytes)
    }

    /// Records that the next element is not copied. `content` is its content, which may be a bad record.
    pub(super) fn leave_out(&mut self, content: &Content<'_>) {
        self.has_left_out |= !self.has_kept;
        if self.state == ArrayState::Inside && matches!(content, Content::Bad(_)) {
            self.state = ArrayState::MayHaveEnded;
        }
    }

    /// Returns `]` and a line feed if the end of the last array may have been left out with a bad record. Otherwise
    /// returns no bytes.
    pub(super) fn end(&self) -> &'static [u8] {
        let lacks_end = self.character.is_some() && self.state == ArrayState::MayHaveEnded;
        if lacks_end { b"]\n" } else { b"" }
    }

    /// Returns the bytes that the copy gets of the next element, or of its next part. If all elements before this one
    /// were left out, the bytes have no separator.
    pub(super) fn copied<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let is_first = !std::mem::replace(&mut self.has_kept, true);
        match self.character {
            Some(character) if is_first && self.has_left_out => {
                bytes.trim_ascii_start().strip_prefix(&[character]).unwrap_or(bytes)
            }
            _ => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::document::Bad;

    /// Returns the copy of `elements`, without the elements in `left_out`.
    fn copy(elements: &[&str], left_out: &[usize]) -> String {
        let mut separator =
            LeadingSeparator { character: Some(b','), ..LeadingSeparator::default() };
        let mut copy = Vec::new();
        for (at, element) in elements.iter().enumerate() {
            let is_border = element.starts_with(['[', ']']);
            let content = if is_border { Content::PassThrough } else { Content::PassedOver };
            let record =
                Record { number: 0, byte: 0, bytes: element.as_bytes(), known_hash: None, content };
            if left_out.contains(&at) {
                separator.leave_out(&Content::Bad(&Bad::no_text(0)));
            } else {
                copy.extend_from_slice(separator.copied_record(&record));
            }
        }
        copy.extend_from_slice(separator.end());
        String::from_utf8(copy).unwrap()
    }

    #[test]
    fn only_the_first_copied_element_loses_its_separator() {
        let elements = ["[", "1", " , 2", ",3", "][", ",4", ",5", "]"];
        assert_eq!(copy(&elements, &[]), "[1 , 2,3][,4,5]");
        assert_eq!(copy(&elements, &[1]), "[ 2,3][,4,5]");
        assert_eq!(copy(&elements, &[1, 2, 5]), "[3][5]");
        assert_eq!(copy(&elements, &[2, 3, 6]), "[1][,4]");
    }

    #[test]
    fn an_array_whose_end_is_left_out_gets_another_one() {
        let elements = ["[", "1", ",2", ", }]"];
        assert_eq!(copy(&elements, &[3]), "[1,2]\n");
        assert_eq!(copy(&elements, &[1, 3]), "[2]\n");
        assert_eq!(copy(&elements, &[]), "[1,2, }]");
        assert_eq!(copy(&["[", "1", "]\n"], &[1]), "[]\n");
    }
}
