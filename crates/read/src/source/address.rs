//! Addresses of objects in stores, such as `s3://bucket/key`.

use std::fmt;
use std::path::{Path, PathBuf};

/// Kind of a store. The scheme of an address names the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StoreKind {
    /// Amazon S3, or a store with the same interface.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
    /// Data sets and buckets of the Hugging Face Hub.
    Hub,
    /// A web server, with or without encryption.
    Web,
}

/// Schemes of addresses, and the kinds of their stores.
const SCHEMES: [(&str, StoreKind); 6] = [
    ("s3", StoreKind::S3),
    ("gs", StoreKind::Google),
    ("az", StoreKind::Azure),
    ("hf", StoreKind::Hub),
    ("https", StoreKind::Web),
    ("http", StoreKind::Web),
];

/// Address of an object, or of the objects below a prefix.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) kind: StoreKind,
    /// Scheme and root, for example `s3://bucket`, `https://host` or `hf://datasets/owner/name`, without the name and
    /// password of a user.
    pub(crate) root: String,
    /// Key of the object in its store, without a slash in front. Web addresses are percent-encoded.
    pub(crate) key: String,
    /// Part of a web address that must not be shown: the query after `?`, which can have a signature.
    query: Option<String>,
    /// Name and password of a web address in the form `user:password`, which must not be shown.
    user: Option<String>,
}

impl Address {
    /// Parses the address. Returns `None` if the path is not an address of a store.
    pub(crate) fn parse(path: &Path) -> Option<Self> {
        let text = path.to_str()?;
        let (scheme, rest) = text.split_once("://")?;
        let (scheme, kind) = *SCHEMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(scheme))?;
        let (mut rest, mut query, mut user) = (rest, None, None);
        if kind == StoreKind::Web {
            // Servers never get the fragment behind `#`.
            rest = rest.split_once('#').map_or(rest, |(before, _)| before);
            if let Some((before, after)) = rest.split_once('?') {
                (rest, query) = (before, Some(after.to_owned()));
            }
        }
        // The Hub has its kind of repository, the owner and the name before the path of a file.
        let segments = if kind == StoreKind::Hub { 3 } else { 1 };
        let end = rest.match_indices('/').nth(segments - 1).map_or(rest.len(), |(at, _)| at);
        let (mut host, key) = (&rest[..end], rest[end..].trim_start_matches('/'));
        if kind == StoreKind::Web
            && let Some((before, after)) = host.rsplit_once('@')
        {
            (user, host) = (Some(before.to_owned()), after);
        }
        // An address without a bucket or host names no store.
        let has_root = host.split('/').filter(|part| !part.is_empty()).count() == segments;
        let root = format!("{scheme}://{host}");
        has_root.then(|| Self { kind, root, key: key.to_owned(), query, user })
    }

    /// Returns the address without credentials, as the path that names the file in messages and results.
    pub(crate) fn name(&self) -> PathBuf {
        PathBuf::from(self.to_string())
    }
}

#[cfg(feature = "remote")]
impl Address {
    /// Returns the root without the scheme, for example the name of a bucket.
    pub(crate) fn root_name(&self) -> &str {
        self.root.split_once("://").map_or("", |(_, name)| name)
    }

    /// Returns the address of the object `key` in the same store.
    pub(crate) fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), query: None, ..self.clone() }
    }

    /// Returns the complete web address. It may contain credentials, so it must not be shown.
    pub(crate) fn secret_url(&self) -> String {
        let (scheme, host) = self.root.split_once("://").unwrap_or_default();
        let user = self.user.as_ref().map_or(String::new(), |user| format!("{user}@"));
        let query = self.query.as_ref().map_or(String::new(), |query| format!("?{query}"));
        format!("{scheme}://{user}{host}/{}{query}", self.key)
    }

    /// Returns the folder in which the search for a pattern begins: the part of the key before the first character of a
    /// pattern such as `*`, up to the last slash. Returns `None` if the key is not a pattern.
    pub(crate) fn before_pattern(&self) -> Option<&str> {
        // Servers of the web cannot list files, and their addresses may have these characters.
        let at = self.key.find(['*', '?', '[', '{']).filter(|_| self.kind != StoreKind::Web)?;
        Some(self.key[..at].rfind('/').map_or("", |slash| &self.key[..=slash]))
    }
}

