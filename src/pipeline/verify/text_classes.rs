//! Reads the texts of documents with close fingerprints again, as sets of terms. Equal sets within a group
//! are stored once.

use crate::method::{DocumentTerms, TermScratch};
use crate::pipeline::shard_summary::{CollectionSummary, read_again};
use simtool_base::error::Result;
use simtool_base::large_buffer::reserved;
use simtool_base::progress::Work;
use simtool_base::stable_hash::hash;
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_model::document::DocumentIds;
use simtool_model::groups::RowGroups;
use simtool_read::Corpus;
use simtool_set_join::{TermSource, Wanted};

/// Name of the data that the memory for sets of terms is for, in out-of-memory messages.
const WHAT: &str = "the terms of the texts that are compared";
/// Estimated number of bytes of memory that a document takes in addition to its terms.
const ROW_BYTES: u64 = 100;
/// Number of classes in each shard of [`ClassTerms`]. A class is a set of texts with the same terms, and a shard is the
/// unit that one thread reads.
const SHARD_CLASSES: usize = 256;

/// A collection that was read before, so that the texts of chosen documents can be read again as sets of terms.
pub(crate) struct RowTexts<'r> {
    pub(crate) collection: &'r dyn Corpus,
    pub(crate) ids: &'r DocumentIds,
    /// Number of bytes of text of each document.
    pub(crate) lengths: &'r [u32],
    pub(crate) terms: &'r DocumentTerms,
    pub(crate) context: &'r Context<'r>,
}

/// Documents of one group whose sets of terms are equal, together with this set. A group has equal fingerprints.
#[derive(Debug)]
pub(crate) struct Class {
    group: u32,
    /// Distinct terms of the set, ascending.
    pub(crate) terms: Vec<u64>,
    /// Weight of each term. Empty if all terms weigh the same.
    pub(crate) weights: Vec<u32>,
    /// Sum of the weights of the terms, or number of terms if all weigh the same.
    pub(crate) weight: u64,
    /// Numbers of the documents with this set, ascending.
    pub(crate) rows: Vec<u32>,
}

/// The classes of all groups. A class is the documents of a group with equal sets of terms. Classes are sorted by the
/// number of their group, and then by the weight of their set.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    classes: Vec<Class>,
    /// For each group, the index of its first class in `classes`. The last element is the number of classes.
    starts: Vec<u32>,
}

impl<'r> RowTexts<'r> {
    /// Creates the value from a collection and the summary of its first reading.
    pub(crate) fn of(
        collection: &'r dyn Corpus,
        read: &'r CollectionSummary,
        terms: &'r DocumentTerms,
        context: &'r Context<'r>,
    ) -> Self {
        Self { collection, ids: &read.ids, lengths: &read.lengths, terms, context }
    }

    /// Returns the approximate number of bytes that the sets of the documents `rows` take in memory if no two
    /// sets are equal.
    pub(crate) fn bytes_of_sets(&self, rows: &[u32]) -> u64 {
        let of_row = |&row: &u32| {
            let length = self.lengths.get(row as usize).copied().unwrap_or(0);
            ROW_BYTES + u64::from(length) / self.terms.bytes_a_term() * size_of::<u64>() as u64
        };
        rows.iter().map(of_row).sum()
    }

