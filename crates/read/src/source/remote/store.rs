//! Stores, from which objects are listed and fetched.

use super::aws_profile::Profile;
use super::error::Failure;
use super::http::{Connector, Limits, is_partial, send, successful, uri, within};
use crate::source::address::{Address, StoreKind};
use bytes::Bytes;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::multipart::MultipartStore;
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, RetryConfig};
use std::cell::OnceCell;
use std::env;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use ureq::http::{HeaderMap, Request, Response};

/// Key, length, tag and time of the last change of an object, as its store reports them. An object is a file in a
/// store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) key: String,
    /// Length of the object in bytes.
    pub(super) bytes: u64,
    /// Text that changes with the content, for example the `ETag`.
    pub(super) tag: Option<String>,
    pub(super) modified: Option<SystemTime>,
}

/// A store of objects. Each request must be complete within the deadline.
pub(super) trait Store: fmt::Debug + Send + Sync {
    /// Returns the description of the object with this key, for example its length.
    fn find(&self, key: &str, deadline: Duration) -> Result<Listed, Failure>;

    /// Returns some of the objects whose keys begin with `prefix`, and the token for the next ones. `prefix` is empty
    /// or ends with a slash.
    fn page(
        &self,
        prefix: &str,
        token: Option<String>,
        deadline: Duration,
    ) -> Result<Page, Failure>;

    /// Returns the bytes in `range` of `object`. The request fails if the object was replaced after it was found.
    fn get(&self, object: &Listed, range: Range<u64>, deadline: Duration)
    -> Result<Bytes, Failure>;

    /// Returns the same store for requests to the region `region`. Returns `None` if the region makes no difference.
    fn in_region(&self, _region: &str) -> Option<Result<Arc<dyn Store>, Failure>> {
        None
    }

    /// Returns the bucket, if the store has one. Other stores are only read.
    fn bucket(&self) -> Option<&Bucket> {
        None
    }

    /// Returns advice for a user whose credentials are missing or refused.
    fn credentials_advice(&self) -> &'static str;
}

/// A part of a list of objects, and the token for the next part. Without a token, it is the last part.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) objects: Vec<Listed>,
    pub(super) next: Option<String>,
}

/// A bucket of Amazon, Google or Azure.
pub(super) struct Bucket {
    kind: StoreKind,
    /// Settings with which the bucket can be opened in another region. `None` if that is not possible.
    settings: Option<AmazonS3Builder>,
    pub(super) objects: Arc<dyn ObjectStore>,
    lists: Arc<dyn PaginatedListStore>,
    pub(super) uploads: Arc<dyn MultipartStore>,
}

