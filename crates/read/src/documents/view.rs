//! Views: corpora that wrap another corpus to watch or check its events, or to select some of its
//! shards.

use crate::documents::{Collection, Corpus};
use crate::formats::{Price, Visit};
use simtool_base::error::Result;
use std::fmt::Debug;
use std::path::Path;

/// Function that reads a shard, or a part of a shard, and passes the events to the visitor in its
/// argument.
pub type Reading<'r> = dyn FnMut(&mut Visit<'_>) -> Result<()> + 'r;

/// A corpus that wraps another corpus. Every type that implements this trait is a [`Corpus`] automatically. Methods of
/// the corpus that a view does not change are forwarded to the wrapped corpus, so no view can forget to forward a
/// method.
pub trait View: Debug + Sync {
    /// Returns the corpus that the view wraps.
    fn shown(&self) -> &dyn Corpus;

    /// Returns the shards that the view contains, in order, as indexes of shards of the wrapped corpus. `None` means
    /// all shards.
    fn shown_shards(&self) -> Option<&[usize]> {
        None
    }

    /// Reads a shard by calling `read` once with a visitor. A view that watches or checks events
    /// calls `read` with its own visitor, which passes the events on to `visit`.
    ///
    /// # Errors
    ///
    /// An error of `read`, or an error of the view itself.
    fn read_through(
        &self,
        _shard: usize,
        visit: &mut Visit<'_>,
        read: &mut Reading<'_>,
    ) -> Result<()> {
        read(visit)
    }
}

/// Converts the index of a shard in the view to the index of the same shard in the wrapped corpus.
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
        // The files hold more documents than the selected shards, so they are not returned.
        if self.shown_shards().is_some() { None } else { self.shown().as_files() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::Texts;
    use crate::formats::Event;
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
