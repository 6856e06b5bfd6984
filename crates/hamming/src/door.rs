//! The entry point of this crate. It takes fingerprints of any width and metric, a plan and a context,
//! and returns row numbers and distances.
//!
//! The methods behind it work on fingerprints of 1, 2, 4 or 8 words of 64 bits. All other fingerprints
//! are brought into that form or handled here:
//!
//! | rows | way |
//! | --- | --- |
//! | 3, 5, 6 or 7 words | copied into the next wider type, with words of 0 at the end |
//! | more than 8 words | joined by masks if these are long enough that few rows agree in one, otherwise compared one by one |
//! | lanes that may be null | each null becomes a value that no other row has |
//! | lanes that vote | joined lane by lane |
//! | hash values with the size of a set | joined as lanes, then compared by their cosine |
//!
//! These functions work in the thread pool of the calling thread, so call them inside `context.threads().run(…)`.

use crate::band_join::band_join as join_by_bands;
use crate::group_pairs::GroupPairs;
use crate::grouping::group;
use crate::hash_lanes::cosine_pairs;
use crate::join::{Join, JoinFixedRows};
use crate::layout::Layout;
use crate::null_lanes::{NullSide, may_be_null, without_nulls};
use crate::on_demand::{OnDemand, count_pairs, self_partners};
use crate::pair_room::{PairRoom, if_pairs_fit};
use crate::partners::{Partners, count};
use crate::planner::JoinPlan;
use crate::row_pairs::RowPairs;
use crate::votes::voting_pairs;
use crate::wide_scan::{WideRows, scan_wide, wide_partners};
use crate::work::{FixedRows, JoinWork};
use crate::workload::Workload;
use simtool_base::error::{Error, Result};
use simtool_base::memory_ledger::Ledger;
use simtool_base::progress::Share;
use simtool_compute::context::Context;
use simtool_model::fingerprint_rows::{FingerprintRows, Metric, Shape, recipe_difference};
use simtool_model::fingerprint_table::{Fingerprint, Reach, Wide};
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use std::borrow::Cow;

/// Minimum number of bits of a mask if long fingerprints are joined by masks ([`JoinWay::LongMasks`]). Hardly any two
/// unrelated fingerprints are equal in so many bits.
const LONG_MASK: u32 = 32;

/// Calls the generic function `$function` with the shortest type, `u64` or `Wide`, that holds the fingerprints of
/// `$shape`. Evaluates `$wide` instead if these fingerprints have more than 512 bits or are compared by cosine.
macro_rules! of_fixed_words {
    ($shape:expr, $function:ident($($argument:expr),*), $wide:expr) => {
        match fingerprint_words($shape) {
            0..=1 => $function::<u64>($($argument),*),
            2 => $function::<Wide<2>>($($argument),*),
            3..=4 => $function::<Wide<4>>($($argument),*),
            5..=8 => $function::<Wide<8>>($($argument),*),
            _ => $wide,
        }
    };
}

/// Returns the number of 64-bit words of a fingerprint, by which `of_fixed_words!` chooses a type. For
/// cosines, returns a number that is too large for every type. A cosine depends on more than the bits
/// that differ, so methods for fixed types cannot compute it.
fn fingerprint_words(shape: Shape) -> usize {
    match shape.metric() {
        Metric::Cosine { .. } => usize::MAX,
        _ => shape.words(),
    }
}

/// The way in which fingerprints are joined. It depends on their metric, their width and the method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum JoinWay {
    /// The chosen method joins the rows. If the fingerprints are too long for the method, every two of them are
    /// compared.
    ByMethod,
    /// Each 64-bit word is joined separately, and counts as near if it is within the maximum distance.
    /// Two rows are a pair if at least `needed` of their words are near.
    Votes { needed: u32 },
    /// Each fingerprint holds hash values and the size of a set. The hash values are joined as lanes within the maximum
    /// distance of this [`Reach`]. The found pairs are then compared by their cosine.
    HashLanes(Reach),
    /// Fingerprints are compared if they are equal in one of the masks of a layout. The masks have at
    /// least [`LONG_MASK`] bits, so few unrelated rows are compared. This way is for fingerprints with
    /// too many words for the methods.
    LongMasks,
}

