//! Parses the arguments, and prints help or an error if there is no command to run.

use crate::args::{Call, CommandForm, program};
use crate::exit_status::ExitStatus;
use crate::{console, guessed_options};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use simtool::output::Annotation;
use simtool::setting::{
    CommandKind, GivenSetting, Origin, add_settings, commands, find, find_command,
    misspelt_variables, variable,
};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;

/// Text that `simtool` prints without arguments.
const FIRST_STEPS: &str = "\
simtool finds near-duplicate documents in large text collections.

  simtool dedup PATH...                     the near-duplicates of files and folders
  simtool match QUERIES... --against PATH   those of one collection in another
  simtool compare A B                       the similarity of two documents
  simtool N M                               the task of article.txt and sample.txt in this folder
  simtool --help                            all commands, with examples
";

/// Advice that is printed if N or M is wrong.
pub(crate) const HINT: &str = "type `simtool N M`, for example `simtool 1000 16`: N features, M \
                               bits; or `simtool dedup PATH`; `simtool --help` tells more";

/// Parses the arguments of the program, and adds the settings of the environment and of the settings file. If there is
/// no command to run, prints help, the version or an error, and returns the exit status as `Err`. `environment` has the
/// names and values of variables.
pub(crate) fn parse(
    arguments: &[OsString],
    environment: &[(OsString, OsString)],
) -> Result<Call, ExitStatus> {
    if arguments.len() < 2 {
        // If standard error is closed, there is no place left to report that.
        drop(io::stderr().write_all(FIRST_STEPS.as_bytes()));
        return Err(ExitStatus::Usage);
    }
    let form = form(&arguments[1..]);
    let complete = complete_call(form, arguments, environment).map_err(|error| {
        console::error(&console::explained(&error.into()));
        ExitStatus::Usage
    })?;
    let parsed = parse_with(form, arguments, complete.as_ref());
    if let (Err(ExitStatus::Usage), Some(complete)) = (&parsed, &complete) {
        complete.show_origins();
    }
    parsed
}

/// Returns the call with the settings of the environment and of the settings file. Ignores errors in the arguments,
/// because these settings may give missing ones. Returns `None` if there are no such settings, as in most calls.
fn complete_call(
    form: CommandForm,
    arguments: &[OsString],
    environment: &[(OsString, OsString)],
) -> Result<Option<Call>, simtool::Error> {
    // After `--`, every word is a path, even if it looks like an option.
    let mut options = arguments.iter().skip(1).take_while(|argument| *argument != "--");
    if let Some(error) = options.clone().find_map(refused) {
        return Err(error);
    }
    let names_file = |argument: &OsString| {
        let text = argument.to_string_lossy();
        text == "--config" || text.starts_with("--config=")
    };
    let prefix = variable("");
    let has_variables =
        environment.iter().any(|(name, _)| name.to_string_lossy().starts_with(&prefix));
    if !has_variables && !options.any(names_file) {
        return Ok(None);
    }
    let parser = form.parser(&[]).ignore_errors(true);
    let matches = parser.try_get_matches_from(arguments).unwrap_or_default();
    let Some(mut call) = form.call(&matches) else { return Ok(None) };
    let mut given = call.given().to_vec();
    let of_arguments = given.len();
    add_settings(call.command, &mut given, environment)?;
    call.extend(given.split_off(of_arguments));
    let misspelt = misspelt_variables(environment);
    for (wrong, right) in misspelt.iter().filter(|_| !call.has("quiet")) {
        console::note(&format!("environment {wrong} has no effect: did you mean {right}?"));
    }
    Ok(Some(call))
}

/// Returns an error if the argument is a setting that only settings files and the environment may have.
fn refused(argument: &OsString) -> Option<simtool::Error> {
    let text = argument.to_string_lossy();
    let option = text.strip_prefix("--")?;
    let name = option.split('=').next().unwrap_or(option);
    let row = find(&name.replace('-', "_")).filter(|row| row.is_in_files)?;
    let rule = format!(
        "is no option: set {} in the environment, or {} in a settings file, which --config names",
        variable(row.name),
        row.name
    );
    Some(simtool::Error::config("options", text.trim_end_matches('='), rule))
}

