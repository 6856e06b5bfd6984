//! What the user asked for, as plain data.

use super::method::Method;
use crate::fingerprint::hash_table::HashTable;
use crate::kernels::Isa;
use crate::resources::Resources;

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

/// Which of several near-duplicates is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The first in reading order.
    #[default]
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

impl Keep {
    /// The name that options use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Longest => "longest",
            Self::FieldMax => "max",
            Self::FieldMin => "min",
        }
    }

    /// Whether a field decides.
    #[must_use]
    pub fn is_by_field(self) -> bool {
        matches!(self, Self::FieldMax | Self::FieldMin)
    }
}

/// What may be removed for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterRule {
    /// A document is removed only for a kept one that is close to it.
    #[default]
    Proven,
    /// Whatever a chain of close documents links is one cluster, of which one is kept.
    Components,
}

impl ClusterRule {
    /// The name that options use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Components => "components",
        }
    }
}

/// Settings of a search for near-duplicates: checked together by [`Plan`](super::Plan).
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Which documents are near-duplicates.
    pub method: Method,
    /// Which of several is kept.
    pub keep: Keep,
    /// What may be removed for what.
    pub clusters: ClusterRule,
    /// What the run may use.
    pub resources: Resources,
}
