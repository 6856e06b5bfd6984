//! The server: accepts connections, checks where a request comes from, and calls the function of a route.

use crate::assets;
use crate::message::{Request, Response, Status};
use std::fmt::Write;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Number of connections that are served at the same time. A browser opens up to six.
const THREADS: usize = 8;
/// Time limit for reading from a client and for writing to it. After it, the connection ends.
const SILENCE: Duration = Duration::from_secs(10);
/// Time between two checks of whether the server must stop.
const PAUSE: Duration = Duration::from_millis(100);
/// Number of random bytes of the token, with which the path of each request must begin.
const TOKEN: usize = 16;

/// A path that the server answers, with the function that creates the response.
#[derive(Debug)]
pub struct Route<S> {
    /// Method of the requests: `GET`, or `POST` if a request changes something.
    pub method: &'static str,
    /// Path after the token of the server, for example `api/rows`.
    pub path: &'static str,
    /// Function that creates the response.
    pub function: fn(&S, &Request) -> Response,
}

/// A server that listens on the loopback address, which only programs on this machine can reach.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    port: u16,
    token: String,
}

impl Server {
    /// Creates a server that listens on port `port` of the loopback address, or on a free port if `port` is 0.
    ///
    /// # Errors
    ///
    /// The port is in use, or the system provides no random bytes for the token.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        let mut random = [0; TOKEN];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let mut token = String::new();
        for byte in random {
            // Writing to a string cannot fail.
            let _ = write!(token, "{byte:02x}");
        }
        Ok(Self { listener, port, token })
    }

    /// Returns the port on which the server listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the address of the first page, including the token that other programs do not know.
    #[must_use]
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Answers requests until `is_stopped` returns true. The functions of `routes` get `state` with each request.
    pub fn serve<S: Sync>(
        &self,
        state: &S,
        routes: &[Route<S>],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    loop {
                        let accepted = self.listener.accept();
                        if is_over.load(Ordering::Acquire) {
                            return;
                        }
                        match accepted {
                            // Some systems let other machines in through a tunnel.
                            Ok((stream, peer)) if peer.ip().is_loopback() => {
                                self.converse(stream, state, routes);
                            }
                            Ok(_) => {}
                            // A client that gave up, or too many open files, must not end the thread.
                            Err(_) => thread::sleep(PAUSE),
                        }
                    }
                });
            }
            while !is_stopped() {
                thread::sleep(PAUSE);
            }
            is_over.store(true, Ordering::Release);
            // Each thread waits for a connection, and ends when it gets one.
            for _ in 0..THREADS {
                let place = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
                drop(TcpStream::connect_timeout(&place, SILENCE));
            }
        });
    }

    /// Reads one request from a connection, and writes the response.
    fn converse<S>(&self, mut stream: TcpStream, state: &S, routes: &[Route<S>]) {
        // A client that sends nothing must not hold a thread for ever.
        let limits =
            [stream.set_read_timeout(Some(SILENCE)), stream.set_write_timeout(Some(SILENCE))];
        if limits.iter().any(Result::is_err) {
            return;
        }
        let response = match Request::read(&mut stream) {
            Ok(request) => self.answer(request, state, routes),
            Err(Some(response)) => response,
            Err(None) => return,
        };
        // A browser that went away needs no response.
        drop(response.write(&mut stream));
    }

    /// Returns the response to a request: a file of the web pages, or the response of the matching route. Returns an
    /// error if the request comes from another site or lacks the token.
    fn answer<S>(&self, mut request: Request, state: &S, routes: &[Route<S>]) -> Response {
        let hosts = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        if !request.host.as_ref().is_some_and(|host| hosts.contains(host)) {
            return Response::error(Status::Forbidden, "this server has another name");
        }
        // A page of another site can send a request, but cannot change this header.
        let origins = hosts.map(|host| format!("http://{host}"));
        let is_own = request.origin.as_ref().is_none_or(|origin| origins.contains(origin));
        if !is_own || request.method == "POST" && request.origin.is_none() {
            return Response::error(Status::Forbidden, "the request comes from another page");
        }
        let Some(path) = request.path.strip_prefix('/').and_then(|path| self.behind_token(path))
        else {
            let message =
                "the address lacks the token: open the address that simtool review printed";
            return Response::error(Status::Forbidden, message);
        };
        request.path = path.to_owned();
        if let Some((media_type, text)) =
            assets::find(&request.path).filter(|_| request.method == "GET")
        {
            return Response { status: Status::Done, media_type, body: text.into() };
        }
        let route = routes
            .iter()
            .find(|route| route.path == request.path && route.method == request.method);
        let Some(route) = route else {
            return Response::error(Status::Missing, "there is no such page");
        };
        // A bug must not end the thread, which other requests need.
        let answer = catch_unwind(AssertUnwindSafe(|| (route.function)(state, &request)));
        answer.unwrap_or_else(|_| {
            Response::error(Status::Failed, "internal error of simtool, please report it")
        })
    }

    /// Returns the part of `path` behind the token and its slash. Returns `None` if the token is missing or wrong.
    fn behind_token<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (given, rest) = path.split_once('/')?;
        // All bytes are compared, so that the time does not tell how many are right.
        let differing = given.bytes().zip(self.token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        (given.len() == self.token.len() && differing == 0).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write as _};

    const ROUTES: &[Route<()>] = &[
        Route { method: "POST", path: "set", function: |(), _| Response::json("1".into()) },
        Route { method: "GET", path: "bug", function: |(), _| panic!("a planted bug") },
    ];

    #[test]
    fn only_pages_of_the_server_may_ask() {
        let server = Server::bind(0).unwrap();
        let (port, stop) = (server.port(), AtomicBool::new(false));
        let token = server.token.clone();
        thread::scope(|scope| {
            scope.spawn(|| server.serve(&(), ROUTES, &|| stop.load(Ordering::Acquire)));
            let status = |method: &str, path: &str, host: &str, more: &str| {
                let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
                let host = host.replace("PORT", &port.to_string());
                let more = more.replace("PORT", &port.to_string());
                let path = path.replace("TOKEN", &token);
                write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n").unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                answer[9..12].parse::<u32>().unwrap()
            };
            let own = "localhost:PORT";
            let origin = "Origin: http://localhost:PORT\r\n";
            let found = [
                status("GET", "/TOKEN/", own, ""),
                status("GET", "/TOKEN/app.js", "127.0.0.1:PORT", ""),
                status("GET", "/TOKEN/", "evil.example", ""),
                status("GET", "/TOKEN/", own, "Host: evil.example\r\n"),
                status("GET", "/", own, ""),
                status("GET", "/00000000000000000000000000000000/", own, ""),
                status("GET", "/TOKEN/none", own, ""),
                status("POST", "/TOKEN/set", own, origin),
                status("POST", "/TOKEN/set", own, ""),
                status("POST", "/TOKEN/set", own, "Origin: http://evil.example\r\n"),
                status("POST", "/TOKEN/set", own, "Origin: null\r\n"),
                status("GET", "/TOKEN/set", own, ""),
                status("GET", "/TOKEN/bug", own, ""),
            ];
            stop.store(true, Ordering::Release);
            assert_eq!(found, [200, 200, 403, 403, 403, 403, 404, 200, 403, 403, 403, 404, 500]);
        });
    }
}
