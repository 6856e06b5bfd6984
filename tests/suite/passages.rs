//! Repeated passages of collections in memory and in files.

use simtool::pipeline::{Origin, find_passages};
use simtool::progress::NoProgress;
use simtool::stages::context::Context;
use simtool::stages::kernels::Isa;
use simtool::stages::passages::{Cut, Passage, PassageSearch, Repeated};
use simtool::stages::read::walk::InputFile;
use simtool::stages::stable_hash::mix;
use simtool::stages::tokenize::hashed_tokens::{HashTokenizer as _, HashedTokens};
use simtool::stages::tokenize::text_units::TextUnit;
use simtool::stages::tokenize::unicode_words::UnicodeWords;
use simtool::{Collection, Corpus, ReadOptions, Resources, Texts};
use std::ops::Range;

/// Returns about 1 MB of texts in which words, their case and the white space vary. Some sentences occur in
/// many texts.
fn texts() -> Vec<String> {
    const SENTENCES: [&str; 4] = [
        "Größere Straßen führen über den Fluß, kleinere durch die Wälder.",
        "图书馆八点开门，周三下午还有讲座；他带来了3本旧书。",
        "The ferry to the islands leaves at 7:45, if the wind isn't too strong!",
        "Поезд опоздал на 20 минут, и всё-таки мы успели",
    ];
    let text = |number: u64| {
        let mut text = String::new();
        for part in 0..mix(number) % 9 {
            let random = mix(number << 8 | part);
            let sentence = SENTENCES[random as usize % 4];
            match random >> 8 & 3 {
                0 => text += sentence,
                1 => text += &sentence.to_uppercase().replace(' ', "\n  "),
                2 => text.extend(
                    (0..random >> 16 & 63).map(|at| format!("w{} ", mix(at ^ random) % 5000)),
                ),
                _ => text += "— ",
            }
            text += " ";
        }
        text
    };
    (0..6000).map(text).collect()
}

fn excerpt(text: &str, bytes: &Range<u64>) -> String {
    text[bytes.start as usize..bytes.end as usize].to_owned()
}

fn words(text: &str) -> Vec<u64> {
    let mut tokens = HashedTokens::default();
    UnicodeWords::new(Isa::detected()).tokenize(text.as_bytes(), &mut tokens);
    tokens.hashes
}

/// Returns all passages and words to cut as text.
fn found(
    corpus: &dyn Corpus,
    unit: TextUnit,
    length: usize,
    (threads, memory): (usize, u64),
) -> String {
    let resources = Resources { threads, ..Resources::default() };
    let context = Context::new(&resources, &NoProgress).unwrap();
    let search = PassageSearch::new(length, &context).unwrap().with_memory(memory);
    let search = search.with_verification(threads > 1);
    let found = find_passages(corpus, &search, unit, Origin::Document).unwrap();
    assert_eq!(found.summary.ids.len() as u64, found.passages.documents);
    format!("{:?}", found.passages)
}

#[test]
fn passages_have_their_words_and_their_partners() {
    let texts = texts();
    let all: Vec<Vec<u64>> = texts.iter().map(|text| words(text)).collect();
    let context = Context::default();
    for length in [4, 12] {
        let search = PassageSearch::new(length, &context).unwrap().with_rule(Repeated::Anywhere);
        let texts_in_memory = Texts::of(&texts);
        let found = find_passages(&texts_in_memory, &search, TextUnit::Words, Origin::Document);
        let found = found.unwrap().passages;
        assert!(found.passages.len() > 3000);
        for Passage { document, words: range, bytes, partner, .. } in &found.passages {
            let expected = &all[*document as usize][range.start as usize..range.end as usize];
            assert_eq!(words(&excerpt(&texts[*document as usize], bytes)), expected);
            let copy = words(&excerpt(&texts[partner.document as usize], &partner.bytes));
            assert_eq!(copy.len(), length);
            assert!(expected.windows(length).any(|window| window == copy));
        }
        for (document, text) in (0..).zip(&texts) {
            let cuts = found.cuts(Cut::All, document);
            assert!(cuts.iter().all(|cut| text.get(cut.bytes.start as usize..).is_some()));
            assert_eq!(cuts.len(), found.of_document(document).len());
        }
    }
}

#[test]
fn files_threads_and_memory_do_not_change_the_passages() {
    let texts = texts();
    let lines = texts.iter().enumerate().map(|(id, text)| {
        format!("{{\"id\": \"{id}\", \"text\": \"{}\"}}\n", text.replace('\n', "\\n"))
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.jsonl");
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    let file = Collection::open(vec![InputFile::new(&path)], ReadOptions::default());
    for (unit, length) in [(TextUnit::Words, 5), (TextUnit::Words, 20), (TextUnit::Sentence, 5)] {
        let expected = found(&Texts::of(&texts), unit, length, (1, u64::MAX));
        assert!(expected.len() > 10_000);
        for settings in [(1, u64::MAX), (3, 1 << 20)] {
            assert!(found(&file, unit, length, settings) == expected, "{length} {settings:?}");
        }
    }
}
