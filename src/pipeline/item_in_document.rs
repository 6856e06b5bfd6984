//! The items of an evaluation set that a document contains. They can be converted to a list of numbers (the row of the
//! document), which a run stores for a later run.

use std::ops::Range;

/// An item of an evaluation set, for example a question, that a document contains.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemInDocument {
    /// Number of the item, in reading order.
    pub item: u32,
    /// Number of the document, in reading order.
    pub document: u32,
    /// Share of the item that the document has, from 0 to 1.
    pub share: f64,
    /// Number of words of the item that the document has.
    pub words: u32,
    /// Ranges of these words in the item. The words of the item are counted from 0.
    pub item_words: Vec<Range<u64>>,
    /// Byte ranges of these words in the decoded text of the document.
    pub bytes: Vec<Range<u64>>,
    /// Whether the item is one of the best items at its place: less than half of its words in the document are also in
    /// better items for which this field is true. An item is better if it has the greater share or, with equal shares,
    /// more words.
    pub is_best: bool,
}

/// Converts an item that a document contains to numbers, and appends them to `row`, the list of numbers of the
/// document.
pub(super) fn store_item(found: &ItemInDocument, row: &mut Vec<u64>) {
    let ItemInDocument { item, document: _, share, words, item_words, bytes, is_best } = found;
    // The bits of the share are kept, so that it is written with the same digits.
    row.extend([u64::from(*item), share.to_bits(), u64::from(*words), u64::from(*is_best)]);
    for ranges in [item_words, bytes] {
        row.push(ranges.len() as u64);
        row.extend(ranges.iter().flat_map(|range| [range.start, range.end]));
    }
}

/// Converts the numbers in `row` back to the items that document number `document` contains. Returns `None` if the row
/// was not made by [`store_item`].
pub(super) fn stored_items(document: u32, mut row: &[u64]) -> Option<Vec<ItemInDocument>> {
    let mut items = Vec::new();
    while !row.is_empty() {
        items.push(ItemInDocument {
            item: take(&mut row)?.try_into().ok()?,
            document,
            share: f64::from_bits(take(&mut row)?),
            words: take(&mut row)?.try_into().ok()?,
            is_best: take(&mut row)? == 1,
            item_words: take_ranges(&mut row)?,
            bytes: take_ranges(&mut row)?,
        });
    }
    Some(items)
}

fn take(row: &mut &[u64]) -> Option<u64> {
    let (&first, rest) = row.split_first()?;
    *row = rest;
    Some(first)
}

fn take_ranges(row: &mut &[u64]) -> Option<Vec<Range<u64>>> {
    (0..take(row)?).map(|_| Some(take(row)?..take(row)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_from_a_row() {
        let item = |item: u32, is_best| ItemInDocument {
            item,
            document: 7,
            share: 0.8,
            words: 12,
            item_words: vec![0..5, 9..11],
            bytes: vec![30..55, 60..61],
            is_best,
        };
        let items = vec![item(3, true), ItemInDocument { bytes: Vec::new(), ..item(9, false) }];
        let mut row = Vec::new();
        for item in &items {
            store_item(item, &mut row);
        }
        assert_eq!(stored_items(7, &row), Some(items));
        assert_eq!(stored_items(7, &[]), Some(Vec::new()));
        for end in 1..row.len() {
            assert_ne!(stored_items(7, &row[..end]).map(|items| items.len()), Some(2), "{end}");
        }
    }
}
