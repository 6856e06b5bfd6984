//! Commands that find near-duplicates, passages and items in documents, and that explain results.

use crate::output::TextFormat;
use crate::setting::command_kind::{CommandKind, groups};
use crate::setting::comparing::{BOILERPLATE, FOLD, IGNORE, NEAR, PLANNING, TERMS};
use crate::setting::fingerprints::WORDS;
use crate::setting::measuring::{
    AUDITED, COMPARED, EXPLAINED, FIGURES, LABELLED, MEASURED, REVIEWED, SAMPLING, TRUTH,
};
use crate::setting::reading::{AGAINST, READING};
use crate::setting::row::{Setting, names};
use crate::setting::running::{MEMORY, NOTES, PARTS, THREADS};
use crate::setting::searching::{CUTTING, FOUND_PARTS, ITEM_REMOVAL, ITEMS, PASSAGES};
use crate::setting::writing::{KEEPING, LOSSES, RESULTS, ROWS, SOURCES};

/// Setting of the files and folders of one collection.
pub(super) const INPUTS: Setting = Setting::paths(
    "paths",
    "PATH",
    "Files and folders to read, including subfolders; - is standard input.",
)
.unless("files_from");

const QUERIES: &[Setting] =
    &[Setting::paths("against", "PATH", "Files and folders of the collection to match against.")
        .unless("files_from")
        .usual()];

const SEARCHED: &[Setting] = &[Setting::paths(
    "in",
    "PATH",
    "Files and folders with the documents to search, including subfolders.",
)
.unless("files_from")];

const COLLECTIONS: &[Setting] = &[
    Setting::paths(
        "corpus",
        "PATH",
        "Files and folders to read, including subfolders; - is standard input.",
    ),
    Setting::paths(
        "queries",
        "PATH",
        "Match these documents against the corpus, and keep the ones that are similar to no document of the corpus.",
    ),
];

const TEXTS: &[Setting] = &[
    BOILERPLATE,
    IGNORE,
    FOLD,
    Setting::path("output", "FILE", "File to write; - is standard output.")
        .short('o')
        .default("-")
        .of_resources(),
    Setting::flag("force", "Replace an existing output.").of_resources(),
    Setting::choice("output_format", "FORMAT", names::<TextFormat>, "Format of the output.")
        .default("jsonl"),
];

const COMBINED: &[Setting] =
    &[Setting::flag("force", "Replace the output if an earlier run of simtool wrote it.")
        .of_resources()];

/// Settings N and M of `simtool N M`.
pub(super) const FEATURES: &[Setting] = &[
    Setting::value(
        "features",
        "N",
        "Number of features: the N most frequent words of the articles. With --corpus, N and M come first, and the \
         features are the most frequent words of the corpus.",
    ),
    Setting::value("bits", "M", "Number of bits of a fingerprint, up to 128."),
];

/// `simtool [N M] --corpus PATH...`, which does the same as `dedup`, or with `--queries` the same as `match`.
pub const CORPUS_FORM: CommandKind = CommandKind {
    names: &["dedup"],
    about: "",
    arguments: FEATURES,
    groups: groups![
        "": WORDS, COLLECTIONS; "Reading": AGAINST; "Keeping": KEEPING, LOSSES;
        "Near-duplicates": NEAR, TERMS, PLANNING; "Writing": SOURCES, RESULTS; "Reading": READING;
        "Running": MEMORY, THREADS, NOTES, PARTS
    ],
    examples: "",
};

