//! Tests of each rule with the simplest profile for which the rule decides.

use super::profile::{CorpusProfile, Nearest, Quantiles};
use super::rules::{complete, method, shingle, threshold};
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

/// Returns the similarities of 200 probes to the other documents of a sample. Unrelated documents have
/// similarities below `end` hundredths. Each number in `repeats` is the similarity of one probe to a
/// near-duplicate.
fn crowd(end: u8, repeats: &[u8]) -> Nearest {
    let unrelated = |probe: u8| {
        let rank = (u32::from(end).pow(2) * u32::from(probe) / 200).isqrt() as u8;
        let height = end.saturating_sub(1 + rank);
        (0..20).map(move |at| height.saturating_sub(at / 4))
    };
    let similarities = |probe: u8| {
        let repeat = repeats.get(usize::from(probe)).copied();
        repeat.into_iter().chain(unrelated(probe)).take(20).collect()
    };
    let nearest: Vec<Vec<u8>> = (0..200).map(similarities).collect();
    Nearest::new(&nearest, 2000)
}

#[test]
fn shingles_are_of_characters_by_script_and_length() {
    let chosen = |unspaced, median| {
        let characters = Quantiles { median, ..Quantiles::default() };
        shingle(&CorpusProfile { characters, unspaced, ..pages() })
    };
    for (unspaced, median, expected, why) in [
        (0.0, 2400, "chars:6", "at least 2,400"),
        (0.4, 200, "chars:6", "any script"),
        (0.0, 199, "chars:4", "documents are short: half of the documents have at most 199"),
        (0.5, 2400, "chars:6", "50 % of the letters belong to scripts without spaces"),
        (0.9, 60, "chars:4", "at most 60 characters"),
        (0.9, 59, "chars:2", "at most 59 characters"),
    ] {
        let (shingle, reason) = chosen(unspaced, median);
        assert_eq!(shingle, expected);
        assert!(reason.starts_with(&format!("`shingle` {expected}: ")), "{reason}");
        assert!(reason.contains(why), "{reason}");
    }
}

#[test]
fn too_few_documents_say_nothing_of_a_threshold() {
    let nearest = Nearest::new(&vec![vec![90]; 19], 100);
    let (least, reason) = threshold(&nearest, &COSINE);
    assert_eq!(least, 50);
    assert!(
        reason.ends_with("the usual value, because a sample of 19 documents is too small"),
        "{reason}"
    );
    assert_eq!(threshold(&Nearest::new(&[], 0), &COSINE).0, 50);
}

#[test]
fn the_threshold_is_the_middle_of_an_empty_gap() {
    let (least, reason) = threshold(&crowd(30, &[80, 90, 99]), &COSINE);
    assert_eq!(least, 55, "{reason}");
    assert!(reason.contains("are up to 0.29 similar, near-duplicates at least 0.80"), "{reason}");
    assert!(reason.ends_with("; 1.5 % of the documents have a near-duplicate"), "{reason}");
    let (least, reason) = threshold(&crowd(30, &[]), &COSINE);
    assert_eq!(least, 65, "{reason}");
    assert!(reason.ends_with("0.29 similar, and there are no near-duplicates"), "{reason}");
}

#[test]
fn the_threshold_is_where_fewest_pairs_are() {
    let repeat = |at: u32| 35 + (3600 * at / 160).isqrt() as u8;
    let repeats: Vec<u8> = (0..160).map(repeat).collect();
    let (least, reason) = threshold(&crowd(40, &repeats), &COSINE);
    assert!((40..=46).contains(&least), "{least}: {reason}");
    assert!(reason.contains("fewest pairs"), "{reason}");
}

#[test]
fn what_many_documents_share_is_no_repeat() {
    // All pages of one template have a similarity of 0.7, and two are copies.
    let page = |at: u8| -> Vec<u8> {
        let template = (0..20).map(|other| 66 + (at + other) % 7);
        let mut all: Vec<u8> = (at < 2).then_some(97).into_iter().chain(template).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.truncate(20);
        all
    };
    let nearest: Vec<Vec<u8>> = (0..100).map(page).collect();
    let (least, reason) = threshold(&Nearest::new(&nearest, 500), &COSINE);
    assert_eq!(least, 85, "{reason}");
}

