//! A corpus of which nothing may be lost.

use crate::document::{Bad, Content, Record};
use crate::error::{ErrorKind, Result};
use crate::fault::{Fault, Severity};
use crate::read::collection::Collection;
use crate::read::{Corpus, Event, Price, Visit};
use std::path::Path;

/// A corpus whose first bad record, or first loss of a file, ends the reading with
/// [`ErrorKind::Loss`].
#[derive(Clone, Copy, Debug)]
pub struct Strict<'c>(pub &'c dyn Corpus);

impl Strict<'_> {
    /// What is lost by an event, if anything is.
    fn loss(&self, shard: usize, event: &Event<'_>) -> Option<Fault> {
        match event {
            Event::Fault(fault) => (fault.severity == Severity::Loss).then(|| fault.clone()),
            Event::Record(Record { byte, content: Content::Bad(bad), .. }) => {
                let file = self.0.shard_file(shard);
                let detail = match self.0.as_files() {
                    Some(files) if bad.code == Bad::NO_TEXT => {
                        format!("the record has {}", files.lack_of_text(file, *byte))
                    }
                    _ => format!("expected {}", bad.expected),
                };
                Some(Fault {
                    severity: Severity::Loss,
                    code: bad.code,
                    file: self.0.file_name(file).to_owned(),
                    byte: Some(*byte),
                    detail,
                    lost_records: 0,
                })
            }
            Event::Record(_) | Event::Stretch(_) | Event::Reached(_) => None,
        }
    }
}

impl Corpus for Strict<'_> {
    fn file_count(&self) -> usize {
        self.0.file_count()
    }

    fn file_name(&self, file: usize) -> &Path {
        self.0.file_name(file)
    }

    fn shard_count(&self) -> usize {
        self.0.shard_count()
    }

    fn shard_file(&self, shard: usize) -> usize {
        self.0.shard_file(shard)
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        self.0.shard_bytes(shard)
    }

    fn known_records(&self, shard: usize) -> Option<u64> {
        self.0.known_records(shard)
    }

    fn content_bytes(&self, shard: usize) -> Option<u64> {
        self.0.content_bytes(shard)
    }

    fn price(&self, shard: usize) -> Price {
        self.0.price(shard)
    }

    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64> {
        self.0.read_shard(shard, &mut |event| match self.loss(shard, &event) {
            Some(fault) => Err(ErrorKind::Loss { fault }.into()),
            None => visit(event),
        })
    }

    fn read_shard_behind(&self, shard: usize, byte: u64, visit: &mut Visit<'_>) -> Result<bool> {
        self.0.read_shard_behind(shard, byte, visit)
    }

    fn as_files(&self) -> Option<&Collection> {
        self.0.as_files()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::ReadOptions;
    use std::ops::ControlFlow;

    #[test]
    fn nothing_is_read_behind_the_first_loss() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::fs::write(&path, "{\"text\":\"a\"}\nno object\n{\"text\":\"b\"}\n").unwrap();
        let collection = Collection::of_paths(&[&path], ReadOptions::default()).unwrap();
        let mut visited = 0;
        let read = Strict(&collection).read_shard(0, &mut |_| {
            visited += 1;
            Ok(ControlFlow::Continue(()))
        });
        let error = read.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Loss { .. }), "{error}");
        assert!(error.to_string().contains("byte 13: expected a JSON object"), "{error}");
        assert_eq!(visited, 1);
    }
}
