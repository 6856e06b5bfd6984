//! Work shared out among the threads of a pool.

use crate::error::Result;
use rayon::ThreadPool;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The threads that a join may use: those of a pool, or the caller's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threads<'a>(pub(super) Option<&'a ThreadPool>);

impl Threads<'_> {
    /// How many there are.
    pub(super) fn count(self) -> usize {
        self.0.map_or(1, ThreadPool::current_num_threads)
    }

    /// Shares the items from 0 to `items` out among the threads, each of which begins with a state
    /// of its own, and returns the states. A thread gets its items in ascending order. Once one has
    /// failed no more items are given out.
    ///
    /// # Errors
    /// That of a state; else the error of the first item that fails: those before it were given out
    /// before it, and are worked on to their end.
    pub(super) fn try_fold<S: Send>(
        self,
        items: usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let run_all = || {
            let mut state = state().map_err(|error| (None, error))?;
            // Looked at before an item is taken: what is taken is worked on.
            while !has_failed.load(Ordering::Relaxed) {
                let item = next.fetch_add(1, Ordering::Relaxed);
                if item >= items {
                    break;
                }
                work(&mut state, item).map_err(|error| (Some(item), error))?;
            }
            Ok(state)
        };
        let run = || {
            let done = run_all();
            if done.is_err() {
                has_failed.store(true, Ordering::Relaxed);
            }
            done
        };
        let done = match self.0 {
            Some(pool) if items > 1 => pool.broadcast(|_| run()),
            _ => vec![run()],
        };
        let (states, failed): (Vec<_>, Vec<_>) = done.into_iter().partition(Result::is_ok);
        match failed.into_iter().filter_map(Result::err).min_by_key(|&(item, _)| item) {
            Some((_, error)) => Err(error),
            None => Ok(states.into_iter().filter_map(Result::ok).collect()),
        }
    }

    /// What `work` makes of each item from 0 to `items`, in the items' order. Each thread begins
    /// with a state of its own.
    ///
    /// # Errors
    /// As [`Self::try_fold`].
    pub(super) fn try_map<S: Send, R: Send>(
        self,
        items: usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let states = self.try_fold(
            items,
            || Ok((state()?, Vec::new())),
            |(state, done), item| {
                done.push((item, work(state, item)?));
                Ok(())
            },
        )?;
        let mut done: Vec<(usize, R)> = states.into_iter().flat_map(|(_, done)| done).collect();
        done.sort_unstable_by_key(|&(item, _)| item);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }

    /// Puts items in ascending order of their keys.
    pub(super) fn sort_by_key<T: Send, K: Ord>(
        self,
        items: &mut [T],
        key: impl Fn(&T) -> K + Sync + Send,
    ) {
        use rayon::prelude::*;
        match self.0 {
            Some(pool) => pool.install(|| items.par_sort_unstable_by_key(key)),
            None => items.sort_unstable_by_key(key),
        }
    }

    /// What `work` makes of each item, by value, in the items' order.
    pub(super) fn map_items<T: Send, R: Send>(
        self,
        items: Vec<T>,
        work: impl Fn(T) -> R + Sync + Send,
    ) -> Vec<R> {
        use rayon::prelude::*;
        match self.0 {
            Some(pool) => {
                pool.install(|| items.into_par_iter().with_max_len(1).map(work).collect())
            }
            None => items.into_iter().map(work).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn results_keep_their_order_and_the_first_error_wins() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for threads in [Threads(None), Threads(Some(&pool))] {
            let squares = threads.try_map(100, || Ok(()), |(), i| Ok(i * i)).unwrap();
            assert_eq!(squares, (0..100).map(|i| i * i).collect::<Vec<_>>());
            assert_eq!(threads.map_items(vec![3, 1, 2], |i| i + 1), [4, 2, 3]);
            let mut items = [3, 1, 2];
            threads.sort_by_key(&mut items, |&item| -item);
            assert_eq!(items, [3, 2, 1]);
            let failed = threads.try_map(
                50,
                || Ok(()),
                |(), i| match i {
                    7 | 30 => Err(Error::config("item", i, "no")),
                    _ => Ok(i),
                },
            );
            assert!(failed.unwrap_err().to_string().starts_with("item 7"));
            let worked_on = AtomicUsize::new(0);
            let failed = threads.try_fold(
                1_000_000,
                || Ok(()),
                |(), i| {
                    worked_on.fetch_add(1, Ordering::Relaxed);
                    if i == 3 {
                        return Err(Error::config("item", i, "no"));
                    }
                    (0..1000).for_each(|_| std::hint::spin_loop());
                    Ok(())
                },
            );
            assert!(failed.unwrap_err().to_string().starts_with("item 3"));
            assert!(worked_on.into_inner() < 1_000_000);
            let failed = threads.try_map(
                50,
                || Err::<(), _>(Error::config("state", 0, "no")),
                |(), i| Ok(i),
            );
            assert!(failed.unwrap_err().to_string().starts_with("state"));
        }
    }
}
