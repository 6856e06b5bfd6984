//! Settings of what is compared, and when two documents are near-duplicates.

use super::row::{Named, Setting};
use crate::index::methods_of_indexes;
use crate::method::{Method, OF_FINGERPRINTS, OF_METHODS};
use simtool_fingerprint::{SKETCHES, SketchOption};
use simtool_model::similarity::{JACCARD, MEASURES};
use simtool_terms::extract::weights::WEIGHTS;
use simtool_terms::text_rules::{FOLDS, IGNORED};
use simtool_terms::tokenize::TOKENIZERS;
use std::fmt::Write as _;

/// Setting for the lines that are left out of the comparison.
pub(super) const BOILERPLATE: Setting = Setting::value(
    "boilerplate",
    "DOCUMENTS[:SITE]",
    "Leave lines that many documents have, such as menus, out of the comparison: at least this number of \
     documents, pages or none [default: pages if all inputs are web pages, otherwise none].\n\nA \
     document with fewer than 50 other words is compared as a whole. With :host behind the \
     number, documents are counted for each host of their IDs, such as WARC-Target-URI; with :folder, for each \
     folder of their IDs or files. Texts are read once more; those of pages and gzip files are in a temporary \
     file meanwhile, which takes about half of their bytes. `match` counts the documents of the collection to match \
     against.\n\npages leaves out a line of HTML pages if pages of four titles of a host have it, and at least \
     one in 50 pages of the host. So copies of a page, which have one title, do not make its text boilerplate. \
     A page with fewer than 50 other words is compared as a whole, and only with pages that have the same other \
     words.",
)
.not_on_engines();

/// Setting for pieces of text that do not count.
pub(super) const IGNORE: Setting = Setting::values(
    "ignore",
    "LIST",
    "Compare texts without these pieces: numbers, links, mentions, dates, or regular expressions such as \
     're:ORDER-[0-9]+'; commas separate them (repeatable).",
)
.explained_by(ignore_help);

/// Setting for spellings that are made equal.
pub(super) const FOLD: Setting = Setting::value(
    "fold",
    "LIST",
    "Make spellings equal that differ by default: diacritics, arabic, cyrillic-latin, han, hyphens; commas separate several.",
)
.explained_by(fold_help);

/// Settings of the method and its limits.
pub const NEAR: &[Setting] = &[
    Setting::named(
        "method",
        "METHOD",
        methods,
        "Method that finds near-duplicates; its settings follow a colon, as in simhash:bits=128 [default: exact].",
    ).usual()
    .explained_by(method_help),
    Setting::value(
        "similarity",
        "S",
        "Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default: 0.8, or 0.65 if \
         all inputs are web pages, or 0.9 with minhash by cosine].",
    ).usual()
    .explained_by(similarity_help),
    Setting::value(
        "max_distance",
        "K",
        "With fingerprints: maximum distance of near-duplicates, with simhash in bits [default: 3 with simhash].\n\n\
         With 64-bit fingerprints over shingles, two documents at distance 3 have on average a Jaccard similarity \
         of 0.98, at distance 6 of 0.92, and at distance 10 of 0.79. With 128 bits, these distances double. The \
         distance of a single pair can be a few bits above or below the average. With minhash, the unit is lanes \
         or thousandths (see measure in --method); with i-match, it is lexicons that differ.",
    ).usual()
    .short('k'),
    Setting::value(
        "verify",
        "S",
        "With fingerprints: read the texts of the pairs again and keep only pairs with a similarity of at least \
         S. S can name the same measures as --similarity. The terms of the texts need memory.",
    ),
    Setting::value(
        "within",
        "NAME",
        "Compare only documents with the same value of this field.\n\nNAME is a field, written like \
         --text-field, or `file`, `folder` or `host`. `folder` and `host` are those of the ID if it is a URI, \
         such as WARC-Target-URI. Otherwise, `folder` is the folder of the file. The result is equal to separate \
         runs, except that weights, words and lexicons are learned from all documents. Documents without a value \
         are counted, kept and compared with no other.",
    ).not_on_engines()
    .excluding(&["across"]),
    Setting::value(
        "across",
        "NAME",
        "Compare only documents with different values of this field, written as for --within.",
    ).not_on_engines(),
    BOILERPLATE,
];

/// Setting of the method that makes files of fingerprints.
pub(super) const FINGERPRINTS: &[Setting] = &[Setting::named(
    "method",
    "METHOD",
    methods_of_fingerprints,
    "Method that makes the fingerprints. Its settings follow a colon, as in simhash:bits=128.",
)
.default("simhash")
.explained_by(fingerprint_help)];

/// Settings for creating an index: the method, and the maximum distance of repeats.
pub(super) const INDEXES: &[Setting] = &[
    Setting::named(
        "method",
        "METHOD",
        methods_of_indexes,
        "Method that makes the fingerprints. Its settings follow a colon, as in simhash:bits=128.",
    )
    .default("simhash")
    .explained_by(fingerprint_help),
    Setting::value(
        "max_distance",
        "K",
        "Maximum number of bits or lanes in which a document differs from the document that it repeats [default: 3, or \
         the method's own].",
    )
    .short('k'),
];

/// Settings of the terms of a document.
pub const TERMS: &[Setting] = &[
    Setting::value(
        "shingle",
        "UNIT:N",
        "Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or words:8 with covered].\n\nN alone counts \
         words. UNIT alone has N of 3, or 5 for chars.",
    ).usual()
    .explained_by(shingle_help),
    Setting::word_list(
        "stop_words",
        "LIST",
        "Leave these words out before shingles are made, so that their neighbours become adjacent: none, \
         english, chinese, or a file of words separated by white space [default: none; with N and M in front, \
         stopwords.txt in the folder if it exists, otherwise english].\n\nCommas and semicolons separate the \
         words of a file, too, or the file is an array of JSON. The rest of a line behind | or # is a comment. \
         Several lists are joined by +, as in english+german.txt. The words themselves come behind words: and are \
         separated by spaces, as in \"words:der die das\".",
    ),
    IGNORE,
    FOLD,
];

