//! Settings of a call, each with the place that it comes from: the arguments, the environment or a settings file.

use super::command_kind::CommandKind;
use super::file::read_settings;
use super::row::{Kind, Required, Setting};
use super::typing_errors::typing_errors;
use super::{VARIABLES, is_flag_of_some_command, rows, variable};
use simtool_base::error::{Error, Result};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Number of letters of the name of a variable for each typing error that it may have. Short names have many
/// neighbours.
const LETTERS_AN_ERROR: usize = 4;

/// Place that a setting comes from. The arguments override the environment, and the environment overrides a settings
/// file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The arguments of the call.
    Argument,
    /// A variable of the environment.
    Environment,
    /// The settings file with this path.
    File(PathBuf),
}

/// A setting of a call. A setting with several values comes several times.
#[derive(Clone, Debug)]
pub struct GivenSetting {
    /// Row that describes the setting.
    pub row: &'static Setting,
    /// Value of the setting as text.
    pub value: OsString,
    /// Place that the setting comes from.
    pub origin: Origin,
}

/// Adds the settings of the environment and of the settings file to `given`, which has the settings of the arguments.
/// Leaves out a setting if a place that overrides it has the same setting, or one that cannot be given together with
/// it. `environment` has the names and values of variables.
///
/// ```
/// use simtool::setting::{Origin, add_settings, find_command};
///
/// let command = find_command("dedup").unwrap();
/// let mut given = Vec::new();
/// add_settings(command, &mut given, &[("SIMTOOL_THREADS".into(), "4".into())])?;
/// assert_eq!((given[0].row.name, given[0].value.to_str()), ("threads", Some("4")));
/// assert_eq!(given[0].origin, Origin::Environment);
/// # Ok::<(), simtool::Error>(())
/// ```
///
/// # Errors
///
/// The settings file cannot be read or has an unknown setting, a flag is neither `true` nor `false`, or two settings
/// of the environment or of the file cannot be given together.
pub fn add_settings(
    command: &CommandKind,
    given: &mut Vec<GivenSetting>,
    environment: &[(OsString, OsString)],
) -> Result<()> {
    let arguments: Vec<&Setting> = given.iter().map(|setting| setting.row).collect();
    // Flags that are off go before later places, too, but are no settings of the call.
    let mut known = arguments.clone();
    for row in command.settings() {
        let variable = variable(row.name);
        let Some(value) = value_of(&variable, environment).filter(|_| !names_file(row)) else {
            continue;
        };
        if is_overruled(row, &arguments) {
            continue;
        }
        known.push(row);
        let wrong = |rule| {
            let written = format!("{variable}={}", value.to_string_lossy());
            Error::config("environment", written, rule)
        };
        if is_on(row, value).map_err(wrong)? {
            given.push(GivenSetting { row, value: value.into(), origin: Origin::Environment });
        }
    }
    if let Some(file) = settings_file(command, given, environment)? {
        given.extend(settings_of_file(command, &known, &file)?);
    }
    check_pairs(given)
}

/// Returns the settings of a file, except those that a setting in `known` overrides.
///
/// # Errors
///
/// The file cannot be read or has an unknown setting, or a flag is neither `true` nor `false`.
pub fn settings_of_file(
    command: &CommandKind,
    known: &[&Setting],
    file: &Path,
) -> Result<Vec<GivenSetting>> {
    let mut given = Vec::new();
    let words = command.words();
    for (name, values) in read_settings(file, words)? {
        let wrong = |rule| Error::config("config", file.display(), rule);
        let row = command.setting(&name.replace('-', "_")).filter(|row| !names_file(row));
        let row = row.ok_or_else(|| {
            let table = words.replace(' ', ".");
            wrong(format!("[{table}] has no option `{name}`; `simtool config {words}` prints all"))
        })?;
        if is_overruled(row, known) {
            continue;
        }
        if values.len() > 1 && !matches!(row.kind, Kind::Values(_) | Kind::Paths(_)) {
            return Err(wrong(format!("`{name}` must have one value, not a list")));
        }
        for value in values {
            if is_on(row, OsStr::new(&value)).map_err(|rule| wrong(format!("`{name}` {rule}")))? {
                let origin = Origin::File(file.to_owned());
                given.push(GivenSetting { row, value: value.into(), origin });
            }
        }
    }
    Ok(given)
}

