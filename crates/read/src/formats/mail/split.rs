//! Divides mbox files into mails.

use crate::formats::mail::header::field_name;
use crate::formats::mail::message::MailParser;
use crate::formats::{AfterLoss, SplitStep, Splitter};

/// Splitter that returns the whole file as one mail.
pub(super) struct WholeMail {
    pub(super) parser: MailParser,
}

impl Splitter for WholeMail {
    const AFTER_LOSS: AfterLoss = AfterLoss::Stop;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        if !last {
            return SplitStep::More;
        }
        SplitStep::record(window.len(), self.parser.content(window, window.len()))
    }

    fn boundary(&self, _bytes: &[u8]) -> Option<usize> {
        None
    }
}

/// Splitter that divides an mbox file into mails. A mail begins after a blank line, with a line such as `From
/// a@example.org Mon Jan  1 10:00:00 2024` and the first field of its header.
pub(super) struct MboxSplitter {
    pub(super) parser: MailParser,
}

impl Splitter for MboxSplitter {
    const AFTER_LOSS: AfterLoss = AfterLoss::SkipToBoundary;
    /// Number of bytes that are enough to recognize the start of a mail. The lines that show it are shorter.
    const BOUNDARY_BYTES: usize = 1 << 10;

    fn next<'a>(&'a mut self, window: &'a [u8], last: bool) -> SplitStep<'a> {
        let blank = window.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        if blank > 0 {
            return SplitStep::filler(blank);
        }
        let length = match next_mail(window, last) {
            Some(length) => length,
            None if last => window.len(),
            None => return SplitStep::More,
        };
        SplitStep::record(length, self.parser.content(&window[..length], length))
    }

    fn boundary(&self, bytes: &[u8]) -> Option<usize> {
        next_mail(bytes, true)
    }
}

/// Returns the position in `bytes` at which a mail begins after at least one blank line, or `None` if there is none.
/// `last` means that no bytes follow `bytes`. Without `last`, a mail is found only if its first header field ends in
/// `bytes`.
fn next_mail(bytes: &[u8], last: bool) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = memchr::memmem::find(&bytes[from..], b"\nFrom ") {
        let at = from + found + 1;
        from = at;
        let before = bytes[..at - 1].strip_suffix(b"\r").unwrap_or(&bytes[..at - 1]);
        if !before.ends_with(b"\n") {
            continue;
        }
        let mut lines = bytes[at..].splitn(3, |&byte| byte == b'\n').skip(1);
        let field = lines.next();
        if field.is_none() || !last && lines.next().is_none() {
            return None;
        }
        if field.is_some_and(|line| field_name(line).is_some()) {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::conformance::{gzip, options, read_as};

    const FIRST: &str = "From a@example.org Mon Jan  1 10:00:00 2024\n\
        From: a@example.org\nSubject: one\nMessage-ID: <1@example.org>\n\
        Date: Mon, 1 Jan 2024 10:00:00 +0000\n\nFirst text.\n\
        \nFrom here on no mail begins.\n>From a quoted line\n\n";
    const SECOND: &str = "From b@example.org Tue Jan  2 10:00:00 2024\r\n\
        From: b@example.org\r\nSubject: =?utf-8?q?caf=C3=A9?=\r\nMessage-ID: <2@example.org>\r\n\
        Content-Type: text/plain; charset=windows-1251\r\n\
        Content-Transfer-Encoding: quoted-printable\r\n\r\n=CF=F0=E8=E2=E5=F2\r\n\r\n";

    #[test]
    fn an_mbox_is_divided_into_mails() {
        let content = [FIRST, SECOND, FIRST].concat();
        for name in ["a.mbox", "inbox"] {
            let seen = read_as(name, content.as_bytes(), options(1));
            let first = "one\nFirst text.\n\nFrom here on no mail begins.\nFrom a quoted line\n\n";
            let second = ("2@example.org", "caf\u{e9}\nПривет\r\n\r\n");
            let first = ("1@example.org", first);
            assert_eq!(seen.texts(), [first, second, first]);
            assert_eq!(seen.bytes, content.as_bytes());
            assert_eq!(read_as(&format!("{name}.gz"), &gzip(content.as_bytes()), options(1)), seen);
        }
    }

    #[test]
    fn mails_in_texts_stay_texts() {
        let seen = read_as("a.txt", FIRST.as_bytes(), options(1));
        assert_eq!(seen.texts(), [("", FIRST)]);
    }

    #[test]
    fn a_long_mail_costs_itself_alone() {
        let long = FIRST.replace("First text.", &"word ".repeat(10_000));
        let content = [FIRST, &long, SECOND].concat();
        let limited = crate::ReadOptions { max_record_bytes: 2000, ..options(1) };
        let seen = read_as("a.mbox", content.as_bytes(), limited);
        assert_eq!((seen.documents.len(), seen.bad[0].3), (2, "oversize"));
        assert_eq!(seen.bytes, content.as_bytes());
    }
}
