//! A collection × a recipe: a fingerprint of every document, in one reading.

use super::config::{FingerprintRecipe, SimhashBits};
use super::document_terms::{DocumentTerms, TermScratch};
use super::progress::Progress;
use super::shard_summary::{CollectionSummary, ShardSummary, read_summarized};
use super::workers::Workers;
use crate::document::Document;
use crate::error::Result;
use crate::fingerprint::hashed_simhash::HashedSimhash;
use crate::fingerprint_rows::{FingerprintRows, Lanes};
use crate::kernels::Isa;
use crate::read::{Collection, Corpus};
use crate::validity::Validity;
use std::borrow::Cow;

/// Fingerprints of a collection.
#[derive(Clone, Debug)]
pub struct FingerprintedCollection {
    /// A row for each document, in reading order; one without terms has no fingerprint.
    pub rows: FingerprintRows<'static>,
    /// What the reading told besides.
    pub summary: CollectionSummary,
}

/// Makes a fingerprint of every document of `collection`.
///
/// The shards are read once, in parallel; what is kept of a document is its fingerprint, its
/// length and its ID. The result is the same for any number of threads and any instruction set.
///
/// # Errors
///
/// The threads cannot be started, or there are more than 2³² − 1 documents. What is wrong with the
/// input is part of the result.
pub fn fingerprint_collection(
    collection: &Collection,
    recipe: FingerprintRecipe,
    threads: usize,
    isa: Isa,
    progress: &dyn Progress,
) -> Result<FingerprintedCollection> {
    let workers = Workers::new(threads)?;
    progress.begin("reading", collection.bytes());
    let shards = Shards { collection, by_field: false, workers: &workers, progress };
    fingerprint_shards(&shards, recipe, isa)
}

/// The same of given shards.
pub(super) fn fingerprint_shards(
    shards: &Shards<'_>,
    recipe: FingerprintRecipe,
    isa: Isa,
) -> Result<FingerprintedCollection> {
    let terms = DocumentTerms::new(recipe.shingle, isa);
    let simhash = HashedSimhash::new(isa, 1);
    let (lanes, validity, summary) = match recipe.bits {
        SimhashBits::Bits64 => {
            let (lanes, validity, summary) = shards
                .read(TermScratch::default, |text, scratch| {
                    simhash.fingerprint_64(terms.of(text, scratch))
                })?;
            (Lanes::Bits64(Cow::Owned(lanes)), validity, summary)
        }
        SimhashBits::Bits128 => {
            let (lanes, validity, summary) = shards
                .read(TermScratch::default, |text, scratch| {
                    simhash.fingerprint_128(terms.of(text, scratch))
                })?;
            (Lanes::Bits128(Cow::Owned(lanes)), validity, summary)
        }
    };
    let recipe_text = Some(recipe.to_string());
    let bits = recipe.bits.count();
    let rows = FingerprintRows { lanes, bits, validity, recipe: recipe_text };
    Ok(FingerprintedCollection { rows, summary })
}

/// The shards of a collection, and who reads them.
pub(super) struct Shards<'r> {
    pub(super) collection: &'r Collection,
    /// Whether a field decides which documents are kept.
    pub(super) by_field: bool,
    pub(super) workers: &'r Workers,
    pub(super) progress: &'r dyn Progress,
}

