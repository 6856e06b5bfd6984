//! Settings of measuring methods, of single documents, and of generated collections.

use super::reading::formats;
use super::row::{Named, Setting, names};
use simtool_read::PageContent;

/// Settings of the labelled documents of a measurement.
pub(super) const TRUTH: &[Setting] = &[
    Setting::paths(
        "corpus",
        "PATH",
        "Files and folders of one collection, whose near-duplicate pairs are in --truth.",
    ),
    Setting::path(
        "truth",
        "FILE",
        "Near-duplicate pairs of --corpus: lines of two IDs separated by a tab, or by a comma in a file named .csv. \
         A first line that contains no document's ID is a header.\n\nA third column may say yes or no (true or \
         false, 1 or 0), or gray for a pair that counts as neither right nor wrong. Another word, such as light, is \
         a kind of near-duplicates. Further columns are ignored.",
    )
    .needing("corpus"),
    Setting::path(
        "gray",
        "FILE",
        "Pairs of --corpus that count as neither right nor wrong, as lines of two IDs.",
    )
    .needing("truth"),
    Setting::choice(
        "truth_format",
        "FORMAT",
        forms_of_labels,
        "Format of a line in the truth file: two IDs, or an ID and the name of its cluster. Every two documents of \
         a cluster are a pair.",
    )
    .default("pairs"),
];

/// Settings of the methods that are measured.
pub(super) const MEASURED: &[Setting] = &[
    Setting::value(
        "method",
        "LIST",
        "Comma-separated methods: names of presets, or methods with options after a colon, for example \
         simhash:bits=128,shingle=words:2 [default: all presets].\n\nPresets: word-simhash, shingle-simhash, \
         multi-lexicon, minhash, minhash-64, minhash-16, minhash-8, i-match, random-i-match and exact. Options \
         after a preset replace its own, for example word-simhash:bits=512. All thresholds are measured; a \
         threshold that you give is reported in addition.",
    )
    .short('m'),
    Setting::values(
        "seed",
        "SEEDS",
        "Seeds of further hash functions, with which methods are measured as well. With --sample, the seed of the \
         sample [default: 1].\n\nThe result of a method with fingerprints depends on its hash functions as on \
         chance. The result of exact does not. Each seed takes as long as the measurement without it. The table has \
         the mean and the standard deviation of F1 over the usual hash functions and these.",
    ),
    Setting::value(
        "boilerplate",
        "DOCUMENTS[:SITE]",
        "Leave lines that many documents have out of the comparison, by the rules of `simtool dedup` [default: pages \
         if all documents are web pages, otherwise none].",
    )
    .excluding(&["sample", "suggest"]),
];

/// Settings of samples of documents without labels.
pub(super) const SAMPLING: &[Setting] = &[
    Setting::value(
        "sample",
        "S",
        "Estimate recall and precision in a collection without labels: draw S documents and compare each of them \
         exactly with all others.",
    )
    .excluding(&["corpus", "report", "plot", "truth_format"]),
    Setting::value(
        "similarity",
        "S",
        "Minimum similarity of near-duplicates in the sample, with the same measures as dedup --similarity \
         [default: the value of the method's --verify, or 0.8].",
    )
    .needing("sample"),
    Setting::flag(
        "suggest",
        "Choose method, shingle and threshold from a sample, as dedup --method auto does. Print statistics of the \
         sample, pairs just above and just below the threshold, the choice with its reasons, and the command to \
         run. With --corpus and --truth, measure the choice next to all presets.",
    )
    .excluding(&["method", "sample"]),
];

/// Settings of the results of a measurement.
pub(super) const FIGURES: &[Setting] = &[
    Setting::choice("format", "FORMAT", formats_of_figures, "Format of the printed results.")
        .default("table"),
    Setting::path(
        "report",
        "FILE",
        "Write an HTML page with plots and the pairs that the best method gets wrong.",
    ),
    Setting::path(
        "plot",
        "PATH",
        "Write a picture of all methods for a paper, or all plots to a folder. The ending of the name is the format \
         of a picture: .svg, .png or .pdf. A name without an ending is a folder, which gets SVG files.\n\nPNG and \
         PDF have the text in a font of this machine. SVG needs none, and rsvg-convert and Inkscape convert it.",
    ),
    Setting::flag("force", "Replace existing files.").of_resources(),
];

/// Settings of the fields of labelled documents.
pub(super) const LABELLED: &[Setting] = &[
    Setting::value(
        "text_field",
        "NAMES",
        "Fields or columns of the text, as in `simtool dedup` [default: text].",
    ),
    Setting::value(
        "id_field",
        "NAME",
        "Field or column of the ID; a field named here must exist [default: id].",
    ),
    Setting::choice(
        "content",
        "PART",
        names::<PageContent>,
        "Text of an HTML page that is compared, in files and in web archives.",
    )
    .default("main"),
];

