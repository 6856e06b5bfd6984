//! Arguments that come from rows of the table of settings.

use super::values::{folder, output_folder, spelled};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Error, FromArgMatches, ValueHint, value_parser};
use simtool::options::Options;
use simtool::setting::{Effect, Kind, Named, Setting, find};
use std::ffi::{OsStr, OsString};
use std::marker::PhantomData;
use std::path::PathBuf;

/// Rows of settings that belong together on the command line.
pub(crate) trait Rows {
    /// The rows, in the order of the help.
    const ROWS: &'static [Setting];
    /// Heading of the arguments in the help. `None` if they are under the heading of the arguments before them.
    const HEADING: Option<&'static str>;
}

/// Values of the settings of `R` that were given on the command line, in the order of the rows.
#[derive(Clone, Debug)]
pub(crate) struct Given<R> {
    values: Vec<(&'static str, OsString)>,
    rows: PhantomData<R>,
}

impl<R> Default for Given<R> {
    fn default() -> Self {
        Self { values: Vec::new(), rows: PhantomData }
    }
}

impl<R: Rows> Given<R> {
    /// Adds the settings that were given to `options`, except those of the program alone.
    pub(crate) fn set(&self, options: &mut Options) {
        for row in R::ROWS.iter().filter(|row| row.effect != Effect::Printing) {
            for (_, value) in self.values.iter().filter(|(name, _)| *name == row.name) {
                options.set(row.name, value);
            }
        }
    }

    /// Returns whether a flag was given.
    pub(crate) fn has(&self, flag: &str) -> bool {
        self.given(flag).is_some()
    }

    /// Returns the value that was given for the setting `name`, or else its default.
    pub(crate) fn value(&self, name: &str) -> Option<&OsStr> {
        let default = || R::ROWS.iter().find(|row| row.name == name)?.default.map(OsStr::new);
        self.given(name).or_else(default)
    }

    fn given(&self, name: &str) -> Option<&OsStr> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| &**value)
    }
}

