//! `simtool dedup --annotate=in-place`: copies of the inputs whose records have the columns of `documents`.

use crate::program::Folder;
use serde_json::Value;
use std::fs;

/// Texts of three documents. The last one repeats the first one.
const TEXTS: [&str; 3] =
    ["the old man and the sea", "quite another text", "the old man and the sea"];

fn read(folder: &Folder, name: &str) -> String {
    fs::read_to_string(folder.path("out").join(name)).unwrap()
}

/// Runs `simtool dedup in --annotate=in-place` with more options, and returns the messages.
fn annotate(folder: &Folder, options: &str) -> String {
    let run = folder.run_words(&format!(
        "dedup in --annotate=in-place --min-tokens 3 --output out --force{options}"
    ));
    // A file with a bad record ends the run with 3.
    assert!([0, 3].contains(&run.code), "{}", run.err);
    format!("{}{}", run.out, run.err)
}

/// Returns the rows of `documents.jsonl` without the columns that the records themselves have.
fn documents(folder: &Folder) -> Vec<Value> {
    let rows = read(folder, "documents.jsonl");
    let row = |line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        let fields = row.as_object_mut().unwrap();
        fields.retain(|name, _| {
            !["id", "file", "record", "bytes", "content", "left_out"].contains(&name.as_str())
        });
        row
    };
    rows.lines().map(row).collect()
}

/// Returns the values of the fields of `record` whose names begin with `simtool_`, and removes them.
fn take_added(record: &mut Value) -> Value {
    let fields = record.as_object_mut().unwrap();
    let all = std::mem::take(fields);
    let (added, own): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(name, _)| name.starts_with("simtool_"));
    fields.extend(own);
    let name = |name: String| name["simtool_".len()..].to_owned();
    Value::Object(added.into_iter().map(|(key, value)| (name(key), value)).collect())
}

#[test]
fn json_records_get_the_columns_and_keep_their_own_bytes() {
    let lines = [
        format!("{{\"id\": 7,\"text\" : \"{}\", \"n\": 1.0e3 }}\r\n", TEXTS[0]),
        "\n".to_owned(),
        "{\"text\": \"x\"}\n".to_owned(),
        "no object\n".to_owned(),
        format!("{{\"id\":\"ü\",\"text\":\"{}\",\"n\":NaN}}\n", TEXTS[1]),
        format!("{{\"text\":\"{}\"}}", TEXTS[2]),
    ];
    let array =
        format!("[\n {{\"text\": \"{}\"}},\n {{\"text\": \"{}\"}}\n]\n", TEXTS[1], TEXTS[0]);
    let folder = Folder::empty().with("in/a.jsonl", lines.concat()).with("in/b.json", array);
    let messages = annotate(&folder, "");
    assert!(!messages.contains("not annotated"), "{messages}");
    let rows = documents(&folder);
    let copy = read(&folder, "annotated/in/a.jsonl");
    let copied: Vec<&str> = copy.split_inclusive('\n').collect();
    // Records that were not compared stay as they are, or have no values.
    assert_eq!((copied[1], copied[3]), ("\n", "no object\n"));
    let mut short: Value = serde_json::from_str(copied[2]).unwrap();
    assert!(take_added(&mut short).as_object().unwrap().values().all(Value::is_null));
    assert_eq!(short, serde_json::json!({"text": "x"}));
    for (at, row) in [(0, 0), (4, 1), (5, 2)] {
        let own = lines[at].trim_end();
        let own = own[..own.len() - 1].trim_end();
        assert!(copied[at].starts_with(own), "{}", copied[at]);
        let mut record: Value = serde_json::from_str(&copied[at].replace("NaN", "0")).unwrap();
        assert_eq!(take_added(&mut record), rows[row], "{at}");
    }
    assert!(copied[0].ends_with("}\r\n") && copied[5].ends_with('}'));
    let mut array: Value = serde_json::from_str(&read(&folder, "annotated/in/b.json")).unwrap();
    for (record, row) in array.as_array_mut().unwrap().iter_mut().zip(&rows[3..]) {
        assert_eq!(take_added(record), *row);
    }
    assert_eq!(rows.len(), 5);
    // The bytes do not depend on the number of threads.
    annotate(&folder, " --threads 1");
    assert_eq!(read(&folder, "annotated/in/a.jsonl"), copy);
}

