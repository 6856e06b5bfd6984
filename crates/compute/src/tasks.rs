//! Parallel loops over few large tasks, on the thread pool of the caller.
//!
//! The loop itself is compiled once. A loop of rayon is compiled again for each closure and each of its types, such as
//! the widths of fingerprints, and such loops were a third of the code of the joins.

use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Calls `task` with each number from 0 to `count` − 1, in any order. Each thread takes one number at a time, so no
/// thread waits while another one still has several.
pub fn each(count: usize, task: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(task);
}

/// Calls `task` with each number from 0 to `count` − 1 as [`each`] does. Returns the results in the order of the
/// numbers.
///
/// ```
/// use simtool_compute::tasks;
///
/// assert_eq!(tasks::map(4, |number| number * number), [0, 1, 4, 9]);
/// ```
pub fn map<R: Send>(count: usize, task: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let results = slots((0..count).map(|_| None));
    each(count, &|number| put(&results[number], task(number)));
    results.into_iter().filter_map(|slot| take(&slot)).collect()
}

/// Passes each of `items` to `task`, in parallel. Returns the results in the order of the items.
pub fn map_items<T: Send, R: Send>(items: Vec<T>, task: impl Fn(T) -> R + Sync) -> Vec<R> {
    let items = slots(items.into_iter().map(Some));
    map(items.len(), |number| take(&items[number]).map(&task)).into_iter().flatten().collect()
}

/// A place for a value that one thread puts there, or takes from there.
type Slot<T> = Mutex<Option<T>>;

fn slots<T>(values: impl Iterator<Item = Option<T>>) -> Vec<Slot<T>> {
    values.map(Mutex::new).collect()
}

fn put<T>(slot: &Slot<T>, value: T) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
}

fn take<T>(slot: &Slot<T>) -> Option<T> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::Threads;

    #[test]
    fn every_task_runs_once_and_results_keep_their_order() {
        for threads in [1, 3] {
            let threads = Threads::started(threads).unwrap();
            for count in [0, 1, 2, 100] {
                let squares: Vec<usize> = (0..count).map(|number| number * number).collect();
                let found = threads.run(|| map(count, |number| number * number)).unwrap();
                assert_eq!(found, squares);
                let texts: Vec<String> = (0..count).map(|number| number.to_string()).collect();
                let lengths: Vec<usize> = texts.iter().map(String::len).collect();
                let found = threads.run(|| map_items(texts, |text| text.len())).unwrap();
                assert_eq!(found, lengths);
            }
        }
    }
}
