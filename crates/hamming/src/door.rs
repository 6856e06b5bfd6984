//! The door of the stage: rows of any width and metric, a plan and resources in; row numbers and
//! distances out.
//!
//! Behind it, rows of up to eight words are lanes of 1, 2, 4 or 8 words; rows of other numbers of
//! words are copied and end in words of 0. Rows of more words are joined by masks, where these are
//! long enough that few rows agree in one, and else compared one with another, whatever the plan
//! says. Lanes that may be null get values, and lanes that vote are joined one
//! after the other. All work is done by the threads of the pool that the caller runs in.

use crate::asked_rows::{Indexed, ScanBehind, Scanned, Searched, Streamed};
use crate::band_join::band_join as by_bands;
use crate::bipartite_join::bipartite_join;
use crate::bit_probing::BitProbing;
use crate::block_index::BlockIndex;
use crate::bucket_table::TableKeys;
use crate::collect::{CountRows, KeepPairs};
use crate::expanded_set::ExpandedSet;
use crate::grouping::{Groups, group};
use crate::lane_rows::{LaneRows, Work, check_count};
use crate::layout::Layout;
use crate::multi_index_join;
use crate::null_lanes::{Side, may_be_null, without_nulls};
use crate::partition_join;
use crate::partners::{Partners, collect, count};
use crate::permuted_tables::PermutedTables;
use crate::planner::{IndexName, Plan};
use crate::row_pairs::RowPairs;
use crate::streamed_queries::StreamedQueries;
use crate::votes;
use crate::wide_scan::WideRows;
use crate::{FingerprintIndex, Searcher};
use simtool_base::error::{Error, Result};
use simtool_base::progress::{Progress, Share};
use simtool_compute::resources::Resources;
use simtool_model::fingerprint_rows::{FingerprintRows, Metric, Shape, recipe_difference};
use simtool_model::fingerprint_table::{Lane, Reach, Wide};
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;
use std::borrow::Cow;

pub use crate::bipartite_join::Join;
pub use crate::partition_join::SelfJoin;

/// Bits of a mask in which hardly any two rows agree by chance.
const LONG_MASK: u32 = 32;

/// Calls a function with the narrowest lanes that hold the rows; `$wide` where none do.
macro_rules! in_lanes {
    ($rows:expr, $function:ident($($argument:expr),*), $wide:expr) => {
        match lane_words($rows.shape) {
            0..=1 => $function::<u64>($($argument),*),
            2 => $function::<Wide<2>>($($argument),*),
            3..=4 => $function::<Wide<4>>($($argument),*),
            5..=8 => $function::<Wide<8>>($($argument),*),
            _ => $wide,
        }
    };
}

/// Words of rows as lanes; more than any lane has where a difference does not tell the distance.
fn lane_words(shape: Shape) -> usize {
    match shape.metric() {
        Metric::Cosine { .. } => usize::MAX,
        _ => shape.words(),
    }
}

/// Whether rows that are wider than any lane are joined by masks, each of which has so many bits that
/// few rows agree in one.
fn has_long_masks(work: Work<'_>) -> bool {
    let Reach { shape, max_distance } = work.reach;
    let (units, unit_bits) = shape.parts();
    let bits = units / max_distance.saturating_add(1) * unit_bits;
    work.index != IndexName::LinearScan
        && matches!(shape.metric(), Metric::Bits | Metric::Lanes { .. })
        && lane_words(shape) > Wide::<8>::WORDS
        && bits >= LONG_MASK
}

/// Whether all pairs are found before the first is handed out.
fn is_found_at_once(work: Work<'_>) -> bool {
    may_be_null(work.reach.shape) || work.votes().is_some() || has_long_masks(work)
}

