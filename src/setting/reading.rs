//! Settings of reading documents.

use super::on_error::OnError;
use super::row::{Named, Setting, names};
use simtool_read::{Format, PageContent, TextSplit};

/// Settings that choose the documents to read, and how to read them.
pub const READING: &[Setting] = &[
    Setting::path(
        "files_from",
        "LIST",
        "File that lists more paths to read, one a line, optionally compressed with gzip; - is standard input.",
    ),
    Setting::flag(
        "null",
        "Paths in the list are separated by zero bytes.",
    )
    .short('0')
    .needing("files_from"),
    Setting::values(
        "glob",
        "GLOB",
        "When reading folders, include only files matching this glob (repeatable).\n\nA glob without a slash is \
         compared with the names of files, and a glob with a slash with their paths below the folder, where `**` \
         matches any number of folders. A glob that begins with `!` leaves files out, like --exclude.",
    ),
    Setting::values(
        "exclude",
        "GLOB",
        "When reading folders, leave out files matching this glob (repeatable).",
    ),
    Setting::flag(
        "hidden",
        "When reading folders, include hidden files and folders, whose names begin with a dot.\n\nWithout this \
         option they are skipped, and a note reports their number. Paths on the command line are read even if \
         they are hidden. In folders, links to files are followed, links to folders are not, and results of \
         simtool are skipped.",
    ),
    Setting::choice(
        "format",
        "FORMAT",
        formats,
        "Format of every file [default: recognized by content and name].",
    ),
    Setting::choice(
        "split",
        "BY",
        names::<TextSplit>,
        "Division of plain-text files into documents.",
    )
    .default("file"),
    Setting::flag(
        "per_line",
        "Treat each line of a plain-text file as a document (the same as --split lines).",
    )
    .excluding("split"),
    Setting::value(
        "encoding",
        "NAME",
        "Encoding of texts that are not UTF-8 and do not declare another one: a name of the web such as \
         windows-1251 or gbk, or detect [default: UTF-8].\n\n`detect` guesses the encoding of each file whose \
         first 256 KiB are not UTF-8 from these bytes, and a note names it. A byte order mark goes before this \
         option. So does the encoding that an HTML page, its HTTP header or a mail declares. Pages and mails that \
         declare none are always detected one by one, unless this option names an encoding. Copies keep the bytes \
         of the input.",
    ),
    Setting::choice(
        "content",
        "PART",
        names::<PageContent>,
        "Text of an HTML page that is compared.\n\nHolds for files and for web archives. Mails are always read \
         as a whole.",
    )
    .default("main"),
    Setting::value(
        "delimiter",
        "CHAR",
        "Character between the columns of CSV and TSV, or the word tab [default: a tab in TSV; in CSV the comma, \
         semicolon, tab or bar, recognized by the first rows].",
    ),
    Setting::value(
        "quote",
        "CHAR",
        "Character that encloses fields of CSV and TSV, or the word none if quotes are letters [default: \
         recognized by the first rows; in TSV they are letters unless fields begin and end with them].",
    ),
    Setting::value(
        "escape",
        "CHAR",
        "Character before a quote inside a quoted field of CSV and TSV [default: a backslash if the first rows \
         need it; quotes may also be doubled].",
    ),
    Setting::flag(
        "no_header",
        "The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so on.",
    ),
    Setting::value(
        "text_field",
        "NAMES",
        "Fields or columns of the text [default: text].\n\n`meta.text` is a field of an object, \
         `messages[].content` a field of each element of a list, and `title+body` joins fields by a newline. Of \
         `text,body`, only the first field that a record has is read: a comma joins nothing, unlike in `simtool \
         contamination --fields`. A field whose name is exactly as written comes first, and a backslash takes the \
         meaning from a dot, comma, plus sign or bracket in a name.",
    )
    .excluding("all_strings"),
    Setting::flag(
        "all_strings",
        "Compare all texts of a record, joined by newlines: every string of JSON, every text column.",
    ),
    Setting::value(
        "id_field",
        "NAME",
        "Field or column of the ID, written like --text-field; it must exist if named [default: id].",
    ),
    Setting::value(
        "min_tokens",
        "N",
        "Pass over documents with fewer tokens (runs without white space). Documents that are passed over are \
         compared with nothing, and kept.",
    )
    .default("0"),
    Setting::value(
        "max_bytes",
        "SIZE",
        "Pass over documents with more bytes of text, for example 20K or 1M (powers of 1000) or 1MiB (powers of \
         1024).",
    ),
    Setting::value(
        "sample",
        "SHARE",
        "Process only this share of the documents, selected by the hash of the text.",
    ),
    Setting::value(
        "limit",
        "N",
        "Stop after the first N documents that are not passed over. Copies end there, too.",
    ),
    Setting::choice(
        "on_error",
        "WHAT",
        names::<OnError>,
        "Action for unreadable records and files.",
    )
    .default("skip"),
    Setting::value(
        "max_record",
        "SIZE",
        "Quarantine larger records; K, M and G are powers of 1000, KiB, MiB and GiB powers of 1024. By default \
         128MiB, whatever the memory is.",
    ),
    Setting::value(
        "max_expansion",
        "FACTOR",
        "Stop reading a compressed file that grows by more than this factor, beyond its first GiB.",
    )
    .default("2000"),
    Setting::value(
        "zstd_window_log",
        "LOG",
        "Maximum window of Zstandard and dictionary of xz files, as a power of two: 27 is 128 MiB.",
    )
    .default("27"),
];

/// Fields of the collection to match against.
pub const AGAINST: &[Setting] = &[
    Setting::value(
        "against_text_field",
        "NAMES",
        "Fields of the text in the collection to match against [default: those of --text-field].",
    ),
    Setting::value(
        "against_id_field",
        "NAME",
        "Field of the ID in the collection to match against [default: that of --id-field].",
    ),
];

fn formats() -> Vec<Named> {
    Format::all().map(|format| (format.name(), format.about())).collect()
}
