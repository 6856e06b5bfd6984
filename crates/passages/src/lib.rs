//! Finds every passage of at least k words that occurs more than once in a collection, exactly.
//!
//! A *window* is a sequence of k consecutive words of a document. It is repeated if it occurs at two places or, by
//! another rule, in a minimum number of documents ([`Repeated`]). A *passage* is a longest sequence of words that are
//! all in repeated windows.
//!
//! The search finds equal windows by their hashes. It does so in one of two ways, with the same result:
//!
//! 1. *By runs*, if windows are long. Each window has an anchor, which is a short sequence of words in it that
//!    depends only on the words of the window. Consecutive windows with the same anchor are a run, and there is
//!    about one run for 20 words (`run_finder`). Runs with an anchor that occurs once are dropped. The others
//!    are grouped by anchor and content (`run_groups`). If runs have the same anchor but different contents, the
//!    documents are read again, and their windows are compared one by one (`live_windows`, `mixed_groups`).
//! 2. *By windows*, if windows are short. The hash of each window is stored and grouped (`window_groups`).
//!
//! A search can also be for whole units of the text, such as sentences or lines. A unit is then a window of its own
//! length, and is found by its hash, like a short window.
//!
//! Documents can have origins, such as hosts. Documents of the same origin then count as one document (`origins`).
//!
//! All ways result in classes of equal windows and their places (`classes`). Then the repeated windows of each document
//! are joined into passages (`coverage`), and the words to cut are found (`cuts`). Finally, the documents with passages
//! are read again to find the bytes of the words (`byte_places`).
//!
//! If memory is scarce, the collection is read several times. Each reading handles only the anchors or windows whose
//! hashes are in one part of the range of hashes. The result is the same for any number of readings and threads.
//!
//! Equal windows have equal hashes, so no repeated window is missed. Different windows have equal hashes with a
//! probability of about N² / 2⁶⁵ for N windows. [`PassageSearch::with_verification`] compares the words of
//! all windows that were found equal, and searches again with other hashes if they differ.
//!
//! Input: a [`WordSource`]. Output: [`Passages`], in reading order. The search does not know how a text is
//! divided into words.
//!
//! ```
//! use simtool_base::error::Result;
//! use simtool_compute::context::Context;
//! use simtool_passages::{PassageSearch, VisitPlaces, VisitWords, WordSource};
//!
//! /// Documents in memory. Each byte is a word.
//! struct Letters<'d>(&'d [&'d str]);
//!
//! impl WordSource for Letters<'_> {
//!     fn shard_count(&self) -> usize {
//!         1
//!     }
//!
//!     fn word_count_hint(&self) -> u64 {
//!         100
//!     }
//!
//!     fn visit_words(
//!         &self,
//!         _shard: usize,
//!         is_wanted: &dyn Fn(u32) -> bool,
//!         visit: &mut VisitWords<'_>,
//!     ) -> Result<()> {
//!         for (index, text) in (0..).zip(self.0).filter(|(index, _)| is_wanted(*index)) {
//!             visit(index, &text.bytes().map(u64::from).collect::<Vec<_>>())?;
//!         }
//!         Ok(())
//!     }
//!
//!     fn visit_places<'p>(
//!         &self,
//!         _shard: usize,
//!         asked: &dyn Fn(u32) -> &'p [u32],
//!         visit: &mut VisitPlaces<'_>,
//!     ) -> Result<()> {
//!         for index in (0..self.0.len() as u32).filter(|index| !asked(*index).is_empty()) {
//!             let bytes = |word: &u32| u64::from(*word)..u64::from(*word) + 1;
//!             visit(index, &asked(index).iter().map(bytes).collect::<Vec<_>>())?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! let context = Context::default();
//! let search = PassageSearch::new(4, &context)?;
//! let found = search.find(&Letters(&["a passage", "no message", "other"]))?;
//! let [first, second] = &found.passages[..] else { panic!("there are two passages") };
//! assert_eq!((first.document, first.bytes.clone()), (0, 4..9));
//! assert_eq!((second.document, second.bytes.clone()), (1, 5..10));
//! assert_eq!((second.partner.document, second.partner.bytes.clone()), (0, 4..8));
//! # Ok::<(), simtool_base::error::Error>(())
//! ```
//!
//! # References
//! S. Schleimer, D. S. Wilkerson, A. Aiken. Winnowing: local algorithms for document fingerprinting. SIGMOD
//! 2003.
//! K. Lee, D. Ippolito, A. Nystrom, C. Zhang, D. Eck, C. Callison-Burch, N. Carlini. Deduplicating training data
//! makes language models better. ACL 2022.

mod buckets;
mod byte_places;
mod classes;
mod coverage;
mod cuts;
mod live_windows;
mod mixed_groups;
mod origins;
mod part_search;
mod passages;
mod place;
mod rank_sort;
mod reading;
mod repetition;
mod restored;
mod rule;
mod run_finder;
mod run_groups;
mod search;
mod seen_twice;
#[cfg(test)]
mod tests;
mod verification;
mod window_groups;
mod word_hashes;
mod word_range;
mod word_source;

pub use passages::{Cut, CutRange, Excerpt, Passage, Passages};
pub use repetition::{Level, Repetition, TopText};
pub use restored::RestoredPassages;
pub use rule::Repeated;
pub use run_finder::MOST_WORDS;
pub use search::PassageSearch;
pub use word_source::{VisitPlaces, VisitUnits, VisitWords, WordSource};