/// Finds all pairs of rows within the distance of `plan`, by its method: groups of equal rows, and
/// pairs of groups. A join that `progress` cancels may end without all of them.
///
/// # Errors
///
/// There are too many rows, the method is none for self-joins, a temporary file fails, or the memory
/// cannot be had.
pub fn self_join(
    rows: &FingerprintRows<'_>,
    plan: &Plan,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<SelfJoin> {
    if may_be_null(rows.shape) {
        return self_join(&without_nulls(rows, 0.., Side::Corpus), plan, resources, progress);
    }
    let share = Share::begin("joining", progress);
    let work = Work { share, ..Work::of(rows, plan, resources)? };
    if let Some(needed) = work.votes() {
        let (groups, values) = distinct(rows, work.reach)?;
        return Ok(SelfJoin { groups, pairs: votes::self_pairs(&values, needed, work)? });
    }
    in_lanes!(rows, self_join_lanes(rows, work), wide_self_join(rows, work))
}

fn wide_self_join(rows: &FingerprintRows<'_>, work: Work<'_>) -> Result<SelfJoin> {
    if has_long_masks(work) {
        let (groups, values) = distinct(rows, work.reach)?;
        let layout = Layout::of(&values.words, rows.shape, work.reach.max_distance);
        let pairs = by_bands(Sides::One(&values), &layout, work.reach.max_distance, work.share);
        return Ok(SelfJoin { groups, pairs });
    }
    let (groups, values) = WideRows::new(rows, work.reach).grouped()?;
    Ok(SelfJoin { groups, pairs: collect(&values) })
}

/// Counts the pairs of rows that [`self_join`] finds, without keeping them.
///
/// # Errors
///
/// As [`self_join`].
pub fn count_self_join(
    rows: &FingerprintRows<'_>,
    plan: &Plan,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<u64> {
    if may_be_null(rows.shape) {
        return count_self_join(&without_nulls(rows, 0.., Side::Corpus), plan, resources, progress);
    }
    let work = Work::of(rows, plan, resources)?;
    if is_found_at_once(work) {
        return Ok(count(&*self_partners(rows, plan, resources, progress)?, progress));
    }
    let work = Work { share: Share::begin("joining", progress), ..work };
    in_lanes!(
        rows,
        count_lanes(rows, work, progress),
        Ok(count(&WideRows::new(rows, work.reach), progress))
    )
}

/// The partners of each row within the distance of `plan`, those behind it: the pairs of
/// [`self_join`] as pairs of rows.
///
/// # Errors
///
/// As [`self_join`].
pub fn self_partners<'a>(
    rows: &'a FingerprintRows<'_>,
    plan: &Plan,
    resources: &'a Resources,
    progress: &'a dyn Progress,
) -> Result<Box<dyn Partners + 'a>> {
    let work = Work::of(rows, plan, resources)?;
    if is_found_at_once(work) {
        let found = self_join(rows, plan, resources, progress)?;
        return Ok(Box::new(RowPairs::of_self_join(found, rows.len())));
    }
    let work = Work { share: Share::begin("joining", progress), ..work };
    in_lanes!(rows, self_partners_lanes(rows, work), Ok(Box::new(WideRows::new(rows, work.reach))))
}

