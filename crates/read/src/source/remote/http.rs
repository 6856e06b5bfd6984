//! Requests over HTTP, one at a time in each thread.
//!
//! The client blocks its thread, so that a request needs neither an event loop nor its threads. The library for
//! stores is asynchronous, but each of its calls runs alone in the thread that asks.

use super::error::Failure;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
};
use std::cell::Cell;
use std::fmt::Write as _;
use std::io;
use std::pin::Pin;
use std::sync::LazyLock;
use std::time::Duration;
use ureq::http::{Request, Response, StatusCode, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, AsSendBody, Body};

/// Time in which a server must accept a connection.
const CONNECT_TIME: Duration = Duration::from_secs(10);

/// Time in which the service for credentials of a machine must accept a connection. Machines outside of clouds do not
/// have it, and would wait for nothing.
const CREDENTIALS_TIME: Duration = Duration::from_secs(1);

/// Time in which a request must be answered that has no deadline of its own.
const USUAL_DEADLINE: Duration = Duration::from_mins(1);

/// Divisor of a deadline. A connection that is silent for a third of the deadline has stalled.
const SILENCE: u32 = 3;

/// Hosts at which the machines of clouds get their credentials.
const CREDENTIAL_HOSTS: [&str; 4] =
    ["169.254.169.254", "169.254.170.2", "metadata.google.internal", "metadata"];

/// Number of connections that are kept open for later requests.
const IDLE_CONNECTIONS: usize = 64;

/// Limits on the time and the length of the answer to a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Time in which the whole answer must arrive.
    pub(super) deadline: Duration,
    /// Whether redirections are followed.
    pub(super) follows: bool,
    /// Largest length of the body in bytes. If the server declares a longer body, it is not read, and the response has
    /// an empty body.
    pub(super) most: u64,
}

thread_local! {
    /// Deadline of the requests of this thread. It is stored here, because the library for stores does not pass it on
    /// to the requests of a call.
    static DEADLINE: Cell<Duration> = const { Cell::new(USUAL_DEADLINE) };
}

/// Calls `work` and returns its result. The requests that `work` sends from this thread must be answered within
/// `deadline`.
pub(super) fn within<T>(deadline: Duration, work: impl FnOnce() -> T) -> T {
    let before = DEADLINE.replace(deadline);
    let done = work();
    DEADLINE.set(before);
    done
}

/// The HTTP client, whose open connections all requests share.
static AGENT: LazyLock<Agent> = LazyLock::new(|| {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects_will_error(false)
        .accept_encoding("identity")
        .user_agent(concat!("simtool/", env!("CARGO_PKG_VERSION")))
        .max_idle_connections(IDLE_CONNECTIONS)
        .max_idle_connections_per_host(IDLE_CONNECTIONS)
        .tls_config(TlsConfig::builder().root_certs(root_certificates()).build());
    config.build().new_agent()
});

/// Returns the certificates that the user names in the environment, otherwise those of Mozilla.
fn root_certificates() -> RootCerts {
    let named = ["SSL_CERT_FILE", "AWS_CA_BUNDLE"].into_iter().find_map(std::env::var_os);
    let Some(pem) = named.and_then(|path| std::fs::read(path).ok()) else {
        return RootCerts::WebPki;
    };
    // Other things in the file, such as keys, are of no use here.
    let certificates = parse_pem(&pem).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    });
    RootCerts::from(certificates.collect::<Vec<_>>())
}

/// Sends a request, and returns the complete response, whatever its status is.
///
/// # Errors
///
/// No complete response arrived in time.
pub(super) fn send(request: Request<Bytes>, limits: Limits) -> Result<Response<Bytes>, Failure> {
    let host = request.uri().host().unwrap_or_default().to_owned();
    let is_for_credentials = CREDENTIAL_HOSTS.contains(&&*host);
    // The client refuses an empty body with methods that have no body, such as GET.
    let sent = if request.body().is_empty() {
        run(request.map(|_| ()), limits, is_for_credentials)
    } else {
        run(request.map(Vec::<u8>::from), limits, is_for_credentials)
    };
    sent.map_err(|error| {
        if is_for_credentials { Failure::NoCredentials } else { failure(&error, &host, limits) }
    })
}

fn run<B: AsSendBody>(
    request: Request<B>,
    limits: Limits,
    is_for_credentials: bool,
) -> Result<Response<Bytes>, ureq::Error> {
    let Limits { deadline, follows, most } = limits;
    let connect = if is_for_credentials { CREDENTIALS_TIME } else { CONNECT_TIME };
    let request = AGENT
        .configure_request(request)
        .timeout_global(Some(deadline))
        .timeout_per_read(Some(deadline / SILENCE))
        .timeout_connect(Some(connect.min(deadline)))
        .max_redirects(if follows { 10 } else { 0 })
        .build();
    let (parts, body): (_, Body) = AGENT.run(request)?.into_parts();
    // A server that ignores ranges may send a terabyte, but it declares the length first.
    let is_too_long = body.content_length().is_some_and(|length| length > most);
    let body =
        if is_too_long { Vec::new() } else { body.into_with_config().limit(most).read_to_vec()? };
    Ok(Response::from_parts(parts, body.into()))
}