    /// Reads the texts of the documents `rows`, whose numbers must ascend. Calls `find` with the number and the text of
    /// each document, and returns the results in the same order. Documents that can no longer be read are left out.
    ///
    /// # Errors
    ///
    /// The collection cannot be read again, or `find` fails.
    pub(crate) fn read_rows<T: Send>(
        &self,
        rows: &[u32],
        find: impl Fn(u32, &[u8], &mut TermScratch) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let of_shard = |shard: usize| {
            let first = self.ids.first_of_shard(shard).0;
            let [from, to] = [first, self.ids.end_of_shard(shard).0]
                .map(|border| rows.partition_point(|&row| row < border));
            (shard, first, &rows[from..to])
        };
        let shards = (0..self.collection.shard_count()).map(of_shard);
        let shards: Vec<_> = shards.filter(|(.., wanted)| !wanted.is_empty()).collect();
        let bytes = shards.iter().map(|&(shard, ..)| self.collection.shard_bytes(shard)).sum();
        self.context.progress().begin("reading again", Work::Bytes(bytes));
        let read =
            self.context.threads().map(shards, |(shard, first, wanted): (_, u32, &[u32])| {
                let mut scratch = TermScratch::default();
                let mut found = Ok(Vec::with_capacity(wanted.len()));
                let end = wanted.last().map_or(0, |last| last - first + 1);
                let is_wanted = |index: u32| wanted.binary_search(&(first + index)).is_ok();
                read_again(self.collection, shard, end, &is_wanted, &mut |index, text| {
                    if let Ok(found_so_far) = &mut found {
                        match find(first + index, text, &mut scratch) {
                            Ok(one) => found_so_far.push(one),
                            Err(error) => found = Err(error),
                        }
                    }
                })?;
                found
            });
        let read: Vec<Vec<T>> = read.into_iter().collect::<Result<_>>()?;
        Ok(read.into_iter().flatten().collect())
    }

    /// Reads the texts of the groups for which `wanted` returns true. Returns their classes, which are documents of a
    /// group with equal sets of terms.
    ///
    /// # Errors
    ///
    /// The collection cannot be read again, or the system lacks memory.
    pub(crate) fn classes(
        &self,
        groups: &RowGroups<'_>,
        wanted: impl Fn(u32) -> bool,
    ) -> Result<Classes> {
        let numbered = (0u32..).zip(groups.iter()).filter(|&(group, _)| wanted(group));
        let mut rows: Vec<(u32, u32)> =
            numbered.flat_map(|(group, rows)| rows.iter().map(move |&row| (row, group))).collect();
        rows.sort_unstable();
        let of_shard = |shard: usize| {
            let first = self.ids.first_of_shard(shard).0;
            let [from, to] = [first, self.ids.end_of_shard(shard).0]
                .map(|border| rows.partition_point(|&(row, _)| row < border));
            (shard, first, &rows[from..to])
        };
        let shards = (0..self.collection.shard_count()).map(of_shard);
        // Shards without a wanted document are not opened.
        let shards: Vec<_> = shards.filter(|(.., wanted)| !wanted.is_empty()).collect();
        let bytes = shards.iter().map(|&(shard, ..)| self.collection.shard_bytes(shard)).sum();
        self.context.progress().begin("reading again", Work::Bytes(bytes));
        let threads = self.context.threads();
        let parts = threads
            .map(shards, |(shard, first, wanted)| self.classes_of_shard(shard, first, wanted));
        let parts: Vec<Vec<Class>> = parts.into_iter().collect::<Result<_>>()?;
        Ok(Classes::of(parts.into_iter().flatten().collect(), groups.len()))
    }

    /// Reads one shard and returns the classes (documents of a group with equal sets of terms) of its wanted documents.
    /// `first` is the number of the first document of the shard. `wanted` lists the number and the group of each wanted
    /// document.
    fn classes_of_shard(
        &self,
        shard: usize,
        first: u32,
        wanted: &[(u32, u32)],
    ) -> Result<Vec<Class>> {
        let mut found = ShardClasses::new(self.terms);
        let mut done = Ok(());
        let mut scratch = TermScratch::default();
        let place = |index: u32| wanted.binary_search_by_key(&(first + index), |&(row, _)| row);
        // Reading the shard ends after its last wanted document.
        let end = wanted.last().map_or(0, |(last, _)| last - first + 1);
        let is_wanted = |index| place(index).is_ok();
        read_again(self.collection, shard, end, &is_wanted, &mut |index, text| {
            let Ok(place) = place(index) else { return };
            if done.is_ok() {
                let terms = self.terms.find(text, &mut scratch);
                terms.sort_unstable();
                terms.dedup();
                let (row, group) = wanted[place];
                done = found.push(group, row, terms);
            }
        })?;
        done?;
        Ok(found.classes)
    }
}

