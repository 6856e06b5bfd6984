//! Plots the curves of an evaluation as SVG: precision over recall, and F1 over thresholds.

use crate::write::report::EscapedLine;
use simtool_model::evaluation::{Curve, Evaluated, Evaluation, Scale};
use std::fmt::Write as _;

/// Width of a plot, in the units of its `viewBox`.
const WIDTH: f64 = 460.0;
/// Height of a plot, in the units of its `viewBox`.
const HEIGHT: f64 = 300.0;
/// Width of the left margin, which contains the vertical axis and its numbers.
const LEFT: f64 = 66.0;
/// Width of the right margin.
const RIGHT: f64 = 16.0;
/// Height of the top margin.
const TOP: f64 = 16.0;
/// Height of the bottom margin, which contains the labels and the name of the horizontal axis.
const BELOW: f64 = 44.0;
/// Number of different colours of curves. If a plot has more curves, colours are used again.
const COLOURS: usize = 6;
/// Patterns of curves: the lengths of their dashes and gaps, which distinguish the curves without colours. If two
/// curves are equal, the earlier one is visible in the gaps of the later one.
///
/// Each curve has the next pattern and the next colour. The number of patterns, 7, has no common factor with the
/// numbers of colours, 6 here and 10 in the overview. So at least the first 42 curves all look different.
const DASHES: [&str; 7] = ["", "8 4", "2 4", "10 3 2 3", "16 6", "5 3 5 8", "2 2 6 4"];
/// Minimum F1 at the end of a plot of F1 over thresholds: the plot ends at the last threshold at which some curve has
/// at least this F1.
const LEAST_F1: f64 = 0.02;

/// Attributes of the texts of a plot in a separate file, which has no style sheet.
pub(super) const PLAIN_TEXT: &str = "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#626873\" text-anchor=\"middle\"";
/// For each CSS class of a plot, the SVG attributes that replace it in a separate file. Programs for papers draw
/// literal colours, but not all of them support style sheets.
const PLAIN: [(&str, &str); 6] = [
    ("mark", "text-anchor=\"end\""),
    ("grid", "stroke=\"#e3e1da\""),
    ("base", "stroke=\"#626873\""),
    ("back", "fill=\"#ffffff\""),
    ("curve", "fill=\"none\" stroke-width=\"2\" stroke-linejoin=\"round\""),
    ("dot", "stroke=\"none\""),
];
/// Colours of the curves in separate files.
const PLAIN_COLOURS: [&str; COLOURS] =
    ["#3b6ea8", "#d9822b", "#2f7f79", "#b23a48", "#8a6bb1", "#8c6d1f"];

/// Style sheet with the colours of curves in light mode.
pub(super) const CURVES: &str = ".curve{fill:none;stroke-width:2;stroke-linejoin:round}\
    .dot{stroke:none}.c0{--c:#3b6ea8}.c1{--c:#d9822b}.c2{--c:#2f7f79}.c3{--c:#b23a48}\
    .c4{--c:#8a6bb1}.c5{--c:#8c6d1f}.curve{stroke:var(--c)}.dot{fill:var(--c)}";
/// Style sheet with the colours of curves in dark mode.
pub(super) const DARK_CURVES: &str = ".c0{--c:#74a5de}.c1{--c:#e59a4f}.c2{--c:#4fb0a8}\
    .c3{--c:#e0707c}.c4{--c:#b79be0}.c5{--c:#cdb25a}";

/// Returns the SVG attributes of an element with the CSS class `class`. On a page, this is the attribute `class`
/// itself. In a separate file (`is_alone`), [`PLAIN`] has the attributes for the class.
fn drawn(class: &str, is_alone: bool) -> String {
    let plain = PLAIN.iter().find(|(name, _)| *name == class && is_alone);
    plain.map_or_else(|| format!("class=\"{class}\""), |(_, attributes)| (*attributes).to_owned())
}

/// A plot that is written to a separate file.
#[derive(Clone, Debug)]
pub struct PlotFile {
    /// Name of the file of the plot, for example `01-minhash-64-f1.svg`.
    pub name: String,
    /// Content of the file, which is an SVG image.
    pub svg: String,
}

/// Returns the names of the two plot files of `method`: precision over recall, and F1 over thresholds.
/// `number` is the position of the method in the evaluation, counted from 0.
#[must_use]
pub fn plot_names(number: usize, method: &str) -> [String; 2] {
    // Methods contain colons and other characters that some file systems do not allow in names.
    let plain = method.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    // Long settings could exceed the maximum length of file names. The number in front keeps names different.
    let name: String = plain.take(60).collect();
    ["precision-recall", "f1"].map(|plot| format!("{:02}-{name}-{plot}.svg", number + 1))
}