/// Commands that find near-duplicates, passages and items in documents, and that explain results.
pub(super) const COMMANDS: &[CommandKind] = &[
    CommandKind {
        names: &["dedup", "dedupe", "deduplicate"],
        about: "Find the near-duplicates of a collection, and write which documents to remove.\n\nFinds all pairs \
                of documents whose sets of shingles have a Jaccard similarity of at least 0.8, or as --method says, \
                decides for each near-duplicate which document is kept in its place, and writes both, with the \
                similarity as proof, to a folder: removed.jsonl, clusters.jsonl, quarantine.jsonl (bad records), \
                summary.json and report.html.",
        arguments: &[INPUTS],
        groups: groups![
            "Keeping": KEEPING, LOSSES; "Near-duplicates": NEAR, TERMS, PLANNING; "Writing": SOURCES, RESULTS;
            "Reading": READING; "Running": MEMORY, THREADS, NOTES, PARTS
        ],
        examples: "\
Examples:
  simtool dedup big/ --threads 16
      reads every file under big/ (WARC, WET, HTML, JSON Lines, XML, Parquet, Arrow, CSV, text;
      plain or compressed), finds all near-duplicates and writes the results to simtool-out/
  simtool dedup big/ --dry-run
      reads a sample and estimates the time and memory of this run
  simtool dedup big/ --preview
      shows what would be removed: by similarity, by size of cluster, the largest clusters, and the
      pairs closest to the limit
  simtool dedup dump.jsonl.gz --text-field body --similarity 0.7 --write-kept --output clean
      also writes the documents without near-duplicates, in the same format, to clean/kept/
  simtool dedup chats.jsonl notes.parquet --text-field messages[].content,title+body
      compares the messages of each chat, and title and body of each note
  simtool dedup crawl/*.warc.gz --content all
      compares the whole text of pages, with navigation, headers, footers and sidebars
  simtool dedup big/ --method simhash --max-distance 6 --verify 0.9
      uses fingerprints, which take 16 bytes a document, then compares the texts of each pair
  simtool dedup big/ --method auto
      chooses the method from a sample of the documents, and prints the choice with its reasons
  simtool dedup big/ --annotate=weight=sqrt
      lists all documents with their clusters, and kept ones with a weight for training
  simtool dedup big/ --config simtool.toml
      reads options from a file; simtool config dedup prints one with all options
  simtool dedup big/ --resume
      stores what was read, and goes on from there when the same command runs again after a stop
  simtool dedup posts.jsonl --ignore links,mentions --ignore 're:ORDER-[0-9]+'
      compares posts without links, mentions and order numbers
  simtool dedup big/ --keep newest
      keeps the document of each cluster with the latest date
  simtool dedup big/ --lose 3
      keeps documents with more than three words that are not in the document kept in their place
  simtool dedup big/ --method covered --keep longest
      removes documents only if all of their words but three are in kept documents, one or several
  simtool dedup big/ --keep max:score,longest
      keeps the document of each cluster with the highest score, and the longest of several
  simtool dedup pages/ --within lang --prefer source=wiki,news
      compares only documents of the same language, and keeps those of source wiki first
  simtool 1000 64 --corpus big/
      uses the fingerprints of `simtool 1000 64`, over the 1000 most frequent words

`simtool --corpus PATH` does the same as `simtool dedup PATH`.",
    },
    CommandKind {
        names: &["match"],
        about: "Find the documents that are near-duplicates of documents in another collection.\n\nWrites a folder: \
                pairs.jsonl has all matches, removed.jsonl has the queries with a match, each with its most similar \
                document, and kept/ (with --write-kept) has the queries without a match.",
        arguments: &[Setting::paths(
            "queries",
            "QUERIES",
            "Files and folders with the documents to match, including subfolders; - is standard input.",
        )
        .required()],
        groups: groups![
            "": QUERIES; "Reading": AGAINST; "Keeping": LOSSES;
            "Near-duplicates": NEAR, TERMS, PLANNING;
            "Writing": SOURCES, RESULTS; "Reading": READING; "Running": MEMORY, THREADS, NOTES
        ],
        examples: "\
Examples:
  simtool match new/ --against big/
      writes the documents of new/ that match a document of big/ to simtool-out/removed.jsonl, and
      all matches to simtool-out/pairs.jsonl
  simtool match new/ --against big/ --write-kept --output fresh
      also writes the documents of new/ without a match in big/ to fresh/kept/
  simtool match new/ --against big/ --method covered
      writes the documents of new/ whose words are all in big/, but for three words each
  simtool match new.jsonl --files-from big.paths --method simhash --max-distance 6
      matches by fingerprints against the files that big.paths lists

`simtool --corpus PATH --queries QUERIES` does the same.",
    },
    CommandKind {
        names: &["passages"],
        about: "Find the passages that occur in several documents, with all their places.\n\nA passage has at least \
                50 words, or as many as --words says. Each of its words is in a sequence of that many words that \
                is also in another document. Sequences that overlap or touch form one passage. The passage need not \
                be in another document as a whole. With --unit, passages are whole paragraphs, lines or sentences. \
                Upper and lower case, punctuation and white space do not matter. Prints a row for each passage of \
                each document, in reading order. The search is exact.",
        arguments: &[INPUTS],
        groups: groups![
            "": PASSAGES; "Cutting": CUTTING; "Writing": ROWS; "Reading": READING;
            "Running": PARTS, MEMORY, THREADS, NOTES
        ],
        examples: "\
Examples:
  simtool passages big/ > passages.jsonl
      lists all passages of at least 50 words that occur in several documents of big/
  simtool passages dump.parquet --words 20 --min-documents 10 --output repeated.jsonl
      writes passages of at least 20 words that occur in at least ten documents to a file
  simtool passages book.txt --min-documents 1 --words 10 --verify-words
      also lists what repeats itself in one document, and compares the words of equal passages
  simtool passages crawl/ --unit line --min-documents 10:host
      lists whole lines of at least 8 words that pages of at least ten hosts have
  simtool passages big/ --write-kept --output cut/ --min-left 50
      cuts all copies but the first out of copies of the files, and drops texts with little left",
    },
    CommandKind {
        names: &["contamination"],
        about: "Find the items of an evaluation set, such as questions, that documents contain.\n\nA shingle is a \
                sequence of 5 words, or of as many as --words says. A document contains an item if it has shingles \
                with at least 0.8 of the item's words, or as --measure and --share say, all within a region of \
                three times the item's length. An item that is shorter than a shingle is matched as a whole. Upper \
                and lower case, punctuation and white space do not matter. Prints a row for each item and document, \
                in the order of the items. The search is exact. Of an HTML page, it searches the main content; \
                --content all searches the whole page.",
        arguments: &[Setting::paths(
            "items",
            "ITEMS",
            "Files and folders with the items of the evaluation set; - is standard input. Each line of a text file \
             is an item.",
        )
        .required()],
        groups: groups![
            "": SEARCHED, ITEMS; "Writing": ITEM_REMOVAL, ROWS; "Reading": READING;
            "Running": FOUND_PARTS, MEMORY, THREADS, NOTES
        ],
        examples: "\
Examples:
  simtool contamination questions.jsonl --fields question,answer --in corpus/ > found.jsonl
      lists the items with 0.8 of their words, in shingles of 5 words, in a document of corpus/
  simtool contamination questions.jsonl --in corpus/ --measure weighted --output found.jsonl
      also finds items with several changed words: words of common shingles count less
  simtool contamination lines.txt --in big/ --words 13 --measure shingles --share 0.5
      counts shingles of 13 words of each line of a text file
  simtool contamination items.jsonl --in corpus/ --write-kept drop --output clean/
      writes copies of the files of corpus/ without the documents that contain an item",
    },
    CommandKind {
        names: &["combine"],
        about: "Write the results of a command whose input was read in shards, with --shard.\n\nThe results are the \
                same as of one run. If a shard is missing, prints the command for it.",
        arguments: &[Setting::folder(
            "output",
            "OUTPUT",
            "Output of the runs with --shard, which does not exist yet. The parts are in OUTPUT.parts.",
        )
        .required()],
        groups: groups!["": COMBINED; "Running": MEMORY, THREADS, NOTES],
        examples: "\
Examples:
  simtool dedup big/ --output out --shard 1/2
  simtool dedup big/ --output out --shard 2/2
  simtool combine out
      reads each half of big/ by a run of its own, also on two machines, and writes the results of
      `simtool dedup big/ --output out` to out/",
    },
    CommandKind {
        names: &["text"],
        about: "Write the text of each document as the other commands compare it.\n\nWrites a JSON object for each \
                document: its name, the compared part of an HTML page, the number of words that are not compared, \
                and the text. With --output-format html, writes a page for a browser: the whole text of each document, \
                in which the compared part is marked.",
        arguments: &[INPUTS],
        groups: groups![
            "": TEXTS; "Reading": READING; "Running": MEMORY, THREADS, NOTES
        ],
        examples: "\
Examples:
  simtool text crawl/ --limit 3
      prints the text of three documents of crawl/
  simtool text crawl/ --limit 50 --output-format html --output look.html
      writes a page that shows which parts of fifty documents are compared
  simtool text crawl/*.warc.gz --output texts.jsonl
      writes the main content of all pages
  simtool text crawl/ --boilerplate 10:host | jq -c 'select(.left_out > 1000) | [.id, .left_out]'
      lists the pages with more than 1,000 words that are not compared",
    },
    CommandKind {
        names: &["compare"],
        about: "Compare two documents: print their similarity and where they differ.",
        arguments: &[
            Setting::path(
                "left",
                "A",
                "File with one document, or - for standard input. Use `FILE:RECORD` or `FILE#ID` for a file with \
                 many documents, and `OUT#ID` for a document of a finished run with output folder OUT.\n\nDocuments \
                 of a run are compared with its shingles and stop words, unless you name others.",
            )
            .required(),
            Setting::path(
                "right",
                "B",
                "The other document. Its name can have the same forms as A.",
            )
            .required(),
        ],
        groups: groups!["": TERMS, COMPARED; "Running": NOTES],
        examples: "\
Examples:
  simtool compare a.txt b.txt
      prints the similarity of two documents and where they differ
  simtool compare dump.jsonl:7 dump.jsonl:12 --text-field body
      compares two records of a file, named as in removed.jsonl",
    },
    CommandKind {
        names: &["why"],
        about: "Explain why a finished run kept or removed a document, and for which other document.\n\nReads the \
                run's output folder, and the texts from the input files if they still exist.",
        arguments: &[
            Setting::folder("output", "OUT", "Output folder of a finished run.").required(),
            Setting::value(
                "document",
                "ID",
                "Document: its ID in the run's outputs, or `FILE:RECORD` or `FILE#ID` with the file name that the \
                 run used.",
            )
            .required(),
        ],
        groups: groups!["": EXPLAINED; "Running": THREADS, NOTES],
        examples: "\
Examples:
  simtool why simtool-out page-17
      prints whether this document was kept or removed, and for which other document
  simtool why simtool-out big/part-3.jsonl:120
      the same for record 120 of a file
  simtool why simtool-out big/part-3.jsonl#page-17
      the same for an ID that occurs in several files
  simtool why simtool-out page-17 --json
      the same as one JSON object, for a program",
    },
    CommandKind {
        names: &["audit"],
        about: "Check a finished run by its receipt, and a random sample of removals by their texts.\n\nChecks the outputs of \
                dedup and match. Needs the receipt that --receipt writes, and the inputs that have the checked documents. \
                Compares the outputs, these inputs and the request with the receipt. Then it reads the documents of random \
                removals, and decides about each pair alone: whether they are near-duplicates by the settings of the run, \
                with the similarity, distance and lost words that the row has, and whether the right one is kept. Ends with \
                exit code 1 if something is not as it should be, and with 3 if something could not be checked.",
        arguments: &[Setting::folder("output", "OUT", "Output folder of a finished run.").required()],
        groups: groups!["": AUDITED; "Running": MEMORY, THREADS, NOTES],
        examples: "\
Examples:
  simtool dedup big/ --receipt --output out
  simtool audit out
      compares the files with out/receipt.json, and checks 1,000 random removals
  simtool audit out --sample 10000 --seed 20261129
      checks 10,000 others
  simtool audit out --json | jq .failures
      lists the removals that do not hold, for a program",
    },
    CommandKind {
        names: &["review"],
        about: "Show a finished run in the browser: look, judge a sample, decide.\n\nReads the \
                outputs of dedup or match, or those of passages or contamination with --write-kept, and the texts from the input \
                files. Prints an address on the loopback that \
                only those with its token can use, and ends with Ctrl-C. The index of a run with 500,000 removed documents or more \
                is kept in OUT.review-index, so that it opens at once the next time.",
        arguments: &[Setting::folder("output", "OUT", "Output folder of a finished run.").required()],
        groups: groups!["": REVIEWED; "Running": MEMORY, THREADS, NOTES],
        examples: "\
Examples:
  simtool review simtool-out --open
      shows the run in the browser
  simtool review simtool-out --labels both.tsv --labels me.tsv --labels you.tsv
      shows how well the judgements in me.tsv and you.tsv agree, and merges them in both.tsv
  simtool dedup big/ --decisions simtool-out.decisions.jsonl --output decided
      applies the decisions of the review",
    },
    CommandKind {
        names: &["eval", "evaluate"],
        about: "Measure methods on labelled collections, or on a sample of your own.\n\nCompares all pairs of \
                documents with each method, and prints precision, recall and F1 at every threshold. A found pair \
                that is not among the true pairs is wrong. With --sample, no labels are needed: a random sample is \
                compared exactly with the whole collection.",
        arguments: &[Setting::paths(
            "paths",
            "PATH",
            "Labelled collections, one a folder: documents in docs.* (for example docs.jsonl.zst), near-duplicate \
             pairs in truth.tsv or truth.csv, and optionally pairs to ignore in gray.tsv or gray.csv. With --sample \
             and --suggest: files and folders of one collection without labels.",
        )
        .unless("corpus")
        .excluding(&["corpus"])],
        groups: groups![
            "": TRUTH; "Methods": MEASURED; "Sampling": SAMPLING; "Writing": FIGURES;
            "Reading": LABELLED; "Running": MEMORY, THREADS, NOTES
        ],
        examples: "\
Examples:
  simtool eval datasets/labelled
      measures how well each preset finds the near-duplicates in the folder's docs.jsonl that its
      truth.tsv lists
  simtool eval set-a/ set-b/ --method shingle-simhash,simhash:bits=512,shingle=chars:5,exact
      compares three methods on two collections, with the mean at the best threshold of each
      collection and at one threshold for both
  simtool eval --corpus docs.jsonl --truth pairs.tsv --format tsv
      prints a line for every threshold of every preset
  simtool eval set-a/ --report eval.html --plot plots/
      also writes a page with plots and the pairs that the best method gets wrong
  simtool eval --sample 1000 big/ --method simhash:max_distance=6
      estimates recall and precision of the method in a collection without labels
  simtool eval --suggest big/
      suggests method, shingle and threshold for the collection, with reasons and with pairs just
      above and just below the threshold",
    },
];
