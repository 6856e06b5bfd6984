//! Finds near-duplicates within one collection or between two, and decides which documents to remove.

use super::config::ClusterRule;
use super::decisions::Decided;
use super::find_close::{FoundClose, find_close};
use super::find_covered::{FoundCovered, find_covered};
use super::kept_terms::costs_at_most;
use super::levels::{FinishedSearch, levels, stricter_levels};
use super::lost_words::{RemovalLosses, removal_losses};
use super::needed_memory::check_removals;
use super::parts::Parts;
use super::plan::{Plan, Task};
use super::shard_summary::CollectionSummary;
use super::timings::Timings;
use super::verify::RowTexts;
use crate::cluster::{Cluster, Removal, clusters, components, keep, keep_several};
use crate::method::{DocumentTerms, Fitted};
use crate::write::summary::LimitLevel;
use simtool_base::error::{Error, Result};
use simtool_base::progress::{Progress, Work};
use simtool_compute::context::Context;
use simtool_coverage::{Coverage, CoveredDocument};
use simtool_model::closeness::Closeness;
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use simtool_model::similarity::Similarity;
use simtool_read::{Corpus, Price};
use simtool_set_join::close::{Close, Neighbourhood};

/// Result of a search for near-duplicates.
#[derive(Clone, Debug)]
pub struct NearDuplicates {
    /// Summary of reading the collection, or one summary each for queries and corpus.
    pub read: Sides<CollectionSummary>,
    /// All pairs of near-duplicates. If
    /// [`Config::may_leave_pairs_out`](super::config::Config::may_leave_pairs_out) is set and the memory is
    /// too small for all pairs, some pairs may be missing. The missing pairs do not affect the removals.
    pub close: Close,
    /// Documents to remove, in reading order.
    ///
    /// * In one collection, these documents are near-duplicates of kept documents.
    /// * Between two collections, these documents are the queries that have a match. Each removal names the
    ///   document of the corpus that is most similar to the query, or the earliest of several equally similar
    ///   documents.
    pub removals: Vec<Removal>,
    /// Words that each removal loses. `None` if they were not counted.
    pub losses: Option<RemovalLosses>,
    /// For each removed document, the kept documents that contain its words. `None` unless the method decides by
    /// coverage.
    pub coverage: Option<Coverage>,
    /// Number of documents that stay only because their removal would lose more words than [`Plan::lose`] allows.
    pub kept_for_words: u64,
    /// Number of decisions of people that were applied, and notes about the decisions that no longer fit. `None` if
    /// there are no decisions.
    pub decided: Option<Decided>,
    /// Limits on the similarity or distance, each with the number of documents that a run with this limit
    /// would remove. The strictest limit comes first, and the limit of the run is last. Stricter limits are
    /// listed only if no pairs are missing in `close`.
    pub levels: Vec<LimitLevel>,
    /// Time that each stage took.
    pub timings: Timings,
    /// Number of bytes of terms that were written to temporary files, so that expensive texts were read only
    /// once.
    pub spooled_bytes: u64,
}

impl NearDuplicates {
    /// Returns the numbers of the kept documents in ascending order. In a match, these are the queries
    /// without a match. Documents are numbered from 0 in reading order.
    pub fn kept(&self) -> impl Iterator<Item = usize> {
        let mut removals = self.removals.iter().map(|removal| removal.row as usize).peekable();
        (0..self.read.first().ids.len()).filter(move |&row| removals.next_if_eq(&row).is_none())
    }

    /// Groups the removed documents by the kept document in whose favour they are removed.
    #[must_use]
    pub fn clusters(&self) -> Vec<Cluster<'_>> {
        clusters(&self.removals)
    }
}