/// Shows the address without credentials.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.root, self.key)
    }
}

/// Shows the address without credentials, because logs have this form.
impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Returns whether `path` is the address of an object in a store, for example `s3://bucket/key`.
///
/// ```
/// use simtool_read::remote::is_address;
/// use std::path::Path;
///
/// assert!(is_address(Path::new("s3://bucket/a.jsonl")));
/// assert!(!is_address(Path::new("folder/a.jsonl")));
/// ```
#[must_use]
pub fn is_address(path: &Path) -> bool {
    Address::parse(path).is_some()
}

/// Returns the path without credentials, so that it can be shown and stored. A web address loses its query, which may
/// contain a signature, and its user and password. Other paths stay as they are.
///
/// ```
/// use simtool_read::remote::without_credentials;
/// use std::path::Path;
///
/// let signed = Path::new("https://user:password@host/a.jsonl?signature=1f");
/// assert_eq!(without_credentials(signed), Path::new("https://host/a.jsonl"));
/// assert_eq!(without_credentials(Path::new("a.jsonl?")), Path::new("a.jsonl?"));
/// ```
#[must_use]
pub fn without_credentials(path: &Path) -> PathBuf {
    match Address::parse(path) {
        Some(address) if address.kind == StoreKind::Web => address.name(),
        _ => path.to_owned(),
    }
}

#[cfg(feature = "remote")]
#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Address {
        Address::parse(Path::new(text)).unwrap()
    }

    #[test]
    fn addresses_have_a_root_and_a_key() {
        for (text, root, key) in [
            ("s3://bucket/a/b.jsonl", "s3://bucket", "a/b.jsonl"),
            ("S3://bucket", "s3://bucket", ""),
            ("gs://bucket/", "gs://bucket", ""),
            ("s3://bucket/a?b", "s3://bucket", "a?b"),
            (
                "hf://datasets/owner/name@v1/data/a.parquet",
                "hf://datasets/owner/name@v1",
                "data/a.parquet",
            ),
            ("hf://datasets/owner/name", "hf://datasets/owner/name", ""),
            ("http://127.0.0.1:9/a%20b", "http://127.0.0.1:9", "a%20b"),
        ] {
            let address = parsed(text);
            assert_eq!((&*address.root, &*address.key), (root, key), "{text}");
            assert_eq!(Address::parse(&address.name()).unwrap(), address);
        }
        for text in ["a/b", "s3:/a", "ftp://host/a", "s3://", "hf://datasets/owner", "C://a"] {
            assert_eq!(Address::parse(Path::new(text)), None, "{text}");
        }
    }

    #[test]
    fn credentials_are_not_shown() {
        let address = parsed("https://me:secret@host:8/a/b.gz?X-Amz-Signature=5a#part");
        assert_eq!(address.to_string(), "https://host:8/a/b.gz");
        assert_eq!(format!("{address:?}"), "https://host:8/a/b.gz");
        assert_eq!(address.secret_url(), "https://me:secret@host:8/a/b.gz?X-Amz-Signature=5a");
    }

    #[test]
    fn patterns_have_a_folder_in_front() {
        for (text, before) in [
            ("s3://b/x/y*.gz", Some("x/")),
            ("s3://b/*", Some("")),
            ("s3://b/x/y/[ab]/z", Some("x/y/")),
            ("s3://b/x/y", None),
            ("https://host/a[1]", None),
        ] {
            assert_eq!(parsed(text).before_pattern(), before, "{text}");
        }
    }
}
