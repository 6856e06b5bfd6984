//! Chooses the texts for the report page that can be read again quickly.
//!
//! To read a document in the middle of a compressed file, everything before it must be read as well. So the
//! page shows the texts that are cheapest to read, within a budget that is a small fraction of the cost of
//! reading all input. Costs depend only on where documents are, so the choice is the same for any number of
//! threads.

use super::caught_texts::{CaughtTexts, TEXT_BYTES};
use super::findings::{Findings, Side};
use crate::pipeline::shard_summary::read_again;
use crate::pipeline::watched::Watched;
use crate::write::report::EXAMPLES;
use simtool_base::error::Result;
use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::progress::{Progress, Work};
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_compute::threads::Threads;
use simtool_model::sides::Sides;
use simtool_read::{Corpus, Price};

/// Cost of reading a compressed byte, in units of the cost of reading a byte of plain text. Gzip is unpacked
/// at 0.3 GB of compressed bytes per second, and each byte gives about three bytes of text. Plain text is
/// scanned at 1 to 4 GB per second.
const EXPENSIVE: u64 = 8;
/// Cost of opening a file or a part of it, in units of the cost of reading a byte of plain text.
const OPENING: u64 = 64 << 10;
/// Minimum budget for reading texts again, in units of the cost of reading a byte of plain text. The budget
/// is enough for 16 MB of gzip, which take about 0.1 s on two cores.
const LEAST_BUDGET: u64 = 128_000_000;
/// Divisor for the budget for reading texts again. The budget is the cost of reading all input, divided by
/// this number, but at least [`LEAST_BUDGET`].
const BUDGET_PART: u64 = 32;
/// Divisor for the memory of the chosen texts. They may take the memory limit divided by this number.
const MEMORY_PART: u64 = 16;

/// Collection that a text belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Collection whose documents may be removed.
    Documents,
    /// Collection whose documents may be kept in place of removed ones. In a run on one collection, it is the
    /// same collection as [`Self::Documents`].
    Originals,
}

/// A document whose text may be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WantedText {
    pub(super) of: Of,
    pub(super) row: u32,
}

/// Costs of reading texts of one collection again, for each shard, and the numbers of the chosen texts. A shard is an
/// input file or a part of a large file.
#[derive(Debug)]
struct Prices {
    /// For each shard (an input file or a part of it), the number of the first document after the shard.
    ends: Vec<u32>,
    /// For each shard, the cost of reading all of it.
    whole: Vec<u64>,
    /// For each shard, the number of documents that will be read, counted from the beginning of the shard.
    reached: Vec<u32>,
    /// Numbers of the documents whose texts are chosen.
    rows: Vec<u32>,
    /// Whether the run reads all documents again for their copies, so that their texts cost nothing.
    is_read_anyway: bool,
}

/// Returns the cost of reading a shard (an input file or a part of it), in units of the cost of a byte of plain text.
fn price_of_shard(collection: &dyn Corpus, shard: usize) -> u64 {
    match collection.price(shard) {
        Price::Cheap => collection.shard_bytes(shard),
        Price::Unpacked | Price::Expensive => {
            collection.shard_bytes(shard).saturating_mul(EXPENSIVE)
        }
    }
}

/// Returns the budget for reading texts again. `all` is the cost of reading all input.
fn budget(all: u64) -> u64 {
    LEAST_BUDGET.max(all / BUDGET_PART)
}

/// Returns the budget for reading texts again as a fraction of the cost of reading all input, at most 1.
pub(crate) fn affordable_part(collections: &Sides<&dyn Corpus>) -> f64 {
    let prices = collections.iter().flat_map(|&collection| {
        (0..collection.shard_count()).map(move |shard| price_of_shard(collection, shard))
    });
    let all = prices.fold(0_u64, u64::saturating_add);
    (budget(all) as f64 / all.max(1) as f64).min(1.0)
}

/// Returns the fraction of `expensive_shards` shards that are read again for the texts on the page. These shards are
/// files, or parts of files, that are expensive to read. `affordable_part` is the fraction of them that the budget pays
/// for. Everything before a text in its shard is read, too.
pub(crate) fn shown_share(expensive_shards: f64, affordable_part: f64) -> f64 {
    // Each example shows two texts.
    let shown_texts = 2.0 * EXAMPLES as f64;
    (shown_texts / expensive_shards.max(1.0)).min(affordable_part)
}

impl Prices {
    fn new(Side { collection, read }: Side<'_>) -> Self {
        let shards = collection.shard_count();
        Self {
            ends: (0..shards).map(|shard| read.ids.end_of_shard(shard).0).collect(),
            whole: (0..shards).map(|shard| price_of_shard(collection, shard)).collect(),
            reached: vec![0; shards],
            rows: Vec::new(),
            is_read_anyway: false,
        }
    }