impl<R: Rows> FromArgMatches for Given<R> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let is_given =
            |row: &&Setting| matches.value_source(row.name) == Some(ValueSource::CommandLine);
        let values = R::ROWS.iter().filter(is_given).flat_map(|row| {
            let values = matches.get_raw(row.name).into_iter().flatten();
            values.map(|value| (row.name, value.to_owned()))
        });
        Ok(Self { values: values.collect(), rows: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<R: Rows> clap::Args for Given<R> {
    fn augment_args(command: Command) -> Command {
        let with_heading = |row| match R::HEADING {
            Some(heading) => argument(row).help_heading(heading),
            None => argument(row),
        };
        command.args(R::ROWS.iter().map(with_heading))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Creates the argument of a setting. Its identifier is the name of the setting.
fn argument(row: &'static Setting) -> Arg {
    let (first, more) = row.help.split_once("\n\n").unwrap_or((row.help, ""));
    let mut argument = Arg::new(row.name)
        .long(row.name.replace('_', "-"))
        .help(first.strip_suffix('.').unwrap_or(first));
    if let Some(long_help) = row.long_help {
        argument = argument.long_help(spelled_values(&long_help()));
    } else if !more.is_empty() {
        argument = argument.long_help(row.help);
    }
    // Only settings files and the environment show such a setting, which arrives as an argument all the same.
    if row.is_in_files {
        argument = argument.hide(true);
    }
    if let Some(default) = row.default {
        argument = argument.default_value(default);
    }
    if let Some(short) = row.short {
        argument = argument.short(short);
    }
    if let Some(other) = row.excludes {
        argument = argument.conflicts_with(other);
    }
    if let Some(other) = row.needs {
        argument = argument.requires(other);
    }
    match row.kind {
        Kind::Flag => argument.action(ArgAction::SetTrue),
        Kind::Value(value) => argument.value_name(value),
        Kind::Values(value) => argument.value_name(value).action(ArgAction::Append),
        Kind::Path(value) => argument
            .value_name(value)
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath),
        Kind::Folder(value) => {
            argument.value_name(value).value_parser(folder()).value_hint(ValueHint::DirPath)
        }
        Kind::Results(value) => {
            argument.value_name(value).value_parser(output_folder()).value_hint(ValueHint::DirPath)
        }
        Kind::Choice(value, choices) => argument.value_name(value).value_parser(values(choices)),
        Kind::Named(value, choices) => argument.value_name(value).value_parser(named(choices)),
        Kind::FlagOr(value, choices) => {
            optional(argument.value_name(value).value_parser(values(choices)))
        }
        Kind::FlagOrText(value) => optional(argument.value_name(value)),
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

/// Parser of one of some names, which settings may follow behind a colon, as in `simhash:bits=128`.
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
        // What stands behind the colon is for the library, which knows the settings of each method.
        let text = value.to_string_lossy();
        let (name, settings) = text.split_once(':').unwrap_or((&text, ""));
        let found = self.0.parse_ref(command, argument, OsStr::new(name))?;
        Ok(if settings.is_empty() { found } else { format!("{found}:{settings}") })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

/// Returns a parser of one of the names that `choices` returns, with settings behind a colon.
fn named(choices: fn() -> Vec<Named>) -> impl TypedValueParser<Value = String> {
    NamedParser(values(choices))
}

/// Returns the default of the setting `name`.
pub(super) fn default_of(name: &str) -> &'static str {
    find(name).and_then(|row| row.default).unwrap_or_default()
}

/// Returns a parser that accepts the values of the setting `name`.
pub(super) fn choices_of(name: &str) -> PossibleValuesParser {
    match find(name).map(|row| row.kind) {
        Some(Kind::Choice(_, choices)) => values(choices),
        _ => PossibleValuesParser::new([""; 0]),
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

/// Returns a help text in which settings in the lines of values are shown as options.
fn spelled_values(help: &str) -> String {
    let line = |line: &str| if line.starts_with("  ") { spelled(line) } else { line.to_owned() };
    help.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Declares types of rows: the name, the rows of the library, and their heading.
macro_rules! rows {
    ($($name:ident: $rows:ident, $heading:expr;)*) => {$(
        #[derive(Clone, Debug)]
        pub(crate) struct $name;

        impl Rows for $name {
            const ROWS: &'static [Setting] = simtool::setting::$rows;
            const HEADING: Option<&'static str> = $heading;
        }
    )*};
}

rows! {
    NearRows: NEAR, None;
    TermRows: TERMS, None;
    FingerprintRows: FINGERPRINTS, None;
    IndexRows: INDEXES, None;
    PlanningRows: PLANNING, None;
    KeepingRows: KEEPING, Some("Keeping");
    ResultsRows: RESULTS, Some("Writing");
    StreamRows: ROWS, Some("Writing");
    ReadingRows: READING, Some("Reading");
    AgainstRows: AGAINST, Some("Reading");
    LineRows: LINES, None;
    MemoryRows: MEMORY, Some("Running");
    ThreadRows: THREADS, Some("Running");
    NoteRows: NOTES, Some("Running");
    PartsRows: PARTS, Some("Running");
    PassagesRows: PASSAGES, None;
    CuttingRows: CUTTING, Some("Cutting");
    ItemsRows: ITEMS, None;
    ItemRemovalRows: ITEM_REMOVAL, Some("Writing");
    FoundPartsRows: FOUND_PARTS, Some("Running");
}

/// Options that choose the kept document of each cluster.
pub(crate) type KeepArgs = Given<KeepingRows>;
/// Options that choose the terms to compare.
pub(crate) type TermArgs = Given<TermRows>;
/// Options for storing what a run reads.
pub(crate) type PartsArgs = Given<PartsRows>;
/// Options that choose the file and the format of the rows that a command writes, for example the found items of
/// `contamination`.
pub(crate) type RowsArgs = Given<StreamRows>;
