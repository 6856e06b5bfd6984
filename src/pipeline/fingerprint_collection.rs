//! Computes a fingerprint for every document of a collection, in one reading.

use super::document_traits::WantedTraits;
use super::in_turns::InTurns;
use super::joined_lists::joined_lists;
use super::needed_memory::RowBytes;
use super::parts::{Parts, ShardShare};
use super::shard_summary::{CollectionSummary, Compared, ShardSummary, read_summarized};
use super::watched::Watched;
use crate::method::{DocumentTerms, Fitted, Recipe, RowMaker, RowScratch};
use simtool_base::error::{Error, Result};
use simtool_base::fault::escaped;
use simtool_base::progress::{Progress, Work};
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_model::document::Document;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::validity::Validity;
use simtool_read::Corpus;
use std::borrow::Cow;
use std::path::Path;

/// Fingerprints of a collection, with the data that was learned for the fingerprints and a summary of the
/// collection.
#[derive(Clone, Debug)]
pub struct FingerprintedCollection {
    /// A row for each document, in reading order. The row of a blank document is marked as having no
    /// fingerprint.
    pub rows: FingerprintRows<'static>,
    /// Weights or words that were learned for the fingerprints. Fingerprints that are made later with this
    /// value can be compared with the fingerprints in `rows`.
    pub fitted: Fitted,
    /// Summary of the collection: the IDs and lengths of its documents, and its faults.
    pub summary: CollectionSummary,
}

/// Treatment of documents that have no terms and so no fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutWords {
    /// A document without terms becomes a row that is marked as having no fingerprint.
    Allowed,
    /// The first document without terms is an error, because the output format cannot mark missing
    /// fingerprints.
    Refused,
}

/// Computes a fingerprint for every document of `corpus` by `recipe`.
///
/// The corpus is read once, by several threads. If the recipe needs learned words or weights, the corpus is
/// read once more before. The fingerprint, the length and the ID of each document stay in memory. The result
/// is the same for any number of threads and any instruction set.
///
/// # Errors
///
/// - The recipe is for sets and not for fingerprints.
/// - The threads cannot be started, or `progress` is cancelled.
/// - There are more than 2³² − 1 documents.
/// - A document has no terms, and `without_words` is [`WithoutWords::Refused`].
///
/// Unreadable records and files are no error but part of the summary.
pub fn fingerprint_collection(
    corpus: &dyn Corpus,
    recipe: &Recipe,
    resources: &Resources,
    without_words: WithoutWords,
    progress: &dyn Progress,
) -> Result<FingerprintedCollection> {
    learn_and_fingerprint(corpus, recipe, without_words, &Context::new(resources, progress)?)
}

/// Does the work of [`fingerprint_collection`] with the threads and the memory of a given context.
///
/// # Errors
///
/// Fails in the same cases as [`fingerprint_collection`].
pub(crate) fn learn_and_fingerprint(
    corpus: &dyn Corpus,
    recipe: &Recipe,
    without_words: WithoutWords,
    context: &Context<'_>,
) -> Result<FingerprintedCollection> {
    let watched = &Watched { corpus, progress: context.progress() };
    let corpus = &InTurns::new(watched, recipe.terms(), context);
    let fitted = &Fitted::learn(recipe.terms(), corpus, context)?;
    CollectionRows {
        recipe,
        fitted,
        wanted: WantedTraits::NONE,
        sequence_of: None,
        without_words,
        parts: None,
        context,
    }
    .of(corpus)
}

