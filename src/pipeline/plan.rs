//! The plan of a run: its settings, after checking that they fit together.

use super::boilerplate_rule::Boilerplate;
use super::config::{ClusterRule, Config, Keep, KeepCount, LostWordCount};
use super::decisions::Decisions;
use super::document_traits::WantedTraits;
use super::keep_order::KeepOrder;
use super::scope::{Relation, Scope, ScopeValue};
use crate::method::{Criterion, Method};
use simtool_base::byte_text::path_text;
use simtool_base::error::{Error, Result};
use simtool_base::options::Choice;
use simtool_base::quantity::bytes;
use simtool_compute::resources::Resources;
use simtool_coverage::LoseLimit;
use simtool_model::similarity::Threshold;
use simtool_set_join::kept_pairs::DecidingRule;
use std::fmt;

/// Limit on the words that a removal by coverage may lose, if the user sets no limit. A few lost words are allowed,
/// because texts often have a number or a date that no other text has.
const LOST_BY_COVERAGE: LoseLimit = LoseLimit::Words(3);

/// Task of a run: to compare one collection with itself, or queries with a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Finds near-duplicates within one collection.
    Deduplicate,
    /// Finds documents of a corpus that are near-duplicates of queries.
    Match,
}

/// Settings of a search for near-duplicates, after checking that they fit together. `Display` describes the
/// steps of the run.
#[derive(Clone, Debug)]
pub struct Plan {
    config: Config,
    task: Task,
    decisions: Option<Decisions>,
}

impl Plan {
    /// Checks that the settings fit together and fit the task.
    ///
    /// # Errors
    ///
    /// The settings contradict each other or the task.
    pub fn new(mut config: Config, task: Task) -> Result<Self> {
        if config.resources.threads == 0 {
            return Err(Error::config("threads", 0, "must be at least 1"));
        }
        if task == Task::Match {
            // These settings choose among documents of one collection. The default values are not
            // an error, because a caller cannot leave them out.
            let (keep, fields) = (&config.keep, &config.fields);
            let chosen = [
                ("prefer", keep.written_values(fields)),
                ("keep", Some(keep.written(fields)).filter(|_| *keep != Keep::First.into())),
                (
                    "keep_count",
                    Some(config.keep_count)
                        .filter(|count| *count != KeepCount::ONE)
                        .map(|count| count.0.to_string()),
                ),
                (
                    "cluster",
                    Some(config.clusters)
                        .filter(|rule| *rule != ClusterRule::Proven)
                        .map(|rule| rule.name().to_owned()),
                ),
            ];
            if let Some((field, given)) =
                chosen.into_iter().find_map(|(field, given)| Some((field, given?)))
            {
                let rule = "chooses among documents of one collection: it does not go with \
                            `queries`";
                return Err(Error::config(field, given, rule));
            }
        }
        // The summary shows the limit that holds, so it is in the settings even if the user left it open.
        if config.method.is_coverage() {
            check_coverage(&config)?;
            config.lose.get_or_insert(LOST_BY_COVERAGE);
        }
        if let Some(lose) = config.lose.filter(|_| !compares_texts(&config.method)) {
            let rule = "compares the texts of removed and kept documents: use `method` exact, or give `verify`";
            return Err(Error::config("lose", lose, rule));
        }
        let decisions = config.decisions.as_deref().map(|path| {
            let rule =
                "overrules the pairs of a deduplication: a match and the method covered have none";
            if task == Task::Match || config.method.is_coverage() {
                return Err(Error::config("decisions", path.display(), rule));
            }
            Decisions::read(path)
        });
        Ok(Self { decisions: decisions.transpose()?, config, task })
    }

    /// Returns the same plan with a minimum similarity that is a twentieth lower, so that it finds more pairs. `None`
    /// if the method compares no sets of terms, or if its minimum similarity cannot be lowered.
    pub(crate) fn with_lower_similarity(&self) -> Option<Self> {
        let method = self.config.method.with_lower_similarity()?;
        Some(Self { config: Config { method, ..self.config.clone() }, ..self.clone() })
    }

    /// Returns whether one collection is compared with itself or queries with a corpus.
    #[must_use]
    pub fn task(&self) -> Task {
        self.task
    }

