//! Serves the pages of a review.

use super::ReviewRequest;
#[cfg(feature = "serve")]
use super::{Review, routes::routes};
use crate::run::face::Face;
#[cfg(feature = "serve")]
use crate::run::face::Notice;
#[cfg(feature = "serve")]
use simtool_base::error::Error;
#[cfg(not(feature = "serve"))]
use simtool_base::error::ErrorKind;
use simtool_base::error::Result;
#[cfg(feature = "serve")]
use std::path::Path;

/// Serves the pages of a review until the face is interrupted. Calls `is_ready` with the address of the first page.
///
/// # Errors
///
/// The run cannot be opened, or the port is taken.
#[cfg(feature = "serve")]
pub fn review(
    request: &ReviewRequest,
    face: &dyn Face,
    is_ready: &dyn Fn(&str) -> Result<()>,
) -> Result<()> {
    let review = Review::open(request, face)?;
    let port = request.port;
    let server = simtool_serve::Server::bind(port)
        .map_err(|error| Error::io(Path::new(&format!("127.0.0.1:{port}")), "listen on", error))?;
    // From here on, an interruption is the ordinary end.
    face.defer_interruptions(true);
    // The port is open before the address is printed, so that a browser can ask at once.
    let served = is_ready(&server.address());
    if served.is_ok() {
        face.notice(Notice::Note("Ctrl-C ends the review"));
        server.serve(&review, &routes(), &|| face.is_interrupted());
    }
    face.defer_interruptions(false);
    served
}

/// Returns an error, because this build serves no pages.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "serve"))]
pub fn review(
    _request: &ReviewRequest,
    _face: &dyn Face,
    _is_ready: &dyn Fn(&str) -> Result<()>,
) -> Result<()> {
    Err(ErrorKind::FeatureOff { what: "review", feature: "serve" }.into())
}
