//! Recognizes mails by their header.

use crate::bytes::http::header_length;

/// Names of header fields. The header of a mail has at least two of these fields.
const FIELDS: [&str; 8] =
    ["From", "To", "Subject", "Date", "Message-ID", "Received", "MIME-Version", "Return-Path"];

/// Names of header fields that mail programs write. The header of a mail has at least one of these fields. Other fields
/// are not enough, since a plain text can begin with `From:` and `Subject:`, too.
const FIELDS_OF_MAIL: [&str; 5] = ["Date", "Message-ID", "Received", "MIME-Version", "Return-Path"];

/// Header fields of messages in newsgroups, which are not mails.
const FIELDS_OF_NEWS: [&str; 4] = ["Newsgroups", "Path", "Xref", "NNTP-Posting-Host"];

/// Number of bytes at the start of a file that are searched for the header of a mail.
const LONGEST_HEADER: usize = 64 << 10;

/// The start of the line that separates two mails in an mbox file.
const FROM: &[u8] = b"From ";

/// Returns whether `text`, the start of a file, begins with the header of a mail.
pub(super) fn begins_mail(text: &[u8]) -> bool {
    let text = &text[..text.len().min(LONGEST_HEADER)];
    let header = &text[..header_length(text).unwrap_or(text.len())];
    let mut found = [false; FIELDS.len()];
    let mut has_field_of_mail = false;
    for line in header.split(|&byte| byte == b'\n') {
        let is_continued = line.first().is_some_and(|byte| b" \t".contains(byte));
        if is_continued || line.trim_ascii().is_empty() {
            continue;
        }
        let Some(name) = field_name(line) else { return false };
        let place = |known: &[&str]| {
            known.iter().position(|known| name.eq_ignore_ascii_case(known.as_bytes()))
        };
        if place(&FIELDS_OF_NEWS).is_some() {
            return false;
        }
        has_field_of_mail |= place(&FIELDS_OF_MAIL).is_some();
        if let Some(at) = place(&FIELDS) {
            found[at] = true;
        }
    }
    has_field_of_mail && found.iter().filter(|&&is_found| is_found).count() >= 2
}

/// Returns whether `text` begins with the line that an mbox file has before each mail, followed by the header of a
/// mail.
pub(super) fn begins_mbox(text: &[u8]) -> bool {
    let line = memchr::memchr(b'\n', text);
    text.starts_with(FROM) && line.is_some_and(|end| begins_mail(&text[end + 1..]))
}

/// Returns the name of the header field that begins on `line`, or `None` if no field begins there.
pub(super) fn field_name(line: &[u8]) -> Option<&[u8]> {
    let name = &line[..memchr::memchr(b':', line)?];
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    is_name.then_some(name)
}

/// Returns the mail in a record of an mbox file. The line before the mail, which begins with `From `, is left out.
pub(super) fn without_from_line(record: &[u8]) -> &[u8] {
    match memchr::memchr(b'\n', record) {
        Some(end) if record.starts_with(FROM) => &record[end + 1..],
        _ => record,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mails_are_told_from_other_texts() {
        for mail in [
            "From: a@b\nDate: Mon, 1 Jan 2024 10:00:00 +0000\n\ntext",
            "Return-Path: <a@b>\r\nReceived: from x\r\n\tby y; Mon\r\n\r\n",
            "message-id: <1@b>\nSUBJECT: cut",
        ] {
            assert!(begins_mail(mail.as_bytes()), "{mail}");
            assert!(begins_mbox(format!("From a@b Mon Jan  1\n{mail}").as_bytes()), "{mail}");
        }
        for other in [
            "",
            "Subject: a talk\n\ntext",
            "From: a@b\nSubject: a post without a date\n\ntext",
            "From: a@b\nNewsgroups: sci.space\nDate: Mon\nSubject: x\n\n",
            "Date: 2024\nThe text begins here\n",
            "From: a@b\n two words: x\nno field\nDate: x\n",
            "From here on we went\nDate: 1\nSubject: 2",
        ] {
            assert!(!begins_mail(other.as_bytes()), "{other}");
        }
        assert!(!begins_mbox(b"From here on we went south.\nIt was cold.\n"));
    }
}
