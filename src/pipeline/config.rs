//! Settings of runs as plain data, and how they are parsed from named options.

use super::boilerplate_rule::Boilerplate;
use super::date_value::date_value;
use crate::method::Method;
use simtool_base::error::{Error, Result};
use simtool_base::options::{Choice, Options};
use simtool_compute::resources::Resources;
use simtool_fingerprint::hash_table::HashTable;
use simtool_kernels::Isa;
use simtool_model::field_value::FieldValue;
use std::cmp::Ordering;

/// Settings of [`match_queries`](super::match_queries()), which does the work of the command `simtool N M`.
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// Words in lower case that are never used as features.
    pub stop_words: Vec<Vec<u8>>,
    /// Table with one row of random bits for each feature. It sets the number of features and the number of
    /// bits of the fingerprints.
    pub hash_table: HashTable,
    /// Maximum number of bits in which the fingerprint of a match may differ from the fingerprint of the
    /// query.
    pub max_distance: u32,
    /// Number of threads, at least 1.
    pub threads: usize,
    /// Instruction set of the hot loops. It changes the speed but never the result.
    pub isa: Isa,
}

/// Rule for choosing which document of several near-duplicates is kept.
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
    /// The first document in reading order.
    #[default]
    First,
    /// The last document in reading order.
    Last,
    /// The document with the most bytes of text. If several are equally long, the first one of them.
    Longest,
    /// The document with the greatest value of the field that the option `keep_field` names. If several have
    /// this value, the first one of them.
    FieldMax,
    /// The document with the smallest value of the field that the option `keep_field` names. If several have
    /// this value, the first one of them.
    FieldMin,
    /// The document with the latest date. The option `keep_field` names the field of the date. For files, the
    /// usual fields of dates are read without this option. If several have this date, the first one of them.
    Newest,
    /// The document with the earliest date. Everything else is like [`Self::Newest`].
    Oldest,
}

impl Choice for Keep {
    const ALL: &'static [Self] = &[
        Self::First,
        Self::Last,
        Self::Longest,
        Self::Newest,
        Self::Oldest,
        Self::FieldMax,
        Self::FieldMin,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Longest => "longest",
            Self::FieldMax => "max",
            Self::FieldMin => "min",
            Self::Newest => "newest",
            Self::Oldest => "oldest",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::First => "The first in reading order",
            Self::Last => "The last in reading order",
            Self::Longest => "The one with most bytes of text",
            Self::FieldMax => "The one with the greatest value of `keep_field`",
            Self::FieldMin => "The one with the smallest value of `keep_field`",
            Self::Newest => {
                "The one with the latest date, in `keep_field` or a usual field of dates"
            }
            Self::Oldest => "The one with the earliest date",
        }
    }
}

impl Keep {
    /// Returns whether this rule compares the values of a field of the documents.
    #[must_use]
    pub(crate) fn is_by_field(self) -> bool {
        matches!(self, Self::FieldMax | Self::FieldMin) || self.is_by_date()
    }

    /// Returns whether this rule compares the dates of the documents.
    #[must_use]
    pub(crate) fn is_by_date(self) -> bool {
        matches!(self, Self::Newest | Self::Oldest)
    }

    /// Parses the bytes of the field that this rule compares. `None` means that the document lacks the field.
    #[must_use]
    pub fn value(self, bytes: Option<&[u8]>) -> FieldValue {
        if self.is_by_date() { date_value(bytes) } else { FieldValue::parse(bytes) }
    }

    /// Compares the field values of two documents. `Less` means that the first document is preferred.
    pub(super) fn compare(self, a: &FieldValue, b: &FieldValue) -> Ordering {
        match self {
            // A document without the value comes last, whether great or small values are preferred.
            Self::FieldMax | Self::Newest => a.compare_greatest_first(b),
            Self::FieldMin | Self::Oldest => a.compare(b),
            Self::First | Self::Last | Self::Longest => Ordering::Equal,
        }
    }

    /// Converts the field value of a document to bytes that sort in the order of preference. Of several
    /// near-duplicates, the document with the smallest bytes is kept. With these bytes, other engines such as
    /// Spark can apply this rule.
    #[must_use]
    pub fn ordered_bytes(self, value: &FieldValue) -> Vec<u8> {
        let mut bytes = value.to_ordered_bytes();
        // Complemented bytes sort in the opposite order. The first byte is the kind of the value: numbers
        // come before text, and text before missing values, in either direction.
        if matches!(self, Self::FieldMax | Self::Newest) {
            for byte in &mut bytes[1..] {
                *byte = !*byte;
            }
        }
        bytes
    }