    /// Returns the index of the shard (file or part of a file) with the document `row`, and the place of the document
    /// in it, counted from 1. The place is the number of documents of the shard that must be read to reach it.
    fn place(&self, row: u32) -> (usize, u32) {
        let shard = self.ends.partition_point(|&end| end <= row);
        (shard, row - self.first(shard) + 1)
    }

    fn first(&self, shard: usize) -> u32 {
        if shard == 0 { 0 } else { self.ends[shard - 1] }
    }

    /// Returns the cost of reading the first `documents` documents of a shard.
    fn of_first(&self, shard: usize, documents: u32) -> u64 {
        if documents == 0 {
            return 0;
        }
        let all = self.ends[shard] - self.first(shard);
        let share = u128::from(self.whole[shard]) * u128::from(documents) / u128::from(all.max(1));
        // The share is at most the cost of the whole shard, so it fits in 64 bits.
        OPENING + share as u64
    }

    /// Returns the extra cost of reading the document `row`, in addition to the cost of the documents that
    /// are already chosen.
    fn of_row(&self, row: u32) -> u64 {
        let (shard, documents) = self.place(row);
        let reached = self.reached[shard];
        if documents <= reached || self.is_read_anyway {
            return 0;
        }
        self.of_first(shard, documents) - self.of_first(shard, reached)
    }

    fn add(&mut self, row: u32) {
        // Documents that are read anyway need no reading of their shard.
        if !self.is_read_anyway {
            let (shard, documents) = self.place(row);
            self.reached[shard] = self.reached[shard].max(documents);
        }
        self.rows.push(row);
    }
}

/// Choice of the texts that are read again, within a budget.
#[derive(Debug)]
pub(super) struct AffordableTexts {
    prices: Sides<Prices>,
    left: u64,
    /// Number of texts that still fit in memory.
    room: u64,
}

impl AffordableTexts {
    /// Creates a choice in which no text is chosen yet. The budget is a small fraction of the cost of reading all
    /// input, and the texts may take a small fraction of the memory.
    pub(super) fn new(findings: &Findings<'_>, memory: &Ledger) -> Self {
        let unlimited = Self::at_any_price(findings, memory);
        let all = unlimited.prices.iter().flat_map(|prices| &prices.whole);
        let all = all.fold(0_u64, |all, &price| all.saturating_add(price));
        Self { left: budget(all), ..unlimited }
    }

    /// Creates a choice in which no text is chosen yet, and in which only the memory is limited.
    pub(super) fn at_any_price(findings: &Findings<'_>, memory: &Ledger) -> Self {
        let prices = findings.sides.map(Prices::new);
        Self { prices, left: u64::MAX, room: memory.limit() / MEMORY_PART / TEXT_BYTES as u64 }
    }

    /// Makes the texts of documents that may be removed free of cost, because the run reads these documents again to
    /// copy them. Reading them adds their texts to [`Self::caught`].
    pub(super) fn with_documents_read_anyway(mut self) -> Self {
        self.prices_mut(Of::Documents).is_read_anyway = true;
        self
    }

    /// Returns a collector for the chosen texts of documents that the run reads anyway to copy them. Returns `None` if
    /// the run copies no documents.
    pub(super) fn caught(&self, memory: &Ledger) -> Option<CaughtTexts> {
        let prices = Some(self.prices.first()).filter(|prices| prices.is_read_anyway)?;
        Some(CaughtTexts::new(prices.rows.clone(), memory))
    }

    fn prices(&self, of: Of) -> &Prices {
        match of {
            Of::Documents => self.prices.first(),
            Of::Originals => self.prices.second(),
        }
    }

    fn prices_mut(&mut self, of: Of) -> &mut Prices {
        match (&mut self.prices, of) {
            (Sides::One(prices), _)
            | (Sides::Two(prices, _), Of::Documents)
            | (Sides::Two(_, prices), Of::Originals) => prices,
        }
    }

    /// Returns the extra cost of reading a text, in addition to the cost of the texts that are already
    /// chosen.
    pub(super) fn price(&self, WantedText { of, row }: WantedText) -> u64 {
        self.prices(of).of_row(row)
    }

    /// Returns the extra cost of reading two texts, in addition to the cost of the texts that are already
    /// chosen.
    pub(super) fn price_of_both(&self, a: WantedText, b: WantedText) -> u64 {
        let prices = [a, b].map(|wanted| self.price(wanted));
        let is_one_collection = a.of == b.of || !self.prices.is_two();
        let shard = |wanted: WantedText| self.prices(wanted.of).place(wanted.row).0;
        if is_one_collection && shard(a) == shard(b) {
            // Both are in one shard, and reading the later one passes the earlier one.
            return prices[0].max(prices[1]);
        }
        prices[0].saturating_add(prices[1])
    }

