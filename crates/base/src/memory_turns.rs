//! Turns in which threads do work that needs much memory at once, for example for the terms of a very long text.

use crate::error::Error;
use crate::quantity::counted;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// Number of bytes that work may use in addition to its share of the memory limit. The program keeps to a low limit
/// only approximately, because it needs some memory itself.
const IN_ADDITION: u64 = 20_000_000;

/// Lets only one thread at a time use more than a small share of the memory.
///
/// Each thread may always use its [small share](Self::share). A thread that needs more waits for the turn. So the
/// memory for long records does not grow with the number of threads. A thread that has the turn never waits, so threads
/// cannot block each other. All clones share one turn.
///
/// ```
/// use simtool_base::memory_turns::MemoryTurns;
///
/// let turns = MemoryTurns::new(100_000_000, 4);
/// assert!(turns.take(1_000_000).is_ok_and(|turn| turn.is_none()));
/// let turn = turns.take(50_000_000);
/// assert!(turn.is_ok_and(|turn| turn.is_some()));
/// assert!(turns.take(200_000_000).is_err());
/// ```
#[derive(Clone, Debug)]
pub struct MemoryTurns {
    /// Number of bytes that each thread may always use, without waiting for the turn.
    share: u64,
    /// Number of bytes that the thread with the turn may use.
    most: u64,
    threads: usize,
    turn: Arc<TurnState>,
}

#[derive(Debug, Default)]
struct TurnState {
    holder: Mutex<Option<Holder>>,
    is_free: Condvar,
    /// Number of turns that threads took so far. `largest` is the largest number of bytes that a thread requested for
    /// one turn.
    taken: AtomicU64,
    largest: AtomicU64,
}

/// The thread that has the turn, which is the right to use much memory, and the number of its [`Turn`] values that were
/// not dropped yet.
#[derive(Debug)]
struct Holder {
    thread: ThreadId,
    turns: usize,
}

impl TurnState {
    fn lock(&self) -> MutexGuard<'_, Option<Holder>> {
        // A holder is replaced as a whole, so it is valid even if a thread panicked.
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Error of work that needs more memory than the limit allows, even if no other thread works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// Smallest memory limit in bytes that allows the work.
    pub needed_limit: u64,
}

impl TooLarge {
    /// Returns the error for `what`, for example "a text of 5 MB". `reason` says why it is refused, for example "its
    /// terms do not fit". The message names the memory limit that is enough, and ends with `advice`.
    #[must_use]
    pub fn error(self, what: impl Into<String>, reason: &str, advice: &str) -> Error {
        // Limits of memory are given in whole megabytes.
        let limit = self.needed_limit.div_ceil(1_000_000);
        let rule = format!("{reason} in `max_memory`; allow at least {limit}M{advice}");
        Error::limit(what, rule)
    }
}

impl MemoryTurns {
    /// Divides a memory limit of `limit` bytes among `threads` threads. Each thread gets a small share. Only one thread
    /// at a time may use most of the limit.
    #[must_use]
    pub fn new(limit: u64, threads: usize) -> Self {
        // All shares together are a quarter of the memory of a turn, because most threads use less than their
        // share most of the time.
        let most = (limit / 10 * 9).saturating_add(IN_ADDITION);
        let share = most / 4 / threads.max(1) as u64;
        Self { share, most, threads, turn: Arc::default() }
    }

