use super::*;
use simtool_base::options::Choice as _;
use simtool_compute::threads::Threads;

/// A table for tests that has a column for each type of value.
struct AllTypes;

struct AllTypesRow<'r> {
    text: &'r [u8],
    distance: Option<u32>,
    similarity: Option<f64>,
    sources: &'r [&'r str],
    spans: &'r [Range<u64>],
}

impl RowTable for AllTypes {
    type Row<'r> = AllTypesRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "An ID.", Value::Text(|row| row.text)),
        Column::new("record", "A number.", Value::Number(|_| 3)),
        Column::new("count", "A count.", Value::Count(|_| 4)),
        Column::new("kept", "A flag.", Value::Flag(|row| row.distance.is_some())),
        Column::new("similarity", "A fraction.", Value::Ratio(|row| row.similarity)),
        Column::new("distance", "A distance.", Value::OptionalCount(|row| row.distance)),
        Column::new("first", "A time.", Value::Time(|_| UtcTime::from_seconds(86_400))),
        Column::new("sources", "Names.", Value::Texts(|row| row.sources)),
        Column::new("spans", "Ranges.", Value::Ranges(|row| row.spans)),
        Column::new("near", "An object.", Value::Nested(NEAR)),
    ];
}

const NEAR: Nested<AllTypes> = Nested {
    columns: || {
        let name = "id".to_owned();
        vec![ColumnDescription { name, kind: "text", description: "The other ID." }]
    },
    is_list: false,
    write_json: |_, out| out.write_all(b"{\"id\":\"x\"}"),
};

fn row_bytes(format: RowFormat, columns: &'static [Column<AllTypes>]) -> Vec<u8> {
    let mut rows = RowsFile::new(Vec::new(), format, columns, IdType::Text, "test").unwrap();
    let sources = ["dump", "crawl 2"];
    let full = AllTypesRow {
        text: b"a\t\"x\"",
        distance: Some(2),
        similarity: Some(1.0 / 3.0),
        sources: &sources,
        spans: &[0..3, 5..9],
    };
    rows.write(&full).unwrap();
    rows.write(&AllTypesRow {
        text: b"b",
        distance: None,
        similarity: None,
        sources: &[],
        spans: &[],
    })
    .unwrap();
    rows.finish().unwrap()
}

/// A table with one column of numbers. A row is a number.
#[derive(Debug)]
struct Numbers;

impl RowTable for Numbers {
    type Row<'r> = u32;

    const COLUMNS: &'static [Column<Self>] =
        &[Column::new("row", "A number.", Value::Count(|&row| row))];
}

/// Calls `write` with the rows of a range of [`Numbers`].
fn visit_numbers(range: Range<u32>, write: &mut RowVisitor<'_, Numbers>) -> io::Result<()> {
    range.into_iter().try_for_each(|row| write(&row))
}

#[test]
fn many_rows_are_written_as_one_row_after_another() {
    let threads = Threads::new(3).unwrap();
    for &format in RowFormat::ALL {
        for count in [0, 1, 1024, 1025, 10_000] {
            let file =
                || RowsFile::new(Vec::new(), format, Numbers::COLUMNS, IdType::Text, "").unwrap();
            let mut at_once = file();
            threads.run(|| at_once.write_all(count, visit_numbers)).unwrap().unwrap();
            let mut singly = file();
            (0..count).for_each(|row| singly.write(&row).unwrap());
            assert_eq!(at_once.finish().unwrap(), singly.finish().unwrap(), "{format:?} {count}");
        }
    }
}

#[test]
fn a_failing_row_or_writer_ends_the_writing() {
    let format = RowFormat::JsonLines;
    let mut file = RowsFile::new(Vec::new(), format, Numbers::COLUMNS, IdType::Text, "").unwrap();
    let fails = |range: Range<u32>, _: &mut RowVisitor<'_, Numbers>| {
        if range.contains(&5000) { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
    };
    assert!(file.write_all(10_000, fails).is_err());
    let mut room = [0; 100];
    let mut file =
        RowsFile::new(&mut room[..], format, Numbers::COLUMNS, IdType::Text, "").unwrap();
    assert_eq!(file.write_all(10_000, visit_numbers).unwrap_err().kind(), io::ErrorKind::WriteZero);
}

fn row_text(format: RowFormat, columns: &'static [Column<AllTypes>]) -> String {
    String::from_utf8(row_bytes(format, columns)).unwrap()
}

#[test]
fn json_lines_have_a_field_for_each_column() {
    let expected = concat!(
        r#"{"id":"a\t\"x\"","record":3,"count":4,"kept":true,"similarity":0.3333333333333333,"distance":2,"#,
        r#""first":"1970-01-02T00:00:00Z","sources":["dump","crawl 2"],"spans":[[0,3],[5,9]],"near":{"id":"x"}}"#,
        "\n",
        r#"{"id":"b","record":3,"count":4,"kept":false,"similarity":null,"distance":null,"#,
        r#""first":"1970-01-02T00:00:00Z","sources":[],"spans":[],"near":{"id":"x"}}"#,
        "\n",
    );
    assert_eq!(row_text(RowFormat::JsonLines, AllTypes::COLUMNS), expected);
}

