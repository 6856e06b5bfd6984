//! Work shared out among the threads of a pool.

use crate::error::Result;
use rayon::ThreadPool;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The threads that a join may use: those of a pool, or the caller's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Workers<'a>(pub(super) Option<&'a ThreadPool>);

impl Workers<'_> {
    /// How many there are.
    pub(super) fn count(self) -> usize {
        self.0.map_or(1, ThreadPool::current_num_threads)
    }

    /// What `work` makes of each item from 0 to `items`, in the items' order. Each worker begins
    /// with a state of its own.
    ///
    /// # Errors
    /// The error of the first item that failed.
    pub(super) fn try_map<S, R: Send>(
        self,
        items: usize,
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let next = AtomicUsize::new(0);
        let run = || {
            let mut state = state();
            let mut done = Vec::new();
            loop {
                let item = next.fetch_add(1, Ordering::Relaxed);
                if item >= items {
                    return done;
                }
                done.push((item, work(&mut state, item)));
            }
        };
        let mut done = match self.0 {
            Some(pool) if items > 1 => pool.broadcast(|_| run()).into_iter().flatten().collect(),
            _ => run(),
        };
        done.sort_unstable_by_key(|&(item, _)| item);
        done.into_iter().map(|(_, result)| result).collect()
    }

    /// [`Self::try_map`] of work that cannot fail.
    pub(super) fn map<S, R: Send>(
        self,
        items: usize,
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) -> R + Sync,
    ) -> Vec<R> {
        // Every item's result is `Ok`.
        self.try_map(items, state, |state, item| Ok(work(state, item))).unwrap_or_default()
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
        for workers in [Workers(None), Workers(Some(&pool))] {
            assert_eq!(
                workers.map(100, || (), |(), i| i * i),
                Vec::from_iter((0..100).map(|i| i * i))
            );
            assert_eq!(workers.map_items(vec![3, 1, 2], |i| i + 1), [4, 2, 3]);
            let failed = workers.try_map(
                50,
                || (),
                |(), i| match i {
                    7 | 30 => Err(Error::config("item", i, "no")),
                    _ => Ok(i),
                },
            );
            assert!(failed.unwrap_err().to_string().starts_with("item 7"));
        }
    }
}
