//! Reads the known near-duplicates of a collection from tab-separated lines or CSV.
//!
//! * Pairs: a line has the IDs of two documents.
//! * Clusters: a line has the ID of a document and the name of its cluster. Every two documents of a
//!   cluster are a pair.
//!
//! A third field of a pair may state that the documents are no near-duplicates ([`read_known_pairs`]). Further fields
//! and empty lines are ignored. The first line is skipped as a header if none of its IDs is the ID of a document.

pub use crate::evaluate::pair_label::{KnownPairs, Pair};
use crate::evaluate::pair_label::{PairLabels, sorted};
use crate::write::tsv_field::read_field;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::fault::escaped;
use simtool_base::unordered_map::UnorderedMap;
use simtool_read::visit_csv_rows;
use std::path::Path;
use std::str::FromStr;

/// Format of a file that lists known near-duplicates. The user names the format on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TruthFormat {
    /// Each line has the IDs of two near-duplicates.
    #[default]
    Pairs,
    /// Each line has the ID of a document and the name of its cluster.
    Clusters,
}

impl FromStr for TruthFormat {
    type Err = Error;

    /// Parses the name of a format.
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "pairs" => Ok(Self::Pairs),
            "clusters" => Ok(Self::Clusters),
            _ => Err(Error::config("truth_format", text, "must be pairs or clusters")),
        }
    }
}

/// Map from the ID of a document to its number.
#[derive(Debug, Default)]
pub struct IdRows<'i>(UnorderedMap<&'i [u8], IdRow>);

#[derive(Clone, Copy, Debug)]
enum IdRow {
    One(u32),
    /// Several documents have this ID, so it does not identify a document.
    Several,
}

impl<'i> IdRows<'i> {
    /// Creates the map from the IDs of all documents, which must come in reading order.
    pub fn new(ids: impl Iterator<Item = &'i [u8]>) -> Self {
        let mut rows = UnorderedMap::default();
        for (row, id) in (0_u32..).zip(ids) {
            rows.entry(id).and_modify(|row| *row = IdRow::Several).or_insert(IdRow::One(row));
        }
        Self(rows)
    }

    fn knows(&self, id: &[u8]) -> bool {
        self.find(id).is_some()
    }

    /// Finds the entry of an ID, or returns `None`. In tab-separated lines, an ID with a tab or a line end is written
    /// with escapes such as `\t`, so both forms are looked up.
    fn find(&self, id: &[u8]) -> Option<&IdRow> {
        let escaped = || {
            let text = str::from_utf8(id).ok().filter(|text| text.contains('\\'))?;
            self.0.get(read_field(text).as_bytes())
        };
        self.0.get(id).or_else(escaped)
    }

    /// Returns the number of the document with this ID. If there is no such document, or if there are
    /// several, the error is a phrase that describes which ID was expected.
    fn row(&self, id: &[u8]) -> Result<u32, String> {
        match self.find(id) {
            Some(&IdRow::One(row)) => Ok(row),
            Some(IdRow::Several) => {
                Err(format!("the ID of one document, but several documents have {}", quoted(id)))
            }
            None => Err(format!("the ID of a document, but no document has the ID {}", quoted(id))),
        }
    }
}

fn quoted(id: &[u8]) -> String {
    format!("\"{}\"", escaped(id))
}

/// Parses a file of pairs or clusters, whose content is `bytes`. Returns the pairs in ascending order without
/// repetitions. The third column is ignored.
///
/// `path` is the name of the file for error messages. If it ends with `.csv`, the columns are separated by commas and
/// may be in quotes. Otherwise they are separated by tabs.
///
/// # Errors
///
/// A line has fewer than two fields, an ID belongs to no document or to several, or a line names the
/// same document twice.
///
/// ```
/// use simtool::evaluate::truth::{IdRows, TruthFormat, read_truth};
/// use std::path::Path;
///
/// let rows = IdRows::new([&b"x"[..], b"y", b"z"].into_iter());
/// let text = b"z\tx\n";
/// let pairs = read_truth(text, Path::new("pairs.tsv"), TruthFormat::Pairs, &rows)?;
/// assert_eq!(pairs, [[0, 2]]);
/// # Ok::<(), simtool::Error>(())
/// ```
pub fn read_truth(
    bytes: &[u8],
    path: &Path,
    format: TruthFormat,
    rows: &IdRows<'_>,
) -> Result<Vec<Pair>> {
    // The third column is ignored, so all pairs count as near-duplicates.
    Ok(read_lines(bytes, path, format, rows, ThirdColumn::Ignored)?.near_duplicates)
}

