//! Compares the library with the second, simple implementation in `naive`, on random input.

use crate::naive::Task;
use proptest::collection::vec;
use proptest::prelude::*;
use simtool::pipeline::config::MatchConfig;
use simtool::pipeline::match_queries;
use simtool::stages::fingerprint::hash_table::HashTable;
use simtool::stages::kernels::Isa;
use simtool::stages::tokenize::stop_words;
use std::path::Path;

/// Numbers of threads that must give the same results.
const THREADS: [usize; 5] = [1, 2, 3, 7, 16];

/// Compares the library's answer with the answer of the second, simple implementation.
fn check(task: &Task<'_>, threads: &[usize], isas: &[Isa]) {
    let (text, first) = task.solve();
    for &isa in isas {
        let path = Path::new("table");
        let table = task.hash_table.as_bytes();
        let hash_table = HashTable::parse(isa, table, path, task.features, task.bits).unwrap();
        for &threads in threads {
            let config = MatchConfig {
                stop_words: stop_words::parse(task.stop_words).collect(),
                hash_table: hash_table.clone(),
                max_distance: task.max_distance as u32,
                threads,
                isa,
            };
            let found = match_queries(task.articles, task.samples, &config).unwrap();
            let shown = |bytes: &[u8]| bytes.escape_ascii().to_string();
            let run = format!("{isa}, {threads} threads, {task:?}");
            assert_eq!(shown(&found.blocks.concat()), shown(&text), "{run}");
            assert_eq!(shown(found.first_query()), shown(&first), "{run}");
        }
    }
}

/// Generates words that often repeat, in all lengths that the word table treats separately.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-eA-E]{1,2}",
        3 => "[xyz]{3,9}",
        1 => "[pq]{15,18}",
        1 => (1usize..80).prop_map(|n| "long".repeat(n)),
    ]
}

/// Generates the bytes between words: line ends of all kinds, separators, and bytes that are
/// invalid in every encoding.
fn between() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => Just(b" ".to_vec()),
        3 => Just(b"\r\n".to_vec()),
        3 => Just(b"\n".to_vec()),
        1 => Just(b"\x0c".to_vec()),
        1 => Just(b"\x0c\r\n".to_vec()),
        1 => vec(any::<u8>(), 1..4),
        1 => prop::sample::select(vec![&b"\xef\xbb\xbf"[..], b"\0", b"_", b"'", b"7", b"\x0b"])
            .prop_map(<[u8]>::to_vec),
    ]
}

/// Generates a form-feed text, or something close to one.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let start = prop::sample::select(vec![&b""[..], b"\r\n", b"\xef\xbb\xbf", b"\x0c", b" \n"]);
    let line_end = prop::sample::select(vec![&b"\r\n"[..], b"\n", b" tail\n", b"\r"]);
    let document = ("[a-z0-9-]{1,20}", line_end, vec((word(), between()), 0..30));
    let after = prop::sample::select(vec![&b"\x0c\r\n"[..], b"\x0c\n", b"\x0c", b"\n\x0c\n\x0c"]);
    (start, vec((document, after), 0..12)).prop_map(|(start, documents)| {
        let mut text = start.to_vec();
        for ((id, line_end, content), after) in documents {
            text.extend_from_slice(id.as_bytes());
            text.extend_from_slice(line_end);
            for (word, between) in content {
                text.extend_from_slice(word.as_bytes());
                text.extend_from_slice(&between);
            }
            text.extend_from_slice(after);
        }
        text
    })
}

/// Generates a table, and numbers of features and bits for which it is large enough.
fn table() -> impl Strategy<Value = (String, usize, usize)> {
    let columns = prop_oneof![1usize..129, Just(1), Just(63), Just(64), Just(65), Just(128)];
    (1usize..40, columns, prop::bool::ANY).prop_flat_map(|(rows, columns, crlf)| {
        let row = vec(prop::bool::ANY, columns);
        (vec(row, rows), 1..=rows, 1..=columns).prop_map(move |(rows, features, bits)| {
            let line = |row: Vec<bool>| -> String {
                row.into_iter().map(|bit| if bit { '1' } else { '0' }).collect()
            };
            let lines: Vec<String> = rows.into_iter().map(line).collect();
            (lines.join(if crlf { "\r\n" } else { "\n" }), features, bits)
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_library_answers_as_the_straight_implementation(
        articles in text(),
        samples in text(),
        stop_words in prop::sample::select(vec!["", "a\r\nB\r\nxyz", "pqpqpqpqpqpqpqpqp ab", "don't é"]),
        (hash_table, features, bits) in table(),
        max_distance in prop::sample::select(vec![0usize, 1, 3, 3, 3, 17, 128]),
    ) {
        let stop_words = stop_words.as_bytes();
        let hash_table = &hash_table;
        let (articles, samples) = (&articles, &samples);
        let task = Task { articles, samples, stop_words, hash_table, features, bits, max_distance };
        check(&task, &THREADS, &[Isa::detected()]);
        check(&task, &[2], Isa::available());
    }

    #[test]
    fn any_bytes_are_an_input(
        articles in vec(any::<u8>(), 0..300),
        samples in vec(prop::sample::select(b"\x0c\r\n \t\x0bab\xef\xbb\xbf\0_".to_vec()), 0..100),
        stop_words in vec(any::<u8>(), 0..20),
        (hash_table, features, bits) in table(),
    ) {
        let (stop_words, hash_table) = (&stop_words[..], &hash_table);
        for (articles, samples) in [(&articles, &samples), (&samples, &articles)] {
            let task =
                Task { articles, samples, stop_words, hash_table, features, bits, max_distance: 3 };
            check(&task, &[1, 3], Isa::available());
        }
    }
}

/// The text is so long that several workers share it, and that every table of theirs grows.
#[test]
fn a_corpus_of_many_shares_answers_the_same() {
    let mut state = 1u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % limit
    };
    let mut articles = Vec::new();
    for document in 0..3000u64 {
        articles.extend_from_slice(format!("{document}-id\r\n").as_bytes());
        for _ in 0..below(60) {
            // Squaring makes small numbers frequent.
            let letters = below(150) * below(150);
            let mut word = String::new();
            for digit in letters.to_string().bytes() {
                word.push(char::from(b'a' + (digit - b'0')));
            }
            let suffix = if letters % 7 == 0 { "withaverylongend" } else { "" };
            articles.extend_from_slice(format!("{word}{suffix} ").as_bytes());
        }
        articles.extend_from_slice(b"\r\n\x0c\r\n");
    }
    assert!(articles.len() > 600_000, "{}", articles.len());
    let samples = &articles[..articles.len() / 50];
    let hash_table: Vec<String> = (0..300)
        .map(|_| (0..90).map(|_| if below(2) == 0 { '0' } else { '1' }).collect())
        .collect();
    let task = Task {
        articles: &articles,
        samples,
        stop_words: b"bb cc",
        hash_table: &hash_table.join("\n"),
        features: 300,
        bits: 90,
        max_distance: 12,
    };
    check(&task, &THREADS, &[Isa::detected()]);
    check(&task, &[2], Isa::available());
}
