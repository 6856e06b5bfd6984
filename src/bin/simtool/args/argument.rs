//! Arguments of the command line, which come from rows of the table of settings.

use clap::builder::{
    OsStringValueParser, PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
};
use clap::{Arg, ArgAction, Command, Error, ValueHint, value_parser};
use simtool::setting::{Kind, Named, Required, Setting, find};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Creates the option of a setting. Its identifier is the name of the setting. `later` has the names of settings that
/// the environment or a settings file has, so that the command line need not have them.
pub(super) fn option(row: &'static Setting, later: &[&str]) -> Arg {
    // Settings that only files and the environment may have are hidden in the help, but the parser knows their names.
    let option = argument(row, later).long(row.name.replace('_', "-")).hide(row.is_in_files);
    match row.short {
        Some(short) => option.short(short),
        None => option,
    }
}

/// Creates an argument that is known by its position, such as N of `simtool N M`. `later` has the names of settings
/// that the environment or a settings file has.
pub(super) fn position(row: &'static Setting, later: &[&str]) -> Arg {
    let argument = argument(row, later);
    match row.kind {
        // Numbers such as N of `simtool N M`, and IDs, may begin with a minus sign.
        Kind::Value(_) => {
            argument.allow_negative_numbers(true).value_parser(OsStringValueParser::new())
        }
        Kind::Values(_) => argument.num_args(1..),
        _ => argument,
    }
}

fn argument(row: &'static Setting, later: &[&str]) -> Arg {
    let (first, more) = row.help.split_once("\n\n").unwrap_or((row.help, ""));
    let mut argument = Arg::new(row.name).help(first.strip_suffix('.').unwrap_or(first));
    if let Some(long_help) = row.long_help {
        argument = argument.long_help(spelled_values(&long_help()));
    } else if !more.is_empty() {
        argument = argument.long_help(row.help);
    }
    if let Some(default) = row.default {
        argument = argument.default_value(default);
    }
    if let Some(other) = row.needs.filter(|other| !later.contains(other)) {
        argument = argument.requires(other);
    }
    let is_later = |name| later.contains(&name);
    argument = match row.required {
        Required::OneOf(group) => argument.group(group),
        Required::Always if !is_later(row.name) => argument.required(true),
        Required::Unless(other) if !is_later(row.name) && !is_later(other) => {
            argument.required_unless_present(other)
        }
        Required::No | Required::Always | Required::Unless(_) => argument,
    };
    let argument = argument.conflicts_with_all(row.excludes);
    match row.kind.value_name() {
        Some(name) => with_values(argument.value_name(name), row),
        None => argument.action(ArgAction::SetTrue),
    }
}

/// Adds the parser of the values to an argument.
fn with_values(argument: Arg, row: &'static Setting) -> Arg {
    match row.kind {
        Kind::Flag | Kind::Value(_) => argument,
        Kind::Values(_) => argument.action(ArgAction::Append),
        Kind::Path(_) | Kind::WordList(_) | Kind::SettingsFile(_) => {
            argument.value_parser(value_parser!(PathBuf)).value_hint(ValueHint::FilePath)
        }
        Kind::Paths(_) => argument
            .num_args(1..)
            .action(ArgAction::Append)
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::AnyPath),
        Kind::Folder(_) | Kind::Results(_) => {
            let folder = PathBufValueParser::new()
                .try_map(|path| row.check(path.as_os_str()).map(|()| path));
            argument.value_parser(folder).value_hint(ValueHint::DirPath)
        }
        Kind::Choice(_, choices) => argument.value_parser(values(choices)),
        Kind::Named(_, choices) => argument.value_parser(NamedParser(values(choices))),
        Kind::FlagOr(_, choices) => optional(argument.value_parser(values(choices))),
        Kind::FlagOrText(_) => optional(argument),
    }
}

/// Makes the value of an argument optional. Without a value, the argument is a flag.
fn optional(argument: Arg) -> Arg {
    argument
        .num_args(0..=1)
        .require_equals(true)
        .default_value("false")
        .default_missing_value("true")
}

/// Parser of a value that begins with one of several names. Settings may follow after a colon, as in
/// `simhash:bits=128`.
#[derive(Clone)]
struct NamedParser(PossibleValuesParser);

impl TypedValueParser for NamedParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        // The library parses the settings after the colon, because it knows the settings of each method.
        let text = value.to_string_lossy();
        let (name, settings) = text.split_once(':').unwrap_or((&text, ""));
        let found = self.0.parse_ref(command, argument, OsStr::new(name))?;
        Ok(if settings.is_empty() { found } else { format!("{found}:{settings}") })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// Returns a parser that accepts the values of a setting, and shows their descriptions.
fn values(choices: fn() -> Vec<Named>) -> PossibleValuesParser {
    let value = |(name, help): Named| match help {
        "" => PossibleValue::new(name),
        help => PossibleValue::new(name).help(spelled(help)),
    };
    choices().into_iter().map(value).collect::<Vec<_>>().into()
}

/// Returns a help text in which settings are written as options, but only in the indented lines about values.
fn spelled_values(help: &str) -> String {
    let line = |line: &str| if line.starts_with("  ") { spelled(line) } else { line.to_owned() };
    help.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a help text in which each name of a setting in backquotes is replaced by its option.
fn spelled(help: &str) -> String {
    // The library names settings with underscores, but options have hyphens. Settings of a method are not options.
    let option = |name: &str| find(name).map(|row| format!("--{}", row.name.replace('_', "-")));
    simtool::run::spell_settings(help, &option)
}
