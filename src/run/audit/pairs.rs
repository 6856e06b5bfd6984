//! Decides about the documents of one removal again, by the plan of the run.

use super::covered_words::lost_words;
use super::documents::{FoundDocument, ReadDocuments, Reading};
use super::sampled_rows::Conflicts;
use super::verdict::Verdict;
use crate::method::{Criterion, DocumentTerms, Fitted, Method};
use crate::output::coverage_rows::{NamedPlace, place_of};
use crate::output::finished_rows::RemovedRow;
use crate::pipeline::compare::compare_texts;
use crate::pipeline::config::{ClusterRule, Config, KeepCount, LostWordCount};
use crate::pipeline::held_documents::HeldCorpus;
use crate::pipeline::keep_order::KeepOrder;
use crate::pipeline::near_duplicates::find_in_context;
use crate::pipeline::{Boilerplate, LostWords, Plan, Task};
use crate::run::dedup_request::{Paths, Request};
use crate::run::recorded_request::RecordedRequest;
use crate::write::receipt::Receipt;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::options::Options;
use simtool_base::progress::NoProgress;
use simtool_base::quantity::counted;
use simtool_compute::context::Context;
use simtool_coverage::LoseLimit;
use simtool_model::closeness::Closeness;
use simtool_model::sides::Sides;
use simtool_read::{Corpus, Selector};
use std::collections::BTreeSet;

/// Names of the settings of a run that are left out when single removals are checked. They have no effect on a single
/// removal, or they name files that may no longer exist.
const LEFT_OUT: [&str; 4] = ["decisions", "fail_if", "resume", "shard"];
/// Largest difference at which two similarities count as equal. A decimal number in a row of the output may differ a
/// little from the computed one after it is parsed.
const SAME: f64 = 1e-12;

/// Checks single removals. Carries out the plan of a finished run again, but only on the documents of one removal.
pub(super) struct PairCheck<'c> {
    plan: Plan,
    /// The same plan without the limit of words that a removal may lose. It shows whether a document was kept only
    /// because of this limit. `None` if there is no limit, or if the run decided by coverage, which needs the limit.
    without_limit: Option<Plan>,
    context: Context<'c>,
    fields: Vec<Selector>,
    is_match: bool,
    /// Whether a document may be removed for a kept document that it was not compared with, because other documents
    /// link the two.
    has_chains: bool,
    /// Whether the run applied decisions of people about which document is kept.
    has_decisions: bool,
    boilerplate: Option<Boilerplate>,
    /// Reason why the plan cannot be carried out on a few documents alone, for example because the weights of terms are
    /// learned from all documents. `None` if it can.
    unknown: Option<String>,
    /// Limit of the words that a removal may lose: words of the removed document that no kept document has. `None` if
    /// there is no limit.
    limit: Option<LoseLimit>,
}

/// Result of carrying out the plan on the removed document and the kept documents of one row only.
enum Outcome {
    /// The document is removed. The values are its similarity or distance to the kept document, and the words that its
    /// removal loses.
    Removed(Option<Closeness>, Option<LostWords>),
    /// The kept document is removed instead.
    Swapped,
    /// Both documents stay.
    Kept,
}

