//! The part of a distributed run that one machine computes: the keys of fingerprints, close pairs among fingerprints
//! with the same key, and the choice of the kept documents.
//!
//! An engine, such as Spark, moves the rows between machines. This module does not depend on the engine. Each result
//! depends only on the options and the input, so a task that runs twice gives the same result.

use crate::bucket_keys::{BucketKeys, rows};
use crate::bucket_search::{ClosePairSearch, row};
use crate::columns::{ColumnData, Values};
use crate::errors::exception;
use crate::fields;
use crate::fingerprints::Fingerprints;
use crate::given_pairs::given_pairs;
use crate::numbers::whole_numbers;
use crate::settings;
use crate::tables::Table;
use crate::texts::ImportedTexts;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::cluster::{Removal, components, keep};
use simtool::method::{Criterion, Fitted};
use simtool::options::Choice;
use simtool::pipeline::{TextFacts, fingerprint_by_fitted};
use simtool::progress::NoProgress;
use simtool::stages::close::{Close, ClosePair, Neighbourhood};
use simtool::stages::closeness::Closeness;
use simtool::stages::groups::Groups;
use simtool::stages::hamming::null_lanes::{NullSide, may_be_null, without_nulls};
use simtool::stages::matches::ValuePair;
use simtool::stages::read::Texts;
use simtool::stages::sides::Sides;
use simtool::stages::stable_hash;
use simtool::{ClusterRule, Config, Error, Keep};
use std::collections::BTreeSet;
use std::path::Path;

/// The settings of one method. They are the same for every task of a run.
#[pyclass(frozen, module = "simtool._simtool")]
pub(crate) struct Engine {
    config: Config,
    /// The model that was learned from the collection, if the fingerprints need one.
    fitted: Fitted,
    /// Keys of the fingerprints. `None` if the method compares sets.
    keys: Option<BucketKeys>,
}

#[pymethods]
impl Engine {
    /// Creates the engine for the options of `simtool dedup`. With a `sample` of fingerprints, the keys are chosen so
    /// that they separate these fingerprints equally well. `learned` is the model for the fingerprints, if they need
    /// one.
    #[new]
    #[pyo3(signature = (sample=None, learned=None, **options))]
    fn new(
        sample: Option<&Bound<'_, PyAny>>,
        learned: Option<&[u8]>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let mut options = settings::engine_options(options)?;
        options.complete(&[("method", "simhash")]);
        let mut config = settings::config(options)?;
        config.resources.threads = 1;
        let keys = match config.method.close() {
            Criterion::Distance(distance) => {
                Some(BucketKeys::new(&config.method, distance, sample)?)
            }
            Criterion::Similarity(_) | Criterion::Coverage => None,
        };
        Ok(Self { config, fitted: fitted(learned)?, keys })
    }

    /// The method with all its settings.
    #[getter]
    fn method(&self) -> String {
        self.config.method.to_string()
    }

    /// Number of 64-bit words of a fingerprint.
    #[getter]
    fn words(&self) -> PyResult<usize> {
        Ok(self.keys()?.shape.words())
    }

    /// Number of keys of a fingerprint.
    #[getter]
    fn tables(&self) -> PyResult<usize> {
        Ok(self.keys()?.layout.masks().len())
    }

