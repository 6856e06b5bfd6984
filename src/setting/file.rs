//! Settings files: options of commands in [TOML](https://toml.io), with a table for each command.

use super::command_kind::CommandKind;
use super::commands::commands;
use super::row::{Kind, Setting};
use simtool_base::error::{Error, Result};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use toml::{Table, Value};

/// Options of a command, in the order of their names. Each option has one value, or several if it may be given
/// several times. A flag has the value `true` or `false`.
type FileSettings = Vec<(String, Vec<String>)>;

/// Reads the options of a command from a settings file.
///
/// `command` has the words of the command, such as `dedup` or `index add`. The options of `index add` are in the table
/// `[index.add]`. Names may have `-` or `_` between their words. They are returned with `-`.
///
/// # Errors
///
/// The file cannot be read or is not TOML, a table has the name of no command, or a value is neither text,
/// number, `true`, `false`, nor a list of these.
pub(super) fn read_settings(file: &Path, command: &str) -> Result<FileSettings> {
    let text = fs::read_to_string(file).map_err(|e| Error::io(file, "read", e))?;
    let wrong = |rule: String| Error::config("config", file.display(), rule);
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().map_or(0, |span| span.start);
        let line = 1 + text[..before].matches('\n').count();
        wrong(format!("line {line}: must be TOML: {}", error.message()))
    })?;
    for (name, value) in &table {
        if !value.is_table() {
            return Err(wrong(format!(
                "`{name}` must be in the table of a command, such as [dedup]"
            )));
        }
        // The table of `index` has the tables of the commands on an index.
        let known = commands().map(CommandKind::words);
        let known: Vec<&str> = known.filter(|words| !words.contains(' ')).collect();
        if !known.contains(&name.as_str()) {
            let known = known.join(", ");
            return Err(wrong(format!("[{name}] is no command; there are {known}")));
        }
    }
    let mut found = &table;
    for word in command.split(' ') {
        let Some(Value::Table(inside)) = found.get(word) else { return Ok(Vec::new()) };
        found = inside;
    }
    let option = |(name, value): (&String, &Value)| {
        let values = match value {
            Value::Array(values) => values.iter().map(text_of).collect::<Option<Vec<_>>>(),
            value => text_of(value).map(|text| vec![text]),
        };
        let rule = || {
            wrong(format!(
                "`{name}` of [{command}] must be text, a number, true, false, or a list of these"
            ))
        };
        Ok((name.replace('_', "-"), values.ok_or_else(rule)?))
    };
    found.iter().map(option).collect()
}

/// Returns the text of a settings file with the options of a command, each as a comment (`#`) with its default.
#[must_use]
pub fn printed_settings(command: &CommandKind) -> String {
    let mut file = format!(
        "# Settings of `simtool {}`: remove the # before an option to change it, and use the file\n\
         # with --config. Options of the command line go before those of the environment, such as\n\
         # SIMTOOL_THREADS, and these before those of the file.\n\
         [{}]\n",
        command.words(),
        command.words().replace(' ', ".")
    );
    let is_in_files = |row: &&Setting| !matches!(row.kind, Kind::SettingsFile(_));
    for row in command.settings().filter(is_in_files) {
        let help = row.help.split("\n\n").next().unwrap_or_default();
        let help = help.strip_suffix('.').unwrap_or(help);
        // Writing to memory does not fail.
        let _ = writeln!(file, "\n# {help}\n# {} = {}", row.name, example(row));
    }
    file
}

/// Returns the default of a setting as TOML, or the name of its value if it has none.
fn example(row: &Setting) -> String {
    let value = match row.kind {
        Kind::Flag => return "false".to_owned(),
        Kind::FlagOr(..) | Kind::FlagOrText(_) => "false",
        kind => row.default.or(kind.value_name()).unwrap_or_default(),
    };
    let is_number = value.parse::<f64>().is_ok_and(f64::is_finite);
    if is_number { value.to_owned() } else { format!("\"{value}\"") }
}

/// Returns a value as the command line has it. Returns `None` if it is a time, a list or a table.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(flag) => Some(flag.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str, command: &str) -> Result<FileSettings, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("simtool.toml");
        fs::write(&file, text).unwrap();
        let read = read_settings(&file, command);
        read.map_err(|error| error.to_string().replace(&*file.to_string_lossy(), "FILE"))
    }

    #[test]
    fn tables_have_the_options_of_commands() {
        let text = "[dedup]\nthreads = 4\nglob = [\"*.gz\", \"*.zst\"]\nforce = false\n\
                    [index.add]\nmax_memory = \"2G\"\n";
        let owned = |options: &[(&str, &[&str])]| -> FileSettings {
            let values = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
            options.iter().map(|(name, given)| ((*name).to_owned(), values(given))).collect()
        };
        let of_dedup: &[(&str, &[&str])] =
            &[("force", &["false"]), ("glob", &["*.gz", "*.zst"]), ("threads", &["4"])];
        assert_eq!(settings(text, "dedup"), Ok(owned(of_dedup)));
        assert_eq!(settings(text, "index add"), Ok(owned(&[("max-memory", &["2G"])])));
        assert_eq!(settings(text, "index query"), Ok(Vec::new()));
        assert_eq!(settings("", "dedup"), Ok(Vec::new()));
    }

    #[test]
    fn wrong_files_are_refused_with_the_place() {
        for (text, message) in [
            ("[dedup]\nthreads = \n", "config FILE: line 2: must be TOML: "),
            (
                "threads = 4",
                "config FILE: `threads` must be in the table of a command, such as [dedup]",
            ),
            (
                "[dedpu]\nthreads = 4",
                "config FILE: [dedpu] is no command; there are dedup, match, ",
            ),
            ("[dedup]\nglob = [[1]]", "config FILE: `glob` of [dedup] must be text, a number, "),
        ] {
            let error = settings(text, "dedup").unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn printed_settings_are_the_defaults() {
        let command = crate::setting::find_command("dedup").unwrap();
        let lines = printed_settings(command);
        assert!(
            lines.contains("\n[dedup]\n") && lines.contains("\n# keep = \"first\"\n"),
            "{lines}"
        );
        assert!(!lines.contains("# config ="), "{lines}");
        // With the # removed from an option with a default, the file sets the default.
        let is_default = |line: &&str| line.starts_with('[') || line.starts_with("# keep = ");
        let defaults = lines.lines().filter(is_default).map(|line| line.trim_start_matches("# "));
        let set = settings(&defaults.collect::<Vec<_>>().join("\n"), "dedup").unwrap();
        assert_eq!(set, [("keep".to_owned(), vec!["first".to_owned()])]);
    }
}
