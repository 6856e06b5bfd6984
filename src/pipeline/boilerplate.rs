//! Leaves boilerplate out of the comparison: lines that many documents of the collection have, such as menus.
//!
//! An additional reading counts the documents with each line. Then each document is read without the common lines. If
//! too few words are left, the whole text of the document is compared. So copies of a page are still found if all lines
//! of the page are common. Equal texts stay equal.
//!
//! # References
//!
//! A. Broder, S. Glassman, M. Manasse, G. Zweig. Syntactic clustering of the web. WWW 1997, section 5 (common
//! shingles are ignored).

use super::boilerplate_rule::Boilerplate;
use crate::method::{InFile, TermCount, TermScratch};
use simtool_base::error::Result;
use simtool_base::stable_hash::{GAMMA, hash, mix};
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_model::document::{Content, Document};
use simtool_model::page_text::count_words;
use simtool_model::sides::Sides;
use simtool_model::title_words::PageName;
use simtool_read::view::{Reading, View};
use simtool_read::{Corpus, Event, Visit};
use simtool_terms::extract::frequencies::CountedTerm;
use simtool_terms::tokenize::letters::has_words;
use std::ops::Range;

/// Minimum number of words that a document must have without the common lines. If it has fewer, its whole text
/// is compared.
const OWN_WORDS: usize = 50;

/// Boilerplate of a collection: lines that many documents of a site (for example of a web host) have, and words that
/// the titles of many pages of a site have.
#[derive(Debug)]
struct CommonLines {
    /// Map from a hash to a count. For the hash of a line and its site, it is the number of documents of the site with
    /// the line. With [`Boilerplate::Pages`], the map also has the number of pages for the hash of each site. For the
    /// hash of a title word and its site, it then has the number of titles with the word.
    documents: UnorderedMap<u64, u32>,
    rule: Boilerplate,
}

/// The text of a document that is compared. It may lack common lines, such as menus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OwnText<'t> {
    text: &'t [u8],
    /// Hash of the lines that are not common, if these lines have fewer than [`OWN_WORDS`] words together. Then `text`
    /// is the whole text, and the hash shows which pages have the same lines that are not common. `None` in all other
    /// cases.
    few_own: Option<u64>,
}

impl CommonLines {
    /// Finds the common lines of `corpus`. Reads the corpus once, or more often if there is little memory.
    ///
    /// # Errors
    ///
    /// The corpus cannot be read, or there is too little memory.
    fn find(corpus: &dyn Corpus, rule: Boilerplate, context: &Context<'_>) -> Result<Self> {
        let count = TermCount {
            stage: "counting lines",
            find: &|of, scratch| lines_of(of, rule, scratch),
            marks: &|of| mark_of_title(of.document),
            wanted: &|line| is_common(line, rule),
        };
        let (_, counted) = count.count(corpus, context)?;
        let documents = counted.into_iter().flatten().map(|line| (line.term, line.documents));
        Ok(Self { documents: documents.collect(), rule })
    }

    /// Returns the number of bytes of memory that the map of common lines takes.
    fn bytes(&self) -> u64 {
        (self.documents.capacity() * 2 * size_of::<u64>()) as u64
    }

    /// Returns the text of a document without common lines. `room` is the buffer in which the shorter text is built.
    /// Returns the whole text if it has no common line, or if fewer than [`OWN_WORDS`] words would be left.
    fn own_text<'t>(&self, of: InFile<'t>, room: &'t mut Vec<u8>) -> OwnText<'t> {
        let text = of.document.text;
        let whole = OwnText { text, few_own: None };
        if !is_counted(of.document, self.rule) {
            return whole;
        }
        let site = self.rule.site().of(of.document, of.file);
        let least = self.least(site);
        room.clear();
        let mut end = 0;
        for (place, line) in lines(text, site) {
            if self.documents.get(&line).is_some_and(|&documents| documents >= least) {
                room.extend_from_slice(&text[end..place.start]);
                end = place.end;
            }
        }
        if end == 0 {
            return whole;
        }
        room.extend_from_slice(&text[end..]);
        // A few own words, such as a date, would be similar to those of many pages.
        if has_words(room, OWN_WORDS) {
            OwnText { text: room, few_own: None }
        } else {
            OwnText { few_own: Some(hash(room.trim_ascii())), ..whole }
        }
    }

