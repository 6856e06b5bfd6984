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

/// How the documents of removals are read.
#[derive(Clone, Copy)]
pub(super) struct Reading<'f> {
    /// Whether queries were matched with a corpus.
    pub(super) is_match: bool,
    /// Rule for the lines that the run left out of the comparison.
    pub(super) boilerplate: Option<Boilerplate>,
    /// Fields that decide which documents are compared, and which are kept.
    pub(super) fields: &'f [Selector],
}

/// Documents of the only collection of a run, or of its queries and its corpus.
pub(super) struct ReadDocuments<'r> {
    sides: Sides<ReadSide<'r>>,
    /// Name of an input that cannot be read, although it is needed to know which lines many documents have. `None` if
    /// there is no such input.
    lost_input: Option<&'r str>,
}

/// Documents of one collection.
struct ReadSide<'r> {
    /// Numbers of the files that were read, in the order in which the run read them.
    files: BTreeMap<&'r str, u32>,
    documents: HeldPlaces,
}

/// A document that was read again.
#[derive(Clone, Copy)]
pub(super) struct FoundDocument<'d> {
    /// Name of the file, as the run wrote it.
    pub(super) file: &'d Path,
    /// File and record number of the document. Sorting documents by this place gives the reading order.
    pub(super) place: Place,
    pub(super) document: &'d HeldDocument,
}

impl<'d> FoundDocument<'d> {
    /// Returns the document with the path of its file.
    pub(super) fn with_file(&self) -> (&'d Path, &'d HeldDocument) {
        (self.file, self.document)
    }
}

impl<'r> ReadDocuments<'r> {
    /// Reads the documents of `rows`, and the kept documents in `others`, from the files that have them. If the run left
    /// out lines that many documents have, reads all inputs, because these lines are known only then.
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

    /// Returns the reason why the lines that many documents have are not known. `None` if they are known, or are not
    /// needed.
    pub(super) fn lost_lines(&self) -> Option<String> {
        self.lost_input.map(|name| {
            format!(
                "lines that many documents have do not count, and the input {name} cannot be read"
            )
        })
    }

    /// Returns the removed document with this name, or the reason why there is none.
    pub(super) fn removed<'d>(
        &'d self,
        name: &'d OutputName,
    ) -> Result<FoundDocument<'d>, Verdict> {
        self.sides.first().find(&name.file, name.record, Some(&name.id))
    }

    /// Returns the kept document with this name, or the reason why there is none.
    pub(super) fn kept<'d>(&'d self, name: &'d OutputName) -> Result<FoundDocument<'d>, Verdict> {
        self.sides.second().find(&name.file, name.record, Some(&name.id))
    }

    /// Returns the kept document at this place, or the reason why there is none.
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
