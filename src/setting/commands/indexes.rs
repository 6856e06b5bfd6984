//! Commands on fingerprints and on indexes.

use super::near::{FEATURES, INPUTS};
use crate::setting::command_kind::{CommandKind, groups};
use crate::setting::comparing::{FINGERPRINTS, INDEXES, TERMS};
use crate::setting::fingerprints::{
    CAPACITY, FINGERPRINT_FILE, JOINED, PAIR_FILE, PAIRS, REFERENCE, SEARCHED, WORDS,
};
use crate::setting::indexing::{
    ADDED, ANSWERS, ARRIVAL, CREATED, EXPORTED, FILTERED, REMOVED, SALVAGED, SIZE,
};
use crate::setting::reading::{LINES, READING};
use crate::setting::row::Setting;
use crate::setting::running::{MEMORY, NOTES, THREADS};

const FILE: &[Setting] = &[Setting::path(
    "file",
    "FILE",
    "File of fingerprints, in a format recognized by content; - is standard input.\n\nFormats: simtool's packed \
     file; a NumPy array of uint64 with one or two dimensions; text with a lower-case hexadecimal number on each \
     line, empty if a row has no fingerprint; JSON Lines with such a number or null in the field \"fingerprint\"; \
     Parquet with a column \"fingerprint\" of bytes (highest first), 64-bit integers or hexadecimal text, null if a \
     row has no fingerprint.",
)
.required()];

const FOLDER: Setting = Setting::folder("index", "INDEX", "Folder of the index.").required();

/// The command that checks an index. Other commands on an index take its settings.
const ON_INDEX: CommandKind = CommandKind {
    names: &["index verify"],
    about: "Check every byte of an index.",
    arguments: &[FOLDER],
    groups: groups!["Running": MEMORY, THREADS, NOTES],
    examples: "\
Examples:
  simtool index verify seen.idx && echo intact
      reads and checks every byte",
};