impl JoinWay {
    fn of(join: &dyn Join, reach: Reach) -> Self {
        if let Some((shape, max_distance)) = reach.shape.hash_lanes(reach.max_distance) {
            return Self::HashLanes(Reach { shape, max_distance });
        }
        let compares_all = join.limits().takes_any_rows();
        let metric = reach.shape.metric();
        if let Metric::Votes { needed } = metric
            && !compares_all
        {
            return Self::Votes { needed };
        }
        let is_wide = fingerprint_words(reach.shape) > Wide::<8>::WORDS;
        let has_masks = matches!(metric, Metric::Bits | Metric::Lanes { .. });
        if is_wide && has_masks && !compares_all && mask_bits(reach) >= LONG_MASK {
            return Self::LongMasks;
        }
        Self::ByMethod
    }
}

/// Returns the number of bits of each mask in a layout for `reach` that misses no pair. A layout is a list of masks
/// without common bits. It misses no pair if it has k + 1 masks for the maximum distance k.
fn mask_bits(reach: Reach) -> u32 {
    let (units, unit_bits) = reach.shape.parts();
    units / reach.max_distance.saturating_add(1) * unit_bits
}

/// Finds all pairs of rows within the maximum distance of `plan`, with the method that `plan` has
/// chosen. A pair has two rows of one collection, or a query and a row of the corpus.
///
/// If the join is cancelled, it may end without all pairs.
///
/// ```
/// use simtool_compute::context::Context;
/// use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
/// use simtool_hamming::door::join;
/// use simtool_hamming::planner::JoinPlan;
/// use simtool_hamming::workload::{JoinTask, Workload};
/// use simtool_model::sides::Sides;
///
/// let mut rows = RowsBuilder::new(Shape::bits(64));
/// for row in [0b0000, 0b0011, 0b1111, 0b0000] {
///     rows.push(Some(&[row]));
/// }
/// let rows = rows.finish();
/// let context = Context::default();
/// let plan = JoinPlan::new(Workload::of(JoinTask::SelfJoin, &rows, 2, context.memory().limit()))?;
/// let found = join(Sides::One(&rows), &plan, &context)?;
/// // Rows 0 and 3 are equal, so there are three groups: 0000, 0011 and 1111.
/// assert_eq!(found.groups.first().len(), 3);
/// assert_eq!(found.pairs.len(), 2);
/// # Ok::<(), simtool_base::error::Error>(())
/// ```
///
/// # Errors
///
/// Queries and corpus cannot be compared, there are too many rows, the method cannot do the task, a
/// temporary file fails, or there is too little memory.
pub fn join(
    rows: Sides<&FingerprintRows<'_>>,
    plan: &JoinPlan,
    context: &Context<'_>,
) -> Result<GroupPairs> {
    join_in_room(rows, plan, context, None)
}

/// Finds the pairs of [`join`]. Returns `None` if they do not fit in memory or are more than `most` pairs of groups.
///
/// # Errors
///
/// The same errors as [`join`].
pub fn join_if_fits(
    rows: Sides<&FingerprintRows<'_>>,
    plan: &JoinPlan,
    most: u64,
    context: &Context<'_>,
) -> Result<Option<GroupPairs>> {
    let join =
        |context: &Context<'_>, room: &PairRoom| join_in_room(rows, plan, context, Some(room));
    Ok(if_pairs_fit(context, most, join)?.filter(|found| found.pairs.len() as u64 <= most))
}

