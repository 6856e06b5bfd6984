//! The picture of README: a run in a terminal, drawn from what the program prints. `UPDATE_GOLDEN=1 cargo test` redraws it.

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
    "simtool why found c | sed -n 4,10p",
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

#[test]
fn the_picture_shows_what_the_program_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images/first-run.svg");
    let lines = terminal_lines();
    // Longer lines would be cut at the edge of the picture.
    assert!(lines.iter().all(|line| line.chars().count() <= 104), "{lines:?}");
    let drawn = draw(&lines);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &drawn).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), drawn, "UPDATE_GOLDEN=1 redraws it");
}
