//! The part of a distributed run that one machine computes: keys of fingerprints, close pairs among
//! fingerprints with one key, and the choice of the kept documents.
//!
//! An engine moves rows, and this module does not know which. Each result depends only on the
//! options and the input, so a task that runs twice gives the same result.

use crate::arrow_c::Imported;
use crate::columns::{ColumnData, Values};
use crate::errors::exception;
use crate::fields;
use crate::fingerprints::Fingerprints;
use crate::near_duplicates::given_pairs;
use crate::numbers;
use crate::settings;
use crate::tables::{Table, no_table};
use crate::texts::ImportedTexts;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::close::{Close, ClosePair, Neighbourhood};
use simtool::closeness::Closeness;
use simtool::cluster::{Removal, components, keep};
use simtool::context::Context;
use simtool::field_value::FieldValue;
use simtool::fingerprint_rows::{FingerprintRows, Metric, Shape};
use simtool::groups::Groups;
use simtool::hamming::layout::Layout;
use simtool::hamming::null_lanes::{NullSide, may_be_null, shape_without_nulls, without_nulls};
use simtool::kernels::hamming_pairs::{Candidates, PairSearch, near_pairs_64};
use simtool::matches::ValuePair;
use simtool::method::{Criterion, Fitted, Method};
use simtool::options::Choice;
use simtool::pipeline::fingerprint_by_fitted;
use simtool::progress::NoProgress;
use simtool::read::Texts;
use simtool::run::join_fingerprints::{list_pairs, plan_join};
use simtool::sides::Sides;
use simtool::stable_hash;
use simtool::{ClusterRule, Config, Error, Resources};
use std::collections::BTreeSet;
use std::path::Path;

/// Number of rows of one bucket that are compared pair by pair. Larger buckets use the join of one
/// machine, which cuts them by further blocks.
const FEW: usize = 1 << 10;

/// The settings of one method, which are the same for every task of a run.
#[pyclass(frozen, module = "simtool._simtool")]
pub(crate) struct Engine {
    config: Config,
    /// The model learned from the collection, if the fingerprints need one.
    fitted: Fitted,
    /// Keys of the fingerprints. `None` if the method compares sets.
    keys: Option<BucketKeys>,
}

/// The keys by which close fingerprints meet in a bucket.
struct BucketKeys {
    distance: u32,
    shape: Shape,
    layout: Layout,
    /// Blocks of half the size for buckets that are too full, and the number of such blocks in each
    /// part of a row. `None` if a layout has no halves.
    halves: Option<(Layout, usize)>,
}

#[pymethods]
impl Engine {
    /// Builds the engine for the options of `simtool dedup`. The keys are chosen to separate the
    /// fingerprints of a `sample` equally well; without a sample they need no data. Only
    /// fingerprints need `learned`.
    #[new]
    #[pyo3(signature = (sample=None, learned=None, **options))]
    fn new(
        sample: Option<&Bound<'_, PyAny>>,
        learned: Option<&[u8]>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut options = settings::options(options)?;
        options.complete(&[("method", "simhash")]);
        let mut config = settings::config(options)?;
        config.resources.threads = 1;
        let keys = match config.method.close() {
            Criterion::Distance(distance) => {
                Some(BucketKeys::new(&config.method, distance, sample)?)
            }
            Criterion::Similarity(_) => None,
        };
        Ok(Self { config, fitted: fitted(learned)?, keys })
    }

    /// The method with all its settings.
    #[getter]
    fn method(&self) -> String {
        self.config.method.to_string()
    }

    /// Number of words of a fingerprint.
    #[getter]
    fn words(&self) -> PyResult<usize> {
        Ok(self.keys()?.shape.words())
    }

    /// Number of keys of a fingerprint.
    #[getter]
    fn tables(&self) -> PyResult<usize> {
        Ok(self.keys()?.layout.masks().len())
    }

