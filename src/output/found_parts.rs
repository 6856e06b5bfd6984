//! Reads what a search for repeated passages or for evaluation items has found in a document.

use super::finished_run::{Fields, FinishedRun, Sought, field, fields, id_field, named};
use simtool_base::error::Result;
use std::ops::Range;

/// A part of a document that a search for repeated passages or evaluation items has found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPart {
    /// File of the document, as the user named it.
    pub file: String,
    /// Number of the record that holds the document, counted from 0 in the file.
    pub record: u64,
    /// Byte ranges of the text that were found.
    pub spans: Vec<Range<usize>>,
    /// Number of words that were found.
    pub words: u64,
    /// The other place where these words were found.
    pub source: PartSource,
}

/// The other place of words that a search has found in a document: another copy of a passage, or an evaluation item.
#[derive(Clone, Debug, PartialEq)]
pub enum PartSource {
    /// The words are a passage that is repeated.
    Passage {
        /// Another document with the passage, as `FILE:RECORD`. Empty if the passage is repeated in this document
        /// alone.
        partner: String,
        /// Number of documents with the passage.
        documents: u64,
        /// Whether this is the first occurrence of the passage.
        is_first: bool,
    },
    /// The words are those of an evaluation item.
    Item {
        /// ID of the item.
        id: String,
        /// Share of the item that the document has, from 0 to 1.
        share: f64,
    },
}

/// Output file of a kind of search, and the function that parses its rows.
struct PartRows {
    file: &'static str,
    /// Parses a row that describes a part of a document. The other arguments are the file and the record number of the
    /// document. Returns `None` if the row has another form.
    parse: fn(&Fields<'_>, String, u64) -> Option<FoundPart>,
}

const SEARCHES: &[PartRows] = &[
    PartRows { file: "passages.jsonl", parse: passage },
    PartRows { file: "contamination.jsonl", parse: item },
];

impl FinishedRun {
    /// Returns the parts that the run has found in the documents that `sought` names, in the order of the rows. Returns
    /// `None` if the run was no search for passages or items.
    ///
    /// # Errors
    ///
    /// An output cannot be read, or is not as it was written.
    pub(crate) fn find_parts(&self, sought: Sought<'_>) -> Result<Option<Vec<FoundPart>>> {
        // A run writes at most one of these files.
        let rows = SEARCHES.iter().find(|rows| self.folder().join(rows.file).is_file());
        let Some(rows) = rows else { return Ok(None) };
        let (mut of_id, mut of_place) = (Vec::new(), Vec::new());
        self.for_each_line(rows.file, sought, &mut |line| {
            let line = fields(line)?;
            let (id, file, record) = named(&line)?;
            let (is_id, is_place) = (sought.is_id(&id), sought.is_place(&file, record, Some(&id)));
            if is_id || is_place {
                let part = (rows.parse)(&line, file, record)?;
                if is_id { of_id.push(part) } else { of_place.push(part) }
            }
            Some(())
        })?;
        Ok(Some(if of_id.is_empty() { of_place } else { of_id }))
    }
}

fn passage(row: &Fields<'_>, file: String, record: u64) -> Option<FoundPart> {
    let number = |name: &str| field::<u64>(row, name);
    let partner: Option<(String, u64)> = field(row, "partner_file").zip(number("partner_record"));
    let source = PartSource::Passage {
        partner: partner.map_or_else(String::new, |(file, record)| format!("{file}:{record}")),
        documents: number("documents")?,
        is_first: field(row, "first")?,
    };
    let bytes: Range<usize> = field(row, "byte_start")?..field(row, "byte_end")?;
    let words = number("word_end")?.saturating_sub(number("word_start")?);
    Some(FoundPart { file, record, spans: vec![bytes], words, source })
}

fn item(row: &Fields<'_>, file: String, record: u64) -> Option<FoundPart> {
    let spans: Vec<(usize, usize)> = field(row, "spans")?;
    let id = id_field(row, "item_id")?;
    let source = PartSource::Item { id, share: field(row, "share")? };
    let spans = spans.into_iter().map(|(start, end)| start..end).collect();
    Some(FoundPart { file, record, spans, words: field(row, "words")?, source })
}
