//! An object in a store, which is fetched in blocks.

use super::error::RemoteError;
use super::fetchers::{Urgency, submit};
use super::session::{HoldsBlocks, Reached, Session, lock};
use super::spool::{FRAME_BYTES, Frame};
use super::store::Listed;
use crate::source::address::Address;
use bytes::Bytes;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak};

/// Number of bytes that are fetched by one request. A multiple of [`FRAME_BYTES`].
const BLOCK_BYTES: u64 = 8 << 20;

/// Number of blocks after the block that is being read that are fetched ahead.
const BLOCKS_AHEAD: usize = 4;

/// An object in a store, whose bytes are fetched in blocks of [`BLOCK_BYTES`] bytes.
pub(super) struct Object {
    address: Address,
    pub(super) listed: Listed,
    store: Arc<Reached>,
    session: Arc<Session>,
    /// State of each block. The last block may be shorter than the others.
    blocks: Mutex<Vec<Block>>,
    /// Wakes the threads that wait for a block.
    arrived: Condvar,
    /// Error that ends the run, because the object cannot be read as it was found.
    fatal: OnceLock<String>,
}

/// State of a block, which is a range of bytes of an object. At the start, the block was not fetched.
#[derive(Clone, Default)]
struct Block {
    /// Whether a thread fetches the block, or soon will.
    is_awaited: bool,
    /// The content of the block. It stays in memory only for a while after it arrived.
    held: Option<Bytes>,
    /// Positions of the parts of the block in the spool, a temporary file. Empty if the block is not in the spool.
    frames: Vec<Frame>,
    error: Option<RemoteError>,
    /// Whether the block was fetched before.
    was_fetched: bool,
}

/// Consecutive bytes of an object. They begin at offset `at` of the object.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) at: u64,
    pub(super) bytes: Bytes,
}

impl Piece {
    /// Returns whether the byte at this offset of the object is in the piece.
    pub(super) fn has(&self, at: u64) -> bool {
        at >= self.at && at - self.at < self.bytes.len() as u64
    }

