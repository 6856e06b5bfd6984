//! Options that users of similar programs guess, and the options of simtool that do the same.

/// Names that users guess for options that have other names here, and advice for each group of names.
const GUESSED: &[(&[&str], &str)] = &[
    (
        &["threshold", "jaccard-threshold", "similarity-threshold", "thresh", "min-similarity"],
        "--similarity S is the minimum similarity, and --max-distance K the maximum distance of fingerprints",
    ),
    (
        &["ngram", "ngrams", "ngram-size", "n-gram", "shingle-size", "shingles", "num-ngrams"],
        "--shingle sets the shingles, for example --shingle words:5 or --shingle chars:7",
    ),
    (
        &["num-perm", "num-perms", "num-permutations", "permutations", "perms", "num-hashes"],
        "--method minhash has lanes instead of permutations, and --lanes N sets their number",
    ),
    (
        &["num-bands", "bands", "rows-per-band"],
        "bands are chosen for you: --recall PART sets the share of pairs that they find",
    ),
    (
        &["seed", "hash-seed", "random-state", "random-seed"],
        "hash functions are fixed, so that equal inputs always give equal results",
    ),
    (
        &["id", "id-column", "id-key", "doc-id"],
        "--id-field NAME names the field or column of the ID",
    ),
    (
        &["text", "text-column", "text-key", "column", "field", "content-key"],
        "--text-field NAME names the field or column of the text",
    ),
    (
        &["checkpoint", "continue"],
        "--resume stores what was read, and the same command goes on from there",
    ),
    (
        &["jobs", "workers", "num-workers", "num-proc", "processes", "cores", "num-threads"],
        "--threads N sets the number of threads",
    ),
    (
        &["memory", "mem", "ram", "memory-limit"],
        "--max-memory SIZE limits the memory, for example --max-memory 2G",
    ),
    (&["batch-size", "chunk-size"], "there are no batches: --max-memory SIZE limits the memory"),
    (
        &["out", "output-dir", "output-folder", "outdir", "save-to", "destination"],
        "--output PATH names the file or folder to write",
    ),
    (&["overwrite", "replace"], "--force replaces an output that exists"),
    (&["ignore", "skip", "without"], "--exclude GLOB leaves out files of a folder"),
    (&["include", "pattern"], "--glob GLOB reads only some files of a folder"),
    (
        &["newest", "keep-newest", "longest", "keep-longest", "keep-first", "keep-last"],
        "--keep chooses the kept document, for example --keep newest",
    ),
    (
        &["labels", "ground-truth", "gold", "pairs-file"],
        "`simtool eval` reads the pairs of near-duplicates with --truth FILE",
    ),
    (
        &["group-by", "group", "partition-by", "per"],
        "--within FIELD compares only documents with the same value of a field",
    ),
    (
        &["new", "old", "reference", "query"],
        "`simtool match` takes the new documents first, and the others behind --against",
    ),
    (&["lang", "language"], "--stop-words and --tokenizer choose the words of a language"),
];

/// Returns advice for an option with this name, without its dashes. Returns `None` if nobody is known to guess
/// it.
pub(crate) fn advice(name: &str) -> Option<&'static str> {
    // A name that only resembles an option is left to the parser, which suggests similar names.
    let guessed = GUESSED.iter().find(|(names, _)| names.contains(&name));
    guessed.map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use crate::console;
    use clap::CommandFactory as _;

    #[test]
    fn no_guessed_name_is_an_option_of_dedup_and_all_advised_options_exist() {
        let program = Args::command();
        let dedup = program.find_subcommand("dedup").unwrap();
        let options: Vec<&str> = dedup.get_arguments().filter_map(clap::Arg::get_long).collect();
        for (names, advice) in GUESSED {
            for name in *names {
                assert!(!options.contains(name), "--{name} exists");
            }
            let words = advice.split([' ', ',', ':']);
            for option in words.filter_map(|word| word.strip_prefix("--")) {
                assert!(console::option(option).is_some(), "--{option} does not exist");
            }
        }
    }
}
