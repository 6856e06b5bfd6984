//! `simtool audit` and receipts: clean runs hold, and each kind of forgery is named.

use crate::program::{Finished, Folder};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::fs;

/// Returns the words `name0` to `name39`, with some of them replaced.
fn text(name: &str, changed: &[usize]) -> String {
    let word = |at: usize| {
        if changed.contains(&at) { format!("other{name}{at}") } else { format!("{name}{at}") }
    };
    (0..40).map(word).collect::<Vec<_>>().join(" ")
}

/// Two files of JSON Lines: clusters of documents that differ in no word, in one, in two, and in some at the end, and
/// documents that are similar to no other document.
fn collection() -> Folder {
    let mut files = [String::new(), String::new()];
    for cluster in 0..12 {
        let name = ["tide", "moon", "sea", "sun", "star", "sky"][cluster % 6].to_owned()
            + &"x".repeat(cluster / 6);
        let texts = [
            text(&name, &[]),
            text(&name, &[39]),
            text(&name, &[0, 39]),
            text(&name, &[]),
            text(&format!("{name}alone"), &[]),
        ];
        for (at, text) in texts.into_iter().enumerate() {
            let (id, score) = (cluster * 5 + at, (cluster + 2 * at) % 5);
            let line = format!("{{\"id\":{id},\"score\":{score},\"text\":\"{text}\"}}\n");
            files[(cluster + at) % 2].push_str(&line);
        }
    }
    // All words of this document are in two other documents.
    let halves = ["tide", "moon"].map(|name| text(name, &[]));
    writeln!(files[1], "{{\"id\":900,\"text\":\"{}\"}}", halves.join(" ")).unwrap();
    // The words across the two are only here.
    let seam = halves.join(" ").split(' ').skip(33).take(14).collect::<Vec<_>>().join(" ");
    let own = text("seam", &[]);
    writeln!(files[1], "{{\"id\":901,\"text\":\"{seam} {own}\"}}").unwrap();
    Folder::empty().with("in/a.jsonl", &files[0]).with("in/b.jsonl", &files[1])
}

/// Runs `dedup in --receipt` with these settings.
fn dedup(folder: &Folder, settings: &str) {
    let run = folder.run_words(&format!("dedup in --receipt --output out --force -q {settings}"));
    assert_eq!(run.code, 0, "{settings}: {}", run.err);
}

fn audit(folder: &Folder) -> (Finished, Value) {
    let run = folder.run_words("audit out --json");
    let found = serde_json::from_str(&run.out).unwrap_or_default();
    (run, found)
}

/// Checks that all removals of the run hold, and returns their number.
fn assert_holds(folder: &Folder, settings: &str) -> u64 {
    let (run, found) = audit(folder);
    assert_eq!((run.code, &*run.err), (0, ""), "{settings}: {}", run.out);
    assert_eq!(found["hold"], found["removals"], "{settings}: {}", run.out);
    assert_eq!((&found["changed"], &found["not_checked"]), (&json!([]), &json!({})), "{settings}");
    found["removals"].as_u64().unwrap()
}

#[test]
fn all_removals_of_clean_runs_hold() {
    let folder = collection();
    for settings in [
        "--similarity 0.7",
        "--similarity 0.7 --output-format tsv",
        "--similarity 0.7 --output-format parquet --write-kept --annotate",
        "--similarity 0.7 --output-format ids",
        "--similarity containment:0.7 --keep longest",
        "--similarity 0.7 --lose 1",
        "--similarity 0.7 --within file --keep max:score,last",
        "--similarity 0.7 --across file --pairs",
        "--similarity 0.7 --keep-count 2",
        "--similarity 0.7 --threads 1 --max-memory 200M",
        "--method minhash",
        "--method minhash --verify 0.7",
        "--method simhash --max-distance 12",
        "--method simhash --max-distance 12 --verify 0.7 --shingle words:2",
        "--method covered",
        "--method covered --lose 0",
        "--method covered --lose 10% --keep longest --output-format parquet",
        "--method covered --within file --shingle words:3",
        "--method auto",
    ] {
        dedup(&folder, settings);
        let removals = assert_holds(&folder, settings);
        assert!(removals >= 12, "{settings}: {removals}");
    }
}

