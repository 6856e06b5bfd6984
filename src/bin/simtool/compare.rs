//! `simtool compare A B`: compares two documents and shows where they differ.

use crate::args::Call;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use simtool::method::Terms;
use simtool::pipeline::compare::Comparison;
use simtool::run::{self, CompareRequest, NamedDocument};
use simtool::stages::byte_text::path_text;
use simtool::stages::json_text;
use simtool::stages::quantity::bytes;
use simtool::stages::similarity::Similarity;
use simtool::write::text_difference::{Piece, Shown, text_difference};
use std::env;
use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Limits of the printed differences: the number of equal words before and after each difference, and the
/// number of words in all.
const SHOWN: Shown = Shown { context: 20, words: 2000 };

/// Maximum number of documents with the ID of a compared document that are listed.
const LISTED_OTHERS: usize = 10;

/// Compares two documents, and prints their similarity, distance and differences.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let names = [call.path("left"), call.path("right")];
    let request = CompareRequest::parse(names.clone(), call.options())?;
    let terminal = Terminal::new(call);
    let compared = run::compare(&request, &terminal)?;
    show_documents(&compared.documents, &terminal);
    let mut timings = compared.timings;
    let shingle = compared.method.compared();
    let texts = [0, 1].map(|side| shingle.compared_text(&compared.documents[side].document.text));
    let texts = texts.each_ref().map(|text| &**text);
    let paths = names.each_ref().map(PathBuf::as_path);
    let text = if call.has("json") {
        json(paths, shingle, &compared.comparison)?
    } else {
        readable(paths, shingle, &compared.comparison, texts, &Marks::for_terminal())
    };
    // The differences are found while the text is built, so the stage ends here.
    timings.end("find differences");
    if call.has("stats") {
        console::stats(&console::stage_times(timings.stages(), timings.counts()));
    }
    if call.has("json") {
        console::out(text.as_bytes())?;
    } else {
        console::out_wrapped(&text)?;
    }
    Ok(ExitStatus::Done)
}

/// Returns a note about `others`, which are further documents with the ID that the user gave, each as `FILE:RECORD`.
/// The note lists at most `listed` of these documents.
pub(crate) fn others_of_id(others: &[String], listed: usize) -> String {
    let count = others.len();
    let shown = others[..count.min(listed)].join(", ");
    let more = if count > listed { ", …" } else { "" };
    format!("{count} more of this ID: {shown}{more}; FILE:RECORD names one")
}

/// Prints the size and format of both documents, and warnings about their files.
fn show_documents(documents: &[NamedDocument; 2], terminal: &Terminal) {
    for (NamedDocument { document, file, others, .. }, name) in documents.iter().zip(["A", "B"]) {
        if !others.is_empty() {
            terminal.note(&format!("{name}: {}", others_of_id(others, LISTED_OTHERS)));
        }
        if let Some(left_out) = document.left_out() {
            terminal.note(&format!("{name}: {left_out}"));
        }
        let record = document.record;
        let format = document.format;
        let size = bytes(document.text.len() as u64);
        terminal.detail(&format!("{name}: {file}:{record}, {format}, {size} of text"));
        terminal.end(&document.faults);
    }
}