/// Parses the arguments. `complete` has the settings of the environment and of the settings file, if there are any.
fn parse_with(
    form: CommandForm,
    arguments: &[OsString],
    complete: Option<&Call>,
) -> Result<Call, ExitStatus> {
    if let Some(parts) = detached_parts(arguments) {
        let advice = format!("--annotate {parts}: join the two words with =: `--annotate={parts}`");
        console::error(&advice);
        return Err(ExitStatus::Usage);
    }
    let given = complete.map_or(&[][..], Call::given).iter();
    let later: Vec<GivenSetting> =
        given.filter(|setting| setting.origin != Origin::Argument).cloned().collect();
    let names: Vec<&str> = later.iter().map(|setting| setting.row.name).collect();
    let read = |form: CommandForm, arguments: &[OsString]| {
        let matches = form.parser(&names).try_get_matches_from(arguments)?;
        // Every command of the parser is in the table of commands.
        form.call(&matches).ok_or_else(|| Error::new(ErrorKind::MissingSubcommand))
    };
    let call = match read(form, arguments) {
        Err(error) if form == CommandForm::Command && is_wrong_n(&error, arguments) => {
            read(CommandForm::Reference, arguments)
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            read(CommandForm::Command, &help_of(form, arguments))
        }
        read => read,
    };
    let mut call = call.map_err(|error| show(form, &name_of_command(form, arguments), &error))?;
    for setting in &later {
        if let Err(rule) = setting.row.check(&setting.value) {
            let error = simtool::Error::config(setting.row.name, setting.value.display(), rule);
            console::error(&console::explained(&error.into()));
            return Err(ExitStatus::Usage);
        }
    }
    call.extend(later);
    note_small_memory(&call);
    // If an option came first, a word that may be a command was parsed as N.
    let first = call.value("features").filter(|_| form == CommandForm::Reference);
    match first.map(OsStr::to_string_lossy) {
        Some(word) if !is_number(&word) => {
            console::error(&unexpected_word(&word));
            Err(ExitStatus::Usage)
        }
        _ => Ok(call),
    }
}

/// Prints a note if a command limits the memory to less than the program itself needs. The note is the same for all
/// commands that work with limited memory, so it is printed here.
fn note_small_memory(call: &Call) {
    // The memory of `simtool plan` is that of other machines.
    let is_limit = call.command.setting("tmp_dir").is_some() && !call.has("quiet");
    let given = call.value("max_memory").filter(|_| is_limit);
    let note = given
        .and_then(|given| simtool::stages::resources::note_small_memory(&given.to_string_lossy()));
    if let Some(note) = note {
        console::note(&console::with_options(&note));
    }
}

/// Returns the value of `--annotate` if it is written as a separate word. The option may also be without a value, so
/// the parser would take this word for an input.
fn detached_parts(arguments: &[OsString]) -> Option<Cow<'_, str>> {
    let followed = arguments.windows(2).filter(|words| words[0] == "--annotate");
    let mut behind = followed.map(|words| &words[1]).filter(|word| !Path::new(word).exists());
    // A word that names a file is most likely an input.
    behind.find_map(|word| {
        let parts = word.to_string_lossy();
        Annotation::parse(&parts).is_ok().then_some(parts)
    })
}

/// Returns arguments that print the help of a form of the command line. A form that is not a command, such as
/// `simtool N M`, has the help of the command that does the same.
fn help_of(form: CommandForm, arguments: &[OsString]) -> Vec<OsString> {
    let name = match form {
        CommandForm::Command => return arguments.to_vec(),
        CommandForm::Reference => "reference",
        CommandForm::Corpus => "dedup",
    };
    let is_long = arguments.iter().any(|argument| argument == "--help");
    ["simtool", name, if is_long { "--help" } else { "-h" }].map(OsString::from).to_vec()
}

/// Returns whether the user most likely meant the form `simtool N M` with numbers N and M, but N is not a number. This
/// is assumed if the first argument resembles no command, and the second one is a number.
fn is_wrong_n(error: &Error, arguments: &[OsString]) -> bool {
    let is_unlike = error.get(ContextKind::SuggestedSubcommand).is_none();
    // A misspelled command is rarely followed by a number.
    let has_number = || arguments.get(2).is_some_and(|second| is_number(&second.to_string_lossy()));
    error.kind() == ErrorKind::InvalidSubcommand && is_unlike && has_number()
}

/// Returns the form of a command line. `arguments` are the arguments after the name of the program, at least
/// one.
pub(crate) fn form(arguments: &[OsString]) -> CommandForm {
    let first = arguments[0].to_string_lossy();
    if matches!(&*first, "-h" | "--help" | "-V" | "--version")
        || !first.starts_with('-') && !is_number(&first)
    {
        return CommandForm::Command;
    }
    let names_corpus = |argument: &OsString| {
        let argument = argument.to_string_lossy();
        let option = argument.split_once('=').map_or(&*argument, |(option, _)| option);
        ["--corpus", "--files-from"].contains(&option)
    };
    // After `--`, every word is a path, even if it looks like an option.
    let mut options = arguments.iter().take_while(|argument| *argument != "--");
    if options.any(names_corpus) { CommandForm::Corpus } else { CommandForm::Reference }
}

