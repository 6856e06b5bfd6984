//! Turns texts into the terms that a method compares.

use super::fitted::Fitted;
use super::terms::Terms;
use simtool_base::large_buffer::{release, reserve_for_now};
use simtool_base::stable_hash::{hash, mix};
use simtool_base::unordered_map::UnorderedSet;
use simtool_kernels::Isa;
use simtool_terms::extract::frequencies::Frequencies;
use simtool_terms::extract::shingles::Shingles;
use simtool_terms::extract::vocabulary::Vocabulary;
use simtool_terms::text_rules::{RuledText, TextRules};
use simtool_terms::token_batch::TokenBatch;
use simtool_terms::tokenize::TokenizerKind;
use simtool_terms::tokenize::ascii_letters::AsciiLetters;
use simtool_terms::tokenize::hashed_tokens::{HashTokenizer, HashedTokens};
use simtool_terms::tokenize::symbol_hash::SymbolHash;
use simtool_terms::tokenize::unicode_words::UnicodeWords;
use simtool_terms::tokenize::whole_text::whole_text;
use std::ops::Range;
use std::sync::Arc;

/// Converter of texts into terms (hashes of shingles, or numbers of words), by the rules of a value of [`Terms`]. All
/// threads share one value.
pub(crate) enum DocumentTerms {
    Shingles {
        kind: &'static TokenizerKind,
        /// Rules by which a text is changed before it is cut into tokens.
        rules: Box<TextRules>,
        tokenizer: Box<dyn HashTokenizer>,
        /// Hashes of the stop words, which are dropped before shingles are made.
        stop_words: UnorderedSet<u64>,
        shingles: Shingles,
        /// For each term, the number of documents that contain it, from which its weight is computed. `None`
        /// if all terms weigh the same when sets are compared.
        frequencies: Option<Arc<Frequencies>>,
    },
    Words(AsciiLetters, Arc<Vocabulary>),
}

/// Buffers of one thread for finding the terms of a text. They are used again for every document.
#[derive(Debug, Default)]
pub(crate) struct TermScratch {
    ruled: RuledText,
    tokens: HashedTokens,
    batch: TokenBatch,
    ranks: Vec<u32>,
    terms: Vec<u64>,
    /// Number of tokens of the last text.
    token_count: usize,
    /// Number of tokens from which the terms of the last text were made. Stop words do not count.
    compared_count: usize,
    /// Hash of the tokens of the last text in reading order, without stop words. It is set only if a hash of the
    /// sequence is wanted.
    tokens_hash: u64,
}

/// Length in bytes of a text whose buffers are freed after it, because the next texts are most likely
/// shorter.
const LONG_TEXT: usize = 256 << 10;

impl TermScratch {
    /// Creates buffers that also receive a hash of the sequence of tokens of each text and of its symbols.
    pub(crate) fn with_sequence() -> Self {
        let mut scratch = Self::default();
        scratch.tokens.symbol_hash = SymbolHash::wanted();
        scratch
    }

    /// Returns an empty list for the terms of a text.
    pub(crate) fn terms(&mut self) -> &mut Vec<u64> {
        self.terms.clear();
        &mut self.terms
    }

    /// Returns a hash of the tokens of the last text in reading order, and of the symbols that belong to no token. Texts
    /// with equal sets of terms are equal after normalization if these hashes are equal.
    pub(crate) fn sequence(&self) -> u64 {
        mix(self.tokens_hash ^ mix(self.tokens.symbol_hash.digest()))
    }

    /// Frees the memory of the terms of a long text. Call this as soon as the terms are not needed any more.
    pub(crate) fn release(&mut self) {
        release(&mut self.terms, 8 * LONG_TEXT);
    }

    /// Returns the number of tokens from which the terms of the last text were made. Stop words do not count.
    pub(crate) fn compared_count(&self) -> usize {
        self.compared_count
    }

