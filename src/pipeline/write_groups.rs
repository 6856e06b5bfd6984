//! Groups of equal rows and pairs of groups to lines.

use crate::pipeline::emit_pairs::Sink;
use crate::pipeline::row_names::{RowNames, SideIds};
use simtool_base::error::Result;
use simtool_hamming::door::{Join, SelfJoin};
use simtool_hamming::grouping::Groups;
use simtool_model::matches::ValuePair;

/// Bytes of lines that are written at once, about.
const LINES_BYTES: usize = 1 << 20;

/// Every group of two rows and more, by its first row; then the pairs of groups, each group named
/// by its first row, ascending.
///
/// # Errors
///
/// The sink fails.
pub(super) fn write_groups(
    SelfJoin { groups, pairs }: &SelfJoin,
    ids: SideIds<'_, '_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let names = &RowNames::of(ids)?;
    write_repeated("group", groups, (names, 0), sink)?;
    let first = |group: u32| groups.rows(group)[0];
    let named = pairs.iter().map(|pair| {
        let (a, b) = (first(pair.a), first(pair.b));
        ValuePair { a: a.min(b), b: a.max(b), distance: pair.distance }
    });
    write_pairs(named.collect(), names, sink)
}

/// Every group of two queries and more, every group of two rows of the corpus and more, then the
/// pairs of a query and a row, each of which stands for its group.
///
/// # Errors
///
/// The sink fails.
pub(super) fn write_query_groups(
    Join { queries, corpus, pairs }: &Join,
    ids: SideIds<'_, '_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let names = &RowNames::of(ids)?;
    write_repeated("query-group", queries, (names, 0), sink)?;
    write_repeated("group", corpus, (names, 1), sink)?;
    let named = pairs.iter().map(|pair| {
        let (a, b) = (queries.rows(pair.a)[0], corpus.rows(pair.b)[0]);
        ValuePair { a, b, distance: pair.distance }
    });
    write_pairs(named.collect(), names, sink)
}

/// The groups of two rows and more, by their first row.
fn write_repeated(
    name: &str,
    groups: &Groups,
    (names, side): (&RowNames<'_>, usize),
    sink: &mut Sink<'_>,
) -> Result<()> {
    let mut repeated: Vec<u32> = groups.repeated().collect();
    repeated.sort_unstable_by_key(|&group| groups.rows(group)[0]);
    let mut out = Vec::new();
    for group in repeated {
        out.extend_from_slice(name.as_bytes());
        for (at, &row) in groups.rows(group).iter().enumerate() {
            out.push(if at == 0 { b'\t' } else { names.between(side) });
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

/// Pairs of groups, ascending by the rows that name them.
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
