//! Folds: rules that make different spellings equal if the user chooses them. They are applied in addition to the
//! normalization of all tokenizers.
//!
//! # References
//!
//! Unicode Standard Annex #15, Unicode Normalization Forms. The letters of Arabic and Persian that are made equal are
//! those of Lucene's normalizers. `scripts/han-table` makes the table of Chinese characters.

use simtool_base::error::{Error, Result};
use simtool_base::unordered_map::UnorderedMap;
use std::mem;
use std::sync::LazyLock;
use unicode_normalization::char::decompose_compatible;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};
use unicode_script::{Script, UnicodeScript as _};

/// Version of the definitions of all folds, which is part of the recipe of fingerprints. Increase it if a fold changes.
const VERSION: u32 = 1;

/// A kind of spellings that are made equal, for example letters with and without diacritics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fold {
    Arabic,
    CyrillicLatin,
    Diacritics,
    Han,
    Hyphens,
}

/// A kind of spellings that users can choose by its name to make them equal.
#[derive(Debug)]
pub struct FoldKind {
    /// Name that options use, for example `diacritics`.
    pub name: &'static str,
    /// Description of the spellings that become equal, for help texts.
    pub help: &'static str,
    fold: Fold,
}

/// All folds, in alphabetical order.
pub const FOLDS: &[FoldKind] = &[
    FoldKind {
        name: "arabic",
        help: "forms of yeh, kaf, heh and alef in Arabic and Persian, without tatweel, vowel signs, hamza and madda",
        fold: Fold::Arabic,
    },
    FoldKind {
        name: "cyrillic-latin",
        help: "Serbian in Cyrillic and in Latin letters",
        fold: Fold::CyrillicLatin,
    },
    FoldKind {
        name: "diacritics",
        help: "Latin, Greek and Cyrillic letters with and without marks, as in café and cafe",
        fold: Fold::Diacritics,
    },
    FoldKind {
        name: "han",
        help: "simplified and traditional Chinese characters, one by one, as in 汉语 and 漢語",
        fold: Fold::Han,
    },
    FoldKind {
        name: "hyphens",
        help: "words that a hyphen divides at the end of a line",
        fold: Fold::Hyphens,
    },
];

/// Simplified characters, each followed by its traditional characters. Spaces or line ends separate these groups.
const HAN: &str = include_str!("han.txt");

/// The simplified character for each traditional character.
static SIMPLIFIED: LazyLock<UnorderedMap<char, char>> = LazyLock::new(|| {
    let words = HAN.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let pairs = words.flat_map(|word| {
        let mut characters = word.chars();
        let simplified = characters.next();
        characters.filter_map(move |traditional| Some((traditional, simplified?)))
    });
    pairs.collect()
});

/// Serbian Cyrillic letters in lower case, each with its Latin letters.
const SERBIAN: &[(char, &str)] = &[
    ('а', "a"),
    ('б', "b"),
    ('в', "v"),
    ('г', "g"),
    ('д', "d"),
    ('ђ', "đ"),
    ('е', "e"),
    ('ж', "ž"),
    ('з', "z"),
    ('и', "i"),
    ('ј', "j"),
    ('к', "k"),
    ('л', "l"),
    ('љ', "lj"),
    ('м', "m"),
    ('н', "n"),
    ('њ', "nj"),
    ('о', "o"),
    ('п', "p"),
    ('р', "r"),
    ('с', "s"),
    ('т', "t"),
    ('ћ', "ć"),
    ('у', "u"),
    ('ф', "f"),
    ('х', "h"),
    ('ц', "c"),
    ('ч', "č"),
    ('џ', "dž"),
    ('ш', "š"),
];

/// The folds that the user chose. They are applied to texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Folds {
    /// The chosen folds, in the order of [`FOLDS`].
    folds: Vec<Fold>,
}

impl Folds {
    /// Parses a list of names such as `diacritics,hyphens`. `None` means no folds.
    pub(super) fn parse(list: Option<&str>) -> Result<Self> {
        let given = list.unwrap_or_default();
        let names: Vec<&str> =
            given.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.iter().any(|name| FOLDS.iter().all(|kind| kind.name != *name)) {
            let known: Vec<_> = FOLDS.iter().map(|kind| kind.name).collect();
            let rule = format!("must be of {}; commas separate several", known.join(", "));
            return Err(Error::config("fold", given, rule));
        }
        let kinds = FOLDS.iter().filter(|kind| names.contains(&kind.name));
        Ok(Self { folds: kinds.map(|kind| kind.fold).collect() })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.folds.is_empty()
    }

