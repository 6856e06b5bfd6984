//! Searches the inputs of a finished run for documents by their names.

use super::finished_run::Sought;
use crate::pipeline::held_documents::HeldDocument;
use crate::pipeline::watched::Watched;
use simtool_base::byte_text::path_text;
use simtool_base::error::Result;
use simtool_base::progress::{Progress, Work};
use simtool_compute::threads::Threads;
use simtool_model::document::{Content, Document, Place, Record};
use simtool_model::document_id::DocumentId;
use simtool_read::{Corpus, Event};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Search for documents by their names in a collection, which holds the inputs of a finished run.
pub(crate) struct InputSearch<'s> {
    /// Collection that is read.
    pub(crate) collection: &'s dyn Corpus,
    /// Function that converts the path of a file to the path that the finished run used.
    pub(crate) name: &'s dyn Fn(&Path) -> PathBuf,
    /// Number of threads that read.
    pub(crate) threads: usize,
    /// Receiver of the number of bytes of the shards (files or parts of them) that were read.
    pub(crate) progress: &'s dyn Progress,
}

/// Function that decides whether a document is wanted. Several threads call it.
pub(crate) type IsWanted<'w> = dyn Fn(&Document<'_>) -> bool + Sync + 'w;

/// Documents that a search returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matches {
    /// The first document with the sought name.
    First,
    /// All documents with the sought name.
    All,
}

/// Result of reading one shard (a file or a part of it) in a search: the number of its records, and whether it has a
/// document with the sought ID.
struct SearchedShard {
    shard: usize,
    records: u64,
    has_id: bool,
}

