//! A corpus that reports progress while it is read. The reading stops when the work is cancelled.

use simtool_base::error::{ErrorKind, Result};
use simtool_base::progress::Progress;
use simtool_model::document::Content;
use simtool_read::view::{Reading, View};
use simtool_read::{Corpus, Event, Visit};

/// Number of records and faults after which the reader checks again whether the work is cancelled.
const EVENTS: u32 = 64;
/// Number of bytes of text after which the reader checks again whether the work is cancelled. Without this
/// check, long documents would delay the end of a cancelled run.
const BYTES: usize = 1 << 20;

/// A corpus whose reading reports every byte to `progress` and ends once `progress` is cancelled.
#[derive(Clone, Copy)]
pub(crate) struct Watched<'w> {
    pub(crate) corpus: &'w dyn Corpus,
    pub(crate) progress: &'w dyn Progress,
}

impl std::fmt::Debug for Watched<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.corpus.fmt(f)
    }
}

impl Watched<'_> {
    fn ask(&self) -> Result<()> {
        if self.progress.is_cancelled() { Err(ErrorKind::Cancelled.into()) } else { Ok(()) }
    }
}

impl View for Watched<'_> {
    fn shown(&self) -> &dyn Corpus {
        self.corpus
    }

    fn read_through(
        &self,
        shard: usize,
        visit: &mut Visit<'_>,
        read: &mut Reading<'_>,
    ) -> Result<()> {
        self.ask()?;
        let mut events = 0;
        let mut bytes = 0;
        let mut reported = 0;
        let mut report = |reached: u64| {
            // A reader may report a position twice or go back, but progress must only grow.
            self.progress.advance(reached.saturating_sub(reported));
            reported = reported.max(reached);
        };
        let done = read(&mut |event| {
            events += 1;
            if let Event::Reached(reached) = event {
                report(reached);
            }
            if let Event::Record(record) = &event
                && let Content::Document(document) = record.content
            {
                bytes += document.text.len();
            }
            // Checking after every record would cost more than reading short lines.
            if events >= EVENTS || bytes >= BYTES {
                (events, bytes) = (0, 0);
                self.ask()?;
            }
            visit(event)
        });
        // No event reports the end of a shard, and a visitor may end the reading early. In both cases the whole shard
        // is done.
        report(self.corpus.shard_bytes(shard));
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Method;
    use crate::pipeline::config::Config;
    use crate::pipeline::{Plan, Task, WithoutWords, find_near_duplicates, fingerprint_collection};
    use simtool_base::progress::Work;
    use simtool_compute::resources::Resources;
    use simtool_model::sides::Sides;
    use simtool_read::Texts;
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Progress for tests. It cancels the work after a given number of calls to [`Progress::is_cancelled`].
    #[derive(Debug)]
    struct Patience(AtomicU64);

    impl Progress for Patience {
        fn begin(&self, _: &'static str, _: Work) {}
        fn advance(&self, _: u64) {}
        fn is_cancelled(&self) -> bool {
            let left = |left: u64| Some(left.saturating_sub(1));
            self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left) == Ok(0)
        }
    }

    #[test]
    fn a_reading_ends_soon_after_it_is_cancelled() {
        let texts = vec!["a rose is a rose"; 10_000];
        let corpus = &Texts::of(&texts);
        for (patience, expected) in [(0, 0), (1, 63), (5, 319)] {
            let progress = &Patience(AtomicU64::new(patience));
            let mut visited = 0;
            let read = Watched { corpus, progress }.read_shard(0, &mut |_| {
                visited += 1;
                Ok(ControlFlow::Continue(()))
            });
            assert!(matches!(read.unwrap_err().kind(), ErrorKind::Cancelled));
            assert_eq!(visited, expected);
        }
    }

    #[test]
    fn long_documents_look_for_a_stop_sooner() {
        let texts = vec!["x".repeat(BYTES); 5];
        let corpus = &Texts::of(&texts);
        let progress = &Patience(AtomicU64::new(2));
        let watched = Watched { corpus, progress };
        assert_eq!(watched.bytes(), corpus.bytes());
        let read = |shard| watched.read_shard(shard, &mut |_| Ok(ControlFlow::Continue(())));
        assert_eq!(read(0).unwrap(), 1);
        assert!(matches!(read(1).unwrap_err().kind(), ErrorKind::Cancelled));
    }

    #[test]
    fn cancelled_work_fails_as_cancelled_for_any_number_of_threads() {
        let texts: Vec<String> =
            (0..100_000).map(|at| format!("text number {at} of many")).collect();
        let corpus = &Texts::of(&texts);
        for threads in [1, 3] {
            let resources = Resources { threads, ..Resources::default() };
            let patience = || Patience(AtomicU64::new(20));
            for method in ["exact", "simhash", "simhash:words=100"] {
                let method: Method = method.parse().unwrap();
                let config = Config { method, resources: resources.clone(), ..Config::default() };
                let plan = Plan::new(config, Task::Deduplicate).unwrap();
                let found = find_near_duplicates(Sides::One(corpus), &plan, &patience());
                assert!(matches!(found.unwrap_err().kind(), ErrorKind::Cancelled));
            }
            let method: Method = "simhash".parse().unwrap();
            let made = fingerprint_collection(
                corpus,
                method.recipe(),
                &resources,
                WithoutWords::Allowed,
                &patience(),
            );
            assert!(matches!(made.unwrap_err().kind(), ErrorKind::Cancelled));
        }
    }
}
