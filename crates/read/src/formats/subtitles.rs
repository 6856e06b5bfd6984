//! Subtitles: a file is one document. Its text is the text of the cues, without numbers, times and tags.
//!
//! # References
//!
//! `WebVTT`: The Web Video Text Tracks Format, W3C. `SubRip` has no standard. For each cue, its files have a number, a
//! line of times, the text of the cue, and a blank line.

use crate::formats::plain_text::WholeText;
use crate::formats::{
    AfterLoss, ByteFormat, Columns, Dialect, InputFormat, Reader, SplitJob, SplitStep, Splitter,
};
use encoding_rs::Encoding;
use simtool_base::error::Result;
use simtool_model::document::{Content, Document};
use std::borrow::Cow;

/// Entry of `SubRip` in the table of input formats.
pub(crate) static SUBRIP: Subtitles =
    Subtitles { name: "srt", title: "SubRip", extensions: &["srt"], is_web: false };

/// Entry of `WebVTT` in the table of input formats.
pub(crate) static WEB_VTT: Subtitles =
    Subtitles { name: "vtt", title: "WebVTT", extensions: &["vtt"], is_web: true };

/// Names of tags that have attributes or classes, as in `<font color=red>`, `<v Ann>` and `<c.loud>`.
const LONG_TAGS: &[&str] = &["c", "font", "lang", "span", "v"];
/// Names of tags that have neither attributes nor classes.
const SHORT_TAGS: &[&str] = &["b", "br", "i", "rt", "ruby", "s", "u"];

/// A format of subtitles.
#[derive(Debug)]
pub(crate) struct Subtitles {
    name: &'static str,
    title: &'static str,
    extensions: &'static [&'static str],
    /// Whether the format is `WebVTT`. Only `WebVTT` has blocks without text, cues with names, and character
    /// references.
    is_web: bool,
}

impl InputFormat for Subtitles {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn about(&self) -> &'static str {
        "The text of the subtitles is one document"
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    fn is_one_document(&self) -> bool {
        true
    }

    fn reader(&'static self) -> Reader {
        Reader::Bytes(self)
    }
}

impl ByteFormat for Subtitles {
    fn read(
        &self,
        job: SplitJob<'_, '_, '_>,
        _wanted: Columns<'_>,
        _dialect: Option<Dialect>,
    ) -> Result<u64> {
        job.split(&mut WholeFile {
            is_web: self.is_web,
            whole: WholeText::default(),
            text: Vec::new(),
        })
    }

    fn is_readable_in(&self, _encoding: &'static Encoding, _dialect: Option<Dialect>) -> bool {
        true
    }
}

/// Splitter that returns the text of a whole file of subtitles as one document.
struct WholeFile {
    is_web: bool,
    whole: WholeText,
    text: Vec<u8>,
}

impl Splitter for WholeFile {
    const AFTER_LOSS: AfterLoss = AfterLoss::Stop;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        if !last {
            return SplitStep::More;
        }
        let (file, repaired) = self.whole.decoded(window);
        self.text.clear();
        push_cues(file, self.is_web, &mut self.text);
        let document = Document { repaired, ..Document::new(&self.text) };
        SplitStep::record(window.len(), Content::Document(document))
    }

    fn boundary(&self, _bytes: &[u8]) -> Option<usize> {
        None
    }
}

/// Appends the lines of the cues of a file to `text`. A cue is a text that is shown from one time to another.
///
/// Each line that is not recognized as something else is text, so that a file with mistakes loses no text.
fn push_cues(file: &[u8], is_web: bool, text: &mut Vec<u8>) {
    let mut lines = file.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).peekable();
    let mut is_first_of_block = true;
    let mut is_first_of_file = true;
    let mut is_in_other_block = false;
    while let Some(line) = lines.next() {
        let begins_block = std::mem::replace(&mut is_first_of_block, line.is_empty());
        let begins_file = std::mem::take(&mut is_first_of_file);
        // Blank lines end blocks.
        if line.is_empty() {
            is_in_other_block = false;
            continue;
        }
        if is_web && begins_block && is_other_block(line, begins_file) {
            is_in_other_block = true;
        }
        // No note has such a line, so a header without a blank line behind it ends here.
        is_in_other_block &= !is_timing(line);
        let names_cue = lines.peek().is_some_and(|next| is_timing(next))
            && (line.iter().all(u8::is_ascii_digit) || is_web && begins_block);
        if is_in_other_block || names_cue || is_timing(line) {
            continue;
        }
        push_line(line, is_web, text);
        text.push(b'\n');
    }
}

/// Returns whether `line` begins a block of `WebVTT` that has no text: the header, a note, a style or a region.
fn is_other_block(line: &[u8], begins_file: bool) -> bool {
    let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    match word {
        b"WEBVTT" => begins_file,
        b"NOTE" => true,
        b"STYLE" | b"REGION" => word == line,
        _ => false,
    }
}

