//! The command line of this process, for people.

use crate::settings_file;
use simtool::run::RecordedRequest;
use simtool::setting::{find, variable};
use simtool::shell_word::shell_argument;
use std::ffi::OsString;
use std::sync::OnceLock;

/// Arguments of this process. The first argument is the name of the program.
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Stores the arguments of the program, so that [`describe`] can add them to a request. Returns the stored arguments.
pub(crate) fn keep(arguments: Vec<OsString>) -> &'static [OsString] {
    ARGUMENTS.get_or_init(|| arguments)
}

/// Adds to a request the command line of the program, and the places that its settings come from.
pub(crate) fn describe(recorded: &mut RecordedRequest) {
    recorded.command_line = command_line(ARGUMENTS.get().map_or(&[], Vec::as_slice));
    recorded.origins = settings_file::origins();
}

/// Returns arguments with quotes where needed, so that a shell can run them again. Settings that are no options precede
/// the program, as variables of the environment.
fn command_line(arguments: &[OsString]) -> String {
    let (mut variables, mut words) = (Vec::new(), Vec::new());
    for argument in arguments {
        // Settings of files and of the environment were added to the arguments, but no user can type them there.
        let word = shell_argument(argument);
        let setting =
            word.strip_prefix("--").map(|word| word.split_once('=').unwrap_or((word, "true")));
        let in_files = setting.and_then(|(name, value)| {
            let row = find(&name.replace('-', "_")).filter(|row| row.is_in_files)?;
            Some(format!("{}={value}", variable(row.name)))
        });
        match in_files {
            Some(assignment) => variables.push(assignment),
            None => words.push(word),
        }
    }
    variables.extend(words);
    variables.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_are_no_options_precede_the_program() {
        let line = ["simtool", "dedup", "a b", "--max-record=2K", "--no-mmap", "--threads", "2"];
        assert_eq!(
            command_line(&line.map(OsString::from)),
            "SIMTOOL_MAX_RECORD=2K SIMTOOL_NO_MMAP=true simtool dedup 'a b' --threads 2"
        );
    }
}
