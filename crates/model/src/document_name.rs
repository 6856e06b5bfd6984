//! The name of a document in outputs: ID, file and record number.

use crate::document_id::DocumentId;
use simtool_base::json_text::write_string;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

/// ID, file and record index, by which an output identifies a document.
#[derive(Clone, Debug)]
pub struct DocumentName<'d> {
    /// ID of the document, or `FILE:RECORD` if the document has no ID.
    pub id: Cow<'d, [u8]>,
    /// Whether the ID is a number in the input. If not, it is a text.
    pub is_number: bool,
    /// File of the document, as the user named it.
    pub file: &'d Path,
    /// Index of the document's record in the file, from 0.
    pub record: u64,
}

impl DocumentName<'_> {
    /// Returns the ID together with its type: a number or a text.
    #[must_use]
    pub fn id(&self) -> DocumentId<'_> {
        if self.is_number { DocumentId::Number(&self.id) } else { DocumentId::Text(&self.id) }
    }

    /// Returns the bytes of the file's path, which may not be UTF-8.
    #[must_use]
    pub fn file_bytes(&self) -> &[u8] {
        self.file.as_os_str().as_encoded_bytes()
    }

    /// Writes the fields `id`, `file` and `record` of a JSON object, without the braces.
    ///
    /// # Errors
    ///
    /// Writing to `out` fails.
    pub fn write_fields(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(b"\"id\":")?;
        self.id().write_json(out)?;
        out.write_all(b",\"file\":")?;
        write_string(out, self.file_bytes())?;
        write!(out, ",\"record\":{}", self.record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_three_fields() {
        let name = |id: &'static [u8], is_number| {
            let id = Cow::Borrowed(id);
            let mut out = Vec::new();
            let name = DocumentName { id, is_number, file: Path::new("in/x"), record: 7 };
            name.write_fields(&mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(name(b"a\"b", false), r#""id":"a\"b","file":"in/x","record":7"#);
        assert_eq!(name(b"12", true), r#""id":12,"file":"in/x","record":7"#);
    }
}
