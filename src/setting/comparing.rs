//! Settings of what is compared, and when two documents are near-duplicates.

use super::row::{Named, Setting};
use crate::method::Method;
use simtool_model::similarity::{JACCARD, MEASURES};
use simtool_terms::extract::weights::WEIGHTS;
use simtool_terms::tokenize::{MISSING_TOKENIZERS, TOKENIZERS};
use std::fmt::Write as _;

/// Method and limits.
pub const NEAR: &[Setting] = &[
    Setting::choice(
        "method",
        "METHOD",
        methods,
        "Method that finds near-duplicates [default: exact].",
    ),
    Setting::value(
        "similarity",
        "S",
        "Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default: 0.8, or 0.9 with \
         minhash by cosine].",
    )
    .explained_by(similarity_help),
    Setting::value(
        "max_distance",
        "K",
        "With fingerprints: maximum distance of near-duplicates, with simhash in bits [default: 3 with simhash].\n\n\
         With 64-bit fingerprints over shingles, two documents at distance 3 have on average a Jaccard similarity \
         of 0.98, at distance 6 of 0.92, and at distance 10 of 0.79. With 128 bits, these distances double. The \
         distance of a single pair can be a few bits above or below the average. With minhash, the unit is lanes \
         or thousandths (see --measure); with i-match, it is lexicons that differ.",
    )
    .short('k'),
    Setting::value(
        "verify",
        "S",
        "With fingerprints: read the texts of the pairs again and keep only pairs with a similarity of at least \
         S. S can name the same measures as --similarity. The terms of the texts need memory.",
    ),
    Setting::choice(
        "verify_weight",
        "WEIGHT",
        verify_weights,
        "With --verify: weight of each shingle, as in --weight with exact [default: binary].",
    )
    .needing("verify"),
    Setting::value(
        "recall",
        "PART",
        "With fingerprints: use LSH bands that find at least this fraction of the pairs at the maximum distance \
         [default: find all].",
    ),
    Setting::value(
        "within",
        "NAME",
        "Compare only documents with the same value of this field.\n\nNAME is a field, written like \
         --text-field, or `file`, `folder` or `host`. `folder` and `host` are those of the ID if it is a URI, \
         such as WARC-Target-URI. Otherwise, `folder` is the folder of the file. The result is equal to separate \
         runs, except that weights, words and lexicons are learned from all documents. Documents without a value \
         are counted, kept and compared with no other.",
    )
    .excluding("across"),
    Setting::value(
        "across",
        "NAME",
        "Compare only documents with different values of this field, written as for --within.",
    ),
    Setting::value(
        "boilerplate",
        "DOCUMENTS[:SITE]",
        "Leave lines that at least this number of documents have, such as menus, out of the comparison.\n\nA \
         document with fewer than 50 other words is compared as a whole. Takes one more reading. With :host \
         behind the number, documents are counted for each host of their IDs, such as WARC-Target-URI; with \
         :folder, for each folder of their IDs or files. `match` counts the documents of the collection to match \
         against.",
    ),
];

/// Terms of a document.
pub const TERMS: &[Setting] = &[
    Setting::value(
        "shingle",
        "UNIT:N",
        "Compare runs of N consecutive tokens, such as words:5 or chars:7 [default: words:3].\n\nUNIT is words, \
         chars or another tokenizer of --tokenizer. N alone uses the one that --tokenizer names. For chars alone, \
         N is 5.",
    ),
    Setting::choice(
        "tokenizer",
        "TOKENIZER",
        tokenizers,
        "Tokenizer that cuts texts into tokens [default: words].",
    ),
    Setting::path(
        "stop_words",
        "LIST",
        "Leave these words out before shingles are made, so that their neighbours become adjacent: none, \
         english, chinese, or a file of words separated by white space [default: none; with N and M in front, \
         stopwords.txt in the folder if it exists, otherwise english].\n\nCommas and semicolons separate the \
         words of a file, too, or the file is an array of JSON. The rest of a line behind | or # is a comment. \
         Several lists are joined by +, as in english+german.txt. The words themselves come behind words: and are \
         separated by spaces, as in \"words:der die das\".",
    ),
    Setting::choice(
        "weight",
        "WEIGHT",
        weights,
        "Weight of each distinct shingle [default: tf for fingerprints, binary with --method exact].\n\nWith \
         --method exact, only binary and idf are possible; with idf, similarities compare sums of weights instead \
         of numbers of shingles.",
    ),
    Setting::value(
        "top",
        "K",
        "For fingerprints: use only the K shingles of each document with the greatest tf-idf; with --shingle 1 \
         these are its keywords, and 200 is a usual number [default: all].",
    ),
    Setting::value(
        "idf_band",
        "LOW-HIGH",
        "For fingerprints: use only shingles whose normalized idf is in this band, for example 0.2-0.8. The \
         value is 0 for a shingle that all documents contain and 1 for a shingle that only one contains. With \
         --top, it applies to the K chosen shingles [default: use all].",
    ),
];

/// Showing a plan or a preview.
pub const PLANNING: &[Setting] = &[
    Setting::flag(
        "explain",
        "Print the plan for finding near-duplicates, with its reasons, on standard error.",
    )
    .printing(),
    Setting::flag(
        "dry_run",
        "Read a sample, print the planned steps with estimated time and memory, and write nothing. --preview \
         shows what would be removed.",
    )
    .short('n')
    .excluding("json")
    .printing(),
    Setting::flag(
        "preview",
        "Find the near-duplicates as the run does, print what it would remove, and write nothing.\n\nPrints the \
         counts of the run, which are exact; the removed documents by similarity and by the size of their \
         cluster; the largest clusters, with the words that their documents share; a warning about clusters that \
         may be pages of one template; and the 20 pairs closest to the limit, with their texts. Pairs just below \
         the limit are searched with a similarity other than cosine. With --json, it is one JSON object. Takes \
         about as long as the run.",
    )
    .excluding("dry_run")
    .printing(),
];

/// Returns the methods of the library, and `auto`.
fn methods() -> Vec<Named> {
    let help = "Choose method, shingle and threshold from a sample and print the reasons. Without a gap \
                between unrelated documents and repeats, use the default. Options you set explicitly \
                are kept";
    Method::kinds().chain([("auto", help)]).collect()
}

fn verify_weights() -> Vec<Named> {
    ["binary", "idf"].map(|name| (name, "")).into()
}

fn tokenizers() -> Vec<Named> {
    let known = TOKENIZERS.iter().map(|kind| (kind.name, kind.help));
    // A build without a dictionary accepts these names as well, so that its error can say how to get the
    // dictionary.
    known.chain(MISSING_TOKENIZERS.iter().map(|name| (*name, ""))).collect()
}

fn weights() -> Vec<Named> {
    WEIGHTS.iter().map(|kind| (kind.name, kind.help)).collect()
}

/// Returns the long help text of `--similarity`, with a line for each similarity measure.
fn similarity_help() -> String {
    let mut help =
        "Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default: 0.8, \
        or 0.9 with minhash by cosine].\n\n\
        With exact, a measure may precede the number, for example cosine:0.8:\n"
            .to_owned();
    for measure in MEASURES {
        let default = if **measure == JACCARD { " (default)" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(help, "  {:<12} {}{default}", measure.name, measure.definition);
    }
    help.push_str("\nWith minhash, --measure names the measure that the distances estimate.");
    help
}
