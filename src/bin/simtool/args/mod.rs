//! Definition of the command line, from which parsing, help, completions and manual pages come. It is made from the
//! tables of commands and settings.

mod argument;
mod call;
#[cfg(test)]
mod tests;

pub(crate) use call::Call;

use crate::papers::cited_methods;
use argument::{option, position};
use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, ArgMatches, Command};
use simtool::setting::{CORPUS_FORM, CommandKind, Required, commands, find_command};
use std::collections::BTreeMap;

/// Description of the program in its help.
const ABOUT: &str = "Finds near-duplicate documents in large text collections, exactly and in parallel.\n\n\
    `simtool dedup PATH` finds all pairs of documents that are at least 0.8 similar, and lists the near-duplicates \
    to remove, each with the document that is kept in its place and their similarity.\n\n\
    `simtool N M` compares the samples of a folder with its articles, by fingerprints of M bits of the N most \
    frequent words.";

const EXAMPLES: &str = "\
Examples:
  simtool dedup big/
      finds near-duplicates in all files under big/, and writes the results to simtool-out/
  simtool dedup dump.jsonl.gz --text-field body --similarity 0.7 --write-kept --output clean
      also writes the documents without near-duplicates, in the same format, to clean/kept/
  simtool match new/ --against big/
      finds the documents of new/ that are near-duplicates of a document of big/
  simtool 1000 16
      lists for each sample of the current folder the articles within 3 of 16 bits, in result.txt

`simtool dedup -h` lists the options of a command, and `simtool dedup --help` explains them.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 bad records, 4 --fail-if, 130 interrupted.";

/// Form of a command line, which its first words decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandForm {
    /// The first word is the name of a command, possibly misspelled.
    Command,
    /// The first words are N and M, or an option of `simtool N M`.
    Reference,
    /// Options include `--corpus`, possibly after N and M.
    Corpus,
}

impl CommandForm {
    /// Returns the parser for the form. `later` has the names of settings that the environment or a settings file has.
    pub(crate) fn parser(self, later: &[&str]) -> Command {
        let (usage, command) = match self {
            Self::Command => return program_without(later),
            Self::Reference => ("simtool N M [OPTIONS]", find_command("reference")),
            Self::Corpus => ("simtool [N M] --corpus <PATH>... [OPTIONS]", Some(&CORPUS_FORM)),
        };
        let program = Command::new("simtool").version(env!("CARGO_PKG_VERSION"));
        let program = program.override_usage(usage).max_term_width(100);
        command.into_iter().fold(program, |program, command| with_settings(program, command, later))
    }

    /// Returns the call whose arguments are in `matches`. `None` if the arguments name no command.
    pub(crate) fn call(self, matches: &ArgMatches) -> Option<Call> {
        match self {
            Self::Reference => Some(Call::new(find_command("reference")?, matches)),
            Self::Corpus => Some(Call::new(&CORPUS_FORM, matches)),
            Self::Command => {
                let (mut matches, mut names) = (matches, Vec::new());
                while let Some((name, inner)) = matches.subcommand() {
                    names.push(name);
                    matches = inner;
                }
                Some(Call::new(find_command(&names.join(" "))?, matches))
            }
        }
    }
}

/// Returns the parser of the program, with all its commands.
pub(crate) fn program() -> Command {
    program_without(&[])
}

fn program_without(later: &[&str]) -> Command {
    let program = Command::new("simtool")
        .version(env!("CARGO_PKG_VERSION"))
        .override_usage(
            "simtool COMMAND [ARGUMENTS]\n       simtool N M [OPTIONS]\n       simtool [N M] --corpus PATH... \
             [OPTIONS]",
        )
        .after_long_help(EXAMPLES)
        .max_term_width(100);
    let program = with_commands(described(program, ABOUT), "", later);
    program.mut_subcommand("cite", |cite| {
        let methods = PossibleValuesParser::new(cited_methods());
        cite.mut_arg("methods", |argument| argument.value_parser(methods))
    })
}

/// Adds to `parent` all commands that have one word more than `before`, for example `index add` for `index`.
fn with_commands(parent: Command, before: &str, later: &[&str]) -> Command {
    let named = commands().filter_map(|command| {
        let name = command.words().strip_prefix(before)?.trim_start();
        (!name.is_empty() && !name.contains(' ')).then_some((name, command))
    });
    let parsers = named.map(|(name, command)| {
        let parser = described(Command::new(name), command.about)
            .aliases(&command.names[1..])
            .after_long_help(command.examples);
        if command.is_group() {
            return with_commands(parser, command.words(), later);
        }
        with_settings(parser, command, later)
    });
    parent.subcommand_required(true).arg_required_else_help(true).subcommands(parsers)
}

/// Adds the description of a command to its parser.
fn described(parser: Command, about: &'static str) -> Command {
    let (first, more) = about.split_once("\n\n").unwrap_or((about, ""));
    let parser = parser.about(first.strip_suffix('.').unwrap_or(first));
    if more.is_empty() { parser } else { parser.long_about(about) }
}

/// Adds the arguments and the settings of a command to its parser.
fn with_settings(parser: Command, command: &'static CommandKind, later: &[&str]) -> Command {
    let mut parser = parser.args(command.arguments.iter().map(|row| position(row, later)));
    for group in command.groups {
        for row in group.rows {
            // The short help of a command with many settings lists those that most users need.
            let mut option =
                option(row, later).hide_short_help(command.has_short_help() && !row.is_usual);
            if !group.heading.is_empty() {
                option = option.help_heading(group.heading);
            }
            parser = parser.arg(option);
        }
    }
    // One of the settings of a group is required, unless the environment or a settings file has one.
    let mut groups: BTreeMap<&str, bool> = BTreeMap::new();
    for row in command.settings() {
        if let Required::OneOf(group) = row.required {
            *groups.entry(group).or_default() |= later.contains(&row.name);
        }
    }
    for (group, is_given) in groups {
        parser = parser.group(ArgGroup::new(group).required(!is_given));
    }
    if command.has_short_help() {
        let words = command.words();
        parser = parser
            .after_help(format!("`simtool {words} --help` explains all options, with examples"));
    }
    parser
}
