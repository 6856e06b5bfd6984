//! Lines of JSON that come through a pipe: each is answered, and those that are new are added.

use super::adder::{Added, Arrival, IndexAdder};
use crate::document::{Bad, Content};
use crate::error::Result;
use crate::fingerprint_rows::RowsBuilder;
use crate::pipeline::method::{Fitted, RowMaker, RowScratch};
use crate::read::{Corpus, Event, JsonLinesInMemory, ReadOptions};
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

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

impl IndexAdder {
    /// Adds the documents of whole lines in their order, as [`Self::add`] does; what became of each
    /// line. A document without an ID is called `-:N`, where the first line of the batch is number
    /// `first_line`.
    ///
    /// # Errors
    ///
    /// As [`Self::add`].
    pub fn add_lines(
        &mut self,
        lines: &[u8],
        options: &ReadOptions,
        first_line: u64,
        arrival: Arrival<'_>,
    ) -> Result<Vec<Line>> {
        let corpus = JsonLinesInMemory::new(lines, options);
        let (recipe, resources, workers) = self.shared();
        let recipe = recipe.method().recipe();
        // An index keeps rows of methods that have them.
        let Some(sketch) = recipe.sketch() else { return Ok(Vec::new()) };
        let maker = RowMaker::new(recipe.terms(), sketch, &Fitted::Nothing, resources.isa);
        let read = |shards: &mut dyn Iterator<Item = usize>| {
            let mut scratch = RowScratch::default();
            shards
                .map(|shard| {
                    read_shard(&corpus, shard, &maker, &mut scratch).map_err(|error| (shard, error))
                })
                .collect::<Result<Vec<_>, _>>()
        };
        let mut shards: Vec<ShardLines> =
            workers.try_share(corpus.shard_count(), read)?.into_iter().flatten().collect();
        shards.sort_unstable_by_key(|lines| lines.shard);

        let (mut rows, mut ids, mut number) =
            (RowsBuilder::new(maker.shape()), Vec::new(), first_line);
        for ShardLines { lines, words, .. } in &mut shards {
            let mut words = words.chunks_exact(maker.shape().words());
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
    Ok(ShardLines { shard, lines, words })
}
