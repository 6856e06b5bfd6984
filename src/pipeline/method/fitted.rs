//! What must be learned from a collection before its documents become features.

use super::terms::Terms;
use crate::document::Content;
use crate::error::{Error, ErrorKind, Result};
use crate::extract::vocabulary::{self, NumberRanks, Vocabulary};
use crate::extract::word_counter::{MOST_PLACES, WordCounter};
use crate::kernels::Isa;
use crate::pipeline::workers::Workers;
use crate::progress::{Progress, Work};
use crate::read::{Corpus, Event};
use crate::stable_hash::hash;
use crate::token_batch::TokenBatch;
use crate::tokenize::ascii_letters::AsciiLetters;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// The first line of the bytes for a store.
const HEADING: &str = "simtool fitted 1";
/// Bytes of the checksum: hexadecimal, and the end of the line.
const CHECKSUM_BYTES: usize = 17;

/// What was learned: nothing for most terms, the words for the most frequent ones.
///
/// Rows of documents that come later compare with those that were made before if the same is used
/// for both, so it can be stored.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fitted {
    /// There is nothing to learn.
    Nothing,
    /// The most frequent words.
    Words(Arc<Vocabulary>),
}

impl Fitted {
    /// Learns what `terms` need from `corpus`, in one reading if they need anything.
    ///
    /// # Errors
    ///
    /// The corpus cannot be read.
    pub(in crate::pipeline) fn learn(
        terms: &Terms,
        corpus: &dyn Corpus,
        workers: &Workers,
        isa: Isa,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let Terms::MostFrequent { count, stop_words } = terms else { return Ok(Self::Nothing) };
        progress.begin("counting words", Work::Bytes(corpus.bytes()));
        let bytes = usize::try_from(corpus.bytes()).unwrap_or(usize::MAX) / workers.count();
        let tokenizer = AsciiLetters::new(isa);
        let counters = workers.try_share(corpus.shard_count(), |shards| {
            let mut counter = WordCounter::new(bytes, stop_words);
            let mut batch = TokenBatch::default();
            // The numbers of words, which the second reading does not use.
            let mut written = Vec::new();
            for shard in shards {
                let read = corpus.read_shard(shard, &mut |event| {
                    if let Event::Record(record) = event
                        && let Content::Document(document) = record.content
                    {
                        tokenizer.tokenize(document.text, &mut batch, |piece, batch| {
                            let room = (piece.len() / 2 + 2) * MOST_PLACES;
                            written.resize(written.len().max(room), 0);
                            counter.count(piece, batch, &mut written, 0);
                        });
                    }
                    Ok(ControlFlow::Continue(()))
                });
                read.map_err(|error| (shard, error))?;
            }
            Ok(counter)
        })?;
        Ok(Self::Words(Arc::new(most_frequent(workers, &counters, *count).0)))
    }

    /// That this was learned for such terms.
    ///
    /// # Errors
    ///
    /// It was learned for others.
    pub(in crate::pipeline) fn check(&self, terms: &Terms) -> Result<()> {
        match (terms, self) {
            (Terms::Shingles { .. }, Self::Nothing) => Ok(()),
            (Terms::MostFrequent { count, .. }, Self::Words(words)) if words.len() <= *count => {
                Ok(())
            }
            _ => {
                let learned = match self {
                    Self::Nothing => "nothing".to_owned(),
                    Self::Words(words) => format!("{} words", words.len()),
                };
                let rule = format!("must be what was learned for {}", terms.described());
                Err(Error::config("fitted", learned, rule))
            }
        }
    }

    /// What a store keeps: lines of text, the last of which is a checksum.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{HEADING}\n").into_bytes();
        if let Self::Words(words) = self {
            for word in words.words() {
                bytes.extend_from_slice(&word);
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(b"words ");
        }
        bytes.extend_from_slice(format!("{:016x}\n", hash(&bytes)).as_bytes());
        bytes
    }

