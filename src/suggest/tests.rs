//! Tests of each rule with the simplest profile for which the rule decides.

use super::nearest::Nearest;
use super::profile::{CorpusProfile, Quantiles};
use super::rules::{complete, method, shingle};
use super::suggest;
use simtool_base::options::Options;
use simtool_base::progress::NoProgress;
use simtool_compute::resources::Resources;
use simtool_model::sides::Sides;
use simtool_model::similarity::COSINE;
use simtool_read::{Corpus, Texts};

/// Returns the profile of an invented collection of a thousand English pages.
fn pages() -> CorpusProfile {
    let of = |median| Quantiles { tenth: median / 4, median, ninetieth: median * 4 };
    CorpusProfile {
        documents: 1000,
        pairs: 5e5,
        sampled: 1000,
        is_complete: true,
        characters: of(2400),
        words: of(400),
        scripts: vec![("Latin", 1.0)],
        unspaced: 0.0,
        memory: 1 << 32,
    }
}

/// Returns the profile of an invented collection with this number of English pages.
fn of_documents(documents: u64) -> CorpusProfile {
    let pairs = documents as f64 * documents as f64 / 2.0;
    CorpusProfile { documents, pairs, ..pages() }
}

#[test]
fn shingles_are_of_characters_by_script_and_length() {
    let chosen = |unspaced, median| {
        let characters = Quantiles { median, ..Quantiles::default() };
        shingle(&CorpusProfile { characters, unspaced, ..pages() })
    };
    for (unspaced, median, expected, why) in [
        (0.0, 2400, "letters:6", "at least 2,400"),
        (0.4, 200, "letters:6", "any script"),
        (0.0, 199, "letters:4", "documents are short: half of the documents have at most 199"),
        (0.5, 2400, "letters:6", "50 % of the letters belong to scripts without spaces"),
        (0.9, 60, "letters:4", "at most 60 characters"),
        (0.9, 59, "letters:2", "at most 59 characters"),
    ] {
        let (shingle, reason) = chosen(unspaced, median);
        assert_eq!(shingle, expected);
        assert!(reason.starts_with(&format!("`shingle` {expected}: ")), "{reason}");
        assert!(reason.contains(why), "{reason}");
    }
}

#[test]
fn few_documents_are_compared_by_their_sets_and_many_by_fingerprints() {
    let nearest = Nearest::of_one_script(&vec![vec![30]; 200], 2000);
    let chosen = |profile: &CorpusProfile, least| {
        let chosen = method(profile, &nearest, &COSINE, least, &Options::new());
        let mut options = Options::new();
        options.set("shingle", "letters:6");
        chosen.replace_settings(&mut options, &mut Vec::new());
        let why = chosen.default_because.clone().unwrap_or_default();
        (complete(&chosen, least, options).unwrap().to_string(), chosen.reason + &why)
    };
    let (few, reason) = chosen(&pages(), 47);
    assert_eq!(few, "exact:similarity=cosine:0.47,shingle=letters:6");
    assert!(reason.contains("the sets of 1,000 documents can be"), "{reason}");

    let (many, reason) = chosen(&of_documents(20_000), 47);
    assert!(many.starts_with("minhash:") && many.contains("max_distance=530"), "{many}");
    assert!(reason.contains("20,000 documents are too many"), "{reason}");

    let (high, reason) = chosen(&of_documents(20_000), 80);
    assert_eq!(high, "exact:similarity=cosine:0.80,shingle=letters:6");
    assert!(reason.contains("so high a threshold"), "{reason}");
    let large = CorpusProfile { memory: 1 << 30, ..of_documents(1_000_000) };
    let (sketched, reason) = chosen(&large, 80);
    assert!(sketched.starts_with("minhash:") && sketched.contains("recall=0.95"), "{sketched}");
    assert!(reason.contains("do not fit into 1.1 GB"), "{reason}");

    // If a low threshold is too expensive, the default is used.
    for profile in [of_documents(1_000_000), large] {
        let (crawl, reason) = chosen(&profile, 47);
        assert_eq!(crawl, "exact:similarity=0.8,shingle=words:3");
        assert!(
            reason.contains("1,000,000 documents are too many for all pairs at 0.47"),
            "{reason}"
        );
    }

    let small = CorpusProfile { memory: 1 << 20, ..pages() };
    assert!(chosen(&small, 47).0.starts_with("minhash:"));
}

