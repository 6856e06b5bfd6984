//! Finds the items of a file in the documents of a text file, and measures the search.
//!
//! `cargo run --profile optimized -p simtool-contamination --example items_in_text -- ITEMS FILE [WORDS [MEASURE
//! [SHARE [print]]]]`
//!
//! Each line of ITEMS is an item. Form feeds separate the documents of the file, and the first line of each is its
//! ID. The search runs on one thread.
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use simtool_base::error::{Error, Result};
use simtool_base::options::Choice;
use simtool_compute::context::Context;
use simtool_compute::resources::peak_memory;
use simtool_contamination::{ContaminationSearch, DocumentHits, Items, Measure, SearchBuffers};
use simtool_kernels::Isa;
use simtool_model::similarity::Threshold;
use simtool_terms::tokenize::hashed_tokens::{HashTokenizer as _, HashedTokens};
use simtool_terms::tokenize::unicode_words::UnicodeWords;

/// Returns the seconds of processor time that this process has used.
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns the ID and the text of each document.
fn documents(text: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    // A byte-by-byte division would take as long as half of a search.
    let ends = memchr::memchr_iter(0x0c, text).chain([text.len()]);
    let mut start = 0;
    ends.map(move |end| {
        let document = text[std::mem::replace(&mut start, end + 1)..end].trim_ascii_start();
        let id_end = memchr::memchr(b'\n', document).unwrap_or(document.len());
        document.split_at(id_end)
    })
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument =
        |at: usize, default: &'static str| arguments.get(at).map_or(default, |text| text);
    let read = |path: &str| std::fs::read(path).map_err(|error| Error::io(path, "read", error));
    let (lines, text) = (read(argument(0, "items.txt"))?, read(argument(1, "article.txt"))?);
    let context = Context::default();
    let measure = Measure::ALL.iter().find(|measure| measure.name() == argument(3, "words"));
    let search = ContaminationSearch::new(argument(2, "5").parse().unwrap_or(5), &context)?
        .with_measure(measure.copied().unwrap_or_default())
        .with_share(Threshold::parse("share", argument(4, "0.8"))?);
    let tokenizer = UnicodeWords::new(Isa::detected());
    let mut tokens = HashedTokens::default();
    // The buffers for tokens are reused from text to text.
    let mut words = |text: &[u8], visit: &mut dyn FnMut(&[u64]) -> Result<()>| {
        tokens.clear();
        tokenizer.tokenize(text, &mut tokens);
        visit(&tokens.hashes)
    };

    // The peak before the search has the texts, which are no memory of the search.
    let (memory, start) = (peak_memory().unwrap_or(0), processor_seconds());
    let mut items = Items::default();
    for line in lines.split(|&byte| byte == b'\n') {
        words(line, &mut |words| items.push(words))?;
    }
    let windows = search.windows(items)?;
    let indexed = processor_seconds();
    // Only weights need the number of documents with each window.
    let counts = search.measure().needs_counts().then(|| windows.document_counts()).transpose()?;
    // Documents without a window of an item are not searched.
    let mut has_window = Vec::new();
    if let Some(counts) = &counts {
        let mut buffers = DocumentHits::default();
        for (_, text) in documents(&text) {
            words(text, &mut |words| {
                has_window.push(windows.count_document(words, counts, &mut buffers));
                Ok(())
            })?;
        }
    }
    let index = search.index(windows, counts)?;
    let counted = processor_seconds();
    // Each document is tokenized again, as by a program that reads files twice.
    let (mut found, mut buffers) = (0, SearchBuffers::default());
    for (number, (id, text)) in documents(&text).enumerate() {
        if !has_window.get(number).unwrap_or(&true) {
            continue;
        }
        words(text, &mut |words| {
            for item in index.find(words, &mut buffers) {
                found += 1;
                if argument(5, "") == "print" {
                    let id = String::from_utf8_lossy(id);
                    println!("{}\t{id}\t{:.3}\t{}", item.item, item.share(), item.is_best);
                }
            }
            Ok(())
        })?;
    }
    let end = processor_seconds();
    println!(
        "{found} found; seconds of the processor: windows {:.2}, counts and index {:.2}, search {:.2}; {:.0} MB \
         per second; {:.1} bytes of memory per byte of items",
        indexed - start,
        counted - indexed,
        end - counted,
        text.len() as f64 / 1e6 / (end - start),
        (peak_memory().unwrap_or(0) - memory) as f64 / lines.len() as f64,
    );
    Ok(())
}
