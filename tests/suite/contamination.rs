//! Items of an evaluation set in documents: planted families, files, threads and memory.

use simtool::pipeline::{FoundContamination, find_contamination};
use simtool::progress::NoProgress;
use simtool::stages::contamination::{ContaminationSearch, Measure};
use simtool::stages::context::Context;
use simtool::stages::read::walk::InputFile;
use simtool::stages::similarity::Threshold;
use simtool::stages::stable_hash::mix;
use simtool::{Collection, Corpus, ReadOptions, Resources, Texts};

/// Number of items that are planted in documents, for each [`Family`].
const PLANTS: usize = 120;

/// Random numbers that depend only on the seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        (mix(self.0) % limit as u64) as usize
    }

    /// Returns `count` words of a chain: each word has eight words that may follow it. Small numbers are frequent,
    /// as in a language.
    fn words(&mut self, count: usize) -> Vec<String> {
        let mut word = self.below(5000) as u64;
        let mut next = || {
            let follower = mix(word << 8 | self.below(8) as u64);
            // The product of two random numbers is more often small.
            word = (follower % 5000) * (follower >> 32) % 5000 * ((follower >> 16) % 100) / 100;
            format!("w{word}")
        };
        (0..count).map(|_| next()).collect()
    }
}

/// A way to plant an item in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Verbatim,
    Rewrapped,
    Embedded,
    OneWord,
    ThreeWords,
}

const FAMILIES: [Family; 5] =
    [Family::Verbatim, Family::Rewrapped, Family::Embedded, Family::OneWord, Family::ThreeWords];

/// Returns a document that contains the item, in the form of `family`.
fn plant(item: &[String], family: Family, random: &mut Random) -> String {
    // The item itself stays as it is.
    let mut words = item.to_vec();
    let changes = match family {
        Family::OneWord => 1,
        Family::ThreeWords => 3,
        _ => 0,
    };
    // A changed word is another word of the language, so it may also be in the item.
    for _ in 0..changes {
        let at = random.below(words.len());
        words[at] = random.words(1).remove(0);
    }
    match family {
        Family::Verbatim => words.join(" "),
        Family::Rewrapped => words.join(",\n> ").to_uppercase(),
        _ => {
            let around = [random.words(150).join(" "), random.words(150).join(" ")];
            format!("{}. {}! {}", around[0], words.join(" "), around[1])
        }
    }
}

/// Items, and documents of which the first ones contain items: the family, the item, and the document.
fn planted() -> (Vec<String>, Vec<(Family, usize)>, Vec<String>) {
    let random = &mut Random(11);
    let items: Vec<Vec<String>> = (0..1500)
        .map(|_| {
            let count = 15 + random.below(46);
            random.words(count)
        })
        .collect();
    let mut plants = Vec::new();
    let mut documents = Vec::new();
    for (at, family) in FAMILIES.iter().flat_map(|family| [*family; PLANTS]).enumerate() {
        documents.push(plant(&items[at], family, random));
        plants.push((family, at));
    }
    // Documents of the same language have phrases of the items by chance.
    documents.extend((0..3000).map(|_| random.words(300).join(" ")));
    (items.iter().map(|words| words.join(" ")).collect(), plants, documents)
}

/// Searches for items with the default share of each measure.
fn search(
    items: &[String],
    documents: &dyn Corpus,
    measure: Measure,
    resources: &Resources,
) -> FoundContamination {
    let context = Context::new(resources, &NoProgress).unwrap();
    let search = ContaminationSearch::new(5, &context).unwrap().with_measure(measure);
    let search = match measure {
        Measure::Weighted => search.with_share(Threshold::parse("share", "0.6").unwrap()),
        Measure::Words | Measure::Shingles => search,
    };
    find_contamination(&Texts::of(items), documents, &search).unwrap()
}

