//! Measures joins and indexes over fixed sets: rows a second, with each count asserted.
//!
//! Run it with `cargo bench --bench search`; a filter such as `k=10` selects benches. If
//! `SIMTOOL_DATA` is set, word fingerprints of windows of its newsgroups articles are joined, too.
#![expect(clippy::print_stderr, reason = "a skipped bench reports it")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use fingerprint_sets::{Random, ball, mix, pages, wide_mix};
use simtool::stages::context::Context;
use simtool::stages::fingerprint_table::{Fingerprint, Reach, Wide};
use simtool::stages::hamming::FingerprintIndex;
use simtool::stages::hamming::Rows;
use simtool::stages::hamming::bipartite_join::bipartite_join;
use simtool::stages::hamming::block_index::BlockIndex;
use simtool::stages::hamming::bucket_table::TableKeys;
use simtool::stages::hamming::classic::permuted_tables::PermutedTables;
use simtool::stages::hamming::group_pairs::GroupPairs;
use simtool::stages::hamming::layout::Layout;
use simtool::stages::hamming::linear_scan;
use simtool::stages::hamming::partition_join::{count_pairs, self_join};
use simtool::stages::hamming::streamed_queries::StreamedQueries;
use simtool::stages::hamming::work::JoinWork;
use simtool::stages::kernels::Isa;
use simtool::stages::matches::Match;
use simtool::{Config, Texts, deduplicate};
use simtool_base::stable_hash;
use std::hint::black_box;

mod fingerprint_sets;

/// Number of rows of each set that is joined. Tests only run each bench once, so they join fewer rows.
const ROWS: usize = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
/// Number of queries against these sets.
const QUERIES: usize = 10_000;

/// Returns all pairs of the rows.
fn joined<L: Fingerprint>(lanes: &[L], reach: Reach, isa: Isa) -> GroupPairs {
    let context = Context::default().with_isa(isa);
    self_join(Rows::all(lanes), JoinWork::new(reach, &context)).expect("there is room")
}

/// Returns the number of pairs of the rows.
fn counted<L: Fingerprint>(lanes: &[L], reach: Reach, isa: Isa) -> u64 {
    let context = Context::default().with_isa(isa);
    count_pairs(Rows::all(lanes), JoinWork::new(reach, &context)).expect("there is room")
}

fn narrow<L: Fingerprint>(set: Vec<u128>) -> Vec<L> {
    set.into_iter().map(|row| L::from_words(&[row as u64, (row >> 64) as u64])).collect()
}

/// Measures one self-join, and asserts that the number of pairs of values is as before.
fn bench_join<L: Fingerprint>(c: &mut Criterion, name: &str, lanes: &[L], distance: u32) {
    let reach = Reach::bits(L::BITS, distance);
    let mut group = c.benchmark_group("self-join");
    group.sample_size(10).throughput(Throughput::Elements(lanes.len() as u64));
    let expected = joined(lanes, reach, Isa::PORTABLE).pairs.len();
    for &isa in Isa::available() {
        let id = BenchmarkId::new(name, format!("k={distance} {isa}"));
        group.bench_with_input(id, lanes, |b, lanes| {
            b.iter(|| {
                let found = joined(black_box(lanes), reach, isa);
                assert_eq!(found.pairs.len(), expected);
            });
        });
    }
    group.finish();
}

fn self_joins(c: &mut Criterion) {
    let uniform: Vec<u64> = narrow(mix(ROWS, 64, 1));
    for distance in [3, 6, 10] {
        bench_join(c, "mix, 64 bits", &uniform, distance);
    }
    bench_join::<Wide<2>>(c, "mix, 128 bits", &narrow(mix(ROWS, 128, 1)), 3);
    bench_join::<u64>(c, "mix, 32 bits", &narrow(mix(ROWS, 32, 1)), 3);
    bench_join::<u64>(c, "mix, 16 bits", &narrow(mix(ROWS, 16, 1)), 3);
    bench_join::<u64>(c, "pages, 64 bits", &narrow(pages(ROWS, 64, 1)), 3);
    let mut random = Random(1);
    let wide: Vec<Wide<8>> = (0..ROWS).map(|_| Wide([0; 8].map(|_| random.next()))).collect();
    bench_join(c, "random, 512 bits", &wide, 24);
    let half: Vec<_> = wide_mix(ROWS, 4, 1).chunks_exact(4).map(Wide::<4>::from_words).collect();
    bench_join(c, "pairs, 256 bits", &half, 12);
    bench_join::<u64>(c, "30 of 64 bits vary", &narrow(ball(ROWS, 30, 1)), 3);
    let Some(words) = newsgroups_words() else {
        eprintln!("skipped: SIMTOOL_DATA is not set, or holds no newsgroups");
        return;
    };
    let step = |width: usize| (words.len().saturating_sub(width) / ROWS).max(1);
    for (name, width, step) in [
        ("newsgroups windows, 64 bits", 200, 20),
        ("newsgroups windows of 60 words, a million", 60, step(60)),
    ] {
        bench_join::<u64>(c, name, &narrow(windows(&words, width, step)), 3);
    }
    let wide = windows(&words, 60, step(60));
    bench_join::<Wide<2>>(c, "newsgroups windows of 60 words, 128 bits", &narrow(wide), 3);
}

