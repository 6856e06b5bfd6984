//! Objects in stores as sources: buckets of Amazon S3 and its relatives, Google Cloud Storage and Azure, the Hugging
//! Face Hub, and web servers.
//!
//! An object is fetched in blocks, each by one request for a range of its bytes. A few threads fetch the blocks ahead
//! of the readers. Each block is written to the spool, a temporary file from which later readings come, so that an
//! object is fetched once. Every request names the version of the object that was found first, so that all blocks are
//! of the same version.

mod aws_profile;
mod error;
mod fetchers;
mod http;
mod hub;
mod object;
mod results;
mod session;
mod spool;
mod store;

use crate::source::address::{Address, StoreKind};
use crate::source::{Fetching, OpenSource, Source, SourceState, SourceStream};
use error::{Failure, RemoteError};
use object::{Object, Piece};
use session::{Session, lock};
use simtool_base::stable_hash::hash;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};
use store::Listed;

pub use results::result_place;
pub use session::{RemoteSettings, configure};

/// An object in a store, as a source of bytes. Its length and version are requested from the store at the first use.
#[derive(Debug)]
pub(crate) struct RemoteSource {
    name: PathBuf,
    address: Address,
    session: Arc<Session>,
    object: OnceLock<Result<Arc<Object>, RemoteError>>,
}

/// Objects that an address names.
#[derive(Debug)]
pub(crate) enum FoundObjects {
    /// The address names one object.
    One(RemoteSource),
    /// The address names a folder, or is a pattern for the objects in a folder. The text is the prefix of their keys,
    /// which is empty or ends with a slash.
    Folder(String, Vec<RemoteSource>),
}

impl RemoteSource {
    pub(crate) fn new(address: Address) -> Self {
        Self::with_session(address, Session::current())
    }

    fn with_session(address: Address, session: Arc<Session>) -> Self {
        Self { name: address.name(), address, session, object: OnceLock::new() }
    }

    fn from_list(address: &Address, listed: Listed, session: &Arc<Session>) -> Self {
        let source = Self::with_session(address.with_key(&listed.key), Arc::clone(session));
        source.object.get_or_init(|| source.created(listed));
        source
    }

    /// Finds the objects that `address` names: one object, or else all objects in the folder of this name, or all that
    /// match a pattern.
    ///
    /// # Errors
    ///
    /// The store cannot be reached, refuses access, or has no such object.
    pub(crate) fn find(address: &Address) -> io::Result<FoundObjects> {
        let session = Session::current();
        // A web server has no folders. Its objects are asked for later, by several threads.
        if address.kind == StoreKind::Web {
            return Ok(FoundObjects::One(Self::with_session(address.clone(), session)));
        }
        let pattern = address.before_pattern();
        // A key may have the characters of patterns, so an object with exactly this key is meant first.
        if !address.key.is_empty() && !address.key.ends_with('/') {
            match session.find(address) {
                Ok(listed) => {
                    let source = Self::with_session(address.clone(), session);
                    source.object.get_or_init(|| source.created(listed));
                    return Ok(FoundObjects::One(source));
                }
                // Many users may list a bucket, but not ask for a key that does not exist.
                Err(error)
                    if matches!(error.failure, Failure::Missing)
                        || pattern.is_some() && matches!(error.failure, Failure::Refused(_)) => {}
                Err(error) => return Err((&error).into()),
            }
        }
        // A folder is a prefix that ends with a slash. Without it, the folder `a` would have the objects of `ab`.
        let folder = match pattern {
            Some(folder) => folder.to_owned(),
            None if address.key.is_empty() || address.key.ends_with('/') => address.key.clone(),
            None => format!("{}/", address.key),
        };
        let listed = session.list(address, &folder)?;
        // Keys that end with a slash are empty objects that stand for folders.
        let files = listed.into_iter().filter(|object| !object.key.ends_with('/'));
        let sources: Vec<Self> =
            files.map(|object| Self::from_list(address, object, &session)).collect();
        if sources.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "there is no such object or folder",
            ));
        }
        Ok(FoundObjects::Folder(folder, sources))
    }

    /// Returns the key of the object in its store.
    pub(crate) fn key(&self) -> &str {
        &self.address.key
    }

    fn created(&self, listed: Listed) -> Result<Arc<Object>, RemoteError> {
        let store = self.session.store(&self.address)?;
        let session = Arc::clone(&self.session);
        Ok(Arc::new(Object::new(self.address.clone(), listed, store, session)))
    }

    fn object(&self) -> io::Result<&Arc<Object>> {
        let find = || self.created(self.session.find(&self.address)?);
        self.object.get_or_init(find).as_ref().map_err(io::Error::from)
    }
}

