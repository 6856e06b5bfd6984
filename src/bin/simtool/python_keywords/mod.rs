//! Keyword arguments of the Python package, made from the arguments of the commands: their types, their defaults in the
//! stubs, and their meanings in the docstrings. Methods become classes, whose arguments are their settings. The command
//! `UPDATE_GOLDEN=1 cargo test --bin simtool python_keywords` writes the stubs and docstrings again.

mod functions;
mod keyword;
mod types;

use functions::{FUNCTIONS, Function, Place};
use keyword::{Keyword, as_keywords};
use simtool::Config;
use simtool::method::Method;
use simtool::options::Options;
use simtool::output::Annotation;
use simtool::run::{
    self, AuditRequest, ContaminationRequest, PassagesRequest, Paths, Request, WhyRequest,
    guessed_names, guessed_setting,
};
use simtool::setting::{Effect, MEMORY, Setting, find, find_command};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use types::{Parts, methods, option_types, push_wrapped, settings, type_of};

impl Function {
    /// Returns the descriptions of the settings that the function takes.
    fn rows(&self) -> Vec<&'static Setting> {
        let command = find_command(self.command).unwrap();
        let is_here = |heading: &str| self.headings.is_empty() || self.headings.contains(&heading);
        let groups = command.groups.iter().filter(|group| is_here(group.heading));
        let mut rows: Vec<&Setting> = groups.flat_map(|group| group.rows).collect();
        // Only the program has settings that change what it prints.
        rows.retain(|row| !self.without.contains(&row.name) && row.effect != Effect::Printing);
        if self.place == Place::Spark {
            rows.retain(|row| row.is_on_engines);
        }
        if self.has_resources {
            rows.extend(find("threads").into_iter().chain(MEMORY));
        }
        for (words, name) in self.also {
            rows.push(find_command(words).unwrap().setting(name).unwrap());
        }
        rows
    }

    fn keywords(&self) -> Vec<Keyword> {
        let mut keywords: Vec<Keyword> = self.rows().into_iter().map(Keyword::new).collect();
        for keyword in &mut keywords {
            // Engines have the method that shuffles the fewest bytes by default.
            if self.place == Place::Spark && keyword.name == "method" {
                keyword.default = "\"simhash\"".to_owned();
                keyword.help = keyword.help.replace("[default: exact]", "[default: simhash]");
            }
        }
        keywords
    }

    /// Returns the keyword arguments of the function as lines of its signature. The signature is in the stub, a file
    /// with the types of the compiled functions.
    fn signature(&self) -> String {
        let Parts { shown, listed } = Parts::new(self);
        let rest = format!("    **options: Unpack[_option_types.{}],\n", type_of(self));
        parameters(&shown) + if listed.is_empty() { "" } else { &rest }
    }

    /// Returns the lines of the docstring that describe the keywords.
    fn docstring(&self) -> String {
        let mut text = "\nOptions:\n".to_owned();
        for Keyword { name, help, .. } in self.keywords() {
            push_wrapped(&mut text, &format!("    {name}: {help}"), "        ");
        }
        text
    }
}

/// Returns keywords as lines of a signature.
fn parameters(keywords: &[Keyword]) -> String {
    let mut lines = String::new();
    for Keyword { name, kind, default, .. } in keywords {
        // None counts as not given.
        let _ = writeln!(lines, "    {name}: {kind} | None = {default},");
    }
    lines
}

/// Returns a path below the folder of the Python package.
fn python(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("python").join(path)
}

