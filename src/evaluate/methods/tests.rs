use super::*;
use crate::evaluate::truth::TruthFormat;
use crate::evaluate::{DocumentsInMemory, Labels, SampleSettings, estimate_by_sample};
use crate::method::presets::NamedMethod;
use crate::method::{DocumentTerms, Fitted, TermScratch};
use simtool_base::progress::NoProgress;
use simtool_base::stable_hash::{GAMMA, mix};
use simtool_kernels::Isa;
use simtool_model::evaluation::Counts;
use simtool_read::Texts;
use simtool_terms::extract::frequencies::idf;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Returns documents whose words are from a small vocabulary. Most documents are similar to the document
/// before them, and some documents have no word.
fn texts(count: u64) -> Vec<String> {
    let word = |number: u64| format!("w{}", mix(number.wrapping_mul(GAMMA)) % 40);
    let text = |document: u64| {
        let words = (0..20).map(|at| {
            let changed = mix(document * 20 + at).is_multiple_of(5);
            word(if changed { document * 20 + at } else { document / 3 * 1000 + at })
        });
        if document % 11 == 10 { String::new() } else { words.collect::<Vec<_>>().join(" ") }
    };
    (0..count).map(text).collect()
}

fn labelled(texts: &[String], truth: &str, gray: &str) -> Labelled {
    let ids: Vec<String> = (0..texts.len()).map(|number| number.to_string()).collect();
    let corpus = Texts::of(texts).with_ids(&ids).unwrap();
    let documents = DocumentsInMemory::read(&corpus, None, 2, &NoProgress).unwrap();
    let labels = |text: &'static str, name| Labels {
        path: Path::new(name),
        bytes: text.as_bytes(),
        format: TruthFormat::Pairs,
    };
    let truth = truth.to_owned().leak();
    let gray = gray.to_owned().leak();
    Labelled::new("set", documents, labels(truth, "truth"), Some(labels(gray, "gray"))).unwrap()
}

fn resources(threads: usize) -> Resources {
    Resources { threads, ..Resources::default() }
}

/// Slow twin of [`RowsOrSets`] for tests. It compares the documents one pair at a time.
struct Obvious<'t> {
    method: &'t Method,
    texts: &'t [String],
    sets: Vec<BTreeSet<u64>>,
    /// Map from each term of the documents to its weight.
    weights: BTreeMap<u64, u32>,
}

impl<'t> Obvious<'t> {
    fn new(method: &'t Method, texts: &'t [String]) -> Self {
        let terms = DocumentTerms::new(method.compared(), &Fitted::Nothing, Isa::PORTABLE);
        let set = |text: &String| terms.find(text.as_bytes(), &mut TermScratch::default()).clone();
        let sets: Vec<BTreeSet<u64>> =
            texts.iter().map(|text| set(text).into_iter().collect()).collect();
        let mut documents = BTreeMap::new();
        for &term in sets.iter().flatten() {
            *documents.entry(term).or_insert(0) += 1;
        }
        let is_weighed = method.compared().are_weighed_in_sets();
        let weight = |df| if is_weighed { idf(texts.len() as u64, df) } else { 1 };
        let weights = documents.into_iter().map(|(term, df)| (term, weight(df))).collect();
        Self { method, texts, sets, weights }
    }

    /// Returns the similarity of two texts by the measure of `threshold`. Returns `None` if the texts share
    /// no term.
    fn similarity(&self, [a, b]: [usize; 2], threshold: Threshold) -> Option<Similarity> {
        let sum = |terms: &BTreeSet<u64>| -> u64 {
            terms.iter().map(|term| u64::from(self.weights[term])).sum()
        };
        let [a, b] = [a, b].map(|text| &self.sets[text]);
        let shared = sum(&(a & b));
        (shared > 0).then(|| threshold.similarity(shared, sum(a), sum(b)))
    }

