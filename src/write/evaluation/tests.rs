use super::*;
use simtool_model::evaluation::{
    Common, Counts, Curve, Evaluated, Evaluation, LabelledName, Measured, Scale, SeededF1,
    WrongPair,
};

const OUTSIDE: &str = "<script>alert('&\"')</script>\tend";

fn evaluation(collections: usize) -> Evaluation {
    let counts = |true_found, false_found| Counts { true_found, false_found, positives: 4 };
    let curve = |scale| Curve {
        scale,
        counts: vec![counts(0, 0), counts(1, 0), counts(3, 1), counts(3, 1), counts(4, 96)],
    };
    let measured = |scale| Measured {
        curve: curve(scale),
        own: 1,
        unlisted: 1,
        bytes_per_document: 8,
        seconds: 0.25,
    };
    let method = |name: &str, scale| Evaluated {
        name: name.to_owned(),
        parameters: format!("{name}:k=1"),
        measured: vec![measured(scale); collections],
        common: Common { step: 2, mean_f1: 0.75, left_out: (collections > 1).then_some(0.5) },
        by_seed: Vec::new(),
    };
    let name = LabelledName { name: OUTSIDE.into(), documents: 20, positives: 4, set_aside: 1 };
    let text = OUTSIDE.as_bytes().to_vec();
    Evaluation {
        collections: vec![name; collections],
        methods: vec![method("simhash", Scale::Distance), method(OUTSIDE, Scale::Similarity)],
        wrong: vec![WrongPair {
            collection: 0,
            is_true: true,
            closeness: "distance 4".into(),
            similarity: "0.250".into(),
            ids: [text.clone(), b"b".to_vec()],
            texts: [text, b"else".to_vec()],
        }],
    }
}

fn written(write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn lines_stand_where_something_changes() {
    let lines = written(|out| write_lines(out, &evaluation(1)));
    let lines: Vec<&str> = lines.lines().collect();
    let names =
        "method\tparameters\tthreshold\tprecision\trecall\tf1\tbest\tbytes_per_document\tseconds";
    assert_eq!(lines[0], names);
    assert_eq!(lines[1], "simhash\tsimhash:k=1\t1\t1.000000\t0.250000\t0.400000\t0\t8\t0.250000");
    assert_eq!(lines[2], "simhash\tsimhash:k=1\t2\t0.750000\t0.750000\t0.750000\t1\t8\t0.250000");
    assert_eq!(lines[3], "simhash\tsimhash:k=1\t4\t0.040000\t1.000000\t0.076923\t0\t8\t0.250000");
    assert_eq!((lines.len(), lines[4].split('\t').nth(2)), (7, Some("0.9975")));
    let several = written(|out| write_lines(out, &evaluation(2)));
    assert!(several.starts_with("collection\tmethod\t"));
    assert!(several.lines().all(|line| line.split('\t').count() == 10), "{several}");
}

#[test]
fn the_table_has_a_line_for_each_method() {
    let table = written(|out| write_table(out, &evaluation(1)));
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines[0],
        ["method", "best", "F1", "precision", "recall", "F1", "as", "given", "bytes", "seconds"]
    );
    assert_eq!(lines[1], ["simhash", "0.750", "@2", "0.750", "0.750", "0.400", "@1", "8", "0.25"]);
    let table = written(|out| write_table(out, &evaluation(2)));
    assert!(
        table.lines().next().unwrap().ends_with("mean  one threshold  left out  bytes  seconds")
    );
}

#[test]
fn the_object_is_json_with_all_thresholds() {
    for collections in [1, 2] {
        let text = written(|out| write_json(out, &evaluation(collections)));
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["collections"].as_array().unwrap().len(), collections);
        let method = &json["methods"][0];
        assert_eq!(method["collections"][0]["best"]["threshold"], 2.0);
        assert_eq!(method["collections"][0]["thresholds"].as_array().unwrap().len(), 3);
        assert_eq!(method["common"]["left_out_mean_f1"].is_null(), collections == 1);
        assert_eq!(json["wrong"][0]["a"], OUTSIDE);
    }
}

#[test]
fn what_comes_from_outside_is_harmless_on_the_page_and_in_plots() {
    for collections in [1, 2] {
        let evaluation = evaluation(collections);
        let page = written(|out| write_page(out, &evaluation));
        assert!(!page.contains("<script"), "{page}");
        // Two methods have two plots each, and each of them a legend if there are several collections.
        let legends = if collections > 1 { 2 * collections } else { 0 };
        assert_eq!(page.matches("<svg").count(), 4 + legends);
        assert_eq!(page.matches("<article").count(), 1);
        let files = plot_files(&evaluation);
        assert_eq!(files[0].name, "01-simhash-precision-recall.svg");
        assert_eq!(files[3].name, "02--script-alert--------script--end-f1.svg");
        for file in files {
            assert!(!file.svg.contains("<script") && file.svg.contains("xmlns="), "{}", file.svg);
            assert_eq!(file.svg.matches("<circle").count(), collections);
        }
    }
}