impl fmt::Debug for Bucket {
    // The stores have credentials, which no log must have.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Bucket {
    /// Creates the store of a bucket with the credentials of the environment, or without any.
    pub(super) fn open(address: &Address, is_anonymous: bool) -> Result<Self, Failure> {
        // The callers repeat requests, because they know how long a request may take.
        let no_retries = RetryConfig { max_retries: 0, ..RetryConfig::default() };
        let (kind, name) = (address.kind, address.root_name());
        let failed = |error| Failure::from_store(&error);
        match kind {
            StoreKind::Google => {
                let mut builder = GoogleCloudStorageBuilder::from_env()
                    .with_bucket_name(name)
                    .with_skip_signature(is_anonymous)
                    .with_retry(no_retries)
                    .with_http_connector(Connector);
                if let Ok(host) = env::var("STORAGE_EMULATOR_HOST") {
                    let scheme = if host.contains("://") { "" } else { "http://" };
                    builder = builder.with_base_url(&format!("{scheme}{host}"));
                }
                Ok(Self::new(kind, Arc::new(builder.build().map_err(failed)?)))
            }
            StoreKind::Azure => {
                let mut builder = MicrosoftAzureBuilder::from_env()
                    .with_container_name(name)
                    .with_skip_signature(is_anonymous)
                    .with_retry(no_retries)
                    .with_http_connector(Connector);
                // The tools of Azure have other names for these variables than the library.
                if let Ok(account) = env::var("AZURE_STORAGE_ACCOUNT") {
                    builder = builder.with_account(account);
                }
                if let Ok(key) = env::var("AZURE_STORAGE_KEY") {
                    builder = builder.with_access_key(key);
                }
                Ok(Self::new(kind, Arc::new(builder.build().map_err(failed)?)))
            }
            _ => {
                let mut builder = AmazonS3Builder::from_env()
                    .with_bucket_name(name)
                    .with_allow_http(true)
                    // Not every store with this interface can remove several objects at once.
                    .with_disable_bulk_delete(true)
                    .with_skip_signature(is_anonymous)
                    .with_retry(no_retries)
                    .with_http_connector(Connector);
                // The settings of the environment are in the builder already, and go before those of the profile.
                let profile = Profile::of_environment(is_anonymous).map_err(Failure::Final)?;
                if let (Some(key), Some(secret)) = (profile.key, profile.secret) {
                    builder = builder.with_access_key_id(key).with_secret_access_key(secret);
                }
                if let Some(token) = profile.token {
                    builder = builder.with_token(token);
                }
                if let Some(region) = profile.region {
                    builder = builder.with_region(region);
                }
                if let Some(endpoint) = profile.endpoint {
                    builder = builder.with_endpoint(endpoint);
                }
                let store = builder.clone().build().map_err(failed)?;
                Ok(Self { settings: Some(builder), ..Self::new(kind, Arc::new(store)) })
            }
        }
    }

    fn new<S>(kind: StoreKind, store: Arc<S>) -> Self
    where
        S: ObjectStore + PaginatedListStore + MultipartStore,
    {
        let (objects, lists) = (Arc::clone(&store) as _, Arc::clone(&store) as _);
        Self { kind, settings: None, objects, lists, uploads: store }
    }

    fn get_with(
        &self,
        key: &str,
        options: GetOptions,
        deadline: Duration,
    ) -> Result<(ObjectMeta, Bytes), Failure> {
        let key = parsed(key)?;
        let has_body = !options.head;
        block_on(deadline, async {
            let result = self.objects.get_opts(&key, options).await?;
            let meta = result.meta.clone();
            let bytes = if has_body { result.bytes().await? } else { Bytes::new() };
            Ok((meta, bytes))
        })
    }
}

/// Parses a key into the form that the library for stores needs.
pub(super) fn parsed(key: &str) -> Result<Key, Failure> {
    Key::parse(key).map_err(|error| Failure::Final(error.to_string()))
}

fn listed(meta: ObjectMeta) -> Listed {
    let ObjectMeta { location, last_modified, size, e_tag, .. } = meta;
    let modified = Some(last_modified.into());
    Listed { key: location.as_ref().to_owned(), bytes: size, tag: e_tag.map(quoted), modified }
}

/// Returns the tag of an object in quotes, as conditions of requests need it. Lists of Azure have tags without quotes.
fn quoted(tag: String) -> String {
    if tag.contains('"') { tag } else { format!("\"{tag}\"") }
}

impl Store for Bucket {
    fn find(&self, key: &str, deadline: Duration) -> Result<Listed, Failure> {
        let options = GetOptions { head: true, ..GetOptions::default() };
        self.get_with(key, options, deadline).map(|(meta, _)| listed(meta))
    }

    fn page(
        &self,
        prefix: &str,
        token: Option<String>,
        deadline: Duration,
    ) -> Result<Page, Failure> {
        let options = PaginatedListOptions { page_token: token, ..PaginatedListOptions::default() };
        // The library takes an empty prefix for a mistake.
        let prefix = Some(prefix).filter(|prefix| !prefix.is_empty());
        let found = block_on(deadline, self.lists.list_paginated(prefix, options))?;
        let objects = found.result.objects.into_iter().map(listed).collect();
        Ok(Page { objects, next: found.page_token })
    }

