//! Decides which documents of a run are compared with each other, by small numbers instead of values of fields.

use super::corpus_terms::CorpusTerms;
use super::scope::{NO_VALUE, Relation};
use simtool_base::stable_hash::mix;
use simtool_hamming::group_pairs::GroupPairs;
use simtool_model::groups::Groups;
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;
use simtool_model::title_words::PageName;
use simtool_set_join::PairFilter;
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

/// Class of a document that is compared with no other document.
const NONE: u32 = u32::MAX;

/// Selects the pairs of documents that are compared. Documents with the same value, for example the same language, have
/// the same class, which is a small number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowScope {
    relation: Relation,
    /// Class of each document, which is a small number for its value, or [`NONE`].
    classes: Sides<Vec<u32>>,
    /// Own words of the title of each document, which few titles of the same site have. Empty if they are ignored.
    names: Sides<Vec<PageName>>,
}

impl RowScope {
    /// Creates the scope of documents. `values` has the hash of the value of each document, for example of its
    /// language. `relation` is the relation that the values of two documents must have, so that the documents are
    /// compared. Documents of two collections with the same value get the same class.
    pub(crate) fn new(relation: Relation, values: Sides<Vec<u64>>) -> Self {
        // Small numbers take half of the memory of hashes, and they do not depend on the order of reading.
        let mut distinct: Vec<u64> = values.iter().flatten().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let class = |value: u64| match distinct.binary_search(&value) {
            Ok(class) if value != NO_VALUE => class as u32,
            _ => NONE,
        };
        let mut classes = values.map(|of_rows| of_rows.into_iter().map(class).collect());
        if relation == Relation::Within {
            leave_out_single(&mut classes, distinct.len());
        }
        let names = classes.as_ref().map(|_| Vec::new());
        Self { relation, classes, names }
    }

    /// Returns the same scope without some pairs of pages of one site: pages whose titles both have own words, but none
    /// in common. `names` has the own words of the title of each document.
    pub(crate) fn with_names(self, names: Sides<Vec<PageName>>) -> Self {
        Self { names, ..self }
    }

    /// Returns the scope of only the documents `rows`. In the result, they are numbered by their index in `rows`.
    pub(super) fn of_rows(&self, rows: Sides<&[u32]>) -> Self {
        let chosen = |(classes, rows): (&Vec<u32>, &[u32])| {
            rows.iter().map(|&row| class_of(classes, row)).collect()
        };
        let classes = match rows {
            Sides::One(rows) => Sides::One(chosen((self.classes.first(), rows))),
            Sides::Two(first, second) => Sides::Two(
                chosen((self.classes.first(), first)),
                chosen((self.classes.second(), second)),
            ),
        };
        // Names count only for sets of terms, and these rows are fingerprints.
        let names = classes.as_ref().map(|_| Vec::new());
        Self { relation: self.relation, classes, names }
    }

    /// Returns a number for a document of the first collection. Documents with the same number can represent each
    /// other: they are compared with each other and with the same other documents. `None` if the document is compared
    /// with no document.
    pub(super) fn class(&self, row: u32) -> Option<u32> {
        let class = class_of(self.classes.first(), row);
        match self.relation {
            _ if class == NONE => None,
            Relation::Within => Some(class),
            // A document is not compared with other documents of the same value, so it can represent only itself.
            Relation::Across => Some(row),
        }
    }

    /// Returns whether two documents are compared with each other. `b` is a document of the second collection if there
    /// are two.
    pub(crate) fn takes(&self, a: u32, b: u32) -> bool {
        self.has(a, b) && !self.have_other_names([a, b])
    }

    /// Returns whether the values of two documents allow that they are compared. The titles of pages are ignored. `b`
    /// is a document of the second collection if there are two.
    pub(crate) fn has(&self, a: u32, b: u32) -> bool {
        // Two documents without a value are not in the same class, because nothing is known of their values.
        let a = class_of(self.classes.first(), a);
        let b = class_of(self.classes.second(), b);
        a != NONE && b != NONE && (a == b) == (self.relation == Relation::Within)
    }

