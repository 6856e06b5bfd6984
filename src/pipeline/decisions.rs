//! Decisions of people about removals, which `simtool review` writes and a run applies after its own.
//!
//! A file of decisions has a JSON object on each line. Documents are named as in the outputs of the run that was
//! reviewed: by file, record and ID.
//!
//! ```text
//! {"decision":"keep","id":"b","file":"in/a.jsonl","record":3}
//! {"decision":"swap","id":"b","file":"in/a.jsonl","record":3,"kept_id":"a","kept_file":"in/a.jsonl","kept_record":0}
//! {"decision":"keep_cluster","kept_id":"a","kept_file":"in/a.jsonl","kept_record":0}
//! {"decision":"keep_sources","source":"news.example","kept_source":"in/b.jsonl"}
//! ```

use super::boilerplate_rule::Site;
use super::document_names::document_name;
use super::shard_summary::CollectionSummary;
use crate::cluster::Removal;
use serde_json::{Value, json};
use simtool_base::byte_text::{byte_text, path_text};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::quantity::counted;
use simtool_base::unordered_map::{UnorderedMap, UnorderedSet};
use simtool_model::document::{DocOrdinal, Place};
use simtool_model::document_id::DocumentId;
use simtool_model::document_name::DocumentName;
use simtool_read::Corpus;
use std::borrow::Cow;
use std::fs;
use std::path::Path;

/// Maximum number of notes about decisions that were not applied. Further decisions are only counted.
const SHOWN: usize = 20;

/// Name of a document, as the outputs of a run write it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OutputName {
    /// ID of the document, or its file and record number if it has none.
    pub id: String,
    /// File of the document.
    pub file: String,
    /// Number of its record in the file, from 0.
    pub record: u64,
}

impl OutputName {
    /// Converts the name of a document to the form in which outputs write it.
    pub(crate) fn of(name: &DocumentName<'_>) -> Self {
        Self {
            id: byte_text(&name.id).into_owned(),
            file: path_text(name.file).into_owned(),
            record: name.record,
        }
    }
}

/// A decision of a person about removals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Keep this removed document.
    Keep(OutputName),
    /// Keep a removed document, and remove the kept document of its cluster instead.
    Swap {
        /// The document that was removed.
        removed: OutputName,
        /// The document that was kept.
        kept: OutputName,
    },
    /// Keep all documents that were removed for this kept document.
    KeepCluster(OutputName),
    /// Keep all documents of a source that were removed for documents of another source.
    KeepSources {
        /// Source of the removed documents.
        source: String,
        /// Source of the kept documents.
        kept_source: String,
    },
}

/// Decisions of people about removals, in the order of the lines of their file.
#[derive(Clone, Debug)]
pub struct Decisions(Vec<NumberedDecision>);

/// A decision about removals, and the number of its line in the file, from 1.
#[derive(Clone, Debug)]
struct NumberedDecision {
    line: usize,
    decision: Decision,
}

/// Result of applying decisions to the removals of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// Number of decisions that were applied.
    pub applied: u64,
    /// A sentence for each decision that no longer fits, for example because the run keeps the document anyway.
    pub unfit: Vec<String>,
}

impl Decided {
    /// Returns notes about the decisions that no longer fit. The first [`SHOWN`] decisions have a note each, and the
    /// others are counted.
    pub(crate) fn notes(&self) -> Vec<String> {
        let shown = self.unfit.iter().take(SHOWN);
        let mut notes: Vec<String> =
            shown.map(|reason| format!("a decision was not applied, {reason}")).collect();
        if self.unfit.len() > SHOWN {
            let more = counted((self.unfit.len() - SHOWN) as u64, "more decision");
            notes.push(format!("{more} were not applied"));
        }
        notes
    }
}

/// Returns the source of a document: the host of its ID if the ID is a URI, or else its file.
#[must_use]
pub fn source_name(id: &str, file: &str) -> String {
    let host = Site::Host.name(Some(DocumentId::Text(id.as_bytes())), Path::new(file));
    if host.is_empty() { file.to_owned() } else { byte_text(&host).into_owned() }
}

