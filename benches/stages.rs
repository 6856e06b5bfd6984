//! Measures each stage alone on one thread, and the whole pipeline on one and two threads, with
//! every instruction set of the processor.
//!
//! `cargo bench --bench stages` makes up 16 MB of text. With `SIMTOOL_BENCH_TEXT=FILE` it reads the
//! articles in FILE instead. Every bench asserts its result count.
#![expect(clippy::unwrap_used, reason = "a bench that cannot start must stop")]

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use simtool::pipeline::{config::MatchConfig, match_queries};
use simtool::stages::extract::vocabulary::{self, NumberRanks, Vocabulary};
use simtool::stages::extract::word_counter::{MOST_PLACES, WordCounter};
use simtool::stages::features::Features;
use simtool::stages::fingerprint::hash_table::HashTable;
use simtool::stages::fingerprint::hashed_simhash::HashedSimhash;
use simtool::stages::fingerprint::table_simhash::{Accumulator, TableSimhash};
use simtool::stages::fingerprint::{Scratch, Sketch};
use simtool::stages::fingerprint_table::{Fingerprint, Reach, Wide};
use simtool::stages::hamming::linear_scan;
use simtool::stages::kernels::{Isa, shingle_terms, word_keys, word_positions, xxh3_short};
use simtool::stages::read::form_feed;
use simtool::stages::token_batch::TokenBatch;
use simtool::stages::tokenize::{ascii_letters::AsciiLetters, stop_words};
use simtool::write::reference_text::{Id, ReferenceText};
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

/// Number of features, and bits, of the fingerprints.
const FEATURES: usize = 1000;
const BITS: usize = 64;

/// Number of rows that a query is compared with.
const ROWS: usize = 1 << 20;

/// Returns a function that yields the outputs of `SplitMix64`.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Builds articles of 300 words each. As in natural text, frequencies fall with the rank: every
/// octave of ranks is as frequent as any other.
fn made_up_text(bytes: usize) -> Vec<u8> {
    let mut next = random(1);
    let mut text = Vec::with_capacity(bytes + 4096);
    let mut document = 0;
    while text.len() < bytes {
        text.extend(format!("{document}\n").bytes());
        for _ in 0..300 {
            let octave = 1 << (next() % 17);
            let mut rank = octave | (next() & (octave - 1));
            // The letters of a word spell its rank.
            while rank > 0 {
                text.push(b"etaoinshrdlcumwfgypbvkxjqz"[rank as usize % 26]);
                rank /= 13;
            }
            text.push(b' ');
        }
        text.extend(b"\n\x0c\n");
        document += 1;
    }
    text
}

/// The text, and the results of the stages before each bench.
struct Corpus {
    text: Vec<u8>,
    /// Number of words, counted byte by byte.
    words: usize,
    documents: usize,
}

impl Corpus {
    fn load() -> Self {
        let text = match std::env::var_os("SIMTOOL_BENCH_TEXT") {
            Some(path) => std::fs::read(path).unwrap(),
            None => made_up_text(16 << 20),
        };
        let words = form_feed::documents(&text).map(|document| words(document.text)).sum();
        let parts = text.split(|&byte| byte == 0x0c);
        let documents = parts.filter(|part| !part.iter().all(u8::is_ascii_whitespace)).count();
        Self { text, words, documents }
    }

    /// Returns the text in pieces of about 8 KB that end between words.
    fn pieces(&self) -> Vec<&[u8]> {
        let mut pieces = Vec::new();
        let mut rest = &self.text[..];
        while rest.len() > 8192 {
            let end = rest[..8192].iter().rposition(|byte| !byte.is_ascii_alphabetic()).unwrap();
            let (piece, after) = rest.split_at(end + 1);
            pieces.push(piece);
            rest = after;
        }
        pieces.push(rest);
        pieces
    }

    /// Returns the bytes of the text, for rates.
    fn bytes(&self) -> Throughput {
        Throughput::Bytes(self.text.len() as u64)
    }
}

/// Counts the words: runs of letters.
fn words(text: &[u8]) -> usize {
    text.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty()).count()
}

/// The corpus as one worker records it in pass 1.
struct Numbered {
    counter: WordCounter,
    numbers: Vec<u16>,
    /// Position at which the numbers of each document end.
    ends: Vec<usize>,
}

