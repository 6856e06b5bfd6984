//! What the user asked for, as plain data.

use crate::method::Method;
use simtool_base::error::{Error, Result};
use simtool_base::options::{Choice, Options};
use simtool_compute::resources::Resources;
use simtool_fingerprint::hash_table::HashTable;
use simtool_kernels::Isa;
use simtool_model::field_value::FieldValue;

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
///
/// ```
/// use simtool::{Config, Keep, Texts, deduplicate};
///
/// let texts = Texts::of(&["a b c", "A b c", "a, b, c"]).with_fields(&["9", "10", ""])?;
/// let found = deduplicate(&texts, &Config { keep: Keep::FieldMax, ..Config::default() })?;
/// assert_eq!(found.kept().collect::<Vec<_>>(), [1]);
/// # Ok::<(), simtool::Error>(())
/// ```
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

impl Choice for Keep {
    const ALL: &'static [Self] =
        &[Self::First, Self::Last, Self::Longest, Self::FieldMax, Self::FieldMin];

    fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Longest => "longest",
            Self::FieldMax => "max",
            Self::FieldMin => "min",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::First => "The first in reading order",
            Self::Last => "The last in reading order",
            Self::Longest => "The one with most bytes of text",
            Self::FieldMax => "The one with the greatest value of `keep_field`",
            Self::FieldMin => "The one with the smallest value of `keep_field`",
        }
    }
}

impl Keep {
    /// Whether a field decides.
    #[must_use]
    pub fn is_by_field(self) -> bool {
        matches!(self, Self::FieldMax | Self::FieldMin)
    }

    /// Bytes that are the smaller the sooner a document with this value of the field is kept, where a field
    /// decides: for who chooses elsewhere.
    #[must_use]
    pub fn ordered_bytes(self, value: &FieldValue) -> Vec<u8> {
        let mut bytes = value.to_ordered_bytes();
        // A missing value is last in either direction.
        if self == Self::FieldMax && *value != FieldValue::Missing {
            for byte in &mut bytes {
                *byte = !*byte;
            }
        }
        bytes
    }

    /// Checks that a field is named, or its values are given, just where one decides.
    ///
    /// # Errors
    ///
    /// There is one and none is needed, or the other way round.
    pub fn check_field(self, is_given: bool) -> Result<()> {
        if self.is_by_field() == is_given {
            return Ok(());
        }
        let rule = "`keep` max and `keep` min go with `keep_field`, and it with one of them";
        Err(Error::config("keep", self.name(), rule))
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

impl Choice for ClusterRule {
    const ALL: &'static [Self] = &[Self::Proven, Self::Components];

    fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::Components => "components",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Proven => "What is close to a kept document",
            Self::Components => "All that a chain of close documents links, but one",
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
    /// Whether pairs that decide nothing may be left out of what is found, where all of them are too
    /// many for the memory: which documents are removed, and for which ones, is the same without them.
    pub may_leave_pairs_out: bool,
    /// What the run may use.
    pub resources: Resources,
}

impl Config {
    /// The settings of `options`, all of which it takes: those of [`Self::parse_besides`], and those of
    /// the [method](Method::parse_all).
    ///
    /// ```
    /// use simtool::options::Options;
    /// use simtool::Config;
    ///
    /// let mut options = Options::parse("method=simhash,bits=128,keep=last,threads=2")?;
    /// let config = Config::parse(&mut options)?;
    /// assert_eq!((config.method.name(), config.resources.threads), ("simhash", 2));
    /// # Ok::<(), simtool::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A value is out of its range, or nobody knows the name of an option.
    pub fn parse(options: &mut Options) -> Result<Self> {
        let besides = Self::parse_besides(options)?;
        Ok(Self { method: Method::parse_all(options)?, ..besides })
    }

    /// The settings beside the method, which is the usual one: takes `keep`, `cluster` and what
    /// [`Resources::parse`] takes, and leaves the others.
    ///
    /// # Errors
    ///
    /// A value is out of its range.
    pub fn parse_besides(options: &mut Options) -> Result<Self> {
        Ok(Self {
            method: Method::default(),
            keep: options.take_choice("keep")?.unwrap_or_default(),
            clusters: options.take_choice("cluster")?.unwrap_or_default(),
            may_leave_pairs_out: false,
            resources: Resources::parse(options)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_by_their_names() {
        let options = "keep=longest,method=simhash:bits=128,max-memory=2G,cluster=components,\
                       tmp_dir=/tmp,max_distance=5,threads=3";
        let config = Config::parse(&mut Options::parse(options).unwrap()).unwrap();
        assert_eq!((config.keep, config.clusters), (Keep::Longest, ClusterRule::Components));
        assert_eq!((config.resources.threads, config.resources.memory), (3, 2_000_000_000));
        let method = config.method.to_string();
        assert_eq!(method, "simhash:bits=128,max_distance=5,shingle=words:3");
        let none = Config::parse(&mut Options::new()).unwrap();
        assert_eq!(none.method.name(), "exact");
    }

    #[test]
    fn bytes_order_documents_by_their_fields() {
        let values = [Some("9"), Some("10"), Some("10.5"), Some("a"), Some("ab"), None];
        let order = |keep: Keep| {
            let mut ordered = values;
            ordered.sort_by_key(|value| {
                keep.ordered_bytes(&FieldValue::parse(value.map(str::as_bytes)))
            });
            ordered
        };
        assert_eq!(order(Keep::FieldMin), values);
        let mut greatest = values;
        greatest[..5].reverse();
        assert_eq!(order(Keep::FieldMax), greatest);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (options, message) in [
            ("keep=second", "keep second: must be one of first, last, longest, max, min"),
            ("cluster=all", "cluster all: must be one of proven, components"),
            ("threads=-1", "threads -1: must be a whole number up to 512; 0 takes all cores"),
            ("max_memory=much", "max_memory much: expected a whole number of bytes"),
            ("method=magic", "method magic: must be one of exact, "),
            ("method=simhash:bits=128,bits=64", "options bits=128: is given twice"),
            ("colour=red", "options colour=red: exact has no such option"),
            ("bits=64", "bits 64: works only with `method` simhash, minhash"),
        ] {
            let error = Config::parse(&mut Options::parse(options).unwrap()).unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
        }
    }
}
