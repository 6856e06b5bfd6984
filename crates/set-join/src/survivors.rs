//! Prepares a join: reads the documents, drops those that cannot have a similar document, makes
//! sketches of the others, and decides whether sketches or prefixes are joined.

use super::block_join::{MOST_BLOCKS, blocks};
use super::cells::Cells;
use super::memory_texts::enough_more;
use super::pair_filter::PairFilter;
use super::prune::{self, JoinShard, living_terms, sample_eighths};
use super::ranked_sets::NANOSECONDS_A_RANKED_TERM;
use super::set_join::SetJoin;
use super::sketch_levels;
use super::sketch_rows;
use super::sketching::{self, SketchScratch, Sketching, have_prefixes};
use super::term_source::{TermSource as _, TermSources, Wanted};
use simtool_base::error::{Error, Result};
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_model::groups::Groups;
use simtool_model::similarity::Threshold;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes of memory for each term that the first round of counting samples. These are the number of its
/// counter, its counters in the table, and the buffers of the writers.
const BYTES_PER_SAMPLED_TERM: u64 = 6;

/// Bytes of memory for each document with a sketch, in addition to its bits: its size and signature, and its place
/// while equal documents are looked for.
pub(super) const BYTES_A_SET: u64 = 48;

/// The memory limit may be exceeded by 1/`SPARE_SHARE` of it plus [`SPARE_BYTES`], for the sketches of many small
/// documents. An error would be worse.
const SPARE_SHARE: u64 = 10;
/// Number of bytes by which the limit of memory may be exceeded.
const SPARE_BYTES: u64 = 16 << 20;

/// The join assumes that further rounds of counting leave more than 1/`ROUNDS_LEAVE` of the terms. If even this
/// fraction of the terms does not fit in memory, the join fails before these rounds.
const ROUNDS_LEAVE: usize = 16;

/// Maximum number of terms for which all documents are sketched at the first reading. For so few terms,
/// dropping documents first would take longer.
pub(super) const FEW_TERMS: u64 = 1 << 26;

/// Limit for the comparison of all sketches, in nanoseconds of a core per term. If it takes longer,
/// another round of counting comes first, which drops more documents. The round takes about a third of
/// this time, and saves about a third of the comparison.
pub(super) const NANOSECONDS_A_ROUND: f64 = 60.0;

/// Maximum number of bytes for the counter numbers of the terms that the first round of counting
/// samples. If more bytes would be needed, the documents are read twice instead. This takes a quarter
/// longer but hardly any memory.
pub(super) const SAMPLE_BYTES: u64 = 1 << 29;

/// The documents that may have a similar document, with their sketches. They are marked in the list of
/// all shards.
pub(super) struct Survivors {
    pub(super) shards: Vec<JoinShard>,
    pub(super) sketches: Vec<Sketching>,
    /// Whether similar documents are found by comparing sketches. If not, they are found by prefixes,
    /// which are the rarest terms of each document.
    pub(super) is_scanned: bool,
}

