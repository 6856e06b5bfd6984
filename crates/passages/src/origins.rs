//! Origins of documents, such as their hosts. Documents of one origin count as one.

/// The origin of each document, such as its host. Documents of one origin count as one document. Without origins, each
/// document has its own origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origins {
    /// Number of the origin of each document.
    of_documents: Option<Vec<u32>>,
}

impl Origins {
    /// Creates the origins of documents from the number of the origin of each. `None` if each document has its own
    /// origin.
    pub(crate) fn new(of_documents: Option<Vec<u32>>) -> Self {
        Self { of_documents }
    }

    /// Returns the number of the origin of a document.
    #[inline]
    fn of(&self, document: u32) -> u32 {
        match &self.of_documents {
            // Only a source that changed between two readings lacks the origin of a document.
            Some(origins) => origins.get(document as usize).copied().unwrap_or(u32::MAX),
            None => document,
        }
    }

    /// Returns whether two documents have the same origin.
    #[inline]
    pub(crate) fn is_same(&self, a: u32, b: u32) -> bool {
        // Most searches have no origins, so the common case needs no look-up.
        a == b || self.of_documents.is_some() && self.of(a) == self.of(b)
    }

    /// Returns the number of different origins of `documents`, which may be in any order. Overwrites the list.
    pub(crate) fn count(&self, documents: &mut [u32]) -> u32 {
        if self.of_documents.is_some() {
            // The list then has the numbers of origins instead of documents.
            for document in documents.iter_mut() {
                *document = self.of(*document);
            }
        }
        // Documents often come in order already, and sorting them again would take longer than the check.
        if !documents.is_sorted() {
            documents.sort_unstable();
        }
        documents.chunk_by(|a, b| a == b).count() as u32
    }

    /// Returns the number of bytes of memory that the origins take.
    pub(crate) fn bytes(&self) -> u64 {
        self.of_documents.as_ref().map_or(0, |origins| 4 * origins.len() as u64)
    }

    /// Creates a counter for documents that come in ascending order.
    pub(crate) fn counter(&self) -> OriginCounter<'_> {
        OriginCounter { origins: self, last: u32::MAX, different: 0, several: Vec::new() }
    }
}

/// Counts the different origins of documents that come in ascending order.
#[derive(Debug)]
pub(crate) struct OriginCounter<'o> {
    origins: &'o Origins,
    /// Number of the document that was counted last, or `u32::MAX` before the first one.
    last: u32,
    /// Number of different documents that were counted.
    different: u32,
    /// The different documents so far. Empty if each document has its own origin, because `different` is then enough.
    several: Vec<u32>,
}

impl OriginCounter<'_> {
    /// Counts a document.
    #[inline]
    pub(crate) fn push(&mut self, document: u32) {
        // Equal documents are neighbours, because documents come in ascending order.
        if document == self.last {
            return;
        }
        self.last = document;
        self.different += 1;
        if self.origins.of_documents.is_some() {
            self.several.push(document);
        }
    }

    /// Returns the number of different origins.
    pub(crate) fn finish(mut self) -> u32 {
        // Without origins, the number of different documents is already known.
        if self.several.is_empty() { self.different } else { self.origins.count(&mut self.several) }
    }
}
