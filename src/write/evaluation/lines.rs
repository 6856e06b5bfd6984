//! Writes an evaluation as tab-separated lines, one for each threshold at which a count changes.

use crate::write::tsv_field::write_field;
use simtool_model::evaluation::Evaluation;
use std::io::{self, Write};

/// Writes a line with the names of the fields. Then writes a line for each threshold at which the counts of a
/// method change. If there are several collections, the first field of each line is the name of the
/// collection.
///
/// # Errors
///
/// `out` fails.
pub fn write_lines(out: &mut dyn Write, evaluation: &Evaluation) -> io::Result<()> {
    let has_several = evaluation.collections.len() > 1;
    let columns =
        "method\tparameters\tthreshold\tprecision\trecall\tf1\tbest\tbytes_per_document\tseconds";
    writeln!(out, "{}{columns}", if has_several { "collection\t" } else { "" })?;
    for method in &evaluation.methods {
        for (collection, measured) in evaluation.collections.iter().zip(&method.measured) {
            let curve = &measured.curve;
            let best = curve.best();
            for (step, counts) in curve.changes(best) {
                if has_several {
                    write_field(out, collection.name.as_bytes())?;
                    out.write_all(b"\t")?;
                }
                write_field(out, method.name.as_bytes())?;
                out.write_all(b"\t")?;
                write_field(out, method.parameters.as_bytes())?;
                writeln!(
                    out,
                    "\t{}\t{:.6}\t{:.6}\t{:.6}\t{}\t{}\t{:.6}",
                    curve.scale.shown(step),
                    counts.precision(),
                    counts.recall(),
                    counts.f1(),
                    u8::from(step == best),
                    measured.bytes_per_document,
                    measured.seconds
                )?;
            }
        }
    }
    Ok(())
}
