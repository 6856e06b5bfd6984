//! Writes rows as JSON objects, one on each line.

use super::{Column, RowTable, Value};
use simtool_base::json_text::write_string;
use std::io::{self, Write};
use std::ops::Range;

/// Writes a row as a JSON object with a field for each column, and ends the line. Writes each nested value (an object
/// or a list of objects) directly to `out`, because a list can have millions of documents.
///
/// # Errors
///
/// `out` fails.
pub fn write_json_line<'r, T: RowTable>(
    out: &mut dyn Write,
    columns: &[Column<T>],
    row: &'r T::Row<'r>,
) -> io::Result<()> {
    let mut text = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        push_name(&mut text, at, column);
        if let Value::Nested(nested) = &column.value {
            out.write_all(&text)?;
            text.clear();
            (nested.write_json)(row, out)?;
        } else {
            push_value(&mut text, &column.value, row)?;
        }
    }
    text.extend_from_slice(b"}\n");
    out.write_all(&text)
}

/// Writes a row as a JSON object with a field for each column.
///
/// # Errors
///
/// `out` fails.
pub fn write_json_object<'r, T: RowTable>(
    out: &mut dyn Write,
    columns: &[Column<T>],
    row: &'r T::Row<'r>,
) -> io::Result<()> {
    let mut object = Vec::new();
    push_json_object(&mut object, columns, row)?;
    out.write_all(&object)
}

/// Appends a row to `line` as a JSON object with a field for each column, and ends the line.
pub(super) fn push_json_line<'r, T: RowTable>(
    line: &mut Vec<u8>,
    columns: &[Column<T>],
    row: &'r T::Row<'r>,
) -> io::Result<()> {
    push_json_object(line, columns, row)?;
    line.push(b'\n');
    Ok(())
}

/// Appends a row to `out` as a JSON object. There are rows for millions of documents, so this avoids formatting and
/// virtual calls.
fn push_json_object<'r, T: RowTable>(
    out: &mut Vec<u8>,
    columns: &[Column<T>],
    row: &'r T::Row<'r>,
) -> io::Result<()> {
    for (at, column) in columns.iter().enumerate() {
        push_name(out, at, column);
        push_value(out, &column.value, row)?;
    }
    out.push(b'}');
    Ok(())
}

/// Appends the name of a column in quotation marks and a colon. Appends `{` before the first column (`at` is 0), and a
/// comma before any other column.
fn push_name<T: RowTable>(out: &mut Vec<u8>, at: usize, column: &Column<T>) {
    out.extend_from_slice(if at == 0 { b"{\"" } else { b",\"" });
    out.extend_from_slice(column.name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn push_value<'r, T: RowTable>(
    out: &mut Vec<u8>,
    value: &Value<T>,
    row: &'r T::Row<'r>,
) -> io::Result<()> {
    match value {
        Value::Text(get) => write_string(out, get(row))?,
        Value::Id(get) => get(row).write_json(out)?,
        Value::Number(get) => push_number(out, get(row)),
        Value::Count(get) => push_number(out, get(row).into()),
        Value::OptionalCount(get) => match get(row) {
            Some(count) => push_number(out, count.into()),
            None => out.extend_from_slice(b"null"),
        },
        Value::Flag(get) => out.extend_from_slice(if get(row) { b"true" } else { b"false" }),
        Value::Ratio(get) => match get(row) {
            // Most weights are 0 or 1, and formatting a fraction takes long.
            Some(0.0) => out.push(b'0'),
            Some(1.0) => out.push(b'1'),
            // `Display` writes the shortest decimal that reads back as the same number.
            Some(ratio) => write!(out, "{ratio}")?,
            None => out.extend_from_slice(b"null"),
        },
        Value::Time(get) => write!(out, "\"{}\"", get(row))?,
        Value::Texts(get) => write_texts(out, get(row))?,
        Value::Ranges(get) => write_ranges(out, get(row))?,
        Value::Nested(nested) => (nested.write_json)(row, out)?,
    }
    Ok(())
}

fn push_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn write_texts(out: &mut dyn Write, texts: &[&str]) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        write_string(out, text.as_bytes())?;
    }
    out.write_all(b"]")
}

/// Writes ranges as a list of lists, for example `[[0,3],[5,9]]`.
pub(super) fn write_ranges(out: &mut dyn Write, ranges: &[Range<u64>]) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, Range { start, end }) in ranges.iter().enumerate() {
        let separator = if at > 0 { "," } else { "" };
        write!(out, "{separator}[{start},{end}]")?;
    }
    out.write_all(b"]")
}
