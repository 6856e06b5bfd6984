//! Writes an evaluation as one JSON object.

use simtool_base::json_text::write_string;
use simtool_model::evaluation::{
    Counts, Curve, Evaluated, Evaluation, Measured, SeededF1, Spread, WrongPair,
};
use std::io::{self, Write};

/// Writes the results of all methods on all collections at all thresholds, and the wrong pairs of the best
/// method.
///
/// # Errors
///
/// `out` fails.
pub fn write_json(out: &mut dyn Write, evaluation: &Evaluation) -> io::Result<()> {
    out.write_all(b"{\"collections\":[")?;
    for (number, collection) in evaluation.collections.iter().enumerate() {
        separate(out, number)?;
        field(out, "name", collection.name.as_bytes())?;
        write!(
            out,
            ",\"documents\":{},\"positives\":{},\"set_aside\":{}}}",
            collection.documents, collection.positives, collection.set_aside
        )?;
    }
    out.write_all(b"\n],\"methods\":[")?;
    for (number, method) in evaluation.methods.iter().enumerate() {
        separate(out, number)?;
        write_method(out, evaluation, method)?;
    }
    out.write_all(b"\n],\"wrong\":[")?;
    for (number, wrong) in evaluation.wrong.iter().enumerate() {
        separate(out, number)?;
        write_wrong(out, evaluation, wrong)?;
    }
    out.write_all(b"\n]}\n")
}

/// Starts entry `number` of a JSON list of objects, on a new line. Entries are counted from 0. If another
/// entry precedes it, a comma separates the two.
fn separate(out: &mut dyn Write, number: usize) -> io::Result<()> {
    out.write_all(if number == 0 { b"\n{" } else { b",\n{" })
}

fn field(out: &mut dyn Write, name: &str, value: &[u8]) -> io::Result<()> {
    write!(out, "\"{name}\":")?;
    write_string(out, value)
}

fn write_method(
    out: &mut dyn Write,
    evaluation: &Evaluation,
    method: &Evaluated,
) -> io::Result<()> {
    field(out, "method", method.name.as_bytes())?;
    out.write_all(b",")?;
    field(out, "parameters", method.parameters.as_bytes())?;
    let common = &method.common;
    // The scale depends only on the method, so it is the same for all collections.
    let scale = method.measured.first().map(|measured| measured.curve.scale);
    let threshold = scale.map_or(0.0, |scale| scale.threshold(common.step));
    write!(out, ",\"mean_best_f1\":{:.6}", method.mean_best_f1())?;
    write!(out, ",\"common\":{{\"threshold\":{threshold},\"mean_f1\":{:.6}", common.mean_f1)?;
    if let Some(left_out) = common.left_out {
        write!(out, ",\"left_out_mean_f1\":{left_out:.6}")?;
    }
    out.write_all(b"}")?;
    if let Some(spread) = method.spread() {
        write_spread(out, method, spread)?;
    }
    out.write_all(b",\"collections\":[")?;
    for (number, (collection, measured)) in
        evaluation.collections.iter().zip(&method.measured).enumerate()
    {
        separate(out, number)?;
        field(out, "collection", collection.name.as_bytes())?;
        write_measured(out, measured)?;
    }
    out.write_all(b"]}")
}

/// Writes the F1 of a method for each seed of its hash functions, and then the spread of these values. The spread also
/// includes the F1 with the usual hash functions.
fn write_spread(out: &mut dyn Write, method: &Evaluated, spread: Spread) -> io::Result<()> {
    let Spread { mean, deviation, least, most } = spread;
    write!(
        out,
        ",\"by_hash_seed\":{{\"mean_f1\":{mean:.6},\"deviation\":{deviation:.6},\"least\":{least:.6},\
         \"most\":{most:.6},\"seeds\":["
    )?;
    for (number, SeededF1 { seed, f1 }) in method.by_seed.iter().enumerate() {
        separate(out, number)?;
        write!(out, "\"seed\":{seed},\"f1\":{f1:.6}}}")?;
    }
    out.write_all(b"]}")
}

fn write_measured(out: &mut dyn Write, measured: &Measured) -> io::Result<()> {
    let Measured { curve, own, unlisted, bytes_per_document, seconds } = measured;
    let best = curve.best();
    write!(out, ",\"scale\":\"{}\"", curve.scale.name())?;
    for (name, step) in [("best", best), ("own", *own)] {
        write!(out, ",\"{name}\":")?;
        write_threshold(out, curve, step, curve.counts[step])?;
    }
    write!(
        out,
        ",\"unlisted\":{unlisted},\"bytes_per_document\":{bytes_per_document},\"thresholds\":["
    )?;
    for (number, (step, counts)) in curve.changes(best).enumerate() {
        out.write_all(if number == 0 { b"" } else { b"," })?;
        write_threshold(out, curve, step, counts)?;
    }
    // Times differ from run to run. They are the last field, so that they are easy to remove before files are
    // compared.
    write!(out, "],\"seconds\":{seconds:.6}}}")
}

fn write_threshold(
    out: &mut dyn Write,
    curve: &Curve,
    step: usize,
    counts: Counts,
) -> io::Result<()> {
    write!(
        out,
        "{{\"threshold\":{},\"true_found\":{},\"false_found\":{},\"precision\":{:.6},\
         \"recall\":{:.6},\"f1\":{:.6}}}",
        curve.scale.threshold(step),
        counts.true_found,
        counts.false_found,
        counts.precision(),
        counts.recall(),
        counts.f1()
    )
}

fn write_wrong(out: &mut dyn Write, evaluation: &Evaluation, wrong: &WrongPair) -> io::Result<()> {
    let collection = evaluation.collections.get(wrong.collection);
    field(out, "collection", collection.map_or(&b""[..], |of| of.name.as_bytes()))?;
    for (name, value) in [
        ("kind", if wrong.is_true { "missed" } else { "found" }),
        ("closeness", &wrong.closeness),
        ("similarity", &wrong.similarity),
    ] {
        out.write_all(b",")?;
        field(out, name, value.as_bytes())?;
    }
    for (name, id) in ["a", "b"].into_iter().zip(&wrong.ids) {
        out.write_all(b",")?;
        field(out, name, id)?;
    }
    out.write_all(b"}")
}
