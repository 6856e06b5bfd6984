//! Values of settings in `summary.json`, where a number is written as a JSON number and not as text.

use simtool_base::json_text::write_string;
use std::fmt;
use std::io::{self, Write};

/// Value of a setting of the run, with its type.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// No value, because the setting was not given. For a limit this means, for example, that there is no
    /// limit.
    None,
    /// A setting that is on or off.
    Flag(bool),
    /// A whole number, for example a number of bits.
    Count(u64),
    /// A number with a fraction, for example a threshold.
    Number(f64),
    /// A text, for example the name of a field.
    Text(String),
    /// A list of texts, for example of file name patterns.
    List(Vec<String>),
}

impl Setting {
    /// Parses the text of an option. `64` becomes a count, `0.8` and `4/5` become numbers, and `words:3`
    /// becomes a text.
    #[must_use]
    pub fn read(text: &str) -> Self {
        // The parser of floats also accepts texts such as `inf`, `nan` and `1e5`.
        let is_number = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        };
        let number = |text: &str| text.parse::<f64>().ok().filter(|_| is_number(text));
        if let Ok(count) = text.parse::<u64>() {
            return Self::Count(count);
        }
        let ratio = || {
            let (part, whole) = text.split_once('/')?;
            Some(number(part)? / number(whole)?).filter(|ratio| ratio.is_finite())
        };
        match number(text).or_else(ratio) {
            Some(number) => Self::Number(number),
            None => Self::Text(text.to_owned()),
        }
    }

    /// Returns a [`Count`](Self::Count) if there is a count, otherwise [`None`](Self::None).
    pub fn count(count: Option<u64>) -> Self {
        count.map_or(Self::None, Self::Count)
    }

    /// Returns a [`Text`](Self::Text) if there is a text, otherwise [`None`](Self::None).
    pub fn text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::None, |text| Self::Text(text.into()))
    }

    /// Writes the value as JSON to `out`.
    pub(in crate::write) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Flag(flag) => write!(out, "{flag}"),
            Self::Count(count) => write!(out, "{count}"),
            Self::Number(number) if number.is_finite() => write!(out, "{number}"),
            // JSON has no infinities and no NaN.
            Self::None | Self::Number(_) => out.write_all(b"null"),
            Self::Text(text) => write_string(out, text.as_bytes()),
            Self::List(texts) => {
                out.write_all(b"[")?;
                for (number, text) in texts.iter().enumerate() {
                    out.write_all(if number == 0 { b"" } else { b", " })?;
                    write_string(out, text.as_bytes())?;
                }
                out.write_all(b"]")
            }
        }
    }
}

impl fmt::Display for Setting {
    /// Formats the value for people. A setting without a value is empty.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => Ok(()),
            Self::Flag(flag) => f.write_str(if *flag { "yes" } else { "no" }),
            Self::Count(count) => write!(f, "{count}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
            Self::List(texts) => f.write_str(&texts.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_numbers_and_the_rest_is_text() {
        for (text, json) in [
            ("64", "64"),
            ("0.8", "0.8"),
            ("4/5", "0.8"),
            ("1/3", "0.3333333333333333"),
            ("words:3", "\"words:3\""),
            ("", "\"\""),
            (".", "\".\""),
            ("1/0", "\"1/0\""),
            ("inf", "\"inf\""),
            ("-1", "\"-1\""),
            ("1e5", "\"1e5\""),
        ] {
            let mut out = Vec::new();
            Setting::read(text).write_json(&mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), json, "{text}");
        }
        let mut out = Vec::new();
        let list = Setting::List(vec!["*.gz".into(), "a\"b".into()]);
        list.write_json(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "[\"*.gz\", \"a\\\"b\"]");
        assert_eq!(list.to_string(), "*.gz, a\"b");
        assert_eq!(
            (Setting::count(None), Setting::count(Some(3))),
            (Setting::None, Setting::Count(3))
        );
        assert_eq!(Setting::Flag(true).to_string(), "yes");
    }
}
