//! A labelled collection in memory: documents, and the pairs that are known to be near-duplicates.

use crate::evaluate::pair_label::sorted;
use crate::evaluate::truth::{IdRows, Pair, TruthFormat, read_known_pairs, read_truth};
use crate::pipeline::Boilerplate;
use crate::pipeline::document_traits::WantedTraits;
use crate::pipeline::row_scope::RowScope;
use crate::pipeline::scope::Relation;
use crate::pipeline::shard_summary::{CollectionSummary, Compared, read_summarized};
use crate::pipeline::watched::Watched;
use simtool_base::error::{Error, Result};
use simtool_base::progress::{Progress, Work};
use simtool_compute::threads::Threads;
use simtool_model::document::DocOrdinal;
use simtool_model::evaluation::LabelledName;
use simtool_model::sides::Sides;
use simtool_read::{Corpus, Texts};
use std::path::{Path, PathBuf};

/// A file of labels, which lists the known near-duplicates.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'l> {
    /// Path of the file, for error messages.
    pub path: &'l Path,
    /// Content of the file of labels as bytes.
    pub bytes: &'l [u8],
    /// Whether a line holds a pair of documents or a document and its cluster.
    pub format: TruthFormat,
}

/// All documents of a collection, stored in memory.
#[derive(Debug)]
pub struct DocumentsInMemory {
    texts: Vec<Vec<u8>>,
    ids: Vec<Vec<u8>>,
    /// Selects the pairs of documents that are compared with each other. `None` if all pairs are compared.
    scope: Option<RowScope>,
    /// Summary of reading the documents.
    pub summary: CollectionSummary,
}

impl DocumentsInMemory {
    /// Reads all documents of `corpus`. `boilerplate` is the rule by which lines were already left out of the texts of
    /// `corpus`. This function leaves out no lines. If a document has no ID, its file and record number become its ID.
    ///
    /// # Errors
    ///
    /// The threads cannot be started, there are more than 2³² − 1 documents, or `progress` is cancelled. Unreadable
    /// records and files are no error but part of the summary.
    pub fn read(
        corpus: &dyn Corpus,
        boilerplate: Option<Boilerplate>,
        threads: usize,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let own_words = boilerplate.is_some_and(Boilerplate::compares_own_words);
        let wanted = WantedTraits { own_words, ..WantedTraits::NONE };
        let threads = Threads::new(threads)?;
        progress.begin("reading", Work::Bytes(corpus.bytes()));
        let corpus = &Watched { corpus, progress } as &dyn Corpus;
        let read_shard = |(): &mut (), shard| {
            let mut texts = Vec::new();
            let summary = read_summarized(corpus, shard, wanted, &mut |_, document| {
                texts.push(document.text.to_vec());
                Ok(Compared::by_terms(true))
            })?;
            Ok((texts, summary))
        };
        // Results come in the order of the shards, so rows have the same numbers as in the
        // summary.
        let parts = threads.try_map(corpus.shard_count(), || Ok(()), read_shard)?;
        let mut texts = Vec::new();
        let mut summaries = Vec::new();
        for (part, summary) in parts {
            texts.extend(part);
            summaries.push(summary);
        }
        let summary = CollectionSummary::new(corpus, summaries)?;
        let id = |row| {
            let document = DocOrdinal(row);
            summary.ids.id(document).map_or_else(
                || {
                    let place = summary.ids.place(document);
                    let file = corpus.file_name(place.file as usize);
                    format!("{}:{}", file.display(), place.record).into_bytes()
                },
                |id| id.bytes().to_vec(),
            )
        };
        let ids = (0..texts.len() as u32).map(id).collect();
        let values = || Sides::One(summary.traits().scope_values().to_vec());
        let names = || Sides::One(summary.traits().names().to_vec());
        let scope =
            own_words.then(|| RowScope::new(Relation::Within, values()).with_names(names()));
        Ok(Self { texts, ids, scope, summary })
    }

    /// Returns the number of documents in the collection.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns whether the collection has no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns whether a run of `dedup` with the same rule for boilerplate compares the documents of a pair. `are_sets`
    /// is true if the method compares only sets of terms. Such a run also skips pairs of web pages of one site whose
    /// titles both have own words, but none in common.
    pub(super) fn compares(&self, [a, b]: Pair, are_sets: bool) -> bool {
        let takes = |scope: &RowScope| if are_sets { scope.takes(a, b) } else { scope.has(a, b) };
        self.scope.as_ref().is_none_or(takes)
    }

    /// Returns the documents as a corpus that can be read like files.
    #[must_use]
    pub fn corpus(&self) -> Texts<'_> {
        Texts::of(&self.texts)
    }

    /// Returns the text of the document with number `row`, counted from 0 in reading order.
    ///
    /// # Panics
    ///
    /// The collection has no document with this number.
    #[must_use]
    pub fn text(&self, row: u32) -> &[u8] {
        &self.texts[row as usize]
    }

    /// Returns the ID of the document with number `row`. If it has none, returns its file and record number, such as
    /// `docs.jsonl:3`.
    ///
    /// # Panics
    ///
    /// The collection has no document with this number.
    #[must_use]
    pub fn id(&self, row: u32) -> &[u8] {
        &self.ids[row as usize]
    }
}

