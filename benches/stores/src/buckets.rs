//! The benchmark job in a key-value store, with the design of textbooks.
//!
//! Two fingerprints within three bits agree in one of their four blocks of 16 bits. So every
//! fingerprint is stored in four buckets, one for the value of each block. A query is compared with
//! all fingerprints in its four buckets. Another table has the IDs.
//!
//! Lookups and writes of a batch ascend by bucket, so that a batch passes over the pages of a store
//! once. All cores share the checks of a batch.

use crate::{Contender, DISTANCE, Near, Result};
use rayon::prelude::*;

/// A block and its value: the number of the block in the upper half, the value in the lower.
pub(crate) type Bucket = u32;

/// Number of places of a batch that one thread handles at once. There are several such parts for
/// each thread.
const PART: usize = 1 << 15;

/// A document in a bucket: its fingerprint and its number.
pub(crate) type Entry = (u64, u32);

/// A store of buckets and of IDs.
pub(crate) trait Store: Sync {
    /// Visits the entries of `buckets`, which ascend. Calls `tell` with the position of the bucket
    /// in the slice, and the entry.
    fn scan(&self, buckets: &[Bucket], tell: impl FnMut(usize, Entry)) -> Result<()>;

    /// Adds entries and IDs in one transaction, which is on disk when this returns. Entries and IDs
    /// ascend, and the numbers of the IDs are above all earlier numbers.
    fn add(&mut self, entries: &[(Bucket, Entry)], ids: &[(u32, [u8; 16])]) -> Result<()>;

    /// Waits until all work behind the last commit is done.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }
}

/// An index in a store.
pub(crate) struct Buckets<S> {
    store: S,
    documents: u32,
}

fn distance(a: u64, b: u64) -> Option<u32> {
    Some((a ^ b).count_ones()).filter(|&distance| distance <= DISTANCE)
}

/// Returns the four buckets of each fingerprint with its position, in ascending order.
fn places(fingerprints: &[u64]) -> Vec<(Bucket, u32)> {
    let mut places = Vec::with_capacity(4 * fingerprints.len());
    for (position, &fingerprint) in (0..).zip(fingerprints) {
        let block = |block: u32| fingerprint >> (16 * block) & 0xffff;
        places.extend((0..4).map(|number| (number << 16 | block(number) as Bucket, position)));
    }
    places.sort_unstable();
    places
}

/// Returns the pairs of near fingerprints, the later one first, in ascending order.
fn pairs(fingerprints: &[u64], places: &[(Bucket, u32)]) -> Vec<(u32, u32)> {
    let near = |a: u32, b: u32| distance(fingerprints[a as usize], fingerprints[b as usize]);
    let mut pairs = Vec::new();
    for bucket in places.chunk_by(|a, b| a.0 == b.0) {
        for (at, &(_, later)) in bucket.iter().enumerate() {
            let earlier = bucket[..at].iter().map(|&(_, earlier)| earlier);
            pairs.extend(earlier.filter(|&e| near(e, later).is_some()).map(|e| (later, e)));
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Returns the nearest document of each fingerprint among all hits.
fn nearest(fingerprints: usize, hits: impl IntoIterator<Item = (u32, Near)>) -> Vec<Option<Near>> {
    let mut nearest: Vec<Option<Near>> = vec![None; fingerprints];
    for (position, near) in hits {
        let nearest = &mut nearest[position as usize];
        *nearest = Some(nearest.map_or(near, |other| other.min(near)));
    }
    nearest
}

impl<S: Store> Buckets<S> {
    pub(crate) fn new(store: S) -> Self {
        Self { store, documents: 0 }
    }

    /// Finds the near documents in the buckets of some places: positions of fingerprints, each with
    /// a document.
    fn hits(&self, fingerprints: &[u64], places: &[(Bucket, u32)]) -> Result<Vec<(u32, Near)>> {
        let buckets: Vec<Bucket> = places.iter().map(|&(bucket, _)| bucket).collect();
        let mut hits = Vec::new();
        self.store.scan(&buckets, |at, (fingerprint, number)| {
            let position = places[at].1;
            if let Some(distance) = distance(fingerprint, fingerprints[position as usize]) {
                hits.push((position, (distance, u64::from(number))));
            }
        })?;
        Ok(hits)
    }
}

impl<S: Store> Contender for Buckets<S> {
    fn add(&mut self, fingerprints: &[u64], id: impl Fn(usize) -> [u8; 16]) -> Result<usize> {
        let places = places(fingerprints);
        let parts = places.par_chunks(PART).map(|part| self.hits(fingerprints, part));
        let nearest = nearest(fingerprints.len(), parts.collect::<Result<Vec<_>>>()?.concat());
        let mut pairs = pairs(fingerprints, &places).into_iter().peekable();
        let mut numbers: Vec<Option<u32>> = vec![None; fingerprints.len()];
        let mut ids = Vec::with_capacity(fingerprints.len());
        for position in 0..fingerprints.len() {
            let mut repeats = nearest[position].is_some();
            while let Some((_, earlier)) = pairs.next_if(|pair| pair.0 as usize == position) {
                repeats |= numbers[earlier as usize].is_some();
            }
            if !repeats {
                let number = self.documents + ids.len() as u32;
                numbers[position] = Some(number);
                ids.push((number, id(position)));
            }
        }
        let mut entries: Vec<(Bucket, Entry)> = places
            .iter()
            .map(|&(bucket, position)| (bucket, position as usize))
            .filter_map(|(bucket, at)| Some((bucket, (fingerprints[at], numbers[at]?))))
            .collect();
        entries.sort_unstable();
        self.store.add(&entries, &ids)?;
        self.documents += ids.len() as u32;
        Ok(ids.len())
    }

    fn settle(&mut self) -> Result<()> {
        self.store.settle()
    }

    fn near(&self, queries: &[u64]) -> Result<Vec<Option<Near>>> {
        Ok(nearest(queries.len(), self.hits(queries, &places(queries))?))
    }
}
