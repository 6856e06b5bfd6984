//! What goes to the terminal: data to standard output, everything else to standard error.

use simtool::Error;
use std::io::{self, Write};

/// Writes data.
pub(crate) fn out(bytes: &[u8]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.map_err(|error| Error::io("standard output", "write to", error))
}

/// Says what went wrong.
pub(crate) fn error(message: &str) {
    line("error", message);
}

/// Says something that the user should know.
pub(crate) fn note(message: &str) {
    line("note", message);
}

/// Prints statistics, which were asked for.
pub(crate) fn stats(text: &str) {
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

fn line(kind: &str, message: &str) {
    // A name from outside must not drive the terminal.
    let shown: String = message
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    // Nobody is left to tell if standard error is closed.
    drop(writeln!(io::stderr().lock(), "simtool: {kind}: {shown}"));
}

/// Whether the reader of our output has gone: its right, and no failure.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}
