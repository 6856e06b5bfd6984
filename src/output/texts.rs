//! Lists the text of each document as a run compares it.

use super::named::{CONTENT_MEANING, RECORD_MEANING};
use super::report::title;
use crate::pipeline::CollectionSummary;
use crate::pipeline::document_names::document_name_at;
use crate::pipeline::document_traits::WantedTraits;
use crate::pipeline::shard_summary::{Compared, ShardSummary, read_summarized};
use crate::write::columns::{
    Column, OutputDescription, RowTable, Value, describe_columns, write_json_line,
};
use crate::write::report::{
    MarkedDocument, begin_marked_texts, end_marked_texts, write_marked_text,
};
use simtool_base::error::{Error, Result};
use simtool_base::options::Choice;
use simtool_model::document::{Content, Document, Place};
use simtool_model::document_name::DocumentName;
use simtool_model::page_text::count_words;
use simtool_read::view::{Reading, View};
use simtool_read::{Collection, Corpus, Event, Visit};
use simtool_terms::text_rules::{RuledText, TextRules};
use std::fmt;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Description of the list of the texts.
pub(super) const OUTPUT: OutputDescription = OutputDescription {
    name: "texts",
    files: &[],
    command: "text",
    description: "The text of each document as the other commands compare it, in reading order.",
    columns: || describe_columns(TextRows::COLUMNS),
};

/// Number of bytes of rows that a reading thread collects before it sends them to the writing thread.
const CHUNK_BYTES: usize = 1 << 18;

/// Maximum number of whole texts of a file that are in memory and wait to be marked on the page.
const WAITING_TEXTS: usize = 4;

/// Maximum number of chunks of rows of a file that wait to be written.
const WAITING_CHUNKS: usize = 4;

/// Columns of the output `texts`.
#[derive(Debug)]
struct TextRows;

struct TextRow<'r> {
    name: DocumentName<'r>,
    document: Document<'r>,
    /// Text that is compared: the text of the document after the text rules have changed it.
    text: &'r [u8],
    /// Number of words of the document that are not compared.
    left_out: u32,
}

/// Format of the output `texts`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// A row for each document, as an object of JSON.
    JsonLines,
    /// A page with the whole text of each document, in which the compared part is marked.
    Html,
}

impl Choice for TextFormat {
    const ALL: &'static [Self] = &[Self::JsonLines, Self::Html];

    fn name(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::Html => "html",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::JsonLines => "One JSON object a line",
            Self::Html => "A page to look at: whole texts, in which the compared part is marked",
        }
    }
}

/// Documents whose texts are written, and the rules by which texts are changed before they are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComparedTexts<'c> {
    pub(crate) corpus: &'c dyn Corpus,
    pub(crate) rules: &'c TextRules,
    /// The same files with the whole texts of the documents, for [`TextFormat::Html`]. `None` for JSON Lines.
    pub(crate) whole: Option<&'c Collection>,
}

/// Number of a record in its file, and the whole text of the document in it.
type WholeText = (u64, Vec<u8>);

impl RowTable for TextRows {
    type Row<'r> = TextRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "ID of the document.", Value::Id(|row| row.name.id())),
        Column::new("file", "File of the document.", Value::Text(|row| row.name.file_bytes())),
        Column::new("record", RECORD_MEANING, Value::Number(|row| row.name.record)),
        Column::new(
            "content",
            CONTENT_MEANING,
            Value::Text(|row| row.document.content().name().as_bytes()),
        ),
        Column::new(
            "left_out",
            "Number of its words that are not compared: in other parts of an HTML page, in lines that many documents have \
             (`--boilerplate`), or in ignored pieces (`--ignore`).",
            Value::Number(|row| row.left_out.into()),
        ),
        Column::new("text", "The text that is compared.", Value::Text(|row| row.text)),
    ];
}

