//! Corpora that show another corpus: watched, checked, or some of its shards.

use super::{Collection, Corpus, Price, Visit};
use simtool_base::error::Result;
use std::fmt::Debug;
use std::path::Path;

/// Reads a shard, or a part of it, with the given visitor.
pub type Reading<'r> = dyn FnMut(&mut Visit<'_>) -> Result<()> + 'r;

/// A corpus that shows another one. Every view is a [`Corpus`]: all that it does not say itself comes
/// from the corpus that it shows, so a view cannot forget to pass anything on.
pub trait View: Debug + Sync {
    /// Returns the corpus that is shown.
    fn shown(&self) -> &dyn Corpus;

    /// Returns the shards that are shown, in order, if they are not all.
    fn shown_shards(&self) -> Option<&[usize]> {
        None
    }

    /// Reads a shard by calling `read` once. A view that looks at the events, or refuses some, calls
    /// `read` with a visitor of its own, which passes the events on to `visit`.
    ///
    /// # Errors
    ///
    /// The errors of `read`, and those of the view itself.
    fn read_through(
        &self,
        _shard: usize,
        visit: &mut Visit<'_>,
        read: &mut Reading<'_>,
    ) -> Result<()> {
        read(visit)
    }
}

/// Returns the number that a shard of a view has in the corpus that is shown.
fn own_number(view: &impl View, shard: usize) -> usize {
    view.shown_shards().map_or(shard, |shards| shards[shard])
}

impl<V: View> Corpus for V {
    fn file_count(&self) -> usize {
        self.shown().file_count()
    }

    fn file_name(&self, file: usize) -> &Path {
        self.shown().file_name(file)
    }

    fn shard_count(&self) -> usize {
        self.shown_shards().map_or_else(|| self.shown().shard_count(), <[usize]>::len)
    }

    fn shard_file(&self, shard: usize) -> usize {
        self.shown().shard_file(own_number(self, shard))
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        self.shown().shard_bytes(own_number(self, shard))
    }

    fn bytes(&self) -> u64 {
        match self.shown_shards() {
            None => self.shown().bytes(),
            Some(shards) => shards.iter().map(|&shard| self.shown().shard_bytes(shard)).sum(),
        }
    }

    fn known_records(&self, shard: usize) -> Option<u64> {
        self.shown().known_records(own_number(self, shard))
    }

    fn content_bytes(&self, shard: usize) -> Option<u64> {
        self.shown().content_bytes(own_number(self, shard))
    }

    fn price(&self, shard: usize) -> Price {
        self.shown().price(own_number(self, shard))
    }

    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64> {
        let mut records = 0;
        self.read_through(shard, visit, &mut |visit| {
            records = self.shown().read_shard(own_number(self, shard), visit)?;
            Ok(())
        })?;
        Ok(records)
    }

    fn read_shard_behind(&self, shard: usize, byte: u64, visit: &mut Visit<'_>) -> Result<bool> {
        let mut is_found = false;
        self.read_through(shard, visit, &mut |visit| {
            is_found = self.shown().read_shard_behind(own_number(self, shard), byte, visit)?;
            Ok(())
        })?;
        Ok(is_found)
    }

    fn as_files(&self) -> Option<&Collection> {
        // The files of a part hold more than the part.
        if self.shown_shards().is_some() { None } else { self.shown().as_files() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Texts};
    use std::ops::ControlFlow;

    #[derive(Debug)]
    struct Some2<'c>(&'c dyn Corpus);

    impl View for Some2<'_> {
        fn shown(&self) -> &dyn Corpus {
            self.0
        }

        fn shown_shards(&self) -> Option<&[usize]> {
            Some(&[2, 1])
        }

        fn read_through(
            &self,
            _: usize,
            visit: &mut Visit<'_>,
            read: &mut Reading<'_>,
        ) -> Result<()> {
            read(&mut |event: Event<'_>| visit(event))
        }
    }

    #[test]
    fn a_view_has_the_shards_that_it_shows() {
        let texts = vec!["x".repeat(1 << 20); 4];
        let corpus = &Texts::of(&texts);
        let view = Some2(corpus);
        assert_eq!((view.shard_count(), view.bytes()), (2, corpus.shard_bytes(1) * 2));
        assert_eq!(view.known_records(0), corpus.known_records(2));
        let mut visited = 0;
        let read = view.read_shard(1, &mut |_| {
            visited += 1;
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!((read.unwrap(), visited > 0), (1, true));
    }
}
