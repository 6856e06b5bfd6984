//! The option `fail_if`: conditions on which a run ends before it writes anything.

use crate::output::SourceCounts;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::options::Options;
use simtool_base::percentage::Percentage;
use simtool_base::quantity::{counted, grouped, percent};
use std::fmt;
use std::str::FromStr;

/// Rule for the values of the option `fail_if`, as error messages show it.
const EXPECTED: &str = "must be removed>30% or source:removed>90%, or both with a comma between them, with other percentages";

/// Conditions on which a run ends before it writes anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FailIf(Vec<Condition>);

/// Condition under which a run ends: a larger share than `most` of the documents is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Condition {
    of: CountedTogether,
    /// Maximum share of the documents that may be removed.
    most: Percentage,
}

/// Documents whose removals are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CountedTogether {
    All,
    /// The documents of each source, counted for each source. Sources with fewer than [`SourceCounts::LEAST_DOCUMENTS`]
    /// documents are ignored.
    Source,
}

impl CountedTogether {
    /// All values of this type, each with the text that begins its conditions: `source:removed>90%` begins with
    /// `source:removed>`.
    const BEGINNINGS: [(Self, &str); 2] =
        [(Self::All, "removed>"), (Self::Source, "source:removed>")];
}

impl FailIf {
    /// Takes the option `fail_if` out of `options`.
    ///
    /// # Errors
    ///
    /// The value is wrong.
    pub(super) fn parse(options: &mut Options) -> Result<Self> {
        Ok(options.take_parsed("fail_if", EXPECTED)?.unwrap_or_default())
    }

    /// Returns the conditions as users write them, for example `removed>30%`. `None` if there are no conditions.
    pub(super) fn written(&self) -> Option<String> {
        Some(self.to_string()).filter(|written| !written.is_empty())
    }

    /// Checks all conditions. `counts` has the numbers of documents and of removed documents of each source.
    ///
    /// # Errors
    ///
    /// A condition holds.
    pub(super) fn check(&self, counts: &SourceCounts) -> Result<()> {
        self.0.iter().try_for_each(|condition| match condition.found(counts) {
            Some(found) => {
                Err(Error::from(ErrorKind::Alarm { condition: condition.to_string(), found }))
            }
            None => Ok(()),
        })
    }
}

impl Condition {
    /// Returns a description of the removed share if it is larger than the condition allows, and otherwise `None`.
    fn found(self, counts: &SourceCounts) -> Option<String> {
        let Self { of, most } = self;
        match of {
            CountedTogether::All => {
                let [documents, removed] = counts.totals();
                let found = || {
                    format!(
                        "{} of {} are removed ({})",
                        grouped(removed),
                        counted(documents, "document"),
                        percent(removed, documents)
                    )
                };
                (!most.allows(removed, documents)).then(found)
            }
            CountedTogether::Source => counts.described_above(most),
        }
    }
}

impl FromStr for FailIf {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        text.split(',').map(str::parse).collect::<Result<_, ()>>().map(Self)
    }
}

impl FromStr for Condition {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        // Neither of the beginnings begins with the other, so their order does not matter.
        let condition = CountedTogether::BEGINNINGS
            .iter()
            .find_map(|&(of, beginning)| Some((of, text.strip_prefix(beginning)?)));
        let (of, most) = condition.ok_or(())?;
        Ok(Self { of, most: most.parse()? })
    }
}

impl fmt::Display for FailIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let conditions: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        f.write_str(&conditions.join(","))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beginning = CountedTogether::BEGINNINGS.iter().find(|(of, _)| *of == self.of);
        write!(f, "{}{}", beginning.map_or("", |(_, beginning)| beginning), self.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_written_as_they_were_read() {
        for text in ["removed>30%", "source:removed>90.5%", "removed>1%,source:removed>2%"] {
            assert_eq!(text.parse::<FailIf>().unwrap().to_string(), text);
        }
        for text in
            ["", "removed>30", "removed<30%", "removed>130%", "file:removed>3%", "removed>3%,"]
        {
            assert!(text.parse::<FailIf>().is_err(), "{text}");
        }
    }
}