    /// Returns the method that decides which documents are near-duplicates.
    #[must_use]
    pub fn method(&self) -> &Method {
        &self.config.method
    }

    /// Returns the rules for choosing which document of several near-duplicates is kept.
    #[must_use]
    pub fn keep(&self) -> &KeepOrder {
        &self.config.keep
    }

    /// Returns the number of documents of each cluster that are kept.
    #[must_use]
    pub fn keep_count(&self) -> KeepCount {
        self.config.keep_count
    }

    /// Returns the rule that selects the documents that are compared with each other. `None` if all documents are
    /// compared.
    #[must_use]
    pub fn scope(&self) -> Option<Scope> {
        self.config.scope
    }

    /// Returns how the values of two documents must relate so that the documents are compared. `None` if all
    /// documents are compared.
    pub(crate) fn relation(&self) -> Option<Relation> {
        let by_own_words = self.compares_own_words().then_some(Relation::Within);
        self.scope().map(|scope| scope.relation).or(by_own_words)
    }

    /// Returns the plan with the settings for web pages. Unless the user chose another rule, it leaves out lines that
    /// many pages of a host have. If `is_default_similarity` is true, it has the minimum similarity for pages.
    pub(crate) fn for_pages(mut self, is_default_similarity: bool) -> Self {
        let method = &mut self.config.method;
        if is_default_similarity && matches!(method.close(), Criterion::Similarity(_)) {
            *method = Method::exact(method.compared().clone(), Threshold::DEFAULT_OF_PAGES);
        }
        self.config.boilerplate.get_or_insert(Boilerplate::Pages);
        self
    }

    /// Returns the settings that select the values of documents to collect, such as the values that the option `keep`
    /// compares.
    pub(crate) fn wanted_traits(&self) -> WantedTraits<'_> {
        WantedTraits {
            keep: Some(&self.config.keep),
            scope: self.config.scope,
            source: self.config.by,
            own_words: self.compares_own_words(),
            text_facts: self.config.has_text_facts,
            has_no_copies: self.config.has_no_copies,
        }
    }

    /// Returns whether the run counts the words that each removal loses. `is_cheap` says whether all texts are cheap to
    /// read again.
    pub(crate) fn counts_lost_words(&self, is_cheap: bool) -> bool {
        let is_wanted = match self.config.lost_words {
            LostWordCount::IfLimited => false,
            LostWordCount::IfCheap => is_cheap,
            LostWordCount::Always => true,
        };
        (is_wanted || self.config.lose.is_some()) && compares_texts(&self.config.method)
    }

    /// Returns the same plan, but one that always counts the words that each removal loses.
    pub(crate) fn with_lost_words(self) -> Self {
        Self { config: Config { lost_words: LostWordCount::Always, ..self.config }, ..self }
    }

    /// Returns the value, for example a field, that names the source of a document. Removals are counted for each
    /// source. `None` if the user named no source.
    #[must_use]
    pub(crate) fn source(&self) -> Option<ScopeValue> {
        self.config.by
    }

    /// Returns the limit on the words that a removal may lose. `None` if there is no limit.
    #[must_use]
    pub fn lose(&self) -> Option<LoseLimit> {
        self.config.lose
    }

    /// Returns the decisions of people, which overrule the removals. `None` if there is no file of them.
    pub(crate) fn decisions(&self) -> Option<&Decisions> {
        self.decisions.as_ref()
    }

    /// Returns the name of the file of decisions. `None` if there is none.
    pub(crate) fn decisions_path(&self) -> Option<String> {
        Some(path_text(self.config.decisions.as_deref()?).into_owned())
    }

    /// Returns the limit on the words that a removal may lose, if the method decides by coverage, and otherwise `None`.
    pub(crate) fn coverage(&self) -> Option<LoseLimit> {
        self.lose().filter(|_| self.method().is_coverage())
    }

    /// Returns the rule for when a document may be removed because of another document.
    #[must_use]
    pub fn clusters(&self) -> ClusterRule {
        self.config.clusters
    }

    /// Returns the rule that selects the pairs that decide which documents are removed. All other pairs may be missing
    /// from the result. `None` if no pair may be missing.
    pub(crate) fn deciding_rule(&self) -> Option<DecidingRule> {
        let may_miss = self.config.may_leave_pairs_out && self.task == Task::Deduplicate;
        may_miss.then(|| match self.clusters() {
            ClusterRule::Proven => DecidingRule::ClosestKept,
            ClusterRule::Components => DecidingRule::Component,
        })
    }

    /// Returns the rule for lines that are left out of the comparison. `None` if no lines are left out.
    #[must_use]
    pub fn boilerplate(&self) -> Option<Boilerplate> {
        self.config.boilerplate.filter(|rule| *rule != Boilerplate::Nothing)
    }

    fn compares_own_words(&self) -> bool {
        self.config.boilerplate.is_some_and(Boilerplate::compares_own_words)
    }

    /// Returns the threads, memory and instruction set of the run.
    #[must_use]
    pub fn resources(&self) -> &Resources {
        &self.config.resources
    }

    /// Returns the approximate number of times that the input is read. Reading texts again to verify
    /// candidate pairs is not counted.
    pub(crate) fn readings(&self) -> f64 {
        // A join of sets reads its input two or three times, and learning or counting lines takes one more
        // reading each.
        let counting = if self.boilerplate().is_some() { 1.0 } else { 0.0 };
        counting
            + match self.method().close() {
                Criterion::Similarity(_) if self.method().recipe().terms().is_learned() => 3.5,
                Criterion::Similarity(_) => 2.5,
                Criterion::Distance(_) if self.method().recipe().terms().is_learned() => 2.0,
                Criterion::Distance(_) => 1.0,
                Criterion::Coverage => 2.0,
            }
    }
}

