//! Values that are learned from a collection: the words or frequencies that some kinds of terms need.

use super::terms::Terms;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::stable_hash::hash;
use simtool_terms::extract::frequencies::Frequencies;
use simtool_terms::extract::vocabulary::Vocabulary;
use std::path::Path;
use std::sync::Arc;

/// First line of the file in which a [`Fitted`] is stored.
const HEADING: &str = "simtool fitted 1";
/// Number of bytes of the checksum at the end of the file of a [`Fitted`]: 16 hexadecimal digits and a line
/// end.
const CHECKSUM_BYTES: usize = 17;
/// Marker before the checksum of the file, if the file holds [`Fitted::Words`].
const WORDS: &[u8] = b"words ";
/// Marker before the checksum of the file, if the file holds [`Fitted::Frequencies`].
const FREQUENCIES: &[u8] = b"frequencies ";

/// Words or frequencies that were learned from a collection. Most kinds of terms need no learning. For terms
/// that are the most frequent words, these words are learned. For weights such as IDF, document frequencies
/// are learned: the number of documents that contain each term.
///
/// The value can be stored in a file. Fingerprints of documents that arrive later can be compared with older
/// fingerprints if both were made with the same value.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Fitted {
    /// Nothing was learned, because the terms need nothing from the collection.
    Nothing,
    /// The most frequent words of the collection.
    Words(Arc<Vocabulary>),
    /// Document frequencies: for each term, the number of documents of the collection that contain it.
    Frequencies {
        /// Recipe of the counted terms: a text that identifies the rules by which texts become terms.
        terms: String,
        /// For each term, the number of documents of the collection that contain it.
        frequencies: Arc<Frequencies>,
    },
}

impl Fitted {
    /// Checks that this value was learned for `terms`.
    ///
    /// # Errors
    ///
    /// The value was learned for other terms.
    pub(crate) fn check(&self, terms: &Terms) -> Result<()> {
        match (terms, self) {
            (Terms::Shingles { weighting, .. }, Self::Nothing) if !weighting.is_learned() => Ok(()),
            (Terms::Shingles { weighting, .. }, Self::Frequencies { .. })
                if weighting.is_learned() && self.is_of_sets(terms) =>
            {
                Ok(())
            }
            // A small collection can have fewer words than were wanted.
            (Terms::MostFrequent { count, .. }, Self::Words(words)) if words.len() <= *count => {
                Ok(())
            }
            _ => Err(self.refusal(terms)),
        }
    }

    /// Checks that this value was learned for `terms`. Also accepts document frequencies of the same terms that were
    /// learned for other weights, even if the weights of `terms` need no frequencies.
    ///
    /// # Errors
    ///
    /// The value was learned for other terms.
    pub(crate) fn check_known(&self, terms: &Terms) -> Result<()> {
        if self.is_of_sets(terms) { Ok(()) } else { self.check(terms) }
    }

    /// Returns whether this value holds document frequencies of `terms`. The rules that make the terms and the stop
    /// words must be the same, but the rules for weights may differ.
    fn is_of_sets(&self, terms: &Terms) -> bool {
        matches!(self, Self::Frequencies { terms: of, .. } if *of == terms.sets_recipe())
    }

    fn refusal(&self, terms: &Terms) -> Error {
        let learned = match self {
            Self::Nothing => "nothing".to_owned(),
            Self::Words(words) => format!("{} words", words.len()),
            Self::Frequencies { terms, frequencies } => {
                format!("{} terms of {terms}", frequencies.len())
            }
        };
        let rule =
            format!("was not learned for {}; learn again with these settings", terms.described());
        Error::config("fitted", learned, rule)
    }

    /// Returns the learned document frequencies. If none were learned, the returned frequency of every term
    /// is 0.
    pub(crate) fn frequencies(&self) -> Arc<Frequencies> {
        match self {
            Self::Frequencies { frequencies, .. } => Arc::clone(frequencies),
            Self::Nothing | Self::Words(_) => Arc::default(),
        }
    }

    /// Returns the value as the bytes of a file: a heading, the content, a marker for the kind of the value,
    /// and a checksum. The content is a list of words, one on each line, or the recipe of the terms and their
    /// [frequencies](Frequencies::write).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{HEADING}\n").into_bytes();
        match self {
            Self::Nothing => {}
            Self::Words(words) => {
                for word in words.words() {
                    bytes.extend_from_slice(&word);
                    bytes.push(b'\n');
                }
                bytes.extend_from_slice(WORDS);
            }
            Self::Frequencies { terms, frequencies } => {
                bytes.extend_from_slice(terms.as_bytes());
                bytes.push(b'\n');
                frequencies.write(&mut bytes);
                bytes.extend_from_slice(FREQUENCIES);
            }
        }
        bytes.extend_from_slice(format!("{:016x}\n", hash(&bytes)).as_bytes());
        bytes
    }

    /// Parses bytes that [`Self::to_bytes`] returned. `path` is for error messages.
    ///
    /// # Errors
    ///
    /// The bytes are damaged, or [`Self::to_bytes`] did not write them.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        let wrong = |byte: usize, expected: &str| {
            let path = path.to_owned();
            let expected = expected.to_owned();
            Err(ErrorKind::Format { path, byte: byte as u64, expected }.into())
        };
        let Some(lines) = bytes.strip_prefix(HEADING.as_bytes()) else {
            return wrong(0, &format!("\"{HEADING}\", with which a file of learned data begins"));
        };
        let Some((body, checksum)) = bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
            return wrong(bytes.len(), "a checksum of the file as its last line");
        };
        // The checksum covers the heading and the marker, too.
        if format!("{:016x}\n", hash(body)).as_bytes() != checksum {
            let expected = "a checksum that agrees with the lines before it; the file is damaged";
            return wrong(body.len(), expected);
        }
        let learned = &lines[..lines.len() - CHECKSUM_BYTES];
        if learned == b"\n" {
            return Ok(Self::Nothing);
        }
        let of_kind = |kind| learned.strip_suffix(kind).and_then(|body| body.strip_prefix(b"\n"));
        if let Some(words) = of_kind(WORDS) {
            let words = words.split(|&byte| byte == b'\n').filter(|word| !word.is_empty());
            return Ok(Self::Words(Arc::new(Vocabulary::from_words(words))));
        }
        let frequencies = of_kind(FREQUENCIES).and_then(|body| {
            let line = body.iter().position(|&byte| byte == b'\n')?;
            let terms = str::from_utf8(&body[..line]).ok()?.to_owned();
            let frequencies = Arc::new(Frequencies::read(&body[line + 1..])?);
            Some(Self::Frequencies { terms, frequencies })
        });
        let expected = "a list of words, or the number of documents with each term";
        frequencies.map_or_else(|| wrong(HEADING.len(), expected), Ok)
    }

    /// Returns a hash of the value as text, for example `words=` and 16 hexadecimal digits. Returns `None` if nothing
    /// was learned. The recipe of fingerprints contains this text, so that only fingerprints made with equal values are
    /// compared.
    pub(super) fn recipe(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            // The words themselves would make recipes long, so their hash identifies them.
            Self::Words(_) => Some(format!("words={:016x}", hash(&self.to_bytes()))),
            Self::Frequencies { .. } => {
                Some(format!("frequencies={:016x}", hash(&self.to_bytes())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Fitted {
        let words = words.iter().map(|word| word.as_bytes());
        Fitted::Words(Arc::new(Vocabulary::from_words(words)))
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
            assert!(error.contains("was not learned for"), "{error}");
        }
    }
}
