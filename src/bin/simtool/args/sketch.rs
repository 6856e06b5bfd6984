//! Options of the methods that make fingerprints.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, Error, FromArgMatches};
use simtool::fingerprint::SKETCHES;
use simtool::options::Options;

/// Options of the kinds of fingerprints, as [`SKETCHES`] lists them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SketchArgs {
    /// Names and values of the options that were given.
    given: Vec<(&'static str, String)>,
}

impl SketchArgs {
    /// Adds the options that were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        for (name, value) in &self.given {
            options.set(name, value);
        }
    }
}

impl FromArgMatches for SketchArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let value = |name| matches.get_one::<String>(&argument_id(name)).cloned();
        let given = option_names().into_iter().filter_map(|name| Some((name, value(name)?)));
        Ok(Self { given: given.collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl clap::Args for SketchArgs {
    fn augment_args(command: Command) -> Command {
        command.args(option_names().into_iter().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// Returns the names of the options of all kinds of fingerprints. A name that several kinds have is listed
/// once.
fn option_names() -> Vec<&'static str> {
    let mut names = Vec::new();
    for option in SKETCHES.iter().flat_map(|kind| kind.options) {
        if !names.contains(&option.name) {
            names.push(option.name);
        }
    }
    names
}

/// Returns the identifier of the argument for the option `name`. The prefix keeps it different from arguments
/// of other commands, such as `bits`.
fn argument_id(name: &str) -> String {
    format!("sketch_{name}")
}

/// Creates the argument for the option `name`. If several kinds of fingerprints have the option, their
/// descriptions follow each other.
fn argument(name: &'static str) -> Arg {
    let mut value = "VALUE";
    let mut descriptions = Vec::new();
    for kind in SKETCHES {
        for option in kind.options.iter().filter(|option| option.name == name) {
            value = option.value;
            // Each kind gives the option a meaning and a default of its own.
            descriptions.push(format!("with {}, {}", kind.name, option.help));
        }
    }
    let help = descriptions.join("; ");
    Arg::new(argument_id(name))
        .long(name.replace('_', "-"))
        .value_name(value)
        // The text starts with the word `with`. As a sentence, it must start with a capital letter.
        .help(help.replacen('w', "W", 1))
        .help_heading("Fingerprints")
}

/// Returns a parser that accepts the methods that an index can use.
pub(crate) fn methods_of_indexes() -> PossibleValuesParser {
    simtool::index::methods_of_indexes().collect::<Vec<_>>().into()
}

/// Returns a parser that accepts the methods that make fingerprints.
pub(crate) fn methods_of_fingerprints() -> PossibleValuesParser {
    SKETCHES.iter().map(|kind| kind.name).collect::<Vec<_>>().into()
}
