use super::page::{SCRIPT, SCRIPT_HASH};
use super::*;
use crate::write::summary::{Closest, Commands, LimitLevel, ReadCounts, Setting, Summary};
use proptest::prelude::*;
use simtool_base::fault::{Fault, Severity};
use simtool_model::sides::Sides;
use std::time::Duration;

fn name(outside: &[u8]) -> Name {
    Name { id: outside.to_vec(), file: outside.to_vec(), record: 7 }
}

/// Returns a summary and a report with every section. `outside` is used for all texts that would come from
/// the input.
fn report(outside: &[u8]) -> (Summary, Report) {
    let text = String::from_utf8_lossy(outside).into_owned();
    let mut summary = Summary {
        command: text.clone(),
        commands: Some(Commands {
            why: text.clone(),
            compare: "compare".into(),
            compared_in: String::new(),
        }),
        parameters: vec![("shingle", Setting::Text(text.clone()))],
        read: Sides::One(ReadCounts {
            files: 3,
            documents: 29,
            quarantined: 1,
            passed_over: 4,
            lost: 6,
            file_faults: 1,
            ..ReadCounts::default()
        }),
        kept: 22,
        removed: 7,
        clusters: 7,
        levels: vec![
            LimitLevel { least: Closest::Similarity(0.9), removed: 3 },
            LimitLevel { least: Closest::Similarity(0.8), removed: 7 },
        ],
        stages: vec![("read", Duration::from_millis(12))],
        ..Summary::default()
    };
    summary.faults.add_fault(&Fault {
        severity: Severity::Loss,
        code: "truncated",
        file: text.clone().into(),
        byte: None,
        detail: text.clone(),
        lost_records: 6,
    });
    let mut similarities = Similarities::new(0.8);
    similarities.add(0.8, 3);
    similarities.add(0.93, 12);
    similarities.add(1.0, 5);
    let member = ReportMember { name: name(outside), closeness: "similarity 0.9".into() };
    let report = Report {
        titles: vec![text.clone()],
        similarities: Some(similarities),
        distances: Some(vec![4, 0, 2, 1]),
        unlinked: 2,
        cluster_sizes: BTreeMap::from([(2, 5), (3, 1), (900, 1)]),
        clusters: vec![ReportCluster {
            kept: name(outside),
            removed: 899,
            members: vec![member.clone(), ReportMember { closeness: String::new(), ..member }],
            preview: Some(Preview { text: [b"a b ", outside].concat(), is_of_kept: false }),
            shared: Some(SharedWords { documents: 20, shared: 310, own: 12, is_template: true }),
        }],
        sources: Sources {
            rows: vec![
                Source { name: outside.to_vec(), documents: 20, removed: 7, repeats: vec![4, 2] },
                Source { name: b"b".to_vec(), documents: 10, removed: 0, repeats: vec![0, 0] },
            ],
            columns: vec![outside.to_vec(), b"b".to_vec()],
            sources: 5,
            is_one_collection: true,
        },
        examples: vec![Example {
            kept: name(outside),
            removed: name(outside),
            closeness: "similarity 0.9".into(),
            kept_text: [b"a b ", outside].concat(),
            removed_text: [b"a c ", outside, outside].concat(),
        }],
        little_pages: vec![PartOfPage { name: name(outside), words: 12, left_out_words: 1300 }],
        quarantined: vec![QuarantinedRecord {
            file: outside.to_vec(),
            record: 1,
            byte: 2,
            code: "json",
            expected: text,
        }],
    };
    (summary, report)
}

fn page((summary, report): &(Summary, Report)) -> String {
    let mut page = Vec::new();
    write_report(&mut page, summary, report).unwrap();
    String::from_utf8(page).unwrap()
}

#[test]
fn a_piece_has_the_charts_of_the_page_and_a_style_of_its_own() {
    let found = report(b"<b>");
    let mut piece = Vec::new();
    write_charts(&mut piece, &found.0, &found.1).unwrap();
    let piece = String::from_utf8(piece).unwrap();
    tags(&format!("<!DOCTYPE html>{piece}"));
    let figures = |page: &str| {
        page[page.find("<figure").unwrap()..page.rfind("</figure>").unwrap()].to_owned()
    };
    assert_eq!(figures(&piece), figures(&page(&found)));
    let style = &piece[..piece.find("</style>").unwrap()];
    assert_eq!(style.matches('{').count(), style.matches('}').count());
    for outside in [":root", "body", "* {", "@import"] {
        assert!(!style.contains(outside), "{outside}");
    }
}

