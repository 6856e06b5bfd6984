//! Parses HTTP responses as crawlers store them: a header, then a body that may be chunked or
//! compressed.

use crate::bytes::{begins_page, is_utf16};
use simtool_model::non_document::NonDocument;
use std::io::Read;

/// An HTTP response with its decoded body.
#[derive(Debug)]
pub(crate) struct Response<'r> {
    /// Value of the header `Content-Type`. Empty if the response has none.
    pub(crate) content_type: &'r [u8],
    /// Whether the body is an HTML page. Otherwise it is plain text.
    pub(crate) is_html: bool,
    /// Decoded body. It is borrowed from the bytes of the response, or from the scratch memory of
    /// [`document_response`].
    pub(crate) body: &'r [u8],
    /// Whether the body could not be decoded as the header requires, and is used as it is because it looks like text.
    /// Many crawlers store the decoded body with the original header.
    pub(crate) is_malformed: bool,
}

/// Reason why the body of an HTTP response cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The body is damaged, or has an encoding that is not known.
    Encoding,
    /// The decoded body is longer than the limit.
    TooLong,
}

/// Size in bytes of the buffer of a decoder of Brotli.
const BROTLI_BUFFER: usize = 16 << 10;
/// Number of bytes at the start of a body that are searched for control characters, which show that the body is not
/// text.
const TEXT_BYTES: usize = 1 << 10;

/// Returns the name and value of each field of an HTTP or WARC header. Lines without a colon, such as the first line of
/// a response, are skipped.
pub(crate) fn fields(header: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    header.split(|&byte| byte == b'\n').filter_map(|line| {
        let at = memchr::memchr(b':', line)?;
        Some((line[..at].trim_ascii(), line[at + 1..].trim_ascii()))
    })
}

/// Returns the length in bytes of the header at the start of `bytes`, including the blank line at
/// the end of the header. Returns `None` if `bytes` has no blank line.
pub(crate) fn header_length(bytes: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'\n', bytes).find_map(|at| match bytes[at + 1..] {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}

/// Parses the HTTP response in `block` and decodes its body. The decoded body may have at most `longest` bytes.
/// `scratch` is reusable memory for decoded bodies.
///
/// Returns a [`NonDocument`] if `block` has neither an HTML page nor plain text, or if the status is a redirection or
/// an error, because the body is then only a message of the server. If the response has no `Content-Type`, the body
/// itself decides what it is.
///
/// # Errors
///
/// The body cannot be decoded and is not text as it is, or the decoded body is too long.
pub(crate) fn document_response<'r>(
    block: &'r [u8],
    longest: usize,
    scratch: &'r mut [Vec<u8>; 2],
) -> Result<Result<Response<'r>, NonDocument>, Unreadable> {
    let header = header_length(block).filter(|_| block.starts_with(b"HTTP/"));
    let Some(header) = header else { return Ok(Err(NonDocument::NotHttp)) };
    let mut content_type = &b""[..];
    let mut content_codings = Vec::new();
    let mut transfer_codings = Vec::new();
    for (name, value) in fields(&block[..header]) {
        // Upper and lower case are the same in names of header fields (RFC 9110, section 5.1). A
        // field that is a list may be divided into several fields (section 5.3).
        if name.eq_ignore_ascii_case(b"content-type") {
            content_type = value;
        } else if name.eq_ignore_ascii_case(b"content-encoding") {
            content_codings.extend(list(value));
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            transfer_codings.extend(list(value));
        }
    }
    let is_plain = is_of(content_type, b"text/plain");
    if !(is_html(content_type) || is_plain || content_type.is_empty()) {
        return Ok(Err(kind_of(content_type)));
    }
    if let Some(kind) = kind_of_status(block) {
        return Ok(Err(kind));
    }
    // The sender applied the codings in the order of the lists, and the codings of the transfer
    // last. They are undone in the opposite order.
    let codings = transfer_codings.iter().rev().chain(content_codings.iter().rev());
    let (body, is_malformed) = decoded(&block[header..], codings.copied(), longest, scratch)?;
    let is_page = is_html(content_type) || content_type.is_empty() && begins_page(body);
    // Servers send files of unknown kinds as plain text.
    if !is_page && (!looks_like_text(body) || content_type.is_empty() && body.is_empty()) {
        return Ok(Err(NonDocument::NoText));
    }
    Ok(Ok(Response { content_type, is_html: is_page, body, is_malformed }))
}