/// Measures giant buckets: all rows equal, and all rows equal in the first 16 bits.
fn giant_buckets(c: &mut Criterion) {
    let mut group = c.benchmark_group("giant buckets");
    group.sample_size(10).throughput(Throughput::Elements(ROWS as u64));
    let reach = Reach::bits(64, 3);
    let equal = vec![42u64; ROWS];
    let pairs = ROWS as u64 * (ROWS as u64 - 1) / 2;
    group.bench_function("all equal", |b| {
        b.iter(|| assert_eq!(counted(&equal, reach, Isa::detected()), pairs));
    });
    group.bench_function("all equal, folded", |b| {
        b.iter(|| {
            let found = joined(&equal, reach, Isa::detected());
            assert_eq!((found.groups.first().len(), found.pairs.len()), (1, 0));
        });
    });
    let uniform: Vec<u64> = narrow(mix(ROWS, 64, 1));
    let block: Vec<u64> = uniform.iter().map(|row| row >> 16).collect();
    let expected = counted(&block, reach, Isa::PORTABLE);
    group.bench_function("one block", |b| {
        b.iter(|| assert_eq!(counted(&block, reach, Isa::detected()), expected));
    });
    let folded = joined(&block, reach, Isa::PORTABLE).pairs.len();
    group.bench_function("one block, folded", |b| {
        b.iter(|| {
            let found = joined(&block, reach, Isa::detected());
            assert_eq!(found.pairs.len(), folded);
        });
    });
    // Result of the portable kernel, with which the others must agree.
    let folded = joined(&uniform, reach, Isa::PORTABLE).pairs.len();
    group.bench_function("uniform, folded", |b| {
        b.iter(|| {
            let found = joined(&uniform, reach, Isa::detected());
            assert_eq!(found.pairs.len(), folded);
        });
    });
    group.finish();
}

fn queries(c: &mut Criterion) {
    let corpus: Vec<u64> = narrow(mix(ROWS, 64, 1));
    let mut queries: Vec<u64> = corpus.iter().step_by(200).map(|row| row ^ 0b101).collect();
    queries.extend(narrow::<u64>(mix(QUERIES - queries.len(), 64, 9)));
    let (reach, isa) = (Reach::bits(64, 3), Isa::detected());
    let context = Context::default();
    let bipartite = || {
        let work = JoinWork::new(reach, &context);
        let joined = bipartite_join(Rows::all(&queries), Rows::all(&corpus), work);
        joined.expect("there are few groups")
    };
    let joined = bipartite();
    let size = |pair: &simtool::stages::matches::ValuePair| {
        u64::from(joined.groups.first().size(pair.a))
            * u64::from(joined.groups.second().size(pair.b))
    };
    let expected: u64 = joined.pairs.iter().map(size).sum();

    let mut group = c.benchmark_group("queries");
    group.sample_size(10).throughput(Throughput::Elements(QUERIES as u64));
    group.bench_function("bipartite join", |b| {
        b.iter(|| {
            let found = bipartite();
            assert_eq!(found.pairs.len(), joined.pairs.len());
        });
    });
    group.bench_function("streamed queries", |b| {
        b.iter(|| {
            let layout = Layout::of(&queries, reach.shape, 3);
            let streamed = StreamedQueries::new(&queries, &layout, reach, isa);
            let found = streamed.scan(Rows::all(&corpus));
            assert_eq!(found.len() as u64, expected);
        });
    });
    let layout = Layout::of(&corpus, reach.shape, 3);
    let index =
        BlockIndex::new(&corpus[..], TableKeys::new(layout, reach), isa).expect("there is room");
    group.bench_function("block index", |b| b.iter(|| search_all(&index, &queries, expected)));
    let index = PermutedTables::new(&corpus, reach);
    group.bench_function("permuted tables", |b| b.iter(|| search_all(&index, &queries, expected)));
    group.finish();

    let mut group = c.benchmark_group("linear scan");
    group.throughput(Throughput::Elements(ROWS as u64));
    for &isa in Isa::available() {
        group.bench_function(isa.to_string(), |b| {
            let mut found: Vec<Match> = Vec::new();
            b.iter(|| {
                found.clear();
                linear_scan::scan(&corpus, queries[0], reach, isa, &mut found);
                assert!(!found.is_empty());
            });
        });
    }
    group.finish();
}