#[test]
fn what_depends_on_other_documents_is_counted_and_no_success() {
    let folder = collection();
    for (settings, reason) in [
        ("--similarity 0.93 --cluster components", "only other documents, or the decision"),
        ("--similarity 0.6 --method exact:weight=idf", "its similarity depends on all documents"),
        ("--method simhash:words=50 --max-distance 3", "its similarity depends on all documents"),
    ] {
        dedup(&folder, settings);
        let (run, found) = audit(&folder);
        assert_eq!(run.code, 3, "{settings}: {}", run.out);
        assert_eq!(found["failures"], json!([]), "{settings}");
        let reasons = found["not_checked"].as_object().unwrap();
        assert!(reasons.keys().any(|known| known.starts_with(reason)), "{settings}: {reasons:?}");
    }
}

#[test]
fn pages_without_the_lines_of_their_site_hold() {
    let mut pages = String::new();
    for page in 0..60 {
        let menu = "<p>Home News Sport Weather</p><p>Contact us or read the imprint</p>";
        // Every sixth page has the article of the page before it.
        let article = text(&format!("w{}x", page - usize::from(page % 6 == 5)), &[]);
        let more = text(&format!("m{}x", page - usize::from(page % 6 == 5)), &[]);
        let html = format!(
            "<html><head><title>Page {page}</title></head><body>{menu}<p>{article}</p><p>{more}</p></body></html>"
        );
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{html}");
        write!(
            pages,
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://site.example/{page}\r\n\
             Content-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
            http.len()
        )
        .unwrap();
    }
    let folder = Folder::empty().with("in/pages.warc", pages);
    for settings in ["--content all", "--content all --boilerplate 10"] {
        dedup(&folder, settings);
        let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
        assert!(!summary.contains("\"own_texts\": 0,"), "{settings}: no line was left out");
        assert!(assert_holds(&folder, settings) >= 10, "{settings}");
    }
    fs::remove_file(folder.path("in/pages.warc")).unwrap();
    let (run, found) = audit(&folder);
    assert_eq!((run.code, &found["hold"]), (3, &json!(0)), "{}", run.out);
    let reason = "the input in/pages.warc cannot be read";
    assert!(found["not_compared"].to_string().contains(reason), "{}", run.out);
}

#[test]
fn matches_hold_and_searches_are_refused() {
    let folder = collection();
    for settings in ["", "--method covered", "--method minhash --output-format parquet"] {
        let matched = format!(
            "match in/a.jsonl --against in/b.jsonl --receipt --output out --force -q {settings}"
        );
        let run = folder.run_words(matched.trim_end());
        assert_eq!(run.code, 0, "{settings}: {}", run.err);
        assert!(assert_holds(&folder, settings) > 5);
    }
    let run = folder.run_words("passages in --write-kept --output cut -q");
    assert_eq!(run.code, 0, "{}", run.err);
    let run = folder.run_words("audit cut");
    let expected = "cut has no removed documents: audit checks the outputs of dedup and match";
    assert!(run.code == 1 && run.err.contains(expected), "{}", run.err);
    let run = folder.run_words("dedup in --output bare -q");
    assert_eq!(run.code, 0);
    let run = folder.run_words("audit bare");
    assert!(run.code == 1 && run.err.contains("bare has no receipt.json"), "{}", run.err);
}

