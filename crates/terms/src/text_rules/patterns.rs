//! Patterns of the pieces that users can name, such as numbers and links.
//!
//! A regular expression finds a candidate in linear time. A function then examines the characters around the candidate.
//! They decide where the piece begins and ends, and whether the candidate is a piece at all.

use std::ops::Range;

/// Function that finds the exact piece for a candidate. It gets the text and the byte range of the candidate, and
/// returns the byte range of the piece. `None` means that the candidate is not a piece.
pub(super) type Piece = fn(&[u8], Range<usize>) -> Option<Range<usize>>;

/// Regular expression that finds candidates, and the function that finds the piece for a candidate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    pub(super) expression: fn() -> String,
    pub(super) piece: Piece,
}

/// Runs of decimal digits of any script, with points, commas, apostrophes and underscores between the digits.
pub(super) const NUMBERS: Pattern = Pattern {
    expression: || r"\d+(?:[.,'’_\u{66B}\u{66C}．，]\d+)*".to_owned(),
    piece: |text, found| Some(with_sign(text, found)),
};

/// Web addresses and `mailto:` addresses, up to white space, quotation marks or punctuation of Chinese and Japanese.
pub(super) const LINKS: Pattern = Pattern {
    expression: || {
        let other = r#"[^\s<>"`“”„«»\u{3000}-\u{303F}\u{FF01}-\u{FF0F}\u{FF1A}-\u{FF20}]"#;
        format!(r"(?i-u:https?://|www\.|mailto:)[\w\[]{other}*")
    },
    piece: |text, found| {
        // Letters of Chinese and Japanese have no spaces around them, so only those of ASCII matter.
        let is_inside = before(text, found.start).is_some_and(|c| c.is_ascii_alphanumeric());
        (!is_inside).then(|| without_end(text, found, ".,;:!?'’…)]}*"))
    },
};

/// Mail addresses. The expression finds only the part from the sign `@` on.
pub(super) const MAIL_ADDRESSES: Pattern = Pattern {
    expression: || r"@[\w-]+(?:\.[\w-]+)+".to_owned(),
    piece: |text, found| {
        // Names have no beginning that an expression could find fast, so the sign is found first.
        let start = start_of_name(text, found.start);
        let is_mention = before(text, start) == Some('@');
        (start < found.start && !is_mention).then_some(start..found.end)
    },
};

/// Names after the sign `@`, optionally with the host of a network, as in `@user@host.org`.
pub(super) const MENTIONS: Pattern = Pattern {
    expression: || r"@\w[\w.-]*(?:@\w[\w.-]*)?".to_owned(),
    piece: |text, found| {
        // The address of a profile may have the sign behind a slash.
        let is_address =
            before(text, found.start).is_some_and(|c| is_of_mail_name(c) || matches!(c, '@' | '/'));
        (!is_address).then(|| without_end(text, found, ".-"))
    },
};

/// Dates and times.
pub(super) const DATES: Pattern = Pattern { expression: dates, piece: whole_date };

/// Returns the regular expression for dates and times. It matches only ASCII digits.
fn dates() -> String {
    // The longer alternative comes first, because the first one that matches is taken.
    let day = "(?:[12][0-9]|3[01]|0?[1-9])";
    let month = "(?:1[0-2]|0?[1-9])";
    let year = "[0-9]{4}";
    let name = "(?i-u:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|\
                oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
    let weekday = "(?:(?i-u:(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?),? +)?";
    let ordinal = format!("{day}(?i-u:st|nd|rd|th)?");
    let time = "(?:2[0-4]|[01]?[0-9]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:[.,][0-9]+)?)?(?: ?(?i-u:[ap]m))?\
                (?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?";
    let forms = [
        // 20241231T100000Z
        "[0-9]{8}T[0-9]{6}(?:[.,][0-9]+)?Z?".to_owned(),
        // 2024-12-31, 2024/12/31, 2024.12.31 and 2024年12月31日
        format!("{year}(?:-{month}-{day}|/{month}/{day}|\\.{month}\\.{day})"),
        format!("{year} ?[年년] ?{month} ?[月월](?: ?{day} ?[日일])?"),
        // 31.12.2024, 12/31/2024, 12/31/24 and 31-12-2024
        format!("{day}(?:\\. ?{day}\\. ?{year}|/{day}/(?:{year}|[0-9]{{2}})|-{day}-{year})"),
        // 31 December 2024, Dec 31, 2024 and 31/Dec/2024
        format!("{weekday}{ordinal}(?: of)?[ /-]{name}\\.?,?[ /-]{year}"),
        format!("{weekday}{name}\\.? {ordinal},? {year}"),
        // Dec 31 10:00:00 2024, as in logs
        format!("{weekday}{name}\\.? +{day} {time}(?: {year})?"),
    ];
    format!("(?:{})(?:(?:[T:]|,? ){time})?|{time}", forms.join("|"))
}