/// Returns whether a line has two times with an arrow between them, such as `00:01:02,500 --> 00:01:04,000`.
fn is_timing(line: &[u8]) -> bool {
    let Some(arrow) = line.windows(3).position(|bytes| bytes == b"-->") else { return false };
    // Settings of the cue, such as its position, may follow the second time.
    let after = line[arrow + 3..].trim_ascii_start();
    let end = after.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    [line[..arrow].trim_ascii_end(), end].iter().all(|time| {
        let is_of_time = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b':' | b',' | b'.');
        time.contains(&b':') && time.iter().all(is_of_time)
    })
}

/// Appends a line of a cue without its tags.
fn push_line(line: &[u8], is_web: bool, text: &mut Vec<u8>) {
    let start = text.len();
    let mut rest = line;
    while let Some(at) = memchr::memchr2(b'<', b'{', rest) {
        let (before, from) = rest.split_at(at);
        text.extend_from_slice(before);
        let Some(length) = tag_length(from) else {
            text.push(from[0]);
            rest = &from[1..];
            continue;
        };
        // Words on both sides of a line break are two words.
        if from[1..].starts_with(b"br") {
            text.push(b' ');
        }
        rest = &from[length..];
    }
    text.extend_from_slice(rest);
    if is_web && memchr::memchr(b'&', line).is_some() {
        let resolved = htmlize::unescape_bytes_in(&text[start..], htmlize::Context::General);
        if let Cow::Owned(resolved) = resolved {
            text.truncate(start);
            text.extend_from_slice(&resolved);
        }
    }
}

/// Returns the length in bytes of the tag at the start of `text`: a tag such as `<i>`, a time such as `<00:01.500>`, or
/// a style such as `{\an8}`. Returns `None` if `text` does not begin with a tag, for example for `<3`.
fn tag_length(text: &[u8]) -> Option<usize> {
    let is_style = text[0] == b'{';
    let end = memchr::memchr(if is_style { b'}' } else { b'>' }, text)?;
    let inside = &text[1..end];
    if is_style {
        return inside.starts_with(b"\\").then_some(end + 1);
    }
    // In karaoke, each word has its time.
    let is_time = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b':' | b'.');
    if inside.contains(&b':') && inside.iter().all(is_time) {
        return Some(end + 1);
    }
    let inside = inside.strip_prefix(b"/").unwrap_or(inside);
    let length = inside.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (name, rest) = inside.split_at(length);
    // Other words in angle brackets, as in `a<b and c>d`, are text.
    let is_one_of =
        |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    let is_tag = match rest.trim_ascii().first() {
        None | Some(b'/' | b'.') => is_one_of(LONG_TAGS) || is_one_of(SHORT_TAGS),
        Some(_) => rest[0].is_ascii_whitespace() && is_one_of(LONG_TAGS),
    };
    is_tag.then_some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(file: &str, is_web: bool) -> String {
        let mut text = Vec::new();
        push_cues(file.as_bytes(), is_web, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn subrip_has_cues_without_numbers_times_and_tags() {
        let file = "1\r\n00:00:01,000 --> 00:00:02,500 X1:10 Y1:20\r\n{\\an8}<i>Hello</i>, <font color=\"#fff\">you</font>\r\n\
                    I <3 you > me\r\n\r\n2\n00:00:03,000-->00:00:04,000\nIn 1984<br>12 {of} us\n13\n";
        assert_eq!(text(file, false), "Hello, you\nI <3 you > me\nIn 1984 12 {of} us\n13\n");
        // A blank line is missing before number 2, and cue 3 has no number.
        let file =
            "1\n0:01.0 --> 0:02.0\nOne\n2\n0:03.0 --> 0:04.0\nTwo\n\n0:05.0 --> 0:06.0\nThree\n";
        assert_eq!(text(file, false), "One\nTwo\nThree\n");
        assert_eq!(
            text("NOTE no times\n\nintro\n1 --> 2\n", false),
            "NOTE no times\nintro\n1 --> 2\n"
        );
    }

    #[test]
    fn web_vtt_has_cues_without_names_notes_and_styles() {
        let file = "WEBVTT - Title\nKind: captions\n\nNOTE\nnobody\nreads this\n\nSTYLE\n::cue { color: red }\n\n\
                    REGION\nid:fred\n\nintro\n00:01.000 --> 00:02.000 align:start\n<v Ann>Hi &amp; <c.loud>bye</c>\n\
                    wo<00:01.500>rd\n\nNOTE one line\n\n00:03.000 --> 01:00:04.000\nSTYLE counts here\nNOTE here, too\n";
        assert_eq!(text(file, true), "Hi & bye\nword\nSTYLE counts here\nNOTE here, too\n");
    }
}
