//! Fingerprints alone: joined with themselves, or searched for others.

use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint_file;
use crate::fingerprint_rows::{FingerprintRows, Lanes};
use crate::fingerprint_table::Lane;
use crate::kernels::Isa;
use crate::matches::{Match, ValuePair};
use crate::pipeline::emit_pairs::{PairOutput, Partners, collect, emit};
use crate::pipeline::workers;
use crate::search::bipartite_join::bipartite_join;
use crate::search::bit_probing::BitProbing;
use crate::search::block_index::BlockIndex;
use crate::search::collect::{CountRows, KeepPairs};
use crate::search::expanded_set::ExpandedSet;
use crate::search::grouping::{EqualGroups, group};
use crate::search::linear_scan::{self, LinearScan};
use crate::search::partition_join::{count_pairs, self_join};
use crate::search::permuted_tables::PermutedTables;
use crate::search::planner::{IndexName, Plan, Task, Workload};
use crate::search::row_pairs::RowPairs;
use crate::search::spilled_join::SpilledGroups;
use crate::search::streamed_queries::StreamedQueries;
use crate::search::{FingerprintIndex, Rows, SearchLane};
use crate::write::pair_table;
use std::path::{Path, PathBuf};

/// How to join or search.
#[derive(Clone, Debug)]
pub struct JoinConfig {
    /// k.
    pub max_distance: u32,
    /// The method, where it is not left to the planner.
    pub index: Option<IndexName>,
    /// Bytes that the search may use besides the files.
    pub memory: u64,
    /// Where temporary files go.
    pub temporary_folder: PathBuf,
    /// Worker threads.
    pub threads: usize,
    /// The instruction set.
    pub isa: Isa,
}

/// Where bytes of output go, in order.
pub type Sink<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

/// The fingerprints of a file, whose format its first bytes tell; see [`fingerprint_file::read`].
///
/// # Errors
///
/// The file does not hold what its format asks for, or this build does not know the format; or its
/// rows cannot be joined yet.
pub fn read_fingerprints<'a>(bytes: &'a [u8], path: &Path) -> Result<FingerprintRows<'a>> {
    let rows = fingerprint_file::read(bytes, path)?;
    let shape = rows.shape;
    rows.into_lanes().ok_or_else(|| {
        let expected = format!("rows of up to 128 bits, not {shape}");
        ErrorKind::Format { path: path.to_owned(), byte: 0, expected }.into()
    })
}

/// Runs `$work` with the lanes of `$rows`, whatever their width.
macro_rules! with_lanes {
    ($rows:expr, |$lanes:ident| $work:expr) => {
        match &$rows.lanes {
            Lanes::Bits16($lanes) => $work,
            Lanes::Bits32($lanes) => $work,
            Lanes::Bits64($lanes) => $work,
            Lanes::Bits128($lanes) => $work,
        }
    };
}

pub(super) use with_lanes;

/// The plan of a self-join.
///
/// # Errors
///
/// The named method is none for self-joins.
pub fn plan_self_join(rows: &FingerprintRows<'_>, config: &JoinConfig) -> Result<Plan> {
    plan(Task::SelfJoin, rows, config)
}

/// The plan of a search.
///
/// # Errors
///
/// The named method is none for searches.
pub fn plan_search(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    config: &JoinConfig,
) -> Result<Plan> {
    plan(Task::Batch { queries: queries.lanes.len() }, corpus, config)
}

fn plan(task: Task, corpus: &FingerprintRows<'_>, config: &JoinConfig) -> Result<Plan> {
    let (distance, memory) = (config.max_distance, config.memory);
    let workload = with_lanes!(corpus, |lanes| Workload::of(task, &lanes[..], distance, memory));
    match config.index {
        Some(index) => Plan::named(workload, index),
        None => Ok(Plan::new(workload)),
    }
}

/// Writes all pairs of rows within the distance, by the method of `plan`.
///
/// # Errors
///
/// The threads do not start, a temporary file fails, or the sink does.
pub fn join_fingerprints(
    rows: &FingerprintRows<'_>,
    plan: &Plan,
    config: &JoinConfig,
    output: PairOutput,
    sink: &mut (dyn FnMut(&[u8]) -> Result<()> + Send),
) -> Result<()> {
    let validity = rows.validity.as_ref();
    workers::start(config.threads)?.install(|| {
        with_lanes!(rows, |lanes| {
            self_join_lanes(Rows { lanes: &lanes[..], validity }, plan.index, config, output, sink)
        })
    })
}

