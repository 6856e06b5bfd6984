//! `why` for a search for passages or evaluation items: what the search has found in a document.

use super::recorded_run::{LocatedDocument, RecordedRun};
use crate::output::finished_run::Sought;
use crate::output::found_parts::FoundPart;
use crate::pipeline::compare::ReadDocument;
use simtool_base::byte_text::byte_text;
use simtool_base::error::Result;

/// A document with the parts that a search for passages or evaluation items has found in it.
#[derive(Debug)]
pub struct DocumentParts {
    /// File and record number of the document.
    pub located: LocatedDocument,
    /// Parts of the document that the search found, in the order of the outputs. Empty if there are none.
    pub parts: Vec<FoundPart>,
    /// Other documents with the same ID, each as `FILE:RECORD`.
    pub others: Vec<String>,
    /// Text of the document, or the error if it cannot be read.
    pub text: Result<ReadDocument>,
}

impl DocumentParts {
    /// Returns the text of each part. `None` if the document cannot be read, or its text is shorter now.
    #[must_use]
    pub fn shown_parts(&self) -> Vec<Option<String>> {
        let text = self.text.as_ref().ok().map(|document| &document.text[..]);
        let of_part = |part: &FoundPart| {
            let pieces: Option<Vec<&[u8]>> =
                part.spans.iter().map(|span| text?.get(span.clone())).collect();
            Some(byte_text(&pieces?.join(&b" [...] "[..])).into_owned())
        };
        self.parts.iter().map(of_part).collect()
    }
}

/// Explains what a search for passages or items has found in a document. `found` has the parts of all documents that
/// `sought` names.
pub(super) fn why_parts(
    run: &RecordedRun<'_>,
    sought: Sought<'_>,
    found: Vec<FoundPart>,
) -> Result<DocumentParts> {
    let located = match found.first() {
        Some(FoundPart { file, record, .. }) => LocatedDocument {
            file: file.clone(),
            record: *record,
            is_passed_over: false,
            is_query: false,
        },
        None => run.look_for(sought)?,
    };
    // Several documents may have the ID that the user named.
    let (parts, others): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|part| (&part.file, part.record) == (&located.file, located.record));
    let mut others: Vec<String> =
        others.iter().map(|part| format!("{}:{}", part.file, part.record)).collect();
    others.dedup();
    let text = run.read(&located.file, located.record, false);
    Ok(DocumentParts { located, parts, others, text })
}
