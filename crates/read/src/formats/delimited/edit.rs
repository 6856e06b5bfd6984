//! Edits the text in a row of a text table, or adds columns to it. The other columns stay as they are.

use super::rows;
use crate::formats::{AddedRecord, AddedValue, Dialect, RecordEdit};
use csv_core::ReadFieldResult;
use std::borrow::Cow;
use std::ops::Range;

/// Returns the row `job.record` with the edited text in place of the field that has the text. Returns `None` if no
/// field or several fields equal the text, or if the edited text cannot be written in this dialect.
pub(super) fn edited(job: &RecordEdit<'_>, dialect: Dialect) -> Option<Vec<u8>> {
    let mut with_text = fields(job.record, dialect)?.into_iter().filter(|(_, f)| f == job.text);
    let (place, text) = with_text.next()?;
    if with_text.next().is_some() {
        return None;
    }
    // Without quotes, a line feed would end the row.
    let joint = if dialect.quote.is_some() { b'\n' } else { b' ' };
    let Cow::Owned(new) = job.edit.edited_part(&text, 0, joint) else { return None };
    Some(job.replaced([(place, Cow::Owned(field(&new, dialect)?))]))
}

/// Returns the row with additional columns after its own columns: values, or the names of the columns if the job has no
/// values.
///
/// Returns `None` if the job has no values and the bytes are not the row with the names of the columns, for example a
/// blank line. Also returns `None` if a bad record is not exactly one row.
pub(super) fn with_columns(job: &AddedRecord<'_>, dialect: Dialect) -> Option<Vec<u8>> {
    let AddedRecord { record: row, fields, values, is_bad, .. } = *job;
    let is_row = || {
        let strict = dialect.strict_row(row, true)?;
        Some(strict.length == row.len() && strict.columns.is_some())
    };
    if is_bad && is_row() != Some(true) {
        return None;
    }
    let added: Vec<Vec<u8>> = match values {
        Some(values) => values.iter().map(AddedValue::text).collect(),
        // Without a row of names, columns are named by their numbers.
        None if !dialect.has_header || rows::columns(dialect, row).is_empty() => return None,
        None => fields.iter().map(|field| field.name.clone().into_bytes()).collect(),
    };
    let end = row.len() - row.iter().rev().take_while(|byte| b"\r\n".contains(byte)).count();
    let mut extended = row[..end].to_vec();
    for content in added {
        extended.push(dialect.delimiter);
        extended.extend(plain(content, dialect));
    }
    extended.extend_from_slice(&row[end..]);
    Some(extended)
}

/// Returns a field as it is written in this dialect, with quotes only if it needs them. In a dialect without quotes,
/// bytes that would end the field are replaced by spaces.
fn plain(mut content: Vec<u8>, dialect: Dialect) -> Vec<u8> {
    let Dialect { delimiter, quote, escape, .. } = dialect;
    let special = [Some(delimiter), Some(b'\r'), Some(b'\n'), quote, escape];
    let is_special = |byte: &u8| special.contains(&Some(*byte));
    if !content.iter().any(is_special) {
        return content;
    }
    field(&content, dialect).unwrap_or_else(|| {
        content.iter_mut().filter(|byte| is_special(byte)).for_each(|byte| *byte = b' ');
        content
    })
}

/// Returns the fields of a row. For each field, returns its range of bytes in the row and its content.
fn fields(row: &[u8], dialect: Dialect) -> Option<Vec<(Range<usize>, Vec<u8>)>> {
    let mut parser = dialect.parser();
    let mut content = vec![0; row.len()];
    let (mut fields, mut at) = (Vec::new(), 0);
    loop {
        let (mut end, mut written) = (at, 0);
        let is_last = loop {
            let (result, read, wrote) = parser.read_field(&row[end..], &mut content[written..]);
            (end, written) = (end + read, written + wrote);
            match result {
                ReadFieldResult::Field { record_end } => break record_end,
                // An empty input means to the parser that the row ends here.
                ReadFieldResult::InputEmpty if end == row.len() && read == 0 => return None,
                ReadFieldResult::InputEmpty => {}
                ReadFieldResult::OutputFull | ReadFieldResult::End => return None,
            }
        };
        // The parser has also read the byte that ends the field, unless the file ends there.
        let separators = [dialect.delimiter, b'\r', b'\n'];
        let has_separator = end > at && separators.contains(&row[end - 1]);
        fields.push((at..end - usize::from(has_separator), content[..written].to_vec()));
        if is_last {
            return Some(fields);
        }
        at = end;
    }
}

/// Returns a field as it is written in this dialect, in quotes if the dialect has quotes. Returns `None` if the field
/// needs quotes but the dialect has none.
fn field(content: &[u8], dialect: Dialect) -> Option<Vec<u8>> {
    let Some(quote) = dialect.quote else {
        let has_separator = content.iter().any(|b| [dialect.delimiter, b'\r', b'\n'].contains(b));
        return (!has_separator).then(|| content.to_vec());
    };
    // Quotes are always right, and the field may have had some.
    let mut written = Vec::with_capacity(content.len() + 2);
    written.push(quote);
    for &byte in content {
        // In a dialect with an escape character, the next byte after it is read as it is.
        if byte == quote || Some(byte) == dialect.escape {
            written.push(dialect.escape.unwrap_or(quote));
        }
        written.push(byte);
    }
    written.push(quote);
    Some(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_field_is_read_as_the_same_bytes() {
        let rfc4180 = Dialect::rfc4180(b',');
        let escaping = Dialect { escape: Some(b'\\'), ..rfc4180 };
        let single = Dialect { quote: Some(b'\''), ..escaping };
        let letters = [b'a', b'"', b'\'', b'\\', b',', b'\n'];
        for dialect in [rfc4180, escaping, single] {
            for number in 0..letters.len().pow(4) {
                let letter =
                    |place: u32| letters[number / letters.len().pow(place) % letters.len()];
                let content = [letter(0), letter(1), letter(2), letter(3)];
                let row = [b"x,", &field(&content, dialect).unwrap()[..], b",y\n"].concat();
                let read = fields(&row, dialect).unwrap();
                assert_eq!(read.len(), 3, "{row:?}");
                assert_eq!(read[1].1, content, "{row:?}");
                let strict = dialect.strict_row(&row, true).unwrap();
                assert_eq!((strict.length, strict.columns), (row.len(), Some(3)), "{row:?}");
            }
        }
    }
}
