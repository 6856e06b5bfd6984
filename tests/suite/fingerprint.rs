//! `simtool fingerprint` writes files that `join` and `search` read.

use crate::program::Folder;
use std::collections::BTreeSet;
use std::fs;

/// A document with a known fingerprint of 64 bits, a blank document, and a bad line.
const ROSE: &str = "{\"id\":\"rose\",\"text\":\"a rose is a rose is a rose\"}\n\
                    {\"id\":\"none\",\"text\":\"   \"}\n\
                    {\"id\":\"bad\",\"text\":7}\n\
                    {\"text\":\"a rose is a rose is a rose\"}\n";
const ROSE_64: &str = "cc71252b5aa76984";

/// Builds documents of 60 words. Each differs from an earlier one in one word, or equals it.
fn documents() -> String {
    let mut state = 7u64;
    let mut below = |end: u64| {
        state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (state >> 33) % end
    };
    let mut texts: Vec<Vec<u64>> = Vec::new();
    for number in 0..300 {
        let mut text: Vec<u64> = match number % 4 {
            0 => (0..60).map(|_| below(5000)).collect(),
            _ => texts[below(number) as usize].clone(),
        };
        if number % 4 > 1 {
            text[below(60) as usize] = below(5000);
        }
        texts.push(text);
    }
    let lines = texts.iter().enumerate().map(|(row, text)| {
        let words: Vec<String> = text.iter().map(|word| format!("w{word}")).collect();
        let words = if row % 50 == 49 { String::new() } else { words.join(" ") };
        format!("{{\"id\":\"{row}\",\"text\":\"{words}\"}}\n")
    });
    lines.collect()
}

/// Returns the value of a field of a JSON object, without quotes.
fn value<'j>(json: &'j str, field: &str) -> &'j str {
    let (_, rest) = json.split_once(&format!("\"{field}\":")).unwrap();
    rest.split([',', '}']).next().unwrap().trim_matches('"')
}

#[test]
fn every_form_holds_the_same_rows_and_bad_records_are_named() {
    let folder = Folder::empty().with("in.jsonl", ROSE);
    let run = |arguments: &str| folder.run_words(arguments);
    let printed = run("fingerprint in.jsonl --output -");
    assert_eq!(printed.code, 3, "{}", printed.err);
    let line = |id: &str, record: u32, fingerprint: &str| {
        format!(
            "{{\"id\":\"{id}\",\"file\":\"in.jsonl\",\"record\":{record},\
             \"fingerprint\":{fingerprint}}}\n"
        )
    };
    let rose = format!("\"{ROSE_64}\"");
    let lines = [line("rose", 0, &rose), line("none", 1, "null"), line("in.jsonl:3", 3, &rose)];
    assert_eq!(printed.out, lines.concat());
    let expected = "[json] \"in.jsonl\" byte 77: record 2: expected a string in the field \"text\"";
    assert!(printed.err.contains(expected), "{}", printed.err);
    assert!(
        printed.err.contains("3 documents, 1 without words; 1 bad record\n"),
        "{}",
        printed.err
    );

    let mut forms = vec!["f.txt", "f.hex", "f.jsonl", "f.simtool", "f"];
    if cfg!(feature = "parquet") {
        forms.push("f.parquet");
    }
    for form in forms {
        let written = run(&format!("fingerprint in.jsonl --output {form} --quiet"));
        assert_eq!((written.code, written.out.as_str()), (3, ""), "{form}: {}", written.err);
        for command in ["join", "search --queries f.txt"] {
            let joined = run(&format!("{command} {form} --rows"));
            let expected = if command.starts_with("join") {
                "0\t2\t0\n"
            } else {
                "0\t0\t0\n0\t2\t0\n2\t0\t0\n2\t2\t0\n"
            };
            assert_eq!((joined.code, joined.out.as_str()), (0, expected), "{form}: {}", joined.err);
        }
    }
    assert_eq!(fs::read_to_string(folder.path("f.jsonl")).unwrap(), printed.out);
    let text = format!("{ROSE_64}\n\n{ROSE_64}\n");
    assert_eq!(fs::read_to_string(folder.path("f.txt")).unwrap(), text);
    // The lower half of 128 bits is the fingerprint of 64.
    let wide = run("fingerprint in.jsonl --output - -q --method simhash:bits=128");
    assert!(value(&wide.out, "fingerprint").ends_with(ROSE_64), "{}", wide.out);
    assert_eq!(value(&wide.out, "fingerprint").len(), 32);
}

