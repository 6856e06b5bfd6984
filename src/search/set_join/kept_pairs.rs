//! Pairs of which one document is kept, where all pairs are too many.
//!
//! Pairs grow with the square of the copies, but few of them decide: who keeps documents in an order
//! of preference, each unless it is like one that was kept before it, need not know how alike two
//! removed ones are. So documents are taken in batches in that order. A batch is compared with what
//! was kept of those before; what is like none of that is compared with itself, and some of it is
//! kept; and with this are compared those that are removed in any case, as it may be liker to them
//! than what was kept before. Of what is known of a removed document only the pairs stay that tell
//! which kept one it is most like, at each of its turns.

use super::pair_order::{PAIRS, in_order};
use super::sketch_join::{Scan, SketchJoin};
use super::sketches::{Equal, Sketches};
use crate::close::SetPair;
use crate::error::Result;
use crate::large_buffer::{LargeBuffer, filled};

/// Batches that are begun with. Of all pairs, a batch of so many has about one in their square.
const FIRST_BATCHES: usize = 8;
/// A batch that had so much less pairs than there may be is followed by one of twice the size, which
/// has about four times as many.
const FEW_PAIRS: u64 = 8;
/// Pairs of kept documents that are looked through once there are so many more.
const MORE_PAIRS: usize = 1 << 20;
/// No place.
const NONE: u32 = u32::MAX;

/// When each document's turn comes to be kept. Of equal ones the first row stands for all.
pub(super) struct Turns {
    /// The rows, in the order of their turns.
    rows: Vec<u32>,
    /// The first turn of a row, or of those that it stands for, and the last one.
    of_row: Vec<[u32; 2]>,
}

impl Turns {
    /// Those of all rows, in order, of which some equal others.
    pub(super) fn new(rows: Vec<u32>, equal: &[Equal]) -> Self {
        let mut of_row = vec![[NONE; 2]; rows.len()];
        for (turn, &row) in (0..).zip(&rows) {
            of_row[row as usize] = [turn; 2];
        }
        for equal in equal {
            let [turn, _] = of_row[equal.other as usize];
            let [first, last] = &mut of_row[equal.first as usize];
            (*first, *last) = (turn.min(*first), turn.max(*last));
        }
        Self { rows, of_row }
    }

    fn first(&self, row: u32) -> u32 {
        self.of_row[row as usize][0]
    }

    fn last(&self, row: u32) -> u32 {
        self.of_row[row as usize][1]
    }

    /// Of the rows that this one stands for, the one that is kept.
    fn kept_row(&self, row: u32) -> u32 {
        self.rows[self.first(row) as usize]
    }
}

/// What is known of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Nothing yet.
    Open,
    /// It is like none that was kept before its batch.
    Asked,
    Kept,
    Removed,
}

/// A search for the pairs that decide what is kept.
pub(super) struct KeptPairs<'a> {
    join: &'a SketchJoin<'a>,
    turns: Turns,
    /// Pairs for which there is memory.
    most: u64,
    /// By row.
    fates: Vec<Fate>,
    /// Pairs of a removed document and a kept one.
    pairs: Vec<SetPair>,
    /// How many were left when they were looked through.
    looked_through: usize,
}

impl<'a> KeptPairs<'a> {
    pub(super) fn new(join: &'a SketchJoin<'a>, turns: Turns, most: u64) -> Self {
        let fates = vec![Fate::Open; turns.rows.len()];
        Self { join, turns, most, fates, pairs: Vec::new(), looked_through: 0 }
    }