/// Commands on fingerprints and on indexes.
pub(super) const COMMANDS: &[CommandKind] = &[
    CommandKind {
        names: &["fingerprint"],
        about: "Write a file of fingerprints of documents, for join and search.\n\nRows are in reading order, \
                    so that row numbers of a join identify documents.",
        arguments: &[INPUTS],
        groups: groups![
            "": FINGERPRINTS, TERMS; "Writing": FINGERPRINT_FILE; "Reading": READING;
            "Running": MEMORY, THREADS, NOTES
        ],
        examples: "\
Examples:
  simtool fingerprint big/ --output big.f
      writes a packed file for `simtool join big.f`
  simtool fingerprint big/ --method simhash:bits=128 --output big.parquet
      also writes the ID of each document
  simtool fingerprint new.jsonl --output -
      prints JSON Lines on standard output",
    },
    CommandKind {
        names: &["join"],
        about: "List all pairs of rows in a file of fingerprints that differ in few bits.\n\nPrints \
                    tab-separated lines of a, b and distance, in order of rows, with a before b. a and b are IDs if \
                    the file has them, otherwise row numbers from 0.",
        arguments: FILE,
        groups: groups!["": JOINED, PAIRS; "Writing": PAIR_FILE; "Running": MEMORY, THREADS, NOTES],
        examples: "\
Examples:
  simtool join big.f
      prints all pairs of rows within 3 bits
  simtool join big.npy --max-distance 6 --output pairs.parquet
      writes all pairs within 6 bits to a file
  simtool join big.f --count
      prints the number of pairs
  simtool fingerprint big/ --output - | simtool join -
      prints the pairs without writing a file",
    },
    CommandKind {
        names: &["search"],
        about: "Search a file of fingerprints for rows near the rows of another file.\n\nPrints tab-separated \
                    lines of query, row and distance, in order of rows. Rows are named by IDs if their file has \
                    them, otherwise by row numbers from 0.",
        arguments: FILE,
        groups: groups![
            "": SEARCHED, PAIRS; "Writing": PAIR_FILE; "Running": MEMORY, THREADS, NOTES
        ],
        examples: "\
Examples:
  simtool search big.f --queries new.f
      prints, for each row of new.f, the rows of big.f within 3 bits
  simtool search big.f --queries new.f --max-distance 10 --output matches.tsv --stats
      writes the rows within 10 bits to a file, and prints the time of each stage",
    },
    CommandKind {
        names: &["index"],
        about: "Maintain an index of seen documents: query it, add to it, filter a stream.",
        arguments: &[],
        groups: &[],
        examples: "\
Examples:
  simtool index create seen.idx
      creates an index of 64-bit fingerprints; near-duplicates differ in at most 3 bits
  simtool index add seen.idx big/ --source 2026-11
      adds new documents, and prints each repeat with the document that it repeats
  simtool index filter seen.idx < pages.jsonl > new.jsonl
      passes through lines that were never seen, as they arrive",
    },
    CommandKind {
        names: &["index create"],
        about: "Create an index, and choose how its documents are compared, which cannot change later.",
        arguments: &[
            Setting::results("index", "INDEX", "Folder to create for the index.").required()
        ],
        groups: groups!["": INDEXES, TERMS; "Running": CREATED],
        examples: "\
Examples:
  simtool index create seen.idx
      uses SimHash of three-word shingles with 64 bits; near-duplicates differ in at most 3
  simtool index create seen.idx --method simhash:bits=128 -k 6 --shingle chars:7
      uses 128 bits over shingles of seven characters, with distances up to 6",
    },
    CommandKind {
        names: &["index add"],
        about: "Add documents that are not near-duplicates of earlier ones, and list the repeats.\n\nPrints a \
                    tab-separated line for each document that repeats an earlier one: its ID, the ID that it \
                    repeats, and their distance. Files that were already added are skipped; an interrupted add \
                    resumes where it stopped.",
        arguments: &[FOLDER, INPUTS],
        groups: groups![
            "Reading": READING; "Running": MEMORY, THREADS, NOTES; "": ARRIVAL; "Writing": ADDED
        ],
        examples: "\
Examples:
  simtool index add seen.idx dump.jsonl --source 2026-11 > repeats.tsv
      adds a dump, and lists its documents that were seen before
  simtool index add seen.idx dump/ --only-new new/
      writes the dump without the documents that were seen before",
    },
    CommandKind {
        names: &["index filter"],
        about: "Pass through JSON lines that are not near-duplicates of anything seen so far, and add \
                    them.\n\nReads standard input, which may be compressed, and writes new lines to standard \
                    output, byte for byte and not compressed. Lines without words and lines that are not documents \
                    also pass; the latter are reported as errors. Lines are answered in batches. If the program is \
                    interrupted or its reader ends, all answered lines are in the index. If it is killed, lines of \
                    the last seconds may pass again.",
        arguments: &[FOLDER],
        groups: groups!["Running": MEMORY, THREADS, NOTES; "": ARRIVAL, FILTERED, LINES],
        examples: "\
Examples:
  crawl | simtool index filter seen.idx --duplicates seen.jsonl | store
      filters the pages between a crawler and its store
  simtool index filter seen.idx --wait 5 < pages.jsonl > new.jsonl
      answers within about 5 ms",
    },
    CommandKind {
        names: &["index query"],
        about: "Look up documents in an index without adding them.\n\nPrints a tab-separated line for each \
                    document that is near a document of the index: its ID, the ID of the nearest document, and \
                    their distance.",
        arguments: &[FOLDER, INPUTS],
        groups: groups!["Reading": READING; "Running": MEMORY, THREADS, NOTES; "Writing": ANSWERS],
        examples: "\
Examples:
  simtool index query seen.idx page.txt
      prints the document of the index that is nearest to the page
  simtool index query seen.idx pages.jsonl --all --json
      prints all near documents with their counts, sources and times",
    },
    CommandKind {
        names: &["index stat"],
        about: "Print the size of an index and the method that compares its documents.",
        arguments: &[FOLDER],
        groups: groups!["": SIZE],
        examples: "\
Examples:
  simtool index stat seen.idx
      prints the method and the numbers of documents, repeats and bytes",
    },
    ON_INDEX,
    CommandKind {
        names: &["index compact"],
        about: "Merge the segments of an index, which makes it smaller and faster.",
        examples: "\
Examples:
  simtool index compact seen.idx
      merges many segments into one",
        ..ON_INDEX
    },
    CommandKind {
        names: &["index merge"],
        about: "Add all documents of another index, with their sources and repeats.",
        arguments: &[
            FOLDER,
            Setting::folder("other", "OTHER", "Folder of the other index, which is not changed.")
                .required(),
        ],
        examples: "\
Examples:
  simtool index merge all.idx seen.idx
      adds the documents of seen.idx to all.idx",
        ..ON_INDEX
    },
    CommandKind {
        names: &["index export"],
        about: "Write the documents of an index: how often each was repeated, from which sources, and when.",
        arguments: &[FOLDER],
        groups: groups!["Running": MEMORY, THREADS, NOTES; "Writing": EXPORTED],
        examples: "\
Examples:
  simtool index export seen.idx > documents.jsonl
      writes a line for each document, with its repeats, sources, first and last time
  simtool index export seen.idx --output documents.parquet
      writes the same as a Parquet table",
    },
    CommandKind {
        names: &["index remove"],
        about: "Remove documents from an index.\n\nRemoved documents match nothing any more. `compact` also \
                    deletes them from the disk.",
        arguments: &[FOLDER],
        groups: groups!["Running": MEMORY, THREADS, NOTES; "": REMOVED],
        examples: "\
Examples:
  simtool index remove seen.idx --ids gone.txt
      removes the documents that gone.txt lists
  simtool index remove seen.idx --not-seen-since 2026-05-01 --source news
      removes documents from news that no source has brought again since May
  simtool index export seen.idx | grep spam.example | simtool index remove seen.idx --ids - --json
      removes the documents with spam.example in their line, for example in the ID",
    },
    CommandKind {
        names: &["index salvage"],
        about: "Copy the intact documents of a damaged index to a new one.",
        arguments: &[
            FOLDER,
            Setting::results("new", "NEW", "Folder to create for the new index.").required(),
        ],
        groups: groups!["Running": MEMORY, THREADS, NOTES; "": SALVAGED],
        examples: "\
Examples:
  simtool index salvage seen.idx saved.idx
      copies the intact documents of a damaged index, and reports the damage",
    },
    CommandKind {
        names: &["plan"],
        about: "Estimate the tables, bytes, time and machines of a very large index of fingerprints.\n\nEach \
                    table finds fingerprints by a prefix, which is a part of their bits. With more tables, prefixes \
                    are longer and candidates fewer, but more memory is needed. The first line is the design of \
                    `simtool index`.",
        arguments: &[],
        groups: groups!["": CAPACITY],
        examples: "\
Examples:
  simtool plan --documents 1e11 --bits 64 --max-distance 3 --max-memory 64G
      plans for a hundred billion pages on machines with 64 GB",
    },
    CommandKind {
        names: &["reference"],
        about: "Match the samples of a folder with its articles, as `simtool N M` does.\n\nTakes the N most \
                    frequent words of the articles as features, makes a fingerprint of M bits (SimHash) of every \
                    article and every sample, and lists for each sample the articles whose fingerprints differ in \
                    at most 3 bits, nearest first and then in the order of the file.\n\nForm feeds separate \
                    documents. A document's first token is its ID, and the rest of that line is ignored. Words are \
                    runs of ASCII letters, compared in lower case.\n\nProgress is shown on a terminal, and \
                    elsewhere only with --progress always.",
        arguments: FEATURES,
        groups: groups!["": WORDS, REFERENCE; "Running": THREADS, NOTES],
        examples: "\
Examples:
  simtool 1000 16
      reads stopwords.txt, hashvalue.txt, article.txt and sample.txt in the current folder,
      fingerprints every document with 16 bits over the 1000 most frequent words, writes for
      each sample the articles within 3 bits to result.txt, and prints the first sample's
  simtool 5000 64 --directory DIR --max-distance 5
      the same for the files in DIR, with matches up to 5 of 64 bits away
  simtool 1000 64 --articles corpus.txt --samples new.txt --result -
      matches any two files and prints the result of all samples on standard output

`simtool N M` does the same as `simtool reference N M`.",
    },
];