#[test]
fn tables_of_text_get_the_columns() {
    let row = |text: &str, id: &str| format!("{text},{id}\r\n");
    let csv = [
        "\u{feff}text,id\r\n",
        "\r\n",
        &row(TEXTS[0], "\"a,1\""),
        &row("x", "b"),
        "\"new\nline here\",c\r\n",
    ]
    .concat();
    let tsv = format!("text\tid\n{}\t1\n{}\t2", TEXTS[2], TEXTS[1]);
    let folder = Folder::empty().with("in/a.csv", csv).with("in/b.tsv", tsv);
    annotate(&folder, "");
    let lines = read(&folder, "annotated/in/a.csv");
    let lines: Vec<&str> = lines.split("\r\n").collect();
    let names = "simtool_tokens,simtool_kept,simtool_kept_id,simtool_kept_file,simtool_kept_record,simtool_similarity,\
                 simtool_distance,simtool_lost_words,simtool_lost_share,simtool_cluster_id,simtool_cluster_size,\
                 simtool_exact_copies,simtool_cluster_sources,simtool_repeated_share,simtool_weight";
    assert_eq!(lines[0], format!("\u{feff}text,id,{names}"));
    assert_eq!(lines[1], "");
    assert!(
        lines[2].starts_with(&format!("{},\"a,1\",6,true,\"a,1\",in/a.csv,0,", TEXTS[0])),
        "{}",
        lines[2]
    );
    assert_eq!(lines[3], format!("x,b{}", ",".repeat(15)));
    let tsv = read(&folder, "annotated/in/b.tsv");
    let tsv: Vec<&str> = tsv.split('\n').collect();
    assert_eq!(tsv[0], format!("text\tid\t{}", names.replace(',', "\t")));
    let removed = format!("{}\t1\t6\tfalse\ta,1\tin/a.csv\t0\t1\t", TEXTS[2]);
    assert!(tsv[1].starts_with(&removed), "{}", tsv[1]);
    assert!(lines[4].starts_with("\"new\nline here\",c,3,true,c,"), "{}", lines[4]);
}

#[test]
fn records_without_fields_are_copied_as_they_are_and_counted() {
    let taken = format!("{{\"text\":\"{}\",\"simtool_weight\":1}}\n", TEXTS[0]);
    let table = format!("text,simtool_kept\n{},1\n", TEXTS[1]);
    let page = "<html><body><p>A page of some words.</p></body></html>";
    let folder = Folder::empty()
        .with("in/a.jsonl", &taken)
        .with("in/b.csv", &table)
        .with("in/c.txt", TEXTS[2])
        .with("in/d.html", page);
    let messages = annotate(&folder, "");
    for (name, content) in
        [("a.jsonl", &*taken), ("b.csv", &table), ("c.txt", TEXTS[2]), ("d.html", page)]
    {
        assert_eq!(read(&folder, &format!("annotated/in/{name}")), content, "{name}");
    }
    assert!(messages.contains("not annotated"), "{messages}");
    let summary: Value = serde_json::from_str(&read(&folder, "summary.json")).unwrap();
    assert_eq!(summary["unannotated"], 4);
}

#[cfg(feature = "parquet")]
#[test]
fn tables_get_the_columns_and_keep_their_own() {
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type};
    use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch, StringArray};
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use std::sync::Arc;

    let texts = [Some(TEXTS[0]), None, Some("x"), Some(TEXTS[1]), Some(TEXTS[2])];
    let texts: ArrayRef = Arc::new(texts.into_iter().collect::<StringArray>());
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![10, 11, 12, 13, 14]));
    let batch =
        RecordBatch::try_from_iter_with_nullable([("id", numbers, false), ("text", texts, true)]);
    let batch = batch.unwrap();
    let mut table = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut table, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let mut stream = Vec::new();
    let mut writer =
        arrow_ipc::writer::StreamWriter::try_new(&mut stream, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let folder = Folder::empty().with("in/a.parquet", table).with("in/b.arrow", stream);
    annotate(&folder, "");
    let open = |name: &str| fs::File::open(folder.path("out/annotated/in").join(name)).unwrap();
    let mut copy =
        ParquetRecordBatchReaderBuilder::try_new(open("a.parquet")).unwrap().build().unwrap();
    let of_parquet = copy.next().unwrap().unwrap();
    let mut copy = arrow_ipc::reader::StreamReader::try_new(open("b.arrow"), None).unwrap();
    let of_arrow = copy.next().unwrap().unwrap();
    let rows = documents(&folder);
    assert_eq!(rows.len(), 6);
    for (copy, rows) in [(of_parquet, &rows[..3]), (of_arrow, &rows[3..])] {
        assert_eq!(copy.project(&[0, 1]).unwrap().columns(), batch.columns());
        let column = |name: &str| copy.column_by_name(&format!("simtool_{name}")).unwrap();
        for (row, expected) in [0, 3, 4].into_iter().zip(rows) {
            assert_eq!(column("kept").as_boolean().value(row), expected["kept"]);
            let id = column("kept_id").as_string::<i32>().value(row);
            assert_eq!(id, expected["kept_id"].to_string());
            let size = column("cluster_size").as_primitive::<Int64Type>().value(row);
            assert_eq!(size, expected["cluster_size"].as_i64().unwrap());
            let weight = column("weight").as_primitive::<Float64Type>().value(row);
            assert_eq!(Some(weight.to_bits()), expected["weight"].as_f64().map(f64::to_bits));
        }
        // Rows that were not compared have no values.
        assert_eq!(column("kept").null_count(), 2);
        assert!(column("cluster_id").is_null(1) && column("weight").is_null(2));
    }
}