/// Returns the kind of an HTTP response whose status is a redirection or an error. The body of such a response is a
/// message of the server, which is the same for many pages of a site. Returns `None` for other statuses.
fn kind_of_status(response: &[u8]) -> Option<NonDocument> {
    let line = response.split(|&byte| byte == b'\n').next()?;
    let mut words = line.trim_ascii().split(|&byte| byte == b' ').filter(|word| !word.is_empty());
    match words.nth(1)? {
        [b'3', b'0'..=b'9', b'0'..=b'9'] => Some(NonDocument::Redirect),
        [b'4', b'0'..=b'9', b'0'..=b'9'] => Some(NonDocument::ClientError),
        [b'5', b'0'..=b'9', b'0'..=b'9'] => Some(NonDocument::ServerError),
        _ => None,
    }
}

/// Returns the kind of non-document, for example an image, for `content_type`, the value of a header `Content-Type`
/// that means neither HTML nor plain text.
fn kind_of(content_type: &[u8]) -> NonDocument {
    let kinds: [(&[u8], NonDocument); 6] = [
        (b"image/", NonDocument::Image),
        (b"audio/", NonDocument::Audio),
        (b"video/", NonDocument::Video),
        (b"font/", NonDocument::Font),
        (b"application/", NonDocument::Application),
        (b"text/", NonDocument::OtherText),
    ];
    let found = kinds.iter().find(|(start, _)| is_of(content_type, start));
    found.map_or(NonDocument::OtherType, |(_, kind)| *kind)
}

/// Returns the elements of a list in the value of a header field. Commas separate the elements.
fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|element| !element.is_empty())
}

/// Undoes `codings`, which are encodings such as gzip, of the body `stored`, one after the other. Returns the decoded
/// body, and whether the stored body was used as it is because it could not be decoded.
///
/// # Errors
///
/// A coding cannot be undone and the body is not text as it is, or a decoded body is too long.
fn decoded<'r, 'c>(
    stored: &'r [u8],
    codings: impl Iterator<Item = &'c [u8]>,
    longest: usize,
    scratch: &'r mut [Vec<u8>; 2],
) -> Result<(&'r [u8], bool), Unreadable> {
    let [first, second] = scratch;
    // After a step, `first` has the body so far. `second` is the memory for the next step.
    let mut is_stored = true;
    let mut is_malformed = false;
    for coding in codings {
        let body = if is_stored { stored } else { &first[..] };
        match undo(coding, body, longest, second)? {
            Undone::Identity => {}
            Undone::Decoded => {
                std::mem::swap(first, second);
                is_stored = false;
            }
            // The crawler may have undone this coding already, but not the other codings.
            Undone::Malformed => is_malformed = true,
        }
    }
    let body: &[u8] = if is_stored { stored } else { first };
    if is_malformed && !looks_like_text(body) {
        return Err(Unreadable::Encoding);
    }
    Ok((body, is_malformed))
}

/// Returns whether `content_type`, the value of a header `Content-Type`, means HTML.
pub(crate) fn is_html(content_type: &[u8]) -> bool {
    is_of(content_type, b"text/html") || is_of(content_type, b"application/xhtml+xml")
}

/// Returns whether `content_type` begins with `kind`, in upper or lower case.
fn is_of(content_type: &[u8], kind: &[u8]) -> bool {
    content_type.get(..kind.len()).is_some_and(|start| start.eq_ignore_ascii_case(kind))
}

/// Returns whether the start of `body` has no control characters, except those that texts have:
/// white space, and the escapes of the encoding ISO-2022-JP.
pub(crate) fn looks_like_text(body: &[u8]) -> bool {
    let start = &body[..body.len().min(TEXT_BYTES)];
    let is_control = |byte: &u8| matches!(byte, 0..=8 | 0x0E..=0x1A | 0x1C..=0x1F);
    // UTF-16 has zero bytes, but begins with a byte order mark.
    is_utf16(start) || !start.iter().any(is_control)
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

/// Result of undoing one coding of a body, such as gzip. See [`undo`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Undone {
    /// The coding changes nothing.
    Identity,
    /// The output has the decoded body.
    Decoded,
    /// The coding is not known, or the body is not encoded with it.
    Malformed,
}