    /// Returns the number of tokens of the last text, with its stop words.
    pub(crate) fn token_count(&self) -> u32 {
        // A text with more tokens is counted with the greatest number.
        u32::try_from(self.token_count).unwrap_or(u32::MAX)
    }
}

impl DocumentTerms {
    /// Creates a value that finds the terms of texts by the rules in `terms`. `fitted` holds the words or
    /// frequencies that were learned for such terms.
    pub(crate) fn new(terms: &Terms, fitted: &Fitted, isa: Isa) -> Self {
        match (terms, fitted) {
            (&Terms::Shingles { tokenizer: kind, length, ref stop_words, ref rules, .. }, _) => {
                let rules = Box::new(rules.clone());
                let tokenizer = (kind.create)(isa);
                // The tokenizer returns hashes and not words, so stop words are recognized by their
                // hashes.
                let stop_words = stop_words.words().iter().map(|word| tokenizer.hash_of(word));
                let stop_words = stop_words.collect();
                let shingles = Shingles::new(isa, length);
                let is_weighed = terms.are_weighed_in_sets();
                let frequencies = is_weighed.then(|| fitted.frequencies());
                Self::Shingles { kind, rules, tokenizer, stop_words, shingles, frequencies }
            }
            (Terms::MostFrequent { .. }, Fitted::Words(words)) => {
                Self::Words(AsciiLetters::new(isa), Arc::clone(words))
            }
            // Without learned words, no word counts as frequent, so documents have no terms.
            (Terms::MostFrequent { .. }, Fitted::Nothing | Fitted::Frequencies { .. }) => {
                let none = Arc::new(Vocabulary::from_candidates(Vec::new(), 0));
                Self::Words(AsciiLetters::new(isa), none)
            }
        }
    }

    /// Returns the approximate number of bytes of text per term, for estimates of time and memory.
    pub(crate) fn bytes_a_term(&self) -> u64 {
        match self {
            Self::Shingles { kind, .. } => kind.bytes_per_token,
            Self::Words(..) => 6,
        }
    }