    /// Pairs, ascending, over which the same documents are kept as over all, and the others removed for
    /// the same ones.
    ///
    /// # Complexity
    /// That of comparing all documents with those that are kept.
    ///
    /// # Errors
    /// Those of the source; even these pairs are too many; the memory cannot be had.
    pub(super) fn find(mut self, sizes: &mut [u32]) -> Result<LargeBuffer<SetPair>> {
        let mut documents = self.join.sketches.documents.clone();
        documents.sort_unstable_by_key(|&row| self.turns.first(row));
        let mut rest = &documents[..];
        let mut size = documents.len().div_ceil(FIRST_BATCHES);
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(size.min(rest.len()));
            match self.choose(batch, sizes)? {
                None => size = batch.len().div_ceil(2),
                Some(pairs) => {
                    rest = after;
                    if pairs < self.most / FEW_PAIRS {
                        size = size.saturating_mul(2);
                    }
                }
            }
        }
        self.look_through(sizes)?;
        for pair in &mut self.pairs {
            (pair.a, pair.b) = (pair.a.min(pair.b), pair.a.max(pair.b));
        }
        in_order(&[self.pairs], self.join.context())
    }

    /// Chooses which documents of a batch are kept, and gives how many pairs these had among them; none
    /// if they are too many. Then it is known of some that they are removed.
    fn choose(&mut self, batch: &[u32], sizes: &mut [u32]) -> Result<Option<u64>> {
        for &row in batch {
            let fate = &mut self.fates[row as usize];
            if *fate == Fate::Open {
                *fate = Fate::Asked;
            }
        }
        let asked = self.only(|_, fate| fate == Fate::Asked)?;
        let kept = self.only(|_, fate| fate == Fate::Kept)?;
        self.compare(&Scan::across(&asked, &kept), sizes)?;
        drop((asked, kept));

        let is_asked = |&row: &u32| self.fates[row as usize] == Fate::Asked;
        let left: Vec<u32> = batch.iter().copied().filter(is_asked).collect();
        let mut places = filled(NONE, self.fates.len(), PAIRS)?;
        for (place, &row) in (0..).zip(&left) {
            places[row as usize] = place;
        }
        let asked = self.only(|_, fate| fate == Fate::Asked)?;
        let mut parts = Vec::new();
        let mut count = 0;
        let found = &mut |mut pairs: LargeBuffer<SetPair>, _: &[u32]| {
            count += pairs.len() as u64;
            for pair in &mut *pairs {
                let [a, b] = [pair.a, pair.b].map(|row| places[row as usize]);
                (pair.a, pair.b) = (a.min(b), a.max(b));
            }
            parts.push(pairs);
            if count > self.most {
                return Err(self.join.join.too_many_pairs(count));
            }
            Ok(count + self.pairs.len() as u64)
        };
        let visited = self.join.visit(&Scan::within(&asked), sizes, found);
        if count > self.most {
            for &row in &left {
                self.fates[row as usize] = Fate::Open;
            }
            return Ok(None);
        }
        visited?;
        drop(asked);
        let pairs = in_order(&parts, self.join.context())?;
        drop(parts);
        self.keep(&left, &pairs);
        drop(pairs);

        let fates = &self.fates;
        let first_kept = left.iter().find(|&&row| fates[row as usize] == Fate::Kept);
        let Some(since) = first_kept.map(|&row| self.turns.first(row)) else {
            return Ok(Some(count));
        };
        let is_new = |row: u32| places[row as usize] != NONE;
        let kept = self.only(|row, fate| fate == Fate::Kept && is_new(row))?;
        let removed = self.only(|row, fate| {
            fate == Fate::Removed && !is_new(row) && self.turns.last(row) > since
        })?;
        self.compare(&Scan::across(&removed, &kept), sizes)?;
        Ok(Some(count))
    }

    /// Keeps those of `left`, in their order, that are like none that was kept before, and notes for
    /// which the others are removed; the pairs are ascending ones of places in it.
    fn keep(&mut self, left: &[u32], pairs: &[SetPair]) {
        let rows = |pair: &SetPair| [pair.a, pair.b].map(|place| left[place as usize]);
        for of_one in pairs.chunk_by(|one, other| one.a == other.a) {
            let [row, _] = rows(&of_one[0]);
            if self.fates[row as usize] != Fate::Asked {
                continue;
            }
            self.fates[row as usize] = Fate::Kept;
            for pair in of_one {
                let [_, other] = rows(pair);
                self.fates[other as usize] = Fate::Removed;
                self.pairs.push(SetPair { a: other, b: row, shared: pair.shared });
            }
        }
        for &row in left {
            let fate = &mut self.fates[row as usize];
            if *fate == Fate::Asked {
                *fate = Fate::Kept;
            }
        }
        // What is kept later may be liker to those equal documents whose turns come later still.
        for pair in pairs {
            let [before, row] = rows(pair);
            let fates = [before, row].map(|row| self.fates[row as usize]);
            if fates == [Fate::Removed, Fate::Kept]
                && self.turns.first(row) < self.turns.last(before)
            {
                self.pairs.push(SetPair { a: before, b: row, shared: pair.shared });
            }
        }
    }

    /// Compares documents with kept ones, and removes those that are alike.
    fn compare(&mut self, scans: &[Scan<'_>], sizes: &mut [u32]) -> Result<()> {
        self.join.visit(scans, sizes, &mut |alike, sizes| {
            for &SetPair { a, b, shared } in &*alike {
                let (row, other) =
                    if self.fates[a as usize] == Fate::Kept { (a, b) } else { (b, a) };
                if self.turns.first(row) < self.turns.last(other) {
                    self.fates[other as usize] = Fate::Removed;
                    self.pairs.push(SetPair { a: other, b: row, shared });
                }
            }
            if self.pairs.len() > 2 * self.looked_through + MORE_PAIRS {
                self.look_through(sizes)?;
            }
            Ok(self.pairs.len() as u64)
        })
    }

    /// Leaves of the pairs of each removed document those that are of a closer kept one than all whose
    /// turns came before.
    fn look_through(&mut self, sizes: &[u32]) -> Result<()> {
        let threshold = self.join.join.threshold;
        let turns = &self.turns;
        self.join
            .context()
            .threads()
            .sort_by_key(&mut self.pairs, |pair| (pair.a, turns.first(pair.b)));
        let mut closest = None;
        self.pairs.retain(|pair| {
            let similarity =
                pair.similarity([pair.a, pair.b].map(|row| sizes[row as usize]), threshold);
            let row = turns.kept_row(pair.b);
            let is_closer = closest.is_none_or(|(other, to_other, kept)| {
                other != pair.a || similarity.cmp(&to_other).then(u32::cmp(&kept, &row)).is_gt()
            });
            if is_closer {
                closest = Some((pair.a, similarity, row));
            }
            is_closer
        });
        self.looked_through = self.pairs.len();
        if self.pairs.len() as u64 > self.most {
            return Err(self.join.join.too_many_pairs(self.pairs.len() as u64));
        }
        Ok(())
    }

    /// The sketches of some of the documents.
    fn only(&self, is_one: impl Fn(u32, Fate) -> bool) -> Result<Sketches> {
        let is_one = |row: u32| is_one(row, self.fates[row as usize]);
        self.join.sketches.only(is_one, self.join.join.threshold, self.join.context())
    }
}
