//! Pictures of README and the book, drawn from what the program prints and from formulas. `UPDATE_GOLDEN=1 cargo test`
//! redraws them.

use crate::program::Folder;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Three documents, two of them near-duplicates.
const DOCUMENTS: &str = r#"{"id": "a", "text": "The quick brown fox jumps over the lazy dog near the old river bank today"}
{"id": "b", "text": "Something else entirely was written here by somebody who likes long words"}
{"id": "c", "text": "The quick brown fox jumps over the lazy dog near the old river bank, today!"}
"#;

/// Commands of the picture, as a reader would type them.
const COMMANDS: &[&str] = &[
    "cat docs.jsonl",
    "simtool dedup docs.jsonl --quiet --output found --write-kept | head -n 4",
    "cut -d , -f 1-4,7 found/removed.jsonl",
    "simtool why found c | sed -n 4,11p",
];

/// Returns the lines of the terminal: each command and what it prints.
fn terminal_lines() -> Vec<String> {
    let folder = Folder::empty().with("docs.jsonl", DOCUMENTS);
    let programs = Path::new(env!("CARGO_BIN_EXE_simtool")).parent().unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", programs.display());
    let mut lines = Vec::new();
    for command in COMMANDS {
        let run = Command::new("sh")
            .args(["-c", command])
            .current_dir(folder.path(""))
            .env("PATH", &path)
            .output()
            .unwrap();
        assert!(run.status.success(), "{command}: {run:?}");
        lines.push(format!("$ {command}"));
        let text = String::from_utf8(run.stdout).unwrap();
        lines.extend(text.trim_end().lines().map(str::to_owned));
        lines.push(String::new());
    }
    lines.pop();
    lines
}

/// Returns a drawing of a terminal window with these lines. Colours are literal, so that every viewer draws them.
fn draw(lines: &[String]) -> String {
    let (line_height, margin) = (19, 20);
    let height = lines.len() * line_height + 3 * margin;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 920 {height}\" role=\"img\">\n\
        <title>A run of simtool in a terminal</title>\n\
        <rect width=\"920\" height=\"{height}\" rx=\"8\" fill=\"#14191f\"/>\n\
        <g font-family=\"ui-monospace, Menlo, Consolas, monospace\" font-size=\"14\">\n"
    );
    for (number, line) in lines.iter().enumerate() {
        let y = 2 * margin + number * line_height;
        let colour = if line.starts_with("$ ") { "#7ee787" } else { "#e6edf3" };
        // Viewers join ordinary spaces, so columns would not be aligned.
        let text = line.replace('&', "&amp;").replace('<', "&lt;").replace(' ', "\u{a0}");
        writeln!(svg, "<text x=\"{margin}\" y=\"{y}\" fill=\"{colour}\">{text}</text>").unwrap();
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// Returns the probability that a pair with this Jaccard similarity shares one of 16 bands of 8 MinHash values.
fn share_in_bands(similarity: f64) -> f64 {
    1.0 - (1.0 - similarity.powi(8)).powi(16)
}

/// Left edge, bottom edge, width and height of the area of the chart.
const AREA: [f64; 4] = [60.0, 250.0, 480.0, 210.0];

/// Returns the place of a similarity and of a share of pairs in the chart.
fn place(similarity: f64, share: f64) -> (f64, f64) {
    let [left, bottom, width, height] = AREA;
    (left + similarity * width, bottom - share * height)
}

/// Returns a line of the chart through these similarities and shares.
fn curve(points: impl IntoIterator<Item = (f64, f64)>, colour: &str) -> String {
    let points = points.into_iter().map(|(similarity, share)| {
        let (x, y) = place(similarity, share);
        format!("{x:.1},{y:.1}")
    });
    let points = points.collect::<Vec<_>>().join(" ");
    format!(
        "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\"/>\n"
    )
}

/// Returns a line of text that begins or ends at a place, or has its middle there.
fn label(text: &str, (x, y): (f64, f64), anchor: &str, colour: &str) -> String {
    let font = "font-family=\"sans-serif\" font-size=\"13\"";
    format!(
        "<text x=\"{x:.0}\" y=\"{y:.0}\" text-anchor=\"{anchor}\" fill=\"{colour}\" {font}>{text}</text>\n"
    )
}

/// Returns a chart of the share of pairs that bands find and that the exact search finds, by similarity.
fn recall_chart() -> String {
    const BLACK: &str = "#1f2328";
    const BLUE: &str = "#0b6e99";
    const ORANGE: &str = "#b35900";
    let mut svg =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 300\" role=\"img\">\n\
        <title>Share of pairs that are found, by similarity</title>\n\
        <rect width=\"760\" height=\"300\" fill=\"#ffffff\"/>\n"
            .to_owned();
    for (tenths, name) in [(0, "0"), (2, "0.2"), (4, "0.4"), (6, "0.6"), (8, "0.8"), (10, "1")] {
        let at = f64::from(tenths) / 10.0;
        let (x, y) = place(at, at);
        svg += &label(name, (x, 270.0), "middle", BLACK);
        svg += &label(name, (48.0, y + 4.0), "end", BLACK);
        svg += &curve([(0.0, at), (1.0, at)], "#d8dee4");
    }
    let steps = (0..=100).map(|step| f64::from(step) / 100.0);
    svg += &curve(steps.map(|similarity| (similarity, share_in_bands(similarity))), ORANGE);
    svg += &curve([(0.0, 0.0), (0.7, 0.0), (0.7, 1.0), (1.0, 1.0)], BLUE);
    svg += &label("exact, threshold 0.7", (560.0, 60.0), "start", BLUE);
    svg += &label("16 bands of 8 values", (560.0, 90.0), "start", ORANGE);
    svg += &label("Jaccard similarity of a pair", (300.0, 292.0), "middle", BLACK);
    svg += &label("share of pairs that are found", (60.0, 24.0), "start", BLACK);
    svg + "</svg>\n"
}

/// Compares a picture with its file, or writes the file.
fn check(name: &str, drawn: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, drawn).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, drawn, "UPDATE_GOLDEN=1 redraws docs/images/{name}");
}

#[test]
fn the_picture_shows_what_the_program_prints() {
    let lines = terminal_lines();
    // Longer lines would be cut at the edge of the picture.
    assert!(lines.iter().all(|line| line.chars().count() <= 104), "{lines:?}");
    check("first-run.svg", &draw(&lines));
}

#[test]
fn the_chart_of_recall_follows_its_formula() {
    assert!((share_in_bands(0.7) - 0.613).abs() < 0.001);
    check("recall.svg", &recall_chart());
}
