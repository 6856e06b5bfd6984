//! Compares two documents, and reads a document by its record number or ID.

use super::watched::Watched;
use crate::method::{DocumentTerms, Fitted, Method, RowMaker, RowScratch, TermScratch};
use simtool_base::byte_text::byte_text;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::fault::{Fault, Severity, escaped};
use simtool_base::progress::{Progress, Work};
use simtool_base::quantity::{counted, grouped};
use simtool_fingerprint::Sketch;
use simtool_fingerprint::hashed_simhash::HashedSimhash;
use simtool_kernels::Isa;
use simtool_model::document::{Bad, Content, Record};
use simtool_model::document_id::DocumentId;
use simtool_model::fingerprint_rows::Shape;
use simtool_model::page_text::{ExtractedPage, count_words};
use simtool_model::similarity::Similarity;
use simtool_read::walk::InputFile;
use simtool_read::{Collection, Corpus, Event, Format, ReadOptions};
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::path::Path;

/// Similarity and distance of two texts, and the counts from which they are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Number of distinct shingles of each text.
    pub shingles: [u64; 2],
    /// Number of distinct shingles in both texts.
    pub shared: u64,
    /// Jaccard similarity of the sets of shingles, or [`Similarity::ALMOST_ONE`] if the sets are equal and the
    /// texts differ in the order or number of their tokens or in symbols. `None` if neither text has a shingle.
    pub similarity: Option<Similarity>,
    /// Number of positions in which the fingerprints of the two texts differ. `None` if a text has no
    /// fingerprint.
    pub distance: Option<u32>,
    /// Number of bits of the fingerprints, and the unit in which `distance` counts.
    pub shape: Shape,
}

impl Comparison {
    /// Returns the number of distinct shingles in at least one of the texts.
    #[must_use]
    pub fn union(&self) -> u64 {
        self.shingles[0] - self.shared + self.shingles[1]
    }
}

/// Compares two texts by their shingles and by their fingerprints.
///
/// The fingerprints are made by `method`. If the method has none or must learn weights from a collection,
/// they are made by 64-bit SimHash.
///
/// # Complexity
///
/// O(n log n) for n shingles.
#[must_use]
pub(crate) fn compare_texts(texts: [&[u8]; 2], method: &Method, isa: Isa) -> Comparison {
    let terms = DocumentTerms::new(method.compared(), &Fitted::Nothing, isa);
    let simhash = HashedSimhash::default();
    // There is no collection to learn weights from, so shingles count as often as they occur.
    let of_recipe = method.recipe().sketch().filter(|_| !method.recipe().terms().is_learned());
    let (sketch, counted) = match of_recipe {
        Some(sketch) => (sketch, method.recipe().terms()),
        None => (&simhash as &dyn Sketch, method.compared()),
    };
    let maker = RowMaker::new(counted, sketch, &Fitted::Nothing, isa);
    let shape = maker.shape();
    let (mut scratch, mut row_scratch) = (TermScratch::with_sequence(), RowScratch::default());
    let mut fingerprints = [None, None];
    let mut sets = [Vec::new(), Vec::new()];
    let mut sequences = [0; 2];
    let results = sets.iter_mut().zip(&mut sequences).zip(&mut fingerprints);
    for (text, ((set, sequences), fingerprint)) in texts.into_iter().zip(results) {
        terms.find(text, &mut scratch).clone_into(set);
        *sequences = scratch.sequence();
        let mut row = Vec::new();
        *fingerprint = maker.push(text, &mut row, &mut row_scratch).0.then_some(row);
        set.sort_unstable();
        set.dedup();
    }
    let shingles = [&sets[0], &sets[1]].map(|set| set.len() as u64);
    let shared = shared(&sets[0], &sets[1]);
    let similarity =
        (shingles != [0, 0]).then(|| Similarity::of_sizes(shared, shingles[0], shingles[1]));
    let similarity = if sequences[0] == sequences[1] {
        similarity
    } else {
        similarity.map(Similarity::below_one)
    };
    let distance = match &fingerprints {
        [Some(left), Some(right)] => Some(shape.distance(left, right)),
        _ => None,
    };
    Comparison { shingles, shared, similarity, distance, shape }
}

