//! Methods: settings that decide which pairs of documents are near-duplicates.
//!
//! A [`Method`] consists of a [`Recipe`], which turns documents into sets or fingerprints, and a limit for
//! their similarity or distance. [`Method::parse`] creates a method from [`Options`], and
//! [`Method::parameters`] returns these options again. So the command line, reports, summaries and stored
//! files use the same names. Each component parses its own options: [`Terms`] the options of terms, and each
//! kind of fingerprint the options of this kind.

mod criterion;
mod document_terms;
mod fitted;
mod learn;
mod own_settings;
mod parts;
pub mod presets;
mod recipe;
mod stop_word_lists;
mod terms;
mod text_memory;

pub use criterion::Criterion;
pub(crate) use document_terms::{DocumentTerms, TermScratch};
pub use fitted::Fitted;
pub(crate) use learn::most_frequent;
pub(crate) use learn::{InFile, TermCount};
pub use parts::{PartCounter, PartCounts};
pub use recipe::Recipe;
pub(crate) use recipe::{RowMaker, RowScratch};
pub(crate) use stop_word_lists::{names_file, read_stop_words};
pub use terms::Terms;
pub(crate) use text_memory::TextMemory;

use criterion::{limit, lower};
use own_settings::{COVERED, EXACT, VERIFY_WEIGHT, of_method, settings_of_fingerprints};
pub(crate) use own_settings::{OF_FINGERPRINTS, OF_METHODS, OF_TERMS, settings_of_exact};
pub use own_settings::{has_setting, own_settings};
use simtool_base::error::{Error, Result};
use simtool_base::options::{Options, as_member};
use simtool_fingerprint::hash_table::HashTable;
use simtool_fingerprint::{SKETCHES, Sketch, SketchKind};
use simtool_hamming::layout::Layout;
use simtool_model::similarity::Threshold;
use simtool_terms::extract::weighting::Weighting;
use simtool_terms::extract::weights::WeightKind;
use simtool_terms::tokenize::stop_words;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Default of the option `bits` when the option `words` is given: the number of bits of a fingerprint that is
/// made from the most frequent words.
const WORD_BITS: usize = 64;

/// Definition of near-duplicates: the rules by which documents are compared, and the limit on their
/// similarity or distance.
///
/// ```
/// use simtool::method::Method;
///
/// let method: Method = "simhash:bits=128,max_distance=6".parse()?;
/// assert_eq!(method.to_string(), "simhash:bits=128,max_distance=6,shingle=words:3");
/// # Ok::<(), simtool::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Method {
    name: &'static str,
    recipe: Recipe,
    close: Criterion,
    recall: Option<Threshold>,
    verify: Option<Threshold>,
    /// Terms in the sets that are compared by similarity, either directly or when candidate pairs are verified.
    compared: Terms,
}

impl Default for Method {
    /// Returns the method that finds pairs with a Jaccard similarity of at least 0.8 between their
    /// sets of three-word shingles.
    fn default() -> Self {
        Self::exact(Terms::default(), Threshold::DEFAULT)
    }
}

impl Method {
    /// Name of the method that is used if the user names no method.
    pub(crate) const DEFAULT: &str = EXACT;

    /// Creates the method that finds all pairs of documents whose sets of terms have at least this
    /// similarity. `terms` defines the kind and the weights of the terms. With the weight `idf`, rare terms
    /// count more. Otherwise all terms count the same.
    #[must_use]
    pub fn exact(terms: Terms, similarity: Threshold) -> Self {
        Self {
            name: Self::DEFAULT,
            recipe: Recipe::sets(terms.clone()),
            close: Criterion::Similarity(similarity),
            recall: None,
            verify: None,
            compared: terms,
        }
    }

    /// Creates the method that finds documents whose words are all in other documents. `terms` defines the sequences of
    /// words that must be in the other documents.
    fn covered(terms: Terms) -> Self {
        Self { name: COVERED, close: Criterion::Coverage, ..Self::exact(terms, Threshold::DEFAULT) }
    }