    /// Returns the names of the chosen folds as a list that [`Self::parse`] reads, or `None` if no fold is chosen.
    pub(super) fn written(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.names().join(","))
    }

    /// Returns the part of a recipe that identifies the folds. It is empty if no fold is chosen.
    pub(super) fn recipe(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let unicode = unicode_normalization::UNICODE_VERSION.0;
        format!(",fold@{VERSION}.{unicode}={}", self.names().join("+"))
    }

    fn names(&self) -> Vec<&'static str> {
        FOLDS.iter().filter(|kind| self.has(kind.fold)).map(|kind| kind.name).collect()
    }

    fn has(&self, fold: Fold) -> bool {
        self.folds.contains(&fold)
    }

    /// Replaces the content of `folded` by the folded text. Bytes that are not UTF-8 stay as they are.
    pub(super) fn fold(&self, text: &[u8], folded: &mut Vec<u8>) {
        folded.clear();
        let mut letters = Letters {
            folds: self,
            has_serbian: self.has(Fold::CyrillicLatin),
            has_han: self.has(Fold::Han),
            loses_marks: false,
            classes: &CLASSES,
            out: mem::take(folded),
        };
        let has_hyphens = self.has(Fold::Hyphens);
        for chunk in text.utf8_chunks() {
            // Words are joined first, because their letters may be folded into others.
            if has_hyphens {
                visit_joined(chunk.valid(), |part| letters.push_text(part));
            } else {
                letters.push_text(chunk.valid());
            }
            letters.out.extend_from_slice(chunk.invalid());
        }
        *folded = letters.out;
    }
}

/// Calls `visit` with the parts of a text, without the hyphens that divide words at line ends and without these line
/// ends. A hyphen divides a word if a letter is before it and a letter begins the next line.
fn visit_joined(text: &str, mut visit: impl FnMut(&str)) {
    let is_blank = |c| matches!(c, ' ' | '\t' | '\r');
    let mut start = 0;
    for (at, _) in text.match_indices('\n') {
        let Some(line) = text.get(start..at) else { continue };
        let line = line.trim_end_matches(is_blank);
        let Some(half) = line.strip_suffix(['-', '\u{2010}', '\u{ad}']) else { continue };
        let next = text[at + 1..].trim_start_matches(is_blank);
        if half.ends_with(char::is_alphabetic) && next.starts_with(char::is_alphabetic) {
            visit(half);
            start = text.len() - next.len();
        }
    }
    visit(&text[start..]);
}

/// Applies the chosen folds to letters one after the other, and collects the result.
struct Letters<'f> {
    folds: &'f Folds,
    has_serbian: bool,
    has_han: bool,
    /// Whether the last letter is Latin, Greek or Cyrillic. The fold `diacritics` drops the marks after such a letter.
    loses_marks: bool,
    /// Class of each character, by code point. Characters beyond the end of the table have no class.
    classes: &'static [Class],
    out: Vec<u8>,
}

impl Letters<'_> {
    fn push_text(&mut self, mut text: &str) {
        // Runs of ASCII are copied at once. A mark behind them belongs to their last letter.
        while !text.is_empty() {
            let length = text.bytes().position(|byte| !byte.is_ascii()).unwrap_or(text.len());
            let (ascii, rest) = text.split_at(length);
            if let Some(last) = ascii.bytes().next_back() {
                self.out.extend_from_slice(ascii.as_bytes());
                self.loses_marks = last.is_ascii_alphabetic();
            }
            let mut others = rest.chars();
            if let Some(c) = others.next() {
                self.push(c);
            }
            text = others.as_str();
        }
    }

    fn push(&mut self, c: char) {
        if self.has_han && may_be_han(c) {
            // Radicals and compatibility forms are the characters that the normalization makes of them.
            self.loses_marks = false;
            return decompose_compatible(c, |part| {
                self.push_plain(SIMPLIFIED.get(&part).copied().unwrap_or(part));
            });
        }
        // Latin letters with marks come from Cyrillic ones, so they are folded after them.
        match self.has_serbian.then(|| serbian(c)).flatten() {
            Some((latin, is_upper)) => {
                for (at, letter) in latin.chars().enumerate() {
                    let upper = letter.to_uppercase().next().filter(|_| is_upper && at == 0);
                    self.push_letter(upper.unwrap_or(letter));
                }
            }
            None => self.push_letter(c),
        }
    }

    fn push_letter(&mut self, c: char) {
        if c.is_ascii() {
            self.loses_marks = c.is_ascii_alphabetic();
            return self.out.push(c as u8);
        }
        if let Some(class @ (Class::Simple | Class::Other)) = self.classes.get(c as usize) {
            self.loses_marks = *class == Class::Simple;
            return self.push_plain(c);
        }
        let script = if has_no_fold(c) { Script::Common } else { c.script() };
        // Tatweel is of several scripts.
        if script == Script::Inherited || is_arabic_mark(c) {
            return self.push_folded(c);
        }
        let is_simple = matches!(script, Script::Latin | Script::Greek | Script::Cyrillic);
        self.loses_marks = is_simple;
        // Composed letters lose their marks as decomposed ones do.
        let is_of_arabic = script == Script::Arabic && self.folds.has(Fold::Arabic);
        if is_of_arabic || is_simple && self.folds.has(Fold::Diacritics) {
            decompose_compatible(c, |part| self.push_folded(part));
        } else {
            self.push_plain(c);
        }
    }

    /// Folds `c`, which is a mark or a part of a decomposed letter, and appends the result to the output. Drops `c` if
    /// a chosen fold drops it.
    fn push_folded(&mut self, c: char) {
        if self.folds.has(Fold::Arabic) {
            match arabic(c) {
                Some(letter) => return self.push_plain(letter),
                None if is_arabic_mark(c) => return,
                None => {}
            }
        }
        if self.loses_marks && is_mark(c) && self.folds.has(Fold::Diacritics) {
            return;
        }
        // Not every part of a letter is one: `Ŀ` has a point.
        if c.is_ascii() || c.script() != Script::Inherited {
            self.loses_marks = is_simple(c);
        }
        self.push_plain(c);
    }

    fn push_plain(&mut self, c: char) {
        self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Class of a character by its treatment in folds. The classes are in a table, because looking up a script and
/// decomposing a letter take much longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// No fold changes the character, but marks after it are dropped.
    Simple,
    /// No fold changes the character, and marks after it stay.
    Other,
    /// A fold may change the character.
    Changed,
}