#[test]
fn few_documents_are_compared_by_their_sets_and_many_by_fingerprints() {
    let nearest = crowd(30, &[80]);
    let chosen = |profile: &CorpusProfile, least| {
        let chosen = method(profile, &nearest, (&COSINE, least), &Options::new());
        let mut options = Options::new();
        options.set("shingle", "chars:6");
        (complete(&chosen, least, options).unwrap().to_string(), chosen.reason)
    };
    let (few, reason) = chosen(&pages(), 47);
    assert_eq!(few, "exact:similarity=cosine:0.47,shingle=chars:6");
    assert!(reason.contains("the sets of 1,000 documents can be"), "{reason}");

    let (many, reason) = chosen(&of_documents(20_000), 47);
    assert!(many.starts_with("minhash:") && many.contains("max_distance=530"), "{many}");
    assert!(reason.contains("20,000 documents are too many"), "{reason}");

    let (high, reason) = chosen(&of_documents(20_000), 80);
    assert_eq!(high, "exact:similarity=cosine:0.80,shingle=chars:6");
    assert!(reason.contains("so high a threshold"), "{reason}");

    let (crawl, reason) = chosen(&of_documents(1_000_000), 47);
    assert_eq!(crawl, "exact:similarity=0.8,shingle=words:5");
    assert!(reason.contains("1,000,000 documents are too many for all pairs at 0.47"), "{reason}");

    let large = CorpusProfile { memory: 1 << 30, ..of_documents(1_000_000) };
    let (sketched, reason) = chosen(&large, 47);
    assert!(sketched.starts_with("minhash:") && sketched.contains("recall=0.95"), "{sketched}");
    assert!(sketched.contains("shingle=words:5"), "{sketched}");
    assert!(reason.contains("do not fit into 1.1 GB"), "{reason}");

    let small = CorpusProfile { memory: 1 << 20, ..pages() };
    assert!(chosen(&small, 47).0.starts_with("minhash:"));

    let han = CorpusProfile { unspaced: 1.0, ..of_documents(1_000_000) };
    assert_eq!(chosen(&han, 47).0, "exact:similarity=cosine:0.8,shingle=chars:6");
}

/// Returns pages of invented words. Every tenth page is a copy of the page before it, with one word changed.
fn texts() -> Vec<String> {
    let text = |at: usize| {
        let copied = if at % 10 == 9 { at - 1 } else { at };
        let words = (0..120).map(|word| (copied * 7919 + word * (word + copied) * 31) % 4999);
        let mut words: Vec<String> = words.map(|word| format!("wo{word}rd")).collect();
        if copied != at {
            words[60] = "changed".to_owned();
        }
        words.join(" ")
    };
    (0..100).map(text).collect()
}

fn suggested(given: &str, threads: usize) -> simtool_base::error::Result<super::Suggestion> {
    let texts = texts();
    let texts = Texts::of(&texts);
    let resources = Resources { threads, ..Resources::default() };
    let given = Options::parse(given).unwrap();
    suggest(Sides::One(&texts as &dyn Corpus), &given, &resources, &NoProgress)
}

#[test]
fn what_is_given_stays_and_the_rest_is_chosen() {
    let method = |given| suggested(given, 1).unwrap().method.to_string();
    assert!(method("").starts_with("exact:similarity=cosine:0."), "{}", method(""));
    assert!(method("").ends_with("shingle=chars:6"));
    assert_eq!(method("shingle=words:2,similarity=0.5"), "exact:similarity=0.5,shingle=words:2");
    assert_eq!(method("similarity=0.5"), "exact:similarity=0.5,shingle=chars:6");
    let containment = method("similarity=containment:0.5,stop_words=none");
    assert_eq!(containment, "exact:similarity=containment:0.5,shingle=chars:6");
    assert!(method("weight=idf").ends_with("shingle=chars:6,weight=idf"));
    let fingerprints = method("bits=8,max_distance=300");
    assert!(fingerprints.starts_with("minhash:lanes=62,bits=8,"), "{fingerprints}");
    assert!(fingerprints.contains("max_distance=300"), "{fingerprints}");
    let jaccard = method("recall=0.9,similarity=0.5");
    assert!(jaccard.contains("measure=jaccard"), "{jaccard}");
    assert!(method("recall=0.9,similarity=cosine:0.5").contains("max_distance=500"));
    for (given, message) in [
        ("weight=idf,bits=8", "weight idf: works only with `method` exact, simhash"),
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
fn any_number_of_threads_suggests_the_same() {
    let one = suggested("", 1).unwrap();
    assert_eq!(one.nearest.repeated(one.least), 20, "{:?}", one.reasons);
    for threads in [2, 5] {
        let other = suggested("", threads).unwrap();
        assert_eq!((&one.reasons, &one.nearest), (&other.reasons, &other.nearest));
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
        assert!(found.method.to_string().starts_with("exact:similarity=cosine:0.50"));
    }
}
