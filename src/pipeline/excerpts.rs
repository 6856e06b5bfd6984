//! Keeps the beginnings of texts that are expensive to read again, while a run reads them for the first time.
//!
//! The page of a run shows a text of each listed cluster. In a large compressed file, a text can be read again only
//! together with everything before it. When the text is first read, it is not known which documents the page
//! lists, so the beginnings of all texts are kept, as far as the memory for them is enough.

use simtool_base::error::Result;
use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_model::document::{Content, DocOrdinal, DocumentIds};
use simtool_model::sides::Sides;
use simtool_read::view::{Reading, View};
use simtool_read::{Corpus, Event, Price, Visit};
use std::sync::OnceLock;

/// Maximum number of bytes of an excerpt, which is the beginning of a text.
const EXCERPT_BYTES: usize = 240;
/// Number of bytes that an excerpt takes in addition to its text: the offset at which the excerpt ends.
const BYTES_A_PLACE: usize = size_of::<u32>();
/// Divisor of the memory limit. The excerpts of all collections may take 1/`MEMORY_PART` of the limit.
const MEMORY_PART: u64 = 64;
/// Maximum number of bytes of all excerpts together.
const MOST_BYTES: u64 = 256 << 20;

/// Beginnings of the texts of one collection.
#[derive(Debug)]
pub(crate) struct Excerpts {
    /// For each shard, the number of bytes that its excerpts may take, and its excerpts once it was read.
    shards: Vec<(usize, OnceLock<ShardExcerpts>)>,
    _memory: Reservation,
}

/// Beginnings of the texts of the first documents of a shard.
#[derive(Debug, Default)]
struct ShardExcerpts {
    bytes: Vec<u8>,
    /// For each document, the end of its excerpt in `bytes`.
    ends: Vec<u32>,
}

/// Returns the number of bytes that the excerpts of all collections may take. `memory` is the memory limit in bytes.
fn budget(memory: u64) -> u64 {
    (memory / MEMORY_PART).min(MOST_BYTES)
}

/// Estimates the bytes of memory for the excerpts of `documents` documents whose texts are expensive to read again.
/// `memory` is the memory limit of the run in bytes.
pub(crate) fn excerpts_cost(documents: f64, memory: u64) -> f64 {
    (documents * (EXCERPT_BYTES + BYTES_A_PLACE) as f64).min(budget(memory) as f64)
}

impl Excerpts {
    /// Prepares the excerpts of the collections that a run reads. The memory is counted until the excerpts are
    /// dropped.
    pub(crate) fn of_collections(corpora: &Sides<&dyn Corpus>, memory: &Ledger) -> Sides<Self> {
        let expensive = |corpus: &dyn Corpus| -> u64 {
            (0..corpus.shard_count()).map(|shard| expensive_bytes(corpus, shard)).sum()
        };
        let all: u64 = corpora.iter().map(|corpus| expensive(*corpus)).sum();
        // Excerpts are seldom larger than the compressed files.
        let budget = budget(memory.limit()).min(all);
        corpora.map(|corpus| {
            // Each shard has its own share, so that the choice does not depend on the order of reading.
            let share = |bytes: u64| {
                (u128::from(budget) * u128::from(bytes)).checked_div(all.into()).unwrap_or(0)
                    as usize
            };
            let shards = 0..corpus.shard_count();
            Self {
                shards: shards
                    .map(|shard| (share(expensive_bytes(corpus, shard)), OnceLock::new()))
                    .collect(),
                _memory: memory.hold(share(expensive(corpus)) as u64),
            }
        })
    }

    /// Returns the bytes of the excerpts of a shard, and the end of each excerpt in them. Both are empty if there
    /// are no excerpts.
    pub(super) fn of_shard(&self, shard: usize) -> (&[u8], &[u32]) {
        self.shards[shard].1.get().map_or((&[], &[]), |of_shard| (&of_shard.bytes, &of_shard.ends))
    }

    /// Sets the excerpts of a shard to `bytes` and `ends`, which [`of_shard`](Self::of_shard) has returned in an
    /// earlier run. Excerpts that do not fit in the memory for this shard are left out.
    pub(super) fn restore(&self, shard: usize, bytes: &[u8], ends: &[u32]) {
        let (most, of_shard) = &self.shards[shard];
        // The run that stored the excerpts may have had more memory.
        let mut restored = ShardExcerpts::default();
        let mut start = 0;
        for &end in ends {
            let excerpt = bytes.get(start..end as usize).unwrap_or_default();
            if !restored.push(excerpt, *most) {
                break;
            }
            start = end as usize;
        }
        drop(of_shard.set(restored));
    }

    /// Returns the excerpt of a document, or `None` if there is none.
    pub(crate) fn get(&self, ids: &DocumentIds, document: DocOrdinal) -> Option<&[u8]> {
        let (shard, index) = ids.shard_of(document);
        let (_, excerpts) = &self.shards[shard];
        excerpts.get()?.get(index as usize)
    }
}

/// Returns the number of bytes of a shard if its texts are expensive to read again, and otherwise 0.
fn expensive_bytes(corpus: &dyn Corpus, shard: usize) -> u64 {
    match corpus.price(shard) {
        Price::Cheap => 0,
        Price::Unpacked | Price::Expensive => corpus.shard_bytes(shard),
    }
}