#[test]
fn tsv_has_a_line_of_names_and_escapes_tabs() {
    let expected = "id\trecord\tcount\tkept\tsimilarity\tdistance\tfirst\tsources\tspans\tnear\n\
        a\\t\"x\"\t3\t4\ttrue\t0.3333333333333333\t2\t1970-01-02T00:00:00Z\tdump, crawl 2\t[[0,3],[5,9]]\t{\"id\":\"x\"}\n\
        b\t3\t4\tfalse\t\t\t1970-01-02T00:00:00Z\t\t[]\t{\"id\":\"x\"}\n";
    assert_eq!(row_text(RowFormat::Tsv, AllTypes::COLUMNS), expected);
}

#[test]
fn a_part_of_the_columns_can_be_written() {
    let columns = &AllTypes::COLUMNS[..1];
    let json = row_text(RowFormat::JsonLines, columns);
    assert_eq!(json, "{\"id\":\"a\\t\\\"x\\\"\"}\n{\"id\":\"b\"}\n");
    assert_eq!(row_text(RowFormat::Tsv, columns), "id\na\\t\"x\"\nb\n");
}

#[test]
fn nested_fields_are_described_behind_their_object() {
    let described = describe_columns(AllTypes::COLUMNS);
    let names: Vec<&str> = described.iter().map(|column| column.name.as_str()).collect();
    let expected = "id record count kept similarity distance first sources spans near near.id";
    assert_eq!(names.join(" "), expected);
    let kinds: Vec<&str> = described.iter().map(|column| column.kind).collect();
    assert_eq!(kinds[3..6], ["true or false", "fraction or null", "number or null"]);
}

/// A table of IDs.
struct Ids;

impl RowTable for Ids {
    type Row<'r> = DocumentId<'r>;

    const COLUMNS: &'static [Column<Self>] = &[Column::new("id", "An ID.", Value::Id(|id| *id))];
}

#[test]
fn ids_are_numbers_in_json_if_they_are_in_the_input() {
    let text = |format| {
        let mut rows = RowsFile::new(Vec::new(), format, Ids::COLUMNS, IdType::Text, "").unwrap();
        rows.write(&DocumentId::Number(b"12")).unwrap();
        rows.write(&DocumentId::Text(b"12")).unwrap();
        String::from_utf8(rows.finish().unwrap()).unwrap()
    };
    assert_eq!(text(RowFormat::JsonLines), "{\"id\":12}\n{\"id\":\"12\"}\n");
    assert_eq!(text(RowFormat::Tsv), "id\n12\n12\n");
}

#[cfg(feature = "parquet")]
#[test]
fn ids_are_integers_in_parquet_if_all_are() {
    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    let batch = |ids: IdType| {
        let mut rows =
            RowsFile::new(Vec::new(), RowFormat::Parquet, Ids::COLUMNS, ids, "").unwrap();
        rows.write(&DocumentId::Number(b"-12")).unwrap();
        let bytes = bytes::Bytes::from(rows.finish().unwrap());
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
        reader.build().unwrap().next().unwrap().unwrap()
    };
    assert_eq!(batch(IdType::Integer)["id"].as_primitive::<Int64Type>().value(0), -12);
    assert_eq!(batch(IdType::Text)["id"].as_string::<i32>().value(0), "-12");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_has_typed_columns_and_the_recipe() {
    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMillisecondType};
    let bytes = bytes::Bytes::from(row_bytes(RowFormat::Parquet, AllTypes::COLUMNS));
    let reader = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
    let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let recipe = metadata.iter().find(|pair| pair.key == "simtool.recipe").unwrap();
    assert_eq!(recipe.value.as_deref(), Some("test"));
    let batch = reader.build().unwrap().next().unwrap().unwrap();
    assert_eq!(batch["id"].as_string::<i32>().value(0), "a\t\"x\"");
    assert_eq!(batch["record"].as_primitive::<Int64Type>().values()[..], [3, 3]);
    assert_eq!(batch["count"].as_primitive::<Int32Type>().values()[..], [4, 4]);
    let similarities = batch["similarity"].as_primitive::<Float64Type>();
    assert_eq!(similarities.iter().collect::<Vec<_>>(), [Some(1.0 / 3.0), None]);
    let distances = batch["distance"].as_primitive::<Int32Type>();
    assert_eq!(distances.iter().collect::<Vec<_>>(), [Some(2), None]);
    let times = batch["first"].as_primitive::<TimestampMillisecondType>();
    assert_eq!(times.value(0), 86_400_000);
    let spans = batch["spans"].as_list::<i32>();
    let span = spans.value(0).as_list::<i32>().value(1);
    assert_eq!(span.as_primitive::<Int64Type>().values()[..], [5, 9]);
    assert_eq!([spans.value_length(0), spans.value_length(1)], [2, 0]);
    let sources = batch["sources"].as_list::<i32>().value(0);
    assert_eq!(sources.as_string::<i32>().value(1), "crawl 2");
    assert_eq!(batch["near"].as_string::<i32>().value(0), "{\"id\":\"x\"}");
}

#[cfg(feature = "parquet")]
#[test]
fn a_stream_has_the_rows_of_a_parquet_file() {
    use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use arrow_ipc::reader::StreamReader;
    let bytes = bytes::Bytes::from(row_bytes(RowFormat::Parquet, AllTypes::COLUMNS));
    let file = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap().build().unwrap();
    let bytes = row_bytes(RowFormat::ArrowStream, AllTypes::COLUMNS);
    let stream = StreamReader::try_new(&bytes[..], None).unwrap();
    let columns = |batch: arrow_array::RecordBatch| batch.columns().to_vec();
    let expected: Vec<_> = file.map(|batch| columns(batch.unwrap())).collect();
    let got: Vec<_> = stream.map(|batch| columns(batch.unwrap())).collect();
    assert_eq!(got, expected);
}