/// Returns pages of invented words. Every tenth page is a copy of the page before it with changed words. In the first
/// copies, one word in `every` words is changed. In later copies, fewer words are changed.
fn copied_texts(every: usize) -> Vec<String> {
    let text = |at: usize| {
        let copied = if at % 10 == 9 { at - 1 } else { at };
        let words = (0..120).map(|word| (copied * 7919 + word * (word + copied) * 31) % 4999);
        let mut words: Vec<String> = words.map(|word| format!("wo{word}rd")).collect();
        if copied != at {
            words.iter_mut().step_by(every + at / 40).for_each(|word| "changed".clone_into(word));
        }
        words.join(" ")
    };
    (0..100).map(text).collect()
}

/// Returns pages with repeats that differ in a fourth to a sixth of the words. The default does not find them.
fn texts() -> Vec<String> {
    copied_texts(4)
}

fn suggested(given: &str, threads: usize) -> simtool_base::error::Result<super::Suggestion> {
    suggested_for(&texts(), given, threads)
}

fn suggested_for(
    texts: &[String],
    given: &str,
    threads: usize,
) -> simtool_base::error::Result<super::Suggestion> {
    let texts = Texts::of(texts);
    let resources = Resources { threads, ..Resources::default() };
    let given = Options::parse(given).unwrap();
    suggest(Sides::One(&texts as &dyn Corpus), &given, &resources, &NoProgress)
}

#[test]
fn what_is_given_stays_and_the_rest_is_chosen() {
    let method = |given| suggested(given, 1).unwrap().method.to_string();
    assert!(method("").starts_with("exact:similarity=cosine:0."), "{}", method(""));
    assert!(method("").ends_with("shingle=letters:6"));
    assert_eq!(method("shingle=words:2,similarity=0.5"), "exact:similarity=0.5,shingle=words:2");
    assert_eq!(method("similarity=0.5"), "exact:similarity=0.5,shingle=letters:6");
    let containment = method("similarity=containment:0.5,stop_words=none");
    // By containment, these repeats are no different from copies, so there is no gap.
    assert_eq!(containment, "exact:similarity=containment:0.5,shingle=words:3");
    assert!(method("weight=idf").ends_with("shingle=letters:6,weight=idf"));
    let fingerprints = method("bits=8,max_distance=300");
    assert!(fingerprints.starts_with("minhash:lanes=62,bits=8,"), "{fingerprints}");
    assert!(fingerprints.contains("max_distance=300"), "{fingerprints}");
    let jaccard = method("recall=0.9,similarity=0.5");
    assert!(jaccard.contains("measure=jaccard"), "{jaccard}");
    assert!(method("recall=0.9,similarity=cosine:0.5").contains("max_distance=500"));
    for (given, message) in [
        ("weight=idf,bits=8", "method minhash:weight=idf: works only with `method` exact, simhash"),
        ("verify=0.5,similarity=containment:0.5", "similarity containment:0.5: needs"),
        ("similarity=2", "similarity 2: must be"),
        ("shingle=lines:2", "shingle lines:2: must be"),
        ("similarity=0.5,max_distance=3", "similarity 0.5: cannot be combined with `max_distance`"),
    ] {
        let error = suggested(given, 1).unwrap_err().to_string();
        assert!(error.starts_with(message), "{given}: {error}");
    }
}

