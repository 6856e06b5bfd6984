//! Generates a collection: articles, queries, and the list of true near-duplicates.

use super::document::{Change, GeneratedDocument, MEAN_BYTES, MEAN_WORDS};
use super::random::Random;
use super::vocabulary::InventedWords;
use std::io::{self, Write};

/// Number of articles for each copy. On average, one of so many articles is a changed copy of an earlier
/// article.
const ARTICLES_PER_COPY: usize = 10;
/// Maximum number of earlier articles that are kept in memory, so that copies can be made from them.
const REMEMBERED: usize = 256;
/// Number of queries for each unrelated query. On average, one of so many queries is unrelated to the
/// articles. All other queries are changed copies of articles.
const QUERIES_PER_STRANGER: usize = 8;

/// Settings of a generated collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionSettings {
    /// Seed of the random numbers. The same seed gives the same bytes.
    pub seed: u64,
    /// Number of articles, or total number of bytes of the articles.
    pub size: Size,
    /// Maximum number of queries. A collection with fewer articles has one query for each article.
    pub queries: u64,
}

/// Size of the collection, after which no more articles are generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Number of articles to generate.
    Documents(u64),
    /// Articles are generated until all of them together have at least this many bytes.
    Bytes(u64),
}

/// Counts of a generated collection: articles, queries and true pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generated {
    /// Number of generated articles.
    pub articles: u64,
    /// Number of bytes of all articles together.
    pub bytes: u64,
    /// Number of generated queries.
    pub queries: u64,
    /// Number of true pairs of near-duplicates. A pair has two articles, or an article and a query.
    pub pairs: u64,
}

/// Generates a collection and writes three files: the articles, the queries, and the true pairs. Form feeds
/// separate articles and queries, and their lines end in CRLF. Each line of the pairs has two IDs and the
/// kind of change, separated by tabs.
///
/// In a pair of two articles, the original comes first and its copy second. In a pair with a query, the
/// article comes first. Two documents that a chain of pairs connects are also near-duplicates.
///
/// | kind of change | the second document |
/// | --- | --- |
/// | `exact` | is equal |
/// | `words-K` | has K other words |
/// | `truncated` | has lost its last sixth |
/// | `shuffled` | has its paragraphs in another order |
/// | `extended` | has 30 more words |
/// | `reflowed` | has other lines, sentences and capitals |
///
/// # Errors
///
/// A writer fails.
///
/// # Complexity
///
/// O(bytes) time, and memory for the vocabulary, which grows with the square root of the text.
///
/// ```
/// use simtool::generate::collection::{CollectionSettings, Size, write_collection};
///
/// let settings = CollectionSettings { seed: 1, size: Size::Documents(20), queries: 2 };
/// let (mut articles, mut queries, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
/// let made = write_collection(&settings, &mut articles, &mut queries, &mut pairs)?;
/// assert_eq!((made.articles, made.queries), (20, 2));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_collection(
    settings: &CollectionSettings,
    articles: &mut impl Write,
    queries: &mut impl Write,
    pairs: &mut impl Write,
) -> io::Result<Generated> {
    let expected = match settings.size {
        Size::Documents(documents) => documents,
        Size::Bytes(bytes) => bytes / MEAN_BYTES + 1,
    };
    // Queries are spread evenly over the collection, so the expected number of articles must be known first.
    let articles_per_query = expected.div_ceil(settings.queries.max(1)).max(1);
    let mut maker = ArticleMaker {
        vocabulary: InventedWords::for_text_of(expected.saturating_mul(MEAN_WORDS)),
        random: Random::new(settings.seed),
        remembered: Vec::new(),
    };
    let mut done = Generated::default();
    let mut text = Vec::new();
    queries.write_all(b"\r\n")?;
    while match settings.size {
        Size::Documents(documents) => done.articles < documents,
        Size::Bytes(bytes) => done.bytes < bytes,
    } {
        done.articles += 1;
        let number = done.articles;
        let article = maker.article(number, pairs, &mut done)?;

        text.clear();
        // Form feeds separate the articles, so the last article has none after it.
        if number > 1 {
            text.extend_from_slice(b"\x0c\r\n");
        }
        text.extend_from_slice(article_id(number).as_bytes());
        text.extend_from_slice(b"\r\n");
        article.write(&maker.vocabulary, &mut text);
        articles.write_all(&text)?;
        done.bytes += text.len() as u64;

        if number % articles_per_query == 0 && done.queries < settings.queries {
            done.queries += 1;
            let id = format!("Sample-{}", done.queries);
            let query = maker.query(&id, number, &article, pairs, &mut done)?;
            text.clear();
            text.extend_from_slice(id.as_bytes());
            text.extend_from_slice(b"\r\n");
            query.write(&maker.vocabulary, &mut text);
            text.extend_from_slice(b"\x0c\r\n");
            queries.write_all(&text)?;
        }
    }
    Ok(done)
}