    /// Returns the number of the strictest threshold that finds a pair of texts, or `None` if no threshold
    /// finds it.
    fn step(&self, pair: [usize; 2]) -> Option<usize> {
        match self.method.close() {
            Criterion::Similarity(threshold) => {
                let Similarity { shared, union } = self.similarity(pair, threshold)?;
                Some((400 - 400 * shared / union) as usize).filter(|&step| step < 400)
            }
            Criterion::Coverage => None,
            Criterion::Distance(_) => {
                let texts = pair.map(|text| self.texts[text].as_bytes());
                let compared = compare_texts(texts, self.method, Isa::PORTABLE);
                let is_verified = self.method.verify().is_none_or(|verify| {
                    self.similarity(pair, verify).is_some_and(|s| verify.holds(s))
                });
                let units = compared.shape.units();
                compared.distance.filter(|&d| d < units && is_verified).map(|d| d as usize)
            }
        }
    }
}

#[test]
fn hash_seeds_change_fingerprints_and_no_sets() {
    let labelled = labelled(&texts(160), "0\t1\n3\t4\n6\t7\n", "");
    let methods = NamedMethod::parse_list("simhash,exact").unwrap();
    let measure = |seeds: &[u64], threads| {
        let collections = std::slice::from_ref(&labelled);
        evaluate(collections, &methods, seeds, &resources(threads), &NoProgress).unwrap()
    };
    let found = measure(&[1, 2, 1], 1);
    let [simhash, exact] = &found.methods[..] else { panic!("there are two methods") };
    let f1: Vec<u64> = simhash.by_seed.iter().map(|seeded| seeded.f1.to_bits()).collect();
    assert_eq!(f1[0], f1[2]);
    assert_ne!(f1[0], simhash.headline_f1().to_bits());
    assert_eq!((exact.by_seed.len(), exact.spread()), (0, None));
    let spread = simhash.spread().unwrap();
    assert!(spread.least < spread.mean && spread.mean < spread.most, "{spread:?}");
    assert_eq!(measure(&[1, 2, 1], 3).methods[0].by_seed, simhash.by_seed);
    // The other results are those of the usual hash functions.
    assert_eq!(measure(&[], 1).methods[0].measured[0].curve, simhash.measured[0].curve);
}

#[test]
fn all_pairs_are_counted_as_one_by_one_for_any_threads() {
    let texts = texts(160);
    let pairs = |step: u64, from: u64| {
        let pair = |number: u64| format!("{}\t{}\n", number * 3 + from, number * 3 + from + 1);
        (0..step).map(pair).collect::<String>()
    };
    let labelled = labelled(&texts, &pairs(40, 0), &pairs(30, 1));
    for text in [
        "simhash:bits=64",
        "simhash:bits=512,shingle=words:1",
        "simhash:bits=128,verify=0.3,shingle=words:2",
        "exact:shingle=words:2",
        "exact:shingle=words:2,similarity=cosine:0.5",
        "exact:shingle=words:2,weight=idf",
        "exact:shingle=words:1,similarity=tversky:0.5,weight=idf",
        "exact:shingle=words:2,similarity=dice:0.5",
        "simhash:bits=128,verify=containment:0.3,verify_weight=idf,shingle=words:2",
    ] {
        let methods = NamedMethod::parse_list(text).unwrap();
        let method = &methods[0].method;
        let run = |threads| {
            let mut found = evaluate(
                std::slice::from_ref(&labelled),
                &methods,
                &[],
                &resources(threads),
                &NoProgress,
            )
            .unwrap();
            found.methods[0].measured[0].seconds = 0.0;
            found
        };
        let found = run(1);
        assert_eq!(run(3), found, "{text}");
        let curve = &found.methods[0].measured[0].curve;
        let obvious = Obvious::new(method, &texts);
        let mut expected = vec![Counts { positives: 40, ..Counts::default() }; curve.counts.len()];
        for a in 0..texts.len() {
            for b in a + 1..texts.len() {
                let Some(step) = obvious.step([a, b]) else { continue };
                let is_true = a % 3 == 0 && b == a + 1 && a < 120;
                let is_gray = a % 3 == 1 && b == a + 1 && a < 90;
                for counts in &mut expected[step..] {
                    counts.true_found += u64::from(is_true);
                    counts.false_found += u64::from(!is_true && !is_gray);
                }
            }
        }
        assert_eq!(curve.counts, expected, "{text}");
        // Wrong pairs at the best threshold are reported.
        let best = curve.counts[curve.best()];
        let of_kind =
            |is_true| found.wrong.iter().filter(|wrong| wrong.is_true == is_true).count() as u64;
        assert_eq!(of_kind(false), best.false_found.min(10), "{text}");
        assert_eq!(of_kind(true), (40 - best.true_found).min(10), "{text}");
    }
}

