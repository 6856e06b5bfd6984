//! Settings that users of similar programs guess, and the settings of simtool that do the same.
//!
//! The program and the Python package share the table, and each of them writes settings in its own way.

use crate::setting::typing_errors;
use crate::setting::{CommandKind, find, find_command};

/// Names of settings that users guess, and the advice that they get. The advice has settings in backquotes, with a
/// value as in `shingle=words:5`.
type Guess = (&'static [&'static str], &'static str);

/// Guesses that have the same advice for all commands.
const GUESSES: &[Guess] = &[
    (
        &["threshold", "jaccard_threshold", "similarity_threshold", "thresh", "min_similarity"],
        "`similarity` is the minimum similarity, and `max_distance` the maximum distance of fingerprints",
    ),
    (
        &[
            "ngram",
            "ngrams",
            "ngram_size",
            "n_gram",
            "n_grams",
            "shingle_size",
            "shingles",
            "num_ngrams",
        ],
        "`shingle` sets the shingles, for example `shingle=words:5` or `shingle=chars:7`",
    ),
    (
        &["num_perm", "num_perms", "num_permutations", "permutations", "perms", "num_hashes"],
        "MinHash has lanes instead of permutations: `method=minhash:lanes=128`",
    ),
    (
        &["num_bands", "bands", "rows_per_band"],
        "bands are chosen for you: `method=minhash:recall=0.95` sets the share of pairs that they find",
    ),
    (
        &["seed", "hash_seed", "random_state", "random_seed"],
        "hash functions are fixed, so that equal inputs always give equal results",
    ),
    (&["id", "id_column", "id_key", "doc_id"], "`id_field` names the field or column of the ID"),
    (
        &["text", "text_column", "text_key", "column", "field", "content_key"],
        "`text_field` names the field or column of the text",
    ),
    (
        &["checkpoint", "continue"],
        "`resume` stores what was read, and the same command goes on from there",
    ),
    (
        &["jobs", "workers", "num_workers", "num_proc", "processes", "cores", "num_threads"],
        "`threads` sets the number of threads",
    ),
    (
        &["memory", "mem", "ram", "memory_limit"],
        "`max_memory` limits the memory, for example `max_memory=2G`",
    ),
    (&["batch_size", "chunk_size"], "there are no batches: `max_memory` limits the memory"),
    (
        &["out", "output_dir", "output_folder", "outdir", "save_to", "destination"],
        "`output` names the file or folder to write",
    ),
    (&["overwrite", "replace"], "`force` replaces an output that exists"),
    (
        &["skip", "without", "exclude"],
        "`glob` with an exclamation mark, in quotes for a shell, leaves out files of a folder: `glob=!*.log`",
    ),
    (&["include", "pattern"], "`glob` reads only some files of a folder"),
    (
        &["newest", "keep_newest", "longest", "keep_longest", "keep_first", "keep_last"],
        "`keep` chooses the kept document, for example `keep=newest`",
    ),
    (
        &["labels", "ground_truth", "gold", "pairs_file"],
        "`simtool eval` reads the pairs of near-duplicates with `truth`",
    ),
    (
        &["group_by", "group", "partition_by", "per"],
        "`within` compares only documents with the same value of a field",
    ),
    (
        &["new", "old", "reference", "query"],
        "`simtool match` takes the new documents first, and the others behind `against`",
    ),
    (
        &[
            "bits",
            "lanes",
            "hashing",
            "lexicons",
            "lexicon_share",
            "lexicon_bits",
            "votes",
            "least_terms",
            "least_share",
        ],
        "settings of a method follow its name: `method=simhash:bits=128` or `method=minhash:lanes=128`",
    ),
    (
        &["recall", "weight", "verify_weight", "top", "idf_band"],
        "settings of a method follow its name: `method=simhash:recall=0.95` or `method=exact:weight=idf`",
    ),
    (
        &["tokenizer"],
        "the tokenizer is part of the shingle: `shingle=chars:7`, `shingle=chinese:2`",
    ),
    (&["per_line", "lines"], "`split=lines` makes each line of a text file a document"),
    (&["keep_field"], "the field follows the rule: `keep=max:score` or `keep=newest:updated`"),
    (
        &["quote", "escape"],
        "quotes of tables are parts of one option: `csv=quote=none` or `csv=escape=backslash`",
    ),
    (&["null"], "a list of paths with zero bytes after them is recognized: `files_from=list`"),
    (
        &["all_strings"],
        "an asterisk, in quotes for a shell, selects all texts of a record: `text_field=*`",
    ),
    (&["explain"], "`verbose` prints the plan of the search with its reasons"),
    (&["print_config"], "`simtool config dedup` prints a settings file with all options of dedup"),
    (&["cluster_weight"], "weights are a part of the list of documents: `annotate=weight=sqrt`"),
    (
        &["repeated_share"],
        "repeated words are a part of the list of documents: `annotate=repeated=50`",
    ),
    (&["ids_only"], "`output_format=ids` writes only the IDs of removed documents"),
    (&["quarantined"], "`write_kept=readable` leaves bad records out of the copies"),
    (&["lang", "language"], "`stop_words` and `shingle` choose the words of a language"),
];

