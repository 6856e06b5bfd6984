use super::*;
use arrow_array::{
    BinaryArray, Float64Array, Int64Array, LargeStringArray, StringArray, StringViewArray,
    UInt64Array,
};
use simtool_model::document_name::DocumentName;
use std::borrow::Cow;

fn file(name: &str, array: ArrayRef, metadata: &[(&str, &str)]) -> Vec<u8> {
    let other: ArrayRef = Arc::new(Float64Array::from(vec![0.5; array.len()]));
    let batch =
        RecordBatch::try_from_iter_with_nullable([("other", other, false), (name, array, true)]);
    let batch = batch.unwrap();
    let pairs =
        metadata.iter().map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned()));
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(pairs.collect()))
        .set_max_row_group_row_count(Some(2))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn check(array: impl Array + 'static, bits: u32, expected: [Option<&[u64]>; 3]) {
    let mut rows = RowsBuilder::new(Shape::bits(bits));
    for row in expected {
        rows.push(row);
    }
    let found = read(&file(NAME, Arc::new(array), &[]), Path::new("f")).unwrap();
    assert_eq!(found, rows.finish());
}

fn binary(rows: [Option<&[u8]>; 3], width: i32) -> impl Array + use<> {
    let mut builder = FixedSizeBinaryBuilder::new(width);
    for row in rows {
        match row {
            Some(bytes) => builder.append_value(bytes).unwrap(),
            None => builder.append_null(),
        }
    }
    builder.finish()
}

#[test]
fn every_type_is_read() {
    let large = [Some(&[1 << 63 | 5][..]), None, Some(&[0][..])];
    check(UInt64Array::from(vec![Some(1 << 63 | 5), None, Some(0)]), 64, large);
    check(Int64Array::from(vec![Some(i64::MIN + 5), None, Some(0)]), 64, large);
    let text = [None, Some("00ff"), Some("f000")];
    let expected = [None, Some(&[0xFF][..]), Some(&[0xF000][..])];
    check(StringArray::from(text.to_vec()), 16, expected);
    check(LargeStringArray::from(text.to_vec()), 16, expected);
    check(StringViewArray::from(text.to_vec()), 16, expected);
    check(BinaryArray::from(text.map(|text| text.map(str::as_bytes)).to_vec()), 16, expected);
    let mut wide = [0; 24];
    (wide[0], wide[8], wide[23]) = (0x80, 7, 3);
    check(
        binary([Some(&wide), None, Some(&[255; 24])], 24),
        192,
        [Some(&[3, 7 << 56, 1 << 63]), None, Some(&[u64::MAX; 3])],
    );
    // Older versions of simtool wrote fingerprints of 64 bits as bytes.
    let eight = binary([Some(&wide[..8]), None, None], 8);
    check(eight, 64, [Some(&[0x80 << 56]), None, None]);
    check(binary([Some(&[1, 2]), None, None], 2), 16, [Some(&[0x102]), None, None]);
}

#[test]
fn other_files_are_refused() {
    let refused = |bytes: &[u8], expected: &str| {
        let error = read(bytes, Path::new("f")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let numbers = || Arc::new(UInt64Array::from(vec![1, 2, 3]));
    let column = "expected a column \"fingerprint\" of 64-bit integers, of 2, 4, 8";
    refused(&file("hash", numbers(), &[]), column);
    refused(&file(NAME, Arc::new(Float64Array::from(vec![0.5])), &[]), column);
    refused(&file(NAME, Arc::new(binary([None; 3], 12)), &[]), column);
    let text = Arc::new(StringArray::from(vec!["00ff", "00ff", "00ff", "ff"]));
    refused(&file(NAME, text, &[]), "in row 3 4 digits 0-9a-f");
    let whole = file(NAME, numbers(), &[]);
    for end in 4..whole.len() {
        refused(&whole[..end], "can be decoded");
    }
    for shape in ["bits=65", "bits=1", "bits=0", "lanes=2x64", "lanes=0x4", "lanes=20x3", "x"] {
        refused(&file(NAME, numbers(), &[(SHAPE, shape)]), "rows of the shape that");
    }
}

#[test]
fn damaged_files_do_not_panic() {
    let whole = file(NAME, Arc::new(Int64Array::from(vec![1, 2, 3])), &[(SHAPE, "bits=60")]);
    for byte in 0..whole.len() {
        for bit in [0, 3, 7] {
            let mut broken = whole.clone();
            broken[byte] ^= 1 << bit;
            drop(read(&broken, Path::new("f")));
        }
    }
}

#[test]
fn shape_and_recipe_come_back() {
    let lanes = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let found = file(NAME, lanes, &[(SHAPE, "lanes=16x4"), (RECIPE, "a/b=1")]);
    let found = read(&found, Path::new("f")).unwrap();
    assert_eq!(found.shape, Shape::lanes(16, 4));
    assert_eq!(found.recipe.as_deref(), Some("a/b=1"));
    for shape in [
        Shape::bits(17),
        Shape::lanes(128, 4),
        Shape::lanes_or_null(8),
        Shape::cosine(8, 4),
        Shape::votes(8, 4),
    ] {
        assert_eq!(shape_of(&shape_text(shape)), Some(shape));
    }
}

#[test]
fn rows_of_a_word_are_integers_and_wider_ones_are_bytes() {
    for (bits, data) in [
        (16, DataType::Int64),
        (64, DataType::Int64),
        (100, DataType::FixedSizeBinary(16)),
        (512, DataType::FixedSizeBinary(64)),
    ] {
        let shape = Shape::bits(bits);
        let mut rows = RowsBuilder::new(shape);
        rows.push(Some(&vec![3; shape.words()]));
        let id = Cow::Borrowed(&b"a"[..]);
        let name =
            |_| DocumentName { id: id.clone(), is_number: false, file: Path::new("x"), record: 0 };
        let mut out = Vec::new();
        write(&rows.finish(), &name, &mut out).unwrap();
        let schema = load(&out).unwrap();
        let fields = schema.schema().fields().iter().map(|field| field.name().as_str());
        assert_eq!(fields.collect::<Vec<_>>(), ["id", "file", "record", NAME]);
        let field = schema.schema().field_with_name(NAME).unwrap();
        assert_eq!((field.data_type(), field.is_nullable()), (&data, true));
    }
}
