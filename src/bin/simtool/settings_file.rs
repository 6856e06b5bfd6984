//! Options of commands in the environment, and in a settings file: `--config FILE` and `simtool config`.
//!
//! Options of the environment and of the file are added to the arguments before these are parsed. So a recorded
//! command line has all of them, and a finished run can be explained without the environment and the file.

use crate::console;
use crate::exit_status::ExitStatus;
use crate::usage::{CommandForm, form, program};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use simtool::Error;
use simtool::run::read_settings;
use simtool::setting::{Kind, SETTINGS, find, variable};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Options that neither a settings file nor the environment can have.
const ONLY_ARGUMENTS: [&str; 3] = ["config", "help", "version"];

/// Options of this call that are of the environment or of the settings file.
static ORIGINS: Mutex<Vec<Origin>> = Mutex::new(Vec::new());

/// Options that come from one place.
struct Origin {
    /// Names of the options.
    names: Vec<String>,
    /// The place: `environment`, or the path of the settings file.
    place: String,
    /// Sentence about both, for people.
    note: String,
}

/// Variables of the environment of this process, each with its name and value.
pub(crate) type Environment = [(OsString, OsString)];

/// Adds the options of the environment, and those of the file that `--config` or `SIMTOOL_CONFIG` names, to the
/// arguments. Options of the arguments go before those of the environment, and these before those of the file.
///
/// # Errors
///
/// The environment, the file or one of their options is wrong, or an argument is a setting that only these can have.
/// Then the error was printed.
pub(crate) fn with_settings(
    arguments: Vec<OsString>,
    environment: &Environment,
) -> Result<Vec<OsString>, ExitStatus> {
    set_origins(Vec::new());
    // After `--`, every word is a path, even if it looks like an option.
    let mut options = arguments.iter().skip(1).take_while(|argument| *argument != "--");
    if let Some(error) = options.clone().find_map(refused) {
        return Err(failed(error));
    }
    // Most command lines have no other settings, and then they are parsed only once.
    let prefix = variable("");
    let has_variables =
        environment.iter().any(|(name, _)| name.to_string_lossy().starts_with(&prefix));
    // A program without arguments prints its first steps.
    if arguments.len() < 2 || !has_variables && !options.any(names_file) {
        return Ok(arguments);
    }
    Called::by(&arguments).completed(arguments, environment).map_err(failed)
}

/// Prints a settings file that has the defaults of a command, whose words are for example `index` and `add`.
///
/// # Errors
///
/// There is no such command, or standard output cannot be written.
pub(crate) fn print(words: &[String]) -> anyhow::Result<ExitStatus> {
    let called: Vec<OsString> =
        ["simtool"].into_iter().map(Into::into).chain(words.iter().map(Into::into)).collect();
    let called = Called::by(&called);
    if called.words != words.join(" ") || called.command.has_subcommands() {
        let rule = "must be a command with options, such as dedup or index add";
        return Err(Error::config("command", words.join(" "), rule).into());
    }
    console::out(called.printed().as_bytes())?;
    Ok(ExitStatus::Done)
}

/// Returns the error for an argument that is a setting of files and of the environment.
fn refused(argument: &OsString) -> Option<Error> {
    let text = argument.to_string_lossy();
    let (name, value) =
        text.strip_prefix("--")?.split_once('=').unwrap_or((text.strip_prefix("--")?, ""));
    let row = find(&name.replace('-', "_")).filter(|row| row.is_in_files)?;
    let rule = format!(
        "is no option: set {} in the environment, or {} in a settings file, which --config names",
        variable(row.name),
        row.name
    );
    Some(Error::config("options", format!("--{name}={value}").trim_end_matches('='), rule))
}

/// Returns whether an argument names the settings file, or is followed by its name.
fn names_file(argument: &OsString) -> bool {
    let text = argument.to_string_lossy();
    text == "--config" || text.starts_with("--config=")
}

fn set_origins(origins: Vec<Origin>) {
    *ORIGINS.lock().unwrap_or_else(PoisonError::into_inner) = origins;
}

