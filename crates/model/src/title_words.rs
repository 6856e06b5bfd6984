//! The words of the title of a web page, which distinguish pages that are made from one template.

use simtool_base::stable_hash::{hash, mix};

/// Maximum number of different words of a title. Longer titles are sentences, in which a single word says little.
const MOST: usize = 16;
/// Number of words at the start of the text in which the words of the title are searched. They cover a heading, and the
/// path or the date before it.
const START: usize = 40;
/// Maximum number of bytes at the start of the text in which the words of the title are searched.
const START_BYTES: usize = 1024;
/// Bit of the hash of a title word. It is set if the word is also at the start of the text.
const AT_START: u32 = 1;

/// Hashes of the words of the title of a page, without numbers. If a title has too many words, there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TitleWords {
    /// Hashes of the words in ascending order. The bit [`AT_START`] of a hash is set if the word is also at the start
    /// of the text. Unused elements at the end are 0.
    words: [u32; MOST],
}

impl TitleWords {
    /// Finds the words of `title`, and which of them are also at the start of `text`, the text of the page.
    ///
    /// ```
    /// use simtool_model::title_words::TitleWords;
    ///
    /// let page = TitleWords::new(b"Tea - Shop 24", b"Shop tea\nGreen tea, 100 g");
    /// assert_eq!(page.iter().filter(|(_, is_at_start)| *is_at_start).count(), 2);
    /// ```
    #[must_use]
    pub fn new(title: &[u8], text: &[u8]) -> Self {
        let title = String::from_utf8_lossy(title);
        let start = String::from_utf8_lossy(&text[..text.len().min(START_BYTES)]);
        let start: Vec<u32> = words(&start).take(START).collect();
        let marked = |word: u32| word | if start.contains(&word) { AT_START } else { 0 };
        let mut found: Vec<u32> = words(&title).map(marked).collect();
        found.sort_unstable();
        found.dedup();
        Self::from_numbers(&found)
    }

    /// Creates the value from the numbers that [`numbers`](Self::numbers) returns. If there are more than fit, the
    /// value has no words.
    #[must_use]
    pub fn from_numbers(numbers: &[u32]) -> Self {
        let mut words = [0; MOST];
        if let Some(places) = words.get_mut(..numbers.len()) {
            places.copy_from_slice(numbers);
        }
        Self { words }
    }

    /// Returns the words as numbers, to store them.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.words.into_iter().take_while(|word| *word != 0)
    }

    /// Returns the hash of each word, and whether the word is at the start of the text.
    pub fn iter(&self) -> impl Iterator<Item = (u64, bool)> {
        self.numbers().map(|word| (u64::from(word & !AT_START), word & AT_START != 0))
    }

    /// Returns the words whose hashes `is_own` accepts. Returns none if one of them is not at the start of the text,
    /// because then the title may not be the heading of the text.
    #[must_use]
    pub fn own(&self, is_own: impl Fn(u64) -> bool) -> Self {
        let own: Vec<u32> =
            self.numbers().filter(|word| is_own(u64::from(word & !AT_START))).collect();
        let are_at_start = own.iter().all(|word| word & AT_START != 0);
        if are_at_start { Self::from_numbers(&own) } else { Self::default() }
    }

    /// Returns whether both titles have words, and no word is in both.
    #[must_use]
    pub fn are_disjoint(&self, other: &Self) -> bool {
        let has_words = |words: &Self| words.words[0] != 0;
        has_words(self)
            && has_words(other)
            && self.iter().all(|(word, _)| other.iter().all(|(also, _)| also != word))
    }

    /// Returns a hash of the words.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.numbers().fold(0, |all, word| mix(all ^ u64::from(word)))
    }
}

/// Words of the title of a page that distinguish the page from other pages of its site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageName {
    /// Hash of the site of the page.
    pub site: u64,
    /// Words of the title that few pages of the site have in their titles. Empty if there are none.
    pub words: TitleWords,
}

impl PageName {
    /// Returns whether two pages are of one site and have different names: both names have words, and no word is in
    /// both.
    #[must_use]
    pub fn differs(&self, other: &Self) -> bool {
        self.site == other.site && self.words.are_disjoint(&other.words)
    }
}

/// Returns the hashes of the words of `text`, with the bit [`AT_START`] set to 0. Leaves out numbers, because they
/// count pages or versions. The case of letters makes no difference.
fn words(text: &str) -> impl Iterator<Item = u32> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
        .filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()))
        // The second bit keeps a hash from being 0, which is no word.
        .map(|word| (hash(word.to_lowercase().as_bytes()) as u32 | 2) & !AT_START)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(site: u64, title: &str, text: &str, common: &[&str]) -> PageName {
        let common: Vec<u32> = common.iter().flat_map(|word| words(word)).collect();
        let is_own = |word: u64| common.iter().all(|common| u64::from(*common) != word);
        PageName { site, words: TitleWords::new(title.as_bytes(), text.as_bytes()).own(is_own) }
    }

    #[test]
    fn pages_of_a_site_differ_if_their_headings_have_no_common_word() {
        let page = |title: &str| name(1, &format!("{title} | Shop 3"), title, &["shop"]);
        let cup = page("Blue cup");
        assert!(cup.differs(&page("Tea pot")));
        // A common word, the same words in another case, or a number more are no difference.
        for same in ["Green cup", "BLUE CUP", "cup, blue (2)", "7 8", ""] {
            assert!(!cup.differs(&page(same)) && !page(same).differs(&cup), "{same}");
        }
        assert!(!cup.differs(&PageName { site: 2, ..page("Tea pot") }));
        // A title that is not in the text may be that of the template.
        assert!(!cup.differs(&name(1, "Welcome | Shop", "Tea pot", &["shop"])));
        let late = format!("{} Tea pot", "x ".repeat(START));
        assert!(!cup.differs(&name(1, "Tea pot", &late, &[])));
    }

    #[test]
    fn words_are_stored_and_long_titles_have_none() {
        let title: Vec<String> = (0..MOST).map(|number| format!("w{number}")).collect();
        let words = TitleWords::new(title.join(" ").as_bytes(), b"w0 w3\xFF");
        let numbers: Vec<u32> = words.numbers().collect();
        assert_eq!((numbers.len(), TitleWords::from_numbers(&numbers)), (MOST, words));
        assert_eq!(words.iter().filter(|(_, is_at_start)| *is_at_start).count(), 2);
        let long = format!("{} one more", title.join(" "));
        assert_eq!(TitleWords::new(long.as_bytes(), b""), TitleWords::default());
    }
}
