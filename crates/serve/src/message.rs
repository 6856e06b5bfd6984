//! HTTP requests and responses, and how they are read and written.

use std::io::{self, Read, Write};

/// Maximum number of bytes of the head of a request. The head is everything before the body.
const HEAD: usize = 16 << 10;
/// Maximum number of bytes of the body of a request.
const BODY: usize = 1 << 20;
/// Maximum number of headers of a request.
const HEADERS: usize = 64;

/// A complete HTTP request.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Method, for example `GET`.
    pub method: String,
    /// Path without the query. When a [`Route`](crate::Route) gets the request, the token was removed from the path.
    pub path: String,
    /// Names and values in the query, in their order.
    pub query: Vec<(String, String)>,
    /// Body of the request.
    pub body: Vec<u8>,
    pub(crate) host: Option<String>,
    pub(crate) origin: Option<String>,
}

/// Result of a request. The response has it as an HTTP status code, such as 404.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The request was carried out.
    Done,
    /// The request is not valid.
    Bad,
    /// The request comes from another site, or its path does not begin with the token.
    Forbidden,
    /// There is no such page, or no such row of data.
    Missing,
    /// The request is larger than any request that the pages of this server send.
    TooLarge,
    /// The request was valid, but carrying it out failed.
    Failed,
}

/// An HTTP response.
#[derive(Clone, Debug)]
pub struct Response {
    /// Result of the request, which becomes the status code.
    pub status: Status,
    /// Media type of the body.
    pub media_type: &'static str,
    /// Body of the response.
    pub body: Vec<u8>,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Done => "200 OK",
            Self::Bad => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::Missing => "404 Not Found",
            Self::TooLarge => "413 Content Too Large",
            Self::Failed => "500 Internal Server Error",
        }
    }
}

impl Request {
    /// Returns the first value of the parameter `name` in the query, or `None` if the query lacks this parameter.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let (_, value) = self.query.iter().find(|(known, _)| known == name)?;
        Some(value)
    }

    /// Returns the first value of the parameter `name` in the query as a number. Returns `None` if the query lacks this
    /// parameter, or if the value is not a number.
    #[must_use]
    pub fn number<N: std::str::FromStr>(&self, name: &str) -> Option<N> {
        self.value(name)?.parse().ok()
    }

    /// Reads a request from a connection.
    ///
    /// # Errors
    ///
    /// The request is not valid. The error is the response that says why, or `None` if the connection ended.
    pub(crate) fn read(stream: &mut impl Read) -> Result<Self, Option<Response>> {
        let (mut bytes, mut block) = (Vec::new(), [0; 4096]);
        let (mut request, body_at, length) = loop {
            let count = stream.read(&mut block).map_err(|_| None)?;
            if count == 0 {
                return Err(None);
            }
            bytes.extend_from_slice(&block[..count]);
            if let Some(parsed) = Self::parse_head(&bytes)? {
                break parsed;
            }
            // The limit is tested after parsing, so that a body in the same block does not count.
            if bytes.len() > HEAD {
                return Err(Some(Response::error(
                    Status::TooLarge,
                    "the head of the request is too long",
                )));
            }
        };
        if length > BODY {
            return Err(Some(Response::error(
                Status::TooLarge,
                "the body of the request is too long",
            )));
        }
        // A block may have read the beginning of the body, or more than the body.
        request.body = bytes.split_off(body_at);
        request.body.truncate(length);
        let at = request.body.len();
        request.body.resize(length, 0);
        stream.read_exact(&mut request.body[at..]).map_err(|_| None)?;
        Ok(request)
    }

    /// Parses the head of a request. Returns the request without its body, and the offset and the length of the body in
    /// bytes. Returns `None` if the head is not complete yet.
    fn parse_head(bytes: &[u8]) -> Result<Option<(Self, usize, usize)>, Option<Response>> {
        let bad = |reason| Some(Response::error(Status::Bad, reason));
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut head = httparse::Request::new(&mut headers);
        let parsed = head.parse(bytes).map_err(|_| bad("this is no HTTP request"))?;
        let httparse::Status::Complete(body_at) = parsed else { return Ok(None) };
        let header = |name: &str| {
            let mut found = head.headers.iter().filter(|h| h.name.eq_ignore_ascii_case(name));
            let value = found.next().and_then(|header| str::from_utf8(header.value).ok());
            // Two hosts could be understood in two ways.
            value.filter(|_| found.next().is_none()).map(str::to_owned)
        };
        let length = match header("Content-Length") {
            Some(length) => length.parse().map_err(|_| bad("the length is no number"))?,
            None => 0,
        };
        // Browsers send the path without the host, and no other form is served.
        let target = head.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(name), decoded(value))
        });
        let request = Self {
            method: head.method.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            query: pairs.collect(),
            body: Vec::new(),
            host: header("Host"),
            origin: header("Origin"),
        };
        Ok(Some((request, body_at, length)))
    }
}

impl Response {
    /// Creates a successful response with the JSON `text`.
    #[must_use]
    pub fn json(text: String) -> Self {
        let media_type = "application/json; charset=utf-8";
        Self { status: Status::Done, media_type, body: text.into_bytes() }
    }

    /// Creates a response with the code `status` and the text `message`, which says what is wrong.
    #[must_use]
    pub fn error(status: Status, message: &str) -> Self {
        let media_type = "text/plain; charset=utf-8";
        Self { status, media_type, body: message.as_bytes().to_vec() }
    }

    /// Writes the response to the connection, with headers that forbid scripts and data from other sites.
    pub(crate) fn write(&self, stream: &mut impl Write) -> io::Result<()> {
        let mut bytes = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
             Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n\r\n",
            self.status.line(),
            self.media_type,
            self.body.len()
        )
        .into_bytes();
        bytes.extend_from_slice(&self.body);
        stream.write_all(&bytes)
    }
}

/// Decodes a name or a value of a query: `%20` and similar escapes become bytes, and `+` becomes a space. An escape
/// that is not valid stays as it is.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let byte = match (first, escaped) {
            (b'%', Some(byte)) => {
                rest = &behind[2..];
                bytes.push(byte);
                continue;
            }
            // Forms write a space as `+`.
            (b'+', _) => b' ',
            _ => *first,
        };
        rest = behind;
        bytes.push(byte);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_in_pieces_of_any_size() {
        struct Slow<'s>(&'s [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
                let count = self.0.len().min(3);
                to[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        let text = b"POST /t/label?a=x%20y+z%zz&b HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 5\r\n\r\nhello!";
        let request = Request::read(&mut Slow(text)).unwrap();
        assert_eq!((&*request.path, &*request.body), ("/t/label", &b"hello"[..]));
        assert_eq!(request.value("a"), Some("x y z%zz"));
        assert_eq!((request.value("b"), request.number::<u32>("c")), (Some(""), None));
    }

    #[test]
    fn what_is_too_long_or_no_request_is_refused() {
        let status = |text: &[u8]| Request::read(&mut { text }).unwrap_err().map(|r| r.status);
        assert_eq!(status(b"nonsense\r\n\r\n"), Some(Status::Bad));
        assert_eq!(status(b"GET / HTTP/1.1\r\n"), None);
        let long = format!("GET /{} HTTP/1.1\r\n", "a".repeat(1 << 15));
        assert_eq!(status(long.as_bytes()), Some(Status::TooLarge));
        let body = b"POST / HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n";
        assert_eq!(status(body), Some(Status::TooLarge));
        assert_eq!(status(b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"), Some(Status::Bad));
    }
}
