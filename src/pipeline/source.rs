//! The source of a document, by which removals are counted.

use super::scope::ScopeValue;
use super::shard_summary::CollectionSummary;
use simtool_model::document::DocOrdinal;
use std::borrow::Cow;
use std::path::Path;

impl CollectionSummary {
    /// Returns the source of document number `row`, which is in `file`. `None` if the document has no source, for
    /// example no host. If the source is a field, its values must have been collected.
    pub(crate) fn source<'s>(
        &'s self,
        row: u32,
        file: &'s Path,
        by: ScopeValue,
    ) -> Option<Cow<'s, [u8]>> {
        let (id, _) = self.ids.id_and_place(DocOrdinal(row));
        by.of(id, file, |_| self.traits.source(row))
    }
}