    /// Rule that says which of several near-duplicates is kept.
    #[getter]
    fn keep(&self) -> &'static str {
        self.config.keep.name()
    }

    /// Checks that the values of a field are given if they decide which document is kept, and only
    /// then.
    fn check_field(&self, is_there: bool) -> PyResult<()> {
        self.config.keep.check_field(is_there).map_err(exception)
    }

    /// Returns the keys that sort documents by the values of a field, the one to keep first: a
    /// table with the text column `order`.
    fn order(&self, values: &Bound<'_, PyAny>) -> PyResult<Table> {
        let (mut starts, mut texts) = (vec![0], Vec::new());
        for value in fields::values(values)? {
            let value = Some(value.as_bytes()).filter(|value| !value.is_empty());
            for byte in self.config.keep.ordered_bytes(&FieldValue::parse(value)) {
                // Engines compare texts by their bytes. Hexadecimal digits keep the order and are ASCII.
                texts.extend(format!("{byte:02x}").into_bytes());
            }
            starts.push(texts.len() as i64);
        }
        Ok(Table::new(vec![ColumnData::new("order", Values::Texts(starts, texts))]))
    }

    /// Checks whether buckets that are too full can be cut.
    #[getter]
    fn cuts(&self) -> PyResult<bool> {
        Ok(self.keys()?.halves.is_some())
    }

    /// Checks whether documents have fingerprints, so that results have a distance.
    #[getter]
    fn has_fingerprints(&self) -> bool {
        self.keys.is_some()
    }

    /// Checks whether texts are compared, so that results have a similarity.
    #[getter]
    fn verifies(&self) -> bool {
        self.keys.is_none() || self.config.method.verify().is_some()
    }

    /// Returns the fingerprints of texts. If fingerprints of the method may be null, a null is
    /// replaced with a number made of the document's id. That row is close to no other document,
    /// not even to another null of either side.
    #[pyo3(signature = (texts, ids, of_queries=false))]
    fn fingerprints(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        ids: &Bound<'_, PyAny>,
        of_queries: bool,
    ) -> PyResult<Fingerprints> {
        let (input, method) = (ImportedTexts::of(texts, None)?, &self.config.method);
        let (recipe, rows) = (method.recipe(), &input.rows()?);
        let made = py.detach(|| {
            let (texts, resources) = (Texts::of(rows), &self.config.resources);
            fingerprint_by_fitted(&texts, recipe, &self.fitted, resources, &NoProgress)
        });
        let mut made = made.map_err(exception)?.rows;
        // An engine would put all nulls into one bucket. Numbers made of ids spread them.
        if may_be_null(made.shape) {
            let numbers =
                fields::values(ids)?.into_iter().map(|id| stable_hash::hash(id.as_bytes()));
            let side = if of_queries { NullSide::Queries } else { NullSide::Corpus };
            made = without_nulls(&made, numbers, side);
        }
        Ok(Fingerprints::new(made, method.clone(), self.fitted.clone()))
    }

    /// Returns the buckets of fingerprints: a table of `row` and `bucket`. Fingerprints of `full`
    /// buckets are put into smaller buckets instead.
    #[pyo3(signature = (fingerprints, full=Vec::new()))]
    fn buckets(
        &self,
        py: Python<'_>,
        fingerprints: &Bound<'_, PyAny>,
        full: Vec<u32>,
    ) -> PyResult<Table> {
        let keys = self.keys()?;
        let given = rows(fingerprints, keys.shape)?;
        let full: BTreeSet<u32> = full.into_iter().collect();
        let (numbers, buckets) = py.detach(|| {
            let (mut numbers, mut buckets, mut of_row) = (Vec::new(), Vec::new(), Vec::new());
            for number in 0..given.len() {
                keys.buckets_of(row(&given, number), &full, &mut of_row);
                // The cast is safe: an Arrow batch has fewer than 2³² rows.
                numbers.extend(of_row.iter().map(|_| number as u32));
                buckets.append(&mut of_row);
            }
            (numbers, buckets)
        });
        Ok(Table::new(vec![
            ColumnData::new("row", Values::U32(numbers)),
            ColumnData::new("bucket", Values::U32(buckets)),
        ]))
    }

    /// Returns the close pairs among fingerprints of one bucket: a table of `a`, `b` and
    /// `distance`.
    ///
    /// Each pair is reported only in the first bucket that both fingerprints share. The input has
    /// all fingerprints of a bucket, as neighbours. With `sides`, each pair has one row of side 0
    /// and one of side 1; otherwise no two fingerprints are equal.
    #[pyo3(signature = (fingerprints, buckets, full=Vec::new(), sides=None))]
    fn pairs(
        &self,
        py: Python<'_>,
        fingerprints: &Bound<'_, PyAny>,
        buckets: &Bound<'_, PyAny>,
        full: Vec<u32>,
        sides: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Table> {
        let keys = self.keys()?;
        let given = rows(fingerprints, keys.shape)?;
        let buckets = whole_numbers(buckets, "buckets")?;
        let sides = sides.map(|sides| whole_numbers(sides, "sides")).transpose()?;
        // A column of another length would mix up rows, so it is refused before the search.
        let lengths = [Some(buckets.len()), sides.as_ref().map(Vec::len)];
        if lengths.into_iter().flatten().any(|length| length != given.len()) {
            return Err(PyValueError::new_err("buckets: must be one for each fingerprint"));
        }
        let full = full.into_iter().collect();
        let found = py.detach(|| {
            let mut search = Search::new(keys, &self.config.resources, &given, &full);
            let mut begin = 0;
            // The rows of a bucket are neighbours, so each run of equal numbers is one bucket.
            for run in buckets.chunk_by(|one, other| one == other) {
                let run_rows: Vec<u32> = (begin..begin + run.len()).map(|row| row as u32).collect();
                // Engines have only signed numbers, so the bits are reinterpreted.
                let bucket = (run[0] & i64::from(u32::MAX)).cast_unsigned() as u32;
                search.run(bucket, run_rows, sides.as_deref())?;
                begin += run.len();
            }
            Ok(search.found)
        });
        Ok(pair_table(&found.map_err(exception)?))
    }

    /// Decides which groups of equal documents are removed, by the close pairs of groups: `a`, `b`,
    /// `distance` and, if texts were compared, `similarity`. Groups are numbered in the order of
    /// the documents that they would keep, and `ranks` are the places of these documents in the
    /// order of preference.
    ///
    /// Returns a table of the groups that lose all their documents. `kept` is the group that stays
    /// in place of `group`. It applies to documents that are preferred after the kept document of
    /// group `from` (any if null), and not after the kept document of group `until`. `similarity`
    /// and `distance` are null if only a chain links the two groups.
    fn settle(
        &self,
        py: Python<'_>,
        pairs: &Bound<'_, PyAny>,
        ranks: &Bound<'_, PyAny>,
    ) -> PyResult<Table> {
        let ranks = whole_numbers(ranks, "ranks")?;
        let mut pairs = group_pairs(pairs, ranks.len())?;
        let fates = py.detach(|| {
            pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
            let groups = Sides::One(Groups::default());
            let close = Close {
                groups,
                pairs: pairs.into(),
                of_equal: Closeness::Distance(0),
                is_complete: true,
            };
            self.fates(&Neighbourhood::new(&close), &ranks)
        });
        let numbers = |name, of: fn(&RemovalReason) -> u32| {
            ColumnData::new(name, Values::U32(fates.iter().map(of).collect()))
        };
        let optional = |name, of: fn(&RemovalReason) -> Option<u32>| {
            let values = fates.iter().map(|fate| of(fate).unwrap_or_default()).collect();
            ColumnData::nullable(name, Values::U32(values), |row| of(&fates[row]).is_some())
        };
        let of_fate = |fate: &RemovalReason| fate.closeness.and_then(Closeness::similarity);
        let values = fates.iter().map(|fate| of_fate(fate).unwrap_or(f64::NAN)).collect();
        let similarity = ColumnData::nullable("similarity", Values::F64(values), |row| {
            of_fate(&fates[row]).is_some()
        });
        Ok(Table::new(vec![
            numbers("group", |fate| fate.group),
            numbers("kept", |fate| fate.kept),
            optional("from", |fate| fate.from),
            optional("until", |fate| fate.until),
            similarity,
            optional("distance", |fate| fate.closeness.and_then(Closeness::distance)),
        ]))
    }
}

