//! One picture of an evaluation, for papers and slides: F1 of all methods, and their curves of precision and recall.
//!
//! The picture is SVG without a style sheet. All colours are attributes, so every program draws it in the same way.

use super::plots::{PLAIN_TEXT, dashes};
use crate::write::report::EscapedLine;
use simtool_model::evaluation::{Counts, Evaluated, Evaluation};
use std::fmt::Write as _;

/// Width of the picture, in the units of its `viewBox`.
const WIDTH: f64 = 968.0;
/// Vertical coordinate of the upper edge of both parts of the picture: the bars and the curves. The titles of the parts
/// are above.
const TOP: f64 = 44.0;
/// Height below the bars and the curves, with the labels and the names of the axes.
const BELOW: f64 = 48.0;
/// Height of the bar of a method, with the space around it.
const ROW: f64 = 28.0;
/// Minimum height of the bars and of the curves.
const LEAST_HEIGHT: f64 = 300.0;
/// Horizontal range of the bars. The names of the methods are to the left of it, with room for [`NAME`] characters of
/// a wide font.
const BARS: Range = Range { from: 210.0, to: 430.0 };
/// Horizontal range of the curves. It begins so far to the right that the name of the vertical axis does not touch the
/// number at the end of the longest bar.
const CURVES: Range = Range { from: 532.0, to: 944.0 };
/// Maximum number of characters of a method's name that are shown.
const NAME: usize = 26;
/// Colours of the methods. If there are more methods, the colours are used again. The curve of each method has its own
/// dashes, and its bar is a frame with the same dashes, so that methods can be distinguished without colours.
const COLOURS: [&str; 10] = [
    "#3b6ea8", "#d9822b", "#2f7f79", "#b23a48", "#8a6bb1", "#8c6d1f", "#4f7d2c", "#c2578f",
    "#5b5f66", "#1f9bb5",
];

/// Range of horizontal or vertical coordinates of the picture.
struct Range {
    from: f64,
    to: f64,
}

impl Range {
    /// Converts a value from 0 to 1 to a coordinate: 0 becomes `from`, and 1 becomes `to`.
    fn at(&self, value: f64) -> f64 {
        self.from + value * (self.to - self.from)
    }
}

/// Returns an SVG picture of an evaluation: F1 of all methods, and their curves of precision and recall.
#[must_use]
pub fn overview(evaluation: &Evaluation) -> String {
    let inner = (evaluation.methods.len() as f64 * ROW).max(LEAST_HEIGHT);
    let height = TOP + inner + BELOW;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} \
         {height}\" {PLAIN_TEXT}>\n<title>F1, precision and recall of methods</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    // The range from the bottom to the top, since SVG counts from the top.
    let up = Range { from: TOP + inner, to: TOP };
    push_bars(&mut svg, evaluation, &up);
    push_curves(&mut svg, evaluation, &up);
    svg.push_str("</svg>\n");
    svg
}

/// Appends a bar with the F1 of each method. `up` is the vertical range of the bars. Errors of writing are ignored in
/// this file, because writing to a string cannot fail.
fn push_bars(svg: &mut String, evaluation: &Evaluation, up: &Range) {
    let title = match evaluation.collections.len() {
        0 | 1 => "F1 at the best threshold".to_owned(),
        count => format!("F1 at left-out thresholds, mean of {count} collections"),
    };
    push_title(svg, f64::midpoint(20.0, BARS.to), &title);
    for mark in [0.0, 0.25, 0.5, 0.75, 1.0] {
        push_upright(svg, BARS.at(mark), up, mark);
    }
    let row = (up.from - up.to) / evaluation.methods.len().max(1) as f64;
    for (number, method) in evaluation.methods.iter().enumerate() {
        let (f1, middle) = (method.headline_f1(), up.to + (number as f64 + 0.5) * row);
        let thickness = (row * 0.6).min(18.0);
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text><rect x=\"{:.1}\" y=\"{:.1}\" \
             width=\"{:.1}\" height=\"{thickness:.1}\" fill=\"{}\"{}/>",
            BARS.from - 8.0,
            middle + 4.0,
            EscapedLine(shortened(&method.name).as_bytes()),
            BARS.from,
            middle - thickness / 2.0,
            BARS.at(f1) - BARS.from,
            COLOURS[number % COLOURS.len()],
            frame(number)
        );
        let mut end = f1;
        if let Some(spread) = method.spread() {
            end = end.max(spread.most);
            let _ = write!(
                svg,
                "<line x1=\"{:.1}\" x2=\"{:.1}\" y1=\"{middle:.1}\" y2=\"{middle:.1}\" stroke=\"#1d2128\" \
                 stroke-width=\"2\"/>",
                BARS.at(spread.least),
                BARS.at(spread.most)
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"start\">{f1:.3}</text>",
            BARS.at(end) + 5.0,
            middle + 4.0
        );
    }
}

