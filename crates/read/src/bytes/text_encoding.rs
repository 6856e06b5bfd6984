//! The encoding of input texts, which may differ from UTF-8.

use crate::bytes::html::guess_encoding;
use encoding_rs::{BIG5, Encoding, GB18030, GBK, SHIFT_JIS, UTF_8};

/// The encoding of texts that do not declare one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextEncoding {
    /// UTF-8, except for HTML pages and mails that declare another encoding.
    #[default]
    Utf8,
    /// This encoding. It is preferred to the encoding that an HTML page declares.
    Named(&'static Encoding),
    /// UTF-8 if the start of a file is valid UTF-8, otherwise an encoding that is guessed from the start.
    Detected,
}

impl TextEncoding {
    /// Name that stands for [`TextEncoding::Detected`].
    const DETECT: &str = "detect";

    /// Returns the encoding with a label of the WHATWG, such as `windows-1251` or `latin1`. Returns
    /// [`TextEncoding::Detected`] for `detect`. Upper and lower case are equal. Returns `None` if there is no such
    /// label.
    ///
    /// ```
    /// use simtool_read::TextEncoding;
    ///
    /// let encoding = TextEncoding::from_label("cp1251").unwrap();
    /// assert_eq!(encoding.name(), "windows-1251");
    /// assert_eq!(TextEncoding::from_label("UTF8").unwrap().name(), "UTF-8");
    /// assert_eq!(TextEncoding::from_label("morse"), None);
    /// ```
    #[must_use]
    pub fn from_label(label: &str) -> Option<Self> {
        if label.eq_ignore_ascii_case(Self::DETECT) {
            return Some(Self::Detected);
        }
        Encoding::for_label_no_replacement(label.as_bytes()).map(Self::Named)
    }

    /// Returns the name of the encoding in the standard of the WHATWG, or `detect`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Utf8 => UTF_8.name(),
            Self::Named(encoding) => encoding.name(),
            Self::Detected => Self::DETECT,
        }
    }

    /// Returns the encoding of the texts in a file that begins with `head`. Returns `None` if the encoding is UTF-8,
    /// and if the file has a byte order mark, because readers use the encoding of that mark.
    pub(crate) fn of_file(self, head: &[u8]) -> Option<&'static Encoding> {
        if Encoding::for_bom(head).is_some() {
            return None;
        }
        match self {
            Self::Utf8 => None,
            Self::Named(encoding) => Some(encoding),
            Self::Detected if is_utf8_so_far(head) => None,
            Self::Detected => Some(guess_encoding(head)),
        }
    }
}

/// Returns whether the byte `character` always means the same character in `encoding`. In some encodings of Chinese and
/// Japanese, the second byte of a character can be an ASCII letter or sign. Line feeds, quotation marks and commas are
/// always safe in these encodings.
pub(crate) fn is_safe_separator(encoding: &'static Encoding, character: u8) -> bool {
    let has_second_bytes = [SHIFT_JIS, GBK, GB18030, BIG5].contains(&encoding);
    encoding.is_ascii_compatible() && !(has_second_bytes && (b'@'..=b'~').contains(&character))
}

/// Returns whether `head` is valid UTF-8, except that its last character may be cut.
pub(crate) fn is_utf8_so_far(head: &[u8]) -> bool {
    str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true)
}

