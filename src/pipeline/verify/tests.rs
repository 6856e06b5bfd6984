//! Tests that compare verification with a slow version that compares every pair of documents.

use super::*;
use crate::method::{DocumentTerms, Fitted, TermScratch, Terms};
use crate::pipeline::document_traits::WantedTraits;
use crate::pipeline::shard_summary::{CollectionSummary, Compared, read_summarized};
use simtool_base::options::Options;
use simtool_base::progress::NoProgress;
use simtool_base::stable_hash::mix;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_kernels::Isa;
use simtool_model::document::DocumentIds;
use simtool_model::groups::RowGroups;
use simtool_read::walk::InputFile;
use simtool_read::{Collection, Corpus, ReadOptions, TextSplit};
use simtool_terms::extract::weighting::Weighting;
use std::collections::BTreeMap;

/// Returns lines of many lengths that share words. Some lines are equal, and some others have equal sets of
/// words.
fn lines(seed: u64, count: u64) -> Vec<String> {
    let line = |number: u64| {
        let number = mix(seed ^ (number - number % (1 + number % 3)));
        let length = 8 + mix(number) % 40;
        let changed = mix(number + 1) % 20;
        let word = |at: u64| format!("w{}", if at % 20 == changed { mix(at ^ number) } else { at });
        (0..length).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(line).collect()
}

/// A collection in which each line of a file is a document. The file is in a folder of its own.
struct LineCollection {
    collection: Collection,
    ids: DocumentIds,
    lengths: Vec<u32>,
    sets: Vec<Vec<u64>>,
    _folder: tempfile::TempDir,
}

impl LineCollection {
    fn new(lines: &[String], terms: &DocumentTerms) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines.txt");
        std::fs::write(&path, lines.join("\n")).unwrap();
        let options =
            ReadOptions { split: TextSplit::Lines, shard_bytes: 5000, ..ReadOptions::default() };
        let collection = Collection::open(vec![InputFile::new(&path)], options);
        let mut sets = Vec::new();
        let mut scratch = TermScratch::default();
        let summaries = (0..collection.shard_count()).map(|shard| {
            let summary =
                read_summarized(&collection, shard, WantedTraits::NONE, &mut |_, document| {
                    let mut set = terms.find(document.text, &mut scratch).clone();
                    set.sort_unstable();
                    set.dedup();
                    sets.push(set);
                    Ok(Compared::by_terms(true))
                });
            summary.unwrap()
        });
        let summaries = summaries.collect();
        let CollectionSummary { ids, lengths, .. } =
            CollectionSummary::new(&collection, summaries).unwrap();
        assert_eq!(sets.len(), lines.len());
        Self { collection, ids, lengths, sets, _folder: folder }
    }

    fn texts<'t>(&'t self, terms: &'t DocumentTerms, context: &'t Context<'t>) -> RowTexts<'t> {
        let Self { collection, ids, lengths, .. } = self;
        RowTexts { collection: collection as &dyn Corpus, ids, lengths, terms, context }
    }

    fn bytes(&self) -> u64 {
        self.sets.iter().map(|set| set.len() as u64 * 8).sum()
    }
}

/// Returns settings for terms that are single words. `weight` is an option such as `weight=idf`, which takes the
/// weights of terms from their frequencies in `lines`. If it is empty, all terms weigh the same.
fn of_words(weight: &str, lines: &LineCollection) -> DocumentTerms {
    let mut options = Options::parse(weight).unwrap();
    let weighting = Weighting::parse_for_sets("weight", &mut options).unwrap();
    let terms = "words:1".parse::<Terms>().unwrap().weighted(weighting);
    let context = context(2);
    let fitted = Fitted::learn(&terms, &lines.collection, &context).unwrap();
    DocumentTerms::new(&terms, &fitted, context.isa())
}

fn context(threads: usize) -> Context<'static> {
    let resources = Resources { threads, ..Resources::default() };
    Context::new(&resources, &NoProgress).unwrap()
}

fn similar([a, b]: [&[u64]; 2], terms: &DocumentTerms, threshold: Threshold) -> Option<Similarity> {
    let weigh = |set: &mut dyn Iterator<Item = &u64>| -> u64 {
        set.map(|&term| u64::from(terms.weight(term))).sum()
    };
    let shared = weigh(&mut a.iter().filter(|term| b.binary_search(term).is_ok()));
    threshold.reached(shared, weigh(&mut a.iter()), weigh(&mut b.iter()))
}

