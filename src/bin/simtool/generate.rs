//! `simtool generate`: writes generated collections for demonstrations, tests and benchmarks.

use crate::args::Call;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::generated_collection::GeneratedCollection;
use simtool::Error;
use simtool::generate::collection::{CollectionSettings, write_collection};
use simtool::generate::labelled::labelled;
use simtool::generate::stop_words;
use simtool::run::refuse_existing;
use simtool::stages::fingerprint::hash_table::HashTable;
use simtool::stages::quantity::{bytes, counted};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Number of rows of the hash table that `--with-tables` writes.
const TABLE_ROWS: usize = 500;
/// Number of columns (bits) of the hash table that `--with-tables` writes.
const TABLE_COLUMNS: usize = 64;

/// Runs `simtool generate`: writes the files of a generated collection, whose kind the arguments choose.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let wanted = GeneratedCollection::parse(call.options())?;
    let note = write(&wanted)?;
    if let Some(note) = note.filter(|_| !call.has("quiet")) {
        console::note(&note);
    }
    Ok(ExitStatus::Done)
}

/// Writes the files of the generated collection. For articles and samples, returns a note about the numbers of
/// documents.
fn write(wanted: &GeneratedCollection) -> anyhow::Result<Option<String>> {
    let (folder, documents) = (&wanted.output, wanted.documents);
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    match wanted.kind.as_deref() {
        #[cfg(feature = "parquet")]
        Some("crawl") => {
            let names = ["pages.warc.wet.gz", "pages.jsonl", "pages.parquet"];
            let make = |seed| simtool::generate::crawl::crawl(seed, documents);
            write_named(wanted, names, make)?;
            Ok(None)
        }
        Some(_) => {
            let make = |seed| {
                let made = labelled(seed, documents)?;
                Ok([made.documents, made.truth, made.gray])
            };
            write_named(wanted, ["docs.jsonl", "truth.tsv", "gray.tsv"], make)?;
            Ok(None)
        }
        None => write_articles(wanted).map(Some),
    }
}

/// Writes three files with these names to the output folder. `make` returns the contents of the files for a
/// seed. Nothing is written if one of the files exists and may not be replaced.
fn write_named<C: AsRef<[u8]>>(
    wanted: &GeneratedCollection,
    names: [&str; 3],
    make: impl FnOnce(u64) -> io::Result<[C; 3]>,
) -> Result<(), Error> {
    let folder = &wanted.output;
    let failed = |e| Error::io(folder, "write to", e);
    refuse(wanted, &names)?;
    let contents = make(wanted.seed).map_err(failed)?;
    for (name, content) in names.into_iter().zip(contents) {
        fs::write(folder.join(name), content).map_err(failed)?;
    }
    Ok(())
}

/// Writes articles, samples and true pairs. With `--with-tables`, also writes the stop words and the hash
/// table for `simtool N M`. Returns a note about their numbers.
fn write_articles(wanted: &GeneratedCollection) -> anyhow::Result<String> {
    let folder = &wanted.output;
    let failed = |e| Error::io(folder, "write to", e);
    // All files are checked before the first one is created, so that an error leaves no files behind.
    refuse(wanted, &["article.txt", "sample.txt", "truth.tsv"])?;
    if wanted.with_tables {
        refuse(wanted, &["stopwords.txt", "hashvalue.txt"])?;
    }
    let GeneratedCollection { seed, size, samples: queries, .. } = *wanted;
    let settings = CollectionSettings { seed, size, queries };
    let mut articles = create(folder, "article.txt")?;
    let mut samples = create(folder, "sample.txt")?;
    let mut truth = create(folder, "truth.tsv")?;
    let done = write_collection(&settings, &mut articles, &mut samples, &mut truth);
    let done = done.map_err(failed)?;
    // If a file with buffered bytes is only dropped, an error of the last write is hidden.
    for mut file in [articles, samples, truth] {
        file.flush().map_err(failed)?;
    }
    if wanted.with_tables {
        fs::write(folder.join("stopwords.txt"), stop_words()).map_err(failed)?;
        fs::write(folder.join("hashvalue.txt"), hash_table()?).map_err(failed)?;
    }
    Ok(format!(
        "{} of {}, {}, {}",
        counted(done.articles, "article"),
        bytes(done.bytes),
        counted(done.queries, "sample"),
        counted(done.pairs, "true pair")
    ))
}

/// Returns an error if a file with one of these names exists and may not be replaced.
fn refuse(wanted: &GeneratedCollection, names: &[&str]) -> Result<(), Error> {
    let GeneratedCollection { output, existing, .. } = wanted;
    names.iter().try_for_each(|name| refuse_existing("output", &output.join(name), *existing))
}

fn create(folder: &Path, name: &str) -> Result<BufWriter<File>, Error> {
    let path = folder.join(name);
    let file = File::create(&path).map_err(|e| Error::io(&path, "create", e))?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

/// Returns the first [`TABLE_ROWS`] rows and the first [`TABLE_COLUMNS`] columns of the built-in hash table
/// as text.
fn hash_table() -> Result<Vec<u8>, Error> {
    let table = HashTable::built_in(TABLE_ROWS, TABLE_COLUMNS)?;
    let mut text = Vec::with_capacity(TABLE_ROWS * (TABLE_COLUMNS + 2));
    for row in table.rows() {
        text.extend((0..TABLE_COLUMNS).map(|column| b'0' + (row >> column & 1) as u8));
        text.extend_from_slice(b"\r\n");
    }
    Ok(text)
}