/// Parses a file of known near-duplicates like [`read_truth`], and also the labels in the third column of pairs:
///
/// * `yes`, `true` or `1`: the two documents are near-duplicates.
/// * `no`, `false` or `0`: they are not.
/// * `gray`: the pair counts neither as near-duplicates nor as different documents.
/// * Any other word, such as `light`: the documents are near-duplicates, and the word names their kind.
///
/// # Errors
///
/// [`read_truth`] fails for the file, the third column has a number other than 0 and 1, two lines give a pair
/// different labels, or the column says yes in one line and has an unknown word in another.
///
/// ```
/// use simtool::evaluate::truth::{IdRows, TruthFormat, read_known_pairs};
/// use std::path::Path;
///
/// let rows = IdRows::new([&b"x"[..], b"y", b"z"].into_iter());
/// let text = b"x,y,yes\nx,z,no\n";
/// let known = read_known_pairs(text, Path::new("pairs.csv"), TruthFormat::Pairs, &rows)?;
/// assert_eq!(known.near_duplicates, [[0, 1]]);
/// # Ok::<(), simtool::Error>(())
/// ```
pub fn read_known_pairs(
    bytes: &[u8],
    path: &Path,
    format: TruthFormat,
    rows: &IdRows<'_>,
) -> Result<KnownPairs> {
    read_lines(bytes, path, format, rows, ThirdColumn::Label)
}

/// Meaning of the third column of a file of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ThirdColumn {
    /// The column states whether the two documents are near-duplicates.
    Label,
    /// The column is ignored, as in a file of pairs that count neither as true nor as false.
    Ignored,
}

fn read_lines(
    bytes: &[u8],
    path: &Path,
    format: TruthFormat,
    rows: &IdRows<'_>,
    third: ThirdColumn,
) -> Result<KnownPairs> {
    let is_csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let columns = if is_csv { "a comma" } else { "a tab" };
    let (pairs, clusters) = (PairLabels::default(), Clusters::default());
    let mut reader = TruthReader { path, format, rows, third, columns, pairs, clusters };
    if is_csv {
        visit_csv_rows(bytes, &mut |line, fields: &[&[u8]]| reader.add(line, fields))?;
    } else {
        // Windows programs begin a text file with a byte order mark; it is not a part of the ID.
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        for (number, line) in (1_usize..).zip(bytes.split(|&byte| byte == b'\n')) {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.is_empty() {
                let fields: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
                reader.add(number, &fields)?;
            }
        }
    }
    reader.finish()
}

/// Reader of known near-duplicates. It receives the fields of each line of the file, in order.
struct TruthReader<'r> {
    path: &'r Path,
    format: TruthFormat,
    rows: &'r IdRows<'r>,
    third: ThirdColumn,
    /// Separator of the fields, for error messages.
    columns: &'static str,
    pairs: PairLabels,
    clusters: Clusters,
}

impl TruthReader<'_> {
    /// Adds the pair of documents, or the document with its cluster, that the fields of a line name. `number` is the
    /// number of the line, from 1.
    fn add(&mut self, number: usize, fields: &[&[u8]]) -> Result<()> {
        let wrong = |expected: String| self.wrong_line(number, expected);
        let &[first, second, ..] = fields else {
            let expected = match self.format {
                TruthFormat::Pairs => "the IDs of two documents",
                TruthFormat::Clusters => "the ID of a document and the name of its cluster",
            };
            return Err(wrong(format!("{expected}, separated by {}", self.columns)));
        };
        let is_pair = self.format == TruthFormat::Pairs;
        let names_any = self.rows.knows(first) || is_pair && self.rows.knows(second);
        // A header names no document. In any later line, an unknown ID is a mistake.
        if number == 1 && !names_any {
            return Ok(());
        }
        let row = self.rows.row(first).map_err(wrong)?;
        if !is_pair {
            self.clusters.add(second, row);
            return Ok(());
        }
        let other = self.rows.row(second).map_err(wrong)?;
        if row == other {
            return Err(wrong(format!("two documents, not {} twice", quoted(first))));
        }
        let label = match self.third {
            ThirdColumn::Label => fields.get(2).copied().unwrap_or_default(),
            ThirdColumn::Ignored => b"",
        };
        let added = self.pairs.add([row.min(other), row.max(other)], number, label);
        added.map_err(|expected| self.wrong_line(number, expected))
    }

    fn wrong_line(&self, line: usize, expected: String) -> Error {
        ErrorKind::Line { path: self.path.to_owned(), line, expected }.into()
    }

    /// Returns all pairs that were read, in ascending order without repetitions.
    fn finish(mut self) -> Result<KnownPairs> {
        if self.format == TruthFormat::Clusters {
            let near_duplicates = self.clusters.pairs();
            return Ok(KnownPairs { near_duplicates, ..KnownPairs::default() });
        }
        let pairs = std::mem::take(&mut self.pairs);
        pairs.finish().map_err(|(line, expected)| self.wrong_line(line, expected))
    }
}

/// Map from the name of each cluster to its documents, while a file is read.
#[derive(Default)]
struct Clusters {
    numbers: UnorderedMap<Vec<u8>, usize>,
    members: Vec<Vec<u32>>,
}

impl Clusters {
    fn add(&mut self, name: &[u8], row: u32) {
        let next = self.members.len();
        let number = match self.numbers.get(name) {
            Some(&number) => number,
            None => *self.numbers.entry(name.to_vec()).or_insert(next),
        };
        if number == next {
            self.members.push(Vec::new());
        }
        self.members[number].push(row);
    }

