//! Finds the repeated passages of a text file, and measures the search.
//!
//! `cargo run --profile optimized -p simtool-passages --example passages_of_file -- FILE [WORDS [THREADS
//! [MEGABYTES [verify|anywhere|print]…]]]`
//!
//! Form feeds separate the documents of the file, and the first line of each is its ID.
#![expect(clippy::print_stdout, reason = "an example shows its results")]

use simtool_base::error::{Error, Result};
use simtool_base::progress::{Progress, Work};
use simtool_compute::context::Context;
use simtool_compute::resources::{Resources, peak_memory};
use simtool_kernels::Isa;
use simtool_passages::{
    Cut, PassageSearch, Passages, Repeated, VisitPlaces, VisitWords, WordSource,
};
use simtool_terms::tokenize::hashed_tokens::{HashTokenizer as _, HashedTokens};
use simtool_terms::tokenize::unicode_words::UnicodeWords;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Approximate number of bytes of a shard.
const SHARD_BYTES: usize = 1 << 20;
/// Approximate number of bytes of text for a word.
const BYTES_A_WORD: u64 = 6;

/// The documents of a text file.
struct TextDocuments<'t> {
    /// The texts of each shard.
    shards: Vec<Vec<&'t [u8]>>,
    words: UnicodeWords,
}

impl<'t> TextDocuments<'t> {
    fn new(text: &'t [u8]) -> Self {
        let mut shards: Vec<Vec<&[u8]>> = Vec::new();
        let mut bytes = SHARD_BYTES;
        for document in text.split(|&byte| byte == 0x0c) {
            let id_end = document.iter().skip_while(|byte| byte.is_ascii_whitespace());
            let rest = id_end.skip_while(|&&byte| byte != b'\n').count();
            if bytes >= SHARD_BYTES {
                shards.push(Vec::new());
                bytes = 0;
            }
            bytes += rest;
            if let Some(shard) = shards.last_mut() {
                shard.push(&document[document.len() - rest..]);
            }
        }
        Self { shards, words: UnicodeWords::new(Isa::detected()) }
    }

    fn text(&self, document: u32) -> &'t [u8] {
        self.shards.iter().flatten().nth(document as usize).copied().unwrap_or_default()
    }
}

impl WordSource for TextDocuments<'_> {
    fn shard_count(&self) -> usize {
        self.shards.len()
    }

    fn word_count_hint(&self) -> u64 {
        self.shards.iter().flatten().map(|text| text.len() as u64).sum::<u64>() / BYTES_A_WORD
    }

    fn visit_words(
        &self,
        shard: usize,
        is_wanted: &dyn Fn(u32) -> bool,
        visit: &mut VisitWords<'_>,
    ) -> Result<()> {
        let mut tokens = HashedTokens::default();
        for (index, text) in (0..).zip(&self.shards[shard]).filter(|(index, _)| is_wanted(*index)) {
            tokens.clear();
            self.words.tokenize(text, &mut tokens);
            visit(index, &tokens.hashes)?;
        }
        Ok(())
    }

    fn visit_places<'p>(
        &self,
        shard: usize,
        asked: &dyn Fn(u32) -> &'p [u32],
        visit: &mut VisitPlaces<'_>,
    ) -> Result<()> {
        let (mut tokens, mut places) = (HashedTokens::default(), Vec::new());
        for (index, text) in (0..).zip(&self.shards[shard]) {
            let wanted = asked(index);
            if wanted.is_empty() {
                continue;
            }
            places.clear();
            self.words.places(text, wanted, &mut tokens, &mut places);
            let places: Vec<Range<u64>> =
                places.iter().map(|place| place.start as u64..place.end as u64).collect();
            visit(index, &places)?;
        }
        Ok(())
    }
}

/// Returns the seconds of processor time that this process has used.
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The names of the stages of a search, and the processor time at which each began.
#[derive(Default)]
struct Stages(Mutex<Vec<(&'static str, f64)>>);

impl Progress for Stages {
    fn begin(&self, stage: &'static str, _work: Work) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((stage, processor_seconds()));
    }

    fn advance(&self, _amount: u64) {}
}

impl Stages {
    /// Prints the seconds of each stage. The last stage ended at the processor time `end`.
    fn print(&self, end: f64) {
        let stages = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = stages.iter().skip(1).map(|(_, start)| *start).chain([end]);
        for ((stage, start), end) in stages.iter().zip(ends) {
            println!("{:8.3} s  {stage}", end - start);
        }
    }
}

fn print(found: &Passages, source: &TextDocuments<'_>) {
    for passage in &found.passages {
        let text = source.text(passage.document);
        let excerpt = &text[passage.bytes.start as usize..passage.bytes.end as usize];
        println!("{passage:?}\n{}\n", String::from_utf8_lossy(excerpt));
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(file) = arguments.first() else {
        println!(
            "usage: passages_of_file FILE [WORDS [THREADS [MEGABYTES [verify|anywhere|print]…]]]"
        );
        return Ok(());
    };
    let number = |at: usize, default| {
        arguments.get(at).and_then(|number| number.parse().ok()).unwrap_or(default)
    };
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let text = std::fs::read(file).map_err(|error| Error::io(file, "read", error))?;
    let source = TextDocuments::new(&text);
    let resources = Resources { threads: number(2, 1), ..Resources::default() };
    let stages = Stages::default();
    let context = Context::new(&resources, &stages)?;
    let rule = if has("anywhere") { Repeated::Anywhere } else { Repeated::default() };
    let search = PassageSearch::new(number(1, 50), &context)?
        .with_rule(rule)
        .with_verification(has("verify"))
        .with_memory((number(3, 1 << 20) as u64) << 20);
    let before = peak_memory().unwrap_or(0);
    let (start, seconds) = (Instant::now(), processor_seconds());
    let found = search.find(&source)?;
    let end = processor_seconds();
    let seconds = end - seconds;
    stages.print(end);
    if has("print") {
        print(&found, &source);
    }
    let cut = (0..found.documents as u32).flat_map(|document| found.cuts(Cut::First, document));
    let cut_bytes: u64 = cut.map(|cut| cut.bytes.end - cut.bytes.start).sum();
    let megabytes = text.len() as f64 / 1e6;
    let memory = (peak_memory().unwrap_or(0) - before) as f64 / text.len() as f64;
    println!(
        "{} documents, {} words; {} passages, {} repeated windows, {} covered words, {cut_bytes} bytes to cut",
        found.documents,
        found.words,
        found.passages.len(),
        found.repeated_windows,
        found.covered_words(),
    );
    println!(
        "{megabytes:.1} MB, {} readings: {:.2} s, {seconds:.2} s of processors, {:.0} MB per second of a \
         processor, {memory:.2} bytes of memory per byte",
        search.parts(source.word_count_hint()),
        start.elapsed().as_secs_f64(),
        megabytes / seconds,
    );
    Ok(())
}
