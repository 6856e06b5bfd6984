//! Finds the documents of a collection whose words are all in other documents, and decides which of them to remove.

use super::corpus_terms::CorpusTerms;
use super::find_close::with_compared_texts;
use super::kept_terms::{KeptTerms, TermSpace};
use super::parts::Parts;
use super::plan::Plan;
use super::shard_summary::CollectionSummary;
use super::timings::{StageClock, Timings};
use crate::method::{DocumentTerms, Fitted};
use simtool_base::error::Result;
use simtool_compute::context::Context;
use simtool_coverage::{Coverage, CoverageSearch, DocumentOrder, LoseLimit};
use simtool_model::sides::Sides;
use simtool_read::{Corpus, Price};

/// Result of a search by coverage: the documents to remove, and the summaries of the collections that were read.
pub(super) struct FoundCovered {
    pub(super) read: Sides<CollectionSummary>,
    pub(super) coverage: Coverage,
    pub(super) timings: Timings,
    /// Number of bytes of terms that were written to temporary files.
    pub(super) spooled_bytes: u64,
}

/// Finds the documents whose sequences of words are in other documents, so that they can be removed. With two
/// collections, finds the queries whose words are in documents of the corpus. `limit` limits the words that a removal
/// may lose. `parts` has the stored data of shards. If it is given, stores there the terms of the documents of the
/// first collection, and does not read the shards that are stored already.
///
/// # Errors
///
/// There are more than 2³² − 1 documents, the memory is too little, a temporary file fails, or the work is cancelled.
pub(super) fn find_covered(
    corpora: Sides<&dyn Corpus>,
    plan: &Plan,
    limit: LoseLimit,
    parts: Option<&Parts<'_>>,
    context: &Context<'_>,
) -> Result<FoundCovered> {
    with_compared_texts(corpora, plan, context, |corpora, mut timings| {
        // The search reports its stages as progress, so a clock between the two measures them.
        let clock = StageClock::start(context.progress());
        let context = &context.with_progress(&clock);
        let found = Covering { corpora, plan, limit, parts, context }.find()?;
        timings.extend(&clock.into_timings());
        Ok(FoundCovered { timings, ..found })
    })
}

/// The search for covered documents: in one collection, or for queries in a corpus.
struct Covering<'r> {
    corpora: Sides<&'r dyn Corpus>,
    plan: &'r Plan,
    limit: LoseLimit,
    parts: Option<&'r Parts<'r>>,
    context: &'r Context<'r>,
}

impl Covering<'_> {
    fn find(&self) -> Result<FoundCovered> {
        let Self { corpora, plan, limit, parts, context } = *self;
        let progress = context.progress();
        let terms = DocumentTerms::new(plan.method().compared(), &Fitted::Nothing, context.isa());
        let sources = corpora
            .map(|corpus| CorpusTerms::of_plan(corpus, &terms, plan, progress).with_parts(parts));
        if let Some(parts) = parts {
            sources.first().fill(parts, None, context)?;
        }
        let space = TermSpace::of_each(&corpora, context);
        // Terms that are stored need not be kept a second time.
        let is_stored = |shard| parts.is_some_and(|parts| parts.has(shard));
        let prices = corpora.map(|corpus| {
            move |shard| if is_stored(shard) { Price::Cheap } else { corpus.price(shard) }
        });
        let kept = sources.as_ref().zip(prices.as_ref()).map(|(source, price)| {
            let spool = (context.temporary_folder(), space.files);
            let share = context.memory().share(space.memory);
            KeptTerms::new(source, price, share, spool, progress)
        });
        // Without a scope, the search does not mix groups into its hashes.
        let groups = || match plan.relation() {
            Some(_) => sources.iter().flat_map(CorpusTerms::scope_values).collect(),
            None => Vec::new(),
        };
        let rows = || match &sources {
            Sides::One(source) => source.order(plan.keep()),
            // All documents of the corpus stay, and the earlier ones are named first.
            Sides::Two(queries, corpus) => {
                (0..queries.document_count() + corpus.document_count()).collect()
            }
        };
        let order = DocumentOrder { rows: &rows, groups: &groups };
        let search = CoverageSearch::new(terms.run_length() as u32, limit, context);
        let mut coverage = match &kept {
            Sides::One(source) => search.find(source, &order)?,
            Sides::Two(queries, corpus) => search.find_in(queries, corpus, &order)?,
        };
        if let Sides::Two(queries, _) = &sources {
            // The search numbers the documents of the corpus behind the queries.
            let first = queries.document_count();
            for document in &mut coverage.documents {
                document.kept -= first;
            }
            for stretch in &mut coverage.stretches {
                stretch.kept -= first;
            }
        }
        let spooled_bytes = kept.iter().map(KeptTerms::spooled_bytes).sum();
        drop(kept);
        let read = sources.try_map(CorpusTerms::into_summary)?;
        Ok(FoundCovered { read, coverage, timings: Timings::start(), spooled_bytes })
    }
}
