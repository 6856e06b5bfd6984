//! Lists of stop words by the names that users give them.

use simtool_base::error::{Error, Result};
use simtool_terms::tokenize::stop_words::StopWords;

/// Separator of the lists in a value of the option `stop_words`, for example `english+german.txt`.
const LIST_SEPARATOR: char = '+';
/// Beginning of a part of the value of `stop_words` that lists the words themselves, as in `words:the of`.
const OWN_WORDS: &str = "words:";

/// Returns the stop words that the option value `name` selects. It has one or several parts, which are separated by
/// `+`. A part is the name of a built-in list, the path of a file, or `words:` and words that are separated by white
/// space.
///
/// # Errors
///
/// A part is none of these, or its file cannot be read or is not UTF-8.
pub(crate) fn read_stop_words(name: &str) -> Result<StopWords> {
    // Words and paths may contain a plus sign, so such a value is not split.
    if name.starts_with(OWN_WORDS) || names_file(name) {
        return read_part(name, name);
    }
    let parts = name.split(LIST_SEPARATOR);
    let lists = parts.map(|part| read_part(part, name)).collect::<Result<Vec<_>>>()?;
    match &lists[..] {
        [list] => Ok(list.clone()),
        lists => Ok(StopWords::union(name, lists)),
    }
}

/// Returns whether the value `name` of `stop_words` is the path of a single file. The file need not exist, unless its
/// path contains a plus sign, because that usually separates lists.
pub(crate) fn names_file(name: &str) -> bool {
    let has_parts = name.contains(LIST_SEPARATOR) && !std::fs::exists(name).unwrap_or(false);
    !has_parts && !name.starts_with(OWN_WORDS) && StopWords::built_in(name).is_none()
}

/// Returns the stop words of `part`, which is one of the parts of the option value `name`.
fn read_part(part: &str, name: &str) -> Result<StopWords> {
    // One of several parts is named, so that the user knows which of them is wrong.
    let subject = if part == name { String::new() } else { format!("{part} ") };
    let wrong = |rule: String| Error::config("stop_words", name, format!("{subject}{rule}"));
    if let Some(built_in) = StopWords::built_in(part) {
        return Ok(built_in);
    }
    if let Some(words) = part.strip_prefix(OWN_WORDS) {
        return Ok(StopWords::from_words(part, words));
    }
    match std::fs::read(part).map(String::from_utf8) {
        Ok(Ok(list)) => {
            // Lists for programs are often arrays of JSON.
            let words = serde_json::from_str::<Vec<String>>(&list);
            Ok(StopWords::from_list(part, &words.map_or(list, |words| words.join("\n"))))
        }
        // In another encoding, the words would differ from the words of the texts.
        Ok(Err(error)) => {
            let byte = error.utf8_error().valid_up_to();
            Err(wrong(format!("must be UTF-8 text, which it is not at byte {byte}")))
        }
        // A missing file is often a misspelled list, so the message has the names of the lists.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let rule = "must be none, english, chinese, an existing file, or words: and the words; + joins several, as \
                        in english+german.txt";
            Err(wrong(rule.to_owned()))
        }
        Err(error) => Err(Error::io(part, "read", error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(name: &str) -> Vec<String> {
        read_stop_words(name).unwrap().words().to_vec()
    }

    #[test]
    fn plus_signs_join_lists_files_and_words() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, list: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, list).unwrap();
            path.to_str().unwrap().to_owned()
        };
        let german = file("german.txt", "der die das\nthe\n");
        let plus = file("a+b.txt", "[\"uno\", \"due\"]");
        let english = words("english");
        let both = words(&format!("english+{german}"));
        // The word "the" is in both lists.
        assert_eq!(both.len(), english.len() + 3);
        assert!(both.is_sorted() && both.contains(&"der".to_owned()), "{both:?}");
        assert_eq!(words("english+chinese").len(), english.len() + words("chinese").len());
        assert_eq!(words(&plus), ["due", "uno"]);
        assert_eq!(words(&format!("none+{german}+words:wo Wie")).len(), 6);
        assert_eq!(words("words:c++  the"), ["c++", "the"]);
        let name = format!("english+{german}");
        assert_eq!(read_stop_words(&name).unwrap().name(), name);
    }

    #[test]
    fn a_part_that_is_no_list_is_named() {
        for (name, expected) in [
            ("german", "stop_words german: must be none, english, chinese, an existing file"),
            ("english+german", "stop_words english+german: german must be none, english,"),
        ] {
            let error = read_stop_words(name).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"die \xe4").unwrap();
        let error = read_stop_words(file.path().to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("must be UTF-8 text, which it is not at byte 4"), "{error}");
    }

    #[test]
    fn only_paths_name_a_file() {
        for (name, is_file) in
            [("a.txt", true), ("english", false), ("english+a.txt", false), ("words:a", false)]
        {
            assert_eq!(names_file(name), is_file, "{name}");
        }
    }
}
