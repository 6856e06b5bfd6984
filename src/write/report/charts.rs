//! Draws bar charts as inline SVG. A table with the same numbers follows each chart.

use super::escape::EscapedLine;
use simtool_base::quantity::{counted, grouped};
use std::io::{self, Write};

/// Width of a chart, in the units of its `viewBox`.
const WIDTH: f64 = 560.0;
/// Height of a chart, in the units of its `viewBox`.
const HEIGHT: f64 = 240.0;
/// Width of the left margin, which contains the vertical axis and its numbers.
const LEFT: f64 = 86.0;
/// Width of the right margin.
const RIGHT: f64 = 28.0;
/// Height of the top margin.
const TOP: f64 = 18.0;
/// Height of the bottom margin, which contains the labels of the bars.
const BELOW: f64 = 44.0;
/// Vertical coordinate of the line on which the bars begin.
const BASE: f64 = HEIGHT - BELOW;

/// Scale of the vertical axis of a chart. It defines how the height of a bar follows from its count.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BarScale {
    /// The height of a bar is proportional to the count.
    Linear,
    /// The height of a bar is proportional to the logarithm of the count.
    Logarithmic,
}

/// A bar of a chart: its label and its count.
pub(super) struct Bar {
    /// Name of the bar in words, for the table of numbers under the chart and for the tooltip.
    pub(super) name: String,
    /// Label below the bar on the axis. Empty for some bars, so that labels do not overlap.
    pub(super) label: String,
    pub(super) count: u64,
    /// Whether this bar gets another colour than the other bars of the chart.
    pub(super) is_apart: bool,
}

/// Title, labels and bars of a bar chart.
pub(super) struct BarChart<'a> {
    /// Identifier of the chart, unique on the page. The HTML refers to the title of the chart by this name.
    pub(super) key: &'a str,
    /// Heading above the chart.
    pub(super) title: &'a str,
    /// Explanation of how to read the chart, in one sentence.
    pub(super) note: &'a str,
    /// Name of the axis below the bars.
    pub(super) axis: &'a str,
    /// Noun for the counted things in the singular, for example `document`.
    pub(super) noun: &'a str,
    pub(super) scale: BarScale,
    pub(super) bars: Vec<Bar>,
}

impl BarScale {
    /// Returns the count at the end of the vertical axis, and the counts that are marked on the axis. `most`
    /// is the greatest count of a bar.
    fn axis(self, most: u64) -> (u64, Vec<u64>) {
        match self {
            Self::Linear => {
                let step = step(most);
                let end = most.max(1).div_ceil(step).saturating_mul(step);
                (end, (0..=end / step).map(|at| at * step).collect())
            }
            Self::Logarithmic => {
                let mut marks = vec![1_u64];
                // The axis ends at 10 or more, because the height of a bar is divided by the logarithm of the
                // end.
                while marks.last().is_some_and(|&last| last < most.max(2)) {
                    marks.push(marks.last().map_or(1, |last| last.saturating_mul(10)));
                }
                (marks.last().copied().unwrap_or(10), marks)
            }
        }
    }

    /// Returns the height of a bar with this `count`, as a share of the chart from 0 to 1. The vertical axis
    /// ends at the count `end`. A logarithmic axis begins a little below 1, so that a count of 1 is visible.
    fn share(self, count: u64, end: u64) -> f64 {
        match (self, count) {
            (_, 0) => 0.0,
            (Self::Linear, count) => count as f64 / end as f64,
            (Self::Logarithmic, count) => {
                let below = 0.08;
                below + (1.0 - below) * (count as f64).log10() / (end as f64).log10()
            }
        }
    }
}

