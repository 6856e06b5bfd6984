//! A call of a command: its arguments and its settings.

use crate::console::{self, Verbosity};
use clap::ArgMatches;
use clap::parser::ValueSource;
use simtool::options::Options;
use simtool::run::RecordedRequest;
use simtool::setting::{CommandKind, Effect, GivenSetting, Kind, NOTES, Origin, Setting, variable};
use simtool::stages::read::remote::without_credentials;
use simtool::stages::shell_word::shell_argument;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A call of a command: its arguments and its settings, each with its origin, for example the environment.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) command: &'static CommandKind,
    given: Vec<GivenSetting>,
    /// Arguments of the process. The first one is the name of the program.
    words: Vec<OsString>,
}

impl Call {
    /// Creates the call of `command` whose arguments are in `matches`.
    pub(super) fn new(command: &'static CommandKind, matches: &ArgMatches) -> Self {
        // If the arguments ask for help, no argument is known.
        let is_given = |row: &&Setting| {
            matches.try_contains_id(row.name).is_ok()
                && matches.value_source(row.name) == Some(ValueSource::CommandLine)
        };
        let rows = command.arguments.iter().chain(command.settings()).filter(is_given);
        let given = rows.flat_map(|row| {
            let values = matches.get_raw(row.name).into_iter().flatten();
            let given = |value: &OsStr| GivenSetting {
                row,
                value: value.to_owned(),
                origin: Origin::Argument,
            };
            values.map(given).collect::<Vec<_>>()
        });
        Self { command, given: given.collect(), words: Vec::new() }
    }

    /// Adds the arguments of the process, from which the command line of the call is shown.
    pub(crate) fn with_words(self, words: Vec<OsString>) -> Self {
        Self { words, ..self }
    }

    /// Adds settings of the environment and of the settings file.
    pub(crate) fn extend(&mut self, later: Vec<GivenSetting>) {
        self.given.extend(later);
    }

    /// Returns the arguments and the settings of the call.
    pub(crate) fn given(&self) -> &[GivenSetting] {
        &self.given
    }

    /// Returns the settings that the library parses. The other settings are for the program itself: the inputs, and the
    /// settings of printing and of opening files.
    pub(crate) fn options(&self) -> Options {
        let mut options = Options::new();
        let is_parsed = |setting: &&GivenSetting| {
            let row = setting.row;
            let is_input = matches!(row.kind, Kind::Paths(_) | Kind::SettingsFile(_))
                || self.command.setting(row.name).is_none();
            let is_note = NOTES.iter().any(|note| note.name == row.name);
            !is_input && !is_note && row.effect != Effect::Printing
        };
        for setting in self.given.iter().filter(is_parsed) {
            options.set(setting.row.name, &setting.value);
        }
        options
    }