/// Makes articles and queries from random numbers. A seed must always give the same bytes, so the order in
/// which random numbers are drawn must never change.
struct ArticleMaker {
    vocabulary: InventedWords,
    random: Random,
    /// Earlier articles from which copies are made, with their numbers.
    remembered: Vec<(u64, GeneratedDocument)>,
}

impl ArticleMaker {
    /// Makes article number `number`, which is a new article or a changed copy of an earlier article. Writes
    /// a copy and its original to `pairs` as a true pair, and counts the pair in `done`.
    fn article(
        &mut self,
        number: u64,
        pairs: &mut impl Write,
        done: &mut Generated,
    ) -> io::Result<GeneratedDocument> {
        let Self { vocabulary, random, remembered } = self;
        let is_copy = !remembered.is_empty() && random.happens(1, ARTICLES_PER_COPY);
        if is_copy {
            let (original, document) = &remembered[random.below(remembered.len())];
            let change = Change::draw(random);
            let original = article_id(*original);
            writeln!(pairs, "{original}\t{}\t{}", article_id(number), change.name())?;
            done.pairs += 1;
            return Ok(document.changed(change, vocabulary, random));
        }
        // Copies are not remembered, so every copy is made from an original article.
        let document = GeneratedDocument::draw(vocabulary, random);
        if remembered.len() < REMEMBERED {
            remembered.push((number, document.clone()));
        // Only some new articles replace a remembered one. So some remembered articles are old, and copies of
        // them are far from their originals.
        } else if random.happens(1, 8) {
            remembered[random.below(REMEMBERED)] = (number, document.clone());
        }
        Ok(document)
    }

    /// Makes the query with this ID, which is an unrelated document or a changed copy of `article`. Writes
    /// `article` and a copy of it to `pairs` as a true pair, and counts the pair in `done`. `number` is the
    /// number of the article.
    fn query(
        &mut self,
        id: &str,
        number: u64,
        article: &GeneratedDocument,
        pairs: &mut impl Write,
        done: &mut Generated,
    ) -> io::Result<GeneratedDocument> {
        let Self { vocabulary, random, .. } = self;
        if random.happens(1, QUERIES_PER_STRANGER) {
            return Ok(GeneratedDocument::draw(vocabulary, random));
        }
        let change = Change::draw(random);
        writeln!(pairs, "{}\t{id}\t{}", article_id(number), change.name())?;
        done.pairs += 1;
        Ok(article.changed(change, vocabulary, random))
    }
}

/// Returns the ID of an article, for example `1-17`. The first number is the volume of the article, and the
/// second its number in the volume. A volume has a thousand articles.
fn article_id(number: u64) -> String {
    format!("{}-{}", (number - 1) / 1000 + 1, (number - 1) % 1000 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generate(settings: CollectionSettings) -> (Generated, [String; 3]) {
        let mut files = [const { Vec::new() }; 3];
        let [articles, queries, pairs] = &mut files;
        let done = write_collection(&settings, articles, queries, pairs).unwrap();
        (done, files.map(|file| String::from_utf8(file).unwrap()))
    }

    #[test]
    fn a_seed_gives_the_same_bytes_and_another_seed_others() {
        let settings = CollectionSettings { seed: 1, size: Size::Documents(300), queries: 7 };
        let (done, files) = generate(settings);
        assert_eq!(generate(settings), (done, files.clone()));
        assert_ne!(generate(CollectionSettings { seed: 2, ..settings }).1, files);
        let [articles, queries, pairs] = files;
        assert_eq!(done.articles, 300);
        assert_eq!(done.bytes, articles.len() as u64);
        assert_eq!(articles.matches('\x0c').count(), 299);
        assert_eq!(queries.matches("Sample-").count() as u64, done.queries);
        assert!((5..=7).contains(&done.queries), "{done:?}");
        assert_eq!(pairs.lines().count() as u64, done.pairs);
        assert!((20..60).contains(&done.pairs), "{done:?}");
    }

    #[test]
    fn a_size_in_bytes_is_reached_with_the_last_article() {
        let (done, [articles, ..]) =
            generate(CollectionSettings { seed: 1, size: Size::Bytes(100_000), queries: 10 });
        assert_eq!(articles.len() as u64, done.bytes);
        assert!((100_000..110_000).contains(&done.bytes), "{done:?}");
        let nothing = CollectionSettings { seed: 1, size: Size::Documents(0), queries: 10 };
        assert_eq!(generate(nothing).0, Generated::default());
    }

    #[test]
    fn true_pairs_name_documents_that_are_there() {
        let (_, [articles, queries, pairs]) =
            generate(CollectionSettings { seed: 4, size: Size::Documents(500), queries: 50 });
        for line in pairs.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [first, second, _kind] = fields[..] else { panic!("{line}") };
            for id in [first, second] {
                let line = format!("{id}\r\n");
                assert!(articles.contains(&line) || queries.contains(&line), "{id}");
            }
        }
    }
}
