//! A small server with the interfaces of S3, Azure, the Hugging Face Hub and the web, which fails as networks do.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Number of keys in a page of a list.
const PAGE: usize = 3;

/// Name of the access key that the server accepts.
pub(super) const ACCESS_KEY: &str = "AKIDSUITE";

/// Time of the last change of all objects.
const DATE: &str = "Fri, 02 Jan 2026 03:04:05 GMT";

/// Objects whose names begin with this need no credentials.
const PUBLIC: &str = "public/";

/// How the server fails.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Faults {
    /// Percentage of the requests that are answered with an error or a cut connection.
    pub(super) failing: u64,
    /// Percentage of the requests that are answered late.
    pub(super) slow: u64,
    /// Number of the request that is never answered, counted from 1. 0 means none.
    pub(super) stalled: u64,
    /// Region of the buckets. Requests for another region are refused with its name. Empty if all regions will do.
    pub(super) region: &'static str,
    /// Number of answers with a part of an object after which all objects are replaced. 0 means never.
    pub(super) replaced_after: u64,
}

/// A running server. It ends with the program.
pub(super) struct Server {
    pub(super) port: u16,
    state: Arc<State>,
}

struct State {
    faults: Faults,
    /// Objects by their names, which begin with a bucket.
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    requests: AtomicU64,
    parts: AtomicU64,
    /// Bytes of objects that were sent.
    sent: AtomicU64,
    /// Parts of unfinished uploads by their numbers. The key is the name of the upload.
    uploads: Mutex<BTreeMap<String, BTreeMap<usize, Vec<u8>>>>,
    /// Names of the objects that were written or removed, in this order.
    changes: Mutex<Vec<String>>,
}

/// A request: its method, its path without a slash in front, the query, the headers in lower case, and the body.
struct Request {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// A response, whose body may be cut.
struct Response {
    status: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Server {
    /// Starts a server with these objects on a free port.
    pub(super) fn start(objects: &[(&str, Vec<u8>)], faults: Faults) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let objects = objects.iter().map(|(name, content)| ((*name).to_owned(), content.clone()));
        let state = Arc::new(State {
            faults,
            objects: Mutex::new(objects.collect()),
            requests: AtomicU64::new(0),
            parts: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            uploads: Mutex::default(),
            changes: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(&connection, &state));
            }
        });
        Self { port, state }
    }

    /// Returns the number of requests so far.
    pub(super) fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::Relaxed)
    }

    /// Returns all objects.
    pub(super) fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        self.state.objects.lock().unwrap().clone()
    }

    /// Removes an object.
    pub(super) fn remove(&self, name: &str) {
        self.state.objects.lock().unwrap().remove(name).unwrap();
    }

    /// Returns the names of the objects that clients wrote, and of those that they removed with `-` in front.
    pub(super) fn changes(&self) -> Vec<String> {
        self.state.changes.lock().unwrap().clone()
    }

    /// Returns the number of uploads that are not finished.
    pub(super) fn unfinished_uploads(&self) -> usize {
        self.state.uploads.lock().unwrap().len()
    }

    /// Returns the number of bytes of objects that were sent.
    pub(super) fn sent(&self) -> u64 {
        self.state.sent.load(Ordering::Relaxed)
    }
}

