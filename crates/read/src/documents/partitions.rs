//! Values in the paths of files in Hive partitions, such as `lang=en` in `crawl/lang=en/year=2024/part-0.parquet`.
//!
//! Engines such as Spark write the values of a column to the names of folders instead of the files. So these values are
//! fields of all records of the file. If a record itself has a field of the same name, that field is used.

use crate::formats::{Event, Selector};
use simtool_model::document::{Content, Document, MOST_FIELDS, Record};
use std::path::{Component, Path};

/// Value that programs such as Hive and Spark write for null in the name of a folder, as in
/// `lang=__HIVE_DEFAULT_PARTITION__`.
const NULL: &[u8] = b"__HIVE_DEFAULT_PARTITION__";

/// Values that the selected fields have in the path of a file, one for each selector of
/// [`ReadOptions::fields`](crate::ReadOptions::fields). A value is `None` if the path does not have the field.
pub(crate) type PathValues = [Option<Vec<u8>>; MOST_FIELDS];

/// Returns the names and values in the folders of a file's path, from the outermost folder on.
pub(crate) fn partitions(file: &Path) -> Vec<(String, Vec<u8>)> {
    let folders = file.parent().into_iter().flat_map(Path::components);
    folders.filter_map(partition).filter(|(_, value)| value != NULL).collect()
}

/// Returns the name and the value that the name of a folder has, such as `lang` and `en` for `lang=en`. Returns `None`
/// for other folders.
fn partition(folder: Component<'_>) -> Option<(String, Vec<u8>)> {
    let name = folder.as_os_str().as_encoded_bytes();
    // A folder whose name begins with the sign names no field.
    let at = name.iter().position(|&byte| byte == b'=').filter(|&at| at > 0)?;
    let value = unescaped(&name[at + 1..]);
    Some((String::from_utf8_lossy(&unescaped(&name[..at])).into_owned(), value))
}

/// Returns the values that `selectors` select from the path of a file, one for each selector.
pub(crate) fn path_values(file: &Path, selectors: &[Selector]) -> PathValues {
    let partitions = partitions(file);
    let mut values = PathValues::default();
    for (value, selector) in values.iter_mut().zip(selectors) {
        // The innermost folder with the name counts.
        let found = partitions.iter().rev().find(|(name, _)| selector.names(name));
        *value = found.map(|(_, value)| value.clone());
    }
    values
}

/// Returns the event. If it has a document, missing values of its fields are set to `values`, which are from the path
/// of its file.
pub(crate) fn with_values<'e>(event: Event<'e>, values: &'e PathValues) -> Event<'e> {
    let Event::Record(record @ Record { content: Content::Document(document), .. }) = event else {
        return event;
    };
    let mut fields = document.fields;
    for (field, value) in fields.iter_mut().zip(values) {
        // A value in the record itself goes before a value in the path of its file.
        *field = field.or(value.as_deref());
    }
    let content = Content::Document(Document { fields, ..document });
    Event::Record(Record { content, ..record })
}

/// Returns the bytes that a name or value in a path means. Programs such as Hive write some characters as in `%2F`.
fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = name;
    while let Some((first, behind)) = rest.split_first() {
        // Engines escape characters that names of folders cannot have, as in a URI.
        match behind {
            [high, low, after @ ..] if *first == b'%' => match (digit(*high), digit(*low)) {
                (Some(high), Some(low)) => {
                    bytes.push((16 * high + low) as u8);
                    rest = after;
                    continue;
                }
                _ => bytes.push(*first),
            },
            _ => bytes.push(*first),
        }
        rest = behind;
    }
    bytes
}

/// Returns the value of a hexadecimal digit, or `None` if the byte is not one.
fn digit(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_with_an_equals_sign_are_fields() {
        let found = partitions(Path::new(
            "a/lang=en/x%3Dy=b%2Fc%zz/=1/day=__HIVE_DEFAULT_PARTITION__/n=1.csv",
        ));
        let found: Vec<(&str, &[u8])> =
            found.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(found, [("lang", &b"en"[..]), ("x=y", b"b/c%zz")]);
        let selectors = ["year", "x,lang", "lang"].map(Selector::from);
        let values = path_values(Path::new("/lang=de/lang=en/a.txt"), &selectors);
        assert_eq!(values, [None, Some(b"en".to_vec()), Some(b"en".to_vec()), None]);
    }
}
