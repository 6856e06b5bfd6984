//! A collection × itself: near-duplicates, and which of them are kept.

use super::close_fingerprints::{close_within, plan_within};
use super::config::{ClusterRule, DeduplicateConfig, Features, FingerprintRecipe, Keep, Method};
use super::corpus_terms::CorpusTerms;
use super::document_terms::DocumentTerms;
use super::fingerprint_collection::{FingerprintedCollection, Shards, fingerprint_shards};
use super::progress::Progress;
use super::shard_summary::CollectionSummary;
use super::timings::Timings;
use super::verify_pairs::{Texts, verify_within};
use super::word_fingerprints::WordFingerprints;
use super::workers::Workers;
use super::write_outputs::{Close, Findings, Side};
use crate::closeness::CloseRows;
use crate::cluster::{Removal, components, keep};
use crate::error::Result;
use crate::kernels::Isa;
use crate::read::{Collection, Corpus};
use crate::resources::Resources;
use crate::rows_of_words::FingerprintRows;
use crate::search::set_join::SetJoin;
use crate::similarity::Threshold;

/// What was found in a collection.
#[derive(Clone, Debug)]
pub struct Deduplicated {
    /// What the reading told.
    pub read: CollectionSummary,
    /// All that is close.
    pub close: CloseRows,
    /// The documents to remove, in reading order.
    pub removals: Vec<Removal>,
    /// Where the time went.
    pub timings: Timings,
}

impl Deduplicated {
    /// What was found, for the outputs.
    #[must_use]
    pub fn findings<'f>(&'f self, collection: &'f Collection) -> Findings<'f> {
        let side = Side { collection, read: &self.read };
        Findings {
            documents: side,
            originals: side,
            removals: &self.removals,
            close: Close::Within(&self.close),
        }
    }
}

/// Finds all near-duplicates in `collection` and decides which documents to remove.
///
/// The result is the same for any number of threads and any instruction set.
///
/// # Errors
///
/// The threads cannot be started, or there are more than 2³² − 1 documents. What is wrong with the
/// input is part of the result.
pub fn deduplicate(
    collection: &Collection,
    config: &DeduplicateConfig,
    progress: &dyn Progress,
) -> Result<Deduplicated> {
    let mut timings = Timings::start();
    let workers = Workers::new(config.threads)?;
    let by_field = matches!(config.keep, Keep::FieldMax | Keep::FieldMin);
    progress.begin("reading", collection.bytes());
    let terms = DocumentTerms::new(config.shingle, config.isa);
    let (read, close) = match &config.method {
        Method::Exact(threshold) => {
            let source = CorpusTerms::new(collection, &terms, by_field, progress);
            let close = config.set_join(*threshold, &workers).self_join(&source)?;
            timings.end("read and join");
            (source.into_summary()?, CloseRows::from(close))
        }
        Method::Simhash { features, max_distance, verify } => {
            let fingerprinter = config.fingerprinter(features, collection, &workers)?;
            let shards = Shards { collection, by_field, workers: &workers, progress };
            let FingerprintedCollection { rows, summary } =
                fingerprinter.of(&shards, config.isa)?;
            timings.end("read and fingerprint");
            let (rows, resources) = (FingerprintRows::from(&rows), config.resources());
            let plan = plan_within(&rows, *max_distance, resources.memory)?;
            progress.planned(&plan);
            let mut close = workers.run(|| close_within(&rows, &plan, &resources))??;
            timings.end("join");
            if let Some(threshold) = verify {
                let texts =
                    Texts { collection, ids: &summary.ids, terms: &terms, workers: &workers };
                close = verify_within(close, &texts, *threshold)?;
                timings.end("verify");
            }
            (summary, close)
        }
    };

    let prefer = |a: u32, b: u32| read.prefer(config.keep, a, b);
    let removals = match config.clusters {
        ClusterRule::Proven => keep::keep_preferred(&close, prefer),
        ClusterRule::Components => components::keep_one_each(&close, prefer),
    };
    timings.end("cluster");
    Ok(Deduplicated { read, close, removals, timings })
}

impl DeduplicateConfig {
    pub(super) fn set_join<'w>(&self, threshold: Threshold, workers: &'w Workers) -> SetJoin<'w> {
        SetJoin { threshold, pool: workers.pool(), memory_bytes: self.memory_bytes }
    }

    /// What makes fingerprints; it may have to read `corpus` for that.
    pub(super) fn fingerprinter(
        &self,
        features: &Features,
        corpus: &Collection,
        workers: &Workers,
    ) -> Result<Fingerprinter> {
        Ok(match features {
            Features::Shingles(bits) => {
                Fingerprinter::Shingles(FingerprintRecipe { shingle: self.shingle, bits: *bits })
            }
            Features::Words(features) => {
                Fingerprinter::Words(WordFingerprints::fit(corpus, features, workers, self.isa)?)
            }
        })
    }

    pub(super) fn resources(&self) -> Resources {
        Resources {
            threads: self.threads,
            memory: self.memory_bytes,
            temporary_folder: self.temporary_folder.clone(),
            isa: self.isa,
        }
    }
}

/// What makes fingerprints of documents.
pub(super) enum Fingerprinter {
    Shingles(FingerprintRecipe),
    Words(WordFingerprints),
}

impl Fingerprinter {
    /// The fingerprints of a collection.
    pub(super) fn of(&self, shards: &Shards<'_>, isa: Isa) -> Result<FingerprintedCollection> {
        match self {
            Self::Shingles(recipe) => fingerprint_shards(shards, *recipe, isa),
            Self::Words(words) => words.of(shards),
        }
    }
}
