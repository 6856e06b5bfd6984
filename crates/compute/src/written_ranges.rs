//! Writes text in order, although several threads make parts of it at the same time.

use crate::tasks;
use std::io::{self, Write};
use std::ops::Range;

/// Number of rows for which a thread makes text at a time. It is small, so that the text fits in the cache of a core.
const ROWS_OF_RANGE: u32 = 1024;

/// A function that appends the text of a range of rows to a buffer.
pub type PushRows<'p> = dyn Fn(Range<u32>, &mut Vec<u8>) -> io::Result<()> + Sync + 'p;

/// Writes the text of rows 0 to `count` − 1 to `out`. Runs on the thread pool of the caller.
///
/// # Errors
///
/// Writing to `out` fails, or `push` fails.
pub fn write_ranges(
    out: &mut (dyn Write + Send),
    count: u32,
    push: &PushRows<'_>,
) -> io::Result<()> {
    // Each thread makes one text at a time, which limits the number of texts in memory.
    let at_once = rayon::current_num_threads() as u32;
    let texts_from = |range: u32| {
        let end = count.div_ceil(ROWS_OF_RANGE).min(range + at_once);
        let text = |number: usize| {
            let start = (range + number as u32) * ROWS_OF_RANGE;
            let mut text = Vec::new();
            push(start..count.min(start.saturating_add(ROWS_OF_RANGE)), &mut text).map(|()| text)
        };
        let texts = tasks::map(end.saturating_sub(range) as usize, text);
        texts.into_iter().collect::<io::Result<Vec<Vec<u8>>>>()
    };
    let mut next = 0;
    let mut texts = texts_from(next)?;
    while !texts.is_empty() {
        next += at_once;
        // The file is written while the next texts are made.
        let write = || texts.iter().try_for_each(|text| out.write_all(text));
        let (written, made) = rayon::join(write, || texts_from(next));
        written?;
        texts = made?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::threads::Threads;

    #[test]
    fn rows_are_written_in_order() {
        for count in [0, 1, ROWS_OF_RANGE, ROWS_OF_RANGE + 1, 10 * ROWS_OF_RANGE + 3] {
            let push = |rows: Range<u32>, text: &mut Vec<u8>| {
                rows.into_iter().try_for_each(|row| writeln!(text, "{row}"))
            };
            let mut out = Vec::new();
            Threads::new(3).unwrap().run(|| write_ranges(&mut out, count, &push)).unwrap().unwrap();
            let mut expected = Vec::new();
            (0..count).for_each(|row| writeln!(expected, "{row}").unwrap());
            assert!(out == expected, "{count} rows");
        }
    }
}
