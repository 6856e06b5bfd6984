use super::*;
use crate::pipeline::CollectionSummary;
use simtool_base::error::Error;
use simtool_base::fault::Severity;
use simtool_base::progress::NoProgress;
use simtool_compute::resources::Resources;
use simtool_compute::threads::Threads;
use simtool_model::document::{Bad, Document, Record};
use simtool_model::document_id::DocumentId;
use simtool_model::non_document::NonDocument;
use simtool_model::page_text::{ExtractedPage, PageText};
use simtool_model::title_words::TitleWords;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A corpus with events of every kind. It counts how often its shards are read.
#[derive(Debug)]
struct EveryEvent {
    prices: Vec<Price>,
    text: String,
    readings: AtomicUsize,
}

impl EveryEvent {
    fn new(prices: &[Price], text_bytes: usize) -> Self {
        let text = "a rose is a rose\n".repeat(text_bytes / 17 + 1);
        Self { prices: prices.to_vec(), text, readings: AtomicUsize::new(0) }
    }
}

impl Corpus for EveryEvent {
    fn file_count(&self) -> usize {
        1
    }

    fn file_name(&self, _: usize) -> &Path {
        Path::new("pages.warc.gz")
    }

    fn shard_count(&self) -> usize {
        self.prices.len()
    }

    fn shard_file(&self, _: usize) -> usize {
        0
    }

    fn shard_bytes(&self, _: usize) -> u64 {
        1000
    }

    fn price(&self, shard: usize) -> Price {
        self.prices[shard]
    }

    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64> {
        self.readings.fetch_add(1, Ordering::Relaxed);
        let fault = Fault {
            severity: Severity::Loss,
            code: "truncated",
            file: "pages.warc.gz".into(),
            byte: Some(7),
            detail: "ends early".to_owned(),
            lost_records: 2,
        };
        let bads = [
            Bad::no_text(9),
            Bad { code: "warc-length", expected: format!("{shard} bytes").into(), length: 1 },
        ];
        let id = shard.to_string();
        let title_words = TitleWords::new(b"Two words", b"words");
        let (part, title) = (PageText::Hidden, u64::MAX);
        let page = ExtractedPage { part, title, title_words, left_out_words: 3 };
        let plain = Document::new(self.text.as_bytes());
        let fields = [Some(&b"en"[..]), None, Some(b""), None];
        let contents = [
            Content::NonDocument(NonDocument::Warcinfo),
            Content::Document(plain),
            Content::PassThrough,
            Content::Document(Document { id: Some(DocumentId::Text(b"a\"b")), fields, ..plain }),
            Content::Bad(&bads[0]),
            Content::PassedOver,
            Content::Document(Document {
                id: Some(DocumentId::number(id.as_bytes())),
                repaired: Some("utf8"),
                page_text: Some(&page),
                skipped_elements: 5,
                ..Document::new(b"")
            }),
            Content::Bad(&bads[1]),
            Content::NonDocument(NonDocument::NoText),
        ];
        let mut number = 0;
        for (at, content) in (0..).zip(contents) {
            let bytes = &self.text.as_bytes()[..at % 3];
            let record = Record { number, byte: 10 * at as u64, bytes, known_hash: None, content };
            number += u64::from(!matches!(content, Content::PassThrough));
            let events = [Event::Record(record), Event::Reached(100 * at as u64)];
            let fault = (at == 4).then(|| Event::Fault(fault.clone()));
            for event in events.into_iter().chain(fault).chain([Event::Piece(b"x")]) {
                if visit(event)?.is_break() {
                    return Ok(number);
                }
            }
        }
        Ok(number)
    }
}

/// Returns the number of records of a shard and all events of reading it as text, except the bytes of records.
fn events(corpus: &dyn Corpus, shard: usize) -> (u64, Vec<String>) {
    let mut events = Vec::new();
    let records = corpus.read_shard(shard, &mut |event| {
        match event {
            Event::Record(record) => {
                let known_hash = record.content_hash();
                events.push(format!("{:?}", Record { bytes: &[], known_hash, ..record }));
            }
            Event::Fault(fault) => events.push(format!("{fault:?}")),
            Event::Reached(_) | Event::Piece(_) => {}
        }
        Ok(ControlFlow::Continue(()))
    });
    (records.unwrap(), events)
}