/// Computes a fingerprint for every document of `corpus` with `fitted`, the weights or words that were
/// learned from another collection. Fingerprints of both collections can be compared with each other.
///
/// # Errors
///
/// Fails in the same cases as [`fingerprint_collection`]. It is also an error if `fitted` was learned for another recipe.
pub fn fingerprint_by_fitted(
    corpus: &dyn Corpus,
    recipe: &Recipe,
    fitted: &Fitted,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<FingerprintedCollection> {
    fitted.check(recipe.terms())?;
    let context = &Context::new(resources, progress)?;
    let watched = &Watched { corpus, progress };
    let corpus = &InTurns::new(watched, recipe.terms(), context);
    let without_words = WithoutWords::Allowed;
    CollectionRows {
        recipe,
        fitted,
        wanted: WantedTraits::NONE,
        sequence_of: None,
        without_words,
        parts: None,
        context,
    }
    .of(corpus)
}

/// Settings for computing the fingerprints of a collection.
pub(crate) struct CollectionRows<'r> {
    pub(crate) recipe: &'r Recipe,
    pub(crate) fitted: &'r Fitted,
    /// Values of each document that are collected, for example the field that decides which document is kept.
    pub(crate) wanted: WantedTraits<'r>,
    /// Settings for finding the terms of texts, if the texts of documents with close fingerprints are compared. Then a
    /// hash of the sequence of tokens of each text is collected, too. `None` if texts are not compared.
    pub(crate) sequence_of: Option<&'r DocumentTerms>,
    pub(crate) without_words: WithoutWords,
    /// Fingerprints of some shards that earlier runs have stored. These shards are not read again. `None` if the run
    /// stores nothing.
    pub(crate) parts: Option<&'r Parts<'r>>,
    pub(crate) context: &'r Context<'r>,
}

/// Fingerprints of the documents of one shard.
struct ShardRows {
    words: Vec<u64>,
    /// Numbers of the documents without a fingerprint. Documents are counted from 0 at the beginning of the
    /// shard.
    without: Vec<u32>,
    summary: ShardSummary,
}

impl ShardRows {
    /// Returns the number of bytes of memory of the fingerprints and the summary.
    fn bytes(&self) -> u64 {
        size_of_val(&self.words[..]) as u64 + self.summary.bytes()
    }
}