#[test]
fn planted_items_are_found_and_hardly_any_others() {
    let (items, plants, documents) = planted();
    for (measure, floors) in
        [(Measure::Words, [100, 100, 100, 95, 55]), (Measure::Weighted, [100, 100, 100, 98, 85])]
    {
        let texts = Texts::of(&documents);
        let found = search(&items, &texts, measure, &Resources::default()).found;
        for (family, floor) in FAMILIES.into_iter().zip(floors) {
            let is_found = |plant: &usize| {
                let (of, item) = plants[*plant];
                let is_plant = |row: &&_| {
                    let row: &simtool::pipeline::ItemInDocument = row;
                    row.document as usize == *plant && row.item as usize == item
                };
                of == family && found.iter().find(is_plant).is_some_and(|row| row.is_best)
            };
            let percent = (0..plants.len()).filter(is_found).count() * 100 / PLANTS;
            assert!(percent >= floor, "{measure:?} {family:?}: {percent} %");
        }
        // Items of the same chain have long sequences of words in common.
        let unplanted = found.iter().filter(|row| row.document as usize >= plants.len()).count();
        assert!(unplanted <= 3, "{measure:?}: {unplanted}");
    }
}

#[test]
fn spans_are_the_bytes_of_the_items() {
    let items =
        ["Der größte Fluß, der durch die Stadt führt?".to_owned(), "three short words".to_owned()];
    let text = "¿Quiz? der GRÖSSTE fluss;\nder durch… and so on. (Three  short\twords!) Ende";
    let found = search(&items, &Texts::of(&[text]), Measure::Words, &Resources::default());
    let excerpts: Vec<&str> = found
        .found
        .iter()
        .flat_map(|row| &row.bytes)
        .map(|bytes| &text[bytes.start as usize..bytes.end as usize])
        .collect();
    // The first item has only 5 of 8 words here.
    assert_eq!(excerpts, ["Three  short\twords"]);
    // A smaller share finds these 5 words.
    let context = Context::default();
    let half = ContaminationSearch::new(5, &context).unwrap();
    let half = half.with_share(Threshold::parse("share", "5/8").unwrap());
    let found = find_contamination(&Texts::of(&items), &Texts::of(&[text]), &half).unwrap().found;
    let [bytes] = &found[0].bytes[..] else { panic!("there is one span") };
    let excerpt = &text[bytes.start as usize..bytes.end as usize];
    assert_eq!(excerpt, "der GRÖSSTE fluss;\nder durch");
    assert_eq!((found[0].words, &found[0].item_words[0]), (5, &(0..5)));
}

#[test]
fn files_threads_and_shards_do_not_change_the_items() {
    let (items, _, documents) = planted();
    let documents = &documents[..1200];
    let lines = documents.iter().map(|text| format!("{}\n", text.replace('\n', " ")));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.txt");
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    let options = || ReadOptions {
        split: simtool::stages::read::TextSplit::Lines,
        shard_bytes: 100_000,
        ..ReadOptions::default()
    };
    for measure in [Measure::Words, Measure::Weighted] {
        // Small shards, so that several threads have work.
        let found = |threads| {
            let file = Collection::open(vec![InputFile::new(&path)], options());
            let resources = Resources { threads, ..Resources::default() };
            search(&items, &file, measure, &resources).found
        };
        let texts: Vec<String> = documents.iter().map(|text| text.replace('\n', " ")).collect();
        let expected = search(&items, &Texts::of(&texts), measure, &Resources::default()).found;
        assert!(expected.len() >= 500);
        assert_eq!(found(1), expected, "{measure:?}");
        assert_eq!(found(3), expected, "{measure:?}");
    }
}

#[test]
fn too_many_found_items_are_an_error() {
    // Each of 50 items is in each of 2000 documents, which is 100,000 rows.
    let items: Vec<String> = (0..50).map(|_| "yes".to_owned()).collect();
    let documents = vec!["yes"; 2000];
    let resources = Resources { memory: 1 << 20, ..Resources::default() };
    let context = Context::new(&resources, &NoProgress).unwrap();
    let search = ContaminationSearch::new(5, &context).unwrap();
    let found = find_contamination(&Texts::of(&items), &Texts::of(&documents), &search);
    let error = found.unwrap_err().to_string();
    assert!(error.starts_with("the items that documents contain"), "{error}");
    assert!(error.contains("Leave out very short items"), "{error}");
}
