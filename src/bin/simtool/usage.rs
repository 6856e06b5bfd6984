//! Arguments, or what is said about them instead of a run.

use crate::args::{Args, CorpusArgs};
use crate::{Outcome, console};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _, CommandFactory, FromArgMatches};
use std::ffi::OsString;
use std::io::{self, Write};

/// What to do about a command line that is wrong.
pub(crate) const HINT: &str = "type `simtool N M`, for example `simtool 1000 16`: N features, M \
                               bits; or `simtool --corpus PATH`; `simtool --help` tells more";

/// The arguments; where there are none to run with, help, the version or an error is printed.
pub(crate) fn parse() -> Result<Args, Outcome> {
    // N and M may be negative numbers, to be refused with their range; `-0` is none of these.
    let is_null = |argument: &OsString| argument == "-0";
    let arguments = std::env::args_os()
        .map(|argument| if is_null(&argument) { "--null".into() } else { argument });
    let parsed = Args::command().try_get_matches_from(arguments).and_then(|mut matches| {
        refuse_lonely(&matches)?;
        Args::from_arg_matches_mut(&mut matches)
    });
    parsed.map_err(|error| show(&error))
}

/// Refuses the options of a corpus where there is none.
fn refuse_lonely(matches: &ArgMatches) -> Result<(), Error> {
    let is_given = |id: &str| {
        matches.value_source(id).is_some_and(|source| source == ValueSource::CommandLine)
    };
    if matches.subcommand().is_some() || is_given("corpus") || is_given("files_from") {
        return Ok(());
    }
    let mut of_corpus = CorpusArgs::augment_args(clap::Command::new("simtool"));
    // Only then arguments can be shown.
    of_corpus.build();
    match of_corpus.get_arguments().find(|argument| is_given(argument.get_id().as_str())) {
        None => Ok(()),
        Some(argument) => {
            let message = format!("the argument '{argument}' goes with --corpus PATH");
            Err(Args::command().error(ErrorKind::MissingRequiredArgument, message))
        }
    }
}

fn show(error: &Error) -> Outcome {
    if !error.use_stderr() {
        return match error.print().and_then(|()| io::stdout().flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                console::error(&format!("cannot write to standard output: {error}"));
                Outcome::Failed
            }
            _ => Outcome::Done,
        };
    }
    match third_argument(error) {
        Some(argument) => console::error(&format!("unexpected argument '{argument}': {HINT}")),
        // Nobody is left to tell if standard error is closed.
        None => drop(error.print()),
    }
    Outcome::Usage
}

/// What stands behind N and M; it is taken for a command.
fn third_argument(error: &Error) -> Option<&str> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let is_number = name.parse::<f64>().is_ok();
    (error.kind() == ErrorKind::ArgumentConflict && is_number).then_some(name)
}
