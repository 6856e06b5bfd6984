//! Estimates how many documents of a collection have a partner, for example an equal document, from the partners that
//! the documents of a sample have in other sections of the sample.
//!
//! A sample of a thousandth of the documents has only a thousandth of the partners of each document. So most documents
//! with many partners have none in the sample, and the share of documents with a partner is far too small there.
//!
//! Two models are averaged. In the first one, a share of the documents has partners, and each of these documents has the
//! same number of them, anywhere in the collection. The number of partners in the sample then has a Poisson distribution.
//! Its mean and the mean of its square show the share and the number. But documents with very many partners, such as
//! pages of one template, determine the mean of the square and hide the others. So in the second model, all
//! documents have partners, as many as the documents with a single partner in the sample show.

/// Number of partners of each document of a sample. Partners in the document's own section do not count, because
/// documents that are close together in the input have more partners among each other than with others.
#[derive(Clone, Debug, Default)]
pub(super) struct Partners {
    /// Sum of the numbers of partners.
    sum: f64,
    /// Sum of the numbers of ordered pairs of two different partners of a document.
    pairs: f64,
    /// Number of documents with one partner.
    with_one: f64,
    /// Number of documents with several partners.
    with_several: f64,
    /// Number of documents of the sample.
    documents: f64,
    /// Mean number of documents in other sections.
    others: f64,
}

impl Partners {
    /// Counts the partners of documents. `documents` has for each document of a sample the number of its section and its
    /// number of partners in other sections. The documents of a section are next to each other.
    pub(super) fn count(documents: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut partners = Self::default();
        let (mut section, mut in_section, mut same_section) = (None, 0.0, 0.0);
        for (its_section, count) in documents {
            match count {
                0 => {}
                1 => partners.with_one += 1.0,
                _ => partners.with_several += 1.0,
            }
            let count = f64::from(count);
            partners.sum += count;
            partners.pairs += count * (count - 1.0);
            partners.documents += 1.0;
            if section != Some(its_section) {
                same_section += in_section * in_section;
                (section, in_section) = (Some(its_section), 0.0);
            }
            in_section += 1.0;
        }
        same_section += in_section * in_section;
        partners.others = partners.documents - same_section / partners.documents.max(1.0);
        partners
    }

    /// Returns the estimated average number of partners of a document in a collection of `documents` documents. Documents
    /// with several partners in the sample are left out: they are few, and have so many partners that the average of
    /// small samples would vary widely.
    pub(super) fn mean(&self, documents: f64) -> f64 {
        self.with_one / self.documents.max(1.0) * self.times(documents)
    }

    /// Returns the estimated fraction of the documents of a collection of `documents` documents that have a partner.
    pub(super) fn share(&self, documents: f64) -> f64 {
        self.average(documents, |partners| -(-partners).exp_m1())
    }

    /// Returns the estimated fraction of the documents of a collection of `documents` documents that are not the first
    /// one of their group, if the partners of a document are the other documents of its group.
    pub(super) fn later_share(&self, documents: f64) -> f64 {
        self.average(documents, |partners| {
            // The first factor is the expected value of 1 / (1 + number of partners).
            1.0 - -(-partners).exp_m1() / partners.max(f64::MIN_POSITIVE)
        })
    }

    /// Returns by how much a document has more possible partners in a collection of `documents` documents than in other
    /// sections of the sample.
    fn times(&self, documents: f64) -> f64 {
        if self.others < 1.0 { 0.0 } else { (documents / self.others).max(1.0) }
    }

    /// Returns the average of both models for a collection of `documents` documents. `share_of` returns the estimated
    /// fraction of the documents that count, for documents with this number of partners on average.
    fn average(&self, documents: f64, share_of: impl Fn(f64) -> f64) -> f64 {
        let times = self.times(documents);
        if self.sum == 0.0 || times == 0.0 {
            return 0.0;
        }
        let mean = self.sum / self.documents;
        // Without a document that has two partners, all documents have few.
        let share = (self.sum * mean / self.pairs.max(f64::MIN_POSITIVE)).min(1.0);
        let first = share * share_of(mean / share * times);
        let second = share_of(self.mean(documents));
        // If many documents have several partners, those with a single one are probably of the same kind.
        let weight = (1.0 - self.with_several / self.with_one.max(1.0)).max(0.0) / 2.0;
        first + weight * (second - first).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;
    use std::collections::BTreeSet;

    /// Takes a sample of a collection in which each document with a number below `with_copies` has `copies` copies, and
    /// returns the estimated shares of documents with a copy and of later copies, and the true shares.
    fn shares(originals: u64, with_copies: u64, copies: u64, sampled: u64) -> [[f64; 2]; 2] {
        let all = with_copies * (copies + 1) + originals - with_copies;
        let original = |number: u64| {
            let of_copies = with_copies * (copies + 1);
            if number < of_copies { number % with_copies } else { number - of_copies + with_copies }
        };
        // Each document is drawn at most once.
        let drawn: BTreeSet<u64> = (0..sampled).map(|at| mix(at) % all).collect();
        let sample: Vec<u64> = drawn.into_iter().map(original).collect();
        // Each document is a section of its own.
        let partners = sample
            .iter()
            .map(|&one| sample.iter().filter(|&&other| other == one).count() as u32 - 1);
        let counted = Partners::count((0..).zip(partners));
        let all = all as f64;
        let (later, with) = (with_copies * copies, with_copies * (copies + 1));
        let truth = [with as f64 / all, later as f64 / all];
        [[counted.share(all), counted.later_share(all)], truth]
    }

    #[test]
    fn a_small_sample_shows_documents_with_many_copies_and_with_few() {
        for (originals, with_copies, copies, sampled) in [
            // All documents have a hundred copies. The sample has a two-thousandth of the documents.
            (40_000, 40_000, 99, 2000),
            // Half of the documents belong to few groups.
            (50_000, 500, 100, 2000),
            // One document in ten has a copy.
            (100_000, 10_000, 1, 5000),
        ] {
            let [estimated, truth] = shares(originals, with_copies, copies, sampled);
            for (estimated, truth) in estimated.into_iter().zip(truth) {
                assert!((estimated - truth).abs() < 0.15, "{estimated} for {truth}");
            }
        }
    }

    #[test]
    fn partners_in_the_own_section_do_not_count_as_documents() {
        let documents = [(1, 1), (1, 0), (2, 1), (2, 0)];
        let partners = Partners::count(documents.into_iter());
        // Each document has two documents in the other section.
        assert!((partners.others - 2.0).abs() < 1e-9);
        assert!((partners.share(200.0) - 1.0).abs() < 1e-9);
        let alone = Partners::count([(1, 0), (1, 0)].into_iter());
        assert!(alone.share(200.0).abs() < 1e-9 && alone.later_share(200.0).abs() < 1e-9);
    }
}