    /// Creates the method called `name`, for example `exact` or `simhash`. Takes the settings of the method
    /// out of `options` and leaves the other options there.
    ///
    /// - All methods take `shingle`, `stop_words` and the options of [`TextRules`](simtool_terms::text_rules::TextRules).
    /// - `exact` takes `similarity` and `weight`. `covered` takes nothing else.
    /// - Methods with fingerprints take `max_distance`, `recall`, `verify`, `verify_weight`,
    ///   `weight`, `top`, `idf_band` and the options of their kind in [`SKETCHES`].
    /// - `words=N` uses the N most frequent words of the collection instead of shingles, with the built-in
    ///   hash table and stop words.
    ///
    /// # Errors
    ///
    /// There is no such method, or a value is outside its range.
    pub fn parse(name: &str, options: &mut Options) -> Result<Self> {
        Self::parse_settings(name, options).map_err(|error| of_method(name, error))
    }

    fn parse_settings(name: &str, options: &mut Options) -> Result<Self> {
        if name == Self::DEFAULT {
            let similarity = options.take("similarity");
            let similarity = similarity.map(|text| Threshold::parse_measured("similarity", &text));
            let similarity = similarity.transpose()?.unwrap_or(Threshold::DEFAULT);
            let weighting = Weighting::parse_for_sets("weight", options)?;
            return Ok(Self::exact(Terms::parse(options)?.weighted(weighting), similarity));
        }
        if name == COVERED {
            // Shorter sequences of words are in so many texts that they would cover a text although nobody copied it.
            options.complete(&[("shingle", "words:8")]);
            return Ok(Self::covered(Terms::parse(options)?));
        }
        let Some(kind) = SKETCHES.iter().find(|kind| kind.name == name) else {
            let names: Vec<_> = Self::kinds().map(|(name, _)| name).collect();
            let rule = format!("must be one of {}", names.join(", "));
            return Err(Error::config("method", name, rule));
        };
        if let Some(words) = options.take_parsed("words", "must be a whole number")? {
            let bits = options.take_parsed("bits", "must be a whole number")?;
            let table = HashTable::built_in(words, bits.unwrap_or(WORD_BITS))?;
            let stop_words = stop_words::parse(stop_words::ENGLISH.as_bytes()).collect();
            return Self::frequent_words(table, stop_words, options);
        }
        // Defaults of the kind of fingerprint are set before the general defaults, because some fingerprints need other
        // terms.
        options.complete(kind.defaults);
        let compared = Terms::parse(options)?;
        let sketch = (kind.parse)(options)?;
        // If a kind ignores weights, its option `weight` stays in `options`, so that it is rejected later.
        let is_weighted = kind.has_option("weight");
        let weight = if is_weighted { WeightKind::parse(options)? } else { WeightKind::DEFAULT };
        let terms = compared.clone().weighted(Weighting::parse(weight, options)?);
        Self::from_rows(kind.name, Recipe::rows(terms, sketch), compared, options)
    }

    /// Creates the method that the option `method` names, or `exact` if the option is missing. The value of
    /// the option is a name, or a name with settings after a colon, such as `simhash:bits=128`. All of
    /// `options` must belong to the method.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`Self::parse`]. It is also an error if an option does not belong to the
    /// method, or if an option is given twice.
    pub fn parse_all(options: &mut Options) -> Result<Self> {
        let name = Self::take_name(options)?;
        Self::parse_whole(name.as_deref().unwrap_or(Self::DEFAULT), options)
    }

    /// Takes the option `method` out of `options`, and adds the settings after its colon to `options`. Returns the name
    /// of the method, if one is given.
    ///
    /// # Errors
    ///
    /// A setting is not written as `NAME=VALUE`, or it is given twice.
    pub(crate) fn take_name(options: &mut Options) -> Result<Option<String>> {
        // Settings after the colon are added to all others, so that each is parsed by the component that it belongs to.
        let Some(method) = options.take("method") else { return Ok(None) };
        let (name, own) = method.split_once(':').unwrap_or((&method, ""));
        options.add(own)?;
        Ok(Some(name.to_owned()))
    }