/// Returns the text of the file with the types of the compiled functions, with the present keyword arguments in its
/// signatures. In `stub`, each list of keywords is between two comments.
fn with_keywords(stub: &str) -> String {
    let mut text = stub.to_owned();
    for function in Place::Compiled.functions() {
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

/// Returns the source of a Python module with the options of all functions in one part of the package. The docstrings
/// of these functions get the options from it.
fn docstrings(place: Place) -> String {
    let mut module =
        "\"\"\"Meanings of options and parameters, generated from the program.\"\"\"\n\n"
            .to_owned();
    if place == Place::Files {
        let progress = fs::read_to_string(python("parameters/progress.txt")).unwrap();
        let _ = write!(module, "PROGRESS = r\"\"\"{progress}\"\"\"\n\n");
    }
    module += "OPTIONS = {\n";
    for function in place.functions() {
        let text = function.docstring();
        assert!(!text.contains("\"\"\""), "{}", function.name);
        let _ = write!(module, "    \"{}\": r\"\"\"\n{text}\"\"\",\n", function.name);
    }
    module + "}\n"
}

/// Checks that the file at `path`, below the Python package, has the content `text`. If `UPDATE_GOLDEN` is set, writes
/// the text to the file instead.
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
    let stub = "simtool/_simtool.pyi";
    let text = fs::read_to_string(python(stub)).unwrap();
    check(stub, &with_keywords(&text));
    check("simtool/_options.py", &docstrings(Place::Files));
    check("simtool/_option_types.py", &option_types("._types", &[Place::Compiled, Place::Files]));
    // The functions on engines are in a package of their own.
    check("spark/simtool_spark/_options.py", &docstrings(Place::Spark));
    check("spark/simtool_spark/_option_types.py", &option_types("simtool._types", &[Place::Spark]));
    check("simtool/_methods.py", &methods());
    for function in Place::Compiled.functions() {
        check(&format!("keywords/{}.txt", function.name), &function.docstring());
    }
}

/// Returns sample values of a type: all values that are listed, or a number.
fn samples(keyword: &Keyword) -> Vec<String> {
    let listed: Vec<String> =
        keyword.kind.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    match &keyword.kind[..] {
        "bool" => vec!["true".to_owned()],
        _ if listed.is_empty() => vec!["5".to_owned()],
        _ => listed,
    }
}

/// Parses `options` as the Python function does. Returns the message of the error, or `None` if the options are right.
fn refusal(function: &Function, options: Options) -> Option<String> {
    let paths = || vec![PathBuf::from("in")];
    let parsed = match (function.place, function.name) {
        (Place::Files, "contamination_files") => {
            ContaminationRequest::parse(paths(), paths(), options).map(drop)
        }
        (Place::Files, "passages_files" | "cut_passages_files") => {
            PassagesRequest::parse(paths(), options).map(drop)
        }
        (Place::Files, "why") => WhyRequest::parse("out".into(), String::new(), options).map(drop),
        (Place::Files, "audit") => AuditRequest::parse("out".into(), options).map(drop),
        (Place::Files, "combine_files") => {
            run::combine(Path::new("nowhere"), &options, &mut Vec::new(), &run::Silent).map(drop)
        }
        (Place::Files, _) => {
            let queries = if function.command == "match" { paths() } else { Vec::new() };
            Request::parse(Paths { corpus: paths(), queries }, options).map(drop)
        }
        (Place::Compiled | Place::Spark, _) => {
            let mut options = options;
            // The package takes the options of the columns out first.
            if let Some(Err(error)) =
                options.take("annotate").map(|parts| Annotation::parse(&parts))
            {
                return Some(error.to_string());
            }
            // A sample chooses this method later.
            if options.get("method").as_deref() == Some("auto") {
                return None;
            }
            Config::parse(&mut options).map(drop)
        }
    };
    parsed.err().map(|error| error.to_string())
}

#[test]
fn the_library_knows_all_keywords_and_their_values() {
    // Options that only the package reads, and options of a match that a preview can be.
    let others = ["config", "no_mmap", "against_text_field", "against_id_field"];
    for function in FUNCTIONS {
        let keywords = function.keywords();
        let has_method = keywords.iter().any(|keyword| keyword.name == "method");
        for keyword in keywords.iter().filter(|keyword| !others.contains(&keyword.name)) {
            for value in samples(keyword) {
                let with = |method: Option<&str>| {
                    let mut options = Options::new();
                    if let Some(method) = method.filter(|_| has_method && keyword.name != "method")
                    {
                        options.set("method", method);
                    }
                    options.set(keyword.name, &value);
                    refusal(function, options)
                };
                let methods = Method::kinds().map(|(name, _)| Some(name)).chain([None]);
                // No method has all options, and a value may lack another option. An option or a value that is
                // unknown is unknown with every method.
                let rules: &[&str] = if keyword.kind.contains("Literal") {
                    &["no such option", "must be one of"]
                } else {
                    &["no such option"]
                };
                let is_known = |refusal: &Option<String>| {
                    let is_unknown = |text: &String| rules.iter().any(|rule| text.contains(rule));
                    !refusal.as_ref().is_some_and(is_unknown)
                };
                let refusals: Vec<Option<String>> = methods.map(with).collect();
                let place = format!("{}({}={value})", function.name, keyword.name);
                assert!(refusals.iter().any(is_known), "{place}: {refusals:?}");
            }
        }
    }
}

#[test]
fn methods_know_all_values_of_their_settings() {
    let mut values = 0;
    for (method, _) in Method::kinds() {
        for keyword in settings(method).iter().filter(|keyword| keyword.kind.contains("Literal")) {
            for value in samples(keyword) {
                let text = format!("{method}:{}={value}", keyword.name);
                let mut options = Options::new();
                options.set("method", &text);
                // A value may need another setting, or another method.
                let refused = Config::parse(&mut options).err().map(|error| error.to_string());
                let rule = format!("{} {value}: must be", keyword.name);
                let unknown = refused.filter(|refused| refused.contains(&rule));
                let is_of_sets = method == "exact" && keyword.name == "weight";
                assert!(unknown.is_none() || is_of_sets, "{text}: {unknown:?}");
                values += 1;
            }
        }
    }
    assert!(values > 10, "methods have settings with few possible values");
}

/// Python functions without a command have the names `texts` and `engine` in the table of guesses.
#[test]
fn guessed_keywords_are_answered_with_keywords_of_the_function() {
    let of = |place: Place, name: &str| {
        let found = place.functions().find(|known| known.name == name).unwrap();
        found.keywords().into_iter().map(|keyword| keyword.name).collect::<Vec<_>>()
    };
    for (call, own, keywords) in [
        (
            "texts",
            &["against", "column", "hash_seeds", "keep_field"][..],
            of(Place::Compiled, "deduplicate"),
        ),
        (
            "engine",
            &["against", "text_column", "id_column", "partitions"],
            of(Place::Spark, "deduplicate"),
        ),
    ] {
        for (command, name) in guessed_names() {
            // The functions have some of these names as arguments of their own.
            if command.is_some_and(|command| command != call) || own.contains(&name) {
                continue;
            }
            let advice = guessed_setting(call, name).unwrap();
            assert!(!keywords.contains(&name), "{name} is a keyword of {call}");
            for quoted in advice.split('`').skip(1).step_by(2) {
                let keyword = quoted.split('=').next().unwrap();
                let is_known = own.contains(&keyword) || keywords.contains(&keyword);
                // Functions are named with the package, and commands with the program.
                assert!(is_known || quoted.starts_with("simtool"), "{call}({name}): {advice}");
            }
        }
    }
}

#[test]
fn defaults_and_types_are_those_of_python() {
    let of = |function: &str| {
        let found = FUNCTIONS.iter().find(|known| known.name == function).unwrap();
        parameters(&found.keywords())
    };
    let deduplicate = of("deduplicate");
    for line in [
        "    similarity: _Number | str | None = None,",
        "    keep_count: _Integer | None = 1,",
        "    cluster: Literal[\"proven\", \"components\"] | None = \"proven\",",
        "    shingle: _Integer | str | None = None,",
        "    tmp_dir: _Path | None = None,",
        "    stop_words: _Path | Collection[str] | None = None,",
    ] {
        assert!(deduplicate.lines().any(|known| known == line), "{line}\n{deduplicate}");
    }
    let files = of("deduplicate_files");
    for line in [
        "    glob: str | Sequence[str] | None = None,",
        "    write_kept: Literal[\"readable\"] | bool | None = False,",
        "    annotate: str | bool | None = False,",
        "    text_field: str | None = \"text\",",
        "    config: _Path | None = None,",
    ] {
        assert!(files.lines().any(|known| known == line), "{line}\n{files}");
    }
    assert!(of("contamination_files").contains("    mask: str | None = \"[...]\",\n"));
    assert_eq!(as_keywords("as in --weight, with --no-mmap."), "as in `weight`, with `no_mmap`.");
}
