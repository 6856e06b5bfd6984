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

/// Appends the block of one query to `text`.
///
/// `matches` are its matches in any order of distances and in corpus order within each; `id` gives
/// the ID of a corpus row.
pub fn write_query<'c>(
    text: &mut Vec<u8>,
    query_id: &[u8],
    matches: &[Match],
    max_distance: u32,
    id: impl Fn(u32) -> &'c [u8],
) {
    text.extend_from_slice(query_id);
    text.push(b'\n');
    for distance in 0..=max_distance {
        let mut any = false;
        for found in matches.iter().filter(|found| found.distance == distance) {
            if !any {
                text.extend_from_slice(distance.to_string().as_bytes());
                text.push(b':');
                any = true;
            }
            text.extend_from_slice(id(found.row));
            text.push(b' ');
        }
        if any {
            text.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_grouped_by_distance_in_corpus_order() {
        let ids = ["a", "b", "c", "d"];
        let matches =
            [(2, 0), (0, 1), (2, 2), (4, 3)].map(|(distance, row)| Match { distance, row });
        let mut text = Vec::new();
        write_query(&mut text, b"Q", &matches, 3, |row| ids[row as usize].as_bytes());
        write_query(&mut text, b"R", &[], 3, |row| ids[row as usize].as_bytes());
        assert_eq!(text, b"Q\n0:b \n2:a c \nR\n");
    }
}