/// Text to print before and after words that only one document has, and around notes about omitted words.
pub(crate) struct Marks {
    left: [&'static str; 2],
    right: [&'static str; 2],
    quiet: [&'static str; 2],
}

impl Marks {
    const PLAIN: Self = Self { left: ["[-", "-]"], right: ["{+", "+}"], quiet: ["", ""] };
    const COLOURS: Self = Self {
        left: ["\x1b[9;31m", "\x1b[0m"],
        right: ["\x1b[4;32m", "\x1b[0m"],
        quiet: ["\x1b[2m", "\x1b[0m"],
    };

    /// Returns terminal colours as marks if standard output is a terminal and `NO_COLOR` is not set.
    /// Otherwise returns plain text as marks.
    pub(crate) fn for_terminal() -> Self {
        let colours = io::stdout().is_terminal()
            && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        if colours { Self::COLOURS } else { Self::PLAIN }
    }
}

/// Returns a similarity with four digits. It is rounded down, so that a similarity below a limit never seems to reach
/// it.
pub(crate) fn four_digits(similarity: f64) -> String {
    // The product of a number with four digits may be a little less than a whole number.
    format!("{:.4}", (similarity * 1e4 + 1e-6).floor() / 1e4)
}

/// Returns how many shingles two texts share, as text.
pub(crate) fn shared_shingles(comparison: &Comparison) -> String {
    format!("{} of {} shingles", comparison.shared, comparison.union())
}

/// Returns a remark if two texts share all shingles but are not equal. Otherwise returns an empty text.
pub(crate) fn other_sequence(comparison: &Comparison) -> &'static str {
    let are_equal = comparison.similarity == Some(Similarity::ONE);
    if comparison.shared == comparison.union() && !are_equal {
        "; their order, repetitions or symbols differ"
    } else {
        ""
    }
}

fn readable(
    paths: [&Path; 2],
    shingle: &Terms,
    comparison: &Comparison,
    texts: [&[u8]; 2],
    marks: &Marks,
) -> String {
    let similarity = comparison.similarity.map_or_else(
        || "none: neither document has a word".to_owned(),
        |similarity| {
            let digits = four_digits(similarity.ratio());
            let shared = shared_shingles(comparison);
            format!("{digits}  ({shared}, {shingle}, in both{})", other_sequence(comparison))
        },
    );
    let distance = comparison.distance.map_or_else(
        || "none: a document without words has no fingerprint".to_owned(),
        |distance| format!("{distance} of {} (SimHash of the same shingles)", comparison.shape),
    );
    let mut out = format!("similarity  {similarity}\ndistance    {distance}\n");
    for ((name, path), count) in ["A", "B"].iter().zip(paths).zip(comparison.shingles) {
        let path = shown(&path_text(path));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name}           {path}, {count} distinct shingles");
    }
    out + &difference(texts, ["A", "B"], marks)
}

/// Returns the differences between two texts as text. A line above them explains the marks.
pub(crate) fn difference(texts: [&[u8]; 2], names: [&str; 2], marks: &Marks) -> String {
    let [of_left, of_right] = [marks.left, marks.right].map(|[from, to]| format!("{from}text{to}"));
    let [left, right] = names;
    let mut out = format!("\n{of_left} in {left} alone, {of_right} in {right} alone\n\n");
    let [left_text, right_text] = texts.map(String::from_utf8_lossy);
    for piece in text_difference(&left_text, &right_text, SHOWN) {
        // Notes about omitted words are dimmed, so that they do not look like text of a document.
        let [from, to] = marks.quiet;
        let _ = match piece {
            Piece::Both(text) => write!(out, "{}", shown(text)),
            Piece::Left(text) => marked(&mut out, text, marks.left),
            Piece::Right(text) => marked(&mut out, text, marks.right),
            Piece::Equal(count) => write!(out, "{from}[… {count} equal words …]{to} "),
            Piece::Unread(a, b) => {
                write!(out, "{from}[… not shown: {a} words of {left}, {b} of {right} …]{to} ")
            }
        };
    }
    // The last piece may be a note or a text without a line end.
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// Appends words with marks around them. White space after the last word comes after the closing mark.
fn marked(out: &mut String, text: &str, [from, to]: [&str; 2]) -> std::fmt::Result {
    // A mark around white space would strike through or underline the gap between words.
    let words = text.trim_end();
    write!(out, "{from}{}{to}{}", shown(words), shown(&text[words.len()..]))
}

/// Returns the text without characters that could control the terminal.
pub(crate) fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => shown.push(c),
            // A carriage return would let the next word overwrite the line.
            '\r' => {}
            // Marks of text direction could show words in another order than they are.
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => shown.extend(c.escape_unicode()),
            c if c.is_control() => shown.extend(c.escape_unicode()),
            c => shown.push(c),
        }
    }
    shown
}

fn json(paths: [&Path; 2], shingle: &Terms, comparison: &Comparison) -> io::Result<String> {
    let number = |number: Option<String>| number.unwrap_or_else(|| "null".to_owned());
    let similarity = comparison.similarity;
    let mut out = Vec::new();
    // Paths may be invalid UTF-8 or contain quotes, so they are escaped one by one.
    for (key, path) in [("{\"a\":", paths[0]), (",\"b\":", paths[1])] {
        out.extend_from_slice(key.as_bytes());
        json_text::write_string(&mut out, path.as_os_str().as_encoded_bytes())?;
    }
    io::Write::write_fmt(
        &mut out,
        format_args!(
            ",\"shingle\":\"{shingle}\",\"a_shingles\":{},\"b_shingles\":{},\"shared\":{},\
             \"union\":{},\"similarity\":{},\"distance\":{}}}\n",
            comparison.shingles[0],
            comparison.shingles[1],
            comparison.shared,
            comparison.union(),
            number(similarity.map(|s| s.ratio().to_string())),
            number(comparison.distance.map(|bits| bits.to_string())),
        ),
    )?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}