#[test]
fn own_thresholds_are_steps() {
    let step = |text: &str| own_step(&text.parse().unwrap(), 400);
    assert_eq!((step("simhash:max_distance=9"), step("exact:similarity=0.8")), (9, 80));
    // A similarity of 134/400 or more reaches 1/3.
    assert_eq!((step("exact:similarity=1/3"), step("exact:similarity=1")), (266, 0));
}

#[test]
fn labels_without_a_pair_are_refused() {
    let documents = DocumentsInMemory::read(&Texts::of(&["a"]), None, 1, &NoProgress).unwrap();
    let empty = Labels { path: Path::new("t.tsv"), bytes: b"", format: TruthFormat::Pairs };
    let error = Labelled::new("set", documents, empty, None).unwrap_err().to_string();
    assert!(error.starts_with("truth t.tsv: holds no pair"), "{error}");
}

#[test]
fn a_sample_of_everything_says_what_is_so() {
    let texts = texts(90);
    let corpus = Texts::of(&texts);
    for text in [
        "simhash:max_distance=12,shingle=words:2",
        "simhash:max_distance=20,verify=0.5,shingle=words:2",
        "exact:similarity=0.6,shingle=words:2",
        "exact:similarity=cosine:0.6,shingle=words:2",
        "exact:similarity=containment:0.6,shingle=words:2,weight=idf",
        "simhash:max_distance=20,verify=0.4,verify_weight=idf,shingle=words:2",
    ] {
        let named = &NamedMethod::parse_list(text).unwrap()[0];
        let similarity = Threshold::new(1, 2).unwrap();
        let settings = SampleSettings { size: 1000, seed: 1, similarity: Some(similarity) };
        let run = |threads| {
            estimate_by_sample(&corpus, named, settings, &resources(threads), &NoProgress)
                .unwrap()
                .0
        };
        let found = run(1);
        assert_eq!((found.sample, found.documents), (90, 90));
        let mut hits = 0;
        let mut truth = 0;
        let mut all = 0;
        let obvious = Obvious::new(&named.method, &texts);
        for a in 0..texts.len() {
            for b in (0..texts.len()).filter(|&b| b != a) {
                let similarity_of_pair = obvious.similarity([a, b], similarity);
                let is_true = similarity_of_pair
                    .is_some_and(|similarity_of_pair| similarity.holds(similarity_of_pair));
                let own = own_step(&named.method, 400);
                let is_found = obvious.step([a, b]).is_some_and(|step| step <= own);
                (hits, truth, all) = (
                    hits + u64::from(is_true && is_found),
                    truth + u64::from(is_true),
                    all + u64::from(is_found),
                );
            }
        }
        assert!(truth > 3, "{truth}");
        assert_eq!((found.recall.hits, found.recall.partners), (hits, truth), "{text}");
        assert_eq!((found.precision.hits, found.precision.partners), (hits, all), "{text}");
        assert!(found.recall.standard_error.abs() < 1e-12);
        let again = run(3);
        assert_eq!((again.recall, again.precision), (found.recall, found.precision));
    }
    let named = &NamedMethod::parse_list("exact").unwrap()[0];
    let settings = SampleSettings { size: 50, seed: 1, similarity: None };
    let (found, _) =
        estimate_by_sample(&corpus, named, settings, &resources(2), &NoProgress).unwrap();
    // If the method itself defines the true pairs, it misses none.
    assert_eq!((found.sample, found.recall.hits), (50, found.recall.partners));
}
