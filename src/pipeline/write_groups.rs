//! Groups of equal rows and pairs of groups to lines.

use crate::error::Result;
use crate::matches::ValuePair;
use crate::pipeline::emit_pairs::Sink;
use crate::search::door::{Join, SelfJoin};
use crate::search::grouping::Groups;
use crate::write::pair_table;

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
    sink: &mut Sink<'_>,
) -> Result<()> {
    write_repeated("group", groups, sink)?;
    let first = |group: u32| groups.rows(group)[0];
    let named = pairs.iter().map(|pair| {
        let (a, b) = (first(pair.a), first(pair.b));
        ValuePair { a: a.min(b), b: a.max(b), distance: pair.distance }
    });
    write_named(named.collect(), sink)
}

/// Every group of two queries and more, every group of two rows of the corpus and more, then the
/// pairs of a query and a row, each of which stands for its group.
///
/// # Errors
///
/// The sink fails.
pub(super) fn write_query_groups(
    Join { queries, corpus, pairs }: &Join,
    sink: &mut Sink<'_>,
) -> Result<()> {
    write_repeated("query-group", queries, sink)?;
    write_repeated("group", corpus, sink)?;
    let named = pairs.iter().map(|pair| {
        let (a, b) = (queries.rows(pair.a)[0], corpus.rows(pair.b)[0]);
        ValuePair { a, b, distance: pair.distance }
    });
    write_named(named.collect(), sink)
}

/// The groups of two rows and more, by their first row.
fn write_repeated(name: &str, groups: &Groups, sink: &mut Sink<'_>) -> Result<()> {
    let mut repeated: Vec<u32> = groups.repeated().collect();
    repeated.sort_unstable_by_key(|&group| groups.rows(group)[0]);
    let mut out = Vec::new();
    for group in repeated {
        pair_table::push_group(name, groups.rows(group), &mut out);
        if out.len() > LINES_BYTES {
            sink(&out)?;
            out.clear();
        }
    }
    sink(&out)
}

/// Pairs of groups, ascending by the rows that name them.
fn write_named(mut pairs: Vec<ValuePair>, sink: &mut Sink<'_>) -> Result<()> {
    pairs.sort_unstable();
    let mut out = Vec::new();
    for pair in pairs {
        out.extend_from_slice(b"pair\t");
        pair_table::push_tsv(pair.a, pair.b, pair.distance, &mut out);
        if out.len() > LINES_BYTES {
            sink(&out)?;
            out.clear();
        }
    }
    sink(&out)
}
