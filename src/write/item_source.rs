//! Counts of the found items for each file of items. They show items that are in many documents by chance, because they
//! are a template or are about a common topic.

use super::summary::write_list;
use simtool_base::json_text::write_string;
use std::io::{self, Write};

/// Divisor of the number of documents. An item is common if the number of documents that contain it is at least the
/// quotient.
const COMMON_DIVISOR: u64 = 100;
/// Minimum number of documents that contain a common item.
const COMMON_LEAST: u64 = 10;
/// Divisor of the number of documents. A file of items is suspicious if the number of documents that contain one of its
/// items is at least the quotient.
const SUSPICIOUS_DIVISOR: u64 = 20;

/// Counts of the evaluation items of one file, and of the documents that contain them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemSource {
    /// Name of the file.
    pub file: String,
    /// Number of items of the file.
    pub items: u64,
    /// Number of items of the file that at least one document contains.
    pub found_items: u64,
    /// Number of documents that contain at least one item of the file.
    pub found_documents: u64,
    /// Number of pairs of an item and a document that contains it.
    pub hits: u64,
    /// Number of items of the file that at least 10 documents, and at least one in 100 documents, contain.
    pub common_items: u64,
    /// Number of pairs of a common item and a document that contains it.
    pub common_hits: u64,
    /// Number of documents that contain the most frequent item of the file.
    pub most_common: u64,
    /// ID of the most frequent item. Empty if no item was found.
    pub most_common_id: String,
}

impl ItemSource {
    /// Returns the minimum number of documents that contain a common item, if there are `documents` documents in all.
    pub(crate) fn least_common(documents: u64) -> u64 {
        documents.div_ceil(COMMON_DIVISOR).max(COMMON_LEAST)
    }

    /// Returns whether at least one in 20 of all `documents` documents, and at least 10, contain an item of the file.
    /// So many documents can hardly have copied items, so the items are probably common text such as a template.
    #[must_use]
    pub fn is_suspicious(&self, documents: u64) -> bool {
        self.found_documents >= documents.div_ceil(SUSPICIOUS_DIVISOR).max(COMMON_LEAST)
    }

    /// Writes the counts of all files as a field of a JSON object, followed by a comma.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub(crate) fn write_json(sources: &[Self], out: &mut dyn Write) -> io::Result<()> {
        write_list(out, "item_sources", sources, |out, source| {
            write!(out, "{{\"file\": ")?;
            write_string(out, source.file.as_bytes())?;
            let counts = [
                ("items", source.items),
                ("found_items", source.found_items),
                ("found_documents", source.found_documents),
                ("hits", source.hits),
                ("common_items", source.common_items),
                ("common_hits", source.common_hits),
            ];
            for (name, count) in counts {
                write!(out, ", \"{name}\": {count}")?;
            }
            write!(out, ", \"most_common\": {}, \"most_common_id\": ", source.most_common)?;
            write_string(out, source.most_common_id.as_bytes())?;
            write!(out, "}}")
        })
    }
}