    /// Returns the own words of the title of a web page, which are the words that few titles of its site have. Returns
    /// no words unless the rule is [`Boilerplate::Pages`].
    fn name(&self, of: InFile<'_>) -> PageName {
        let Some(page) = of.document.page_text.filter(|_| self.rule == Boilerplate::Pages) else {
            return PageName::default();
        };
        let site = self.rule.site().of(of.document, of.file);
        let least = self.least(site);
        let is_own = |word| {
            let titles = self.documents.get(&of_title_word(word, site));
            titles.is_none_or(|&titles| titles < least)
        };
        PageName { site, words: page.title_words.own(is_own) }
    }

    /// Returns the minimum number of documents that must have a line, so that the line is common on the site with the
    /// hash `site`. Returns 0 if `documents` has only common lines, so that no count must be checked.
    fn least(&self, site: u64) -> u32 {
        match self.rule {
            Boilerplate::Pages => {
                let pages = self.documents.get(&of_all_lines(site)).copied().unwrap_or_default();
                pages.div_ceil(Boilerplate::PAGES_A_COPY)
            }
            // Rarer lines are not stored.
            Boilerplate::Nothing | Boilerplate::Lines { .. } => 0,
        }
    }
}

/// Returns whether a line may be common, so that its count must be stored. With [`Boilerplate::Pages`], this function
/// checks only that pages with different titles have the line. Whether the line is also on enough pages of its site is
/// checked later, when all pages are counted.
fn is_common(line: &CountedTerm, rule: Boilerplate) -> bool {
    match rule {
        Boilerplate::Nothing => false,
        Boilerplate::Pages => line.marks.count_ones() >= Boilerplate::TITLES,
        Boilerplate::Lines { least, .. } => line.documents >= least.get(),
    }
}

/// Returns whether common lines of a document are counted and left out. With [`Boilerplate::Pages`], this is done only
/// for web pages.
fn is_counted(document: &Document<'_>, rule: Boilerplate) -> bool {
    rule != Boilerplate::Pages || document.page_text.is_some()
}

/// Returns a number in which one of 32 bits is set. The bits of all pages with a line show on how many different pages
/// it is. The title of the page and the first line of its text select the bit, so copies of a page have the same bit.
/// Both are used, because on many sites all pages have the same title, or the same first line.
fn mark_of_title(document: &Document<'_>) -> u32 {
    let title = document.page_text.map_or(0, |page| page.title);
    let first_line = lines(document.text, 0).next().map_or(0, |(_, line)| line);
    // The first line is often the title, and equal hashes must not cancel each other.
    1 << (mix(mix(title) ^ first_line) % u64::from(u32::BITS))
}

/// Returns the hashes of the lines of a document. If the rule is [`Boilerplate::Pages`], also returns the hash of its
/// site and the hashes of the words of its title.
fn lines_of<'s>(
    of: InFile<'_>,
    rule: Boilerplate,
    scratch: &'s mut TermScratch,
) -> &'s mut Vec<u64> {
    let found = scratch.terms();
    if is_counted(of.document, rule) {
        let site = rule.site().of(of.document, of.file);
        found.extend(lines(of.document.text, site).map(|(_, line)| line));
        if rule == Boilerplate::Pages {
            // The number of pages of the host decides how common a line of boilerplate is.
            found.push(of_all_lines(site));
            let title = of.document.page_text.map(|page| page.title_words).unwrap_or_default();
            found.extend(title.iter().map(|(word, _)| of_title_word(word, site)));
        }
    }
    found
}

/// Returns the hash under which the pages of a site are counted.
fn of_all_lines(site: u64) -> u64 {
    of_site(hash(b""), site)
}

/// Returns the hash under which the titles of a site that contain a word are counted. `word` is the hash of the word.
fn of_title_word(word: u64, site: u64) -> u64 {
    // Lines are hashed without this constant, so a line of one word is another term.
    of_site(mix(word ^ GAMMA), site)
}

/// Returns the byte range and the hash of each line of a text, except blank lines. The hash is that of the line
/// together with the site. White space at the start and the end of a line is not hashed.
fn lines(text: &[u8], site: u64) -> impl Iterator<Item = (Range<usize>, u64)> {
    let mut start = 0;
    text.split(|&byte| byte == b'\n').filter_map(move |line| {
        let begin = start;
        start += line.len() + 1;
        let trimmed = line.trim_ascii();
        (!trimmed.is_empty()).then(|| (begin..begin + line.len(), of_site(hash(trimmed), site)))
    })
}

