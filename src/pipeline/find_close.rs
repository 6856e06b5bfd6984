//! Finds all pairs of near-duplicates in one collection or between two, by the method of a plan.
//!
//! The module [`near_duplicates`](super::near_duplicates) uses these pairs to choose the documents to remove
//! from one collection, or to find the closest partner of each query.

use super::boilerplate::without_boilerplate;
use super::close_fingerprints::RowJoin;
use super::corpus_terms::CorpusTerms;
use super::deciding_fingerprints::find_deciding;
use super::fingerprint_collection::{CollectionRows, FingerprintedCollection, WithoutWords};
use super::in_turns::InTurns;
use super::kept_documents::KeptDocuments;
use super::kept_terms::{KeptTerms, TermSpace};
use super::near_filter::NearFilter;
use super::parts::{Parts, ShardShare};
use super::plan::Plan;
use super::row_scope::{RowScope, ScopeFilter};
use super::shard_summary::CollectionSummary;
use super::stored_close::{store_close, stored_close};
use super::timings::{StageClock, Timings};
use super::verify::{RowTexts, Verifying, is_better_joined, verify};
use super::watched::Watched;
use crate::method::{Criterion, DocumentTerms, Fitted};
use simtool_base::error::Result;
use simtool_compute::context::Context;
use simtool_model::sides::Sides;
use simtool_model::similarity::{Similarity, Threshold};
use simtool_read::{Corpus, Price};
use simtool_set_join::close::Close;
use simtool_set_join::kept_pairs::MANY_PAIRS;
use simtool_set_join::row_sequences::RowSequences;
use simtool_set_join::{KeptChoice, PairFilter, SetJoin};
use simtool_terms::extract::frequencies::Frequencies;

/// Divisor of the free memory. If texts are compared after the join of fingerprints, the pairs of near fingerprints may
/// take 1/`CANDIDATES_SHARE` of the free memory.
const CANDIDATES_SHARE: u64 = 4;

/// The near-duplicates that were found, and the summaries of the collections that were read.
#[derive(Clone, Debug)]
pub(super) struct FoundClose {
    pub(super) read: Sides<CollectionSummary>,
    pub(super) close: Close,
    pub(super) timings: Timings,
    /// Number of bytes of terms that were written to temporary files.
    pub(super) spooled_bytes: u64,
}

/// Finds all close documents in one collection, or between two, by the method of `plan`. Then calls `then` with these
/// documents and with the collections, and returns the result of `then`. The texts of the collections are then as they
/// were compared, for example without boilerplate.
///
/// # Errors
///
/// There are more than 2³² − 1 documents, the memory is too little, a temporary file fails, or the work is
/// cancelled. It is also an error if `then` fails. Unreadable records and files are no error but part of the result.
pub(super) fn find_close<R>(
    corpora: Sides<&dyn Corpus>,
    plan: &Plan,
    parts: Option<&Parts<'_>>,
    context: &Context<'_>,
    then: impl FnOnce(FoundClose, Sides<&dyn Corpus>) -> Result<R>,
) -> Result<R> {
    with_compared_texts(corpora, plan, context, |corpora, mut timings| {
        let views = corpora.as_ref().map(|corpus| *corpus);
        let run = CloseSearch { corpora: views, plan, parts, context };
        let found = match plan.method().close() {
            Criterion::Similarity(threshold) => run.sets(threshold),
            Criterion::Distance(distance) => run.rows(distance),
            Criterion::Coverage => Err(plan.method().no_pairs("the search")),
        }?;
        timings.extend(&found.timings);
        then(FoundClose { timings, ..found }, corpora)
    })
}

/// Prepares the texts of collections for comparing: leaves out boilerplate if the plan wants that. Then calls `then`
/// with the prepared collections and the time that preparing them took, and returns its result.
///
/// # Errors
///
/// A collection cannot be read, the memory is too little, or `then` fails.
pub(super) fn with_compared_texts<R>(
    corpora: Sides<&dyn Corpus>,
    plan: &Plan,
    context: &Context<'_>,
    then: impl FnOnce(Sides<&dyn Corpus>, Timings) -> Result<R>,
) -> Result<R> {
    let kept = KeptDocuments::of_each(corpora, plan.boilerplate().is_some(), context);
    let watched = kept.as_ref().map(|corpus| Watched { corpus, progress: context.progress() });
    let terms = plan.method().recipe().terms();
    let in_turns = watched.as_ref().map(|corpus| InTurns::new(corpus, terms, context));
    let corpora = in_turns.as_ref().map(|corpus| corpus as &dyn Corpus);
    let mut timings = Timings::start();
    without_boilerplate(corpora, plan.boilerplate(), context, |corpora| {
        if plan.boilerplate().is_some() {
            timings.end("count lines");
        }
        then(corpora, timings)
    })
}

