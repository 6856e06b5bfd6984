//! Lines of JSON that come through a pipe: each is answered, and those that are new are added.

use super::adder::{Added, Arrival, IndexAdder};
use super::kept_recipe::KeptRecipe;
use crate::document::{Bad, Content};
use crate::error::Result;
use crate::fingerprint_rows::{FingerprintRows, RowsBuilder};
use crate::pipeline::method::{Fitted, RowMaker, RowScratch};
use crate::pipeline::workers::Workers;
use crate::read::{Corpus, Event, JsonLinesInMemory, ReadOptions};
use crate::resources::Resources;
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// What became of a line.
#[derive(Clone, Debug)]
pub enum LineFate {
    /// A document, which has this ID.
    Document(Vec<u8>, Added),
    /// No document, and meant so.
    Blank,
    /// Something that should have been a document.
    Bad(Bad),
}

/// A line of a batch.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its bytes in the batch, with its end.
    pub bytes: Range<usize>,
    /// What became of it.
    pub fate: LineFate,
}

/// What a line holds.
#[derive(Debug)]
enum Held {
    /// A document, with its ID if it has one; whether it has a row.
    Document(Option<Vec<u8>>, bool),
    Blank,
    Bad(Bad),
}

/// The lines of a shard, and the rows of their documents.
struct ShardLines {
    shard: usize,
    lines: Vec<(Range<usize>, Held)>,
    words: Vec<u64>,
}

/// Makes rows of lines, while an index is added those that were read before.
#[derive(Debug)]
pub struct LineReader {
    recipe: Arc<KeptRecipe>,
    resources: Resources,
    workers: Arc<Workers>,
    options: ReadOptions,
    /// Lines that were read.
    lines: u64,
}

/// Lines that were read.
#[derive(Debug)]
pub struct ReadLines {
    rows: FingerprintRows<'static>,
    /// The IDs of the rows.
    ids: Vec<Vec<u8>>,
    lines: Vec<(Range<usize>, Held)>,
}

impl LineReader {
    /// Reads whole lines, which follow those that were read before. A document without an ID is called
    /// `-:N`, where the first line of all is number 0.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub fn read(&mut self, lines: &[u8]) -> Result<ReadLines> {
        let corpus = JsonLinesInMemory::new(lines, &self.options);
        let recipe = self.recipe.method().recipe();
        // An index keeps rows of methods that have them.
        let Some(sketch) = recipe.sketch() else {
            let rows = RowsBuilder::new(self.recipe.reach.shape).finish();
            return Ok(ReadLines { rows, ids: Vec::new(), lines: Vec::new() });
        };
        let maker = RowMaker::new(recipe.terms(), sketch, &Fitted::Nothing, self.resources.isa);
        let read = |shards: &mut dyn Iterator<Item = usize>| {
            let mut scratch = RowScratch::default();
            shards
                .map(|shard| {
                    read_shard(&corpus, shard, &maker, &mut scratch).map_err(|error| (shard, error))
                })
                .collect::<Result<Vec<_>, _>>()
        };
        let mut shards: Vec<ShardLines> =
            self.workers.try_share(corpus.shard_count(), read)?.into_iter().flatten().collect();
        shards.sort_unstable_by_key(|lines| lines.shard);

        let (mut rows, mut ids) = (RowsBuilder::new(maker.shape()), Vec::new());
        for ShardLines { lines, words, .. } in &mut shards {
            let mut words = words.chunks_exact(maker.shape().words());
            for (_, held) in lines {
                if let Held::Document(id, has_row) = held {
                    let row = words.next();
                    rows.push(row.filter(|_| *has_row));
                    let number = self.lines;
                    ids.push(id.take().unwrap_or_else(|| format!("-:{number}").into_bytes()));
                }
                self.lines += 1;
            }
        }
        let lines = shards.into_iter().flat_map(|shard| shard.lines).collect();
        Ok(ReadLines { rows: rows.finish(), ids, lines })
    }
}

impl IndexAdder {
    /// What makes rows of lines for this index, with the fields that `options` names.
    #[must_use]
    pub fn line_reader(&self, options: &ReadOptions) -> LineReader {
        let (recipe, resources, workers) = self.shared();
        LineReader { recipe, resources, workers, options: options.clone(), lines: 0 }
    }

    /// Adds the documents of lines in their order, as [`Self::add`] does; what became of each line.
    ///
    /// # Errors
    ///
    /// As [`Self::add`].
    pub fn add_lines(&mut self, read: ReadLines, arrival: Arrival<'_>) -> Result<Vec<Line>> {
        let ReadLines { rows, ids, lines } = read;
        let added = self.add(&rows, |row| Cow::Borrowed(&ids[row][..]), arrival)?;
        let mut documents = ids.into_iter().zip(added);
        let line = |(bytes, held): (Range<usize>, Held)| {
            let fate = match held {
                Held::Document(..) => {
                    let (id, added) = documents.next()?;
                    LineFate::Document(id, added)
                }
                Held::Blank => LineFate::Blank,
                Held::Bad(bad) => LineFate::Bad(bad),
            };
            Some(Line { bytes, fate })
        };
        Ok(lines.into_iter().filter_map(line).collect())
    }
}

fn read_shard(
    corpus: &JsonLinesInMemory<'_>,
    shard: usize,
    maker: &RowMaker,
    scratch: &mut RowScratch,
) -> Result<ShardLines> {
    let (mut lines, mut words, mut stretch) = (Vec::new(), Vec::new(), 0);
    corpus.read_shard(shard, &mut |event| {
        match event {
            Event::Record(record) => {
                let start = record.byte as usize;
                let held = match record.content {
                    Content::Document(document) => {
                        let has_row = maker.push(document.text, &mut words, scratch).0;
                        Held::Document(document.id.map(<[u8]>::to_vec), has_row)
                    }
                    Content::Bad(bad) => Held::Bad(bad.clone()),
                    Content::PassThrough | Content::PassedOver => Held::Blank,
                };
                // Of a line that is too long the bytes came before.
                let length = stretch + record.bytes.len();
                lines.push((start..start + length, held));
                stretch = 0;
            }
            Event::Stretch(bytes) => stretch += bytes.len(),
            Event::Fault(_) | Event::Reached(_) => {}
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(ShardLines { shard, lines, words })
}
