//! `simtool generate --pages`: writes the pages of a folder as a crawl in WARC files. Reads the texts back
//! from the WARC files and writes them in the other formats.

use crate::generated_collection::GeneratedCollection;
use simtool::generate::crawl_files::{PageText, ParquetFile, write_form_feed, write_json_line};
use simtool::generate::pages::{self, DATE, PageFile};
use simtool::run::refuse_existing;
use simtool::stages::document::Content;
use simtool::stages::quantity::{bytes, counted};
use simtool::stages::read::walk::InputFile;
use simtool::stages::read::{Collection, Corpus, Event, ReadOptions};
use simtool::{Error, Result};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

/// Path of the file with the texts of all pages, in the output folder.
const TEXT: &str = "text/pages.txt";
/// Name of the folder, in the output folder, with the WARC files of the generated pages, and the extension of these
/// files.
const WARC: (&str, &str) = ("warc", "warc.gz");
/// Folder of the WET files with the texts of the pages, and the extension of these files.
const WET: (&str, &str) = ("wet", "warc.wet.gz");
/// Folder of the JSON Lines files with the texts of the pages, and the extension of these files.
const LINES: (&str, &str) = ("jsonl", "jsonl.zst");
/// Folder of the Parquet files with the texts of the pages, and the extension of these files.
const ROWS: (&str, &str) = ("parquet", "parquet");
/// Maximum number of files in each format.
const FILES: usize = 8;
/// Compression level of Zstandard files, which is also the default of the program `zstd`.
const ZSTD_LEVEL: i32 = 3;

/// Numbers of pages and bytes that were written.
#[derive(Clone, Copy, Default)]
struct Done {
    pages: u64,
    html_bytes: u64,
    text_bytes: u64,
}

/// Writes files to the folders `warc/`, `wet/`, `jsonl/`, `parquet/` and `text/` below the output folder.
/// Returns a note about their numbers.
pub(crate) fn write(folder: &Path, wanted: &GeneratedCollection) -> anyhow::Result<String> {
    let (output, existing) = (wanted.output.as_path(), wanted.existing);
    let found = pages::pages_below(folder).map_err(|e| Error::io(folder, "read", e))?;
    if found.is_empty() {
        let none = io::Error::new(io::ErrorKind::NotFound, "there is no page of HTML in it");
        return Err(Error::io(folder, "take pages from", none).into());
    }
    // There are several files in each format, so that readers can work in parallel.
    let runs = pages::runs(&found, FILES);
    let name = |number: usize| format!("pages-{number:05}");
    refuse_existing("output", &output.join(TEXT), existing)?;
    // All files are checked before the first one is created, so that an error leaves no files behind.
    for number in 0..runs.len() {
        for (format, ending) in [WARC, WET, LINES, ROWS] {
            let path = output.join(format!("{format}/{}.{ending}", name(number)));
            refuse_existing("output", &path, existing)?;
        }
    }
    let mut done = Done::default();
    let mut text = create(&output.join(TEXT))?;
    for (number, run) in runs.into_iter().enumerate() {
        let name = name(number);
        let warc = output.join(format!("{}/{name}.{}", WARC.0, WARC.1));
        done.html_bytes += write_responses(&found[run], &warc)?;
        // The texts are read back from the WARC file, so that all formats have exactly the text that simtool
        // extracts from the page.
        write_texts(&warc, output, &name, &mut text, &mut done)?;
    }
    text.flush().map_err(|e| Error::io(output, "write to", e))?;
    let Done { pages, html_bytes, text_bytes } = done;
    let (pages, html) = (counted(pages, "page"), bytes(html_bytes));
    Ok(format!("{pages}, {html} of HTML, {} of text", bytes(text_bytes)))
}

fn create(path: &Path) -> Result<BufWriter<File>> {
    let failed = |e| Error::io(path, "create", e);
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(failed)?;
    Ok(BufWriter::with_capacity(1 << 20, File::create(path).map_err(failed)?))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Writes pages to a WARC file and returns the number of bytes of the pages.
fn write_responses(found: &[PageFile], path: &Path) -> Result<u64> {
    let failed = |e| Error::io(path, "write to", e);
    let mut warc = create(path)?;
    pages::write_first_record(&mut warc, &file_name(path)).map_err(failed)?;
    let mut bytes = 0;
    for page in found {
        bytes += pages::write_response(&mut warc, page)
            .map_err(|e| failed(io::Error::other(format!("{}: {e}", page.url))))?;
    }
    warc.flush().map_err(failed)?;
    Ok(bytes)
}

/// Reads the texts of the pages in a WARC file. Writes them to a file called `name` in each format, and
/// appends them to `text`.
fn write_texts(
    warc: &Path,
    output: &Path,
    name: &str,
    text: &mut impl Write,
    done: &mut Done,
) -> Result<()> {
    let failed = |e| Error::io(output, "write to", e);
    let path = |(format, ending): (&str, &str)| output.join(format!("{format}/{name}.{ending}"));
    let wet_path = path(WET);
    let mut wet = create(&wet_path)?;
    pages::write_first_record(&mut wet, &file_name(&wet_path)).map_err(failed)?;
    let lines = zstd::Encoder::new(create(&path(LINES))?, ZSTD_LEVEL);
    let mut lines = lines.map_err(failed)?;
    let mut rows = ParquetFile::new(create(&path(ROWS))?).map_err(failed)?;

    let mut write = |url: &str, page: &str| -> io::Result<()> {
        pages::write_conversion(&mut wet, url, page)?;
        let is_first = done.pages == 0;
        let page = PageText { url, date: DATE, text: page };
        write_json_line(&mut lines, &page)?;
        rows.push(&page)?;
        write_form_feed(text, is_first, &page)?;
        done.pages += 1;
        done.text_bytes += page.text.len() as u64;
        Ok(())
    };
    // If a page cannot be read back, the run ends, because all formats must have the same pages.
    let unreadable = |what: String| Error::io(warc, "read back", io::Error::other(what));
    let collection = Collection::open(vec![InputFile::new(warc)], ReadOptions::default());
    for shard in 0..collection.shard_count() {
        collection.read_shard(shard, &mut |event| {
            let content = match event {
                Event::Record(record) => record.content,
                Event::Piece(_) | Event::Reached(_) => return Ok(ControlFlow::Continue(())),
                Event::Fault(fault) => return Err(unreadable(fault.to_string())),
            };
            match content {
                Content::Document(document) => {
                    // The extracted text is always valid UTF-8, but its type does not guarantee that.
                    let utf8 = |bytes| str::from_utf8(bytes).map_err(io::Error::other);
                    let url = utf8(document.id.map_or(&[][..], |id| id.bytes()));
                    let written = url.and_then(|url| write(url, utf8(document.text)?));
                    written.map_err(failed)?;
                }
                Content::Bad(bad) => return Err(unreadable(format!("{bad:?}"))),
                Content::PassThrough | Content::NonDocument(_) | Content::PassedOver => {}
            }
            Ok(ControlFlow::Continue(()))
        })?;
    }
    // If a file with buffered bytes is only dropped, an error of the last write is hidden.
    wet.flush().map_err(failed)?;
    lines.finish().and_then(|mut file| file.flush()).map_err(failed)?;
    rows.finish().and_then(|mut file| file.flush()).map_err(failed)
}