    /// Returns whether `other` cuts texts into the same tokens, so that the [hashes](TermScratch::sequence) of their
    /// token sequences are equal.
    pub(crate) fn has_tokens_of(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Shingles { kind, rules, stop_words, .. },
                Self::Shingles { kind: other, rules: other_rules, stop_words: others, .. },
            ) => kind == other && rules == other_rules && stop_words == others,
            _ => false,
        }
    }

    /// Returns the [hash](TermScratch::sequence) of the sequence of tokens of a text. `scratch` must be made
    /// [with a sequence](TermScratch::with_sequence).
    pub(crate) fn sequence(&self, text: &[u8], scratch: &mut TermScratch) -> u64 {
        self.find_of_tokens(text, scratch);
        scratch.sequence()
    }

    /// Returns the hash of each token of a text in reading order, without stop words. Empty for the method of `simtool
    /// N M`.
    pub(crate) fn tokens(&self, text: &[u8]) -> Vec<u64> {
        let Self::Shingles { rules, tokenizer, stop_words, .. } = self else { return Vec::new() };
        let mut tokens = HashedTokens::default();
        tokenizer.tokenize(rules.apply(text, &mut RuledText::default()), &mut tokens);
        tokens.hashes.retain(|token| !stop_words.contains(token));
        tokens.hashes
    }

    /// Returns the number of consecutive tokens in a term. Texts with fewer tokens are one term.
    pub(crate) fn run_length(&self) -> usize {
        match self {
            Self::Shingles { shingles, .. } => shingles.length(),
            Self::Words(..) => 1,
        }
    }

    /// Returns the byte range in `text` of the word at each of the `positions`, which must ascend. Positions count the
    /// tokens from 0, without stop words. The rules for texts must already have changed `text`. Returns an empty list
    /// if the tokenizer does not cut text into Unicode words, because then their byte ranges are not known.
    pub(crate) fn places_of_words(
        &self,
        text: &[u8],
        positions: &[u32],
        isa: Isa,
    ) -> Vec<Range<usize>> {
        let Self::Shingles { kind, tokenizer, stop_words, .. } = self else {
            return Vec::new();
        };
        if *kind != TokenizerKind::DEFAULT {
            return Vec::new();
        }
        let mut tokens = HashedTokens::default();
        tokenizer.tokenize(text, &mut tokens);
        let numbered = (0..).zip(&tokens.hashes);
        let compared = numbered.filter(|(_, token)| !stop_words.contains(token));
        let compared: Vec<u32> = compared.map(|(number, _)| number).collect();
        let wanted = positions.iter().filter_map(|&at| compared.get(at as usize).copied());
        let mut places = Vec::new();
        let wanted: Vec<u32> = wanted.collect();
        UnicodeWords::new(isa).places(text, &wanted, &mut tokens, &mut places);
        places
    }

    /// Returns the document frequencies from which the weights of terms are computed. `None` if all terms
    /// weigh the same when sets are compared.
    pub(crate) fn frequencies(&self) -> Option<&Frequencies> {
        match self {
            Self::Shingles { frequencies, .. } => frequencies.as_deref(),
            Self::Words(..) => None,
        }
    }

    /// Returns the weight of a term, which is how much it counts when sets are compared.
    pub(crate) fn weight(&self, term: u64) -> u32 {
        self.frequencies().map_or(1, |frequencies| frequencies.get(term).1)
    }

    /// Returns the terms of a text in reading order. A term that occurs twice is listed twice.
    ///
    /// A text without tokens, for example a row of emoji, has one term of all its characters. So it is
    /// similar only to texts with the same characters. A blank text has no term.
    pub(crate) fn find<'s>(&self, text: &[u8], scratch: &'s mut TermScratch) -> &'s mut Vec<u64> {
        let terms = self.find_of_tokens(text, scratch);
        // Words of a vocabulary are terms with numbers, and no number is left for another term.
        if terms.is_empty() && matches!(self, Self::Shingles { .. }) {
            terms.extend(self.whole(text));
        }
        terms
    }

    /// Returns a hash of all characters of a text that has no tokens, and so no other terms. `None` for a blank text.
    pub(super) fn whole(&self, text: &[u8]) -> Option<u64> {
        match self {
            Self::Shingles { rules, .. } => {
                whole_text(rules.apply(text, &mut RuledText::default()))
            }
            Self::Words(..) => whole_text(text),
        }
    }

    /// Returns the terms of a text, for callers that ignore repeated terms. A long text may repeat few terms millions
    /// of times, so each of its terms is returned once. The terms of other texts are those of [`Self::find`].
    pub(crate) fn find_set<'s>(
        &self,
        text: &[u8],
        scratch: &'s mut TermScratch,
    ) -> &'s mut Vec<u64> {
        let terms = self.find(text, scratch);
        if text.len() > LONG_TEXT {
            terms.sort_unstable();
            terms.dedup();
        }
        terms
    }

    /// Returns the terms of a text like [`Self::find`], except that a text without tokens has no term.
    pub(crate) fn find_of_tokens<'s>(
        &self,
        text: &[u8],
        scratch: &'s mut TermScratch,
    ) -> &'s mut Vec<u64> {
        let TermScratch {
            ruled,
            tokens,
            batch,
            ranks,
            terms,
            token_count,
            compared_count,
            tokens_hash,
        } = scratch;
        terms.clear();
        match self {
            Self::Shingles { rules, tokenizer, stop_words, shingles, .. } => {
                let text = rules.apply(text, ruled);
                tokens.clear();
                let is_long = text.len() > LONG_TEXT;
                if is_long {
                    reserve_for_now(&mut tokens.hashes, text.len());
                }
                tokenizer.tokenize(text, tokens);
                *token_count = tokens.hashes.len();
                // Usually there are no stop words, and then the tokens need no further pass.
                if !stop_words.is_empty() {
                    tokens.hashes.retain(|token| !stop_words.contains(token));
                }
                *compared_count = tokens.hashes.len();
                if tokens.symbol_hash.is_wanted() {
                    *tokens_hash = hash(bytemuck::cast_slice(&tokens.hashes));
                }
                if is_long {
                    shingles.replace(&mut tokens.hashes);
                    std::mem::swap(terms, &mut tokens.hashes);
                    tokens.release();
                    *ruled = RuledText::default();
                } else {
                    shingles.extract(&tokens.hashes, terms);
                }
            }
            Self::Words(tokenizer, words) => {
                *token_count = 0;
                tokenizer.tokenize(text, batch, |piece, batch| {
                    *token_count += batch.len();
                    ranks.clear();
                    words.ranks(piece, batch, ranks);
                    terms.extend(ranks.iter().copied().map(u64::from));
                });
                *compared_count = terms.len();
            }
        }
        terms
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::options::Options;

    fn terms(options: &str, text: &str) -> Vec<u64> {
        let terms = Terms::parse(&mut Options::parse(options).unwrap()).unwrap();
        let maker = DocumentTerms::new(&terms, &Fitted::Nothing, Isa::detected());
        maker.find(text.as_bytes(), &mut TermScratch::default()).clone()
    }

    #[test]
    fn neighbours_of_stop_words_become_adjacent() {
        let stopped = terms("shingle=2,stop_words=english", "The Cat and THE mat");
        assert_eq!(stopped, terms("shingle=2", "cat mat"));
        assert_eq!(terms("shingle=1,stop_words=chinese", "我的猫"), terms("shingle=1", "猫"));
    }

    #[test]
    fn all_tokens_are_counted() {
        for (options, text, count) in [
            ("shingle=3", "The Cat and THE mat", 5),
            ("shingle=3,stop_words=english", "The Cat and THE mat", 5),
            ("shingle=chars:4", "a b c", 5),
            ("shingle=1", "🙂 🙂", 0),
        ] {
            let terms = Terms::parse(&mut Options::parse(options).unwrap()).unwrap();
            let maker = DocumentTerms::new(&terms, &Fitted::Nothing, Isa::detected());
            let mut scratch = TermScratch::default();
            maker.find(b"another text", &mut scratch);
            maker.find(text.as_bytes(), &mut scratch);
            assert_eq!(scratch.token_count(), count, "{options} {text}");
        }
        // The most frequent words are looked up in pieces of a text.
        let none = Arc::new(Vocabulary::from_candidates(Vec::new(), 0));
        let maker = DocumentTerms::Words(AsciiLetters::new(Isa::detected()), none);
        let mut scratch = TermScratch::default();
        let text = "It's one of 3 words. ".repeat(50_000);
        maker.find(text.as_bytes(), &mut scratch);
        assert_eq!(scratch.token_count(), 5 * 50_000);
    }

    #[test]
    fn a_text_without_tokens_is_one_term() {
        for (options, text, other) in [
            ("shingle=1", "🙂 🙂", "🙃 🙃"),
            ("stop_words=english", "The and", "and the"),
            ("shingle=ascii", "東京", "京都"),
        ] {
            let found = terms(options, text);
            assert_eq!(found, terms(options, &format!(" {text}\n")));
            assert_ne!(found, terms(options, other));
            assert_eq!(found.len(), 1, "{options}");
            assert!(terms(options, " \u{feff}\n").is_empty());
        }
    }

    #[cfg(feature = "chinese")]
    #[test]
    fn stop_words_are_of_the_tokenizer() {
        for tokenizer in ["chinese", "auto", "lecture"] {
            let options = format!("shingle={tokenizer}:1");
            let stopped = terms(&format!("{options},stop_words=chinese"), "我们来到了大厦");
            assert_eq!(stopped, terms(&options, "来到大厦"), "{tokenizer}");
        }
    }
}