/// Minimum number of letters of a name that may have two typing errors.
const LONG_NAME: usize = 8;

/// Names that users guess for a minimum, such as the minimum similarity.
const MINIMUM: &[&str] = &[
    "threshold",
    "thresh",
    "similarity",
    "min_similarity",
    "similarity_threshold",
    "jaccard_threshold",
    "overlap",
    "min_overlap",
    "ratio",
    "coverage",
];
/// Names that users guess for the length of a shingle or a passage.
const LENGTHS: &[&str] = &[
    "ngram",
    "ngrams",
    "ngram_size",
    "n_gram",
    "n_grams",
    "shingle",
    "shingle_size",
    "shingles",
    "num_ngrams",
    "window",
    "length",
    "min_length",
    "min_words",
    "length_threshold",
];
/// Names that users guess for the documents to search, in commands that take the documents in another way.
const DOCUMENTS: &[&str] = &[
    "against",
    "corpus",
    "documents",
    "docs",
    "train",
    "training",
    "data",
    "dataset",
    "collection",
];
/// Names that users guess for leaving something out of copies.
const REMOVAL: &[&str] = &["remove", "delete", "drop", "clean", "dedup", "decontaminate"];

/// Names that users guess for reading and writing files, which functions on data in memory do not do.
const FILE_WORDS: &[&str] = &[
    "out",
    "output",
    "output_dir",
    "output_folder",
    "outdir",
    "save_to",
    "destination",
    "write_kept",
    "resume",
    "checkpoint",
    "continue",
    "overwrite",
    "replace",
    "force",
    "glob",
    "include",
    "pattern",
    "exclude",
    "skip",
    "without",
    "per_line",
    "lines",
    "quote",
    "escape",
    "null",
    "explain",
    "print_config",
    "ids_only",
    "quarantined",
];

