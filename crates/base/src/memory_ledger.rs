//! Counts the memory of a run. The bytes of each large buffer are counted while the buffer exists.

use crate::error::{Error, Result};
use crate::quantity::bytes as readable_bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A memory limit in bytes, and the number of bytes that large buffers use at present. Threads can share a ledger. A
/// clone of a ledger has the same limit and the same counts as the original.
///
/// ```
/// use simtool_base::memory_ledger::Ledger;
///
/// let ledger = Ledger::new(1000);
/// let terms = ledger.reserve(700, "the terms")?;
/// assert_eq!(ledger.free(), 300);
/// assert!(ledger.try_reserve(301).is_none());
/// drop(terms);
/// assert_eq!((ledger.free(), ledger.peak()), (1000, 700));
/// # Ok::<(), simtool_base::error::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ledger(Arc<Account>);

#[derive(Debug)]
struct Account {
    limit: u64,
    used: AtomicU64,
    /// The largest value of `used` so far.
    peak: AtomicU64,
    /// Account of the larger ledger whose method [`Ledger::share`] created this account. The larger ledger counts the
    /// bytes of this account, too. `None` if `share` did not create this account.
    whole: Option<Arc<Self>>,
}

impl Account {
    fn new(limit: u64, whole: Option<Arc<Self>>) -> Arc<Self> {
        let used = AtomicU64::new(0);
        let peak = AtomicU64::new(0);
        Arc::new(Self { limit, used, peak, whole })
    }

    /// Updates the peak after `bytes` more bytes were counted. `used` is the new total. Also counts these bytes in the
    /// account `whole`.
    fn entered(&self, bytes: u64, used: u64) {
        self.peak.fetch_max(used, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.enter(bytes);
        }
    }

    /// Counts `bytes` more bytes as used, even beyond the limit.
    fn enter(&self, bytes: u64) {
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        self.entered(bytes, before.saturating_add(bytes));
    }

    /// Counts `bytes` more bytes as used if the limit allows them. Returns whether they were counted.
    fn try_enter(&self, bytes: u64) -> bool {
        let more = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        // The comparison and the addition are one atomic step. Otherwise two threads could both
        // find room for their bytes and together exceed the limit. No other data depends on the
        // counter, so relaxed order is enough.
        let entered = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        if let Ok(before) = entered {
            self.entered(bytes, before + bytes);
        }
        entered.is_ok()
    }

    fn leave(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.leave(bytes);
        }
    }
}

impl Ledger {
    /// Creates an empty ledger with a limit of `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self(Account::new(limit, None))
    }

    /// Creates a smaller ledger with a limit of `limit` bytes, for a part of the work. Bytes that the smaller ledger
    /// counts are also counted in this ledger.
    #[must_use]
    pub fn share(&self, limit: u64) -> Self {
        Self(Account::new(limit, Some(Arc::clone(&self.0))))
    }

    /// Returns the limit in bytes. `u64::MAX` means that memory is not limited.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// Returns the number of bytes that are counted as used at present.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.0.used.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes that may still be reserved, or 0 if the limit is exceeded.
    #[must_use]
    pub fn free(&self) -> u64 {
        self.limit().saturating_sub(self.used())
    }

    /// Returns the largest number of bytes that were used at the same time so far.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.0.peak.load(Ordering::Relaxed)
    }

    /// Reserves `bytes` bytes for a buffer. `what` describes the content of the buffer in the error message, for
    /// example "the terms of the documents".
    ///
    /// # Errors
    ///
    /// The limit does not allow `bytes` more bytes.
    pub fn reserve(&self, bytes: u64, what: &'static str) -> Result<Reservation> {
        self.try_reserve(bytes).ok_or_else(|| {
            let free = readable_bytes(self.free());
            let needed = readable_bytes(bytes);
            let rule = format!(
                "`max_memory` leaves {free} for them; allow at least {needed}, or use a method that \
                 needs less memory, such as simhash"
            );
            Error::limit(format!("{what}, with {needed}"), rule)
        })
    }

    /// Reserves `bytes` bytes, or returns `None` if the limit does not allow them.
    #[must_use]
    pub fn try_reserve(&self, bytes: u64) -> Option<Reservation> {
        let has_room = self.0.try_enter(bytes);
        has_room.then(|| Reservation { account: Arc::clone(&self.0), bytes })
    }

    /// Counts `bytes` bytes of a buffer that is needed in any case, even if they exceed the limit. [`Self::free`] is
    /// then lower, so that other code uses less memory.
    pub fn hold(&self, bytes: u64) -> Reservation {
        self.0.enter(bytes);
        Reservation { account: Arc::clone(&self.0), bytes }
    }
}