/// Returns the number of elements that two ascending lists without repetitions have in common.
pub(crate) fn shared(left: &[u64], right: &[u64]) -> u64 {
    let (mut l, mut r, mut count) = (0, 0, 0);
    while l < left.len() && r < right.len() {
        match left[l].cmp(&right[r]) {
            Ordering::Less => l += 1,
            Ordering::Greater => r += 1,
            Ordering::Equal => (l, r, count) = (l + 1, r + 1, count + 1),
        }
    }
    count
}

/// Choice of the document that is read from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WantedDocument<'w> {
    /// The only document of the file. It is an error if the file has several.
    Only,
    /// The document in the record with this number, counted from 0 in the file.
    Record(u64),
    /// The first document with this ID.
    Id(&'w [u8]),
}

/// A document that was read from a file, with its ID and its record number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadDocument {
    /// Number of the record that holds the document, counted from 0 in the file.
    pub record: u64,
    /// ID of the document, if it has one.
    pub id: Option<Vec<u8>>,
    /// Record numbers of the other documents of the file that have the wanted ID. Empty if the document was
    /// not wanted by its ID.
    pub others: Vec<u64>,
    /// Text of the document.
    pub text: Vec<u8>,
    /// Values of the fields that the caller asked for, in the order of the request. `None` for fields that the document
    /// lacks.
    pub fields: Vec<Option<Vec<u8>>>,
    /// Facts about the HTML page from which the text was extracted, such as its title. `None` if the document is no
    /// page.
    pub page_text: Option<ExtractedPage>,
    /// Format of the file that holds the document.
    pub format: Format,
    /// Warnings about the bytes of the file that were read, for example that another record is damaged. The text of
    /// this document is complete nevertheless.
    pub faults: Vec<Fault>,
}

impl ReadDocument {
    /// Returns a note about the words of a page that are not compared, or `None` if all words are.
    #[must_use]
    pub fn left_out(&self) -> Option<String> {
        // Documents that are no pages are compared whole.
        let page = self.page_text.filter(|page| page.left_out_words > 0)?;
        let compared = counted(count_words(&self.text).into(), "word");
        // The name of the part of the page is the reason why these words are not compared.
        let others = grouped(page.left_out_words.into());
        Some(format!(
            "{compared} of the page are compared ({}), and {others} are not",
            page.part.name()
        ))
    }
}

/// Reads the wanted document of `file`. Reports the number of bytes that are read to `progress`.
///
/// # Errors
///
/// The file cannot be read or does not hold the document. With [`WantedDocument::Only`], the file holds several
/// documents.
pub(crate) fn read_document(
    file: InputFile,
    wanted: WantedDocument<'_>,
    options: ReadOptions,
    progress: &dyn Progress,
) -> Result<ReadDocument> {
    let name = file.name().to_owned();
    let collection = Collection::open(vec![file], options);
    progress.begin("reading", Work::Bytes(collection.bytes()));
    let watched = Watched { corpus: &collection, progress };
    let mut search = DocumentSearch {
        name: &name,
        collection: &collection,
        wanted,
        records_before: 0,
        found: None,
        others: Vec::new(),
        faults: Vec::new(),
    };
    for shard in 0..collection.shard_count() {
        // A record number is unique. An ID may occur again, and a file may have several documents, so reading goes on.
        if search.found.is_some() && search.is_record() {
            break;
        }
        let records = watched.read_shard(shard, &mut |event| search.visit(event))?;
        search.records_before += records;
    }
    search.finish()
}

