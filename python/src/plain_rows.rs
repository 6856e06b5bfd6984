//! Rows of `NearDuplicates` as plain values of Python.

use crate::document_columns::TextColumns;
use crate::plain_values::{Numbers, link};
use simtool::cluster::Removal;
use simtool::stages::close::Close;
use simtool::stages::sides::Sides;

/// Rows of `NearDuplicates`: the numbers of documents, the groups of equal rows of each collection, the pairs, the
/// removals, the hashes of the sequences of tokens of each collection, and the columns of the texts.
pub(crate) type PlainRows =
    (Vec<usize>, Vec<Vec<Vec<u32>>>, Vec<u8>, Vec<u8>, Vec<Vec<u8>>, Vec<Vec<u8>>);

/// Returns the rows of a result as plain values.
pub(crate) fn found_rows(
    documents: &Sides<usize>,
    close: &Close,
    removals: &[Removal],
    texts: Option<&TextColumns>,
) -> PlainRows {
    let documents: Vec<usize> = each(documents).copied().collect();
    let groups = each(&close.groups);
    let groups = groups.map(|groups| groups.iter().map(<[u32]>::to_vec).collect()).collect();
    let pairs = close.pairs.iter();
    let pairs = Numbers::new(pairs.flat_map(|pair| link(pair.a, pair.b, Some(pair.closeness))));
    let removals = removals.iter();
    let removals = Numbers::new(
        removals.flat_map(|removal| link(removal.row, removal.kept, removal.closeness)),
    );
    let sequences = close.sequences.hashes().into_iter().flat_map(each);
    let sequences = sequences.map(|hashes| Numbers::new(hashes.iter().copied()).0).collect();
    let texts = texts.map(text_columns).unwrap_or_default();
    (documents, groups, pairs.0, removals.0, sequences, texts)
}

/// Returns the columns of the texts as plain values.
fn text_columns(texts: &TextColumns) -> Vec<Vec<u8>> {
    let columns = [&texts.bytes, &texts.tokens, &texts.exact_copies];
    let mut plain: Vec<Vec<u8>> =
        columns.map(|column| Numbers::new(column.iter().map(|&number| number.into())).0).into();
    let shares = texts.repeated_share.as_ref();
    plain.extend(shares.map(|shares| Numbers::new(shares.iter().map(|share| share.to_bits())).0));
    plain
}

/// Returns the value of each collection: one value, or two values in a match.
pub(crate) fn each<T>(sides: &Sides<T>) -> impl Iterator<Item = &T> {
    let second = sides.is_two().then(|| sides.second());
    std::iter::once(sides.first()).chain(second)
}
