//! Every setting as a row: its name, the kind of its values, its default and its meaning.
//!
//! The command line, its help and its reference, settings files, the environment and the package for Python take the
//! settings from these rows. The part that uses a setting parses its value, which is text.

mod comparing;
mod on_error;
mod reading;
mod running;
mod searching;
mod writing;

pub use comparing::{NEAR, PLANNING, TERMS};
pub use on_error::OnError;
pub use reading::{AGAINST, READING};
pub use running::{MEMORY, NOTES, PARTS, THREADS};
pub use searching::{CUTTING, FOUND_PARTS, ITEM_REMOVAL, ITEMS, PASSAGES};
pub use writing::{KEEPING, RESULTS, ROWS};

use simtool_base::options::Choice;

/// All rows, in groups.
pub const SETTINGS: &[&[Setting]] = &[
    NEAR,
    TERMS,
    PLANNING,
    KEEPING,
    RESULTS,
    ROWS,
    READING,
    AGAINST,
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

/// Name of a value, and a phrase that describes it. The phrase may be empty.
pub type Named = (&'static str, &'static str);

/// A setting of one or more commands.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Name with underscores, for example `text_field`. On the command line, it has hyphens.
    pub name: &'static str,
    /// Values that the setting can have.
    pub kind: Kind,
    /// Meaning of the setting. The first paragraph is enough for a short help.
    pub help: &'static str,
    /// Returns a longer help that lists the values. `None` if `help` is all.
    pub long_help: Option<fn() -> String>,
    /// Value that holds if the setting is not given. `None` if none does, or if it depends on other settings.
    pub default: Option<&'static str>,
    /// Letter that stands for the name on the command line.
    pub short: Option<char>,
    /// Name of a setting that cannot be given together with this one.
    pub excludes: Option<&'static str>,
    /// Name of a setting without which this one has no meaning.
    pub needs: Option<&'static str>,
    /// What the setting changes.
    pub effect: Effect,
}

/// Values that a setting can have.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A text. This kind and the next ones have the name of the value in help.
    Value(&'static str),
    /// Several texts.
    Values(&'static str),
    /// Path of a file.
    Path(&'static str),
    /// Path of a folder.
    Folder(&'static str),
    /// Path of a folder of results.
    Results(&'static str),
    /// One of the values that the function returns.
    Choice(&'static str, fn() -> Vec<Named>),
    /// One of the values that the function returns, or `true` if only the name of the setting is given.
    FlagOr(&'static str, fn() -> Vec<Named>),
}

/// What a setting changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The results.
    Result,
    /// Where the results are, and the time and the memory that they take.
    Resources,
    /// Only what a program prints.
    Printing,
}

impl Setting {
    const fn new(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self {
            name,
            kind,
            help,
            long_help: None,
            default: None,
            short: None,
            excludes: None,
            needs: None,
            effect: Effect::Result,
        }
    }

    const fn flag(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Flag, help)
    }

    const fn value(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Value(value), help)
    }

    const fn values(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Values(value), help)
    }

    const fn path(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Path(value), help)
    }

    const fn folder(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Folder(value), help)
    }

    const fn results(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Results(value), help)
    }

    const fn choice(
        name: &'static str,
        value: &'static str,
        choices: fn() -> Vec<Named>,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::Choice(value, choices), help)
    }

    const fn flag_or(
        name: &'static str,
        value: &'static str,
        choices: fn() -> Vec<Named>,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::FlagOr(value, choices), help)
    }

    const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    const fn short(self, short: char) -> Self {
        Self { short: Some(short), ..self }
    }

    const fn excluding(self, other: &'static str) -> Self {
        Self { excludes: Some(other), ..self }
    }

    const fn needing(self, other: &'static str) -> Self {
        Self { needs: Some(other), ..self }
    }

    const fn explained_by(self, long_help: fn() -> String) -> Self {
        Self { long_help: Some(long_help), ..self }
    }

    const fn printing(self) -> Self {
        Self { effect: Effect::Printing, ..self }
    }

    const fn of_resources(self) -> Self {
        Self { effect: Effect::Resources, ..self }
    }
}

/// Returns the names of all values of `T`, each with its help.
fn names<T: Choice>() -> Vec<Named> {
    T::ALL.iter().map(|choice| (choice.name(), choice.help())).collect()
}

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
