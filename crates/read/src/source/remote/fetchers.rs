//! Threads that fetch blocks, so that readers rarely wait.

use super::session::lock;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, Once, PoisonError};
use std::thread;

/// Urgency of a task, which decides its position among the waiting tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    /// A reader waits for the task.
    Now,
    /// A reader will probably need the task later.
    Soon,
}

type Task = Box<dyn FnOnce() + Send>;

/// Smallest number of threads that fetch blocks from stores. [`MOST`] is the largest number. Each thread has at most
/// one block in memory.
const FEWEST: usize = 8;
const MOST: usize = 32;

/// Waiting tasks, in the order in which the threads take them.
static TASKS: Mutex<VecDeque<Task>> = Mutex::new(VecDeque::new());
/// Wakes a thread when a task is added.
static ADDED: Condvar = Condvar::new();
static STARTED: Once = Once::new();

/// Adds a task to the waiting tasks, so that one of the threads runs it. The first call starts the threads.
pub(super) fn submit(urgency: Urgency, task: Task) {
    STARTED.call_once(|| {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..processors.clamp(FEWEST, MOST) {
            // If the system has no more threads, those that were started do all tasks.
            let thread = thread::Builder::new().name("fetch".to_owned());
            drop(thread.spawn(work));
        }
    });
    let mut tasks = lock(&TASKS);
    match urgency {
        Urgency::Now => tasks.push_front(task),
        Urgency::Soon => tasks.push_back(task),
    }
    drop(tasks);
    ADDED.notify_one();
}

/// Runs waiting tasks, one after the other, as long as the program runs.
fn work() {
    loop {
        let task = {
            let mut tasks = lock(&TASKS);
            loop {
                if let Some(task) = tasks.pop_front() {
                    break task;
                }
                tasks = ADDED.wait(tasks).unwrap_or_else(PoisonError::into_inner);
            }
        };
        task();
    }
}
