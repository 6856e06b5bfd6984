//! Reads the documents of chosen removals again from the inputs of the run.

use super::verdict::Verdict;
use crate::output::coverage_rows::{KeptOfRemoved, NamedPlace};
use crate::output::finished_rows::RemovedRow;
use crate::output::input_search::{HeldPlaces, InputSearch};
use crate::pipeline::boilerplate::without_boilerplate;
use crate::pipeline::held_documents::HeldDocument;
use crate::pipeline::{Boilerplate, OutputName};
use crate::run::recorded_run::RecordedRun;
use crate::write::receipt::Receipt;
use simtool_base::byte_text::byte_text;
use simtool_base::error::Result;
use simtool_compute::context::Context;
use simtool_model::document::Place;
use simtool_model::sides::Sides;
use simtool_read::{Corpus, Selector};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Settings for reading the documents of removals again.
#[derive(Clone, Copy)]
pub(super) struct Reading<'f> {
    /// Whether queries were matched with a corpus.
    pub(super) is_match: bool,
    /// Rule for the lines that the run left out of the comparison. `None` if it left out none.
    pub(super) boilerplate: Option<Boilerplate>,
    /// Fields that are read in addition to the texts. Their values decide which documents are compared with each other,
    /// or which of them is kept.
    pub(super) fields: &'f [Selector],
}

/// Documents that were read again: those of a single collection, or those of the queries and the corpus of a match.
pub(super) struct ReadDocuments<'r> {
    sides: Sides<ReadSide<'r>>,
    /// Name of an input file that cannot be read, although all inputs are needed to find the lines that many documents
    /// have. `None` if there is no such input.
    lost_input: Option<&'r str>,
}

/// Documents of one collection that were read again.
struct ReadSide<'r> {
    /// Number of each file that was read, by the name of the file. Files are numbered from 0 in the order in which the
    /// run read them.
    files: BTreeMap<&'r str, u32>,
    documents: HeldPlaces,
}

/// A document that was read again.
#[derive(Clone, Copy)]
pub(super) struct FoundDocument<'d> {
    /// Name of the file, as the outputs of the run have it.
    pub(super) file: &'d Path,
    /// File and record number of the document. Sorting documents by this place gives the reading order.
    pub(super) place: Place,
    pub(super) document: &'d HeldDocument,
}

impl<'d> FoundDocument<'d> {
    /// Returns the name of the file, as the outputs of the run have it, and the document.
    pub(super) fn with_file(&self) -> (&'d Path, &'d HeldDocument) {
        (self.file, self.document)
    }
}

impl<'r> ReadDocuments<'r> {
    /// Reads the removed and the kept document of each row in `rows`, and the kept documents in `others`. `others` has
    /// the kept documents that together have the words of a removed document, if the run decided by coverage. Opens
    /// only the files that have these documents. If the run left out lines that many documents have, opens all files of
    /// the corpus, because these lines can only be found in all documents.
    pub(super) fn read(
        run: &RecordedRun<'_>,
        receipt: &'r Receipt,
        reading: Reading<'_>,
        rows: &'r [RemovedRow],
        others: &'r KeptOfRemoved,
        context: &Context<'_>,
    ) -> Result<Self> {
        let kept = rows.iter().map(|row| (&*row.kept.file, row.kept.record));
        let of_others = others.values().flatten().map(|(file, record)| (&**file, *record));
        let kept: BTreeSet<(&str, u64)> = kept.chain(of_others).collect();
        let removed = rows.iter().map(|row| (&*row.removed.file, row.removed.record));
        let wanted = if reading.is_match {
            Sides::Two(removed.collect(), kept)
        } else {
            Sides::One(removed.chain(kept).collect::<BTreeSet<_>>())
        };
        // Only the inputs that have these documents are opened, if nothing depends on the others.
        let Reading { boilerplate: rule, fields, .. } = reading;
        let mut lost_input = None;
        let mut files_of = |wanted: &BTreeSet<(&'r str, u64)>, is_query: bool| {
            let needed: BTreeSet<&str> = wanted.iter().map(|&(file, _)| file).collect();
            let is_all = rule.is_some() && !is_query;
            // The order of the receipt is the reading order, by which the first of several documents is kept.
            let inputs = receipt.inputs.iter().filter(|input| input.is_query == is_query);
            let known: Vec<&'r str> = inputs
                .filter(|input| input.hash.is_some())
                .map(|input| &*input.file)
                .filter(|name| is_all || needed.contains(name))
                .collect();
            // A file that the receipt lacks is read, too, so that its rows are checked.
            let foreign = needed.into_iter().filter(|name| !known.contains(name));
            let mut files: Vec<&'r str> = known.iter().copied().chain(foreign).collect();
            files.retain(|name| {
                let is_there = run.path_of_name(name).is_file();
                if is_all && !is_there {
                    lost_input = Some(*name);
                }
                is_there
            });
            files
        };
        let files = match &wanted {
            Sides::One(wanted) => Sides::One(files_of(wanted, false)),
            Sides::Two(queries, corpus) => {
                Sides::Two(files_of(queries, true), files_of(corpus, false))
            }
        };
        // Lines are counted in the documents that the run read, so its selection holds again.
        let open = |names: &Vec<&str>, is_query| {
            run.collection(names, is_query, fields.to_vec(), rule.is_some())
        };
        let collections = match &files {
            Sides::One(names) => Sides::One(open(names, false)),
            Sides::Two(queries, corpus) => Sides::Two(open(queries, true), open(corpus, false)),
        };
        let sides = files.zip(wanted);
        let corpora = collections.as_ref().map(|collection| collection as &dyn Corpus);
        let sides = without_boilerplate(corpora, rule, context, |corpora| {
            corpora.zip(sides).try_map(|(collection, (names, wanted))| {
                let numbers = names.iter().enumerate().map(|(number, name)| (*name, number as u32));
                let files: BTreeMap<&str, u32> = numbers.collect();
                let places = wanted
                    .into_iter()
                    .filter_map(|(file, record)| Some(Place { file: *files.get(file)?, record }));
                let search = InputSearch {
                    collection,
                    name: &Path::to_owned,
                    threads: context.threads().count(),
                    progress: context.progress(),
                };
                let documents = search.documents_at(&places.collect())?;
                Ok(ReadSide { files, documents })
            })
        })?;
        Ok(Self { sides, lost_input })
    }

