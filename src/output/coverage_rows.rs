//! Reads the output `coverage` of a finished run: which kept documents have the words of removed ones.

use crate::pipeline::OutputName;
use crate::write::columns::RowFormat;
use simtool_base::byte_text::byte_text;
use simtool_base::error::{ErrorKind, Result};
use simtool_base::options::Choice;
use simtool_model::document::{Content, Document, Record};
use simtool_read::walk::InputFile;
use simtool_read::{Collection, Corpus, Event, ReadOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

/// File and record number of a document, as the outputs write them.
pub(crate) type NamedPlace = (String, u64);

/// Returns the file and the record number of a document, which identify it in the outputs.
pub(crate) fn place_of(name: &OutputName) -> NamedPlace {
    (name.file.clone(), name.record)
}

/// For each removed document (key), the kept documents that have some of its words (value).
pub(crate) type KeptOfRemoved = BTreeMap<NamedPlace, BTreeSet<NamedPlace>>;

/// Reads the output `coverage` in `folder`. Returns for each of the `removed` documents the kept documents that have
/// some of its words.
///
/// # Errors
///
/// The folder has no output `coverage`, or it cannot be read.
pub(crate) fn kept_documents_of(
    folder: &Path,
    removed: &BTreeSet<NamedPlace>,
) -> Result<KeptOfRemoved> {
    let paths = RowFormat::ALL.iter().map(|format| format!("coverage.{}", format.extension()));
    let Some(path) = paths.map(|name| folder.join(name)).find(|path| path.is_file()) else {
        let what = format!("{} has no output coverage", folder.display());
        let reason = "it has the places of the words of removed documents".to_owned();
        return Err(ErrorKind::Missing { what, reason }.into());
    };
    // The reader of inputs reads the rows of any format as documents, whose text is the name of the file.
    let options = ReadOptions {
        text_field: "file".into(),
        fields: vec!["record".into(), "kept_file".into(), "kept_record".into()],
        ..ReadOptions::default()
    };
    let collection = Collection::open(vec![InputFile::new(path)], options);
    let mut found = KeptOfRemoved::new();
    for shard in 0..collection.shard_count() {
        collection.read_shard(shard, &mut |event| {
            // Most rows are about documents that nobody asks for.
            if let Event::Record(Record { content: Content::Document(document), .. }) = event
                && let Some((of, kept)) = places(&document)
                && removed.contains(&of)
            {
                found.entry(of).or_default().insert(kept);
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found)
}

/// Returns the file and the record number of the removed document in a row, and of the kept document in it. `None` if
/// the row has another form.
fn places(row: &Document<'_>) -> Option<(NamedPlace, NamedPlace)> {
    let [record, kept_file, kept_record, _] = row.fields;
    let number = |digits: Option<&[u8]>| str::from_utf8(digits?).ok()?.parse().ok();
    let place = |file: &[u8], record| Some((byte_text(file).into_owned(), number(record)?));
    Some((place(row.text, record)?, place(kept_file?, kept_record)?))
}