impl Decision {
    /// Returns the removed document that the decision names. `None` if it names none.
    pub(crate) fn removed(&self) -> Option<&OutputName> {
        match self {
            Self::Keep(removed) | Self::Swap { removed, .. } => Some(removed),
            Self::KeepCluster(_) | Self::KeepSources { .. } => None,
        }
    }

    /// Returns the kept document that the decision names. `None` if it names none.
    pub(crate) fn kept(&self) -> Option<&OutputName> {
        match self {
            Self::KeepCluster(kept) | Self::Swap { kept, .. } => Some(kept),
            Self::Keep(_) | Self::KeepSources { .. } => None,
        }
    }

    /// Returns the decision as the JSON object that a line of a file of decisions contains.
    #[must_use]
    pub fn object(&self) -> Value {
        let name = match self {
            Self::Keep(_) => "keep",
            Self::Swap { .. } => "swap",
            Self::KeepCluster(_) => "keep_cluster",
            Self::KeepSources { .. } => "keep_sources",
        };
        let mut object = json!({ "decision": name });
        if let Some(OutputName { id, file, record }) = self.removed() {
            (object["id"], object["file"]) = (id.as_str().into(), file.as_str().into());
            object["record"] = (*record).into();
        }
        if let Some(OutputName { id, file, record }) = self.kept() {
            (object["kept_id"], object["kept_file"]) = (id.as_str().into(), file.as_str().into());
            object["kept_record"] = (*record).into();
        }
        if let Self::KeepSources { source, kept_source } = self {
            object["source"] = source.as_str().into();
            object["kept_source"] = kept_source.as_str().into();
        }
        object
    }

    /// Parses a line of a file of decisions. The error says what a valid line has.
    pub(crate) fn parse(line: &str) -> Result<Self, &'static str> {
        const EXPECTED: &str =
            "a JSON object with the field decision: keep, swap, keep_cluster or keep_sources";
        let object: Value = serde_json::from_str(line).map_err(|_| EXPECTED)?;
        let text = |name: &str| object[name].as_str().map(str::to_owned);
        let name = |id: &str, file: &str, record: &str| {
            Some(OutputName { id: text(id)?, file: text(file)?, record: object[record].as_u64()? })
        };
        let removed = || name("id", "file", "record").ok_or("the fields id, file and record");
        let kept = || {
            let name = name("kept_id", "kept_file", "kept_record");
            name.ok_or("the fields kept_id, kept_file and kept_record")
        };
        let source = |name| text(name).ok_or("the fields source and kept_source");
        Ok(match object["decision"].as_str().ok_or(EXPECTED)? {
            "keep" => Self::Keep(removed()?),
            "swap" => Self::Swap { removed: removed()?, kept: kept()? },
            "keep_cluster" => Self::KeepCluster(kept()?),
            "keep_sources" => {
                Self::KeepSources { source: source("source")?, kept_source: source("kept_source")? }
            }
            _ => return Err(EXPECTED),
        })
    }
}

