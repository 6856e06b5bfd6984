//! Converts the events of reading a shard (its records and faults) to bytes and back. The bytes of records are left
//! out.

use crate::pipeline::stored_bytes::{BytesReader, BytesWriter};
use simtool_base::error::Result;
use simtool_base::fault::Fault;
use simtool_model::document::{Bad, Content, Document, FieldValues, MOST_FIELDS, Record};
use simtool_model::document_id::DocumentId;
use simtool_model::non_document::NonDocument;
use simtool_model::page_text::{ExtractedPage, PageText};
use simtool_model::title_words::TitleWords;
use simtool_read::{Event, Visit};
use std::ops::ControlFlow;

/// Number that marks a stored event as a document. An event is a record or a fault that reading a shard passes to its
/// visitor. The next constants mark the other kinds of events.
const DOCUMENT: u64 = 0;
const PASS_THROUGH: u64 = 1;
const NON_DOCUMENT: u64 = 2;
const PASSED_OVER: u64 = 3;
const BAD: u64 = 4;
pub(super) const FAULT: u64 = 5;

impl BytesWriter {
    /// Appends a record of any kind, for example a document. Its bytes in the file are left out.
    pub(super) fn push_record(&mut self, record: &Record<'_>) {
        self.number(match record.content {
            Content::Document(_) => DOCUMENT,
            Content::PassThrough => PASS_THROUGH,
            Content::NonDocument(_) => NON_DOCUMENT,
            Content::PassedOver => PASSED_OVER,
            Content::Bad(_) => BAD,
        });
        self.number(record.number);
        self.number(record.byte);
        self.optional_number(record.content_hash());
        match record.content {
            Content::Document(document) => self.push_document(&document),
            Content::NonDocument(kind) => {
                let place = NonDocument::ALL.iter().position(|known| *known == kind);
                self.number(place.unwrap_or_default() as u64);
            }
            Content::Bad(Bad { code, expected, length }) => {
                self.bytes(code.as_bytes());
                self.bytes(expected.as_bytes());
                self.number(*length);
            }
            Content::PassThrough | Content::PassedOver => {}
        }
    }

    fn push_document(&mut self, document: &Document<'_>) {
        // Lines are left out by views that read from this one, so these fields are not stored.
        let Document { id, text, fields, repaired, page_text, skipped_elements, .. } = document;
        self.number(id.map_or(0, |id| 1 + u64::from(id.is_number())));
        self.bytes(id.map_or(&[], DocumentId::bytes));
        self.bytes(text);
        for field in fields {
            self.number(u64::from(field.is_some()));
            self.bytes(field.unwrap_or_default());
        }
        self.bytes(repaired.unwrap_or_default().as_bytes());
        let place = |page: &ExtractedPage| PageText::ALL.iter().position(|part| *part == page.part);
        self.number(page_text.and_then(place).map_or(0, |place| place as u64 + 1));
        if let Some(page) = page_text {
            self.number(page.title);
            let words: Vec<u64> = page.title_words.numbers().map(u64::from).collect();
            self.numbers(words.into_iter());
            self.number(page.left_out_words.into());
        }
        self.number((*skipped_elements).into());
    }

    fn optional_number(&mut self, number: Option<u64>) {
        self.number(u64::from(number.is_some()));
        if let Some(number) = number {
            self.number(number);
        }
    }
}

/// Reads a stored event from `from` and passes it to `visit`. Faults are not stored in these bytes: for a fault, passes
/// the next fault of `faults`. Returns `None` if the bytes do not begin with an event.
pub(super) fn visit_event<'k>(
    from: &mut BytesReader<'_>,
    faults: &mut impl Iterator<Item = &'k Fault>,
    visit: &mut Visit<'_>,
) -> Option<Result<ControlFlow<()>>> {
    let kind = from.number()?;
    if kind == FAULT {
        return Some(visit(Event::Fault(faults.next()?.clone())));
    }
    let (number, byte) = (from.number()?, from.number()?);
    let known_hash = if from.number()? == 1 { Some(from.number()?) } else { None };
    let bad;
    let mut page = None;
    let content = match kind {
        DOCUMENT => Content::Document(document(from, &mut page)?),
        PASS_THROUGH => Content::PassThrough,
        NON_DOCUMENT => {
            let place = usize::try_from(from.number()?).ok()?;
            Content::NonDocument(*NonDocument::ALL.get(place)?)
        }
        PASSED_OVER => Content::PassedOver,
        BAD => {
            let (code, expected) = (from.code()?, from.text()?.to_owned().into());
            bad = Bad { code, expected, length: from.number()? };
            Content::Bad(&bad)
        }
        _ => return None,
    };
    Some(visit(Event::Record(Record { number, byte, bytes: &[], known_hash, content })))
}

/// Reads a document that `push_document` has appended. If the document comes from an HTML page, stores data about the
/// page, such as its title, in `page`.
fn document<'d, 'b: 'd>(
    from: &mut BytesReader<'b>,
    page: &'d mut Option<ExtractedPage>,
) -> Option<Document<'d>> {
    let id = match (from.number()?, from.bytes()?) {
        (0, _) => None,
        (1, text) => Some(DocumentId::Text(text)),
        (_, digits) => Some(DocumentId::Number(digits)),
    };
    let text = from.bytes()?;
    let mut fields: FieldValues<'d> = [None; MOST_FIELDS];
    for field in &mut fields {
        let is_there = from.number()? == 1;
        *field = Some(from.bytes()?).filter(|_| is_there);
    }
    let repaired = Some(from.code()?).filter(|code| !code.is_empty());
    *page = match usize::try_from(from.number()?).ok()?.checked_sub(1) {
        Some(place) => Some(ExtractedPage {
            part: *PageText::ALL.get(place)?,
            title: from.number()?,
            title_words: TitleWords::from_numbers(&from.list(BytesReader::short_number)?),
            left_out_words: from.short_number()?,
        }),
        None => None,
    };
    let skipped_elements = from.short_number()?;
    let page_text = page.as_ref();
    Some(Document { id, fields, repaired, page_text, skipped_elements, ..Document::new(text) })
}