/// Returns whether a user who types this text probably means a number.
fn is_number(text: &str) -> bool {
    // Rust also parses `nan` and `inf` as numbers, but nobody means these.
    !text.ends_with(char::is_alphabetic) && text.parse::<f64>().is_ok()
}

/// Returns the name of the command of a command line. It is empty if the command does not exist.
fn name_of_command(form: CommandForm, arguments: &[OsString]) -> String {
    match form {
        // These forms have no word for their command.
        CommandForm::Reference => "reference".to_owned(),
        CommandForm::Corpus => "dedup".to_owned(),
        CommandForm::Command => {
            let first = arguments.get(1).cloned().unwrap_or_default();
            let program = program();
            let found = program.find_subcommand(first);
            found.map_or(String::new(), |command| command.get_name().to_owned())
        }
    }
}

fn show(form: CommandForm, command: &str, error: &Error) -> ExitStatus {
    // The user asked for help or the version, so a closed pipe is not an error.
    if !error.use_stderr() {
        return match error.print().and_then(|()| io::stdout().flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                console::error(&format!("cannot write to standard output: {error}"));
                ExitStatus::Failed
            }
            _ => ExitStatus::Done,
        };
    }
    match better(form, command, error) {
        Some(message) => console::error(&message),
        // If standard error is closed, there is no place left to report that.
        None => drop(error.print()),
    }
    ExitStatus::Usage
}

/// Returns a message for a parsing error that is more helpful than the message of clap. Returns `None` if
/// there is no better message.
fn better(form: CommandForm, command: &str, error: &Error) -> Option<String> {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let name = context(ContextKind::InvalidSubcommand)?;
            let meant = match error.get(ContextKind::SuggestedSubcommand) {
                Some(ContextValue::String(one)) => Some(one.as_str()),
                // The parser sorts suggestions by similarity, so the last one is the best.
                Some(ContextValue::Strings(several)) => several.last().map(String::as_str),
                _ => None,
            };
            Some(unknown_command(command, name, meant))
        }
        ErrorKind::UnknownArgument => {
            let argument = context(ContextKind::InvalidArg)?;
            unknown_argument(form, command, argument)
        }
        ErrorKind::MissingRequiredArgument => {
            let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else {
                return None;
            };
            guessed_options::completion(command, missing).map(str::to_owned)
        }
        ErrorKind::InvalidValue => {
            let argument = context(ContextKind::InvalidArg)?;
            let values = guessed_options::explained_values(argument)?;
            let value = context(ContextKind::InvalidValue).unwrap_or_default();
            Some(format!("invalid value '{value}' for '{argument}': {values}"))
        }
        _ => None,
    }
}

/// Returns a message for an argument that `command` does not have. Returns `None` if the message of the parser, which
/// suggests similar names, is better.
fn unknown_argument(form: CommandForm, command: &str, argument: &str) -> Option<String> {
    let Some(name) = argument.strip_prefix("--") else {
        let is_word = form == CommandForm::Reference && !argument.starts_with('-');
        return is_word.then(|| unexpected_word(argument));
    };
    if let Some(advice) = guessed_options::advice(command, name) {
        return Some(format!("unexpected argument '{argument}': {advice}"));
    }
    let advice = match (name, &commands_with(name)[..]) {
        ("corpus", _) => "paths stand alone, as in `simtool dedup PATH`".to_owned(),
        ("queries", _) => {
            "it goes with `simtool search`; documents are matched with `simtool match QUERIES --against PATH`".to_owned()
        }
        (_, []) => return None,
        (_, commands) => format!("it goes with {}", commands.join(", ")),
    };
    Some(format!("unexpected argument '{argument}': {advice}"))
}

/// Returns the message for an unknown command after `command`, which is empty or `index`. `meant` is the name of a
/// similar command, if there is one.
fn unknown_command(command: &str, name: &str, meant: Option<&str>) -> String {
    let program = program();
    // The suggestion may be an alias, but the message shows the name of the command.
    let known = meant.and_then(|meant| program.find_subcommand(meant));
    let advice = match (command, meant) {
        // If the first word is an existing path, the user most often means `dedup`.
        ("", _) if Path::new(name).exists() => {
            format!("to find the near-duplicates of this path, type `simtool dedup {name}`")
        }
        _ if let Some(advice) = guessed_options::command_advice(name) => advice.to_owned(),
        ("", _) if let Some(known) = known => {
            format!("did you mean `simtool {}`?", known.get_name())
        }
        ("", _) if find_command(&format!("index {name}")).is_some() => {
            format!("did you mean `simtool index {name}`?")
        }
        ("", _) => "`simtool --help` lists the commands".to_owned(),
        (_, Some(meant)) => format!("did you mean `simtool {command} {meant}`?"),
        (_, None) => format!("`simtool {command} --help` lists its commands"),
    };
    format!("there is no command '{name}': {advice}")
}