/// Returns the hash of a line together with the hash `site` of its site. The hash of the site is 0 if all documents are
/// one site.
fn of_site(line: u64, site: u64) -> u64 {
    if site == 0 { line } else { mix(line ^ site) }
}

/// Calls `run` with the corpora, and returns its result. If there is a rule for boilerplate, the texts that `run` gets
/// lack the common lines. Lines are common if many documents of the last corpus have them. With two corpora, the first
/// one holds queries, and the result for a query must not depend on other queries.
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
    let Some(rule) = rule.filter(|rule| *rule != Boilerplate::Nothing) else { return run(corpora) };
    let common = &CommonLines::find(*corpora.second(), rule, context)?;
    let _lines = context.memory().hold(common.bytes());
    let own = corpora.map(|corpus| OwnTexts { corpus, common });
    run(own.as_ref().map(|own| own as &dyn Corpus))
}

/// View of `corpus` in which the texts of documents lack the lines of `common`.
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
                    let OwnText { text, few_own } = self.common.own_text(found, &mut room);
                    let left_out = document.text.len() - text.len();
                    let words_of_lines = if left_out > 0 {
                        count_words(document.text) - count_words(text)
                    } else {
                        0
                    };
                    let name = self.common.name(found);
                    let own = Document {
                        text,
                        left_out,
                        words_of_lines,
                        few_own,
                        name: Some(&name),
                        ..document
                    };
                    record.content = Content::Document(own);
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
    use crate::pipeline::boilerplate_rule::Site;
    use simtool_base::progress::NoProgress;
    use simtool_compute::resources::Resources;
    use simtool_model::page_text::{ExtractedPage, PageText};
    use simtool_model::title_words::TitleWords;
    use simtool_read::Texts;
    use std::ops::ControlFlow;
    use std::path::Path;

    /// Returns a page without words. The hash of its title is `title`.
    fn extracted(title: u64) -> ExtractedPage {
        let title_words = TitleWords::default();
        ExtractedPage { part: PageText::Main, title, title_words, left_out_words: 0 }
    }

    fn words(name: &str, count: usize) -> String {
        (0..count).map(|number| format!("{name}{number} ")).collect::<Vec<_>>().concat()
    }

    fn own_texts(texts: &[String], least: u32) -> Vec<(String, usize)> {
        let resources = Resources { threads: 2, ..Resources::default() };
        let context = Context::new(&resources, &NoProgress).unwrap();
        let corpus = Texts::of(texts);
        let rule = Boilerplate::Lines { least: least.try_into().unwrap(), site: Site::All };
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
    fn texts_that_are_no_pages_are_whole_by_the_rule_for_pages() {
        let lines = CommonLines { documents: UnorderedMap::default(), rule: Boilerplate::Pages };
        let extracted = extracted(0);
        let page_text = Some(&extracted);
        let page = Document { page_text, ..Document::new(b"a\nb\nc") };
        let file = Path::new("");
        let site = Site::Host.of(&page, file);
        let common = lines.documents.clone().into_iter().chain([(of_site(hash(b"b"), site), 4)]);
        let lines = CommonLines { documents: common.collect(), ..lines };
        let own = |document| {
            let mut room = Vec::new();
            lines.own_text(InFile { document, file }, &mut room).few_own
        };
        assert_eq!(own(&page), Some(hash(b"a\n\nc")));
        assert_eq!(own(&Document { page_text: None, ..page }), None);
    }

    #[test]
    fn pages_differ_by_title_or_first_line() {
        let marks = |page: &dyn Fn(u32) -> [String; 2]| {
            let mark = |number| {
                let [title, text] = page(number);
                let title = hash(title.as_bytes());
                let page = extracted(title);
                let page_text = Some(&page);
                mark_of_title(&Document { page_text, ..Document::new(text.as_bytes()) })
            };
            (0..40).map(mark).fold(0, |all, mark| all | mark).count_ones()
        };
        let title = |number: u32| format!("Title {number}");
        let same = || "Text of all pages".to_owned();
        assert!(marks(&|number| [title(number), title(number)]) > 10);
        assert!(marks(&|number| [title(number), same()]) > 10);
        assert!(marks(&|number| [same(), title(number)]) > 10);
        assert_eq!(marks(&|_| [same(), same()]), 1);
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