/// Guesses for single commands, which are searched before [`GUESSES`]. Each entry begins with a command of the program.
/// Two more entries are for Python functions that have no command: `texts` for the functions on texts in memory, and
/// `engine` for the functions on engines such as Spark.
const OF_COMMANDS: &[(&str, &[Guess])] = &[
    (
        "contamination",
        &[
            (
                DOCUMENTS,
                "`in` names the documents, and the items come first: `simtool contamination ITEMS --in PATH`",
            ),
            (
                &[
                    "items",
                    "questions",
                    "benchmark",
                    "evaluation",
                    "test_set",
                    "queries",
                    "reference",
                ],
                "the items come first, without an option: `simtool contamination ITEMS --in PATH`",
            ),
            (MINIMUM, "`share` is the minimum share of an item that a document has"),
            (LENGTHS, "`words` sets the number of words of a shingle"),
            (
                &["field", "text", "column", "columns", "item_field", "text_column", "text_key"],
                "`fields` names the fields of the items, and `text_field` the field of the documents' text",
            ),
            (
                REMOVAL,
                "`write_kept` writes copies of the documents' files without the items to the folder `output`: \
                 `write_kept=drop`, `write_kept=cut` or `write_kept=mask`",
            ),
            (&["cut"], "cut is a value: `write_kept=cut` writes copies to the folder `output`"),
        ],
    ),
    (
        "passages",
        &[
            (DOCUMENTS, "paths come without an option: `simtool passages PATH`"),
            (&["in"], "paths come without an option: `simtool passages PATH`"),
            (MINIMUM, "passages are equal word by word: `words` is their minimum number of words"),
            (LENGTHS, "`words` is the minimum number of words of a passage"),
            (
                &[
                    "min_count",
                    "count",
                    "min_occurrences",
                    "occurrences",
                    "times",
                    "min_docs",
                    "min_df",
                ],
                "`min_documents` is the minimum number of documents that have the same passage",
            ),
            (
                REMOVAL,
                "`write_kept` writes copies of the files without the passages to the folder `output`, and `cut` \
                 chooses which copies of a passage are cut",
            ),
            (&["of"], "origins follow the number of documents: `min_documents=2:host`"),
            (&["anywhere"], "`min_documents=1` also lists passages that one document repeats"),
            (&["verify", "exact"], "`verify_words` compares the words of all passages"),
        ],
    ),
    (
        "eval",
        &[
            (
                &[
                    "threshold",
                    "similarity_threshold",
                    "jaccard_threshold",
                    "thresh",
                    "min_similarity",
                ],
                "all thresholds are measured; give one with the method, as in `method=exact:similarity=0.7`",
            ),
            (&["methods"], "`method` is a list of methods, for example `method=exact,minhash`"),
            (&["all"], "without `method`, all presets are measured"),
            (&["svg"], "`plot` writes one picture, or all of them to a folder: `plot=plots`"),
            (&["hash_seed"], "`seed` has the seeds of further hash functions: `seed=1,2`"),
            (
                &["labels", "ground_truth", "gold", "pairs_file"],
                "`truth` names the file with the pairs",
            ),
            (
                &["out", "output", "output_dir", "output_folder"],
                "`report` writes a page, and `plot` a picture",
            ),
            (
                &["png", "pdf", "picture", "chart"],
                "`plot` draws a picture, for example `plot=methods.svg`",
            ),
        ],
    ),
    ("plan", &[(&["memory", "mem", "ram"], "`max_memory` is the memory of a machine")]),
    (
        "compare",
        &[(
            &["bits", "weight"],
            "settings of the fingerprints follow the method: `method=simhash:bits=128`",
        )],
    ),
    (
        "generate",
        &[
            (&["crawl"], "`kind=crawl` writes a small crawl"),
            (&["labelled"], "`kind=labelled` writes a labelled collection"),
        ],
    ),
    (
        "texts",
        &[
            (
                &[
                    "text",
                    "text_field",
                    "text_column",
                    "text_key",
                    "field",
                    "content_key",
                    "all_strings",
                ],
                "`column` names the column of a table with the texts",
            ),
            (
                &["id", "ids", "id_field", "id_column", "id_key", "doc_id"],
                "documents have the numbers of their rows instead of IDs",
            ),
            (
                FILE_WORDS,
                "this function has no files: `simtool.deduplicate_files` reads and writes files",
            ),
            (
                &["seed", "hash_seed", "random_state", "random_seed"],
                "hash functions are fixed, so that equal inputs always give equal results; only `simtool.evaluate` takes \
                 `hash_seeds`",
            ),
            (
                &["labels", "ground_truth", "gold", "pairs_file"],
                "`simtool.evaluate` takes the pairs of near-duplicates",
            ),
            (
                &["new", "old", "reference", "query", "queries", "corpus", "against"],
                "`simtool.match` compares texts with another collection",
            ),
        ],
    ),
    (
        "engine",
        &[
            (
                &["text", "text_field", "column", "text_key", "field", "content_key"],
                "`text_column` names the column of the texts",
            ),
            (&["id", "id_field", "id_key", "doc_id"], "`id_column` names the column of the IDs"),
            (
                &["num_bands", "bands", "rows_per_band"],
                "the search divides fingerprints without missing a pair: `max_distance` is the only limit",
            ),
            (
                &[
                    "jobs",
                    "workers",
                    "num_workers",
                    "num_proc",
                    "processes",
                    "cores",
                    "num_threads",
                ],
                "the engine divides the work: `partitions` sets the number of parts",
            ),
            (
                &["memory", "mem", "ram", "memory_limit", "batch_size", "chunk_size"],
                "the engine limits the memory: `partitions` sets the number of parts",
            ),
            (FILE_WORDS, "this function has no files: it takes and returns data frames"),
            (
                &["annotate", "cluster_weight", "repeated_share"],
                "`simtool dedup` lists documents with weights and repeated words",
            ),
            (&["all_strings"], "`text_column` names the column of the texts"),
            (
                &["group_by", "group", "partition_by", "per"],
                "all documents are compared: filter the data frame for each group",
            ),
            (
                &["labels", "ground_truth", "gold", "pairs_file"],
                "`simtool eval` measures methods with pairs of near-duplicates",
            ),
            (
                &["new", "old", "reference", "query", "queries", "corpus", "against"],
                "`simtool_spark.match` compares documents with another collection",
            ),
        ],
    ),
];

