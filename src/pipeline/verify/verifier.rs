//! Texts that others bring together: for who has collections that no reader of ours reads.

use super::{RowTexts, Task, Verifying};
use crate::close::ClosePair;
use crate::error::{Error, Result};
use crate::fingerprint_rows::FingerprintRows;
use crate::matches::ValuePair;
use crate::pipeline::method::{DocumentTerms, Fitted, Method, TermScratch};
use crate::pipeline::shard_summary::{CollectionSummary, read_summarized};
use crate::pipeline::workers::Workers;
use crate::progress::NoProgress;
use crate::read::{Corpus, Texts};
use crate::resources::Resources;
use crate::sides::Sides;
use crate::similarity::Threshold;
use crate::stable_hash::wide_hash;
use std::fmt;

/// Compares the sets of terms of texts with close fingerprints, as a method with `verify` does.
pub struct Verifier {
    threshold: Threshold,
    terms: DocumentTerms,
    workers: Workers,
    resources: Resources,
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("threshold", &self.threshold).finish_non_exhaustive()
    }
}

impl Verifier {
    /// What compares the texts for a method; none where it compares none.
    ///
    /// # Errors
    ///
    /// Terms weigh what a collection teaches; the threads cannot be started.
    pub fn new(method: &Method, resources: &Resources) -> Result<Option<Self>> {
        let Some(threshold) = method.verify() else { return Ok(None) };
        let compared = method.compared();
        if compared.is_learned() {
            let rule = "is learned from the whole collection, of which only some texts are here";
            return Err(Error::config("verify_weight", compared.weighting().weight.name(), rule));
        }
        let terms = DocumentTerms::new(compared, &Fitted::Nothing, resources.isa);
        let workers = Workers::new(resources.threads)?;
        Ok(Some(Self { threshold, terms, workers, resources: resources.clone() }))
    }

    /// A number for each text, given in the order of their fingerprints, that equal fingerprints with
    /// equal sets of terms have and others do not; 0 where there is no fingerprint.
    #[must_use]
    pub fn numbers(&self, texts: &[&[u8]], rows: &FingerprintRows<'_>) -> Vec<u128> {
        let (mut scratch, mut both) = (TermScratch::default(), Vec::new());
        let number = |(row, text): (usize, &&[u8])| {
            let Some(words) = rows.row(row) else { return 0 };
            let terms = self.terms.of(text, &mut scratch);
            terms.sort_unstable();
            terms.dedup();
            both.clear();
            both.extend_from_slice(words);
            both.extend_from_slice(terms);
            wide_hash(bytemuck::cast_slice(&both))
        };
        texts.iter().enumerate().map(number).collect()
    }

    /// The texts that are similar enough of two groups, each given by its rows; `pairs` are of groups,
    /// with the distance of their fingerprints, or of a group with itself. The first row of equal sets
    /// of a group stands for all of them.
    ///
    /// # Errors
    ///
    /// More than 2³² − 1 texts; memory that the system does not have.
    pub fn similar(
        &self,
        texts: &[&[u8]],
        groups: &[Vec<u32>],
        pairs: &[ValuePair],
    ) -> Result<Vec<ClosePair>> {
        let corpus = Texts::of(texts);
        let shards = (0..corpus.shard_count())
            .map(|shard| read_summarized(&corpus, shard, false, &mut |_, _| Ok(true)))
            .collect::<Result<_>>()?;
        let read = CollectionSummary::new(&corpus, shards)?;
        let texts = RowTexts::of(&corpus, &read, &self.terms, &self.workers, &NoProgress);
        let tasks = pairs.iter().map(|&ValuePair { a, b, distance }| Task { a, b, distance });
        let verifying = Verifying {
            threshold: self.threshold,
            memory: self.resources.memory / 2,
            isa: self.resources.isa,
            progress: &NoProgress,
        };
        Ok(verifying.of(Sides::One((&texts, groups)), tasks.collect())?.pairs)
    }
}
