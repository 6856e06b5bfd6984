//! A second implementation of the whole reference task: straight, slow, with only the standard
//! library, and without `src/`. Reading it is enough to see that it is right.

use std::collections::{BTreeMap, BTreeSet};

/// The input of the task. Every row of the table has at least `bits` columns.
#[derive(Clone, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) articles: &'a [u8],
    pub(crate) samples: &'a [u8],
    pub(crate) stop_words: &'a [u8],
    pub(crate) hash_table: &'a str,
    pub(crate) features: usize,
    pub(crate) bits: usize,
    pub(crate) max_distance: usize,
}

impl Task<'_> {
    /// Returns the result file, and the block of the first query, which standard output shows.
    pub(crate) fn solve(&self) -> (Vec<u8>, Vec<u8>) {
        let articles = documents(self.articles);
        let features = self.most_frequent(&articles);
        let print = |text: &[u8]| self.fingerprint(&features, text);
        let prints: Vec<_> = articles.iter().map(|(_, text)| print(text)).collect();

        let mut blocks = Vec::new();
        for (query, text) in documents(self.samples) {
            let own = print(&text);
            let mut block = [query, b"\n".to_vec()].concat();
            for wanted in 0..=self.max_distance {
                let mut line = Vec::new();
                for ((id, _), other) in articles.iter().zip(&prints) {
                    if own.iter().zip(other).filter(|(a, b)| a != b).count() == wanted {
                        line.extend_from_slice(id);
                        line.push(b' ');
                    }
                }
                if !line.is_empty() {
                    block.extend_from_slice(format!("{wanted}:").as_bytes());
                    block.extend_from_slice(&line);
                    block.push(b'\n');
                }
            }
            blocks.push(block);
        }
        (blocks.concat(), blocks.into_iter().next().unwrap_or_default())
    }

    /// Returns the features, most frequent first, equal counts in byte order.
    fn most_frequent(&self, articles: &[(Vec<u8>, Vec<u8>)]) -> Vec<Vec<u8>> {
        let stop_words: BTreeSet<Vec<u8>> = without_mark(self.stop_words)
            .split(|&byte| is_white_space(byte))
            .map(<[u8]>::to_ascii_lowercase)
            .collect();
        let mut counts: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for word in articles.iter().flat_map(|(_, text)| words(text)) {
            if !stop_words.contains(&word) {
                *counts.entry(word).or_default() += 1;
            }
        }
        let mut ranked: Vec<_> = counts.into_iter().collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        ranked.into_iter().map(|(word, _)| word).take(self.features).collect()
    }

    /// Returns the bits of a document: set if the sum of the signs of its features is above 0.
    fn fingerprint(&self, features: &[Vec<u8>], text: &[u8]) -> Vec<bool> {
        let rows: Vec<&str> = self.hash_table.lines().take(features.len()).collect();
        let mut sums = vec![0i64; self.bits];
        for word in words(text) {
            let Some(feature) = features.iter().position(|feature| *feature == word) else {
                continue;
            };
            for (sum, digit) in sums.iter_mut().zip(rows[feature].bytes()) {
                *sum += if digit == b'1' { 1 } else { -1 };
            }
        }
        sums.into_iter().map(|sum| sum > 0).collect()
    }
}

/// Returns the ID and content of every document.
fn documents(file: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut found = Vec::new();
    for part in without_mark(file).split(|&byte| byte == 0x0c) {
        let Some(start) = part.iter().position(|&byte| !is_white_space(byte)) else { continue };
        let part = &part[start..];
        let id: Vec<u8> = part.iter().copied().take_while(|&byte| !is_white_space(byte)).collect();
        let content = part.iter().skip(id.len()).skip_while(|&&byte| byte != b'\n').skip(1);
        found.push((id, content.copied().collect()));
    }
    found
}

fn words(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    text.split(|byte| !byte.is_ascii_alphabetic())
        .filter(|word| !word.is_empty())
        .map(<[u8]>::to_ascii_lowercase)
}

fn is_white_space(byte: u8) -> bool {
    b" \t\r\n\x0b".contains(&byte)
}

fn without_mark(file: &[u8]) -> &[u8] {
    file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file)
}