impl Decisions {
    /// Reads a file of decisions.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a line is no decision.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|error| Error::io(path, "read", error))?;
        let (mut decisions, mut byte) = (Vec::new(), 0);
        for (line, content) in (1..).zip(text.split_inclusive('\n')) {
            if !content.trim().is_empty() {
                let decision = Decision::parse(content).map_err(|expected| {
                    let expected = format!("{expected} (line {line})");
                    ErrorKind::Format { path: path.to_owned(), byte, expected }
                })?;
                decisions.push(NumberedDecision { line, decision });
            }
            byte += content.len() as u64;
        }
        Ok(Self(decisions))
    }

    /// Returns the decisions in the order of their lines.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Decision> {
        self.0.iter().map(|numbered| &numbered.decision)
    }

    /// Applies the decisions to `removals`, one after the other. If two decisions concern one document, the later one
    /// starts from the result of the earlier one.
    pub(super) fn apply(
        &self,
        removals: &mut Vec<Removal>,
        corpus: &dyn Corpus,
        read: &CollectionSummary,
    ) -> Decided {
        let names = RowNames { corpus, read };
        let mut applying = Applying::new(self, removals, &names);
        let mut decided = Decided::default();
        for NumberedDecision { line, decision } in &self.0 {
            match applying.apply(decision) {
                Ok(()) => decided.applied += 1,
                Err(reason) => decided.unfit.push(format!("line {line}: {reason}")),
            }
        }
        // Removals are deleted last, because the maps of `applying` refer to them by index.
        let is_kept = applying.is_kept;
        let mut at = 0..;
        removals.retain(|_| at.next().is_some_and(|at| !is_kept[at]));
        removals.sort_unstable_by_key(|removal| removal.row);
        decided
    }
}

/// Access to the names of the documents of a collection. Documents are numbered from 0 in reading order.
struct RowNames<'n> {
    corpus: &'n dyn Corpus,
    read: &'n CollectionSummary,
}

impl<'n> RowNames<'n> {
    fn file_and_record(&self, row: u32) -> (Cow<'n, str>, u64) {
        let Place { file, record } = self.read.ids.place(DocOrdinal(row));
        let file = self.corpus.file_name(file as usize).as_os_str().as_encoded_bytes();
        (byte_text(file), record)
    }

    fn name(&self, row: u32) -> OutputName {
        OutputName::of(&document_name(self.corpus, &self.read.ids, row))
    }

    fn source(&self, row: u32) -> String {
        let OutputName { id, file, .. } = self.name(row);
        source_name(&id, &file)
    }
}

/// Removals of a run, and the changes that decisions make to them.
struct Applying<'a> {
    removals: &'a mut Vec<Removal>,
    names: &'a RowNames<'a>,
    /// For each removal, whether a decision cancels it, so that its document is kept.
    is_kept: Vec<bool>,
    /// Numbers of the documents that decisions name, counted in the collection as this run has read it.
    rows: UnorderedMap<OutputName, u32>,
    /// For each removed document that decisions name, the index of its removal in `removals`.
    of_removed: UnorderedMap<u32, usize>,
    /// For each kept document that decisions name, the indexes of the removals in its favor in `removals`.
    of_kept: UnorderedMap<u32, Vec<usize>>,
}

impl<'a> Applying<'a> {
    fn new(decisions: &Decisions, removals: &'a mut Vec<Removal>, names: &'a RowNames<'a>) -> Self {
        let mut wanted: UnorderedSet<(&str, u64)> = UnorderedSet::default();
        for decision in decisions.iter() {
            let named = decision.removed().into_iter().chain(decision.kept());
            wanted.extend(named.map(|name| (name.file.as_str(), name.record)));
        }
        let mut rows = UnorderedMap::default();
        let mut of_removed = UnorderedMap::default();
        let mut of_kept: UnorderedMap<u32, Vec<usize>> = UnorderedMap::default();
        // Most removals are of documents that no decision names.
        let is_wanted = |row| {
            let (file, record) = names.file_and_record(row);
            wanted.contains(&(&*file, record))
        };
        for (at, removal) in removals.iter().enumerate().filter(|_| !wanted.is_empty()) {
            if is_wanted(removal.row) {
                rows.insert(names.name(removal.row), removal.row);
                of_removed.insert(removal.row, at);
            }
            if is_wanted(removal.kept) {
                rows.insert(names.name(removal.kept), removal.kept);
                of_kept.entry(removal.kept).or_default().push(at);
            }
        }
        let is_kept = vec![false; removals.len()];
        Self { removals, names, is_kept, rows, of_removed, of_kept }
    }

