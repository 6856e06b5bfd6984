//! Writes groups of equal fingerprints, and pairs of groups, as lines of text.

use crate::output::emit_pairs::Sink;
use crate::output::row_names::{RowNames, SideIds};
use simtool_base::error::Result;
use simtool_hamming::group_pairs::GroupPairs;
use simtool_model::groups::Groups;
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;

/// Approximate number of bytes of lines that are collected before they are passed to the sink.
const LINES_BYTES: usize = 1 << 20;

/// Writes a `group` line for each group of equal fingerprints that has several rows. Then it writes a `pair`
/// line for each pair of groups in `found`. A pair line names each group by its first row.
///
/// If queries were joined with a corpus, the groups of queries come first. Their lines start with
/// `query-group` instead of `group`.
///
/// # Errors
///
/// The sink fails.
pub(crate) fn write_groups(
    found: &GroupPairs,
    ids: SideIds<'_, '_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let names = &RowNames::from_ids(ids)?;
    match &found.groups {
        Sides::One(groups) => write_repeated("group", groups, names, 0, sink)?,
        Sides::Two(queries, corpus) => {
            write_repeated("query-group", queries, names, 0, sink)?;
            write_repeated("group", corpus, names, 1, sink)?;
        }
    }
    let named = found.pairs.iter().map(|pair| {
        let a = found.groups.first().rows(pair.a)[0];
        let b = found.groups.second().rows(pair.b)[0];
        // Groups are numbered by their fingerprints, so the first rows of a pair within one collection may
        // descend.
        let is_reversed = !found.groups.is_two() && a > b;
        let (a, b) = if is_reversed { (b, a) } else { (a, b) };
        ValuePair { a, b, distance: pair.distance }
    });
    write_pairs(named.collect(), names, sink)
}

/// Writes the groups that have several rows, ordered by their first rows. `name` is the first word of each
/// line. `side` is 0 for the queries or the only collection, and 1 for the corpus.
fn write_repeated(
    name: &str,
    groups: &Groups,
    names: &RowNames<'_>,
    side: usize,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let mut out = Vec::new();
    for group in groups.repeated() {
        out.extend_from_slice(name.as_bytes());
        for (at, &row) in groups.rows(group).iter().enumerate() {
            out.push(if at == 0 { b'\t' } else { names.separator(side) });
            names.push(side, row, &mut out);
        }
        out.push(b'\n');
        if out.len() > LINES_BYTES {
            sink(&out)?;
            out.clear();
        }
    }
    sink(&out)
}

/// Writes the pairs of groups. A pair is named by the first rows of its groups, and pairs are ordered by
/// these rows.
fn write_pairs(mut pairs: Vec<ValuePair>, names: &RowNames<'_>, sink: &mut Sink<'_>) -> Result<()> {
    pairs.sort_unstable();
    let mut out = Vec::new();
    for pair in pairs {
        out.extend_from_slice(b"pair\t");
        names.push_pair([pair.a, pair.b], pair.distance, &mut out);
        if out.len() > LINES_BYTES {
            sink(&out)?;
            out.clear();
        }
    }
    sink(&out)
}