/// The reason why documents of a group are removed.
struct RemovalReason {
    group: u32,
    kept: u32,
    /// The fate applies to documents preferred after the kept document of this group.
    from: Option<u32>,
    /// The fate ends with the kept document of this group.
    until: Option<u32>,
    closeness: Option<Closeness>,
}

impl BucketKeys {
    /// Builds the keys of a method with fingerprints, for pairs within `distance`.
    fn new(method: &Method, distance: u32, sample: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        // Without keys the engine would have to compare every pair, so the method is refused.
        let refused = || {
            let rule = "has distances that no keys are known for: take simhash, or with minhash a `recall`";
            exception(Error::config("method", method, rule))
        };
        let mut shape = method.recipe().sketch().ok_or_else(refused)?.shape();
        let by_bands = method.recall().map(|recall| Layout::with_recall(shape, distance, recall));
        if may_be_null(shape) {
            shape = shape_without_nulls(shape);
        }
        // No keys find all pairs by cosine. Only bands for a `recall` are known.
        let is_exact = !matches!(shape.metric(), Metric::Cosine { .. });
        let sample = sample.map(|given| rows(given, shape)).transpose()?;
        let (layout, halves) = match (by_bands.flatten(), sample) {
            (Some(bands), _) => (bands, None),
            (None, _) if !is_exact => return Err(refused()),
            (None, Some(sample)) => (Layout::of(&sample.words, shape, distance), None),
            (None, None) => {
                let twice = distance.checked_mul(2);
                let twice = twice.filter(|&twice| twice > 0 && twice + 1 < shape.units());
                let halves = twice
                    .map(|twice| (Layout::even(shape, twice + 1), 2 * (distance as usize + 1)));
                (Layout::even(shape, distance), halves)
            }
        };
        Ok(Self { distance, shape, layout, halves })
    }

