//! Keyword arguments of the Python package, made from the arguments of the commands: their types and defaults in the
//! stubs, and their meanings in the docstrings. `UPDATE_GOLDEN=1 cargo test --bin simtool python_keywords` rewrites
//! them.

use crate::args::Args;
use clap::{Arg, ArgAction, Command, CommandFactory, ValueHint};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Function of the Python package that takes options of commands as keyword arguments.
struct Function {
    name: &'static str,
    /// Words of the command whose options the function takes.
    command: &'static str,
    /// Headings of the help under which these options are. Empty for all headings.
    headings: &'static [&'static str],
    /// Options that the function does not take.
    without: &'static [&'static str],
    /// Further options, each with the words of its command.
    also: &'static [(&'static str, &'static str)],
    place: Place,
}

/// Part of the package in which a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The compiled part. Docstrings are included in its sources.
    Compiled,
    /// The functions on files, whose docstrings get the options from a module.
    Files,
    /// The functions on Spark. Their docstrings refer to those of the compiled part.
    Spark,
}

impl Place {
    /// Returns the path of the stub below the folder of the package.
    fn stub(self) -> &'static str {
        match self {
            Self::Compiled => "simtool/_simtool.pyi",
            Self::Files => "simtool/_files.pyi",
            Self::Spark => "simtool/spark/__init__.pyi",
        }
    }

    fn functions(self) -> impl Iterator<Item = &'static Function> {
        FUNCTIONS.iter().filter(move |function| function.place == self)
    }
}

/// Heading of options that have none.
const PLAIN: &str = "";
/// Options of the program alone, because they change what it prints.
const OF_PROGRAM: [&str; 11] = [
    "dry_run",
    "explain",
    "help",
    "json",
    "preview",
    "print_config",
    "progress",
    "quiet",
    "stats",
    "verbose",
    "version",
];
/// Options that limit the resources of a run.
const RESOURCES: &[(&str, &str)] =
    &[("dedup", "threads"), ("dedup", "max_memory"), ("dedup", "tmp_dir")];
/// Options that cut passages out of copies.
const CUTTING: &[&str] = &["cut", "mask", "min_left", "write_kept"];

/// Options that engines do not support, and options whose values are arguments of their own on engines.
const NOT_ON_SPARK: &[&str] = &[
    "across",
    "against",
    "against_id_field",
    "against_text_field",
    "annotate",
    "boilerplate",
    "cluster_weight",
    "keep_count",
    "keep_field",
    "pairs",
    "prefer",
    "recall",
    "within",
];

const FUNCTIONS: &[Function] = &[
    Function {
        name: "deduplicate",
        command: "dedup",
        headings: &["Near-duplicates", "Fingerprints", "Keeping"],
        // The function has the values of the field as an argument of its own.
        without: &["keep_field", "pairs", "annotate", "cluster_weight"],
        also: RESOURCES,
        place: Place::Compiled,
    },
    Function {
        name: "match",
        command: "match",
        headings: &["Near-duplicates", "Fingerprints"],
        without: &["against", "against_text_field", "against_id_field"],
        also: RESOURCES,
        place: Place::Compiled,
    },
    Function {
        name: "fingerprint",
        command: "fingerprint",
        headings: &[PLAIN, "Fingerprints"],
        without: &[],
        also: RESOURCES,
        place: Place::Compiled,
    },
    Function {
        name: "compare",
        command: "dedup",
        headings: &["Near-duplicates", "Fingerprints"],
        without: &["within", "across", "boilerplate", "recall"],
        also: &[],
        place: Place::Compiled,
    },
    Function {
        name: "Index",
        command: "index create",
        headings: &[PLAIN, "Fingerprints"],
        without: &[],
        also: RESOURCES,
        place: Place::Compiled,
    },
    Function {
        name: "deduplicate_files",
        command: "dedup",
        headings: &[],
        without: &["output"],
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "match_files",
        command: "match",
        headings: &[],
        without: &["against", "output"],
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "preview_files",
        command: "dedup",
        headings: &["Near-duplicates", "Fingerprints", "Keeping", "Reading", "Running"],
        without: &["pairs", "annotate", "cluster_weight"],
        also: &[("match", "against_text_field"), ("match", "against_id_field")],
        place: Place::Files,
    },
    Function {
        name: "contamination_files",
        command: "contamination",
        headings: &[],
        without: &["in", "output"],
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "passages_files",
        command: "passages",
        headings: &[],
        without: CUTTING,
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "cut_passages_files",
        command: "passages",
        headings: &[],
        without: &["output", "write_kept"],
        also: &[],
        place: Place::Files,
    },
    Function {
        name: "deduplicate",
        command: "dedup",
        headings: &["Near-duplicates", "Fingerprints", "Keeping"],
        without: NOT_ON_SPARK,
        also: &[],
        place: Place::Spark,
    },
    Function {
        name: "match",
        command: "match",
        headings: &["Near-duplicates", "Fingerprints"],
        without: NOT_ON_SPARK,
        also: &[],
        place: Place::Spark,
    },
];

