//! Reads any bytes as articles, samples, stop words and hash table. There must be no panic, and the
//! same answer from every instruction set and for several threads.
#![no_main]

use libfuzzer_sys::fuzz_target;
use simtool::pipeline::config::MatchConfig;
use simtool::pipeline::match_queries;
use simtool::stages::fingerprint::hash_table::{Extent, HashTable};
use simtool::stages::kernels::Isa;
use simtool::stages::tokenize::stop_words;
use std::path::Path;

/// Byte that separates the four files in the fuzzer's input.
const SEPARATOR: u8 = 0x1c;

fuzz_target!(|input: &[u8]| {
    let Some((&[features, bits, max_distance], input)) = input.split_first_chunk::<3>() else {
        return;
    };
    let mut files = input.splitn(4, |&byte| byte == SEPARATOR);
    let mut file = || files.next().unwrap_or_default();
    let (table, list, articles, samples) = (file(), file(), file(), file());
    let (features, bits) = (usize::from(features), usize::from(bits));

    let parse = |isa| HashTable::parse(isa, table, Path::new("table"), features, bits);
    let parsed = parse(Isa::PORTABLE);
    for &isa in Isa::available() {
        assert_eq!(format!("{:?}", parse(isa)), format!("{parsed:?}"), "{isa}");
    }
    let offered = Extent::from_text(table).check(features, bits);
    assert!(offered.is_ok() || parsed.is_err());
    // If the table cannot be used, the documents are still tested with the built-in one.
    let hash_table = parsed.or_else(|_| HashTable::built_in(features.max(1), bits.clamp(1, 128)));
    let hash_table = hash_table.expect("the built-in table serves up to 255 features");

    let answer = |isa, threads| {
        let config = MatchConfig {
            stop_words: stop_words::parse(list).collect(),
            hash_table: hash_table.clone(),
            max_distance: u32::from(max_distance),
            threads,
            isa,
        };
        let matched = match_queries(articles, samples, &config).expect("threads start");
        (matched.blocks.concat(), matched.first_query().to_vec(), matched.matches)
    };
    let expected = answer(Isa::PORTABLE, 1);
    for &isa in Isa::available() {
        assert!(answer(isa, 1) == expected, "{isa} answers differently");
    }
    // Starting threads takes longer than everything else together.
    if max_distance % 16 == 0 {
        assert!(answer(Isa::detected(), 3) == expected, "three threads answer differently");
    }
});
