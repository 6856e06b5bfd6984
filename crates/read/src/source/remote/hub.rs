//! Data sets and buckets of the Hugging Face Hub.

use super::error::Failure;
use super::http::{percent_encoded, uri};
use super::store::{Listed, Page, Store, answer, header, ranged, set_range};
use crate::source::address::Address;
use bytes::Bytes;
use serde_json::Value;
use std::env;
use std::fmt;
use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;
use ureq::http::Request;

/// Address of the Hub, unless `HF_ENDPOINT` names another one.
const ENDPOINT: &str = "https://huggingface.co";

/// A data set or a bucket of the Hub.
pub(super) struct Hub {
    /// Address of the server, without a slash at the end.
    endpoint: String,
    /// Kind, owner and name, for example `datasets/owner/name`.
    repository: String,
    /// Revision that the user named. `None` for a bucket, which has no revisions.
    revision: Option<String>,
    /// Commit of the revision when the first object was found. All objects are read as this commit has them.
    commit: OnceLock<String>,
    token: Option<String>,
}

impl fmt::Debug for Hub {
    // The token must not be in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").field("repository", &self.repository).finish_non_exhaustive()
    }
}

impl Hub {
    /// Creates the store of the data set or bucket at `address`, with the user's token. If there is no token, or with
    /// `is_anonymous`, requests have no token.
    pub(super) fn open(address: &Address, is_anonymous: bool) -> Result<Self, Failure> {
        let endpoint = env::var("HF_ENDPOINT").ok().filter(|text| !text.is_empty());
        let endpoint = endpoint.unwrap_or_else(|| ENDPOINT.to_owned());
        let token = if is_anonymous { None } else { token() };
        Self::new(endpoint.trim_end_matches('/'), address.root_name(), token)
    }

    fn new(endpoint: &str, root: &str, token: Option<String>) -> Result<Self, Failure> {
        let (repository, revision) = match root.split_once('@') {
            Some((repository, revision)) => (repository, Some(revision)),
            None => (root, None),
        };
        let kind = repository.split('/').next().unwrap_or_default();
        let revision = match (kind, revision) {
            ("datasets", Some("~parquet")) => Some("refs%2Fconvert%2Fparquet".to_owned()),
            ("datasets", revision) => Some(revision.unwrap_or("main").to_owned()),
            ("buckets", None) => None,
            ("buckets", Some(_)) => {
                return Err(Failure::Final("a bucket has no revisions".to_owned()));
            }
            _ => {
                let reason = "only hf://datasets/OWNER/NAME and hf://buckets/OWNER/NAME are read";
                return Err(Failure::Final(reason.to_owned()));
            }
        };
        // The commit is asked for later, because a wrong name is an error of the input and not of the settings.
        let (endpoint, repository) = (endpoint.to_owned(), repository.to_owned());
        Ok(Self { endpoint, repository, revision, commit: OnceLock::new(), token })
    }

    fn request(&self, address: &str) -> Result<Request<Bytes>, Failure> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = uri(address)?;
        // A redirection leads to another host, which does not get this header.
        if let Some(token) = &self.token {
            let value = format!("Bearer {token}").parse();
            let value = value.map_err(|_| Failure::Final("HF_TOKEN is not a token".to_owned()))?;
            request.headers_mut().insert("authorization", value);
        }
        Ok(request)
    }

    /// Returns the commit to which the revision leads. Once the commit is known, no further request is sent to the Hub.
    fn commit(&self, revision: &str, deadline: Duration) -> Result<&str, Failure> {
        if let Some(commit) = self.commit.get() {
            return Ok(commit);
        }
        let Self { endpoint, repository, .. } = self;
        let address = format!("{endpoint}/api/{repository}/revision/{revision}");
        let response = answer(self.request(&address)?, deadline)?;
        let described: Option<Value> = serde_json::from_slice(response.body()).ok();
        let commit = described.as_ref().and_then(|value| value["sha"].as_str());
        let commit = commit.ok_or_else(|| unexpected("the description of a revision"))?;
        Ok(self.commit.get_or_init(|| commit.to_owned()))
    }

    /// Returns the address at which the Hub lists the files in `folder`, a path without a slash at its end. `is_deep`
    /// means that files in its subfolders are listed, too.
    fn tree(&self, folder: &str, is_deep: bool, deadline: Duration) -> Result<String, Failure> {
        let Self { endpoint, repository, .. } = self;
        let mut address = format!("{endpoint}/api/{repository}/tree");
        if let Some(revision) = &self.revision {
            address.push('/');
            address.push_str(self.commit(revision, deadline)?);
        }
        if !folder.is_empty() {
            address.push('/');
            // A bucket takes the path as one segment.
            address.push_str(&encoded(folder, self.revision.is_some()));
        }
        if is_deep {
            address.push_str("?recursive=true");
        }
        Ok(address)
    }

    /// Returns the files in the part of a list that is at `address`, and the address of the next part.
    fn files(&self, address: &str, deadline: Duration) -> Result<Page, Failure> {
        let response = answer(self.request(address)?, deadline)?;
        let entries: Vec<Value> =
            serde_json::from_slice(response.body()).map_err(|_| unexpected("a list of files"))?;
        let next = header(response.headers(), "link").and_then(next_page);
        // The token goes with the request for the next page, so it must be on the same server.
        let next = next.filter(|next| next.starts_with(&format!("{}/", self.endpoint)));
        let files = entries.iter().filter(|entry| entry["type"] == "file").map(|entry| {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            Listed {
                key: text(&entry["path"]).unwrap_or_default(),
                bytes: entry["size"].as_u64().unwrap_or_default(),
                tag: [&entry["lfs"]["oid"], &entry["oid"], &entry["xetHash"]]
                    .into_iter()
                    .find_map(text),
                modified: None,
            }
        });
        Ok(Page { objects: files.collect(), next: next.map(str::to_owned) })
    }
}

