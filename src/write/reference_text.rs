//! Writes matches in the format of the reference program: the ID of a query, then its matches by distance.
//!
//! ```text
//! Sample-1
//! 0:1-1
//! 2:1-901 1-17
//! ```
//!
//! Every match is followed by one space, also at the end of a line, where the example cannot show it. A
//! distance without matches has no line.

use simtool_model::matches::Match;

/// Maximum number of bytes of a short ID. Short IDs are copied as a block of this fixed size, which is faster
/// than copying a variable number of bytes.
const SHORT_ID: usize = 16;

/// ID of a document of the corpus. The ID may be written many times. If it is short, this value contains a copy
/// of it, so that writing the ID does not read the memory of the corpus again.
#[derive(Clone, Copy, Debug)]
pub struct Id<'c> {
    block: [u8; SHORT_ID],
    bytes: &'c [u8],
}

impl<'c> Id<'c> {
    /// Creates an ID from its bytes.
    #[must_use]
    pub fn new(bytes: &'c [u8]) -> Self {
        let mut block = [0; SHORT_ID];
        let length = bytes.len().min(SHORT_ID);
        block[..length].copy_from_slice(&bytes[..length]);
        Self { block, bytes }
    }

    /// Returns the bytes of the ID.
    #[must_use]
    pub fn bytes(self) -> &'c [u8] {
        self.bytes
    }

    /// Appends the ID and a space to `text`.
    #[inline]
    fn write(self, text: &mut Vec<u8>) {
        if self.bytes.len() <= SHORT_ID {
            // Copying 16 bytes and cutting off the surplus is faster than copying a variable number of bytes.
            let end = text.len() + self.bytes.len();
            text.extend_from_slice(&self.block);
            text.truncate(end);
        } else {
            text.extend_from_slice(self.bytes);
        }
        text.push(b' ');
    }
}

/// Writer for the text that lists queries and their matches. It uses its memory again for every query.
#[derive(Debug)]
pub struct ReferenceText {
    /// For each distance, the numbers of the documents of the corpus that match the present query at this
    /// distance.
    rows: Vec<Vec<u32>>,
}

impl ReferenceText {
    /// Creates a writer for matches at distances from 0 to `max_distance`.
    #[must_use]
    pub fn new(max_distance: u32) -> Self {
        Self { rows: vec![Vec::new(); max_distance as usize + 1] }
    }

    /// Appends the ID of a query and the list of its matches to `text`.
    ///
    /// `matches` are the matches of the query in corpus order. `ids` holds the ID of every document of the
    /// corpus.
    ///
    /// # Panics
    ///
    /// Panics if a match is farther than `max_distance`, or if its document has no ID in `ids`.
    pub fn write_query(
        &mut self,
        text: &mut Vec<u8>,
        query_id: &[u8],
        matches: &[Match],
        ids: &[Id<'_>],
    ) {
        // Matches come in corpus order, so the list of each distance need not be sorted.
        for found in matches {
            self.rows[found.distance as usize].push(found.row);
        }
        text.extend_from_slice(query_id);
        text.push(b'\n');
        for (distance, rows) in self.rows.iter_mut().enumerate().filter(|(_, r)| !r.is_empty()) {
            text.extend_from_slice(distance.to_string().as_bytes());
            text.push(b':');
            // Draining empties the list for the next query but keeps its memory.
            for row in rows.drain(..) {
                ids[row as usize].write(text);
            }
            text.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_grouped_by_distance_in_corpus_order() {
        let ids = ["a", "bb", "exactly sixteen!", "longer than one block"];
        let ids = ids.map(|id| Id::new(id.as_bytes()));
        let matches =
            [(2, 0), (0, 1), (2, 2), (3, 3)].map(|(distance, row)| Match { distance, row });
        let mut text = Vec::new();
        let mut writer = ReferenceText::new(3);
        writer.write_query(&mut text, b"Q", &matches, &ids);
        writer.write_query(&mut text, b"R", &[], &ids);
        assert_eq!(text, b"Q\n0:bb \n2:a exactly sixteen! \n3:longer than one block \nR\n");
    }
}