    /// Returns the part of the budget that is not spent.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Chooses a text if at least `reserve` of the budget is left after paying for it, and if there is room for it.
    /// Returns whether the text was chosen.
    pub(super) fn choose(&mut self, wanted: WantedText, reserve: u64) -> bool {
        let price = self.price(wanted);
        let Some(room) = self.room.checked_sub(1) else { return false };
        let Some(left) = self.left.checked_sub(price).filter(|left| *left >= reserve) else {
            return false;
        };
        (self.left, self.room) = (left, room);
        self.prices_mut(wanted.of).add(wanted.row);
        true
    }

    /// Reads the chosen texts again, except the texts in `caught`, which were kept while the documents were copied. The
    /// memory of the texts is counted until the result is dropped.
    ///
    /// # Errors
    ///
    /// A collection cannot be read again.
    pub(super) fn read(
        self,
        findings: &Findings<'_>,
        mut caught: Option<CaughtTexts>,
        context: &Context<'_>,
    ) -> Result<Beginnings> {
        let (workers, progress) = (context.threads(), context.progress());
        let together = findings.sides.zip(self.prices);
        let bytes = together.iter().map(|(side, prices)| prices.bytes(side.collection)).sum();
        progress.begin("reading examples", Work::Bytes(bytes));
        let rows = together.iter().map(|(_, prices)| prices.rows.len() as u64).sum::<u64>();
        let memory = context.memory().hold(rows * TEXT_BYTES as u64);
        let texts =
            together.try_map(|(side, prices)| match caught.take_if(|_| prices.is_read_anyway) {
                Some(caught) => Ok(caught.into_texts()),
                None => prices.read(side, workers, progress, &beginning),
            })?;
        Ok(Beginnings { texts, _memory: memory })
    }
}

/// Reads the texts of the documents with the numbers `rows` again. Returns for each number the part of the text that
/// `shown` returns.
///
/// # Errors
///
/// The collection cannot be read again.
pub(super) fn read_texts(
    side: Side<'_>,
    rows: impl Iterator<Item = u32>,
    shown: &Shown<'_>,
    context: &Context<'_>,
) -> Result<UnorderedMap<u32, Vec<u8>>> {
    let mut wanted = Prices::new(side);
    rows.for_each(|row| wanted.add(row));
    let (threads, progress) = (context.threads(), context.progress());
    progress.begin("reading examples", Work::Bytes(wanted.bytes(side.collection)));
    wanted.read(side, threads, progress, shown)
}

/// Function that gets the number and the text of a document, and returns the part of the text that is shown.
type Shown<'s> = dyn Fn(u32, &[u8]) -> Vec<u8> + Sync + 's;

/// Returns the first bytes of a text, at most [`TEXT_BYTES`].
fn beginning(_: u32, text: &[u8]) -> Vec<u8> {
    text[..text.len().min(TEXT_BYTES)].to_vec()
}

impl Prices {
    /// Returns the approximate number of bytes of the files that are read for the chosen texts.
    fn bytes(&self, collection: &dyn Corpus) -> u64 {
        let of_shard = |(shard, &documents): (usize, &u32)| {
            let all = self.ends[shard] - self.first(shard);
            let bytes = u128::from(collection.shard_bytes(shard));
            // The result is at most the number of bytes of the shard, so it fits in 64 bits.
            (bytes * u128::from(documents) / u128::from(all.max(1))) as u64
        };
        self.reached.iter().enumerate().map(of_shard).sum()
    }

    fn read(
        mut self,
        Side { collection, .. }: Side<'_>,
        workers: &Threads,
        progress: &dyn Progress,
        shown: &Shown<'_>,
    ) -> Result<UnorderedMap<u32, Vec<u8>>> {
        self.rows.sort_unstable();
        self.rows.dedup();
        let of_shard = |shard: usize| {
            let (first, end) = (self.first(shard), self.ends[shard]);
            let [from, to] = [first, end].map(|border| self.rows.partition_point(|&r| r < border));
            (shard, first, &self.rows[from..to])
        };
        let shards = (0..self.ends.len()).map(of_shard);
        let shards: Vec<_> = shards.filter(|(.., wanted)| !wanted.is_empty()).collect();
        let collection: &dyn Corpus = &Watched { corpus: collection, progress };
        let texts = workers.map(shards, |(shard, first, wanted): (usize, u32, &[u32])| {
            let mut texts = Vec::with_capacity(wanted.len());
            let end = wanted.last().map_or(0, |last| last - first + 1);
            let is_wanted = |index: u32| wanted.binary_search(&(first + index)).is_ok();
            read_again(collection, shard, end, &is_wanted, &mut |index, text| {
                texts.push((first + index, shown(first + index, text)));
            })?;
            Ok(texts)
        });
        let texts: Vec<Vec<(u32, Vec<u8>)>> = texts.into_iter().collect::<Result<_>>()?;
        Ok(texts.into_iter().flatten().collect())
    }
}