/// Number of bytes that a [`Ledger`] counts as used until this value is dropped.
#[derive(Debug)]
#[must_use = "the bytes are free again once the reservation is dropped"]
pub struct Reservation {
    account: Arc<Account>,
    bytes: u64,
}

impl Reservation {
    /// Returns the number of reserved bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves `more` additional bytes if the limit allows them. Returns whether they were reserved.
    pub fn try_grow(&mut self, more: u64) -> bool {
        let has_room = self.account.try_enter(more);
        if has_room {
            self.bytes += more;
        }
        has_room
    }

    /// Counts `more` additional bytes, even if they exceed the limit, like [`Ledger::hold`].
    pub fn grow(&mut self, more: u64) {
        self.account.enter(more);
        self.bytes += more;
    }

    /// Reduces the reservation to `bytes` bytes and releases the other bytes. Does nothing if the reservation has fewer
    /// bytes already.
    pub fn shrink_to(&mut self, bytes: u64) {
        // A larger reservation must not be made here, because the limit is not checked.
        let kept = bytes.min(self.bytes);
        self.account.leave(self.bytes - kept);
        self.bytes = kept;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.account.leave(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_are_released_when_they_are_dropped() {
        let ledger = Ledger::new(100);
        let mut terms = ledger.reserve(60, "the terms").unwrap();
        let error = ledger.reserve(41, "the pairs").unwrap_err().to_string();
        assert!(error.starts_with("the pairs, with 41"), "{error}");
        assert!(error.contains("leaves 40"), "{error}");
        assert!(terms.try_grow(40));
        assert!(!terms.try_grow(1));
        terms.shrink_to(50);
        terms.shrink_to(70);
        assert_eq!((terms.bytes(), ledger.free()), (50, 50));
        let mut over = ledger.hold(50);
        over.grow(20);
        assert_eq!((ledger.used(), ledger.free(), over.bytes()), (120, 0, 70));
        assert!(ledger.try_reserve(0).is_none());
        drop((terms, over));
        assert_eq!((ledger.used(), ledger.peak()), (0, 120));
    }

    #[test]
    fn a_share_has_its_own_limit_and_counts_in_the_whole() {
        let ledger = Ledger::new(100);
        let share = ledger.share(30);
        let mut terms = share.try_reserve(20).unwrap();
        assert!(!terms.try_grow(11));
        assert_eq!((share.free(), ledger.free()), (10, 80));
        drop(terms);
        assert_eq!((share.used(), ledger.used(), ledger.peak()), (0, 0, 20));
    }

    #[test]
    fn threads_share_one_limit() {
        let ledger = &Ledger::new(10);
        let count = std::sync::atomic::AtomicUsize::new(0);
        let threads = simtool_compute::threads::Threads::new(4).unwrap();
        let held = threads.try_map(
            20,
            || Ok(()),
            |(), _| {
                let reservation = ledger.try_reserve(1);
                count.fetch_add(usize::from(reservation.is_some()), Ordering::Relaxed);
                Ok(reservation)
            },
        );
        assert_eq!(count.into_inner(), 10);
        drop(held);
        assert_eq!((ledger.used(), ledger.peak()), (0, 10));
    }
}
