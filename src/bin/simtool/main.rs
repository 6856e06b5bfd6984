//! The command line program: parses the arguments, runs a command, and returns the exit code.

mod allocator;
mod args;
mod audit;
mod build_details;
mod cite;
mod combine;
mod compare;
mod console;
mod contamination;
mod corpus;
mod eval;
mod eval_format;
mod eval_sample;
mod eval_suggest;
mod exit_status;
mod fingerprint;
mod generate;
mod generated_collection;
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
mod review;
mod signals;
mod stored_note;
mod terminal;
mod text;
mod usage;
mod why;
mod why_parts;

use anyhow::Context as _;
use args::{Call, program};
use clap_complete::Shell;
use exit_status::{ExitStatus, failed};
use simtool::Error;
use simtool::setting::{find_command, printed_settings};
use std::ffi::{OsStr, OsString};
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
    signals::restored(|| status_of(arguments)) as u8
}

fn status_of(arguments: Vec<OsString>) -> ExitStatus {
    // A panic is a bug of simtool, whatever the input is. The user gets a message instead of a backtrace.
    // Panics in readers of file formats are caught by the library and reported as faults.
    panic::set_hook(Box::new(|panic| {
        *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
    }));
    signals::ignore_file_size_limit();
    signals::report_lack_of_addresses();
    let status = panic::catch_unwind(|| match call(arguments) {
        Err(status) => status,
        Ok(call) => {
            let status = run(&call).unwrap_or_else(|error| failed(&error));
            if status == ExitStatus::Usage {
                call.show_origins();
            }
            status
        }
    });
    status.unwrap_or_else(|_| {
        let panic = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        console::error(&format!("internal error, please report it: {panic}"));
        ExitStatus::Failed
    })
}

/// Parses the arguments, with the settings of the environment and of a settings file. If there is no command to run,
/// prints the reason.
fn call(arguments: Vec<OsString>) -> Result<Call, ExitStatus> {
    if build_details::are_wanted(&arguments) {
        return match console::out(build_details::text().as_bytes()) {
            Ok(()) => Err(ExitStatus::Done),
            Err(error) => Err(failed(&error.into())),
        };
    }
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let call = usage::parse(&arguments, &environment)?;
    Ok(call.with_words(arguments))
}

/// Function that runs a command.
type Runner = fn(&Call) -> anyhow::Result<ExitStatus>;

/// Commands by their words, each with its function.
const RUNNERS: &[(&str, Runner)] = &[
    ("dedup", corpus::run),
    ("match", corpus::run),
    ("passages", passages::run),
    ("contamination", contamination::run),
    ("combine", combine::run),
    ("text", text::run),
    ("compare", compare::run),
    ("why", why::run),
    ("audit", audit::run),
    ("review", review::run),
    ("eval", eval::run),
    ("fingerprint", fingerprint::run),
    ("join", join::run),
    ("search", join::run),
    ("index create", index::create),
    ("index add", index::add),
    ("index filter", index::filter),
    ("index query", index::query),
    ("index stat", index::stat),
    ("index verify", index::verify),
    ("index compact", index::compact),
    ("index merge", index::merge),
    ("index export", index::export),
    ("index remove", index::remove),
    ("index salvage", index::salvage),
    ("plan", plan::run),
    ("reference", reference::run),
    ("generate", generate::run),
    ("config", config),
    ("cite", cite::run),
    ("completions", completions),
    ("man", manual::run),
];

fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let words = call.command.words();
    let found = RUNNERS.iter().find(|(known, _)| *known == words);
    let (_, runner) = found.with_context(|| format!("`simtool {words}` has no function"))?;
    runner(call)
}

/// Prints the completion script of a shell.
fn completions(call: &Call) -> anyhow::Result<ExitStatus> {
    let name = call.value("shell").unwrap_or_default().to_string_lossy();
    let shell: Shell = name.parse().map_err(|rule| Error::config("SHELL", &name, rule))?;
    // The generator panics if it cannot write, so the script is first written to memory.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program(), "simtool", &mut script);
    console::out(&script)?;
    Ok(ExitStatus::Done)
}

/// Prints a settings file that has the defaults of a command, whose words are for example `index` and `add`.
fn config(call: &Call) -> anyhow::Result<ExitStatus> {
    let words: Vec<_> = call.values("words").map(OsStr::to_string_lossy).collect();
    let words = words.join(" ");
    let rule = "must be a command with options, such as dedup or index add";
    let command = find_command(&words).filter(|command| !command.is_group());
    let command = command.ok_or_else(|| Error::config("command", &words, rule))?;
    console::out(printed_settings(command).as_bytes())?;
    Ok(ExitStatus::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool::setting::{CommandKind, commands};

    #[test]
    fn every_command_has_a_function() {
        let commands = commands().filter(|command| !command.is_group());
        let commands: Vec<&str> = commands.map(CommandKind::words).collect();
        let functions: Vec<&str> = RUNNERS.iter().map(|(words, _)| *words).collect();
        assert_eq!(commands, functions);
    }
}