/// Reads the shards of `share`, and stores their summaries and the fingerprints or terms of their documents in `parts`.
/// So a later [`find_close`] need not read these shards. `plan` must not use weights, words or lines that are learned
/// from all documents.
///
/// # Errors
///
/// The collection cannot be read, a shard cannot be stored, or the work is cancelled.
pub(crate) fn store_shards(
    corpus: &dyn Corpus,
    plan: &Plan,
    parts: &Parts<'_>,
    share: ShardShare,
    context: &Context<'_>,
) -> Result<()> {
    let watched = &Watched { corpus, progress: context.progress() };
    let corpus = &InTurns::new(watched, plan.method().recipe().terms(), context);
    let run = CloseSearch {
        corpora: Sides::One(corpus as &dyn Corpus),
        plan,
        parts: Some(parts),
        context,
    };
    match plan.method().close() {
        Criterion::Similarity(_) | Criterion::Coverage => {
            run.fill_sets(&run.terms(&Fitted::Nothing)?, Some(share), context)
        }
        Criterion::Distance(_) => {
            let recipe = plan.method().recipe();
            let fitted = &Fitted::learn(recipe.terms(), corpus, context)?;
            let compared = run.verified_terms();
            run.row_settings(fitted, compared.as_ref()).fill(corpus, parts, Some(share))
        }
    }
}

struct CloseSearch<'r> {
    corpora: Sides<&'r dyn Corpus>,
    plan: &'r Plan,
    /// Fingerprints or terms of shards of the first collection that are stored on disk. `None` if the run stores
    /// nothing.
    parts: Option<&'r Parts<'r>>,
    context: &'r Context<'r>,
}