    /// Creates the method `name` from `options`, which must have no other options than those of the method.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`Self::parse_all`].
    pub(crate) fn parse_whole(name: &str, options: &mut Options) -> Result<Self> {
        let method = Self::parse(name, options)?;
        match options.first() {
            // An option that is left over is a mistake, for example a misspelled name, and must not
            // be ignored.
            Some((option, value)) => Err(method.refusal(option, &value)),
            None => Ok(method),
        }
    }

    /// Creates the method of `simtool N M`, which compares fingerprints of the most frequent words. `table`
    /// has N rows, one for each word, and M bits per row. Takes `max_distance`, `verify` and, for verifying,
    /// `shingle` out of `options`.
    ///
    /// # Errors
    ///
    /// A value is outside its range.
    pub(crate) fn frequent_words(
        table: HashTable,
        stop_words: Vec<Vec<u8>>,
        options: &mut Options,
    ) -> Result<Self> {
        let terms =
            Terms::MostFrequent { count: table.rows().len(), stop_words: stop_words.into() };
        // The caller passes the stop words, so a second list from an option would contradict them. Words of the
        // reference are runs of letters in the unchanged text.
        for name in ["stop_words", "ignore", "fold"] {
            if let Some(given) = options.take(name) {
                return Err(Error::config(name, given, format!("cannot be used with {terms}")));
            }
        }
        let compared = Terms::parse(options)?;
        Self::from_rows("simhash", Recipe::rows(terms, Arc::new(table)), compared, options)
    }

    /// Creates a method with fingerprints of a kind that is not built in: `sketch` makes them from `terms`.
    /// Takes `max_distance`, `recall`, `verify` and `verify_weight` out of `options`.
    ///
    /// # Errors
    ///
    /// A value is outside its range.
    pub fn from_sketch(
        name: &'static str,
        terms: Terms,
        sketch: Arc<dyn Sketch>,
        options: &mut Options,
    ) -> Result<Self> {
        Self::from_rows(name, Recipe::rows(terms.clone(), sketch), terms, options)
    }

    fn from_rows(
        name: &'static str,
        recipe: Recipe,
        compared: Terms,
        options: &mut Options,
    ) -> Result<Self> {
        let distance = recipe.sketch().map_or(Ok(0), |sketch| limit(sketch, options))?;
        let recall = options.take("recall").map(|text| Threshold::parse("recall", &text));
        let verify = options.take("verify").map(|text| Threshold::parse_measured("verify", &text));
        let (close, recall, verify) =
            (Criterion::Distance(distance), recall.transpose()?, verify.transpose()?);
        // Without `verify`, no sets are compared, and `verify_weight` would silently have no effect.
        if verify.is_none()
            && let Some(weight) = options.take(VERIFY_WEIGHT)
        {
            return Err(Error::config(VERIFY_WEIGHT, weight, "needs `verify`"));
        }
        let compared = compared.weighted(Weighting::parse_for_sets(VERIFY_WEIGHT, options)?);
        Ok(Self { name, recipe, close, recall, verify, compared })
    }

