//! Settings as text: an ordered list of names and values. Each part of the program removes the options that it knows
//! from the list.
//!
//! All sources of settings fill the same list: the command line, a settings file, keywords of another language, and
//! text such as `simhash:bits=128,verify=0.8`. So each value is parsed in only one place, by the part of the program
//! that uses it.

use crate::error::{Error, Result};
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

/// A setting whose value is one of a fixed list of names. For example, the setting `keep` can be
/// `first` or `longest`.
///
/// The parser and the help text of the setting use the same list of values. To add a value, only this list must change.
///
/// ```
/// use simtool_base::options::{Choice, Options};
///
/// #[derive(Clone, Copy, Debug, PartialEq, Eq)]
/// enum Order {
///     Ascending,
///     Descending,
/// }
///
/// impl Choice for Order {
///     const ALL: &'static [Self] = &[Self::Ascending, Self::Descending];
///
///     fn name(self) -> &'static str {
///         match self {
///             Self::Ascending => "up",
///             Self::Descending => "down",
///         }
///     }
///
///     fn help(self) -> &'static str {
///         match self {
///             Self::Ascending => "The smallest first",
///             Self::Descending => "The greatest first",
///         }
///     }
/// }
///
/// let mut options = Options::parse("order=down")?;
/// assert_eq!(options.take_choice("order")?, Some(Order::Descending));
/// # Ok::<(), simtool_base::error::Error>(())
/// ```
pub trait Choice: Copy + 'static {
    /// All values, in the order in which help texts and messages list them.
    const ALL: &'static [Self];

    /// Returns the name with which users select this value.
    #[must_use]
    fn name(self) -> &'static str;

    /// Returns a phrase that describes this value in help texts. Names of settings in the phrase
    /// are in backquotes.
    #[must_use]
    fn help(self) -> &'static str;
}

/// List of the options that the user gave, in their order. Each part of the program removes the options that it knows.
/// So options that are left at the end are unknown.
///
/// Values are text. Only the value of a path may contain bytes that are not UTF-8.
///
/// ```
/// use simtool_base::options::Options;
///
/// let mut options = Options::parse("bits=128,max-distance=3")?;
/// assert_eq!(options.take("max_distance").as_deref(), Some("3"));
/// assert_eq!(options.take("max_distance"), None);
/// assert_eq!(options.first().map(|(name, _)| name), Some("bits"));
/// # Ok::<(), simtool_base::error::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(Vec<(String, OsString)>);

impl Options {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses a list such as `bits=128,verify=0.8`. Two commas stand for one comma in a value, as in
    /// `ignore=numbers,,links`.
    ///
    /// # Errors
    ///
    /// An item has no `=`, or a name occurs twice.
    pub fn parse(list: &str) -> Result<Self> {
        let mut options = Self::new();
        options.add(list)?;
        Ok(options)
    }

    /// Parses a list such as `bits=128,verify=0.8` and adds its options to `self`.
    ///
    /// # Errors
    ///
    /// An item has no `=`, a name occurs twice, or an option is in `self` already.
    pub fn add(&mut self, list: &str) -> Result<()> {
        for member in members(list) {
            let Some((name, value)) = member.split_once('=') else {
                let rule = "must be NAME=VALUE; separate several options by commas";
                return Err(Error::config("options", member, rule));
            };
            // Options are spelled with hyphens on the command line and with underscores in Python.
            // Here all names get underscores, so that every part of the program looks for one
            // spelling.
            let name = name.trim().replace('-', "_");
            // A list that gives two values for one name has no clear meaning, and taking either
            // value silently would hide a mistake.
            if self.has(&name) {
                return Err(Error::config("options", member, "is given twice"));
            }
            self.set(&name, value.trim().replace(",,", ","));
        }
        Ok(())
    }