#[test]
fn files_of_pictures_have_literal_colours() {
    let mut evaluation = evaluation(2);
    evaluation.methods[0].by_seed = vec![SeededF1 { seed: 1, f1: 0.25 }];
    let picture = overview(&evaluation);
    let files = plot_files(&evaluation).into_iter().map(|file| file.svg);
    for svg in files.chain([picture.clone()]) {
        for wanted in ["fill=\"#ffffff\"", "stroke=\"#3b6ea8\"", "font-family=", " width="] {
            assert!(svg.contains(wanted), "{wanted}: {svg}");
        }
        for refused in ["class=", "style", "var(", "<script"] {
            assert!(!svg.contains(refused), "{refused}: {svg}");
        }
    }
    // F1 is 0.5 at the thresholds that are best for the other collection.
    assert!(picture.contains("F1 at left-out thresholds, mean of 2 collections"), "{picture}");
    assert_eq!(picture.matches(">0.500</text>").count(), 2, "{picture}");
    assert_eq!(picture.matches("<polyline").count(), 2);
    // The line of the spread is on the bar of the first method alone.
    assert_eq!(picture.matches("stroke-width=\"2\"").count(), 1);
    assert_eq!(picture.matches("…</text>").count(), 1, "{picture}");
    assert!(overview(&self::evaluation(1)).contains("F1 at the best threshold"));
}

#[test]
fn numbers_of_thresholds_grow_from_left_to_right() {
    let evaluation = evaluation(1);
    for file in plot_files(&evaluation).iter().filter(|file| file.name.ends_with("-f1.svg")) {
        let marks = file.svg.lines().filter(|line| line.starts_with("<text x="));
        let mut marks: Vec<(f64, f64)> = marks
            .filter_map(|line| {
                let (x, rest) = line.strip_prefix("<text x=\"")?.split_once('"')?;
                let shown = rest.split_once('>')?.1.split('<').next()?;
                Some((x.parse().ok()?, shown.parse().ok()?))
            })
            .collect();
        assert!(marks.len() > 2, "{}", file.svg);
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(marks.is_sorted_by(|a, b| a.1 < b.1), "{marks:?}");
    }
}

#[test]
fn the_spread_of_hash_functions_is_in_the_table_and_in_json() {
    let mut evaluation = evaluation(1);
    let table = written(|out| write_table(out, &evaluation));
    assert!(!table.contains("by hash seed"), "{table}");
    // The best F1 with the usual hash functions is 0.75.
    evaluation.methods[0].by_seed =
        vec![SeededF1 { seed: 7, f1: 0.5 }, SeededF1 { seed: 9, f1: 1.0 }];
    let table = written(|out| write_table(out, &evaluation));
    assert!(table.contains("by hash seed") && table.contains("0.750 ± 0.250"), "{table}");
    let json = written(|out| write_json(out, &evaluation));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let spread = &json["methods"][0]["by_hash_seed"];
    assert_eq!([&spread["least"], &spread["most"], &spread["mean_f1"]], [0.5, 1.0, 0.75]);
    assert_eq!(spread["seeds"][1], serde_json::json!({ "seed": 9, "f1": 1.0 }));
    assert!(json["methods"][1]["by_hash_seed"].is_null());
}

#[test]
fn numbers_are_aligned_like_the_names_of_their_columns() {
    let page = written(|out| write_page(out, &evaluation(2)));
    let tables = page.split("<table>").skip(1).map(|table| table.split("</table>").next().unwrap());
    for table in tables {
        let classes = |row: &str, cell: &str| -> Vec<bool> {
            row.split(cell).skip(1).map(|cell| cell.starts_with(" class=\"n\"")).collect()
        };
        let mut rows = table.split("<tr>").skip(1);
        let head = classes(rows.next().unwrap(), "<th");
        assert!(!head[0] && head[1], "{table}");
        assert!(rows.all(|row| classes(row, "<td") == head), "{table}");
    }
}

#[test]
fn only_the_line_at_zero_is_the_base_of_a_plot() {
    let page = written(|out| write_page(out, &evaluation(1)));
    for plot in page.split("<svg").skip(1) {
        let lines: Vec<&str> = plot.lines().filter(|line| line.starts_with("<line ")).collect();
        let base: Vec<&&str> = lines.iter().filter(|line| line.contains("\"base\"")).collect();
        assert_eq!((lines.len(), base.len()), (5, 1), "{plot}");
        assert!(base[0].contains(">0.00</text>"), "{plot}");
    }
}