fn join_in_room<'w>(
    rows: Sides<&FingerprintRows<'_>>,
    plan: &JoinPlan,
    context: &'w Context<'w>,
    room: Option<&'w PairRoom>,
) -> Result<GroupPairs> {
    check_sides(rows)?;
    if may_be_null(rows.second().shape) {
        return join_in_room(values_for_nulls(rows).as_ref(), plan, context, room);
    }
    let work = JoinWork { room, ..work(rows.second(), plan, context)? };
    let begin = || JoinWork { share: Share::begin("joining", context.progress()), ..work };
    match JoinWay::of(plan.join, work.reach) {
        // The join of the lanes begins a stage of its own.
        JoinWay::HashLanes(of_lanes) => join_by_hash_lanes(rows, plan, of_lanes, work),
        JoinWay::Votes { needed } => {
            let work = begin();
            let distinct = rows.try_map(|rows| Distinct::new(rows, work))?;
            let values = distinct.as_ref().map(|distinct| &distinct.values);
            let pairs = voting_pairs(values, needed, work)?;
            Ok(GroupPairs { groups: distinct.map(|distinct| distinct.groups), pairs })
        }
        JoinWay::LongMasks => {
            let work = begin();
            let distinct = rows.try_map(|rows| Distinct::new(rows, work))?;
            let corpus = &distinct.second().values;
            let layout = Layout::of(&corpus.words, corpus.shape, work.reach.max_distance);
            let values = distinct.as_ref().map(|distinct| &distinct.values);
            let pairs = join_by_bands(values, &layout, work);
            Ok(GroupPairs { groups: distinct.map(|distinct| distinct.groups), pairs })
        }
        JoinWay::ByMethod => of_fixed_words!(
            work.reach.shape,
            join_fixed(rows, plan.join, begin()),
            scan_wide(rows, begin())
        ),
    }
}

/// Finds near pairs by the cosine. First joins the hash values in the fingerprints, without the sizes of sets, by the
/// method of `plan`, with the shape and maximum distance in `of_lanes`. Then compares the found pairs by their cosine.
fn join_by_hash_lanes(
    rows: Sides<&FingerprintRows<'_>>,
    plan: &JoinPlan,
    of_lanes: Reach,
    work: JoinWork<'_>,
) -> Result<GroupPairs> {
    let distinct = rows.try_map(|rows| Distinct::new(rows, work))?;
    let values = distinct.as_ref().map(|distinct| &distinct.values);
    let Reach { shape, max_distance } = of_lanes;
    let plan =
        JoinPlan { workload: Workload { shape, max_distance, ..plan.workload }, ..plan.clone() };
    let pairs = cosine_pairs(values, shape, work, |lanes, work| {
        join_in_room(lanes, &plan, work.context, work.room)
    })?;
    Ok(GroupPairs { groups: distinct.map(|distinct| distinct.groups), pairs })
}

fn join_fixed<L: Fingerprint>(
    rows: Sides<&FingerprintRows<'_>>,
    join: &'static dyn Join,
    work: JoinWork<'_>,
) -> Result<GroupPairs>
where
    dyn Join: JoinFixedRows<L>,
{
    match rows {
        Sides::One(rows) => join.self_join(FixedRows::<L>::of(rows).rows(), work),
        Sides::Two(queries, corpus) => {
            let queries = FixedRows::<L>::of(queries);
            let corpus = FixedRows::<L>::of(corpus);
            join.join(queries.rows(), corpus.rows(), work)
        }
    }
}

/// Counts the pairs of rows within the maximum distance of `plan` in one collection, with the method of `plan`. If the
/// method allows it, the pairs are not kept in memory.
///
/// # Errors
///
/// The same errors as [`join`].
pub fn count_self_join(
    rows: &FingerprintRows<'_>,
    plan: &JoinPlan,
    context: &Context<'_>,
) -> Result<u64> {
    let work = work(rows, plan, context)?;
    if may_be_null(rows.shape) || JoinWay::of(plan.join, work.reach) != JoinWay::ByMethod {
        return Ok(count(&*partners(Sides::One(rows), plan, context)?, context.progress()));
    }
    let work = JoinWork { share: Share::begin("joining", context.progress()), ..work };
    of_fixed_words!(
        rows.shape,
        count_fixed(rows, plan.join, work),
        Ok(count(&WideRows::new(rows, work.reach), context.progress()))
    )
}

fn count_fixed<L: Fingerprint>(
    rows: &FingerprintRows<'_>,
    join: &'static dyn Join,
    work: JoinWork<'_>,
) -> Result<u64>
where
    dyn Join: JoinFixedRows<L>,
{
    count_pairs(join, FixedRows::<L>::of(rows), work)
}