/// Answers the requests of a connection until it is closed or cut.
fn serve(connection: &TcpStream, state: &State) {
    let mut reader = BufReader::new(connection);
    while let Some(request) = read_request(&mut reader) {
        let number = 1 + state.requests.fetch_add(1, Ordering::Relaxed);
        let chance = xxh3_64_with_seed(&number.to_le_bytes(), 7) % 100;
        let Faults { failing, slow, stalled, .. } = state.faults;
        if number == stalled {
            thread::sleep(Duration::from_mins(10));
        }
        if chance >= failing && chance < failing + slow {
            thread::sleep(Duration::from_millis(100));
        }
        let mut response = answer(&request, state);
        let is_failing = chance < failing;
        if is_failing && number.is_multiple_of(2) {
            response = error("503 Slow Down", "SlowDown");
        }
        let is_cut = is_failing && !number.is_multiple_of(2);
        if !send(connection, &request, &response, is_cut) || is_cut {
            // Without a shutdown, the client would wait for the rest.
            drop(connection.shutdown(std::net::Shutdown::Both));
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    // The emulator of Azure has the name of the account in front.
    let path = path.strip_prefix("/devstoreaccount1").unwrap_or(path);
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let query = pairs.map(|(name, value)| (decoded(name), decoded(value))).collect();
    Some(Request { method, path: decoded(path.trim_matches('/')), query, headers, body })
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn error(status: &'static str, code: &str) -> Response {
    let body =
        format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Key>secret</Key></Error>");
    Response { status, headers: Vec::new(), body: body.into_bytes() }
}

fn answer(request: &Request, state: &State) -> Response {
    if let Some(path) = request.path.strip_prefix("api/datasets/owner/name/") {
        return hub_answer(path, request, state);
    }
    if let Some(path) = request.path.strip_prefix("datasets/owner/name/resolve/c0ffee/") {
        // The Hub sends its clients to the store of its files.
        let target = format!("/public/hub/{path}?signature=secret");
        return Response {
            status: "302 Found",
            headers: vec![("Location", target)],
            body: Vec::new(),
        };
    }
    let authorization = request.headers.get("authorization").map_or("", String::as_str);
    let is_signed = authorization.contains(&format!("Credential={ACCESS_KEY}/"));
    if !is_signed && !format!("{}/", request.path).starts_with(PUBLIC) {
        return error("403 Forbidden", "AccessDenied");
    }
    let region = state.faults.region;
    if is_signed && !authorization.contains(&format!("/{region}")) {
        let mut response = error("400 Bad Request", "AuthorizationHeaderMalformed");
        response.headers.push(("x-amz-bucket-region", region.to_owned()));
        return response;
    }
    if request.query.contains_key("list-type") || request.query.contains_key("restype") {
        return list(request, state);
    }
    if let Some(response) = written(request, state) {
        return response;
    }
    object(request, state)
}

/// Answers a request that writes or removes an object. Returns `None` for other requests.
fn written(request: &Request, state: &State) -> Option<Response> {
    let Request { method, path, query, body, .. } = request;
    let done =
        |status, headers, body: String| Some(Response { status, headers, body: body.into_bytes() });
    let upload = query.get("uploadId");
    let part = query.get("partNumber").and_then(|number| number.parse().ok());
    let mut uploads = state.uploads.lock().unwrap();
    let put = |content: Vec<u8>| {
        let tag = etag(&content);
        state.objects.lock().unwrap().insert(path.clone(), content);
        state.changes.lock().unwrap().push(path.clone());
        tag
    };
    match (&**method, upload, part) {
        ("POST", None, _) if query.contains_key("uploads") => {
            let id = format!("upload-{}", state.requests.load(Ordering::Relaxed));
            uploads.insert(id.clone(), BTreeMap::new());
            let body = format!(
                "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
            );
            done("200 OK", Vec::new(), body)
        }
        ("PUT", Some(id), Some(part)) => {
            let Some(parts) = uploads.get_mut(id) else {
                return Some(error("404 Not Found", "NoSuchUpload"));
            };
            parts.insert(part, body.clone());
            done("200 OK", vec![("ETag", etag(body))], String::new())
        }
        ("POST", Some(id), _) => {
            let Some(parts) = uploads.remove(id) else {
                return Some(error("404 Not Found", "NoSuchUpload"));
            };
            let tag = put(parts.into_values().flatten().collect()).replace('"', "&quot;");
            let body = format!(
                "<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"
            );
            done("200 OK", Vec::new(), body)
        }
        ("DELETE", Some(id), _) => {
            uploads.remove(id);
            done("204 No Content", Vec::new(), String::new())
        }
        ("PUT", ..) => done("200 OK", vec![("ETag", put(body.clone()))], String::new()),
        ("DELETE", ..) => {
            if state.objects.lock().unwrap().remove(path).is_some() {
                state.changes.lock().unwrap().push(format!("-{path}"));
            }
            done("204 No Content", Vec::new(), String::new())
        }
        _ => None,
    }
}

fn etag(content: &[u8]) -> String {
    format!("\"{:016x}\"", xxh3_64(content))
}

fn list(request: &Request, state: &State) -> Response {
    let bucket = format!("{}/", request.path);
    let prefix = request.query.get("prefix").map_or("", String::as_str);
    let is_azure = request.query.contains_key("restype");
    let token = if is_azure { "marker" } else { "continuation-token" };
    let after = request.query.get(token).map_or("", String::as_str);
    let objects = state.objects.lock().unwrap();
    let below =
        objects.iter().filter_map(|(name, content)| Some((name.strip_prefix(&bucket)?, content)));
    let mut found = below.filter(|(key, _)| key.starts_with(prefix) && *key > after).peekable();
    let (mut entries, mut last) = (String::new(), "");
    for (key, content) in found.by_ref().take(PAGE) {
        last = key;
        let (tag, bytes) = (etag(content), content.len());
        let key = key.replace('&', "&amp;").replace('<', "&lt;");
        let entry = if is_azure {
            // Azure lists tags without their quotes.
            let tag = tag.replace('"', "");
            format!(
                "<Blob><Name>{key}</Name><Properties><Last-Modified>{DATE}</Last-Modified><Etag>{tag}</Etag>\
                 <Content-Length>{bytes}</Content-Length><Content-Type>text/plain</Content-Type></Properties></Blob>"
            )
        } else {
            let tag = tag.replace('"', "&quot;");
            format!(
                "<Contents><Key>{key}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>{tag}</ETag>\
                 <Size>{bytes}</Size></Contents>"
            )
        };
        entries.push_str(&entry);
    }
    let next = if found.peek().is_some() { last } else { "" };
    let body = if is_azure {
        format!(
            "<EnumerationResults><Blobs>{entries}</Blobs><NextMarker>{next}</NextMarker></EnumerationResults>"
        )
    } else if next.is_empty() {
        format!("<ListBucketResult>{entries}</ListBucketResult>")
    } else {
        let next = format!("<NextContinuationToken>{next}</NextContinuationToken>");
        format!("<ListBucketResult>{entries}{next}</ListBucketResult>")
    };
    Response { status: "200 OK", headers: Vec::new(), body: body.into_bytes() }
}

fn object(request: &Request, state: &State) -> Response {
    let mut objects = state.objects.lock().unwrap();
    let Some(content) = objects.get(&request.path) else {
        return error("404 Not Found", "NoSuchKey");
    };
    let tag = etag(content);
    if request.headers.get("if-match").is_some_and(|wanted| *wanted != tag) {
        return error("412 Precondition Failed", "PreconditionFailed");
    }
    let mut headers = vec![("ETag", tag), ("Last-Modified", DATE.to_owned())];
    let range = request.headers.get("range").and_then(|range| range.strip_prefix("bytes="));
    let Some((start, end)) = range.and_then(|range| range.split_once('-')) else {
        return Response { status: "200 OK", headers, body: content.clone() };
    };
    let start: usize = start.parse().unwrap();
    let end = content.len().min(end.parse::<usize>().unwrap() + 1);
    if start >= end {
        headers.push(("Content-Range", format!("bytes */{}", content.len())));
        return Response { status: "416 Range Not Satisfiable", headers, body: Vec::new() };
    }
    headers.push(("Content-Range", format!("bytes {start}-{}/{}", end - 1, content.len())));
    let body = content[start..end].to_vec();
    state.sent.fetch_add(body.len() as u64, Ordering::Relaxed);
    if 1 + state.parts.fetch_add(1, Ordering::Relaxed) == state.faults.replaced_after {
        objects.values_mut().for_each(|content| content[0] ^= 1);
    }
    Response { status: "206 Partial Content", headers, body }
}

/// Answers a request to the interface of the Hub. The files of its data set are the objects `public/hub/…`.
fn hub_answer(path: &str, request: &Request, state: &State) -> Response {
    let is_allowed =
        request.headers.get("authorization").is_some_and(|given| given == "Bearer hf_suite");
    if !is_allowed {
        return error("401 Unauthorized", "");
    }
    let Some(folder) = path.strip_prefix("tree/c0ffee") else {
        let body = b"{\"sha\": \"c0ffee\"}".to_vec();
        return Response { status: "200 OK", headers: Vec::new(), body };
    };
    let folder = folder.trim_start_matches('/');
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let after = request.query.get("cursor").map_or("", String::as_str);
    let objects = state.objects.lock().unwrap();
    let files = objects
        .iter()
        .filter_map(|(name, content)| Some((name.strip_prefix("public/hub/")?, content)));
    let mut found = files.filter(|(key, _)| key.starts_with(&prefix) && *key > after).peekable();
    let page: Vec<(&str, &Vec<u8>)> = found.by_ref().take(PAGE).collect();
    let mut entries =
        vec!["{\"type\":\"directory\",\"path\":\"x\",\"oid\":\"0\",\"size\":0}".to_owned()];
    entries.extend(page.iter().map(|(key, content)| {
        let (tag, bytes) = (xxh3_64(content), content.len());
        format!("{{\"type\":\"file\",\"path\":\"{key}\",\"oid\":\"{tag:x}\",\"size\":{bytes}}}")
    }));
    let mut headers = Vec::new();
    if let (Some(_), Some((last, _))) = (found.peek(), page.last()) {
        let host = &request.headers["host"];
        let next =
            format!("http://{host}/api/datasets/owner/name/{path}?recursive=true&cursor={last}");
        headers.push(("Link", format!("<{next}>; rel=\"next\"")));
    }
    let body = format!("[{}]", entries.join(",")).into_bytes();
    Response { status: "200 OK", headers, body }
}

/// Sends the response. Returns whether the connection is still open.
fn send(mut connection: &TcpStream, request: &Request, response: &Response, is_cut: bool) -> bool {
    let mut head =
        format!("HTTP/1.1 {}\r\nContent-Length: {}\r\n", response.status, response.body.len());
    for (name, value) in &response.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    head += "\r\n";
    let body = if request.method == "HEAD" { &[][..] } else { &response.body };
    let sent = if is_cut { &body[..body.len() / 2] } else { body };
    connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(sent)).is_ok()
}
