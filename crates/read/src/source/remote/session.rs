//! State that all objects of a run share: credentials, the spool, and how often a request is repeated.

use super::error::{Failure, RemoteError};
use super::hub::Hub;
use super::spool::Spool;
use super::store::{Bucket, Listed, Page, Store, Web};
use crate::source::address::{Address, StoreKind};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, SystemTime};

/// Settings for reading objects from stores and for writing results to stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteSettings {
    /// Folder of the spool, a temporary file with the bytes that were fetched.
    pub temporary_folder: PathBuf,
    /// Largest length of the spool in bytes.
    pub spool_bytes: u64,
    /// Whether requests are sent without credentials, which is enough for public data.
    pub is_anonymous: bool,
}

impl Default for RemoteSettings {
    fn default() -> Self {
        Self {
            temporary_folder: std::env::temp_dir(),
            spool_bytes: u64::MAX / 4,
            is_anonymous: false,
        }
    }
}

/// Time in which the first attempt at a request must be answered. Later attempts may take longer, up to [`LONGEST`]
/// times as long, because the network may be slow.
const PATIENCE: Duration = Duration::from_secs(30);
/// Number by which [`PATIENCE`] is multiplied for the last attempts at a request.
const LONGEST: u32 = 8;

/// Number of attempts at a request to a store that has never answered. It is small, because the address is probably
/// wrong.
const FIRST_ATTEMPTS: u32 = 5;
/// Number of attempts at a request to a store that has answered before. With their pauses, they last over two minutes.
const ATTEMPTS: u32 = 16;

/// Pause after the first attempt. Each further pause is twice as long, up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Number of fetched blocks that are kept in memory, in addition to the blocks that threads are reading or fetching.
const HELD_BLOCKS: usize = 8;

/// Counts of the downloads and requests for objects in stores.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) fetched_bytes: AtomicU64,
    pub(super) repeated_requests: AtomicU64,
    /// Blocks that were fetched again because the spool was full.
    pub(super) refetched_blocks: AtomicU64,
}

/// State that the objects of a run share. It is dropped together with the last of these objects.
pub(super) struct Session {
    settings: RemoteSettings,
    pub(super) spool: Spool,
    pub(super) counts: Counts,
    stores: Mutex<BTreeMap<String, Arc<Reached>>>,
    /// Blocks in memory, the oldest first. Each entry has an object and the index of its block.
    held: Mutex<VecDeque<(Weak<dyn HoldsBlocks>, usize)>>,
}

/// An object in a store that keeps fetched blocks of its bytes in memory.
pub(super) trait HoldsBlocks: Send + Sync {
    /// Removes the content of the block with index `block` from memory.
    fn let_go(&self, block: usize);
}

/// A store, and whether it has ever answered a request.
#[derive(Debug)]
pub(super) struct Reached {
    store: Mutex<Arc<dyn Store>>,
    has_answered: AtomicBool,
}

/// Settings for new sources, and the session that earlier sources with these settings share.
static CURRENT: Mutex<Option<(RemoteSettings, Weak<Session>)>> = Mutex::new(None);