/// Converts an error of the HTTP client to the failure that is reported. `host` is the server of the request.
fn failure(error: &ureq::Error, host: &str, limits: Limits) -> Failure {
    use ureq::Error::{
        BadUri, BodyExceedsLimit, ConnectProxyFailed, ConnectionFailed, HostNotFound, Io, Protocol,
        Rustls, Timeout, Tls,
    };
    match error {
        Timeout(_) => {
            let seconds = limits.deadline.as_secs_f64();
            Failure::Passing(format!("{host} did not answer completely in {seconds} seconds"))
        }
        HostNotFound => Failure::Passing(format!("the host {host} was not found")),
        Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            Failure::Passing(format!("{host} refused the connection"))
        }
        Io(_) | Protocol(_) | ConnectionFailed | ConnectProxyFailed(_) => {
            Failure::Passing(format!("the connection to {host} failed: {error}"))
        }
        Rustls(_) | Tls(_) => Failure::Final(format!(
            "no secure connection to {host}: {error}; SSL_CERT_FILE names a file with other certificates"
        )),
        BodyExceedsLimit(_) => Failure::Final(format!("{host} sent more bytes than asked for")),
        // The text of this error would have the whole address.
        BadUri(_) => Failure::Final("the address is not valid".to_owned()),
        _ => Failure::Final(format!("the request to {host} failed: {error}")),
    }
}

/// Returns the response if its status is a success. Otherwise returns the failure that its status and its body
/// describe.
pub(super) fn successful(response: Response<Bytes>) -> Result<Response<Bytes>, Failure> {
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let region =
        response.headers().get("x-amz-bucket-region").and_then(|value| value.to_str().ok());
    if let Some(region) = region.filter(|_| matches!(status.as_u16(), 301 | 307 | 400)) {
        return Err(Failure::Region(region.to_owned()));
    }
    Err(Failure::from_status(status.as_u16(), &code(response.body())))
}

/// Returns the code of an error in the XML of a store, for example `AccessDenied`. The rest of such a text can have
/// the names of keys, so it is not shown.
fn code(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>"));
    let code = code.map_or("", |(code, _)| code);
    code.chars().filter(char::is_ascii_alphanumeric).take(60).collect()
}

/// Connector by which the library for stores sends its requests with the HTTP client of this module.
#[derive(Debug)]
pub(super) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, _options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Service))
    }
}

#[derive(Debug)]
struct Service;

type Answer<'f> = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>;

impl HttpService for Service {
    fn call<'s, 'f>(&'s self, request: HttpRequest) -> Answer<'f>
    where
        's: 'f,
        Self: 'f,
    {
        // The thread has no other work than this request, so it may block.
        Box::pin(answer(request))
    }
}

async fn answer(request: HttpRequest) -> Result<HttpResponse, HttpError> {
    // The library must not repeat requests, because its callers do that.
    let failed = |failure: Failure| HttpError::new(HttpErrorKind::Decode, failure);
    let (parts, body) = request.into_parts();
    // A body has at most one part of a file.
    let body = body.collect().await?.to_bytes();
    let limits = Limits { deadline: DEADLINE.get(), follows: false, most: u64::MAX };
    let is_for_credentials = parts.uri.host().is_some_and(|host| CREDENTIAL_HOSTS.contains(&host));
    let response = send(Request::from_parts(parts, body), limits).map_err(failed)?;
    if is_for_credentials && !response.status().is_success() {
        return Err(failed(Failure::NoCredentials));
    }
    let (parts, body) = successful(response).map_err(failed)?.into_parts();
    Ok(HttpResponse::from_parts(parts, body.into()))
}

/// Returns whether the server answered with only the requested range of bytes, and not with the whole object.
pub(super) fn is_partial(response: &Response<Bytes>) -> bool {
    response.status() == StatusCode::PARTIAL_CONTENT
}

/// Parses an address. Characters that servers do not accept are percent-encoded first.
pub(super) fn uri(address: &str) -> Result<Uri, Failure> {
    let is_odd = |byte: u8| !byte.is_ascii_graphic() || b"\"<>\\^`{|}".contains(&byte);
    let encoded = percent_encoded(address, |byte| !is_odd(byte));
    encoded.parse().map_err(|_| Failure::Final("the address is not valid".to_owned()))
}

/// Returns `text` with each byte percent-encoded for which `is_plain` returns false, for example a space as `%20`.
/// `is_plain` must return false for bytes that are not ASCII.
pub(super) fn percent_encoded(text: &str, is_plain: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if is_plain(byte) {
            encoded.push(char::from(byte));
        } else {
            // Writing to memory does not fail.
            _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_stores_are_shown_without_the_rest() {
        let body = b"<Error><Code>AccessDenied</Code><AWSAccessKeyId>AKIA</AWSAccessKeyId></Error>";
        assert_eq!(code(body), "AccessDenied");
        assert_eq!(code(b"<html>"), "");
        let failure = Failure::from_status(403, &code(body));
        assert_eq!(failure.to_string(), "the server answered 403 AccessDenied");
    }

    #[test]
    fn odd_characters_of_addresses_are_encoded() {
        assert_eq!(uri("https://h/a b%20\u{e9}?x=1").unwrap(), "https://h/a%20b%20%C3%A9?x=1");
        assert_eq!(uri("https:///").unwrap_err().to_string(), "the address is not valid");
    }
}
