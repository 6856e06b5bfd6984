//! The report as a browser shows it, in a light and a dark window, wide and narrow. The pictures stay
//! in Cargo's temporary folder, `target/tmp`, for people to look at.

use flate2::read::ZlibDecoder;
use simtool::stages::fault::{Fault, Severity};
use simtool::stages::sides::Sides;
use simtool::write::name::Name;
use simtool::write::report::{
    Example, PartOfPage, Preview, QuarantinedRecord, Report, ReportCluster, ReportMember,
    Similarities, Source, Sources, write_report,
};
use simtool::write::shared_words::SharedWords;
use simtool::write::summary::{Closest, Commands, LimitLevel, ReadCounts, Setting, Summary};
use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const BROWSER: &str = "chromium";

const HEIGHT: u32 = 4200;

fn summary() -> Summary {
    let mut summary = Summary {
        command: "simtool --corpus crawl/ --similarity 0.8 --write-kept --output clean".into(),
        output: "clean".into(),
        commands: Some(Commands {
            why: "simtool why clean".into(),
            compare: "simtool compare".into(),
            compared_in: String::new(),
        }),
        parameters: [("method", "exact"), ("similarity", "0.8"), ("shingle", "words:3")]
            .map(|(name, value)| (name, Setting::read(value)))
            .to_vec(),
        distance_means: Some("At 3 of 64 bits the similarity is 0.98 on average.".to_owned()),
        peak_memory: Some(1_840_000_000),
        read: Sides::One(ReadCounts {
            files: 64,
            documents: 1_204_714,
            quarantined: 57,
            passed_over: 40_120,
            lost: 900,
            without_terms: 912,
            file_faults: 1,
            text_bytes: 7_093_482_112,
            ..ReadCounts::default()
        }),
        kept: 871_302,
        removed: 333_412,
        removed_bytes: 1_832_110_400,
        clusters: 120_400,
        pairs: Some(2_870_115),
        levels: [(1.0, 101_904), (0.9, 250_114), (0.8, 333_412)]
            .map(|(least, removed)| LimitLevel { least: Closest::Similarity(least), removed })
            .to_vec(),
        stages: [("read and sketch", 1710), ("compare terms", 812), ("write", 402)]
            .map(|(name, ms)| (name, Duration::from_millis(ms)))
            .to_vec(),
        ..Summary::default()
    };
    summary.faults.add_fault(&Fault {
        severity: Severity::Loss,
        code: "truncated",
        file: "crawl/part-00003.warc.wet.gz".into(),
        byte: Some(18_184),
        detail: "ends inside a gzip member; the records before it were read".into(),
        lost_records: 0,
    });
    summary
}

fn report() -> Report {
    let name = |number: u64| Name {
        id: format!("https://www.example.org/news/2026/{number}/a-river-runs-dry").into_bytes(),
        file: b"crawl/segments/1534221208750.9/wet/part-00017.warc.wet.gz".to_vec(),
        record: number * 31,
    };
    let mut similarities = Similarities::new(0.8);
    for step in 0..200_u64 {
        similarities.add(0.8 + step as f64 / 1000.0, 40 + step * step / 60);
    }
    similarities.add(1.0, 101_904);
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
    let cluster = |number: u64| ReportCluster {
        kept: name(number),
        removed: 1_500 - number * 97,
        members: (1..8)
            .map(|member| ReportMember {
                name: name(number * 100 + member),
                closeness: format!("similarity 0.8{member}"),
            })
            .collect(),
        preview: (number != 3)
            .then(|| Preview { text: text.into(), is_of_kept: number.is_multiple_of(2) }),
        shared: (number == 1).then_some(SharedWords {
            documents: 20,
            shared: 310,
            own: 12,
            is_template: true,
        }),
    };
    let hosts = ["crawl/mirror", "crawl/www", "crawl/\u{5d3}\u{5d5}\u{5d2}\u{5de}\u{5d4}"];
    Report {
        titles: vec!["crawl/".into()],
        similarities: Some(similarities),
        distances: Some(vec![1_904, 822, 640, 701]),
        unlinked: 0,
        cluster_sizes: (2..1500).map(|size: u64| (size, 90_000 / (size * size))).collect(),
        clusters: (0..8).map(cluster).collect(),
        sources: Sources {
            rows: (hosts.into_iter().zip([210_331, 120_114, 2_967]))
                .map(|(name, removed)| Source {
                    name: name.into(),
                    documents: 401_571,
                    removed,
                    repeats: vec![removed / 2, removed / 5, 0],
                })
                .collect(),
            columns: hosts.map(Into::into).to_vec(),
            sources: 3,
            is_one_collection: true,
        },
        examples: vec![
            example(4, "0.87", ["by road, and asked", "by train <b>soon</b>; he asked"]),
            example(9, "0.93", ["Sunday", "Saturday"]),
        ],
        little_pages: vec![PartOfPage { name: name(17), words: 31, left_out_words: 1_840 }],
        quarantined: vec![QuarantinedRecord {
            file: b"crawl/bad.jsonl".to_vec(),
            record: 12,
            byte: 48_213,
            code: "json",
            expected: "a string in the field \"text\"".into(),
        }],
    }
}

