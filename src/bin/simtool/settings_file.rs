//! `--config FILE` and `--print-config`: options of commands in a settings file.
//!
//! Options of the file are added to the arguments before these are parsed. So a recorded command line has all
//! of them, and a finished run can be explained without the file.

use crate::args::Args;
use crate::usage::{CommandForm, form, program};
use crate::{ExitStatus, console};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, CommandFactory};
use simtool::Error;
use simtool::run::read_settings;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Options that a settings file cannot have.
const NOT_IN_FILE: [&str; 4] = ["config", "print-config", "help", "version"];

/// Adds the options of the file that `--config` names to the arguments. Options that the arguments have are not
/// taken from the file. With `--print-config`, prints the settings of the command.
///
/// # Errors
///
/// The settings were printed, or the file or one of its options is wrong. Then the error was printed.
pub(crate) fn with_settings(arguments: Vec<OsString>) -> Result<Vec<OsString>, ExitStatus> {
    // After `--`, every word is a path, even if it looks like an option.
    let mut options = arguments.iter().skip(1).take_while(|argument| *argument != "--");
    let prints = options.clone().any(|argument| argument == "--print-config");
    let names_file = |argument: &OsString| {
        let text = argument.to_string_lossy();
        text == "--config" || text.starts_with("--config=")
    };
    if !prints && !options.any(names_file) {
        return Ok(arguments);
    }
    let called = Called::by(&arguments);
    if prints {
        return match console::out(called.printed().as_bytes()) {
            Ok(()) => Err(ExitStatus::Done),
            Err(error) => Err(failed(error)),
        };
    }
    called.completed(arguments).map_err(failed)
}

fn failed(error: Error) -> ExitStatus {
    console::error(&console::explained(&error.into()));
    ExitStatus::Usage
}

/// The command that arguments call.
struct Called {
    /// Its words, such as `dedup` or `index add`. The form `simtool --corpus` has the settings of `dedup`.
    words: String,
    command: Command,
    /// The arguments as far as they can be parsed. Arguments that the file gives may be missing.
    matches: ArgMatches,
}

impl Called {
    fn by(arguments: &[OsString]) -> Self {
        let form = form(&arguments[1..]);
        let mut command = program(form).ignore_errors(true);
        let mut matches = command.try_get_matches_from_mut(arguments).unwrap_or_default();
        let mut words = Vec::new();
        while let Some((name, of_command)) = matches.remove_subcommand() {
            let Some(found) = command.find_subcommand(&name) else { break };
            (command, matches) = (found.clone(), of_command);
            words.push(name);
        }
        let words = match form {
            CommandForm::Command => words.join(" "),
            CommandForm::Reference => "reference".to_owned(),
            CommandForm::Corpus => "dedup".to_owned(),
        };
        Self { words, command, matches }
    }

    /// Returns the options that a settings file may have.
    fn options(&self) -> impl Iterator<Item = (&str, &Arg)> {
        let named = self.command.get_arguments().filter_map(|arg| Some((arg.get_long()?, arg)));
        named.filter(|(name, _)| !NOT_IN_FILE.contains(name))
    }

    /// Returns the arguments with the options of the file that they name.
    fn completed(&self, mut arguments: Vec<OsString>) -> Result<Vec<OsString>, Error> {
        let Ok(Some(file)) = self.matches.try_get_one::<PathBuf>("config") else {
            // The parser reports that the command has no such option, or that the file is missing.
            return Ok(arguments);
        };
        let program = Args::command();
        let commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        let mut added = Vec::new();
        for (name, values) in read_settings(file, &self.words, &commands)? {
            let option = self.options().find(|(option, _)| *option == name);
            let (_, option) = option.ok_or_else(|| self.unknown(file, &name))?;
            if self.matches.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine)
            {
                continue;
            }
            for value in values {
                match (option.get_action(), &*value) {
                    (ArgAction::SetTrue, "true") => added.push(format!("--{name}").into()),
                    (ArgAction::SetTrue, "false") => {}
                    (ArgAction::SetTrue, _) => {
                        let rule = format!("`{name}` must be true or false, not {value}");
                        return Err(Error::config("config", file.display(), rule));
                    }
                    _ => added.push(format!("--{name}={value}").into()),
                }
            }
        }
        let end = arguments.iter().position(|argument| argument == "--");
        let end = end.unwrap_or(arguments.len());
        arguments.splice(end..end, added);
        Ok(arguments)
    }

    fn unknown(&self, file: &Path, name: &str) -> Error {
        let rule = format!(
            "[{}] has no option `{name}`; `simtool {} --print-config` prints all",
            self.words.replace(' ', "."),
            self.words
        );
        Error::config("config", file.display(), rule)
    }

    /// Returns a settings file that has the defaults of the command, behind `#`.
    fn printed(&self) -> String {
        let mut file = format!(
            "# Settings of `simtool {}`: remove the # before an option to change it, and use the file\n\
             # with --config. Options of the command line go before those of the file.\n\
             [{}]\n",
            self.words,
            self.words.replace(' ', ".")
        );
        for (name, option) in self.options() {
            let help = option.get_help().map(ToString::to_string).unwrap_or_default();
            // Writing to memory does not fail.
            let _ =
                writeln!(file, "\n# {help}\n# {} = {}", name.replace('-', "_"), example(option));
        }
        file
    }
}

