//! A small HTTP server for one person on the same machine.
//!
//! The server does not depend on documents. A caller passes a state and a table of [`Route`]s, and the server calls the
//! function of the route that a request names. It listens only on the loopback address. Other web pages that are open
//! in the same browser cannot use it:
//!
//! * Each path begins with a random token, which only the printed address has.
//! * The header `Host` must name the loopback address. So another name that resolves to this address is refused (DNS
//!   rebinding).
//! * A request that changes something must come from a page of this server. Its header `Origin` shows that.
//! * The pages may load nothing from other sites, and may not run scripts that are written inside a page.
//!
//! ```
//! use simtool_serve::{Request, Response, Route, Server};
//! use std::io::{Read, Write};
//! use std::sync::atomic::{AtomicBool, Ordering};
//!
//! fn greet(name: &&str, request: &Request) -> Response {
//!     Response::json(format!("\"{} {name}\"", request.value("greeting").unwrap_or("Hello")))
//! }
//! const ROUTES: &[Route<&str>] = &[Route { method: "GET", path: "greet", function: greet }];
//!
//! let server = Server::bind(0)?;
//! let (stop, address) = (AtomicBool::new(false), server.address());
//! let path = address.strip_prefix(&format!("http://127.0.0.1:{}", server.port())).unwrap();
//! std::thread::scope(|scope| {
//!     scope.spawn(|| server.serve(&"reader", ROUTES, &|| stop.load(Ordering::Relaxed)));
//!     let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port()))?;
//!     write!(stream, "GET {path}greet?greeting=Hi HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.port())?;
//!     let mut answer = String::new();
//!     stream.read_to_string(&mut answer)?;
//!     assert!(answer.ends_with("\"Hi reader\""), "{answer}");
//!     stop.store(true, Ordering::Relaxed);
//!     std::io::Result::Ok(())
//! })?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod assets;
mod message;
mod server;

pub use message::{Request, Response, Status};
pub use server::{Route, Server};
