//! Computes the fingerprints of a corpus in groups of consecutive shards (parts of the input).
//!
//! Only the fingerprints of one group are in memory at a time, and documents come in reading order.

use super::kept_recipe::KeptRecipe;
use crate::method::Fitted;
use crate::pipeline::document_names::document_name_at;
use crate::pipeline::document_traits::WantedTraits;
use crate::pipeline::fingerprint_collection::{
    CollectionRows, FingerprintedCollection, WithoutWords,
};
use crate::pipeline::shard_summary::CollectionSummary;
use crate::pipeline::watched::Watched;
use simtool_base::error::Result;
use simtool_base::fault::{Fault, Severity};
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_model::document::{DocOrdinal, DocumentIds, Place};
use simtool_model::document_name::DocumentName;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_read::Corpus;
use simtool_read::view::View;

/// Minimum size of a group of shards (input files or parts of them), in bytes of input files. A group takes no more
/// shards once it has this size.
const GROUP_BYTES: u64 = 32 << 20;

/// View of a corpus that shows only some of its shards. A shard is an input file or a part of a large file.
#[derive(Debug)]
struct SomeShards<'c> {
    corpus: &'c dyn Corpus,
    shards: &'c [usize],
}

impl View for SomeShards<'_> {
    fn shown(&self) -> &dyn Corpus {
        self.corpus
    }

    fn shown_shards(&self) -> Option<&[usize]> {
        Some(self.shards)
    }
}

/// Consecutive shards (input files or parts of them) that were read together, with the fingerprints of their documents.
pub(super) struct DocumentGroup<'g> {
    corpus: &'g dyn Corpus,
    shards: &'g [usize],
    made: &'g FingerprintedCollection,
    /// Place at which the previous groups ended: the number of a file, and the number of records that they read from
    /// it. This group may continue that file.
    begun: (usize, u64),
}

impl<'g> DocumentGroup<'g> {
    /// Returns the fingerprints of the documents in reading order.
    pub(super) fn rows(&self) -> &'g FingerprintRows<'static> {
        &self.made.rows
    }

    /// Returns the ID, file and record number of the document at position `row` of the group, counted from 0.
    pub(super) fn name(&self, row: usize) -> DocumentName<'g> {
        let id = self.made.summary.ids.id(DocOrdinal(row as u32));
        document_name_at(self.corpus, id, self.place(row))
    }

    /// Returns the file and record number of the document at position `row` of the group.
    pub(super) fn place(&self, row: usize) -> Place {
        let mut place = self.made.summary.ids.place(DocOrdinal(row as u32));
        // In its first file, a group counts records from its own first shard on. The records that earlier
        // groups had of this file are added.
        if place.file as usize == self.begun.0 {
            place.record += self.begun.1;
        }
        place
    }

    /// Returns for each document of the group the number of its file in the corpus.
    pub(super) fn files(&self) -> Vec<usize> {
        let ids = &self.made.summary.ids;
        let of_shard = |(at, &shard): (usize, &usize)| {
            let count = ids.end_of_shard(at).index() - ids.first_of_shard(at).index();
            std::iter::repeat_n(self.corpus.shard_file(shard), count)
        };
        self.shards.iter().enumerate().flat_map(of_shard).collect()
    }

    /// Returns whether a part of the file was lost while the group was read.
    pub(super) fn has_loss(&self, file: usize) -> bool {
        let name = self.corpus.file_name(file);
        let is_loss = |fault: &Fault| fault.severity == Severity::Loss && fault.file == name;
        self.made.summary.faults.iter().any(is_loss)
    }

    /// Returns the number of each file that the group has shards (parts) of, and whether the group has the last shard
    /// of the file.
    pub(super) fn ended_files(&self) -> Vec<(usize, bool)> {
        let file = |shard: usize| self.corpus.shard_file(shard);
        let mut files: Vec<(usize, bool)> = Vec::new();
        for &shard in self.shards {
            // A file is whole only when its last shard was read. Otherwise an interrupted call could not
            // continue in the middle of the file.
            let next = shard + 1;
            let is_last = next == self.corpus.shard_count() || file(next) != file(shard);
            match files.last_mut() {
                Some((last, ended)) if *last == file(shard) => *ended = is_last,
                _ => files.push((file(shard), is_last)),
            }
        }
        files
    }
}

/// Reader of a corpus in groups of consecutive shards (input files or parts of them). It makes the fingerprints of each
/// group by `recipe`.
#[derive(Clone, Copy)]
pub(super) struct GroupedReading<'r> {
    pub(super) recipe: &'r KeptRecipe,
    pub(super) context: &'r Context<'r>,
    /// Whether the summary of the reading has the IDs of all documents.
    pub(super) keeps_ids: bool,
}

impl GroupedReading<'_> {
    /// Reads the shards of `corpus` that `shards` lists in ascending order. Calls `visit` with one group of shards and
    /// its fingerprints after the other. Returns the summary of the reading, without the lengths of the texts.
    ///
    /// # Errors
    ///
    /// This version of simtool makes other fingerprints than those of the index, the corpus cannot be read, or
    /// `visit` fails.
    pub(super) fn for_each_group(
        &self,
        corpus: &dyn Corpus,
        shards: &[usize],
        visit: &mut dyn FnMut(&DocumentGroup<'_>) -> Result<()>,
    ) -> Result<CollectionSummary> {
        let &Self { recipe, context, keeps_ids } = self;
        recipe.check_made_here()?;
        let bytes = |shard: &usize| corpus.shard_bytes(*shard);
        let progress = context.progress();
        progress.begin("reading", Work::Bytes(shards.iter().map(bytes).sum()));
        let watched = Watched { corpus, progress };
        let rows = CollectionRows {
            recipe: recipe.method().recipe(),
            fitted: &Fitted::Nothing,
            wanted: WantedTraits::NONE,
            sequence_of: None,
            without_words: WithoutWords::Allowed,
            parts: None,
            context,
        };
        let mut summary = CollectionSummary::default();
        let (mut rest, mut begun, mut ids) = (shards, (usize::MAX, 0), Vec::new());
        while !rest.is_empty() {
            let mut size = 0;
            let is_in = |shard: &&usize| {
                // The size is checked before it grows, so a group has at least one shard of any size.
                let has_room = size < GROUP_BYTES;
                size += bytes(shard);
                has_room
            };
            let count = rest.iter().take_while(is_in).count();
            let (group, later) = rest.split_at(count);
            let mut made = rows.read(&SomeShards { corpus: &watched, shards: group })?;
            made.summary.quarantined.renumber(begun.0, begun.1);
            visit(&DocumentGroup { corpus, shards: group, made: &made, begun })?;
            // The next group may continue the last file of this group.
            let last = (count - 1, corpus.shard_file(group[count - 1]));
            let records = made.summary.ids.end_record_of_shard(last.0);
            // A file that spans several groups has records in each of them.
            let before = if last.1 == begun.0 { begun.1 } else { 0 };
            begun = (last.1, before + records);
            // The IDs of a large corpus take much memory, so the IDs of each group are dropped unless they are
            // needed.
            if keeps_ids {
                ids.extend(std::mem::take(&mut made.summary.ids).into_shards());
            }
            summary.add_faults(made.summary);
            rest = later;
        }
        summary.ids = DocumentIds::new(ids)?;
        Ok(summary)
    }
}