    /// Returns whether two documents are pages of one site whose titles both have own words, but none in common.
    fn have_other_names(&self, [a, b]: [u32; 2]) -> bool {
        let name = |names: &[PageName], row: u32| names.get(row as usize).copied();
        let names = name(self.names.first(), a).zip(name(self.names.second(), b));
        names.is_some_and(|(a, b)| a.differs(&b))
    }

    /// Returns the class of a document, combined with the own words of its title. Two documents with the same result
    /// are compared with the same other documents, so that one can represent the other. `None` if the document is
    /// compared with no document.
    fn named_class(&self, row: u32) -> Option<u64> {
        let class = u64::from(self.class(row)?);
        let name =
            self.names.first().get(row as usize).filter(|name| **name != PageName::default());
        Some(name.map_or(class, |name| mix(class ^ mix(name.site ^ name.words.hash()))))
    }

    /// Returns the number of bytes of memory that the classes and names take.
    pub(super) fn bytes(&self) -> u64 {
        let classes = self.classes.iter().map(|classes| size_of_val(&classes[..]));
        let names = self.names.iter().map(|names| size_of_val(&names[..]));
        classes.chain(names).sum::<usize>() as u64
    }

    /// Divides the groups of equal fingerprints in `found` into smaller groups of documents that can represent each
    /// other (see [`Self::class`]). Replaces the pairs of groups by the pairs of smaller groups whose documents are
    /// compared. Returns `None` if there are more than `most` pairs.
    pub(super) fn divide(&self, found: &GroupPairs, most: u64) -> Option<GroupPairs> {
        let parts = match &found.groups {
            Sides::One(groups) => Sides::One(self.parts(groups, self.classes.first())),
            Sides::Two(first, second) => Sides::Two(
                self.parts(first, self.classes.first()),
                self.parts(second, self.classes.second()),
            ),
        };
        let [of_a, of_b] = [parts.first(), parts.second()];
        let mut pairs = PartPairs { relation: self.relation, of_a, of_b, most, pairs: Vec::new() };
        for pair in &found.pairs {
            pairs.add(of_a.of_group(pair.a), of_b.of_group(pair.b), pair.distance)?;
        }
        // Documents with equal fingerprints and different classes are in different parts now, which are pairs.
        if let (Sides::One(groups), Relation::Across) = (&found.groups, self.relation) {
            for group in 0..groups.len() as u32 {
                let parts = of_a.of_group(group);
                for part in parts.clone() {
                    pairs.add(part..part + 1, part + 1..parts.end, 0)?;
                }
            }
        }
        let pairs = pairs.pairs;
        Some(GroupPairs { groups: parts.map(|parts| parts.groups), pairs })
    }

    /// Divides groups of equal rows of one collection into groups of rows that can represent each other (see
    /// [`Self::class`]).
    pub(super) fn divide_groups(&self, groups: &Groups) -> Groups {
        self.parts(groups, self.classes.first()).groups
    }

    /// Divides each group of equal documents into parts. The documents of a part can represent each other (see
    /// [`Self::class`]). `classes` has the class of each document. Leaves out documents without a class.
    fn parts(&self, groups: &Groups, classes: &[u32]) -> Parts {
        let (mut rows, mut of_group) = (Vec::new(), vec![0]);
        let (mut ranges, mut of_parts) = (Vec::new(), Vec::new());
        for group in groups.iter() {
            let mut sorted: Vec<(u32, u32)> =
                group.iter().map(|&row| (class_of(classes, row), row)).collect();
            sorted.retain(|&(class, _)| class != NONE);
            // Sorting by class makes parts contiguous, and leaves the rows of each part in ascending order.
            sorted.sort_unstable();
            let is_one =
                |a: &(u32, u32), b: &(u32, u32)| a.0 == b.0 && self.relation == Relation::Within;
            for part in sorted.chunk_by(is_one) {
                let start = rows.len();
                rows.extend(part.iter().map(|&(_, row)| row));
                ranges.push(start..rows.len());
                of_parts.push(part[0].0);
            }
            of_group.push(of_parts.len() as u32);
        }
        let groups = ranges.into_iter().map(|range| &rows[range]).collect();
        Parts { groups, classes: of_parts, of_group }
    }
}

