//! Extracts the text, the ID and other fields of a mail.

use crate::bytes::html::guess_encoding;
use crate::bytes::http::{fields, header_length};
use crate::bytes::{HtmlText, PageContent};
use crate::formats::Selector;
use crate::formats::mail::header::without_from_line;
use encoding_rs::Encoding;
use mail_parser::{Message, MessageParser, MessagePart, PartType};
use simtool_base::error::caught;
use simtool_model::document::{Bad, Content, Document, MOST_FIELDS};
use simtool_model::document_id::DocumentId;
use std::borrow::Cow;

/// Largest number of mails inside a mail. The parser calls itself for each nested mail, so more of them could exhaust
/// the stack.
const MOST_NESTED: usize = 500;

/// Parser of mails. Its memory is reused for the next mail.
pub(super) struct MailParser {
    parser: MessageParser,
    /// Names of header fields, one list for each field that is read in addition to text and ID. The names in a list are
    /// in order of preference.
    field_names: Vec<Vec<String>>,
    /// Encoding of mails that declare no encoding. `None` means UTF-8 or a guess.
    encoding: Option<&'static Encoding>,
    html: HtmlText,
    page: Vec<u8>,
    text: Vec<u8>,
    id: Vec<u8>,
    fields: [Vec<u8>; MOST_FIELDS],
    bad: Bad,
}

impl MailParser {
    pub(super) fn new(fields: &[Selector], encoding: Option<&'static Encoding>) -> Self {
        let names = |selector: &Selector| {
            let names = selector.alternative_names().flatten();
            names.map(str::to_owned).collect()
        };
        Self {
            parser: MessageParser::default(),
            field_names: fields.iter().map(names).collect(),
            encoding,
            html: HtmlText::new(PageContent::All),
            page: Vec::new(),
            text: Vec::new(),
            id: Vec::new(),
            fields: Default::default(),
            bad: Bad { code: "mail", expected: Cow::Borrowed(""), length: 0 },
        }
    }

    /// Returns the document of the mail in `record`. An mbox file has a line before the mail, which the record may
    /// include. `length` is the length of the record in bytes.
    pub(super) fn content<'a>(&'a mut self, record: &[u8], length: usize) -> Content<'a> {
        let mail = unquoted(record);
        if nested_mails(&mail) > MOST_NESTED {
            return self.refuse("at most 500 mails inside a mail", length);
        }
        let mail = self.decoded(&mail);
        let parser = std::mem::take(&mut self.parser);
        // The parser asserts what hostile mails can break.
        let Ok(message) = caught(|| parser.parse(&*mail)) else {
            return self.refuse("a mail that the parser can read", length);
        };
        let is_mail = message.as_ref().is_some_and(|message| !message.headers().is_empty());
        let has_only_attachments = message.as_ref().is_some_and(has_only_attachments);
        let is_replaced = message.is_some_and(|message| self.take(&message));
        self.parser = parser;
        if !is_mail {
            return self.refuse("a mail that begins with its header", length);
        }
        if has_only_attachments {
            return self.refuse("a text besides the attachments", length);
        }
        let filled = |bytes: &'a Vec<u8>| (!bytes.is_empty()).then_some(&bytes[..]);
        Content::Document(Document {
            id: filled(&self.id).map(DocumentId::Text),
            fields: self.fields.each_ref().map(filled),
            repaired: is_replaced.then_some("utf8"),
            ..Document::new(&self.text)
        })
    }

    fn refuse(&mut self, expected: &'static str, length: usize) -> Content<'_> {
        self.bad = Bad { code: "mail", expected: expected.into(), length: length as u64 };
        Content::Bad(&self.bad)
    }

    /// Returns the mail as UTF-8 if it has characters outside ASCII and declares no encoding. Its encoding is then the
    /// one that the user chose, or else UTF-8, or else a guess. A mail that declares an encoding is returned as it is,
    /// and the parser decodes it.
    fn decoded<'m>(&self, mail: &'m [u8]) -> Cow<'m, [u8]> {
        if mail.is_ascii() || declares_charset(mail) {
            return Cow::Borrowed(mail);
        }
        let encoding = match self.encoding {
            Some(encoding) => encoding,
            None if str::from_utf8(mail).is_ok() => return Cow::Borrowed(mail),
            None => guess_encoding(mail),
        };
        match encoding.decode_without_bom_handling(mail).0 {
            Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
            Cow::Owned(text) => Cow::Owned(text.into_bytes()),
        }
    }

    /// Stores the text, the ID and the other fields of `message` in `self`. Returns whether characters had to be
    /// replaced.
    fn take(&mut self, message: &Message<'_>) -> bool {
        let Self { html, page, text, id, fields, field_names, .. } = self;
        let mut is_replaced = false;
        text.clear();
        text.extend_from_slice(message.subject().unwrap_or_default().as_bytes());
        for part in message.text_bodies() {
            let part_text = match &part.body {
                PartType::Text(part_text) => part_text.as_bytes(),
                PartType::Html(source) => {
                    html.extract(source, page);
                    &page[..]
                }
                _ => continue,
            };
            is_replaced |= part.is_encoding_problem;
            if !text.is_empty() {
                text.push(b'\n');
            }
            text.extend_from_slice(part_text);
        }
        let replace = |field: &mut Vec<u8>, value: Option<&str>| {
            field.clear();
            field.extend_from_slice(value.unwrap_or_default().trim().as_bytes());
        };
        replace(id, message.message_id());
        for (field, names) in fields.iter_mut().zip(field_names) {
            replace(field, names.iter().find_map(|name| message.header_raw(&**name)));
        }
        // The parser replaces bytes that it cannot decode without saying so.
        is_replaced || memchr::memmem::find(text, "\u{FFFD}".as_bytes()).is_some()
    }
}

