//! Judgements of people about pairs, in a file that `simtool eval` reads as known pairs.
//!
//! A line has the IDs of the removed and the kept document, and `yes`, `no` or `gray`, with tabs between them. `eval`
//! ignores the columns behind them: how the pair was chosen, its similarity or distance, and a note. Each judgement is
//! in the file before the page shows it.

use crate::write::tsv_field::{read_field, write_field};
use crate::write::whole_file::WholeFile;
use simtool_base::durable::Durability;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::unordered_map::UnorderedMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const HEADER: &str = "removed\tkept\tlabel\tchosen\tcloseness\tnote\n";

/// Judgement about a pair: whether its documents are near-duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// The documents are near-duplicates.
    Yes,
    /// The documents are not near-duplicates.
    No,
    /// The person is not sure, and the pair does not count.
    Unsure,
}

/// Way in which a pair was chosen to be judged. Only random pairs count in estimates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    /// At random, from the removed documents.
    Sample,
    /// At random, from the pairs just below the limit.
    Below,
    /// The person picked the pair from a list.
    Picked,
}

/// Name of each label in the file.
const LABELS: [(Label, &str); 3] =
    [(Label::Yes, "yes"), (Label::No, "no"), (Label::Unsure, "gray")];
const CHOICES: [(Chosen, &str); 3] =
    [(Chosen::Sample, "sample"), (Chosen::Below, "below"), (Chosen::Picked, "picked")];

/// Returns the value that has `name` in the list `names`.
fn value_of<T: Copy>(names: &[(T, &str)], name: &str) -> Option<T> {
    names.iter().find(|(_, known)| *known == name).map(|(value, _)| *value)
}

impl Label {
    /// Returns the name of the label in the file: `yes`, `no` or `gray`.
    #[must_use]
    pub fn name(self) -> &'static str {
        LABELS[self as usize].1
    }

    /// Returns the label with this name in the file, for example `yes`.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        value_of(&LABELS, name)
    }
}

impl Chosen {
    /// Returns the way of choosing with this name in the file, for example `sample`.
    pub(super) fn of_name(name: &str) -> Option<Self> {
        value_of(&CHOICES, name)
    }
}

/// A pair that a person judged.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judgement {
    /// ID of the removed document, or of the first document of a pair below the limit.
    pub(super) removed: String,
    /// ID of the kept document, or of the second document of a pair below the limit.
    pub(super) kept: String,
    /// Whether the documents are near-duplicates.
    pub(super) label: Label,
    /// Way in which the pair was chosen to be judged.
    pub(super) chosen: Chosen,
    /// Similarity or distance of the pair. `None` if neither is known.
    pub(super) closeness: Option<f64>,
    /// Note of the person. May be empty.
    pub(super) note: String,
}

impl Judgement {
    fn line(&self) -> Vec<u8> {
        let Self { removed, kept, label, chosen, closeness, note } = self;
        let closeness = closeness.map(|closeness| closeness.to_string()).unwrap_or_default();
        let chosen = CHOICES[*chosen as usize].1;
        let mut line = Vec::new();
        for field in [removed, kept, label.name(), chosen, &closeness, note] {
            // Writing to memory does not fail.
            drop(write_field(&mut line, field.as_bytes()));
            line.push(b'\t');
        }
        line.pop();
        line.push(b'\n');
        line
    }

    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split('\t').collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or_default();
        Some(Self {
            removed: read_field(fields.first()?),
            kept: read_field(fields.get(1)?),
            label: Label::of_name(fields.get(2)?)?,
            // Pairs of other programs were not chosen at random here.
            chosen: Chosen::of_name(field(3)).unwrap_or(Chosen::Picked),
            closeness: field(4).parse().ok(),
            note: read_field(field(5)),
        })
    }
}

/// Judgements in a file, in the order of the file.
#[derive(Debug)]
pub(super) struct Labels {
    path: PathBuf,
    judgements: Vec<Judgement>,
    /// Index of each pair in `judgements`. The key is made of both IDs.
    places: UnorderedMap<String, usize>,
    /// Whether the file ends with a whole line, so that a line can be added.
    is_whole: bool,
}