    /// Copies the bytes from offset `at` of the object on. Returns their number, which is at most the length of `space`.
    pub(super) fn copy(&self, at: u64, space: &mut [u8]) -> usize {
        let bytes = &self.bytes[(at - self.at) as usize..];
        let count = bytes.len().min(space.len());
        space[..count].copy_from_slice(&bytes[..count]);
        count
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Piece").field("at", &self.at).field("bytes", &self.bytes.len()).finish()
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Object {
    pub(super) fn new(
        address: Address,
        listed: Listed,
        store: Arc<Reached>,
        session: Arc<Session>,
    ) -> Self {
        // A terabyte has 131,072 blocks of about 100 bytes, which is little next to what readers need.
        let blocks = vec![Block::default(); listed.bytes.div_ceil(BLOCK_BYTES) as usize];
        let blocks = Mutex::new(blocks);
        let (arrived, fatal) = (Condvar::new(), OnceLock::new());
        Self { address, listed, store, session, blocks, arrived, fatal }
    }

    /// Returns the reason why the run must end, if a part of the object could not be read.
    pub(super) fn fatal(&self) -> Option<&str> {
        self.fatal.get().map(String::as_str)
    }

    /// Fetches only the bytes in `range` from the store, and does not keep them. This is for a few bytes far from the
    /// place that is read, for which a whole block would be too much.
    pub(super) fn peek(&self, range: Range<u64>) -> io::Result<Bytes> {
        self.get(range).map_err(|error| self.noted(&error))
    }

    /// Returns whether the block with offset `at` is in memory or in the spool, or will be soon.
    pub(super) fn has_block_of(&self, at: u64) -> bool {
        let blocks = lock(&self.blocks);
        let block = blocks.get((at / BLOCK_BYTES) as usize);
        block.is_some_and(|block| {
            block.is_awaited || block.held.is_some() || !block.frames.is_empty()
        })
    }

    /// Returns some bytes that include offset `at`, which must be inside of the object. Waits until they arrive, and
    /// fetches the blocks behind them.
    pub(super) fn piece(self: &Arc<Self>, at: u64) -> io::Result<Piece> {
        let block = (at / BLOCK_BYTES) as usize;
        self.fetch_ahead(block);
        let start = block as u64 * BLOCK_BYTES;
        // Index of the frame in the block.
        let frame = ((at - start) as usize) / FRAME_BYTES;
        let frame_at = start + (frame * FRAME_BYTES) as u64;
        let mut blocks = lock(&self.blocks);
        // Each pass of the loop looks at the state that other threads have left, and then waits until this thread is
        // woken.
        loop {
            let state = &mut blocks[block];
            if let Some(stored) = state.frames.get(frame).copied() {
                // A copy from a block in memory is cheaper than loading the frame from the spool. The copy does not
                // keep the block in memory.
                let held = state.held.clone();
                drop(blocks);
                let length = (self.listed.bytes - frame_at).min(FRAME_BYTES as u64) as usize;
                let bytes = match held {
                    Some(held) => {
                        let from = frame * FRAME_BYTES;
                        Bytes::copy_from_slice(&held[from..from + length])
                    }
                    None => self.session.spool.load(stored, length)?,
                };
                return Ok(Piece { at: frame_at, bytes });
            }
            // A block that is not in the spool yet, or does not fit, is read from memory as a whole.
            if let Some(bytes) = state.held.clone() {
                return Ok(Piece { at: start, bytes });
            }
            if let Some(error) = &state.error {
                return Err(self.noted(error));
            }
            if !state.is_awaited {
                // The spool was full, and the block has left the memory since.
                state.is_awaited = true;
                self.submit(block, Urgency::Now);
            }
            blocks = self.arrived.wait(blocks).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Starts to fetch the block with index `block` and the next blocks in other threads, unless they were fetched or
    /// will be soon.
    fn fetch_ahead(self: &Arc<Self>, block: usize) {
        // If the spool has no space, blocks that arrive too early leave the memory before they are read, and are
        // fetched twice.
        let ahead = if self.session.spool.is_full() { 0 } else { BLOCKS_AHEAD };
        let mut blocks = lock(&self.blocks);
        let end = blocks.len().min(block + 1 + ahead);
        for number in block..end {
            let state = &mut blocks[number];
            let is_known =
                state.held.is_some() || !state.frames.is_empty() || state.error.is_some();
            if !state.is_awaited && !is_known {
                state.is_awaited = true;
                self.submit(number, if number == block { Urgency::Now } else { Urgency::Soon });
            }
        }
    }

    fn submit(self: &Arc<Self>, block: usize, urgency: Urgency) {
        // A run that has ended needs no more blocks, so waiting tasks do not keep its objects alive.
        let object = Arc::downgrade(self);
        submit(
            urgency,
            Box::new(move || Weak::upgrade(&object).iter().for_each(|o| o.fetch(block))),
        );
    }

    /// Fetches the block with index `block`, wakes the threads that wait for it, and stores it in the spool.
    fn fetch(self: &Arc<Self>, block: usize) {
        let start = block as u64 * BLOCK_BYTES;
        let got = self.get(start..self.listed.bytes.min(start + BLOCK_BYTES));
        let bytes = {
            let mut blocks = lock(&self.blocks);
            let state = &mut blocks[block];
            // If the spool is full and the block leaves the memory, the next reader asks for it again.
            state.is_awaited = false;
            if state.was_fetched {
                self.session.counts.refetched_blocks.fetch_add(1, Ordering::Relaxed);
            }
            state.was_fetched = true;
            match got {
                Ok(bytes) => {
                    state.held = Some(bytes.clone());
                    Some(bytes)
                }
                Err(error) => {
                    state.error = Some(error);
                    None
                }
            }
        };
        self.arrived.notify_all();
        let Some(bytes) = bytes else { return };
        // Readers work on the block while this thread compresses it.
        if let Some(frames) = self.session.spool.store(&bytes) {
            lock(&self.blocks)[block].frames = frames;
        }
        let object = Arc::downgrade(self);
        self.session.hold(object, block);
    }

    fn get(&self, range: Range<u64>) -> Result<Bytes, RemoteError> {
        // The closure runs once for each attempt, so each one needs a range of its own.
        let counts = &self.session.counts;
        let bytes = self
            .store
            .request(counts, |store, time| store.get(&self.listed, range.clone(), time))?;
        counts.fetched_bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(bytes)
    }

    /// Converts `error` to the error that readers of the object get. If it ends the run, stores its message in
    /// `self.fatal`.
    fn noted(&self, error: &RemoteError) -> io::Error {
        if error.ends_run() {
            self.fatal.get_or_init(|| error.to_string());
        }
        error.into()
    }
}

impl HoldsBlocks for Object {
    fn let_go(&self, block: usize) {
        lock(&self.blocks)[block].held = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::remote::error::Failure;
    use crate::source::remote::session::RemoteSettings;
    use crate::source::remote::store::{Page, Store};
    use std::path::Path;
    use std::sync::atomic::AtomicU64;
    use std::thread;
    use std::time::Duration;

    /// A store with one object, which fails once in `fails_every` requests.
    #[derive(Debug)]
    struct OneObject {
        content: Vec<u8>,
        fails_every: u64,
        requests: Arc<AtomicU64>,
    }

    impl Store for OneObject {
        fn find(&self, _: &str, _: Duration) -> Result<Listed, Failure> {
            Err(Failure::Missing)
        }

        fn page(&self, _: &str, _: Option<String>, _: Duration) -> Result<Page, Failure> {
            Err(Failure::Missing)
        }

        fn get(&self, _: &Listed, range: Range<u64>, _: Duration) -> Result<Bytes, Failure> {
            let number = 1 + self.requests.fetch_add(1, Ordering::Relaxed);
            if number.is_multiple_of(self.fails_every) {
                return Err(Failure::Passing("cut".to_owned()));
            }
            Ok(Bytes::copy_from_slice(&self.content[range.start as usize..range.end as usize]))
        }

        fn credentials_advice(&self) -> &'static str {
            ""
        }
    }

    fn object(content: &[u8], spool_bytes: u64, fails_every: u64) -> (Arc<Object>, Arc<AtomicU64>) {
        let requests = Arc::new(AtomicU64::new(0));
        let store =
            OneObject { content: content.to_vec(), fails_every, requests: Arc::clone(&requests) };
        let settings = RemoteSettings { spool_bytes, ..RemoteSettings::default() };
        let session = Arc::new(Session::new(settings));
        let address = Address::parse(Path::new("s3://bucket/key")).unwrap();
        let bytes = content.len() as u64;
        let listed = Listed { key: "key".to_owned(), bytes, tag: None, modified: None };
        let store = Arc::new(Reached::new(Arc::new(store)));
        (Arc::new(Object::new(address, listed, store, session)), requests)
    }

    fn content(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at / 7 % 251) as u8).collect()
    }

    fn all(object: &Arc<Object>) -> Vec<u8> {
        let mut read = Vec::new();
        while (read.len() as u64) < object.listed.bytes {
            let Piece { at, bytes } = object.piece(read.len() as u64).unwrap();
            read.extend_from_slice(&bytes[read.len() - at as usize..]);
        }
        read
    }

    #[test]
    fn each_block_is_fetched_once_by_several_threads() {
        let content = content(5 * BLOCK_BYTES as usize + 1234);
        let (object, requests) = object(&content, u64::MAX / 4, u64::MAX);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!(all(&object) == content));
            }
        });
        // Later readings find the blocks in the spool.
        assert!(all(&object) == content);
        assert_eq!(requests.load(Ordering::Relaxed), 6);
        assert_eq!(
            object.session.counts.fetched_bytes.load(Ordering::Relaxed),
            content.len() as u64
        );
    }

    #[test]
    fn requests_that_fail_are_repeated() {
        let content = content(3 * BLOCK_BYTES as usize);
        let (object, requests) = object(&content, u64::MAX / 4, 3);
        assert!(all(&object) == content);
        assert!(requests.load(Ordering::Relaxed) > 3);
        assert!(object.session.counts.repeated_requests.load(Ordering::Relaxed) > 0);
        assert_eq!(object.fatal(), None);
    }

    #[test]
    fn blocks_beyond_a_full_spool_are_fetched_again() {
        let content = content(12 * BLOCK_BYTES as usize);
        let (object, requests) = object(&content, 1000, u64::MAX);
        for _ in 0..2 {
            assert!(all(&object) == content);
        }
        assert!(requests.load(Ordering::Relaxed) > 12);
        assert!(object.session.counts.refetched_blocks.load(Ordering::Relaxed) > 0);
    }

    #[test]
    fn an_object_that_stays_unreadable_ends_the_run() {
        let (object, requests) = object(&content(10), u64::MAX / 4, 1);
        let error = object.piece(3).err().unwrap();
        assert!(error.to_string().contains("cut (5 attempts)"), "{error}");
        assert_eq!(requests.load(Ordering::Relaxed), 5);
        assert_eq!(object.fatal(), Some(&*error.to_string()));
    }
}
