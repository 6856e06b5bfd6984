//! Settings as text: an ordered list of names and values. Each part of the program takes the
//! options that it knows out of the list.
//!
//! Every source of settings fills the same list: a command line, a settings file, keywords of
//! another language, and text such as `simhash:bits=128,verify=0.8`. So each value is parsed in one
//! place only, by the part that uses it.

use crate::error::{Error, Result};
use std::str::FromStr;

/// Names and values in their order that were given and not taken yet.
///
/// ```
/// use simtool::options::Options;
///
/// let mut options = Options::parse("bits=128,max-distance=3")?;
/// assert_eq!(options.take("bits").as_deref(), Some("128"));
/// assert_eq!(options.first(), Some(("max_distance", "3")));
/// # Ok::<(), simtool::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(Vec<(String, String)>);

impl Options {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Parses a list such as `bits=128,verify=0.8`.
    ///
    /// # Errors
    ///
    /// An item has no `=`, or a name occurs twice.
    pub fn parse(list: &str) -> Result<Self> {
        let mut options = Self::new();
        options.add(list)?;
        Ok(options)
    }

    /// Adds the options of such a list.
    ///
    /// # Errors
    ///
    /// The same as for [`Self::parse`], or a name is in the list already.
    pub fn add(&mut self, list: &str) -> Result<()> {
        for member in list.split(',').filter(|member| !member.is_empty()) {
            let Some((name, value)) = member.split_once('=') else {
                let rule = "must be NAME=VALUE; separate several options by commas";
                return Err(Error::config("options", member, rule));
            };
            let name = name.trim().replace('-', "_");
            if self.has(&name) {
                return Err(Error::config("options", member, "is given twice"));
            }
            self.set(&name, value.trim());
        }
        Ok(())
    }

    /// Adds an option.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.push((name.to_owned(), value.into()));
    }

    /// Adds the options that have a value.
    pub fn set_given<'v>(
        &mut self,
        given: impl IntoIterator<Item = (&'static str, &'v Option<String>)>,
    ) {
        for (name, value) in given {
            if let Some(value) = value {
                self.set(name, value);
            }
        }
    }

    /// Adds the options of `defaults` that were not given.
    pub fn complete(&mut self, defaults: &[(&str, &str)]) {
        for &(name, value) in defaults {
            if !self.has(name) {
                self.set(name, value);
            }
        }
    }

    /// Whether an option was given.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// Returns the names of the options.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Removes the option `name` from the list and returns its value, if it was given.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    /// Removes the option `name` from the list and parses its value.
    ///
    /// # Errors
    ///
    /// The value cannot be parsed. `rule` describes valid values.
    pub fn take_parsed<T: FromStr>(&mut self, name: &'static str, rule: &str) -> Result<Option<T>> {
        let value = self.take(name);
        let read = |value: String| value.parse().map_err(|_| Error::config(name, value, rule));
        value.map(read).transpose()
    }

    /// Returns the first option that was not taken, if there is one.
    #[must_use]
    pub fn first(&self) -> Option<(&str, &str)> {
        self.0.first().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_once_and_the_rest_is_seen() {
        let mut options = Options::parse("bits=128, max-distance=3").unwrap();
        assert_eq!(options.take_parsed("bits", "must be a number").unwrap(), Some(128));
        assert_eq!(options.take("bits"), None);
        assert_eq!(options.first(), Some(("max_distance", "3")));
        let read = options.take_parsed::<u32>("max_distance", "must be a number");
        assert_eq!((read.unwrap(), options.first()), (Some(3), None));
        for wrong in ["bits", "bits=1,bits=2"] {
            assert!(Options::parse(wrong).is_err(), "{wrong}");
        }
        let error = Options::parse("k=x").unwrap().take_parsed::<u32>("k", "must be a number");
        assert_eq!(error.unwrap_err().to_string(), "k x: must be a number");
    }
}