/// Returns whether the method compares the texts of near-duplicates, and not only their fingerprints.
fn compares_texts(method: &Method) -> bool {
    method.verify().is_some()
        || matches!(method.close(), Criterion::Similarity(_) | Criterion::Coverage)
}

/// Checks that the settings fit a method that decides by coverage.
fn check_coverage(config: &Config) -> Result<()> {
    let name = config.method.name();
    if let Some(Scope { relation: Relation::Across, value }) = config.scope {
        // A word that one source loses may be kept in another source, so words would have to be counted for each
        // source.
        let rule = format!(
            "does not go with {name}, which counts runs of all sources together. To remove the documents of one source \
             whose words are in another one, match the one against the other with the same method"
        );
        return Err(Error::config("across", value.written(&config.fields), rule));
    }
    let rule = format!("does not go with {name}, which compares no pairs");
    if config.keep_count != KeepCount::ONE {
        return Err(Error::config("keep_count", config.keep_count.0, rule));
    }
    if config.clusters != ClusterRule::Proven {
        return Err(Error::config("cluster", config.clusters.name(), rule));
    }
    Ok(())
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (method, recipe) = (self.method(), self.method().recipe());
        let (name, terms) = (method.name(), recipe.terms().described());
        let weighed = if recipe.terms().are_weighed_in_sets() { ", weighted by IDF," } else { "" };
        match (method.close(), recipe.sketch()) {
            (Criterion::Distance(distance), Some(sketch)) => {
                let read = if self.readings() > 1.0 { "twice" } else { "once" };
                let verified = if method.verify().is_some() {
                    " Then the texts of the pairs are read again and compared."
                } else {
                    ""
                };
                writeln!(
                    f,
                    "{name}: all pairs of fingerprints of {} of the {terms} that differ in at most \
                     {distance}.\nThe input is read {read}, the fingerprints are joined by the plan \
                     below.{verified}",
                    sketch.shape()
                )?;
            }
            (Criterion::Similarity(threshold), _) => writeln!(
                f,
                "{name}: all pairs of sets of {terms}{weighed} with a {} of at least {}.\nTerms are counted in tables, documents with too many unique ones are \
                 dropped, the rest is joined. Texts that are cheap to read are read two or three times, or more \
                 often if the terms do not fit in memory. Terms of expensive texts are kept in \
                 memory or in a temporary file.",
                threshold.measure().described,
                threshold.number()
            )?,
            (Criterion::Coverage, _) => writeln!(
                f,
                "{name}: documents whose {terms} are in kept documents, one or several.\nThey are counted in tables. \
                 Documents with too many unique words stay. The others are looked at in the order of preference, \
                 from the last one on.",
            )?,
            // No method combines a distance with sets, because sets have no distance.
            (Criterion::Distance(_), None) => {}
        }
        if let Some(Scope { relation, value }) = self.scope() {
            let values = match relation {
                Relation::Within => "the same value",
                Relation::Across => "different values",
            };
            let name = value.written(&self.config.fields);
            writeln!(f, "Only documents with {values} of {name} are compared.")?;
        }
        if self.boilerplate() == Some(Boilerplate::Pages) {
            writeln!(
                f,
                "Pages are compared without the lines that pages of {} or more titles of their host have.\nPages of a host \
                 whose titles have no own word in common are no near-duplicates.",
                Boilerplate::TITLES
            )?;
        }
        if let Some(lose) = self.lose() {
            let words =
                if matches!(lose, LoseLimit::Words(_)) { " words" } else { " of its words" };
            writeln!(f, "A document that would lose more than {lose}{words} is kept.")?;
        }
        if let Some(path) = &self.config.decisions {
            writeln!(f, "The decisions in {} overrule the removals.", path.display())?;
        }
        let Resources { threads, memory, .. } = self.resources();
        let workers = if *threads == 1 { "thread" } else { "threads" };
        match *memory {
            u64::MAX => writeln!(f, "{threads} {workers}, memory without limit."),
            most => writeln!(f, "{threads} {workers}, up to {} of memory.", bytes(most)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::options::Options;

    #[test]
    fn settings_that_do_not_go_together_are_refused() {
        let refused = |config: Config, task| Plan::new(config, task).unwrap_err().to_string();
        let keep = Config { keep: Keep::Last.into(), ..Config::default() };
        let rule = "chooses among documents of one collection: it does not go with `queries`";
        assert_eq!(refused(keep.clone(), Task::Match), format!("keep last: {rule}"));
        assert!(Plan::new(keep, Task::Deduplicate).is_ok());
        for (option, value) in [("keep_count", "2"), ("prefer", "a=b,c"), ("keep", "max:a,last")] {
            let mut options = Options::new();
            options.set(option, value);
            let config = Config::parse(&mut options).unwrap();
            assert_eq!(refused(config, Task::Match), format!("{option} {value}: {rule}"));
        }
        let within = Config::parse(&mut Options::parse("within=file").unwrap()).unwrap();
        assert!(Plan::new(within, Task::Match).is_ok());
        let clusters = Config { clusters: ClusterRule::Components, ..Config::default() };
        assert_eq!(refused(clusters, Task::Match), format!("cluster components: {rule}"));
        let resources = Resources { threads: 0, ..Resources::default() };
        let none = Config { resources, ..Config::default() };
        assert_eq!(refused(none, Task::Deduplicate), "threads 0: must be at least 1");
    }

    #[test]
    fn a_plan_says_what_is_done() {
        let shown = |method: &str| {
            let config = Config { method: method.parse().unwrap(), ..Config::default() };
            Plan::new(config, Task::Deduplicate).unwrap().to_string()
        };
        let simhash = shown("simhash:max_distance=6,verify=0.9");
        assert!(simhash.contains("64 bits of the shingles (words:3)"), "{simhash}");
        assert!(simhash.contains("read once") && simhash.contains("read again"), "{simhash}");
        assert!(shown("simhash:words=100").contains("read twice"));
        assert!(shown("simhash:weight=idf").contains("read twice"));
        assert!(shown("simhash:weight=binary").contains("read once"));
        assert!(
            shown("exact:similarity=4/5").contains("sets of shingles (words:3) with a Jaccard")
        );
        let mut options = Options::new();
        options.set("across", "source");
        let across = Plan::new(Config::parse(&mut options).unwrap(), Task::Deduplicate).unwrap();
        let sentence = "Only documents with different values of source are compared.";
        assert!(across.to_string().contains(sentence), "{across}");
        let weighted = shown("exact:similarity=4/5,weight=idf");
        assert!(
            weighted
                .contains("(words:3), weighted by IDF, with a Jaccard similarity of at least 4/5")
        );
    }
}