/// Returns the path of the settings file. `None` if there is none, or if the command cannot have one.
fn settings_file(
    command: &CommandKind,
    given: &[GivenSetting],
    environment: &[(OsString, OsString)],
) -> Result<Option<PathBuf>> {
    let Some(row) = command.settings().find(|row| names_file(row)) else { return Ok(None) };
    let argument = given.iter().find(|setting| names_file(setting.row));
    let argument = argument.map(|setting| &*setting.value);
    match argument.or_else(|| value_of(&variable(row.name), environment)) {
        Some(file) if file.is_empty() => {
            let rule = "must name a settings file; leave it out to use none";
            Err(Error::config(row.name, "", rule))
        }
        file => Ok(file.map(PathBuf::from)),
    }
}

fn names_file(row: &Setting) -> bool {
    matches!(row.kind, Kind::SettingsFile(_))
}

/// Returns the value of a variable, or `None` if it is not set. An empty value is a value, as on the command line: a
/// variable that is ignored without a word would surprise its user.
fn value_of<'e>(variable: &str, environment: &'e [(OsString, OsString)]) -> Option<&'e OsStr> {
    let mut values = environment.iter().filter(|(name, _)| name == variable);
    values.next().map(|(_, value)| &**value)
}

/// Returns each variable of `environment` whose name is most likely a misspelled name of a setting's variable, with the
/// right name.
///
/// ```
/// let environment = [("SIMTOOL_THREDS".into(), "4".into()), ("SIMTOOL_OTHER".into(), "".into())];
/// let [(wrong, right)] = &simtool::setting::misspelt_variables(&environment)[..] else { panic!() };
/// assert_eq!((&**wrong, &**right), ("SIMTOOL_THREDS", "SIMTOOL_THREADS"));
/// ```
#[must_use]
pub fn misspelt_variables(environment: &[(OsString, OsString)]) -> Vec<(String, String)> {
    let known: BTreeSet<String> = rows().map(|row| variable(row.name)).collect();
    let right = |name: &OsString| {
        let name = name.to_str().filter(|name| name.starts_with(VARIABLES))?;
        // Names with more errors may be of other programs, such as scripts that call this one.
        let most = (name.len() - VARIABLES.len()) / LETTERS_AN_ERROR;
        let near = known.iter().find(|known| typing_errors(name, known) <= most)?;
        (!known.contains(name)).then(|| (name.to_owned(), near.clone()))
    };
    environment.iter().filter_map(|(name, _)| right(name)).collect()
}

/// Returns whether one of the settings in `known` overrides `row`: the setting itself, or one that cannot be given
/// together with it.
fn is_overruled(row: &Setting, known: &[&Setting]) -> bool {
    known.iter().any(|other| other.name == row.name || exclude(row, other))
}

/// Returns whether two different settings of a command cannot be given together.
fn exclude(one: &Setting, other: &Setting) -> bool {
    let is_alternative =
        matches!(one.required, Required::OneOf(_)) && one.required == other.required;
    one.excludes.contains(&other.name)
        || other.excludes.contains(&one.name)
        || is_alternative && one.name != other.name
}

/// Returns an error if two settings of the environment or the file cannot be given together. The parser of the
/// arguments checks the arguments, and arguments override all other settings.
fn check_pairs(given: &[GivenSetting]) -> Result<()> {
    let later = given.iter().filter(|setting| setting.origin != Origin::Argument);
    for (at, one) in later.clone().enumerate() {
        if let Some(other) = later.clone().take(at).find(|other| exclude(one.row, other.row)) {
            let rule = format!("cannot be used with `{}`", other.row.name);
            return Err(Error::config(one.row.name, one.value.display(), rule));
        }
    }
    Ok(())
}

