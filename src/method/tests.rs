use super::*;
use proptest::prelude::*;

fn refused(text: &str) -> String {
    text.parse::<Method>().unwrap_err().to_string()
}

proptest! {
    #[test]
    fn a_method_is_read_as_it_is_shown(
        rows in any::<bool>(), words in proptest::option::of(1..10_000u32), wide in any::<bool>(),
        distance in 0..32u32, similarity in 1..=100u32, verify in any::<bool>(),
        idf in any::<bool>(), shingle in prop_oneof![
            "(words|ascii):[1-9]", "chars:[1-9]", "words:2,stop_words=(english|chinese)",
        ],
        weighting in prop_oneof![
            "", ",weight=(binary|log-tf|idf|tf-idf|log-tf-idf|levels)(,top=[1-9]0)?",
            ",top=200,idf_band=0[.][1-4]-0[.][5-9]",
        ],
    ) {
        let similarity = format!("0.{similarity:03}");
        let weight = if idf { ",weight=idf" } else { "" };
        let mut text = format!("exact:similarity={similarity},shingle={shingle}{weight}");
        if rows {
            let weighting = if words.is_some() { "" } else { &weighting };
            let shingle = match words {
                Some(_) => shingle.split(',').next().unwrap_or_default(),
                None => &shingle,
            };
            let words = words.map_or(String::new(), |words| format!("words={words},"));
            let bits = if wide { 128 } else { 64 };
            let weight = if idf { "verify_weight=idf," } else { "" };
            let verify =
                if verify { format!("verify={similarity},{weight}") } else { String::new() };
            text = format!(
                "simhash:{words}bits={bits},max_distance={distance},{verify}shingle={shingle}\
                 {weighting}"
            );
        }
        let method: Method = text.parse().unwrap();
        prop_assert_eq!(method.to_string(), text);
    }
}

#[test]
fn what_is_not_given_has_a_default() {
    for (text, whole) in [
        ("exact", "exact:similarity=0.8,shingle=words:3"),
        ("exact:weight=binary", "exact:similarity=0.8,shingle=words:3"),
        ("simhash", "simhash:bits=64,max_distance=3,shingle=words:3"),
        (
            "minhash",
            "minhash:lanes=124,bits=4,hashing=one-permutation,measure=cosine,max_distance=100,\
             shingle=chars:7",
        ),
        (
            "minhash:bits=8,lanes=16,similarity=1/2,hashing=classical,measure=jaccard",
            "minhash:lanes=16,bits=8,hashing=classical,measure=jaccard,max_distance=7,\
             shingle=chars:7",
        ),
        (
            "minhash:recall=0.98,verify=0.8",
            "minhash:lanes=124,bits=4,hashing=one-permutation,measure=cosine,max_distance=100,\
             recall=0.98,verify=0.8,shingle=chars:7",
        ),
        (
            "multi-lexicon:votes=sum",
            "multi-lexicon:lexicons=8,lexicon_share=0.5,votes=sum,lexicon_bits=own,\
             max_distance=3,shingle=words:2,weight=binary",
        ),
        (
            "i-match:lexicons=10",
            "i-match:lexicons=10,lexicon_share=0.7,least_terms=5,least_share=0.1,\
             max_distance=10,shingle=words:1,idf_band=0.2-0.8",
        ),
        ("simhash:words=5", "simhash:words=5,bits=64,max_distance=3,shingle=words:3"),
    ] {
        assert_eq!(text.parse::<Method>().unwrap().to_string(), whole);
        assert_eq!(whole.parse::<Method>().unwrap().to_string(), whole);
    }
    assert_eq!(Method::default().to_string(), "exact:similarity=0.8,shingle=words:3");
}