/// Returns two plots for each method: precision over recall, and F1 over thresholds.
#[must_use]
pub fn plot_files(evaluation: &Evaluation) -> Vec<PlotFile> {
    let of_method = |(number, method): (usize, &Evaluated)| {
        let [over_recall, by_threshold] = plot_names(number, &method.name);
        let title = |what: &str| format!("{what}, {}", method.name);
        [
            PlotFile {
                name: over_recall,
                svg: precision_recall(evaluation, method).svg(&title("Precision and recall"), true),
            },
            PlotFile {
                name: by_threshold,
                svg: f1_by_threshold(evaluation, method).svg(&title("F1 by threshold"), true),
            },
        ]
    };
    evaluation.methods.iter().enumerate().flat_map(of_method).collect()
}

/// Curves and labels of a plot. The coordinates of points are from 0 to 1. The first goes from left to right,
/// and the second from bottom to top.
pub(super) struct Plot {
    across: &'static str,
    up: &'static str,
    /// Labels below the plot. Each entry has the horizontal coordinate of the label, from 0 to 1, and its
    /// text.
    marks: Vec<(f64, String)>,
    curves: Vec<PlottedCurve>,
}

struct PlottedCurve {
    name: String,
    points: Vec<(f64, f64)>,
    /// Point at the threshold with the best F1, and its tooltip. `None` if this threshold has no point.
    best: Option<((f64, f64), String)>,
}

/// Returns the plot of precision over recall for `method`. There is one curve for each collection. A curve
/// has a point for each threshold at which the method finds at least one pair.
pub(super) fn precision_recall(evaluation: &Evaluation, method: &Evaluated) -> Plot {
    let curve = |curve: &Curve| {
        // Precision is not defined if no pair is found, so such a threshold has no point.
        let found = |step: &usize| {
            let counts = curve.counts[*step];
            counts.true_found + counts.false_found > 0
        };
        let point = |step: usize| {
            let counts = curve.counts[step];
            (counts.recall(), counts.precision())
        };
        (0..curve.counts.len()).filter(found).map(|step| (step, point(step))).collect()
    };
    let marks = (0..=5).map(|mark| f64::from(mark) / 5.0);
    let marks = marks.map(|mark| (mark, format!("{mark:.1}"))).collect();
    Plot { across: "recall", up: "precision", marks, curves: curves(evaluation, method, curve) }
}

/// Returns the plot of F1 over thresholds for `method`. It has the thresholds from the strictest to the last one
/// at which some curve has an F1 of at least [`LEAST_F1`], and their numbers grow from left to right.
pub(super) fn f1_by_threshold(evaluation: &Evaluation, method: &Evaluated) -> Plot {
    let last_shown = |curve: &Curve| {
        curve.counts.iter().rposition(|counts| counts.f1() >= LEAST_F1).unwrap_or(0)
    };
    let last = method.measured.iter().map(|measured| last_shown(&measured.curve)).max();
    // The last step is at least 1, because `place` divides by it.
    let last = last.unwrap_or(0).max(1);
    let scale = method.measured.first().map_or(Scale::Distance, |m| m.curve.scale);
    // Numbers grow from left to right. The strictest threshold is the smallest distance or the greatest similarity.
    let place = |step: usize| match scale {
        Scale::Distance => step as f64 / last as f64,
        Scale::Similarity => 1.0 - step as f64 / last as f64,
    };
    let curve = |curve: &Curve| {
        let shown = curve.counts.iter().take(last + 1).enumerate();
        shown.map(|(step, counts)| (step, (place(step), counts.f1()))).collect()
    };
    let marks = (0..=last).step_by(mark_step(last));
    let marks = marks.map(|step| (place(step), scale.shown(step))).collect();
    let across = match scale {
        Scale::Distance => "maximum distance",
        Scale::Similarity => "minimum similarity",
    };
    Plot { across, up: "F1", marks, curves: curves(evaluation, method, curve) }
}

/// Returns the distance between the marks of an axis of thresholds from 0 to `last`: a round number, for which at most
/// six marks are on the axis and the marks do not overlap.
fn mark_step(last: usize) -> usize {
    let powers = std::iter::successors(Some(1_usize), |power| power.checked_mul(10));
    let mut steps = powers.flat_map(|power| [1, 2, 5].map(|factor| factor * power));
    steps.find(|step| last / step <= 5).unwrap_or(last)
}

/// Returns the curve of `method` for each collection. `points` converts the counts of pairs at all thresholds
/// to points. Each point comes with the number of its threshold.
fn curves(
    evaluation: &Evaluation,
    method: &Evaluated,
    points: impl Fn(&Curve) -> Vec<(usize, (f64, f64))>,
) -> Vec<PlottedCurve> {
    let curve = |(number, measured): (usize, &simtool_model::evaluation::Measured)| {
        let curve = &measured.curve;
        let (points, best) = (points(curve), curve.best());
        let name = evaluation.collections.get(number).map_or("", |of| of.name.as_str());
        let tooltip = format!(
            "{name}: F1 {:.3} at {} {}",
            curve.counts[best].f1(),
            curve.scale.name(),
            curve.scale.shown(best)
        );
        let at_best = points.iter().find(|(step, _)| *step == best);
        PlottedCurve {
            name: name.to_owned(),
            best: at_best.map(|(_, point)| (*point, tooltip)),
            points: points.into_iter().map(|(_, point)| point).collect(),
        }
    };
    method.measured.iter().enumerate().map(curve).collect()
}