/// Values of options of the fingerprints, which the command line does not list.
const CHOICES: &[(&str, &[&str])] = &[
    ("hashing", &["one-permutation", "classical"]),
    ("lexicon_bits", &["own", "shared"]),
    ("measure", &["jaccard", "cosine"]),
];

/// Types of values by their names in the help. Values with other names are texts.
const TYPES: &[(&str, &str)] = &[
    ("N", INTEGER),
    ("K", INTEGER),
    ("BITS", INTEGER),
    ("COUNT", INTEGER),
    ("FACTOR", INTEGER),
    ("LOG", INTEGER),
    ("VOTES", "_Integer | str"),
    ("SIZE", "_Integer | str"),
    ("UNIT:N", "_Integer | str"),
    ("DOCUMENTS[:SITE]", "_Integer | str"),
    ("S", NUMBER),
    ("PART", NUMBER),
    ("SHARE", NUMBER),
];
const INTEGER: &str = "_Integer";
const NUMBER: &str = "_Number | str";

/// A keyword argument.
struct Keyword {
    name: String,
    kind: String,
    default: String,
    help: String,
}

impl Keyword {
    fn new(option: &Arg) -> Self {
        let name = keyword(option);
        let choices = choices(option, &name);
        let kind = kind(option, &choices);
        let default = default(option, &kind, &choices);
        let help = meaning(option, &choices);
        Self { name, kind, default, help }
    }
}

/// Returns the name of an option as a keyword.
fn keyword(option: &Arg) -> String {
    option.get_long().unwrap_or_default().replace('-', "_")
}

