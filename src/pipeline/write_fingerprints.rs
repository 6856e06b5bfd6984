//! A collection's fingerprints to a file, each with the name of its document.

use super::FingerprintedCollection;
use super::document_names::Names;
use crate::error::Result;
use crate::fingerprint_file::{self, FileFormat, Missing};
use crate::read::Collection;
use std::io::Write;
use std::path::Path;

/// Writes the fingerprints that were made of `collection` to `out`, which `path` names in messages.
///
/// # Errors
///
/// `out` fails; or documents have no fingerprint and the format cannot tell; or this build cannot
/// write the format.
pub fn write_fingerprints(
    collection: &Collection,
    made: &FingerprintedCollection,
    format: FileFormat,
    path: &Path,
    out: &mut dyn Write,
) -> Result<()> {
    let names = Names { collection, ids: &made.summary.ids };
    let rows = (&made.rows).into();
    fingerprint_file::write(&rows, &|row| names.of(row), format, Missing::Refused, path, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint_rows::{FingerprintRows, Lanes};
    use crate::kernels::Isa;
    use crate::pipeline::config::{FingerprintRecipe, SimhashBits};
    use crate::pipeline::fingerprint_collection::fingerprint_collection;
    use crate::pipeline::progress::NoProgress;
    use crate::read::ReadOptions;
    use crate::read::walk::InputFile;

    #[test]
    fn an_array_of_narrow_rows_has_a_word_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "a rose is a rose").unwrap();
        let collection = Collection::open(vec![InputFile::new(&path)], ReadOptions::default());
        let recipe =
            FingerprintRecipe { shingle: "words:3".parse().unwrap(), bits: SimhashBits::Bits64 };
        let mut made =
            fingerprint_collection(&collection, recipe, 1, Isa::Portable, &NoProgress).unwrap();
        let lanes = Lanes::Bits16(vec![7].into());
        made.rows = FingerprintRows { lanes, bits: 16, validity: None, recipe: None };
        let (path, mut out) = (Path::new("f.npy"), Vec::new());
        write_fingerprints(&collection, &made, FileFormat::Numpy, path, &mut out).unwrap();
        let header = String::from_utf8_lossy(&out[..128]).into_owned();
        assert!(header.contains("'shape': (1,)"), "{header}");
        assert!(out.len() == 136 && out.ends_with(&[7, 0, 0, 0, 0, 0, 0, 0]));
    }
}