    fn get(
        &self,
        object: &Listed,
        range: Range<u64>,
        deadline: Duration,
    ) -> Result<Bytes, Failure> {
        let length = range.end - range.start;
        // Stores that ignore the condition are caught by the comparison below.
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            if_match: object.tag.clone().filter(|tag| is_strong(tag)),
            ..GetOptions::default()
        };
        let (meta, bytes) = self.get_with(&object.key, options, deadline)?;
        let is_same = meta.size == object.bytes
            && (meta.e_tag.map(quoted) == object.tag || object.tag.is_none());
        if !is_same {
            return Err(Failure::Changed);
        }
        whole(bytes, length)
    }

    fn in_region(&self, region: &str) -> Option<Result<Arc<dyn Store>, Failure>> {
        let built = self.settings.clone()?.with_region(region).build();
        // The new store cannot move again, so a store that names another region each time is not followed for ever.
        let moved = built.map(|store| Arc::new(Self::new(self.kind, Arc::new(store))) as _);
        Some(moved.map_err(|error| Failure::from_store(&error)))
    }

    fn bucket(&self) -> Option<&Bucket> {
        Some(self)
    }

    fn credentials_advice(&self) -> &'static str {
        match self.kind {
            StoreKind::Google => {
                "set GOOGLE_APPLICATION_CREDENTIALS, or read a public bucket with `anonymous`"
            }
            StoreKind::Azure => {
                "set AZURE_STORAGE_ACCOUNT and AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN, or read a public \
                 container with `anonymous`"
            }
            _ => {
                "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or read a public bucket with \
                 `anonymous`"
            }
        }
    }
}

/// Returns whether servers accept the tag as a condition. They refuse weak tags, which begin with `W/`.
fn is_strong(tag: &str) -> bool {
    !tag.starts_with("W/")
}

/// Returns `bytes` if there are `length` of them, as requested. Otherwise returns a failure that may pass.
fn whole(bytes: Bytes, length: u64) -> Result<Bytes, Failure> {
    if bytes.len() as u64 == length {
        return Ok(bytes);
    }
    Err(Failure::Passing(format!("{} bytes arrived instead of {length}", bytes.len())))
}

/// Runs a call of the library for stores in this thread. Its requests must be answered within the deadline.
pub(super) fn block_on<T>(
    deadline: Duration,
    call: impl Future<Output = object_store::Result<T>>,
) -> Result<T, Failure> {
    thread_local! {
        static RUNTIME: OnceCell<tokio::runtime::Runtime> = const { OnceCell::new() };
    }
    // A runtime for each thread costs little, and no thread waits for the requests of another.
    let done = RUNTIME.with(|cell| {
        let runtime = if let Some(runtime) = cell.get() {
            runtime
        } else {
            let built = tokio::runtime::Builder::new_current_thread().enable_time().build();
            let built = built.map_err(failed_runtime)?;
            cell.get_or_init(|| built)
        };
        within(deadline, || runtime.block_on(call))
    });
    done.map_err(|error| Failure::from_store(&error))
}

fn failed_runtime(error: io::Error) -> object_store::Error {
    object_store::Error::Generic { store: "runtime", source: error.into() }
}

/// A web server, as a store that has only the object at `address`.
#[derive(Debug)]
pub(super) struct Web {
    pub(super) address: Address,
}

impl Web {
    fn request(&self, range: Range<u64>) -> Result<Request<Bytes>, Failure> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = uri(&self.address.secret_url())?;
        set_range(request.headers_mut(), range)?;
        Ok(request)
    }
}

impl Store for Web {
    fn find(&self, key: &str, deadline: Duration) -> Result<Listed, Failure> {
        // Servers that sign addresses often sign only this kind of request, and not one for the headers alone.
        let limits = Limits { deadline, follows: true, most: 1 << 16 };
        let response = send(self.request(0..1)?, limits)?;
        let text = |name: &str| header(response.headers(), name);
        let tag = text("etag").map(str::to_owned);
        let modified = text("last-modified").and_then(parse_date);
        let range = text("content-range").and_then(total);
        // An empty object has no first byte.
        let is_empty = response.status().as_u16() == 416 && range == Some(0);
        let length = text("content-length").and_then(|length| length.parse().ok());
        let bytes = if is_partial(&response) || is_empty { range } else { length };
        if !is_empty {
            successful(response)?;
        }
        let missing =
            || Failure::Final("the server does not say how long the object is".to_owned());
        Ok(Listed { key: key.to_owned(), bytes: bytes.ok_or_else(missing)?, tag, modified })
    }