/// Returns the values of an option if there are only some.
fn choices(option: &Arg, name: &str) -> Vec<String> {
    let values = option.get_possible_values();
    let listed = values.iter().filter(|value| !value.is_hide_set());
    let listed: Vec<&str> = listed.map(clap::builder::PossibleValue::get_name).collect();
    let unlisted = CHOICES.iter().find(|(of, _)| *of == name && listed.is_empty());
    let values = unlisted.map_or(&listed[..], |(_, values)| values);
    values.iter().map(|&value| value.to_owned()).collect()
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
    if !choices.is_empty() {
        let values: Vec<String> = choices.iter().map(|value| format!("\"{value}\"")).collect();
        // A method may have options behind its name.
        let rest = if value == "METHOD" { " | str" } else { "" };
        return format!("Literal[{}]{rest}", values.join(", "));
    }
    let is_path = matches!(
        option.get_value_hint(),
        ValueHint::FilePath | ValueHint::DirPath | ValueHint::AnyPath
    );
    if is_path {
        return "_Path".to_owned();
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
        (None, Some(described), None) => described.split(']').next().unwrap_or("").to_owned(),
        _ => String::new(),
    };
    let is_number =
        text.parse::<f64>().is_ok() && kind.starts_with('_') && !kind.starts_with("_Path");
    let is_text = kind == "str" || choices.contains(&text) || kind == "_Integer | str";
    match &text[..] {
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
fn as_keywords(text: &str) -> String {
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

/// Returns the command with these words.
fn command(words: &str) -> Command {
    let mut command = Args::command();
    // Arguments get their defaults and actions when the command is built.
    command.build();
    for word in words.split(' ') {
        command = command.find_subcommand(word).unwrap().clone();
    }
    command
}

/// Returns the options of a command, with their names as keywords.
fn options(words: &str) -> Vec<(String, Arg)> {
    let command = command(words);
    let options = command.get_arguments().filter(|arg| arg.get_long().is_some());
    options.map(|option| (keyword(option), option.clone())).collect()
}

impl Function {
    fn keywords(&self) -> Vec<Keyword> {
        let mut taken = options(self.command);
        taken.retain(|(name, option)| {
            let heading = option.get_help_heading().unwrap_or(PLAIN);
            let is_here = self.headings.is_empty() || self.headings.contains(&heading);
            is_here && !self.without.contains(&&**name) && !OF_PROGRAM.contains(&&**name)
        });
        for (words, wanted) in self.also {
            let found = options(words).into_iter().find(|(name, _)| name == wanted);
            taken.push(found.unwrap());
        }
        let keywords = taken.iter().map(|(_, option)| Keyword::new(option));
        keywords.collect()
    }

    /// Returns the lines of the keywords in the signature of the stub.
    fn signature(&self) -> String {
        let mut lines = String::new();
        for Keyword { name, kind, default, .. } in self.keywords() {
            let is_method_of_spark = self.place == Place::Spark && name == "method";
            let default = if is_method_of_spark { "\"simhash\"" } else { &default };
            // None counts as not given.
            let _ = writeln!(lines, "    {name}: {kind} | None = {default},");
        }
        lines
    }

    /// Returns the part of the docstring about the keywords.
    fn docstring(&self) -> String {
        let mut text = "\nOptions:\n".to_owned();
        for Keyword { name, help, .. } in self.keywords() {
            let mut line = format!("    {name}:");
            for word in help.split(' ') {
                if line.len() + word.len() >= 100 {
                    let _ = writeln!(text, "{line}");
                    line = "       ".to_owned();
                }
                line.push(' ');
                line.push_str(word);
            }
            let _ = writeln!(text, "{line}");
        }
        text
    }
}

/// Returns a path below the folder of the Python package.
fn python(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("python").join(path)
}

/// Returns the text of a stub with new keywords in its signatures. Each list of keywords is between two comments.
fn with_keywords(stub: &str, place: Place) -> String {
    let mut text = stub.to_owned();
    for function in place.functions() {
        let indent = if function.name == "Index" { "        " } else { "    " };
        let begin = format!("{indent}# Options of {}, generated.\n", function.name);
        let start = text.find(&begin).unwrap_or_else(|| panic!("{} has no place", function.name));
        let start = start + begin.len();
        let end = text[start..].find(&format!("{indent}# End of the options.")).unwrap();
        let lines = function.signature().replace("    ", indent);
        text.replace_range(start..start + end, &lines);
    }
    text
}

/// Returns the module with the docstrings of the functions on files.
fn docstrings() -> String {
    let mut module = "\"\"\"Meanings of the options of the functions on files, generated from the program.\"\"\"\n\n\
        OPTIONS = {\n"
        .to_owned();
    for function in Place::Files.functions() {
        let text = function.docstring();
        assert!(!text.contains("\"\"\""), "{}", function.name);
        let _ = write!(module, "    \"{}\": r\"\"\"\n{text}\"\"\",\n", function.name);
    }
    module + "}\n"
}

/// Compares a file with its text, or writes the text if `UPDATE_GOLDEN` is set.
fn check(path: &str, text: &str) {
    let file = python(path);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        return fs::write(file, text).unwrap();
    }
    let kept = fs::read_to_string(file).unwrap_or_default();
    assert_eq!(kept, text, "UPDATE_GOLDEN=1 rewrites python/{path}");
}

#[test]
fn stubs_and_docstrings_have_the_options_of_the_program() {
    for place in [Place::Compiled, Place::Files, Place::Spark] {
        let text = fs::read_to_string(python(place.stub())).unwrap();
        check(place.stub(), &with_keywords(&text, place));
    }
    check("simtool/_options.py", &docstrings());
    for function in Place::Compiled.functions() {
        check(&format!("keywords/{}.txt", function.name), &function.docstring());
    }
}

#[test]
fn defaults_and_types_are_those_of_python() {
    let of = |function: &str| {
        let found = FUNCTIONS.iter().find(|known| known.name == function).unwrap();
        found.signature()
    };
    let deduplicate = of("deduplicate");
    for line in [
        "    similarity: _Number | str | None = None,",
        "    keep_count: _Integer | None = 1,",
        "    cluster: Literal[\"proven\", \"components\"] | None = \"proven\",",
        "    shingle: _Integer | str | None = \"words:3\",",
        "    tmp_dir: _Path | None = None,",
    ] {
        assert!(deduplicate.lines().any(|known| known == line), "{line}\n{deduplicate}");
    }
    let files = of("deduplicate_files");
    for line in [
        "    glob: str | Sequence[str] | None = None,",
        "    write_kept: bool | None = False,",
        "    text_field: str | None = \"text\",",
        "    config: _Path | None = None,",
    ] {
        assert!(files.lines().any(|known| known == line), "{line}\n{files}");
    }
    assert_eq!(as_keywords("as in --weight, with --no-mmap."), "as in `weight`, with `no_mmap`.");
}
