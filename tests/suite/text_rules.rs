//! Rules for texts: pieces that do not count with `--ignore`, and spellings that are equal with `--fold`.

use crate::program::Folder;
use serde_json::Value;
use std::fs;

/// Posts that differ only in a number, a link, a name, a time or an order.
const POSTS: [&str; 6] = [
    "@ann the order ORDER-17,3 of 12 apples left our store at 10:00, see https://a.b/x?y=1",
    "@bob the order ORDER-4,25 of -3.5 apples left our store at 23:59, see www.c.d/e",
    "the order of apples left our store at see",
    "the order of pears left our store at see",
    "12 2024-12-31",
    "7",
];
const ALL: [&str; 4] =
    ["--ignore", "numbers,links,mentions", "--ignore", "dates,re:ORDER-[0-9]{1,3},[0-9]+"];

fn posts() -> Folder {
    let line = |text: &&str| serde_json::json!({ "text": text }).to_string() + "\n";
    Folder::empty().with("posts.jsonl", POSTS.iter().map(line).collect::<String>())
}

/// Runs a command with options that follow its words, and returns its output.
fn run(folder: &Folder, words: &str, options: &[&str]) -> String {
    let arguments: Vec<&str> = words.split(' ').chain(options.iter().copied()).collect();
    let run = folder.run(&arguments);
    assert_eq!(run.code, 0, "{words}: {}", run.err);
    run.out
}

/// Returns the record numbers of the removed documents, and the summary.
fn removed(folder: &Folder, words: &str, options: &[&str]) -> (Vec<u64>, Value) {
    run(folder, &format!("{words} --force --output out"), options);
    let read = |name: &str| fs::read_to_string(folder.path(&format!("out/{name}"))).unwrap();
    let record = |line: &str| serde_json::from_str::<Value>(line).unwrap()["record"].as_u64();
    let removed = read("removed.jsonl").lines().map(|line| record(line).unwrap()).collect();
    (removed, serde_json::from_str(&read("summary.json")).unwrap())
}

#[test]
fn ignored_pieces_do_not_count_in_any_command() {
    let folder = posts();
    assert!(removed(&folder, "dedup posts.jsonl --similarity 1", &[]).0.is_empty());
    for method in
        ["exact --similarity 1", "simhash --verify 1", "minhash --verify 1 --shingle words:3"]
    {
        let (rows, summary) =
            removed(&folder, &format!("dedup posts.jsonl --lose 0 --method {method}"), &ALL);
        assert_eq!(rows, [1, 2], "{method}");
        // The last two texts have nothing left, and are kept.
        assert_eq!(summary["without_terms"], 2, "{summary}");
        let ignore = &summary["parameters"]["ignore"];
        assert_eq!(*ignore, "dates,links,mentions,numbers,re:ORDER-[0-9]{1,3},[0-9]+");
    }
    let why = run(&folder, "why out posts.jsonl:1", &[]);
    assert!(why.contains("0 of 9 words of the removed one") && !why.contains("ORDER-17"), "{why}");
    let compared = run(&folder, "compare out#posts.jsonl:0 out#posts.jsonl:1", &[]);
    assert!(compared.contains("similarity  1.0000"), "{compared}");
    let compared = run(&folder, "compare posts.jsonl:0 posts.jsonl:1 --json", &ALL);
    assert!(compared.contains("\"similarity\":1,\"distance\":0"), "{compared}");
    let texts = run(&folder, "text posts.jsonl", &ALL);
    let words = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = row["text"].as_str().unwrap();
        (
            text.replace(',', "").split_whitespace().collect::<Vec<_>>().join(" "),
            row["left_out"].as_u64(),
        )
    };
    let rows: Vec<_> = texts.lines().map(words).collect();
    assert_eq!((&rows[0], &rows[4]), (&(POSTS[2].to_owned(), Some(4)), &(String::new(), Some(2))));
}

