//! Recognizes records that only repeat the text of a page of the same crawl.

use simtool_base::stable_hash::hash;
use simtool_base::unordered_map::UnorderedSet;

/// Largest number of IDs and URIs of pages that are remembered. It limits the memory for a large file, and is large
/// enough because the text of a page is stored shortly after the page.
const MOST: usize = 1 << 16;
/// Starts of the URIs under which Browsertrix stores the text of a page. The URI of the page follows after the start.
const EXTRACTED: [&[u8]; 2] = [b"urn:text:", b"urn:textFinal:"];

/// Returns whether a record with this URI has a text that a crawler extracted from a page.
pub(super) fn is_extracted_text(uri: &[u8]) -> bool {
    EXTRACTED
        .iter()
        .any(|start| uri.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)))
}

/// The pages that were read so far from a file of a web crawl.
#[derive(Debug, Default)]
pub(super) struct PageRecords {
    /// Hashes of the record IDs and URIs of these pages.
    hashes: UnorderedSet<u64>,
}

impl PageRecords {
    /// Remembers a page by the ID and the URI of its record. If there are too many, forgets all earlier pages first.
    pub(super) fn note(&mut self, record_id: Option<&[u8]>, uri: Option<&[u8]>) {
        if self.hashes.len() >= MOST {
            self.hashes.clear();
        }
        self.hashes.extend([record_id, uri].into_iter().flatten().map(hash));
    }

    /// Returns whether a conversion, which is a record with only the text of a page, was made from a page that is
    /// remembered. `refers_to` is the ID of the record that was converted. If the conversion does not name this record,
    /// `uri` is compared instead.
    pub(super) fn have(&self, refers_to: Option<&[u8]>, uri: Option<&[u8]>) -> bool {
        let name = refers_to.or(uri);
        name.is_some_and(|name| self.hashes.contains(&hash(name)))
    }
}
