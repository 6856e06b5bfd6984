//! Results in buckets.

use super::error::{Failure, RemoteError};
use super::session::{Reached, Session, lock};
use super::spool::read_at;
use super::store::{Bucket, Store, block_on, parsed};
use crate::source::address::{Address, StoreKind, without_credentials};
use crate::source::result_place::{ResultPlace, StagedObject};
use bytes::Bytes;
use object_store::multipart::PartId;
use object_store::path::Path as Key;
use object_store::{ObjectStoreExt as _, PutOptions};
use simtool_base::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Length in bytes of a part of a large file, which is uploaded in parts. Stores take parts of 5 MiB to 5 GiB.
const PART_BYTES: u64 = 8 << 20;

/// Largest number of parts of an object. Stores take 10,000.
const MOST_PARTS: u64 = 9_000;

/// Number of files that are uploaded at the same time, and of parts of each file that are sent at the same time. Each
/// thread has one part in memory.
const AT_ONCE: u64 = 4;

/// Opens a folder of a bucket, so that results can be written to it. `path` is the address of the folder, for example
/// `s3://bucket/results`.
///
/// # Errors
///
/// Results cannot be written to the store, for example to a web server, or its credentials cannot be read.
pub fn result_place(path: &Path) -> Result<Box<dyn ResultPlace>> {
    let only_buckets = || {
        let rule = "is no address of a bucket: results are written to this machine, s3://, gs:// and az://";
        Error::config("output", without_credentials(path).display(), rule)
    };
    let is_bucket = |address: &Address| !matches!(address.kind, StoreKind::Web | StoreKind::Hub);
    let address = Address::parse(path).filter(is_bucket).ok_or_else(only_buckets)?;
    let session = Session::current();
    let failed = |error: RemoteError| Error::io(path, "write", error.into());
    let reached = session.store(&address).map_err(failed)?;
    Ok(Box::new(BucketFolder(Arc::new(Shared { address, session, reached }))))
}

/// A folder of a bucket, to which results are written.
#[derive(Debug)]
struct BucketFolder(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    address: Address,
    session: Arc<Session>,
    reached: Arc<Reached>,
}

impl Shared {
    /// Returns the beginning that the keys of all objects in the folder share: the key of the folder and a slash, or an
    /// empty text.
    fn prefix(&self) -> String {
        let key = self.address.key.trim_end_matches('/');
        if key.is_empty() { String::new() } else { format!("{key}/") }
    }

    fn key(&self, name: &str) -> String {
        self.prefix() + name
    }

    /// Returns the key of the object `name` in the folder, in the form that the library for stores needs.
    fn parsed_key(&self, name: &str) -> io::Result<Key> {
        parsed(&self.key(name)).map_err(io::Error::other)
    }

    /// Sends a request, and repeats it until it succeeds or fails for good. `send` gets the time that the request may
    /// take.
    fn request<T>(
        &self,
        send: impl Fn(&Bucket, Duration) -> Result<T, Failure>,
    ) -> Result<T, RemoteError> {
        let send = |store: &dyn Store, time| match store.bucket() {
            Some(bucket) => send(bucket, time),
            None => Err(Failure::Final("the store is only read".to_owned())),
        };
        self.reached.request(&self.session.counts, send)
    }

    /// Returns the length in bytes of the object `name` in the folder. Returns `None` if there is no such object.
    fn length(&self, name: &str) -> io::Result<Option<u64>> {
        let found = self.session.find(&self.address.with_key(&self.key(name)));
        Ok(unless_missing(found)?.map(|found| found.bytes))
    }

    fn put(&self, key: &Key, content: &Bytes) -> io::Result<()> {
        let put = |bucket: &Bucket, time| {
            let content = content.clone().into();
            block_on(time, bucket.objects.put_opts(key, content, PutOptions::default()))
        };
        self.request(put)?;
        Ok(())
    }
}

impl ResultPlace for BucketFolder {
    fn temporary_folder(&self) -> &Path {
        &self.0.session.settings().temporary_folder
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let Shared { address, session, .. } = &*self.0;
        let prefix = self.0.prefix();
        let listed = session.list(address, &prefix)?;
        let names = listed.into_iter().map(|object| object.key[prefix.len()..].to_owned());
        // An empty object with the name of the folder stands for the folder itself.
        Ok(names.filter(|name| !name.is_empty()).collect())
    }

    fn contains(&self, name: &str) -> io::Result<bool> {
        self.0.length(name).map(|length| length.is_some())
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let key = self.0.parsed_key(name)?;
        let get = |bucket: &Bucket, time| {
            block_on(time, async { bucket.objects.get(&key).await?.bytes().await })
        };
        Ok(unless_missing(self.0.request(get))?.map(Vec::from))
    }