impl CloseSearch<'_> {
    /// Finds the pairs of documents whose sets of terms have a similarity of at least `threshold`, without
    /// fingerprints.
    fn sets(&self, threshold: Threshold) -> Result<FoundClose> {
        let clock = StageClock::start(self.context.progress());
        let terms = self.terms(&Fitted::Nothing)?;
        let context = self.context.with_progress(&clock);
        self.fill_sets(&terms, None, &context)?;
        let (close, mut read, spooled_bytes) = if let Some((close, read)) = self.stored_sets()? {
            (close, Sides::One(read), 0)
        } else {
            let (close, sources, spooled_bytes) =
                self.joined_sets(&terms, threshold, None, &context)?;
            self.store_close(&close)?;
            (close, sources.try_map(CorpusTerms::into_summary)?, spooled_bytes)
        };
        let timings = clock.into_timings();
        let close = by_sequences(close, &mut read, threshold);
        Ok(FoundClose { read, close, timings, spooled_bytes })
    }

    /// Returns the close documents that an earlier run has stored. Returns `None` if they must be found.
    fn stored_close(&self) -> Result<Option<Close>> {
        self.parts.map_or(Ok(None), |parts| stored_close(parts, self.context.memory()))
    }

    /// Returns the close documents that an earlier run has stored, and the stored summary of the collection. Returns
    /// `None` if the documents must be compared.
    fn stored_sets(&self) -> Result<Option<(Close, CollectionSummary)>> {
        let Some(parts) = self.parts else { return Ok(None) };
        // If one of them is missing, the documents are compared again, which also reads their summaries.
        let (Some(close), Some(shards)) = (self.stored_close()?, parts.summaries()?) else {
            return Ok(None);
        };
        Ok(Some((close, CollectionSummary::new(*self.corpora.first(), shards)?)))
    }

    /// Stores the close documents for a later run, if the run stores what it reads.
    fn store_close(&self, close: &Close) -> Result<()> {
        self.parts.map_or(Ok(()), |parts| store_close(parts, close))
    }

    /// Stores the sets of terms of the shards of `share` (or of all shards if it is `None`) that are not stored yet.
    /// Does nothing if the run stores nothing.
    fn fill_sets(
        &self,
        terms: &DocumentTerms,
        share: Option<ShardShare>,
        context: &Context<'_>,
    ) -> Result<()> {
        let Some(parts) = self.parts else { return Ok(()) };
        CorpusTerms::of_plan(*self.corpora.first(), terms, self.plan, context.progress())
            .fill(parts, share, context)
    }

    /// Finds the pairs of documents whose sets of terms have a similarity of at least `threshold`. With a filter, finds
    /// only pairs that pass it. Returns the similar documents, the collections with their summaries, and the number of
    /// bytes of terms that were written to temporary files.
    fn joined_sets<'t>(
        &'t self,
        terms: &'t DocumentTerms,
        threshold: Threshold,
        filter: Option<&dyn PairFilter>,
        context: &Context<'_>,
    ) -> Result<(Close, Sides<CorpusTerms<'t>>, u64)> {
        let progress = self.context.progress();
        // If there is a filter, the stored rows are fingerprints. The texts of their pairs are read again.
        let parts = self.parts.filter(|_| filter.is_none());
        let sources = self.corpora.map(|corpus| {
            CorpusTerms::of_plan(corpus, terms, self.plan, progress).with_parts(parts)
        });
        // Learned weights stay in memory during the whole join, so they count against the budget.
        let learned_bytes =
            terms.frequencies().map_or(0, |learned| Frequencies::bytes(learned.len() as u64));
        let _learned = self.context.memory().hold(learned_bytes);
        let folder = self.context.temporary_folder();
        let space = TermSpace::of_each(&self.corpora, self.context);
        // Terms that are stored need not be kept a second time.
        let is_stored = |shard| parts.is_some_and(|parts| parts.has(shard));
        let prices = self.corpora.map(|corpus| {
            move |shard| if is_stored(shard) { Price::Cheap } else { corpus.price(shard) }
        });
        let kept = sources.as_ref().zip(prices.as_ref()).map(|(source, price)| {
            let share = self.context.memory().share(space.memory);
            KeptTerms::new(source, price, share, (folder, space.files), progress)
        });
        let by_scope = self.plan.relation().map(|relation| ScopeFilter::new(relation, &sources));
        // A filter of near fingerprints applies the scope itself.
        let filter = filter.or(by_scope.as_ref().map(|filter| filter as &dyn PairFilter));
        let join = SetJoin::new(threshold, context).with_filter(filter);
        let close = match &kept {
            Sides::One(source) => match self.plan.deciding_rule() {
                Some(rule) => {
                    let order = &|| sources.first().order(self.plan.keep());
                    join.self_join_to_keep(source, &KeptChoice { rule, order })?
                }
                None => join.self_join(source)?,
            },
            Sides::Two(queries, corpus) => join.query(queries, corpus)?,
        };
        let spooled_bytes = kept.iter().map(KeptTerms::spooled_bytes).sum();
        // Dropping the kept terms releases their memory and their files before the summaries are merged.
        drop(kept);
        Ok((close, sources, spooled_bytes))
    }

    /// Finds the pairs of documents whose fingerprints are within `distance`. If the method verifies pairs,
    /// only pairs with similar sets of terms remain.
    fn rows(&self, distance: u32) -> Result<FoundClose> {
        let mut timings = Timings::start();
        let method = self.plan.method();
        let context = self.context;
        let recipe = method.recipe();
        // Weights are learned from the corpus alone. So the fingerprint of a query does not depend on other
        // queries.
        let learned_from = *self.corpora.second();
        let fitted = &Fitted::learn(recipe.terms(), learned_from, context)?;
        let compared = self.verified_terms();
        let rows = self.row_settings(fitted, compared.as_ref());
        if let Some(parts) = self.parts {
            rows.fill(*self.corpora.first(), parts, None)?;
        }
        let made = self.corpora.try_map(|corpus| rows.of(corpus))?;
        timings.end("read and fingerprint");

        // The close documents of an earlier run are those that the join would find.
        if let Some(close) = self.stored_close()? {
            let read = made.map(|made| made.summary);
            return Ok(self.found_rows(close, read, timings));
        }
        let scope = self.row_scope(&made);
        let _scope = context.memory().hold(scope.as_ref().map_or(0, RowScope::bytes));
        let scope = scope.as_ref();
        // Millions of pairs come from documents that are all similar. Their number, and so the time, grows with
        // the square of the documents, and few of them decide.
        let most = if self.plan.deciding_rule().is_some() { MANY_PAIRS } else { u64::MAX };
        let join = RowJoin { distance, recall: method.recall(), scope, most, context };
        let Some(threshold) = method.verify() else {
            let close = self.close_rows(join, &made)?;
            self.store_close(&close)?;
            timings.end("join");
            let read = made.map(|made| made.summary);
            return Ok(self.found_rows(close, read, timings));
        };
        // The terms of the documents need the rest of the memory.
        let part = context.with_memory(context.memory().free() / CANDIDATES_SHARE);
        let rows = made.as_ref().map(|made| &made.rows);
        let candidates = RowJoin { context: &part, ..join }.find(rows)?;
        timings.end("join");
        let terms = self.terms(fitted)?;
        let few = candidates.filter(|close| !is_better_joined(close, context.memory().free()));
        let close = if let Some(close) = few {
            let texts = self.corpora.zip(made.as_ref());
            let texts =
                texts.map(|(corpus, made)| RowTexts::of(corpus, &made.summary, &terms, context));
            // One half of the memory is for the sets, the other half for joining them.
            let memory = context.memory().limit() / 2;
            verify(&close, &texts, &Verifying { threshold, memory, context })?
        } else {
            let filter = NearFilter::new(join, rows)?;
            self.joined_sets(&terms, threshold, Some(&filter), context)?.0
        };
        self.store_close(&close)?;
        timings.end("verify");
        let read = made.map(|made| made.summary);
        Ok(self.found_rows(close, read, timings))
    }

    /// Creates the result of a search by fingerprints. If the search compares texts, texts with different sequences of
    /// tokens do not count as equal.
    fn found_rows(
        &self,
        close: Close,
        mut read: Sides<CollectionSummary>,
        timings: Timings,
    ) -> FoundClose {
        let close = match self.plan.method().verify() {
            Some(threshold) => by_sequences(close, &mut read, threshold),
            None => close,
        };
        FoundClose { read, close, timings, spooled_bytes: 0 }
    }

    /// Returns the settings for finding the terms of texts whose fingerprints are close. `None` if texts are not
    /// compared.
    fn verified_terms(&self) -> Option<DocumentTerms> {
        let method = self.plan.method();
        let terms = || DocumentTerms::new(method.compared(), &Fitted::Nothing, self.context.isa());
        method.verify().map(|_| terms())
    }

    /// Returns the settings for computing the fingerprints of documents. `compared` has the settings for the terms of
    /// texts with close fingerprints, if texts are compared. Then a hash of the token sequence of each text is
    /// collected, too.
    fn row_settings<'a>(
        &'a self,
        fitted: &'a Fitted,
        compared: Option<&'a DocumentTerms>,
    ) -> CollectionRows<'a> {
        CollectionRows {
            recipe: self.plan.method().recipe(),
            fitted,
            wanted: self.plan.wanted_traits(),
            sequence_of: compared,
            without_words: WithoutWords::Allowed,
            parts: self.parts,
            context: self.context,
        }
    }

    /// Returns the rule that selects the fingerprinted documents to compare. `None` if all are compared.
    fn row_scope(&self, made: &Sides<FingerprintedCollection>) -> Option<RowScope> {
        let relation = self.plan.relation()?;
        let values = made.as_ref().map(|made| made.summary.traits().scope_values().to_vec());
        Some(RowScope::new(relation, values))
    }

    /// Finds the pairs of near fingerprints. If they do not fit in memory, finds only the pairs that decide
    /// which documents are kept.
    fn close_rows(
        &self,
        join: RowJoin<'_>,
        made: &Sides<FingerprintedCollection>,
    ) -> Result<Close> {
        let rows = made.as_ref().map(|made| &made.rows);
        if let Some(close) = join.find(rows)? {
            return Ok(close);
        }
        let Some(rule) = self.plan.deciding_rule() else { return Err(join.too_many_pairs()) };
        find_deciding(join, rows.first(), made.first().summary.order(self.plan.keep()), rule)
    }

    /// Returns the settings for finding the terms whose sets are compared. `known` holds the weights that were learned
    /// for the fingerprints. If the compared sets need learned weights and `known` does not hold them, this function
    /// learns the weights from the corpus.
    fn terms(&self, known: &Fitted) -> Result<DocumentTerms> {
        let compared = self.plan.method().compared();
        let isa = self.context.isa();
        if !compared.is_learned() || known.check(compared).is_ok() {
            return Ok(DocumentTerms::new(compared, known, isa));
        }
        let corpus = *self.corpora.second();
        let fitted = Fitted::learn(compared, corpus, self.context)?;
        Ok(DocumentTerms::new(compared, &fitted, isa))
    }
}

/// Changes `close` so that two texts are equal only if their sequences of tokens are equal, not only their sets of
/// terms. Takes the hashes of the sequences out of the summaries. Returns `close` unchanged if two different sets can
/// have the similarity 1.
fn by_sequences(close: Close, read: &mut Sides<CollectionSummary>, threshold: Threshold) -> Close {
    let hashes = read.as_mut().map(CollectionSummary::take_sequences);
    if !threshold.is_one_for_equal_sets_only() {
        return close;
    }
    let close = close.with_sequences(RowSequences::new(hashes));
    if threshold.holds(Similarity::ALMOST_ONE) {
        close
    } else {
        close.without_other_sequences(threshold)
    }
}
