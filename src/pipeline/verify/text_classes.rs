//! Reads the texts of close rows again, as sets of terms. Equal sets of a group are stored once.

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

/// Name of the memory in error messages.
const WHAT: &str = "the terms of the texts that are compared";
/// Bytes per row in addition to its terms.
const ROW_BYTES: u64 = 100;
/// Number of classes in a shard of [`ClassTerms`].
const SHARD_CLASSES: usize = 256;

/// The texts of a collection that was read before.
pub(crate) struct RowTexts<'r> {
    pub(crate) collection: &'r dyn Corpus,
    pub(crate) ids: &'r DocumentIds,
    /// Bytes of text of each document.
    pub(crate) lengths: &'r [u32],
    pub(crate) terms: &'r DocumentTerms,
    pub(crate) context: &'r Context<'r>,
}

/// Rows of a group with equal sets of terms.
#[derive(Debug)]
pub(crate) struct Class {
    group: u32,
    /// The distinct terms, ascending.
    pub(crate) terms: Vec<u64>,
    /// The weight of each term. Empty if all terms weigh the same.
    pub(crate) weights: Vec<u32>,
    /// The sum of the weights, or the number of terms if all weigh the same.
    pub(crate) weight: u64,
    /// The rows, ascending.
    pub(crate) rows: Vec<u32>,
}

/// Classes of groups, ascending by group, then by the weight of their sets.
#[derive(Debug, Default)]
pub(crate) struct Classes {
    classes: Vec<Class>,
    /// Start of the classes of each group, and at the end the number of classes.
    starts: Vec<u32>,
}

impl<'r> RowTexts<'r> {
    /// Creates the texts of `collection` from the summary of its first reading.
    pub(crate) fn of(
        collection: &'r dyn Corpus,
        read: &'r CollectionSummary,
        terms: &'r DocumentTerms,
        context: &'r Context<'r>,
    ) -> Self {
        Self { collection, ids: &read.ids, lengths: &read.lengths, terms, context }
    }

    /// Returns the approximate bytes of the sets of some rows, if no two sets are equal.
    pub(crate) fn bytes_of_sets(&self, rows: &[u32]) -> u64 {
        let of_row = |&row: &u32| {
            let length = self.lengths.get(row as usize).copied().unwrap_or(0);
            ROW_BYTES + u64::from(length) / self.terms.bytes_a_term() * size_of::<u64>() as u64
        };
        rows.iter().map(of_row).sum()
    }

    /// Reads the texts of the wanted groups, and groups their rows by equal sets of terms.
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
        // Shards without a wanted row are not opened.
        let shards: Vec<_> = shards.filter(|(.., wanted)| !wanted.is_empty()).collect();
        let bytes = shards.iter().map(|&(shard, ..)| self.collection.shard_bytes(shard)).sum();
        self.context.progress().begin("reading again", Work::Bytes(bytes));
        let threads = self.context.threads();
        let parts = threads
            .map(shards, |(shard, first, wanted)| self.classes_of_shard(shard, first, wanted));
        let parts: Vec<Vec<Class>> = parts.into_iter().collect::<Result<_>>()?;
        Ok(Classes::of(parts.into_iter().flatten().collect(), groups.len()))
    }

    /// Returns the classes of one shard. `first` is the first row of the shard, and `wanted` lists its
    /// wanted rows with their groups.
    fn classes_of_shard(
        &self,
        shard: usize,
        first: u32,
        wanted: &[(u32, u32)],
    ) -> Result<Vec<Class>> {
        let mut found = Found::new(self.terms);
        let mut done = Ok(());
        let mut scratch = TermScratch::default();
        let place = |index: u32| wanted.binary_search_by_key(&(first + index), |&(row, _)| row);
        // The reading of the shard ends behind its last wanted row.
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

/// The classes of a shard while it is read.
struct Found<'t> {
    terms: &'t DocumentTerms,
    classes: Vec<Class>,
    /// A class by its group and the hash of its terms.
    by_hash: UnorderedMap<(u32, u64), u32>,
}

impl<'t> Found<'t> {
    fn new(terms: &'t DocumentTerms) -> Self {
        Self { terms, classes: Vec::new(), by_hash: UnorderedMap::default() }
    }

    fn push(&mut self, group: u32, row: u32, terms: &[u64]) -> Result<()> {
        let number = self.classes.len() as u32;
        let hash = hash(bytemuck::cast_slice(terms));
        let class = *self.by_hash.entry((group, hash)).or_insert(number);
        match self.classes.get_mut(class as usize) {
            Some(class) if class.terms == terms => class.rows.push(row),
            // The set is new, or another set has the same hash. The latter is so rare that the
            // class simply gets a duplicate, which `Classes::of` merges.
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
    /// Merges classes of the same group and set from different shards. `groups` is the number of groups.
    fn of(mut classes: Vec<Class>, groups: usize) -> Self {
        // The sort is stable and the shards come in order, so the rows of merged classes stay
        // ascending.
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
        // Sums of the counts turn them into starts.
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        Self { classes, starts }
    }

    /// Returns the classes of a group, ascending by the weight of their sets.
    pub(crate) fn of_group(&self, group: u32) -> &[Class] {
        let group = group as usize;
        &self.classes[self.starts[group] as usize..self.starts[group + 1] as usize]
    }

    /// Returns the rows of each class that has several rows.
    pub(crate) fn repeated(&self) -> impl Iterator<Item = Vec<u32>> {
        self.classes.iter().filter(|class| class.rows.len() > 1).map(|class| class.rows.clone())
    }
}

/// Classes as a source of documents for a join of sets.
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
