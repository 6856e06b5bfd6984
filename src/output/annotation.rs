//! The option `annotate`: the list of all documents with their clusters, and the further data in this list.

use super::cluster_weight::ClusterWeight;
use simtool_base::error::{Error, Result};
use simtool_passages::MOST_WORDS;
use std::fmt;

const SETTING: &str = "annotate";
const IN_PLACE: &str = "in-place";
const WEIGHT: &str = "weight=";
const REPEATED: &str = "repeated=";

/// Settings for the output `documents`, which lists all documents: its weights, its optional column, and whether copies
/// of the inputs have the same columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotation {
    /// Whether copies of the inputs are written whose records also have the columns of the list.
    pub is_in_place: bool,
    /// Rule that gives each kept document a weight by the size of its cluster.
    pub weight: ClusterWeight,
    /// Minimum number of words of a repeated passage. If it is given, the list has the share of the words of each
    /// document that are in repeated passages.
    pub repeated_share: Option<usize>,
}

impl Annotation {
    /// Parses the value of the option `annotate`: parts separated by commas, which are `in-place`, `weight=RULE` and
    /// `repeated=N`. `true` means the list without these parts. Returns `None` for `false`, which means no list.
    ///
    /// ```
    /// use simtool::output::Annotation;
    ///
    /// let parsed = Annotation::parse("in-place,weight=1:1,2:2,repeated=50")?.unwrap();
    /// assert_eq!((parsed.weight.of(2), parsed.repeated_share), (2.0, Some(50)));
    /// assert_eq!(Annotation::parse("false")?, None);
    /// # Ok::<(), simtool::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// A part is unknown, or its value is wrong.
    pub fn parse(text: &str) -> Result<Option<Self>> {
        match text {
            "false" => return Ok(None),
            "true" => return Ok(Some(Self::default())),
            _ => {}
        }
        let mut annotation = Self::default();
        let mut rest = text;
        loop {
            // The sizes of a weight are separated by commas as well.
            let next = [IN_PLACE, WEIGHT, REPEATED].map(|name| rest.find(&format!(",{name}")));
            let end = next.into_iter().flatten().min().unwrap_or(rest.len());
            let (part, after) = rest.split_at(end);
            rest = after.strip_prefix(',').unwrap_or(after);
            if part == IN_PLACE {
                annotation.is_in_place = true;
            } else if let Some(rule) = part.strip_prefix(WEIGHT) {
                let Ok(weight) = rule.parse() else {
                    return wrong(part, ClusterWeight::EXPECTED);
                };
                annotation.weight = weight;
            } else if let Some(words) = part.strip_prefix(REPEATED) {
                let words = words.parse().ok().filter(|words| (1..=MOST_WORDS).contains(words));
                if words.is_none() {
                    return wrong(
                        part,
                        &format!("must be a number of words from 1 to {MOST_WORDS}"),
                    );
                }
                annotation.repeated_share = words;
            } else {
                return wrong(
                    part,
                    "must be in-place, weight=RULE or repeated=N, with commas between",
                );
            }
            // A comma at the end would promise another part.
            if rest.is_empty() {
                return Ok(Some(annotation));
            }
        }
    }
}

fn wrong<T>(part: &str, rule: &str) -> Result<T> {
    Err(Error::config(SETTING, part, rule))
}

impl fmt::Display for Annotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A list without parts is a flag.
        if *self == Self::default() {
            return f.write_str("true");
        }
        // The default weight need not be named.
        let weight = (self.weight != ClusterWeight::default()).then(|| self.weight.to_string());
        let parts = [
            self.is_in_place.then(|| IN_PLACE.to_owned()),
            weight.map(|weight| format!("{WEIGHT}{weight}")),
            self.repeated_share.map(|words| format!("{REPEATED}{words}")),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read_and_written() {
        for text in ["true", "in-place", "weight=sqrt", "in-place,weight=1:1,2:2,repeated=8"] {
            assert_eq!(Annotation::parse(text).unwrap().unwrap().to_string(), text);
        }
        for (text, message) in [
            ("everywhere", "annotate everywhere: must be in-place, weight=RULE or repeated=N"),
            ("weight=2", "annotate weight=2: must be 1, log, sqrt, or sizes"),
            ("in-place,repeated=0", "annotate repeated=0: must be a number of words from 1"),
            ("repeated=x", "annotate repeated=x: must be a number of words from 1"),
        ] {
            let error = Annotation::parse(text).map_or_else(|e| e.to_string(), |_| String::new());
            assert!(error.starts_with(message), "{error}");
        }
    }
}
