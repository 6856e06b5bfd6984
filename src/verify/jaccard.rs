//! The exact Jaccard similarity of two documents' terms.

use crate::similarity::Similarity;

/// Brings terms into the form that [`jaccard`] takes: sorted, each once.
pub fn to_set(terms: &mut Vec<u64>) {
    terms.sort_unstable();
    terms.dedup();
}

/// The Jaccard similarity of two sets of terms, sorted and without repeats; none if both are empty.
///
/// # Complexity
/// O(terms of both).
///
/// # References
/// A. Broder. On the resemblance and containment of documents. SEQUENCES 1997.
#[must_use]
pub fn jaccard(left: &[u64], right: &[u64]) -> Option<Similarity> {
    let (mut at_left, mut at_right, mut shared) = (0, 0, 0_u32);
    while let (Some(a), Some(b)) = (left.get(at_left), right.get(at_right)) {
        shared += u32::from(a == b);
        at_left += usize::from(a <= b);
        at_right += usize::from(b <= a);
    }
    let either = left.len() + right.len() > 0;
    either.then(|| Similarity::of_sizes(shared, left.len() as u32, right.len() as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shingles(text: &str, length: usize) -> Vec<u64> {
        let words: Vec<&str> = text.split(' ').collect();
        let mut terms: Vec<u64> = (words.windows(length))
            .map(|run| crate::stable_hash::hash(run.join(" ").as_bytes()))
            .collect();
        to_set(&mut terms);
        terms
    }

    #[test]
    fn the_rose_and_the_flower() {
        for length in 2..=4 {
            let rose = shingles("a rose is a rose is a rose", length);
            let flower = shingles("a rose is a rose is a flower", length);
            let expected = Similarity { shared: 3, union: 4 };
            assert_eq!(jaccard(&rose, &flower), Some(expected));
        }
    }

    #[test]
    fn empty_sets_are_like_nothing() {
        assert_eq!(jaccard(&[], &[]), None);
        assert_eq!(jaccard(&[1], &[]).unwrap().shared, 0);
    }
}