fn search_all(index: &dyn FingerprintIndex<u64>, queries: &[u64], expected: u64) {
    let mut count = 0;
    index.search_batch(queries, &mut |_, found| count += found.len() as u64);
    assert_eq!(count, expected);
}

/// Returns a hash of each word of the newsgroups articles, in their order.
fn newsgroups_words() -> Option<Vec<u128>> {
    let folder = std::path::PathBuf::from(std::env::var_os("SIMTOOL_DATA")?).join("newsgroups");
    let text = std::fs::read(folder.join("article.txt")).ok()?;
    let words = text.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let hash = |word: &[u8]| {
        let add = |sum: u64, byte: &u8| sum.wrapping_mul(0x100_0000_01B3) ^ u64::from(byte | 32);
        Random(word.iter().fold(1, add)).wide()
    };
    Some(words.map(hash).collect())
}

/// Returns up to `ROWS` `SimHash` values of windows of `width` words, one every `step` words. They
/// are as skewed as real text, and neighbours share most of their words.
fn windows(words: &[u128], width: usize, step: usize) -> Vec<u128> {
    let mut sums = [0i32; 128];
    let mut add = |word: u128, times: i32| {
        for (bit, sum) in sums.iter_mut().enumerate() {
            *sum += ((word >> bit & 1) as i32 * 2 - 1) * times;
        }
        sums
    };
    let mut rows = Vec::new();
    for (end, &word) in words.iter().enumerate() {
        let mut sums = add(word, 1);
        if end >= width {
            sums = add(words[end - width], -1);
        }
        if end + 1 >= width && (end + 1 - width).is_multiple_of(step) && rows.len() < ROWS {
            let signs = sums.iter().enumerate();
            rows.push(signs.fold(0, |row, (bit, &sum)| row | u128::from(sum > 0) << bit));
        }
    }
    rows
}

/// Measures whole runs over pages of 20 templates, for n, 2n and 4n pages and every method. A quarter of the words
/// of a page, or half of them, are its own: pages are near-duplicates or just below the limit.
fn templates(c: &mut Criterion) {
    let methods =
        ["exact", "exact:similarity=containment:0.5", "simhash", "minhash", "multi-lexicon"];
    let mut group = c.benchmark_group("templates");
    group.sample_size(10);
    for times in [1, 2, 4] {
        let count = times * if cfg!(debug_assertions) { 100 } else { 5000 };
        for own in [50, 100] {
            let texts: Vec<String> = (0..count).map(|number| page(number, own)).collect();
            group.throughput(Throughput::Elements(u64::from(count)));
            for method in methods {
                let config = Config {
                    method: method.parse().expect("a method"),
                    may_leave_pairs_out: true,
                    ..Config::default()
                };
                let id = BenchmarkId::new(format!("{method}, {own} own words"), count);
                group.bench_with_input(id, &texts, |b, texts| {
                    b.iter(|| {
                        deduplicate(&Texts::of(texts), &config).expect("texts").removals.len()
                    });
                });
            }
        }
    }
    group.finish();
}

/// Returns the text of a page. It has 200 words, and the last `own` words are only in this page.
fn page(number: u32, own: u32) -> String {
    let word = |at: u32| {
        let of = if at < 200 - own { number % 20 } else { number + 20 };
        stable_hash::mix(u64::from(of) << 32 | u64::from(at))
    };
    let words: Vec<String> = (0..200).map(|at| format!("{:x}", word(at) >> 36)).collect();
    words.join(" ")
}

criterion_group!(benches, self_joins, giant_buckets, queries, templates);
criterion_main!(benches);
