//! Generates the pages of a small crawl: products, notices, recipes, threads, news and towns of an invented
//! valley.
//!
//! `crawl_texts.txt` has lists of names, one a line, and then the kinds of pages. A kind has paragraphs, which
//! `--` separates. A paragraph has parts, which empty lines separate. Each line of a part is a version of it,
//! and a page has one version of each part. ` // ` in a version begins a new paragraph. In a version, `{town}`
//! is a name of the list of towns, `{town2}` is another one, and `{3..9}` is a number. A page has the same
//! town wherever `{town}` is.

use super::random::Random;
use simtool_base::stable_hash::{GAMMA, hash, mix};

const TEXTS: &str = include_str!("crawl_texts.txt");
/// Last line of each page, as the menu of a web site.
const MENU: &str = "Towns | Recipes | Shop | Notices | Forum | The Valley Gazette, Mill Lane 4";
/// Number of pages after which the plan of copies, [`COPIES`], is repeated.
const PLAN_PAGES: u64 = 60;
/// The copies among each [`PLAN_PAGES`] pages: number of the copy, number of the original page, and the change that
/// makes the copy. Numbers begin with 0. Each change fits the kind of its page, for example a forum thread. The kind
/// depends on the number, because it changes after each three pages.
const COPIES: [(u64, u64, Change); 7] = [
    (29, 20, Change::Elsewhere),
    (30, 12, Change::Reply),
    (33, 9, Change::Equal),
    (37, 5, Change::Capitals),
    (44, 15, Change::Reprint),
    (49, 4, Change::Numbers(2)),
    (57, 19, Change::Numbers(3)),
];

/// The change that turns a page into a near-duplicate.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// The copy is equal to the page.
    Equal,
    /// The copy has its title in capitals.
    Capitals,
    /// The copy has an additional sentence about where the text was printed first.
    Reprint,
    /// The thread has one more answer.
    Reply,
    /// The last digit of some numbers below the title is changed, as in a new edition. The value is the count of
    /// changed numbers, which are the first ones.
    Numbers(usize),
    /// The description of a town is used for another town, with other numbers.
    Elsewhere,
}

/// Returns the text of page number `number`. It is a changed copy of an earlier page if [`COPIES`] lists the number.
pub(super) fn page_text(seed: u64, number: u64) -> String {
    let copy = COPIES.iter().find(|(copy, ..)| *copy == number % PLAN_PAGES);
    let Some((copy, original, change)) = copy else {
        return in_paragraphs(PageFacts::draw(seed, number, 1).paragraphs());
    };
    // The numbers of towns other than the first are small, so this town is on no page under another number.
    let town = if matches!(change, Change::Elsewhere) { 6 } else { 1 };
    let mut paragraphs = PageFacts::draw(seed, number - copy + original, town).paragraphs();
    // The first paragraph is the title. Most changes are below it, as in pages that people edit.
    match *change {
        Change::Equal => {}
        Change::Capitals => paragraphs[0] = paragraphs[0].to_uppercase(),
        Change::Reprint => paragraphs.insert(1, "First printed in the evening edition.".to_owned()),
        Change::Reply => paragraphs.push(
            "Nell Harrow wrote: I am late, but the same thing happened to me, and the first answer helped."
                .to_owned(),
        ),
        Change::Numbers(count) => change_numbers(&mut paragraphs[1..], count),
        Change::Elsewhere => change_numbers(&mut paragraphs[1..], 2),
    }
    in_paragraphs(paragraphs)
}

fn in_paragraphs(mut paragraphs: Vec<String>) -> String {
    paragraphs.push(format!("{MENU}\n"));
    paragraphs.join("\n\n")
}

/// Changes the last digit of the first `left` numbers in `paragraphs`.
fn change_numbers(paragraphs: &mut [String], mut left: usize) {
    for paragraph in paragraphs {
        let mut changed = String::new();
        let mut characters = paragraph.chars().peekable();
        while let Some(character) = characters.next() {
            let is_followed = characters.peek().is_some_and(char::is_ascii_digit);
            // A number with several digits changes in its last one.
            match character.to_digit(10).filter(|_| !is_followed && left > 0) {
                Some(digit) => {
                    left -= 1;
                    changed += &((digit + 1) % 10).to_string();
                }
                None => changed.push(character),
            }
        }
        *paragraph = changed;
    }
}

