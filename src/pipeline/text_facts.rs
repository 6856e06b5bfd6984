//! Facts about the text of each document that the output `documents` shows.

use super::stored_bytes::{BytesReader, BytesWriter};
use crate::cluster::Cluster;
use crate::method::{DocumentTerms, Fitted, Method, TermScratch};
use simtool_base::stable_hash::hash;
use simtool_kernels::Isa;

/// Number of tokens and hash of the text of each document. Both lists are empty if the facts are not collected.
#[derive(Clone, Debug, Default)]
pub struct TextFacts {
    token_counts: Vec<u32>,
    hashes: Vec<u64>,
}

impl TextFacts {
    /// Adds the facts about the text of the next document.
    pub(super) fn push(&mut self, text: &[u8], tokens: u32) {
        self.token_counts.push(tokens);
        self.hashes.push(hash(text));
    }

    /// Adds the facts about other documents behind these.
    pub(super) fn append(&mut self, more: Self) {
        self.token_counts.extend(more.token_counts);
        self.hashes.extend(more.hashes);
    }

    /// Returns the number of bytes of memory that the facts take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.token_counts[..]) + size_of_val(&self.hashes[..])
    }

    /// Appends the facts to `out`.
    pub(super) fn store(&self, out: &mut BytesWriter) {
        out.numbers(self.token_counts.iter().copied().map(u64::from));
        out.numbers(self.hashes.iter().copied());
    }

    /// Takes the facts that [`store`](Self::store) has appended. Returns `None` if the bytes are others.
    pub(super) fn restore(from: &mut BytesReader<'_>) -> Option<Self> {
        let token_counts = from.list(BytesReader::short_number)?;
        Some(Self { token_counts, hashes: from.list(BytesReader::number)? })
    }

    /// Collects the facts about `texts`, whose tokens are those of `method`.
    #[must_use]
    pub fn of_texts(texts: &[&[u8]], method: &Method, isa: Isa) -> Self {
        let recipe = method.recipe();
        let terms = if recipe.sketch().is_some() { recipe.terms() } else { method.compared() };
        // Tokens depend on no learned data.
        let terms = DocumentTerms::new(terms, &Fitted::Nothing, isa);
        let mut scratch = TermScratch::default();
        let mut facts = Self::default();
        for text in texts {
            terms.find_of_tokens(text, &mut scratch);
            facts.push(text, scratch.token_count());
        }
        facts
    }

    /// Returns a hash of the bytes of each text. The list is empty if the facts were not collected.
    #[must_use]
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Returns the number of tokens of each document. The list is empty if they were not counted.
    #[must_use]
    pub fn token_counts(&self) -> &[u32] {
        &self.token_counts
    }

    /// Returns for each document how many documents of its cluster have the same text, itself included. `lengths`
    /// has the number of bytes of each text. A document that is in no cluster is alone. The list is empty if the
    /// facts were not collected.
    #[must_use]
    pub fn exact_copies(&self, lengths: &[u32], clusters: &[Cluster<'_>]) -> Vec<u32> {
        let mut copies = vec![1; self.hashes.len()];
        if copies.is_empty() {
            return copies;
        }
        // Only texts of one cluster are compared, and 64 bits and the length tell them apart in practice.
        let text = |row: u32| (self.hashes[row as usize], lengths[row as usize]);
        // Sorting puts equal texts next to each other, also in a cluster of millions of documents.
        let mut rows = Vec::new();
        for cluster in clusters {
            rows.clear();
            rows.extend(cluster.rows());
            rows.sort_unstable_by_key(|&row| text(row));
            for equal in rows.chunk_by(|&a, &b| text(a) == text(b)) {
                for &row in equal {
                    copies[row as usize] = equal.len() as u32;
                }
            }
        }
        copies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Removal, clusters};

    #[test]
    fn copies_are_counted_in_each_cluster() {
        let texts = ["a", "b", "a", "a", "b", "c", "a", ""];
        let mut facts = TextFacts::default();
        for text in texts {
            facts.push(text.as_bytes(), text.len() as u32);
        }
        let removal = |row, kept| Removal { row, kept, closeness: None };
        let removals = [removal(1, 0), removal(2, 0), removal(4, 0), removal(5, 3), removal(6, 3)];
        let lengths = texts.map(|text| text.len() as u32);
        let clusters = clusters(&removals);
        assert_eq!(facts.exact_copies(&lengths, &clusters), [2, 2, 2, 2, 2, 1, 2, 1]);
        assert_eq!(facts.token_counts(), lengths);
        let mut twice = facts.clone();
        twice.append(facts);
        assert_eq!(twice.bytes(), 16 * 12);
        let mut out = BytesWriter::default();
        twice.store(&mut out);
        let bytes = out.into_bytes();
        let restored = TextFacts::restore(&mut BytesReader::new(&bytes)).unwrap();
        assert_eq!((restored.token_counts, restored.hashes), (twice.token_counts, twice.hashes));
    }
}