#[test]
fn arrays_have_every_row_or_there_is_none() {
    let folder =
        Folder::empty().with("in.jsonl", ROSE).with("one.txt", "a rose is a rose is a rose");
    let run = |arguments: &str| folder.run_words(arguments);
    let refused = run("fingerprint in.jsonl --output f.npy");
    // The fault is reported as soon as the row is met, not after all rows are made.
    assert_eq!(refused.code, 1, "{}", refused.err);
    let rule =
        "a document \"none\" of in.jsonl: it has no words and no fingerprint, for which an array";
    assert!(refused.err.contains(rule), "{}", refused.err);
    assert!(!folder.path("f.npy").exists());
    assert_eq!(run("fingerprint one.txt one.txt --output f.npy -q").code, 0);
    let array = fs::read(folder.path("f.npy")).unwrap();
    let number = u64::from_str_radix(ROSE_64, 16).unwrap().to_le_bytes();
    assert!(array.len() == 136 && array.ends_with(&number));
    assert_eq!(
        run("fingerprint one.txt in.jsonl --output g.npy --method simhash:bits=128").code,
        1
    );
    assert_eq!(run("fingerprint one.txt --output g.npy -q --method simhash:bits=128").code, 0);
    let array = fs::read(folder.path("g.npy")).unwrap();
    assert!(array.len() == 144 && array[128..].starts_with(&number));
}

#[test]
fn a_packed_file_that_changed_is_not_joined() {
    let folder = Folder::empty().with("in.jsonl", ROSE);
    assert_eq!(folder.run(&["fingerprint", "in.jsonl", "--output", "f", "-q"]).code, 3);
    let mut bytes = fs::read(folder.path("f")).unwrap();
    let rose = u64::from_str_radix(ROSE_64, 16).unwrap().to_le_bytes();
    let at = bytes.windows(8).position(|word| word == rose).unwrap();
    bytes[at + 3] ^= 1;
    fs::write(folder.path("f"), bytes).unwrap();
    let joined = folder.run(&["join", "f"]);
    assert_eq!((joined.code, joined.out.as_str()), (1, ""));
    let expected = "expected rows that agree with their checksum; the file is damaged";
    assert!(joined.err.contains(expected), "{}", joined.err);
}

#[test]
fn wrong_settings_write_nothing() {
    let folder = Folder::empty().with("in.jsonl", ROSE);
    let run = |arguments: &str| folder.run_words(arguments);
    let refused = |arguments: &str, expected: &str| {
        let run = run(arguments);
        assert_eq!(run.code, 2, "{arguments}");
        assert!(run.err.contains(expected), "{}", run.err);
    };
    refused(
        "fingerprint in.jsonl --output f --method simhash:bits=32",
        "--method simhash:bits=32: must be 64, 128, 256 or 512",
    );
    refused("fingerprint in.jsonl --output f --shingle lines:2", "--shingle");
    refused("fingerprint in.jsonl --output in.jsonl", "is the input in.jsonl");
    for name in ["n.csv", "n.json", "n.f.gz"] {
        let rule = format!("--output {name}: must end in one of .f, .npy, .parquet, .jsonl, .txt");
        refused(&format!("fingerprint in.jsonl --output {name}"), &rule);
        assert!(!folder.path(name).exists());
    }
    refused("fingerprint --output f", "PATH");
    assert_eq!(run("fingerprint none.jsonl --output f").code, 1);
    assert!(!folder.path("f").exists());
    assert_eq!(fs::read_to_string(folder.path("in.jsonl")).unwrap(), ROSE);
}