/// Writes a line or an article for each document of a corpus to `out`, in reading order. Threads read files in parallel.
///
/// # Errors
///
/// A file cannot be read, or `out` fails. `path` names the output in the error.
pub(crate) fn write_texts(
    compared: ComparedTexts<'_>,
    threads: usize,
    path: &Path,
    out: &mut dyn Write,
) -> Result<CollectionSummary> {
    let ComparedTexts { corpus, .. } = compared;
    let shards: Vec<usize> = (0..corpus.shard_count()).collect();
    let is_one_file = |a: &usize, b: &usize| corpus.shard_file(*a) == corpus.shard_file(*b);
    let files: Vec<&[usize]> = shards.chunk_by(is_one_file).collect();
    // Each file has a channel of its own, so that threads read ahead while earlier files are written.
    let (senders, lines): (Vec<_>, Vec<_>) =
        files.iter().map(|_| sync_channel(WAITING_CHUNKS)).unzip();
    let senders: Vec<_> = senders.into_iter().map(|sender| Mutex::new(Some(sender))).collect();
    let (next, files, senders) = (&AtomicUsize::new(0), &files, &senders);
    let read = thread::scope(|scope| {
        let read_files = || {
            let mut read = Vec::new();
            loop {
                let file = next.fetch_add(1, Ordering::Relaxed);
                // The writer goes on to the next file when the sender of this one is dropped.
                let Some(to) = senders.get(file).and_then(take) else { return Ok(read) };
                match read_file(compared, files[file], &to) {
                    Ok(summaries) => read.push((file, summaries)),
                    Err(error) => {
                        // The writer must not wait for files that nobody reads any more.
                        for sender in senders {
                            drop(take(sender));
                        }
                        return Err(error);
                    }
                }
            }
        };
        let readers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(read_files)).collect();
        let written = write_chunks(compared, lines, out).map_err(|e| Error::io(path, "write", e));
        let read = readers
            .into_iter()
            .map(|reader| reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        let read = read.collect::<Result<Vec<Vec<(usize, Vec<ShardSummary>)>>>>();
        // If the output failed, the readers failed because of it.
        written.and(read)
    })?;
    let mut read = read.concat();
    read.sort_by_key(|(file, _)| *file);
    CollectionSummary::new(corpus, read.into_iter().flat_map(|(_, summaries)| summaries).collect())
}

