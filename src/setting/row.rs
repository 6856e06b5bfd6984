//! The row of a setting.

use simtool_base::options::Choice;

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
    /// Letter that can be written on the command line instead of the name.
    pub short: Option<char>,
    /// Names of settings that cannot be given together with this one.
    pub excludes: &'static [&'static str],
    /// Name of a setting without which this one has no meaning.
    pub needs: Option<&'static str>,
    /// Whether the command cannot run without the setting.
    pub required: Required,
    /// Kind of change that the setting makes.
    pub effect: Effect,
    /// Whether only settings files and the environment have the setting, and the command line has no option for it.
    pub is_in_files: bool,
    /// Whether most users need the setting, so that the short help of a command with many settings lists it.
    pub is_usual: bool,
    /// Whether engines such as Spark, which distribute the documents, support the setting.
    pub is_on_engines: bool,
}

/// Whether a command can run without a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// The command can run without it.
    No,
    /// The command cannot run without it.
    Always,
    /// The command needs this setting, or the setting that is named here, or both.
    Unless(&'static str),
    /// The command needs exactly one of the settings of the group that has this name.
    OneOf(&'static str),
}

/// Values that a setting can have.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A text. The value of this variant and of the next ones is the name of the setting's value in help, for example
    /// `FILE`.
    Value(&'static str),
    /// Several texts.
    Values(&'static str),
    /// Path of a file.
    Path(&'static str),
    /// Path of a file with words, or the words themselves.
    WordList(&'static str),
    /// Path of the settings file. Only the command line and the environment can have it.
    SettingsFile(&'static str),
    /// Paths of files and folders with the input of the command.
    Paths(&'static str),
    /// Path of a folder.
    Folder(&'static str),
    /// Path of a folder of results.
    Results(&'static str),
    /// One of the values that the function returns.
    Choice(&'static str, fn() -> Vec<Named>),
    /// One of the values that the function returns. Its settings may follow a colon.
    Named(&'static str, fn() -> Vec<Named>),
    /// One of the values that the function returns, or `true` if only the name of the setting is given.
    FlagOr(&'static str, fn() -> Vec<Named>),
    /// A text, or `true` if only the name of the setting is given.
    FlagOrText(&'static str),
}

/// Kind of change that a setting makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The setting changes the results.
    Result,
    /// The setting changes only where the results are written, and the time and the memory that the run takes.
    Resources,
    /// The setting changes only what the program prints.
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
            excludes: &[],
            needs: None,
            required: Required::No,
            effect: Effect::Result,
            is_in_files: false,
            is_usual: false,
            is_on_engines: true,
        }
    }

    pub(super) const fn flag(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Flag, help)
    }

    pub(super) const fn value(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Value(value), help)
    }

    pub(super) const fn values(
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::Values(value), help)
    }

    pub(super) const fn path(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Path(value), help)
    }

    pub(super) const fn word_list(
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::WordList(value), help)
    }

    pub(super) const fn settings_file(
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::SettingsFile(value), help)
    }

    pub(super) const fn paths(name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Paths(value), help)
    }

    pub(super) const fn folder(
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::Folder(value), help)
    }

    pub(super) const fn results(
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::Results(value), help)
    }

    pub(super) const fn choice(
        name: &'static str,
        value: &'static str,
        choices: fn() -> Vec<Named>,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::Choice(value, choices), help)
    }

    pub(super) const fn named(
        name: &'static str,
        value: &'static str,
        choices: fn() -> Vec<Named>,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::Named(value, choices), help)
    }

    pub(super) const fn flag_or_text(
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::FlagOrText(value), help)
    }

    pub(super) const fn flag_or(
        name: &'static str,
        value: &'static str,
        choices: fn() -> Vec<Named>,
        help: &'static str,
    ) -> Self {
        Self::new(name, Kind::FlagOr(value, choices), help)
    }

    pub(super) const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    pub(super) const fn short(self, short: char) -> Self {
        Self { short: Some(short), ..self }
    }

    pub(super) const fn excluding(self, others: &'static [&'static str]) -> Self {
        Self { excludes: others, ..self }
    }

    pub(super) const fn required(self) -> Self {
        Self { required: Required::Always, ..self }
    }

    pub(super) const fn unless(self, other: &'static str) -> Self {
        Self { required: Required::Unless(other), ..self }
    }

    pub(super) const fn one_of(self, group: &'static str) -> Self {
        Self { required: Required::OneOf(group), ..self }
    }

    pub(super) const fn usual(self) -> Self {
        Self { is_usual: true, ..self }
    }

    pub(super) const fn not_on_engines(self) -> Self {
        Self { is_on_engines: false, ..self }
    }

    pub(super) const fn needing(self, other: &'static str) -> Self {
        Self { needs: Some(other), ..self }
    }

    pub(super) const fn explained_by(self, long_help: fn() -> String) -> Self {
        Self { long_help: Some(long_help), ..self }
    }

    pub(super) const fn printing(self) -> Self {
        Self { effect: Effect::Printing, ..self }
    }

    pub(super) const fn in_files(self) -> Self {
        Self { is_in_files: true, ..self }
    }

    pub(super) const fn of_resources(self) -> Self {
        Self { effect: Effect::Resources, ..self }
    }
}

impl Kind {
    /// Returns the name of the value in help. `None` for a flag.
    #[must_use]
    pub fn value_name(self) -> Option<&'static str> {
        match self {
            Self::Flag => None,
            Self::Value(name)
            | Self::Values(name)
            | Self::Path(name)
            | Self::WordList(name)
            | Self::SettingsFile(name)
            | Self::Paths(name)
            | Self::Folder(name)
            | Self::Results(name)
            | Self::Choice(name, _)
            | Self::Named(name, _)
            | Self::FlagOr(name, _)
            | Self::FlagOrText(name) => Some(name),
        }
    }

    /// Returns the values that a setting of this kind can have. Empty if there are too many to list.
    #[must_use]
    pub fn choices(self) -> Vec<Named> {
        match self {
            Self::Choice(_, choices) | Self::Named(_, choices) | Self::FlagOr(_, choices) => {
                choices()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the names of all values of `T`, each with its help.
pub(super) fn names<T: Choice>() -> Vec<Named> {
    T::ALL.iter().map(|choice| (choice.name(), choice.help())).collect()
}