fn kept(corpus: &EveryEvent, are_kept: bool) -> KeptDocuments<'_> {
    let context = Context::new(&Resources::default(), &NoProgress).unwrap();
    let Sides::One(kept) = KeptDocuments::of_each(Sides::One(corpus), are_kept, &context) else {
        panic!("one corpus has one view");
    };
    kept
}

#[test]
fn a_second_reading_has_the_events_of_the_first() {
    // Texts of a few bytes share a block, and others take several.
    for bytes in [10, BLOCK_BYTES / 2, 3 * BLOCK_BYTES] {
        let corpus = EveryEvent::new(&[Price::Expensive, Price::Expensive], bytes);
        let kept = kept(&corpus, true);
        let expected: Vec<_> = (0..2).map(|shard| events(&corpus, shard)).collect();
        let read = || (0..2).map(|shard| events(&kept, shard)).collect::<Vec<_>>();
        for reading in 0..3 {
            assert!(read() == expected, "{bytes} bytes, reading {reading}");
            assert_eq!(kept.price(0), Price::Unpacked);
        }
        assert_eq!(corpus.readings.load(Ordering::Relaxed), 4);
    }
}

#[test]
fn a_summary_of_kept_documents_is_that_of_the_file() {
    let corpus = EveryEvent::new(&[Price::Expensive; 3], 100);
    let kept = kept(&corpus, true);
    let threads = Threads::new(2).unwrap();
    let summary =
        |corpus: &dyn Corpus| format!("{:?}", CollectionSummary::read(corpus, &threads).unwrap());
    let expected = summary(&corpus);
    assert_eq!([summary(&kept), summary(&kept)], [expected.clone(), expected]);
    assert_eq!(corpus.readings.load(Ordering::Relaxed), 6);
}

#[test]
fn documents_that_need_not_or_cannot_be_kept_are_read_again() {
    let again = |kept: &KeptDocuments<'_>, corpus: &EveryEvent| {
        let read = [events(kept, 0), events(kept, 0)];
        assert!(read[0] == read[1] && read[0] == events(corpus, 0));
        corpus.readings.swap(0, Ordering::Relaxed) == 3
    };
    let cheap = EveryEvent::new(&[Price::Unpacked], 10);
    assert!(again(&kept(&cheap, true), &cheap));
    let corpus = EveryEvent::new(&[Price::Expensive], 10);
    assert!(again(&kept(&corpus, false), &corpus));
    let long = EveryEvent::new(&[Price::Expensive], LONGEST_TEXT);
    assert!(again(&kept(&long, true), &long));
    let folder = tempfile::tempdir().unwrap();
    for (folder, most) in [(folder.path().to_owned(), 20), (folder.path().join("none"), 1000)] {
        let full = KeptDocuments { spool: Some(Spool::new(folder, most)), ..kept(&corpus, true) };
        assert!(again(&full, &corpus));
    }
}

#[test]
fn a_reading_that_ends_early_keeps_nothing_and_kept_events_can_end_early() {
    let corpus = EveryEvent::new(&[Price::Expensive], 10);
    let kept = kept(&corpus, true);
    let first = |corpus: &dyn Corpus| {
        let mut visited = 0;
        let records = corpus.read_shard(0, &mut |event| {
            visited += usize::from(matches!(event, Event::Record(_)));
            Ok(if visited < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        });
        (visited, records.unwrap())
    };
    assert_eq!(first(&kept).0, 2);
    assert_eq!(kept.price(0), Price::Expensive);
    assert_eq!(events(&kept, 0), events(&corpus, 0));
    assert_eq!(first(&kept), (2, 2));
    let error = kept.read_shard(0, &mut |_| Err(Error::config("x", "y", "z"))).unwrap_err();
    assert_eq!(error.to_string(), "x y: z");
}