/// Finds all pairs within the maximum distance of `plan`, like [`join`]. Returns an object that lists them as the
/// partners of one row at a time. The partners of a query are rows of the corpus. In a self-join, the partners of a row
/// are later rows.
///
/// If the pairs do not fit in memory, partners are searched when they are requested.
///
/// # Errors
///
/// The same errors as [`join`].
pub fn partners<'a>(
    rows: Sides<&'a FingerprintRows<'_>>,
    plan: &JoinPlan,
    context: &'a Context<'a>,
) -> Result<Box<dyn Partners + 'a>> {
    check_sides(rows)?;
    let work = work(rows.second(), plan, context)?;
    let way = JoinWay::of(plan.join, work.reach);
    // The other ways find all pairs before they return the first one.
    let is_found_at_once = way != JoinWay::ByMethod;
    if is_found_at_once || may_be_null(work.reach.shape) {
        if let Some(found) = join_if_fits(rows, plan, u64::MAX, context)? {
            return Ok(Box::new(RowPairs::new(found, rows.first().len())));
        }
        let found = wide_partners(rows, work.reach);
        return Ok(OnDemand::boxed(found, rows.second().len(), !rows.is_two()));
    }
    let work = JoinWork { share: Share::begin("joining", context.progress()), ..work };
    of_fixed_words!(
        work.reach.shape,
        partners_fixed(rows, plan.join, work),
        Ok(wide_partners(rows, work.reach))
    )
}

fn partners_fixed<'a, L: Fingerprint>(
    rows: Sides<&'a FingerprintRows<'_>>,
    join: &'static dyn Join,
    work: JoinWork<'a>,
) -> Result<Box<dyn Partners + 'a>>
where
    dyn Join: JoinFixedRows<L>,
{
    match rows {
        Sides::One(rows) => self_partners(join, FixedRows::<L>::of(rows), work),
        Sides::Two(queries, corpus) => {
            join.partners(FixedRows::<L>::of(queries), FixedRows::of(corpus), work)
        }
    }
}

/// Finds all pairs that are equal in all bits of at least one mask of `layout` and have at most
/// distance `max_distance`. A pair has two rows of one collection, or a query and a row of the corpus.
///
/// If the join is cancelled, it may end without all pairs.
///
/// # Errors
///
/// The rows have another shape than the layout, queries and corpus cannot be compared, there are too
/// many rows, or there is too little memory.
pub fn band_join(
    rows: Sides<&FingerprintRows<'_>>,
    layout: &Layout,
    max_distance: u32,
    context: &Context<'_>,
) -> Result<GroupPairs> {
    let reach = Reach { shape: rows.second().shape, max_distance };
    band_join_in_room(rows, layout, JoinWork::new(reach, context))
}

/// Finds all pairs that are equal in at least one mask of `layout` and within `max_distance`, like [`band_join`].
/// Returns `None` if they do not fit in memory, or if there are more than `most` pairs of groups of equal rows.
///
/// # Errors
///
/// The same errors as [`band_join`].
pub fn band_join_if_fits(
    rows: Sides<&FingerprintRows<'_>>,
    layout: &Layout,
    max_distance: u32,
    most: u64,
    context: &Context<'_>,
) -> Result<Option<GroupPairs>> {
    let reach = Reach { shape: rows.second().shape, max_distance };
    let join = |context: &Context<'_>, room: &PairRoom| {
        let work = JoinWork { room: Some(room), ..JoinWork::new(reach, context) };
        band_join_in_room(rows, layout, work)
    };
    Ok(if_pairs_fit(context, most, join)?.filter(|found| found.pairs.len() as u64 <= most))
}

fn band_join_in_room(
    rows: Sides<&FingerprintRows<'_>>,
    layout: &Layout,
    work: JoinWork<'_>,
) -> Result<GroupPairs> {
    check_sides(rows)?;
    let corpus = *rows.second();
    check_count("fingerprints", corpus)?;
    if layout.shape() != corpus.shape {
        let rule = format!("must be of bands of {}", corpus.shape);
        return Err(Error::config("layout", layout.shape(), rule));
    }
    let share = Share::begin("joining", work.context.progress());
    let work = JoinWork { share, ..work };
    let distinct = rows.try_map(|rows| Distinct::new(rows, work))?;
    let values = distinct.as_ref().map(|distinct| &distinct.values);
    let pairs = join_by_bands(values, layout, work);
    Ok(GroupPairs { groups: distinct.map(|distinct| distinct.groups), pairs })
}

