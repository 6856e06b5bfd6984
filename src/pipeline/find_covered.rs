//! Finds the documents of a collection whose words are all in others, and decides which of them to remove.

use super::corpus_terms::CorpusTerms;
use super::find_close::with_compared_texts;
use super::kept_terms::{KeptTerms, TermSpace};
use super::lost_words::RemovalLosses;
use super::near_duplicates::NearDuplicates;
use super::plan::Plan;
use super::shard_summary::CollectionSummary;
use super::timings::StageClock;
use crate::cluster::Removal;
use crate::method::{DocumentTerms, Fitted};
use simtool_base::error::Result;
use simtool_compute::context::Context;
use simtool_coverage::{CoverageSearch, CoveredDocument, DocumentOrder, LoseLimit};
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use simtool_read::{Corpus, Price};
use simtool_set_join::close::Close;

/// Finds the documents of `corpus` to remove. The result has no pairs.
///
/// # Errors
///
/// There are more than 2³² − 1 documents, the memory is too little, a temporary file fails, or the work is cancelled.
pub(super) fn find_covered(
    corpus: &dyn Corpus,
    plan: &Plan,
    limit: LoseLimit,
    context: &Context<'_>,
) -> Result<NearDuplicates> {
    with_compared_texts(Sides::One(corpus), plan, context, |corpora, mut timings| {
        let clock = StageClock::start(context.progress());
        let context = &context.with_progress(&clock);
        let found = Covering { corpus: *corpora.first(), plan, limit, context }.find()?;
        timings.extend(&clock.into_timings());
        let Found { read, covered, spooled_bytes } = found;
        let removal = |&CoveredDocument { row, kept, .. }: &CoveredDocument| Removal {
            row,
            kept,
            closeness: None,
        };
        let losses = covered.iter().map(|document| (document.row, Some(document.loss)));
        Ok(NearDuplicates {
            read: Sides::One(read),
            close: Close::sets(Sides::One(Groups::default()), Vec::new().into()),
            removals: covered.iter().map(removal).collect(),
            losses: Some(RemovalLosses::new(losses.collect())),
            covering: covered.iter().map(|document| document.covering).collect(),
            kept_for_words: 0,
            levels: Vec::new(),
            timings,
            spooled_bytes,
        })
    })
}

/// The search in one collection.
struct Covering<'r> {
    corpus: &'r dyn Corpus,
    plan: &'r Plan,
    limit: LoseLimit,
    context: &'r Context<'r>,
}

/// Result of the search.
struct Found {
    read: CollectionSummary,
    covered: Vec<CoveredDocument>,
    spooled_bytes: u64,
}

impl Covering<'_> {
    fn find(&self) -> Result<Found> {
        let Self { corpus, plan, limit, context } = *self;
        let progress = context.progress();
        let terms = DocumentTerms::new(plan.method().compared(), &Fitted::Nothing, context.isa());
        let source = CorpusTerms::new(corpus, &terms, plan.wanted_traits(), progress);
        let source = source.in_reading_order();
        let price = |shard| corpus.price(shard);
        let any_expensive = (0..corpus.shard_count()).any(|shard| price(shard) != Price::Cheap);
        let TermSpace { memory, files } = TermSpace::of(any_expensive, context);
        let spool = (context.temporary_folder(), files);
        let memory = context.memory().share(memory);
        let kept = KeptTerms::new(&source, &price, memory, spool, progress);
        let order = DocumentOrder {
            rows: &|| source.order(plan.keep()),
            groups: &|| match plan.relation() {
                Some(_) => source.scope_values(),
                None => Vec::new(),
            },
        };
        let run_length = terms.run_length() as u32;
        let covered = CoverageSearch::new(run_length, limit, context).find(&kept, &order)?;
        let spooled_bytes = kept.spooled_bytes();
        drop(kept);
        Ok(Found { read: source.into_summary()?, covered, spooled_bytes })
    }
}
