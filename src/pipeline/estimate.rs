//! What a run will take, from a sample of its input.

use super::config::{DeduplicateConfig, Features, Method};
use super::document_terms::{DocumentTerms, TermScratch};
use crate::document::Content;
use crate::error::Error;
use crate::fingerprint::hashed_simhash::HashedSimhash;
use crate::input_format::{Compression, Format};
use crate::read::{Collection, Corpus, Event};
use crate::rows_of_words::Shape;
use crate::search::planner::{IndexName, Plan, Task, Workload};
use std::fmt;
use std::time::Instant;

/// Shards that are looked into, evenly spread.
const SAMPLED_SHARDS: usize = 8;
/// Bytes of text after which a shard is left.
const SAMPLED_BYTES: u64 = 32 << 10;
/// Bytes of a compressed file's content for each on disk, about.
const EXPANSION: u64 = 3;
/// Bytes of memory for each term of an exact join, about: its number and its share of the survivors.
const BYTES_A_TERM: u64 = 7;
/// Readings of the input by an exact join, about.
const EXACT_READINGS: f64 = 2.5;

/// What a run will take, about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Documents.
    pub documents: u64,
    /// Bytes of text.
    pub text_bytes: u64,
    /// Bytes of memory beside mapped files.
    pub memory_bytes: u64,
    /// Seconds, if the files can be read as fast as their text is worked on.
    pub seconds: f64,
    /// Documents among these that will be matched against the others; none if all are compared.
    pub queries: Option<u64>,
}

/// What was seen of a collection.
#[derive(Default)]
struct Sample {
    texts: Vec<Vec<u8>>,
    id_bytes: u64,
    /// Bytes on disk that were read for these.
    consumed: u64,
}

/// Estimates what it takes to deduplicate `corpus`, or to match `queries` against it, by reading a
/// few documents of each.
#[must_use]
pub fn estimate(
    corpus: &Collection,
    queries: Option<&Collection>,
    config: &DeduplicateConfig,
) -> Estimate {
    let mut whole = of_collection(corpus, config);
    if let Some(queries) = queries {
        let part = of_collection(queries, config);
        whole.documents += part.documents;
        whole.text_bytes += part.text_bytes;
        whole.memory_bytes += part.memory_bytes;
        whole.seconds += part.seconds;
        whole.queries = Some(part.documents);
    }
    whole
}

fn of_collection(collection: &Collection, config: &DeduplicateConfig) -> Estimate {
    let mut sample = Sample::default();
    let shards = collection.shard_count();
    for shard in (0..shards).step_by(shards.div_ceil(SAMPLED_SHARDS).max(1)) {
        sample.read(collection, shard);
    }
    let bytes = collection.bytes();
    let sampled_bytes: u64 = sample.texts.iter().map(|text| text.len() as u64).sum();
    let scaled = |count: u64| {
        let product = u128::from(count) * u128::from(bytes) / u128::from(sample.consumed.max(1));
        u64::try_from(product).unwrap_or(u64::MAX)
    };
    let (documents, text_bytes) = (scaled(sample.texts.len() as u64), scaled(sampled_bytes));
    let (terms, seconds) = sample.work(config);
    // An ID with its end, and a length.
    let names = scaled(sample.id_bytes) + documents * 12;
    let (memory_bytes, readings) = match &config.method {
        Method::Exact(_) => {
            ((scaled(terms) * BYTES_A_TERM).min(config.memory_bytes), EXACT_READINGS)
        }
        Method::Simhash { features, .. } => {
            let lane: u64 = if features.bits() <= 64 { 8 } else { 16 };
            let readings = if matches!(features, Features::Words(_)) { 2.0 } else { 1.0 };
            (documents * lane + (documents * (2 * lane + 12)).min(config.memory_bytes), readings)
        }
    };
    let share = text_bytes as f64 / sampled_bytes.max(1) as f64;
    let seconds = seconds * share * readings / config.threads as f64;
    let memory_bytes = names + memory_bytes;
    Estimate { documents, text_bytes, memory_bytes, seconds, queries: None }
}

/// Bytes of a shard's content for each of its bytes on disk, about.
fn expansion(collection: &Collection, shard: usize) -> u64 {
    // A file that is cut is a plain one.
    let file = collection.shard_file(shard);
    let is_cut = [shard.wrapping_sub(1), shard + 1]
        .iter()
        .any(|&near| near < collection.shard_count() && collection.shard_file(near) == file);
    let packed = !is_cut
        && collection.recognize(file).is_ok_and(|recognized| {
            recognized.compression != Compression::None || recognized.format == Format::Parquet
        });
    if packed { EXPANSION } else { 1 }
}

