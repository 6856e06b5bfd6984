//! The report as a browser shows it, in a light and a dark window. The pictures stay in Cargo's
//! temporary folder, `target/tmp`, for people to look at.

use flate2::read::ZlibDecoder;
use simtool::fault::{Fault, Severity};
use simtool::write::report::{
    Cluster, Counts, Example, Name, QuarantinedRecord, Report, Similarities, Source, Stage,
    write_report,
};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const BROWSER: &str = "chromium";

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 4200;

fn sample() -> Report {
    let name = |number: u64| Name {
        id: format!("https://www.example.org/news/2026/{number}/a-river-runs-dry").into_bytes(),
        file: b"crawl/part-00017.warc.wet.gz".to_vec(),
        record: number * 31,
    };
    let mut similarities = Similarities::new(0.8);
    for step in 0..200_u64 {
        similarities.add(0.8 + step as f64 / 1000.0, 40 + step * step / 60);
    }
    similarities.add(1.0, 1_904);
    let text = "The river that gave the town its name has run dry for the first time since \
                records began. Fishermen stood on the cracked bed on Sunday and looked for \
                the boats that they had left there in spring.\n\nThe mayor said that water \
                would come from the north by road, and asked everybody to save what they could. \
                A committee will meet on Monday; what it can do is another matter. ";
    let example = |number: u64, similarity: &str, changed: [&str; 2]| Example {
        kept: name(number),
        removed: name(number + 1),
        closeness: format!("similarity {similarity}"),
        kept_text: text.repeat(3).into_bytes(),
        removed_text: text.repeat(3).replace(changed[0], changed[1]).into_bytes(),
    };
    Report {
        title: "crawl/".into(),
        command: "simtool --corpus crawl/ --similarity 0.8 --write-kept --output clean".into(),
        version: "0.1.0".into(),
        parameters: [("method", "exact"), ("similarity", "0.8"), ("shingle", "words:3")]
            .map(|(name, value)| (name.into(), value.into()))
            .to_vec(),
        counts: Counts {
            documents: 1_204_771,
            kept: 871_302,
            removed: 333_412,
            quarantined: 57,
            without_words: 912,
            pairs: 2_870_115,
            bytes: 7_093_482_112,
            removed_bytes: 1_832_110_400,
        },
        stages: [("read and count", 1710, 7_093), ("join", 812, 0), ("write", 402, 5_261)]
            .map(|(name, ms, megabytes)| Stage {
                name: name.into(),
                time: Duration::from_millis(ms),
                bytes: megabytes * 1_000_000,
            })
            .to_vec(),
        similarities: Some(similarities),
        distances: Some(vec![1_904, 822, 640, 701]),
        distance_means: "At 3 of 64 bits the similarity is 0.98 on average.".to_owned(),
        cluster_sizes: (2..1500).map(|size: u64| (size, 90_000 / (size * size))).collect(),
        largest_clusters: (0..8).map(|n| Cluster { kept: name(n), size: 1_500 - n * 97 }).collect(),
        sources: [
            "mirror.example.net",
            "www.example.org",
            "\u{5d3}\u{5d5}\u{5d2}\u{5de}\u{5d4}.example",
        ]
        .into_iter()
        .zip([120_331, 70_114, 9_120])
        .map(|(name, removed)| Source { name: name.into(), removed })
        .collect(),
        examples: vec![
            example(4, "0.93", ["Sunday", "Saturday"]),
            example(9, "0.87", ["by road, and asked", "by train <b>soon</b>; he asked"]),
        ],
        quarantined: vec![QuarantinedRecord {
            file: b"crawl/bad.jsonl".to_vec(),
            record: 12,
            byte: 48_213,
            code: "json",
            expected: "a string in the field \"text\"".into(),
        }],
        faults: vec![Fault {
            severity: Severity::Loss,
            code: "truncated",
            file: "crawl/part-00003.warc.wet.gz".into(),
            byte: Some(18_184),
            detail: "ends inside a gzip member; the records before it were read".into(),
            lost_records: 0,
        }],
    }
}

/// Lets the browser take a picture; what it says about the page comes back.
fn take_picture(page: &Path, picture: &Path, scheme: u32) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(BROWSER)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .args(["--enable-logging=stderr", "--disable-background-networking"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--window-size={WIDTH},{HEIGHT}"))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

/// Width, bytes of a pixel, and rows of a PNG picture of 8 bits a channel, not interlaced: what
/// browsers write.
fn pixels(png: &[u8]) -> (usize, usize, Vec<Vec<u8>>) {
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap()) as usize;
    let (width, depth) = (number(16), if png[25] == 6 { 4 } else { 3 });
    let (mut at, mut packed) = (8, Vec::new());
    while at < png.len() {
        let length = number(at);
        if &png[at + 4..at + 8] == b"IDAT" {
            packed.extend_from_slice(&png[at + 8..at + 8 + length]);
        }
        at += length + 12;
    }
    let mut bytes = Vec::new();
    ZlibDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    let mut rows: Vec<Vec<u8>> = Vec::new();
    let nothing = vec![0; width * depth];
    for line in bytes.chunks(1 + width * depth) {
        let above = rows.last().unwrap_or(&nothing);
        let mut row = Vec::with_capacity(width * depth);
        for (i, &byte) in line[1..].iter().enumerate() {
            let left = if i < depth { 0 } else { row[i - depth] };
            let corner = if i < depth { 0 } else { above[i - depth] };
            let guess = match line[0] {
                0 => 0,
                1 => left,
                2 => above[i],
                3 => u8::midpoint(left, above[i]),
                _ => nearest(left, above[i], corner),
            };
            row.push(byte.wrapping_add(guess));
        }
        rows.push(row);
    }
    (width, depth, rows)
}

/// The PNG format's guess from three neighbours.
fn nearest(left: u8, above: u8, corner: u8) -> u8 {
    let sum = i16::from(left) + i16::from(above) - i16::from(corner);
    let off = |byte: u8| (sum - i16::from(byte)).abs();
    if off(left) <= off(above) && off(left) <= off(corner) {
        left
    } else if off(above) <= off(corner) {
        above
    } else {
        corner
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "who runs the tests must know what was not run")]
fn a_browser_shows_the_report_in_light_and_dark() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let page = folder.join("report.html");
    let mut html = Vec::new();
    write_report(&mut html, &sample()).unwrap();
    fs::write(&page, html).unwrap();
    if Command::new(BROWSER).arg("--version").output().is_err() {
        eprintln!("skipped: {BROWSER} is not installed");
        return;
    }
    let mut backgrounds = Vec::new();
    for (name, scheme) in [("dark", 0), ("light", 1)] {
        let picture = folder.join(format!("report-{name}.png"));
        let said = take_picture(&page, &picture, scheme);
        assert!(!said.contains("CONSOLE"), "{said}");
        let (width, depth, rows) = pixels(&fs::read(&picture).unwrap());
        assert_eq!((width, rows.len()), (WIDTH as usize, HEIGHT as usize));
        let background = rows[1][..3].to_vec();
        let drawn = rows.iter().flat_map(|row| row.chunks(depth)).filter(|p| p[..3] != background);
        let drawn = drawn.count();
        assert!(drawn > width * rows.len() / 20, "{name}: {drawn} pixels are drawn");
        backgrounds.push(u32::from(background[0]));
    }
    assert!(backgrounds[0] < 80 && backgrounds[1] > 200, "{backgrounds:?}");
}