/// Returns whether the mail has attachments and no text except the subject. Attachments are not read, and the subject
/// alone does not show whether two such mails are equal.
fn has_only_attachments(message: &Message<'_>) -> bool {
    let is_blank = |part: &MessagePart<'_>| match &part.body {
        PartType::Text(text) | PartType::Html(text) => text.trim().is_empty(),
        _ => true,
    };
    message.attachment_count() > 0 && message.text_bodies().all(is_blank)
}

/// Returns the names of the fields in the header of the mail in `record`.
pub(super) fn field_names(record: &[u8]) -> Vec<String> {
    let mail = without_from_line(record);
    let header = &mail[..header_length(mail).unwrap_or_default()];
    let names = fields(header).map(|(name, _)| name);
    let names = names.filter(|name| name.iter().all(u8::is_ascii_graphic));
    names.map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// Returns the mail in `record` without the line that an mbox file has before it. If there is such a line, also removes
/// one `>` from each line that begins with `>From ` or `>>From `, because the program that wrote the file has added it.
fn unquoted(record: &[u8]) -> Cow<'_, [u8]> {
    let mail = without_from_line(record);
    if mail.len() == record.len() || memchr::memmem::find(mail, b">From ").is_none() {
        return Cow::Borrowed(mail);
    }
    let lines = mail.split_inclusive(|&byte| byte == b'\n').map(|line| {
        let marks = line.iter().take_while(|&&byte| byte == b'>').count();
        &line[usize::from(marks > 0 && line[marks..].starts_with(b"From "))..]
    });
    Cow::Owned(lines.collect::<Vec<_>>().concat())
}

/// Returns an upper bound of the number of mails inside `mail`: the number of parts that may contain mails.
fn nested_mails(mail: &[u8]) -> usize {
    let has_kind = |kind: &[u8]| {
        let slashes = memchr::memchr_iter(b'/', mail);
        slashes.filter(|&at| is_around(mail, at, kind)).count()
    };
    has_kind(b"message/") + has_kind(b"/digest")
}

/// Returns whether `mail` contains `kind`, in upper or lower case, such that the slash in `kind` is at position `at`.
fn is_around(mail: &[u8], at: usize, kind: &[u8]) -> bool {
    let slash = kind.iter().position(|&byte| byte == b'/').unwrap_or_default();
    let found = at.checked_sub(slash).and_then(|from| mail.get(from..from + kind.len()));
    found.is_some_and(|found| found.eq_ignore_ascii_case(kind))
}