/// Returns whether a file begins with a byte order mark of UTF-16.
pub(crate) fn is_utf16(head: &[u8]) -> bool {
    head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::{options, read_as};
    use crate::documents::ReadOptions;
    use crate::formats::{Format, NamedDialect, TextSplit};

    const RUSSIAN: &str = "Съешь же ещё этих мягких французских булок, да выпей чаю";

    fn windows_1251(text: &str) -> Vec<u8> {
        let (bytes, _, is_replaced) = encoding_rs::WINDOWS_1251.encode(text);
        assert!(!is_replaced);
        bytes.into_owned()
    }

    fn with(label: &str) -> ReadOptions {
        ReadOptions { encoding: TextEncoding::from_label(label).unwrap(), ..options(1) }
    }

    #[test]
    fn every_format_of_text_is_decoded() {
        let object = format!("{{\"id\": \"я\", \"text\": \"{RUSSIAN}\"}}");
        for (name, content) in [
            ("a.txt", RUSSIAN.to_owned()),
            ("a.ff", format!("я\n{RUSSIAN}\x0C")),
            ("a.csv", format!("id,text\nя,\"{RUSSIAN}\"\n")),
            ("a.jsonl", format!("{object}\n{object}\n")),
            ("a.json", format!("[\n{object},\n{object}\n]")),
            ("a.html", format!("<p>{RUSSIAN}</p>")),
        ] {
            let bytes = windows_1251(&content);
            for label in ["windows-1251", "detect"] {
                let seen = read_as(name, &bytes, with(label));
                assert_eq!((seen.bad.len(), seen.lost.len()), (0, 0), "{name}: {seen:?}");
                for (id, text) in seen.texts() {
                    assert_eq!(text, RUSSIAN, "{name}");
                    assert!(id.is_empty() || id == "я", "{name}: {id}");
                }
                assert!(!seen.documents.is_empty() && seen.bytes == bytes, "{name}");
                let is_noted = label == "detect" && name != "a.html";
                assert_eq!(seen.warned, ["encoding"][..usize::from(is_noted)], "{name}");
            }
            let seen = read_as(name, content.as_bytes(), with("detect"));
            assert_eq!((seen.warned.len(), seen.texts()[0].1), (0, RUSSIAN), "{name}");
        }
    }

    #[test]
    fn large_files_are_decoded_in_every_shard() {
        let lines = format!("{RUSSIAN}\n").repeat(20_000);
        let per_line =
            ReadOptions { split: TextSplit::Lines, shard_bytes: 300_000, ..with("detect") };
        let seen = read_as("a.txt", &windows_1251(&lines), per_line);
        assert_eq!((seen.documents.len(), &seen.warned[..]), (20_000, &["encoding"][..]));
        assert!(seen.texts().iter().all(|(_, text)| *text == RUSSIAN));
    }

    #[test]
    fn encodings_that_hide_line_ends_are_refused_where_lines_matter() {
        let text: Vec<u8> = RUSSIAN.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read_as("a.txt", &text, with("utf-16le")).texts(), [("", RUSSIAN)]);
        assert_eq!(read_as("a.csv", &text, with("utf-16le")).lost, ["format"]);
        let format = Format::from_name("json");
        let json = ReadOptions { format, ..with("shift_jis") };
        assert_eq!(read_as("a.json", b"[{\"text\": \"a\"}]", json).lost, ["format"]);
        let dialect = NamedDialect { delimiter: Some(b'|'), ..NamedDialect::default() };
        let bars = ReadOptions { dialect, ..with("gbk") };
        assert_eq!(read_as("a.csv", b"id|text\n1|a\n", bars).lost, ["format"]);
        assert_eq!(read_as("a.csv", b"id,text\n1,a\n", with("gbk")).texts(), [("1", "a")]);
    }

    #[test]
    fn a_byte_order_mark_goes_before_the_option_and_the_option_before_a_page() {
        let marked = format!("\u{FEFF}{RUSSIAN}");
        assert_eq!(read_as("a.txt", marked.as_bytes(), with("gbk")).texts()[0].1, RUSSIAN);
        let page = windows_1251(&format!("<meta charset=utf-8><p>{RUSSIAN}"));
        assert_eq!(read_as("a.html", &page, with("windows-1251")).texts()[0].1, RUSSIAN);
        let page = format!("<meta charset=windows-1251><p>{RUSSIAN}");
        assert_eq!(read_as("a.html", page.as_bytes(), with("utf-8")).texts()[0].1, RUSSIAN);
        assert_ne!(read_as("a.html", page.as_bytes(), with("windows-1251")).texts()[0].1, RUSSIAN);
        assert_eq!(read_as("a.html", page.as_bytes(), with("detect")).texts()[0].1, RUSSIAN);
    }
}