/// Sets the class of documents to [`NONE`] if no other document of their class can be compared with them. If there are
/// two collections, both must have a document of the class. `count` is the number of classes.
fn leave_out_single(classes: &mut Sides<Vec<u32>>, count: usize) {
    let sizes = classes.as_ref().map(|classes| {
        let mut sizes = vec![0_u32; count];
        for &class in classes.iter().filter(|&&class| class != NONE) {
            sizes[class as usize] += 1;
        }
        sizes
    });
    let has_pair = |class: usize| match &sizes {
        Sides::One(sizes) => sizes[class] > 1,
        Sides::Two(first, second) => first[class] > 0 && second[class] > 0,
    };
    for class in classes.iter_mut().flatten().filter(|class| **class != NONE) {
        if !has_pair(*class as usize) {
            *class = NONE;
        }
    }
}

/// Returns the class of document number `row`. Returns [`NONE`] if the first reading did not find this document.
fn class_of(classes: &[u32], row: u32) -> u32 {
    classes.get(row as usize).copied().unwrap_or(NONE)
}

/// Parts into which groups of equal documents are divided. The documents of a part have the same class.
struct Parts {
    groups: Groups,
    /// Class of each part. The parts of a group are in ascending order of their classes.
    classes: Vec<u32>,
    /// For each group before it was divided, the index of its first part. The last element is the number of all parts.
    of_group: Vec<u32>,
}

impl Parts {
    fn of_group(&self, group: u32) -> Range<u32> {
        self.of_group[group as usize]..self.of_group[group as usize + 1]
    }

    /// Returns the range of those parts in the range `parts` that have the class `class`. `parts` must be parts of one
    /// group.
    fn in_class(&self, parts: &Range<u32>, class: u32) -> Range<u32> {
        let classes = &self.classes[parts.start as usize..parts.end as usize];
        let [from, to] = [
            classes.partition_point(|&other| other < class),
            classes.partition_point(|&other| other <= class),
        ];
        parts.start + from as u32..parts.start + to as u32
    }
}

/// Collects the pairs of parts whose documents are compared. A part is a set of equal documents of one class.
struct PartPairs<'p> {
    relation: Relation,
    of_a: &'p Parts,
    of_b: &'p Parts,
    /// Maximum number of pairs, so that they fit in memory.
    most: u64,
    pairs: Vec<ValuePair>,
}

impl PartPairs<'_> {
    /// Adds the pairs of a part in `first` and a part in `second` that are compared. The parts of each range belong to
    /// one group of equal fingerprints. `distance` is the distance between both groups. Returns `None` if there are
    /// more than `most` pairs.
    fn add(&mut self, first: Range<u32>, second: Range<u32>, distance: u32) -> Option<()> {
        for a in first {
            // The parts of a class are found by binary search. So the time depends on the pairs that are added,
            // and not on the product of the sizes of both groups.
            let same = self.of_b.in_class(&second, self.of_a.classes[a as usize]);
            let chosen = match self.relation {
                Relation::Within => [same, 0..0],
                Relation::Across => [second.start..same.start, same.end..second.end],
            };
            let pair = |b| ValuePair { a, b, distance };
            self.pairs.extend(chosen.into_iter().flatten().map(pair));
            // One part adds at most as many pairs as a group has parts, so the memory is exceeded by little.
            if self.pairs.len() as u64 > self.most {
                return None;
            }
        }
        Some(())
    }
}

/// Filter for a join of sets. It accepts the pairs of documents that the scope of the run allows to be compared. The
/// filter can be used only after all documents were read once, because their values are known only then.
pub(super) struct ScopeFilter<'c, 't> {
    relation: Relation,
    sources: &'c Sides<CorpusTerms<'t>>,
    scope: OnceLock<RowScope>,
}

