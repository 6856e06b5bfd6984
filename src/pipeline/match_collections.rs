//! A collection × another: which documents of the first are close to which of the second.

use super::close_fingerprints::{close_across, plan_across};
use super::config::{DeduplicateConfig, Method};
use super::corpus_terms::CorpusTerms;
use super::document_terms::DocumentTerms;
use super::fingerprint_collection::Shards;
use super::progress::Progress;
use super::shard_summary::CollectionSummary;
use super::timings::Timings;
use super::verify_pairs::{Texts, verify_across};
use super::workers::Workers;
use super::write_outputs::{Close, Findings, Side};
use crate::closeness::{CloseAcross, Closeness};
use crate::cluster::Removal;
use crate::error::Result;
use crate::read::{Collection, Corpus};
use crate::rows_of_words::FingerprintRows;
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
    let (queries, corpus, close) = match &config.method {
        Method::Exact(threshold) => {
            let [of_queries, of_corpus] =
                both.map(|collection| CorpusTerms::new(collection, &terms, false, progress));
            let pairs = config.set_join(*threshold, &workers).query(&of_queries, &of_corpus)?;
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
            let resources = config.resources();
            let [query_rows, corpus_rows] =
                [&of_queries.rows, &of_corpus.rows].map(FingerprintRows::from);
            let plan = plan_across(&query_rows, &corpus_rows, *max_distance, resources.memory)?;
            progress.planned(&plan);
            let mut close =
                workers.run(|| close_across(&query_rows, &corpus_rows, &plan, &resources))??;
            timings.end("join");
            let [queries_read, corpus_read] = [of_queries.summary, of_corpus.summary];
            if let Some(threshold) = verify {
                let [queries, corpus] =
                    [(queries, &queries_read), (corpus, &corpus_read)].map(|(collection, read)| {
                        Texts { collection, ids: &read.ids, terms: &terms, workers: &workers }
                    });
                close = verify_across(close, [&queries, &corpus], *threshold)?;
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
    Ok(MatchedCollections { queries, corpus, close, removals, timings })
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