/// Sets how objects in stores are read from now on. Sources that exist keep their settings.
pub fn configure(settings: RemoteSettings) {
    let mut current = lock(&CURRENT);
    // The same settings keep the session, and so the spool, of the sources that exist.
    if current.as_ref().is_none_or(|(known, _)| *known != settings) {
        *current = Some((settings, Weak::new()));
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Returns the session that new sources use. Creates it if no source uses it yet.
    pub(super) fn current() -> Arc<Self> {
        let mut current = lock(&CURRENT);
        let (settings, session) = current.get_or_insert_with(Default::default);
        session.upgrade().unwrap_or_else(|| {
            let created = Arc::new(Self::new(settings.clone()));
            *session = Arc::downgrade(&created);
            created
        })
    }

    pub(super) fn new(settings: RemoteSettings) -> Self {
        let spool = Spool::new(settings.temporary_folder.clone(), settings.spool_bytes);
        let (stores, held) = (Mutex::default(), Mutex::default());
        Self { settings, spool, counts: Counts::default(), stores, held }
    }

    pub(super) fn settings(&self) -> &RemoteSettings {
        &self.settings
    }

    /// Returns the store of an address. The store is kept for later calls, so that its credentials are read only once.
    pub(super) fn store(&self, address: &Address) -> Result<Arc<Reached>, RemoteError> {
        // The lock is kept while a store is opened, so that its credentials are read from the disk only once.
        let mut stores = lock(&self.stores);
        if let Some(store) = stores.get(&address.root).filter(|_| address.kind != StoreKind::Web) {
            return Ok(Arc::clone(store));
        }
        let is_anonymous = self.settings.is_anonymous;
        let opened = match address.kind {
            // The query of a web address belongs to one object.
            StoreKind::Web => Ok(Arc::new(Web { address: address.clone() }) as Arc<dyn Store>),
            StoreKind::Hub => Hub::open(address, is_anonymous).map(|hub| Arc::new(hub) as _),
            _ => Bucket::open(address, is_anonymous).map(|bucket| Arc::new(bucket) as _),
        };
        let store = opened.map_err(|failure| RemoteError::new(failure, 1, ""))?;
        let reached = Arc::new(Reached::new(store));
        if address.kind != StoreKind::Web {
            stores.insert(address.root.clone(), Arc::clone(&reached));
        }
        Ok(reached)
    }

    /// Requests the description of the object at an address, for example its length.
    pub(super) fn find(&self, address: &Address) -> Result<Listed, RemoteError> {
        let reached = self.store(address)?;
        reached.request(&self.counts, |store, time| store.find(&address.key, time))
    }

    /// Returns all objects whose keys begin with `prefix`, in the order of their keys.
    pub(super) fn list(&self, address: &Address, prefix: &str) -> Result<Vec<Listed>, RemoteError> {
        let reached = self.store(address)?;
        let mut objects = Vec::new();
        let mut token = None;
        loop {
            let get = |store: &dyn Store, time| store.page(prefix, token.clone(), time);
            // Each page is repeated alone, so a list of a million keys survives a few failures.
            let Page { objects: found, next } = reached.request(&self.counts, get)?;
            objects.extend(found);
            if next.is_none() {
                // Not every store lists keys in the order of their bytes, which is the order of files in folders.
                objects.sort_unstable_by(|a, b| a.key.cmp(&b.key));
                return Ok(objects);
            }
            token = next;
        }
    }

    /// Notes that the block with index `block` of `object` is in memory. If there are too many such blocks, removes the
    /// oldest one.
    pub(super) fn hold(&self, object: Weak<dyn HoldsBlocks>, block: usize) {
        let oldest = {
            let mut held = lock(&self.held);
            held.push_back((object, block));
            if held.len() > HELD_BLOCKS { held.pop_front() } else { None }
        };
        // The lock is free again, because the block has a lock of its own.
        if let Some((object, block)) = oldest
            && let Some(object) = object.upgrade()
        {
            object.let_go(block);
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Reached {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self { store: Mutex::new(store), has_answered: AtomicBool::new(false) }
    }

    /// Sends a request, and repeats it until it succeeds, fails for good, or was sent too often. `send` sends the
    /// request once. Its second argument is the time that the request may take.
    pub(super) fn request<T>(
        &self,
        counts: &Counts,
        send: impl Fn(&dyn Store, Duration) -> Result<T, Failure>,
    ) -> Result<T, RemoteError> {
        let mut attempts = 0;
        loop {
            let time = PATIENCE * LONGEST.min(1 << attempts.min(16));
            let store = Arc::clone(&lock(&self.store));
            let answer = send(&*store, time);
            // A refusal is an answer, too.
            let has_answered = !answer.as_ref().is_err_and(Failure::may_pass);
            let has_answered = self.has_answered.fetch_or(has_answered, Ordering::Relaxed);
            let failure = match answer {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            if let Failure::Region(region) = &failure
                && let Some(Ok(moved)) = store.in_region(region)
            {
                *lock(&self.store) = moved;
                continue;
            }
            attempts += 1;
            let most = if has_answered { ATTEMPTS } else { FIRST_ATTEMPTS };
            if attempts >= most || !failure.may_pass() {
                return Err(RemoteError::new(failure, attempts, store.credentials_advice()));
            }
            counts.repeated_requests.fetch_add(1, Ordering::Relaxed);
            thread::sleep(pause(attempts));
        }
    }
}

/// Returns the pause after `attempts` failed attempts. A part of the pause is random, so that threads whose requests
/// failed together do not repeat them together.
fn pause(attempts: u32) -> Duration {
    let pause = PAUSE.saturating_mul(1 << (attempts - 1).min(16)).min(LONGEST_PAUSE);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let share = f64::from(now.subsec_nanos() % 1000) / 1000.0;
    pause.mul_f64(0.5 + share / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_limit() {
        for (attempts, milliseconds) in [(1, 100), (2, 200), (5, 1600), (30, 15_000)] {
            let longest = Duration::from_millis(milliseconds);
            let pause = pause(attempts);
            assert!(pause <= longest && pause >= longest / 2, "{pause:?}");
        }
        let total: Duration = (1..ATTEMPTS).map(pause).sum();
        assert!(total > Duration::from_secs(50), "{total:?}");
    }
}