/// Settings of the comparison of two documents.
pub(super) const COMPARED: &[Setting] = &[
    Setting::value(
        "method",
        "METHOD",
        "Settings of the SimHash fingerprints whose distance is printed, as in simhash:bits=128.",
    ),
    Setting::choice(
        "format",
        "FORMAT",
        formats,
        "Format of both files [default: recognized by content].",
    ),
    Setting::value(
        "text_field",
        "NAMES",
        "Fields or columns of the text, as in `simtool dedup` [default: text].",
    ),
    Setting::value("id_field", "NAME", "Field or column of the ID, for `FILE#ID` [default: id]."),
    Setting::choice(
        "content",
        "PART",
        names::<PageContent>,
        "Text of an HTML page that is compared.",
    ),
    DOCUMENT_JSON,
];

/// Setting of the form of the text about documents.
pub(super) const EXPLAINED: &[Setting] = &[DOCUMENT_JSON];

/// Settings of audits of finished runs.
pub(super) const AUDITED: &[Setting] = &[
    Setting::value(
        "sample",
        "N",
        "Number of removals to check: random ones, or all if there are fewer.",
    )
    .default("1000"),
    Setting::value(
        "seed",
        "S",
        "Seed by which the removals are chosen. Choose one that nobody knew when the results were written.",
    )
    .default("1"),
    Setting::flag("json", "Print one JSON object.").printing(),
];

/// Settings of reviews of finished runs.
pub(super) const REVIEWED: &[Setting] = &[
    Setting::flag("open", "Open the address in the browser.").printing(),
    Setting::value("port", "N", "Port on the loopback [default: a free one].").of_resources(),
    Setting::values(
        "labels",
        "FILE",
        "File for judgements, which `simtool eval` reads as known pairs [default: OUT.labels.tsv].\n\nThe option may be \
         repeated: judgements of other people in further files are compared with those in the first file.",
    )
    .of_resources(),
    Setting::path(
        "decisions",
        "FILE",
        "File for decisions, which `simtool dedup --decisions` applies [default: OUT.decisions.jsonl].",
    ),
];

const DOCUMENT_JSON: Setting =
    Setting::flag("json", "Print one JSON object, without the differences between the texts.")
        .printing();

/// Settings of generated collections.
pub(super) const GENERATED: &[Setting] = &[
    Setting::value(
        "documents",
        "N",
        "Number of articles.",
    )
    .one_of("what"),
    Setting::value(
        "bytes",
        "SIZE",
        "Total size of the articles, in bytes, with K, M or G for powers of 1000, or KiB, MiB or GiB for powers of \
         1024.",
    )
    .one_of("what"),
    Setting::value(
        "samples",
        "N",
        "Maximum number of samples. A sample is a text whose near-duplicates are searched for in the articles [default: 200].",
    ),
    Setting::value(
        "seed",
        "S",
        "Seed; the same seed gives the same files on every machine [default: 1].",
    ),
    Setting::flag(
        "with_tables",
        "Also write stopwords.txt and hashvalue.txt (500 lines of 64 digits).",
    ),
    Setting::choice(
        "kind",
        "KIND",
        kinds_of_collections,
        "Collection to write instead of articles and samples.",
    )
    .needing("documents")
    .excluding(&["with_tables", "samples"]),
    Setting::results(
        "output",
        "DIR",
        "Folder for the files, created if needed; without other options they are article.txt, sample.txt and \
         truth.tsv.",
    )
    .required()
    .of_resources(),
    Setting::flag(
        "force",
        "Replace existing files.",
    )
    .of_resources(),
    Setting::flag(
        "quiet",
        "Print no notes.",
    )
    .short('q')
    .printing(),
];

fn forms_of_labels() -> Vec<Named> {
    vec![
        ("pairs", "The IDs of two near-duplicates"),
        ("clusters", "The ID of a document and the name of its cluster"),
    ]
}

fn formats_of_figures() -> Vec<Named> {
    vec![
        ("table", "A line for each method, for people"),
        ("tsv", "Tab-separated lines, one for each threshold at which precision or recall changes"),
        ("json", "One JSON object"),
    ]
}

fn kinds_of_collections() -> Vec<Named> {
    vec![
        #[cfg(feature = "parquet")]
        ("crawl", "A small crawl: pages.warc.wet.gz, pages.jsonl and pages.parquet"),
        (
            "labelled",
            "A labelled collection for `simtool eval`: docs.jsonl, truth.tsv and gray.tsv, in English and Chinese",
        ),
    ]
}
