//! A corpus whose reading fails at the first bad record or lost file.

use crate::documents::Corpus;
use crate::documents::view::{Reading, View};
use crate::formats::{Event, Visit};
use simtool_base::error::{ErrorKind, Result};
use simtool_base::fault::{Fault, Severity};
use simtool_model::document::{Bad, Content, Record};

/// View of a corpus for the option `--on-error fail`. Reading ends with [`ErrorKind::Loss`] at the
/// first bad record, or at the first fault that loses a part of a file.
#[derive(Clone, Copy, Debug)]
pub struct Strict<'c>(pub &'c dyn Corpus);

impl Strict<'_> {
    /// Returns the fault that ends the reading if `event` reports lost input, otherwise `None`.
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
            Event::Record(_) | Event::Piece(_) | Event::Reached(_) => None,
        }
    }
}

impl View for Strict<'_> {
    fn shown(&self) -> &dyn Corpus {
        self.0
    }

    fn read_through(
        &self,
        shard: usize,
        visit: &mut Visit<'_>,
        read: &mut Reading<'_>,
    ) -> Result<()> {
        read(&mut |event| match self.loss(shard, &event) {
            Some(fault) => Err(ErrorKind::Loss { fault }.into()),
            None => visit(event),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{Collection, ReadOptions};
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