    /// Name of the rule that decides which of several near-duplicates is kept.
    #[getter]
    fn keep(&self) -> PyResult<&'static str> {
        Ok(self.rule()?.name())
    }

    /// Checks that the values of a field are given if, and only if, they decide which document is kept.
    fn check_field(&self, is_there: bool) -> PyResult<()> {
        let keep = &self.config.keep;
        keep.check_field(is_there, false, &self.config.fields).map_err(exception)
    }

    /// Returns keys by which an engine sorts documents: a table with the text column `order`. The key of the document
    /// that is kept comes first. `values` has the value of the field for each document.
    fn order(&self, values: &Bound<'_, PyAny>) -> PyResult<Table> {
        let (mut starts, mut texts) = (vec![0], Vec::new());
        let rule = self.rule()?;
        for value in fields::values(values)? {
            let value = Some(value.as_bytes()).filter(|value| !value.is_empty());
            for byte in rule.ordered_bytes(&rule.value(value)) {
                // Engines compare texts by their bytes. Hexadecimal digits keep the order and are ASCII.
                texts.extend(format!("{byte:02x}").into_bytes());
            }
            starts.push(texts.len() as i64);
        }
        Ok(Table::new(vec![ColumnData::new("order", Values::Texts(starts, texts))]))
    }

    /// Whether buckets that are too full can be divided into smaller ones.
    #[getter]
    fn cuts(&self) -> PyResult<bool> {
        Ok(self.keys()?.halves.is_some())
    }

    /// Whether documents have fingerprints, so that results have a distance.
    #[getter]
    fn has_fingerprints(&self) -> bool {
        self.keys.is_some()
    }

    /// Whether texts are compared, so that results have a similarity.
    #[getter]
    fn verifies(&self) -> bool {
        self.keys.is_none() || self.config.method.verify().is_some()
    }

    /// Returns the fingerprints of texts. If fingerprints of the method can have null lanes, each null lane is replaced
    /// by a number that is made from the ID of the document. Such a lane equals no lane of another document of either
    /// side.
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
        // An engine would put all null lanes into one bucket. Numbers that are made from IDs spread them over many
        // buckets.
        if may_be_null(made.shape) {
            let numbers =
                fields::values(ids)?.into_iter().map(|id| stable_hash::hash(id.as_bytes()));
            let side = if of_queries { NullSide::Queries } else { NullSide::Corpus };
            made = without_nulls(&made, numbers, side);
        }
        Ok(Fingerprints::new(made, method.clone(), self.fitted.clone()))
    }

    /// Returns facts about texts, also about texts without a fingerprint: a table with the number of `bytes`, the
    /// number of `tokens`, and a `hash` of the bytes.
    fn text_facts(&self, py: Python<'_>, texts: &Bound<'_, PyAny>) -> PyResult<Table> {
        let input = ImportedTexts::of(texts, None)?;
        let rows = &input.rows()?;
        let (method, isa) = (&self.config.method, self.config.resources.isa);
        let facts = py.detach(|| TextFacts::of_texts(rows, method, isa));
        let bytes = rows.iter().map(|text| u32::try_from(text.len()).unwrap_or(u32::MAX)).collect();
        Ok(Table::new(vec![
            ColumnData::new("bytes", Values::U32(bytes)),
            ColumnData::new("tokens", Values::U32(facts.token_counts().to_vec())),
            ColumnData::new("hash", Values::U64(facts.hashes().to_vec())),
        ]))
    }

    /// Returns the buckets of fingerprints: a table of `row` and `bucket`. `full` has the numbers of buckets that are
    /// too full. The fingerprints of such a bucket are put into smaller buckets instead.
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

    /// Returns the close pairs among the fingerprints in buckets: a table of `a`, `b` and `distance`.
    ///
    /// The input must have all fingerprints of a bucket, one after the other. Each pair is returned only in the first
    /// bucket that both fingerprints share. With `sides`, each pair has one row of side 0 and one row of side 1.
    /// Without `sides`, no two fingerprints may be equal.
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
            let mut search = ClosePairSearch::new(keys, &self.config.resources, &given, &full);
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

    /// Decides which groups of equal documents are removed. `pairs` has the close pairs of groups: `a`, `b`, `distance`
    /// and, if texts were compared, `similarity`. Groups are numbered in the order of the documents that they would
    /// keep. `ranks` has the place of each of these documents in the order of preference.
    ///
    /// Returns a table of the groups of which all documents are removed. `kept` is the group that is kept in place of
    /// `group`. A group can have several rows for different documents. A row applies to documents that come in the
    /// order of preference after the kept document of group `from` (null means any document), and not after the kept
    /// document of group `until`. `similarity` and `distance` are null if only a chain of pairs links the two groups.
    fn settle(
        &self,
        py: Python<'_>,
        pairs: &Bound<'_, PyAny>,
        ranks: &Bound<'_, PyAny>,
    ) -> PyResult<Table> {
        let ranks = whole_numbers(ranks, "ranks")?;
        let mut pairs = group_pairs(pairs, ranks.len())?;
        let reasons = py.detach(|| {
            // Engines return pairs in any order, and the result must not depend on it.
            pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
            let groups = Sides::One(Groups::default());
            let close = Close::new(groups, pairs.into(), Closeness::Distance(0));
            self.reasons(&Neighbourhood::new(&close), &ranks)
        });
        let numbers = |name, of: fn(&RemovalReason) -> u32| {
            ColumnData::new(name, Values::U32(reasons.iter().map(of).collect()))
        };
        let optional = |name, of: fn(&RemovalReason) -> Option<u32>| {
            let values = reasons.iter().map(|reason| of(reason).unwrap_or_default()).collect();
            ColumnData::nullable(name, Values::U32(values), |row| of(&reasons[row]).is_some())
        };
        let similarity_of =
            |reason: &RemovalReason| reason.closeness.and_then(Closeness::similarity);
        let values =
            reasons.iter().map(|reason| similarity_of(reason).unwrap_or(f64::NAN)).collect();
        let similarity = ColumnData::nullable("similarity", Values::F64(values), |row| {
            similarity_of(&reasons[row]).is_some()
        });
        Ok(Table::new(vec![
            numbers("group", |reason| reason.group),
            numbers("kept", |reason| reason.kept),
            optional("from", |reason| reason.from),
            optional("until", |reason| reason.until),
            similarity,
            optional("distance", |reason| reason.closeness.and_then(Closeness::distance)),
        ]))
    }
}

