//! Documents in memory give the results of the same documents in a file.

use simtool::stages::read::walk::InputFile;
use simtool::{
    Collection, Config, Corpus, Keep, ReadOptions, Resources, Texts, deduplicate, fingerprint,
    match_collections,
};
use std::fmt::Debug;

/// Returns over 2 MB of texts: many are similar, some are equal, and some have no words.
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

/// Returns all results for a corpus as text.
fn found(corpus: &dyn Corpus, threads: usize) -> Vec<String> {
    fn words(found: impl Debug) -> String {
        format!("{found:?}")
    }
    let mut all = Vec::new();
    let resources = Resources { threads, memory: 64 << 20, ..Resources::default() };
    let config = |method: &str| Config {
        method: method.parse().unwrap(),
        resources: resources.clone(),
        ..Config::default()
    };
    for method in ["exact", "simhash:verify=0.8"] {
        let within = deduplicate(corpus, &Config { keep: Keep::Longest.into(), ..config(method) });
        let within = within.unwrap();
        assert!(within.removals.len() > 1000 && !within.close.pairs.is_empty());
        let lengths = &within.read.first().lengths;
        all.extend([words(&within.close), words(&within.removals), words(lengths)]);
        let across = match_collections(corpus, corpus, &config(method)).unwrap();
        all.extend([words(&across.close), words(&across.removals)]);
    }
    let made = fingerprint(corpus, &config("simhash:bits=128")).unwrap();
    assert_eq!(made.summary.without_terms, 400);
    let rows = 0..made.summary.ids.len() as u32;
    let ids: Vec<_> =
        rows.map(|row| made.summary.ids.id(simtool::stages::document::DocOrdinal(row))).collect();
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
    // A text without words and a null are equivalent.
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

/// Texts that are short, have no words, or differ only in symbols. Each text occurs four times, in
/// other letter cases and with other white space. Texts without words are compared by all their
/// characters.
#[test]
fn equal_texts_are_repeats_in_every_method() {
    let different: Vec<String> = (0x1F600..0x1F640)
        .map(|code| char::from_u32(code).unwrap().to_string())
        .chain(["+++", "***", "?!", "。。。"].map(str::to_owned))
        .chain((0..40).map(|at| format!("Word{at}")))
        .chain((0..40).map(|at| format!("brief{at} text{}", at % 7)))
        .collect();
    let written = |text: &String, copy: usize| match copy {
        0 => text.clone(),
        1 => format!(" {}\n", text.to_uppercase()),
        2 => format!("\u{feff}{text}\u{fe0f}"),
        _ => text.replace(' ', "\r\n"),
    };
    let texts: Vec<String> =
        (0..4).flat_map(|copy| different.iter().map(move |text| written(text, copy))).collect();
    for method in [
        "exact",
        "exact:shingle=chars:5",
        "exact:shingle=words+symbols:3",
        "exact:weight=idf,similarity=0.5",
        "simhash",
        "simhash:bits=128,weight=tf-idf,top=3",
        "minhash",
        "minhash:hashing=classical",
        "multi-lexicon",
        "multi-lexicon:votes=sum,weight=idf",
        "i-match",
        "i-match:lexicons=9",
    ] {
        let method = method.parse().unwrap();
        let config = Config { method, ..Config::default() };
        let found = deduplicate(&Texts::of(&texts), &config).unwrap();
        let removals: Vec<_> = found.removals.iter().map(|it| (it.row, it.kept)).collect();
        let count = different.len() as u32;
        let expected: Vec<_> = (count..4 * count).map(|row| (row, row % count)).collect();
        assert_eq!(removals, expected, "{}", config.method);
        assert_eq!(found.read.first().without_terms, 0, "{}", config.method);
    }
    let emoji: Vec<String> = (0..5000).map(|at| different[at / 2500].clone()).collect();
    for method in ["minhash", "minhash:shingle=words:5"] {
        let config = Config { method: method.parse().unwrap(), ..Config::default() };
        let found = deduplicate(&Texts::of(&emoji), &config).unwrap();
        assert_eq!(found.kept().collect::<Vec<_>>(), [0, 2500], "{method}");
    }
}