/// Settings that show a plan or a preview.
pub(super) const PLANNING: &[Setting] = &[
    Setting::flag(
        "dry_run",
        "Read a sample, print the planned steps with estimated time and memory, and write nothing. --preview \
         shows what would be removed.",
    )
    .short('n')
    .excluding(&["json"])
    .printing(),
    Setting::flag(
        "preview",
        "Find the near-duplicates as the run does, print what it would remove, and write nothing.\n\nPrints the \
         counts of the run, which are exact; the removed documents by similarity and by the size of their \
         cluster; the largest clusters, with the words that their documents share; a warning about clusters that \
         may be pages of one template; and the 20 pairs closest to the limit, with their texts. Pairs just below \
         the limit are searched with a similarity other than cosine. With --json, it is one JSON object. Takes \
         about as long as the run.",
    ).usual()
    .excluding(&["dry_run"])
    .printing(),
];

/// Returns the methods of the library, and `auto`.
fn methods() -> Vec<Named> {
    let help = "Choose method, shingle and threshold from a sample and print the reasons. Without a gap \
                between unrelated documents and repeats, use the default. Options you set explicitly \
                are kept";
    Method::kinds().chain([("auto", help)]).collect()
}

/// Returns the names of the methods that make fingerprints.
fn methods_of_fingerprints() -> Vec<Named> {
    SKETCHES.iter().map(|kind| (kind.name, kind.help)).collect()
}

/// Returns the long help text of `--method`, with the settings of each method.
fn method_help() -> String {
    let mut help = "Method that finds near-duplicates [default: exact]. Its settings follow a colon, with commas \
                    between, as in simhash:bits=128,recall=0.95. Every other option of the comparison may be there, too."
        .to_owned();
    add_settings(&mut help, "Settings of all methods", OF_METHODS);
    for weight in WEIGHTS {
        // Writing to a string cannot fail.
        let _ = write!(help, "\n    {}: {}", weight.name, weight.help);
    }
    add_settings(&mut help, "Settings of all methods with fingerprints", OF_FINGERPRINTS);
    add_settings_of_kinds(&mut help);
    help
}

/// Returns the long help text of `--method` of commands that make fingerprints and compare nothing.
fn fingerprint_help() -> String {
    let mut help = "Method that makes the fingerprints. Its settings follow a colon, with commas between, as in \
                    simhash:bits=128. The settings of simtool dedup may be there, too: weight, top and idf_band."
        .to_owned();
    add_settings_of_kinds(&mut help);
    help
}

fn add_settings_of_kinds(help: &mut String) {
    for kind in SKETCHES {
        add_settings(help, &format!("Settings of {}", kind.name), kind.options);
    }
}

fn add_settings(help: &mut String, title: &str, options: &[SketchOption]) {
    // Writing to a string cannot fail.
    let _ = write!(help, "\n\n{title}:");
    for option in options {
        let _ = write!(help, "\n  {}={}  {}", option.name, option.value, option.help);
    }
}

/// Returns the long help text of `--shingle`, with a line for each tokenizer.
fn shingle_help() -> String {
    let mut help = "Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3, or words:8 with covered]. N \
                    alone counts words. UNIT alone has N of 3, or 5 for chars. UNIT is a tokenizer:\n"
        .to_owned();
    for kind in TOKENIZERS {
        // Writing to a string cannot fail.
        let _ = write!(help, "\n  {:<13} {}", kind.name, kind.help);
    }
    help
}

/// Returns the long help text of `--ignore`, with a line for each kind of pieces.
fn ignore_help() -> String {
    let mut help = "Compare texts without these pieces, which separate the words around them. LIST has names and regular \
                    expressions, as in numbers,links or 're:ORDER-[0-9]{3,9}' (repeatable):\n"
        .to_owned();
    for kind in IGNORED {
        // Writing to a string cannot fail.
        let _ = write!(help, "\n  {:<9} {}", kind.name, kind.help);
    }
    help + "\n\nAn expression begins with re: and ends at the end of LIST or at ,re: of the next one. Its classes are \
            those of Unicode, and ^ and $ match at line ends. A text without other words is compared as a text \
            without words."
}

/// Returns the long help text of `--fold`, with a line for each fold.
fn fold_help() -> String {
    let mut help =
        "Make spellings equal that differ by default; commas separate several:\n".to_owned();
    for kind in FOLDS {
        // Writing to a string cannot fail.
        let _ = write!(help, "\n  {:<15} {}", kind.name, kind.help);
    }
    help + "\n\nUpper and lower case, and compatible forms such as ﬁ and fi, are always equal."
}

/// Returns the long help text of `--similarity`, with a line for each similarity measure.
fn similarity_help() -> String {
    let mut help =
        "Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default: 0.8, \
        or 0.65 if all inputs are web pages, or 0.9 with minhash by cosine].\n\n\
        With exact, a measure may precede the number, for example cosine:0.8:\n"
            .to_owned();
    for measure in MEASURES {
        let default = if **measure == JACCARD { " (default)" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(help, "  {:<12} {}{default}", measure.name, measure.definition);
    }
    help.push_str("\nWith minhash, the setting measure of --method names the measure that the distances estimate.");
    help
}
