//! Finds the words that the documents of a cluster share, and clusters of pages of one template.
//!
//! Up to [`COMPARED_DOCUMENTS`] documents of a cluster are compared, and of each the beginning of its text. A word of
//! a document is *shared* if one of the runs of three words around it occurs in at least nine of ten compared
//! documents. The other words are the document's *own* words. Digits count as equal, so dates, versions and
//! counters are no own words.
//!
//! A cluster is a *template cluster* if all of this holds:
//!
//! * It has at least [`TEMPLATE_DOCUMENTS`] documents.
//! * At least half of the words of its documents are shared.
//! * A document has at least [`TEMPLATE_OWN_WORDS`] own words on average.
//! * The sets of own words of two documents have a Jaccard similarity below 1/2 on average. Words that nearly all
//!   documents have are left out of these sets.
//!
//! So many copies of a text with another date are no template cluster, because their own words are equal or
//! missing. Pages that share a menu and have another title each are one.

use crate::pipeline::compare::shared;
use crate::write::shared_words::SharedWords;
use simtool_base::unordered_map::{UnorderedMap, UnorderedSet};
use simtool_kernels::Isa;
use simtool_terms::extract::shingles::Shingles;
use simtool_terms::tokenize::hashed_tokens::{HashTokenizer, HashedTokens};
use simtool_terms::tokenize::unicode_words::UnicodeWords;
use std::num::NonZeroUsize;

/// Maximum number of documents of a cluster that are compared.
pub(super) const COMPARED_DOCUMENTS: usize = 20;
/// Minimum number of documents of a template cluster, which has pages with the same frame and different contents.
/// Smaller clusters are often versions or translations of one page.
pub(super) const TEMPLATE_DOCUMENTS: usize = 8;
/// Minimum number of own words of a document of a template cluster, on average. Own words are words that not nearly all
/// documents share.
const TEMPLATE_OWN_WORDS: usize = 2;
/// Number of words in a run. A run is a sequence of consecutive words. Runs decide whether a word is shared.
const RUN: NonZeroUsize = NonZeroUsize::MIN.saturating_add(2);

/// Words of one document: hashes of all words, and of all sequences of [`RUN`] consecutive words.
struct DocumentWords {
    words: Vec<u64>,
    runs: Vec<u64>,
}

impl DocumentWords {
    fn new(text: &[u8], isa: Isa, tokens: &mut HashedTokens) -> Self {
        // Dates, versions and counters with as many digits become the same words.
        let digits_as_zero: Vec<u8> =
            text.iter().map(|&byte| if byte.is_ascii_digit() { b'0' } else { byte }).collect();
        tokens.clear();
        UnicodeWords::new(isa).tokenize(&digits_as_zero, tokens);
        let mut runs = Vec::new();
        Shingles::new(isa, RUN).extract(&tokens.hashes, &mut runs);
        Self { words: tokens.hashes.clone(), runs }
    }

    /// Returns for each word whether it is in a sequence of [`RUN`] words for whose hash `is_common` returns true.
    fn shared(&self, is_common: impl Fn(u64) -> bool) -> Vec<bool> {
        let mut is_shared = vec![false; self.words.len()];
        for (at, &run) in self.runs.iter().enumerate() {
            if is_common(run) {
                // A short text has a single run, which may have fewer words.
                let end = (at + RUN.get()).min(is_shared.len());
                is_shared[at..end].fill(true);
            }
        }
        is_shared
    }
}

/// Compares `texts`, the texts of some documents of a cluster, and counts the words that nearly all of them share.
/// `documents` is the number of all documents of the cluster. Returns `None` if there are fewer than two texts, because
/// nothing can be compared.
pub(super) fn shared_words(texts: &[&[u8]], documents: usize, isa: Isa) -> Option<SharedWords> {
    if texts.len() < 2 {
        return None;
    }
    let mut tokens = HashedTokens::default();
    let texts: Vec<DocumentWords> =
        texts.iter().map(|text| DocumentWords::new(text, isa, &mut tokens)).collect();
    let common_runs = common(&texts, |text| &text.runs);
    let common_words = common(&texts, |text| &text.words);
    let mut shared_count = 0;
    let mut own_count = 0;
    let mut own_sets = Vec::with_capacity(texts.len());
    for text in &texts {
        let is_shared = text.shared(|run| common_runs.contains(&run));
        let own = text.words.iter().zip(&is_shared).filter(|(_, is_shared)| !**is_shared);
        let own: Vec<u64> = own.map(|(word, _)| *word).collect();
        shared_count += text.words.len() - own.len();
        own_count += own.len();
        // A word of the frame, such as "class", is no difference even if another word is next to it.
        own_sets.push(sorted_set(own.into_iter().filter(|word| !common_words.contains(word))));
    }
    let count = texts.len();
    // Averages are rounded in whole numbers, so that they are the same on every machine.
    let average = |sum: usize| ((sum + count / 2) / count) as u64;
    let is_template = documents >= TEMPLATE_DOCUMENTS
        && shared_count >= own_count
        && own_count >= TEMPLATE_OWN_WORDS * count
        && are_different(&own_sets);
    Some(SharedWords {
        documents: count as u64,
        shared: average(shared_count),
        own: average(own_count),
        is_template,
    })
}