/// Prints which options are not of the command line. Users who see a wrong option may not remember that the
/// environment or the settings file has it.
pub(crate) fn show_origins() {
    ORIGINS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .iter()
        .for_each(|origin| console::note(&origin.note));
}

/// Returns the names of the settings that are not of the command line, each with the place that it comes from.
pub(crate) fn origins() -> Vec<(String, String)> {
    let origins = ORIGINS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut named = Vec::new();
    for Origin { names, place, .. } in origins.iter() {
        // Requests have the names of the library.
        named.extend(names.iter().map(|name| (name.replace('-', "_"), place.clone())));
    }
    named
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

    /// Returns the options that a settings file and the environment may have.
    fn options(&self) -> impl Iterator<Item = (&str, &Arg)> {
        let named = self.command.get_arguments().filter_map(|arg| Some((arg.get_long()?, arg)));
        named.filter(|(name, _)| !ONLY_ARGUMENTS.contains(name))
    }

    /// Returns the arguments with the options of the environment and of the settings file.
    fn completed(
        &self,
        mut arguments: Vec<OsString>,
        environment: &Environment,
    ) -> Result<Vec<OsString>, Error> {
        let mut added = Vec::new();
        let mut origins = Vec::new();
        let mut given: Vec<&Arg> =
            self.command.get_arguments().filter(|option| self.is_given(option)).collect();
        let of_arguments = given.len();
        for (name, option) in self.options() {
            let variable = variable(name);
            if self.is_overruled(option, &given[..of_arguments]) {
                continue;
            }
            if let Some(value) = value_of(&variable, environment) {
                given.push(option);
                let note = format!("{variable} is set in the environment");
                let place = "environment".to_owned();
                origins.push(Origin { names: vec![name.to_owned()], place, note });
                let wrong = |rule| {
                    let written = format!("{variable}={}", value.to_string_lossy());
                    Error::config("environment", written, rule)
                };
                added.extend(argument(name, option, value, &wrong)?);
            }
        }
        if let Some(file) = self.file(environment) {
            if file.as_os_str().is_empty() {
                let rule = "must name a settings file; leave it out to use none";
                return Err(Error::config("config", "", rule));
            }
            let of_file = self.of_file(&file, &given)?;
            if !of_file.is_empty() {
                let words: Vec<_> = of_file.iter().map(|word| word.to_string_lossy()).collect();
                let name = |word: &Cow<'_, str>| {
                    word.trim_start_matches('-').split('=').next().map(str::to_owned)
                };
                let names = words.iter().filter_map(name).collect();
                let note = format!("{} sets {}", file.display(), words.join(" "));
                origins.push(Origin { names, place: file.display().to_string(), note });
            }
            added.extend(of_file);
        }
        set_origins(origins);
        // After `--`, every word is a path.
        let end = arguments.iter().position(|argument| argument == "--");
        let end = end.unwrap_or(arguments.len());
        arguments.splice(end..end, added);
        // The options of the file are arguments now. The recorded command line then repeats the run without the file,
        // even if the file is changed or gone. The parser refuses several files.
        let mut files = (0..end).filter(|&at| names_file(&arguments[at]));
        if let (Some(at), None) = (files.next(), files.next()) {
            let words = if arguments[at] == "--config" { 2 } else { 1 };
            arguments.drain(at..at + words);
        }
        Ok(arguments)
    }

    /// Returns whether the arguments have the option.
    fn is_given(&self, option: &Arg) -> bool {
        let id = option.get_id().as_str();
        // If the arguments ask for help, they were not parsed, and then no option is known.
        self.matches.try_contains_id(id).is_ok()
            && self.matches.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// Returns whether one of the options that are `given` goes before `option`: the option itself, or one that cannot
    /// be used with it.
    fn is_overruled(&self, option: &Arg, given: &[&Arg]) -> bool {
        let excludes = |one: &Arg, other: &Arg| {
            let excluded = self.command.get_arg_conflicts_with(one);
            excluded.iter().any(|arg| arg.get_id() == other.get_id())
        };
        given.iter().any(|&other| {
            other.get_id() == option.get_id() || excludes(option, other) || excludes(other, option)
        })
    }

    /// Returns the path of the settings file. `None` if there is none, or if the command cannot have one.
    fn file(&self, environment: &Environment) -> Option<PathBuf> {
        // The parser reports that the command has no such option, or that the file is missing.
        let named = self.matches.try_get_one::<PathBuf>("config").ok()?.cloned();
        named.or_else(|| value_of(&variable("config"), environment).map(PathBuf::from))
    }

    /// Returns the options of the settings file as arguments. Leaves out those that the options in `given`, of the
    /// arguments and the environment, go before.
    fn of_file(&self, file: &Path, given: &[&Arg]) -> Result<Vec<OsString>, Error> {
        let mut added = Vec::new();
        for (name, values) in read_settings(file, &self.words)? {
            let option = self.options().find(|(option, _)| *option == name);
            let (_, option) = option.ok_or_else(|| self.unknown(file, &name))?;
            if self.is_overruled(option, given) {
                continue;
            }
            let wrong = |rule| Error::config("config", file.display(), format!("`{name}` {rule}"));
            for value in values {
                added.extend(argument(&name, option, OsStr::new(&value), &wrong)?);
            }
        }
        Ok(added)
    }

    fn unknown(&self, file: &Path, name: &str) -> Error {
        let rule = format!(
            "[{}] has no option `{name}`; `simtool config {}` prints all",
            self.words.replace(' ', "."),
            self.words
        );
        Error::config("config", file.display(), rule)
    }

    /// Returns a settings file that has the defaults of the command, behind `#`.
    fn printed(&self) -> String {
        let mut file = format!(
            "# Settings of `simtool {}`: remove the # before an option to change it, and use the file\n\
             # with --config. Options of the command line go before those of the environment, such as\n\
             # SIMTOOL_THREADS, and these before those of the file.\n\
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

/// Returns the value of a variable. An empty value is a value, as on the command line: a variable that is ignored
/// without a word would surprise its user.
fn value_of<'e>(variable: &str, environment: &'e Environment) -> Option<&'e OsStr> {
    let mut values = environment.iter().filter(|(name, _)| name == variable);
    values.next().map(|(_, value)| &**value)
}

/// Returns whether an option of this name is a flag of any command.
fn is_flag_of_some_command(name: &str) -> bool {
    let name = name.replace('-', "_");
    let mut rows = SETTINGS.iter().copied().flatten();
    rows.any(|row| row.name == name && matches!(row.kind, Kind::Flag))
}

/// Returns an option with its value as an argument. `None` if it is turned off. An option with a value can be turned
/// off by `false`, like a flag, if it is a flag of another command, because one environment serves all commands.
/// `wrong` makes the error for a flag whose value is neither true nor false.
fn argument(
    name: &str,
    option: &Arg,
    value: &OsStr,
    wrong: &dyn Fn(String) -> Error,
) -> Result<Option<OsString>, Error> {
    let mut argument = OsString::from(format!("--{name}"));
    if !matches!(option.get_action(), ArgAction::SetTrue) {
        let accepts_false =
            option.get_possible_values().iter().any(|value| value.matches("false", false));
        if value == "false" && !accepts_false && is_flag_of_some_command(name) {
            return Ok(None);
        }
        argument.push("=");
        argument.push(value);
        return Ok(Some(argument));
    }
    match value.to_str() {
        Some("") => {
            Err(wrong("must be true or false; unset it to leave the option out".to_owned()))
        }
        Some("true") => Ok(Some(argument)),
        Some("false") => Ok(None),
        _ => Err(wrong(format!("must be true or false, not {}", value.to_string_lossy()))),
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
    use crate::args::Args;
    use clap::CommandFactory as _;

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
            let all = with_settings(given.clone(), &[]).unwrap();
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
        let named_so = arguments("dedup -- --max-record --config");
        assert_eq!(with_settings(named_so.clone(), &[]), Ok(named_so));
        let ended = with_settings(arguments(&format!("dedup --config {file} -- b")), &[]).unwrap();
        assert_eq!(ended.last(), Some(&"b".into()));
    }

    #[test]
    fn options_of_the_environment_go_between_arguments_and_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.toml");
        std::fs::write(&file, "[dedup]\nthreads = 3\nmax_memory = \"1G\"\n").unwrap();
        let added = |line: &str, variables: &[(&str, &str)]| {
            let given = arguments(line);
            let environment: Vec<(OsString, OsString)> =
                variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
            let all = with_settings(given.clone(), &environment)?;
            let new = all.into_iter().filter(|argument| !given.contains(argument));
            Ok::<_, ExitStatus>(new.map(|new| new.into_string().unwrap()).collect::<Vec<_>>())
        };
        let config = ("SIMTOOL_CONFIG", file.to_str().unwrap());
        let threads = ("SIMTOOL_THREADS", "5");
        let all = [threads, config, ("SIMTOOL_QUIET", "true"), ("SIMTOOL_FORCE", "false")];
        let expected = ["--quiet", "--threads=5", "--max-memory=1G"].map(str::to_owned);
        let sorted = |mut list: Vec<String>| {
            list.sort();
            list
        };
        assert_eq!(sorted(added("dedup a", &all).unwrap()), sorted(expected.to_vec()));
        assert_eq!(added("dedup a -j 1 --max-memory 2G", &[threads, config]), Ok(vec![]));
        assert_eq!(added("10 8 --corpus a", &[threads]).unwrap(), ["--threads=5"]);
        assert_eq!(added("index stat a", &[("OTHER", "5")]), Ok(vec![]));
        // An empty value is not ignored.
        assert_eq!(added("dedup a", &[("SIMTOOL_THREADS", "")]).unwrap(), ["--threads="]);
        assert_eq!(added("dedup a", &[("SIMTOOL_FORCE", "")]), Err(ExitStatus::Usage));
        assert_eq!(added("dedup a", &[("SIMTOOL_CONFIG", "")]), Err(ExitStatus::Usage));
        // An option that is a flag of other commands can be turned off like a flag.
        let contamination =
            |value| added("contamination i --in a", &[("SIMTOOL_WRITE_KEPT", value)]);
        assert_eq!(contamination("false"), Ok(vec![]));
        assert_eq!(contamination("mask").unwrap(), ["--write-kept=mask"]);
        assert_eq!(added("passages a", &[("SIMTOOL_CUT", "false")]).unwrap(), ["--cut=false"]);
        assert_eq!(added("dedup a", &[("SIMTOOL_DATA", "x"), ("SIMTOOL_ISA", "avx2")]), Ok(vec![]));
        assert_eq!(added("dedup a", &[("SIMTOOL_FORCE", "yes")]), Err(ExitStatus::Usage));
        // An option of the file does not hinder one of the arguments or the environment that it excludes.
        std::fs::write(&file, "[dedup]\nwithin = \"g\"\nverbose = true\n").unwrap();
        assert_eq!(added("dedup a -q --across g", &[config]), Ok(vec![]));
        let within = ("SIMTOOL_WITHIN", "h");
        assert_eq!(added("dedup a -q --across g", &[within]), Ok(vec![]));
        let across = [("SIMTOOL_ACROSS", "h"), ("SIMTOOL_QUIET", "true"), config];
        let found = added("dedup a", &across).unwrap();
        assert_eq!(sorted(found), ["--across=h", "--quiet"]);
        // Requests for help are left to the parser.
        assert_eq!(added("--corpus=x --help", &[threads]).unwrap(), ["--threads=5"]);
        let alone = vec![OsString::from("simtool")];
        let environment = [(OsString::from("SIMTOOL_THREADS"), OsString::from("5"))];
        assert_eq!(with_settings(alone.clone(), &environment), Ok(alone));
    }

    #[test]
    fn the_library_knows_all_commands() {
        let program = Args::command();
        let commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        assert_eq!(commands, simtool::setting::COMMANDS);
    }

    #[test]
    fn no_option_has_the_variable_of_another_purpose() {
        for name in ["data", "isa", "html5lib", "kills", "bench-bytes", "bench-text", "spark-all"] {
            assert_eq!(console::option(name), None, "{name}");
        }
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
        let all = with_settings(arguments(&line), &[]).unwrap();
        assert!(all.contains(&"--keep=first".into()) && all.contains(&"--cluster=proven".into()));
    }
}