impl SetJoin<'_> {
    /// Reads the documents, and drops documents that cannot have a similar one. Makes sketches of the other documents,
    /// and chooses how similar pairs are found.
    pub(super) fn survivors(&self, sources: &TermSources<'_>) -> Result<Survivors> {
        if sources.is_weighted() {
            return self.weighed(sources);
        }
        let hint = sources.term_count_hint();
        let sketched_bytes = |terms: u64| sketch_rows::planned_bytes(terms, self.threshold);
        // For few terms, sketches of all documents cost less than a round and a second reading.
        let few = hint <= FEW_TERMS && sketched_bytes(hint) <= self.memory_bytes;
        let reading = Work::Bytes(sources.bytes());
        let mut first = None;
        if few {
            self.context.progress().begin("read and sketch", reading);
            first = sketch_all(sources, self.threshold, self.context)?;
        }
        let FirstRound { mut shards, sketches: sketched, has_counted_all } = match first {
            Some(first) => first,
            None => self.first_round(sources)?,
        };
        let sizes = shards.iter().flat_map(|shard| &shard.sizes);
        let terms = sizes.clone().map(|&size| u64::from(size)).sum();
        self.context.progress().counted("rows", sizes.count() as u64);
        self.context.progress().counted("terms", terms);
        // The sketches must fit in memory.
        let are_fitting = |shards: &[JoinShard]| {
            let bytes = match &sketched {
                Some(lists) => lists.iter().map(Sketching::compared_bytes).sum(),
                None => sketched_bytes(living_terms(shards)),
            };
            bytes <= self.memory_bytes
        };
        // Without prefixes, the comparison of sketches is quadratic.
        let have_prefixes = sketched.as_ref().is_some_and(|lists| have_prefixes(lists));
        let is_timely = |shards: &[JoinShard]| {
            let most = living_terms(shards) as f64 * NANOSECONDS_A_ROUND;
            have_prefixes || self.scan_nanoseconds(sources, shards) <= most
        };
        let mut is_scanned = are_fitting(&shards) && is_timely(&shards);
        if !is_scanned {
            // If even counting cannot bring the terms into memory, the rounds would read everything
            // many times before they fail.
            let parts = blocks(&shards, self.fitting() / 2).len();
            if parts > MOST_BLOCKS * ROUNDS_LEAVE
                && sketched_bytes(living_terms(&shards)) / ROUNDS_LEAVE as u64 > self.memory_bytes
            {
                return Err(self.too_little_memory(&shards));
            }
            // Documents that have lost their matches may be dropped, too. These are few, unless the first round has dropped
            // most terms or has counted only some.
            if !has_counted_all || living_terms(&shards) * 2 < terms {
                self.rereading(sources).rounds(&mut shards, 0)?;
                self.count_living(&shards);
            }
            is_scanned =
                are_fitting(&shards) && (have_prefixes || self.is_scan_timely(sources, &shards));
        }
        let sketches = if let Some(mut sketches) = sketched {
            sketching::retain_living(&mut sketches, &shards);
            sketches
        } else {
            self.check_living(&shards)?;
            self.context.progress().begin("sketch", reading);
            self.count_living(&shards);
            sketch_living(sources, &shards, is_scanned, self)?
        };
        Ok(Survivors { shards, sketches, is_scanned })
    }

    /// Checks that there is memory for the size, signature and position of each document that may still have a similar
    /// one.
    ///
    /// # Errors
    /// There is not enough memory.
    fn check_living(&self, shards: &[JoinShard]) -> Result<()> {
        let living: u64 = shards.iter().map(|shard| shard.living_sizes().count() as u64).sum();
        let needed = living * BYTES_A_SET;
        let spare = self.context.memory().limit() / SPARE_SHARE;
        if needed <= self.memory_bytes.saturating_add(spare).saturating_add(SPARE_BYTES) {
            return Ok(());
        }
        let rule = format!(
            "`max_memory` leaves {} bytes for them. {}; the method simhash needs less",
            self.memory_bytes,
            enough_more(needed, self.memory_bytes)
        );
        Err(Error::limit(format!("{living} documents that may match"), rule))
    }

    /// Reports two numbers to the receiver of progress: the documents that may still have a similar
    /// one, and their terms.
    pub(super) fn count_living(&self, shards: &[JoinShard]) {
        let rows: usize = shards.iter().map(|shard| shard.living_sizes().count()).sum();
        self.context.progress().counted("rows", rows as u64);
        self.context.progress().counted("terms", living_terms(shards));
    }

    /// Estimates the nanoseconds that one core takes to compare all sketches. Only documents that may
    /// still have a similar one have sketches.
    pub(super) fn scan_nanoseconds(&self, sources: &TermSources<'_>, shards: &[JoinShard]) -> f64 {
        self.nanoseconds(sources, shards, sketch_levels::estimated_nanoseconds)
    }

    /// Returns the nanoseconds that one core takes to compare all sketches of documents that were not dropped. The
    /// function `nanoseconds` estimates this time for two sorted lists of set sizes.
    pub(super) fn nanoseconds(
        &self,
        sources: &TermSources<'_>,
        shards: &[JoinShard],
        nanoseconds: fn(&[u32], &[u32], Threshold, Isa) -> f64,
    ) -> f64 {
        let sizes = |shards: &[JoinShard]| {
            let mut sizes: Vec<u32> = shards.iter().flat_map(JoinShard::living_sizes).collect();
            sizes.sort_unstable();
            sizes
        };
        let nanoseconds = |sets: &[u32], candidates: &[u32]| {
            nanoseconds(sets, candidates, self.threshold, self.context.isa())
        };
        if sources.second.is_none() {
            let sizes = sizes(shards);
            return nanoseconds(&sizes, &sizes);
        }
        let (first, second) = shards.split_at(sources.first.shard_count());
        let first = sizes(first);
        let second = sizes(second);
        nanoseconds(&first, &second) + nanoseconds(&second, &first)
    }

    /// Returns whether comparing all sketches takes at most as long as a join by prefixes.
    pub(super) fn is_scan_timely(&self, sources: &TermSources<'_>, shards: &[JoinShard]) -> bool {
        // Each pair of blocks is joined, so each block is joined as often as there are other blocks.
        let times = blocks(shards, self.fitting() / 2).len().saturating_sub(1).max(1);
        let by_prefixes = living_terms(shards) as f64 * NANOSECONDS_A_RANKED_TERM * times as f64;
        self.scan_nanoseconds(sources, shards) <= by_prefixes
    }

    fn first_round(&self, sources: &TermSources<'_>) -> Result<FirstRound> {
        let hint = sources.term_count_hint();
        let sampled = hint / 8 * sample_eighths(self.threshold);
        if sampled.saturating_mul(BYTES_PER_SAMPLED_TERM) <= self.memory_bytes.min(SAMPLE_BYTES) {
            self.context.progress().begin("read and count", Work::Bytes(sources.bytes()));
            let shards = prune::first_round(sources, self.threshold, self.context)?;
            Ok(FirstRound { shards, sketches: None, has_counted_all: false })
        } else {
            self.rereading(sources).first_round()
        }
    }
}