#[test]
fn without_a_gap_the_default_is_chosen() {
    // Copies with one changed word are found by the default, too.
    let copies = copied_texts(120);
    let chosen = |given| {
        let suggestion = suggested_for(&copies, given, 1).unwrap();
        (suggestion.method.to_string(), suggestion.reasons.join("\n"))
    };
    let (method, reasons) = chosen("");
    assert_eq!(method, "exact:similarity=0.8,shingle=words:3", "{reasons}");
    assert!(reasons.contains("`shingle` words:3: the default\n"), "{reasons}");
    assert!(reasons.contains("`similarity` 0.8: the default (no pairs between "), "{reasons}");
    assert!(
        reasons.contains(
            ": copies only, by cosine of letters:6); 20.0 % of the documents have a near-duplicate"
        ),
        "{reasons}"
    );
    assert!(reasons.ends_with("`method` exact: the default"), "{reasons}");
    assert_eq!(chosen("shingle=chars:5").0, "exact:similarity=0.8,shingle=chars:5");
    assert_eq!(chosen("similarity=0.5").0, "exact:similarity=0.5,shingle=words:3");
    assert_eq!(chosen("weight=idf").0, "exact:similarity=0.8,shingle=words:3,weight=idf");
    let fingerprints = chosen("bits=8").0;
    assert!(fingerprints.contains("measure=jaccard"), "{fingerprints}");
    assert!(fingerprints.contains("shingle=words:3"), "{fingerprints}");
}

#[test]
fn pairs_around_the_threshold_are_shown() {
    let found = suggested("", 2).unwrap();
    assert!(found.seen.starts_with("gap between 0."), "{}", found.seen);
    let super::ExamplePairs { above, below } = &found.pairs;
    assert_eq!((above.len(), below.len()), (5, 5));
    assert!(above.iter().all(|pair| pair.similarity >= found.least), "{above:?}");
    assert!(below.iter().all(|pair| pair.similarity < found.least), "{below:?}");
    assert!(above.is_sorted_by_key(|pair| pair.similarity), "{above:?}");
    assert!(below.is_sorted_by_key(|pair| 100 - pair.similarity), "{below:?}");
    // Texts without IDs are shown by their beginnings.
    assert!(above[0].names[0].starts_with("\"wo"), "{above:?}");
    let sentences = found.pairs.sentences();
    assert!(sentences[0].starts_with("just above the threshold: 0."), "{sentences:?}");
    assert!(sentences[1].starts_with("just below the threshold: 0."), "{sentences:?}");
}

#[test]
fn any_number_of_threads_suggests_the_same() {
    let one = suggested("", 1).unwrap();
    assert_eq!(one.nearest.repeated(one.least), 20, "{:?}", one.reasons);
    for threads in [2, 5] {
        let other = suggested("", threads).unwrap();
        assert_eq!((&one.reasons, &one.nearest), (&other.reasons, &other.nearest));
        assert_eq!(one.pairs, other.pairs);
        assert_eq!(
            (one.method.to_string(), one.profile.clone()),
            (other.method.to_string(), other.profile)
        );
    }
}

#[test]
fn two_collections_are_compared_with_each_other() {
    let queries = texts();
    let corpus = texts();
    let queries = Texts::of(&queries[..30]);
    let corpus = Texts::of(&corpus);
    let sides = Sides::Two(&queries as &dyn Corpus, &corpus as &dyn Corpus);
    let found = suggest(sides, &Options::new(), &Resources::default(), &NoProgress).unwrap();
    assert_eq!((found.profile.documents, found.profile.pairs), (130, 3000.0));
    assert_eq!((found.nearest.probes, found.nearest.repeated(100)), (30, 30));
}

#[test]
fn nothing_and_one_document_have_the_usual() {
    for count in [0, 1] {
        let texts = &texts()[..count];
        let texts = Texts::of(texts);
        let side = Sides::One(&texts as &dyn Corpus);
        let found = suggest(side, &Options::new(), &Resources::default(), &NoProgress).unwrap();
        assert_eq!(found.profile.sampled, count as u64);
        assert_eq!(found.method.to_string(), "exact:similarity=0.8,shingle=words:3");
    }
}
