//! `simtool review OUT`: shows a finished run in the browser.

use crate::args::Call;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use simtool::run::{self, ReviewRequest};
use std::process::{Command, Stdio};

/// Runs `simtool review`: prints the address of the pages, and serves them until Ctrl-C.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = ReviewRequest::parse(call.path("output"), call.options())?;
    let terminal = Terminal::new(call);
    run::review(&request, &terminal, &|address| {
        // The progress bar must be gone before the address is printed.
        terminal.end(&[]);
        console::out(format!("{address}\n").as_bytes())?;
        if call.has("open") && !open(address) {
            terminal.note("no browser can be started: open the address yourself");
        }
        Ok(())
    })?;
    Ok(ExitStatus::Done)
}

/// Opens an address in the browser of the user. Returns whether a browser was started.
fn open(address: &str) -> bool {
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let mut command = Command::new(program);
    // What a browser prints is of no use here.
    command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Nobody waits for the browser, which may run longer than the review.
    command.spawn().is_ok()
}
