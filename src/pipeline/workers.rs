//! The threads of a run.

use crate::error::{Error, Result};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A fixed number of worker threads; one of them needs no thread at all.
#[derive(Debug)]
pub(super) struct Workers(Option<rayon::ThreadPool>);

/// Starts a pool of threads.
pub(super) fn start(count: usize) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new().num_threads(count).build().map_err(|error| {
        Error::config("threads", count, format!("the system does not start them: {error}"))
    })
}

impl Workers {
    /// `count` workers.
    ///
    /// # Errors
    ///
    /// The system does not give that many threads.
    pub(super) fn new(count: usize) -> Result<Self> {
        if count <= 1 {
            return Ok(Self(None));
        }
        start(count).map(|pool| Self(Some(pool)))
    }

    /// `count` workers that wait for work in threads of their own, also if it is one: for work that
    /// comes again and again.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub(super) fn started(count: usize) -> Result<Self> {
        start(count).map(|pool| Self(Some(pool)))
    }

    /// The threads, if there is more than the caller's.
    pub(super) fn pool(&self) -> Option<&rayon::ThreadPool> {
        self.0.as_ref()
    }

    /// Runs `work` with these threads as those of rayon.
    ///
    /// # Errors
    ///
    /// A single worker, which is a thread only here, is not started.
    pub(super) fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R> {
        match &self.0 {
            None => Ok(start(1)?.install(work)),
            Some(pool) => Ok(pool.install(work)),
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Runs `work` once in every worker and returns what each made of it. `work` gets a source of
    /// item numbers from 0 to `items`, of which every one is given out once, to whoever asks
    /// first.
    pub(super) fn share<R: Send>(
        &self,
        items: usize,
        work: impl Fn(&mut dyn Iterator<Item = usize>) -> R + Sync,
    ) -> Vec<R> {
        let next = AtomicUsize::new(0);
        let run = || {
            let numbers = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
            work(&mut numbers.take_while(|&number| number < items))
        };
        match &self.0 {
            None => vec![run()],
            Some(pool) => pool.broadcast(|_| run()),
        }
    }

    /// [`Self::share`] of work that may fail, which then tells at which item. Once one has failed no
    /// more items are given out.
    ///
    /// # Errors
    ///
    /// The error of the first item that fails: those before it were given out before it, and are
    /// worked on to their end.
    pub(super) fn try_share<R: Send>(
        &self,
        items: usize,
        work: impl Fn(&mut dyn Iterator<Item = usize>) -> Result<R, (usize, Error)> + Sync,
    ) -> Result<Vec<R>> {
        let has_failed = AtomicBool::new(false);
        let made = self.share(items, |items| {
            // Looked at before an item is taken: what is taken is worked on.
            let next = || if has_failed.load(Ordering::Relaxed) { None } else { items.next() };
            let made = work(&mut std::iter::from_fn(next));
            if made.is_err() {
                has_failed.store(true, Ordering::Relaxed);
            }
            made
        });
        let (made, failed): (Vec<_>, Vec<_>) = made.into_iter().partition(Result::is_ok);
        match failed.into_iter().filter_map(Result::err).min_by_key(|&(item, _)| item) {
            Some((_, error)) => Err(error),
            None => Ok(made.into_iter().filter_map(Result::ok).collect()),
        }
    }

    /// What `work` makes of every item, in the items' order.
    pub(super) fn map<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(T) -> R + Sync + Send,
    ) -> Vec<R> {
        match &self.0 {
            None => items.into_iter().map(work).collect(),
            Some(pool) => {
                pool.install(|| items.into_par_iter().with_max_len(1).map(work).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_given_once_and_results_keep_their_order() {
        for threads in [1, 2, 5] {
            let workers = Workers::new(threads).unwrap();
            assert_eq!(workers.count(), threads);
            let mut given: Vec<usize> =
                workers.share(100, |items| items.collect::<Vec<_>>()).concat();
            given.sort_unstable();
            assert_eq!(given, (0..100).collect::<Vec<_>>());
            let failed = workers.try_share(1000, |items| {
                for item in items {
                    if [7, 8, 900].contains(&item) {
                        return Err((item, Error::config("item", item, "no")));
                    }
                }
                Ok(())
            });
            assert_eq!(failed.unwrap_err().to_string(), "item 7: no");
            let squares = workers.map((0..50).collect(), |i: usize| i * i);
            assert_eq!(squares, (0..50).map(|i| i * i).collect::<Vec<_>>());
        }
    }
}