/// Returns SVG attributes that draw the bar of method number `number` as a frame with the dashes of its curve. So
/// readers can see which curve belongs to the bar. Empty if the curve is not dashed.
fn frame(number: usize) -> String {
    let dashes = dashes(number);
    if dashes.is_empty() {
        return dashes;
    }
    format!(" fill-opacity=\"0.3\" stroke=\"{}\"{dashes}", COLOURS[number % COLOURS.len()])
}

/// Appends a curve of precision over recall for each method, counted over the pairs of all collections. A dot marks the
/// threshold with the greatest mean F1. `up` is the vertical range of the curves.
fn push_curves(svg: &mut String, evaluation: &Evaluation, up: &Range) {
    push_title(svg, CURVES.at(0.5), "Precision and recall at all thresholds");
    for mark in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = up.at(mark);
        push_upright(svg, CURVES.at(mark), up, mark);
        let _ = writeln!(
            svg,
            "<line x1=\"{}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#e3e1da\"/><text x=\"{}\" y=\"{:.1}\" \
             text-anchor=\"end\">{mark}</text>",
            CURVES.from,
            CURVES.to,
            CURVES.from - 6.0,
            y + 4.0
        );
    }
    for (number, method) in evaluation.methods.iter().enumerate() {
        let (counts, colour) = (pooled(method), COLOURS[number % COLOURS.len()]);
        let place = |counts: Counts| {
            let has_pairs = counts.true_found + counts.false_found > 0;
            let (across, high) = (CURVES.at(counts.recall()), up.at(counts.precision()));
            // Precision is not defined if no pair is found, so such a threshold has no point.
            has_pairs.then(|| [across, high].map(|coordinate| format!("{coordinate:.1}")))
        };
        let mut points: Vec<String> =
            counts.iter().filter_map(|&counts| Some(place(counts)?.join(","))).collect();
        points.dedup();
        let dashes = dashes(number);
        let _ = write!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"{dashes} \
             points=\"{}\"/>",
            points.join(" ")
        );
        if let Some([x, y]) = counts.get(method.common.step).and_then(|&counts| place(counts)) {
            let _ = write!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"/>");
        }
        svg.push('\n');
    }
    let (bottom, middle) = (up.from + 34.0, f64::midpoint(up.from, up.to));
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{bottom:.1}\">recall (dot: best threshold for all collections)</text>\
         <text transform=\"translate({:.1} {middle:.1}) rotate(-90)\">precision</text>",
        CURVES.at(0.5),
        CURVES.from - 42.0
    );
}

/// Appends the title of a part of the picture, above the part.
fn push_title(svg: &mut String, x: f64, title: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"24\" font-size=\"14\" fill=\"#1d2128\">{title}</text>"
    );
}

/// Appends a vertical grid line at the coordinate `x`, with the number `mark` below it. `up` is its vertical range.
fn push_upright(svg: &mut String, x: f64, up: &Range, mark: f64) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{}\" y2=\"{}\" stroke=\"#e3e1da\"/><text x=\"{x:.1}\" \
         y=\"{:.1}\">{mark}</text>",
        up.to,
        up.from,
        up.from + 16.0
    );
}

/// Returns for each threshold the counts of pairs, added up over all collections. Leaves out thresholds that some
/// collection lacks.
fn pooled(method: &Evaluated) -> Vec<Counts> {
    let curves = || method.measured.iter().map(|measured| &measured.curve.counts);
    let steps = curves().map(Vec::len).min().unwrap_or(0);
    let sum = |step: usize| {
        curves().fold(Counts::default(), |sum, counts| Counts {
            true_found: sum.true_found + counts[step].true_found,
            false_found: sum.false_found + counts[step].false_found,
            positives: sum.positives + counts[step].positives,
        })
    };
    (0..steps).map(sum).collect()
}

/// Returns a name with at most [`NAME`] characters. A longer name is cut and ends in `…`.
fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_look_like_their_curves() {
        assert_eq!((dashes(0), frame(0)), (String::new(), String::new()));
        assert_eq!(dashes(12), " stroke-dasharray=\"5 3 5 8\"");
        let expected = format!(" fill-opacity=\"0.3\" stroke=\"{}\"{}", COLOURS[2], dashes(12));
        assert_eq!(frame(12), expected);
        // Of 70 methods, no two have the same colour and the same dashes.
        let looks = (0..70).map(|number| (COLOURS[number % COLOURS.len()], dashes(number)));
        assert_eq!(looks.collect::<std::collections::BTreeSet<_>>().len(), 70);
    }
}
