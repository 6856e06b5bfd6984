//! Small random collections with many near-duplicates.

use simtool::stages::stable_hash::mix;
use std::fmt::Write;

/// A generator of random numbers.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0 ^ 0x5eed_0000) % limit
    }
}

/// Returns texts of a few words. Many are copies of others with a word changed, and some are empty.
pub(crate) fn texts(random: &mut Random, count: usize) -> Vec<String> {
    let mut texts: Vec<Vec<String>> = Vec::new();
    for _ in 0..count {
        let word = |random: &mut Random| format!("w{}", random.below(40));
        let copied = (!texts.is_empty() && random.below(3) > 0)
            .then(|| texts[random.below(texts.len() as u64) as usize].clone());
        let mut text = copied.unwrap_or_else(|| {
            let length = [0, 1, 2, 5, 20, 60][random.below(6) as usize];
            (0..length).map(|_| word(random)).collect()
        });
        for _ in 0..random.below(3).min(text.len() as u64) {
            let at = random.below(text.len() as u64) as usize;
            text[at] = word(random);
        }
        texts.push(text);
    }
    texts.iter().map(|words| words.join(" ")).collect()
}

/// Returns the texts as JSON Lines, without IDs.
pub(crate) fn json_lines(texts: &[String]) -> String {
    let mut lines = String::new();
    for text in texts {
        writeln!(lines, "{{\"text\":\"{text}\"}}").unwrap();
    }
    lines
}