/// Finds all pairs of a query and a corpus row within the distance of `plan`, by its method: groups
/// of equal rows on both sides, and pairs of groups. A join that `progress` cancels may end without all
/// of them.
///
/// # Errors
///
/// Queries and corpus do not compare, there are too many rows, the method is none for searches, or the
/// memory cannot be had.
pub fn join(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    plan: &Plan,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Join> {
    check_both(queries, corpus)?;
    if may_be_null(corpus.shape) {
        let queries = without_nulls(queries, 0.., Side::Queries);
        return join(
            &queries,
            &without_nulls(corpus, 0.., Side::Corpus),
            plan,
            resources,
            progress,
        );
    }
    let share = Share::begin("joining", progress);
    let work = Work { share, ..Work::of(corpus, plan, resources)? };
    if let Some(needed) = work.votes() {
        let (queries, asking) = distinct(queries, work.reach)?;
        let (corpus, asked) = distinct(corpus, work.reach)?;
        let pairs = votes::cross_pairs(&asking, &asked, needed, work)?;
        return Ok(Join { queries, corpus, pairs });
    }
    in_lanes!(corpus, join_lanes(queries, corpus, work), wide_join(queries, corpus, work))
}

fn wide_join(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    work: Work<'_>,
) -> Result<Join> {
    if has_long_masks(work) {
        let (queries, asking) = distinct(queries, work.reach)?;
        let (corpus, asked) = distinct(corpus, work.reach)?;
        let layout = Layout::of(&asked.words, asked.shape, work.reach.max_distance);
        let sides = Sides::Two(&asking, &asked);
        let pairs = by_bands(sides, &layout, work.reach.max_distance, work.share);
        return Ok(Join { queries, corpus, pairs });
    }
    let (queries, query_values) = WideRows::new(queries, work.reach).grouped()?;
    let (corpus, values) = WideRows::new(corpus, work.reach).grouped()?;
    let searched = Searched { searcher: Box::new(values), queries: query_values };
    Ok(Join { queries, corpus, pairs: collect(&searched) })
}

/// The pairs of rows, or of a query and a row of the corpus, that agree in one of the bands of
/// `layout` and are within `max_distance`: groups of equal rows, and pairs of groups. A join that
/// `progress` cancels may end without all of them.
///
/// # Errors
///
/// The rows have another shape than the layout, queries and corpus do not compare, there are too many
/// rows, or the memory cannot be had.
pub fn band_join(
    rows: Sides<&FingerprintRows<'_>>,
    layout: &Layout,
    max_distance: u32,
    progress: &dyn Progress,
) -> Result<(Sides<Groups>, Vec<ValuePair>)> {
    let corpus = *rows.second();
    check_both(rows.first(), corpus)?;
    check_count("fingerprints", corpus)?;
    if layout.shape() != corpus.shape {
        let rule = format!("must be of bands of {}", corpus.shape);
        return Err(Error::config("layout", layout.shape(), rule));
    }
    let share = Share::begin("joining", progress);
    let reach = Reach { shape: corpus.shape, max_distance };
    let different = rows.try_map(|rows| distinct(rows, reach))?;
    let values = different.as_ref().map(|(_, values)| values);
    let pairs = by_bands(values, layout, max_distance, share);
    Ok((different.map(|(groups, _)| groups), pairs))
}

/// The partners of each query within the distance of `plan`, by its method: the pairs of [`join`] as
/// pairs of rows.
///
/// # Errors
///
/// As [`join`].
pub fn partners<'a>(
    queries: &'a FingerprintRows<'_>,
    corpus: &'a FingerprintRows<'_>,
    plan: &Plan,
    resources: &'a Resources,
    progress: &'a dyn Progress,
) -> Result<Box<dyn Partners + 'a>> {
    check_both(queries, corpus)?;
    let work = Work::of(corpus, plan, resources)?;
    if is_found_at_once(work) {
        let found = join(queries, corpus, plan, resources, progress)?;
        return Ok(Box::new(RowPairs::of_join(found, queries.len())));
    }
    let work = Work { share: Share::begin("joining", progress), ..work };
    in_lanes!(corpus, partners_lanes(queries, corpus, work), {
        let searcher = Box::new(WideRows::new(corpus, work.reach));
        Ok(Box::new(Searched { searcher, queries: WideRows::new(queries, work.reach) }))
    })
}

/// The structure over `corpus` that the method of `plan` builds, to be asked one query at a time.
///
/// # Errors
///
/// There are too many rows, the method needs all queries at once, or the memory cannot be had.
pub fn searcher<'a>(
    corpus: &'a FingerprintRows<'_>,
    plan: &Plan,
    resources: &'a Resources,
) -> Result<Box<dyn Searcher + 'a>> {
    let work = Work::of(corpus, plan, resources)?;
    let scan = || Ok(Box::new(WideRows::new(corpus, work.reach)) as Box<dyn Searcher>);
    if may_be_null(corpus.shape) {
        return scan();
    }
    in_lanes!(corpus, searcher_lanes(corpus, work), scan())
}

/// The different rows that have a fingerprint, each with the rows that are equal to it.
fn distinct(
    rows: &FingerprintRows<'_>,
    reach: Reach,
) -> Result<(Groups, FingerprintRows<'static>)> {
    let (groups, words) = in_lanes!(rows, distinct_lanes(rows), {
        let (groups, values) = WideRows::new(rows, reach).grouped()?;
        Ok((groups, values.into_words()))
    })?;
    Ok((groups, FingerprintRows { shape: rows.shape, words, validity: None, recipe: None }))
}

