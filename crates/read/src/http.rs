//! Parses HTTP responses as crawlers store them: a header, then a body that may be chunked or
//! compressed.

use std::io::Read;

/// An HTTP response with its decoded body.
#[derive(Debug)]
pub(super) struct Response<'r> {
    /// Value of the header `Content-Type`.
    pub(super) content_type: &'r [u8],
    /// Decoded body. It is borrowed from the bytes of the response, or from the scratch memory of
    /// [`html_response`].
    pub(super) body: &'r [u8],
    /// Whether the body could not be decoded as the header says. The body is then used as it is.
    pub(super) is_malformed: bool,
}

/// Reason why the body of an HTTP response cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// The header names a content encoding that is neither gzip nor deflate.
    Encoding,
    /// The decoded body is longer than the limit.
    TooLong,
}

/// Returns names and values of the fields of an HTTP or WARC header. Lines without a colon, such as
/// the first line of a response, are skipped.
pub(super) fn fields(header: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    header.split(|&byte| byte == b'\n').filter_map(|line| {
        let at = memchr::memchr(b':', line)?;
        Some((line[..at].trim_ascii(), line[at + 1..].trim_ascii()))
    })
}

/// Returns the length in bytes of the header at the start of `bytes`, including the blank line at
/// the end of the header. Returns `None` if `bytes` has no blank line.
pub(super) fn header_length(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', bytes).find_map(|at| match bytes[at + 1..] {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// Parses the HTTP response in `block` and decodes its body. The decoded body may have at most
/// `longest` bytes. Returns `None` if `block` is not an HTTP response with an HTML page. `scratch`
/// is reusable memory for the joined chunks and for the decompressed body.
///
/// # Errors
///
/// The header names an unknown content encoding, or the decoded body is too long.
pub(super) fn html_response<'r>(
    block: &'r [u8],
    longest: usize,
    scratch: &'r mut [Vec<u8>; 2],
) -> Result<Option<Response<'r>>, Unreadable> {
    if !block.starts_with(b"HTTP/") {
        return Ok(None);
    }
    let Some(header) = header_length(block) else { return Ok(None) };
    let (mut content_type, mut encoding, mut is_chunked) = (&b""[..], &b""[..], false);
    for (name, value) in fields(&block[..header]) {
        // Upper and lower case are the same in names of header fields (RFC 9110, section 5.1).
        if name.eq_ignore_ascii_case(b"content-type") {
            content_type = value;
        } else if name.eq_ignore_ascii_case(b"content-encoding") {
            encoding = value;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            is_chunked = value.eq_ignore_ascii_case(b"chunked");
        }
    }
    if !is_html(content_type) {
        return Ok(None);
    }
    let [joined, unpacked] = scratch;
    let mut body = &block[header..];
    let mut is_malformed = false;
    if is_chunked {
        match join_chunks(body, joined) {
            Some(()) => body = joined,
            None => is_malformed = true,
        }
    }
    // The chunks wrap the encoded content, so they are joined first. Many crawlers store the
    // decoded body with the original header. Then decoding fails, and the body is taken as it is.
    let identity = encoding.is_empty() || encoding.eq_ignore_ascii_case(b"identity");
    if !identity {
        if unpack(encoding, body, longest, unpacked)? {
            body = unpacked;
        } else {
            is_malformed = true;
        }
    }
    Ok(Some(Response { content_type, body, is_malformed }))
}

/// Returns whether `content_type`, the value of a header `Content-Type`, means HTML.
pub(super) fn is_html(content_type: &[u8]) -> bool {
    [&b"text/html"[..], b"application/xhtml+xml"].iter().any(|kind| {
        content_type.get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind))
    })
}