/// Returns the HTML tags of a page in order. Checks that every element is closed, and in the reverse order of
/// opening.
fn tags(page: &str) -> Vec<String> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name.to_owned()), "before {rest:.80}");
            continue;
        }
        assert_eq!(tag.matches('"').count() % 2, 0, "<{tag}>");
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        assert!(!name.is_empty(), "<{tag}>");
        if !tag.ends_with('/') {
            open.push(name.clone());
        }
        all.push(name);
    }
    assert_eq!(open, [""; 0]);
    all
}

#[test]
fn the_page_is_well_formed_and_needs_nothing_else() {
    let page = page(&report(b"big/"));
    let tags = tags(&page);
    for needed in
        ["title", "svg", "figcaption", "table", "details", "mark", "article", "footer", "input"]
    {
        assert!(tags.iter().any(|tag| tag == needed), "<{needed}>");
    }
    for word in ["<link", "<img", "<iframe", "http://", "https://", "url(", "@import", " src="] {
        assert!(!page.contains(word), "{word}");
    }
    assert_eq!(page.matches("<script").count(), 1);
    assert!(page.contains("<strong>7</strong> of 29 documents (24.1 %) are near-duplicates"));
    assert!(page.contains("<mark class=\"only-kept\">b</mark>"));
}

#[test]
fn what_is_wider_or_longer_than_its_place_is_reached_by_keyboard() {
    let page = page(&report(b"big/"));
    for scrolled in ["<div class=\"table\"", "<div class=\"text\""] {
        let of_page = page.match_indices(scrolled).map(|(at, _)| &page[at..]);
        let tags: Vec<&str> = of_page.map(|rest| rest.split_once('>').unwrap().0).collect();
        assert!(!tags.is_empty());
        for tag in tags {
            let is_command = tag == "<div class=\"table\"";
            assert!(is_command || tag.contains("tabindex=\"0\""), "{tag}");
        }
    }
    assert_eq!(page.matches("<summary>").count(), page.matches("<details").count());
}

