//! Commands about the program itself, and generated collections.

use crate::setting::command_kind::{CommandKind, groups};
use crate::setting::measuring::GENERATED;
use crate::setting::row::{Named, Setting};

const PAGES: &[Setting] = &[
    Setting::results(
        "output",
        "DIR",
        "Write the pages of the program and of every command to this folder, created if needed.",
    )
    .short('o')
    .excluding(&["command"])
    .of_resources(),
    Setting::flag("force", "Replace existing pages.").needing("output").of_resources(),
];

/// Commands about the program itself, and generated collections.
pub(super) const COMMANDS: &[CommandKind] = &[
    CommandKind {
        names: &["generate"],
        about: "Write a collection of generated documents with known near-duplicates.",
        arguments: &[],
        groups: groups!["": GENERATED],
        examples: "\
Examples:
  simtool generate --documents 1000 --with-tables --output made
      writes all files that `simtool 500 64 --directory made` reads, and the true pairs in truth.tsv
  simtool generate --bytes 700M --output large
      writes 700 MB of articles",
    },
    CommandKind {
        names: &["config"],
        about: "Print a settings file with all options of a command, their meanings and defaults.\n\nRemove the \
                    # before an option to change it, and use the file with --config. A few settings are only in \
                    such files and in the environment, such as the limits of readers.",
        arguments: &[Setting::values(
            "words",
            "COMMAND",
            "Words of the command, such as `dedup` or `index add`.",
        )
        .required()],
        groups: &[],
        examples: "\
Examples:
  simtool config dedup > simtool.toml
      writes a settings file, whose options hold once the # before them is removed
  simtool dedup big/ --config simtool.toml
      reads options from the file
  SIMTOOL_MAX_RECORD=1G simtool dedup big/
      sets an option in the environment",
    },
    CommandKind {
        names: &["cite"],
        about: "Print the papers behind the methods, as BibTeX, to cite them in a publication.",
        arguments: &[Setting::values(
            "methods",
            "METHOD",
            "Methods whose papers to print [default: all].",
        )],
        groups: &[],
        examples: "\
Examples:
  simtool cite > simtool.bib
      writes simtool itself and all papers
  simtool cite minhash
      prints the papers behind --method minhash",
    },
    CommandKind {
        names: &["completions"],
        about: "Print the completion script of a shell, to save where that shell looks for it.",
        arguments: &[
            Setting::choice("shell", "SHELL", shells, "Shell to complete commands in.").required()
        ],
        groups: &[],
        examples: "\
Examples:
  simtool completions bash > ~/.local/share/bash-completion/completions/simtool
  simtool completions zsh > ~/.zfunc/_simtool
  simtool completions fish > ~/.config/fish/completions/simtool.fish

The folder must exist: create it with `mkdir -p`. For zsh, add ~/.zfunc to fpath.",
    },
    CommandKind {
        names: &["man"],
        about: "Print a manual page, or write all of them to a folder.",
        arguments: &[Setting::value(
            "command",
            "COMMAND",
            "Command whose manual page is printed [default: the page of simtool itself].",
        )],
        groups: groups!["": PAGES],
        examples: "\
Examples:
  simtool man
      prints the main page
  simtool man dedup
      prints the page of a command
  simtool man --output ~/.local/share/man/man1
      writes all pages to a folder, where `man simtool-dedup` finds them",
    },
];

fn shells() -> Vec<Named> {
    ["bash", "elvish", "fish", "powershell", "zsh"].map(|shell| (shell, "")).into()
}