/// The reason why documents of a group are removed.
struct RemovalReason {
    group: u32,
    kept: u32,
    /// The reason applies to documents that come after the kept document of this group in the order of preference.
    /// `None` means no lower bound.
    from: Option<u32>,
    /// The reason applies to documents up to the kept document of this group in the order of preference. `None` means
    /// no upper bound.
    until: Option<u32>,
    closeness: Option<Closeness>,
}

impl Engine {
    /// Returns the keys of the fingerprints, or an error if the method compares sets.
    fn keys(&self) -> PyResult<&BucketKeys> {
        let rule = "compares sets: there are no fingerprints";
        let refused = || exception(Error::config("method", &self.config.method, rule));
        self.keys.as_ref().ok_or_else(refused)
    }

    /// Returns the rule that decides which of several near-duplicates is kept. Returns an error if there are several
    /// rules, or a rule names a field.
    fn rule(&self) -> PyResult<Keep> {
        let refused = || {
            let rule = "must be one rule without a name of a field here";
            exception(Error::config("keep", self.config.keep.written(&self.config.fields), rule))
        };
        let has_names = self.config.fields.iter().any(|field| field.name.is_some());
        self.config.keep.only_rule().filter(|_| !has_names).ok_or_else(refused)
    }

    /// Returns the reasons for the removal of groups of equal documents, in the order of the groups. `around` has the
    /// similar groups of each group. `ranks` has for each group the position in the order of preference of the document
    /// that it would keep.
    fn reasons(&self, around: &Neighbourhood<'_>, ranks: &[i64]) -> Vec<RemovalReason> {
        let prefer = |a: u32, b: u32| ranks[a as usize].cmp(&ranks[b as usize]);
        let (mut reasons, any) = (Vec::new(), (None, None));
        if self.config.clusters == ClusterRule::Components {
            reasons.extend(components::keep_one_each(around, prefer).iter().map(|removal| {
                let &Removal { row, kept, closeness } = removal;
                RemovalReason { group: row, kept, from: any.0, until: any.1, closeness }
            }));
            return reasons;
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
            // closer one: the kept document of a group changes from candidate to candidate.
            let first = reasons.len();
            let mut best: Option<(u32, Closeness)> = None;
            for &(row, closeness) in &kept {
                let is_better = best.is_none_or(|(best, to_best)| {
                    closeness.compare(to_best).then(best.cmp(&row)).is_gt()
                });
                if !is_better {
                    continue;
                }
                best = Some((row, closeness));
                if let Some(RemovalReason { until, .. }) = reasons[first..].last_mut() {
                    *until = Some(row);
                }
                let from = (reasons.len() > first).then_some(row);
                let closeness = Some(closeness);
                reasons.push(RemovalReason {
                    group: removal.row,
                    kept: row,
                    from,
                    until: None,
                    closeness,
                });
            }
        }
        reasons
    }
}

/// Parses the model that a [`Learner`](crate::learner::Learner) wrote. Without bytes, there is no model.
pub(crate) fn fitted(learned: Option<&[u8]>) -> PyResult<Fitted> {
    let read = |bytes| Fitted::from_bytes(bytes, Path::new("learned"));
    learned.map_or(Ok(Fitted::Nothing), read).map_err(exception)
}

/// Reads the pairs of groups in an Arrow table. Returns an error if the number of a group is not below `groups`.
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