    /// Adds the option `name` with a value. Does not replace an option of the same name, so an option can have several
    /// values.
    pub fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// Adds the options in `defaults`, pairs of a name and a value. A pair is skipped if the list already has an option
    /// of this name.
    pub fn complete(&mut self, defaults: &[(&str, &str)]) {
        for &(name, value) in defaults {
            if !self.has(name) {
                self.set(name, value);
            }
        }
    }

    /// Returns whether the list has an option with the name `name`.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// Returns the names of the options that were not taken yet.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Removes the option `name` from the list and returns its value. Returns `None` if the option
    /// was not given.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let value = self.take_value(name)?;
        Some(text(value))
    }

    /// Removes the option `name` from the list and returns its value as a path. Returns `None` if
    /// the option was not given.
    pub fn take_path(&mut self, name: &str) -> Option<PathBuf> {
        self.take_value(name).map(PathBuf::from)
    }

    /// Removes all options with the name `name` from the list, and returns their values in order.
    pub fn take_all(&mut self, name: &str) -> Vec<String> {
        // Each call takes the first value that is left, so the values keep their order.
        std::iter::from_fn(|| self.take(name)).collect()
    }

    /// Removes the option `name`, whose value is `true` or `false`, from the list. Returns its
    /// value, or `false` if the option was not given.
    ///
    /// # Errors
    ///
    /// The value is neither `true` nor `false`.
    pub fn take_flag(&mut self, name: &'static str) -> Result<bool> {
        match self.take(name).as_deref() {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(other) => Err(Error::config(name, other, "must be true or false")),
        }
    }

    /// Removes the option `name` from the list and looks up its text in `values`. Each entry of
    /// `values` is a text and the value that the text selects. Returns the selected value, or
    /// `None` if the option was not given.
    ///
    /// # Errors
    ///
    /// The given text is not in `values`. The message lists the valid texts.
    pub fn take_named<T: Copy>(
        &mut self,
        name: &'static str,
        values: &[(&'static str, T)],
    ) -> Result<Option<T>> {
        let Some(given) = self.take(name) else { return Ok(None) };
        let Some(&(_, value)) = values.iter().find(|(known, _)| *known == given) else {
            let known: Vec<&str> = values.iter().map(|(known, _)| *known).collect();
            return Err(Error::config(name, given, format!("must be one of {}", known.join(", "))));
        };
        Ok(Some(value))
    }

    /// Removes the option `name` from the list, and returns the value of `T` whose [`Choice::name`] is the text of the
    /// option. Returns `None` if the option was not given.
    ///
    /// # Errors
    ///
    /// `T` has no value of this name. The message lists the valid names.
    pub fn take_choice<T: Choice>(&mut self, name: &'static str) -> Result<Option<T>> {
        let values: Vec<_> = T::ALL.iter().map(|choice| (choice.name(), *choice)).collect();
        self.take_named(name, &values)
    }

    /// Removes the option `name` from the list and parses its value. Returns `None` if the option
    /// was not given.
    ///
    /// # Errors
    ///
    /// The value cannot be parsed. The message ends with `rule`, which describes valid values.
    pub fn take_parsed<T: FromStr>(&mut self, name: &'static str, rule: &str) -> Result<Option<T>> {
        let value = self.take(name);
        let read = |value: String| value.parse().map_err(|_| Error::config(name, value, rule));
        value.map(read).transpose()
    }

    /// Returns the name and value of the first option in the list, or `None` if the list is empty. After all parts of
    /// the program have taken their options, an option in the list is unknown.
    #[must_use]
    pub fn first(&self) -> Option<(&str, Cow<'_, str>)> {
        self.0.first().map(|(name, value)| (name.as_str(), value.to_string_lossy()))
    }

    /// Checks that the list is empty.
    ///
    /// # Errors
    ///
    /// An option is left in the list. The message names the first such option and ends with `rule`.
    pub fn refuse_rest(&self, rule: &str) -> Result<()> {
        match self.first() {
            Some((option, value)) => {
                Err(Error::config("options", format!("{option}={value}"), rule))
            }
            None => Ok(()),
        }
    }

    /// Returns the value of the option `name` without removing the option. Returns `None` if the option is not in the
    /// list.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Cow<'_, str>> {
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        Some(value.to_string_lossy())
    }

    /// Returns the names and values of all options in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OsString)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    fn take_value(&mut self, name: &str) -> Option<OsString> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }
}

