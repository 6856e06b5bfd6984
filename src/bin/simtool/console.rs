//! Prints data to standard output and all messages to standard error.

use anyhow::Context;
use simtool::pipeline::timings::Count;
use simtool::run::spell_settings;
use simtool::setting::{find, variable};
use simtool::stages::quantity::bytes;
use simtool::stages::resources::peak_memory;
use simtool::{Error, ErrorKind};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::Duration;
use terminal_size::{Width, terminal_size_of};

/// Prints data to standard output.
pub(crate) fn out(bytes: &[u8]) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    written.map_err(|error| Error::io("standard output", "write to", error))
}

/// Prints text for people to standard output. On a terminal, long lines are wrapped between words.
pub(crate) fn out_wrapped(text: &str) -> Result<(), Error> {
    let width = width_of(&io::stdout());
    let shown = |line: &str| {
        // A command is copied, so it stays one line.
        let width = width.filter(|_| !line.starts_with(COMMAND));
        wrapped(line, width, indent_of(line)) + "\n"
    };
    let lines = text.lines().map(shown);
    out(lines.collect::<String>().as_bytes())
}

/// Beginning of a line with a command that shows more.
const COMMAND: &str = "more: ";

/// Prints the report of a command whose `results`, for example "the results in out", are complete already.
pub(crate) fn report(bytes: &[u8], results: &str) -> anyhow::Result<()> {
    out(bytes)
        .with_context(|| format!("{results} are complete, but their report cannot be printed"))
}

/// Prints an error message to standard error.
pub(crate) fn error(message: &str) {
    line("error", message);
}

/// Returns the text of an error and its causes. Settings of the library are named as command line options.
pub(crate) fn explained(error: &anyhow::Error) -> String {
    match error.downcast_ref::<Error>().map(Error::kind) {
        Some(ErrorKind::Config { field, value, rule }) => {
            let option = option(field).unwrap_or((*field).into());
            // People write a flag without a value.
            match value.as_str() {
                "" | "true" => format!("{option}: {rule}"),
                _ => format!("{option} {value}: {rule}"),
            }
        }
        _ => format!("{error:#}"),
    }
}

/// Returns `message` with each setting in backquotes replaced by its option, for example `--text-field`.
pub(crate) fn with_options(message: &str) -> String {
    spell_settings(message, &option)
}

/// Returns the command line option for a setting of the library, or its variable of the environment if the command line
/// has none. `None` if no command has such a setting.
pub(crate) fn option(field: &str) -> Option<String> {
    let row = find(&field.replace('-', "_"))?;
    let name = || format!("--{}", row.name.replace('_', "-"));
    Some(if row.is_in_files { variable(row.name) } else { name() })
}

/// Selects the notes and faults that are shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Verbosity {
    /// Whether all faults are shown, and not only the first ones of each kind.
    pub(crate) verbose: bool,
    /// Whether only losses of data are shown, and no notes.
    pub(crate) quiet: bool,
}

/// Prints a note to standard error.
pub(crate) fn note(message: &str) {
    line("note", message);
}

/// Prints a warning to standard error.
pub(crate) fn warning(message: &str) {
    line("warning", message);
}

/// Prints statistics or a plan to standard error, without a prefix. Errors of printing are ignored.
pub(crate) fn stats(text: &str) {
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

/// Returns a line for each stage with its time, its share of the total time and its counts. A last line has
/// the peak memory if the system reports it.
pub(crate) fn stage_times(stages: &[(&str, Duration)], counts: &[Count]) -> String {
    let mut text = String::new();
    // Shares are computed from the sum of all stages, so that they add up to 100 %.
    let total: Duration = stages.iter().map(|(_, time)| *time).sum();
    for (stage, time) in stages {
        let share = 100.0 * time.as_secs_f64() / total.as_secs_f64().max(1e-9);
        let milliseconds = time.as_secs_f64() * 1e3;
        // Writing to a string cannot fail.
        let _ = write!(text, "{stage:<20} {milliseconds:>9.2} ms {share:>5.1} %");
        let of_stage = counts.iter().filter(|count| count.stage == *stage);
        for (number, Count { what, count, .. }) in of_stage.enumerate() {
            let _ = write!(text, "{} {count} {what}", if number == 0 { "  " } else { "," });
        }
        text.push('\n');
    }
    if let Some(peak) = peak_memory() {
        let _ = writeln!(text, "{:<20} {:>12}, maps included", "peak memory", bytes(peak));
    }
    text
}

/// Number of spaces before the lines of a wrapped message, except the first line.
const INDENT: usize = 4;
/// Maximum number of columns of the title at the beginning of a line, for example `removed` with the spaces and `|`
/// behind it.
const TITLE: usize = 24;
/// Minimum width of a terminal on which messages are wrapped. On a narrower one, a wrapped message is no easier to
/// read.
const MIN_WRAPPED: usize = 40;

fn line(kind: &str, message: &str) {
    // File names and IDs come from the input, and control characters in them must not reach the terminal.
    let shown: String = with_options(message)
        .chars()
        .flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] })
        .collect();
    let text = wrapped(&format!("simtool: {kind}: {shown}"), width_of(&io::stderr()), INDENT);
    // If standard error is closed, there is no place left to report that.
    drop(writeln!(io::stderr().lock(), "{text}"));
}

