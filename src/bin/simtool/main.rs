//! The command line face: arguments in, exit code out.

mod args;
mod compare;
mod console;
mod corpus;
mod eval;
mod eval_sample;
mod eval_suggest;
mod fingerprint;
mod generate;
#[cfg(feature = "parquet")]
mod generate_pages;
mod index;
mod index_filter;
mod inputs;
mod interrupt;
mod join;
mod manual;
mod opened_index;
mod piped_lines;
mod plan;
mod progress_line;
mod reference;
mod shell;
mod signals;
mod terminal;
mod usage;
mod why;

use args::{Args, Command};
use clap::CommandFactory;
use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// The exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExitStatus {
    /// Everything was done.
    Done = 0,
    /// Nothing came out.
    Failed = 1,
    /// The command line is wrong; nothing was begun.
    Usage = 2,
    /// Everything was done, except for bad records or files.
    DoneWithLosses = 3,
}

impl ExitStatus {
    /// The status of a command that did its work, with or without losses of its input.
    fn after(has_losses: bool) -> Self {
        if has_losses { Self::DoneWithLosses } else { Self::Done }
    }
}

/// What the last panic said.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    ExitCode::from(run_with(std::env::args_os().collect()))
}

/// Runs the program, called with these arguments, of which the first is its own name, and gives its exit
/// code: for who starts it inside another process.
pub fn run_with(arguments: Vec<OsString>) -> u8 {
    // A panic is our own bug, whatever the input was: it gets a sentence, not a backtrace. One that
    // the library catches, in a reader of a file format, is told of as that file's fault.
    panic::set_hook(Box::new(|panic| {
        *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    signals::ignore_file_size_limit();
    let status = panic::catch_unwind(|| match usage::parse(shell::keep(arguments)) {
        Err(status) => status,
        Ok(command) => run(&command).unwrap_or_else(|error| failed(&error)),
    });
    let status = status.unwrap_or_else(|_| {
        let panic = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        console::error(&format!("internal error, please report it: {panic}"));
        ExitStatus::Failed
    });
    status as u8
}

/// Says why nothing came out.
fn failed(error: &anyhow::Error) -> ExitStatus {
    if console::is_broken_pipe(error) {
        return ExitStatus::Done;
    }
    console::error(&console::explained(error));
    match error.downcast_ref::<simtool::Error>().map(simtool::Error::kind) {
        Some(simtool::ErrorKind::Config { .. }) => ExitStatus::Usage,
        _ => ExitStatus::Failed,
    }
}

fn run(command: &Command) -> anyhow::Result<ExitStatus> {
    match command {
        Command::Dedup(args) => return corpus::run(args.job()),
        Command::Match(args) => return corpus::run(args.job()),
        Command::Corpus(args) => return corpus::run(args.job()),
        Command::Fingerprint(args) => return fingerprint::run(args),
        Command::Eval(args) => return eval::run(args),
        Command::Index(command) => return index::run(command),
        Command::Compare(args) => compare::run(args)?,
        Command::Join(args) => join::join(args)?,
        Command::Search(args) => join::search(args)?,
        Command::Plan(args) => plan::run(args)?,
        Command::Reference(args) => reference::run(args)?,
        Command::Generate(args) => generate::run(args)?,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Args::command(), "simtool", &mut script);
            console::out(&script)?;
        }
        Command::Man(args) => manual::run(args)?,
        Command::Why(args) => why::run(args)?,
    }
    Ok(ExitStatus::Done)
}