/// Returns the members of a list that commas separate, without empty members. Two commas in a row do not separate
/// members, and are returned as they are. For example, `a,,b,c` has the members `a,,b` and `c`.
pub fn members(list: &str) -> impl Iterator<Item = &str> {
    let mut rest = list;
    let member = move || {
        if rest.is_empty() {
            return None;
        }
        let mut at = 0;
        let end = loop {
            match rest[at..].find(',') {
                None => break rest.len(),
                Some(comma) if rest[at + comma + 1..].starts_with(',') => at += comma + 2,
                Some(comma) => break at + comma,
            }
        };
        let member = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(member)
    };
    std::iter::from_fn(member).filter(|member| !member.is_empty())
}

/// Returns `value` with each comma doubled, so that it can be a member of a list that commas separate. For example,
/// `a,b` becomes `a,,b`.
#[must_use]
pub fn as_member(value: &str) -> String {
    value.replace(',', ",,")
}

/// Converts the value of an option to text. Bytes that are not UTF-8 become the replacement character. The parser of
/// the setting then refuses the value, and its message shows where these bytes are.
fn text(value: OsString) -> String {
    value.into_string().unwrap_or_else(|bytes| bytes.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_once_and_the_rest_is_seen() {
        let mut options = Options::parse("bits=128, max-distance=3").unwrap();
        assert_eq!(options.take_parsed("bits", "must be a number").unwrap(), Some(128));
        assert_eq!(options.take("bits"), None);
        assert_eq!(options.first(), Some(("max_distance", "3".into())));
        let read = options.take_parsed::<u32>("max_distance", "must be a number");
        assert_eq!((read.unwrap(), options.first()), (Some(3), None));
        for wrong in ["bits", "bits=1,bits=2"] {
            assert!(Options::parse(wrong).is_err(), "{wrong}");
        }
        let mut options = Options::parse("glob=a,on=true,off=false,odd=1,kind=b").unwrap();
        options.set("glob", "b");
        assert_eq!(options.take_all("glob"), ["a", "b"]);
        let flags = ["on", "off", "none"].map(|name| options.take_flag(name).unwrap());
        assert_eq!(flags, [true, false, false]);
        assert!(options.take_flag("odd").is_err());
        assert_eq!(options.take_named("kind", &[("a", 1), ("b", 2)]).unwrap(), Some(2));
        let error = Options::parse("k=x").unwrap().take_parsed::<u32>("k", "must be a number");
        assert_eq!(error.unwrap_err().to_string(), "k x: must be a number");
    }

    #[test]
    fn two_commas_are_one_of_a_value() {
        for value in ["a", ",", ",a,", "a,b,,c", "re:x{1,2}"] {
            let list = format!("bits=1,kind={},end=,", as_member(value));
            let mut options = Options::parse(&list).unwrap();
            assert_eq!(options.take("kind").as_deref(), Some(value), "{list}");
            assert_eq!(options.take("end").as_deref(), Some(""), "{list}");
        }
        assert_eq!(members("a,,b,c,,,d,").collect::<Vec<_>>(), ["a,,b", "c,,", "d"]);
    }

    #[test]
    fn reading_a_value_leaves_the_option_in_the_list() {
        let options = Options::parse("kind=b").unwrap();
        assert_eq!(options.get("kind").as_deref(), Some("b"));
        assert_eq!(options.get("bits"), None);
        assert_eq!(options.first(), Some(("kind", "b".into())));
    }
}