impl Survivors {
    /// Drops equal documents: from each group of equal documents, only the first one remains. Returns the groups. With
    /// a filter, also drops documents that have no class, because they have no pairs.
    pub(super) fn remove_equal(&mut self, filter: Option<&dyn PairFilter>) -> Groups {
        if let Some(filter) = filter {
            for shard in &mut self.shards {
                for (row, is_alive) in (shard.first_row..).zip(&mut shard.alive) {
                    *is_alive &= filter.class(row).is_some();
                }
            }
            sketching::retain_living(&mut self.sketches, &self.shards);
        }
        let equal = sketching::equal_sets(&self.sketches, filter);
        // Equal documents have the same partners, so the first one finds them for all.
        for &other in equal.iter().flat_map(|group| &group[1..]) {
            let shard = prune::shard_of(&self.shards, other);
            let shard = &mut self.shards[shard];
            shard.alive[(other - shard.first_row) as usize] = false;
        }
        sketching::retain_living(&mut self.sketches, &self.shards);
        equal
    }
}

/// Result of the first round of counting, or of a reading that has only sketched all documents.
pub(super) struct FirstRound {
    pub(super) shards: Vec<JoinShard>,
    /// The sketches of the documents that may have a similar one. `None` if they were not made.
    pub(super) sketches: Option<Vec<Sketching>>,
    /// Whether all terms were counted, and not only a sample.
    pub(super) has_counted_all: bool,
}

/// Reads all documents for the first time, and makes their sketches. Returns `None` if the sketches do not fit in
/// memory, which shows only while documents are read.
pub(super) fn sketch_all(
    sources: &TermSources<'_>,
    threshold: Threshold,
    context: &Context<'_>,
) -> Result<Option<FirstRound>> {
    let is_full = AtomicBool::new(false);
    // Rows are numbered after all shards were read. Until then, a document has its index in its
    // shard.
    let read = context.threads().try_map(
        sources.shard_count(),
        || Ok(SketchScratch::default()),
        |scratch, number| {
            let mut sizes = Vec::new();
            let mut sketches = Sketching::new(threshold, true, context.memory());
            if is_full.load(Ordering::Relaxed) {
                return Ok((sizes, sketches));
            }
            sources.try_visit(number, Wanted::All, &mut |index, terms| {
                sizes.push(prune::document_size(terms.len())?);
                sketches.push(index, terms, scratch)
            })?;
            if context.memory().used() > context.memory().limit() {
                is_full.store(true, Ordering::Relaxed);
            }
            Ok((sizes, sketches))
        },
    )?;
    if is_full.into_inner() {
        return Ok(None);
    }
    let mut shards = Vec::new();
    let mut all = Vec::new();
    let mut row = 0;
    for (sizes, mut sketches) in read {
        sketches.number_from(row);
        let shard = JoinShard::new(row, sizes);
        row = prune::row_after(row, shard.sizes.len())?;
        shards.push(shard);
        all.push(sketches);
    }
    Ok(Some(FirstRound { shards, sketches: Some(all), has_counted_all: false }))
}

