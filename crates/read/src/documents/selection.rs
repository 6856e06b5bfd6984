//! The choice of the documents that are compared.

use crate::bytes::undecodable;
use crate::formats::{Event, Visit};
use simtool_base::error::Result;
use simtool_base::stable_hash::hash;
use simtool_model::document::{Bad, Content, Document, Record};
use std::ops::ControlFlow;

/// Conditions that a document must meet to be compared. Documents that do not meet them are [passed
/// over](Content::PassedOver).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// Smallest number of tokens that a compared document may have. A token is a run of bytes
    /// without white space.
    pub min_tokens: usize,
    /// Largest number of bytes that the text of a compared document may have.
    pub max_bytes: usize,
    /// Fraction of documents that are compared, from 0 to 1. The hash of its text decides whether a document is chosen.
    /// So the choice does not depend on the file, and documents with equal texts are either all chosen or all passed
    /// over.
    pub sample: f64,
    /// Largest number of documents to compare. After this number of documents, the reading of all files stops.
    /// `u64::MAX` means no limit.
    pub limit: u64,
}

impl Default for Selection {
    /// Returns conditions that every document meets.
    fn default() -> Self {
        Self { min_tokens: 0, max_bytes: usize::MAX, sample: 1.0, limit: u64::MAX }
    }
}

impl Selection {
    /// Returns whether a document meets all conditions except `limit`, which is checked elsewhere.
    fn takes(&self, document: &Document<'_>) -> bool {
        let text = document.text;
        text.len() <= self.max_bytes
            && has_tokens(text, self.min_tokens)
            // The hash of the text, divided by 2⁶⁴, is compared with the fraction.
            && (self.sample >= 1.0 || (hash(text) as f64) < self.sample * 2f64.powi(64))
    }

    /// Calls `read` to read a shard, and passes the events of the shard to `visit`. If a document does not meet the
    /// conditions, its content becomes [`Content::PassedOver`]. If the text of a document cannot be decoded, its record
    /// becomes bad. Reading stops after `most` documents that meet the conditions.
    pub(crate) fn visit(
        self,
        most: u64,
        visit: &mut Visit<'_>,
        read: impl FnOnce(&mut Visit<'_>) -> Result<u64>,
    ) -> Result<u64> {
        if most == 0 {
            return Ok(0);
        }
        let mut taken = 0;
        read(&mut |event| {
            let bad;
            let event = match event {
                Event::Record(record) => {
                    bad = undecodable_fault(&record);
                    Event::Record(self.look_at(record, bad.as_ref(), &mut taken))
                }
                other @ (Event::Piece(_) | Event::Fault(_) | Event::Reached(_)) => other,
            };
            let flow = visit(event)?;
            Ok(if taken == most { ControlFlow::Break(()) } else { flow })
        })
    }

    /// Returns the record with its final content. A document that does not meet the conditions becomes
    /// [`Content::PassedOver`]. Another document becomes [`Content::Bad`] if `bad` has the fault of an undecodable
    /// text. Otherwise the document stays, and `taken` is incremented.
    fn look_at<'r>(&self, record: Record<'r>, bad: Option<&'r Bad>, taken: &mut u64) -> Record<'r> {
        match (record.content, bad) {
            (Content::Document(document), _) if !self.takes(&document) => {
                Record { content: Content::PassedOver, ..record }
            }
            (Content::Document(_), Some(bad)) => Record { content: Content::Bad(bad), ..record },
            (Content::Document(document), None) => {
                *taken += 1;
                // A character may have been replaced outside of the text, for example in a script or in another field.
                let is_in_text = |code: &&str| {
                    *code != "utf8"
                        || memchr::memmem::find(document.text, "\u{FFFD}".as_bytes()).is_some()
                };
                let repaired = document.repaired.filter(is_in_text);
                Record { content: Content::Document(Document { repaired, ..document }), ..record }
            }
            _ => record,
        }
    }
}

/// Returns the fault of a record with an undecodable document, otherwise `None`.
fn undecodable_fault(record: &Record<'_>) -> Option<Bad> {
    match &record.content {
        Content::Document(document) => {
            // A text that was decoded or unescaped has another length than its record.
            let is_empty = record.bytes.is_empty();
            let length = if is_empty { document.text.len() } else { record.bytes.len() };
            undecodable::fault(document, length as u64)
        }
        Content::PassThrough | Content::NonDocument(_) | Content::PassedOver | Content::Bad(_) => {
            None
        }
    }
}

/// Returns whether `text` has at least `least` tokens.
fn has_tokens(text: &[u8], least: usize) -> bool {
    let tokens = text.split(u8::is_ascii_whitespace).filter(|token| !token.is_empty());
    tokens.take(least).count() == least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(selection: Selection, text: &str) -> bool {
        selection.takes(&Document::new(text.as_bytes()))
    }

    #[test]
    fn tokens_and_bytes_are_counted_exactly() {
        let selection = Selection { min_tokens: 2, max_bytes: 7, ..Selection::default() };
        for (text, expected) in
            [("a", false), (" a\tb ", true), ("ab cdef", true), ("ab cdefg", false), ("", false)]
        {
            assert_eq!(takes(selection, text), expected, "{text:?}");
        }
        assert!(takes(Selection::default(), ""));
    }

    #[test]
    fn a_sample_is_about_its_share_and_smaller_ones_lie_in_larger_ones() {
        let in_sample = |sample, i: u32| {
            takes(Selection { sample, ..Selection::default() }, &format!("text {i}"))
        };
        let taken = (0..10_000).filter(|&i| in_sample(0.25, i)).count();
        assert!((2300..2700).contains(&taken), "{taken}");
        assert!((0..10_000).all(|i| !in_sample(0.1, i) || in_sample(0.25, i)));
        assert!((0..100).all(|i| !in_sample(0.0, i) && in_sample(1.0, i)));
    }

    #[test]
    fn a_document_that_is_not_taken_is_passed_over() {
        let selection = Selection { min_tokens: 2, ..Selection::default() };
        let mut taken = 0;
        let mut is_passed_over = |text: &str| {
            let content = Content::Document(Document::new(text.as_bytes()));
            let record =
                Record { number: 0, byte: 0, bytes: text.as_bytes(), known_hash: None, content };
            let record = selection.look_at(record, None, &mut taken);
            matches!(record.content, Content::PassedOver)
        };
        assert_eq!(["a", "a b", "c"].map(&mut is_passed_over), [true, false, true]);
        assert_eq!(taken, 1);
    }
}