/// A collection with its labels. The labels are its true pairs, which are near-duplicates, and pairs that
/// count neither as true nor as false.
#[derive(Debug)]
pub struct Labelled {
    name: String,
    pub(super) documents: DocumentsInMemory,
    pub(super) truth: Vec<Pair>,
    pub(super) set_aside: Vec<Pair>,
    /// Pairs that the labels mark as no near-duplicates. They count like pairs without a label.
    pub(super) different: Vec<Pair>,
    notes: Vec<String>,
}

impl Labelled {
    /// Reads the labels of `documents` from two files. `truth` lists the true pairs, which are near-duplicates. Its
    /// third column may mark a pair as no near-duplicates, or as a pair that counts neither as true nor as false.
    /// `set_aside` lists further pairs that count neither as true nor as false. A pair that is true and set aside
    /// counts as true.
    ///
    /// # Errors
    ///
    /// A line cannot be parsed, labels contradict each other, or there is no true pair.
    pub fn new(
        name: impl Into<String>,
        documents: DocumentsInMemory,
        truth: Labels<'_>,
        set_aside: Option<Labels<'_>>,
    ) -> Result<Self> {
        let rows = IdRows::new(documents.ids.iter().map(Vec::as_slice));
        let known = read_known_pairs(truth.bytes, truth.path, truth.format, &rows)?;
        let true_pairs = known.near_duplicates;
        if true_pairs.is_empty() {
            let rule = "holds no pair: name at least two documents that are near-duplicates";
            return Err(Error::config("truth", truth.path.display(), rule));
        }
        let mut gray = known.set_aside;
        if let Some(labels) = set_aside {
            gray.extend(read_truth(labels.bytes, labels.path, labels.format, &rows)?);
        }
        // Both files may set a pair aside, and a pair is searched for in an ascending list.
        let mut set_aside = sorted(gray);
        set_aside.retain(|pair| true_pairs.binary_search(pair).is_err());
        let of_file = |note: String| format!("{}: {note}", truth.path.display());
        let notes = known.notes.into_iter().map(of_file).collect();
        // The map borrows the IDs of the documents, which move into the result.
        drop(rows);
        // A pair in two lists must not be counted twice.
        let mut different = known.different;
        different.retain(|pair| set_aside.binary_search(pair).is_err());
        Ok(Self { name: name.into(), documents, truth: true_pairs, set_aside, different, notes })
    }

    /// Returns sentences for the user that explain how the third column of the labels was understood.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the name of the collection, its number of documents, and its numbers of labelled pairs.
    #[must_use]
    pub fn described(&self) -> LabelledName {
        LabelledName {
            name: self.name.clone(),
            documents: self.documents.len() as u64,
            positives: self.truth.len() as u64,
            set_aside: self.set_aside.len() as u64,
        }
    }

    /// Returns the summary of reading the documents.
    #[must_use]
    pub fn summary(&self) -> &CollectionSummary {
        &self.documents.summary
    }

    /// Returns whether the pair has a label that affects its count: it is true, or it counts neither as true nor as
    /// false.
    pub(super) fn has_label(&self, pair: Pair) -> bool {
        [&self.truth, &self.set_aside].iter().any(|pairs| pairs.binary_search(&pair).is_ok())
    }
}

/// Paths of the files of a labelled collection in a folder. `docs.*` has the documents, and `truth.tsv` or `truth.csv`
/// the true pairs. `gray.tsv` or `gray.csv` may be missing. It has pairs that count neither as true nor as false.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledFolder {
    /// Path of the file with the documents, for example `docs.jsonl`.
    pub documents: PathBuf,
    /// Path of the file with the true pairs, for example `truth.tsv`.
    pub truth: PathBuf,
    /// File of the pairs that count neither as true nor as false, if there is one.
    pub gray: Option<PathBuf>,
}

impl LabelledFolder {
    /// Finds the files of a labelled collection in `folder`.
    ///
    /// # Errors
    ///
    /// The folder cannot be listed, or lacks documents or true pairs.
    pub fn find(folder: &Path) -> Result<Self> {
        let listed = |error| Error::io(folder, "list", error);
        let mut documents = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(listed)? {
            let path = entry.map_err(listed)?.path();
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            if name.starts_with(b"docs.") {
                documents.push(path);
            }
        }
        // The order in which a folder lists its files may vary, but the chosen file must not.
        documents.sort_unstable();
        let wanted = "must have a file docs.* with documents and a file truth.tsv or truth.csv with pairs; else \
                      use `corpus` and `truth`";
        let lacks = || Error::config("collection", folder.display(), wanted);
        let labels = |names: [&str; 2]| {
            names.map(|name| folder.join(name)).into_iter().find(|path| path.is_file())
        };
        let gray = labels(["gray.tsv", "gray.csv"]);
        match (documents.into_iter().next(), labels(["truth.tsv", "truth.csv"])) {
            (Some(documents), Some(truth)) => Ok(Self { documents, truth, gray }),
            _ => Err(lacks()),
        }
    }
}