#[test]
fn failures_and_what_was_passed_over_are_on_the_page() {
    let page = page(&report(b"big/"));
    for part in [
        "Not everything was compared: 1 record could not be read, 6 rows of damaged files are lost, 1 \
         fault of files.",
        "4 documents were excluded by the settings below",
        "<code>truncated</code> 1",
        "<td><code>json</code></td>",
        "passed over 4",
        "lost 6",
    ] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn the_commands_can_be_copied() {
    let (mut summary, mut report) = report(b"x");
    summary.commands = Some(Commands {
        why: "simtool why 'my out'".into(),
        compare: "simtool compare --text-field body".into(),
        compared_in: String::new(),
    });
    let cluster = &mut report.clusters[0];
    cluster.kept = Name { id: b"-a".to_vec(), file: b"in/a b.gz".to_vec(), record: 3 };
    cluster.members[0].name = Name { id: b"it's".to_vec(), file: b"in/c".to_vec(), record: 4 };
    let shown = page(&(summary.clone(), report.clone()));
    for command in [
        "simtool why &#39;my out&#39; -- -a",
        "simtool why &#39;my out&#39; &#39;it&#39;\\&#39;&#39;s&#39;",
        "simtool compare --text-field body &#39;in/a b.gz:3&#39; in/c:4",
    ] {
        let command = format!("<code class=\"command\">{command}</code>");
        assert!(shown.contains(&command), "{command}");
    }
    if let Some(commands) = &mut summary.commands {
        commands.compared_in = "my out#".into();
    }
    let command = "&#39;my out#in/a b.gz:3&#39; &#39;my out#in/c:4&#39;";
    assert!(page(&(summary.clone(), report.clone())).contains(command));
    summary.commands = None;
    assert!(!page(&(summary, report)).contains("class=\"command\">"));
}

#[test]
fn queries_are_distinguished_from_the_corpus() {
    let (summary, report) = report(b"x");
    let corpus = ReadCounts { documents: 5_000, quarantined: 8, ..ReadCounts::default() };
    let summary = Summary { read: Sides::Two(*summary.read.first(), corpus), ..summary };
    let report = Report { titles: vec!["new/".into(), "big/".into()], ..report };
    let page = page(&(summary, report));
    tags(&page);
    for part in [
        "<h1>new/ in big/</h1>",
        "<strong>7</strong> of 29 queries (24.1 %) are similar to one of 5,000 documents of the corpus.",
        "The corpus that they were matched against",
        "<div data-key=\"corpus_quarantined\"><dt>Quarantined</dt><dd>8<small>",
        "9 records could not be read",
        "Queries of one document",
        "What was matched",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["near-duplicates of a kept document", "The largest clusters"] {
        assert!(!page.contains(part), "{part}");
    }
}

/// Computes a SHA-256 hash in the most direct way, as FIPS 180-4 describes it.
#[expect(clippy::cast_sign_loss, reason = "roots are positive")]
fn sha256(message: &[u8]) -> [u8; 32] {
    let primes = (2_u32..).filter(|n| (2..*n).all(|d| n % d != 0));
    let fraction = |root: f64| ((root - root.floor()) * 2_f64.powi(32)) as u32;
    let constants: Vec<u32> =
        primes.clone().take(64).map(|p| fraction(f64::from(p).cbrt())).collect();
    let mut state: Vec<u32> = primes.take(8).map(|p| fraction(f64::from(p).sqrt())).collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend_from_slice(&(message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let word = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
        let mut w: Vec<u32> = block.chunks(4).map(word).collect();
        for i in 16..64 {
            let (a, b) = (w[i - 15], w[i - 2]);
            let s0 = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let s1 = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let mut v = state.clone();
        for i in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let terms = [s1, choice, constants[i], w[i]];
            let first = terms.iter().fold(v[7], |sum, term| sum.wrapping_add(*term));
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(first);
            v[0] = first.wrapping_add(s0).wrapping_add(majority);
        }
        state.iter_mut().zip(v).for_each(|(s, v)| *s = s.wrapping_add(v));
    }
    let bytes: Vec<u8> = state.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes.try_into().unwrap()
}

fn base64(bytes: &[u8]) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number = chunk.iter().fold(0_u32, |n, byte| n << 8 | u32::from(*byte));
        let number = number << (8 * (3 - chunk.len()));
        for at in 0..4 {
            let digit = digits[(number >> (18 - 6 * at) & 63) as usize];
            text.push(if at > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

#[test]
fn the_policy_of_the_page_lets_its_script_run_and_no_other() {
    let of_nothing = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
    assert_eq!(base64(&sha256(b"")), of_nothing);
    assert_eq!(base64(&sha256(SCRIPT.as_bytes())), SCRIPT_HASH);
    let page = page(&report(b"x"));
    assert!(page.contains(&format!("script-src 'sha256-{SCRIPT_HASH}'\"")));
    assert!(page.contains(&format!("<script>{SCRIPT}</script>")));
    // The script has no `<`, which could end the script or begin a tag.
    assert!(!SCRIPT.contains('<'));
}

#[test]
fn equal_data_give_equal_bytes() {
    assert_eq!(page(&report(b"x")), page(&report(b"x")));
}

#[test]
fn a_run_that_found_nothing_has_a_page_too() {
    let empty = (Summary::default(), Report::default());
    let shown = page(&empty);
    tags(&shown);
    assert!(shown.contains("No document was compared."));
    let read = ReadCounts { documents: 1, ..ReadCounts::default() };
    for (read, sentence) in [
        (Sides::One(read), "No near-duplicates among 1 document."),
        (Sides::Two(read, read), "None of 1 query is similar to any of 1 document of the corpus."),
    ] {
        let shown = page(&(Summary { read, kept: 1, ..Summary::default() }, Report::default()));
        tags(&shown);
        assert!(shown.contains(sentence), "{sentence}");
    }
}

#[test]
fn hostile_text_stays_text() {
    let plain = tags(&page(&report(b"x")));
    let mut hostile: Vec<Vec<u8>> = [
        "</title><script>alert(1)</script>",
        "\" onload=\"alert(1)",
        "' onmouseover='x",
        "<!--",
        "]]>",
        "</style>",
        "&lt;&#0;",
        "\u{202e}\u{2066}\u{feff}\u{e0041}",
        "\u{1b}]0;x\u{7}",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    hostile.push((0..=255).collect());
    for text in hostile {
        let page = page(&report(&text));
        let page = page.replace(SCRIPT, "");
        let without_differences = |tags: Vec<String>| -> Vec<String> {
            tags.into_iter().filter(|tag| tag != "mark" && tag != "span").collect()
        };
        assert_eq!(without_differences(tags(&page)), without_differences(plain.clone()));
        assert!(!page.contains(|c: char| {
            (c.is_control() && c != '\n' && c != '\t') || "\u{202e}\u{2066}\u{feff}".contains(c)
        }));
    }
}

#[test]
fn the_page_has_a_bounded_size() {
    let long = "long/".repeat(20_000);
    let (mut summary, mut report) = report(long.as_bytes());
    for _ in 0..2000 {
        summary.faults.add_fault(&Fault {
            severity: Severity::Loss,
            code: "input-open",
            file: long.clone().into(),
            byte: None,
            detail: String::new(),
            lost_records: 0,
        });
    }
    let cluster = &mut report.clusters[0];
    cluster.members = vec![cluster.members[0].clone(); MEMBERS + 30];
    report.clusters = vec![report.clusters[0].clone(); CLUSTERS + 30];
    summary.clusters = 1000;
    report.examples = vec![report.examples[0].clone(); 3];
    report.quarantined = vec![report.quarantined[0].clone(); BAD_RECORDS + 10];
    let shown = page(&(summary.clone(), report.clone()));
    assert!(shown.len() < 8_000_000, "{}", shown.len());
    assert_eq!(shown.matches("<details class=\"cluster\">").count(), CLUSTERS);
    assert!(shown.contains(&format!("And {} more, none larger", 1000 - CLUSTERS)));
    assert!(shown.contains(&format!("And {} more: see <code>clusters.jsonl", 899 - MEMBERS)));
    assert_eq!(shown.matches("<code>json</code></td>").count(), BAD_RECORDS);
    assert!(shown.contains("faults more: see <code>summary.json</code>"));
}

#[test]
fn long_lists_are_cut() {
    let (mut summary, mut report) = report(b"x");
    report.examples = vec![report.examples[0].clone(); 30];
    report.quarantined = vec![report.quarantined[0].clone(); 60];
    let read = ReadCounts { quarantined: 60, ..*summary.read.first() };
    summary.read = Sides::One(read);
    let page = page(&(summary, report));
    assert_eq!(page.matches("<article").count(), EXAMPLES);
    assert_eq!(page.matches("<td><code>json</code>").count(), BAD_RECORDS);
    assert!(page.contains("And 10 records more: see <code>quarantine.jsonl</code>."));
}

proptest! {
    #[test]
    fn any_counts_make_a_page(counts in prop::collection::vec(any::<u64>(), 0..40), from in -1.0..2.0) {
        let (mut summary, mut report) = report(b"x");
        let small: Vec<u64> = counts.iter().map(|count| count >> 8).collect();
        let mut similarities = Similarities::new(from);
        small.iter().enumerate().for_each(|(at, &n)| similarities.add(at as f64 / 20.0, n));
        report.similarities = Some(similarities);
        report.cluster_sizes = small.iter().map(|&n| (n, n >> 8)).collect();
        if let [documents, removed, lost, ..] = small[..] {
            let read = ReadCounts { documents, lost, ..ReadCounts::default() };
            summary = Summary { read: Sides::Two(read, read), removed, clusters: lost, ..summary };
            report.sources.rows[0].repeats = vec![documents, removed];
        }
        report.distances = Some(small);
        tags(&page(&(summary, report)));
    }
}
