//! Settings of searches for repeated passages and for items of evaluation sets.

use super::comparing::IGNORE;
use super::row::{Setting, names};
use super::writing::WRITE_REMOVED;
use crate::output::ItemRemoval;
use simtool_contamination::Measure;
use simtool_passages::Cut;
use simtool_terms::tokenize::text_units::TextUnit;

/// Settings that choose the passages to find.
pub(super) const PASSAGES: &[Setting] = &[
    Setting::choice(
        "unit",
        "UNIT",
        names::<TextUnit>,
        "Unit of text that must be repeated.\n\nA paragraph, line or sentence is repeated if others have the \
         same words, and passages are whole units. Units with fewer words than --words are left out.",
    )
    .default("words"),
    Setting::value(
        "words",
        "N",
        "Minimum number of words of a passage, from 1 to 1000 [default: 50, or 8 for a --unit].",
    )
    .short('w'),
    Setting::value(
        "min_documents",
        "N[:ORIGIN]",
        "Minimum number of documents with the words of a passage, or 1 to list also passages that are repeated only \
         within one document.\n\nORIGIN says which documents count as different ones: document, file, folder or host. \
         For example, with 2:host, a passage must occur in two hosts, and the counts in the rows are counts of hosts.",
    )
    .default("2"),
    IGNORE,
    Setting::flag(
        "verify_words",
        "Compare the words of all passages whose hashes are equal.\n\nTwo different runs of words have equal \
         hashes with a probability of less than 1 in 3,000 for a hundred million words. Takes two more readings \
         of the documents with passages. With --write-kept, copies with cuts are also read again and checked.",
    ),
    Setting::flag(
        "preview",
        "Find the passages as the run does, print their counts and the texts that are repeated most with their \
         first places, and write nothing. Takes about as long as the run without copies.",
    )
    .printing(),
];

/// Settings for cutting passages out of copies of the files.
pub(super) const CUTTING: &[Setting] = &[
    Setting::choice(
        "cut",
        "COPIES",
        names::<Cut>,
        "Copies of a passage that --write-kept cuts.",
    )
    .needing("write_kept"),
    Setting::value(
        "mask",
        "TEXT",
        "Text that replaces each cut. Without it, a line feed does.",
    )
    .needing("write_kept"),
    Setting::value(
        "min_left",
        "N",
        "Remove a cut document with fewer words left [default: 1].\n\nWith --cut first, a document that keeps \
         words of a passage, such as its first copy, is never removed.",
    )
    .needing("write_kept"),
    Setting::flag(
        "write_kept",
        "Write copies of the input files without the passages to the folder --output.\n\nThe copies are in \
         kept/ and have the format of the input. Only the text of a document is changed: a string of JSON, a \
         column of CSV, Parquet or Arrow, the block of a WET record, or a part of a text file. A document whose \
         text was extracted or decoded, as from HTML, is copied whole and listed (uncut). The folder also has the \
         passages, a list of the cut documents (cuts), a list of the copies (files), summary.json and \
         report.html.",
    )
    .needing("output"),
    Setting { help: "Also list the texts that the copies lack (removed_texts): a row for each cut, or for a removed document. They \
                     are read once more, by one thread.", ..WRITE_REMOVED }
    .needing("write_kept"),
];

/// Settings of items, and conditions on which a document contains an item.
pub(super) const ITEMS: &[Setting] = &[
    Setting::value(
        "fields",
        "NAMES",
        "Fields of the items, joined by newlines, such as question,answer [default: text].\n\nA comma joins \
         fields here, and an item may lack some of them. In --text-field, which names the text of the documents, \
         a plus sign joins fields, and a comma separates alternatives. Otherwise each field is written like \
         --text-field.",
    ),
    Setting::value("words", "N", "Number of words of a shingle, from 1 to 1000.")
        .short('w')
        .default("5"),
    Setting::choice(
        "measure",
        "MEASURE",
        names::<Measure>,
        "Measure of how much of an item a document has.",
    )
    .default("words"),
    Setting::value(
        "share",
        "SHARE",
        "List an item for a document that has at least this share of it, as 0.8 or 4/5 [default: 0.8, and 0.6 with \
         --measure weighted].",
    ),
    IGNORE,
];

/// Settings for removing items from copies of the files.
pub(super) const ITEM_REMOVAL: &[Setting] = &[
    Setting::choice(
        "write_kept",
        "HOW",
        names::<ItemRemoval>,
        "Write copies of the documents' files without the items to the folder --output.\n\nThe copies are in \
         kept/ and have the format of the input. A document whose text was extracted or decoded, as from HTML, \
         cannot be cut; it is copied whole and listed (uncut). The folder also has the rows, a list of the copies \
         (files) and summary.json.",
    )
    .needing("output"),
    Setting { help: "Also write copies of the documents' files to removed/, in the same format, with nothing but the documents that \
                     contain an item.", ..WRITE_REMOVED }
    .needing("write_kept"),
    Setting::value(
        "mask",
        "TEXT",
        "Text in place of the words of items, with --write-kept mask [default: [...]].",
    )
    .needing("write_kept"),
];

/// Setting for storing the items that a search finds.
pub(super) const FOUND_PARTS: &[Setting] = &[
    Setting::flag(
        "resume",
        "Store what was found, and go on from there if this run was stopped before.\n\nThe folder OUTPUT.parts \
         has the items that the documents of each file contain. A run with the same options searches only the \
         files that are not there, or that have changed. The results are the same. The folder is removed after \
         the run.",
    )
    .needing("output")
    .of_resources(),
];