    fn stage(&self, name: &str, file: &Path) -> io::Result<Box<dyn StagedObject>> {
        let place = Arc::clone(&self.0);
        let key = place.parsed_key(name)?;
        let mut file = File::open(file)?;
        let bytes = file.metadata()?.len();
        if bytes <= PART_BYTES {
            let mut content = Vec::new();
            file.read_to_end(&mut content)?;
            return Ok(Box::new(ShortObject { place, key, content: content.into() }));
        }
        let begin = |bucket: &Bucket, time| block_on(time, bucket.uploads.create_multipart(&key));
        let id = place.request(begin)?;
        let name = name.to_owned();
        let mut upload = Upload { place, name, key, id, bytes, parts: Vec::new() };
        upload.send(&file)?;
        Ok(Box::new(upload))
    }

    fn upload(&self, files: &[(String, PathBuf)]) -> io::Result<()> {
        each(files.len() as u64, &|file| {
            let (name, file) = &files[file as usize];
            self.stage(name, file)?.finish()
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let key = self.0.parsed_key(name)?;
        let remove = |bucket: &Bucket, time| block_on(time, bucket.objects.delete(&key));
        // A repeated request finds that the first one did its work.
        unless_missing(self.0.request(remove)).map(drop)
    }
}

/// Returns the value of the store's answer, or `None` if the answer is that there is no such object.
fn unless_missing<T>(answer: Result<T, RemoteError>) -> io::Result<Option<T>> {
    match answer {
        Err(error) if matches!(error.failure, Failure::Missing) => Ok(None),
        answer => Ok(Some(answer?)),
    }
}

/// A short file, which is sent with one request.
#[derive(Debug)]
struct ShortObject {
    place: Arc<Shared>,
    key: Key,
    content: Bytes,
}

impl StagedObject for ShortObject {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.place.put(&self.key, &self.content)
    }
}

/// A long file that is sent in parts. The store joins the parts to an object when the upload is finished.
#[derive(Debug)]
struct Upload {
    place: Arc<Shared>,
    name: String,
    key: Key,
    /// ID of the upload, which the store chose. Empty after the upload was finished.
    id: String,
    bytes: u64,
    parts: Vec<PartId>,
}

impl Upload {
    /// Sends all parts of `file`, several at the same time. Stores the IDs of the parts in `self.parts`.
    fn send(&mut self, file: &File) -> io::Result<()> {
        let length = PART_BYTES.max(self.bytes.div_ceil(MOST_PARTS));
        let count = self.bytes.div_ceil(length);
        let sent = Mutex::new(Vec::new());
        each(count, &|part| {
            let at = part * length;
            let mut content = vec![0; length.min(self.bytes - at) as usize];
            read_at(file, at, &mut content)?;
            let id = self.send_part(part, &content.into())?;
            lock(&sent).push((part, id));
            Ok(())
        })?;
        let mut sent = lock(&sent);
        sent.sort_unstable_by_key(|(part, _)| *part);
        let parts = sent.drain(..).map(|(_, id)| id).collect();
        drop(sent);
        self.parts = parts;
        Ok(())
    }

    fn send_part(&self, part: u64, content: &Bytes) -> io::Result<PartId> {
        let part = usize::try_from(part).map_err(io::Error::other)?;
        let send = |bucket: &Bucket, time| {
            let content = content.clone().into();
            block_on(time, bucket.uploads.put_part(&self.key, &self.id, part, content))
        };
        Ok(self.place.request(send)?)
    }
}

impl StagedObject for Upload {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let end = |bucket: &Bucket, time| {
            let parts = self.parts.clone();
            block_on(time, bucket.uploads.complete_multipart(&self.key, &self.id, parts))
        };
        match self.place.request(end) {
            // The connection may have been cut after the store did what it was asked for.
            Err(error) if matches!(error.failure, Failure::Missing) => {
                if self.place.length(&self.name)? != Some(self.bytes) {
                    return Err(error.into());
                }
            }
            Err(error) => return Err((&error).into()),
            Ok(_) => {}
        }
        self.id.clear();
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if self.id.is_empty() {
            return;
        }
        // Stores keep the parts of an upload that nobody finishes, and charge for them. If this request fails, only a
        // rule of the bucket removes the parts.
        let abort = |bucket: &Bucket, time| {
            block_on(time, bucket.uploads.abort_multipart(&self.key, &self.id))
        };
        drop(self.place.request(abort));
    }
}

/// Calls `work` for each number below `count`, in several threads. After an error, no thread begins another call.
fn each(count: u64, work: &(dyn Fn(u64) -> io::Result<()> + Sync)) -> io::Result<()> {
    let next = AtomicU64::new(0);
    let one_by_one = || -> io::Result<()> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return Ok(());
            }
            work(number).inspect_err(|_| next.store(count, Ordering::Relaxed))?;
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count.min(AT_ONCE)).map(|_| scope.spawn(one_by_one)).collect();
        threads.into_iter().try_for_each(|thread| {
            let panicked = |_| Err(io::Error::other("a thread that uploads panicked"));
            thread.join().unwrap_or_else(panicked)
        })
    })
}