/// Returns the width in columns of the terminal on which `stream` is shown. Returns `None` if the stream is a file or
/// a pipe.
#[cfg(unix)]
fn width_of(stream: &impl std::os::fd::AsFd) -> Option<usize> {
    let (Width(columns), _) = terminal_size_of(stream)?;
    Some(columns.into())
}

#[cfg(windows)]
fn width_of(stream: &impl std::os::windows::io::AsHandle) -> Option<usize> {
    let (Width(columns), _) = terminal_size_of(stream)?;
    Some(columns.into())
}

/// Returns the column at which a wrapped line goes on: after its title, or below its first word.
fn indent_of(line: &str) -> usize {
    let begin = line.len() - line.trim_start_matches(' ').len();
    // Titles and columns of a table are apart by at least two spaces.
    let Some(gap) = line[begin..].find("  ") else { return begin };
    let rest = line[begin + gap..].trim_start_matches([' ', '|']);
    let column = line.len() - rest.len();
    if column <= TITLE { column } else { begin }
}

/// Returns `text` with line ends between words, so that no line has more than `width` columns. Lines after the
/// first one begin with `indent` spaces. A longer word, such as a path, stays whole. Without a width, the text
/// stays one line.
fn wrapped(text: &str, width: Option<usize>, indent: usize) -> String {
    let Some(width) = width.filter(|width| *width >= MIN_WRAPPED) else { return text.to_owned() };
    let mut lines = String::new();
    let mut column = 0;
    // Spaces at the beginning and between columns of a table stay.
    for word in text.split_inclusive(' ') {
        let length = columns_of(word.trim_end_matches(' '));
        if column > indent && column + length > width {
            lines.truncate(lines.trim_end_matches(' ').len());
            lines.push('\n');
            lines.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        }
        lines.push_str(word);
        column += columns_of(word);
    }
    lines
}

/// Returns the number of columns of a word. Codes of colours have none.
fn columns_of(word: &str) -> usize {
    let mut is_code = false;
    let is_shown = |c: char| {
        is_code |= c == '\x1b';
        let is_shown = !is_code;
        is_code &= c != 'm';
        is_shown
    };
    // Letters that are two columns wide are counted as one, so lines with many of them are longer.
    word.chars().map(is_shown).filter(|is_shown| *is_shown).count()
}

/// Returns whether an error only means that the reader of the output closed the pipe, which is not a failure.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

#[cfg(test)]
mod tests {
    use super::{INDENT, indent_of, option, with_options, wrapped};

    #[test]
    fn no_option_has_the_variable_of_another_purpose() {
        for name in ["data", "isa", "html5lib", "kills", "bench-bytes", "bench-text", "spark-all"] {
            assert_eq!(option(name), None, "{name}");
        }
    }

    #[test]
    fn settings_are_shown_as_options_and_other_text_as_it_is() {
        let shown = with_options("name it with `text_field`, not `x y`, or `nothing`; a ` alone");
        assert_eq!(shown, "name it with --text-field, not `x y`, or `nothing`; a ` alone");
    }

    #[test]
    fn messages_are_wrapped_between_words() {
        let path = "a/path/that/is/longer/than/the/forty/columns/of/the/terminal";
        let text = format!("simtool: note: one two three four five six {path} seven é é é");
        let expected =
            format!("simtool: note: one two three four five\n    six\n    {path}\n    seven é é é");
        assert_eq!(wrapped(&text, Some(40), INDENT), expected);
        assert_eq!(wrapped(&text, None, INDENT), text);
        assert_eq!(wrapped(&text, Some(20), INDENT), text);
    }

    #[test]
    fn lines_with_a_title_go_on_behind_it() {
        for (line, expected) in [
            (
                "    removed   | one two three four five six seven",
                "    removed   | one two three four five\n                six seven",
            ),
            (
                "  a note of words without any title at all",
                "  a note of words without any title at\n  all",
            ),
            ("  removed                   7  11.7 %", "  removed                   7  11.7 %"),
            (
                "\x1b[9;31mone\x1b[0m two three four five six seven eight nine",
                "\x1b[9;31mone\x1b[0m two three four five six seven eight\nnine",
            ),
        ] {
            assert_eq!(wrapped(line, Some(40), indent_of(line)), expected);
        }
    }
}
