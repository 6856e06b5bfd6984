//! Settings of files of fingerprints: writing them, joining them, and `simtool N M`.

use super::row::{Named, Setting};
use simtool_fingerprint::file::describe_formats;
use simtool_hamming::join::Join;
use simtool_hamming::joins;
use std::fmt::Write as _;

/// Settings of the file of fingerprints to write.
pub(super) const FINGERPRINT_FILE: &[Setting] = &[
    Setting::path(
        "output",
        "FILE",
        "File to write; its extension selects the format, and - prints JSON Lines.",
    )
    .short('o')
    .required()
    .of_resources()
    .explained_by(output_help),
    REPLACED_FILE,
];

const REPLACED_FILE: Setting = Setting::flag("force", "Replace an existing file.").of_resources();

/// Setting of the method of a join.
pub(super) const JOINED: &[Setting] = &[Setting::choice("index", "NAME", self_joins, USED_JOIN)
    .explained_by(self_join_help)
    .of_resources()];

/// Settings of the queries and the method of a search in a file of fingerprints.
pub(super) const SEARCHED: &[Setting] = &[
    Setting::path(
        "queries",
        "FILE",
        "File with the fingerprints to search for; - is standard input.",
    )
    .required(),
    Setting::choice("index", "NAME", searches, USED_JOIN).explained_by(search_help).of_resources(),
];

const USED_JOIN: &str = "Use this method instead of the planner's choice; see --verbose.";

/// Settings of pairs of fingerprints.
pub(super) const PAIRS: &[Setting] = &[
    Setting::value(
        "max_distance",
        "K",
        "Maximum number of bits in which the rows of a pair differ.",
    )
    .short('k')
    .default("3"),
    Setting::flag(
        "rows",
        "Print row numbers, from 0, even if the file has IDs.\n\nJSON Lines and Parquet files of `simtool \
         fingerprint` have an ID for each row, which printed lines use. Output in .npy or .parquet always has row \
         numbers.",
    ),
];

/// Settings of the form and the place of pairs of fingerprints.
pub(super) const PAIR_FILE: &[Setting] = &[
    Setting::flag(
        "count",
        "Write only the number of pairs.",
    ),
    Setting::flag(
        "groups",
        "Write each group of equal rows once, and then the pairs of groups.\n\nA line of a group has the word \"group\" \
         and its rows. A line of a pair has the word \"pair\", the first rows of both groups, and their distance. In a \
         search, lines of groups of queries have the word \"query-group\".",
    )
    .excluding(&["count"]),
    Setting::path(
        "output",
        "FILE",
        "File to write; its extension selects the format: text for .tsv or no extension, an array of shape n x 3 \
         for .npy, the columns a, b and distance for .parquet; - is standard output [default: text on standard \
         output].",
    )
    .short('o')
    .of_resources(),
    REPLACED_FILE.needing("output"),
];

/// Settings of the files for the N most frequent words, each with M bits.
pub(super) const WORDS: &[Setting] = &[
    Setting::folder(
        "directory",
        "DIR",
        "Folder of stopwords.txt and hashvalue.txt; with `simtool N M`, also of article.txt, sample.txt and \
         result.txt.",
    )
    .default("."),
    Setting::path(
        "hash_table",
        "FILE",
        "File with a line of 0s and 1s for each feature [default: hashvalue.txt in the folder if it exists, \
         otherwise a built-in table of 10,000 lines of 128 digits].",
    ),
];

/// Settings of the files of `simtool N M`.
pub(super) const REFERENCE: &[Setting] = &[
    Setting::path(
        "stop_words",
        "FILE",
        "File of words that are never features, separated by white space [default: stopwords.txt in the folder if \
         it exists, otherwise a built-in English list].",
    ),
    Setting::path(
        "articles",
        "FILE",
        "File of the articles to search [default: article.txt in the folder].",
    ),
    Setting::path(
        "samples",
        "FILE",
        "File of the samples to match [default: sample.txt in the folder].",
    ),
    Setting::path(
        "result",
        "FILE",
        "File for the matches of all samples; - is standard output [default: result.txt in the folder].",
    ),
    Setting::flag(
        "force",
        "Replace an existing file of --result; result.txt in the folder is always replaced.",
    )
    .needing("result")
    .of_resources(),
    Setting::value(
        "max_distance",
        "K",
        "Maximum number of bits in which a match differs from its sample.",
    )
    .short('k')
    .default("3"),
];

/// Settings of the size of a planned index.
pub(super) const CAPACITY: &[Setting] = &[
    Setting::value(
        "documents",
        "COUNT",
        "Expected number of documents, for example 5000000 or 1e11.",
    )
    .required(),
    Setting::value("bits", "BITS", "Number of bits of a fingerprint.").default("64"),
    Setting::value("max_distance", "K", "Maximum number of bits in which near-duplicates differ.")
        .short('k')
        .default("3"),
    Setting::value(
        "max_memory",
        "SIZE",
        "Memory of a machine, for example 64G [default: four fifths of this machine's].",
    )
    .of_resources(),
    Setting::flag("json", "Print JSON Lines.").printing(),
];

fn self_joins() -> Vec<Named> {
    joins::self_joins().map(|method| (method.name(), "")).collect()
}

fn searches() -> Vec<Named> {
    joins::searches().map(|method| (method.name(), "")).collect()
}

fn self_join_help() -> String {
    join_help(joins::self_joins())
}

fn search_help() -> String {
    join_help(joins::searches())
}

/// Returns the help text of `--index`, with a line for each join method in `methods`.
fn join_help(methods: impl Iterator<Item = &'static dyn Join>) -> String {
    let mut help = format!("{USED_JOIN}\n");
    for method in methods {
        // Writing to a string cannot fail.
        let _ = write!(help, "\n- {}: {}", method.name(), method.help());
    }
    help
}

/// Returns the help text of the output file, with a line for each format that the library can write.
fn output_help() -> String {
    let formats = describe_formats();
    format!(
        "File to write; its extension selects the format, and - prints JSON Lines.\n\n{formats}"
    )
}
