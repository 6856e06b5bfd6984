//! The third column of a file of pairs, which may state whether the two documents of a line are near-duplicates.

use simtool_base::quantity::counted;
use std::collections::BTreeMap;

/// Numbers of two documents. Documents are numbered from 0 in reading order, and the smaller number is first.
pub type Pair = [u32; 2];

/// Words in the third column of a file of pairs that mean that the documents are near-duplicates, in lower case.
const YES: [&str; 5] = ["1", "yes", "y", "true", "t"];
/// Words in the third column of a file of pairs that mean that the documents are no near-duplicates. They are in lower
/// case and have `-` between words.
const NO: [&str; 16] = [
    "0",
    "no",
    "n",
    "false",
    "f",
    "non",
    "none",
    "negative",
    "different",
    "distinct",
    "unrelated",
    "unique",
    "non-duplicate",
    "nonduplicate",
    "not-duplicate",
    "no-duplicate",
];
/// Beginnings of words in the third column of a file of pairs that mean that a pair counts neither as true nor as
/// false.
const GRAY: [&str; 4] = ["gray", "grey", "unsure", "unclear"];
/// Maximum number of kinds of near-duplicates, such as `light`, that a note lists by name.
const NAMED_KINDS: usize = 3;
/// Maximum number of characters of a kind's name that a note shows. A longer text is more likely a remark than a kind.
const SHOWN_CHARACTERS: usize = 30;

/// Meaning of the third column of a line with a pair of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PairLabel {
    /// The column says that the documents are near-duplicates.
    Yes,
    /// The column says that the documents are no near-duplicates.
    No,
    /// The pair counts neither as true nor as false.
    Gray,
    /// A name for the way in which the documents are near-duplicates, for example `light`.
    Kind(String),
    /// The column is empty or missing.
    Nothing,
}

impl PairLabel {
    /// Parses the third column of a line. Returns `None` for a number that is neither 0 nor 1, which may be a
    /// similarity or a grade.
    fn parse(field: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(field);
        let text = text.trim();
        let word = text.to_lowercase().replace([' ', '_'], "-");
        let word = word.as_str();
        if word.is_empty() {
            return Some(Self::Nothing);
        }
        if YES.contains(&word) {
            return Some(Self::Yes);
        }
        if NO.contains(&word) {
            return Some(Self::No);
        }
        if GRAY.iter().any(|gray| word.starts_with(gray)) {
            return Some(Self::Gray);
        }
        // A similarity would count as a near-duplicate however low it is, so other numbers are refused.
        match word.parse::<f64>() {
            // Tables that computed their labels write 1.0 and 0.0.
            Ok(1.0) => Some(Self::Yes),
            Ok(0.0) => Some(Self::No),
            Ok(_) => None,
            Err(_) => Some(Self::Kind(text.to_owned())),
        }
    }
}

/// Pairs that a file of labels lists, by the meaning of its third column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownPairs {
    /// Pairs of near-duplicates, ascending without repetitions.
    pub near_duplicates: Vec<Pair>,
    /// Pairs that count neither as true nor as false, ascending without repetitions. None of them is in
    /// `near_duplicates`.
    pub set_aside: Vec<Pair>,
    /// Pairs with a label that marks them as no near-duplicates, ascending without repetitions. They count like pairs
    /// that are not listed.
    pub different: Vec<Pair>,
    /// Sentences about the third column for the user. Empty if no line has a third column, or if it says
    /// yes in all lines.
    pub notes: Vec<String>,
}

/// Collector of the pairs of a file, with the numbers of their lines.
#[derive(Default)]
pub(super) struct PairLabels {
    near_duplicates: Vec<Pair>,
    set_aside: Vec<Pair>,
    /// Pairs that are no near-duplicates, each with the number of its line.
    others: Vec<(Pair, usize)>,
    /// Kinds of near-duplicates, such as `light`, each with the number of its pairs.
    kinds: BTreeMap<String, u64>,
    /// First line whose third column says yes.
    first_yes: Option<usize>,
    /// First line whose third column has a kind, and the kind.
    first_kind: Option<(usize, String)>,
}

/// Number of a line that contradicts the file, and a phrase with the expected content of the line.
pub(super) type WrongLine = (usize, String);

impl PairLabels {
    /// Adds the pair of line `number`, whose third column is `label`.
    ///
    /// # Errors
    ///
    /// The column has a number that is neither 0 nor 1. The error is a phrase with what was expected.
    pub(super) fn add(&mut self, pair: Pair, number: usize, label: &[u8]) -> Result<(), String> {
        match PairLabel::parse(label) {
            Some(PairLabel::Nothing) => self.near_duplicates.push(pair),
            Some(PairLabel::Yes) => {
                self.first_yes.get_or_insert(number);
                self.near_duplicates.push(pair);
            }
            Some(PairLabel::No) => self.others.push((pair, number)),
            Some(PairLabel::Gray) => self.set_aside.push(pair),
            Some(PairLabel::Kind(kind)) => {
                self.first_kind.get_or_insert_with(|| (number, kind.clone()));
                *self.kinds.entry(kind).or_default() += 1;
                self.near_duplicates.push(pair);
            }
            None => {
                let found = String::from_utf8_lossy(label);
                return Err(format!(
                    "yes or no (1 or 0, true or false), gray, or the name of a kind in the third column, not {}; if it \
                     is a similarity, keep only the lines of near-duplicates and leave the column out",
                    found.trim()
                ));
            }
        }
        Ok(())
    }

