//! Every setting as a row: its name, the kind of its values, its default and its meaning.
//!
//! The command line, its help and its reference, settings files, the environment and the package for Python take the
//! settings from these rows. The part that uses a setting parses its value, which is text.

mod comparing;
mod on_error;
mod reading;
mod row;
mod running;
mod searching;
mod writing;

pub use comparing::{FINGERPRINTS, INDEXES, NEAR, PLANNING, TERMS};
pub use on_error::OnError;
pub use reading::{AGAINST, LINES, READING};
pub use row::{Effect, Kind, Named, Setting};
pub use running::{MEMORY, NOTES, PARTS, THREADS};
pub use searching::{CUTTING, FOUND_PARTS, ITEM_REMOVAL, ITEMS, PASSAGES};
pub use writing::{KEEPING, RESULTS, ROWS};

/// All rows, in groups.
pub const SETTINGS: &[&[Setting]] = &[
    NEAR,
    TERMS,
    FINGERPRINTS,
    INDEXES,
    PLANNING,
    KEEPING,
    RESULTS,
    ROWS,
    READING,
    AGAINST,
    LINES,
    MEMORY,
    THREADS,
    NOTES,
    PARTS,
    PASSAGES,
    CUTTING,
    ITEMS,
    ITEM_REMOVAL,
    FOUND_PARTS,
];

/// Names of the commands of the program. Settings files have a table for each.
pub const COMMANDS: &[&str] = &[
    "dedup",
    "match",
    "passages",
    "contamination",
    "combine",
    "compare",
    "why",
    "eval",
    "fingerprint",
    "join",
    "search",
    "index",
    "plan",
    "reference",
    "generate",
    "config",
    "cite",
    "completions",
    "man",
];

/// Returns the row of the setting `name`. A name has the same effect in all groups.
///
/// ```
/// use simtool::setting::{Effect, find};
///
/// assert_eq!(find("threads").map(|setting| setting.effect), Some(Effect::Resources));
/// assert!(find("nothing").is_none());
/// ```
#[must_use]
pub fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().copied().flatten().find(|setting| setting.name == name)
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

/// Returns whether the settings of these names cannot be given together.
#[must_use]
pub fn exclude_each_other(one: &str, other: &str) -> bool {
    let excludes =
        |one: &str, other| find(one).is_some_and(|setting| setting.excludes == Some(other));
    excludes(one, other) || excludes(other, one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_name_each_other_and_agree() {
        for setting in SETTINGS.iter().copied().flatten() {
            for other in [setting.excludes, setting.needs].into_iter().flatten() {
                assert!(find(other).is_some(), "{} names {other}", setting.name);
            }
            let known = find(setting.name).unwrap();
            assert_eq!(known.effect, setting.effect, "{}", setting.name);
            assert!(setting.help.ends_with('.'), "{}", setting.name);
            if let (Kind::Choice(_, choices), Some(default)) = (setting.kind, setting.default) {
                assert!(choices().iter().any(|(name, _)| *name == default), "{}", setting.name);
            }
        }
        assert!(exclude_each_other("within", "across") && exclude_each_other("across", "within"));
        assert!(!exclude_each_other("within", "keep"));
    }
}
