//! An option of the command line as a keyword argument of Python.

use clap::{Arg, ArgAction, ValueHint};
use simtool::fingerprint::SketchOption;
use simtool::setting::{Kind, find};
use std::fmt::Write;

/// Types of values by their names in the help. Values with other names are texts.
const TYPES: &[(&str, &str)] = &[
    ("N", INTEGER),
    ("K", INTEGER),
    ("FACTOR", INTEGER),
    ("LOG", INTEGER),
    ("SIZE", "_Integer | str"),
    ("UNIT:N", "_Integer | str"),
    ("DOCUMENTS[:SITE]", "_Integer | str"),
    ("N[:ORIGIN]", "_Integer | str"),
    ("S", NUMBER),
    ("SHARE", NUMBER),
    ("BITS", INTEGER),
    ("COUNT", INTEGER),
    ("PART", NUMBER),
    ("VOTES", "_Integer | str"),
];
/// Options whose values may also be a list of Python.
const LISTS: &[&str] = &["stop_words"];
const INTEGER: &str = "_Integer";
const NUMBER: &str = "_Number | str";

/// A keyword argument.
pub(super) struct Keyword {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) default: String,
    pub(super) help: String,
}

impl Keyword {
    pub(super) fn new(option: &Arg) -> Self {
        let name = keyword(option);
        let choices = choices(option);
        let kind = kind(option, &choices);
        let default = default(option, &kind, &choices);
        let help = meaning(option, &choices);
        Self { name, kind, default, help }
    }

    /// Returns the keyword for a setting that is written behind the name of a method.
    pub(super) fn of_method(option: &SketchOption) -> Self {
        let known = TYPES.iter().find(|(name, _)| *name == option.value);
        let kind = known.map_or("str", |(_, kind)| kind).to_owned();
        let help = as_keywords(&as_sentence(option.help));
        Self { name: option.name.to_owned(), kind, default: "None".to_owned(), help }
    }
}

/// Returns a phrase as a sentence, with a capital letter and a full stop.
pub(super) fn as_sentence(phrase: &str) -> String {
    let mut letters = phrase.trim_end_matches('.').chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}

/// Returns the name of an option as a keyword.
pub(super) fn keyword(option: &Arg) -> String {
    option.get_long().unwrap_or_default().replace('-', "_")
}

/// Returns the values of an option if there are only some.
fn choices(option: &Arg) -> Vec<String> {
    let values = option.get_possible_values();
    let listed = values.iter().filter(|value| !value.is_hide_set());
    let listed: Vec<&str> = listed.map(clap::builder::PossibleValue::get_name).collect();
    listed.into_iter().map(str::to_owned).collect()
}

fn is_flag(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::SetTrue)
}

/// Returns the type of the values of an option.
fn kind(option: &Arg, choices: &[String]) -> String {
    let value = option.get_value_names().and_then(|names| names.first());
    let value = value.map_or("", |name| name.as_str());
    if is_flag(option) {
        return "bool".to_owned();
    }
    let row = find(&keyword(option));
    if row.is_some_and(|row| matches!(row.kind, Kind::FlagOrText(_))) {
        return "str | bool".to_owned();
    }
    if !choices.is_empty() {
        // A flag that also has other values.
        let (flags, values): (Vec<&String>, Vec<&String>) =
            choices.iter().partition(|value| ["true", "false"].contains(&value.as_str()));
        let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
        // A method may have options behind its name.
        let rest = match (value, flags.is_empty()) {
            ("METHOD", _) => " | str",
            (_, false) => " | bool",
            _ => "",
        };
        return format!("Literal[{}]{rest}", values.join(", "));
    }
    let is_path = matches!(
        option.get_value_hint(),
        ValueHint::FilePath | ValueHint::DirPath | ValueHint::AnyPath
    );
    if is_path {
        let is_list = LISTS.contains(&keyword(option).as_str());
        let list = if is_list { " | Collection[str]" } else { "" };
        return format!("_Path{list}");
    }
    if matches!(option.get_action(), ArgAction::Append) {
        return "str | Sequence[str]".to_owned();
    }
    let known = TYPES.iter().find(|(name, _)| *name == value);
    known.map_or("str", |(_, kind)| kind).to_owned()
}

/// Returns the default of an option as a literal of Python. `None` if it depends on other options.
fn default(option: &Arg, kind: &str, choices: &[String]) -> String {
    if is_flag(option) {
        return "False".to_owned();
    }
    let given = option.get_default_values().first().map(|value| value.to_string_lossy());
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let mut described = help.split("[default: ").skip(1);
    let text = match (given, described.next(), described.next()) {
        (Some(given), ..) => given.into_owned(),
        // The default may itself have brackets.
        (None, Some(described), None) => {
            described.rfind(']').map_or(String::new(), |end| described[..end].to_owned())
        }
        _ => String::new(),
    };
    let is_number =
        text.parse::<f64>().is_ok() && kind.starts_with('_') && !kind.starts_with("_Path");
    let is_text = kind == "str" || choices.contains(&text) || kind == "_Integer | str";
    match &text[..] {
        "true" if kind.ends_with("bool") => "True".to_owned(),
        "false" if kind.ends_with("bool") => "False".to_owned(),
        "" => "None".to_owned(),
        number if is_number => number.to_owned(),
        text if is_text && !text.contains([' ', ',']) => format!("\"{text}\""),
        _ => "None".to_owned(),
    }
}

/// Returns the help text of an option as a sentence of a docstring.
fn meaning(option: &Arg, choices: &[String]) -> String {
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let mut text = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let default = option.get_default_values().first().map(|value| value.to_string_lossy());
    if let Some(default) = default.filter(|default| !is_flag(option) && !default.is_empty()) {
        text = format!("{} [default: {default}]", text.trim_end_matches('.'));
    }
    if !text.ends_with('.') {
        text.push('.');
    }
    if !choices.is_empty() {
        let _ = write!(text, " Values: {}.", choices.join(", "));
    }
    as_keywords(&text)
}

/// Returns a text in which options have their names in Python.
pub(super) fn as_keywords(text: &str) -> String {
    let mut written = String::new();
    let mut parts = text.split("--");
    written.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        let _ = write!(written, "`{}`{rest}", name.replace('-', "_"));
    }
    written
}