#[test]
fn fingerprints_and_indexes_name_what_they_ignore() {
    let folder = posts();
    run(&folder, "index create seen.idx --ignore numbers,links,mentions", &ALL);
    run(&folder, "index add seen.idx posts.jsonl", &[]);
    let stat = run(&folder, "index stat seen.idx", &[]);
    assert!(stat.contains("ignore=dates,,links,,mentions,,numbers,,re:ORDER"), "{stat}");
    let new = folder
        .with("new.jsonl", "{\"text\":\"@eve the order of 99 apples left our store at see\"}\n");
    let found = run(&new, "index query seen.idx new.jsonl", &[]);
    assert!(found.starts_with("new.jsonl:0\tposts.jsonl:0\t"), "{found}");
    run(&new, "fingerprint posts.jsonl --output a.f --ignore numbers", &[]);
    run(&new, "fingerprint posts.jsonl --output b.f", &[]);
    let refused = new.run(&["search", "a.f", "--queries", "b.f"]);
    assert!(refused.code != 0 && refused.err.contains("ignore@1=numbers"), "{}", refused.err);
    let refused = new.run(&["8", "64", "--corpus", "posts.jsonl", "--ignore", "numbers"]);
    assert!(refused.err.contains("--ignore numbers: cannot be used with"), "{}", refused.err);
}

#[test]
fn folded_spellings_are_equal() {
    let texts =
        ["Un café à la crème brûlée", "UN CAFE\u{301} A LA CREME BRU-\nLEE", "un cafe sans"];
    let line = |text: &&str| serde_json::json!({ "text": text }).to_string() + "\n";
    let folder = Folder::empty().with("posts.jsonl", texts.iter().map(line).collect::<String>());
    let words = "dedup posts.jsonl --similarity 1";
    assert!(removed(&folder, words, &[]).0.is_empty());
    let (rows, summary) = removed(&folder, words, &["--fold", "hyphens,diacritics"]);
    assert_eq!((rows, &summary["parameters"]["fold"]), (vec![1], &"diacritics,hyphens".into()));
    let why = run(&folder, "why out posts.jsonl:1", &[]);
    assert!(why.contains("0 of 6 words of the removed one"), "{why}");
    let han = folder.run(&["text", "posts.jsonl", "--limit", "1", "--fold", "hans"]);
    assert!(han.err.contains("cyrillic-latin, diacritics, han, hyphens"), "{}", han.err);
    let text = run(&folder, "text posts.jsonl --limit 1 --fold diacritics", &[]);
    assert!(text.contains("Un cafe a la creme brulee"), "{text}");
    let refused = folder.run(&["passages", "posts.jsonl", "--fold", "diacritics"]);
    assert!(refused.code == 2 && refused.err.contains("--fold"), "{}", refused.err);
}

#[test]
fn passages_and_items_keep_their_bytes() {
    let passage = |number: u32| format!("of {number} apples in {number}0 boxes we sold all");
    let folder = Folder::empty()
        .with("a.txt", format!("First {}.", passage(1)))
        .with("b.txt", format!("Later 7 times: {} today", passage(23)))
        .with("item.txt", passage(456));
    let files = "a.txt b.txt --words 6";
    assert_eq!(run(&folder, &format!("passages {files}"), &[]), "");
    let found = run(&folder, &format!("passages {files} --ignore numbers"), &[]);
    let bytes: Vec<_> = found
        .lines()
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            [&row["byte_start"], &row["byte_end"]].map(|at| at.as_u64().unwrap() as usize)
        })
        .collect();
    let text = format!("Later 7 times: {} today", passage(23));
    assert_eq!(&text[bytes[1][0]..bytes[1][1]], passage(23));
    let items =
        "contamination item.txt --in b.txt --write-kept mask --output out --words 4 --share 1";
    run(&folder, items, &["--ignore", "numbers"]);
    let masked = fs::read_to_string(folder.path("out/kept/b.txt")).unwrap();
    assert_eq!(masked, "Later 7 times: [...] today");
}