/// Returns whether the mail names the encoding of one of its parts.
fn declares_charset(mail: &[u8]) -> bool {
    memchr::memchr_iter(b'=', mail).any(|at| {
        let name = &mail[at.saturating_sub(b"charset".len())..at];
        name.eq_ignore_ascii_case(b"charset")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mail: &str) -> Result<(String, Option<String>, Option<String>), String> {
        let mut parser = MailParser::new(&[Selector::from("date")], None);
        match parser.content(mail.as_bytes(), mail.len()) {
            Content::Document(d) => {
                let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                Ok((text(d.text), d.id.map(|id| text(id.bytes())), d.fields[0].map(text)))
            }
            Content::Bad(bad) => Err(bad.expected.to_string()),
            other => panic!("{other:?}"),
        }
    }

    const HEADER: &str = "From: a@b\nSubject: A subject\nMessage-ID: <1@b>\n\
        Date: Mon, 1 Jan 2024 10:00:00 +0000\nMIME-Version: 1.0\n";

    fn parts(kind: &str, parts: &[(&str, &str)]) -> String {
        let parts: Vec<String> = parts
            .iter()
            .map(|(kind, content)| format!("--x\nContent-Type: {kind}\n\n{content}\n"))
            .collect();
        format!("{HEADER}Content-Type: multipart/{kind}; boundary=x\n\n{}--x--\n", parts.concat())
    }

    #[test]
    fn plain_text_goes_before_html_and_attachments_are_left_out() {
        let both = parts("alternative", &[("text/plain", "plain"), ("text/html", "<p>html</p>")]);
        let (text, id, field) = read(&both).unwrap();
        assert_eq!(text.trim_end(), "A subject\nplain");
        assert_eq!(id.as_deref(), Some("1@b"));
        assert_eq!(field.as_deref(), Some("Mon, 1 Jan 2024 10:00:00 +0000"));
        let html = parts("mixed", &[("text/html", "<p>a &amp; b<script>x</script>")]);
        assert_eq!(read(&html).unwrap().0.trim_end(), "A subject\na & b");
        let attached = parts(
            "mixed",
            &[
                ("text/plain", "> quoted\nanswer"),
                ("application/octet-stream", "bytes"),
                ("text/plain\nContent-Disposition: attachment; filename=a.txt", "attached"),
            ],
        );
        let text = read(&attached).unwrap().0;
        assert!(text.contains("> quoted\nanswer") && !text.contains("bytes"), "{text}");
        assert!(!text.contains("attached"), "{text}");
    }

    #[test]
    fn a_mail_of_attachments_alone_is_not_compared_by_its_subject() {
        let attached = ("application/pdf\nContent-Disposition: attachment", "bytes");
        for body in [&[][..], &[("text/plain", " ")]] {
            let mail = parts("mixed", &[body, &[attached]].concat());
            assert_eq!(read(&mail).unwrap_err(), "a text besides the attachments");
        }
        let forwarded = parts("mixed", &[("message/rfc822", &format!("{HEADER}\nforwarded"))]);
        assert_eq!(read(&forwarded).unwrap_err(), "a text besides the attachments");
        let without_body = format!("{HEADER}\n");
        assert_eq!(read(&without_body).unwrap().0.trim_end(), "A subject");
    }

    #[test]
    fn what_is_no_mail_is_bad() {
        assert!(read("").is_err());
        let nested = "Content-Type: message/rfc822\n\n".repeat(100_000);
        assert_eq!(read(&nested).unwrap_err(), "at most 500 mails inside a mail");
        let nested = "Content-Type: message/rfc822\n\n".repeat(500);
        assert_eq!(read(&nested).unwrap_err(), "a text besides the attachments");
    }

    #[test]
    fn an_encoding_is_named_or_guessed_for_mails_that_declare_none() {
        let mut parser = MailParser::new(&[], Some(encoding_rs::WINDOWS_1251));
        let mail = [HEADER.as_bytes(), b"\n\xCF\xF0\xE8\xE2\xE5\xF2"].concat();
        let Content::Document(document) = parser.content(&mail, mail.len()) else { panic!() };
        assert_eq!(document.text, "A subject\nПривет".as_bytes());
        assert_eq!(document.repaired, None);
        let mut parser = MailParser::new(&[], None);
        let mail = [HEADER.as_bytes(), b"\nun caf\xE9 \xE0 la cr\xE8me"].concat();
        let Content::Document(document) = parser.content(&mail, mail.len()) else { panic!() };
        assert_eq!(document.text, "A subject\nun café à la crème".as_bytes());
    }

    #[test]
    fn fields_are_named() {
        let names = field_names(format!("From a 10:00:00\n{HEADER}\nbody: x").as_bytes());
        assert_eq!(names, ["From", "Subject", "Message-ID", "Date", "MIME-Version"]);
    }

    #[test]
    fn a_mail_that_breaks_the_parser_is_no_panic() {
        let mail = "Content-Type: multipart/digest; boundary=x\n\n--x\n\n\
            Content-Type: message/rfc822; boundary=x\n\n\n--x--\n";
        // The parser checks its assertions only in some builds.
        let refused = ["a mail that the parser can read", "a text besides the attachments"];
        assert!(refused.contains(&&*read(mail).unwrap_err()));
    }

    proptest::proptest! {
        #[test]
        fn any_mail_is_read_without_panic(
            mail in "(From: a\n|Subject: =\\?utf-8\\?[qb]\\?[a=_4]{0,4}\\?=\n|Content-Type: (multipart/(mixed|digest)|message/rfc822|text/(html|plain));( boundary=x| charset=(gbk|utf-7|big5))\n|Content-Transfer-Encoding: (base64|quoted-printable)\n|\n|--x(--)?\n|[a=>\u{e9}<]{0,6}\n){0,24}",
        ) {
            drop(read(&mail));
        }
    }
}