/// Undoes a coding of the header `Content-Encoding` or `Transfer-Encoding`, and writes the decoded body to `output`.
/// Returns an error if the decoded body is longer than `longest` bytes.
fn undo(
    coding: &[u8],
    body: &[u8],
    longest: usize,
    output: &mut Vec<u8>,
) -> Result<Undone, Unreadable> {
    let is = |name: &[u8]| coding.eq_ignore_ascii_case(name);
    output.clear();
    if is(b"identity") {
        return Ok(Undone::Identity);
    }
    if is(b"chunked") {
        let joined = join_chunks(body, output);
        return Ok(joined.map_or(Undone::Malformed, |()| Undone::Decoded));
    }
    // One byte more than allowed shows that the body is too long, without decoding all of it.
    let limit = longest as u64 + 1;
    let mut read = |reader: &mut dyn Read| reader.take(limit).read_to_end(output);
    let result = if is(b"gzip") || is(b"x-gzip") {
        read(&mut flate2::read::MultiGzDecoder::new(body))
    } else if is(b"deflate") {
        let zlib = read(&mut flate2::read::ZlibDecoder::new(body));
        if zlib.is_err() {
            // The encoding `deflate` means the zlib format, but some servers send deflate data without
            // it (RFC 9110, section 8.4.1.2).
            output.clear();
            flate2::read::DeflateDecoder::new(body).take(limit).read_to_end(output)
        } else {
            zlib
        }
    } else if is(b"br") {
        read(&mut brotli_decompressor::Decompressor::new(body, BROTLI_BUFFER))
    } else if is(b"zstd") {
        match zstd::Decoder::with_buffer(body) {
            Ok(mut decoder) => read(&mut decoder),
            Err(error) => Err(error),
        }
    } else {
        return Ok(Undone::Malformed);
    };
    if output.len() > longest {
        return Err(Unreadable::TooLong);
    }
    // If the end of the body is missing, the decoder fails. The bytes that it wrote before are not used.
    Ok(if result.is_ok() { Undone::Decoded } else { Undone::Malformed })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(response: &[u8], expected: Result<Option<(&[u8], bool)>, Unreadable>) {
        let mut scratch = [Vec::new(), Vec::new()];
        let found = document_response(response, 1000, &mut scratch);
        let found = found.map(|r| r.ok().map(|r| (r.body, r.is_malformed)));
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
        let kind = |response: &[u8]| {
            let mut scratch = [Vec::new(), Vec::new()];
            let found = document_response(response, 1000, &mut scratch).unwrap();
            found.map(|response| response.is_html).unwrap_err()
        };
        assert_eq!(kind(b"dns:example.org"), NonDocument::NotHttp);
        for (content_type, expected) in [
            ("image/png", NonDocument::Image),
            ("Application/PDF", NonDocument::Application),
            ("text/css", NonDocument::OtherText),
            ("model/mesh", NonDocument::OtherType),
            ("text/plain", NonDocument::NoText),
        ] {
            let response = format!("HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n\0\x01");
            assert_eq!(kind(response.as_bytes()), expected, "{content_type}");
        }
    }

    #[test]
    fn messages_of_servers_are_no_documents() {
        let kind = |status: &str, content_type: &str| {
            let response = format!("{status}\r\nContent-Type: {content_type}\r\n\r\n<p>Sorry");
            let mut scratch = [Vec::new(), Vec::new()];
            let found = document_response(response.as_bytes(), 1000, &mut scratch).unwrap();
            found.map(|response| response.is_html).err()
        };
        for (status, expected) in [
            ("HTTP/1.1 200 OK", None),
            ("HTTP/2 206", None),
            ("HTTP/1.1 301 Moved Permanently", Some(NonDocument::Redirect)),
            ("HTTP/1.0  404  Not Found", Some(NonDocument::ClientError)),
            ("HTTP/2 503", Some(NonDocument::ServerError)),
            ("HTTP/1.1", None),
            ("HTTP/1.1 4040", None),
        ] {
            assert_eq!(kind(status, "text/html"), expected, "{status}");
            assert_eq!(kind(status, "text/plain"), expected, "{status}");
            assert_eq!(kind(status, "image/png"), Some(NonDocument::Image), "{status}");
        }
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
        let whole = packed(b"some text of a page");
        let cut = &whole[..whole.len() - 12];
        check(&[&header[..], cut].concat(), Err(Unreadable::Encoding));
        let unknown =
            b"HTTP/1.1 200\r\nContent-Type: text/html\r\nContent-Encoding: dcb\r\n\r\n\x01\x02";
        check(unknown, Err(Unreadable::Encoding));
    }

    fn brotli(body: &[u8]) -> Vec<u8> {
        // A stream of one uncompressed block (RFC 7932, section 9.2), which a test can write by hand: a window of
        // 16 bits, a block that is not the last, its length less one in 16 bits, and the last, empty block.
        let length = u32::try_from(body.len() - 1).unwrap();
        let header = (length << 4 | 1 << 20).to_le_bytes();
        [&header[..3], body, &[3]].concat()
    }

    #[test]
    fn codings_are_undone_in_any_combination() {
        let body = b"<p>body</p>";
        let gzip = packed(body);
        let zstd = zstd::encode_all(&body[..], 1).unwrap();
        let chunked = |body: &[u8]| {
            [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n0\r\n\r\n"].concat()
        };
        for (header, stored, is_malformed) in [
            ("Content-Encoding: br", brotli(body), false),
            ("Content-Encoding: zstd", zstd.clone(), false),
            ("Content-Encoding: gzip, gzip", packed(&gzip), false),
            ("Content-Encoding: gzip\r\nContent-Encoding: gzip", packed(&gzip), false),
            ("Content-Encoding: identity, gzip", gzip.clone(), false),
            ("Content-Encoding: zstd, gzip", packed(&zstd), false),
            ("Transfer-Encoding: gzip, chunked", chunked(&gzip), false),
            ("Transfer-Encoding:  Chunked ", chunked(body), false),
            ("Transfer-Encoding: chunked\r\nContent-Encoding: gzip", chunked(&gzip), false),
            ("Transfer-Encoding: chunked\r\nContent-Encoding: br", body.to_vec(), true),
            ("Transfer-Encoding: chunked\r\nContent-Encoding: gzip", gzip.clone(), true),
            ("Content-Encoding: gzip, utf-8", gzip.clone(), true),
            ("Content-Encoding: gzip", body.to_vec(), true),
            ("Content-Encoding: br", body.to_vec(), true),
            ("Content-Encoding: utf-8", body.to_vec(), true),
            ("Content-Encoding: none", body.to_vec(), true),
            ("Content-Encoding: binary", body.to_vec(), true),
            ("Content-Encoding: identity", body.to_vec(), false),
            ("Content-Encoding: ", body.to_vec(), false),
        ] {
            let header = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{header}\r\n\r\n");
            check(&[header.as_bytes(), &stored].concat(), Ok(Some((body, is_malformed))));
        }
    }

    #[test]
    fn responses_without_a_type_are_judged_by_their_body() {
        let kind = |header: &str, body: &[u8]| {
            let response = [b"HTTP/1.1 200 OK\r\n", header.as_bytes(), b"\r\n", body].concat();
            let mut scratch = [Vec::new(), Vec::new()];
            let found = document_response(&response, 1000, &mut scratch).unwrap();
            found.ok().map(|response| response.is_html)
        };
        assert_eq!(kind("", b"<!DOCTYPE html><p>a"), Some(true));
        assert_eq!(kind("", b"plain words"), Some(false));
        assert_eq!(kind("", b"\x89PNG\r\n\x1A\n\0"), None);
        assert_eq!(kind("", b""), None);
        assert_eq!(kind("Content-Type: text/plain; charset=x\r\n", b"<html>"), Some(false));
        assert_eq!(kind("Content-Type: text/plain\r\n", b"\x89PNG\r\n\x1A\n\0"), None);
        assert_eq!(kind("Content-Type: application/json\r\n", b"{}"), None);
    }
}
