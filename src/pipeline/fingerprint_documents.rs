//! Pass 2 of `match_queries`: computes the fingerprint of every document.

use super::fit::FittedCorpus;
use crate::write::reference_text::Id;
use simtool_compute::threads::Threads;
use simtool_fingerprint::table_simhash::{Accumulator, TableSimhash};
use simtool_kernels::Isa;
use simtool_model::fingerprint_table::Fingerprint;
use simtool_read::{form_feed, without_byte_order_mark};
use simtool_terms::extract::vocabulary::Vocabulary;
use simtool_terms::token_batch::TokenBatch;
use simtool_terms::tokenize::ascii_letters::AsciiLetters;

/// Number of bytes of queries that a thread takes at a time. Queries are often few, so this number is small.
const QUERY_SHARE_BYTES: usize = 32 << 10;

/// IDs and fingerprints of the corpus or of the queries, in reading order.
#[derive(Debug)]
pub(super) struct FingerprintedDocuments<'t, L> {
    pub(super) ids: Vec<Id<'t>>,
    pub(super) fingerprints: Vec<L>,
}

impl<'t, L> FromIterator<(Vec<Id<'t>>, Vec<L>)> for FingerprintedDocuments<'t, L> {
    fn from_iter<I: IntoIterator<Item = (Vec<Id<'t>>, Vec<L>)>>(shares: I) -> Self {
        let (ids, fingerprints): (Vec<_>, Vec<_>) = shares.into_iter().unzip();
        Self {
            ids: ids.into_iter().flatten().collect(),
            fingerprints: fingerprints.into_iter().flatten().collect(),
        }
    }
}

/// Computes the fingerprints of the corpus from `fitted`, in which [`fit`](super::fit::fit) stored the words
/// of all documents as numbers. The text is not read again.
pub(super) fn fingerprint_corpus<'t, L: Fingerprint>(
    workers: &Threads,
    simhash: &TableSimhash,
    fitted: &FittedCorpus<'t>,
) -> FingerprintedDocuments<'t, L> {
    let shares = workers.map((0..fitted.share_count()).collect(), |share| {
        // Each thread of pass 1 numbered words in its own way. Its shares come with a table from these
        // numbers to ranks.
        let (number_ranks, documents) = fitted.share(share);
        let mut accumulator = Accumulator::default();
        documents
            .map(|document| {
                number_ranks.ranks(document.numbers, |ranks| simhash.add(ranks, &mut accumulator));
                (document.id, simhash.finish::<L>(&mut accumulator))
            })
            .unzip()
    });
    shares.into_iter().collect()
}

/// Computes the fingerprints of the queries. `vocabulary` was learned from the corpus only, so the words of
/// the queries are looked up in it.
pub(super) fn fingerprint_queries<'t, L: Fingerprint>(
    workers: &Threads,
    isa: Isa,
    simhash: &TableSimhash,
    vocabulary: &Vocabulary,
    queries: &'t [u8],
) -> FingerprintedDocuments<'t, L> {
    let queries = without_byte_order_mark(queries);
    let share_count = form_feed::share_count(queries, QUERY_SHARE_BYTES);
    let shares = workers.map((0..share_count).collect(), |share| {
        let text = &queries[form_feed::share(queries, share, QUERY_SHARE_BYTES)];
        let mut batch = TokenBatch::default();
        let mut accumulator = Accumulator::default();
        let mut ranks = Vec::new();
        form_feed::documents(text)
            .map(|document| {
                AsciiLetters::new(isa).tokenize(document.text, &mut batch, |piece, batch| {
                    ranks.clear();
                    vocabulary.ranks(piece, batch, &mut ranks);
                    simhash.add(&ranks, &mut accumulator);
                });
                (Id::new(document.id), simhash.finish::<L>(&mut accumulator))
            })
            .unzip()
    });
    shares.into_iter().collect()
}