    /// Replaces `buckets` with the bucket numbers of a row, in ascending order.
    fn buckets_of(&self, row: &[u64], full: &BTreeSet<u32>, buckets: &mut Vec<u32>) {
        let (mut keys, mut parts) = (Vec::new(), Vec::new());
        self.layout.keys(row, &mut keys);
        buckets.clear();
        for (table, &key) in keys.iter().enumerate() {
            match &self.halves {
                Some((halves, of_part)) if full.contains(&high(key)) => {
                    halves.keys(row, &mut parts);
                    // All rows of this bucket agree in two of the halves: those that form the block
                    // itself. Rows that are near in this part of the row agree in another half of
                    // the part, too, so only the other halves separate them.
                    let is_other =
                        |half: usize| half / 2 != table && half / of_part == 2 * table / of_part;
                    let others = parts.iter().enumerate().filter(|&(half, _)| is_other(half));
                    buckets.extend(others.map(|(_, &part)| high(mixed(key, part))));
                }
                _ => buckets.push(high(key)),
            }
        }
        // A row is in a bucket only once, even if two of its keys lead there.
        buckets.sort_unstable();
        buckets.dedup();
    }

    /// Returns the first bucket that both rows share, in the order of [`Self::buckets_of`].
    fn first_bucket(&self, a: &[u64], b: &[u64], full: &BTreeSet<u32>) -> Option<u32> {
        let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
        self.buckets_of(a, full, &mut of_a);
        self.buckets_of(b, full, &mut of_b);
        of_a.into_iter().find(|bucket| of_b.contains(bucket))
    }
}

impl Engine {
    /// Returns the keys of the fingerprints, or an error if the method compares sets.
    fn keys(&self) -> PyResult<&BucketKeys> {
        let rule = "compares sets: there are no fingerprints";
        let refused = || exception(Error::config("method", &self.config.method, rule));
        self.keys.as_ref().ok_or_else(refused)
    }

