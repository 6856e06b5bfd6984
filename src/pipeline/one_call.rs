//! Whole runs in one function call, without reports of progress.

use super::compare::{Comparison, compare_texts};
use super::config::Config;
use super::fingerprint_collection::{
    FingerprintedCollection, WithoutWords, fingerprint_by_fitted, fingerprint_collection,
};
use super::near_duplicates::{NearDuplicates, find_near_duplicates};
use super::plan::{Plan, Task};
use crate::method::Fitted;
use simtool_base::error::Result;
use simtool_base::progress::NoProgress;
use simtool_model::sides::Sides;
use simtool_read::Corpus;

/// Finds all near-duplicates in `corpus`, and decides which documents to remove.
///
/// ```
/// use simtool::{Config, Texts, deduplicate};
///
/// let texts = ["one two three four five", "six seven eight", "One two, three; four five!"];
/// let found = deduplicate(&Texts::of(&texts), &Config::default())?;
/// assert_eq!(found.kept().collect::<Vec<_>>(), [0, 1]);
/// # Ok::<(), simtool::Error>(())
/// ```
///
/// # Errors
///
/// The settings do not fit together. All errors of [`find_near_duplicates`] are also possible.
pub fn deduplicate(corpus: &dyn Corpus, config: &Config) -> Result<NearDuplicates> {
    let plan = Plan::new(config.clone(), Task::Deduplicate)?;
    find_near_duplicates(Sides::One(corpus), &plan, &NoProgress)
}

/// Finds all pairs of near-duplicates between `queries` and `corpus`. For each query with a match, the result
/// names the document of `corpus` that is most similar to the query.
///
/// ```
/// use simtool::{Config, Texts, match_collections};
///
/// let (new, known) = (["one two three four"], ["six seven eight", "one, two, three, four"]);
/// let found = match_collections(&Texts::of(&new), &Texts::of(&known), &Config::default())?;
/// assert_eq!((found.removals[0].row, found.removals[0].kept), (0, 1));
/// # Ok::<(), simtool::Error>(())
/// ```
///
/// # Errors
///
/// Fails in the same cases as [`deduplicate`].
pub fn match_collections(
    queries: &dyn Corpus,
    corpus: &dyn Corpus,
    config: &Config,
) -> Result<NearDuplicates> {
    let plan = Plan::new(config.clone(), Task::Match)?;
    find_near_duplicates(Sides::Two(queries, corpus), &plan, &NoProgress)
}

/// Computes the fingerprints of all documents of `corpus` by the method of `config`.
///
/// ```
/// use simtool::{Config, Method, Texts, fingerprint};
///
/// let method: Method = "simhash:bits=128".parse()?;
/// let config = Config { method, ..Config::default() };
/// let made = fingerprint(&Texts::of(&["one two three four", ""]), &config)?;
/// assert_eq!(made.rows.row(0).map(<[u64]>::len), Some(2));
/// assert_eq!(made.rows.row(1), None);
/// # Ok::<(), simtool::Error>(())
/// ```
///
/// # Errors
///
/// The method of `config` makes no fingerprints. All errors of [`fingerprint_collection`] are also possible.
pub fn fingerprint(corpus: &dyn Corpus, config: &Config) -> Result<FingerprintedCollection> {
    let (recipe, resources) = (config.method.recipe(), &config.resources);
    fingerprint_collection(corpus, recipe, resources, WithoutWords::Allowed, &NoProgress)
}

/// Computes the fingerprints of all documents of `corpus` with `fitted`, the weights or words that were
/// [learned](Fitted) from another collection. For example, `corpus` has documents that arrived later.
/// Fingerprints of both collections can be compared with each other.
///
/// ```
/// use simtool::{Config, Texts, fingerprint, fingerprint_by};
///
/// let config = Config { method: "simhash:words=1000".parse()?, ..Config::default() };
/// let made = fingerprint(&Texts::of(&["rose tulip rose", "iris rose"]), &config)?;
/// let later = fingerprint_by(&Texts::of(&["Rose, iris!"]), &made.fitted, &config)?;
/// assert!(later.rows.has_fingerprint(0));
/// assert_eq!(made.rows.row(1), later.rows.row(0));
/// # Ok::<(), simtool::Error>(())
/// ```
///
/// # Errors
///
/// Fails in the same cases as [`fingerprint`]. It is also an error if `fitted` was learned for another method.
pub fn fingerprint_by(
    corpus: &dyn Corpus,
    fitted: &Fitted,
    config: &Config,
) -> Result<FingerprintedCollection> {
    let (recipe, resources) = (config.method.recipe(), &config.resources);
    fingerprint_by_fitted(corpus, recipe, fitted, resources, &NoProgress)
}

/// Compares two texts by their shingles and fingerprints, which the method of `config` defines.
///
/// ```
/// use simtool::{Config, compare};
///
/// let compared = compare("one two three four", "one two three five", &Config::default());
/// assert_eq!(compared.similarity.map(|s| (s.shared, s.union)), Some((1, 3)));
/// ```
#[must_use]
pub fn compare(left: &str, right: &str, config: &Config) -> Comparison {
    compare_texts([left.as_bytes(), right.as_bytes()], &config.method, config.resources.isa)
}