#[test]
fn receipts_do_not_depend_on_threads_and_their_hashes_are_those_of_their_definition() {
    let folder = collection();
    let settings = "--similarity 0.7 --write-kept --annotate --pairs";
    dedup(&folder, &format!("{settings} --threads 1"));
    let receipt = fs::read_to_string(folder.path("out/receipt.json")).unwrap();
    for more in ["--threads 2", "--threads 3 --max-memory 100M"] {
        dedup(&folder, &format!("{settings} {more}"));
        assert_eq!(fs::read_to_string(folder.path("out/receipt.json")).unwrap(), receipt, "{more}");
    }
    let receipt: Value = serde_json::from_str(&receipt).unwrap();
    let inputs = receipt["inputs"].as_array().unwrap();
    for input in inputs {
        let bytes = fs::read(folder.path(input["file"].as_str().unwrap())).unwrap();
        assert_eq!(input["sha256"], hex(&Sha256::digest(bytes).into()));
    }
    let names: Vec<&str> = receipt["outputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| o["file"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"removed.jsonl") && names.contains(&"kept/in/a.jsonl"), "{names:?}");
    assert!(!names.contains(&"summary.json") && names.is_sorted());
    assert_eq!(resealed(&folder, &receipt), receipt);
}

/// Returns a hash as hexadecimal digits.
fn hex(hash: &[u8; 32]) -> String {
    hash.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

/// Returns the root of a Merkle tree, as the guide defines it.
fn root(rows: &[Vec<u8>]) -> [u8; 32] {
    match rows {
        [] => Sha256::digest(b"").into(),
        [row] => Sha256::digest([&[0][..], row].concat()).into(),
        _ => {
            let left = (0..64).map(|level| 1 << level).take_while(|size| *size < rows.len()).last();
            let (left, right) = rows.split_at(left.unwrap());
            Sha256::digest([&[1][..], &root(left), &root(right)].concat()).into()
        }
    }
}

/// Returns a receipt with the Merkle roots of the present outputs. A person who forges an output would write such a
/// receipt, too.
fn resealed(folder: &Folder, receipt: &Value) -> Value {
    let mut receipt = receipt.clone();
    let mut leaves = Vec::new();
    for output in receipt["outputs"].as_array_mut().unwrap() {
        let name = output["file"].as_str().unwrap().to_owned();
        let bytes = fs::read(folder.path(&format!("out/{name}"))).unwrap();
        let is_of_lines = [".jsonl", ".tsv"].iter().any(|ending| name.ends_with(ending));
        let rows: Vec<Vec<u8>> = if is_of_lines {
            bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect()
        } else {
            vec![bytes.clone()]
        };
        (output["bytes"], output["rows"]) = (bytes.len().into(), rows.len().into());
        output["root"] = hex(&root(&rows)).into();
        leaves.push(format!("{name}\n{}", output["root"].as_str().unwrap()).into_bytes());
    }
    receipt["root"] = hex(&root(&leaves)).into();
    receipt
}

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path(name)).unwrap()
}

/// Edits a JSON file of the output.
fn edit(folder: &Folder, name: &str, change: impl FnOnce(&mut Value)) {
    let path = folder.path(&format!("out/{name}"));
    let mut json: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut json);
    fs::write(path, json.to_string()).unwrap();
}

/// Makes the receipt fit to the outputs again.
fn reseal(folder: &Folder) {
    let receipt = serde_json::from_str(&read(folder, "out/receipt.json")).unwrap();
    let receipt = resealed(folder, &receipt).to_string();
    fs::write(folder.path("out/receipt.json"), receipt).unwrap();
}

/// Checks that the audit fails for these reasons: the beginnings of all sentences about files, and parts of the reasons
/// of all wrong rows.
fn assert_fails(folder: &Folder, changed: &[&str], wrong: &[&str]) {
    let (run, found) = audit(folder);
    assert_eq!(run.code, 1, "{}", run.out);
    let sentences = found["changed"].as_array().unwrap();
    assert_eq!(sentences.len(), changed.len(), "{sentences:?}");
    for (sentence, expected) in sentences.iter().zip(changed) {
        assert!(sentence.as_str().unwrap().starts_with(expected), "{sentence}: {expected}");
    }
    let failures = found["failures"].as_array().unwrap();
    assert_eq!(failures.len(), wrong.len(), "{failures:?}");
    for (failure, expected) in failures.iter().zip(wrong) {
        assert!(failure["reasons"].to_string().contains(expected), "{failure}: {expected}");
    }
}

/// A finished run in which the documents with one and two other words were removed, too.
fn finished() -> Folder {
    let folder = collection();
    dedup(&folder, "--similarity 0.7");
    folder
}