impl Plot {
    /// Returns the plot as SVG. `is_alone` says whether the plot is a separate file. Such a file has literal colours
    /// instead of a style sheet. Errors of writing are ignored, because writing to a string cannot fail.
    pub(super) fn svg(&self, title: &str, is_alone: bool) -> String {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BELOW);
        let title = EscapedLine(title.as_bytes());
        let mut svg = "<svg".to_owned();
        if is_alone {
            let _ = write!(
                svg,
                " xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" {PLAIN_TEXT}"
            );
        }
        let _ =
            writeln!(svg, " viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\"><title>{title}</title>");
        if is_alone {
            let back = drawn("back", true);
            let _ = writeln!(svg, "<rect {back} width=\"{WIDTH}\" height=\"{HEIGHT}\"/>");
        }
        for mark in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let line = drawn(if mark == 0.0 { "base" } else { "grid" }, is_alone);
            let _ = writeln!(
                svg,
                "<line {line} x1=\"{LEFT}\" x2=\"{right}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/>\
                 <text {3} x=\"{1}\" y=\"{2:.1}\">{mark:.2}</text>",
                y(mark),
                LEFT - 6.0,
                y(mark) + 4.0,
                drawn("mark", is_alone)
            );
        }
        for (mark, shown) in &self.marks {
            let (x, y) = (x(*mark), bottom + 20.0);
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\">{shown}</text>");
        }
        for (number, curve) in self.curves.iter().enumerate() {
            push_curve(&mut svg, number, curve, is_alone);
        }
        let (middle, up) = (f64::midpoint(LEFT, right), f64::midpoint(TOP, bottom));
        let _ = write!(
            svg,
            "<text x=\"{middle}\" y=\"{}\">{}</text>\
             <text transform=\"translate(13 {up}) rotate(-90)\">{}</text>\n</svg>\n",
            HEIGHT - 8.0,
            self.across,
            self.up
        );
        svg
    }
}

/// Converts a horizontal coordinate from 0 to 1 to the units of the SVG.
fn x(across: f64) -> f64 {
    LEFT + across * (WIDTH - RIGHT - LEFT)
}

/// Converts a vertical coordinate from 0 to 1 to the units of the SVG, which count from the top.
fn y(up: f64) -> f64 {
    let bottom = HEIGHT - BELOW;
    bottom - up * (bottom - TOP)
}

/// Returns the attribute with the dashes of the curve at position `number`. The first curve has none.
pub(super) fn dashes(number: usize) -> String {
    match DASHES[number % DASHES.len()] {
        "" => String::new(),
        lengths => format!(" stroke-dasharray=\"{lengths}\""),
    }
}

/// Returns a short line that looks like the curve at position `number`, for a legend on a page.
pub(super) fn sample_line(number: usize) -> String {
    format!(
        "<svg class=\"sample\" viewBox=\"0 0 40 8\" aria-hidden=\"true\"><g class=\"c{}\"><path class=\"curve\"{} \
         d=\"M0 4H40\"/></g></svg>",
        number % COLOURS,
        dashes(number)
    )
}

/// Appends a curve to `svg`, with a dot at the threshold with the best F1. `number` is the position of the
/// curve in the plot and chooses its colour.
fn push_curve(svg: &mut String, number: usize, curve: &PlottedCurve, is_alone: bool) {
    let (colour, dashes) = (number % COLOURS, dashes(number));
    let points: Vec<String> =
        curve.points.iter().map(|&(across, up)| format!("{:.1},{:.1}", x(across), y(up))).collect();
    let (line, dot) = if is_alone {
        let colour = PLAIN_COLOURS[colour];
        (format!(" stroke=\"{colour}\""), format!(" fill=\"{colour}\""))
    } else {
        (String::new(), String::new())
    };
    let group = if is_alone { String::new() } else { format!(" class=\"c{colour}\"") };
    let _ = writeln!(
        svg,
        "<g{group}><title>{}</title><polyline {}{line}{dashes} points=\"{}\"/>",
        EscapedLine(curve.name.as_bytes()),
        drawn("curve", is_alone),
        points.join(" ")
    );
    if let Some(((across, up), tooltip)) = &curve.best {
        let (x, y) = (x(*across), y(*up));
        let (dots, tooltip) = (drawn("dot", is_alone), EscapedLine(tooltip.as_bytes()));
        let _ = write!(
            svg,
            "<circle {dots}{dot} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"><title>{tooltip}</title></circle>"
        );
    }
    svg.push_str("</g>\n");
}
