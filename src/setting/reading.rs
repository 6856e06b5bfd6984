//! Settings of reading documents.

use super::on_error::OnError;
use super::row::{Named, Setting, names};
use simtool_read::{Format, PageContent, TextSplit};

/// Settings that choose the documents to read, and how to read them.
pub const READING: &[Setting] = &[
    Setting::path(
        "files_from",
        "LIST",
        "File that lists more paths to read, one a line or with a zero byte after each, optionally compressed with \
         gzip; - is standard input.",
    ),
    Setting::values(
        "glob",
        "GLOB",
        "When reading folders, include only files matching this glob, or leave them out if it begins with ! \
         (repeatable).\n\nA glob without a slash is compared with the names of files, and a glob with a slash with \
         their paths below the folder, where `**` matches any number of folders. In most shells, `!` needs \
         quotes: --glob '!*.log'.",
    ).usual(),
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
    ).usual(),
    Setting::choice(
        "split",
        "BY",
        names::<TextSplit>,
        "Division of plain-text files into documents.",
    )
    .default("file"),
    Setting::value(
        "encoding",
        "NAME",
        "Encoding of texts that are not UTF-8 and do not declare another one: a name of the web such as \
         windows-1251 or gbk, or detect [default: UTF-8].\n\n`detect` guesses the encoding of each file whose \
         first 256 KiB are not UTF-8 from these bytes, and a note names it. A byte order mark goes before this \
         option. So does the encoding that a mail declares. A name goes before the encoding that an HTML page or \
         its HTTP header declares. Pages and mails that declare none are always detected one by one, unless this \
         option names an encoding. Copies keep the bytes of the input.",
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
        "csv",
        "PARTS",
        "Quotes of CSV and TSV: quote=CHAR, escape=CHAR, or both with a comma between [default: recognized by the \
         first rows].\n\nThe quote encloses fields, and quote=none makes quotes letters. In TSV they are letters \
         unless fields begin and end with them. The escape is the character before a quote inside a quoted field, \
         such as escape=backslash. Quotes may also be doubled.",
    ),
    Setting::flag(
        "no_header",
        "The first row of CSV and TSV is a document, and columns have the names 1, 2, 3 and so on.",
    ),
    Setting::value(
        "text_field",
        "NAMES",
        "Fields or columns of the text [default: text].\n\n`meta.text` is a field of an object, \
         `messages[].content` a field of each element of a list, and `title+body` joins fields by a newline: a \
         record needs both, unless a question mark follows the one that may be missing, as in `title+body?`. Of \
         `text,body`, only the first field that a record has is read: a comma joins nothing, unlike in `simtool \
         contamination --fields`. With `*`, all texts of a record are read, joined by newlines: every string of \
         JSON, every text column. A field whose name is exactly as written comes first, and a backslash takes the \
         meaning from a dot, comma, plus sign, bracket or asterisk in a name.",
    ).usual(),
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
    ).usual(),
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
    )
    .in_files(),
    Setting::value(
        "max_expansion",
        "FACTOR",
        "Stop reading a compressed file that grows by more than this factor, beyond its first GiB.",
    )
    .default("2000")
    .in_files(),
    Setting::value(
        "zstd_window_log",
        "LOG",
        "Maximum window of Zstandard and dictionary of xz files, as a power of two: 27 is 128 MiB.",
    )
    .default("27")
    .in_files(),
    Setting::flag(
        "anonymous",
        "Read public buckets and data sets without credentials.\n\nWithout this option, the credentials for s3://, \
         gs://, az:// and hf:// addresses are those of the environment, of AWS_PROFILE, or of the machine.",
    )
    .not_on_engines()
    .of_resources(),
    Setting::value(
        "spool_size",
        "SIZE",
        "Maximum size of the temporary file with what was fetched from stores [default: the free space].\n\nObjects \
         are fetched once and read again from this file, which is compressed from a quarter of the size on. What does not \
         fit is fetched again.",
    )
    .not_on_engines()
    .of_resources(),
];

/// Fields of a line that is compared with an index.
pub(super) const LINES: &[Setting] = &[
    Setting::value("text_field", "NAMES", "Fields of the text, as in `simtool dedup` [default: text]."),
    Setting::value("id_field", "FIELD", "Field of the ID [default: id]."),
    Setting::value(
        "max_record",
        "SIZE",
        "Pass on larger lines without comparing them, and report them as errors. By default 128MiB, whatever the \
         memory is.",
    )
    .in_files(),
];

/// Fields of the collection to match against.
pub(super) const AGAINST: &[Setting] = &[
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

pub(super) fn formats() -> Vec<Named> {
    Format::all().map(|format| (format.name(), format.about())).collect()
}