    /// Returns the reason why the lines that the run left out cannot be found again: an input cannot be read. Returns
    /// `None` if these lines are known, or if the run left out none.
    pub(super) fn lost_lines(&self) -> Option<String> {
        self.lost_input.map(|name| {
            format!(
                "lines that many documents have do not count, and the input {name} cannot be read"
            )
        })
    }

    /// Returns the removed document with the file, record number and ID in `name`. If it cannot be found, the error
    /// is the result of checking the removal. It is `Verdict::Unchecked` if the file cannot be read, and
    /// `Verdict::Fails` if the file has no such document. Both have the reason.
    pub(super) fn removed<'d>(
        &'d self,
        name: &'d OutputName,
    ) -> Result<FoundDocument<'d>, Verdict> {
        self.sides.first().find(&name.file, name.record, Some(&name.id))
    }

    /// Returns the kept document with the file, record number and ID in `name`. If it cannot be found, the error
    /// is the result of checking the removal. It is `Verdict::Unchecked` if the file cannot be read, and
    /// `Verdict::Fails` if the file has no such document. Both have the reason.
    pub(super) fn kept<'d>(&'d self, name: &'d OutputName) -> Result<FoundDocument<'d>, Verdict> {
        self.sides.second().find(&name.file, name.record, Some(&name.id))
    }

    /// Returns the kept document with the file and record number in `place`. If it cannot be found, the error
    /// is the result of checking the removal. It is `Verdict::Unchecked` if the file cannot be read, and
    /// `Verdict::Fails` if the file has no such document. Both have the reason.
    pub(super) fn kept_at<'d>(
        &'d self,
        place: &'d NamedPlace,
    ) -> Result<FoundDocument<'d>, Verdict> {
        self.sides.second().find(&place.0, place.1, None)
    }
}

impl ReadSide<'_> {
    fn find<'d>(
        &'d self,
        file: &'d str,
        record: u64,
        id: Option<&str>,
    ) -> Result<FoundDocument<'d>, Verdict> {
        let Some(&number) = self.files.get(file) else {
            return Err(Verdict::Unchecked(format!("the input {file} cannot be read")));
        };
        // A row may name a record that is bad, or behind the end of the file.
        let place = Place { file: number, record };
        let Some(document) = self.documents.get(&place) else {
            let reason = format!("record {record} of {file} is no document of the run");
            return Err(Verdict::Fails(vec![reason]));
        };
        // A document without an ID has its place as its name.
        let own = document
            .id()
            .map_or_else(|| format!("{file}:{record}"), |id| byte_text(id).into_owned());
        if let Some(id) = id.filter(|id| *id != own) {
            let reason = format!("record {record} of {file} has the ID \"{own}\", not \"{id}\"");
            return Err(Verdict::Fails(vec![reason]));
        }
        Ok(FoundDocument { file: Path::new(file), place, document })
    }
}