/// Returns the byte range of the date in a candidate, `found`. Returns `None` if the date is part of a longer run of
/// digits, or begins inside a word.
fn whole_date(text: &[u8], mut found: Range<usize>) -> Option<Range<usize>> {
    let is_of_kind = |c: char, other: u8| {
        if other.is_ascii_digit() {
            c.is_numeric()
        } else {
            other.is_ascii_alphabetic() && c.is_alphabetic()
        }
    };
    if before(text, found.start).is_some_and(|c| is_of_kind(c, text[found.start])) {
        return None;
    }
    // More digits make another number of it, such as the address of a computer.
    let next = after(text, found.end);
    if next.is_some_and(char::is_numeric) {
        return None;
    }
    // In `10:00 ampere`, the letters belong to the next word.
    if next.is_some_and(char::is_alphabetic) && text[found.end - 1].is_ascii_alphabetic() {
        let digits = text[found.clone()].iter().rposition(|byte| !byte.is_ascii_alphabetic());
        found.end = found.start + digits.map_or(0, |at| at + 1);
    }
    Some(found)
}

/// Returns the byte range of a number, including a sign before it. `found` is the range without the sign. After a
/// letter or digit, as in `10-5`, the sign is a hyphen and not included.
fn with_sign(text: &[u8], found: Range<usize>) -> Range<usize> {
    match before(text, found.start) {
        Some(sign @ ('+' | '-' | '\u{2212}')) => {
            let start = found.start - sign.len_utf8();
            let is_hyphen = before(text, start).is_some_and(|c| c.is_alphanumeric() || c == '_');
            if is_hyphen { found } else { start..found.end }
        }
        _ => found,
    }
}

/// Returns the position at which the name before the sign `@` of a mail address begins. `end` is the position of the
/// sign.
fn start_of_name(text: &[u8], mut end: usize) -> usize {
    while let Some(c) = before(text, end).filter(|&c| is_of_mail_name(c)) {
        end -= c.len_utf8();
    }
    end
}

fn is_of_mail_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '.' | '_' | '%' | '+' | '-')
}

/// Returns the byte range of a candidate without its last characters, as long as these are in `ends`.
fn without_end(text: &[u8], mut found: Range<usize>, ends: &str) -> Range<usize> {
    while let Some(c) = before(text, found.end).filter(|&c| ends.contains(c)) {
        found.end -= c.len_utf8();
    }
    found
}

/// Returns the character that ends at byte `at`. Returns `None` at the start of the text, and after bytes that are not
/// UTF-8.
fn before(text: &[u8], at: usize) -> Option<char> {
    let start = (at.saturating_sub(4)..at).rev().find(|&start| text[start] & 0xC0 != 0x80)?;
    std::str::from_utf8(&text[start..at]).ok()?.chars().next()
}

/// Returns the character that begins at byte `at`. Returns `None` at the end of the text, and before bytes that are not
/// UTF-8.
fn after(text: &[u8], at: usize) -> Option<char> {
    text[at..text.len().min(at + 4)].utf8_chunks().next()?.valid().chars().next()
}