impl Numbered {
    fn of(isa: Isa, text: &[u8]) -> Self {
        let mut counter = WordCounter::new(text.len(), &[]);
        let mut numbers = vec![0; (text.len() / 2 + 2) * MOST_PLACES];
        let mut ends = Vec::new();
        let mut batch = TokenBatch::default();
        let mut at = 0;
        for document in form_feed::documents(text) {
            AsciiLetters::new(isa).tokenize(document.text, &mut batch, |piece, batch| {
                at = counter.count(piece, batch, &mut numbers, at);
            });
            ends.push(at);
        }
        numbers.truncate(at);
        Self { counter, numbers, ends }
    }

    fn counted(&self) -> u64 {
        self.counter.words().map(|(_, count)| count).sum()
    }
}

type Group<'c> = BenchmarkGroup<'c, criterion::measurement::WallTime>;

fn group<'c>(criterion: &'c mut Criterion, name: &str, throughput: Throughput) -> Group<'c> {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(10);
    group.warm_up_time(Duration::from_millis(300));
    group.measurement_time(Duration::from_secs(1));
    group.throughput(throughput);
    group
}

fn read(criterion: &mut Criterion, corpus: &Corpus) {
    group(criterion, "documents", corpus.bytes()).bench_function("form_feed", |bencher| {
        bencher.iter(|| assert_eq!(form_feed::documents(&corpus.text).count(), corpus.documents));
    });
}

fn positions_and_keys(criterion: &mut Criterion, corpus: &Corpus) {
    let pieces = corpus.pieces();
    let expected = words(&corpus.text);
    let mut positions = group(criterion, "word_positions", corpus.bytes());
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for &isa in Isa::available() {
        positions.bench_function(isa.to_string(), |bencher| {
            bencher.iter(|| {
                let mut found = 0;
                for piece in &pieces {
                    word_positions::word_positions(isa, piece, &mut starts, &mut ends);
                    found += ends.len();
                }
                assert_eq!(found, expected);
            });
        });
    }
    positions.finish();

    let placed: Vec<_> = pieces
        .iter()
        .map(|&piece| {
            let (mut starts, mut ends) = (Vec::new(), Vec::new());
            word_positions::word_positions(Isa::PORTABLE, piece, &mut starts, &mut ends);
            (piece, starts, ends)
        })
        .collect();
    let mut keyed = group(criterion, "word_keys", corpus.bytes());
    let (mut keys, mut hashes) = (Vec::new(), Vec::new());
    for &isa in Isa::available() {
        keyed.bench_function(isa.to_string(), |bencher| {
            bencher.iter(|| {
                let mut made = 0;
                for (piece, starts, ends) in &placed {
                    let spans = word_keys::WordSpans { text: piece, starts, ends };
                    word_keys::word_keys(isa, spans, &mut keys, &mut hashes);
                    made += keys.len();
                }
                assert_eq!(made, expected);
            });
        });
    }
}

