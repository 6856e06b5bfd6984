use super::*;
use std::time::{Duration, UNIX_EPOCH};

fn summary() -> Summary {
    let mut faults = Faults::default();
    faults.add_fault(&Fault {
        severity: Severity::Loss,
        code: "truncated",
        file: "x \"y\".gz".into(),
        byte: Some(7),
        detail: "ends inside a member".to_owned(),
        lost_records: 5,
    });
    Summary {
        command: "simtool --corpus \"a b\"".to_owned(),
        output: "out".to_owned(),
        working_folder: Some("/data/crawl".to_owned()),
        begin: Some((UNIX_EPOCH + Duration::from_hours(24)).into()),
        peak_memory: Some(12_345_678),
        read: Sides::One(ReadCounts {
            files: 2,
            documents: 10,
            quarantined: 2,
            lost: 5,
            passed_over: 4,
            text_bytes: 3_000_000,
            ..ReadCounts::default()
        }),
        kept: 7,
        removed: 3,
        parameters: vec![
            ("method", Setting::Text("exact".into())),
            ("similarity", Setting::read("0.8")),
            ("limit", Setting::None),
        ],
        distance_means: Some("3 bits are equal".to_owned()),
        pairs: Some(0),
        levels: vec![LimitLevel { least: Closest::Similarity(0.9), removed: 2 }],
        faults,
        stages: vec![("read", Duration::from_millis(1500))],
        ..Summary::default()
    }
}

fn json(summary: &Summary) -> String {
    let mut out = Vec::new();
    write_summary(&mut out, summary).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_summary_counts_and_conserves() {
    let summary = summary();
    let text = json(&summary);
    for line in [
        "  \"working_folder\": \"/data/crawl\",",
        "  \"begin\": \"1970-01-02T00:00:00Z\",",
        "  \"end\": null,",
        "  \"peak_memory_bytes\": 12345678,",
        "  \"records_in\": 21,",
        "  \"lost\": 5,",
        "  \"passed_over\": 4,",
        "  \"conserved\": true,",
        "    \"method\": \"exact\",",
        "    \"similarity\": 0.8,",
        "    \"limit\": null",
        "  \"distance_means\": \"3 bits are equal\",",
        "  \"command\": \"simtool --corpus \\\"a b\\\"\",",
        "    {\"similarity\": 0.9, \"removed\": 2}",
        "    \"truncated\": 1",
        "    {\"kind\": \"truncated\", \"severity\": \"loss\", \"file\": \"x \\\"y\\\".gz\", \
         \"record\": null, \"byte\": 7, \"what\": \"ends inside a member\"}",
        "    \"read\": 1.500000",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} in {text}");
    }
    assert!(!Summary { kept: 8, ..summary }.is_conserved());
}

#[test]
fn the_table_says_the_same() {
    let expected = "\
files                     2
documents                10
kept                      7  70.0 %
removed                   3  30.0 %
clusters                  0
pairs                     0
without words             0
quarantined               2
lost                      5  rows of damaged files
passed over               4  excluded by the selection: kept without comparison
3.0 MB of text in 1.500 s, 2 MB/s
results in out, see out/report.html
";
    assert_eq!(table(&summary()), expected);
    let uncounted = Summary { pairs: None, ..summary() };
    let line = "pairs                     -  not counted: there are too many pairs";
    assert!(table(&uncounted).lines().any(|other| other == line), "{}", table(&uncounted));
    let mut json = Vec::new();
    write_summary(&mut json, &uncounted).unwrap();
    assert!(String::from_utf8(json).unwrap().contains("\n  \"pairs\": null,\n"));
}

#[test]
fn queries_and_corpus_are_distinguished() {
    let of_corpus = ReadCounts { files: 1, documents: 99, quarantined: 6, ..ReadCounts::default() };
    let of_queries = *summary().read.first();
    let summary = Summary { read: Sides::Two(of_queries, of_corpus), ..summary() };
    let table = table(&summary);
    for line in [
        "queries                    10",
        "removed                     3  30.0 %  similar to a document of the corpus",
        "corpus documents           99",
        "  quarantined               6",
    ] {
        assert!(table.lines().any(|l| l == line), "{line} in {table}");
    }
    assert!(!table.contains("  lost"), "{table}");
    let json = json(&summary);
    assert!(json.contains("  \"quarantined\": 2,\n"), "{json}");
    assert!(json.contains("  \"corpus_quarantined\": 6,\n"), "{json}");
}

#[test]
fn faults_beyond_measure_are_counted() {
    let mut faults = Faults::default();
    let place = |record| FaultPlace {
        severity: Severity::Loss,
        kind: "json",
        file: b"a".to_vec(),
        record: Some(record),
        byte: None,
        what: String::new(),
    };
    (0..3000).for_each(|record| faults.add("json", || place(record)));
    faults.add("csv", || FaultPlace { kind: "csv", ..place(7) });
    assert_eq!(faults.counts()[&"json"], 3000);
    assert_eq!(faults.places().len() as u64, Faults::PLACES + 1);
    assert_eq!(faults.places().last().map(|place| place.kind), Some("csv"));
}