impl<'c> PairCheck<'c> {
    /// Creates the check for a run. The plan comes from `recorded`, the request of the run, and from the method in
    /// `receipt`.
    ///
    /// # Errors
    ///
    /// The request or the receipt has a setting that this version does not know.
    pub(super) fn new(
        recorded: &RecordedRequest,
        receipt: &Receipt,
        context: &Context<'c>,
    ) -> Result<Self> {
        let request = request_of(recorded)?;
        let method = method_of(receipt)?;
        let is_match = request.task() == Task::Match;
        let has_decisions = recorded.options.has("decisions");
        let boilerplate = receipt.boilerplate.as_deref().map(str::parse::<Boilerplate>).transpose();
        let boilerplate = boilerplate.map_err(|()| of_receipt("boilerplate"))?;
        let fields = request.field_selectors();
        // A person who swaps two documents changes the kept document of their whole cluster. Other documents of the
        // cluster are then removed for a document that they were not compared with.
        let has_chains = has_decisions || request.config.clusters == ClusterRule::Components;
        // The rules that choose the kept document do not apply if people may choose it, or if the documents of the
        // corpus always stay, as in a match.
        let is_open = is_match || method.is_coverage() || has_decisions;
        let limit = request.config.lose;
        // If no word may be lost, every run of consecutive words must be in a kept document. But the output names only
        // a few kept documents that together have all words. A run that crosses from the words of one of them to the
        // words of the next may be in another document. So the plan allows one lost word, and `other_words` counts the
        // words.
        let loses_nothing = method.is_coverage() && limit.is_some_and(LoseLimit::is_zero);
        let config = Config {
            lose: if loses_nothing { Some(LoseLimit::Words(1)) } else { limit },
            keep: if is_open { KeepOrder::default() } else { request.config.keep },
            keep_count: KeepCount::ONE,
            clusters: ClusterRule::Proven,
            decisions: None,
            may_leave_pairs_out: false,
            lost_words: LostWordCount::Always,
            // The lines that the run left out are already missing in the texts.
            boilerplate: Some(Boilerplate::Nothing),
            method,
            ..request.config
        };
        let method = &config.method;
        let terms = [method.recipe().terms(), method.compared()];
        let unknown = terms.iter().any(|terms| terms.is_learned()).then(|| {
            "its similarity depends on all documents, by the weights or the words of the method"
                .to_owned()
        });
        let task = if is_match || method.is_coverage() { Task::Match } else { Task::Deduplicate };
        // With coverage, the limit itself decides whether a document is removed, so there is no plan without it.
        let without_limit = config
            .lose
            .filter(|_| !method.is_coverage())
            .map(|_| Plan::new(Config { lose: None, ..config.clone() }, task));
        Ok(Self {
            fields,
            has_chains,
            without_limit: without_limit.transpose()?,
            plan: Plan::new(config, task)?,
            context: context.with_progress(&NoProgress),
            is_match,
            has_decisions,
            boilerplate,
            unknown,
            limit,
        })
    }

    pub(super) fn is_match(&self) -> bool {
        self.is_match
    }

    pub(super) fn is_coverage(&self) -> bool {
        self.plan.method().is_coverage()
    }