impl CollectionRows<'_> {
    /// Computes the fingerprints of `corpus`, and reports the reading as a new stage to the progress. Reads
    /// every shard once.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`fingerprint_collection`].
    pub(crate) fn of(&self, corpus: &dyn Corpus) -> Result<FingerprintedCollection> {
        self.context.progress().begin("reading", Work::Bytes(corpus.bytes()));
        self.read(corpus)
    }

    /// Computes the fingerprints of `corpus`, as a part of the stage that the progress shows already. Reads
    /// every shard once.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`fingerprint_collection`].
    pub(crate) fn read(&self, corpus: &dyn Corpus) -> Result<FingerprintedCollection> {
        let maker = self.maker()?;
        let needed = RowBytes::new(corpus, self.context.memory());
        let parts = self.context.threads().try_map(
            corpus.shard_count(),
            || Ok(self.scratch()),
            |scratch, shard| {
                let rows = match self.stored_shard(corpus, shard)? {
                    Some(stored) => stored,
                    None => self.read_shard(corpus, shard, &maker, scratch)?,
                };
                needed.add(shard, rows.bytes())?;
                Ok(rows)
            },
        )?;

        // The results are joined in the order of the shards, so documents have the same numbers for any
        // number of threads.
        let mut without = Vec::new();
        let mut summaries = Vec::with_capacity(parts.len());
        let mut shard_words = Vec::with_capacity(parts.len());
        let row_words = maker.shape().words();
        let mut first = 0;
        for part in parts {
            without.extend(part.without.iter().map(|&index| first + index as usize));
            first += part.words.len() / row_words;
            shard_words.push(part.words);
            summaries.push(part.summary);
        }
        let words = joined_lists(shard_words);
        // A collection in which every row has a fingerprint needs no bitmap.
        let validity = (!without.is_empty()).then(|| {
            let mut validity = Validity::all(words.len() / row_words);
            for row in without {
                validity.clear(row);
            }
            validity
        });
        let rows = FingerprintRows {
            shape: maker.shape(),
            words: Cow::Owned(words),
            validity,
            recipe: Some(self.recipe.rows_recipe(self.fitted)),
        };
        let summary = CollectionSummary::new(corpus, summaries)?;
        Ok(FingerprintedCollection { rows, fitted: self.fitted.clone(), summary })
    }

    fn maker(&self) -> Result<RowMaker> {
        let Some(sketch) = self.recipe.sketch() else {
            let rule = "makes no fingerprints: it compares the documents' sets themselves";
            return Err(Error::config("method", "exact", rule));
        };
        Ok(RowMaker::new(self.recipe.terms(), sketch, self.fitted, self.context.isa()))
    }

    fn scratch(&self) -> RowScratch {
        if self.sequence_of.is_some() { RowScratch::with_sequence() } else { RowScratch::default() }
    }

    /// Stores the fingerprints of documents in `parts`, for each shard that is missing there. If `share` is given, only
    /// the shards of this share of the collection are stored.
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`fingerprint_collection`], and if a shard cannot be stored.
    pub(crate) fn fill(
        &self,
        corpus: &dyn Corpus,
        parts: &Parts<'_>,
        share: Option<ShardShare>,
    ) -> Result<()> {
        let maker = self.maker()?;
        parts.fill(share, self.context, &|shard, store| {
            let made = self.read_shard(corpus, shard, &maker, &mut self.scratch())?;
            let mut rows = made.words.chunks_exact(maker.shape().words());
            let mut without = made.without.iter().peekable();
            for document in 0..made.summary.document_count() {
                // A document without a fingerprint is stored as an empty row, so that later rows keep their indexes.
                let row = rows.next().unwrap_or_default();
                let has_row = without.next_if_eq(&&document).is_none();
                store.push(if has_row { row } else { &[] });
            }
            Ok(made.summary)
        })
    }

    /// Returns the fingerprints of a shard that was stored, or `None` if its documents must be read.
    fn stored_shard(&self, corpus: &dyn Corpus, shard: usize) -> Result<Option<ShardRows>> {
        let Some(parts) = self.parts else { return Ok(None) };
        let Some(summary) = parts.summary(shard)? else { return Ok(None) };
        // A document without a fingerprint has an empty row, and its words have no meaning.
        let row_words = self.recipe.sketch().map_or(0, |sketch| sketch.shape().words());
        let mut words = Vec::new();
        let mut without = Vec::new();
        parts.visit(shard, &|_| true, &mut |index, row| {
            words.extend_from_slice(row);
            if row.is_empty() {
                words.resize(words.len() + row_words, 0);
                without.push(index);
            }
            Ok(())
        })?;
        self.context.progress().advance(corpus.shard_bytes(shard));
        Ok(Some(ShardRows { words, without, summary }))
    }

    fn read_shard(
        &self,
        corpus: &dyn Corpus,
        shard: usize,
        maker: &RowMaker,
        scratch: &mut RowScratch,
    ) -> Result<ShardRows> {
        let mut words = Vec::new();
        let mut without = Vec::new();
        // The hash that was made for the fingerprint also serves the terms that are compared, if these have the
        // same tokens.
        let has_sequence_of_row = self.sequence_of.is_some_and(|terms| maker.has_tokens_of(terms));
        let visit = &mut |index, document: &Document<'_>| {
            let has_row = maker.push(document.text, &mut words, scratch).0;
            if !has_row {
                if self.without_words == WithoutWords::Refused {
                    return Err(without_words(
                        corpus.file_name(corpus.shard_file(shard)),
                        document,
                    ));
                }
                without.push(index);
            }
            // `sequence_of` below may change the token count of `scratch`, so the count is read first.
            let tokens = scratch.token_count();
            let sequence = self.sequence_of.map(|terms| {
                if has_sequence_of_row {
                    scratch.sequence()
                } else {
                    scratch.sequence_of(document.text, terms)
                }
            });
            Ok(Compared { has_terms: has_row, tokens, sequence })
        };
        let summary = read_summarized(corpus, shard, self.wanted, visit)?;
        Ok(ShardRows { words, without, summary })
    }
}