/// Takes the sender of the rows of a file. Returns `None` if another thread has taken it.
fn take(sender: &Mutex<Option<SyncSender<Vec<u8>>>>) -> Option<SyncSender<Vec<u8>>> {
    sender.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Writes the lines of all files, file by file. If `out` fails, the readers end, because nobody takes their lines.
fn write_chunks(
    compared: ComparedTexts<'_>,
    files: Vec<Receiver<Vec<u8>>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if compared.whole.is_some() {
        begin_marked_texts(out, &title(compared.corpus))?;
    }
    for file in files {
        for lines in file {
            out.write_all(&lines)?;
        }
    }
    if compared.whole.is_some() {
        end_marked_texts(out)?;
    }
    out.flush()
}

/// Reads the shards (parts) of one file, and sends the lines about its documents to `to`.
fn read_file(
    compared: ComparedTexts<'_>,
    shards: &[usize],
    to: &SyncSender<Vec<u8>>,
) -> Result<Vec<ShardSummary>> {
    let Some(whole) = compared.whole else { return read_shards(compared, shards, None, to) };
    let (sender, whole_texts) = sync_channel(WAITING_TEXTS);
    thread::scope(|scope| {
        // Both readings of the file are at about the same document.
        scope.spawn(move || send_whole_texts(whole, shards, &sender));
        // When this reading ends, the receiver is dropped, and so the other one ends, too.
        read_shards(compared, shards, Some(whole_texts), to)
    })
}

/// Sends the whole text of each document of a file to `to`, until the receiver is dropped. `shards` are the first
/// shards (parts) of the file.
fn send_whole_texts(whole: &Collection, shards: &[usize], to: &SyncSender<WholeText>) {
    let Some(&first) = shards.first() else { return };
    let is_of_file = |shard: &usize| whole.shard_file(*shard) == whole.shard_file(first);
    let mut before = 0;
    for shard in (first..whole.shard_count()).take_while(is_of_file) {
        let read = whole.read_shard(shard, &mut |event| {
            if let Event::Record(record) = event
                && let Content::Document(document) = record.content
                && to.send((before + record.number, document.text.to_vec())).is_err()
            {
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        });
        // The other reading reports what cannot be read.
        let Ok(records) = read else { return };
        before += records;
    }
}

fn read_shards(
    ComparedTexts { corpus, rules, .. }: ComparedTexts<'_>,
    shards: &[usize],
    whole_texts: Option<Receiver<WholeText>>,
    to: &SyncSender<Vec<u8>>,
) -> Result<Vec<ShardSummary>> {
    let whole_texts = whole_texts.map(Mutex::new);
    let mut lines = Vec::with_capacity(2 * CHUNK_BYTES);
    let mut summaries = Vec::new();
    let mut before = 0;
    // Record numbers go on from shard to shard, so one thread reads the shards of a file in order.
    for &shard in shards {
        let whole_texts = whole_texts.as_ref();
        let lined = Lined { corpus, rules, whole_texts, before, to, lines: Mutex::new(&mut lines) };
        let visit = &mut |_, _: &Document<'_>| Ok(Compared::by_terms(true));
        let summary = read_summarized(&lined, shard, WantedTraits::NONE, visit)?;
        before += summary.record_count();
        summaries.push(summary);
    }
    // If nobody takes the lines, the output has failed, and the writer has the error.
    drop(to.send(lines));
    Ok(summaries)
}

/// Corpus that makes a line or an article of the page for each document that is read from it.
struct Lined<'l> {
    corpus: &'l dyn Corpus,
    rules: &'l TextRules,
    /// Whole texts of the documents of the file in their order, if the output is a page.
    whole_texts: Option<&'l Mutex<Receiver<WholeText>>>,
    /// Number of records of the file that are in earlier shards.
    before: u64,
    to: &'l SyncSender<Vec<u8>>,
    lines: Mutex<&'l mut Vec<u8>>,
}

impl Lined<'_> {
    /// Returns the number of words of a text that the text rules ignore.
    fn ignored_words(&self, text: &[u8]) -> u32 {
        // Most runs ignore nothing, and words are counted as slowly as texts are read.
        if self.rules.is_empty() {
            return 0;
        }
        let mut blanked = Vec::new();
        let counted = count_words(self.rules.blank(text, &mut blanked));
        // An ignored piece inside a word divides it into two words, so the second number can be greater.
        count_words(text).saturating_sub(counted)
    }

    /// Adds the line or article of the document at `place`. Sends the lines to the writing thread if they are long.
    fn push(&self, document: Document<'_>, place: Place) -> io::Result<()> {
        let mut ruled = RuledText::default();
        let text = self.rules.apply(document.text, &mut ruled);
        let left_out = document.left_out_words() + self.ignored_words(document.text);
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        // The ID may be the place, so the name is made before the line.
        let name = document_name_at(self.corpus, document.id, place);
        if let Some(texts) = self.whole_texts {
            let texts = texts.lock().unwrap_or_else(PoisonError::into_inner);
            // Documents that the user excludes have whole texts, too.
            let whole = texts.iter().find(|(record, _)| *record == place.record);
            let mut blanked = Vec::new();
            let marked = MarkedDocument {
                name: &name,
                content: document.content(),
                left_out,
                whole_text: whole.as_ref().map_or(document.text, |(_, text)| text),
                // Folded words would differ from those of the whole text.
                compared_text: self.rules.blank(document.text, &mut blanked),
            };
            write_marked_text(&mut **lines, &marked)?;
        } else {
            let row = TextRow { name, document, text, left_out };
            write_json_line(&mut **lines, TextRows::COLUMNS, &row)?;
        }
        // A message for each document would cost more than its line.
        if lines.len() >= CHUNK_BYTES {
            // The buffer is larger than a chunk, because the last line goes beyond the end of the chunk.
            let full = std::mem::replace(&mut **lines, Vec::with_capacity(2 * CHUNK_BYTES));
            self.to.send(full).map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Lined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lined").field("corpus", &self.corpus).finish_non_exhaustive()
    }
}

impl View for Lined<'_> {
    fn shown(&self) -> &dyn Corpus {
        self.corpus
    }

    fn read_through(
        &self,
        shard: usize,
        visit: &mut Visit<'_>,
        read: &mut Reading<'_>,
    ) -> Result<()> {
        let file = self.corpus.shard_file(shard);
        read(&mut |event| {
            if let Event::Record(record) = &event
                && let Content::Document(document) = record.content
            {
                let place = Place { file: file as u32, record: self.before + record.number };
                let written = self.push(document, place);
                written.map_err(|e| Error::io(self.corpus.file_name(file), "list", e))?;
            }
            visit(event)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_read::walk::InputFile;
    use simtool_read::{Collection, ReadOptions, Strict};
    use std::fs;
    use std::sync::LazyLock;

    fn of(corpus: &dyn Corpus) -> ComparedTexts<'_> {
        static NONE: LazyLock<TextRules> = LazyLock::new(TextRules::default);
        ComparedTexts { corpus, rules: &NONE, whole: None }
    }

    #[test]
    fn lines_are_in_reading_order_for_any_number_of_threads() {
        let folder = tempfile::tempdir().unwrap();
        let page = "<nav>Home and more</nav><main><p>".to_owned() + &"words of a page ".repeat(20);
        fs::write(folder.path().join("a.html"), page).unwrap();
        let lines: Vec<_> =
            (0..9000).map(|n| format!("{{\"text\":\"text {n} of many\"}}\n")).collect();
        fs::write(folder.path().join("b.jsonl"), lines.concat() + "{\n").unwrap();
        fs::write(folder.path().join("c.jsonl"), "{\"id\":7,\"text\":\"last\"}\n").unwrap();
        let inputs = ["a.html", "b.jsonl", "c.jsonl"];
        let inputs = inputs.map(|name| InputFile::new(folder.path().join(name))).into();
        let corpus = Collection::open(inputs, ReadOptions::default());
        let written = |threads| {
            let mut out = Vec::new();
            let read = write_texts(of(&corpus), threads, Path::new("out"), &mut out).unwrap();
            assert_eq!((read.ids.len(), read.quarantined.len()), (9002, 1));
            String::from_utf8(out).unwrap()
        };
        let lines = written(1);
        assert_eq!(lines, written(3));
        assert!(
            lines
                .lines()
                .next()
                .unwrap()
                .contains(r#""content":"main","left_out":3,"text":"words "#)
        );
        assert!(
            lines
                .lines()
                .nth(9000)
                .unwrap()
                .contains(r#"b.jsonl","record":8999,"content":"all","left_out":0"#)
        );
        assert!(lines.ends_with("\"content\":\"all\",\"left_out\":0,\"text\":\"last\"}\n"));
    }

    #[test]
    fn an_input_that_fails_ends_the_writing() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = ["a.jsonl", "b.jsonl", "c.jsonl"];
        for name in inputs {
            fs::write(folder.path().join(name), "{\"text\":\"a text\"}\n{\n").unwrap();
        }
        let inputs = inputs.map(|name| InputFile::new(folder.path().join(name))).into();
        let corpus = Collection::open(inputs, ReadOptions::default());
        for threads in [1, 2] {
            let strict = Strict(&corpus);
            let error =
                write_texts(of(&strict), threads, Path::new("out"), &mut Vec::new()).unwrap_err();
            assert!(error.to_string().contains(".jsonl"), "{error}");
        }
    }

    #[test]
    fn an_output_that_fails_ends_the_reading() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let texts = vec!["a text that fills the room of lines"; 100_000];
        let corpus = simtool_read::Texts::of(&texts);
        assert!(write_texts(of(&corpus), 2, Path::new("out"), &mut Closed).is_err());
    }
}