    /// Creates a value without a memory limit. Every thread may always use any amount of memory.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { share: u64::MAX, most: u64::MAX, threads: 1, turn: Arc::default() }
    }

    /// Returns the number of bytes that each thread may always use, even while another thread uses more.
    #[must_use]
    pub fn share(&self) -> u64 {
        self.share
    }

    /// Returns the number of bytes that the thread with the turn may use. The turn is the right to use more than the
    /// [share](Self::share), which one thread has at a time.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Waits until the calling thread may use `bytes` bytes. If `bytes` is at most the [share](Self::share) of a
    /// thread, returns `None` without waiting. Otherwise waits until no other thread has the turn, and returns the
    /// turn. The turn ends when the result is dropped. A thread that already has the turn does not wait.
    ///
    /// # Errors
    ///
    /// The memory limit does not allow `bytes` bytes. The error does not depend on what other threads do.
    pub fn take(&self, bytes: u64) -> Result<Option<Turn>, TooLarge> {
        if bytes <= self.share {
            return Ok(None);
        }
        if bytes > self.most {
            return Err(TooLarge { needed_limit: (bytes - IN_ADDITION).div_ceil(9) * 10 });
        }
        let thread = std::thread::current().id();
        let mut holder = self.turn.lock();
        while holder.as_ref().is_some_and(|holder| holder.thread != thread) {
            holder = self.turn.is_free.wait(holder).unwrap_or_else(PoisonError::into_inner);
        }
        self.turn.taken.fetch_add(1, Ordering::Relaxed);
        self.turn.largest.fetch_max(bytes, Ordering::Relaxed);
        // The turn is counted, so that a thread can take it for a record and again for its text.
        holder.get_or_insert(Holder { thread, turns: 0 }).turns += 1;
        Ok(Some(Turn(Arc::clone(&self.turn))))
    }
}

impl MemoryTurns {
    /// Returns a sentence for the user with the number of turns that threads took, and with the memory limit that would
    /// make turns unnecessary. Returns `None` if no thread took a turn, or if there is only one thread. The result does
    /// not depend on which threads waited.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let [taken, largest] =
            [&self.turn.taken, &self.turn.largest].map(|count| count.load(Ordering::Relaxed));
        if taken == 0 || self.threads < 2 {
            return None;
        }
        let together = largest.saturating_mul(4 * self.threads as u64);
        let limit = together.saturating_sub(IN_ADDITION).div_ceil(900_000);
        Some(format!(
            "threads took {} with long records and texts, to keep to `max_memory`; with {limit}M none has to wait",
            counted(taken, "turn")
        ))
    }
}

impl Default for MemoryTurns {
    fn default() -> Self {
        Self::unlimited()
    }
}

/// Right of a thread to use much memory, which one thread has at a time. The right ends when the thread has dropped all
/// its values of this type.
#[derive(Debug)]
#[must_use = "the turn ends once this value is dropped"]
pub struct Turn(Arc<TurnState>);

impl Drop for Turn {
    fn drop(&mut self) {
        let mut holder = self.0.lock();
        if let Some(held) = &mut *holder {
            held.turns -= 1;
            if held.turns == 0 {
                *holder = None;
                self.0.is_free.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_compute::threads::Threads;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn only_one_thread_works_with_much_memory() {
        let turns = MemoryTurns::new(80_000_000, 4);
        let (working, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = |(): &mut (), _| {
            let turn = turns.take(50_000_000).unwrap();
            let again = turns.take(60_000_000).unwrap();
            most.fetch_max(working.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::yield_now();
            working.fetch_sub(1, Ordering::SeqCst);
            drop((turn, again));
            Ok(())
        };
        Threads::new(4).unwrap().try_map(200, || Ok(()), work).unwrap();
        assert_eq!(most.into_inner(), 1);
        let note = turns.note().unwrap();
        assert!(note.contains("took 400 turns") && note.contains("1045M"), "{note}");
        assert!(MemoryTurns::new(1_045_000_000, 4).take(60_000_000).unwrap().is_none());
        assert!(MemoryTurns::new(1_040_000_000, 4).take(60_000_000).unwrap().is_some());
    }

    #[test]
    fn small_work_needs_no_turn_and_the_limit_that_large_work_needs_is_enough() {
        let turns = MemoryTurns::new(100_000_000, 1);
        let _held = turns.take(90_000_000).unwrap();
        assert!(turns.take(turns.share()).unwrap().is_none());
        let too_large = turns.take(300_000_001).unwrap_err();
        for (limit, is_enough) in
            [(too_large.needed_limit, true), (too_large.needed_limit - 20, false)]
        {
            assert_eq!(MemoryTurns::new(limit, 1).take(300_000_001).is_ok(), is_enough);
        }
        assert_eq!(turns.note(), None, "a single thread waits for nobody");
        assert!(MemoryTurns::unlimited().take(u64::MAX - 1).unwrap().is_none());
    }
}