/// Returns the message for an unexpected word after N and M or after options.
fn unexpected_word(word: &str) -> String {
    if find_command(word).is_some() {
        let rule = format!("a command stands in front, its options behind it: `simtool {word} …`");
        return format!("unexpected argument '{word}': {rule}");
    }
    format!("unexpected argument '{word}': {HINT}")
}

/// Returns the names of the commands that have this option.
fn commands_with(option: &str) -> Vec<String> {
    let name = option.replace('-', "_");
    let found = commands().filter(|command| command.setting(&name).is_some());
    let words = found.map(CommandKind::words).filter(|words| !words.contains(' '));
    words.map(|words| format!("`simtool {words}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_line(line: &str) -> Result<clap::ArgMatches, Error> {
        let words = ["simtool"].into_iter().chain(line.split_whitespace());
        let arguments: Vec<OsString> = words.map(OsString::from).collect();
        form(&arguments[1..]).parser(&[]).try_get_matches_from(&arguments)
    }

    #[test]
    fn every_example_below_a_help_is_a_command_line() {
        let program = program();
        let nested = program.get_subcommands().flat_map(clap::Command::get_subcommands);
        for command in [&program].into_iter().chain(program.get_subcommands()).chain(nested) {
            let name = command.get_name();
            let below = command.get_after_long_help().map(ToString::to_string);
            let below = below.unwrap_or_default();
            let lines = below.lines().filter_map(|line| line.strip_prefix("  simtool "));
            // Redirections and further commands are for the shell, not for simtool.
            let end =
                |line: &str| [" > ", " < ", " && "].iter().filter_map(|mark| line.find(mark)).min();
            let lines = lines.map(|line| &line[..end(line).unwrap_or(line.len())]);
            let lines: Vec<&str> = lines.flat_map(|line| line.split(" | simtool ")).collect();
            assert!(!lines.is_empty(), "{name} has examples");
            for line in lines {
                let (of_simtool, _) = line.split_once(" | ").unwrap_or((line, ""));
                let read = read_line(of_simtool);
                assert!(read.is_ok(), "{name}: {line}: {}", read.unwrap_err());
            }
        }
    }

    #[test]
    fn the_first_argument_says_how_all_are_read() {
        let form_of = |line: &str| {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            form(&arguments)
        };
        for line in ["dedup --corpus x", "jion", "--help", "-V", "nan", "inf", "10k.jsonl"] {
            assert_eq!(form_of(line), CommandForm::Command, "{line}");
        }
        for line in ["1 4", "-q 1 4", "-1 4", "1e3 4", "--threads 4 dedup x", "1 4 -- --corpus"] {
            assert_eq!(form_of(line), CommandForm::Reference, "{line}");
        }
        for line in
            ["--corpus x", "1 4 --corpus=x", "-q --files-from list", "--queries y --corpus x"]
        {
            assert_eq!(form_of(line), CommandForm::Corpus, "{line}");
        }
    }

    #[test]
    fn options_of_the_environment_stand_in_for_arguments_that_are_missing() {
        let call = |line: &str, variables: &[(&str, &str)]| {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let variables: Vec<(OsString, OsString)> =
                variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
            parse(&arguments, &variables)
        };
        let output = [("SIMTOOL_OUTPUT", "a.f")];
        let made = call("simtool fingerprint a", &output).unwrap();
        assert_eq!(made.path("output"), Path::new("a.f"));
        assert!(call("simtool fingerprint a", &[]).is_err());
        let cut = call("simtool passages a --cut first -o b", &[("SIMTOOL_WRITE_KEPT", "true")]);
        assert!(cut.unwrap().has("write_kept"));
        let made = call("simtool generate --output a", &[("SIMTOOL_DOCUMENTS", "3")]).unwrap();
        assert_eq!(made.value("documents"), Some(OsStr::new("3")));
        assert!(call("simtool dedup a", &[("SIMTOOL_PROGRESS", "sometimes")]).is_err());
        let form = call("simtool 10 8 --corpus a", &[("SIMTOOL_THREADS", "5")]).unwrap();
        assert_eq!(form.value("threads"), Some(OsStr::new("5")));
        assert_eq!(
            call("simtool dedup -- --max-record --config", &output).unwrap().paths("paths").len(),
            2
        );
    }

    #[test]
    fn a_command_of_indexes_is_found_without_the_word_index() {
        let message = unknown_command("", "salvage", None);
        assert!(message.ends_with("did you mean `simtool index salvage`?"), "{message}");
    }
}
