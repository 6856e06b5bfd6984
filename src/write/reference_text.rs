//! The reference program's output: a query's ID, then its matches by distance.
//!
//! ```text
//! Sample-1
//! 0:1-1
//! 2:1-901 1-17
//! ```
//!
//! Every match is followed by one space, which the example cannot show at the ends of its lines; a
//! distance without matches has no line.

use crate::matches::Match;

/// IDs of up to this length are copied as one block of it.
const SHORT_ID: usize = 16;

/// Writes blocks; keeps its memory from one to the next.
#[derive(Debug)]
pub struct ReferenceText {
    /// The rows at each distance.
    rows: Vec<Vec<u32>>,
}

impl ReferenceText {
    /// A writer of matches at distances from 0 to `max_distance`.
    #[must_use]
    pub fn new(max_distance: u32) -> Self {
        Self { rows: vec![Vec::new(); max_distance as usize + 1] }
    }

    /// Appends the block of one query to `text`.
    ///
    /// `matches` are its matches in corpus order. `id` gives a text that begins with the ID of a
    /// corpus row, and the ID's length; if the text goes on, a short ID is copied faster.
    ///
    /// # Panics
    ///
    /// A match is farther than the largest distance.
    pub fn write_query<'c>(
        &mut self,
        text: &mut Vec<u8>,
        query_id: &[u8],
        matches: &[Match],
        id: impl Fn(u32) -> (&'c [u8], usize),
    ) {
        for found in matches {
            self.rows[found.distance as usize].push(found.row);
        }
        text.extend_from_slice(query_id);
        text.push(b'\n');
        for (distance, rows) in self.rows.iter_mut().enumerate().filter(|(_, r)| !r.is_empty()) {
            text.extend_from_slice(distance.to_string().as_bytes());
            text.push(b':');
            for row in rows.drain(..) {
                let (from, length) = id(row);
                write_id(text, from, length);
            }
            text.push(b'\n');
        }
    }
}

/// Appends the first `length` bytes of `from`, and a space.
#[inline]
fn write_id(text: &mut Vec<u8>, from: &[u8], length: usize) {
    match from.first_chunk::<SHORT_ID>() {
        Some(block) if length <= SHORT_ID => {
            let end = text.len() + length;
            text.extend_from_slice(block);
            text.truncate(end);
        }
        _ => text.extend_from_slice(&from[..length]),
    }
    text.push(b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_grouped_by_distance_in_corpus_order() {
        let ids: [(&[u8], usize); 4] = [
            (b"a", 1),
            (b"bb and the text behind it", 2),
            (b"c", 1),
            (b"longer than one block", 21),
        ];
        let id = |row: u32| ids[row as usize];
        let matches =
            [(2, 0), (0, 1), (2, 2), (3, 3)].map(|(distance, row)| Match { distance, row });
        let mut text = Vec::new();
        let mut writer = ReferenceText::new(3);
        writer.write_query(&mut text, b"Q", &matches, id);
        writer.write_query(&mut text, b"R", &[], id);
        assert_eq!(text, b"Q\n0:bb \n2:a c \n3:longer than one block \nR\n");
    }
}