    /// Returns all pairs in ascending order.
    ///
    /// # Errors
    ///
    /// A pair has two labels, or the third column says yes in one line and has an unknown word in another line.
    pub(super) fn finish(self) -> Result<KnownPairs, WrongLine> {
        // In a column of yes and no, another word such as `partly` is no kind of near-duplicates.
        if let (Some(yes), Some((line, kind))) = (self.first_yes, &self.first_kind) {
            let rule = format!(
                "yes, no or gray in the third column, as line {yes} has yes, not {}",
                shown(kind)
            );
            return Err((*line, rule));
        }
        let notes = self.notes();
        // Both lists are searched below, so they must be in order.
        let near_duplicates = sorted(self.near_duplicates);
        for (pair, line) in &self.others {
            if near_duplicates.binary_search(pair).is_ok() {
                let rule = "one label for each pair, but another line says that these two documents are \
                            near-duplicates";
                return Err((*line, rule.to_owned()));
            }
        }
        let mut set_aside = sorted(self.set_aside);
        set_aside.retain(|pair| near_duplicates.binary_search(pair).is_err());
        let different = sorted(self.others.into_iter().map(|(pair, _)| pair).collect());
        Ok(KnownPairs { near_duplicates, set_aside, different, notes })
    }

    /// Returns sentences that explain to the user how the third column was understood.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.others.is_empty() {
            let lines = counted(self.others.len() as u64, "line");
            notes.push(format!("{lines} with no in the third column: no near-duplicates"));
        }
        if !self.set_aside.is_empty() {
            let lines = counted(self.set_aside.len() as u64, "line");
            notes.push(format!("{lines} with gray in the third column: neither right nor wrong"));
        }
        if !self.kinds.is_empty() {
            let pairs = counted(self.kinds.values().sum(), "pair");
            let kinds = self.kinds_by_size();
            notes.push(format!("{pairs} by kind, all near-duplicates: {kinds}"));
        }
        notes
    }

    /// Returns the kinds of near-duplicates and their numbers of pairs as text, the most frequent kind first, for
    /// example `light 5, heavy 2`.
    fn kinds_by_size(&self) -> String {
        let mut kinds: Vec<(&String, &u64)> = self.kinds.iter().collect();
        // The sort is stable, so that kinds of the same size stay in the order of their names.
        kinds.sort_by_key(|(_, pairs)| std::cmp::Reverse(**pairs));
        let named = kinds.iter().take(NAMED_KINDS);
        let named: Vec<String> =
            named.map(|(kind, pairs)| format!("{} {pairs}", shown(kind))).collect();
        let more = kinds.len().saturating_sub(NAMED_KINDS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        named.join(", ") + &more
    }
}

/// Returns the name of a kind for a message. A long name is cut after [`SHOWN_CHARACTERS`] characters.
fn shown(kind: &str) -> String {
    if kind.chars().count() <= SHOWN_CHARACTERS {
        return kind.to_owned();
    }
    kind.chars().take(SHOWN_CHARACTERS).chain(['…']).collect()
}

/// Returns pairs in ascending order without repetitions.
pub(super) fn sorted(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(labels: &[&str]) -> Result<KnownPairs, WrongLine> {
        let mut pairs = PairLabels::default();
        for (number, label) in (1..).zip(labels) {
            let pair = [0, number as u32];
            pairs.add(pair, number, label.as_bytes()).map_err(|rule| (number, rule))?;
        }
        pairs.finish()
    }

    #[test]
    fn yes_no_and_gray_are_known_in_all_spellings() {
        let known = labels(&["yes", " True", "1", "1.0", "T", ""]).unwrap();
        assert_eq!((known.near_duplicates.len(), known.notes.len()), (6, 0));
        let known =
            labels(&["no", "FALSE", "0", "0.0", "n ", "Not duplicate", "non_duplicate"]).unwrap();
        assert_eq!((known.near_duplicates.len(), known.set_aside.len()), (0, 0));
        assert_eq!(known.notes, ["7 lines with no in the third column: no near-duplicates"]);
        let known = labels(&["gray", "Grey", "gray-between", "yes"]).unwrap();
        assert_eq!((known.near_duplicates.len(), known.set_aside.len()), (1, 3));
    }

    #[test]
    fn other_words_are_kinds_of_near_duplicates() {
        let known = labels(&["cut", "light", "heavy", "light", "planted", "none"]).unwrap();
        assert_eq!(known.near_duplicates.len(), 5);
        assert_eq!(
            known.notes,
            [
                "1 line with no in the third column: no near-duplicates",
                "5 pairs by kind, all near-duplicates: light 2, cut 1, heavy 1 and 1 more"
            ]
        );
        assert_eq!(shown("é".repeat(31).as_str()), "é".repeat(30) + "…");
    }

    #[test]
    fn labels_that_contradict_each_other_name_their_line() {
        let (line, rule) = labels(&["yes", "no", "partly"]).unwrap_err();
        assert_eq!(line, 3);
        assert!(rule.ends_with("as line 1 has yes, not partly"), "{rule}");
        let (line, rule) = labels(&["", "0.83"]).unwrap_err();
        assert_eq!(line, 2);
        assert!(rule.contains("not 0.83; if it is a similarity"), "{rule}");
        let mut pairs = PairLabels::default();
        pairs.add([0, 1], 1, b"yes").unwrap();
        pairs.add([0, 1], 2, b"no").unwrap();
        assert_eq!(pairs.finish().unwrap_err().0, 2);
    }
}