    /// Returns the fates of the removed groups, in the order of the groups.
    fn fates(&self, around: &Neighbourhood<'_>, ranks: &[i64]) -> Vec<RemovalReason> {
        let prefer = |a: u32, b: u32| ranks[a as usize].cmp(&ranks[b as usize]);
        let (mut fates, any) = (Vec::new(), (None, None));
        if self.config.clusters == ClusterRule::Components {
            fates.extend(components::keep_one_each(around, prefer).iter().map(|removal| {
                let &Removal { row, kept, closeness } = removal;
                RemovalReason { group: row, kept, from: any.0, until: any.1, closeness }
            }));
            return fates;
        }
        let removals = keep::keep_preferred(around, prefer);
        let is_removed =
            |row: u32| removals.binary_search_by_key(&row, |removal| removal.row).is_ok();
        let mut kept = Vec::new();
        for removal in &removals {
            let Some(own) = around.group_of(removal.row) else { continue };
            kept.clear();
            kept.extend(around.neighbours(own).filter_map(|neighbour| {
                // Each group has a single row.
                let row = around.rows(neighbour.group)[0];
                (!is_removed(row)).then(|| (row, around.closeness(neighbour)))
            }));
            kept.sort_unstable_by(|one, other| prefer(one.0, other.0));
            // A document is removed for the closest kept document before it, and among equally
            // close ones for the first. Later documents see more candidates, so they may have a
            // closer one: the fate of a group changes from candidate to candidate.
            let first = fates.len();
            let mut best: Option<(u32, Closeness)> = None;
            for &(row, closeness) in &kept {
                let is_better = best.is_none_or(|(best, to_best)| {
                    closeness.compare(to_best).then(best.cmp(&row)).is_gt()
                });
                if !is_better {
                    continue;
                }
                best = Some((row, closeness));
                if let Some(RemovalReason { until, .. }) = fates[first..].last_mut() {
                    *until = Some(row);
                }
                let from = (fates.len() > first).then_some(row);
                let closeness = Some(closeness);
                fates.push(RemovalReason {
                    group: removal.row,
                    kept: row,
                    from,
                    until: None,
                    closeness,
                });
            }
        }
        fates
    }
}

/// Searches one bucket after the other and collects the close pairs.
struct Search<'s> {
    keys: &'s BucketKeys,
    resources: &'s Resources,
    given: &'s FingerprintRows<'s>,
    full: &'s BTreeSet<u32>,
    candidates: Candidates,
    found: Vec<ValuePair>,
}

impl<'s> Search<'s> {
    fn new(
        keys: &'s BucketKeys,
        resources: &'s Resources,
        given: &'s FingerprintRows<'s>,
        full: &'s BTreeSet<u32>,
    ) -> Self {
        let (candidates, found) = Default::default();
        Self { keys, resources, given, full, candidates, found }
    }

    /// Finds the close pairs among the rows of a bucket.
    fn run(&mut self, bucket: u32, run: Vec<u32>, sides: Option<&[i64]>) -> simtool::Result<()> {
        let (first, second) = match sides {
            None => (run, None),
            Some(sides) => {
                let (first, second): (Vec<u32>, Vec<u32>) =
                    run.into_iter().partition(|&row| sides[row as usize] == 0);
                (first, Some(second))
            }
        };
        let others = second.as_ref().unwrap_or(&first);
        // A small bucket is compared directly: planning a join would take longer.
        let is_large = first.len().max(others.len()) > FEW;
        let is_some = !first.is_empty() && !others.is_empty();
        // The join may be impossible to plan. Then the ways below compare the bucket.
        if is_large
            && is_some
            && let Some(found) = self.joined(&first, second.as_deref())?
        {
            for pair in found {
                self.take(bucket, first[pair.a as usize], others[pair.b as usize]);
            }
            return Ok(());
        }
        if second.is_none()
            && self.keys.shape.metric() == Metric::Bits
            && self.given.shape.words() == 1
        {
            let words: Vec<u64> = first.iter().map(|&row| self.given.words[row as usize]).collect();
            let mut near = Vec::new();
            let mut sink = |rows: &[u32], columns: &[u32]| {
                near.extend(rows.iter().copied().zip(columns.iter().copied()));
            };
            let search = PairSearch {
                words: &words,
                rows: 0..words.len(),
                first_column: 0,
                max_distance: self.keys.distance,
            };
            near_pairs_64(search, self.resources.isa, &mut self.candidates, &mut sink);
            for (a, b) in near {
                self.take(bucket, first[a as usize], first[b as usize]);
            }
            return Ok(());
        }
        for (place, &a) in first.iter().enumerate() {
            // Within one side each pair is compared once, from its first row.
            let behind = if second.is_some() { 0 } else { place + 1 };
            others[behind..].iter().for_each(|&b| self.take(bucket, a, b));
        }
        Ok(())
    }