impl InputSearch<'_> {
    /// Finds the documents that `sought` names. Returns their files and their record numbers, in reading
    /// order.
    ///
    /// # Errors
    ///
    /// This build cannot read a format of the collection, or the system does not start the threads.
    pub(crate) fn find(&self, sought: Sought<'_>, matches: Matches) -> Result<Vec<(PathBuf, u64)>> {
        let collection = self.collection;
        let names: Vec<PathBuf> = (0..collection.file_count())
            .map(|file| (self.name)(collection.file_name(file)))
            .collect();
        let name_of = |shard: usize| path_text(&names[collection.shard_file(shard)]);
        self.progress.begin("looking for the document", Work::Bytes(collection.bytes()));
        // Threads count the records and look for the ID. Only shards with a match are read a second time, in order.
        let searched = self.search_shards(sought, matches, &name_of)?;
        let mut found = Vec::new();
        let mut first_records = FirstRecords::default();
        for SearchedShard { shard, records, has_id } in searched {
            let (at, file) = (collection.shard_file(shard), name_of(shard));
            let records_before = first_records.of_shard(at, records);
            let wanted = sought.record_in(&file);
            // The number counts from the beginning of the file, and a shard may begin behind the wanted record.
            let wanted = wanted.and_then(|wanted| wanted.checked_sub(records_before));
            if has_id || wanted.is_some_and(|wanted| wanted < records) {
                collection.read_shard(shard, &mut |event| {
                    let is_found = |&(number, id): &(u64, Option<&[u8]>)| {
                        Some(number) == wanted || sought.is_named(&file, id)
                    };
                    if let Some((number, _)) = document(&event).filter(is_found) {
                        found.push((names[at].clone(), records_before + number));
                    }
                    Ok(matches.flow(!found.is_empty()))
                })?;
                if matches == Matches::First && !found.is_empty() {
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Calls `visit` with the file and the record number of each document for which `is_wanted` returns true, in
    /// reading order.
    ///
    /// # Errors
    ///
    /// This build cannot read a format of the collection, the system does not start the threads, or the work is
    /// cancelled.
    pub(crate) fn visit_wanted(
        &self,
        is_wanted: &IsWanted<'_>,
        visit: &mut dyn FnMut(&str, u64),
    ) -> Result<()> {
        let collection = self.collection;
        self.progress.begin("searching", Work::Bytes(collection.bytes()));
        let watched = Watched { corpus: collection, progress: self.progress };
        let threads = Threads::new(self.threads)?;
        let wanted_of_shard = |(): &mut (), shard: usize| {
            let mut wanted = Vec::new();
            let records = watched.read_shard(shard, &mut |event| {
                if let Event::Record(Record { number, content, .. }) = &event
                    && let Content::Document(document) = content
                    && is_wanted(document)
                {
                    wanted.push(*number);
                }
                Ok(ControlFlow::Continue(()))
            })?;
            Ok((records, wanted))
        };
        // The number of a record in its file is known when all shards before it were read.
        let shards = threads.try_map(collection.shard_count(), || Ok(()), wanted_of_shard)?;
        let mut first_records = FirstRecords::default();
        for (shard, (records, wanted)) in shards.into_iter().enumerate() {
            let file = collection.shard_file(shard);
            let records_before = first_records.of_shard(file, records);
            let path = (self.name)(collection.file_name(file));
            let name = path_text(&path);
            for number in wanted {
                visit(&name, records_before + number);
            }
        }
        Ok(())
    }

    /// Returns the documents at `places`. A place is the number of a file in the collection and the number of a record
    /// in this file. A place without a document is missing in the result.
    ///
    /// # Errors
    ///
    /// This build cannot read a format of the collection, the system does not start the threads, or the work is
    /// cancelled.
    pub(crate) fn documents_at(&self, places: &BTreeSet<Place>) -> Result<HeldPlaces> {
        let collection = self.collection;
        let threads = Threads::new(self.threads)?;
        let watched = Watched { corpus: collection, progress: self.progress };
        self.progress.begin("counting records", Work::Bytes(collection.bytes()));
        let shards = collection.shard_count();
        let count = |(): &mut (), shard: usize| {
            let file = collection.shard_file(shard);
            // Only later shards of the same file need the number of records.
            let is_needed = shard + 1 < shards
                && collection.shard_file(shard + 1) == file
                && places_in(places, file, 0, u64::MAX).next().is_some();
            match collection.known_records(shard) {
                Some(records) => Ok(records),
                None if !is_needed => Ok(0),
                None => watched.read_shard(shard, &mut |_| Ok(ControlFlow::Continue(()))),
            }
        };
        let counts = threads.try_map(shards, || Ok(()), count)?;
        let mut first_records = FirstRecords::default();
        let firsts = counts
            .into_iter()
            .enumerate()
            .map(|(shard, records)| first_records.of_shard(collection.shard_file(shard), records));
        let firsts: Vec<u64> = firsts.collect();
        // Only the shards with a wanted record are read, and only as far as the last one.
        self.progress.begin("reading documents", Work::Bytes(collection.bytes()));
        let read = |(): &mut (), shard: usize| {
            let (file, first) = (collection.shard_file(shard), firsts[shard]);
            let has_next = shard + 1 < shards && collection.shard_file(shard + 1) == file;
            let end = if has_next { firsts[shard + 1] } else { u64::MAX };
            let mut wanted = places_in(places, file, first, end).peekable();
            let mut found = Vec::new();
            if wanted.peek().is_none() {
                return Ok(found);
            }
            watched.read_shard(shard, &mut |event| {
                if let Event::Record(Record { number, content, .. }) = &event {
                    let record = first + number;
                    while wanted.next_if(|place| place.record < record).is_some() {}
                    // A header row has the number of the next record, and is no document.
                    if let Content::Document(document) = content
                        && let Some(place) = wanted.next_if(|place| place.record == record)
                    {
                        found.push((*place, HeldDocument::of(document)));
                    }
                }
                let is_done = wanted.peek().is_none();
                Ok(if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            Ok(found)
        };
        Ok(threads.try_map(shards, || Ok(()), read)?.into_iter().flatten().collect())
    }

    /// Reads the shards (files or parts of them) in any order. Counts their records and searches them for the ID in
    /// `sought`. Returns the results in the order of the shards. For [`Matches::First`], the shards after the first one
    /// with the ID may be missing. `name_of` returns the file name of a shard.
    fn search_shards<'n>(
        &self,
        sought: Sought<'_>,
        matches: Matches,
        name_of: &(dyn Fn(usize) -> Cow<'n, str> + Sync),
    ) -> Result<Vec<SearchedShard>> {
        let shards = self.collection.shard_count();
        let first = AtomicUsize::new(shards);
        let watched = Watched { corpus: self.collection, progress: self.progress };
        let search_shard = |(): &mut (), shard: usize| {
            // A stale value only costs the reading of a shard that another thread has made needless.
            if matches == Matches::First && shard > first.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let file = name_of(shard);
            let mut has_id = false;
            let records = watched.read_shard(shard, &mut |event| {
                has_id |= document(&event).is_some_and(|(_, id)| sought.is_named(&file, id));
                Ok(matches.flow(has_id))
            })?;
            if has_id {
                first.fetch_min(shard, Ordering::Relaxed);
            }
            Ok(Some(SearchedShard { shard, records, has_id }))
        };
        let searched = Threads::new(self.threads)?.try_map(shards, || Ok(()), search_shard)?;
        Ok(searched.into_iter().flatten().collect())
    }
}

/// Counter of the records that precede each shard in its file. Shards number their records from 0, but outputs count
/// from the beginning of the file.
#[derive(Default)]
struct FirstRecords {
    file: Option<usize>,
    /// Number of records in the shards of the file that were counted so far.
    records: u64,
}

impl FirstRecords {
    /// Returns the number of records before the next shard in its file. The shard is in file number `file` and has
    /// `records` records. Shards must come in their order.
    fn of_shard(&mut self, file: usize, records: u64) -> u64 {
        if self.file.replace(file) != Some(file) {
            self.records = 0;
        }
        let before = self.records;
        self.records += records;
        before
    }
}

/// Documents of a collection in memory, by their places (file number and record number).
pub(crate) type HeldPlaces = BTreeMap<Place, HeldDocument>;

/// Returns the places in a file whose records have numbers from `first` to `end`, which is not included.
fn places_in(
    places: &BTreeSet<Place>,
    file: usize,
    first: u64,
    end: u64,
) -> impl Iterator<Item = &Place> {
    let file = file as u32;
    places.range(Place { file, record: first }..Place { file, record: end })
}

impl Matches {
    /// Returns `Break` if the rest of a shard need not be read: a document was found, and only the first one is wanted.
    fn flow(self, is_found: bool) -> ControlFlow<()> {
        if is_found && self == Self::First {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Returns the record number in the shard and, if there is one, the ID of the document that the reader passes
/// on in `event`. Returns `None` if the event has no document.
fn document<'e>(event: &Event<'e>) -> Option<(u64, Option<&'e [u8]>)> {
    match event {
        Event::Record(Record { number, content: Content::Document(document), .. }) => {
            Some((*number, document.id.map(DocumentId::bytes)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn documents_are_found_in_inputs_by_any_number_of_threads() {
        use simtool_base::progress::NoProgress;
        use simtool_read::walk::InputFile;
        use simtool_read::{Collection, ReadOptions};
        let folder = tempfile::tempdir().unwrap();
        let line = |at: usize| match at % 7 {
            3 => "{\"no\":\"text\"}\n".to_owned(),
            5 => "{\"text\":\"nameless\"}\n".to_owned(),
            _ => format!("{{\"id\":{},\"text\":\"t\"}}\n", at % 30),
        };
        let lines: String = (0..60).map(line).collect();
        for name in ["x", "y"] {
            fs::write(folder.path().join(name), &lines).unwrap();
        }
        let files = || ["x", "y"].map(|name| InputFile::new(folder.path().join(name))).into();
        let name = |path: &Path| path.file_name().unwrap().into();
        for (shard_bytes, threads) in [(1 << 20, 1), (40, 1), (40, 4), (1, 3)] {
            let options = ReadOptions { shard_bytes, ..ReadOptions::default() };
            let collection = Collection::open(files(), options);
            let check = |sought: &str, expected: Option<(&str, usize)>| {
                let search = InputSearch {
                    collection: &collection,
                    name: &name,
                    threads,
                    progress: &NoProgress,
                };
                let found = search.find(Sought::new(sought), Matches::First).unwrap();
                let expected = expected.map(|(file, record)| (file.into(), record as u64));
                assert_eq!(found.first(), expected.as_ref(), "{sought}: {threads}, {shard_bytes}");
                let all = search.find(Sought::new(sought), Matches::All).unwrap();
                assert_eq!(all.first(), expected.as_ref(), "{sought}: {threads}, {shard_bytes}");
                // Records 0 to 59 have the IDs 0 to 29, so each ID occurs up to twice in each file.
                assert!(all.len() <= 4 && all.is_sorted(), "{sought}: {all:?}");
            };
            for record in 0..60 {
                let is_document = record % 7 != 3;
                for file in ["x", "y"] {
                    check(&format!("{file}:{record}"), is_document.then_some((file, record)));
                }
                let has_id = |at: &usize| ![3, 5].contains(&(at % 7)) && at % 30 == record;
                let first = (0..60).find(has_id);
                check(&record.to_string(), first.map(|first| ("x", first)));
                check(&format!("y#{record}"), first.map(|first| ("y", first)));
            }
            check("x:60", None);
            check("z:1", None);
            let search = InputSearch {
                collection: &collection,
                name: &name,
                threads,
                progress: &NoProgress,
            };
            // Each part of the places is read alone, and so are none and all of them.
            for step in [1, 7, 13, 200] {
                let records = (step / 2..70).step_by(step);
                let places = records
                    .flat_map(|record| [0, 1].map(|file| Place { file, record: record as u64 }));
                let places: BTreeSet<Place> = places.collect();
                let found = search.documents_at(&places).unwrap();
                let expected = places.iter().filter(|p| p.record < 60 && p.record % 7 != 3);
                assert!(found.keys().eq(expected), "{step}: {threads}, {shard_bytes}");
                for (place, document) in &found {
                    let id = (place.record % 30).to_string().into_bytes();
                    let id = (place.record % 7 != 5).then_some(&id[..]);
                    assert_eq!(document.id(), id, "{place:?}");
                }
            }
        }
    }
}
