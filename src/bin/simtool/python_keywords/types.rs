//! Generated modules of the Python package: the types of options, and the methods as classes.

use super::functions::{Function, Place};
use super::keyword::{Keyword, as_sentence};
use simtool::method::{Method, has_setting, own_settings};
use simtool::setting::{CommandKind, find_command};
use std::fmt::Write;

/// Number of options that a signature shows. Functions with more options show the common ones.
const SHOWN: usize = 6;
/// Options that most calls need.
const COMMON: [&str; SHOWN] =
    ["method", "similarity", "max_distance", "shingle", "keep", "threads"];
/// Beginning of generated modules with types.
const IMPORTS: &str = "from __future__ import annotations\n\n\
                       from collections.abc import Collection, Sequence\n\
                       from typing import Literal, TypedDict\n\n\
                       from ._types import _Integer, _Number, _Path\n";

/// The options of a function: those that its signature shows, and those that a type lists.
pub(super) struct Parts {
    pub(super) shown: Vec<Keyword>,
    pub(super) listed: Vec<Keyword>,
}

impl Parts {
    pub(super) fn new(function: &Function) -> Self {
        let all = function.keywords();
        let is_short = all.len() <= SHOWN;
        // The functions in Python pass all options on, so their signatures list none.
        let is_shown = |keyword: &Keyword| {
            let is_common = is_short || COMMON.contains(&keyword.name);
            function.place == Place::Compiled && is_common
        };
        let (shown, listed) = all.into_iter().partition(is_shown);
        Self { shown, listed }
    }
}

/// Returns the name of the type that lists options of a function.
pub(super) fn type_of(function: &Function) -> String {
    format!("{}Options", camel_case(function.name))
}

/// Returns the source of a Python module with a type for each function of `places`, which lists options of the
/// function. `types` is the Python module that has the types of single values.
pub(super) fn option_types(types: &str, places: &[Place]) -> String {
    let imports = IMPORTS.replace("._types", types);
    let mut module =
        format!("\"\"\"Types of options, generated from the program.\"\"\"\n\n{imports}");
    for place in places {
        for function in place.functions() {
            let listed = Parts::new(function).listed;
            if listed.is_empty() {
                continue;
            }
            let name = type_of(function);
            let _ = write!(
                module,
                "\n\nclass {name}(TypedDict, total=False):\n    \"\"\"Options of `{}`.\"\"\"\n\n",
                function.name
            );
            for Keyword { name, kind, .. } in listed {
                let _ = writeln!(module, "    {name}: {kind} | None");
            }
        }
    }
    module
}

/// Returns the module with a class for each method.
pub(super) fn methods() -> String {
    let mut module = "\"\"\"Methods as objects, generated from the program.\"\"\"\n\n\
                      from __future__ import annotations\n\n\
                      from collections.abc import Collection, Sequence\n\
                      from typing import Literal\n\n\
                      from ._method import Method\n\
                      from ._types import _Integer, _Number, _Path\n"
        .to_owned();
    let names: Vec<_> = Method::kinds().map(|(name, _)| class_name(name)).collect();
    let _ = writeln!(module, "\n__all__ = {names:?}");
    for (name, help) in Method::kinds() {
        module += &class(name, help);
    }
    module
}

/// Returns the class of a method.
fn class(method: &str, help: &str) -> String {
    let class = class_name(method);
    let settings = settings(method);
    let (name, value) = match method {
        "exact" => ("similarity", "0.9"),
        "covered" => ("shingle", "words:5"),
        _ => ("max_distance", "6"),
    };
    // Python writes texts in quotes, and the program writes none.
    let is_number = value.parse::<f64>().is_ok();
    let literal = if is_number { value.to_owned() } else { format!("'{value}'") };
    let mut text = format!("\n\nclass {class}(Method):\n");
    push_wrapped(&mut text, &format!("    \"\"\"{}", as_sentence(help)), "    ");
    let _ = write!(
        text,
        "\n        >>> simtool.{class}({name}={literal})\n        simtool.{class}({name}={literal})\n        \
         >>> str(simtool.{class}({name}={literal}))\n        '{method}:{name}={value}'\n\n    Options:\n"
    );
    for Keyword { name, help, .. } in &settings {
        push_wrapped(&mut text, &format!("        {name}: {help}"), "            ");
    }
    let _ = write!(
        text,
        "    \"\"\"\n\n    _name = \"{method}\"\n\n    def __new__(\n        cls,\n        *,\n"
    );
    for Keyword { name, kind, .. } in &settings {
        let _ = writeln!(text, "        {name}: {kind} | None = None,");
    }
    let _ = write!(text, "    ) -> {class}:\n        return cls._with(\n");
    for Keyword { name, .. } in &settings {
        let _ = writeln!(text, "            {name}={name},");
    }
    text + "        )\n"
}

/// Returns the settings of a method as keywords: those that only the method has, and those that are also options of the
/// program.
pub(super) fn settings(method: &str) -> Vec<Keyword> {
    let own = own_settings(method).into_iter().map(Keyword::of_method);
    let rows = find_command("dedup").into_iter().flat_map(CommandKind::settings);
    let shared = rows.filter(|row| has_setting(method, row.name)).map(Keyword::new);
    // A value that is not given must not be in the text of the method.
    own.chain(shared).map(|keyword| Keyword { default: "None".to_owned(), ..keyword }).collect()
}

/// Returns the name of the class of a method, for example `MinHash`.
fn class_name(method: &str) -> String {
    let name = camel_case(&method.replace('-', "_"));
    name.strip_suffix("hash").map(|start| format!("{start}Hash")).unwrap_or(name)
}

/// Returns `deduplicate_files` as `DeduplicateFiles`.
fn camel_case(name: &str) -> String {
    name.split('_').map(|word| as_sentence(word).replace('.', "")).collect()
}

/// Adds text in lines of at most 100 characters. The lines after the first one begin with `indent`.
pub(super) fn push_wrapped(text: &mut String, content: &str, indent: &str) {
    let start = content.len() - content.trim_start().len();
    let mut line = content[..start].to_owned();
    for (number, word) in content[start..].split(' ').enumerate() {
        if number > 0 && line.len() + word.len() >= 100 {
            let _ = writeln!(text, "{line}");
            line = indent.to_owned();
        } else if number > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(text, "{line}");
}