/// Measures the steps from words to fingerprints of 64 and 256 bits, with shingles of three words.
/// The documents fit in the caches, because in a run each stage finds the fresh output of the stage
/// before it.
fn shingled(criterion: &mut Criterion, corpus: &Corpus) {
    struct Placed {
        text: Vec<u8>,
        starts: Vec<u32>,
        ends: Vec<u32>,
        hashes: Vec<u64>,
        terms: Vec<u64>,
    }
    let place = |document: form_feed::FormFeedDocument<'_>| {
        let margin = [b' '; xxh3_short::MARGIN];
        let text = [&margin, document.text, &margin].concat().to_ascii_lowercase();
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        word_positions::word_positions(Isa::PORTABLE, &text, &mut starts, &mut ends);
        let (mut hashes, mut terms) = (Vec::new(), Vec::new());
        xxh3_short::hash_words(Isa::PORTABLE, &text, &starts, &ends, &mut hashes);
        shingle_terms::shingle_terms(Isa::PORTABLE, &hashes, 3, &mut terms);
        Placed { text, starts, ends, hashes, terms }
    };
    let documents: Vec<Placed> = form_feed::documents(&corpus.text).take(400).map(place).collect();
    let bytes = || Throughput::Bytes(documents.iter().map(|placed| placed.text.len() as u64).sum());
    let mut made = Vec::new();
    let mut hashing = group(criterion, "short_words", bytes());
    for &isa in Isa::available() {
        hashing.bench_function(isa.to_string(), |bencher| {
            bencher.iter(|| {
                for Placed { text, starts, ends, hashes, .. } in &documents {
                    made.clear();
                    xxh3_short::hash_words(isa, text, starts, ends, &mut made);
                    assert_eq!(made.last(), hashes.last());
                }
            });
        });
    }
    hashing.finish();
    for length in [3, 5] {
        let name = format!("shingle_terms_{length}");
        let mut shingling = group(criterion, &name, bytes());
        for &isa in Isa::available() {
            shingling.bench_function(isa.to_string(), |bencher| {
                bencher.iter(|| {
                    for Placed { hashes, .. } in &documents {
                        made.clear();
                        shingle_terms::shingle_terms(isa, hashes, length, &mut made);
                        assert_eq!(made.len(), (hashes.len() + 1).saturating_sub(length));
                    }
                });
            });
        }
        shingling.finish();
    }
    for bits in [64, 256] {
        let simhash = HashedSimhash::new(bits).unwrap();
        let name = format!("simhash_{bits}");
        let mut sketching = group(criterion, &name, bytes());
        for &isa in Isa::available() {
            let sketcher = simhash.sketcher(isa);
            let (mut row, mut scratch) = (vec![0; simhash.shape().words()], Scratch::default());
            sketching.bench_function(isa.to_string(), |bencher| {
                bencher.iter(|| {
                    for Placed { terms, .. } in &documents {
                        let features = Features::occurrences(terms);
                        let has_terms = sketcher.make(&features, &mut row, &mut scratch);
                        assert_eq!(has_terms, !terms.is_empty());
                        black_box(&row);
                    }
                });
            });
        }
        sketching.finish();
    }
}

fn count(criterion: &mut Criterion, corpus: &Corpus) {
    let mut counting = group(criterion, "positions_keys_counts", corpus.bytes());
    for &isa in Isa::available() {
        counting.bench_function(isa.to_string(), |bencher| {
            bencher.iter(|| {
                let numbered = Numbered::of(isa, &corpus.text);
                assert_eq!(numbered.counted(), corpus.words as u64);
            });
        });
    }
}

fn learn_and_rank(criterion: &mut Criterion, corpus: &Corpus) {
    let numbered = Numbered::of(Isa::detected(), &corpus.text);
    let distinct = numbered.counter.number_bound();
    let learn = || {
        let counters = std::slice::from_ref(&numbered.counter);
        let reached = vocabulary::reached_count(&counters[0], FEATURES);
        Vocabulary::from_candidates(vocabulary::candidates(counters, 0, reached), FEATURES)
    };
    let mut learning = group(criterion, "vocabulary", Throughput::Elements(distinct as u64));
    learning.bench_function("distinct_words", |bencher| {
        bencher.iter(|| assert_eq!(learn().len(), FEATURES.min(distinct)));
    });
    learning.finish();

    let mut counts: Vec<u64> = numbered.counter.words().map(|(_, count)| count).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let occurrences: u64 = counts.iter().take(FEATURES).sum();
    let ranks = learn().number_ranks(&numbered.counter);
    group(criterion, "ranks", Throughput::Elements(corpus.words as u64)).bench_function(
        "words",
        |bencher| {
            bencher.iter(|| {
                let mut found = 0;
                ranks.ranks(&numbered.numbers, |ranks| found += black_box(ranks).len());
                assert_eq!(found as u64, occurrences);
            });
        },
    );
    fingerprint(criterion, corpus, &numbered, &ranks);
}

fn fingerprint(
    criterion: &mut Criterion,
    corpus: &Corpus,
    numbered: &Numbered,
    ranks: &NumberRanks,
) {
    let mut start = 0;
    let documents: Vec<Vec<u32>> = numbered
        .ends
        .iter()
        .map(|&end| {
            let mut features = Vec::new();
            ranks.ranks(&numbered.numbers[start..end], |ranks| features.extend(ranks));
            start = end;
            features
        })
        .collect();
    let table = HashTable::built_in(FEATURES, BITS).unwrap();
    let mut simhash =
        group(criterion, "table_simhash_64", Throughput::Elements(corpus.documents as u64));
    for &isa in Isa::available() {
        let fingerprinter = TableSimhash::new(isa, &table);
        let mut accumulator = Accumulator::default();
        simhash.bench_function(isa.to_string(), |bencher| {
            bencher.iter(|| {
                let mut made = 0;
                for features in &documents {
                    fingerprinter.add(features, &mut accumulator);
                    black_box(fingerprinter.finish::<u64>(&mut accumulator));
                    made += 1;
                }
                assert_eq!(made, corpus.documents);
            });
        });
    }
}