/// Classes of one shard that were found so far, while the shard is read.
struct ShardClasses<'t> {
    terms: &'t DocumentTerms,
    classes: Vec<Class>,
    /// Map from a group and the hash of a set of terms to the index of their class in `classes`.
    by_hash: UnorderedMap<(u32, u64), u32>,
}

impl<'t> ShardClasses<'t> {
    fn new(terms: &'t DocumentTerms) -> Self {
        Self { terms, classes: Vec::new(), by_hash: UnorderedMap::default() }
    }

    fn push(&mut self, group: u32, row: u32, terms: &[u64]) -> Result<()> {
        let number = self.classes.len() as u32;
        let hash = hash(bytemuck::cast_slice(terms));
        let class = *self.by_hash.entry((group, hash)).or_insert(number);
        match self.classes.get_mut(class as usize) {
            Some(class) if class.terms == terms => class.rows.push(row),
            // The set is new, or another set has the same hash. The second case is so rare that a class may
            // be stored twice, and `Classes::of` merges both.
            _ => {
                let mut own = reserved(terms.len(), WHAT)?;
                own.extend_from_slice(terms);
                let mut weights = Vec::new();
                let mut weight = terms.len() as u64;
                if self.terms.frequencies().is_some() {
                    weights = reserved(terms.len(), WHAT)?;
                    weights.extend(terms.iter().map(|&term| self.terms.weight(term)));
                    weight = weights.iter().copied().map(u64::from).sum();
                }
                self.classes.push(Class { group, terms: own, weights, weight, rows: vec![row] });
            }
        }
        Ok(())
    }
}

impl Classes {
    /// Merges the classes of all shards. Classes with the same group and equal sets become one class.
    /// `groups` is the number of groups.
    fn of(mut classes: Vec<Class>, groups: usize) -> Self {
        // The sort is stable and the shards come in order, so document numbers stay ascending in merged
        // classes.
        classes.sort_by(|a, b| {
            let [of_a, of_b] = [a, b].map(|class| (class.group, class.weight));
            of_a.cmp(&of_b).then_with(|| a.terms.cmp(&b.terms))
        });
        classes.dedup_by(|later, first| {
            let equal = (later.group, &later.terms) == (first.group, &first.terms);
            if equal {
                first.rows.append(&mut later.rows);
            }
            equal
        });
        let mut starts = vec![0; groups + 1];
        for class in &classes {
            starts[class.group as usize + 1] += 1;
        }
        // Adding up the counts turns them into the indexes of the first classes.
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        Self { classes, starts }
    }

    /// Returns the classes of a group in ascending order of the weight of their sets.
    pub(crate) fn of_group(&self, group: u32) -> &[Class] {
        let group = group as usize;
        &self.classes[self.starts[group] as usize..self.starts[group + 1] as usize]
    }

    /// Returns the document numbers of each class that has several documents, that is, of documents with equal sets of
    /// terms.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = Vec<u32>> {
        self.classes.iter().filter(|class| class.rows.len() > 1).map(|class| class.rows.clone())
    }
}

/// Source of terms for a join of sets. The join sees the set of each class as a document.
pub(crate) struct ClassTerms<'c> {
    pub(crate) classes: &'c [Class],
    pub(crate) terms: &'c DocumentTerms,
}

impl TermSource for ClassTerms<'_> {
    fn shard_count(&self) -> usize {
        self.classes.len().div_ceil(SHARD_CLASSES)
    }

    fn term_count_hint(&self) -> u64 {
        self.classes.iter().map(|class| class.terms.len() as u64).sum()
    }

    fn is_weighted(&self) -> bool {
        self.terms.frequencies().is_some()
    }

    fn weight(&self, term: u64) -> u32 {
        self.terms.weight(term)
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        let classes = self.classes.iter().skip(shard * SHARD_CLASSES).take(SHARD_CLASSES);
        for (index, class) in (0..).zip(classes).filter(|&(index, _)| wanted.has(index)) {
            visit(index, &class.terms);
        }
        Ok(())
    }
}