    /// Returns whether a flag was given.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.values(flag).next().is_some()
    }

    /// Returns the value that was given for an argument or a setting, or else its default.
    pub(crate) fn value(&self, name: &str) -> Option<&OsStr> {
        let default = || self.command.setting(name)?.default.map(OsStr::new);
        self.values(name).next().or_else(default)
    }

    /// Returns all values that were given for an argument or a setting.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &OsStr> {
        let given = self.given.iter().filter(move |setting| setting.row.name == name);
        given.map(|setting| &*setting.value)
    }

    /// Returns the path that was given. It is empty if there is none.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.value(name).map(PathBuf::from).unwrap_or_default()
    }

    /// Returns all paths that were given.
    pub(crate) fn paths(&self, name: &str) -> Vec<PathBuf> {
        self.values(name).map(PathBuf::from).collect()
    }

    /// Returns which notes and faults are shown.
    pub(crate) fn verbosity(&self) -> Verbosity {
        Verbosity { verbose: self.has("verbose"), quiet: self.has("quiet") }
    }

    /// Adds to a request the command line of the call, and the origins of its settings, for example the environment.
    pub(crate) fn describe(&self, recorded: &mut RecordedRequest) {
        recorded.command_line = self.command_line();
        let later = self.given.iter().filter_map(|setting| {
            let place = match &setting.origin {
                Origin::Argument => return None,
                Origin::Environment => "environment".to_owned(),
                Origin::File(file) => file.display().to_string(),
            };
            Some((setting.row.name.to_owned(), place))
        });
        recorded.origins = later.collect();
    }

    /// Prints a note that lists the settings which do not come from the command line. Users who see a wrong option may
    /// not remember that the environment or the settings file has it.
    pub(crate) fn show_origins(&self) {
        let mut of_file = String::new();
        for setting in &self.given {
            match &setting.origin {
                Origin::Argument => {}
                Origin::Environment => {
                    console::note(&format!(
                        "{} is set in the environment",
                        variable(setting.row.name)
                    ));
                }
                Origin::File(file) => {
                    if of_file.is_empty() {
                        of_file = format!("{} sets", file.display());
                    }
                    // Writing to a string cannot fail.
                    let _ = write!(of_file, " {}", option_word(setting).display());
                }
            }
        }
        if !of_file.is_empty() {
            console::note(&of_file);
        }
    }

    /// Returns a command line that a shell can run again, without the environment and the settings file. Settings that
    /// are not options are written before the name of the program, as variables of the environment.
    fn command_line(&self) -> String {
        // After `--`, every word is a path.
        let end = self.words.iter().position(|word| *word == "--").unwrap_or(self.words.len());
        let (before, behind) = self.words.split_at(end);
        let mut words = Vec::new();
        let mut before = before.iter();
        while let Some(word) = before.next() {
            if word == "--config" {
                before.next();
            } else if !word.to_string_lossy().starts_with("--config=") {
                words.push(shown_word(word));
            }
        }
        let later = self.given.iter().filter(|setting| setting.origin != Origin::Argument);
        let (variables, options): (Vec<_>, Vec<_>) =
            later.partition(|setting| setting.row.is_in_files);
        words.extend(options.into_iter().map(|setting| shown_word(&option_word(setting))));
        words.extend(behind.iter().map(|word| shown_word(word)));
        let variables = variables.into_iter().map(|setting| {
            format!("{}={}", variable(setting.row.name), shell_argument(&setting.value))
        });
        variables.chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// Returns a word of a command line without the credentials that a web address may have.
fn shown_word(word: &OsStr) -> String {
    let option = word.to_str().and_then(|text| text.split_once('='));
    match option.filter(|(name, _)| name.starts_with("--")) {
        Some((name, value)) => {
            let value = without_credentials(Path::new(value));
            shell_argument(OsStr::new(&format!("{name}={}", value.display())))
        }
        None => shell_argument(without_credentials(Path::new(word)).as_os_str()),
    }
}

/// Returns a setting as an option of the command line.
fn option_word(setting: &GivenSetting) -> OsString {
    let mut word = OsString::from(format!("--{}", setting.row.name.replace('_', "-")));
    if !matches!(setting.row.kind, Kind::Flag) {
        word.push("=");
        word.push(&setting.value);
    }
    word
}

#[cfg(test)]
mod tests {
    use crate::usage;
    use std::ffi::OsString;

    #[test]
    fn the_command_line_has_all_settings_and_those_that_are_no_options_precede_the_program() {
        let line = ["simtool", "dedup", "a b", "--threads", "2", "--", "c"].map(OsString::from);
        let variables = [("MAX_RECORD", "2K"), ("NO_MMAP", "true"), ("LIMIT", "3")];
        let variables = variables.map(|(name, value)| {
            (OsString::from(format!("SIMTOOL_{name}")), OsString::from(value))
        });
        let call = usage::parse(&line, &variables).unwrap().with_words(line.to_vec());
        assert_eq!(
            call.command_line(),
            "SIMTOOL_MAX_RECORD=2K SIMTOOL_NO_MMAP=true simtool dedup 'a b' --threads 2 --limit=3 -- c"
        );
    }
}