/// Classes of the characters of alphabets, computed once.
static CLASSES: LazyLock<Vec<Class>> =
    LazyLock::new(|| ('\0'..'\u{2e80}').map(Class::of).collect());

impl Class {
    fn of(c: char) -> Self {
        let mut is_decomposed = false;
        decompose_compatible(c, |part| is_decomposed |= part != c);
        let is_of_folds = arabic(c).is_some() || is_arabic_mark(c) || is_mark(c);
        if is_decomposed || is_of_folds || c.script() == Script::Inherited {
            Self::Changed
        } else if is_simple(c) {
            Self::Simple
        } else {
            Self::Other
        }
    }
}

/// Returns whether the character may be a Chinese character. Only its code point is checked. Japanese and Korean
/// letters are not included.
fn may_be_han(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{2fdf}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Returns whether no fold changes the character. Only its code point is checked. Returns true for nearly all
/// characters of Indic scripts, Thai, Japanese and Korean, and for Chinese characters, which [`Fold::Han`] handles
/// earlier.
fn has_no_fold(c: char) -> bool {
    matches!(c, '\u{900}'..='\u{109f}' | '\u{2e80}'..='\u{a63f}' | '\u{ac00}'..='\u{faff}')
        && !matches!(c, '\u{302a}'..='\u{302d}' | '\u{3099}'..='\u{309a}')
        && !('\u{951}'..='\u{954}').contains(&c)
}

/// Returns whether the character is a letter of a script whose marks are dropped.
fn is_simple(c: char) -> bool {
    matches!(c.script(), Script::Latin | Script::Greek | Script::Cyrillic)
}

fn is_mark(c: char) -> bool {
    !c.is_ascii() && c.general_category() == GeneralCategory::NonspacingMark
}

/// Returns the Latin letters for a Serbian Cyrillic letter, and whether that letter is in upper case. Returns `None`
/// for other characters.
fn serbian(c: char) -> Option<(&'static str, bool)> {
    if !('\u{400}'..'\u{460}').contains(&c) {
        return None;
    }
    let lower = c.to_lowercase().next().unwrap_or(c);
    let (_, latin) = SERBIAN.iter().find(|(cyrillic, _)| *cyrillic == lower)?;
    Some((latin, lower != c))
}

/// Returns the base letter for a form of yeh, kaf, heh or alef, or `None` for other letters. The letter must be
/// decomposed, so that it has no hamza or madda.
fn arabic(c: char) -> Option<char> {
    match c {
        '\u{649}' | '\u{6cc}' => Some('\u{64a}'),
        '\u{6a9}' | '\u{6aa}' => Some('\u{643}'),
        '\u{629}' | '\u{6c1}' | '\u{6c3}' | '\u{6d5}' => Some('\u{647}'),
        '\u{671}' => Some('\u{627}'),
        _ => None,
    }
}

/// Returns whether the character is tatweel, a vowel sign, or a hamza or madda above or below a letter.
fn is_arabic_mark(c: char) -> bool {
    matches!(c, '\u{640}' | '\u{64b}'..='\u{655}' | '\u{670}')
}
