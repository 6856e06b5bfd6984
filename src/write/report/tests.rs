use super::*;
use crate::fault::Severity;
use proptest::prelude::*;

/// A report with every section, in which all that comes from outside is `outside`.
fn report(outside: &[u8]) -> Report {
    let name = || Name { id: outside.to_vec(), file: outside.to_vec(), record: 7 };
    let text = String::from_utf8_lossy(outside).into_owned();
    let mut similarities = Similarities::new(0.8);
    similarities.add(0.8, 3);
    similarities.add(0.93, 12);
    similarities.add(1.0, 5);
    Report {
        title: text.clone(),
        command: text.clone(),
        version: "0.1.0".into(),
        parameters: vec![("shingle".into(), text.clone())],
        counts: Counts { documents: 30, kept: 22, removed: 7, quarantined: 1, ..Counts::default() },
        stages: vec![Stage { name: text.clone(), time: Duration::from_millis(12), bytes: 34_000 }],
        similarities: Some(similarities),
        distances: Some(vec![4, 0, 2, 1]),
        distance_means: String::new(),
        cluster_sizes: BTreeMap::from([(2, 5), (3, 1), (900, 1)]),
        largest_clusters: vec![Cluster { kept: name(), size: 900 }],
        sources: vec![Source { name: outside.to_vec(), removed: 7 }],
        examples: vec![Example {
            kept: name(),
            removed: name(),
            closeness: "similarity 0.9".into(),
            kept_text: [b"a b ", outside].concat(),
            removed_text: [b"a c ", outside, outside].concat(),
        }],
        quarantined: vec![QuarantinedRecord {
            file: outside.to_vec(),
            record: 1,
            byte: 2,
            code: "json",
            expected: text.clone(),
        }],
        faults: vec![Fault {
            severity: Severity::Loss,
            code: "truncated",
            file: "a.gz".into(),
            byte: None,
            detail: text,
            lost_records: 0,
        }],
    }
}

fn page(report: &Report) -> String {
    let mut page = Vec::new();
    write_report(&mut page, report).unwrap();
    String::from_utf8(page).unwrap()
}

/// The tags of a page, in order, each checked to be closed in turn.
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
    for needed in ["title", "svg", "figcaption", "table", "details", "mark", "article", "footer"] {
        assert!(tags.iter().any(|tag| tag == needed), "<{needed}>");
    }
    for word in ["<script", "<link", "<img", "<iframe", "http://", "https://", "url(", "@import"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("<strong>7</strong> of 30 documents (23.3 %) are near-duplicates"));
    assert!(page.contains("<mark class=\"only-kept\">b</mark>"));
}

#[test]
fn equal_data_give_equal_bytes() {
    assert_eq!(page(&report(b"x")), page(&report(b"x")));
}

#[test]
fn a_run_that_found_nothing_has_a_page_too() {
    let page = page(&Report::default());
    tags(&page);
    assert!(page.contains("No near-duplicates among 0 documents."));
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
fn long_lists_are_cut() {
    let mut report = report(b"x");
    report.examples = vec![report.examples[0].clone(); 30];
    report.quarantined = vec![report.quarantined[0].clone(); 60];
    report.counts.quarantined = 60;
    let page = page(&report);
    assert_eq!(page.matches("<article").count(), EXAMPLES);
    assert_eq!(page.matches("<code>json</code>").count(), BAD_RECORDS);
    assert!(page.contains("And 10 more records."));
}

proptest! {
    #[test]
    fn any_counts_make_a_page(counts in prop::collection::vec(any::<u64>(), 0..40), from in -1.0..2.0) {
        let mut report = report(b"x");
        let small: Vec<u64> = counts.iter().map(|count| count >> 8).collect();
        let mut similarities = Similarities::new(from);
        small.iter().enumerate().for_each(|(at, &n)| similarities.add(at as f64 / 20.0, n));
        report.similarities = Some(similarities);
        report.cluster_sizes = small.iter().map(|&n| (n, n >> 8)).collect();
        report.distances = Some(small);
        tags(&page(&report));
    }
}
