//! Shows how much of a collection is repeated, on the terminal and in `summary.json`.

use super::excerpt::excerpt;
use super::name::Name;
use super::shortened::shortened;
use super::summary::write_list;
use simtool_base::json_text::write_string;
use simtool_base::quantity::{counted, percent};
use simtool_passages::Level;
use std::io::{self, Write};
use std::ops::Range;

/// Maximum number of texts that the terminal shows.
const TEXTS: usize = 5;
/// Maximum number of characters of a file name on the terminal.
const FILE: usize = 48;

/// Numbers of words of a collection that are repeated, and the texts that are repeated most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepetitionSummary {
    /// Noun for the things that count as different documents, for example `document` or `host`.
    pub noun: &'static str,
    /// Number of words of all documents.
    pub words: u64,
    /// For several n in ascending order, the number of words that are repeated in at least n documents.
    pub levels: Vec<Level>,
    /// Repeated texts for which (number of words) × (number of documents) is greatest, in descending order.
    pub texts: Vec<RepeatedText>,
}

/// A text that is repeated in several documents, and the first document with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedText {
    /// Number of documents. Each window of the text, which is a sequence of `--words` words, occurs in at least so many
    /// documents.
    pub documents: u32,
    /// Number of words of the text.
    pub words: u64,
    /// Name of the first document with the text.
    pub name: Name,
    /// Byte range of the text in the decoded text of the document.
    pub bytes: Range<u64>,
    /// Beginning of the text.
    pub text: Vec<u8>,
}

impl RepetitionSummary {
    /// Returns sentences for people about the shares of words and about the texts that are repeated most.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let share = |(number, level): (usize, &Level)| {
            let share = percent(level.words, self.words);
            let count = u64::from(level.documents);
            if number == 0 {
                format!(
                    "{share} of the words are repeated in at least {}",
                    counted(count, self.noun)
                )
            } else {
                format!("{share} in more than {}", count - 1)
            }
        };
        // Levels without words would only make the sentence longer.
        let is_shown = |(number, level): &(usize, &Level)| *number == 0 || level.words > 0;
        let shares: Vec<String> =
            self.levels.iter().enumerate().filter(is_shown).map(share).collect();
        let texts = self.text_lines();
        std::iter::once(shares.join(", ")).chain(texts).collect()
    }

    /// Returns a sentence for people about each of the texts that are repeated most. These are the last sentences of
    /// [`Self::lines`].
    pub fn text_lines(&self) -> impl Iterator<Item = String> {
        self.texts.iter().take(TEXTS).map(|text| {
            let RepeatedText { documents, words, name, text, .. } = text;
            format!(
                "{} in {}, first in {}, record {}: {}",
                counted(*words, "word"),
                counted(u64::from(*documents), self.noun),
                shortened(&name.file, FILE).text,
                name.record,
                excerpt(&String::from_utf8_lossy(text), 0)
            )
        })
    }

    /// Writes the fields of a JSON object with the shares of words and the repeated texts.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub(crate) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        // A collection without words has no shares, and a division by zero would give no number.
        let words = self.words.max(1) as f64;
        let shares: Vec<(Level, f64)> =
            self.levels.iter().map(|level| (*level, level.words as f64 / words)).collect();
        write_list(out, "repeated_in", &shares, |out, (Level { documents, words }, share)| {
            write!(out, "{{\"documents\": {documents}, \"words\": {words}, \"share\": {share:.6}}}")
        })?;
        write_list(out, "top_texts", &self.texts, write_text)
    }
}

fn write_text(out: &mut dyn Write, text: &RepeatedText) -> io::Result<()> {
    let RepeatedText { documents, words, name, bytes, text } = text;
    write!(out, "{{\"documents\": {documents}, \"words\": {words}")?;
    for (field, value) in [("id", &name.id), ("file", &name.file)] {
        write!(out, ", \"{field}\": ")?;
        write_string(out, value)?;
    }
    let Range { start, end } = bytes;
    let record = name.record;
    write!(
        out,
        ", \"record\": {record}, \"byte_start\": {start}, \"byte_end\": {end}, \"text\": "
    )?;
    write_string(out, text)?;
    out.write_all(b"}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_texts_are_sentences_and_json() {
        let level = |documents, words| Level { documents, words };
        let text = |text: &str| RepeatedText {
            documents: 12,
            words: 3,
            name: Name { id: b"a\"".to_vec(), file: b"in.txt".to_vec(), record: 7 },
            bytes: 4..9,
            text: text.into(),
        };
        let summary = RepetitionSummary {
            noun: "host",
            words: 200,
            levels: vec![level(2, 50), level(11, 3), level(101, 0)],
            texts: vec![text("All\n rights <b>")],
        };
        let expected = [
            "25.0 % of the words are repeated in at least 2 hosts, 1.5 % in more than 10",
            "3 words in 12 hosts, first in in.txt, record 7: All rights <b>",
        ];
        assert_eq!(summary.lines(), expected);
        let mut json = Vec::new();
        summary.write_json(&mut json).unwrap();
        let expected = "  \"repeated_in\": [\n    \
            {\"documents\": 2, \"words\": 50, \"share\": 0.250000},\n    \
            {\"documents\": 11, \"words\": 3, \"share\": 0.015000},\n    \
            {\"documents\": 101, \"words\": 0, \"share\": 0.000000}\n  ],\n  \"top_texts\": [\n    \
            {\"documents\": 12, \"words\": 3, \"id\": \"a\\\"\", \"file\": \"in.txt\", \"record\": 7, \
            \"byte_start\": 4, \"byte_end\": 9, \"text\": \"All\\n rights <b>\"}\n  ],\n";
        assert_eq!(String::from_utf8(json).unwrap(), expected);
        assert_eq!(RepetitionSummary::default().lines(), [""]);
    }
}