/// Lets the browser take a picture, and returns its messages about the page.
fn take_picture(page: &Path, picture: &Path, scheme: u32, width: u32) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(BROWSER)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .args(["--enable-logging=stderr", "--disable-background-networking"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("--window-size={width},{HEIGHT}"))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    said
}

/// Returns the width, bytes of a pixel, and rows of a PNG picture with 8 bits a channel and no
/// interlacing, which is the form that browsers write.
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

/// Returns the prediction of the PNG format from three neighbours.
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
fn a_browser_shows_the_report_in_light_and_dark_wide_and_narrow() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let page = folder.join("report.html");
    let mut html = Vec::new();
    write_report(&mut html, &summary(), &report()).unwrap();
    // The page reports elements that are wider than the window, and the results of its search.
    let html = String::from_utf8(html).unwrap();
    fs::write(&page, &html).unwrap();
    if Command::new(BROWSER).arg("--version").output().is_err() {
        eprintln!("skipped: {BROWSER} is not installed");
        return;
    }
    let mut backgrounds = Vec::new();
    for (name, scheme) in [("dark", 0), ("light", 1)] {
        // No window is narrower than 500 pixels, so a narrow page is shown in a frame of a wide
        // one.
        let framed = folder.join("report-narrow.html");
        let frame = format!(
            "<body style=\"margin:0\"><iframe src=\"report.html\" \
             style=\"border:0;width:400px;height:{HEIGHT}px\"></iframe>"
        );
        fs::write(&framed, frame).unwrap();
        for (page, width, shape) in [(&page, 1280, "wide"), (&framed, 500, "narrow")] {
            let picture = folder.join(format!("report-{name}-{shape}.png"));
            let said = take_picture(page, &picture, scheme, width);
            assert!(!said.contains("CONSOLE"), "{said}");
            let (width, depth, rows) = pixels(&fs::read(&picture).unwrap());
            assert_eq!((width, rows.len()), (width, HEIGHT as usize));
            let background = rows[1][..3].to_vec();
            let drawn =
                rows.iter().flat_map(|row| row.chunks(depth)).filter(|p| p[..3] != background);
            let drawn = drawn.count();
            assert!(drawn > width * rows.len() / 20, "{name}: {drawn} pixels are drawn");
            backgrounds.push((name, u32::from(background[0])));
        }
    }
    let is_right =
        |&(name, light): &(&str, u32)| if name == "dark" { light < 80 } else { light > 200 };
    assert!(backgrounds.iter().all(is_right), "{backgrounds:?}");
}

/// Returns the page in a browser after the page's own script and then our `script` have run. The
/// page's policy is opened for our script.
fn page_after(html: &str, script: &str) -> Option<String> {
    Command::new(BROWSER).arg("--version").output().ok()?;
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let (before, behind) = html.split_once("script-src 'sha256-").unwrap();
    let (_, behind) = behind.split_once('"').unwrap();
    let opened = format!("{before}script-src 'unsafe-inline'\"{behind}");
    fs::write(&page, format!("{opened}<script>{script}</script>")).unwrap();
    let output = Command::new(BROWSER)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,2000"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
#[expect(clippy::print_stderr, reason = "who runs the tests must know what was not run")]
fn the_search_finds_clusters_by_id_and_names_the_command() {
    let mut html = Vec::new();
    write_report(&mut html, &summary(), &report()).unwrap();
    let html = String::from_utf8(html).unwrap();
    let search = |wanted: &str| {
        let script = format!(
            "const box = document.getElementById('wanted'); box.value = \"{wanted}\"; \
             box.dispatchEvent(new Event('input')); document.title = 'shown ' + \
             document.querySelectorAll('.cluster:not([hidden])').length + ' open ' + \
             document.querySelectorAll('.cluster[open]').length + ' ' + \
             document.getElementById('found').textContent + ' ' + \
             document.querySelector('#ask code').textContent;"
        );
        let page = page_after(&html, &script)?;
        Some(page.split_once("<title>").unwrap().1.split_once("</title>").unwrap().0.to_owned())
    };
    let Some(all) = search("") else {
        eprintln!("skipped: {BROWSER} is not installed");
        return;
    };
    assert!(all.starts_with("shown 8 open 0"), "{all}");
    let one = "https://www.example.org/news/2026/203/a-river-runs-dry";
    assert_eq!(
        search(one).unwrap(),
        format!("shown 1 open 1 1 cluster on this page. simtool why clean {one}")
    );
    assert_eq!(
        search("it's").unwrap(),
        "shown 0 open 0 No cluster on this page has such an ID. simtool why clean 'it'\\''s'"
    );
}
