//! Collects the data of the page about evaluation items that documents contain.

use super::affordable_texts::read_texts;
use super::counts::{faults, read_counts};
use super::findings::Side;
use super::kept_without_items::FreedDocuments;
use super::report::{quarantined, title};
use super::shown_pairs::shown_name;
use super::sources::item_sources_of_documents;
use crate::pipeline::excerpts::character_border;
use crate::pipeline::{FoundContamination, ItemInDocument};
use crate::write::item_source::ItemSource;
use crate::write::report::{
    ContaminationPage, EXAMPLES, Example, FoundItem, Report, write_contamination_page,
};
use crate::write::summary::Summary;
use simtool_base::error::Result;
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use std::cmp::Reverse;
use std::io::{self, Write};
use std::ops::Range;

/// Maximum number of evaluation items on the page. The page has the items that the greatest numbers of documents
/// contain.
const ITEMS: usize = 20;
/// Maximum number of bytes that the page shows of an item and of its words in a document.
const SHOWN_BYTES: usize = 4_000;

/// Data of the page about evaluation items that documents contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageItems<'p> {
    pub(crate) items: &'p dyn Corpus,
    pub(crate) documents: &'p dyn Corpus,
    pub(crate) found: &'p FoundContamination,
    pub(crate) sources: &'p [ItemSource],
    /// Number of documents that contain an evaluation item.
    pub(crate) found_documents: u64,
    pub(crate) freed: FreedDocuments,
}

impl PageItems<'_> {
    /// Writes the page. `summary` has the command, the settings and the times of the run.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub(crate) fn write(
        &self,
        out: &mut dyn Write,
        mut summary: Summary,
        texts: &PageTexts,
    ) -> io::Result<()> {
        let Self { items, documents, found, sources, found_documents, freed } = *self;
        let sides = self.sides();
        summary.read = Sides::Two(read_counts(*sides.first()), read_counts(*sides.second()));
        summary.faults = faults(&sides);
        let report = Report {
            titles: vec![title(items), title(documents)],
            sources: item_sources_of_documents(&sides, found),
            examples: texts.examples(self),
            quarantined: quarantined(&sides),
            ..Report::default()
        };
        let most = texts.most.iter().map(|&(item, count)| FoundItem {
            name: shown_name(&sides.second().name(item)),
            words: found.item_words[item as usize],
            documents: count,
            text: texts.items.get(&item).cloned().unwrap_or_default(),
        });
        let page = ContaminationPage {
            summary: &summary,
            report: &report,
            sources,
            most: &most.collect::<Vec<_>>(),
            found_documents,
            dropped: freed.dropped,
            cut: freed.cut,
            uncut: freed.uncut,
        };
        write_contamination_page(out, &page)
    }

    /// Returns the documents as the first side and the items as the second one.
    fn sides(&self) -> Sides<Side<'_>> {
        let Self { items, documents, found, .. } = *self;
        Sides::Two(
            Side { collection: documents, read: &found.documents },
            Side { collection: items, read: &found.items },
        )
    }

    /// Chooses the evaluation items and the examples of the page, and reads their texts again.
    ///
    /// # Errors
    ///
    /// A file cannot be read again.
    pub(crate) fn texts(&self, context: &Context<'_>) -> Result<PageTexts> {
        let found = &self.found.found;
        // Rows are in the order of the items.
        let of_items = found.chunk_by(|a, b| a.item == b.item);
        let mut most: Vec<(u32, u64)> =
            of_items.clone().map(|rows| (rows[0].item, rows.len() as u64)).collect();
        most.sort_by_key(|&(item, count)| (Reverse(count), item));
        // Further items are in the rows of the run.
        most.truncate(ITEMS);
        // Each item has one example, and so has each document: the others would be much the same.
        // The smallest share of an item is the one that a greater limit would lose first.
        let least = |rows: &[ItemInDocument]| {
            rows.iter().min_by(|a, b| a.share.total_cmp(&b.share)).cloned()
        };
        // Hits with small shares are the doubtful ones. Equal shares are in the order of the items.
        let mut hits: Vec<ItemInDocument> = of_items.filter_map(least).collect();
        hits.sort_by(|a, b| a.share.total_cmp(&b.share).then(a.item.cmp(&b.item)));
        let mut examples: Vec<ItemInDocument> = Vec::new();
        for hit in hits {
            let is_new = examples.iter().all(|example| example.document != hit.document);
            if is_new && examples.len() < EXAMPLES {
                examples.push(hit);
            }
        }
        let sides = self.sides();
        let wanted = most.iter().map(|(item, _)| *item).chain(examples.iter().map(|e| e.item));
        let items =
            read_texts(*sides.second(), wanted, &|_, text| shown(text, 0..text.len()), context)?;
        // The words of an item can be in several places of a document, with other words between them.
        let part = |row: u32, text: &[u8]| {
            let spans = examples.iter().find(|hit| hit.document == row).map(|hit| &hit.bytes[..]);
            let spans = spans.unwrap_or_default();
            let [start, end] =
                [spans.first().map(|span| span.start), spans.last().map(|span| span.end)]
                    .map(|at| at.unwrap_or(0) as usize);
            shown(text, start..end)
        };
        let wanted = examples.iter().map(|hit| hit.document);
        let documents = read_texts(*sides.first(), wanted, &part, context)?;
        Ok(PageTexts { most, examples, items, documents })
    }
}

/// Returns the first bytes of the range `part` of a text, at most [`SHOWN_BYTES`].
fn shown(text: &[u8], part: Range<usize>) -> Vec<u8> {
    // Only a text that changed between two readings lacks the part.
    let part = text.get(part).unwrap_or_default();
    part[..character_border(part, SHOWN_BYTES)].to_vec()
}

/// Items and examples of the page, with their texts.
#[derive(Debug)]
pub(crate) struct PageTexts {
    /// Items that are in the greatest numbers of documents: the number of each item, and how many documents contain it.
    most: Vec<(u32, u64)>,
    /// Documents that contain a small share of an item, the smallest share first.
    examples: Vec<ItemInDocument>,
    items: UnorderedMap<u32, Vec<u8>>,
    documents: UnorderedMap<u32, Vec<u8>>,
}

impl PageTexts {
    fn examples(&self, page: &PageItems<'_>) -> Vec<Example> {
        let sides = page.sides();
        let example = |hit: &ItemInDocument| {
            Some(Example {
                kept: shown_name(&sides.second().name(hit.item)),
                removed: shown_name(&sides.first().name(hit.document)),
                closeness: format!("share {:.2}", (hit.share * 100.0).floor() / 100.0),
                kept_text: self.items.get(&hit.item)?.clone(),
                removed_text: self.documents.get(&hit.document)?.clone(),
            })
        };
        self.examples.iter().filter_map(example).collect()
    }
}