impl Store for Hub {
    fn find(&self, key: &str, deadline: Duration) -> Result<Listed, Failure> {
        // The list of a folder is the one request that describes files of data sets and of buckets.
        let folder = key.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut next = Some(self.tree(folder, false, deadline)?);
        while let Some(address) = next {
            let page = self.files(&address, deadline)?;
            if let Some(found) = page.objects.into_iter().find(|file| file.key == key) {
                return Ok(found);
            }
            next = page.next;
        }
        Err(Failure::Missing)
    }

    fn page(
        &self,
        prefix: &str,
        token: Option<String>,
        deadline: Duration,
    ) -> Result<Page, Failure> {
        let address = match token {
            Some(address) => address,
            None => self.tree(prefix.trim_end_matches('/'), true, deadline)?,
        };
        self.files(&address, deadline)
    }

    fn get(
        &self,
        object: &Listed,
        range: Range<u64>,
        deadline: Duration,
    ) -> Result<Bytes, Failure> {
        // The server answers with the address of the bytes in its store, which expires after a while. So each request
        // begins here.
        let Self { endpoint, repository, .. } = self;
        let address = match &self.revision {
            Some(revision) => {
                let commit = self.commit(revision, deadline)?;
                format!("{endpoint}/{repository}/resolve/{commit}/{}", encoded(&object.key, true))
            }
            None => format!("{endpoint}/{repository}/resolve/{}", encoded(&object.key, false)),
        };
        let mut request = self.request(&address)?;
        set_range(request.headers_mut(), range.clone())?;
        ranged(request, object, range, deadline)
    }

    fn credentials_advice(&self) -> &'static str {
        "set HF_TOKEN to a token that may read it, and accept the conditions of the data set if it has any"
    }
}

fn unexpected(what: &str) -> Failure {
    Failure::Final(format!("the server did not send {what}; check HF_ENDPOINT"))
}

/// Returns the token in the environment, or the one that the tools of the Hub have stored.
fn token() -> Option<String> {
    let stored = || {
        let folder = env::var_os("HF_HOME").map(PathBuf::from);
        let folder = folder.or_else(|| Some(env::home_dir()?.join(".cache/huggingface")))?;
        let path = env::var_os("HF_TOKEN_PATH").map_or_else(|| folder.join("token"), PathBuf::from);
        fs::read_to_string(path).ok()
    };
    let token = env::var("HF_TOKEN").ok().or_else(stored)?;
    Some(token.trim().to_owned()).filter(|token| !token.is_empty())
}

/// Returns `path` with all characters percent-encoded that have a meaning in addresses. Slashes stay as they are if
/// `keeps_slashes` is true.
fn encoded(path: &str, keeps_slashes: bool) -> String {
    percent_encoded(path, |byte| {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        is_plain || byte == b'/' && keeps_slashes
    })
}

/// Returns the address in a header such as `Link: <https://host/next>; rel="next"`.
fn next_page(link: &str) -> Option<&str> {
    link.split(',').find_map(|part| {
        let (address, kind) = part.trim().strip_prefix('<')?.split_once('>')?;
        kind.contains("rel=\"next\"").then_some(address)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_the_kind_of_repository_and_the_revision() {
        let opened = |root: &str| Hub::new(ENDPOINT, root, None);
        for (root, revision) in [
            ("datasets/o/n", Some("main")),
            ("datasets/o/n@v1", Some("v1")),
            ("datasets/o/n@~parquet", Some("refs%2Fconvert%2Fparquet")),
            ("buckets/o/n", None),
        ] {
            assert_eq!(opened(root).unwrap().revision.as_deref(), revision, "{root}");
        }
        assert!(opened("models/o/n").is_err() && opened("buckets/o/n@v1").is_err());
    }

    #[test]
    fn links_and_paths_are_written_as_the_hub_expects() {
        let link = "<https://h/a?cursor=x>; rel=\"next\", <https://h/b>; rel=\"last\"";
        assert_eq!(next_page(link), Some("https://h/a?cursor=x"));
        assert_eq!(next_page("<https://h/b>; rel=\"last\""), None);
        assert_eq!(encoded("a b/c#\u{e9}", true), "a%20b/c%23%C3%A9");
        assert_eq!(encoded("a/b", false), "a%2Fb");
    }
}
