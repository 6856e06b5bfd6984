//! Finds the documents of a corpus that are similar to queries. Fingerprints are made from the N most
//! frequent words of the corpus. A hash table has a row of random bits for each of these words.

use super::config::MatchConfig;
use super::fingerprint_documents::{
    FingerprintedDocuments, fingerprint_corpus, fingerprint_queries,
};
use super::fit::fit;
use super::timings::Timings;
use crate::write::reference_text::ReferenceText;
use simtool_base::error::{Error, Result};
use simtool_compute::threads::Threads;
use simtool_fingerprint::table_simhash::TableSimhash;
use simtool_hamming::linear_scan;
use simtool_kernels::Isa;
use simtool_model::fingerprint_table::{Fingerprint, Reach, Wide};

/// Number of queries that a thread takes at a time.
const QUERIES_AT_ONCE: usize = 16;

/// Result of [`match_queries`]: the matches of all queries as one text, and counts.
#[derive(Clone, Debug)]
pub struct MatchedQueries {
    /// The output text, which lists the matches of all queries. It is divided into blocks, which must be written one
    /// after the other.
    pub blocks: Vec<Vec<u8>>,
    /// Number of bytes of the output text that list the matches of the first query, at the beginning of the first
    /// block. It is 0 if there is no query.
    first_query: usize,
    /// Number of documents of the corpus.
    pub documents: usize,
    /// Number of queries that were looked up.
    pub queries: usize,
    /// Number of words that were used as features. It is the number of features of the hash table, or the
    /// number of different words of the corpus if this is smaller.
    pub features: usize,
    /// Number of pairs of a query and a matching document.
    pub matches: usize,
    /// Time that each stage of the run took.
    pub timings: Timings,
}

impl MatchedQueries {
    /// Returns the part of the output text that lists the matches of the first query. Returns an empty text if there
    /// is no query.
    #[must_use]
    pub fn first_query(&self) -> &[u8] {
        self.blocks.first().map_or(&[], |block| &block[..self.first_query])
    }
}

/// Finds for every query the documents of the corpus whose fingerprints differ in at most
/// `config.max_distance` bits.
///
/// In `corpus` and `queries`, form feeds separate the documents. The result is the same for any number of
/// threads and any instruction set.
///
/// # Errors
///
/// The threads cannot be started.
///
/// # Complexity
///
/// O(bytes + n × q) for n documents and q queries. The memory is about 4 bytes for each word of the corpus
/// that is not a stop word, and 40 bytes for each document.
pub fn match_queries(
    corpus: &[u8],
    queries: &[u8],
    config: &MatchConfig,
) -> Result<MatchedQueries> {
    // The scan is fastest with the narrowest integer type that holds a fingerprint.
    if config.hash_table.bits() <= u64::BITS {
        match_in_lanes::<u64>(corpus, queries, config)
    } else {
        match_in_lanes::<Wide<2>>(corpus, queries, config)
    }
}

fn match_in_lanes<L: Fingerprint>(
    corpus: &[u8],
    queries: &[u8],
    config: &MatchConfig,
) -> Result<MatchedQueries> {
    let mut timings = Timings::start();
    // Fingerprints cannot differ in more bits than they have, so a greater distance is reduced.
    let bits = config.hash_table.bits();
    let reach = Reach::bits(bits, config.max_distance.min(bits));
    let workers = Threads::new(config.threads)?;
    timings.end("start threads");

    let most = config.hash_table.rows().len();
    let fitted = fit(&workers, config.isa, corpus, &config.stop_words, most);
    timings.end("count words");

    let simhash = TableSimhash::new(config.isa, &config.hash_table);
    let documents: FingerprintedDocuments<'_, L> = fingerprint_corpus(&workers, &simhash, &fitted);
    timings.end("fingerprint corpus");
    if u32::try_from(documents.ids.len()).is_err() {
        let rule = "a corpus has at most 4294967295 documents: match it in parts";
        return Err(Error::config("documents", documents.ids.len(), rule));
    }

    let queries = fingerprint_queries(&workers, config.isa, &simhash, &fitted.vocabulary, queries);
    timings.end("fingerprint queries");

    let blocks = compare(&workers, &documents, &queries, reach, config.isa);
    let first_query = blocks.first().map_or(0, |block| block.first);
    let matches = blocks.iter().map(|block| block.matches).sum();
    timings.end("compare and write");

    Ok(MatchedQueries {
        blocks: blocks.into_iter().map(|block| block.text).collect(),
        first_query,
        documents: documents.ids.len(),
        queries: queries.ids.len(),
        features: fitted.vocabulary.len(),
        matches,
        timings,
    })
}

/// A part of the output text, with the matches of some consecutive queries.
struct QueryOutput {
    text: Vec<u8>,
    /// Number of bytes at the beginning of `text` that list the matches of the first query of the block.
    first: usize,
    matches: usize,
}

fn compare<L: Fingerprint>(
    workers: &Threads,
    documents: &FingerprintedDocuments<'_, L>,
    queries: &FingerprintedDocuments<'_, L>,
    reach: Reach,
    isa: Isa,
) -> Vec<QueryOutput> {
    // Each thread takes whole queries and returns their text. The blocks stay in the order of the queries.
    let starts = (0..queries.ids.len()).step_by(QUERIES_AT_ONCE).collect();
    workers.map(starts, |start: usize| {
        let end = queries.ids.len().min(start + QUERIES_AT_ONCE);
        let mut block = QueryOutput { text: Vec::new(), first: 0, matches: 0 };
        let mut found = Vec::new();
        let mut writer = ReferenceText::new(reach.max_distance);
        for query in start..end {
            found.clear();
            let fingerprint = queries.fingerprints[query];
            linear_scan::scan(&documents.fingerprints, fingerprint, reach, isa, &mut found);
            let id = queries.ids[query].bytes();
            writer.write_query(&mut block.text, id, &found, &documents.ids);
            block.matches += found.len();
            // The length is used for the first block only, to show the first query alone.
            if query == start {
                block.first = block.text.len();
            }
        }
        block
    })
}