#[test]
fn changed_rows_are_found_by_the_receipt_and_by_the_texts() {
    let folder = finished();
    let path = folder.path("out/removed.jsonl");
    let rows = fs::read_to_string(&path).unwrap();
    let row = rows.lines().find(|row| row.contains("\"lost_words\":1,")).unwrap();
    let json: Value = serde_json::from_str(row).unwrap();
    let forged = row.replace("\"similarity\":0.9", "\"similarity\":0.99");
    assert_ne!(forged, row);
    fs::write(&path, rows.replace(row, &forged)).unwrap();
    let similarity = "the similarity of the texts is 0.9";
    assert_fails(&folder, &["the output removed.jsonl was changed"], &[similarity]);
    // If the receipt is forged, too, the texts show that the row is wrong.
    reseal(&folder);
    assert_fails(&folder, &[], &[similarity]);
    let text = folder.run_words("audit out").out;
    let name = format!("{} ({}:{})", json["id"], json["file"].as_str().unwrap(), json["record"]);
    assert!(text.contains(&format!("wrong        {name}, removed for ")), "{text}");
    // A number of lost words is checked, too.
    let lost = row.replace("\"lost_words\":1", "\"lost_words\":0");
    assert_ne!(lost, row);
    fs::write(&path, rows.replace(row, &lost)).unwrap();
    reseal(&folder);
    assert_fails(&folder, &[], &["the number of lost words of the texts is 1, and the row has 0"]);
    // The two documents change places.
    let swapped = json!({
        "id": json["kept_id"], "file": json["kept_file"], "record": json["kept_record"],
        "kept_id": json["id"], "kept_file": json["file"], "kept_record": json["record"],
        "similarity": json["similarity"], "distance": null, "lost_words": null,
    });
    fs::write(&path, rows.replace(row, &swapped.to_string())).unwrap();
    reseal(&folder);
    let (_, found) = audit(&folder);
    let reasons = found["failures"].to_string();
    assert!(
        reasons.contains("by the rules that choose the kept document, it would stay"),
        "{reasons}"
    );
    assert!(reasons.contains("is removed by another row"), "{reasons}");
}

#[test]
fn rows_that_were_added_are_found() {
    let folder = finished();
    let path = folder.path("out/removed.jsonl");
    let rows = fs::read_to_string(&path).unwrap();
    let counted = "there are 37 removals, and 36 in receipt.json";
    let row = |id: u64, file: &str, record: u64| {
        format!(
            "{{\"id\":{id},\"file\":\"{file}\",\"record\":{record},\"kept_id\":0,\"kept_file\":\"in/a.jsonl\",\
             \"kept_record\":0,\"similarity\":0.9,\"distance\":null,\"lost_words\":0}}\n"
        )
    };
    // Document 4 is similar to no other document.
    assert!(read(&folder, "in/a.jsonl").lines().nth(2).unwrap().starts_with("{\"id\":4,"));
    fs::write(&path, rows.clone() + &row(4, "in/a.jsonl", 2)).unwrap();
    let unlike = "no near-duplicates by the settings of the run: they share 0 of 76 shingles";
    assert_fails(&folder, &[counted, "the output removed.jsonl was changed"], &[unlike]);
    reseal(&folder);
    assert_fails(&folder, &[counted], &[unlike]);
    // A document that does not exist, or has another ID, and one that is removed twice.
    for (added, reason) in [
        (row(4, "in/a.jsonl", 999), "record 999 of in/a.jsonl is no document of the run"),
        (row(5, "in/a.jsonl", 2), "record 2 of in/a.jsonl has the ID \\\"4\\\", not \\\"5\\\""),
    ] {
        fs::write(&path, rows.clone() + &added).unwrap();
        reseal(&folder);
        assert_fails(&folder, &[counted], &[reason]);
    }
    let first = format!("{}\n", rows.lines().next().unwrap());
    fs::write(&path, format!("{rows}{first}")).unwrap();
    reseal(&folder);
    assert_fails(&folder, &[counted], &["several rows remove it", "several rows remove it"]);
}

