//! Handles JSON lines that come through a pipe. Each line gets a result, and new documents are added to an
//! index.

use super::adder::{Added, Arrival, IndexAdder};
use super::kept_recipe::KeptRecipe;
use crate::method::{Fitted, RowMaker, RowScratch};
use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use simtool_base::error::Result;
use simtool_compute::context::Context;
use simtool_model::document::{Bad, Content};
use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
use simtool_read::{Corpus, Event, JsonLinesInMemory, ReadOptions};
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Result of reading a line and adding its document.
#[derive(Clone, Debug)]
pub enum LineStatus {
    /// The line is a document. The values are its ID, and the result of adding it: it is new, or near another
    /// document.
    Document(Vec<u8>, Added),
    /// The line is empty or was not selected, so it is not a document.
    Blank,
    /// The line should have been a document but cannot be read as one.
    Bad(Bad),
}

/// A line of a batch (lines that were read together), and its result.
#[derive(Clone, Debug)]
pub struct Line {
    /// Byte range of the line in the batch, including its line end.
    pub bytes: Range<usize>,
    /// Result of reading the line and adding its document.
    pub status: LineStatus,
}

impl Line {
    /// Returns whether the document of the line is near an earlier document.
    #[must_use]
    pub(crate) fn is_repeat(&self) -> bool {
        matches!(self.status, LineStatus::Document(_, Added::Repeats(_)))
    }
}

/// Content of a line that was parsed and whose document is not added to the index yet.
#[derive(Debug)]
enum HeldLine {
    /// A document. The values are its ID, if it has one, and whether it has a fingerprint.
    Document(Option<Vec<u8>>, bool),
    Blank,
    Bad(Bad),
}

/// Lines of one shard, which is a part of a batch that one thread reads, and the fingerprints of their
/// documents.
#[derive(Debug)]
struct ShardLines {
    lines: Vec<(Range<usize>, HeldLine)>,
    words: Vec<u64>,
}

/// Lines of a batch and the fingerprints of their documents, which are not in the index yet.
#[derive(Debug)]
pub struct ReadLines {
    shards: Vec<ShardLines>,
    /// Shape of the fingerprints.
    shape: Shape,
}

/// Reader that turns lines into fingerprints. It can work while the index adds other lines.
#[derive(Debug)]
pub struct LineReader {
    recipe: Arc<KeptRecipe>,
    context: Context<'static>,
    options: ReadOptions,
}

impl LineReader {
    /// Parses `lines`, which must be whole JSON lines, and computes the fingerprints of their documents.
    /// Meanwhile, the same threads do `work`. Returns the parsed lines and the result of `work`.
    ///
    /// # Errors
    ///
    /// The same as [`Corpus::read_shard`].
    pub fn read_during<R: Send>(
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
        // `KeptRecipe::new` refuses methods without fingerprints.
        let Some(sketch) = recipe.sketch() else {
            return Ok(ReadLines { shards: Vec::new(), shape });
        };
        let maker = RowMaker::new(recipe.terms(), sketch, &Fitted::Nothing, self.context.isa());
        // Every shard is a task of its own, so that no thread idles while another thread has several shards.
        let shards = (0..corpus.shard_count()).into_par_iter().with_max_len(1);
        let read = |scratch: &mut RowScratch, shard| read_shard(&corpus, shard, &maker, scratch);
        let shards = shards.map_init(RowScratch::default, read).collect::<Result<_>>()?;
        Ok(ReadLines { shards, shape })
    }
}

impl IndexAdder {
    /// Returns a reader of lines for [`add_lines`](Self::add_lines).
    ///
    /// # Errors
    ///
    /// This version of simtool makes other fingerprints than those of the index.
    pub fn line_reader(&self, options: ReadOptions) -> Result<LineReader> {
        let (recipe, context) = self.shared();
        recipe.check_made_here()?;
        Ok(LineReader { recipe, context, options })
    }

    /// Adds the documents of the lines in their order, like [`add`](Self::add), and returns the result of
    /// each line. A document without an ID gets the ID `-:N`, where N is its line number. The first line of
    /// the batch has the number `first_line`.
    ///
    /// # Errors
    ///
    /// The same as [`add`](Self::add).
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
                if let HeldLine::Document(id, has_row) = held {
                    // A document without a fingerprint has words as well. Skipping them keeps the words of
                    // later documents in step.
                    let row = words.next();
                    rows.push(row.filter(|_| *has_row));
                    ids.push(id.take().unwrap_or_else(|| format!("-:{number}").into_bytes()));
                }
                // Blank and bad lines count as well, so that N in `-:N` is the line number in the input.
                number += 1;
            }
        }
        let added = self.add(&rows.finish(), |row| Cow::Borrowed(&ids[row][..]), arrival)?;
        let mut documents = ids.into_iter().zip(added);
        let line = |(bytes, held): (Range<usize>, HeldLine)| {
            let status = match held {
                HeldLine::Document(..) => {
                    let (id, added) = documents.next()?;
                    LineStatus::Document(id, added)
                }
                HeldLine::Blank => LineStatus::Blank,
                HeldLine::Bad(bad) => LineStatus::Bad(bad),
            };
            Some(Line { bytes, status })
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
    let (mut lines, mut words, mut piece) = (Vec::new(), Vec::new(), 0);
    corpus.read_shard(shard, &mut |event| {
        match event {
            Event::Record(record) => {
                let start = record.byte as usize;
                let held = match record.content {
                    Content::Document(document) => {
                        let has_row = maker.push(document.text, &mut words, scratch).0;
                        HeldLine::Document(document.id.map(|id| id.bytes().to_vec()), has_row)
                    }
                    Content::Bad(bad) => HeldLine::Bad(bad.clone()),
                    Content::PassThrough | Content::NonDocument(_) | Content::PassedOver => {
                        HeldLine::Blank
                    }
                };
                // A line that is too long comes in several pieces of bytes before its record.
                let length = piece + record.bytes.len();
                lines.push((start..start + length, held));
                piece = 0;
            }
            Event::Piece(bytes) => piece += bytes.len(),
            Event::Fault(_) | Event::Reached(_) => {}
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(ShardLines { lines, words })
}