/// Returns the error for a document without words. It has no fingerprint, and the output format cannot mark
/// missing fingerprints.
fn without_words(file: &Path, document: &Document<'_>) -> Error {
    let id = document.id.map_or(String::new(), |id| format!(" \"{}\"", escaped(id.bytes())));
    let rule = "it has no words and no fingerprint, for which an array has no place; name another file, \
                such as .parquet";
    Error::limit(format!("a document{id} of {}", file.display()), rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::Method;
    use crate::pipeline::compare::compare_texts;
    use crate::pipeline::config::Config;
    use crate::pipeline::one_call::{fingerprint, fingerprint_by};
    use simtool_base::progress::NoProgress;
    use simtool_kernels::Isa;
    use simtool_read::walk::InputFile;
    use simtool_read::{Collection, ReadOptions, Texts};
    use std::fs;

    const TEXTS: [&str; 5] =
        ["a rose is a rose is a rose", "", "a rose", "\u{200b}", "Die Straße, 東京!"];

    fn fingerprints(method: &str, threads: usize, isa: Isa) -> FingerprintedCollection {
        let folder = tempfile::tempdir().unwrap();
        let file = |(number, text): (usize, &&str)| {
            let path = folder.path().join(format!("{number}.txt"));
            fs::write(&path, text).unwrap();
            InputFile::new(&path)
        };
        let files = TEXTS.iter().enumerate().map(file).collect();
        let collection = Collection::open(files, ReadOptions::default());
        let method: Method = method.parse().unwrap();
        let resources = Resources { threads, isa, ..Resources::default() };
        fingerprint_collection(
            &collection,
            method.recipe(),
            &resources,
            WithoutWords::Allowed,
            &NoProgress,
        )
        .unwrap()
    }

    #[test]
    fn only_documents_with_words_have_fingerprints() {
        let made = fingerprints("simhash", 1, Isa::PORTABLE);
        // There are four documents, because an empty file holds no record.
        assert_eq!(made.rows.len(), 4);
        assert_eq!(made.rows.row(0), Some(&[0xcc71_252b_5aa7_6984][..]));
        assert_eq!(
            [0, 1, 2, 3].map(|row| made.rows.has_fingerprint(row)),
            [true, true, false, true]
        );
        assert_eq!(made.summary.without_terms, 1);
        assert_eq!(made.summary.lengths, [26, 6, 3, 20]);
        let texts = [TEXTS[0].as_bytes(), TEXTS[4].as_bytes()];
        let compared = compare_texts(texts, &Method::default(), Isa::PORTABLE);
        let rows = [made.rows.row(0).unwrap(), made.rows.row(3).unwrap()];
        assert_eq!(compared.distance, Some(made.rows.shape.distance(rows[0], rows[1])));
    }

    #[test]
    fn fingerprints_have_their_frozen_values() {
        let row_of = |method: &str, text: &str| {
            let config = Config { method: method.parse().unwrap(), ..Config::default() };
            let made = fingerprint(&Texts::of(&[text]), &config).unwrap();
            made.rows.row(0).map(|row| row[0])
        };
        let row = |text: &str| row_of("simhash", text);
        // The values were made before the recipe dropped invisible characters.
        for (text, expected) in [
            ("It's said that soft hyphens don't change words", 0x49d2_62f3_0a80_d38a),
            ("Größere Straßen führen über den Fluß, 駅前のパン屋", 0x4008_c2e5_bb82_0208),
        ] {
            assert_eq!(row(text), Some(expected), "{text}");
        }
        // A sign is part of its number, but not in the words of version 0.1.
        for (method, expected) in [
            ("simhash", 0xc114_d792_8e51_1761),
            ("simhash:shingle=words-unsigned:3", 0x6316_b6b2_8c7d_5f07),
        ] {
            assert_eq!(row_of(method, "It was -5 degrees in the morning"), Some(expected));
        }
        // The values of texts that the recipe changes.
        for (text, same) in [
            (
                "It’s said that soft hy\u{ad}phens don‘t change wo\u{200b}rds",
                "It's said that soft hyphens don't change words",
            ),
            (
                "Größere Stra\u{ad}ßen fu\u{200d}\u{308}hren über den Fluß, 駅\u{fe00}前のパン屋",
                "Größere Straßen führen über den Fluß, 駅前のパン屋",
            ),
        ] {
            assert_eq!(row(text), row(same), "{text}");
        }
    }

    #[test]
    fn threads_and_instruction_sets_do_not_matter_and_64_bits_are_half_of_128() {
        for words in ["", "words=3,"] {
            let wide = format!("simhash:{words}bits=128");
            let expected = fingerprints(&wide, 1, Isa::PORTABLE);
            for &isa in Isa::available() {
                for threads in [2, 5] {
                    assert_eq!(fingerprints(&wide, threads, isa).rows, expected.rows);
                    let narrow =
                        fingerprints(&format!("simhash:{words}bits=64"), threads, isa).rows;
                    assert_eq!(narrow.validity, expected.rows.validity);
                    let halves: Vec<u64> = expected.rows.words.iter().step_by(2).copied().collect();
                    assert_eq!(narrow.words, halves);
                }
            }
        }
    }

    #[test]
    fn learned_weights_are_the_same_for_any_number_of_threads() {
        let binary = fingerprints("simhash:weight=binary", 1, Isa::detected());
        assert_eq!(binary.rows.row(0), Some(&[0xcc71_252b_5aa7_6984][..]));
        for weighting in ["weight=tf-idf", "weight=levels", "top=2", "weight=log-tf,idf_band=0-1"] {
            let method = format!("simhash:shingle=1,{weighting}");
            let expected = fingerprints(&method, 1, Isa::PORTABLE);
            let bytes = expected.fitted.to_bytes();
            let stored = Fitted::from_bytes(&bytes, Path::new("f")).unwrap();
            assert_eq!(stored.to_bytes(), bytes);
            assert!(Fitted::from_bytes(&bytes[..bytes.len() - 9], Path::new("f")).is_err());
            assert!(expected.rows.recipe.as_ref().unwrap().contains("/frequencies="));
            for &isa in Isa::available() {
                for threads in [2, 5] {
                    let made = fingerprints(&method, threads, isa);
                    assert_eq!(made.rows, expected.rows);
                    assert_eq!(made.fitted.to_bytes(), bytes);
                }
            }
            // Weights that were learned for other terms are refused.
            let other = format!("simhash:shingle=2,{weighting}").parse().unwrap();
            let config = Config { method: other, ..Config::default() };
            let refused = fingerprint_by(&Texts::of(&TEXTS), &stored, &config).unwrap_err();
            assert!(refused.to_string().contains("was not learned for"), "{refused}");
        }
    }

    #[test]
    fn words_of_two_of_four_documents_are_the_lexicon_of_i_match() {
        let texts = [
            "the cat sat on the mat",
            "the cat sat on a mat",
            "the dog ate the cat food",
            "a dog sat",
        ];
        let method = "i-match:least_terms=1,idf_band=0.5-0.8".parse().unwrap();
        let made =
            fingerprint(&Texts::of(&texts), &Config { method, ..Config::default() }).unwrap();
        let expected = [
            0x928b_cb8a_3c0c_8abc,
            0xe2c4_3e13_c3a1_3818,
            0xa4c0_9e2d_0fbc_61b3,
            0x9663_26ab_2b87_8d42,
        ];
        assert_eq!(made.rows.words[..], expected);
    }

    #[test]
    fn rows_of_later_documents_compare_with_earlier_rows() {
        let config = Config { method: "simhash:words=3".parse().unwrap(), ..Config::default() };
        let first =
            fingerprint(&Texts::of(&["rose tulip rose", "iris rose tulip"]), &config).unwrap();
        let later = Texts::of(&["Lily, lily, lily: rose!", "rose tulip rose"]);
        // If the later collection is fingerprinted without the earlier one, other words are its features.
        let alone = fingerprint(&later, &config).unwrap();
        assert_ne!(alone.rows.recipe, first.rows.recipe);
        let stored = Fitted::from_bytes(&first.fitted.to_bytes(), Path::new("f")).unwrap();
        let made = fingerprint_by(&later, &stored, &config).unwrap();
        assert_eq!(made.rows.recipe, first.rows.recipe);
        assert_eq!(made.rows.row(1), first.rows.row(0));
        let refused = fingerprint_by(&later, &Fitted::Nothing, &config).map(|_| ());
        let expected = "fitted nothing: was not learned for 3 most frequent words; learn again \
                        with these settings";
        assert_eq!(refused.unwrap_err().to_string(), expected);
    }

    #[test]
    fn sets_are_no_fingerprints() {
        let method = Method::default();
        let resources = Resources::default();
        let collection = Collection::open(Vec::new(), ReadOptions::default());
        let made = fingerprint_collection(
            &collection,
            method.recipe(),
            &resources,
            WithoutWords::Allowed,
            &NoProgress,
        );
        assert!(made.unwrap_err().to_string().starts_with("method exact: makes no fingerprints"));
    }

    #[test]
    fn a_text_without_words_has_a_random_fingerprint_of_64_bits() {
        let method: Method = "minhash:lanes=16,bits=4,measure=jaccard".parse().unwrap();
        let config = Config { method, ..Config::default() };
        let made = fingerprint(&Texts::of(&["?!", "!?", "?!", " "]), &config).unwrap();
        assert_eq!(made.rows.shape.row_bits(), 64);
        let rows = [0, 1, 2].map(|row| made.rows.row(row).unwrap());
        assert!(rows[0] == rows[2] && rows[0] != rows[1]);
        assert!(!made.rows.has_fingerprint(3));
    }
}
