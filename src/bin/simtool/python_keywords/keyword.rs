//! An option of the command line as a keyword argument of Python.

use simtool::setting::{Kind, Setting};
use simtool::stages::fingerprint::SketchOption;
use std::fmt::Write;

/// Python types of values, by the placeholder of the value in the help, such as `N`. Values with other placeholders are
/// strings.
const TYPES: &[(&str, &str)] = &[
    ("N", INTEGER),
    ("K", INTEGER),
    ("FACTOR", INTEGER),
    ("LOG", INTEGER),
    ("SIZE", "_Integer | str"),
    ("UNIT:N", "_Integer | str"),
    ("DOCUMENTS[:SITE]", "_Integer | str"),
    ("N[:ORIGIN]", "_Integer | str"),
    ("N[%]", "_Integer | str"),
    ("S", NUMBER),
    ("SHARE", NUMBER),
    ("BITS", INTEGER),
    ("COUNT", INTEGER),
    ("PART", NUMBER),
    ("VOTES", "_Integer | Literal[\"sum\"]"),
];
const INTEGER: &str = "_Integer";
const NUMBER: &str = "_Number | str";

/// A keyword argument.
pub(super) struct Keyword {
    pub(super) name: &'static str,
    pub(super) kind: String,
    pub(super) default: String,
    pub(super) help: String,
}

impl Keyword {
    pub(super) fn new(row: &'static Setting) -> Self {
        let kind = kind(row);
        let default = default(row, &kind);
        Self { name: row.name, kind, default, help: meaning(row) }
    }

    /// Returns the keyword for `option`, a setting of a method that the program takes after the name of the method, as
    /// in `simhash:bits=128`.
    pub(super) fn of_method(option: &SketchOption) -> Self {
        let known = TYPES.iter().find(|(name, _)| *name == option.value);
        let kind = if option.value.contains('|') {
            format!("Literal[\"{}\"]", option.value.replace('|', "\", \""))
        } else {
            known.map_or("str", |(_, kind)| kind).to_owned()
        };
        let help = as_keywords(&as_sentence(option.help));
        Self { name: option.name, kind, default: "None".to_owned(), help }
    }
}

/// Returns a phrase as a sentence, with a capital letter and a full stop.
pub(super) fn as_sentence(phrase: &str) -> String {
    let mut letters = phrase.trim_end_matches('.').chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}

/// Returns the type of the values of a setting.
fn kind(row: &Setting) -> String {
    let choices = row.kind.choices();
    let names = choices.iter().map(|(name, _)| *name);
    let texts = names.filter(|name| !["true", "false"].contains(name));
    let texts = texts.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    match row.kind {
        Kind::Flag => "bool".to_owned(),
        Kind::FlagOrText(_) => "str | bool".to_owned(),
        Kind::Choice(..) => format!("Literal[{texts}]"),
        // A method may have options behind its name.
        Kind::Named(..) => format!("Literal[{texts}] | str"),
        Kind::FlagOr(..) => format!("Literal[{texts}] | bool"),
        Kind::Values(_) => "str | Sequence[str]".to_owned(),
        Kind::WordList(_) => "_Path | Collection[str]".to_owned(),
        Kind::Path(_)
        | Kind::SettingsFile(_)
        | Kind::Paths(_)
        | Kind::Folder(_)
        | Kind::Results(_) => "_Path".to_owned(),
        Kind::Value(value) => {
            let known = TYPES.iter().find(|(name, _)| *name == value);
            known.map_or("str", |(_, kind)| kind).to_owned()
        }
    }
}

/// Returns the default that the description of a setting states. A setting that may be a flag and states no default is
/// off by default.
fn given_default(row: &Setting) -> Option<&'static str> {
    let is_flag = matches!(row.kind, Kind::FlagOr(..) | Kind::FlagOrText(_));
    row.default.or(is_flag.then_some("false"))
}

/// Returns the first paragraph of the help of a setting, without the dot at its end.
fn short_help(row: &Setting) -> &'static str {
    let help = row.help.split("\n\n").next().unwrap_or_default();
    help.strip_suffix('.').unwrap_or(help)
}

/// Returns the default of a setting as a literal of Python. `None` if it depends on other settings.
fn default(row: &Setting, kind: &str) -> String {
    if matches!(row.kind, Kind::Flag) {
        return "False".to_owned();
    }
    let mut described = short_help(row).split("[default: ").skip(1);
    let text = match (given_default(row), described.next(), described.next()) {
        (Some(given), ..) => given,
        // The default may itself have brackets.
        (None, Some(described), None) => described.rfind(']').map_or("", |end| &described[..end]),
        _ => "",
    };
    let is_number =
        text.parse::<f64>().is_ok() && kind.starts_with('_') && !kind.starts_with("_Path");
    let is_choice = row.kind.choices().iter().any(|(name, _)| *name == text);
    let is_text = kind == "str" || is_choice || kind == "_Integer | str";
    match text {
        "true" if kind.ends_with("bool") => "True".to_owned(),
        "false" if kind.ends_with("bool") => "False".to_owned(),
        "" => "None".to_owned(),
        number if is_number => number.to_owned(),
        text if is_text && !text.contains([' ', ',']) => format!("\"{text}\""),
        _ => "None".to_owned(),
    }
}

/// Returns the help text of a setting as a sentence of a docstring.
fn meaning(row: &Setting) -> String {
    let mut text = short_help(row).to_owned();
    if let Some(default) = given_default(row) {
        text = format!("{} [default: {default}]", text.trim_end_matches('.'));
    }
    if !text.ends_with('.') {
        text.push('.');
    }
    let choices = row.kind.choices();
    if !choices.is_empty() {
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let _ = write!(text, " Values: {}.", names.join(", "));
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