/// Writes all pairs of a query and a corpus row within the distance, by the method of `plan`.
///
/// # Errors
///
/// Queries and corpus have different numbers of bits; else as [`join_fingerprints`].
pub fn search_fingerprints(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    plan: &Plan,
    config: &JoinConfig,
    output: PairOutput,
    sink: &mut (dyn FnMut(&[u8]) -> Result<()> + Send),
) -> Result<()> {
    let different = || {
        let rule = format!("must have the corpus's {} bits", corpus.bits);
        Error::config("queries", format!("with {} bits", queries.bits), rule)
    };
    if queries.bits != corpus.bits {
        return Err(different());
    }
    macro_rules! search {
        ($queries:expr, $corpus:expr) => {{
            let queries = Rows { lanes: &$queries[..], validity: queries.validity.as_ref() };
            let corpus = Rows { lanes: &$corpus[..], validity: corpus.validity.as_ref() };
            workers::start(config.threads)?
                .install(|| search_lanes(queries, corpus, plan.index, config, output, sink))
        }};
    }
    match (&queries.lanes, &corpus.lanes) {
        (Lanes::Bits16(queries), Lanes::Bits16(corpus)) => search!(queries, corpus),
        (Lanes::Bits32(queries), Lanes::Bits32(corpus)) => search!(queries, corpus),
        (Lanes::Bits64(queries), Lanes::Bits64(corpus)) => search!(queries, corpus),
        (Lanes::Bits128(queries), Lanes::Bits128(corpus)) => search!(queries, corpus),
        _ => Err(different()),
    }
}

fn self_join_lanes<L: SearchLane>(
    rows: Rows<'_, L>,
    index: IndexName,
    config: &JoinConfig,
    output: PairOutput,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let (max_distance, isa) = (config.max_distance, config.isa);
    let row_count = rows.lanes.len();
    if index == IndexName::SpilledJoin && output == PairOutput::Count {
        let spilled = SpilledGroups::new(rows, config.memory, &config.temporary_folder)?;
        let groups = &spilled.groups;
        let counting = CountRows { groups: (groups, groups) };
        let pairs = spilled.collect_pairs(max_distance, isa, &counting)?;
        return write_count(groups.equal_pairs() + pairs, sink);
    }
    if index == IndexName::LinearScan {
        if output == PairOutput::Groups {
            let groups = group(rows);
            let rows = Rows::all(groups.values());
            let pairs = collect(&ScanBehind { rows, max_distance, isa });
            return write_groups(&groups, &pairs, sink);
        }
        return emit(&ScanBehind { rows, max_distance, isa }, output, sink);
    }
    if output == PairOutput::Count {
        return write_count(count_pairs(rows, max_distance, isa), sink);
    }
    let (groups, pairs) = groups_and_pairs(rows, index, config)?;
    write_self_join(&groups, &pairs, row_count, output, sink)
}

/// Groups of equal rows, and the pairs of groups within the distance, ascending; in the threads of
/// the caller's pool.
///
/// # Errors
///
/// A temporary file fails.
pub(super) fn groups_and_pairs<L: SearchLane>(
    rows: Rows<'_, L>,
    index: IndexName,
    config: &JoinConfig,
) -> Result<(EqualGroups<L::Wide>, Vec<ValuePair>)> {
    let (max_distance, isa) = (config.max_distance, config.isa);
    if index == IndexName::SpilledJoin {
        let spilled = SpilledGroups::new(rows, config.memory, &config.temporary_folder)?;
        let pairs = spilled.collect_pairs(max_distance, isa, &KeepPairs)?.into_sorted();
        return Ok((spilled.groups, pairs));
    }
    let join = self_join(rows, max_distance, isa);
    Ok((join.groups, join.pairs))
}

fn write_count(count: u64, sink: &mut Sink<'_>) -> Result<()> {
    sink(format!("{count}\n").as_bytes())
}

fn write_self_join<W: Lane>(
    groups: &EqualGroups<W>,
    pairs: &[ValuePair],
    row_count: usize,
    output: PairOutput,
    sink: &mut Sink<'_>,
) -> Result<()> {
    if output == PairOutput::Groups {
        return write_groups(groups, pairs, sink);
    }
    emit(&RowPairs::of_self_join(groups, pairs, row_count), output, sink)
}