impl Shards<'_> {
    /// Reads every shard once and makes a fingerprint of each text, with scratch memory that each
    /// worker has for itself: the lanes, which rows have one, and what the reading told besides.
    ///
    /// # Errors
    ///
    /// More than 2³² − 1 documents.
    pub(super) fn read<L: Copy + Default + Send, S>(
        &self,
        scratch: impl Fn() -> S + Sync,
        fingerprint: impl Fn(&[u8], &mut S) -> Option<L> + Sync,
    ) -> Result<(Vec<L>, Option<Validity>, CollectionSummary)> {
        let (collection, shard_count) = (self.collection, self.collection.shard_count());
        let read = |shards: &mut dyn Iterator<Item = usize>| {
            let mut scratch = scratch();
            shards
                .map(|shard| {
                    let mut made = ShardFingerprints { lanes: Vec::new(), without: Vec::new() };
                    let visit = &mut |index, document: &Document<'_>| {
                        let lane = fingerprint(document.text, &mut scratch);
                        made.lanes.push(lane.unwrap_or_default());
                        if lane.is_none() {
                            made.without.push(index);
                        }
                        lane.is_some()
                    };
                    let summary = read_summarized(collection, shard, self.by_field, visit)?;
                    self.progress.advance(collection.shard_bytes(shard));
                    Ok((shard, made, summary))
                })
                .collect::<Result<Vec<_>>>()
        };
        let mut parts: Vec<(usize, ShardFingerprints<L>, ShardSummary)> = Vec::new();
        for part in self.workers.share(shard_count, read) {
            parts.extend(part?);
        }
        parts.sort_unstable_by_key(|&(shard, ..)| shard);

        let mut lanes = Vec::with_capacity(parts.iter().map(|(_, made, _)| made.lanes.len()).sum());
        let (mut without, mut summaries) = (Vec::new(), Vec::with_capacity(shard_count));
        for (_, made, summary) in parts {
            without.extend(made.without.iter().map(|&index| lanes.len() + index as usize));
            lanes.extend(made.lanes);
            summaries.push(summary);
        }
        let validity = (!without.is_empty()).then(|| {
            let mut validity = Validity::all(lanes.len());
            for row in without {
                validity.clear(row);
            }
            validity
        });
        Ok((lanes, validity, CollectionSummary::new(collection, summaries)?))
    }
}

/// Fingerprints of a shard.
struct ShardFingerprints<L> {
    lanes: Vec<L>,
    /// Rows without fingerprint, by their numbers in the shard.
    without: Vec<u32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::compare::compare_texts;
    use crate::pipeline::progress::NoProgress;
    use crate::read::ReadOptions;
    use crate::read::walk::InputFile;
    use std::fs;

    const TEXTS: [&str; 5] = ["a rose is a rose is a rose", "", "a rose", "…", "Die Straße, 東京!"];

    fn fingerprints(bits: SimhashBits, threads: usize, isa: Isa) -> FingerprintedCollection {
        let folder = tempfile::tempdir().unwrap();
        let file = |(number, text): (usize, &&str)| {
            let path = folder.path().join(format!("{number}.txt"));
            fs::write(&path, text).unwrap();
            InputFile::new(&path)
        };
        let files = TEXTS.iter().enumerate().map(file).collect();
        let collection = Collection::open(files, ReadOptions::default());
        let recipe = FingerprintRecipe { shingle: "words:3".parse().unwrap(), bits };
        fingerprint_collection(&collection, recipe, threads, isa, &NoProgress).unwrap()
    }

    #[test]
    fn documents_have_the_recipes_fingerprints_and_those_without_words_none() {
        let made = fingerprints(SimhashBits::Bits64, 1, Isa::Portable);
        let Lanes::Bits64(lanes) = &made.rows.lanes else { panic!("64 bits") };
        // An empty file holds no record: four documents.
        assert_eq!(lanes.len(), 4);
        assert_eq!(lanes[0], 0xcc71_252b_5aa7_6984);
        let validity = made.rows.validity.as_ref().unwrap();
        assert_eq!([0, 1, 2, 3].map(|row| validity.has_value(row)), [true, true, false, true]);
        assert_eq!(made.summary.without_terms, 1);
        assert_eq!(made.summary.lengths, [26, 6, 3, 20]);
        let texts = [TEXTS[0].as_bytes(), TEXTS[4].as_bytes()];
        let compared = compare_texts(texts, "words:3".parse().unwrap(), Isa::Portable);
        assert_eq!(compared.distance, Some((lanes[0] ^ lanes[3]).count_ones()));
    }

    #[test]
    fn threads_and_instruction_sets_do_not_matter_and_64_bits_are_half_of_128() {
        let expected = fingerprints(SimhashBits::Bits128, 1, Isa::Portable);
        let Lanes::Bits128(wide) = &expected.rows.lanes else { panic!("128 bits") };
        for &isa in Isa::available() {
            for threads in [2, 5] {
                assert_eq!(fingerprints(SimhashBits::Bits128, threads, isa).rows, expected.rows);
                let narrow = fingerprints(SimhashBits::Bits64, threads, isa).rows;
                assert_eq!(narrow.validity, expected.rows.validity);
                let halves = wide.iter().map(|&lane| lane as u64).collect();
                assert_eq!(narrow.lanes, Lanes::Bits64(Cow::Owned(halves)));
            }
        }
    }
}