    /// Finds the pairs of many rows with the join of one machine. Returns `None` if the join cannot
    /// be planned, for example if all rows are within the distance.
    fn joined(
        &self,
        first: &[u32],
        second: Option<&[u32]>,
    ) -> simtool::Result<Option<Vec<ValuePair>>> {
        let gathered = |rows: &[u32]| {
            let words =
                rows.iter().flat_map(|&number| row(self.given, number as usize).iter().copied());
            let words: Vec<u64> = words.collect();
            FingerprintRows {
                shape: self.given.shape,
                words: words.into(),
                validity: None,
                recipe: None,
            }
        };
        let (resources, distance) = (self.resources, self.keys.distance);
        let first = gathered(first);
        let second = second.map(gathered);
        let rows = match &second {
            None => Sides::One(&first),
            Some(second) => Sides::Two(&first, second),
        };
        let Ok(plan) = plan_join(rows, distance, None, resources.memory) else { return Ok(None) };
        list_pairs(rows, &plan, &Context::with_pool(resources, &NoProgress)?).map(Some)
    }

    /// Adds a pair of rows if the two are close and this is the first bucket they share.
    fn take(&mut self, bucket: u32, a: u32, b: u32) {
        let (one, other) = (row(self.given, a as usize), row(self.given, b as usize));
        let distance = self.keys.shape.distance(one, other);
        if distance <= self.keys.distance
            && self.keys.first_bucket(one, other, self.full) == Some(bucket)
        {
            self.found.push(ValuePair { a, b, distance });
        }
    }
}

/// Reads the model that a [`Learner`](crate::learner::Learner) wrote. Without bytes nothing is
/// learned.
pub(crate) fn fitted(learned: Option<&[u8]>) -> PyResult<Fitted> {
    let read = |bytes| Fitted::from_bytes(bytes, Path::new("learned"));
    learned.map_or(Ok(Fitted::Nothing), read).map_err(exception)
}

/// Returns the words of a row.
fn row<'r>(rows: &'r FingerprintRows<'_>, number: usize) -> &'r [u64] {
    let words = rows.shape.words();
    &rows.words[number * words..][..words]
}

/// Returns the number of the bucket of a key. Two keys may share a bucket, which is then searched
/// for both.
fn high(key: u64) -> u32 {
    (key >> 32) as u32
}

/// Combines a key with a part of the row into a new key.
fn mixed(key: u64, part: u64) -> u64 {
    stable_hash::mix(key ^ part.rotate_left(1))
}

/// Reads fingerprints and checks that they have the words of `shape`.
fn rows(given: &Bound<'_, PyAny>, shape: Shape) -> PyResult<FingerprintRows<'static>> {
    let rows = numbers::fingerprints(given)?;
    if rows.shape.words() != shape.words() {
        let rule = format!("fingerprints: must be {shape}, not of {}", rows.shape);
        return Err(PyValueError::new_err(rule));
    }
    Ok(FingerprintRows { shape, ..rows })
}

/// Reads the whole numbers of an Arrow array.
pub(crate) fn whole_numbers(given: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<i64>> {
    let arrow = Imported::of(given)?.ok_or_else(|| no_table(name))?;
    let mut numbers = Vec::new();
    for array in arrow.arrays() {
        numbers.extend(numbers::integers(array, array.offset()?, array.len()?)?);
    }
    Ok(numbers)
}

/// Reads the pairs of an Arrow table and checks that each group is below `groups`.
pub(crate) fn group_pairs(given: &Bound<'_, PyAny>, groups: usize) -> PyResult<Vec<ClosePair>> {
    let (mut pairs, _) = given_pairs(given)?;
    for pair in &mut pairs {
        (pair.a, pair.b) = (pair.a.min(pair.b), pair.a.max(pair.b));
        if pair.b as usize >= groups {
            return Err(PyValueError::new_err(format!("pairs: {} is no group", pair.b)));
        }
    }
    Ok(pairs)
}

fn pair_table(found: &[ValuePair]) -> Table {
    let column = |name, of: fn(&ValuePair) -> u32| {
        ColumnData::new(name, Values::U32(found.iter().map(of).collect()))
    };
    Table::new(vec![
        column("a", |pair| pair.a),
        column("b", |pair| pair.b),
        column("distance", |pair| pair.distance),
    ])
}
