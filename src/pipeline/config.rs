//! What the user asked for, as plain data.

use crate::fingerprint::hash_table::HashTable;
use crate::kernels::Isa;

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