/// Returns advice for a setting that does not exist. In the advice, names of settings are in backquotes. `command` is
/// the name of a command, `texts` for a function of Python on texts in memory, or `engine` for one on an engine such as
/// Spark. A name with a typing error, such as `treshold`, has the advice of the guess that it resembles. Returns `None`
/// if the name is no known guess, or if it resembles an existing setting more.
#[must_use]
pub fn guessed_setting(command: &str, name: &str) -> Option<&'static str> {
    advice_for(command, name).or_else(|| {
        // A name of another command is no typing error.
        if find(name).is_some() {
            return None;
        }
        let guesses = guessed_names().filter(|(of, _)| of.is_none_or(|of| of == command));
        let near = guesses.map(|(_, guess)| (typing_errors(name, guess), guess)).min()?;
        let settings = find_command(command).into_iter().flat_map(CommandKind::settings);
        let of_settings = settings.map(|row| typing_errors(name, row.name)).min();
        // The parser suggests settings with similar names.
        let is_nearest = of_settings.is_none_or(|errors| near.0 < errors);
        let most = if name.len() < LONG_NAME { 1 } else { 2 };
        if near.0 <= most && is_nearest { advice_for(command, near.1) } else { None }
    })
}

/// Returns the advice for `name` from the guesses for `command`, or else from the guesses for all commands. `None` if
/// neither has the name.
fn advice_for(command: &str, name: &str) -> Option<&'static str> {
    let in_table = |guesses: &'static [Guess]| {
        let found = guesses.iter().find(|(names, _)| names.contains(&name));
        found.map(|(_, advice)| *advice)
    };
    // The same word has other meanings in other commands: a threshold of passages is a number of words.
    let own = OF_COMMANDS.iter().find(|(of, _)| *of == command);
    own.and_then(|(_, guesses)| in_table(guesses)).or_else(|| in_table(GUESSES))
}

/// Returns all names that users guess, each with the command that its advice is for. `None` means all commands.
pub fn guessed_names() -> impl Iterator<Item = (Option<&'static str>, &'static str)> {
    let names = |command, guesses: &'static [Guess]| {
        let names = guesses.iter().flat_map(|(names, _)| names.iter());
        names.map(move |&name| (command, name))
    };
    let of_commands = OF_COMMANDS.iter().flat_map(move |(of, guesses)| names(Some(*of), guesses));
    names(None, GUESSES).chain(of_commands)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_command_goes_before_the_general_table() {
        let advice = |command, name| guessed_setting(command, name).unwrap();
        assert!(advice("dedup", "threshold").starts_with("`similarity` is"));
        assert!(advice("contamination", "threshold").starts_with("`share` is"));
        assert!(advice("contamination", "jobs").starts_with("`threads` sets"));
        assert!(advice("texts", "text_field").starts_with("`column` names"));
        assert_eq!(guessed_setting("dedup", "colour"), None);
    }

    #[test]
    fn a_typing_error_has_the_advice_of_the_name_that_was_meant() {
        let advice = |command, name| guessed_setting(command, name).unwrap_or_default();
        for name in ["treshold", "threshhold", "thrseold", "ngarm", "batchsize", "num-perm"] {
            assert!(!advice("dedup", name).is_empty(), "{name}");
        }
        assert_eq!(advice("dedup", "treshold"), advice("dedup", "threshold"));
        assert_eq!(advice("contamination", "treshold"), advice("contamination", "threshold"));
        assert_eq!(advice("texts", "treshold"), advice("texts", "threshold"));
        // These resemble a setting, or are one of another command.
        for name in ["similarty", "thread", "threads", "keeep", "verifiy", "colour", "x"] {
            assert_eq!(advice("dedup", name), "", "{name}");
        }
    }

    #[test]
    fn each_name_is_once_in_a_table() {
        let mut known = BTreeSet::new();
        for (command, name) in guessed_names() {
            assert!(known.insert((command, name)), "{name} is twice in the table of {command:?}");
        }
    }
}