    /// Returns the settings for reading the documents of removals again.
    pub(super) fn reading(&self) -> Reading<'_> {
        Reading { is_match: self.is_match, boilerplate: self.boilerplate, fields: &self.fields }
    }

    /// Checks `row` of the output, which names a removed document and the document that is kept in its place. `others`
    /// are the kept documents that together have the words of the removed document, if the run decided by coverage.
    /// `documents` has the texts, and `conflicts` the contradictions between rows.
    ///
    /// # Errors
    ///
    /// The memory is too little.
    pub(super) fn verdict(
        &self,
        row: &RemovedRow,
        others: &BTreeSet<NamedPlace>,
        documents: &ReadDocuments<'_>,
        conflicts: &Conflicts,
    ) -> Result<Verdict> {
        let found = documents.removed(&row.removed);
        let found = found.and_then(|removed| Ok((removed, documents.kept(&row.kept)?)));
        let (removed, kept) = match found {
            Ok(found) => found,
            Err(verdict) => return Ok(verdict),
        };
        // Contradictions between rows are faults even if the texts cannot be compared.
        let mut reasons = of_conflicts(row, others, conflicts);
        let mut kept = vec![kept];
        let lost_lines = documents.lost_lines();
        let is_chained = self.has_chains && row.similarity.is_none() && row.distance.is_none();
        if self.is_coverage() {
            let place = place_of(&row.kept);
            if !others.contains(&place) {
                reasons
                    .push("the output coverage has no words of it in the kept document".to_owned());
            }
            for other in others.iter().filter(|other| **other != place) {
                match documents.kept_at(other) {
                    Ok(found) => kept.push(found),
                    Err(verdict) => return Ok(verdict),
                }
            }
        } else if is_chained && lost_lines.is_none() && self.unknown.is_none() {
            let chain =
                "only other documents, or the decision of a person, link it to the kept one";
            return Ok(failed_or(reasons, Verdict::Unchecked(chain.to_owned())));
        }
        if let Some(reason) = lost_lines.or_else(|| self.unknown.clone()) {
            return Ok(failed_or(reasons, Verdict::Unchecked(reason)));
        }
        reasons.extend(self.reasons(row, removed, &kept)?);
        Ok(failed_or(reasons, Verdict::Holds))
    }

    /// Returns the reasons why the texts of the documents contradict `row`. Empty if the texts agree with `row`.
    fn reasons(
        &self,
        row: &RemovedRow,
        removed: FoundDocument<'_>,
        kept: &[FoundDocument<'_>],
    ) -> Result<Vec<String>> {
        // Pages with few lines of their own are compared only if these lines are equal.
        let has_own =
            |kept: &FoundDocument<'_>| kept.document.few_own() == removed.document.few_own();
        if self.boilerplate == Some(Boilerplate::Pages) && !kept.iter().all(has_own) {
            return Ok(vec![
                "the two pages have few lines of their own, and other ones".to_owned(),
            ]);
        }
        // The titles of pages are compared only by methods that compare sets. Fingerprints ignore them.
        let has_other_name =
            |kept: &FoundDocument<'_>| kept.document.name().differs(&removed.document.name());
        let are_sets = matches!(self.plan.method().close(), Criterion::Similarity(_));
        if are_sets && kept.iter().any(has_other_name) {
            return Ok(vec!["the titles of the two pages have no own word in common".to_owned()]);
        }
        match self.outcome(&self.plan, removed, kept)? {
            Outcome::Removed(closeness, lost) => {
                let mut reasons = differences(row, closeness, lost);
                reasons.extend(lost.and_then(|lost| self.other_words(lost, removed, kept)));
                Ok(reasons)
            }
            Outcome::Swapped => {
                Ok(vec!["by the rules that choose the kept document, it would stay".to_owned()])
            }
            Outcome::Kept => Ok(vec![self.why_kept(removed, kept)?]),
        }
    }

    /// Counts, word by word, the words of the removed document that no kept document has. Returns a sentence with this
    /// number if it differs from `lost`, or if the run allows no lost word and there are some. Returns `None`
    /// otherwise, and always if the run did not decide by coverage.
    fn other_words(
        &self,
        lost: LostWords,
        removed: FoundDocument<'_>,
        kept: &[FoundDocument<'_>],
    ) -> Option<String> {
        if !self.is_coverage() {
            return None;
        }
        let terms =
            DocumentTerms::new(self.plan.method().compared(), &Fitted::Nothing, self.context.isa());
        let own = terms.tokens(removed.document.text());
        let kept: Vec<Vec<u64>> =
            kept.iter().map(|kept| terms.tokens(kept.document.text())).collect();
        let found = lost_words(&own, &kept, terms.run_length());
        let is_other =
            found != lost.lost || self.limit.is_some_and(LoseLimit::is_zero) && found > 0;
        let words = counted(found.into(), "word");
        // A text without words is compared as a whole.
        (is_other && !own.is_empty())
            .then(|| format!("{words} of it are in no kept document, compared word by word"))
    }

    /// Returns the reason why, by the settings of the run, the document `removed` would have been kept.
    fn why_kept(&self, removed: FoundDocument<'_>, kept: &[FoundDocument<'_>]) -> Result<String> {
        if let Some(plan) = &self.without_limit
            && let Outcome::Removed(_, lost) = self.outcome(plan, removed, kept)?
        {
            let words =
                lost.map_or_else(|| "words".to_owned(), |lost| counted(lost.lost.into(), "word"));
            return Ok(format!("its removal loses {words}, which is more than the run allows"));
        }
        if self.is_coverage() {
            return Ok("more of its words than the run allows are in none of the kept documents"
                .to_owned());
        }
        // A number shows at a glance how different the texts are.
        let texts = [kept[0].document.text(), removed.document.text()];
        let compared = compare_texts(texts, self.plan.method(), self.context.isa());
        let (shared, all) = (compared.shared, compared.union());
        Ok(format!(
            "the two documents are no near-duplicates by the settings of the run: they share {shared} of {all} shingles"
        ))
    }

    /// Carries out `plan` on the removed document and the kept documents of one row. Returns the decision about the
    /// removed document.
    fn outcome(
        &self,
        plan: &Plan,
        removed: FoundDocument<'_>,
        kept: &[FoundDocument<'_>],
    ) -> Result<Outcome> {
        if plan.task() == Task::Match {
            let mut kept = kept.to_vec();
            kept.sort_by_key(|found| found.place);
            let queries = HeldCorpus::new(vec![(removed.file, removed.document)]);
            let corpus = HeldCorpus::new(kept.iter().map(FoundDocument::with_file).collect());
            return self.decided(plan, Sides::Two(&queries, &corpus), 0);
        }
        let mut pair = [kept[0], removed];
        // With decisions of people, the kept document is first, so that the rules keep it.
        if !self.has_decisions {
            pair.sort_by_key(|found| found.place);
        }
        let row = u32::from(pair[0].place != removed.place);
        let corpus = HeldCorpus::new(pair.iter().map(FoundDocument::with_file).collect());
        self.decided(plan, Sides::One(&corpus), row)
    }

    /// Carries out `plan` on `corpora`, which have only the documents of one removal. `row` is the number, from 0, of
    /// the checked document in the first corpus. Returns the decision about this document.
    fn decided(&self, plan: &Plan, corpora: Sides<&HeldCorpus<'_>>, row: u32) -> Result<Outcome> {
        let corpora = corpora.map(|corpus| corpus as &dyn Corpus);
        let found = find_in_context(corpora, plan, None, &self.context)?;
        Ok(match found.removals.first() {
            None => Outcome::Kept,
            Some(removal) if removal.row == row => {
                let lost = found.losses.as_ref().and_then(|losses| losses.get(row));
                Outcome::Removed(removal.closeness, lost)
            }
            Some(_) => Outcome::Swapped,
        })
    }
}

/// Returns [`Verdict::Fails`] with `reasons`, or `otherwise` if there are no reasons.
fn failed_or(reasons: Vec<String>, otherwise: Verdict) -> Verdict {
    if reasons.is_empty() { otherwise } else { Verdict::Fails(reasons) }
}

/// Returns a sentence for each number in `row` that differs from the number computed from the texts. The numbers are
/// the similarity, the distance and the number of lost words.
fn differences(
    row: &RemovedRow,
    closeness: Option<Closeness>,
    lost: Option<LostWords>,
) -> Vec<String> {
    let mut reasons = Vec::new();
    let similarity = closeness.and_then(Closeness::similarity);
    let is_same = match (similarity, row.similarity) {
        (Some(found), Some(written)) => (found - written).abs() < SAME,
        (found, written) => found == written,
    };
    if !is_same {
        reasons.push(difference("similarity", similarity, row.similarity));
    }
    // Distances are whole numbers, so they are equal or different.
    let distance = closeness.and_then(Closeness::distance).map(u64::from);
    if distance != row.distance {
        reasons.push(difference("distance", distance, row.distance));
    }
    // A run that does not count lost words leaves them out.
    let lost = lost.map(|lost| u64::from(lost.lost));
    if row.lost_words.is_some() && lost.is_some() && lost != row.lost_words {
        reasons.push(difference("number of lost words", lost, row.lost_words));
    }
    reasons
}

/// Returns a sentence which says that `found`, computed from the texts, differs from `written`, the number in the row.
/// `what` names the number, for example `distance`.
fn difference(what: &str, found: Option<impl ToString>, written: Option<impl ToString>) -> String {
    let number = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let (found, written) =
        (number(found.map(|v| v.to_string())), number(written.map(|v| v.to_string())));
    format!("the {what} of the texts is {found}, and the row has {written}")
}

/// Returns a sentence for each contradiction in `conflicts` that concerns `row`: a kept document of the row that
/// another row removes, or a removed document that several rows remove. `others` are the kept documents that together
/// have the words of the removed document, if the run decided by coverage.
fn of_conflicts(
    row: &RemovedRow,
    others: &BTreeSet<NamedPlace>,
    conflicts: &Conflicts,
) -> Vec<String> {
    let mut reasons = Vec::new();
    let own = place_of(&row.kept);
    let kept = others.iter().chain((!others.contains(&own)).then_some(&own));
    for (file, record) in kept.filter(|kept| conflicts.removed.contains(*kept)) {
        reasons.push(format!("the kept document {file}:{record} is removed by another row"));
    }
    if conflicts.repeated.contains(&place_of(&row.removed)) {
        reasons.push("several rows remove it".to_owned());
    }
    reasons
}

/// Parses the request of a run, without the settings in [`LEFT_OUT`], which do not matter for single removals.
pub(super) fn request_of(recorded: &RecordedRequest) -> Result<Request> {
    let mut options = recorded.options.clone();
    for name in LEFT_OUT {
        options.take(name);
    }
    let paths = Paths { corpus: recorded.paths.clone(), queries: recorded.queries.clone() };
    Request::parse_with_words(paths, recorded.words.clone(), options)
}

/// Creates the method from its name and settings in `receipt`. This also works for a run of `simtool N M`: its receipt
/// has N as the setting `words`, which makes the same terms.
pub(super) fn method_of(receipt: &Receipt) -> Result<Method> {
    // A receipt has all settings of the method, so nothing is left to defaults of this version.
    let mut options = Options::new();
    for (name, value) in &receipt.settings {
        options.set(name, value);
    }
    Method::parse_whole(&receipt.method, &mut options)
}

/// Returns the error for a field of a receipt that this version does not know.
fn of_receipt(field: &str) -> Error {
    let what = format!("the {field} of the receipt is not known");
    let reason = "another version of simtool wrote it".to_owned();
    ErrorKind::Missing { what, reason }.into()
}
