//! The threads of the program, and the loop that distributes work among them.

use crate::tasks;
use rayon::ThreadPool;
use rayon::prelude::*;
use simtool_base::error::{Error, Result};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The threads that a computation may use: a pool of threads, or only the thread of the caller. A clone uses the same
/// pool.
///
/// ```
/// use simtool_compute::threads::Threads;
///
/// let threads = Threads::new(2)?;
/// let squares = threads.try_map(4, || Ok(()), |(), item| Ok(item * item))?;
/// assert_eq!(squares, [0, 1, 4, 9]);
/// # Ok::<(), simtool_base::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Threads(Option<Arc<ThreadPool>>);

/// Starts a pool of `count` threads.
fn start(count: usize) -> Result<ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build();
    pool.map_err(|error| {
        Error::config("threads", count, format!("the system cannot start them: {error}"))
    })
}

/// Runs `work` on a thread of the pool, and returns its result.
fn run_on<R: Send>(pool: &ThreadPool, work: impl FnOnce() -> R + Send) -> R {
    let mut work = Some(work);
    let mut result = None;
    install(pool, &mut || result = work.take().map(|work| work()));
    result.unwrap_or_else(|| unreachable!("a pool runs its work or panics"))
}

/// Calls `work` on a thread of the pool. Like [`run_on_all`], this function is compiled once, and not for each closure.
fn install(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

/// Calls `work` once on each thread of the pool.
fn run_on_all(pool: &ThreadPool, work: &(dyn Fn() + Sync)) {
    pool.broadcast(|_| work());
}

impl Threads {
    /// Only the thread of the caller, without a pool.
    pub const CALLER: Self = Self(None);

    /// Starts a pool of `count` threads. If `count` is 0 or 1, no pool is started, and work runs on the thread of the
    /// caller.
    ///
    /// # Errors
    ///
    /// The system cannot start that many threads.
    pub fn new(count: usize) -> Result<Self> {
        if count <= 1 {
            return Ok(Self::CALLER);
        }
        Self::started(count)
    }

    /// Starts a pool of `count` threads, even if `count` is 1. This is for work that arrives again and again, because
    /// [`Self::run`] then never has to start a thread.
    ///
    /// # Errors
    ///
    /// The system cannot start that many threads.
    pub fn started(count: usize) -> Result<Self> {
        let pool = start(count)?;
        Ok(Self(Some(Arc::new(pool))))
    }

    /// Returns the number of threads that the computation may use.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs `work` on the pool and returns its result. If `work` uses rayon, its parallel parts run on the threads of
    /// this pool.
    ///
    /// # Errors
    ///
    /// There is no pool, and the system cannot start the single thread that is then needed.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R> {
        match &self.0 {
            // Outside a pool, rayon would start its global pool with a thread for every core.
            None => Ok(run_on(&start(1)?, work)),
            Some(pool) => Ok(run_on(pool, work)),
        }
    }

    /// Distributes the items, which are numbered from 0 to `items` − 1, among the threads. Returns the final states of
    /// the threads.
    ///
    /// Each thread first creates its state with `state`. It then calls `work` with this state and the number of each
    /// item that it takes. A thread takes items in ascending order. After an item has failed, no thread takes a new
    /// item.
    ///
    /// # Errors
    ///
    /// The error of `state` if it fails. Otherwise the error of the failed item with the lowest number. Items with
    /// lower numbers were taken earlier and are finished, so the error is the same for any number of threads.
    pub fn try_fold<S: Send>(
        &self,
        items: usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        self.share(items, state, work, |state| state)
    }

    /// Distributes the items, which are numbered from 0 to `items` − 1, among the threads, and calls `work` for each
    /// item as [`Self::try_fold`] does. Then each thread passes its final state to `finish`. Returns the results of
    /// `finish`. With this function, all threads free the memory of their states at the same time.
    ///
    /// # Errors
    ///
    /// As for [`Self::try_fold`].
    pub fn try_fold_into<S, R: Send>(
        &self,
        items: usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize) -> Result<()> + Sync,
        finish: impl Fn(S) -> R + Sync,
    ) -> Result<Vec<R>> {
        self.share(items, state, work, finish)
    }

    /// Distributes the items, which are numbered from 0 to `items` − 1, among the threads, for work that cannot fail.
    /// Each thread creates its state with `state`, and calls `work` with this state and the number of each item that it
    /// takes. Returns the final states of the threads.
    pub fn fold<S: Send>(
        &self,
        items: usize,
        state: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, usize) + Sync,
    ) -> Vec<S> {
        let work = |state: &mut S, item| {
            work(state, item);
            Ok(())
        };
        // `Infallible` has no values, so the pattern always matches.
        let Ok(states) = self.share::<_, _, Infallible>(items, || Ok(state()), work, |state| state);
        states
    }

    /// Distributes the items, which are numbered from 0 to `items` − 1, among the threads. Each thread creates its
    /// state, calls `work` with the next item until no item is left, and passes its state to `finish`. Returns the
    /// results of `finish`, or the first error.
    fn share<S, R: Send, E: Send>(
        &self,
        items: usize,
        state: impl Fn() -> Result<S, E> + Sync,
        work: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
        finish: impl Fn(S) -> R + Sync,
    ) -> Result<Vec<R>, E> {
        let next = AtomicUsize::new(0);
        let has_failed = AtomicBool::new(false);
        let take_items = || {
            let mut state = state().map_err(|error| (None, error))?;
            // The flag is read before an item is taken: an item that was taken is always finished.
            while !has_failed.load(Ordering::Relaxed) {
                // The counter only hands out numbers. The end of the broadcast makes the results
                // visible, so a relaxed order is enough.
                let item = next.fetch_add(1, Ordering::Relaxed);
                if item >= items {
                    break;
                }
                work(&mut state, item).map_err(|error| (Some(item), error))?;
            }
            Ok(finish(state))
        };
        let done = Mutex::new(Vec::new());
        let run = || {
            let result = take_items();
            if result.is_err() {
                has_failed.store(true, Ordering::Relaxed);
            }
            done.lock().unwrap_or_else(PoisonError::into_inner).push(result);
        };
        match &self.0 {
            // A single item occupies one thread, so waking the others would only cost time.
            Some(pool) if items > 1 => run_on_all(pool, &run),
            _ => run(),
        }
        states_or_first_error(done.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Distributes the items, which are numbered from 0 to `items` − 1, among the threads. Returns the result of `work`
    /// for each item, in the order of the items. Each thread creates its own state with `state`.
    ///
    /// # Errors
    ///
    /// As for [`Self::try_fold`].
    pub fn try_map<S: Send, R: Send>(
        &self,
        items: usize,
        state: impl Fn() -> Result<S> + Sync,
        work: impl Fn(&mut S, usize) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let done = self.try_fold_into(
            items,
            || Ok((state()?, Vec::new())),
            |(state, done), item| {
                done.push((item, work(state, item)?));
                Ok(())
            },
            // States can be large, or write their rest when they are dropped.
            |(_, done)| done,
        )?;
        // Threads finish items in any order, so the numbers of the items restore the order.
        let mut done: Vec<(usize, R)> = done.into_iter().flatten().collect();
        done.sort_unstable_by_key(|&(item, _)| item);
        Ok(done.into_iter().map(|(_, result)| result).collect())
    }

    /// Applies `work` to each of `items`, and returns the results in the order of the items.
    pub fn map<T: Send, R: Send>(
        &self,
        items: Vec<T>,
        work: impl Fn(T) -> R + Sync + Send,
    ) -> Vec<R> {
        match &self.0 {
            Some(pool) => run_on(pool, || tasks::map_items(items, work)),
            None => items.into_iter().map(work).collect(),
        }
    }

    /// Sorts items by their keys, in ascending order. The order of items with equal keys is not defined.
    pub fn sort_by_key<T: Send, K: Ord>(
        &self,
        items: &mut [T],
        key: impl Fn(&T) -> K + Sync + Send,
    ) {
        match &self.0 {
            Some(pool) => run_on(pool, || items.par_sort_unstable_by_key(key)),
            None => items.sort_unstable_by_key(key),
        }
    }
}

/// Returns the states of all threads. If a thread failed, returns an error instead. An error without an item number
/// comes from the creation of a state and is returned first. Otherwise the error with the lowest item number is
/// returned.
fn states_or_first_error<S, E>(done: Vec<Result<S, (Option<usize>, E)>>) -> Result<Vec<S>, E> {
    let mut states = Vec::with_capacity(done.len());
    let mut failed = Vec::new();
    for result in done {
        match result {
            Ok(state) => states.push(state),
            Err(at_item) => failed.push(at_item),
        }
    }
    // `None` is less than every item, so the error of a state comes first.
    match failed.into_iter().min_by_key(|&(item, _)| item) {
        Some((_, error)) => Err(error),
        None => Ok(states),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(item: usize) -> Error {
        Error::config("item", item, "no")
    }

    #[test]
    fn every_item_is_given_once_and_results_keep_their_order() {
        for count in [1, 2, 5] {
            let threads = Threads::new(count).unwrap();
            assert_eq!(threads.count(), count);
            let mut given = threads.fold(100, Vec::new, Vec::push).concat();
            given.sort_unstable();
            assert_eq!(given, (0..100).collect::<Vec<_>>());
            let squares = threads.try_map(100, || Ok(()), |(), item| Ok(item * item)).unwrap();
            assert_eq!(squares, (0..100).map(|item| item * item).collect::<Vec<_>>());
            assert_eq!(threads.map(vec![3, 1, 2], |item| item + 1), [4, 2, 3]);
            let mut items = [3, 1, 2];
            threads.sort_by_key(&mut items, |&item| -item);
            assert_eq!(items, [3, 2, 1]);
        }
    }

    #[test]
    fn states_are_dropped_by_the_threads_that_used_them() {
        struct State(std::thread::ThreadId);
        impl Drop for State {
            fn drop(&mut self) {
                assert_eq!(self.0, std::thread::current().id());
            }
        }
        for count in [1, 4] {
            let threads = Threads::new(count).unwrap();
            let state = || Ok(State(std::thread::current().id()));
            let done = threads.try_map(100, state, |_, item| Ok(item)).unwrap();
            assert_eq!(done.len(), 100);
            let finished = threads.try_fold_into(100, state, |_, _| Ok(()), |_| 1).unwrap();
            assert_eq!(finished.iter().sum::<usize>(), count);
        }
    }

    #[test]
    fn the_first_error_is_returned_and_the_work_ends_soon() {
        for count in [1, 3] {
            let threads = Threads::new(count).unwrap();
            let fail_at = |(): &mut (), item| match item {
                7 | 8 | 30 => Err(refused(item)),
                _ => Ok(item),
            };
            let failed = threads.try_map(50, || Ok(()), fail_at);
            assert_eq!(failed.unwrap_err().to_string(), "item 7: no");

            let worked_on = AtomicUsize::new(0);
            let fail_early = |(): &mut (), item| {
                worked_on.fetch_add(1, Ordering::Relaxed);
                if item == 3 {
                    return Err(refused(item));
                }
                (0..1000).for_each(|_| std::hint::spin_loop());
                Ok(())
            };
            let failed = threads.try_fold(1_000_000, || Ok(()), fail_early);
            assert_eq!(failed.unwrap_err().to_string(), "item 3: no");
            assert!(worked_on.into_inner() < 1_000_000);

            let no_state = || Err::<(), _>(Error::config("state", 0, "no"));
            let failed = threads.try_map(50, no_state, |(), item| Ok(item));
            assert_eq!(failed.unwrap_err().to_string(), "state 0: no");
        }
    }
}
