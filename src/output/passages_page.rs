//! Collects the data of the page about repeated passages.

use super::counts::{faults, read_counts};
use super::cut_texts::CutCounts;
use super::findings::Side;
use super::report::{little_pages, quarantined, title};
use super::sources::passage_sources;
use crate::pipeline::FoundPassages;
use crate::write::repetition_summary::RepetitionSummary;
use crate::write::report::{PassagesPage, Report, write_passages_page};
use crate::write::summary::Summary;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use std::io::{self, Write};

/// Data of the page about the repeated passages of a collection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PagePassages<'p> {
    pub(crate) collection: &'p dyn Corpus,
    pub(crate) found: &'p FoundPassages,
    pub(crate) repetition: &'p RepetitionSummary,
    pub(crate) cut: CutCounts,
}

impl PagePassages<'_> {
    /// Writes the page. `summary` has the command, the settings and the times of the run.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub(crate) fn write(&self, out: &mut dyn Write, mut summary: Summary) -> io::Result<()> {
        let Self { collection, found, repetition, cut } = *self;
        let sides = Sides::One(Side { collection, read: &found.summary });
        // The page lists unread records and files, as the page of near-duplicates does.
        summary.read = sides.map(read_counts);
        summary.faults = faults(&sides);
        let report = Report {
            titles: vec![title(collection)],
            sources: passage_sources(collection, found),
            little_pages: little_pages(&sides),
            quarantined: quarantined(&sides),
            ..Report::default()
        };
        // The page has the same counts as the summary.
        let passages = &found.passages;
        let whole = passages.passages.iter().filter(|passage| passage.is_whole).count();
        let page = PassagesPage {
            summary: &summary,
            report: &report,
            repetition,
            passages: passages.passages.len() as u64,
            whole_documents: whole as u64,
            repeated_words: passages.covered_words(),
            later_words: passages.later_words(),
            cut_words: cut.words,
            removed_documents: cut.removed,
        };
        write_passages_page(out, &page)
    }
}