impl<'c, 't> ScopeFilter<'c, 't> {
    pub(super) fn new(relation: Relation, sources: &'c Sides<CorpusTerms<'t>>) -> Self {
        Self { relation, sources, scope: OnceLock::new() }
    }

    fn scope(&self) -> &RowScope {
        // The join asks first when all documents were read, from several threads at once.
        self.scope.get_or_init(|| {
            RowScope::new(self.relation, self.sources.as_ref().map(CorpusTerms::scope_values))
                .with_names(self.sources.as_ref().map(CorpusTerms::names))
        })
    }
}

impl fmt::Debug for ScopeFilter<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopeFilter").field("relation", &self.relation).finish_non_exhaustive()
    }
}

impl PairFilter for ScopeFilter<'_, '_> {
    fn class(&self, row: u32) -> Option<u64> {
        self.scope().named_class(row)
    }

    fn takes(&self, a: u32, b: u32) -> bool {
        self.scope().takes(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Removal;
    use crate::cluster::keep::keep_preferred;
    use crate::pipeline::NearDuplicates;
    use crate::pipeline::config::Config;
    use crate::pipeline::one_call::{deduplicate, match_collections};
    use simtool_base::options::Options;
    use simtool_read::Texts;
    use simtool_set_join::close::{Close, ClosePair, Neighbourhood};

    const METHODS: [&str; 8] = [
        "similarity=0.5",
        "similarity=1",
        "similarity=0.5,weight=binary,shingle=words:1",
        "method=simhash,max_distance=12",
        "method=simhash,max_distance=12,recall=0.5",
        "method=simhash,max_distance=20,verify=0.6",
        "method=minhash,similarity=0.6",
        "method=i-match,shingle=words:1",
    ];

    /// Returns `count` texts, and the value of each text. Some of the texts are equal. Almost all values are `a`, `b`
    /// or `c`, or empty if the text has no value.
    fn documents(count: u64) -> (Vec<String>, Vec<String>) {
        let text = |row: u64| {
            let word = |at: u64| {
                let is_changed = mix(row << 8 | at).is_multiple_of(20) && !row.is_multiple_of(3);
                format!("w{}", if is_changed { mix(row ^ at) % 1000 } else { row % 5 * 100 + at })
            };
            (0..20).map(word).collect::<Vec<_>>().join(" ")
        };
        let value = |row: u64| match mix(row) % 10 {
            _ if row == 8 => "alone",
            0..5 => "a",
            5..7 => "b",
            7..9 => "c",
            _ => "",
        };
        let texts = (0..count).map(text).collect();
        (texts, (0..count).map(|row| value(row).to_owned()).collect())
    }

    fn config(options: &str) -> Config {
        Config::parse(&mut Options::parse(options).unwrap()).unwrap()
    }

    fn run(texts: &[String], values: &[String], options: &str) -> NearDuplicates {
        deduplicate(&Texts::of(texts).with_fields(values).unwrap(), &config(options)).unwrap()
    }

    fn pairs(close: &Close) -> Vec<ClosePair> {
        let mut pairs = Vec::new();
        close
            .for_each_pair(|pair| {
                pairs.push(pair);
                Ok::<(), ()>(())
            })
            .unwrap();
        pairs
    }

    #[test]
    fn a_run_within_a_field_is_equal_to_separate_runs() {
        let (texts, values) = documents(160);
        for method in METHODS {
            for order in ["cluster=proven", "cluster=components,keep=last", "keep_count=2"] {
                let options = format!("{method},{order}");
                let found = run(&texts, &values, &format!("{options},within=field"));
                let (mut removals, mut count) = (Vec::new(), 0);
                for value in ["a", "b", "c"] {
                    let rows: Vec<usize> = (0..160).filter(|&row| values[row] == value).collect();
                    let chosen: Vec<String> = rows.iter().map(|&row| texts[row].clone()).collect();
                    let alone = deduplicate(&Texts::of(&chosen), &config(&options)).unwrap();
                    count += alone.close.pair_count();
                    let row = |row: u32| rows[row as usize] as u32;
                    removals.extend(alone.removals.iter().map(|removal| Removal {
                        row: row(removal.row),
                        kept: row(removal.kept),
                        ..*removal
                    }));
                }
                removals.sort_by_key(|removal| removal.row);
                assert!(removals.len() > 20, "{options}");
                assert_eq!(found.removals, removals, "{options}");
                assert_eq!(found.close.pair_count(), count, "{options}");
            }
        }
    }

    #[test]
    fn only_pairs_of_the_scope_are_found() {
        let (texts, values) = documents(160);
        // The weights of words are learned from all documents, so these runs differ from separate runs.
        let learned = ["similarity=0.5,weight=idf", "method=simhash,max_distance=12,weight=idf"];
        for method in METHODS.into_iter().chain(learned) {
            let all = pairs(&run(&texts, &values, method).close);
            for (option, is_within) in [("within", true), ("across", false)] {
                let is_taken = |pair: &ClosePair| {
                    let [a, b] = [pair.a, pair.b].map(|row| &values[row as usize]);
                    !a.is_empty() && !b.is_empty() && (a == b) == is_within
                };
                let taken: Vec<ClosePair> = all.iter().copied().filter(is_taken).collect();
                assert!(taken.len() > 100 && taken.len() < all.len(), "{method}");
                let found = run(&texts, &values, &format!("{method},{option}=field"));
                assert_eq!(pairs(&found.close), taken, "{method},{option}");
                let close = Close {
                    pairs: taken.into(),
                    groups: Sides::One(Groups::default()),
                    ..found.close.clone()
                };
                let expected = keep_preferred(&Neighbourhood::new(&close), |a, b| a.cmp(&b));
                assert_eq!(found.removals, expected, "{method},{option}");
                let without = values.iter().filter(|value| value.is_empty()).count();
                assert_eq!(found.read.first().without_scope(), without as u64);
            }
        }
    }

    #[test]
    fn queries_are_matched_in_the_scope() {
        let (texts, values) = documents(160);
        let (queries, corpus) = texts.split_at(60);
        let (of_queries, of_corpus) = values.split_at(60);
        for method in METHODS {
            let find = |options: &str| {
                let queries = Texts::of(queries).with_fields(of_queries).unwrap();
                let corpus = Texts::of(corpus).with_fields(of_corpus).unwrap();
                let found = match_collections(&queries, &corpus, &config(options)).unwrap();
                pairs(&found.close)
            };
            let all = find(method);
            for (option, is_within) in [("within", true), ("across", false)] {
                let is_taken = |pair: &ClosePair| {
                    let (a, b) = (&of_queries[pair.a as usize], &of_corpus[pair.b as usize]);
                    !a.is_empty() && !b.is_empty() && (a == b) == is_within
                };
                let taken: Vec<ClosePair> = all.iter().copied().filter(is_taken).collect();
                assert!(taken.len() > 100, "{method}");
                assert_eq!(find(&format!("{method},{option}=field")), taken, "{method},{option}");
            }
        }
    }

    #[test]
    fn pairs_that_decide_are_found_in_the_scope() {
        // Pairs of texts are equal, and any two others share 7 of 9 or 6 of 10 words.
        let text = |row: u64| {
            let words = (0..8).map(|at| if at == row / 2 % 8 { 100 + row / 2 } else { at });
            words.map(|word| format!("w{word}")).collect::<Vec<_>>().join(" ")
        };
        let texts: Vec<String> = (0..4000).map(text).collect();
        let values: Vec<String> = (0..4000).map(|row| (mix(row) % 2).to_string()).collect();
        let corpus = Texts::of(&texts).with_fields(&values).unwrap();
        for scope in ["within=field", "across=field"] {
            let all = config(&format!("similarity=0.5,shingle=words:1,{scope}"));
            let mut few = all.clone();
            few.may_leave_pairs_out = true;
            few.resources.memory = 4 << 20;
            let few = deduplicate(&corpus, &few).unwrap();
            assert!(!few.close.is_complete, "{scope}");
            assert_eq!(few.removals, deduplicate(&corpus, &all).unwrap().removals, "{scope}");
        }
    }
}