    /// Checks the field for documents in files, in which the field of the date is found if none is given.
    ///
    /// # Errors
    ///
    /// A field is given but not needed, or needed but not given.
    pub(crate) fn check_field_of_files(self, is_given: bool) -> Result<()> {
        if self.is_by_date() { Ok(()) } else { self.check_field(is_given) }
    }

    /// Checks that a field is given if the rule compares a field, and that no field is given for other rules.
    ///
    /// # Errors
    ///
    /// A field is given but not needed, or needed but not given.
    pub fn check_field(self, is_given: bool) -> Result<()> {
        if self.is_by_field() == is_given {
            return Ok(());
        }
        let rule = if self.is_by_date() {
            "`keep` newest and `keep` oldest need the dates in `keep_field` here"
        } else {
            "`keep` max and `keep` min go with `keep_field`, and it with one of them"
        };
        Err(Error::config("keep", self.name(), rule))
    }
}

/// Rule for when a document may be removed because of another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterRule {
    /// A document is removed only if it is itself close to the kept document that replaces it.
    #[default]
    Proven,
    /// All documents that a chain of close documents links form one cluster. One document of each cluster is
    /// kept.
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
            Self::Proven => "Documents that are close to a kept document",
            Self::Components => {
                "All but one of the documents that a chain of close documents links"
            }
        }
    }
}

/// Settings of a run that finds near-duplicates. [`Plan`](super::Plan) checks that the settings fit together.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The method that decides which documents are near-duplicates.
    pub method: Method,
    /// Rule for choosing which document of several near-duplicates is kept.
    pub keep: Keep,
    /// Rule for when a document may be removed because of another one.
    pub clusters: ClusterRule,
    /// Whether some pairs may be missing from the result if the memory is too small for all pairs, or if
    /// there are many millions. Missing pairs never change which documents are removed, nor the kept
    /// documents that replace them.
    pub may_leave_pairs_out: bool,
    /// Lines that are left out of the comparison, unless fewer than 50 words would remain. In a match, the
    /// documents of the corpus are counted. `None` if whole texts are compared.
    pub boilerplate: Option<Boilerplate>,
    /// Threads, memory and instruction set of the run.
    pub resources: Resources,
}

impl Config {
    /// Parses all `options`: the options of [`Self::parse_without_method`] and the options of the
    /// [method](Method::parse_all).
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
    /// A value is out of its range, or the name of an option is unknown.
    pub fn parse(options: &mut Options) -> Result<Self> {
        // The method goes last, because it rejects every option that is left.
        let settings = Self::parse_without_method(options)?;
        Ok(Self { method: Method::parse_all(options)?, ..settings })
    }

    /// Parses all settings except the method, which stays the default method. Takes `keep`, `cluster`,
    /// `boilerplate` and the options of [`Resources::parse`] out of `options`, and leaves the other options there.
    ///
    /// # Errors
    ///
    /// A value is out of its range.
    pub fn parse_without_method(options: &mut Options) -> Result<Self> {
        Ok(Self {
            method: Method::default(),
            keep: options.take_choice("keep")?.unwrap_or_default(),
            clusters: options.take_choice("cluster")?.unwrap_or_default(),
            may_leave_pairs_out: false,
            boilerplate: Boilerplate::parse(options)?,
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
        greatest[..3].reverse();
        greatest[3..5].reverse();
        assert_eq!(order(Keep::FieldMax), greatest);
        let bytes = |keep: Keep, date: &str| keep.ordered_bytes(&keep.value(Some(date.as_bytes())));
        let [old, new] = ["Fri, 02 Jan 2026 03:04:05 GMT", "2026-05-01"];
        assert!(bytes(Keep::Newest, new) < bytes(Keep::Newest, old));
        assert!(bytes(Keep::Oldest, old) < bytes(Keep::Oldest, new));
        assert!(bytes(Keep::Newest, new) < bytes(Keep::Newest, "soon"));
    }

    #[test]
    fn wrong_options_are_named_in_errors() {
        for (options, message) in [
            (
                "keep=second",
                "keep second: must be one of first, last, longest, newest, oldest, max, min",
            ),
            ("cluster=all", "cluster all: must be one of proven, components"),
            ("boilerplate=1", "boilerplate 1: must be a number of documents of at least 2, "),
            ("boilerplate=many", "boilerplate many: must be a number of documents of at least 2, "),
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