impl Labels {
    /// Reads the judgements in the file at `path`. A file that does not exist has no judgements, and is created by the
    /// first one.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a line is no judgement.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Error::io(path, "read", error)),
        };
        let is_whole = text.ends_with('\n');
        let mut labels = Self {
            path: path.to_owned(),
            judgements: Vec::new(),
            places: UnorderedMap::default(),
            is_whole,
        };
        let mut byte = 0;
        for line in text.split_inclusive('\n') {
            match Judgement::parse(line.trim_end_matches(['\r', '\n'])) {
                Some(judgement) => labels.insert(judgement),
                // A machine that lost its power may leave a part of the last line.
                None if line == HEADER || !line.ends_with('\n') || line.trim().is_empty() => {}
                None => {
                    let expected = "two IDs and yes, no or gray, separated by tabs".to_owned();
                    return Err(ErrorKind::Format { path: path.to_owned(), byte, expected }.into());
                }
            }
            byte += line.len() as u64;
        }
        Ok(labels)
    }

    /// Returns the path of the file.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Returns the judgements in the order of the file.
    pub(super) fn judgements(&self) -> &[Judgement] {
        &self.judgements
    }

    /// Returns the number of pairs with this label.
    pub(super) fn count(&self, label: Label) -> usize {
        self.judgements.iter().filter(|judgement| judgement.label == label).count()
    }

    /// Returns the judgement about the pair of documents with these IDs. `None` if the pair is not judged.
    pub(super) fn get(&self, removed: &str, kept: &str) -> Option<&Judgement> {
        self.places.get(&key(removed, kept)).map(|&place| &self.judgements[place])
    }

    /// Adds a judgement, or replaces the one about the same pair, and writes it to the file.
    ///
    /// # Errors
    ///
    /// The file cannot be written. Then the judgement is not added.
    pub(super) fn set(&mut self, judgement: Judgement) -> Result<()> {
        // Adding a line cannot lose an earlier one.
        let is_new = self.get(&judgement.removed, &judgement.kept).is_none();
        if is_new && self.is_whole {
            let file = OpenOptions::new().append(true).open(&self.path);
            let written = file.and_then(|mut file| file.write_all(&judgement.line()));
            written.map_err(|error| Error::io(&self.path, "write", error))?;
            self.insert(judgement);
            return Ok(());
        }
        let before = self.judgements.clone();
        self.insert(judgement);
        self.write_all().inspect_err(|_| self.judgements = before)
    }

    /// Removes the judgement about the pair of documents with these IDs, also from the file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(super) fn remove(&mut self, removed: &str, kept: &str) -> Result<()> {
        let Some(place) = self.places.remove(&key(removed, kept)) else { return Ok(()) };
        self.judgements.remove(place);
        let judgements = std::mem::take(&mut self.judgements);
        // The indexes of the judgements behind the removed one have changed.
        self.places.clear();
        for judgement in judgements {
            self.insert(judgement);
        }
        self.write_all()
    }

    fn insert(&mut self, judgement: Judgement) {
        let key = key(&judgement.removed, &judgement.kept);
        if let Some(&place) = self.places.get(&key) {
            self.judgements[place] = judgement;
        } else {
            self.places.insert(key, self.judgements.len());
            self.judgements.push(judgement);
        }
    }

    /// Writes all judgements to the file, which is replaced only when the new one is complete.
    fn write_all(&mut self) -> Result<()> {
        let mut file = WholeFile::create(&self.path, Durability::Fast)?;
        file.write(HEADER.as_bytes())?;
        for judgement in &self.judgements {
            file.write(&judgement.line())?;
        }
        file.sync()?;
        file.finish()?;
        self.is_whole = true;
        Ok(())
    }
}

/// Returns the key of a pair: both IDs with a tab between them. The first ID is escaped, so it has no tab.
fn key(removed: &str, kept: &str) -> String {
    let mut key = Vec::new();
    // Writing to memory does not fail.
    drop(write_field(&mut key, removed.as_bytes()));
    key.push(b'\t');
    key.extend_from_slice(kept.as_bytes());
    String::from_utf8_lossy(&key).into_owned()
}

/// Agreement of two people about the pairs that both judged with yes or no.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Agreement {
    /// Number of pairs that both judged.
    pub(super) common: u64,
    /// Number of pairs that both judged in the same way.
    pub(super) agreed: u64,
    /// Cohen's kappa: 1 if both always agree, and 0 if they agree as often as by chance. `None` if it is not defined,
    /// because both gave all pairs one label.
    pub(super) kappa: Option<f64>,
}

