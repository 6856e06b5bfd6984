//! Mails: mbox files, and files with one mail each (`.eml`, and the files of a Maildir).
//!
//! The text of a mail is its subject and its text parts, decoded. An HTML part is read like a page if the mail has no
//! plain text in its place. Attachments are left out. The ID is the `Message-ID`, and the fields of the header can
//! decide which of several similar mails is kept.

mod header;
mod message;
mod split;

use crate::formats::{
    ByteFormat, Columns, Dialect, FieldNames, Fields, Head, InputFormat, Price, Reader, SplitJob,
};
use simtool_base::error::Result;

/// Entry of mbox in the table of input formats.
pub(crate) static MBOX: Mail =
    Mail { name: "mbox", title: "mbox", about: "Each mail is a document", extensions: &["mbox"] };

/// Entry of single mails in the table of input formats.
pub(crate) static MAIL: Mail = Mail {
    name: "mail",
    title: "mail",
    about: "The file is one mail: its subject and its text",
    extensions: &["eml"],
};

/// A format of files with mails.
#[derive(Debug)]
pub(crate) struct Mail {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    extensions: &'static [&'static str],
}

impl InputFormat for Mail {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    fn fields(&self) -> Fields {
        Fields::Headers
    }

    /// Returns whether the content begins with a mail. If the file's name has the extension of another format, such as
    /// `.txt`, the content counts as that format. Files of a Maildir have names without an extension.
    fn looks_like(&self, head: &Head<'_>) -> bool {
        let is_other = head.named.is_some() && !head.is_named(&MBOX) && !head.is_named(&MAIL);
        if is_other || head.has_zero_bytes() {
            return false;
        }
        if self.is_one_document() {
            header::begins_mail(head.text)
        } else {
            header::begins_mbox(head.text)
        }
    }

    fn is_one_document(&self) -> bool {
        self.name == MAIL.name
    }

    /// Returns the highest cost, because the parts of each mail must be decoded again.
    fn price(&self) -> Price {
        Price::Expensive
    }

    fn reader(&'static self) -> Reader {
        Reader::Bytes(self)
    }
}

impl ByteFormat for Mail {
    fn read(
        &self,
        mut job: SplitJob<'_, '_, '_>,
        wanted: Columns<'_>,
        _dialect: Option<Dialect>,
    ) -> Result<u64> {
        let parser = message::MailParser::new(wanted.fields, job.encoding.take());
        if self.is_one_document() {
            job.split(&mut split::WholeMail { parser })
        } else {
            job.split(&mut split::MboxSplitter { parser })
        }
    }

    fn declares_encoding(&self) -> bool {
        true
    }

    fn field_names(&self) -> FieldNames {
        FieldNames::InEachRecord(message::field_names)
    }
}
