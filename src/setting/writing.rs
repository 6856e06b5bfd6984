//! Settings that choose the kept documents, and settings of the outputs.

use super::row::{Named, Setting, names};
use crate::output::{ONLY_IDS, READABLE};
use crate::pipeline::config::{ClusterRule, Keep};
use crate::write::columns::RowFormat;
use simtool_base::options::Choice as _;
use simtool_read::USUAL_DATES;
use std::fmt::Write as _;

/// Settings that choose the kept documents.
pub(super) const KEEPING: &[Setting] = &[
    Setting::value(
        "keep",
        "RULES",
        "Document to keep of several near-duplicates: rules, separated by commas.",
    ).usual()
    .default("first")
    .explained_by(keep_help),
    Setting::value(
        "prefer",
        "FIELD=VALUES",
        "Keep documents whose field has the first of these values, or else the next, before --keep decides.\n\n\
         For example, `--prefer source=wiki,news` keeps a document of source wiki, or else one of news, or else \
         any other. A value must be exactly as in the file.",
    ).not_on_engines(),
    Setting::value(
        "keep_count",
        "N",
        "Keep up to this number of documents of each cluster.\n\nThe first is the document that is kept without \
         this option. The others are chosen from the removed documents of its cluster, in the order of --prefer and \
         --keep.",
    ).not_on_engines()
    .default("1"),
    Setting::choice(
        "cluster",
        "RULE",
        names::<ClusterRule>,
        "Documents to remove: only documents near a kept document (proven), or also documents that a chain of \
         near-duplicates links to it (components).",
    )
    .default("proven"),
    Setting::path(
        "decisions",
        "FILE",
        "Apply the decisions of a review: keep a document, a cluster or a source, or swap the kept document.\n\n\
         `simtool review` writes the file. Decisions that no longer fit are counted and printed, and change nothing.",
    ).not_on_engines(),
    Setting::flag(
        "pairs",
        "Also write every pair; more than 100 million only with --force. All pairs must fit in memory: with \
         exact, 24 bytes for each pair of unequal documents.",
    ).not_on_engines(),
    Setting::flag_or_text(
        "annotate",
        "PARTS",
        "Also write documents.jsonl: every document, kept or removed, with its cluster, in reading order.\n\nParts \
         are separated by commas:\n\n\
         in-place     Also write the folder annotated: copies of the inputs whose records have these columns\n\
         weight=RULE  Weight of a kept document by the size n of its cluster: 1 (the default), sqrt, log (1 + ln n), \
         or sizes from which a weight holds, such as 1:1,2:2,10:3\n\
         repeated=N   Also compute, for each document, the share of its words in passages of at least N words that \
         are also in another document; searches the passages as `simtool passages` does.",
    ).usual().not_on_engines(),
];

/// Setting that limits the words that a removal loses.
pub(super) const LOSSES: &[Setting] = &[
    Setting::value(
        "lose",
        "N[%]",
        "Keep a document whose removal would lose more than N words, or more than N% of its words, as in 3 or 1% \
         [default: 3 with covered, otherwise any number].\n\n\
         A word is lost if no shingle around it is also in the document that would be kept in its place. \
         Each removal is tested alone, after the clusters or the closest matches are decided: a document that stays takes \
         no other along. For example, with `--lose 0` pages that differ in the name of a server both stay. The table \
         counts the documents that stay because of this. With fingerprints, needs --verify. With --method covered, a word \
         is lost if no kept document has a shingle around it; then `--lose 0` also keeps each shingle of the collection.",
    ).not_on_engines(),
];

/// Settings of the counts of removals by source, and conditions on which there are too many.
pub(super) const SOURCES: &[Setting] = &[
    Setting::value(
        "by",
        "SOURCE",
        "Also write sources.jsonl: for each source, how many of its documents were removed, and for which sources.\n\n\
         A source is a field, or file, folder or host, as with --within. Without this option, removals are counted by \
         file: the table reports sources of at least 100 documents that lost more than 90 % of them.",
    ).not_on_engines(),
    Setting::value(
        "fail_if",
        "CONDITIONS",
        "End with exit code 4, and write nothing, if too many documents would be removed.\n\n\
         Conditions are `removed>30%`, `source:removed>90%` (of one of the sources that --by names, with at least 100 \
         documents), or both with a comma between them, with any percentages.",
    ).not_on_engines(),
];

