//! Weights of kept documents by the size of their cluster, for training data that repeats what many sources say.
//!
//! # References
//!
//! G. Penedo et al. `FineWeb2`: one pipeline to scale them all. 2025 (section on rehydration).

use std::fmt;
use std::str::FromStr;

/// Weights are rounded to a multiple of 1 / `PARTS`, so that every processor writes the same digits.
const PARTS: f64 = 1e6;

/// Rule that gives a kept document a weight by the number of documents in its cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ClusterWeight {
    /// 1 for every size.
    #[default]
    One,
    /// 1 + the natural logarithm of the size.
    Log,
    /// The square root of the size.
    Sqrt,
    /// The weights, each with the minimum size of a cluster for it. The sizes are in ascending order and begin with 1.
    Steps(Vec<(u32, f64)>),
}

impl ClusterWeight {
    /// Description of the texts that [`str::parse`] accepts, for error messages.
    pub const EXPECTED: &'static str = "must be 1, log, sqrt, or sizes in ascending order with their weights, such as 1:1,2:2,10:3";

    /// Returns the weight of the kept document of a cluster of `size` documents.
    ///
    /// ```
    /// use simtool::output::ClusterWeight;
    ///
    /// let weight: ClusterWeight = "1:1,3:2.5".parse().unwrap();
    /// assert_eq!([1, 2, 3, 99].map(|size| weight.of(size)), [1.0, 1.0, 2.5, 2.5]);
    /// assert_eq!(ClusterWeight::Sqrt.of(4), 2.0);
    /// ```
    #[must_use]
    pub fn of(&self, size: u32) -> f64 {
        let weight = match self {
            Self::One => 1.0,
            Self::Log => 1.0 + f64::from(size).ln(),
            Self::Sqrt => f64::from(size).sqrt(),
            Self::Steps(steps) => {
                let after = steps.partition_point(|&(from, _)| from <= size);
                after.checked_sub(1).map_or(0.0, |step| steps[step].1)
            }
        };
        (weight * PARTS).round() / PARTS
    }
}

impl FromStr for ClusterWeight {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "1" => return Ok(Self::One),
            "log" => return Ok(Self::Log),
            "sqrt" => return Ok(Self::Sqrt),
            _ => {}
        }
        let step = |step: &str| {
            let (size, weight) = step.split_once(':')?;
            let weight: f64 = weight.parse().ok()?;
            (weight.is_finite() && weight >= 0.0).then_some((size.parse().ok()?, weight))
        };
        let steps: Vec<(u32, f64)> = text.split(',').map(step).collect::<Option<_>>().ok_or(())?;
        let is_ascending = steps.windows(2).all(|two| two[0].0 < two[1].0);
        let begins_with_one = steps.first().is_some_and(|&(size, _)| size == 1);
        if is_ascending && begins_with_one { Ok(Self::Steps(steps)) } else { Err(()) }
    }
}

impl fmt::Display for ClusterWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("1"),
            Self::Log => f.write_str("log"),
            Self::Sqrt => f.write_str("sqrt"),
            Self::Steps(steps) => {
                let steps: Vec<String> =
                    steps.iter().map(|(size, weight)| format!("{size}:{weight}")).collect();
                f.write_str(&steps.join(","))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_parsed_and_printed() {
        for rule in ["1", "log", "sqrt", "1:1,2:2,10:3.5", "1:0"] {
            assert_eq!(rule.parse::<ClusterWeight>().unwrap().to_string(), rule);
        }
        for wrong in ["", "2", "ln", "2:1", "1:1,1:2", "1:1,3:2,2:1", "1:-1", "1:inf", "1:1,"] {
            assert_eq!(wrong.parse::<ClusterWeight>(), Err(()), "{wrong}");
        }
    }

    #[test]
    fn weights_grow_with_the_size() {
        for (rule, weights) in [
            ("1", "1 1 1"),
            ("log", "1 1.693147 3.079442"),
            ("sqrt", "1 1.414214 2.828427"),
            ("1:0.5,8:4", "0.5 0.5 4"),
        ] {
            let rule: ClusterWeight = rule.parse().unwrap();
            assert_eq!([1, 2, 8].map(|size| rule.of(size).to_string()).join(" "), weights);
        }
    }
}