/// Returns the default of an option as TOML, or the name of its value if it has none.
fn example(option: &Arg) -> String {
    if matches!(option.get_action(), ArgAction::SetTrue) {
        return "false".to_owned();
    }
    let default = option.get_default_values().first().map(|value| value.to_string_lossy());
    let name =
        option.get_value_names().and_then(|names| names.first()).map(clap::builder::Str::as_str);
    let value = default.as_deref().or(name).unwrap_or_default();
    let is_number = value.parse::<f64>().is_ok_and(f64::is_finite);
    if is_number { value.to_owned() } else { format!("\"{value}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<OsString> {
        ["simtool"].into_iter().chain(line.split(' ')).map(OsString::from).collect()
    }

    #[test]
    fn options_of_the_file_are_added_unless_they_are_given() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.toml");
        let text = "[dedup]\nthreads = 3\nquiet = true\nforce = false\nglob = [\"*.gz\", \"*.zst\"]\n\
                    [index.add]\nthreads = 7\n";
        std::fs::write(&file, text).unwrap();
        let file = file.to_str().unwrap();
        let added = |line: &str| -> Vec<String> {
            let line = line.replace("FILE", file);
            let given = arguments(&line);
            let all = with_settings(given.clone()).unwrap();
            let new = all.iter().filter(|argument| !given.contains(argument));
            new.map(|argument| argument.to_string_lossy().into_owned()).collect()
        };
        let all = ["--glob=*.gz", "--glob=*.zst", "--quiet", "--threads=3"];
        assert_eq!(added("dedup a --config FILE"), all);
        assert_eq!(added("dedup --config=FILE a -- b"), all);
        assert_eq!(added("dedup a --config FILE -j 1 --glob *"), all[2..3]);
        assert_eq!(added("10 8 --corpus a --config FILE"), all);
        assert_eq!(added("index add i a --config FILE"), ["--threads=7"]);
        assert!(added("eval a --config FILE").is_empty());
        let named_so = arguments("dedup -- --print-config --config");
        assert_eq!(with_settings(named_so.clone()), Ok(named_so));
        let ended = with_settings(arguments(&format!("dedup --config {file} -- b"))).unwrap();
        assert_eq!(ended.last(), Some(&"b".into()));
    }

    #[test]
    fn printed_settings_are_the_defaults() {
        let lines = Called::by(&arguments("dedup")).printed();
        assert!(
            lines.contains("\n[dedup]\n") && lines.contains("\n# keep = \"first\"\n"),
            "{lines}"
        );
        assert!(!lines.contains("# config ="), "{lines}");
        // With the # removed from every option with a default, the file changes nothing.
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.toml");
        let is_default = |line: &&str| {
            line.starts_with('[')
                || line.starts_with("# keep = ")
                || line.starts_with("# cluster = ")
        };
        let defaults = lines.lines().filter(is_default).map(|line| line.trim_start_matches("# "));
        std::fs::write(&file, defaults.collect::<Vec<_>>().join("\n")).unwrap();
        let line = format!("dedup a --config {}", file.display());
        let all = with_settings(arguments(&line)).unwrap();
        assert!(all.contains(&"--keep=first".into()) && all.contains(&"--cluster=proven".into()));
    }
}
