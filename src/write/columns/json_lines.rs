//! Writes rows as JSON objects, one on each line.

use super::{Column, RowTable, Value};
use simtool_base::json_text::write_string;
use std::io::{self, Write};
use std::ops::Range;

/// Writes a row as a JSON object with a field for each column, and ends the line.
///
/// # Errors
///
/// `out` fails.
pub fn write_json_line<'r, T: RowTable>(
    out: &mut dyn Write,
    columns: &[Column<T>],
    row: &'r T::Row<'r>,
) -> io::Result<()> {
    write_json_object(out, columns, row)?;
    out.write_all(b"\n")
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
    for (at, column) in columns.iter().enumerate() {
        let separator = if at == 0 { '{' } else { ',' };
        write!(out, "{separator}\"{}\":", column.name)?;
        write_value(out, &column.value, row)?;
    }
    out.write_all(b"}")
}

fn write_value<'r, T: RowTable>(
    out: &mut dyn Write,
    value: &Value<T>,
    row: &'r T::Row<'r>,
) -> io::Result<()> {
    match value {
        Value::Text(get) => write_string(out, get(row)),
        Value::Id(get) => get(row).write_json(out),
        Value::Number(get) => write!(out, "{}", get(row)),
        Value::Count(get) => write!(out, "{}", get(row)),
        Value::OptionalCount(get) => match get(row) {
            Some(count) => write!(out, "{count}"),
            None => out.write_all(b"null"),
        },
        Value::Flag(get) => write!(out, "{}", get(row)),
        Value::Ratio(get) => match get(row) {
            // `Display` writes the shortest decimal that reads back as the same number.
            Some(ratio) => write!(out, "{ratio}"),
            None => out.write_all(b"null"),
        },
        Value::Time(get) => write!(out, "\"{}\"", get(row)),
        Value::Texts(get) => write_texts(out, get(row)),
        Value::Ranges(get) => write_ranges(out, get(row)),
        Value::Nested(nested) => (nested.write_json)(row, out),
    }
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
