//! The command line program: parses the arguments, runs a command, and returns the exit code.

mod allocator;
mod args;
mod build_details;
mod cite;
mod combine;
mod compare;
mod console;
mod contamination;
mod corpus;
mod eval;
mod eval_sample;
mod eval_suggest;
mod exit_status;
mod fingerprint;
mod generate;
#[cfg(feature = "parquet")]
mod generate_pages;
mod guessed_options;
mod index;
mod inputs;
mod interrupt;
mod join;
mod manual;
mod papers;
mod passages;
mod plan;
mod progress_line;
#[cfg(test)]
mod python_keywords;
mod reference;
mod settings_file;
mod shell;
mod signals;
mod stored_note;
mod terminal;
mod usage;
mod why;

use args::{Args, Command};
use clap::CommandFactory;
use exit_status::{ExitStatus, failed};
use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

/// Message of the last panic, which is printed when the program ends.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    allocator::return_large_blocks();
    ExitCode::from(run_with(std::env::args_os().collect()))
}

/// Runs the program and returns its exit code. The first of the `arguments` is the name of the program. This
/// function is for callers inside another process, such as Python.
pub fn run_with(arguments: Vec<OsString>) -> u8 {
    // A panic is a bug of simtool, whatever the input is. The user gets a message instead of a backtrace.
    // Panics in readers of file formats are caught by the library and reported as faults.
    panic::set_hook(Box::new(|panic| {
        *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    signals::ignore_file_size_limit();
    let status = panic::catch_unwind(|| match command(arguments) {
        Err(status) => status,
        Ok(command) => run(&command).unwrap_or_else(|error| failed(&error)),
    });
    let status = status.unwrap_or_else(|_| {
        let panic = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        console::error(&format!("internal error, please report it: {panic}"));
        ExitStatus::Failed
    });
    if status == ExitStatus::Usage {
        settings_file::show_origins();
    }
    status as u8
}

/// Parses the arguments, with the options of the environment and of a settings file. If there is no command to run, prints the reason.
fn command(arguments: Vec<OsString>) -> Result<Command, ExitStatus> {
    if build_details::are_wanted(&arguments) {
        return match console::out(build_details::text().as_bytes()) {
            Ok(()) => Err(ExitStatus::Done),
            Err(error) => Err(failed(&error.into())),
        };
    }
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    usage::parse(shell::keep(settings_file::with_settings(arguments, &environment)?))
}

fn run(command: &Command) -> anyhow::Result<ExitStatus> {
    match command {
        Command::Dedup(args) => return corpus::run(args.job()),
        Command::Match(args) => return corpus::run(args.job()),
        Command::Corpus(args) => return corpus::run(args.job()),
        Command::Combine(args) => return combine::run(args),
        Command::Fingerprint(args) => return fingerprint::run(args),
        Command::Passages(args) => return passages::run(args),
        Command::Contamination(args) => return contamination::run(args),
        Command::Eval(args) => return eval::run(args),
        Command::Index(command) => return index::run(command),
        Command::Compare(args) => compare::run(args)?,
        Command::Join(args) => join::join(args)?,
        Command::Search(args) => join::search(args)?,
        Command::Plan(args) => plan::run(args)?,
        Command::Reference(args) => reference::run(args)?,
        Command::Generate(args) => generate::run(args)?,
        Command::Completions { shell } => {
            // The generator panics if it cannot write, so the script is first written to memory.
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Args::command(), "simtool", &mut script);
            console::out(&script)?;
        }
        Command::Cite(args) => cite::run(args)?,
        Command::Man(args) => manual::run(args)?,
        Command::Why(args) => why::run(args)?,
        Command::Config { words } => return settings_file::print(words),
    }
    Ok(ExitStatus::Done)
}