/// Beginnings of the texts that were read, for each collection. The key is the number of the document.
#[derive(Debug)]
pub(super) struct Beginnings {
    texts: Sides<UnorderedMap<u32, Vec<u8>>>,
    _memory: Reservation,
}

impl Beginnings {
    /// Returns the beginning of a text, or `None` if it was not chosen or could not be read again.
    pub(super) fn get(&self, WantedText { of, row }: WantedText) -> Option<&Vec<u8>> {
        let texts = match of {
            Of::Documents => self.texts.first(),
            Of::Originals => self.texts.second(),
        };
        texts.get(&row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::document::DocOrdinal;

    /// Returns a choice from two cheap shards of a hundred documents each, and an expensive shard of ten
    /// documents. `left` is the budget.
    fn texts(left: u64) -> AffordableTexts {
        let prices = Prices {
            ends: vec![100, 200, 210],
            whole: vec![1_000_000, 1_000_000, 80_000_000],
            reached: vec![0; 3],
            rows: Vec::new(),
            is_read_anyway: false,
        };
        AffordableTexts { prices: Sides::One(prices), left, room: 100 }
    }

    fn wanted(row: u32) -> WantedText {
        WantedText { of: Of::Documents, row }
    }

    #[test]
    fn a_text_costs_what_is_in_front_of_it_and_is_not_read_yet() {
        let mut texts = texts(u64::MAX);
        let prices = [0, 99, 100, 149, 200, 209].map(|row| texts.price(wanted(row)));
        let expected = [10_000, 1_000_000, 10_000, 500_000, 8_000_000, 80_000_000];
        assert_eq!(prices, expected.map(|price| price + OPENING));
        assert!(texts.choose(wanted(49), 0));
        let prices = [9, 49, 50, 100].map(|row| texts.price(wanted(row)));
        assert_eq!(prices, [0, 0, 10_000, 10_000 + OPENING]);
        // If both documents are in one shard, reading the later one passes the earlier one.
        let both = |a, b| texts.price_of_both(wanted(a), wanted(b));
        assert_eq!([both(59, 79), both(79, 59)], [300_000; 2]);
        assert_eq!(both(59, 109), 100_000 + 100_000 + OPENING);
    }

    #[test]
    fn no_more_is_chosen_than_can_be_afforded() {
        let mut texts = texts(9_000_000);
        assert!(!texts.choose(wanted(209), 0));
        assert!(!texts.choose(wanted(200), 4_000_000));
        assert!(texts.choose(wanted(200), 0));
        assert!(!texts.choose(wanted(99), 0));
        assert!(texts.choose(wanted(9), 0));
        assert_eq!(texts.left(), 9_000_000 - 8_000_000 - 100_000 - 2 * OPENING);
        // A document that is already read costs nothing.
        assert!(texts.choose(wanted(5), texts.left()));
        assert_eq!(texts.prices.first().rows, [200, 9, 5]);
    }

    #[test]
    fn texts_that_are_read_anyway_cost_nothing_and_are_caught() {
        let memory = Ledger::new(1 << 30);
        let mut texts = texts(0).with_documents_read_anyway();
        assert!(texts.choose(wanted(209), 0) && texts.choose(wanted(3), 0));
        assert_eq!(texts.prices.first().reached, [0; 3]);
        let caught = texts.caught(&memory).unwrap();
        assert_eq!(memory.used(), 2 * TEXT_BYTES as u64);
        for row in [2, 3, 209] {
            caught.see(DocOrdinal(row), &vec![row as u8; 2 * TEXT_BYTES]);
        }
        let caught = caught.into_texts();
        assert_eq!((caught.len(), &caught[&3]), (2, &vec![3; TEXT_BYTES]));
        assert!(caught.contains_key(&209) && memory.used() == 0);
    }

    #[test]
    fn no_more_is_chosen_than_fits_in_memory() {
        let mut texts = AffordableTexts { room: 2, ..texts(u64::MAX) };
        assert_eq!([1, 2, 3].map(|row| texts.choose(wanted(row), 0)), [true, true, false]);
    }

    #[test]
    fn the_bytes_that_are_read_again_are_the_share_of_the_documents_that_are_reached() {
        let corpus = simtool_read::Texts::of(&["ten bytes!"; 40]);
        let prices = |reached| Prices {
            ends: vec![40],
            whole: vec![0],
            reached: vec![reached],
            rows: Vec::new(),
            is_read_anyway: false,
        };
        assert_eq!(corpus.shard_count(), 1);
        let bytes = [0, 10, 40].map(|reached| prices(reached).bytes(&corpus));
        let all = corpus.bytes();
        assert_eq!(bytes, [0, all / 4, all]);
    }
}
