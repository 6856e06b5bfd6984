//! Rows of a CSV file in memory, for files of settings and labels, which are not input documents.

use super::row_parser::RowParser;
use crate::formats::Dialect;

/// Function that gets the number of the first line of a row, from 1, and the fields of the row.
pub type VisitCsvRow<'v, E> = dyn FnMut(usize, &[&[u8]]) -> Result<(), E> + 'v;

/// Calls `visit` for each row of a CSV file in memory. `visit` gets the number of the first line of the row, from 1,
/// and the fields of the row without quotes. Empty lines are skipped, and so is a byte order mark at the start.
///
/// The delimiter is a comma, and quotes follow RFC 4180, so a field in quotes may contain commas and line ends.
///
/// # Errors
///
/// The first error of `visit` ends the reading.
///
/// ```
/// let text = b"id,name\n1,\"Smith, John\"\n";
/// let mut found = Vec::new();
/// simtool_read::visit_csv_rows(text, &mut |line, fields: &[&[u8]]| {
///     found.push((line, fields.len(), fields[1].to_vec()));
///     Ok::<(), ()>(())
/// })?;
/// assert_eq!(found[1], (2, 2, b"Smith, John".to_vec()));
/// # Ok::<(), ()>(())
/// ```
pub fn visit_csv_rows<E>(bytes: &[u8], visit: &mut VisitCsvRow<'_, E>) -> Result<(), E> {
    let mut rest = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut parser = RowParser::new(Dialect::rfc4180(b','));
    let mut line = 1;
    while !rest.is_empty() {
        let Some((length, columns)) = parser.parse(rest, true).filter(|(length, _)| *length > 0)
        else {
            break;
        };
        let (row, behind) = rest.split_at(length);
        // The parser passes over empty lines in front of a row.
        let blank = row.iter().take_while(|byte| b"\r\n".contains(byte));
        let blank = blank.filter(|&&byte| byte == b'\n').count();
        if columns > 0 {
            let fields: Vec<&[u8]> = (0..columns).map(|at| parser.row().field(at)).collect();
            visit(line + blank, &fields)?;
        }
        line += memchr::memchr_iter(b'\n', row).count();
        rest = behind;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(usize, Vec<String>)> {
        let mut found = Vec::new();
        let done = visit_csv_rows(text.as_bytes(), &mut |line, fields: &[&[u8]]| {
            let field = |field: &&[u8]| String::from_utf8(field.to_vec()).unwrap();
            found.push((line, fields.iter().map(field).collect()));
            Ok::<(), ()>(())
        });
        assert_eq!(done, Ok(()));
        found
    }

    #[test]
    fn rows_have_their_lines_and_fields() {
        let row = |line: usize, fields: &[&str]| {
            (line, fields.iter().map(|&field| field.to_owned()).collect::<Vec<_>>())
        };
        let text = "\u{feff}a,b\r\n\r\n\"x,1\",\"say \"\"hi\"\"\"\n\n\"two\nlines\",y\nlast,";
        let expected = [
            row(1, &["a", "b"]),
            row(3, &["x,1", "say \"hi\""]),
            row(5, &["two\nlines", "y"]),
            row(7, &["last", ""]),
        ];
        assert_eq!(rows(text), expected);
        assert_eq!(rows(""), []);
        assert_eq!(rows("\n\n"), []);
        // A quote that is never closed takes the rest.
        assert_eq!(rows("a,\"b\nc"), [row(1, &["a", "b\nc"])]);
    }

    #[test]
    fn an_error_ends_the_reading() {
        let mut seen = 0;
        let done = visit_csv_rows(b"a\nb\nc\n", &mut |line, _| {
            seen += 1;
            if line == 2 { Err(line) } else { Ok(()) }
        });
        assert_eq!((done, seen), (Err(2), 2));
    }
}
