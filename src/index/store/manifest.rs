//! The manifest of an index, which lists its segments.
//!
//! A commit replaces the manifest by a new one in one atomic rename. All other files of an index are written
//! once and never changed.
//!
//! The file is text. Each line has a keyword and a value, and the lines have a fixed order. The last line has
//! a checksum (XXH3-64) of the lines before it.
//!
//! ```text
//! simtool index 1
//! generation 3
//! method simhash:bits=64,max_distance=3,shingle=words:3
//! recipe simhash64/…
//! documents 1234
//! segment 17 1048576 0123456789abcdef
//! source 2026-11
//! next-segment 18
//! checksum 0123456789abcdef
//! ```

use super::sealed_file::Seal;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::stable_hash::hash;
use std::fmt::Write;
use std::path::Path;
use std::str::Lines;

const HEADING: &str = "simtool index";
const VERSION: &str = "1";
const CHECKSUM: &str = "checksum ";

/// Content of a manifest: the method, the segments and the sources of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Number of commits to the index so far.
    pub generation: u64,
    /// Method that makes the fingerprints, with all its settings, in the form that `Method` parses.
    pub method: String,
    /// Recipe of the fingerprints, which names everything that they depend on.
    pub recipe: String,
    /// Number of documents that were ever added, which is also the number of the next document.
    pub documents: u64,
    /// Segments in the order of their document numbers.
    pub segments: Vec<SegmentEntry>,
    /// Names of the sources. The index of a name is the number of its source.
    pub sources: Vec<String>,
    /// Number in the name of the next segment file that is written.
    pub next_segment: u64,
}

/// Entry about a segment file of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentEntry {
    /// Number in the name of the file.
    pub file: u64,
    /// Length and checksum of the file, which identify its content.
    pub seal: Seal,
}

impl Manifest {
    /// Creates the manifest of an index without documents.
    #[must_use]
    pub fn new(method: String, recipe: String) -> Self {
        Self {
            generation: 0,
            method,
            recipe,
            documents: 0,
            segments: Vec::new(),
            sources: Vec::new(),
            next_segment: 0,
        }
    }

    /// Returns the manifest as the bytes of its file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut text = format!(
            "{HEADING} {VERSION}\ngeneration {}\nmethod {}\nrecipe {}\ndocuments {}\n",
            self.generation, self.method, self.recipe, self.documents
        );
        for SegmentEntry { file, seal } in &self.segments {
            // Writing to memory does not fail.
            let _ = writeln!(text, "segment {file} {} {:016x}", seal.bytes, seal.checksum);
        }
        for source in &self.sources {
            let _ = writeln!(text, "source {source}");
        }
        let _ = writeln!(text, "next-segment {}", self.next_segment);
        let checksum = hash(text.as_bytes());
        let _ = writeln!(text, "{CHECKSUM}{checksum:016x}");
        text.into_bytes()
    }

    /// Parses the bytes of a manifest file. `path` is for error messages.
    ///
    /// # Errors
    ///
    /// The bytes are not a manifest, are damaged, or have another version.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        let refused = |line: usize, expected: &str| -> Error {
            ErrorKind::Line { path: path.to_owned(), line, expected: expected.to_owned() }.into()
        };
        let text = str::from_utf8(bytes).ok();
        let Some(text) = text.filter(|text| text.starts_with(HEADING)) else {
            let expected = "a simtool index manifest: this is another file, or it is damaged";
            return Err(refused(1, expected));
        };
        let mut lines = text.lines();
        // The version is checked before the checksum, which another version may compute differently.
        let heading = lines.next().and_then(|line| line.strip_prefix(HEADING));
        if heading.map(str::trim_start) != Some(VERSION) {
            let expected = "version 1 of the index: another version of simtool wrote it; use that \
                            version";
            return Err(refused(1, expected));
        }
        let damaged = "a line that agrees with the checksum: the manifest is damaged; restore it from a copy, \
                       or save what is intact to a new index (salvage)";
        let count = text.lines().count();
        // The search goes from the end, because the name of a source may contain the keyword as well.
        let body = text.rfind(CHECKSUM).map(|at| text.split_at(at));
        let Some((body, last)) = body else { return Err(refused(count, damaged)) };
        // Comparing the whole line also rejects bytes after the checksum.
        if last != format!("{CHECKSUM}{:016x}\n", hash(body.as_bytes())) {
            return Err(refused(count, damaged));
        }
        Self::of_lines(lines).ok_or_else(|| refused(2, "the lines of a manifest, in their order"))
    }

    fn of_lines(lines: Lines<'_>) -> Option<Self> {
        let mut lines = lines.peekable();
        // The order of the lines is fixed, so another keyword ends a list of lines. A missing line is an
        // error.
        let mut next = |name: &str| {
            let line = lines.next_if(|line| line.split(' ').next() == Some(name))?;
            Some(line.split_once(' ')?.1)
        };
        let generation = next("generation")?.parse().ok()?;
        let (method, recipe) = (next("method")?.to_owned(), next("recipe")?.to_owned());
        let documents = next("documents")?.parse().ok()?;
        let mut segments = Vec::new();
        while let Some(segment) = next("segment") {
            let [file, bytes, checksum] = segment.split(' ').collect::<Vec<_>>()[..] else {
                return None;
            };
            let checksum = u64::from_str_radix(checksum, 16).ok()?;
            let seal = Seal { bytes: bytes.parse().ok()?, checksum };
            segments.push(SegmentEntry { file: file.parse().ok()?, seal });
        }
        let mut sources = Vec::new();
        while let Some(source) = next("source") {
            sources.push(source.to_owned());
        }
        let next_segment = next("next-segment")?.parse().ok()?;
        Some(Self { generation, method, recipe, documents, segments, sources, next_segment })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Manifest {
        let seal = Seal { checksum: 0x12AB, bytes: 4096 };
        Manifest {
            generation: 7,
            documents: 12,
            segments: vec![
                SegmentEntry { file: 3, seal },
                SegmentEntry { file: 5, seal: Seal { checksum: u64::MAX, ..seal } },
            ],
            sources: vec!["2026-11".to_owned(), "a crawl, of mine".to_owned()],
            next_segment: 6,
            ..Manifest::new("simhash:bits=64".to_owned(), "simhash64/words".to_owned())
        }
    }

    #[test]
    fn what_is_written_is_read_and_stays_as_it_is() {
        let path = Path::new("MANIFEST");
        let empty = Manifest::new("m".to_owned(), "r".to_owned());
        for manifest in [sample(), empty] {
            assert_eq!(Manifest::from_bytes(&manifest.to_bytes(), path).unwrap(), manifest);
        }
        let expected = "simtool index 1\ngeneration 7\nmethod simhash:bits=64\nrecipe simhash64/words\n\
                        documents 12\nsegment 3 4096 00000000000012ab\nsegment 5 4096 ffffffffffffffff\n\
                        source 2026-11\nsource a crawl, of mine\nnext-segment 6\nchecksum ";
        assert!(sample().to_bytes().starts_with(expected.as_bytes()));
    }

    #[test]
    fn a_changed_byte_or_a_missing_one_is_noticed() {
        let (bytes, path) = (sample().to_bytes(), Path::new("MANIFEST"));
        for at in 0..bytes.len() {
            assert!(Manifest::from_bytes(&bytes[..at], path).is_err(), "cut at {at}");
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let error = Manifest::from_bytes(&changed, path).unwrap_err().to_string();
            assert!(error.starts_with("MANIFEST, line "), "{at}: {error}");
        }
    }
}
