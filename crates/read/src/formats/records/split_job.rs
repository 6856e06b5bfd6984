//! The bytes and options with which a format applies its splitter to a file, or to a part of it.

use crate::bytes::{Damage, PageContent, Stream};
use crate::formats::records::window::{RecordStream, ToFault, read_slice};
use crate::formats::{Event, RecordMemory, Splitter, Visit};
use encoding_rs::Encoding;
use simtool_base::error::Result;
use simtool_base::fault::Fault;
use simtool_model::document::{Content, Document, Record};
use simtool_model::document_id::DocumentId;
use std::ops::ControlFlow;

/// The bytes that a splitter divides into records.
pub(crate) enum SplitBytes<'b> {
    /// A slice with all bytes to read.
    Slice(&'b [u8]),
    /// A stream of the bytes to read. It starts at the start of a record or of the file.
    Stream(&'b mut dyn Stream),
    /// A stream that starts in the middle of a record, and the number of compressed bytes in which the next start of a
    /// record is searched. Reading begins at this start. If none is found, no record is visited.
    Within(&'b mut dyn Stream, u64),
}

/// One reading of a file or of a part of it: its bytes, and the visitor of its records.
pub(crate) struct SplitJob<'b, 'r, 'v> {
    /// Length of the longest allowed record, in bytes.
    pub(crate) longest: usize,
    pub(crate) bytes: SplitBytes<'b>,
    /// Byte offset in the file of the first byte of `bytes`.
    pub(crate) offset: u64,
    /// Encoding of the documents. `None` means UTF-8. A format that decodes its documents itself takes this value out.
    /// Otherwise [`SplitJob::split`] decodes the documents.
    pub(crate) encoding: Option<&'static Encoding>,
    /// Part of an HTML page whose text is the document.
    pub(crate) content: PageContent,
    /// Function that creates the event that reports damage. Its `bool` argument is true if bytes were lost.
    pub(crate) to_fault: &'r ToFault<'r>,
    pub(crate) memory: RecordMemory<'r>,
    pub(crate) visit: &'r mut Visit<'v>,
}

impl SplitJob<'_, '_, '_> {
    /// Returns whether the bytes begin at the start of the file.
    pub(crate) fn is_file_start(&self) -> bool {
        self.offset == 0
    }

    /// Divides the bytes of the job into records by `splitter`, and passes the records to the visitor. Returns the
    /// number of records.
    ///
    /// # Errors
    ///
    /// The first error that the visitor returns.
    pub(crate) fn split<S: Splitter>(self, splitter: &mut S) -> Result<u64> {
        let Self { longest, bytes, offset, encoding, to_fault, memory, visit, .. } = self;
        let mut decoding;
        let visit: &mut Visit<'_> = match encoding {
            None => visit,
            Some(encoding) => {
                decoding = |event: Event<'_>| visit_decoded(event, encoding, visit);
                &mut decoding
            }
        };
        let mut is_ended = false;
        let watched: &mut Visit<'_> = &mut |event| {
            let flow = visit(event)?;
            is_ended |= flow.is_break();
            Ok(flow)
        };
        let records = match bytes {
            SplitBytes::Slice(bytes) => read_slice(splitter, bytes, offset, longest, watched),
            SplitBytes::Stream(stream) => {
                RecordStream { splitter: &mut *splitter, stream, longest, to_fault, memory }
                    .read(offset, watched)
            }
            SplitBytes::Within(stream, searched) => {
                RecordStream { splitter: &mut *splitter, stream, longest, to_fault, memory }
                    .read_within(searched, watched)
            }
        }?;
        if let Some((code, detail)) = splitter.note().filter(|_| !is_ended) {
            let damage = Damage { code, byte: offset, detail };
            if let Event::Fault(fault) = to_fault(damage, false) {
                // The note is about bytes at several positions, so it has no offset.
                _ = visit(Event::Fault(Fault { byte: None, ..fault }))?;
            }
        }
        Ok(records)
    }
}

/// Passes the event to the visitor. If the event is a document, decodes its text and fields from `encoding` first.
fn visit_decoded(
    event: Event<'_>,
    encoding: &'static Encoding,
    visit: &mut Visit<'_>,
) -> Result<ControlFlow<()>> {
    let Event::Record(record @ Record { content: Content::Document(document), .. }) = event else {
        return visit(event);
    };
    let decode = |bytes| encoding.decode_without_bom_handling(bytes);
    let (text, is_replaced) = decode(document.text);
    let fields = document.fields.map(|value| value.map(|value| decode(value).0));
    // A number has only ASCII characters, which are the same in every encoding of a text format.
    let id = document.id.filter(|id| !id.is_number()).map(|id| decode(id.bytes()).0);
    let document = Document {
        id: id.as_deref().map(|id| DocumentId::Text(id.as_bytes())).or(document.id),
        text: text.as_bytes(),
        fields: fields.each_ref().map(|value| value.as_deref().map(str::as_bytes)),
        repaired: document.repaired.or(is_replaced.then_some("utf8")),
        ..document
    };
    visit(Event::Record(Record { content: Content::Document(document), ..record }))
}
