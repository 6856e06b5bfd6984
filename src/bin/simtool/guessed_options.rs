//! Advice for options that users of similar programs guess, and for commands that lack an option.

use simtool::options::Choice as _;
use simtool::run::guessed_setting;
use simtool::stages::passages::Cut;

/// Advice for a command line that lacks an option: the command, the beginning of the missing argument as the parser
/// shows it, and the advice.
const INCOMPLETE: &[(&str, &str, &str)] = &[
    (
        "contamination",
        "--in",
        "the documents to search are missing: `simtool contamination ITEMS --in PATH`",
    ),
    (
        "contamination",
        "--write-kept",
        "this option is for copies of the files, which `write_kept` writes to the folder `output`: \
         `simtool contamination ITEMS --in PATH --write-kept mask --output DIR`",
    ),
    (
        "contamination",
        "--output",
        "a folder for the copies or the stored parts is missing: add `output=DIR`",
    ),
    (
        "passages",
        "--write-kept",
        "this option is for copies of the files, which `write_kept` writes to the folder `output`: \
         `simtool passages PATH --write-kept --output DIR --cut first`",
    ),
    (
        "passages",
        "--output",
        "a folder for the copies or the stored parts is missing: add `output=DIR`",
    ),
];

/// Commands that users guess, and advice for each.
const COMMANDS: &[(&[&str], &str)] = &[
    (
        &["backup", "snapshot"],
        "to back up an index, copy its folder while nothing is added to it; `simtool index verify` checks a copy",
    ),
    (
        &["decontaminate"],
        "`simtool contamination ITEMS --in PATH` finds the items of an evaluation set in documents",
    ),
    (&["preview"], "`simtool dedup PATH --preview` shows what would be removed"),
    (&["annotate"], "`simtool dedup PATH --annotate` writes what became of each document"),
];

/// Returns advice for a command with this name. Returns `None` if nobody is known to guess it.
pub(crate) fn command_advice(name: &str) -> Option<&'static str> {
    let found = COMMANDS.iter().find(|(names, _)| names.contains(&name));
    found.map(|(_, advice)| *advice)
}

/// Returns advice for an option of `command` with this name, without its dashes. Returns `None` if nobody is known to
/// guess it.
pub(crate) fn advice(command: &str, option: &str) -> Option<&'static str> {
    guessed_setting(command, &option.replace('-', "_"))
}

/// Returns advice for a command line that lacks arguments, for example `--output <PATH>`. Returns `None` if the
/// message of the parser is enough.
pub(crate) fn completion(command: &str, missing: &[String]) -> Option<&'static str> {
    let lacks =
        |name: &str| missing.iter().any(|argument| argument.split(' ').next() == Some(name));
    // An option that lacks another one also lacks what that one needs. The table has the advice for both first.
    let found = INCOMPLETE.iter().find(|(of, name, _)| *of == command && lacks(name));
    found.map(|(_, _, advice)| *advice)
}

/// Returns an explanation of the values of an option, if their names alone say too little. `argument` is the option
/// as the parser shows it, for example `--cut <COPIES>`.
pub(crate) fn explained_values(argument: &str) -> Option<String> {
    let name = argument.split(' ').next().unwrap_or(argument);
    let explained = |choice: &Cut| format!("{}: {}", choice.name(), choice.help());
    (name == "--cut").then(|| Cut::ALL.iter().map(explained).collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console;
    use simtool::run::guessed_names;
    use simtool::setting::find_command;

    #[test]
    fn no_guessed_name_is_an_option_and_all_advised_options_exist() {
        for (command, name) in guessed_names() {
            // The calls of Python that have no command are tested with the keywords of Python.
            let Some(found) = find_command(command.unwrap_or("dedup")) else { continue };
            assert!(found.setting(name).is_none(), "{name} exists in {command:?}");
            let advice = advice(command.unwrap_or_default(), name).unwrap();
            check_settings(advice);
        }
        for (command, missing, advice) in INCOMPLETE {
            let name = missing.trim_start_matches('-').replace('-', "_");
            assert!(find_command(command).unwrap().setting(&name).is_some(), "{missing}");
            check_settings(advice);
        }
    }

    /// Checks that each setting in backquotes is an option.
    fn check_settings(advice: &str) {
        for quoted in advice.split('`').skip(1).step_by(2) {
            let name = quoted.split('=').next().unwrap();
            let is_command = name.starts_with("simtool ");
            assert!(is_command || console::option(name).is_some(), "`{name}` in {advice}");
        }
    }

    #[test]
    fn missing_arguments_and_values_are_explained() {
        let completion = |command: &str, missing: &[&str]| {
            let missing: Vec<String> =
                missing.iter().map(|&argument| argument.to_owned()).collect();
            completion(command, &missing).unwrap_or_default()
        };
        let cutting = completion("passages", &["--output <PATH>", "--write-kept"]);
        assert!(cutting.contains("--write-kept --output DIR"), "{cutting}");
        assert!(completion("contamination", &["--in <PATH>..."]).contains("ITEMS --in PATH"));
        assert_eq!(completion("dedup", &["--output <DIR>"]), "");
        assert!(
            explained_values("--cut <COPIES>").unwrap().starts_with("first: Keep the first copy")
        );
        assert_eq!(explained_values("--unit <UNIT>"), None);
    }
}
