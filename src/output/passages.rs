//! Writes the repeated passages of a collection as rows.

use super::named::RECORD_MEANING;
use super::shown_pairs::shown_name;
use crate::pipeline::FoundPassages;
use crate::pipeline::document_names::document_name;
use crate::write::columns::{
    Column, IdType, OutputDescription, RowFormat, RowTable, RowsFile, Value, describe_columns,
};
use crate::write::repetition_summary::{RepeatedText, RepetitionSummary};
use simtool_model::document_name::DocumentName;
use simtool_passages::{Passage, TopText};
use simtool_read::Corpus;
use std::io::{self, Write};

/// Description of the rows that `simtool passages` writes.
pub(crate) const OUTPUT: OutputDescription = OutputDescription {
    name: "passages",
    files: &["passages.jsonl", "passages.tsv", "passages.parquet"],
    command: "passages",
    description: "Each repeated passage of each document, in reading order. A file of the output folder with \
                  --write-kept, and otherwise the file or stream that --output names.",
    columns: || describe_columns(PassageRows::COLUMNS),
};

/// Columns of the output, for example `id` and `word_start`.
#[derive(Debug)]
struct PassageRows;

struct PassageRow<'r> {
    name: &'r DocumentName<'r>,
    passage: &'r Passage,
    partner: &'r DocumentName<'r>,
}

impl RowTable for PassageRows {
    type Row<'r> = PassageRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "ID of the document.", Value::Id(|row| row.name.id())),
        Column::new("file", "File of the document.", Value::Text(|row| row.name.file_bytes())),
        Column::new("record", RECORD_MEANING, Value::Number(|row| row.name.record)),
        Column::new(
            "word_start",
            "Number of the first word in the document, from 0.",
            Value::Number(|row| row.passage.words.start.into()),
        ),
        Column::new(
            "word_end",
            "Number of the word after the last one.",
            Value::Number(|row| row.passage.words.end.into()),
        ),
        Column::new(
            "byte_start",
            "First byte of the passage in the decoded text, from 0.",
            Value::Number(|row| row.passage.bytes.start),
        ),
        Column::new(
            "byte_end",
            "Byte after the last one.",
            Value::Number(|row| row.passage.bytes.end),
        ),
        Column::new(
            "documents",
            "Number of documents with the most frequent words of the passage. With an origin in --min-documents, the number of their files, \
             folders or hosts.",
            Value::Number(|row| row.passage.documents.into()),
        ),
        Column::new(
            "occurrences",
            "Number of places at which the passage occurs, in all documents together.",
            Value::Number(|row| row.passage.occurrences),
        ),
        Column::new(
            "first",
            "Whether these words occur here for the first time.",
            Value::Flag(|row| row.passage.is_first),
        ),
        Column::new(
            "whole",
            "Whether the passage has all words of the document. Another document need not have all of them: each is in \
             a sequence of --words words that another document has.",
            Value::Flag(|row| row.passage.is_whole),
        ),
        Column::new(
            "partner_id",
            "ID of a document in which these words occur, too: the first one, or the next one if this is the \
             first.",
            Value::Id(|row| row.partner.id()),
        ),
        Column::new(
            "partner_file",
            "File of that document.",
            Value::Text(|row| row.partner.file_bytes()),
        ),
        Column::new("partner_record", RECORD_MEANING, Value::Number(|row| row.partner.record)),
        Column::new(
            "partner_byte_start",
            "First byte of these words in that document.",
            Value::Number(|row| row.passage.partner.bytes.start),
        ),
        Column::new(
            "partner_byte_end",
            "Byte after their last one.",
            Value::Number(|row| row.passage.partner.bytes.end),
        ),
    ];
}

/// Returns how much of a collection is repeated. `noun` is the noun for the things that count as different documents,
/// for example hosts.
pub(crate) fn repetition(
    collection: &dyn Corpus,
    found: &FoundPassages,
    noun: &'static str,
) -> RepetitionSummary {
    let FoundPassages { passages, excerpts, summary, .. } = found;
    let text = |(top, text): (&TopText, &Vec<u8>)| RepeatedText {
        documents: top.documents,
        words: top.words.len() as u64,
        name: shown_name(&document_name(collection, &summary.ids, top.document)),
        bytes: top.bytes.clone(),
        text: text.clone(),
    };
    RepetitionSummary {
        noun,
        words: passages.words,
        levels: passages.repetition.levels.clone(),
        texts: passages.repetition.top.iter().zip(excerpts).map(text).collect(),
    }
}

/// Writes the passages of `collection` to `out`.
///
/// # Errors
///
/// `out` fails.
pub(crate) fn write_passages(
    collection: &dyn Corpus,
    found: &FoundPassages,
    format: RowFormat,
    out: &mut (dyn Write + Send),
) -> io::Result<()> {
    let ids = &found.summary.ids;
    let id_type = IdType::of(ids.are_integers());
    let mut rows = RowsFile::new(out, format, PassageRows::COLUMNS, id_type, "")?;
    for passage in &found.passages.passages {
        rows.write(&PassageRow {
            name: &document_name(collection, ids, passage.document),
            passage,
            partner: &document_name(collection, ids, passage.partner.document),
        })?;
    }
    rows.finish()?.flush()
}
