//! Reads the documents of a pair for its page: their texts, their fields, and the whole of an HTML page.

use super::below::BelowPair;
use super::pair;
use super::quiet::Quiet;
use super::{PairNumber, Review};
use crate::output::finished_rows::{RemovedRow, RowKind};
use crate::output::finished_run::Member;
use crate::pipeline::OutputName;
use crate::pipeline::compare::{ReadDocument, compare_texts};
use crate::pipeline::lost_words::pair_loss;
use crate::run::recorded_run::RecordedRun;
use crate::run::why::{MemberReader, compare_settings, method_of};
use crate::run::why_object::with_cause;
use serde_json::{Value, json};
use simtool_base::error::Result;
use simtool_read::PageContent;

impl Review<'_> {
    /// Returns the two documents of a pair, with their similarity or distance. The pair is a row of the output, or a
    /// pair below the limit of the run.
    pub(super) fn found(&self, number: PairNumber) -> Result<RemovedRow> {
        let at = match number {
            PairNumber::Row(row) => return self.index.read(self.index.row(row)?.offset),
            PairNumber::Below(at) => at,
        };
        let BelowPair { first, second, similarity } = self.below_pair(at)?;
        Ok(RemovedRow {
            removed: first,
            kept: second,
            similarity: Some(similarity),
            distance: None,
            lost_words: None,
            spans: [const { Vec::new() }; 2],
        })
    }

    /// Opens the run to read documents again.
    pub(super) fn run<'q>(&'q self, quiet: &'q Quiet<'q>) -> Result<RecordedRun<'q>> {
        let run = RecordedRun::open(&self.request.output, &self.request.resources, quiet)?;
        Ok(run.with_lines(&self.lines))
    }

    /// Adds the texts of the pair `found` to `value`, the JSON object for the page. `words` limits the words of a
    /// comparison.
    pub(super) fn add_texts(
        &self,
        found: &RemovedRow,
        words: usize,
        value: &mut Value,
    ) -> Result<()> {
        let quiet = self.quiet();
        let run = self.run(&quiet)?;
        let files = [&found.kept.file, &found.removed.file];
        let changes = files.into_iter().filter_map(|file| run.change_of(file));
        value["changes"] = changes.map(|change| change.to_string()).collect();
        let mut reader = MemberReader { run: &run, face: &quiet, faults: Vec::new() };
        let added = if self.index.kind() == RowKind::Removed {
            self.add_compared(found, words, &mut reader, value)
        } else {
            add_found(found, &mut reader, value)
        };
        // The page shows the names of the documents even if the texts cannot be read.
        if let Err(error) = added {
            value["not_read"] = with_cause(&error).into();
        }
        Ok(())
    }

    /// Adds the differences between the texts of a removed and a kept document to `value`. `words` limits the shown
    /// words.
    fn add_compared(
        &self,
        found: &RemovedRow,
        words: usize,
        reader: &mut MemberReader<'_>,
        value: &mut Value,
    ) -> Result<()> {
        let run = reader.run;
        value["is_coverage"] = run.run.is_coverage().into();
        value["is_match"] = run.run.is_match().into();
        // The kept document of a match is of the corpus, and the removed one is a query.
        let documents =
            [read(reader, &found.kept, false)?, read(reader, &found.removed, run.run.is_match())?];
        let method = method_of(&compare_settings(&run.run))?;
        let compared =
            documents.each_ref().map(|document| method.compared().compared_text(&document.text));
        let mut places = Vec::new();
        // If the text is very long, counting its shingles would make the person wait.
        let texts = documents.each_ref().map(|document| &*document.text);
        if pair::are_short(texts) {
            let isa = self.request.resources.isa;
            let lost = pair_loss(texts, &method, isa);
            let compared = compare_texts(texts, &method, isa);
            value["shingle"] = method.compared().to_string().into();
            value["shared"] = json!([compared.shared, compared.union()]);
            value["lost"] = json!([lost.counts.lost, lost.counts.words]);
            value["first_lost"] = lost.examples.into();
            places = lost.places;
        }
        value["pieces"] = pair::pieces(compared.each_ref().map(|text| &**text), &places, words);
        value["kept"]["facts"] = pair::facts(&documents[0]);
        value["removed"]["facts"] = pair::facts(&documents[1]);
        Ok(())
    }

    /// Returns the fields of both documents of a pair, each with its name and its value.
    ///
    /// # Errors
    ///
    /// There is no such pair, or a document cannot be read.
    pub fn fields(&self, number: PairNumber) -> Result<Value> {
        let (quiet, found) = (self.quiet(), self.found(number)?);
        let run = self.run(&quiet)?;
        let OutputName { file, record, .. } = &found.removed;
        let removed = run.fields_of(file, *record, run.run.is_match())?;
        let OutputName { file, record, .. } = &found.kept;
        // Rows of earlier versions do not name the files of items.
        let is_item = self.index.kind() == RowKind::Items;
        let kept =
            if file.is_empty() { Vec::new() } else { run.fields_of(file, *record, is_item)? };
        Ok(json!({ "kept": kept, "removed": removed }))
    }

    /// Returns the whole text of an HTML page, which is the kept or the removed document of a pair. The text is divided
    /// into pieces that the run compared and pieces that it left out.
    ///
    /// # Errors
    ///
    /// There is no such pair, or the page cannot be read.
    pub fn whole_page(&self, number: PairNumber, is_kept: bool) -> Result<Value> {
        let (quiet, found) = (self.quiet(), self.found(number)?);
        let run = self.run(&quiet)?;
        let name = if is_kept { &found.kept } else { &found.removed };
        let is_query = !is_kept && run.run.is_match();
        let main = run.read(&name.file, name.record, is_query)?;
        let whole = run.read_part_of_page(&name.file, name.record, is_query, PageContent::All)?;
        Ok(pair::page_pieces(&whole.text, &main.text))
    }
}

/// Adds the texts of both documents of a row about a passage or an item to `value`, with the found words marked.
fn add_found(found: &RemovedRow, reader: &mut MemberReader<'_>, value: &mut Value) -> Result<()> {
    // Both places of a passage may be in one document, which is then read twice.
    let documents = [("removed", &found.removed), ("kept", &found.kept)];
    for ((side, name), spans) in documents.into_iter().zip(&found.spans) {
        // Rows of earlier versions do not name the files of items.
        if name.file.is_empty() {
            continue;
        }
        // An item is read as a query. Its row has the numbers of the found words, and not their bytes.
        let document = read(reader, name, spans.is_empty())?;
        value[side]["facts"] = pair::facts(&document);
        value[side]["pieces"] = pair::found_pieces(&document.text, spans);
    }
    Ok(())
}

/// Reads the document `name` again. Returns an error if the document now has another ID than in the output.
fn read(reader: &mut MemberReader<'_>, name: &OutputName, is_query: bool) -> Result<ReadDocument> {
    let OutputName { id, file, record } = name.clone();
    reader.read(&Member { id, file, record, similarity: None, distance: None }, is_query)
}