/// Returns the words or runs that at least nine of ten documents have. `terms` selects words or runs.
fn common(texts: &[DocumentWords], terms: fn(&DocumentWords) -> &Vec<u64>) -> UnorderedSet<u64> {
    let mut counts: UnorderedMap<u64, usize> = UnorderedMap::default();
    for text in texts {
        for term in sorted_set(terms(text).iter().copied()) {
            *counts.entry(term).or_insert(0) += 1;
        }
    }
    let nearly_all = (texts.len() * 9).div_ceil(10);
    counts.retain(|_, count| *count >= nearly_all);
    counts.into_keys().collect()
}

/// Returns the elements in ascending order without repetitions.
fn sorted_set(elements: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut set: Vec<u64> = elements.collect();
    set.sort_unstable();
    set.dedup();
    set
}

/// Returns whether the average Jaccard similarity of two of these sets is below 1/2. Two empty sets are equal.
fn are_different(sets: &[Vec<u64>]) -> bool {
    /// Number that means a similarity of 1. Similarities are whole numbers of 1 / `EQUAL`, so that their sum is the
    /// same on every machine.
    const EQUAL: u64 = 1 << 20;
    let (mut sum, mut pairs) = (0, 0);
    for (at, left) in sets.iter().enumerate() {
        for right in &sets[at + 1..] {
            let both = shared(left, right);
            let union = (left.len() + right.len()) as u64 - both;
            sum += (both * EQUAL).checked_div(union).unwrap_or(EQUAL);
            pairs += 1;
        }
    }
    2 * sum < pairs * EQUAL
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(texts: &[String]) -> SharedWords {
        let bytes: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        let found = shared_words(&bytes, texts.len(), Isa::PORTABLE).unwrap();
        assert_eq!(Some(found), shared_words(&bytes, texts.len(), Isa::detected()));
        found
    }

    fn menu(words: usize) -> String {
        let word = |word| format!("menu{} ", (b'a' + word as u8) as char);
        (0..words).map(word).collect::<Vec<_>>().concat()
    }

    const NAMES: [&str; 8] = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"];

    #[test]
    fn pages_with_a_menu_and_their_own_titles_are_a_template() {
        let page = |name: &str| format!("{}{name} the{name} of{name}", menu(20));
        let pages = NAMES.map(page);
        let found = compared(&pages);
        let expected = SharedWords { documents: 8, shared: 20, own: 3, is_template: true };
        assert_eq!(found, expected);
        // Seven pages are too few.
        assert!(!compared(&pages[..7]).is_template);
    }

    #[test]
    fn copies_with_other_dates_or_few_changes_are_no_template() {
        let dated: Vec<String> =
            (0..9).map(|day| format!("{} read on 2026-11-0{day}", menu(20))).collect();
        let expected = SharedWords { documents: 9, shared: 25, own: 0, is_template: false };
        assert_eq!(compared(&dated), expected);
        // One of the pages is different, but nine of ten share all words.
        let mut copies = vec![menu(20); 10];
        copies[3] = format!("{} and three words", menu(20));
        assert!(!compared(&copies).is_template);
    }

    #[test]
    fn pages_with_the_same_own_words_are_no_template() {
        // The pages are copies of two pages, one of them with a single copy.
        let page = |at: usize| {
            let own = if at < 2 { "one two ten" } else { "red tan sky" };
            format!("{}{own}", menu(20))
        };
        let found = compared(&(0..10).map(page).collect::<Vec<_>>());
        assert_eq!(found, SharedWords { documents: 10, shared: 20, own: 3, is_template: false });
    }

    #[test]
    fn short_texts_and_single_texts_are_compared_if_possible() {
        assert_eq!(shared_words(&[b"a b c"], 5, Isa::PORTABLE), None);
        let equal = compared(&["a b".to_owned(), "A b".to_owned()]);
        assert_eq!((equal.shared, equal.own), (2, 0));
        let empty = compared(&[String::new(), String::new()]);
        assert_eq!((empty.shared, empty.own), (0, 0));
    }
}
