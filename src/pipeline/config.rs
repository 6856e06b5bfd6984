//! Settings of runs as plain data, and how they are parsed from named options.

use super::boilerplate_rule::Boilerplate;
use super::document_fields::DocumentFields;
use super::keep_order::KeepOrder;
pub use super::keep_rule::Keep;
use super::scope::{Scope, ScopeValue};
use crate::method::Method;
use simtool_base::error::Result;
use simtool_base::options::{Choice, Options};
use simtool_compute::resources::Resources;
use simtool_coverage::LoseLimit;
use simtool_fingerprint::hash_table::HashTable;
use simtool_kernels::Isa;
use std::num::{NonZeroUsize, ParseIntError};
use std::path::PathBuf;
use std::str::FromStr;

/// Settings of [`match_queries`](super::match_queries()), which does the work of the command `simtool N M`: it finds
/// the documents of a corpus that are similar to queries.
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

/// Number of documents of each cluster of near-duplicates that stay: the kept document, and then the documents that
/// come next in the order of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepCount(pub NonZeroUsize);

impl KeepCount {
    /// One document of each cluster is kept.
    pub const ONE: Self = Self(NonZeroUsize::MIN);
}

impl Default for KeepCount {
    fn default() -> Self {
        Self::ONE
    }
}

impl FromStr for KeepCount {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

/// Rule for when a run counts the words that each removal loses. These are the words of the removed document that its
/// kept document lacks. Counting reads both texts once more, unless they are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LostWordCount {
    /// The words are counted only if [`Config::lose`] limits the lost words.
    #[default]
    IfLimited,
    /// The words are counted if [`Config::lose`] limits them, and also if all texts are cheap to read again. Texts are
    /// cheap if they are in uncompressed files and no web pages, or if they are in a temporary file because their
    /// common lines are left out. Counting then takes less than a tenth of the time of the run. For other texts, it
    /// would take up to half of the time.
    IfCheap,
    /// The words are counted whenever the method compares texts.
    Always,
}

/// Rule for when a document may be removed because of another document.
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
    /// Rules for choosing which document of several near-duplicates is kept.
    pub keep: KeepOrder,
    /// Number of documents of each cluster that are kept.
    pub keep_count: KeepCount,
    /// Rule that selects the documents that are compared with each other. `None` if all documents are compared.
    pub scope: Option<Scope>,
    /// Value that names the source of a document, for example the value of a field. Removals are counted for each
    /// source. `None` if the user named no value: then the source is the file.
    pub by: Option<ScopeValue>,
    /// Fields of the documents that `keep`, `scope` and `by` use. Readers must read them in this order.
    pub fields: DocumentFields,
    /// Rule for when a document may be removed because of another document.
    pub clusters: ClusterRule,
    /// Limit on the words that a removal may lose. Documents that would lose more stay. `None` if there is no limit.
    pub lose: Option<LoseLimit>,
    /// File of decisions of people, which overrule the removals of the run. `None` if there is none.
    pub decisions: Option<PathBuf>,
    /// Whether some pairs may be missing from the result if the memory is too small for all pairs, or if
    /// there are many millions. Missing pairs never change which documents are removed, nor the kept
    /// documents that replace them.
    pub may_leave_pairs_out: bool,
    /// Whether the tokens of each document are counted and its exact copies are found, for the output `documents`.
    pub has_text_facts: bool,
    /// Whether no copies of the input are written. Then its records are not hashed. A copy needs these hashes to know that
    /// it has the bytes that were compared.
    pub has_no_copies: bool,
    /// Condition under which the run counts the words that each removal loses.
    pub lost_words: LostWordCount,
    /// Rule for lines that are left out of the comparison, unless fewer than 50 words would remain. If queries are
    /// matched with a corpus, only the documents of the corpus are counted to find common lines. `None` if the user
    /// gave no rule: then whole texts are compared, or web pages by the rule for pages.
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

    /// Parses all settings except the method, which stays the default method. Takes `keep`, `prefer`, `keep_count`,
    /// `within`, `across`, `by`, `cluster`, `lose`, `decisions`, `boilerplate` and the options of [`Resources::parse`]
    /// out of `options`, and leaves the other options there.
    ///
    /// # Errors
    ///
    /// A value is out of its range.
    pub fn parse_without_method(options: &mut Options) -> Result<Self> {
        let mut fields = DocumentFields::default();
        let most = "must be a whole number of at least 1";
        Ok(Self {
            method: Method::default(),
            keep: KeepOrder::parse(options, &mut fields)?,
            keep_count: options.take_parsed("keep_count", most)?.unwrap_or_default(),
            scope: Scope::parse(options, &mut fields)?,
            by: options
                .take("by")
                .map(|name| ScopeValue::parse("by", &name, &mut fields))
                .transpose()?,
            fields,
            clusters: options.take_choice("cluster")?.unwrap_or_default(),
            lose: options.take_parsed("lose", simtool_coverage::RULE)?,
            decisions: options.take_path("decisions"),
            may_leave_pairs_out: false,
            has_text_facts: false,
            has_no_copies: false,
            lost_words: LostWordCount::default(),
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
        assert_eq!(config.keep, Keep::Longest.into());
        assert_eq!((config.keep_count, config.clusters), (KeepCount::ONE, ClusterRule::Components));
        assert_eq!((config.resources.threads, config.resources.memory), (3, 2_000_000_000));
        let method = config.method.to_string();
        assert_eq!(method, "simhash:bits=128,max_distance=5,shingle=words:3");
        let none = Config::parse(&mut Options::new()).unwrap();
        assert_eq!(none.method.name(), "exact");
    }

    #[test]
    fn wrong_options_are_named_in_errors() {
        for (options, message) in [
            (
                "keep=second",
                "keep second: must be one of first, last, longest, newest, oldest, max, min",
            ),
            ("keep_count=0", "keep_count 0: must be a whole number of at least 1"),
            ("within=file,across=a", "across a: does not go with `within`"),
            ("lose=few", "lose few: must be a number of words, such as 3, or a percentage"),
            ("cluster=all", "cluster all: must be one of proven, components"),
            ("boilerplate=1", "boilerplate 1: must be a number of documents of at least 2, "),
            ("boilerplate=many", "boilerplate many: must be a number of documents of at least 2, "),
            ("threads=-1", "threads -1: must be a whole number up to 512; 0 takes all cores"),
            ("max_memory=much", "max_memory much: expected a whole number of bytes"),
            ("method=magic", "method magic: must be one of exact, "),
            ("method=simhash:bits=128,bits=64", "options bits=128: is given twice"),
            ("colour=red", "options colour=red: exact has no such option"),
            ("bits=64", "method exact:bits=64: works only with `method` simhash, minhash"),
        ] {
            let error = Config::parse(&mut Options::parse(options).unwrap()).unwrap_err();
            assert!(error.to_string().starts_with(message), "{error}");
        }
    }
}
