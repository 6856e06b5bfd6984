//! A corpus whose long documents are visited by one thread at a time, so that threads keep to the memory
//! limit together.

use crate::method::{Terms, TextMemory};
use simtool_base::error::Result;
use simtool_base::memory_turns::MemoryTurns;
use simtool_base::quantity::bytes as readable_bytes;
use simtool_compute::context::Context;
use simtool_model::document::{Content, Record};
use simtool_read::view::{Reading, View};
use simtool_read::{Corpus, Event, Visit};

/// A view of a corpus, in which documents with very many terms are visited by one thread at a time. So the threads
/// together stay within the memory limit.
#[derive(Debug)]
pub(crate) struct InTurns<'c> {
    corpus: &'c dyn Corpus,
    turns: MemoryTurns,
    memory: TextMemory,
}

impl<'c> InTurns<'c> {
    /// Creates a view of `corpus`. `terms` has the rules by which the users of the view find the terms of a text. These
    /// rules decide how much memory a text needs.
    pub(crate) fn new(corpus: &'c dyn Corpus, terms: &Terms, context: &Context<'_>) -> Self {
        let turns = context.turns().clone();
        Self { corpus, turns, memory: TextMemory::new(terms, context.isa()) }
    }
}

impl View for InTurns<'_> {
    fn shown(&self) -> &dyn Corpus {
        self.corpus
    }

    fn read_through(
        &self,
        shard: usize,
        visit: &mut Visit<'_>,
        read: &mut Reading<'_>,
    ) -> Result<()> {
        read(&mut |event| {
            let Event::Record(record @ Record { content: Content::Document(document), .. }) =
                &event
            else {
                return visit(event);
            };
            let bytes = self.memory.of(document.text, self.turns.share());
            let turn = self.turns.take(bytes).map_err(|too_large| {
                let file = self.corpus.file_name(self.corpus.shard_file(shard)).display();
                let text = readable_bytes(document.text.len() as u64);
                let what = format!("a text of {text} in {file} (at byte {})", record.byte);
                let advice = ", or leave out longer texts with `max_bytes`";
                too_large.error(what, "its terms do not fit", advice)
            })?;
            // The visitor frees the memory of a long text before it returns, so the turn can end then.
            let flow = visit(event);
            drop(turn);
            flow
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::error::Error;
    use simtool_base::progress::NoProgress;
    use simtool_compute::resources::Resources;
    use simtool_read::Texts;
    use std::ops::ControlFlow;

    #[test]
    fn a_text_that_no_limit_allows_is_an_error_that_says_which_limit_does() {
        let texts = ["a short text".to_owned(), "abcde".repeat(1_000_000)];
        let corpus = &Texts::of(&texts);
        let read = |memory: u64, terms: &str| {
            let resources = Resources { memory, threads: 3, ..Resources::default() };
            let context = Context::new(&resources, &NoProgress).unwrap();
            let view = InTurns::new(corpus, &terms.parse().unwrap(), &context);
            let mut visited = 0;
            let visit = &mut |_: Event<'_>| {
                visited += 1;
                Ok(ControlFlow::Continue(()))
            };
            (0..view.shard_count())
                .try_for_each(|shard| view.read_shard(shard, visit).map(drop))?;
            Ok::<_, Error>(visited)
        };
        let error = read(50_000_000, "chars:5").unwrap_err().to_string();
        assert!(error.contains("a text of 5.0 MB"), "{error}");
        let limit = error.split("at least ").nth(1).unwrap().split('M').next().unwrap();
        let limit = limit.parse::<u64>().unwrap() * 1_000_000;
        assert_eq!(read(limit, "chars:5").unwrap(), 2);
        assert_eq!(read(50_000_000, "words:3").unwrap(), 2);
    }
}