/// Settings of the folder of results of a deduplication or a match.
pub(super) const RESULTS: &[Setting] = &[
    Setting::results(
        "output",
        "DIR",
        "Folder for the results; it appears once all results are complete.\n\nIt contains report.html, a page \
         for people, and summary.json, which has all counts, settings and faults, with the same numbers as the \
         printed table.",
    )
    .short('o')
    .usual()
    .default("simtool-out")
    .of_resources(),
    Setting::flag(
        "force",
        "Replace the output folder if an earlier run of simtool wrote it.",
    ).usual()
    .of_resources(),
    Setting::choice(
        "output_format",
        "FORMAT",
        formats_of_results,
        "Format of the files removed and pairs.",
    ).usual()
    .default("jsonl"),
    Setting::flag_or(
        "write_kept",
        "WHICH",
        kept_records,
        "Also write copies of the input files without the removed documents to kept/, in the same format.\n\nBad \
         records were not compared, so they are not known to be duplicates: the copies have them, unless WHICH is \
         readable.",
    ).usual(),
    WRITE_REMOVED,
    Setting::flag(
        "receipt",
        "Also write receipt.json, by which others check the results: the SHA-256 of every input, the request, the recipe, \
         the counts, and a Merkle root over the rows of each output.\n\nThe inputs are read once more. `simtool audit` \
         compares the receipt with the files, and checks a sample of the removals.",
    ).not_on_engines()
    .of_resources(),
    Setting::flag(
        "json",
        "Print the content of summary.json instead of a table.",
    ).usual()
    .printing(),
];

/// Setting for copies of the removed documents.
pub(super) const WRITE_REMOVED: Setting = Setting::flag(
    "write_removed",
    "Also write copies of the input files to removed/, in the same format, with nothing but the removed documents.",
);

/// Settings of the file or stream of rows.
pub(super) const ROWS: &[Setting] = &[
    Setting::path(
        "output",
        "PATH",
        "File to write, or the folder to write with --write-kept; - is standard output.",
    )
    .short('o')
    .default("-")
    .of_resources(),
    Setting::flag("force", "Replace an existing output.").of_resources(),
    Setting::choice("output_format", "FORMAT", names::<RowFormat>, "Format of the rows.")
        .default("jsonl"),
];

fn formats_of_results() -> Vec<Named> {
    let ids = "JSON Lines, in which removed documents have only their IDs, or ID, file and record number if a kept document has \
               the ID of a removed one";
    names::<RowFormat>().into_iter().chain([(ONLY_IDS, ids)]).collect()
}

fn kept_records() -> Vec<Named> {
    ["true", "false", READABLE].map(|name| (name, "")).into()
}

/// Returns the long help text of `--keep`, with a line for each rule.
fn keep_help() -> String {
    let mut help = "Document to keep of several near-duplicates: rules, separated by commas. Each rule decides \
        between documents that are equal by the rules before it. Of documents that are equal by all rules, the \
        first in reading order is kept.\n\n\
        For example, max:score,longest keeps the document with the highest score, and of several with this score \
        the longest.\n\n"
        .to_owned();
    for rule in Keep::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(help, "  {:<8} {}", rule.name(), rule.help());
    }
    let _ = write!(
        help,
        "\nmax, min, newest and oldest have their field behind a colon, written like --text-field, with a bar \
        between fields to try. In WARC files, it \
        may be a field of the header, `http:NAME` for a field of the HTTP header, or `host` or `path` of the URI. \
        Without a field, newest and oldest read the date from the first of these fields that a record has: `{}`. \
        Documents without a value come last.",
        USUAL_DATES.join("`, `")
    );
    help
}