impl ShardExcerpts {
    /// Adds the beginning of `text`, unless the excerpts of the shard would then take more than `most` bytes. Returns
    /// whether it was added.
    fn push(&mut self, text: &[u8], most: usize) -> bool {
        // White space in front would only take room.
        let text = text.trim_ascii_start();
        let excerpt = &text[..character_border(text, EXCERPT_BYTES)];
        let bytes = self.bytes.len() + excerpt.len();
        if bytes + (self.ends.len() + 1) * BYTES_A_PLACE <= most
            && let Ok(end) = u32::try_from(bytes)
        {
            self.bytes.extend_from_slice(excerpt);
            self.ends.push(end);
            return true;
        }
        false
    }

    fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        Some(&self.bytes[start..end])
    }
}

/// Returns the greatest byte offset, up to `most`, at which a text can be cut without cutting a character.
pub(crate) fn character_border(text: &[u8], most: usize) -> usize {
    if text.len() <= most {
        return text.len();
    }
    let is_inside = |&at: &usize| text[at] & 0b1100_0000 == 0b1000_0000;
    // A character has at most four bytes. Other bytes are no text, and may be cut anywhere.
    (most - 3..=most).rev().find(|at| !is_inside(at)).unwrap_or(most)
}

/// View of `corpus`. When a shard is read for the first time, stores the beginnings of its texts in `excerpts`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WithExcerpts<'c> {
    pub(crate) corpus: &'c dyn Corpus,
    pub(crate) excerpts: &'c Excerpts,
}

impl View for WithExcerpts<'_> {
    fn shown(&self) -> &dyn Corpus {
        self.corpus
    }

    fn read_through(
        &self,
        shard: usize,
        visit: &mut Visit<'_>,
        read: &mut Reading<'_>,
    ) -> Result<()> {
        let (most, of_shard) = &self.excerpts.shards[shard];
        if *most == 0 || of_shard.get().is_some() {
            return read(visit);
        }
        let mut excerpts = ShardExcerpts::default();
        let mut is_whole = true;
        let mut is_full = false;
        read(&mut |event| {
            if let Event::Record(record) = &event
                && let Content::Document(document) = record.content
                && !is_full
            {
                // Without this document, the next ones would get wrong numbers.
                is_full = !excerpts.push(document.text, *most);
            }
            // A reading that ends early has not seen all documents, so a later one must fill the excerpts.
            let flow = visit(event)?;
            is_whole &= flow.is_continue();
            Ok(flow)
        })?;
        if is_whole {
            // Another thread may have read the same shard. Its excerpts are equal, so these are dropped.
            drop(of_shard.set(excerpts));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::CollectionSummary;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use simtool_compute::threads::Threads;
    use simtool_read::walk::InputFile;
    use simtool_read::{Collection, ReadOptions};
    use std::fs::File;
    use std::io::Write;
    use std::ops::ControlFlow;

    #[test]
    fn texts_of_compressed_files_are_kept_as_far_as_there_is_memory() {
        let folder = tempfile::tempdir().unwrap();
        let line = |n: u32| format!("{{\"text\":\"\\n {n} {}\"}}\n", "é".repeat(200));
        let lines: String = (0..500).map(line).collect::<Vec<_>>().concat();
        let files: Vec<InputFile> = ["a.jsonl.gz", "b.jsonl", "c.jsonl.gz"]
            .iter()
            .map(|name| {
                let path = folder.path().join(name);
                let mut file = File::create(&path).unwrap();
                if name.ends_with("gz") {
                    let mut gzip = GzEncoder::new(file, Compression::none());
                    gzip.write_all(lines.as_bytes()).unwrap();
                    gzip.finish().unwrap();
                } else {
                    file.write_all(lines.as_bytes()).unwrap();
                }
                InputFile::new(path)
            })
            .collect();
        let corpus = Collection::open(files, ReadOptions::default());
        let threads = Threads::new(2).unwrap();
        // The excerpts take 244 bytes each. In the second case, there is room for a hundred of each file.
        for (limit, kept) in [(1 << 30, 500), (64 * 2 * 244 * 100, 100), (6400, 0)] {
            let memory = Ledger::new(limit);
            let corpora: Sides<&dyn Corpus> = Sides::One(&corpus);
            let excerpts = Excerpts::of_collections(&corpora, &memory);
            let view = WithExcerpts { corpus: &corpus, excerpts: excerpts.first() };
            // A reading that ends early keeps nothing.
            view.read_shard(0, &mut |_| Ok(ControlFlow::Break(()))).unwrap();
            let read = CollectionSummary::read(&view, &threads).unwrap();
            let found = |row| excerpts.first().get(&read.ids, DocOrdinal(row));
            assert_eq!((0..500).filter(|&row| found(row).is_some()).count(), kept, "{limit}");
            assert_eq!((500..1000).find_map(found), None, "the second file is cheap to read");
            for row in [0, 1000, 1099] {
                let text = found(row).map(|text| String::from_utf8(text.to_vec()).unwrap());
                let expected = format!("{} {}", row % 500, "é".repeat(200));
                let is_kept = (row % 500) < kept as u32;
                assert_eq!(text.is_some(), is_kept, "{limit}: {row}");
                assert!(text.is_none_or(|text| expected.starts_with(&text) && text.len() >= 239));
            }
            assert!(memory.used() <= limit / 64);
        }
    }

    #[test]
    fn excerpts_end_at_borders_of_characters() {
        assert_eq!(character_border("aé".as_bytes(), 5), 3);
        assert_eq!(character_border("aaaé".as_bytes(), 4), 3);
        assert_eq!(character_border("aaa\u{1f642}b".as_bytes(), 6), 3);
        assert_eq!(character_border("aaa\u{1f642}b".as_bytes(), 7), 7);
        assert_eq!(character_border(&[0x80; 9], 5), 5);
    }
}