#[test]
fn a_recall_is_reported_where_bands_miss_some() {
    let means = |text: &str| text.parse::<Method>().unwrap().distance_means().unwrap();
    let bands = means("minhash:measure=jaccard,recall=0.98");
    assert!(
        bands.contains("misses some pairs: of the pairs at distance 24, it finds 98."),
        "{bands}"
    );
    assert!(!means("minhash").contains("bands"));
    // If few bits may differ, a search that misses nothing costs no more than bands.
    assert!(!means("simhash:max_distance=1,recall=0.99999").contains("bands"));
}

#[test]
fn options_of_other_methods_and_unknown_ones_are_refused() {
    let of_rows = "simhash, multi-lexicon, minhash, i-match";
    assert_eq!(
        refused("exact:bits=64"),
        "method exact:bits=64: works only with `method` simhash, minhash"
    );
    let goes = "works only with `method` exact, minhash";
    assert_eq!(refused("simhash:similarity=0.5"), format!("similarity 0.5: {goes}"));
    assert_eq!(
        refused("exact:verify=0.5"),
        format!("verify 0.5: works only with `method` {of_rows}")
    );
    let goes = format!("works only with `method` {of_rows}");
    assert_eq!(refused("exact:top=5"), format!("method exact:top=5: {goes}"));
    let goes = "works only with `method` exact, simhash, multi-lexicon";
    assert_eq!(refused("minhash:weight=idf"), format!("method minhash:weight=idf: {goes}"));
    let rule = "must be binary or idf, because a set contains each of its terms once";
    assert_eq!(refused("exact:weight=tf"), format!("method exact:weight=tf: {rule}"));
    assert_eq!(
        refused("simhash:verify=1,verify_weight=2"),
        format!("method simhash:verify_weight=2: {rule}")
    );
    assert_eq!(
        refused("simhash:verify_weight=idf"),
        "method simhash:verify_weight=idf: needs `verify`"
    );
    assert_eq!(
        refused("simhash:words=7,top=9"),
        "method simhash:top=9: cannot be used with 7 most frequent words"
    );
    assert_eq!(
        refused("simhash:words=7,stop_words=none"),
        "stop_words none: cannot be used with 7 most frequent words"
    );
    assert_eq!(refused("exact:colour=red"), "options colour=red: exact has no such option");
    assert_eq!(refused("magic"), format!("method magic: must be one of exact, covered, {of_rows}"));
    let both = "cannot be combined with `max_distance`, because both set the limit";
    let refusal = format!("similarity 1/2: {both}");
    assert_eq!(refused("minhash:similarity=1/2,max_distance=3"), refusal);
    let refused = refused("simhash:max_distance=32");
    assert!(refused.starts_with("max_distance 32: would match unrelated documents"), "{refused}");
}

#[test]
fn recipes_name_all_that_rows_depend_on_and_tell_where_they_differ() {
    let recipe = |text: &str| text.parse::<Method>().unwrap().recipe().clone();
    let simhash = recipe("simhash");
    assert!(simhash.to_string().starts_with("simhash64/xxh3-64:0/words+minus:uax29@"));
    assert!(simhash.to_string().ends_with("/shingle=3/weight=tf/stop=none"));
    assert_eq!(simhash.difference(&recipe("simhash:max_distance=9")), None);
    let weighted = recipe("simhash:weight=tf-idf,top=200");
    assert!(weighted.to_string().ends_with("/shingle=3/weight=tf-idf/top=200/stop=none"));
    let difference = simhash.difference(&recipe("simhash:bits=128,shingle=words:5"));
    assert_eq!(difference.unwrap(), "simhash64 and simhash128, shingle=3 and shingle=5");
    let words = recipe("simhash:words=7,bits=16").to_string();
    assert!(words.starts_with("simhash16/table="), "{words}");
    assert!(words.contains("/ascii-letters/most-frequent=7/weight=tf/stop="), "{words}");
    assert!(recipe("exact").to_string().starts_with("jaccard/xxh3-64:0/words+minus:"));
    assert!(recipe("exact:weight=idf").to_string().ends_with("/shingle=3/weight=idf"));
}
