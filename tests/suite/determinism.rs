//! The program writes the same bytes with any number of threads, any memory and any instruction set.

use crate::program::{self, Folder};
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn neither_threads_nor_instruction_sets_nor_maps_change_a_byte() {
    let folder = Folder::empty();
    let generated = "generate --bytes 3M --samples 90 --seed 5 --with-tables --output .";
    assert_eq!(folder.run(&generated.split(' ').collect::<Vec<_>>()).code, 0);
    for bits in ["7", "64"] {
        let run = |isa: &str, threads: &str, more: &[&str]| {
            let arguments = [&["500", bits, "--threads", threads], more].concat();
            let finished = program::run(&folder.path(""), &arguments, &[("SIMTOOL_ISA", isa)]);
            assert_eq!((finished.code, finished.err.as_str()), (0, ""));
            (finished.out, folder.result().unwrap())
        };
        let expected = run("portable", "1", &[]);
        let (first, all) = &expected;
        assert!(all.starts_with(first.as_str()) && all.lines().count() > 90);
        for isa in ["portable", "avx2", "avx512", "unheard-of"] {
            for threads in ["1", "2", "3", "7", "16"] {
                assert!(
                    run(isa, threads, &[]) == expected,
                    "{isa}, {threads} threads, {bits} bits"
                );
            }
        }
        assert!(run("avx512", "0", &["SIMTOOL_NO_MMAP=true"]) == expected, "{bits} bits");
    }
}

/// Returns the names and bytes of all files of an output, except those that have times, memory or the request in them.
fn output_files(output: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    if output.is_file() {
        return vec![(PathBuf::new(), fs::read(output).unwrap())];
    }
    let mut files = Vec::new();
    let mut folders = vec![output.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !["summary.json", "request.json", "report.html"]
                .iter()
                .any(|name| path.ends_with(name))
            {
                let name = path.strip_prefix(output).unwrap().to_owned();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files.sort_unstable();
    files
}

#[test]
fn memory_never_changes_a_result() {
    let datasets = Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets");
    let (crawl, labelled) = (datasets.join("crawl"), datasets.join("labelled/docs.jsonl"));
    // Two equal documents of 1.5 MB, which once were too long for little memory.
    let words: Vec<String> = (0..200_000_u32).map(|n| n.wrapping_mul(77_777).to_string()).collect();
    let long = words.join(" ");
    let folder = Folder::empty().with("long.jsonl", format!("{{\"text\":\"{long}\"}}\n").repeat(2));
    let inputs = format!("{} {} long.jsonl", crawl.display(), labelled.display());
    for command in [
        "dedup INPUTS --pairs --write-kept",
        "dedup INPUTS --shingle chars:5 --annotate",
        "dedup INPUTS --method minhash --verify 0.8 --pairs",
        "dedup INPUTS --method simhash --write-kept",
        "dedup INPUTS --method i-match",
        "dedup INPUTS --method multi-lexicon",
        "dedup INPUTS --cluster components",
        "match long.jsonl --against INPUTS",
        "passages INPUTS --words 20 --write-kept",
        "contamination long.jsonl --in INPUTS --write-kept cut",
        "fingerprint INPUTS --method minhash",
    ] {
        let outputs = ["40M", "400M", "8G"].map(|memory| {
            let output = if command.starts_with("fingerprint") {
                format!("{memory}.parquet")
            } else {
                memory.to_owned()
            };
            let line = command.replace("INPUTS", &inputs);
            let run =
                folder.run_words(&format!("{line} -q --max-memory {memory} --output {output}"));
            assert_eq!(run.code, 0, "{line}: {}", run.err);
            let files = output_files(&folder.path(&output));
            let place = folder.path(&output);
            let removed =
                if place.is_dir() { fs::remove_dir_all(&place) } else { fs::remove_file(&place) };
            removed.unwrap();
            files
        });
        assert!(outputs[0] == outputs[1] && outputs[1] == outputs[2], "{command}");
    }
}