const WEIGHTED: [(&str, &str); 7] = [
    ("", "0.3"),
    ("", "0.7"),
    ("", "1"),
    ("weight=idf", "0.3"),
    ("weight=idf", "containment:0.7"),
    ("weight=idf", "tversky:0.6"),
    ("", "dice:0.6"),
];

/// Map from each pair of rows in a [`Close`] to its similarity or distance. It also has the pairs inside
/// groups, which a [`Close`] does not list.
type Expanded = BTreeMap<(u32, u32), Closeness>;

fn expanded(close: &Close) -> Expanded {
    let mut pairs = Expanded::new();
    let visited = close.for_each_pair(|pair| {
        assert_eq!(pairs.insert((pair.a, pair.b), pair.closeness), None);
        Ok::<_, ()>(())
    });
    assert_eq!((visited, pairs.len() as u64), (Ok(()), close.pair_count()));
    pairs
}

/// Returns groups of documents with the sizes in `sizes`. The documents of a group are spread over the numbers from 0
/// to `rows`. Also returns the first document of each group, followed by up to 30 documents that are in no group.
fn groups(sizes: &[u32], rows: u32) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut order: Vec<u32> = (0..rows).collect();
    order.sort_by_key(|&row| mix(u64::from(row)));
    let mut groups = Vec::new();
    for &size in sizes {
        let mut group: Vec<u32> = order.drain(..size as usize).collect();
        group.sort_unstable();
        groups.push(group);
    }
    groups.sort_by_key(|group| group[0]);
    let firsts = groups.iter().map(|group| group[0]).chain(order.iter().copied().take(30));
    let firsts = firsts.collect();
    (groups, firsts)
}

fn pair(a: u32, b: u32, distance: u32) -> ClosePair {
    ClosePair { a, b, closeness: Closeness::Distance(distance) }
}

const SIZES: [u32; 7] = [400, 300, 90, 20, 2, 3, 2];

/// Returns amounts of memory that are enough for all sets, for some sets, or for none. `bytes` is the size of
/// all sets.
fn memories(bytes: u64) -> [u64; 4] {
    [u64::MAX, bytes, bytes / 3, 1]
}

#[test]
fn what_remains_within_is_what_a_look_at_every_pair_leaves() {
    let terms = DocumentTerms::new(&"words:1".parse().unwrap(), &Fitted::Nothing, Isa::detected());
    let lines = LineCollection::new(&lines(1, 1000), &terms);
    let (groups, firsts) = groups(&SIZES, 1000);
    let mut pairs = Vec::new();
    for (at, &a) in firsts.iter().enumerate() {
        let others =
            firsts[at + 1..].iter().filter(|&&b| mix(u64::from(a ^ b << 16)).is_multiple_of(3));
        pairs.extend(others.map(|&b| pair(a.min(b), a.max(b), 1 + (a ^ b) % 5)));
    }
    pairs.sort_by_key(|pair| (pair.a, pair.b));
    let pairs = pairs.into();
    let groups = Sides::One(groups.iter().collect());
    let close = Close::new(groups, pairs, Closeness::Distance(0));
    for (weight, threshold) in WEIGHTED {
        let terms = of_words(weight, &lines);
        let threshold = threshold.parse().unwrap();
        let mut expected = Expanded::new();
        for (&(a, b), closeness) in &expanded(&close) {
            let sets = [a, b].map(|row| &lines.sets[row as usize][..]);
            if let Some(similarity) = similar(sets, &terms, threshold) {
                let distance = closeness.distance().unwrap();
                expected.insert((a, b), Closeness::Verified(similarity, distance));
            }
        }
        assert!(expected.len() > 100);
        let mut first = None;
        for (threads, memory) in [1, 3].into_iter().cycle().zip(memories(lines.bytes())) {
            let context = &context(threads);
            let texts = Sides::One(lines.texts(&terms, context));
            let verifying = Verifying { threshold, memory, context };
            let found = verify(&close, &texts, &verifying).unwrap();
            assert_eq!(expanded(&found), expected);
            assert_eq!(first.get_or_insert_with(|| found.clone()), &found);
        }
    }
}