/// Reads the documents that may still have a similar one, and makes their sketches. If `with_bits` is
/// false, sketches have only sizes and signatures, which are enough to find equal sets.
pub(super) fn sketch_living(
    sources: &TermSources<'_>,
    shards: &[JoinShard],
    with_bits: bool,
    join: &SetJoin<'_>,
) -> Result<Vec<Sketching>> {
    let terms = living_terms(shards);
    sketched(shards, with_bits, None, join, &|number, push| {
        visit_living(sources, &shards[number], terms, number, push)
    })
}

/// Reads the documents that may still have a similar one, and makes their sketches from the terms that are matched in
/// `cells`. All terms of these documents must have been counted in `cells`.
pub(super) fn sketch_counted(
    sources: &TermSources<'_>,
    shards: &[JoinShard],
    cells: &Cells,
    join: &SetJoin<'_>,
) -> Result<Vec<Sketching>> {
    let terms = living_terms(shards);
    sketched(shards, true, Some(cells), join, &|number, push| {
        visit_living(sources, &shards[number], terms, number, push)
    })
}

/// Reads shard `number`, and calls `push` with each of its documents that may still have a similar one. `terms` is the
/// number of terms of all such documents in all shards.
fn visit_living(
    sources: &TermSources<'_>,
    shard: &JoinShard,
    terms: u64,
    number: usize,
    push: &mut Push<'_>,
) -> Result<()> {
    if !shard.alive.contains(&true) {
        return Ok(());
    }
    let is_one = &|index| shard.is_alive(index);
    sources.try_visit(number, Wanted::Remaining { is_one, terms }, push)
}

/// Reads some of the documents that may still have a similar one, and makes their sketches. `is_one` is
/// true for the row numbers of these documents.
pub(super) fn sketch_some(
    sources: &TermSources<'_>,
    shards: &[JoinShard],
    is_one: &(dyn Fn(u32) -> bool + Sync),
    join: &SetJoin<'_>,
) -> Result<Vec<Sketching>> {
    sketched(shards, true, None, join, &|number, push| {
        let shard = &shards[number];
        let wanted = |index| shard.is_alive(index) && is_one(shard.first_row + index);
        sources.try_visit(number, Wanted::Some(&wanted), push)
    })
}

/// Callback that receives the position of a document in its shard, and its terms.
type Push<'p> = dyn FnMut(u32, &[u64]) -> Result<()> + 'p;

/// Makes the sketches of documents. Calls `visit` with each shard number and with a callback that receives the
/// documents of the shard. If `with_bits` is false, sketches have no rows of bits. If `cells` is given, only terms that
/// are matched in `cells` become bits.
fn sketched(
    shards: &[JoinShard],
    with_bits: bool,
    cells: Option<&Cells>,
    join: &SetJoin<'_>,
    visit: &(dyn Fn(usize, &mut Push<'_>) -> Result<()> + Sync),
) -> Result<Vec<Sketching>> {
    let SetJoin { threshold, context, .. } = *join;
    let sketched = context.threads().try_fold(
        shards.len(),
        || Ok((Sketching::new(threshold, with_bits, context.memory()), SketchScratch::default())),
        |(sketches, scratch), number| {
            let first_row = shards[number].first_row;
            visit(number, &mut |index, terms| match cells {
                Some(cells) => {
                    let matched = |terms: &[u64], matched: &mut Vec<bool>| {
                        cells.look_up_terms(terms, matched);
                    };
                    sketches.push_counted(first_row + index, terms, matched, |_| 0, scratch)
                }
                None => sketches.push(first_row + index, terms, scratch),
            })
        },
    )?;
    Ok(sketched.into_iter().map(|(sketches, _)| sketches).collect())
}