/// Returns whether a value turns a setting on. A setting with a value can be turned off by `false`, like a flag, if it
/// is a flag of another command, because one environment serves all commands. The error is the rule for a flag.
fn is_on(row: &Setting, value: &OsStr) -> std::result::Result<bool, String> {
    if !matches!(row.kind, Kind::Flag) {
        let accepts_false = row.kind.choices().iter().any(|(name, _)| *name == "false");
        return Ok(value != "false" || accepts_false || !is_flag_of_some_command(row.name));
    }
    match value.to_str() {
        // Programs that set variables often write numbers.
        Some("true" | "1") => Ok(true),
        Some("false" | "0") => Ok(false),
        Some("") => Err("must be true or false; unset it to leave the option out".to_owned()),
        _ => Err(format!("must be true or false, not {}", value.to_string_lossy())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::find_command;
    use std::fs;

    /// Returns the settings of a call of `words` as `NAME=VALUE`, in alphabetical order. `arguments` are settings, too.
    fn added(
        words: &str,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> std::result::Result<Vec<String>, String> {
        let command = find_command(words).unwrap();
        let argument = |text: &&str| {
            let (name, value) = text.split_once('=').unwrap();
            let row = command.setting(name).unwrap();
            GivenSetting { row, value: value.into(), origin: Origin::Argument }
        };
        let mut given: Vec<_> = arguments.iter().map(argument).collect();
        let environment: Vec<(OsString, OsString)> =
            variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        add_settings(command, &mut given, &environment).map_err(|error| error.to_string())?;
        let new = given.iter().filter(|setting| setting.origin != Origin::Argument);
        let mut new: Vec<String> =
            new.map(|given| format!("{}={}", given.row.name, given.value.display())).collect();
        new.sort();
        Ok(new)
    }

    fn file(text: &str) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.toml");
        fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap().to_owned();
        (folder, path)
    }

    #[test]
    fn settings_of_the_file_are_added_unless_they_are_given() {
        let text = "[dedup]\nthreads = 3\nquiet = true\nforce = false\nglob = [\"*.gz\", \"*.zst\"]\n\
                    [index.add]\nthreads = 7\n";
        let (_folder, path) = file(text);
        let config = format!("config={path}");
        let all = ["glob=*.gz", "glob=*.zst", "quiet=true", "threads=3"];
        assert_eq!(added("dedup", &[&config], &[]).unwrap(), all);
        let given = ["threads=1", "glob=*", &config];
        assert_eq!(added("dedup", &given, &[]).unwrap(), all[2..3]);
        assert_eq!(added("index add", &[&config], &[]).unwrap(), ["threads=7"]);
        assert!(added("eval", &[&config], &[]).unwrap().is_empty());
    }

    #[test]
    fn settings_of_the_environment_go_between_arguments_and_file() {
        let (_folder, path) = file("[dedup]\nthreads = 3\nmax_memory = \"1G\"\nforce = true\n");
        let (config, threads) = (("SIMTOOL_CONFIG", &*path), ("SIMTOOL_THREADS", "5"));
        let all = [threads, config, ("SIMTOOL_QUIET", "true"), ("SIMTOOL_FORCE", "false")];
        assert_eq!(
            added("dedup", &[], &all).unwrap(),
            ["max_memory=1G", "quiet=true", "threads=5"]
        );
        let given = ["threads=1", "max_memory=2G", "force=true"];
        assert_eq!(added("dedup", &given, &[threads, config]), Ok(vec![]));
        assert_eq!(added("index stat", &[], &[("OTHER", "5"), config]), Ok(vec![]));
        // An empty value is not ignored.
        assert_eq!(added("dedup", &[], &[("SIMTOOL_THREADS", "")]).unwrap(), ["threads="]);
        for (name, value) in [("FORCE", ""), ("CONFIG", ""), ("FORCE", "yes")] {
            added("dedup", &[], &[(&variable(name), value)]).unwrap_err();
        }
        let purposes = [("SIMTOOL_DATA", "x"), ("SIMTOOL_ISA", "avx2")];
        assert_eq!(added("dedup", &[], &purposes), Ok(vec![]));
    }

    #[test]
    fn a_setting_that_is_a_flag_of_other_commands_can_be_turned_off_like_a_flag() {
        let kept = |value| added("contamination", &[], &[("SIMTOOL_WRITE_KEPT", value)]).unwrap();
        assert!(kept("false").is_empty());
        assert_eq!(kept("mask"), ["write_kept=mask"]);
        let cut = added("passages", &[], &[("SIMTOOL_CUT", "false")]).unwrap();
        assert_eq!(cut, ["cut=false"]);
    }

    #[test]
    fn settings_that_exclude_each_other_hinder_none_of_an_earlier_place() {
        let (_folder, path) = file("[dedup]\nwithin = \"g\"\nverbose = true\n");
        let config = ("SIMTOOL_CONFIG", &*path);
        let given = ["quiet=true", "across=g"];
        assert_eq!(added("dedup", &given, &[config]), Ok(vec![]));
        assert_eq!(added("dedup", &given, &[("SIMTOOL_WITHIN", "h")]), Ok(vec![]));
        let across = [("SIMTOOL_ACROSS", "h"), ("SIMTOOL_QUIET", "true"), config];
        assert_eq!(added("dedup", &[], &across).unwrap(), ["across=h", "quiet=true"]);
        let both = [("SIMTOOL_ACROSS", "h"), ("SIMTOOL_WITHIN", "g")];
        let error = added("dedup", &[], &both).unwrap_err();
        assert!(error.ends_with("cannot be used with `within`"), "{error}");
    }
}
