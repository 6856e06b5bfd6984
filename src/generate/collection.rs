//! A whole collection: articles, queries, and the list of what truly are near-duplicates.

use super::document::{Change, Document, MEAN_BYTES, MEAN_WORDS};
use super::random::Random;
use super::vocabulary::Vocabulary;
use std::io::{self, Write};

/// One article in so many is a near-duplicate of an earlier one.
const ARTICLES_PER_COPY: usize = 10;
/// Originals that copies are made of: articles of the recent past.
const REMEMBERED: usize = 256;
/// One query in so many is of nothing in the collection.
const QUERIES_PER_STRANGER: usize = 8;

/// What to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CollectionSettings {
    /// The same seed gives the same bytes.
    pub seed: u64,
    /// How many articles.
    pub size: Size,
    /// Most queries; collections with fewer articles have a query each.
    pub queries: u64,
}

/// How large a collection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// So many articles.
    Documents(u64),
    /// As many articles as reach so many bytes.
    Bytes(u64),
}

/// What was generated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generated {
    /// Number of articles.
    pub articles: u64,
    /// Bytes of the articles.
    pub bytes: u64,
    /// Number of queries.
    pub queries: u64,
    /// Number of lines of the list of true pairs.
    pub pairs: u64,
}

/// Writes articles and queries as form-feed texts with CRLF line ends, and the true pairs as lines
/// of `ID`, tab, `ID`, tab, kind of change.
///
/// An article's pair is listed as original and copy, a query's as article and query; all that one
/// article leads to along the list are near-duplicates of it.
/// Kinds are `exact`, `words-K` (K words are others), `truncated` (the last sixth is missing),
/// `shuffled` (paragraphs in another order), `extended` (30 words more) and `reflowed` (other
/// lines, sentences and capitals).
///
/// # Errors
///
/// A writer fails.
///
/// # Complexity
///
/// O(bytes) time; memory for the vocabulary, which grows with the square root of the text.
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
    let vocabulary = Vocabulary::for_text_of(expected.saturating_mul(MEAN_WORDS));
    let articles_per_query = expected.div_ceil(settings.queries.max(1)).max(1);
    let mut random = Random::new(settings.seed);
    let mut remembered: Vec<(u64, Document)> = Vec::new();
    let mut done = Generated::default();
    let mut text = Vec::new();
    queries.write_all(b"\r\n")?;
    while match settings.size {
        Size::Documents(documents) => done.articles < documents,
        Size::Bytes(bytes) => done.bytes < bytes,
    } {
        done.articles += 1;
        let number = done.articles;
        let is_copy = !remembered.is_empty() && random.happens(1, ARTICLES_PER_COPY);
        let article = if is_copy {
            let (original, document) = &remembered[random.below(remembered.len())];
            let change = Change::draw(&mut random);
            writeln!(
                pairs,
                "{}\t{}\t{}",
                article_id(*original),
                article_id(number),
                change.name()
            )?;
            done.pairs += 1;
            document.changed(change, &vocabulary, &mut random)
        } else {
            let document = Document::draw(&vocabulary, &mut random);
            if remembered.len() < REMEMBERED {
                remembered.push((number, document.clone()));
            } else if random.happens(1, 8) {
                remembered[random.below(REMEMBERED)] = (number, document.clone());
            }
            document
        };

        text.clear();
        // The last document of the articles has no form feed behind it.
        if number > 1 {
            text.extend_from_slice(b"\x0c\r\n");
        }
        text.extend_from_slice(article_id(number).as_bytes());
        text.extend_from_slice(b"\r\n");
        article.write(&vocabulary, &mut text);
        articles.write_all(&text)?;
        done.bytes += text.len() as u64;

        if number % articles_per_query == 0 && done.queries < settings.queries {
            done.queries += 1;
            let id = format!("Sample-{}", done.queries);
            let query = if random.happens(1, QUERIES_PER_STRANGER) {
                Document::draw(&vocabulary, &mut random)
            } else {
                let change = Change::draw(&mut random);
                writeln!(pairs, "{}\t{id}\t{}", article_id(number), change.name())?;
                done.pairs += 1;
                article.changed(change, &vocabulary, &mut random)
            };
            text.clear();
            text.extend_from_slice(id.as_bytes());
            text.extend_from_slice(b"\r\n");
            query.write(&vocabulary, &mut text);
            text.extend_from_slice(b"\x0c\r\n");
            queries.write_all(&text)?;
        }
    }
    Ok(done)
}

/// IDs count through volumes of a thousand articles.
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
