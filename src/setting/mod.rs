//! Every setting as a row: its name, the kind of its values, its default and its meaning.
//!
//! The command line, its help and its reference, settings files, the environment and the package for Python take the
//! settings from these rows. The part that uses a setting parses its value, which is text.

mod command_kind;
mod commands;
mod comparing;
mod file;
mod fingerprints;
mod indexing;
mod measuring;
mod on_error;
mod origin;
mod reading;
mod row;
mod running;
mod searching;
mod typing_errors;
mod value;
mod writing;

pub use command_kind::{CommandKind, SettingGroup};
pub use commands::{CORPUS_FORM, commands, find_command};
pub use comparing::{NEAR, TERMS};
pub use file::printed_settings;
pub use on_error::OnError;
pub use origin::{GivenSetting, Origin, add_settings, misspelt_variables, settings_of_file};
pub use reading::READING;
pub use row::{Effect, Kind, Named, Required, Setting};
pub use running::{MEMORY, NOTES};
pub(crate) use typing_errors::typing_errors;
pub(crate) use value::known_extension;

/// Returns the rows of all commands. A setting of several commands comes several times.
fn rows() -> impl Iterator<Item = &'static Setting> {
    commands().chain([&CORPUS_FORM]).flat_map(CommandKind::settings)
}

/// Returns the row of the setting `name`. A name has the same effect for all commands.
///
/// ```
/// use simtool::setting::{Effect, find};
///
/// assert_eq!(find("threads").map(|setting| setting.effect), Some(Effect::Resources));
/// assert!(find("nothing").is_none());
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static Setting> {
    rows().find(|setting| setting.name == name)
}

/// Returns whether a setting of this name is a flag of any command.
fn is_flag_of_some_command(name: &str) -> bool {
    rows().any(|row| row.name == name && matches!(row.kind, Kind::Flag))
}

/// Beginning of the names of the variables of the environment that have settings.
const VARIABLES: &str = "SIMTOOL_";

/// Returns the name of the environment variable that has a setting, whose name may have `-` or `_` between its words.
///
/// ```
/// assert_eq!(simtool::setting::variable("max-memory"), "SIMTOOL_MAX_MEMORY");
/// ```
#[must_use]
pub fn variable(name: &str) -> String {
    format!("{VARIABLES}{}", name.replace('-', "_").to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_name_each_other_and_agree() {
        for command in commands() {
            for setting in command.settings() {
                for other in setting.excludes.iter().chain(&setting.needs) {
                    let is_known = command.setting(other).is_some()
                        || command.arguments.iter().any(|row| row.name == *other);
                    assert!(is_known, "{}: {} names {other}", command.words(), setting.name);
                }
            }
        }
        for setting in rows() {
            let known = find(setting.name).unwrap();
            assert_eq!(known.effect, setting.effect, "{}", setting.name);
            assert!(setting.help.ends_with('.'), "{}", setting.name);
            if let (Kind::Choice(_, choices), Some(default)) = (setting.kind, setting.default) {
                assert!(choices().iter().any(|(name, _)| *name == default), "{}", setting.name);
            }
        }
    }
}