fn distinct_lanes<L: Lane>(rows: &FingerprintRows<'_>) -> Result<(Groups, Cow<'static, [u64]>)> {
    let grouped = group(LaneRows::<L>::of(rows).rows())?;
    let words = rows.shape.words();
    let values = grouped.values().iter().flat_map(|lane| &lane.words()[..words]);
    let values = values.copied().collect();
    Ok((grouped.groups, values))
}

/// Whether the distance of a query and a row of the corpus means anything.
fn check_both(queries: &FingerprintRows<'_>, corpus: &FingerprintRows<'_>) -> Result<()> {
    if queries.shape != corpus.shape {
        let rule = format!("must have the corpus's {}", corpus.shape);
        return Err(Error::config("queries", format!("with {}", queries.shape), rule));
    }
    if let (Some(a), Some(b)) = (&queries.recipe, &corpus.recipe)
        && let Some(difference) = recipe_difference(a, b)
    {
        let rule = format!("must be made as the corpus was; they differ in {difference}");
        return Err(Error::config("queries", "made by another recipe", rule));
    }
    check_count("queries", queries)
}

fn self_join_lanes<L: Lane>(rows: &FingerprintRows<'_>, work: Work<'_>) -> Result<SelfJoin> {
    let lanes = LaneRows::<L>::of(rows);
    let (rows, reach, isa) = (lanes.rows(), work.reach, work.resources.isa);
    match work.index {
        IndexName::PartitionJoin => partition_join::self_join(rows, reach, isa, work.share),
        IndexName::MultiIndexJoin => multi_index_join::self_join(rows, reach, isa, work.share),
        IndexName::SpilledJoin => {
            let layout = work.layout(rows.lanes);
            let spilled = work.spilled(rows)?;
            let pairs =
                spilled.collect_pairs(&layout, reach, isa, &KeepPairs, work.share)?.into_sorted();
            Ok(SelfJoin { groups: spilled.groups, pairs })
        }
        IndexName::LinearScan => {
            let groups = group(rows)?;
            let pairs = collect(&ScanBehind { rows: LaneRows::all(groups.values()), work });
            Ok(SelfJoin { groups: groups.groups, pairs })
        }
        IndexName::BitProbing
        | IndexName::ExpandedSet
        | IndexName::PermutedTables
        | IndexName::BlockIndex
        | IndexName::StreamedQueries
        | IndexName::BipartiteJoin => work.refused("self-joins"),
    }
}

fn count_lanes<L: Lane>(
    rows: &FingerprintRows<'_>,
    work: Work<'_>,
    progress: &dyn Progress,
) -> Result<u64> {
    let lanes = LaneRows::<L>::of(rows);
    let (rows, reach, isa) = (lanes.rows(), work.reach, work.resources.isa);
    match work.index {
        IndexName::PartitionJoin => partition_join::count_pairs(rows, reach, isa, work.share),
        IndexName::MultiIndexJoin => multi_index_join::count_pairs(rows, reach, isa, work.share),
        IndexName::SpilledJoin => {
            let layout = work.layout(rows.lanes);
            let spilled = work.spilled(rows)?;
            let counting = CountRows { groups: (&spilled.groups, &spilled.groups) };
            let pairs = spilled.collect_pairs(&layout, reach, isa, &counting, work.share)?;
            Ok(spilled.groups.equal_pairs() + pairs)
        }
        IndexName::LinearScan => Ok(count(&ScanBehind { rows: lanes, work }, progress)),
        IndexName::BitProbing
        | IndexName::ExpandedSet
        | IndexName::PermutedTables
        | IndexName::BlockIndex
        | IndexName::StreamedQueries
        | IndexName::BipartiteJoin => work.refused("self-joins"),
    }
}

fn self_partners_lanes<'a, L: Lane>(
    rows: &'a FingerprintRows<'_>,
    work: Work<'a>,
) -> Result<Box<dyn Partners + 'a>> {
    if work.index == IndexName::LinearScan {
        return Ok(Box::new(ScanBehind { rows: LaneRows::<L>::of(rows), work }));
    }
    let found = self_join_lanes::<L>(rows, work)?;
    Ok(Box::new(RowPairs::of_self_join(found, rows.len())))
}