/// The wanted document of a file, while the file is being read.
struct DocumentSearch<'s> {
    name: &'s Path,
    collection: &'s Collection,
    wanted: WantedDocument<'s>,
    /// Number of records in the shards that were read before the present one.
    records_before: u64,
    found: Option<FoundDocument>,
    /// Record numbers of the documents with the wanted ID that come after the first one.
    others: Vec<u64>,
    /// Warnings about the bytes of the file that were read so far.
    faults: Vec<Fault>,
}

/// Record number, ID, text and fields of the wanted document.
struct FoundDocument {
    record: u64,
    id: Option<Vec<u8>>,
    text: Vec<u8>,
    fields: Vec<Option<Vec<u8>>>,
    page_text: Option<ExtractedPage>,
}

impl DocumentSearch<'_> {
    /// Handles one event of the reading: stores the wanted document or a warning in `self`. Returns `Break` if the rest
    /// of the file need not be read.
    fn visit(&mut self, event: Event<'_>) -> Result<ControlFlow<()>> {
        match event {
            Event::Piece(_) | Event::Reached(_) => Ok(ControlFlow::Continue(())),
            Event::Fault(fault) if fault.severity == Severity::Warning => {
                self.faults.push(fault);
                Ok(ControlFlow::Continue(()))
            }
            // A damaged file may lack the wanted document or a part of it, so the fault is an
            // error here.
            Event::Fault(fault) => Err(self.expected(
                fault.byte.unwrap_or(0),
                format!("an undamaged file; [{}] {}", fault.code, fault.detail),
            )),
            Event::Record(record) => self.visit_record(&record),
        }
    }

    fn visit_record(&mut self, met: &Record<'_>) -> Result<ControlFlow<()>> {
        // Shards number their records from 0, but users count from the beginning of the file.
        let record = self.records_before + met.number;
        match met.content {
            Content::Document(document)
                if self.is_wanted(record, document.id.map(DocumentId::bytes)) =>
            {
                if self.found.is_some() && self.wanted == WantedDocument::Only {
                    let rule = "one document; name one of many as FILE:RECORD or FILE#ID";
                    return Err(self.expected(met.byte, rule.to_owned()));
                }
                if self.found.is_some() {
                    self.others.push(record);
                    return Ok(ControlFlow::Continue(()));
                }
                let id = document.id.map(|id| id.bytes().to_vec());
                self.found = Some(FoundDocument {
                    record,
                    id,
                    text: document.text.to_vec(),
                    fields: document.fields.map(|value| value.map(<[u8]>::to_vec)).into(),
                    page_text: document.page_text.copied(),
                });
                if self.is_record() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Content::Bad(bad) if self.is_wanted(record, None) && bad.code == Bad::NO_TEXT => {
                let lack = self.collection.lack_of_text(0, met.byte);
                return Err(self.expected(met.byte, format!("a text, but there is {lack}")));
            }
            Content::Bad(bad) if self.is_wanted(record, None) => {
                return Err(self.expected(met.byte, bad.expected.clone().into_owned()));
            }
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns whether the document is wanted by its record number, so that no second document can match.
    fn is_record(&self) -> bool {
        matches!(self.wanted, WantedDocument::Record(_))
    }

    fn is_wanted(&self, record: u64, id: Option<&[u8]>) -> bool {
        match self.wanted {
            WantedDocument::Only => true,
            WantedDocument::Record(number) => number == record,
            // A user writes bytes that are not UTF-8 as the outputs of a run do.
            WantedDocument::Id(wanted) => id.is_some_and(|id| byte_text(id).as_bytes() == wanted),
        }
    }

    /// Returns the document that was found. If none was found, returns an error that names the document that the file
    /// lacks.
    fn finish(mut self) -> Result<ReadDocument> {
        let Some(found) = self.found.take() else {
            let among = format!("there are {} records", self.records_before);
            let what = match self.wanted {
                WantedDocument::Only => "a document".to_owned(),
                WantedDocument::Record(record) => format!("a document in record {record}; {among}"),
                WantedDocument::Id(id) => {
                    format!("a document with the ID \"{}\" (`id_field`); {among}", escaped(id))
                }
            };
            return Err(self.expected(0, what));
        };
        let recognized = self.collection.recognize(0);
        let format = recognized.map_err(|fault| self.expected(0, fault.detail))?.format;
        Ok(ReadDocument {
            record: found.record,
            id: found.id,
            others: self.others,
            text: found.text,
            fields: found.fields,
            page_text: found.page_text,
            format,
            faults: self.faults,
        })
    }

    /// Returns the error that the file lacks `expected`. The error names the position `byte`, a byte offset in the
    /// file.
    fn expected(&self, byte: u64, expected: String) -> Error {
        ErrorKind::Format { path: self.name.to_path_buf(), byte, expected }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::progress::NoProgress;
    use simtool_model::document::MOST_FIELDS;
    use simtool_read::TextSplit;
    use std::fs;

    fn compared(left: &str, right: &str) -> Comparison {
        let method = "exact:shingle=words:2".parse().unwrap();
        compare_texts([left.as_bytes(), right.as_bytes()], &method, Isa::PORTABLE)
    }

    #[test]
    fn shared_shingles_make_the_similarity() {
        let comparison = compared("a b c d", "A b c e");
        assert_eq!((comparison.shingles, comparison.shared), ([3, 3], 2));
        assert_eq!(comparison.similarity.map(|s| (s.shared, s.union)), Some((2, 4)));
        assert_eq!(compared("a b", "A  b.").distance, Some(0));
        assert_eq!(compared("a b", "").similarity, Some(Similarity { shared: 0, union: 1 }));
        assert_eq!(compared("a b", "").distance, None);
        assert_eq!(compared("", " ").similarity, None);
    }

    #[test]
    fn one_document_is_read_and_two_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.txt");
        fs::write(&path, "first\nsecond\n").unwrap();
        let read = |wanted, by_lines| {
            let split = if by_lines { TextSplit::Lines } else { TextSplit::File };
            let options = ReadOptions { split, ..ReadOptions::default() };
            read_document(InputFile::new(&path), wanted, options, &NoProgress)
        };
        assert_eq!(read(WantedDocument::Only, false).unwrap().text, b"first\nsecond\n");
        assert_eq!(read(WantedDocument::Record(1), true).unwrap().text.trim_ascii(), b"second");
        let error = read(WantedDocument::Only, true).unwrap_err().to_string();
        assert!(error.contains("FILE:RECORD"), "{error}");
        let error = read(WantedDocument::Record(2), true).unwrap_err().to_string();
        assert!(error.contains("record 2"), "{error}");
    }

    #[test]
    fn a_document_is_found_by_its_id() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let lines: Vec<String> =
            (0..100).map(|n| format!("{{\"id\":{},\"text\":\"text {n}\"}}\n", n % 50)).collect();
        fs::write(&path, lines.concat()).unwrap();
        for shard_bytes in [1, 1 << 20] {
            let read = |wanted| {
                let options = ReadOptions { shard_bytes, ..ReadOptions::default() };
                read_document(InputFile::new(&path), wanted, options, &NoProgress)
            };
            let (id, text) = (Some(b"49".to_vec()), b"text 49".to_vec());
            let format = Format::from_name("jsonl").unwrap();
            let faults = Vec::new();
            let others = vec![99];
            let fields = vec![None; MOST_FIELDS];
            let page_text = None;
            let expected =
                ReadDocument { record: 49, id, others, text, fields, page_text, format, faults };
            assert_eq!(read(WantedDocument::Id(b"49")).unwrap(), expected);
            assert_eq!(read(WantedDocument::Record(60)).unwrap().text, b"text 60");
            let error = read(WantedDocument::Id(b"x")).unwrap_err().to_string();
            let expected =
                "expected a document with the ID \"x\" (`id_field`); there are 100 records";
            assert!(error.ends_with(expected), "{error}");
        }
    }
}