/// Finds all near-duplicates in one collection, or between queries and a corpus (the second side).
/// Decides which documents or queries to remove.
///
/// The result is the same for any number of threads and any instruction set.
///
/// # Errors
///
/// The plan is for one collection but two are given, or the reverse. The threads cannot be started, there are
/// more than 2³² − 1 documents, the memory is too little, a temporary file fails, or `progress` is cancelled.
/// Unreadable records and files are no error but part of the result.
pub fn find_near_duplicates(
    corpora: Sides<&dyn Corpus>,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<NearDuplicates> {
    find_in_context(corpora, plan, None, &Context::new(plan.resources(), progress)?)
}

/// Does the work of [`find_near_duplicates`] with the threads and the memory of a given context. `parts` has the stored
/// data of shards. If it is given, stores there the data that is read of the first collection, and does not read the
/// shards that are stored already.
///
/// # Errors
///
/// Fails in the same cases as [`find_near_duplicates`], except that the threads have already started.
pub(crate) fn find_in_context(
    corpora: Sides<&dyn Corpus>,
    plan: &Plan,
    parts: Option<&Parts<'_>>,
    context: &Context<'_>,
) -> Result<NearDuplicates> {
    if corpora.is_two() != (plan.task() == Task::Match) {
        let rule = "does not fit the task of the plan";
        return Err(Error::config(
            "queries",
            if corpora.is_two() { "given" } else { "none" },
            rule,
        ));
    }
    if let Some(limit) = plan.coverage() {
        return Ok(by_coverage(find_covered(corpora, plan, limit, parts, context)?));
    }
    find_close(corpora, plan, parts, context, |found, corpora| {
        decide(found, corpora, plan, context)
    })
}

/// Creates the result of a run that decides by coverage: it removes documents whose words are in other documents. The
/// result has no pairs.
fn by_coverage(found: FoundCovered) -> NearDuplicates {
    let FoundCovered { read, coverage, timings, spooled_bytes } = found;
    let documents = coverage.documents.iter();
    let removal = |document: &CoveredDocument| {
        let CoveredDocument { row, kept, .. } = *document;
        // Several documents may be kept in its place, so its closeness to this one proves nothing.
        Removal { row, kept, closeness: None }
    };
    let losses = documents.clone().map(|document| (document.row, Some(document.loss)));
    let no_groups = read.as_ref().map(|_| Groups::default());
    NearDuplicates {
        read,
        close: Close::sets(no_groups, Vec::new().into()),
        removals: documents.clone().map(removal).collect(),
        losses: Some(RemovalLosses::new(losses.collect())),
        coverage: Some(coverage),
        kept_for_words: 0,
        decided: None,
        levels: Vec::new(),
        timings,
        spooled_bytes,
    }
}

/// Chooses the documents to remove, given all pairs of near-duplicates. Counts the documents that stricter limits
/// would remove, and the words that each removal loses if the plan wants them. `corpora` have the texts that were
/// compared.
pub(super) fn decide(
    found: FoundClose,
    corpora: Sides<&dyn Corpus>,
    plan: &Plan,
    context: &Context<'_>,
) -> Result<NearDuplicates> {
    let FoundClose { read, close, mut timings, spooled_bytes } = found;
    check_removals(&read, &close, context.memory())?;
    context.progress().begin("clustering", Work::Steps(0));
    // The removals and the stricter levels only read the neighbourhood, so both are computed in parallel.
    let around = Neighbourhood::new(&close);
    let (mut removals, stricter) = context.threads().run(|| {
        let found = FinishedSearch { read: &read, close: &close, around: &around, plan };
        // If pairs are missing, or if words or people refuse removals, the counts for stricter limits would be wrong.
        let is_known = close.is_complete && plan.lose().is_none() && plan.decisions().is_none();
        let stricter = || if is_known { stricter_levels(&found) } else { Vec::new() };
        rayon::join(|| removals(&read, &around, plan), stricter)
    })?;
    let stage = if read.is_two() { "match" } else { "cluster" };
    timings.end(stage);
    let decided = plan
        .decisions()
        .map(|decisions| decisions.apply(&mut removals, *corpora.first(), read.first()));
    let mut losses = None;
    let proposed = removals.len();
    // If common lines are left out, the texts of pages are in a temporary file, which is quick to read again.
    let dearest = if plan.boilerplate().is_some() { Price::Unpacked } else { Price::Cheap };
    if plan.counts_lost_words(corpora.iter().all(|corpus| costs_at_most(*corpus, dearest))) {
        let compared = plan.method().compared();
        let terms = &DocumentTerms::new(compared, &Fitted::Nothing, context.isa());
        let texts = corpora.zip(read.as_ref());
        let texts = texts.map(|(corpus, read)| RowTexts::of(corpus, read, terms, context));
        let found = removal_losses(&texts, &removals, plan, context)?;
        if let Some(lose) = plan.lose() {
            // Texts with the same shingles that differ in symbols, such as +5 and -5, have this similarity. No word is
            // lost, but with a limit of 0 nothing may be lost, so the removed document stays.
            let differs = |removal: &Removal| {
                let similarity = removal.closeness.and_then(Closeness::exact_similarity);
                lose.is_zero() && similarity == Some(Similarity::ALMOST_ONE)
            };
            // A text that cannot be read again may have words of its own, so it stays.
            let is_allowed = |removal: &Removal| {
                !differs(removal) && found.get(removal.row).is_some_and(|lost| lose.allows(lost))
            };
            removals.retain(is_allowed);
        }
        losses = Some(found);
        timings.end("count lost words");
    }
    let levels = levels(plan, stricter, removals.len() as u64);
    let kept_for_words = (proposed - removals.len()) as u64;
    Ok(NearDuplicates {
        read,
        close,
        removals,
        losses,
        coverage: None,
        kept_for_words,
        decided,
        levels,
        timings,
        spooled_bytes,
    })
}

/// Chooses the documents or queries to remove. `around` has, for each document, its near-duplicates.
fn removals(
    read: &Sides<CollectionSummary>,
    around: &Neighbourhood<'_>,
    plan: &Plan,
) -> Vec<Removal> {
    // Queries never remove each other, so for each query only its closest document of the corpus matters.
    let Sides::One(read) = read else { return closest_partners(around) };
    let prefer = |a: u32, b: u32| read.prefer(plan.keep(), a, b);
    let removals = match plan.clusters() {
        ClusterRule::Proven => keep::keep_preferred(around, prefer),
        ClusterRule::Components => components::keep_one_each(around, prefer),
    };
    keep_several(removals, plan.keep_count().0, prefer)
}

/// Returns a removal for each query that has a match. `around` has the matches of each query. The removal names the
/// document of the corpus that is most similar to the query.
fn closest_partners(around: &Neighbourhood<'_>) -> Vec<Removal> {
    let mut removals = Vec::new();
    around.visit_rows(|row, partners| {
        // Comparing the numbers in reverse makes the earlier of two equally similar documents the maximum.
        let closest =
            partners.iter().max_by(|(a, to_a), (b, to_b)| to_a.compare(*to_b).then(b.cmp(a)));
        removals.extend(closest.map(|&(kept, closeness)| Removal {
            row,
            kept,
            closeness: Some(closeness),
        }));
    });
    removals
}