    fn page(&self, _: &str, _: Option<String>, _: Duration) -> Result<Page, Failure> {
        let reason =
            "a web server cannot list files; name each file, or a list of them with `files_from`";
        Err(Failure::Final(reason.to_owned()))
    }

    fn get(
        &self,
        object: &Listed,
        range: Range<u64>,
        deadline: Duration,
    ) -> Result<Bytes, Failure> {
        let mut request = self.request(range.clone())?;
        if let Some(tag) = object.tag.as_ref().filter(|tag| is_strong(tag)) {
            let value = tag.parse().map_err(|_| Failure::Final("odd ETag".to_owned()))?;
            request.headers_mut().insert("if-match", value);
        }
        ranged(request, object, range, deadline)
    }

    fn credentials_advice(&self) -> &'static str {
        "the address may need a signature, or its signature may have expired"
    }
}

/// Adds the header that asks for a range of bytes.
pub(super) fn set_range(headers: &mut HeaderMap, range: Range<u64>) -> Result<(), Failure> {
    let text = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
    let value = text.parse().map_err(|_| Failure::Final(format!("no range {text}")))?;
    headers.insert("range", value);
    Ok(())
}

/// Sends a request for the bytes in `range` of `object`, and returns these bytes. Fails if the object has changed.
pub(super) fn ranged(
    request: Request<Bytes>,
    object: &Listed,
    range: Range<u64>,
    deadline: Duration,
) -> Result<Bytes, Failure> {
    let length = range.end - range.start;
    // A server that knows no ranges sends the whole object, which is as good if it is short.
    let response = successful(send(request, Limits { deadline, follows: true, most: length })?)?;
    let headers = response.headers();
    let changed = |given: Option<u64>| given.is_some_and(|bytes| bytes != object.bytes);
    if is_partial(&response) {
        if changed(header(headers, "content-range").and_then(total)) {
            return Err(Failure::Changed);
        }
    } else if changed(header(headers, "content-length").and_then(|text| text.parse().ok())) {
        return Err(Failure::Changed);
    } else if length < object.bytes {
        let reason = "the server cannot send parts of objects; download the file first";
        return Err(Failure::Final(reason.to_owned()));
    }
    whole(response.into_body(), length)
}

/// Returns the value of a header, if it is text.
pub(super) fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Returns the length of the object in a header such as `Content-Range: bytes 0-0/1234`.
fn total(range: &str) -> Option<u64> {
    range.rsplit_once('/')?.1.parse().ok()
}

/// Parses the date of a header, for example `Wed, 21 Oct 2026 07:28:00 GMT`.
fn parse_date(text: &str) -> Option<SystemTime> {
    let date = mail_parser::DateTime::parse_rfc822(text)?;
    let seconds = u64::try_from(date.to_timestamp()).ok()?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

/// Returns the response to a request of the Hub for a list or a description.
pub(super) fn answer(
    request: Request<Bytes>,
    deadline: Duration,
) -> Result<Response<Bytes>, Failure> {
    successful(send(request, Limits { deadline, follows: true, most: 1 << 30 })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_parsed() {
        assert_eq!(total("bytes 0-0/1234"), Some(1234));
        assert_eq!(total("bytes */0"), Some(0));
        assert_eq!(total("bytes 0-0/*"), None);
        assert_eq!(
            ["0x8D", "\"0x8D\"", "W/\"a\""].map(|tag| quoted(tag.to_owned())),
            ["\"0x8D\"", "\"0x8D\"", "W/\"a\""]
        );
        let date = parse_date("Wed, 21 Oct 2026 07:28:00 GMT").unwrap();
        assert_eq!(date.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs(), 1_792_567_680);
    }
}