    /// Applies one decision. The error says why it no longer fits.
    fn apply(&mut self, decision: &Decision) -> Result<(), String> {
        match decision {
            Decision::Keep(removed) => {
                let at = self.removal_of(removed)?;
                self.is_kept[at] = true;
            }
            Decision::Swap { removed, kept } => self.swap(removed, kept)?,
            Decision::KeepCluster(kept) => {
                for at in self.cluster_of(kept)? {
                    self.is_kept[at] = true;
                }
            }
            Decision::KeepSources { source, kept_source } => {
                // Sources are compared by name, which takes a while for many removals.
                let mut is_any = false;
                for (removal, is_kept) in self.removals.iter().zip(&mut self.is_kept) {
                    if self.names.source(removal.row) == *source
                        && self.names.source(removal.kept) == *kept_source
                    {
                        (*is_kept, is_any) = (true, true);
                    }
                }
                if !is_any {
                    return Err(format!(
                        "no document of {source} is removed for one of {kept_source}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns the index of the removal of a document. It is an error if the document is not removed.
    fn removal_of(&self, removed: &OutputName) -> Result<usize, String> {
        // A document with another ID at the same place is another document.
        let row = self.rows.get(removed);
        let at = row.and_then(|row| self.of_removed.get(row)).copied();
        at.filter(|&at| !self.is_kept[at]).ok_or_else(|| format!("{} is not removed", removed.id))
    }

    /// Returns the indexes of the removals in favor of a kept document. It is an error if there are none.
    fn cluster_of(&self, kept: &OutputName) -> Result<Vec<usize>, String> {
        let row = self.rows.get(kept);
        let places = row.and_then(|row| self.of_kept.get(row)).cloned();
        places.ok_or_else(|| format!("no document is removed for {}", kept.id))
    }

    /// Keeps a removed document, and removes the kept document of its cluster instead.
    fn swap(&mut self, removed: &OutputName, kept: &OutputName) -> Result<(), String> {
        let at = self.removal_of(removed)?;
        let places = self.cluster_of(kept)?;
        if !places.contains(&at) {
            return Err(format!("{} is not removed for {}", removed.id, kept.id));
        }
        let Removal { row, kept: old, closeness } = self.removals[at];
        for place in places {
            // The other removed documents were compared with the old kept document, so their closeness to the new one
            // is unknown.
            self.removals[place] = Removal { kept: row, closeness: None, ..self.removals[place] };
        }
        self.removals[at] = Removal { row: old, kept: row, closeness };
        // The cluster has another kept document now, and later decisions about the old one do not fit.
        self.of_kept.remove(&old);
        self.of_removed.remove(&row);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(id: &str) -> OutputName {
        OutputName { id: id.to_owned(), file: "in/a.jsonl".to_owned(), record: 3 }
    }

    #[test]
    fn decisions_are_read_as_they_are_written() {
        for decision in [
            Decision::Keep(name("b\t\"\u{202e}")),
            Decision::Swap { removed: name("b"), kept: name("a") },
            Decision::KeepCluster(name("a")),
            Decision::KeepSources { source: "x".into(), kept_source: "y".into() },
        ] {
            assert_eq!(Decision::parse(&decision.object().to_string()), Ok(decision));
        }
    }

    #[test]
    fn a_line_that_is_no_decision_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.jsonl");
        fs::write(&path, "{\"decision\":\"keep_sources\",\"source\":\"x\",\"kept_source\":\"y\"}\n\n{\"decision\":\"keep\"}\n")
            .unwrap();
        let error = Decisions::read(&path).unwrap_err().to_string();
        assert!(error.ends_with("expected the fields id, file and record (line 3)"), "{error}");
        fs::write(&path, "nonsense").unwrap();
        assert!(Decisions::read(&path).unwrap_err().to_string().contains("keep_cluster"));
    }

    #[test]
    fn sources_are_hosts_or_files() {
        assert_eq!(source_name("https://News.Example/a?b", "in/a.warc"), "news.example");
        assert_eq!(source_name("17", "in/a.jsonl"), "in/a.jsonl");
    }
}