    /// Returns the name and the help text of every method.
    pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
        let exact = "All pairs whose sets of shingles have at least `similarity`, by Jaccard or another \
                     measure. Needs one to five bytes of memory per word, or reads the input more often";
        let covered = "Documents whose words are all in one or several kept documents, except for those that --lose \
                       allows. A word is there if a run of words around it is (by --shingle, 8 words)";
        [(Self::DEFAULT, exact), (COVERED, covered)]
            .into_iter()
            .chain(SKETCHES.iter().map(|kind| (kind.name, kind.help)))
    }

    /// Returns the error for an option that the method does not have. `option` is the name of the option, and `value`
    /// its value.
    #[must_use]
    pub(crate) fn refusal(&self, option: &str, value: &str) -> Error {
        let is_of_rows = settings_of_fingerprints().any(|known| known == option);
        let is_of_exact = settings_of_exact().any(|known| known == option);
        let exact = is_of_exact.then_some(Self::DEFAULT);
        let takes = |kind: &&SketchKind| is_of_rows || kind.has_option(option);
        let sketches = SKETCHES.iter().filter(takes).map(|kind| kind.name);
        let methods: Vec<_> = exact.into_iter().chain(sketches).collect();
        let known = settings_of_exact().chain(settings_of_fingerprints());
        let mut known = known.chain(SKETCHES.iter().flat_map(SketchKind::option_names));
        // An option that exists elsewhere gets a message with the methods that take it.
        match known.find(|known| *known == option) {
            Some(field) if methods.contains(&self.name) => {
                let rule = format!("cannot be used with {}", self.recipe.terms());
                of_method(self.name, Error::config(field, value, rule))
            }
            Some(field) => {
                let rule = format!("works only with `method` {}", methods.join(", "));
                of_method(self.name, Error::config(field, value, rule))
            }
            None => {
                let rule = format!("{} has no such option", self.name);
                Error::config("options", format!("{option}={value}"), rule)
            }
        }
    }

    /// Returns the name of the method, for example `simhash`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the recipe by which documents become the sets or fingerprints that are compared.
    #[must_use]
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// Returns the same method with other hash functions, which `seed` selects. Returns `None` if the method compares
    /// sets directly and so has no hash functions.
    #[must_use]
    pub(crate) fn with_hash_seed(&self, seed: u64) -> Option<Self> {
        Some(Self { recipe: self.recipe.with_hash_seed(seed)?, ..self.clone() })
    }

    /// Returns whether the method decides by coverage: it looks for the sequences of words of a document in one or
    /// several other documents, and finds no pairs.
    #[must_use]
    pub fn is_coverage(&self) -> bool {
        self.close == Criterion::Coverage
    }

    /// Checks that the method finds pairs of documents. `user` names the part of the program that needs pairs, for the
    /// message.
    ///
    /// # Errors
    ///
    /// The method decides by coverage.
    pub(crate) fn check_pairs(&self, user: &str) -> Result<()> {
        if self.is_coverage() { Err(self.no_pairs(user)) } else { Ok(()) }
    }

    /// Returns the error for a method that finds no pairs, although `user`, a part of the program, needs them.
    pub(crate) fn no_pairs(&self, user: &str) -> Error {
        let rule = format!("finds no pairs, and {user} needs them: choose another method");
        Error::config("method", self.name, rule)
    }

    /// Returns the limit that decides whether two documents are near-duplicates.
    #[must_use]
    pub fn close(&self) -> Criterion {
        self.close
    }

    /// Returns the minimum fraction of the pairs at the maximum distance that the search must find. `None`
    /// means that it must find all pairs.
    #[must_use]
    pub fn recall(&self) -> Option<Threshold> {
        self.recall
    }

    /// Returns the minimum similarity of the sets of terms of two documents with close fingerprints. Returns
    /// `None` if the sets of such documents are not compared.
    #[must_use]
    pub fn verify(&self) -> Option<Threshold> {
        self.verify
    }

    /// Returns the kind of the terms in the sets that are compared by similarity.
    #[must_use]
    pub fn compared(&self) -> &Terms {
        &self.compared
    }

    /// Returns the same method with a minimum similarity of sets that is a twentieth lower, so that it finds more
    /// pairs. The similarity of each pair stays the same. Returns `None` if the method compares no sets, or if no lower
    /// limit has this property.
    #[must_use]
    pub(crate) fn with_lower_similarity(&self) -> Option<Self> {
        match (self.close, self.verify) {
            (Criterion::Similarity(threshold), _) => {
                Some(Self { close: Criterion::Similarity(lower(threshold)?), ..self.clone() })
            }
            (Criterion::Distance(_), Some(threshold)) => {
                Some(Self { verify: Some(lower(threshold)?), ..self.clone() })
            }
            (Criterion::Distance(_), None) | (Criterion::Coverage, _) => None,
        }
    }

    /// Returns all settings as names and values in a fixed order. [`Self::parse`] creates the same method
    /// from these settings if its hash table and stop words are built in.
    #[must_use]
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let mut parameters = Vec::new();
        if let Terms::MostFrequent { count, .. } = self.recipe.terms() {
            parameters.push(("words", count.to_string()));
        }
        parameters.extend(self.recipe.sketch().map_or(Vec::new(), Sketch::parameters));
        parameters.extend(match self.close {
            Criterion::Similarity(threshold) => Some(("similarity", threshold.to_string())),
            Criterion::Distance(distance) => Some(("max_distance", distance.to_string())),
            Criterion::Coverage => None,
        });
        parameters.extend(self.recall.map(|recall| ("recall", recall.to_string())));
        parameters.extend(self.verify.map(|threshold| ("verify", threshold.to_string())));
        if self.verify.is_some() {
            let weight = self.compared.weighting().parameters();
            parameters.extend(weight.into_iter().map(|(_, weight)| (VERIFY_WEIGHT, weight)));
        }
        parameters.extend(self.compared.parameters());
        parameters.extend(self.recipe.terms().weighting().parameters());
        parameters
    }

    /// Returns a sentence for people that explains the maximum distance. Returns `None` if the method
    /// compares sets and not fingerprints.
    #[must_use]
    pub fn distance_means(&self) -> Option<String> {
        let Criterion::Distance(distance) = self.close else { return None };
        let means = self.recipe.sketch()?.meaning(distance, &self.recipe.terms().described());
        Some(match self.recall_means() {
            Some(recall) => format!("{means} {recall}"),
            None => means,
        })
    }

    /// Returns a sentence for people about the pairs that the search may miss. Returns `None` if the search
    /// misses no pairs.
    #[must_use]
    pub(crate) fn recall_means(&self) -> Option<String> {
        let (layout, distance) = self.layout()?;
        Some(format!(
            "The search uses {} LSH bands and misses some pairs: of the pairs at distance {distance}, it \
             finds {:.1} % on average, and more of the nearer ones.",
            layout.masks().len(),
            self.found_share()? * 100.0
        ))
    }

    /// Returns the share of the pairs at the maximum distance that the search finds on average, from 0 to 1. It
    /// finds more of the nearer pairs. Returns `None` if the search misses no pairs.
    #[must_use]
    pub(crate) fn found_share(&self) -> Option<f64> {
        let (layout, distance) = self.layout()?;
        let shape = self.recipe.sketch()?.shape();
        Some(layout.recall(Layout::agreement(shape, distance)))
    }

    /// Returns the LSH bands of the search and the maximum distance. Returns `None` if the search misses no
    /// pairs.
    fn layout(&self) -> Option<(Layout, u32)> {
        let (Criterion::Distance(distance), Some(recall)) = (self.close, self.recall) else {
            return None;
        };
        let shape = self.recipe.sketch()?.shape();
        Some((Layout::with_recall(shape, distance, recall)?, distance))
    }
}

impl fmt::Display for Method {
    /// Writes the method in the form that [`FromStr`] parses, for example
    /// `simhash:bits=64,max_distance=3,shingle=words:3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parameters = self.parameters();
        let parameters =
            parameters.iter().map(|(name, value)| format!("{name}={}", as_member(value)));
        write!(f, "{}:{}", self.name, parameters.collect::<Vec<_>>().join(","))
    }
}

impl FromStr for Method {
    type Err = Error;

    /// Parses a name that may be followed by a colon and options, for example `exact` or
    /// `simhash:bits=128,verify=0.8`.
    fn from_str(text: &str) -> Result<Self> {
        let mut options = Options::new();
        options.set("method", text);
        Self::parse_all(&mut options)
    }
}

#[cfg(test)]
mod tests;
