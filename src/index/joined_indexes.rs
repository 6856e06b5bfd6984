//! Adds all documents of an index to another index.

use super::adder::{Added, IndexAdder};
use super::stored::{Index, StoredDocument};
use crate::index::store::Repeats;
use simtool_base::error::{Error, Result};
use simtool_model::fingerprint_rows::RowsBuilder;
use std::borrow::Cow;

/// Number of documents that are looked up and added in one step.
const BATCH: usize = 1 << 16;

/// Counts of the documents of an index that was merged into another index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinedCounts {
    /// Number of documents that were added.
    pub new: u64,
    /// Number of documents that were not added, because they are near a document of the other index. They count as
    /// repeats of that document.
    pub repeats: u64,
    /// Number of the repeats that have the same ID and the same fingerprint as the document that they repeat.
    pub same: u64,
}

/// Documents of the index that is merged into this index. One step looks them up in this index and adds them.
#[derive(Default)]
struct DocumentBatch {
    words: Vec<u64>,
    ids: Vec<Vec<u8>>,
    origins: Vec<(u32, u64)>,
    repeats: Vec<Vec<Repeats>>,
}

impl IndexAdder {
    /// Adds all documents of another index in their order, with their sources and times. A document that is
    /// near a document of this index is not added, but counts as a repeat of that document. Repeats that the
    /// other index has counted are added, too. The caller must commit.
    ///
    /// # Errors
    ///
    /// The indexes have rows of different recipes, one of them is damaged, or [`add`](Self::add) fails.
    pub(crate) fn add_index(&mut self, other: &Index) -> Result<JoinedCounts> {
        self.shared().0.check_kept(other.shared().0)?;
        // The indexes number their sources independently, so numbers are translated by name.
        let sources: Vec<u32> =
            other.sources().iter().map(|name| self.source_number(name)).collect::<Result<_>>()?;
        let source = |number: u32| {
            let found = sources.get(number as usize).copied();
            found.ok_or_else(|| Error::config("folder", number, "is the number of no source of it"))
        };
        let (mut batch, mut counts) = (DocumentBatch::default(), JoinedCounts::default());
        other.visit_stored(&mut |document| {
            let StoredDocument { id, words, source: own, time, repeats, .. } = document;
            batch.words.extend_from_slice(words);
            batch.ids.push(id.to_vec());
            batch.origins.push((source(own)?, time));
            let repeats = repeats
                .iter()
                .map(|repeats| Ok(Repeats { source: source(repeats.source)?, ..*repeats }));
            batch.repeats.push(repeats.collect::<Result<_>>()?);
            // Batches bound the memory, and one search for many rows is faster than many searches.
            if batch.ids.len() == BATCH {
                self.add_batch(std::mem::take(&mut batch), &mut counts)?;
            }
            Ok(())
        })?;
        self.add_batch(batch, &mut counts)?;
        Ok(counts)
    }

    fn add_batch(&mut self, batch: DocumentBatch, counts: &mut JoinedCounts) -> Result<()> {
        let shape = self.shared().0.reach.shape;
        let mut rows = RowsBuilder::new(shape);
        batch.words.chunks_exact(shape.words()).for_each(|row| rows.push(Some(row)));
        let (id, origin) =
            (|row: usize| Cow::Borrowed(&batch.ids[row][..]), |row: usize| batch.origins[row]);
        let added = self.add_from(&rows.finish(), id, origin)?;
        for ((added, repeats), id) in added.into_iter().zip(batch.repeats).zip(&batch.ids) {
            let number = match added {
                Added::New(number) => {
                    counts.new += 1;
                    number
                }
                Added::Repeats(near) => {
                    counts.repeats += 1;
                    let is_same = near.distance == 0 && *self.id(near.number)? == **id;
                    counts.same += u64::from(is_same);
                    near.number
                }
                // An index stores only documents with a fingerprint, so this does not occur.
                Added::WithoutWords => continue,
            };
            // The repeats of a document of the other index now belong to the document that represents it
            // here, new or not.
            for repeats in repeats {
                self.add_repeats(Repeats { number, ..repeats });
            }
        }
        Ok(())
    }
}
