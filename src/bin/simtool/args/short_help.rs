//! Chooses the options that `-h` lists of commands with many options. `--help` lists all of them.

/// Options of `dedup` and `match` that `-h` lists: those that most users need.
const LISTED: &[&str] = &[
    "help",
    "against",
    "keep",
    "annotate",
    "method",
    "similarity",
    "max-distance",
    "shingle",
    "preview",
    "output",
    "force",
    "output-format",
    "write-kept",
    "json",
    "glob",
    "format",
    "text-field",
    "limit",
    "max-memory",
    "threads",
    "quiet",
    "verbose",
];

/// Returns the program with a short `-h` of `dedup` and `match`.
pub(crate) fn with_short_help(program: clap::Command) -> clap::Command {
    ["dedup", "match"].into_iter().fold(program, |program, name| {
        program.mut_subcommand(name, |command| {
            // An option without a long name, such as a path, stays in the short help.
            let command = command.mut_args(|argument| match argument.get_long() {
                Some(long) if !LISTED.contains(&long) => argument.hide_short_help(true),
                _ => argument,
            });
            command
                .after_help(format!("`simtool {name} --help` explains all options, with examples"))
        })
    })
}
