//! Errors of requests to stores.

use std::error::Error as StdError;
use std::fmt;
use std::io;

/// Reason why a request failed. No text has a query or another part of a request that could be a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// There is no such object or store.
    Missing,
    /// The store needs other credentials. The text is the code of the store, for example `AccessDenied`.
    Refused(String),
    /// No credentials were found, and the machine has none of its own.
    NoCredentials,
    /// The object was replaced by another one after it was listed.
    Changed,
    /// The bucket is in this region, and the requests are for another one.
    Region(String),
    /// The request failed in a way that may pass, for example because the connection was cut.
    Passing(String),
    /// The request failed for good.
    Final(String),
}

impl Failure {
    /// Returns the failure of a response with the HTTP status `status`. `code` is the code of the store, which may be
    /// empty.
    pub(super) fn from_status(status: u16, code: &str) -> Self {
        let described = || match code {
            "" => format!("the server answered {status}"),
            code => format!("the server answered {status} {code}"),
        };
        match status {
            404 | 410 => Self::Missing,
            401 | 403 => Self::Refused(described()),
            412 => Self::Changed,
            408 | 429 | 500.. => Self::Passing(described()),
            _ => Self::Final(described()),
        }
    }

    /// Finds the failure in the causes of an error of the library for stores.
    pub(super) fn from_store(error: &object_store::Error) -> Self {
        if let object_store::Error::Precondition { .. } = error {
            return Self::Changed;
        }
        let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
        let mut deepest = error.to_string();
        while let Some(found) = cause {
            if let Some(failure) = found.downcast_ref::<Self>() {
                return failure.clone();
            }
            deepest = found.to_string();
            cause = found.source();
        }
        // Without an answer of a server, the library complains about a setting, for example an unreadable key.
        Self::Final(deepest)
    }

    /// Returns whether the same request may succeed later.
    pub(super) fn may_pass(&self) -> bool {
        matches!(self, Self::Passing(_))
    }
}

impl StdError for Failure {}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is no such object"),
            Self::Refused(text) | Self::Passing(text) | Self::Final(text) => f.write_str(text),
            Self::NoCredentials => f.write_str("no credentials were found"),
            Self::Changed => f.write_str("the object was replaced after it was found"),
            Self::Region(region) => {
                write!(f, "the bucket is in another region; set AWS_REGION={region}")
            }
        }
    }
}

/// Failure of a request, with advice for the user. It is shown after the name of the object.
#[derive(Clone, Debug)]
pub(super) struct RemoteError {
    pub(super) failure: Failure,
    text: String,
}

impl RemoteError {
    /// Creates the error after `attempts` equal requests. `credentials` is advice about credentials for the store.
    pub(super) fn new(failure: Failure, attempts: u32, credentials: &str) -> Self {
        let text = match &failure {
            Failure::Refused(_) | Failure::NoCredentials => format!("{failure}; {credentials}"),
            Failure::Passing(_) => format!(
                "{failure} ({attempts} attempts); check the address and the network, and run again"
            ),
            Failure::Changed => format!("{failure}; run again when nothing writes to it"),
            Failure::Missing | Failure::Region(_) | Failure::Final(_) => failure.to_string(),
        };
        Self { failure, text }
    }

    /// Returns whether the run must end, because the rest of an object that was partly read cannot be read.
    pub(super) fn ends_run(&self) -> bool {
        matches!(self.failure, Failure::Changed | Failure::Passing(_))
    }
}

impl fmt::Display for RemoteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<RemoteError> for io::Error {
    fn from(error: RemoteError) -> Self {
        Self::from(&error)
    }
}

impl From<&RemoteError> for io::Error {
    fn from(error: &RemoteError) -> Self {
        let kind = match error.failure {
            Failure::Missing => io::ErrorKind::NotFound,
            Failure::Refused(_) | Failure::NoCredentials => io::ErrorKind::PermissionDenied,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error.text.clone())
    }
}