    /// What [`Self::to_bytes`] gave; `path` is for messages.
    ///
    /// # Errors
    ///
    /// The bytes are damaged, or others.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        let wrong = |byte: usize, expected: &str| {
            let (path, expected) = (path.to_owned(), expected.to_owned());
            Err(ErrorKind::Format { path, byte: byte as u64, expected }.into())
        };
        let Some(lines) = bytes.strip_prefix(HEADING.as_bytes()) else {
            return wrong(0, &format!("\"{HEADING}\": what was learned from a collection"));
        };
        let Some((body, checksum)) = bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
            return wrong(bytes.len(), "a checksum at the end");
        };
        if format!("{:016x}\n", hash(body)).as_bytes() != checksum {
            let expected = "lines that agree with the checksum behind them; the file is damaged";
            return wrong(body.len(), expected);
        }
        let lines = &lines[..lines.len() - CHECKSUM_BYTES];
        match lines.strip_suffix(b"words ").and_then(|words| words.strip_prefix(b"\n")) {
            None if lines == b"\n" => Ok(Self::Nothing),
            None => wrong(HEADING.len(), "words, a line each"),
            Some(words) => {
                let words = words.split(|&byte| byte == b'\n').filter(|word| !word.is_empty());
                Ok(Self::Words(Arc::new(Vocabulary::of_words(words))))
            }
        }
    }

    /// What the recipe of rows adds for it: rows of other words do not compare.
    pub(super) fn recipe(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Words(_) => Some(format!("words={:016x}", hash(&self.to_bytes()))),
        }
    }
}

/// The `most` most frequent words of what all workers counted, and what their numbers mean.
pub(in crate::pipeline) fn most_frequent(
    workers: &Workers,
    counters: &[WordCounter],
    most: usize,
) -> (Vocabulary, Vec<NumberRanks>) {
    let reached = workers
        .map(counters.iter().collect(), |counter| vocabulary::reached_count(counter, most))
        .into_iter()
        .max()
        .unwrap_or(0);
    let candidates = workers
        .map((0..counters.len()).collect(), |own| vocabulary::candidates(counters, own, reached));
    let vocabulary = Vocabulary::of_candidates(candidates.into_iter().flatten().collect(), most);
    let number_ranks =
        workers.map(counters.iter().collect(), |counter| vocabulary.number_ranks(counter));
    (vocabulary, number_ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Fitted {
        let words = words.iter().map(|word| word.as_bytes());
        Fitted::Words(Arc::new(Vocabulary::of_words(words)))
    }

    #[test]
    fn what_is_stored_comes_back() {
        let long = "z".repeat(40);
        for fitted in [Fitted::Nothing, words(&[]), words(&["the", "a", &long, "of"])] {
            let bytes = fitted.to_bytes();
            let found = Fitted::from_bytes(&bytes, Path::new("f")).unwrap();
            assert_eq!(found.to_bytes(), bytes);
            assert_eq!(matches!(found, Fitted::Nothing), matches!(fitted, Fitted::Nothing));
        }
        let bytes = words(&["the", "a"]).to_bytes();
        let text = "simtool fitted 1\nthe\na\nwords ";
        assert_eq!(bytes, format!("{text}{:016x}\n", hash(text.as_bytes())).as_bytes());
    }

    #[test]
    fn a_byte_that_changed_or_is_missing_is_noticed() {
        let bytes = words(&["the", "a"]).to_bytes();
        for byte in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[byte] ^= 1;
            assert!(Fitted::from_bytes(&broken, Path::new("f")).is_err(), "byte {byte}");
            assert!(Fitted::from_bytes(&bytes[..byte], Path::new("f")).is_err(), "cut at {byte}");
        }
        let error = Fitted::from_bytes(b"words", Path::new("f")).unwrap_err().to_string();
        assert!(error.contains("f, byte 0: expected \"simtool fitted 1\""), "{error}");
    }

    #[test]
    fn what_was_learned_for_other_terms_is_refused() {
        let frequent = Terms::MostFrequent { count: 2, stop_words: Arc::new([]) };
        let shingles = Terms::default();
        assert!(words(&["a", "b"]).check(&frequent).is_ok());
        assert!(Fitted::Nothing.check(&shingles).is_ok());
        for (fitted, terms) in [
            (words(&["a", "b", "c"]), &frequent),
            (Fitted::Nothing, &frequent),
            (words(&["a"]), &shingles),
        ] {
            let error = fitted.check(terms).unwrap_err().to_string();
            assert!(error.contains("must be what was learned for"), "{error}");
        }
    }
}
