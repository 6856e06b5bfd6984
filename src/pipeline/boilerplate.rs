//! Leaves boilerplate out of the comparison: lines that many documents of the collection have, such as menus.
//!
//! One more reading counts the documents with each line. Then each document is read without the common lines.
//! If too few words are left, its whole text is compared, so copies of a page that has nothing of its own are
//! still found. Equal texts stay equal.
//!
//! # References
//!
//! A. Broder, S. Glassman, M. Manasse, G. Zweig. Syntactic clustering of the web. WWW 1997, section 5 (common
//! shingles are ignored).

use super::boilerplate_rule::{Boilerplate, Site};
use crate::method::{InFile, TermScratch, document_frequencies};
use simtool_base::error::Result;
use simtool_base::stable_hash::{hash, mix};
use simtool_base::unordered_map::UnorderedSet;
use simtool_compute::context::Context;
use simtool_model::document::{Content, Document};
use simtool_model::page_text::count_words;
use simtool_model::sides::Sides;
use simtool_read::view::{Reading, View};
use simtool_read::{Corpus, Event, Visit};
use simtool_terms::tokenize::letters::has_words;

/// Minimum number of words that a document must have without the common lines. If it has fewer, its whole text
/// is compared.
const OWN_WORDS: usize = 50;

/// Hashes of the lines that many documents of a site have, with the hash of the site.
#[derive(Debug)]
struct CommonLines {
    lines: UnorderedSet<u64>,
    site: Site,
}

impl CommonLines {
    /// Finds the common lines of `corpus`. Reads the corpus once, or more often if there is little memory.
    ///
    /// # Errors
    ///
    /// The corpus cannot be read, or there is too little memory.
    fn find(corpus: &dyn Corpus, rule: Boilerplate, context: &Context<'_>) -> Result<Self> {
        let Boilerplate { least, site } = rule;
        let frequencies = document_frequencies(
            "counting lines",
            &|of, scratch| lines_of(of, site, scratch),
            corpus,
            context,
        )?;
        let common = frequencies.terms().filter(|&(_, documents)| documents >= least.get());
        Ok(Self { lines: common.map(|(line, _)| line).collect(), site })
    }

    /// Returns the number of bytes of memory that the lines take.
    fn bytes(&self) -> u64 {
        (self.lines.capacity() * 2 * size_of::<u64>()) as u64
    }

    /// Returns the text without common lines, which is built in `room`. Returns the whole text if it has no such
    /// line, or if fewer than [`OWN_WORDS`] words would be left.
    fn own_text<'t>(&self, of: InFile<'t>, room: &'t mut Vec<u8>) -> &'t [u8] {
        let text = of.document.text;
        room.clear();
        let mut end = 0;
        for (place, line) in lines(text, self.site.of(of.document, of.file)) {
            if self.lines.contains(&line) {
                room.extend_from_slice(&text[end..place.start]);
                end = place.end;
            }
        }
        if end == 0 {
            return text;
        }
        room.extend_from_slice(&text[end..]);
        if has_words(room, OWN_WORDS) { room } else { text }
    }
}

/// Returns the hashes of the lines of a document.
fn lines_of<'s>(of: InFile<'_>, site: Site, scratch: &'s mut TermScratch) -> &'s mut Vec<u64> {
    let found = scratch.terms();
    found.extend(lines(of.document.text, site.of(of.document, of.file)).map(|(_, line)| line));
    found
}

/// Returns the lines of a text that are not blank, each with its place, and its hash together with that of the
/// site. White space at the start and the end of a line is not part of it.
fn lines(text: &[u8], site: u64) -> impl Iterator<Item = (std::ops::Range<usize>, u64)> {
    let of_site = move |line: u64| if site == 0 { line } else { mix(line ^ site) };
    let mut start = 0;
    text.split(|&byte| byte == b'\n').filter_map(move |line| {
        let begin = start;
        start += line.len() + 1;
        let trimmed = line.trim_ascii();
        (!trimmed.is_empty()).then(|| (begin..begin + line.len(), of_site(hash(trimmed))))
    })
}

