//! Reads the shards of a collection of files.

use crate::bytes::decompress;
use crate::documents::collection::Shard;
use crate::documents::partitions::{path_values, with_values};
use crate::documents::{Collection, Corpus, Part, Recognized};
use crate::formats::{Event, Price, Visit, refuse};
use simtool_base::error::{Error, Result};
use simtool_model::document::{Content, Record};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

// The trait names `Collection`. So a file with both the type and this implementation would be in a circle with the
// file of the trait.
impl Corpus for Collection {
    fn file_count(&self) -> usize {
        self.files.len()
    }

    fn file_name(&self, file: usize) -> &Path {
        self.files[file].name()
    }

    fn shard_count(&self) -> usize {
        self.shards.len()
    }

    fn shard_file(&self, shard: usize) -> usize {
        self.shards[shard].file as usize
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        match &self.shards[shard].part {
            Part::Whole => self.files[self.shard_file(shard)].bytes(),
            Part::Range(_, range) => range.end - range.start,
            Part::Rows(_, share) => share.bytes,
            Part::Unreadable(_) => 0,
        }
    }

    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64> {
        let opened = &self.files[self.shard_file(shard)];
        let Shard { part, most, longest, .. } = &self.shards[shard];
        // Every reading must visit the same events, so warnings about paths belong to one shard.
        for fault in self.odd_paths.iter().filter(|_| shard == 0) {
            if visit(Event::Fault(fault.clone()))?.is_break() {
                return Ok(0);
            }
        }
        let values = path_values(opened.name(), &self.options.fields);
        let visit: &mut Visit<'_> = &mut |event| visit(with_values(event, &values));
        let records = self.options.selection.visit(*most, visit, |visit| {
            longest.visit_same(opened.name(), visit, |visit| match part {
                Part::Whole => self.read_whole(opened, visit),
                Part::Range(format, range) => self.read_range(opened, *format, range, visit),
                Part::Rows(table, share) => {
                    self.read_rows(opened, *table, Some(share.groups.clone()), visit)
                }
                Part::Unreadable(fault) => refuse(fault.clone(), visit),
            })
        })?;
        // The rest of the object may be read in a later run, so results without it would be wrong.
        match opened.input.source.fatal() {
            Some(reason) => Err(Error::io(opened.name(), "read", io::Error::other(reason))),
            None => Ok(records),
        }
    }

    fn read_shard_behind(&self, shard: usize, byte: u64, visit: &mut Visit<'_>) -> Result<bool> {
        let Shard { file, part, most, .. } = &self.shards[shard];
        if !matches!(part, Part::Whole) || *most < u64::MAX {
            return Ok(false);
        }
        let mut is_found = false;
        let values = path_values(self.files[*file as usize].name(), &self.options.fields);
        let visit: &mut Visit<'_> = &mut |event| visit(with_values(event, &values));
        self.options.selection.visit(*most, visit, |visit| {
            is_found = self.read_behind(*file as usize, byte, visit)?;
            Ok(0)
        })?;
        Ok(is_found)
    }

    fn known_records(&self, shard: usize) -> Option<u64> {
        match &self.shards[shard].part {
            Part::Rows(_, share) => Some(share.rows),
            Part::Whole | Part::Range(..) | Part::Unreadable(_) => None,
        }
    }

    fn content_bytes(&self, shard: usize) -> Option<u64> {
        let Shard { file, part: Part::Whole, .. } = &self.shards[shard] else { return None };
        let opened = &self.files[*file as usize];
        let Recognized { compression, .. } = opened.recognized.get()?;
        decompress::content_bytes(*compression, &*opened.open().ok()?, opened.bytes())
    }

    fn price(&self, shard: usize) -> Price {
        match &self.shards[shard].part {
            Part::Whole => self.files[self.shard_file(shard)].price,
            Part::Range(..) | Part::Unreadable(_) => Price::Cheap,
            Part::Rows(..) => Price::Unpacked,
        }
    }

    fn as_files(&self) -> Option<&Collection> {
        Some(self)
    }
}

impl Collection {
    /// If the number of documents is limited, drops all shards and files after the last document within the limit.
    pub(crate) fn end_at_limit(&mut self) {
        // The limit is for all files together. So the files are read here once up to the limit.
        // Later readings then know the number of documents to read from each shard.
        let mut left = self.options.selection.limit;
        if left == u64::MAX {
            return;
        }
        for number in 0..self.shards.len() {
            self.shards[number].most = left;
            let mut found = 0;
            let counted = self.read_shard(number, &mut |event| {
                if let Event::Record(Record { content: Content::Document(_), .. }) = event {
                    found += 1;
                }
                Ok(ControlFlow::Continue(()))
            });
            // An error, for example a format that this build cannot read, is reported when the
            // shard is read again for its documents.
            drop(counted);
            left -= found;
            if left == 0 {
                let last = self.shard_file(number);
                self.shards.truncate(number + 1);
                self.files.truncate(last + 1);
                self.ends_at_limit = true;
                return;
            }
        }
    }
}
