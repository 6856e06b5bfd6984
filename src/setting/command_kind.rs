//! A command of the program: its names, its meaning and its settings in groups.

use super::row::Setting;

/// Makes groups of settings, as in `groups!["Reading": READING; "Running": MEMORY, THREADS]`.
macro_rules! groups {
    ($($heading:literal: $($rows:ident),+);+) => {
        &[$($(crate::setting::command_kind::SettingGroup { heading: $heading, rows: $rows }),+),+]
    };
}
pub(super) use groups;

/// A command of the program.
#[derive(Clone, Copy, Debug)]
pub struct CommandKind {
    /// Words of the command, such as `dedup` or `index add`, followed by its other names.
    pub names: &'static [&'static str],
    /// Meaning of the command. The first paragraph is enough for a list of commands.
    pub about: &'static str,
    /// Arguments that are known by their positions. Settings files and the environment do not have them.
    pub arguments: &'static [Setting],
    /// Settings, in the order of the help.
    pub groups: &'static [SettingGroup],
    /// Examples for the help, each with an explanation.
    pub examples: &'static str,
}

/// Settings that are under one heading in the help of a command.
#[derive(Clone, Copy, Debug)]
pub struct SettingGroup {
    /// Heading in the help. It is empty if the settings are under the heading of all options.
    pub heading: &'static str,
    /// Rows of the settings.
    pub rows: &'static [Setting],
}

/// Minimum number of options of a command with a short help, which lists only some of the options.
const MANY: usize = 40;

impl CommandKind {
    /// Returns the words of the command, such as `dedup` or `index add`.
    #[must_use]
    pub fn words(&self) -> &'static str {
        self.names.first().copied().unwrap_or_default()
    }

    /// Returns whether other commands are below this one, as `index add` is below `index`.
    #[must_use]
    pub fn is_group(&self) -> bool {
        // Every other command does something with its arguments or settings.
        self.arguments.is_empty() && self.groups.is_empty()
    }

    /// Returns whether the short help of the command lists only the settings that most users need.
    #[must_use]
    pub fn has_short_help(&self) -> bool {
        self.settings().filter(|row| !row.is_in_files).count() >= MANY
    }

    /// Returns the rows of the settings of the command.
    pub fn settings(&self) -> impl Iterator<Item = &'static Setting> + use<> {
        let groups: &'static [SettingGroup] = self.groups;
        groups.iter().flat_map(|group| group.rows)
    }

    /// Returns the row of the setting `name` of the command. `None` if the command has no such setting.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<&'static Setting> {
        self.settings().find(|row| row.name == name)
    }
}