#[test]
fn what_remains_across_is_what_a_look_at_every_pair_leaves() {
    let terms = DocumentTerms::new(&"words:1".parse().unwrap(), &Fitted::Nothing, Isa::detected());
    let both =
        [LineCollection::new(&lines(2, 900), &terms), LineCollection::new(&lines(2, 1000), &terms)];
    let (of_a, a_firsts) = groups(&SIZES, 900);
    let (of_b, b_firsts) = groups(&SIZES, 1000);
    let mut pairs = Vec::new();
    for &a in &a_firsts {
        let others = b_firsts.iter().filter(|&&b| mix(u64::from(a ^ b << 16)).is_multiple_of(3));
        pairs.extend(others.map(|&b| pair(a, b, (a ^ b) % 5)));
    }
    pairs.sort_by_key(|pair| (pair.a, pair.b));
    let of_equal = Closeness::Distance(0);
    let close = Close::new(
        Sides::Two(of_a.iter().collect(), of_b.iter().collect()),
        pairs.into(),
        of_equal,
    );
    for (weight, threshold) in [WEIGHTED[0], WEIGHTED[1], WEIGHTED[5]] {
        let terms = of_words(weight, &both[1]);
        let threshold = threshold.parse().unwrap();
        let mut expected = Expanded::new();
        for (&(a, b), closeness) in &expanded(&close) {
            let sets = [&both[0].sets[a as usize][..], &both[1].sets[b as usize]];
            if let Some(similarity) = similar(sets, &terms, threshold) {
                let distance = closeness.distance().unwrap();
                expected.insert((a, b), Closeness::Verified(similarity, distance));
            }
        }
        assert!(expected.len() > 100);
        let mut first = None;
        let bytes = both[0].bytes() + both[1].bytes();
        for (threads, memory) in [1, 3].into_iter().cycle().zip(memories(bytes)) {
            let context = &context(threads);
            let [a, b] = both.each_ref().map(|lines| lines.texts(&terms, context));
            let verifying = Verifying { threshold, memory, context };
            let found = verify(&close, &Sides::Two(a, b), &verifying).unwrap();
            assert_eq!(expanded(&found), expected);
            assert_eq!(first.get_or_insert_with(|| found.clone()), &found);
        }
    }
}

#[test]
fn the_work_on_one_group_is_cut_into_pieces() {
    let terms = DocumentTerms::new(&"words:1".parse().unwrap(), &Fitted::Nothing, Isa::detected());
    let lines = LineCollection::new(&lines(3, 600), &terms);
    let context = &Context::default();
    let texts = lines.texts(&terms, context);
    let groups = [(0..600).collect(), Vec::new()].iter().collect();
    let classes = texts.classes(&RowGroups::new(&groups), |_| true).unwrap();
    let group = classes.of_group(0);
    assert!(
        group.len() > 200
            && group.is_sorted_by_key(|class: &Class| class.weight)
            && classes.of_group(1).is_empty()
    );
    let comparison = GroupComparison {
        a: group,
        b: group,
        terms: &terms,
        distance: 0,
        is_within: true,
        is_same: true,
    };
    for threshold in ["0.1", "0.9"].map(|text| text.parse::<Threshold>().unwrap()) {
        let mut work = Pieces::default();
        work.cut(7, comparison, threshold);
        let Pieces { pieces, shared } = work;
        assert!(shared.is_empty());
        let pairs = comparison.pairs(threshold);
        assert!(pieces.len() >= pairs / (PIECE_PAIRS + group.len()));
        assert!(pieces.len() <= pairs / PIECE_PAIRS + 2);
        let ranges = pieces.into_iter().filter_map(|piece| match piece {
            WorkPiece::Part(7, range) => Some(range),
            _ => None,
        });
        assert_eq!(ranges.flatten().collect::<Vec<_>>(), (0..group.len()).collect::<Vec<_>>());
        // The size of most sets is far from the sizes of most other sets.
        assert!(threshold.min_size(100) == 10 || pairs < group.len() * group.len() / 6);
        let work = Pieces::of(1, |_| comparison, threshold);
        let is_joined = matches!(work.pieces[..], [WorkPiece::Join(0)]);
        assert_eq!(is_joined, threshold.min_size(100) == 10);
        let mut merged = Vec::new();
        let mut joined = Vec::new();
        comparison.merge(0..group.len(), threshold, &mut merged);
        let scarce = context.with_memory(1);
        comparison.join(threshold, &scarce, &mut joined).unwrap();
        for pairs in [&mut merged, &mut joined] {
            pairs.sort_by_key(|pair| (pair.a, pair.b));
        }
        assert_eq!(merged, joined);
    }
}