#[test]
fn changed_inputs_and_outputs_are_named() {
    let folder = finished();
    let input = read(&folder, "in/b.jsonl");
    fs::write(folder.path("in/b.jsonl"), input.replace("tide7 ", "tide9 ")).unwrap();
    let (run, found) = audit(&folder);
    assert_eq!(run.code, 1);
    let changed = found["changed"].to_string();
    assert!(changed.contains("the input in/b.jsonl was changed: it has "), "{changed}");
    assert!(found["fail"].as_u64().unwrap() > 0, "{}", run.out);
    // A missing file does not prove that a row is right or wrong.
    fs::remove_file(folder.path("in/b.jsonl")).unwrap();
    let (run, found) = audit(&folder);
    assert_eq!(run.code, 3, "{}", run.out);
    let gone = "the input in/b.jsonl cannot be read";
    assert_eq!(found["not_compared"], json!([gone]));
    let (unchecked, hold) = (&found["not_checked"][gone], &found["hold"]);
    let sum = unchecked.as_u64().unwrap() + hold.as_u64().unwrap();
    assert!(sum == 36 && *hold != 36, "{}", run.out);
    fs::write(folder.path("in/b.jsonl"), input).unwrap();
    assert_holds(&folder, "as before");
    fs::remove_file(folder.path("out/clusters.jsonl")).unwrap();
    fs::write(folder.path("out/more.jsonl"), "{}\n").unwrap();
    let (run, found) = audit(&folder);
    assert_eq!(run.code, 1);
    assert_eq!(found["changed"], json!(["the output more.jsonl is not in the receipt"]));
    assert_eq!(found["not_compared"], json!(["the output clusters.jsonl is not in the folder"]));
}

#[test]
fn a_receipt_of_other_settings_is_found() {
    let folder = finished();
    let receipt = read(&folder, "out/receipt.json");
    let restore = || fs::write(folder.path("out/receipt.json"), &receipt).unwrap();
    edit(&folder, "receipt.json", |receipt| {
        receipt["recipe"] = "jaccard/other".into();
        receipt["counts"]["kept"] = 3.into();
    });
    let recipes = [
        "the recipe in receipt.json is not that in summary.json",
        "the recipe in receipt.json is not that of its method, jaccard/",
        "the count of kept in receipt.json is not that in summary.json",
    ];
    assert_fails(&folder, &recipes, &[]);
    restore();
    edit(&folder, "receipt.json", |receipt| receipt["settings"][0][1] = "1/2".into());
    assert_fails(&folder, &["the similarity 1/2 in receipt.json is not that of request.json"], &[]);
    restore();
    // If all files claim that the run was stricter, the rows show that it was not.
    for name in ["receipt.json", "request.json"] {
        edit(&folder, name, |json| {
            let options = json["options"].as_array_mut().unwrap();
            let lose = if name == "receipt.json" {
                json!(["lose", "0"])
            } else {
                json!({"name": "lose", "value": "0", "origin": "argument"})
            };
            options.push(lose);
        });
    }
    let (run, found) = audit(&folder);
    assert_eq!((run.code, &found["changed"]), (1, &json!([])), "{}", run.out);
    let reasons = found["failures"].to_string();
    assert!(
        reasons.contains("its removal loses 1 word, which is more than the run allows"),
        "{reasons}"
    );
    assert!(reasons.contains("its removal loses 2 words"), "{reasons}");
}

#[test]
fn samples_are_random_and_have_an_interval() {
    let folder = finished();
    let sampled = |seed: u64| {
        let run = folder.run_words(&format!("audit out --sample 10 --seed {seed}"));
        assert_eq!((run.code, &*run.err), (0, ""));
        run.out
    };
    let expected = "\
outputs      3 of 3 files as in the receipt
inputs       2 of 2 files read again, as in the receipt
removals     36, 10 of them checked, by the seed 3
hold         10; of all removals, 72.24 % to 100 % hold, with a confidence of 95 %
do not hold  0
";
    assert_eq!(sampled(3), expected);
    // A forged row is in some samples, and not in others.
    let path = folder.path("out/removed.jsonl");
    let rows = fs::read_to_string(&path).unwrap();
    fs::write(&path, rows.replacen("\"lost_words\":1", "\"lost_words\":0", 1)).unwrap();
    reseal(&folder);
    let codes: Vec<i32> = (0..20)
        .map(|seed| folder.run_words(&format!("audit out --sample 10 --seed {seed}")).code)
        .collect();
    let found = codes.iter().filter(|code| **code == 1).count();
    assert!((1..=14).contains(&found), "{codes:?}");
    let run = folder.run_words("audit out --sample 0");
    assert!(run.code == 2 && run.err.contains("--sample 0: must be"), "{}", run.err);
}
