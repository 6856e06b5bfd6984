//! Writes the fingerprints of a collection to a file, each with the ID of its document.

use crate::pipeline::FingerprintedCollection;
use crate::pipeline::document_names::document_name;
use simtool_base::error::Result;
use simtool_fingerprint::file::FileFormat;
use simtool_read::Corpus;
use std::io::Write;
use std::path::Path;

/// Writes the fingerprints in `made` to `out` in the given format. `path` names the output in error messages.
///
/// # Errors
///
/// `out` fails, some documents have no fingerprint and the format cannot mark that, or this build cannot
/// write the format.
pub(crate) fn write_fingerprints(
    collection: &dyn Corpus,
    made: &FingerprintedCollection,
    format: &FileFormat,
    path: &Path,
    out: &mut dyn Write,
) -> Result<()> {
    let name = |row| document_name(collection, &made.summary.ids, row);
    // If the format cannot mark documents without a fingerprint, the error comes before anything is written.
    format.check_missing(&made.rows, path)?;
    format.write(&made.rows, &name, path, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::config::Config;
    use crate::pipeline::one_call::fingerprint;
    use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
    use simtool_read::Texts;

    #[test]
    fn an_array_has_one_word_for_each_narrow_row() {
        let corpus = Texts::of(&["a rose is a rose"]);
        let method = "simhash".parse().unwrap();
        let mut made = fingerprint(&corpus, &Config { method, ..Config::default() }).unwrap();
        let mut rows = RowsBuilder::new(Shape::bits(16));
        rows.push(Some(&[7]));
        made.rows = rows.finish();
        let (path, mut out) = (Path::new("f.npy"), Vec::new());
        let format = FileFormat::for_output(path).unwrap();
        write_fingerprints(&corpus, &made, format, path, &mut out).unwrap();
        let header = String::from_utf8_lossy(&out[..128]).into_owned();
        assert!(header.contains("'shape': (1,)"), "{header}");
        assert!(out.len() == 136 && out.ends_with(&[7, 0, 0, 0, 0, 0, 0, 0]));
    }
}
