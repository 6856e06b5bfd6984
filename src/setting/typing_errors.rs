//! Counts the typing errors in a name.
//!
//! # References
//!
//! F. J. Damerau. A technique for computer detection and correction of spelling errors. Communications of the ACM, 1964.

/// Returns the least number of typing errors that make `typed` of `name`: a letter too many, a missing letter, a wrong
/// letter, or two letters in the wrong order.
pub(crate) fn typing_errors(typed: &str, name: &str) -> usize {
    let (typed, name) = (typed.as_bytes(), name.as_bytes());
    // The last rows of the table of distances between all beginnings of the two names.
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=name.len()).collect();
    for at in 1..=typed.len() {
        let mut row = vec![at];
        for to in 1..=name.len() {
            let is_other = usize::from(typed[at - 1] != name[to - 1]);
            let mut least = (last[to] + 1).min(row[to - 1] + 1).min(last[to - 1] + is_other);
            // Two neighbours in the wrong order are one error.
            if at > 1 && to > 1 && typed[at - 1] == name[to - 2] && typed[at - 2] == name[to - 1] {
                least = least.min(before[to - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_counted() {
        for (typed, name, errors) in [
            ("", "", 0),
            ("a", "", 1),
            ("", "ab", 2),
            ("ba", "ab", 1),
            ("abc", "abc", 0),
            ("acbd", "abcd", 1),
            ("treshold", "threshold", 1),
            ("thresold", "threshold", 1),
            ("kitten", "sitting", 3),
        ] {
            assert_eq!(typing_errors(typed, name), errors, "{typed} {name}");
        }
    }
}