    fn pairs(mut self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for members in &mut self.members {
            members.sort_unstable();
            members.dedup();
            for (at, &a) in members.iter().enumerate() {
                pairs.extend(members[at + 1..].iter().map(|&b| [a, b]));
            }
        }
        // A document in two clusters can be with another document in both.
        sorted(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDS: [&str; 5] = ["a", "b", "c", "d", "d"];

    fn read(text: &str, format: TruthFormat) -> Result<Vec<Pair>> {
        let rows = IdRows::new(IDS.iter().map(|id| id.as_bytes()));
        read_truth(text.as_bytes(), Path::new("truth.tsv"), format, &rows)
    }

    #[test]
    fn pairs_and_clusters_are_read() {
        let pairs = read("id\tother\r\nb\ta\tcopy\r\n\na\tb\nb\tc\n", TruthFormat::Pairs).unwrap();
        assert_eq!(pairs, [[0, 1], [1, 2]]);
        let clusters = read("\u{feff}c\tx\na\tx\nb\tx\nb\ty\n", TruthFormat::Clusters).unwrap();
        assert_eq!(clusters, [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(read("", TruthFormat::Pairs).unwrap(), Vec::<Pair>::new());
        assert!("lines".parse::<TruthFormat>().is_err());
    }

    #[test]
    fn the_third_column_of_pairs_can_say_no() {
        let rows = IdRows::new(IDS.iter().map(|id| id.as_bytes()));
        let known = |text: &str, name: &str| {
            read_known_pairs(text.as_bytes(), Path::new(name), TruthFormat::Pairs, &rows)
        };
        let text = "id\tother\tsame\na\tb\tyes\na\tc\tno\nb\tc\tgray\n";
        for (text, name) in [(text.to_owned(), "t.tsv"), (text.replace('\t', ","), "t.csv")] {
            let known = known(&text, name).unwrap();
            assert_eq!(known.near_duplicates, [[0, 1]]);
            assert_eq!(known.set_aside, [[1, 2]]);
            let error = read_known_pairs(
                text.replace("yes", "0.7").as_bytes(),
                Path::new(name),
                TruthFormat::Pairs,
                &rows,
            );
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with(&format!("{name}, line 2: expected yes or no")), "{error}");
        }
        // In a file of pairs that do not count, the column has no meaning.
        assert_eq!(read(text, TruthFormat::Pairs).unwrap().len(), 3);
        let error = known("a\tb\tyes\nb\ta\tno\n", "t.tsv").unwrap_err().to_string();
        assert!(error.starts_with("t.tsv, line 2: expected one label for each pair"), "{error}");
    }

    #[test]
    fn csv_is_known_by_its_name() {
        let ids = ["a", "b,1", "say \"c\"", "d"];
        let rows = IdRows::new(ids.iter().map(|id| id.as_bytes()));
        let read = |text: &str, name: &str, format| {
            read_truth(text.as_bytes(), Path::new(name), format, &rows)
        };
        let pairs = "\u{feff}id,other\r\na,\"b,1\",copy\r\n\r\n\"say \"\"c\"\"\",a\r\n";
        assert_eq!(read(pairs, "t.CSV", TruthFormat::Pairs).unwrap(), [[0, 1], [0, 2]]);
        let clusters = "a,1\n\"b,1\",1\nd,2\n";
        assert_eq!(read(clusters, "t.csv", TruthFormat::Clusters).unwrap(), [[0, 1]]);
        for (text, expected) in [
            (
                "a,d\n\na\n",
                "t.csv, line 3: expected the IDs of two documents, separated by a comma",
            ),
            (
                "a,d\nz,a\n",
                "t.csv, line 2: expected the ID of a document, but no document has the ID \"z\"",
            ),
        ] {
            assert_eq!(read(text, "t.csv", TruthFormat::Pairs).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, format, expected) in [
            (
                "a\tb\na\tz\n",
                TruthFormat::Pairs,
                "line 2: expected the ID of a document, but no document has the ID \"z\"",
            ),
            (
                "z\tb\n",
                TruthFormat::Pairs,
                "line 1: expected the ID of a document, but no document has the ID \"z\"",
            ),
            (
                "a\tb\nb\n",
                TruthFormat::Pairs,
                "line 2: expected the IDs of two documents, separated by a tab",
            ),
            ("a\ta\n", TruthFormat::Pairs, "line 1: expected two documents, not \"a\" twice"),
            (
                "a\td\n",
                TruthFormat::Pairs,
                "line 1: expected the ID of one document, but several documents have \"d\"",
            ),
            (
                "id\tcluster\nz\t1\n",
                TruthFormat::Clusters,
                "line 2: expected the ID of a document, but no document has the ID \"z\"",
            ),
        ] {
            let error = read(text, format).unwrap_err().to_string();
            assert_eq!(error, format!("truth.tsv, {expected}"));
        }
    }
}