impl Sample {
    /// Reads the first documents of a shard.
    fn read(&mut self, collection: &Collection, shard: usize) {
        let (mut first, mut last, mut text_bytes) = (None, 0, 0);
        let read = collection.read_shard(shard, &mut |event| {
            let Event::Record(record) = event else { return Ok(()) };
            first.get_or_insert(record.byte);
            last = record.byte;
            if text_bytes >= SAMPLED_BYTES {
                // An error is what ends a reading; nobody sees this one.
                return Err(Error::config("shard", shard, "is read no further"));
            }
            if let Content::Document(document) = record.content {
                text_bytes += document.text.len() as u64;
                self.id_bytes += document.id.map_or(0, |id| id.len() as u64);
                self.texts.push(document.text.to_vec());
            }
            Ok(())
        });
        let consumed = last - first.unwrap_or(0);
        self.consumed += match read {
            Ok(_) => collection.shard_bytes(shard),
            // Rows of a table have no place in a file.
            Err(_) if consumed == 0 => text_bytes / expansion(collection, shard),
            Err(_) => consumed / expansion(collection, shard),
        };
    }

    /// The number of terms of the texts, and the seconds that one core needs for them.
    fn work(&self, config: &DeduplicateConfig) -> (u64, f64) {
        let maker = DocumentTerms::new(config.shingle, config.isa);
        let simhash = HashedSimhash::new(config.isa, 1);
        let mut scratch = TermScratch::default();
        let (mut terms, mut seconds) = (0, 0.0);
        // The first pass warms up.
        for _ in 0..2 {
            let start = Instant::now();
            terms = 0;
            for text in &self.texts {
                let of_text = maker.of(text, &mut scratch);
                terms += of_text.len() as u64;
                std::hint::black_box(simhash.fingerprint_64(of_text));
            }
            seconds = start.elapsed().as_secs_f64();
        }
        (terms, seconds)
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let Self { documents, text_bytes, memory_bytes, seconds, queries: _ } = self;
        write!(
            f,
            "about {documents} documents with {:.1} MB of text: {:.1} MB of memory beside the \
             files, {seconds:.2} s",
            megabytes(*text_bytes),
            megabytes(*memory_bytes)
        )
    }
}

impl Estimate {
    /// How `config` finds what is close, and why so.
    #[must_use]
    pub fn explain(&self, config: &DeduplicateConfig) -> String {
        let shingle = config.shingle;
        match &config.method {
            Method::Exact(threshold) => format!(
                "exact: all pairs of sets of shingles ({shingle}) with a Jaccard similarity of at \
                 least {threshold}.\nTerms are counted in tables, documents with too many unique \
                 ones are dropped, the rest is joined: the input is read two or three times, more \
                 often where the terms do not fit in memory.\n"
            ),
            Method::Simhash { features, max_distance, verify } => {
                let bits = features.bits();
                let (of, read) = match features {
                    Features::Shingles(_) => (format!("shingles ({shingle})"), "once"),
                    Features::Words(words) => {
                        let count = words.hash_table.rows().len();
                        (format!("{count} most frequent words"), "twice")
                    }
                };
                let verified = if verify.is_some() {
                    " Then the texts of the pairs are read again and compared."
                } else {
                    ""
                };
                format!(
                    "simhash: all pairs of fingerprints of {bits} bits of the {of} that differ in at \
                     most {max_distance} bits.\nThe input is read {read}, the fingerprints are \
                     joined by the plan below.{verified}\n"
                )
            }
        }
    }

    /// The plan of the join, if the fingerprints are as good as random.
    #[must_use]
    pub fn plan(&self, config: &DeduplicateConfig) -> Option<Plan> {
        let Method::Simhash { features, max_distance, .. } = &config.method else { return None };
        let count = |documents: u64| usize::try_from(documents).unwrap_or(usize::MAX);
        let (task, methods) = match self.queries {
            None => (Task::SelfJoin, [IndexName::PartitionJoin, IndexName::SpilledJoin]),
            Some(queries) => {
                let task = Task::Batch { queries: count(queries) };
                (task, [IndexName::BipartiteJoin, IndexName::StreamedQueries])
            }
        };
        let workload = Workload {
            task,
            rows: count(self.documents - self.queries.unwrap_or(0)),
            shape: Shape::bits(features.bits()),
            effective_bits: features.bits(),
            max_distance: *max_distance,
            memory: config.memory_bytes,
        };
        Plan::among(workload, &methods).ok()
    }
}