#[test]
fn a_join_of_the_file_has_the_pairs_of_the_collection() {
    let folder = Folder::empty().with("in.jsonl", documents());
    let run = |arguments: &str| {
        let run = folder.run_words(arguments);
        assert_eq!(run.code, 0, "{arguments}: {}", run.err);
        run.out
    };
    for (method, distance) in [
        ("simhash:bits=64", 3),
        ("simhash:bits=64", 9),
        ("simhash:bits=128", 12),
        ("simhash:bits=64,weight=tf-idf --shingle 1", 9),
        ("minhash", 300),
        ("minhash:lanes=28", 200),
        ("minhash:measure=jaccard,hashing=classical,lanes=128,bits=32", 60),
        ("multi-lexicon:votes=3", 9),
        ("multi-lexicon:votes=sum,lexicon_bits=shared", 60),
        ("i-match:lexicons=20,lexicon_share=0.2,least_terms=2,idf_band=0-1", 20),
    ] {
        let name = format!("{}-{distance}", method.replace([' ', ':', ',', '='], ""));
        let method = format!("--method {method}");
        run(&format!("fingerprint in.jsonl {method} --output {name}.f -j 1"));
        let joined = run(&format!("join {name}.f -k {distance}"));
        run(&format!("dedup in.jsonl {method} -k {distance} --pairs --output {name}"));
        let pairs = fs::read_to_string(folder.path(&name).join("pairs.jsonl")).unwrap();
        let numbers = |pair: &str| -> [u32; 3] {
            ["a_id", "b_id", "distance"].map(|field| value(pair, field).parse().unwrap())
        };
        let mut pairs: Vec<[u32; 3]> = pairs.lines().map(numbers).collect();
        pairs.sort_unstable();
        let numbers = |line: &str| -> Vec<u32> {
            line.split('\t').map(|number| number.parse().unwrap()).collect()
        };
        let joined: Vec<Vec<u32>> = joined.lines().map(numbers).collect();
        assert_eq!(joined, pairs, "{name}");
        assert!(joined.len() > 50, "{name}: {}", joined.len());
        // The number of threads does not matter.
        run(&format!("fingerprint in.jsonl {method} --output again.f -j 3 --force"));
        let files = [format!("{name}.f"), "again.f".into()].map(|file| folder.path(&file));
        assert!(fs::read(&files[0]).unwrap() == fs::read(&files[1]).unwrap());
    }
}

#[test]
fn bands_find_the_fraction_they_promise() {
    let folder = Folder::empty().with("in.jsonl", documents());
    let pairs = |recall: &str| {
        let out = recall;
        let method = format!("minhash:recall={recall}");
        let line = format!("dedup in.jsonl --method {method} -k 300 --pairs --output o{out}");
        let run = folder.run_words(&line);
        assert_eq!(run.code, 0, "{line}: {}", run.err);
        let pairs =
            fs::read_to_string(folder.path(&format!("o{out}")).join("pairs.jsonl")).unwrap();
        (pairs.lines().map(str::to_owned).collect::<BTreeSet<_>>(), run.err)
    };
    let (all, _) = pairs("1");
    for (recall, least) in [("0.98", 0.98), ("0.5", 0.5)] {
        let (found, message) = pairs(recall);
        assert!(found.is_subset(&all));
        assert!(found.len() as f64 >= all.len() as f64 * least, "{} of {}", found.len(), all.len());
        assert!(message.contains("bands and misses some pairs"), "{message}");
    }
}

#[test]
fn statistics_show_the_time_of_each_step() {
    let folder = Folder::empty().with("in.txt", "a rose is a rose");
    let run = folder.run(&["fingerprint", "in.txt", "--output", "a.f", "-q", "--stats"]);
    assert_eq!(run.code, 0, "{}", run.err);
    for stage in ["read and fingerprint", "write", "peak memory"] {
        assert!(run.err.contains(stage), "{}", run.err);
    }
}
