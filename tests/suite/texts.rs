//! Documents in memory against the same documents in a file.

use simtool::kernels::Isa;
use simtool::pipeline::config::{
    ClusterRule, DeduplicateConfig, Features, FingerprintRecipe, Keep, Method, SimhashBits,
};
use simtool::pipeline::progress::NoProgress;
use simtool::pipeline::{deduplicate, fingerprint_collection, match_collections};
use simtool::read::walk::InputFile;
use simtool::read::{Collection, Corpus, ReadOptions, Texts};
use std::fmt::Debug;

/// Texts of which many are alike, some are equal and some have no words; over 2 MB.
fn texts() -> Vec<String> {
    let text = |at: usize| match at % 10 {
        0 => String::new(),
        1 => "the same words in every tenth text".to_owned(),
        _ => {
            let common = format!("of group {} ", at / 10 % 50).repeat(40);
            let own: Vec<String> = (0..20 + at % 7).map(|n| format!("w{}", n * (at % 3))).collect();
            common + &own.join(" ")
        }
    };
    (0..4000).map(text).collect()
}

fn methods() -> [Method; 2] {
    let threshold = "0.8".parse().unwrap();
    let features = Features::Shingles(SimhashBits::Bits64);
    [
        Method::Exact(threshold),
        Method::Simhash { features, max_distance: 3, verify: Some(threshold) },
    ]
}

/// Everything that is found in a corpus, in words.
fn found(corpus: &dyn Corpus, threads: usize) -> Vec<String> {
    fn words(found: impl Debug) -> String {
        format!("{found:?}")
    }
    let shingle = "words:3".parse().unwrap();
    let mut all = Vec::new();
    for method in methods() {
        let config = DeduplicateConfig {
            method,
            shingle,
            keep: Keep::Longest,
            clusters: ClusterRule::Proven,
            memory_bytes: 64 << 20,
            temporary_folder: std::env::temp_dir(),
            threads,
            isa: Isa::detected(),
        };
        let within = deduplicate(corpus, &config, &NoProgress).unwrap();
        assert!(within.removals.len() > 1000 && !within.close.pairs.is_empty());
        all.extend([words(&within.close), words(&within.removals), words(&within.read.lengths)]);
        let across = match_collections(corpus, corpus, &config, &NoProgress).unwrap();
        all.extend([words(&across.close), words(&across.removals)]);
    }
    let recipe = FingerprintRecipe { shingle, bits: SimhashBits::Bits128 };
    let isa = Isa::detected();
    let made = fingerprint_collection(corpus, recipe, threads, isa, &NoProgress).unwrap();
    assert_eq!(made.summary.without_terms, 400);
    let rows = 0..made.summary.ids.len() as u32;
    let ids: Vec<_> =
        rows.map(|row| made.summary.ids.id(simtool::document::DocOrdinal(row))).collect();
    all.extend([words(&made.rows), words(&ids)]);
    all
}

#[test]
fn documents_in_memory_are_what_they_are_in_a_file() {
    let texts = texts();
    let ids: Vec<String> = (0..texts.len()).map(|at| format!("id {at}")).collect();
    let lines = ids.iter().zip(&texts);
    let lines: Vec<String> =
        lines.map(|(id, text)| format!("{{\"id\": \"{id}\", \"text\": \"{text}\"}}\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    std::fs::write(&path, lines.concat()).unwrap();
    let file = Collection::open(vec![InputFile::new(&path)], ReadOptions::default());
    let expected = found(&file, 1);

    let in_memory = Texts::of(&texts).with_ids(&ids).unwrap();
    assert!(in_memory.shard_count() > 1, "{} shards", in_memory.shard_count());
    let mut offsets = vec![0_i64];
    offsets.extend(texts.iter().scan(0, |end, text| {
        *end += i64::try_from(text.len()).unwrap();
        Some(*end)
    }));
    // A text without words may as well be null.
    let mut validity = vec![0_u8; texts.len().div_ceil(8)];
    for (row, _) in texts.iter().enumerate().filter(|(_, text)| !text.is_empty()) {
        validity[row / 8] |= 1 << (row % 8);
    }
    let values = texts.concat();
    let of_arrow = Texts::arrow(values.as_bytes(), offsets[..].into(), Some((&validity, 0)));
    let of_arrow = of_arrow.unwrap().with_ids(&ids).unwrap();
    for corpus in [in_memory, of_arrow] {
        for threads in [1, 3] {
            assert!(found(&corpus, threads) == expected, "{corpus:?}, {threads} threads");
        }
    }
}
