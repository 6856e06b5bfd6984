//! Settings of commands on an index.

use super::row::Setting;

/// Setting of the notes about a new index.
pub(super) const CREATED: &[Setting] =
    &[Setting::flag("quiet", "Print no notes.").short('q').printing()];

/// Settings of the source and the time of added documents.
pub(super) const ARRIVAL: &[Setting] = &[
    Setting::value(
        "source",
        "NAME",
        "Source of the documents, for example the name of a crawl. The index counts how many sources repeat each \
         document.",
    )
    .default("default"),
    Setting::value(
        "time",
        "TIME",
        "Time of arrival, for example 2026-11-22 or 2026-11-22T18:05:00Z [default: now].",
    ),
];

/// Settings of the outputs about added documents.
pub(super) const ADDED: &[Setting] = &[
    Setting::results(
        "only_new",
        "DIR",
        "Write a copy of every file to a folder, byte for byte, without documents that repeat others.\n\nNothing is \
         committed to the index before all copies are complete.",
    ),
    Setting::flag("json", "Print repeats as JSON Lines, with file and record.").printing(),
];

/// Settings of the batches of lines that are filtered.
pub(super) const FILTERED: &[Setting] = &[
    Setting::value(
        "batch",
        "LINES",
        "Number of lines in a batch, which are answered together.",
    )
    .default("1000"),
    Setting::value(
        "wait",
        "MS",
        "Answer a batch this many milliseconds after its first line arrived, even if it is not full.",
    )
    .default("20"),
    Setting::value(
        "commit_after",
        "SECONDS",
        "Commit the answered lines to the index at the latest this many seconds after the last commit, or with every \
         batch if it is 0. If the program is killed, lines that it answered since then may pass again.",
    )
    .default("5")
    .in_files(),
    Setting::path(
        "duplicates",
        "FILE",
        "Append lines that repeat others to this file, each with the ID that it repeats.",
    ),
];

/// Settings of the answers of an index.
pub(super) const ANSWERS: &[Setting] = &[
    Setting::flag(
        "all",
        "Print all near documents instead of only the nearest.",
    ),
    Setting::flag(
        "json",
        "Print JSON Lines that include, for each near document, how often it was repeated, from which sources, and \
         when.",
    )
    .printing(),
];

/// Setting of the form in which the size of an index is printed.
pub(super) const SIZE: &[Setting] = &[Setting::flag("json", "Print one JSON object.").printing()];

/// Settings of the file to which the documents of an index are exported.
pub(super) const EXPORTED: &[Setting] = &[
    Setting::path(
        "output",
        "FILE",
        "File to write: Parquet if its name ends in .parquet, otherwise JSON Lines; - is standard output [default: \
         JSON Lines on standard output].",
    )
    .short('o')
    .of_resources(),
    Setting::flag("force", "Replace an existing file.").needing("output").of_resources(),
];

/// Settings that choose the documents to remove from an index.
pub(super) const REMOVED: &[Setting] = &[
    Setting::path(
        "ids",
        "FILE",
        "File with the IDs of the documents, one a line; - is standard input.",
    )
    .excluding(&["not_seen_since"]),
    Setting::value(
        "not_seen_since",
        "TIME",
        "Remove the documents whose last sighting is before this time, for example 2026-11-22.\n\nA document is seen when \
         it is added, and whenever a document near it arrives.",
    ),
    Setting::value("source", "NAME", "Source that has brought the documents to remove; without it, all sources.")
        .needing("not_seen_since"),
    Setting::flag(
        "json",
        "Read each line of --ids as JSON: an ID as a string or a number, or an object with the field id, such as a \
         line of index export. An ID with line ends needs this.",
    )
    .printing(),
];

/// Setting for copies of an index without damage.
pub(super) const SALVAGED: &[Setting] =
    &[Setting::flag("force", "Copy the index even if it has no damage.").of_resources()];
