//! What the user asked for, as plain data.

use crate::closeness::{cosine_at, similarity_at};
use crate::error::{Error, Result};
use crate::fingerprint::hash_table::HashTable;
use crate::kernels::Isa;
use crate::similarity::Threshold;
use crate::stable_hash::hash;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;

/// Settings of [`match_queries`](super::match_queries()).
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// Words that are never features, in lower case.
    pub stop_words: Vec<Vec<u8>>,
    /// A row for every feature; its rows and bits are the numbers of features and of bits.
    pub hash_table: HashTable,
    /// Most bits in which a match may differ from its query.
    pub max_distance: u32,
    /// Worker threads, at least 1.
    pub threads: usize,
    /// The instruction set of the hot loops. It never changes a result.
    pub isa: Isa,
}

/// What a term of a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shingle {
    /// So many consecutive words.
    Words(NonZeroUsize),
    /// So many consecutive characters.
    Characters(NonZeroUsize),
}

impl FromStr for Shingle {
    type Err = Error;

    /// Reads `words:3` or `chars:5`.
    fn from_str(text: &str) -> Result<Self> {
        let parsed = text.split_once(':').and_then(|(unit, length)| {
            let length = length.parse().ok().filter(|length: &NonZeroUsize| length.get() <= 100)?;
            match unit {
                "words" => Some(Self::Words(length)),
                "chars" => Some(Self::Characters(length)),
                _ => None,
            }
        });
        let rule = "must be words:N or chars:N with N from 1 to 100, for example words:3";
        parsed.ok_or_else(|| Error::config("shingle", text, rule))
    }
}

impl fmt::Display for Shingle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(length) => write!(f, "words:{length}"),
            Self::Characters(length) => write!(f, "chars:{length}"),
        }
    }
}

/// Width of a fingerprint of hashed terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimhashBits {
    /// 64 bits.
    Bits64,
    /// 128 bits.
    Bits128,
}

impl SimhashBits {
    /// Number of bits.
    #[must_use]
    pub fn count(self) -> u32 {
        match self {
            Self::Bits64 => 64,
            Self::Bits128 => 128,
        }
    }
}

impl FromStr for SimhashBits {
    type Err = Error;

    /// Reads `64` or `128`.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "64" => Ok(Self::Bits64),
            "128" => Ok(Self::Bits128),
            _ => Err(Error::config("bits", text, "must be 64 or 128")),
        }
    }
}

/// How a document becomes a fingerprint: SimHash over its shingles, as often as they occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FingerprintRecipe {
    /// What a term is.
    pub shingle: Shingle,
    /// Width of the fingerprint.
    pub bits: SimhashBits,
}

impl fmt::Display for FingerprintRecipe {
    /// All that a fingerprint depends on: those of different recipes do not mix.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "simhash{}/{}/weight=tf/stop=none", self.bits.count(), self.shingle.recipe())
    }
}

/// Which documents are near-duplicates.
#[derive(Clone, Debug)]
pub enum Method {
    /// All pairs whose sets of shingles are at least so similar.
    Exact(Threshold),
    /// All pairs whose fingerprints differ in few bits.
    Simhash {
        /// What fingerprints are made of.
        features: Features,
        /// Most bits in which they differ.
        max_distance: u32,
        /// How similar the sets of shingles must be besides, if they are to be compared.
        verify: Option<Threshold>,
    },
}

/// What fingerprints are made of.
#[derive(Clone, Debug)]
pub enum Features {
    /// The shingles, as often as they occur, hashed.
    Shingles(SimhashBits),
    /// The most frequent words of the collection, as often as they occur, over a hash table.
    Words(WordFeatures),
}

impl Features {
    /// Bits of a fingerprint.
    #[must_use]
    pub fn bits(&self) -> u32 {
        match self {
            Self::Shingles(bits) => bits.count(),
            Self::Words(words) => words.hash_table.bits(),
        }
    }
}

/// The features of `simtool N M`.
#[derive(Clone, Debug)]
pub struct WordFeatures {
    /// Words that are never features, in lower case.
    pub stop_words: Vec<Vec<u8>>,
    /// A row for every feature; its rows and bits are N and M.
    pub hash_table: HashTable,
}

impl WordFeatures {
    /// What fingerprints depend on, beside the collection that the words are learned from; table and
    /// stop words by their hashes.
    #[must_use]
    pub fn recipe(&self) -> String {
        let (bits, rows) = (self.hash_table.bits(), self.hash_table.rows());
        let table: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
        let (table, stop) = (hash(&table), hash(&self.stop_words.join(&b'\n')));
        let words = rows.len();
        format!(
            "simhash{bits}/table={table:016x}/ascii-letters/most-frequent={words}/weight=tf/\
             stop={stop:016x}"
        )
    }
}

/// Which of several near-duplicates is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The first in reading order.
    First,
    /// The last in reading order.
    Last,
    /// The one with most bytes of text; of equals the first.
    Longest,
    /// The one with the greatest value of the field that the reader gives; of equals the first.
    FieldMax,
    /// The one with the smallest value of that field; of equals the first.
    FieldMin,
}

/// What may be removed for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterRule {
    /// A document is removed only for a kept one that is close to it.
    Proven,
    /// Whatever a chain of close documents links is one cluster, of which one is kept.
    Components,
}

/// Settings of [`deduplicate()`](super::deduplicate()).
#[derive(Clone, Debug)]
pub struct DeduplicateConfig {
    /// Which documents are near-duplicates.
    pub method: Method,
    /// What a term is.
    pub shingle: Shingle,
    /// Which of several is kept.
    pub keep: Keep,
    /// What may be removed for what.
    pub clusters: ClusterRule,
    /// Memory for the join, in bytes; with less it reads the collection more often, or uses
    /// temporary files.
    pub memory_bytes: u64,
    /// Where temporary files go.
    pub temporary_folder: PathBuf,
    /// Worker threads, at least 1.
    pub threads: usize,
    /// The instruction set of the hot loops. It never changes a result.
    pub isa: Isa,
}

impl DeduplicateConfig {
    /// What the greatest distance means, for a person, if the method has distances.
    #[must_use]
    pub fn distance_means(&self) -> Option<String> {
        let Method::Simhash { features, max_distance, .. } = &self.method else { return None };
        let bits = features.bits();
        Some(match features {
            Features::Shingles(_) => format!(
                "Documents at distance {max_distance} of {bits} bits have on average a Jaccard \
                 similarity of {:.3}, if they have equally many shingles.",
                similarity_at(*max_distance, bits)
            ),
            Features::Words(words) => format!(
                "Documents at distance {max_distance} of {bits} bits have on average a cosine of \
                 {:.3} between their counts of the {} most frequent words.",
                cosine_at(*max_distance, bits),
                words.hash_table.rows().len()
            ),
        })
    }

    /// What makes terms and fingerprints comparable with those of other runs.
    #[must_use]
    pub fn recipe(&self) -> String {
        let shingle = self.shingle;
        match &self.method {
            Method::Exact(_) => format!("jaccard/{}", shingle.recipe()),
            Method::Simhash { features: Features::Shingles(bits), .. } => {
                FingerprintRecipe { shingle, bits: *bits }.to_string()
            }
            Method::Simhash { features: Features::Words(words), .. } => words.recipe(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shingles_are_read_as_they_are_shown() {
        for text in ["words:3", "chars:5", "words:100"] {
            assert_eq!(text.parse::<Shingle>().unwrap().to_string(), text);
        }
        for text in ["words", "words:0", "lines:3", "chars:101", "words:-1", ""] {
            assert!(text.parse::<Shingle>().is_err(), "{text}");
        }
    }
}
