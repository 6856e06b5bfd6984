//! Chinese words of published texts equal those of jieba in its usual form.

use caseless::Caseless as _;
use jieba_rs::Jieba;
use simtool::stages::kernels::Isa;
use simtool::stages::tokenize::chinese_words;
use simtool::stages::tokenize::hashed_tokens::HashedTokens;
use std::path::PathBuf;
use unicode_normalization::UnicodeNormalization as _;
use xxhash_rust::xxh3::xxh3_64;

/// Returns the texts of the labelled laws.
#[expect(clippy::print_stderr, reason = "a skipped test reports it")]
fn laws() -> Option<Vec<String>> {
    let Some(data) = std::env::var_os("SIMTOOL_DATA") else {
        eprintln!("skipped: SIMTOOL_DATA is not set");
        return None;
    };
    let file = PathBuf::from(data).join("labelled/zh-laws/docs.jsonl.zst");
    let lines = zstd::decode_all(std::fs::File::open(file).unwrap()).unwrap();
    let text = |line: &[u8]| {
        let document: serde_json::Value = serde_json::from_slice(line).unwrap();
        document["text"].as_str().unwrap().to_owned()
    };
    let lines = lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    Some(lines.map(text).collect())
}

fn hashes(isa: Isa, text: &str) -> Vec<u64> {
    let mut tokens = HashedTokens::default();
    (chinese_words::KIND.create)(isa).tokenize(text.as_bytes(), &mut tokens);
    tokens.hashes
}

/// Without letters of ASCII, words of the dictionary that have capitals make no difference.
#[test]
fn words_of_published_texts_are_those_of_jieba() {
    let Some(laws) = laws() else { return };
    let jieba = Jieba::new();
    let mut found = 0;
    for line in laws.iter().flat_map(|law| law.lines()) {
        let folded: String = line.nfkc().default_case_fold().nfkc().collect();
        if !folded.contains(|c: char| c.is_ascii_alphabetic()) {
            let words = jieba.cut(&folded, false).into_iter().map(|token| token.word);
            let words = words.filter(|word| word.contains(char::is_alphanumeric));
            let slowly: Vec<u64> = words.map(|word| xxh3_64(word.as_bytes())).collect();
            assert_eq!(hashes(Isa::detected(), line), slowly, "{line}");
            found += slowly.len();
        }
    }
    assert!(found > 1_000_000, "{found}");
}

#[test]
fn a_text_has_the_words_of_its_lines_for_every_instruction_set_and_thread() {
    let Some(laws) = laws() else { return };
    let laws = &laws[..50];
    std::thread::scope(|threads| {
        for &isa in Isa::available() {
            threads.spawn(move || {
                for law in laws {
                    let of_lines: Vec<u64> =
                        law.lines().flat_map(|line| hashes(isa, line)).collect();
                    assert_eq!(hashes(isa, law), of_lines, "{isa}");
                }
            });
        }
    });
}