/// Returns the distance between the marks of an axis from 0 to `most`: a round number for which about four
/// marks fit on the axis.
fn step(most: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            if most <= step.saturating_mul(4) {
                return step;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// The vertical axis of a chart, on which counts from 0 to `end` are shown.
struct CountAxis {
    scale: BarScale,
    end: u64,
}

impl CountAxis {
    /// Returns the vertical coordinate of `count`.
    fn y(&self, count: u64) -> f64 {
        BASE - self.scale.share(count, self.end) * (BASE - TOP)
    }
}

/// A bar with [`Bar::is_apart`] is cut at the top of the chart if it is more than this many times as high as all other
/// bars.
const MOST_APART: u64 = 3;

/// Returns the greatest count that the vertical axis must show. A bar with [`Bar::is_apart`] does not count if it would
/// flatten all other bars.
fn most_in_scale(bars: &[Bar]) -> u64 {
    let most = |is_apart| {
        let of_kind = bars.iter().filter(move |bar| bar.is_apart == is_apart);
        of_kind.map(|bar| bar.count).max().unwrap_or(0)
    };
    let (others, apart) = (most(false), most(true));
    if others > 0 && apart > others.saturating_mul(MOST_APART) { others } else { others.max(apart) }
}

/// Writes a bar chart as an HTML figure.
pub(super) fn write_bars(out: &mut dyn Write, chart: &BarChart<'_>) -> io::Result<()> {
    let BarChart { key, title, note, scale, bars, .. } = chart;
    let (end, marks) = scale.axis(most_in_scale(bars));
    let axis = CountAxis { scale: *scale, end };
    writeln!(
        out,
        "<figure class=\"chart\">\n<figcaption><h3 id=\"{key}\">{title}</h3><p>{note}</p>\
         </figcaption>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-labelledby=\"{key}\">"
    )?;
    for mark in marks {
        write_grid_line(out, mark, axis.y(mark))?;
    }
    // Bars divide the width evenly, but they never become wider than 46 units.
    let pitch = (WIDTH - LEFT - RIGHT) / bars.len().max(1) as f64;
    let width = (pitch * 0.78).min(46.0);
    for (at, bar) in bars.iter().enumerate() {
        let middle = LEFT + pitch * (at as f64 + 0.5);
        let is_cut = bar.count > end;
        let top = axis.y(bar.count.min(end));
        write_bar(out, chart, bar, &BarPlace { middle, width, top, is_cut })?;
    }
    write_axis_names(out, chart)?;
    write_numbers(out, chart)?;
    out.write_all(b"</figure>\n")
}

/// Writes the horizontal line of a marked count at the vertical coordinate `y`, and the count next to it.
fn write_grid_line(out: &mut dyn Write, mark: u64, y: f64) -> io::Result<()> {
    let right = WIDTH - RIGHT;
    let class = if mark == 0 { "base" } else { "grid" };
    writeln!(
        out,
        "<line class=\"{class}\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
         <text class=\"mark\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        LEFT - 8.0,
        y + 4.0,
        grouped(mark)
    )
}

/// Coordinates of a bar: its middle, its width and its upper end.
struct BarPlace {
    middle: f64,
    width: f64,
    top: f64,
    /// Whether the count is beyond the vertical axis.
    is_cut: bool,
}

/// Writes a bar of `chart` with its tooltip and its label.
fn write_bar(
    out: &mut dyn Write,
    chart: &BarChart<'_>,
    bar: &Bar,
    place: &BarPlace,
) -> io::Result<()> {
    let BarPlace { middle, width, top, is_cut } = place;
    let x = middle - width / 2.0;
    let class = if bar.is_apart { "bar apart" } else { "bar" };
    write!(
        out,
        "<g><title>{}: {}</title><rect class=\"{class}\" x=\"{x:.1}\" y=\"{top:.1}\" \
         width=\"{width:.1}\" height=\"{:.1}\" rx=\"2\"/>",
        EscapedLine(bar.name.as_bytes()),
        counted(bar.count, chart.noun),
        BASE - top
    )?;
    if *is_cut {
        // Two gaps show that the bar is longer.
        for gap in [8.0, 14.0] {
            write!(
                out,
                "<line class=\"cut\" x1=\"{x:.1}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
                x + width,
                top + gap + 4.0,
                top + gap
            )?;
        }
    }
    // If there are few bars, there is room for the count above each of them.
    if *is_cut || chart.bars.len() <= 8 && bar.count > 0 {
        let y = top - 5.0;
        let count = grouped(bar.count);
        write!(out, "<text class=\"value\" x=\"{middle:.1}\" y=\"{y:.1}\">{count}</text>")?;
    }
    let y = BASE + 17.0;
    let label = EscapedLine(bar.label.as_bytes());
    writeln!(out, "<text class=\"label\" x=\"{middle:.1}\" y=\"{y:.1}\">{label}</text></g>")
}

/// Writes the base line and the names of both axes, and ends the picture.
fn write_axis_names(out: &mut dyn Write, chart: &BarChart<'_>) -> io::Result<()> {
    let BarChart { axis, noun, .. } = chart;
    let right = WIDTH - RIGHT;
    let middle = f64::midpoint(LEFT, right);
    let y = HEIGHT - 6.0;
    writeln!(
        out,
        "<line class=\"base\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{BASE}\" y2=\"{BASE}\"/>\
         <text class=\"axis\" x=\"{middle:.1}\" y=\"{y:.1}\">{axis}</text>\
         <text class=\"axis\" transform=\"translate(14 {:.1}) rotate(-90)\">{noun}s</text>\n</svg>",
        f64::midpoint(TOP, BASE)
    )
}

/// Writes the counts of all bars as a table, for readers who cannot see the chart.
fn write_numbers(out: &mut dyn Write, chart: &BarChart<'_>) -> io::Result<()> {
    let BarChart { axis, noun, bars, .. } = chart;
    writeln!(
        out,
        "<details><summary>Numbers</summary><table><thead><tr><th>{axis}</th>\
         <th class=\"n\">{noun}s</th></tr></thead><tbody>"
    )?;
    for bar in bars.iter().filter(|bar| bar.count > 0) {
        let (name, count) = (EscapedLine(bar.name.as_bytes()), grouped(bar.count));
        writeln!(out, "<tr><td>{name}</td><td class=\"n\">{count}</td></tr>")?;
    }
    out.write_all(b"</tbody></table></details>\n")
}

/// Writes one horizontal bar that is divided into `parts`. Each part has a CSS class, a name and a count. `noun` is the
/// noun for the counted things.
pub(super) fn write_parts(
    out: &mut dyn Write,
    title: &str,
    noun: &str,
    parts: &[(&str, &str, u64)],
) -> io::Result<()> {
    const LENGTH: f64 = 1000.0;
    // A damaged file can claim any number of lost records, so the sum must not overflow.
    let whole = parts.iter().fold(0, |sum: u64, part| sum.saturating_add(part.2)).max(1);
    writeln!(
        out,
        "<svg class=\"parts\" viewBox=\"0 0 {LENGTH} 36\" preserveAspectRatio=\"none\" \
         role=\"img\" aria-label=\"{title}\">"
    )?;
    let mut x = 0.0;
    for &(class, name, count) in parts.iter().filter(|part| part.2 > 0) {
        let width = LENGTH * count as f64 / whole as f64;
        writeln!(
            out,
            "<rect class=\"{class}\" x=\"{x:.2}\" y=\"0\" width=\"{width:.2}\" height=\"36\">\
             <title>{name}: {}</title></rect>",
            counted(count, noun)
        )?;
        x += width;
    }
    out.write_all(b"</svg>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_reach_the_highest_bar() {
        assert_eq!(BarScale::Linear.axis(0), (1, vec![0, 1]));
        assert_eq!(BarScale::Linear.axis(7), (8, vec![0, 2, 4, 6, 8]));
        assert_eq!(BarScale::Linear.axis(1234), (1500, vec![0, 500, 1000, 1500]));
        assert_eq!(BarScale::Logarithmic.axis(1), (10, vec![1, 10]));
        assert_eq!(BarScale::Logarithmic.axis(120), (1000, vec![1, 10, 100, 1000]));
        assert!(BarScale::Logarithmic.share(1, 1000) > 0.0);
        assert_eq!(BarScale::Linear.axis(u64::MAX).1.first(), Some(&0));
    }

    #[test]
    fn a_bar_apart_does_not_flatten_the_others() {
        let bars = |others: u64, apart: u64| {
            let bar = |count, is_apart| Bar {
                name: String::new(),
                label: String::new(),
                count,
                is_apart,
            };
            most_in_scale(&[bar(0, false), bar(others, false), bar(apart, true)])
        };
        assert_eq!([bars(10, 30), bars(10, 31), bars(0, 31), bars(10, 0)], [30, 10, 31, 10]);
    }

    #[test]
    fn the_base_line_reaches_from_margin_to_margin() {
        let chart = BarChart {
            key: "sizes",
            title: "Sizes",
            note: "",
            axis: "documents of a cluster",
            noun: "cluster",
            scale: BarScale::Linear,
            bars: Vec::new(),
        };
        let mut out = Vec::new();
        write_axis_names(&mut out, &chart).unwrap();
        let svg = String::from_utf8(out).unwrap();
        assert!(svg.contains("<line class=\"base\" x1=\"86\" x2=\"532\" y1="), "{svg}");
        assert!(svg.contains("x=\"309.0\""), "{svg}");
    }
}
