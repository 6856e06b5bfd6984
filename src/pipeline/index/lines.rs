//! Lines of JSON that come through a pipe: each is answered, and those that are new are added.

use super::adder::{Added, Arrival, IndexAdder};
use super::kept_recipe::KeptRecipe;
use crate::pipeline::method::{Fitted, RowMaker, RowScratch};
use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use simtool_base::error::Result;
use simtool_compute::context::Context;
use simtool_model::document::{Bad, Content};
use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
use simtool_read::{Corpus, Event, JsonLinesInMemory, ReadOptions};
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
#[derive(Debug)]
struct ShardLines {
    lines: Vec<(Range<usize>, Held)>,
    words: Vec<u64>,
}

/// The lines of a batch, with the rows of their documents, which are still to be added.
#[derive(Debug)]
pub struct ReadLines {
    shards: Vec<ShardLines>,
    /// Of their rows.
    shape: Shape,
}

/// What reads lines for an index, also while the index answers others.
#[derive(Debug)]
pub struct LineReader {
    recipe: Arc<KeptRecipe>,
    context: Context<'static>,
    options: ReadOptions,
}

impl LineReader {
    /// The documents of whole lines, and their rows, while `work` is done by the same threads; and what
    /// `work` returns.
    ///
    /// # Errors
    ///
    /// As [`Corpus::read_shard`].
    pub fn read_beside<R: Send>(
        &self,
        lines: &[u8],
        work: impl FnOnce() -> R + Send,
    ) -> Result<(ReadLines, R)> {
        let (done, read) = self.context.threads().run(|| rayon::join(work, || self.read(lines)))?;
        Ok((read?, done))
    }

    fn read(&self, lines: &[u8]) -> Result<ReadLines> {
        let corpus = JsonLinesInMemory::new(lines, &self.options);
        let (recipe, shape) = (self.recipe.method().recipe(), self.recipe.reach.shape);
        // An index keeps rows of methods that have them.
        let Some(sketch) = recipe.sketch() else {
            return Ok(ReadLines { shards: Vec::new(), shape });
        };
        let maker = RowMaker::new(recipe.terms(), sketch, &Fitted::Nothing, self.context.isa());
        let shards = (0..corpus.shard_count()).into_par_iter().with_max_len(1);
        let read = |scratch: &mut RowScratch, shard| read_shard(&corpus, shard, &maker, scratch);
        let shards = shards.map_init(RowScratch::default, read).collect::<Result<_>>()?;
        Ok(ReadLines { shards, shape })
    }
}

impl IndexAdder {
    /// What reads lines with these fields for [`Self::add_lines`].
    #[must_use]
    pub fn line_reader(&self, options: ReadOptions) -> LineReader {
        let (recipe, context) = self.shared();
        LineReader { recipe, context, options }
    }

    /// Adds the documents of lines in their order, as [`Self::add`] does; what became of each line.
    /// A document without an ID is called `-:N`, where the first line of the batch is number
    /// `first_line`.
    ///
    /// # Errors
    ///
    /// As [`Self::add`].
    pub fn add_lines(
        &mut self,
        ReadLines { mut shards, shape }: ReadLines,
        first_line: u64,
        arrival: Arrival<'_>,
    ) -> Result<Vec<Line>> {
        let (mut rows, mut ids, mut number) = (RowsBuilder::new(shape), Vec::new(), first_line);
        for ShardLines { lines, words } in &mut shards {
            let mut words = words.chunks_exact(shape.words());
            for (_, held) in lines {
                if let Held::Document(id, has_row) = held {
                    let row = words.next();
                    rows.push(row.filter(|_| *has_row));
                    ids.push(id.take().unwrap_or_else(|| format!("-:{number}").into_bytes()));
                }
                number += 1;
            }
        }
        let added = self.add(&rows.finish(), |row| Cow::Borrowed(&ids[row][..]), arrival)?;
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
        Ok(shards.into_iter().flat_map(|shard| shard.lines).filter_map(line).collect())
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
    Ok(ShardLines { lines, words })
}