/// The random choices for one page: its kind, its names, and the random numbers for everything else.
struct PageFacts {
    kind: &'static str,
    /// Random number that selects the names of the page from the lists of names.
    names: u64,
    /// Number of the town that replaces `{town}`.
    town: usize,
    random: Random,
}

impl PageFacts {
    fn draw(seed: u64, number: u64, town: usize) -> Self {
        // Pages go to three files in turn, so the kind changes after each three pages, and each file gets pages of each
        // kind.
        let kinds = TEXTS.split("\n*").skip(1);
        let place = (number / 3) as usize % kinds.clone().count();
        let kind = kinds.clone().nth(place).and_then(|kind| kind.split_once('\n'));
        // Each page has random numbers of its own, so it is the same in a crawl of any size.
        let mut random = Random::new(mix(seed ^ number.wrapping_mul(GAMMA)));
        Self { kind: kind.unwrap_or_default().1, names: random.number(), town, random }
    }

    /// Returns the title and the paragraphs of the page.
    fn paragraphs(mut self) -> Vec<String> {
        let mut paragraphs = Vec::new();
        for paragraph in self.kind.split("\n--\n") {
            let mut text = String::new();
            for part in paragraph.split("\n\n") {
                let versions = part.lines();
                let chosen = self.random.below(versions.clone().count());
                let version = versions.clone().nth(chosen).unwrap_or_default();
                if !text.is_empty() {
                    text.push(' ');
                }
                text += &capitalized(&self.filled(version));
            }
            paragraphs.extend(text.split(" // ").map(str::to_owned));
        }
        paragraphs
    }

    /// Returns the text `version` with names and numbers in place of its placeholders, such as `{town}` and `{3..9}`.
    fn filled(&mut self, version: &str) -> String {
        let mut text = String::new();
        for (place, piece) in version.split(['{', '}']).enumerate() {
            if place % 2 == 0 {
                text += piece;
            // Pieces with odd numbers were between braces.
            } else if let Some((least, most)) = piece.split_once("..") {
                let [least, most] = [least, most].map(|end| end.parse::<usize>().unwrap_or(0));
                text += &(least + self.random.below(most + 1 - least)).to_string();
            } else {
                text += self.name(piece);
            }
        }
        text
    }

    /// Returns the name that replaces the placeholder `piece`, for example `town2`, on this page.
    fn name(&self, piece: &str) -> &'static str {
        let list = piece.trim_end_matches(|digit: char| digit.is_ascii_digit());
        let number =
            if piece == "town" { self.town } else { piece[list.len()..].parse().unwrap_or(1) };
        let line = TEXTS
            .lines()
            .find_map(|line| line.strip_prefix('=')?.strip_prefix(list)?.strip_prefix('|'));
        let names: Vec<&str> = line.unwrap_or_default().split('|').collect();
        // Each page begins somewhere in a list, so names with different numbers are different.
        let first = (mix(self.names ^ hash(list.as_bytes())) % names.len() as u64) as usize;
        names[(first + number) % names.len()]
    }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_of_every_page_is_filled_from_a_list() {
        let mut texts: Vec<String> = Vec::new();
        for number in 0..2_000 {
            let text = page_text(7, number);
            assert!(!text.contains(['{', '}', '*', '=']) && !text.contains("//"), "{text}");
            assert!(text.len() > 300 && text.ends_with("Mill Lane 4\n"), "{text}");
            texts.push(text);
        }
        // The name of a misspelt list is empty, so there would be two spaces between the words around it.
        let gaps = texts.iter().filter(|text| text.contains("  ") || text.contains(" ."));
        assert_eq!(gaps.count(), 0);
        let sentences = TEXTS.split("\n*").skip(1).flat_map(str::lines);
        for sentence in sentences.filter(|line| line.len() > 30 && !line.contains('{')) {
            assert!(texts.iter().any(|text| text.contains(sentence)), "{sentence}");
        }
    }

    #[test]
    fn copies_differ_from_their_pages_as_planned() {
        for (copy, original, change) in COPIES {
            let [copy, original] = [copy, original].map(|number| page_text(3, PLAN_PAGES + number));
            assert_eq!(copy == original, matches!(change, Change::Equal), "{copy}{original}");
            let shared = original.split_whitespace().filter(|word| copy.contains(word)).count();
            assert!(shared * 10 > original.split_whitespace().count() * 8, "{copy}{original}");
        }
    }
}
