//! Joins lists of 64-bit words to one list, in little more memory than the result takes.

/// Number of 64-bit numbers that are copied to the result at a time. After each copy, the memory of the copied numbers
/// is released.
const MOVED_WORDS: usize = 1 << 20;

/// Concatenates lists. Copies the elements from the end to the beginning, and releases the memory of each copied piece
/// right away. So the lists and the result are never both in memory as a whole.
pub(super) fn joined_lists(lists: Vec<Vec<u64>>) -> Vec<u64> {
    let mut end = lists.iter().map(Vec::len).sum();
    // Zeros that were not overwritten yet take no memory.
    let mut all = vec![0; end];
    for mut list in lists.into_iter().rev() {
        while !list.is_empty() {
            let kept = list.len().saturating_sub(MOVED_WORDS);
            let moved = &list[kept..];
            all[end - moved.len()..end].copy_from_slice(moved);
            end -= moved.len();
            list.truncate(kept);
            list.shrink_to_fit();
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_follow_each_other() {
        let list = |from: u64, to: u64| -> Vec<u64> { (from..to).collect() };
        let end = 2 * MOVED_WORDS as u64 + 9;
        let lists = vec![list(0, 3), list(3, 3), list(3, end), list(end, end + 1)];
        assert!(joined_lists(lists).into_iter().eq(0..=end));
        assert!(joined_lists(Vec::new()).is_empty());
    }
}
