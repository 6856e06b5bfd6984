//! Writes rows as lines of fields separated by tabs.

use super::json_lines::write_ranges;
use super::{Column, RowTable, Value};
use crate::write::tsv_field::write_field;
use std::io::{self, Write};

/// Writes the names of the columns, separated by tabs, as the first line of a file.
pub(super) fn write_names<T: RowTable>(
    out: &mut dyn Write,
    columns: &[Column<T>],
) -> io::Result<()> {
    let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
    writeln!(out, "{}", names.join("\t"))
}

/// Writes a row as a line of fields separated by tabs. A missing value is an empty field.
///
/// # Errors
///
/// `out` fails.
pub fn write_tsv_line<'r, T: RowTable>(
    out: &mut dyn Write,
    columns: &[Column<T>],
    row: &'r T::Row<'r>,
) -> io::Result<()> {
    for (at, column) in columns.iter().enumerate() {
        if at > 0 {
            out.write_all(b"\t")?;
        }
        write_value(out, &column.value, row)?;
    }
    out.write_all(b"\n")
}

fn write_value<'r, T: RowTable>(
    out: &mut dyn Write,
    value: &Value<T>,
    row: &'r T::Row<'r>,
) -> io::Result<()> {
    match value {
        Value::Text(get) => write_field(out, get(row)),
        Value::Id(get) => write_field(out, get(row).bytes()),
        Value::Number(get) => write!(out, "{}", get(row)),
        Value::Count(get) => write!(out, "{}", get(row)),
        Value::OptionalCount(get) => match get(row) {
            Some(count) => write!(out, "{count}"),
            None => Ok(()),
        },
        Value::Flag(get) => write!(out, "{}", get(row)),
        Value::Ratio(get) => match get(row) {
            Some(ratio) => write!(out, "{ratio}"),
            None => Ok(()),
        },
        Value::Time(get) => write!(out, "{}", get(row)),
        Value::Texts(get) => write_field(out, get(row).join(", ").as_bytes()),
        Value::Ranges(get) => write_ranges(out, get(row)),
        Value::Nested(nested) => {
            // JSON can contain backslashes, which `write_field` escapes as in any other text.
            let mut json = Vec::new();
            (nested.write_json)(row, &mut json)?;
            write_field(out, &json)
        }
    }
}
