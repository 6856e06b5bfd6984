//! Table of the commands of the program: their settings in groups, their meanings, and examples.

mod indexes;
mod near;
mod program;

use super::command_kind::CommandKind;
pub use near::CORPUS_FORM;

/// Returns all commands. Commands on an index follow the command `index`.
pub fn commands() -> impl Iterator<Item = &'static CommandKind> {
    [near::COMMANDS, indexes::COMMANDS, program::COMMANDS].into_iter().flatten()
}

/// Returns the command with these words, such as `index add`.
///
/// ```
/// let command = simtool::setting::find_command("index add").unwrap();
/// assert!(command.setting("source").is_some() && command.setting("keep").is_none());
/// ```
#[must_use]
pub fn find_command(words: &str) -> Option<&'static CommandKind> {
    commands().find(|command| command.words() == words)
}