fn compare<L: Fingerprint>(criterion: &mut Criterion) {
    let mut next = random(2);
    let rows: Vec<L> = (0..ROWS).map(|_| L::from_words(&[next(), next()])).collect();
    // One row in 1,000 differs from the query in up to 3 bits.
    let query = rows[0];
    let mut rows = rows;
    for (number, row) in rows.iter_mut().step_by(1000).enumerate() {
        *row = query ^ L::lowest_bits(number as u32 % 4);
    }
    let near = |row: &&L| (**row ^ query).count_ones() <= 3;
    let expected = rows.iter().filter(near).count();
    let name = format!("compare_{}", L::BITS);
    let mut scans = group(criterion, &name, Throughput::Elements(ROWS as u64));
    let mut found = Vec::new();
    for &isa in Isa::available() {
        scans.bench_function(isa.to_string(), |bencher| {
            bencher.iter(|| {
                found.clear();
                linear_scan::scan(&rows, query, Reach::bits(L::BITS, 3), isa, &mut found);
                assert_eq!(found.len(), expected);
            });
        });
    }
    if L::BITS == 64 {
        scans.finish();
        write(criterion, &found);
    }
}

fn write(criterion: &mut Criterion, found: &[simtool::stages::matches::Match]) {
    let rows = found.iter().map(|found| found.row as usize + 1).max().unwrap_or(0);
    let ids = vec![Id::new(b"document-12345"); rows];
    let mut text = Vec::new();
    group(criterion, "reference_text", Throughput::Elements(found.len() as u64)).bench_function(
        "ids",
        |bencher| {
            bencher.iter(|| {
                text.clear();
                ReferenceText::new(3).write_query(&mut text, b"query", found, &ids);
                assert_eq!(memchr::memchr_iter(b' ', &text).count(), found.len());
            });
        },
    );
}

fn parse_hash_table(criterion: &mut Criterion) {
    let mut next = random(3);
    let line =
        |_| (0..128).map(|_| b'0' + (next() >> 63) as u8).chain(*b"\r\n").collect::<Vec<_>>();
    let text = (0..10_000).flat_map(line).collect::<Vec<_>>();
    let mut parse = group(criterion, "hash_table", Throughput::Bytes(text.len() as u64));
    for &isa in Isa::available() {
        parse.bench_function(isa.to_string(), |bencher| {
            bencher.iter(|| {
                let table = HashTable::parse(isa, &text, Path::new("table"), 10_000, 128).unwrap();
                assert_eq!(table.rows().len(), 10_000);
            });
        });
    }
}

fn pipeline(criterion: &mut Criterion, corpus: &Corpus) {
    let queries: Vec<u8> =
        corpus.text.split_inclusive(|&byte| byte == 0x0c).take(200).flatten().copied().collect();
    let expected = form_feed::documents(&queries).count();
    let mut whole = group(criterion, "match_queries_1000_64", corpus.bytes());
    for threads in [1, 2] {
        let config = MatchConfig {
            stop_words: stop_words::parse(stop_words::ENGLISH.as_bytes()).collect(),
            hash_table: HashTable::built_in(FEATURES, BITS).unwrap(),
            max_distance: 3,
            threads,
            isa: Isa::detected(),
        };
        whole.bench_function(format!("{threads}_threads"), |bencher| {
            bencher.iter(|| {
                let matched = match_queries(&corpus.text, &queries, &config).unwrap();
                assert_eq!(matched.documents, corpus.documents);
                // Every query is in the corpus, so it matches at least itself.
                assert_eq!(matched.queries, expected);
                assert!(matched.matches >= expected);
            });
        });
    }
}

fn stages(criterion: &mut Criterion) {
    let corpus = Corpus::load();
    read(criterion, &corpus);
    positions_and_keys(criterion, &corpus);
    shingled(criterion, &corpus);
    count(criterion, &corpus);
    learn_and_rank(criterion, &corpus);
    compare::<u64>(criterion);
    compare::<Wide<2>>(criterion);
    parse_hash_table(criterion);
    pipeline(criterion, &corpus);
}

criterion_group!(benches, stages);
criterion_main!(benches);