/// Groups the rows with equal fingerprints. Rows without a fingerprint are left out.
///
/// # Errors
///
/// There are too many rows, or there is too little memory.
pub fn equal_rows(rows: &FingerprintRows<'_>, context: &Context<'_>) -> Result<Groups> {
    check_count("fingerprints", rows)?;
    if may_be_null(rows.shape) {
        return equal_rows(values_for_nulls(Sides::One(rows)).first(), context);
    }
    let reach = Reach { shape: rows.shape, max_distance: 0 };
    Ok(Distinct::new(rows, JoinWork::new(reach, context))?.groups)
}

/// The different fingerprints of a collection. Rows without a fingerprint are left out.
struct Distinct {
    /// For each different fingerprint, the rows that have it.
    groups: Groups,
    values: FingerprintRows<'static>,
}

impl Distinct {
    fn new(rows: &FingerprintRows<'_>, work: JoinWork<'_>) -> Result<Self> {
        let ledger = work.context.memory();
        let (groups, words) = of_fixed_words!(rows.shape, distinct_fixed(rows, ledger), {
            let (groups, values) = WideRows::new(rows, work.reach).grouped()?;
            Ok((groups, values.into_words()))
        })?;
        let values = FingerprintRows { shape: rows.shape, words, validity: None, recipe: None };
        Ok(Self { groups, values })
    }
}

/// Groups equal rows. Returns the groups and the words of the different fingerprints. The type `L` may
/// have more words than the rows. These additional words are 0 and are not returned.
fn distinct_fixed<L: Fingerprint>(
    rows: &FingerprintRows<'_>,
    ledger: &Ledger,
) -> Result<(Groups, Cow<'static, [u64]>)> {
    let grouped = group(FixedRows::<L>::of(rows).rows(), ledger)?;
    let words = rows.shape.words();
    let values = grouped.values().iter().flat_map(|fingerprint| &fingerprint.words()[..words]);
    let values = values.copied().collect();
    Ok((grouped.groups, values))
}

/// Copies rows whose hashes may be null. Replaces each null by a value that no other row has.
fn values_for_nulls(rows: Sides<&FingerprintRows<'_>>) -> Sides<FingerprintRows<'static>> {
    match rows {
        Sides::One(rows) => Sides::One(without_nulls(rows, 0.., NullSide::Corpus)),
        Sides::Two(queries, corpus) => Sides::Two(
            without_nulls(queries, 0.., NullSide::Queries),
            without_nulls(corpus, 0.., NullSide::Corpus),
        ),
    }
}

/// Returns the input for joining the rows of `corpus` by the method of `plan`: shape, maximum distance and resources.
/// It reports no progress yet.
///
/// # Errors
///
/// There are too many rows, or the method does not support the metric of the rows.
fn work<'w>(
    corpus: &FingerprintRows<'_>,
    plan: &JoinPlan,
    context: &'w Context<'w>,
) -> Result<JoinWork<'w>> {
    check_count("fingerprints", corpus)?;
    let metric = corpus.shape.metric();
    if !plan.join.limits().counts(metric) {
        let rows = match metric {
            Metric::Votes { .. } => "rows of lanes that vote",
            Metric::Lanes { .. } | Metric::Cosine { .. } | Metric::Bits => {
                "rows that are compared lane by lane"
            }
        };
        return Err(plan.join.refusal(rows));
    }
    let reach = Reach { shape: corpus.shape, max_distance: plan.workload.max_distance };
    Ok(JoinWork::new(reach, context))
}

/// Checks that 32 bits are enough for the row numbers. The largest number is reserved: it means "no
/// row".
fn check_count(what: &str, rows: &FingerprintRows<'_>) -> Result<()> {
    if u32::try_from(rows.len()).is_ok_and(|rows| rows < u32::MAX) {
        return Ok(());
    }
    let what = format!("{} {what}", rows.len());
    Err(Error::limit(what, format!("a join takes fewer than {}: join them in parts", u32::MAX)))
}

/// Checks that queries can be compared with rows of the corpus: their fingerprints must have the same
/// shape and come from the same recipe.
fn check_sides(rows: Sides<&FingerprintRows<'_>>) -> Result<()> {
    let Sides::Two(queries, corpus) = rows else { return Ok(()) };
    if queries.shape != corpus.shape {
        let rule = format!("must have the same as the corpus, {}", corpus.shape);
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
