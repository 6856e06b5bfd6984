//! What a run will take, from a sample of its input.

use super::close_fingerprints::{JOINS, SELF_JOINS};
use super::method::{Criterion, DocumentTerms, Fitted, RowMaker, RowScratch, TermScratch, Terms};
use super::plan::Plan;
use crate::document::Content;
use crate::input_format::{Compression, Format};
use crate::read::{Corpus, Event};
use crate::search::planner::{Plan as SearchPlan, Task as SearchTask, Workload};
use crate::sides::Sides;
use std::fmt;
use std::ops::ControlFlow;
use std::time::Instant;

/// Shards that are looked into, evenly spread.
const SAMPLED_SHARDS: usize = 8;
/// Bytes of text after which a shard is left.
const SAMPLED_BYTES: u64 = 32 << 10;
/// Bytes of a compressed file's content for each on disk, about.
const EXPANSION: u64 = 3;
/// Bytes of memory for each term of an exact join, about: its number and its share of the survivors.
const BYTES_A_TERM: u64 = 7;

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

/// Estimates what `plan` takes for `corpora`, by reading a few documents of each.
#[must_use]
pub fn estimate(corpora: Sides<&dyn Corpus>, plan: &Plan) -> Estimate {
    match corpora.map(|corpus| of_corpus(corpus, plan)) {
        Sides::One(whole) => whole,
        Sides::Two(queries, corpus) => Estimate {
            documents: corpus.documents + queries.documents,
            text_bytes: corpus.text_bytes + queries.text_bytes,
            memory_bytes: corpus.memory_bytes + queries.memory_bytes,
            seconds: corpus.seconds + queries.seconds,
            queries: Some(queries.documents),
        },
    }
}

fn of_corpus(corpus: &dyn Corpus, plan: &Plan) -> Estimate {
    let mut sample = Sample::default();
    let shards = corpus.shard_count();
    for shard in (0..shards).step_by(shards.div_ceil(SAMPLED_SHARDS).max(1)) {
        sample.read(corpus, shard);
    }
    let bytes = corpus.bytes();
    let sampled_bytes: u64 = sample.texts.iter().map(|text| text.len() as u64).sum();
    let scaled = |count: u64| {
        let product = u128::from(count) * u128::from(bytes) / u128::from(sample.consumed.max(1));
        u64::try_from(product).unwrap_or(u64::MAX)
    };
    let (documents, text_bytes) = (scaled(sample.texts.len() as u64), scaled(sampled_bytes));
    let (terms, seconds) = sample.work(plan);
    // An ID with its end, and a length.
    let names = scaled(sample.id_bytes) + documents * 12;
    let allowed = plan.resources().memory;
    let memory_bytes = match plan.method().close() {
        Criterion::Similarity(_) => (scaled(terms) * BYTES_A_TERM).min(allowed),
        Criterion::Distance(_) => {
            let row = plan.method().recipe().row_bytes();
            documents * row + (documents * (2 * row + 12)).min(allowed)
        }
    };
    let share = text_bytes as f64 / sampled_bytes.max(1) as f64;
    let seconds = seconds * share * plan.readings() / plan.resources().threads as f64;
    let memory_bytes = names + memory_bytes;
    Estimate { documents, text_bytes, memory_bytes, seconds, queries: None }
}

/// Bytes of a shard's content for each of its bytes on disk, about.
fn expansion(collection: &dyn Corpus, shard: usize) -> u64 {
    let Some(files) = collection.as_files() else { return 1 };
    // A file that is cut is a plain one.
    let file = collection.shard_file(shard);
    let is_cut = [shard.wrapping_sub(1), shard + 1]
        .iter()
        .any(|&near| near < collection.shard_count() && collection.shard_file(near) == file);
    let packed = !is_cut
        && files.recognize(file).is_ok_and(|recognized| {
            recognized.compression != Compression::None || recognized.format == Format::Parquet
        });
    if packed { EXPANSION } else { 1 }
}

impl Sample {
    /// Reads the first documents of a shard.
    fn read(&mut self, collection: &dyn Corpus, shard: usize) {
        let (mut first, mut last, mut text_bytes) = (None, 0, 0);
        let mut is_whole = true;
        let read = collection.read_shard(shard, &mut |event| {
            let Event::Record(record) = event else { return Ok(ControlFlow::Continue(())) };
            first.get_or_insert(record.byte);
            last = record.byte;
            if text_bytes >= SAMPLED_BYTES {
                is_whole = false;
                return Ok(ControlFlow::Break(()));
            }
            if let Content::Document(document) = record.content {
                text_bytes += document.text.len() as u64;
                self.id_bytes += document.id.map_or(0, |id| id.len() as u64);
                self.texts.push(document.text.to_vec());
            }
            Ok(ControlFlow::Continue(()))
        });
        let consumed = last - first.unwrap_or(0);
        self.consumed += if is_whole && read.is_ok() {
            collection.shard_bytes(shard)
        } else if consumed == 0 {
            // Rows of a table have no place in a file.
            text_bytes / expansion(collection, shard)
        } else {
            consumed / expansion(collection, shard)
        };
    }

    /// The number of terms of the texts, and the seconds that one core needs for what is made of
    /// each.
    fn work(&self, plan: &Plan) -> (u64, f64) {
        let (recipe, isa) = (plan.method().recipe(), plan.resources().isa);
        let maker = DocumentTerms::new(recipe.terms(), &Fitted::Nothing, isa);
        // Most words of most texts are none of the frequent ones; all are looked up.
        let rows = recipe.sketch().filter(|_| matches!(recipe.terms(), Terms::Shingles { .. }));
        let rows = rows.map(|sketch| RowMaker::new(recipe.terms(), sketch, &Fitted::Nothing, isa));
        let (mut scratch, mut row_scratch) = (TermScratch::default(), RowScratch::default());
        let (mut terms, mut seconds, mut row) = (0, 0.0, Vec::new());
        // The first pass warms up.
        for _ in 0..2 {
            let start = Instant::now();
            terms = 0;
            for text in &self.texts {
                row.clear();
                terms += match &rows {
                    Some(rows) => rows.push(text, &mut row, &mut row_scratch).1 as u64,
                    None => maker.of(text, &mut scratch).len() as u64,
                };
                std::hint::black_box(&row);
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
    /// The plan of the join, if the fingerprints are as good as random.
    #[must_use]
    pub fn join_plan(&self, plan: &Plan) -> Option<SearchPlan> {
        let method = plan.method();
        let (Criterion::Distance(max_distance), Some(sketch)) =
            (method.close(), method.recipe().sketch())
        else {
            return None;
        };
        let count = |documents: u64| usize::try_from(documents).unwrap_or(usize::MAX);
        let (task, methods) = match self.queries {
            None => (SearchTask::SelfJoin, SELF_JOINS),
            Some(queries) => (SearchTask::Batch { queries: count(queries) }, JOINS),
        };
        let units = sketch.shape().units();
        let workload = Workload {
            task,
            rows: count(self.documents - self.queries.unwrap_or(0)),
            shape: sketch.shape(),
            effective_bits: units,
            max_distance,
            memory: plan.resources().memory,
        };
        SearchPlan::among(workload, methods).ok()
    }
}
