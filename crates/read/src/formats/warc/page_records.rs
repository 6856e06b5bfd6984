//! Recognizes records that only repeat the text of a page of the same crawl.

use simtool_base::stable_hash::hash;
use simtool_base::unordered_map::UnorderedSet;

/// Maximum number of IDs and URIs of pages that are remembered. It bounds the memory for a large file.
/// Few are enough, because the text of a page follows closely after the page.
const MOST: usize = 1 << 16;
/// Starts of the URIs under which Browsertrix stores the text of a page, in front of the URI of the
/// page.
const EXTRACTED: [&[u8]; 2] = [b"urn:text:", b"urn:textFinal:"];

/// Returns whether a record with this URI is a text that a crawler extracted from a page.
pub(super) fn is_extracted_text(uri: &[u8]) -> bool {
    EXTRACTED
        .iter()
        .any(|start| uri.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)))
}

/// The records of a file that are pages, as far as they were read.
#[derive(Debug, Default)]
pub(super) struct PageRecords {
    /// Hashes of the IDs and URIs of the records.
    hashes: UnorderedSet<u64>,
}

impl PageRecords {
    /// Notes a page with this ID and URI of its record.
    pub(super) fn note(&mut self, record_id: Option<&[u8]>, uri: Option<&[u8]>) {
        if self.hashes.len() >= MOST {
            self.hashes.clear();
        }
        self.hashes.extend([record_id, uri].into_iter().flatten().map(hash));
    }

    /// Returns whether a conversion is one of a page that was noted. `refers_to` is the ID of the
    /// record that was converted, if the conversion names it. Otherwise its URI counts.
    pub(super) fn have(&self, refers_to: Option<&[u8]>, uri: Option<&[u8]>) -> bool {
        let name = refers_to.or(uri);
        name.is_some_and(|name| self.hashes.contains(&hash(name)))
    }
}
