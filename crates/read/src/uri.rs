//! Parts of URIs.
//!
//! # References
//!
//! T. Berners-Lee, R. Fielding, L. Masinter. Uniform Resource Identifier (URI): Generic Syntax. RFC 3986, 2005,
//! section 3.

/// Returns the host of a URI, without a port and user, or nothing if it has none.
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
    let Some(scheme) = memchr::memmem::find(uri, b"://") else { return &[] };
    let rest = &uri[scheme + 3..];
    let authority =
        &rest[..rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len())];
    let host = authority.rsplit(|&byte| byte == b'@').next().unwrap_or_default();
    // The colons of an IPv6 address are in brackets, so only a colon behind them is before a port.
    match host.iter().position(|&byte| byte == b']') {
        Some(bracket) => &host[..=bracket],
        None => host.split(|&byte| byte == b':').next().unwrap_or_default(),
    }
}

/// Returns the path of a URI without query and fragment.
#[must_use]
pub fn path(uri: &[u8]) -> &[u8] {
    let whole = without_query(uri);
    &whole[path_start(whole)..]
}

/// Returns a URI up to the last slash of its path, or without path if that has no slash.
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

/// Returns the place of the path in a URI that has no query and fragment.
fn path_start(uri: &[u8]) -> usize {
    let authority = memchr::memmem::find(uri, b"://").map_or(0, |scheme| scheme + 3);
    let slash = uri[authority..].iter().position(|&byte| byte == b'/');
    slash.map_or(uri.len(), |slash| authority + slash)
}

#[cfg(test)]
mod tests {
    use super::*;

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