impl Source for RemoteSource {
    fn name(&self) -> &Path {
        &self.name
    }

    fn is_lasting(&self) -> bool {
        // The tag in the state says whether a later run finds the same object.
        true
    }

    fn state(&self) -> io::Result<SourceState> {
        self.object().map(|object| state_of(object))
    }

    fn open(&self) -> io::Result<Arc<dyn OpenSource>> {
        let object = Arc::clone(self.object()?);
        Ok(Arc::new(OpenObject { object, piece: Mutex::new(None) }))
    }

    fn fatal(&self) -> Option<String> {
        // An object that was never found is a fault of the input, which is reported like a missing file.
        self.object.get()?.as_ref().ok()?.fatal().map(str::to_owned)
    }

    fn fetching(&self) -> Option<Fetching> {
        let RemoteSettings { temporary_folder, spool_bytes, .. } = self.session.settings();
        let counts = &self.session.counts;
        Some(Fetching {
            spool_folder: temporary_folder.clone(),
            spool_limit: *spool_bytes,
            repeated_requests: counts.repeated_requests.load(Ordering::Relaxed),
            refetched_blocks: counts.refetched_blocks.load(Ordering::Relaxed),
        })
    }
}

fn state_of(object: &Object) -> SourceState {
    let Listed { bytes, tag, modified, .. } = &object.listed;
    // The state is compared and stored often, so it has a number in place of the text.
    let tag = tag.as_ref().map(|tag| hash(tag.as_bytes()));
    SourceState { bytes: *bytes, modified: *modified, tag }
}

/// An object that is open for reading.
#[derive(Debug)]
struct OpenObject {
    object: Arc<Object>,
    /// The bytes that were read last, because most readers continue behind them.
    piece: Mutex<Option<Piece>>,
}

impl OpenSource for OpenObject {
    fn state(&self) -> io::Result<SourceState> {
        Ok(state_of(&self.object))
    }

    fn read_at(&self, at: u64, space: &mut [u8]) -> io::Result<usize> {
        if at >= self.object.listed.bytes || space.is_empty() {
            return Ok(0);
        }
        // The lock is not kept, so that a thread that waits for a block holds up no other reader.
        let last = lock(&self.piece).clone();
        let piece = if let Some(piece) = last.filter(|piece| piece.has(at)) {
            piece
        } else {
            let piece = self.object.piece(at)?;
            *lock(&self.piece) = Some(piece.clone());
            piece
        };
        Ok(piece.copy(at, space))
    }

    fn peek_at(&self, at: u64, space: &mut [u8]) -> io::Result<usize> {
        // No request asks for bytes behind the end, because stores would refuse it.
        let end = self.object.listed.bytes.min(at.saturating_add(space.len() as u64));
        if at >= end || self.object.has_block_of(at) {
            return self.read_at(at, space);
        }
        let bytes = self.object.peek(at..end)?;
        Ok(Piece { at, bytes }.copy(at, space))
    }

    fn stream(self: Arc<Self>, from: u64) -> Box<dyn Read + Send> {
        Box::new(SourceStream { source: self, at: from })
    }
}
