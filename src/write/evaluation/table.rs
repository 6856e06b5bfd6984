//! Writes an evaluation as a table for the terminal. The table has one line for each method.

use simtool_model::evaluation::{Curve, Evaluated, Evaluation, Measured, Spread};
use std::io::{self, Write};

/// Column of the table that compares methods: the name of the column, and its text in the line of each
/// method.
pub(super) type Column = (String, Vec<String>);

/// Writes the evaluation as a table of aligned text: a line with the names of the columns, and a line for
/// each method.
///
/// # Errors
///
/// `out` fails.
pub fn write_table(out: &mut dyn Write, evaluation: &Evaluation) -> io::Result<()> {
    let columns = columns(evaluation);
    // The heading is treated as a line without a number, so that it is measured and aligned like the others.
    let cell = |line: Option<usize>, (name, cells): &Column| {
        line.and_then(|line| cells.get(line).cloned()).unwrap_or_else(|| name.clone())
    };
    let width = |(name, cells): &Column| {
        // Names may have letters of more than one byte, so characters are counted.
        let widths = cells.iter().chain([name]).map(|cell| cell.chars().count());
        widths.max().unwrap_or(0)
    };
    for line in std::iter::once(None).chain((0..evaluation.methods.len()).map(Some)) {
        let cells = columns.iter().enumerate().map(|(number, column)| {
            let (cell, width) = (cell(line, column), width(column));
            // Names are aligned to the left, numbers to the right.
            if number == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

/// Returns the columns of the table that compares methods. The table on the HTML page has the same columns.
pub(super) fn columns(evaluation: &Evaluation) -> Vec<Column> {
    let methods = &evaluation.methods;
    let of = |name: &str, cell: &dyn Fn(&Evaluated) -> String| {
        (name.to_owned(), methods.iter().map(cell).collect::<Vec<_>>())
    };
    let mut columns = vec![of("method", &|method| method.name.clone())];
    // For one collection, there is room for more figures. Several collections need a column each.
    if let [_] = &evaluation.collections[..] {
        let figure = |figure: fn(&Measured) -> String| {
            move |method: &Evaluated| method.measured.first().map_or(String::new(), figure)
        };
        columns.push(of("best F1", &figure(|m| best(&m.curve))));
        let precision = |m: &Measured| format!("{:.3}", m.curve.counts[m.curve.best()].precision());
        let recall = |m: &Measured| format!("{:.3}", m.curve.counts[m.curve.best()].recall());
        columns.push(of("precision", &figure(precision)));
        columns.push(of("recall", &figure(recall)));
        columns.push(of("F1 as given", &figure(|m| f1_at(&m.curve, m.own))));
    } else {
        for (number, collection) in evaluation.collections.iter().enumerate() {
            let cell = |method: &Evaluated| {
                method.measured.get(number).map_or(String::new(), |m| best(&m.curve))
            };
            columns.push(of(&collection.name, &cell));
        }
        columns.push(of("mean", &|method| format!("{:.3}", method.mean_best_f1())));
        columns.push(of("one threshold", &|method| {
            let shown = method.measured.first().map(|m| m.curve.scale.shown(method.common.step));
            format!("{:.3} @{}", method.common.mean_f1, shown.unwrap_or_default())
        }));
        columns.push(of("left out", &|method| {
            method.common.left_out.map_or(String::new(), |f1| format!("{f1:.3}"))
        }));
    }
    if methods.iter().any(|method| !method.by_seed.is_empty()) {
        columns.push(of("by hash seed", &|method| {
            let shown = |spread: Spread| format!("{:.3} ± {:.3}", spread.mean, spread.deviation);
            method.spread().map_or(String::new(), shown)
        }));
    }
    columns.push(of("bytes", &|method| method.bytes_per_document().to_string()));
    columns.push(of("seconds", &|method| format!("{:.2}", method.seconds())));
    columns
}

/// Returns the best F1 of a curve and the threshold with this F1, as text.
fn best(curve: &Curve) -> String {
    f1_at(curve, curve.best())
}

fn f1_at(curve: &Curve, step: usize) -> String {
    format!("{:.3} @{}", curve.counts[step].f1(), curve.scale.shown(step))
}