fn join_lanes<L: Lane>(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    work: Work<'_>,
) -> Result<Join> {
    let (queries, corpus) = (LaneRows::<L>::of(queries), LaneRows::<L>::of(corpus));
    if work.index == IndexName::BipartiteJoin {
        let (reach, isa) = (work.reach, work.resources.isa);
        return bipartite_join(queries.rows(), corpus.rows(), reach, isa, work.share);
    }
    let (queries, corpus) = (group(queries.rows())?, group(corpus.rows())?);
    let (query_values, values) = (LaneRows::all(queries.values()), LaneRows::all(corpus.values()));
    let pairs = collect(&*partners_of(query_values, values, work)?);
    Ok(Join { queries: queries.groups, corpus: corpus.groups, pairs })
}

fn partners_lanes<'a, L: Lane>(
    queries: &'a FingerprintRows<'_>,
    corpus: &'a FingerprintRows<'_>,
    work: Work<'a>,
) -> Result<Box<dyn Partners + 'a>> {
    partners_of(LaneRows::<L>::of(queries), LaneRows::of(corpus), work)
}

fn partners_of<'a, L: Lane>(
    queries: LaneRows<'a, L>,
    corpus: LaneRows<'a, L>,
    work: Work<'a>,
) -> Result<Box<dyn Partners + 'a>> {
    let (reach, isa, query_count) = (work.reach, work.resources.isa, queries.lanes.len());
    match work.index {
        IndexName::BipartiteJoin => {
            let found = bipartite_join(queries.rows(), corpus.rows(), reach, isa, work.share)?;
            Ok(Box::new(RowPairs::of_join(found, query_count)))
        }
        IndexName::StreamedQueries => {
            let (queries, query_rows) = queries.valid();
            let layout = work.layout(&queries);
            let streamed = StreamedQueries::new(&queries, &layout, reach, isa);
            let found = streamed.scan(corpus.rows());
            Ok(Box::new(Streamed { found, query_rows, query_count }))
        }
        IndexName::LinearScan
        | IndexName::BitProbing
        | IndexName::ExpandedSet
        | IndexName::PermutedTables
        | IndexName::BlockIndex => {
            Ok(Box::new(Searched { searcher: searcher_of(corpus, work)?, queries }))
        }
        IndexName::PartitionJoin | IndexName::MultiIndexJoin | IndexName::SpilledJoin => {
            work.refused("searches")
        }
    }
}

fn searcher_lanes<'a, L: Lane>(
    corpus: &'a FingerprintRows<'_>,
    work: Work<'a>,
) -> Result<Box<dyn Searcher + 'a>> {
    searcher_of(LaneRows::<L>::of(corpus), work)
}

fn searcher_of<'a, L: Lane>(
    corpus: LaneRows<'a, L>,
    work: Work<'a>,
) -> Result<Box<dyn Searcher + 'a>> {
    let (reach, isa) = (work.reach, work.resources.isa);
    let (bits, max_distance) = (reach.shape.row_bits(), reach.max_distance);
    if work.index == IndexName::LinearScan {
        // As it stands: a copy of the rows that have a fingerprint costs more than their scan.
        return Ok(Box::new(Scanned { corpus, work }));
    }
    let (lanes, rows) = corpus.valid();
    let index: Box<dyn FingerprintIndex<L> + 'a> = match work.index {
        IndexName::BlockIndex => {
            let keys = TableKeys::new(work.layout(&lanes), reach);
            Box::new(BlockIndex::new(lanes, keys, isa)?)
        }
        IndexName::PermutedTables => Box::new(PermutedTables::new(&lanes, reach)),
        IndexName::BitProbing => Box::new(BitProbing::new(&lanes, max_distance)),
        IndexName::ExpandedSet => Box::new(ExpandedSet::new(&lanes, bits, max_distance)),
        IndexName::LinearScan
        | IndexName::StreamedQueries
        | IndexName::PartitionJoin
        | IndexName::MultiIndexJoin
        | IndexName::BipartiteJoin
        | IndexName::SpilledJoin => return work.refused("queries one by one"),
    };
    Ok(Box::new(Indexed { index, rows }))
}