/// Calls `run` with the corpora. If there is a rule for boilerplate, their documents lack the lines that are common
/// in the last corpus. So the result for a query does not depend on other queries.
///
/// # Errors
///
/// A corpus cannot be read, there is too little memory, or `run` fails.
pub(crate) fn without_boilerplate<R>(
    corpora: Sides<&dyn Corpus>,
    rule: Option<Boilerplate>,
    context: &Context<'_>,
    run: impl FnOnce(Sides<&dyn Corpus>) -> Result<R>,
) -> Result<R> {
    let Some(rule) = rule else { return run(corpora) };
    let common = &CommonLines::find(*corpora.second(), rule, context)?;
    let _lines = context.memory().hold(common.bytes());
    let own = corpora.map(|corpus| OwnTexts { corpus, common });
    run(own.as_ref().map(|own| own as &dyn Corpus))
}

/// A corpus whose documents lack the common lines.
#[derive(Clone, Copy, Debug)]
struct OwnTexts<'c> {
    corpus: &'c dyn Corpus,
    common: &'c CommonLines,
}

impl View for OwnTexts<'_> {
    fn shown(&self) -> &dyn Corpus {
        self.corpus
    }

    fn read_through(
        &self,
        shard: usize,
        visit: &mut Visit<'_>,
        read: &mut Reading<'_>,
    ) -> Result<()> {
        let file = self.corpus.file_name(self.corpus.shard_file(shard));
        let mut room = Vec::new();
        read(&mut |event| match event {
            Event::Record(mut record) => {
                if let Content::Document(document) = record.content {
                    let found = InFile { document: &document, file };
                    let text = self.common.own_text(found, &mut room);
                    let left_out = document.text.len() - text.len();
                    let in_lines = if left_out > 0 {
                        count_words(document.text) - count_words(text)
                    } else {
                        0
                    };
                    let left_out_words = document.left_out_words + in_lines;
                    record.content =
                        Content::Document(Document { text, left_out, left_out_words, ..document });
                    return visit(Event::Record(record));
                }
                visit(Event::Record(record))
            }
            other => visit(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::progress::NoProgress;
    use simtool_compute::resources::Resources;
    use simtool_read::Texts;
    use std::ops::ControlFlow;

    fn words(name: &str, count: usize) -> String {
        (0..count).map(|number| format!("{name}{number} ")).collect::<Vec<_>>().concat()
    }

    fn own_texts(texts: &[String], least: u32) -> Vec<(String, usize)> {
        let resources = Resources { threads: 2, ..Resources::default() };
        let context = Context::new(&resources, &NoProgress).unwrap();
        let corpus = Texts::of(texts);
        let rule = Boilerplate { least: least.try_into().unwrap(), site: Site::All };
        let common = CommonLines::find(&corpus, rule, &context).unwrap();
        let mut found = Vec::new();
        let own = OwnTexts { corpus: &corpus, common: &common };
        for shard in 0..own.shard_count() {
            own.read_shard(shard, &mut |event| {
                if let Event::Record(record) = event
                    && let Content::Document(document) = record.content
                {
                    let text = String::from_utf8(document.text.to_vec()).unwrap();
                    found.push((text, document.left_out));
                }
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        }
        found
    }

    #[test]
    fn lines_of_many_documents_are_left_out_if_enough_words_remain() {
        let page =
            |name: &str, count| format!("Home | About\n\n  {}\n\tContact\n", words(name, count));
        let mut texts: Vec<String> = ["a", "b", "c"].map(|name| page(name, 50)).to_vec();
        texts.push(page("d", 49));
        texts.push("nothing in common".to_owned());
        let own = own_texts(&texts, 4);
        for (number, name) in ["a", "b", "c"].iter().enumerate() {
            let expected = format!("\n\n  {}\n\n", words(name, 50));
            assert_eq!(own[number], (expected, "Home | About\tContact".len()));
        }
        for number in [3, 4] {
            assert_eq!(own[number], (texts[number].clone(), 0));
        }
        // Five documents have none of the lines.
        let all: Vec<_> = texts.iter().map(|text| (text.clone(), 0)).collect();
        assert_eq!(own_texts(&texts, 5), all);
    }

    #[test]
    fn copies_are_compared_as_a_whole_if_all_their_lines_are_common() {
        let texts = vec![format!("{}\n{}", words("a", 60), words("b", 60)); 30];
        assert!(
            own_texts(&texts, 20)
                .iter()
                .all(|(text, left_out)| *text == texts[0] && *left_out == 0)
        );
    }
}