/// Joins the chunks of the body of an HTTP response into `joined` (RFC 9112, section 7.1). Returns
/// `None` if a chunk is malformed.
fn join_chunks(mut body: &[u8], joined: &mut Vec<u8>) -> Option<()> {
    joined.clear();
    loop {
        let end = memchr::memchr(b'\n', body)?;
        // A semicolon after the size begins extensions, which may be ignored (RFC 9112, section
        // 7.1.1).
        let size = body[..end].split(|&byte| byte == b';').next()?.trim_ascii();
        let size = usize::from_str_radix(str::from_utf8(size).ok()?, 16).ok()?;
        body = &body[end + 1..];
        // The chunk of size 0 is the last one. Trailer fields after it do not belong to the body.
        if size == 0 {
            return Some(());
        }
        // The response may declare a wrong size, so the bytes are only taken if they exist.
        joined.extend_from_slice(body.get(..size)?);
        body = &body[size..];
        body = body.strip_prefix(b"\r").unwrap_or(body).strip_prefix(b"\n")?;
    }
}

/// Decompresses the body of an HTTP response into `unpacked`. Returns `false` if the body is not
/// compressed as `encoding`, the content encoding in the header, says. Returns an error if the
/// decompressed body has more than `longest` bytes.
fn unpack(
    encoding: &[u8],
    body: &[u8],
    longest: usize,
    unpacked: &mut Vec<u8>,
) -> Result<bool, Unreadable> {
    let is = |name: &[u8]| encoding.eq_ignore_ascii_case(name);
    unpacked.clear();
    // One byte more than allowed shows that the body is too long, without decoding all of it.
    let limit = longest as u64 + 1;
    let result = if is(b"gzip") || is(b"x-gzip") {
        flate2::read::MultiGzDecoder::new(body).take(limit).read_to_end(unpacked)
    } else if is(b"deflate") {
        let zlib = flate2::read::ZlibDecoder::new(body).take(limit).read_to_end(unpacked);
        if zlib.is_err() {
            // The encoding `deflate` means the zlib format, but some servers send deflate data without
            // it (RFC 9110, section 8.4.1.2).
            unpacked.clear();
            flate2::read::DeflateDecoder::new(body).take(limit).read_to_end(unpacked)
        } else {
            zlib
        }
    } else {
        return Err(Unreadable::Encoding);
    };
    if unpacked.len() > longest {
        return Err(Unreadable::TooLong);
    }
    Ok(result.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(response: &[u8], expected: Result<Option<(&[u8], bool)>, Unreadable>) {
        let mut scratch = [Vec::new(), Vec::new()];
        let found = html_response(response, 1000, &mut scratch);
        let found = found.map(|r| r.map(|r| (r.body, r.is_malformed)));
        assert_eq!(found, expected, "{}", String::from_utf8_lossy(response));
    }

    fn packed(body: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        let mut encoder = flate2::read::GzEncoder::new(body, flate2::Compression::fast());
        encoder.read_to_end(&mut packed).unwrap();
        packed
    }

    #[test]
    fn html_bodies_are_decoded() {
        let plain = b"HTTP/1.1 200 OK\r\nCONTENT-TYPE: Text/HTML\r\n\r\nbody";
        check(plain, Ok(Some((b"body", false))));
        let chunked = b"HTTP/1.1 200\nContent-Type: text/html\nTransfer-Encoding: chunked\n\n\
                        3;x=y\r\nbod\r\n1\ny\r\n0\r\n\r\n";
        check(chunked, Ok(Some((b"body", false))));
        let header = b"HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n";
        check(&[&header[..], &packed(b"body")].concat(), Ok(Some((b"body", false))));
    }

    #[test]
    fn other_responses_are_none() {
        check(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n\x89PNG", Ok(None));
        check(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", Ok(None));
        check(b"dns:example.org", Ok(None));
    }

    #[test]
    fn malformed_bodies_are_taken_as_they_are() {
        let header =
            "HTTP/1.1 200\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n";
        for body in
            ["", "no chunks", "ffffffffffffffffff\r\nx", "5\r\nabc", "3\r\nabcd\r\n0\r\n\r\n"]
        {
            check(format!("{header}{body}").as_bytes(), Ok(Some((body.as_bytes(), true))));
        }
    }

    #[test]
    fn bodies_that_cannot_be_decoded_are_refused() {
        let header = b"HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n";
        check(&[&header[..], &packed(&[b'x'; 2000])].concat(), Err(Unreadable::TooLong));
        let other = b"HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Encoding: br\r\n\r\nx";
        check(other, Err(Unreadable::Encoding));
    }
}
