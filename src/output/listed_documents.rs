//! Finds documents in the output of a finished run that lists all documents.

use super::finished_run::Sought;
use crate::write::columns::RowFormat;
use simtool_base::byte_text::byte_text;
use simtool_base::error::Result;
use simtool_base::options::Choice;
use simtool_model::document::{Content, Document, Record};
use simtool_model::document_id::DocumentId;
use simtool_read::walk::InputFile;
use simtool_read::{Collection, Corpus, Event, ReadOptions, Visit};
use std::ops::ControlFlow;
use std::path::Path;

/// Finds the document that `sought` names in the output `documents` of the run that wrote `folder`. Returns its file
/// and the number of its record. Returns `None` if the run has no such output, or if the output does not list the
/// document.
///
/// # Errors
///
/// The output cannot be read.
pub(crate) fn find_listed(folder: &Path, sought: Sought<'_>) -> Result<Option<(String, u64)>> {
    let paths = RowFormat::ALL.iter().map(|format| format!("documents.{}", format.extension()));
    let Some(path) = paths.map(|name| folder.join(name)).find(|path| path.is_file()) else {
        return Ok(None);
    };
    // The reader of inputs reads the rows of any format as documents, whose text is the name of the file.
    let options = ReadOptions {
        text_field: "file".into(),
        fields: vec!["record".into()],
        ..ReadOptions::default()
    };
    let collection = Collection::open(vec![InputFile::new(path)], options);
    let mut found = None;
    for shard in 0..collection.shard_count() {
        let visit: &mut Visit<'_> = &mut |event| {
            if let Event::Record(Record { content: Content::Document(document), .. }) = event {
                found = place(&document, sought);
            }
            Ok(if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        collection.read_shard(shard, visit)?;
        if found.is_some() {
            break;
        }
    }
    Ok(found)
}

/// Returns the file and the record number that `row` has, if `sought` names its document.
fn place(row: &Document<'_>, sought: Sought<'_>) -> Option<(String, u64)> {
    let file = byte_text(row.text);
    let record = str::from_utf8(row.fields[0]?).ok()?.parse().ok()?;
    let is_found = sought.record_in(&file) == Some(record)
        || sought.is_named(&file, row.id.map(DocumentId::bytes));
    is_found.then(|| (file.into_owned(), record))
}
