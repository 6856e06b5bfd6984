//! The records of an input file whose documents were processed.

use std::fmt::{self, Write};
use std::num::ParseIntError;
use std::ops::Range;
use std::str::FromStr;

/// Maximum number of ranges. Records that would need one more range are left out, so that the entry of a file stays
/// small.
const MOST_RANGES: usize = 1 << 12;

/// Numbers of records in a file, as ascending ranges. They are written like `0-41,50-99`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RecordRanges(Vec<Range<u64>>);

impl RecordRanges {
    /// Adds the number of a record. Numbers below the greatest one are ignored, because a file that is read again
    /// begins with records that were added before.
    pub(super) fn push(&mut self, record: u64) {
        let is_full = self.0.len() == MOST_RANGES;
        match self.0.last_mut() {
            Some(last) if record < last.end => {}
            Some(last) if record == last.end => last.end += 1,
            _ if is_full => {}
            _ => self.0.push(record..record.saturating_add(1)),
        }
    }

    /// Returns whether the record number `record` was added.
    pub(super) fn contains(&self, record: u64) -> bool {
        let at = self.0.partition_point(|range| range.end <= record);
        self.0.get(at).is_some_and(|range| range.contains(&record))
    }
}

impl fmt::Display for RecordRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, range) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_char(',')?;
            }
            write!(f, "{}-{}", range.start, range.end - 1)?;
        }
        Ok(())
    }
}

impl FromStr for RecordRanges {
    type Err = ParseIntError;

    /// Parses ranges such as `0-41,50-99`. Ranges that do not ascend are left out.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for range in text.split(',').filter(|range| !range.is_empty()) {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let range = first.parse()?..last.parse::<u64>()?.saturating_add(1);
            let next = ranges.last().map_or(0, |before| before.end);
            if next <= range.start && !range.is_empty() {
                ranges.push(range);
            }
        }
        Ok(Self(ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_the_records_that_were_added() {
        let mut ranges = RecordRanges::default();
        let records = [0, 1, 2, 5, 1, 6, 9];
        for record in records {
            ranges.push(record);
        }
        assert_eq!(ranges.to_string(), "0-2,5-6,9-9");
        assert_eq!(ranges.to_string().parse(), Ok(ranges.clone()));
        for record in 0..12 {
            assert_eq!(ranges.contains(record), records.contains(&record), "{record}");
        }
        assert_eq!("".parse(), Ok(RecordRanges::default()));
        assert_eq!("5-9,3-4,7-1".parse::<RecordRanges>().unwrap().to_string(), "5-9");
        assert!("1-x".parse::<RecordRanges>().is_err());
    }

    #[test]
    fn the_number_of_ranges_is_limited() {
        let mut ranges = RecordRanges::default();
        (0..10_000).for_each(|n| ranges.push(2 * n));
        assert!(ranges.contains(2 * MOST_RANGES as u64 - 2) && !ranges.contains(19_998));
    }
}