/// Every group of two rows and more, by its first row; then the pairs of groups, each group named
/// by its first row, ascending.
fn write_groups<W: Lane>(
    groups: &EqualGroups<W>,
    pairs: &[ValuePair],
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
fn write_query_groups<W: Lane>(
    queries: &EqualGroups<W>,
    corpus: &EqualGroups<W>,
    pairs: &[ValuePair],
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

/// Bytes of lines that are written at once, about.
const LINES_BYTES: usize = 1 << 20;

/// The groups of two rows and more, by their first row.
fn write_repeated<W: Lane>(name: &str, groups: &EqualGroups<W>, sink: &mut Sink<'_>) -> Result<()> {
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

/// A self-join by comparing each row with all behind it.
struct ScanBehind<'a, L> {
    rows: Rows<'a, L>,
    max_distance: u32,
    isa: Isa,
}

impl<L: Lane> Partners for ScanBehind<'_, L> {
    fn rows(&self) -> usize {
        self.rows.lanes.len()
    }

    fn bound(&self, _row: usize) -> usize {
        // Rows of a task, rather: a scan takes long where it finds little.
        1 << 12
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        if self.rows.has_fingerprint(row) {
            let behind = &self.rows.lanes[row + 1..];
            linear_scan::scan(behind, self.rows.lanes[row], self.max_distance, self.isa, found);
            for found in &mut *found {
                found.row += row as u32 + 1;
            }
            found.retain(|found| self.rows.has_fingerprint(found.row as usize));
        }
    }
}

/// The rows that have a fingerprint: fingerprints and row numbers.
fn valid_rows<L: Lane>(rows: Rows<'_, L>) -> (Vec<L>, Vec<u32>) {
    let all = rows.lanes.iter().copied().zip(0u32..);
    all.filter(|(_, row)| rows.validity.is_none_or(|v| v.has_value(*row as usize))).unzip()
}

fn search_lanes<L: SearchLane>(
    queries: Rows<'_, L>,
    corpus: Rows<'_, L>,
    index: IndexName,
    config: &JoinConfig,
    output: PairOutput,
    sink: &mut Sink<'_>,
) -> Result<()> {
    if output != PairOutput::Groups {
        return with_found(queries, corpus, index, config, |found| emit(found, output, sink));
    }
    let (queries, corpus) = (group(queries), group(corpus));
    let (query_values, values) = (Rows::all(queries.values()), Rows::all(corpus.values()));
    with_found(query_values, values, index, config, |found| {
        write_query_groups(&queries, &corpus, &collect(found), sink)
    })
}

/// Lends `take` what the method of that name finds for the queries.
fn with_found<L: SearchLane>(
    queries: Rows<'_, L>,
    corpus: Rows<'_, L>,
    index: IndexName,
    config: &JoinConfig,
    take: impl FnOnce(&dyn Partners) -> Result<()>,
) -> Result<()> {
    let (max_distance, isa) = (config.max_distance, config.isa);
    let query_count = queries.lanes.len();
    if index == IndexName::BipartiteJoin {
        let join = bipartite_join(queries, corpus, max_distance, isa);
        let (queries, corpus) = (&join.queries, &join.corpus);
        return take(&RowPairs::of_bipartite_join(queries, corpus, &join.pairs, query_count));
    }
    let (query_lanes, query_rows) = valid_rows(queries);
    if index == IndexName::StreamedQueries {
        let found = StreamedQueries::new(&query_lanes, max_distance, config.isa).scan(corpus);
        return take(&Streamed { found, query_rows, query_count });
    }
    let (lanes, corpus_rows) = valid_rows(corpus);
    let block_index;
    let tables;
    let probing;
    let expanded;
    let scan;
    let index: &dyn FingerprintIndex<L> = match index {
        IndexName::BlockIndex => {
            block_index = BlockIndex::new(&lanes, max_distance, isa);
            &block_index
        }
        IndexName::PermutedTables => {
            tables = PermutedTables::new(&lanes, max_distance);
            &tables
        }
        IndexName::BitProbing => {
            probing = BitProbing::new(&lanes, max_distance);
            &probing
        }
        IndexName::ExpandedSet => {
            expanded = ExpandedSet::new(&lanes, max_distance);
            &expanded
        }
        _ => {
            scan = LinearScan { corpus: &lanes, max_distance, isa };
            &scan
        }
    };
    take(&Searched { index, queries, corpus_rows })
}

/// Pairs of valid queries, by number, and corpus rows.
struct Streamed {
    found: Vec<ValuePair>,
    query_rows: Vec<u32>,
    query_count: usize,
}

impl Streamed {
    fn pairs(&self, row: usize) -> &[ValuePair] {
        let Ok(number) = self.query_rows.binary_search(&(row as u32)) else { return &[] };
        let first = self.found.partition_point(|pair| (pair.a as usize) < number);
        let rest = &self.found[first..];
        &rest[..rest.partition_point(|pair| pair.a as usize == number)]
    }
}

impl Partners for Streamed {
    fn rows(&self) -> usize {
        self.query_count
    }

    fn bound(&self, row: usize) -> usize {
        self.pairs(row).len()
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        let pairs = self.pairs(row).iter();
        found.extend(pairs.map(|pair| Match { distance: pair.distance, row: pair.b }));
    }
}

/// Queries that an index answers.
struct Searched<'a, L: Lane> {
    index: &'a dyn FingerprintIndex<L>,
    queries: Rows<'a, L>,
    corpus_rows: Vec<u32>,
}

impl<L: Lane> Partners for Searched<'_, L> {
    fn rows(&self) -> usize {
        self.queries.lanes.len()
    }

    fn bound(&self, _row: usize) -> usize {
        // Unknown before; some hundred queries to a task.
        1 << 10
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        if self.queries.has_fingerprint(row) {
            self.index.search(self.queries.lanes[row], found);
            for found in found {
                found.row = self.corpus_rows[found.row as usize];
            }
        }
    }
}
