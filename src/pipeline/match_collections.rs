//! A collection × another: which documents of the first are close to which of the second.

use super::close_fingerprints::{close_across, plan_across};
use super::config::{DeduplicateConfig, Method};
use super::corpus_terms::{CorpusTerms, is_dear};
use super::document_terms::DocumentTerms;
use super::fingerprint_collection::Shards;
use super::kept_terms::KeptTerms;
use super::progress::Progress;
use super::shard_summary::CollectionSummary;
use super::text_classes::Texts;
use super::timings::Timings;
use super::verify_pairs::verify_across;
use super::workers::Workers;
use super::write_outputs::{Close, Findings, Side};
use crate::closeness::{CloseAcross, Closeness};
use crate::cluster::Removal;
use crate::error::Result;
use crate::read::{Collection, Corpus};
use std::convert::Infallible;

/// What was found between two collections.
#[derive(Clone, Debug)]
pub struct MatchedCollections {
    /// What the reading of the queries told.
    pub queries: CollectionSummary,
    /// What the reading of the corpus told.
    pub corpus: CollectionSummary,
    /// All that is close.
    pub close: CloseAcross,
    /// The queries that have a match, in reading order, each with the corpus document that is most
    /// like it; of equals the earlier one.
    pub removals: Vec<Removal>,
    /// Where the time went.
    pub timings: Timings,
    /// Bytes of terms that went to temporary files, so that dear texts were read once.
    pub spooled_bytes: u64,
}

/// Finds all pairs of a document of `queries` and one of `corpus` that are near-duplicates by the
/// method of `config`; which documents to keep is not its question here.
///
/// The result is the same for any number of threads and any instruction set.
///
/// # Errors
///
/// As [`deduplicate`](super::deduplicate()).
pub fn match_collections(
    queries: &Collection,
    corpus: &Collection,
    config: &DeduplicateConfig,
    progress: &dyn Progress,
) -> Result<MatchedCollections> {
    let mut timings = Timings::start();
    let workers = Workers::new(config.threads)?;
    let both = [queries, corpus];
    progress.begin("reading", both.map(Corpus::bytes).iter().sum());
    let terms = DocumentTerms::new(config.shingle, config.isa);
    let mut spooled_bytes = 0;
    let (queries, corpus, close) = match &config.method {
        Method::Exact(threshold) => {
            let [of_queries, of_corpus] =
                both.map(|collection| CorpusTerms::new(collection, &terms, false, progress));
            let are_dear = both.map(|collection| move |shard| is_dear(collection, shard));
            let any_dear = (both.iter().zip(&are_dear))
                .any(|(collection, is_dear)| (0..collection.shard_count()).any(is_dear));
            let kept_bytes = config.kept_bytes(any_dear);
            let [queries_kept, corpus_kept] =
                [(&of_queries, &are_dear[0]), (&of_corpus, &are_dear[1])].map(
                    |(terms, is_dear)| {
                        KeptTerms::new(terms, is_dear, kept_bytes / 2, &config.temporary_folder)
                    },
                );
            let join = config.set_join(*threshold, &workers, kept_bytes);
            let pairs = join.query(&queries_kept, &corpus_kept)?;
            spooled_bytes = queries_kept.spooled_bytes() + corpus_kept.spooled_bytes();
            drop((queries_kept, corpus_kept));
            timings.end("read and join");
            (of_queries.into_summary()?, of_corpus.into_summary()?, CloseAcross::from(pairs))
        }
        Method::Simhash { features, max_distance, verify } => {
            let fingerprinter = config.fingerprinter(features, corpus, &workers)?;
            let fingerprints = |collection| {
                let shards = Shards { collection, by_field: false, workers: &workers, progress };
                fingerprinter.of(&shards, config.isa)
            };
            let (of_queries, of_corpus) = (fingerprints(queries)?, fingerprints(corpus)?);
            timings.end("read and fingerprint");
            let join = config.join(*max_distance);
            let plan = plan_across(&of_queries.rows, &of_corpus.rows, &join);
            progress.planned(&plan);
            let (queries_rows, corpus_rows) = (&of_queries.rows, &of_corpus.rows);
            let mut close =
                workers.run(|| close_across(queries_rows, corpus_rows, plan.index, &join))?;
            timings.end("join");
            let [queries_read, corpus_read] = [of_queries.summary, of_corpus.summary];
            if let Some(threshold) = verify {
                let [queries, corpus] = [(queries, &queries_read), (corpus, &corpus_read)]
                    .map(|(collection, read)| Texts::of(collection, read, &terms, &workers));
                let memory = config.memory_of_sets();
                close = verify_across(close, [&queries, &corpus], *threshold, memory)?;
                timings.end("verify");
            }
            (queries_read, corpus_read, close)
        }
    };
    let mut removals = Vec::new();
    let visit = |row, partners: &[(u32, Closeness)]| {
        let most_alike =
            partners.iter().max_by(|(a, to_a), (b, to_b)| to_a.compare(*to_b).then(b.cmp(a)));
        removals.extend(most_alike.map(|&(kept, closeness)| Removal {
            row,
            kept,
            closeness: Some(closeness),
        }));
        Ok::<_, Infallible>(())
    };
    match close.for_each_row(visit) {
        Ok(()) => {}
        Err(never) => match never {},
    }
    timings.end("match");
    Ok(MatchedCollections { queries, corpus, close, removals, timings, spooled_bytes })
}

impl MatchedCollections {
    /// What was found, for the outputs.
    #[must_use]
    pub fn findings<'f>(&'f self, queries: &'f Collection, corpus: &'f Collection) -> Findings<'f> {
        Findings {
            documents: Side { collection: queries, read: &self.queries },
            originals: Side { collection: corpus, read: &self.corpus },
            removals: &self.removals,
            close: Close::Across(&self.close),
        }
    }
}