/// Compares the judgements of two people.
///
/// # References
///
/// J. Cohen. A coefficient of agreement for nominal scales. Educational and Psychological Measurement 1960.
pub(super) fn agreement(one: &Labels, other: &Labels) -> Agreement {
    // How often each of the four combinations of answers occurs: the first answer is the row.
    let mut counts = [[0_u64; 2]; 2];
    for judgement in one.judgements().iter().filter(|judgement| judgement.label != Label::Unsure) {
        let Some(second) = other.get(&judgement.removed, &judgement.kept) else { continue };
        if second.label != Label::Unsure {
            counts[judgement.label as usize][second.label as usize] += 1;
        }
    }
    let common = counts.iter().flatten().sum();
    let agreed = counts[0][0] + counts[1][1];
    let by_chance = |answer: usize| {
        let of_one: u64 = counts[answer].iter().sum();
        let of_other: u64 = counts.iter().map(|row| row[answer]).sum();
        of_one as f64 * of_other as f64 / (common as f64).powi(2)
    };
    let chance = by_chance(0) + by_chance(1);
    // Without a common pair, or if chance explains all, the quotient is no number.
    let kappa = (agreed as f64 / common as f64 - chance) / (1.0 - chance);
    Agreement { common, agreed, kappa: kappa.is_finite().then_some(kappa) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judgement(removed: &str, label: Label) -> Judgement {
        Judgement {
            removed: removed.to_owned(),
            kept: "k\tept".to_owned(),
            label,
            chosen: Chosen::Sample,
            closeness: Some(0.85),
            note: "two\nlines".to_owned(),
        }
    }

    #[test]
    fn labels_are_in_the_file_at_once_and_are_continued() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.labels.tsv");
        let mut labels = Labels::open(&path).unwrap();
        for (id, label) in [("a", Label::Yes), ("b", Label::No), ("a", Label::Unsure)] {
            labels.set(judgement(id, label)).unwrap();
            assert_eq!(Labels::open(&path).unwrap().judgements(), labels.judgements());
        }
        // A part of a line is what a lost line leaves.
        let mut text = fs::read(&path).unwrap();
        text.extend_from_slice(b"c\tk");
        fs::write(&path, text).unwrap();
        let mut labels = Labels::open(&path).unwrap();
        assert_eq!(labels.get("a", "k\tept").unwrap().label, Label::Unsure);
        labels.set(judgement("d", Label::Yes)).unwrap();
        labels.remove("b", "k\tept").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(
            text,
            format!(
                "{HEADER}a\tk\\tept\tgray\tsample\t0.85\ttwo\\nlines\nd\tk\\tept\tyes\tsample\t0.85\ttwo\\nlines\n"
            )
        );
        fs::write(&path, "a\tb\tperhaps\n").unwrap();
        let error = Labels::open(&path).unwrap_err().to_string();
        assert!(error.contains("yes, no or gray"), "{error}");
    }

    #[test]
    fn agreement_is_that_of_the_textbook() {
        let folder = tempfile::tempdir().unwrap();
        // Cohen's kappa of 20 yes/yes, 5 yes/no, 10 no/yes and 15 no/no is 0.4.
        let mut both = ["one", "two"].map(|name| Labels::open(&folder.path().join(name)).unwrap());
        let cases =
            [(20, Label::Yes, Label::Yes), (5, Label::Yes, Label::No), (10, Label::No, Label::Yes)];
        for (count, first, second) in cases.into_iter().chain([(15, Label::No, Label::No)]) {
            for at in 0..count {
                let id = format!("{first:?} {second:?} {at}");
                both[0].set(judgement(&id, first)).unwrap();
                both[1].set(judgement(&id, second)).unwrap();
            }
        }
        both[0].set(judgement("only one", Label::Yes)).unwrap();
        let found = agreement(&both[0], &both[1]);
        assert_eq!((found.common, found.agreed), (50, 35));
        assert!((found.kappa.unwrap() - 0.4).abs() < 1e-9, "{found:?}");
        let empty = Labels::open(&folder.path().join("three")).unwrap();
        assert_eq!(agreement(&empty, &both[0]).kappa, None);
    }
}
