//! Parts of URIs.
//!
//! # References
//!
//! T. Berners-Lee, R. Fielding, L. Masinter. Uniform Resource Identifier (URI): Generic Syntax. RFC 3986, 2005,
//! section 3.

use std::ops::Range;

/// Returns the host of a URI without its port and user. Returns an empty slice if the URI has no host.
///
/// ```
/// use simtool_read::uri;
///
/// let page = b"http://me@news.example:8080/a/b.html?c=d/e";
/// assert_eq!(uri::host(page), b"news.example");
/// assert_eq!(uri::path(page), b"/a/b.html");
/// assert_eq!(uri::folder(page), b"http://me@news.example:8080/a/");
/// ```
#[must_use]
pub fn host(uri: &[u8]) -> &[u8] {
    &uri[host_range(uri)]
}

/// Returns the range of bytes of the host in a URI. The range is empty if the URI has no host.
fn host_range(uri: &[u8]) -> Range<usize> {
    let Some(scheme) = memchr::memmem::find(uri, b"://") else { return 0..0 };
    let start = scheme + 3;
    let length = uri[start..].iter().position(|byte| b"/?#".contains(byte));
    let end = length.map_or(uri.len(), |length| start + length);
    let user = uri[start..end].iter().rposition(|&byte| byte == b'@');
    let start = user.map_or(start, |user| start + user + 1);
    let host = &uri[start..end];
    // The colons of an IPv6 address are in brackets, so only a colon behind them is before a port.
    let length = match host.iter().position(|&byte| byte == b']') {
        Some(bracket) => bracket + 1,
        None => host.iter().position(|&byte| byte == b':').unwrap_or(host.len()),
    };
    start..start + length
}

/// Returns the host of a URI in one spelling for all equivalent names: in lower case, and without the dot at the end of
/// a complete domain name.
///
/// ```
/// use simtool_read::uri;
///
/// assert_eq!(uri::canonical_host(b"http://News.Example./a"), b"news.example");
/// ```
#[must_use]
pub fn canonical_host(uri: &[u8]) -> Vec<u8> {
    let host = host(uri);
    host.strip_suffix(b".").unwrap_or(host).to_ascii_lowercase()
}

/// Returns the [`folder`] of a URI, with its scheme in lower case and with its [`canonical_host`]. The path is
/// unchanged, because servers may distinguish the case of its letters.
#[must_use]
pub fn canonical_folder(uri: &[u8]) -> Vec<u8> {
    let folder = folder(uri);
    let Range { start, end } = host_range(folder);
    let scheme = memchr::memmem::find(folder, b"://").unwrap_or(0);
    let (before, behind) = (&folder[scheme..start.max(scheme)], &folder[end.max(scheme)..]);
    [&folder[..scheme].to_ascii_lowercase()[..], before, &canonical_host(folder), behind].concat()
}

/// Returns the path of a URI without query and fragment.
#[must_use]
pub fn path(uri: &[u8]) -> &[u8] {
    let whole = without_query(uri);
    &whole[path_start(whole)..]
}

/// Returns the part of a URI up to and including the last slash of its path. If the path has no slash, returns the part
/// before the path.
#[must_use]
pub fn folder(uri: &[u8]) -> &[u8] {
    let whole = without_query(uri);
    let start = path_start(whole);
    let slash = whole[start..].iter().rposition(|&byte| byte == b'/');
    &whole[..slash.map_or(start, |slash| start + slash + 1)]
}

fn without_query(uri: &[u8]) -> &[u8] {
    &uri[..uri.iter().position(|byte| b"?#".contains(byte)).unwrap_or(uri.len())]
}

/// Returns the position at which the path begins in a URI that has no query and fragment.
fn path_start(uri: &[u8]) -> usize {
    let authority = memchr::memmem::find(uri, b"://").map_or(0, |scheme| scheme + 3);
    let slash = uri[authority..].iter().position(|&byte| byte == b'/');
    slash.map_or(uri.len(), |slash| authority + slash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_host_are_one() {
        for (uri, host, folder) in [
            ("http://a.b/C/d", "a.b", "http://a.b/C/"),
            ("HTTP://A.B./C/", "a.b", "http://a.b/C/"),
            ("http://Me@A.b:80/", "a.b", "http://Me@a.b:80/"),
            ("http://[::A]:80/x", "[::a]", "http://[::a]:80/"),
            ("http://A.B", "a.b", "http://a.b"),
            ("Urn:X:y", "", "Urn:X:y"),
            ("", "", ""),
        ] {
            let found = [canonical_host(uri.as_bytes()), canonical_folder(uri.as_bytes())];
            assert_eq!(found, [host, folder].map(|text| text.as_bytes().to_vec()), "{uri}");
        }
    }

    #[test]
    fn parts_of_odd_uris() {
        for (uri, of_host, of_path, of_folder) in [
            ("http://a.b", "a.b", "", "http://a.b"),
            ("http://a.b/", "a.b", "/", "http://a.b/"),
            ("http://a.b/c", "a.b", "/c", "http://a.b/"),
            ("http://[::1]:80/x/y/", "[::1]", "/x/y/", "http://[::1]:80/x/y/"),
            ("http://a?b/c", "a", "", "http://a"),
            ("http://a/b?c=/d#/e", "a", "/b", "http://a/"),
            ("urn:x:y", "", "", "urn:x:y"),
            ("", "", "", ""),
        ] {
            let parts = [host(uri.as_bytes()), path(uri.as_bytes()), folder(uri.as_bytes())];
            assert_eq!(parts, [of_host, of_path, of_folder].map(str::as_bytes), "{uri}");
        }
    }
}
