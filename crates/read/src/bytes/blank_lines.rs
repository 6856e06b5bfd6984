//! Finds blank lines. They may contain spaces, tabs and carriage returns.

/// Returns whether a blank line can contain `byte`.
fn is_blank(byte: u8) -> bool {
    b" \t\r".contains(&byte)
}

/// Returns the length in bytes of the blank lines at the start of `bytes`. The last line of `bytes` can be blank
/// without a line end.
pub(crate) fn blank_lines(bytes: &[u8]) -> usize {
    let space = bytes.iter().take_while(|&&byte| byte == b'\n' || is_blank(byte)).count();
    if space == bytes.len() {
        return space;
    }
    // The space after the last line end belongs to the first line of the block.
    memchr::memrchr(b'\n', &bytes[..space]).map_or(0, |end| end + 1)
}

/// Returns the position of the first blank line that follows another line of `bytes`, and the position after this blank
/// line. Returns `None` if there is none.
pub(crate) fn first_blank_line(bytes: &[u8]) -> Option<(usize, usize)> {
    memchr::memchr_iter(b'\n', bytes).find_map(|at| {
        let behind = &bytes[at + 1..];
        let space = behind.iter().take_while(|&&byte| is_blank(byte)).count();
        (behind.get(space) == Some(&b'\n')).then_some((at + 1, at + 1 + space + 1))
    })
}

/// Returns the position after the first blank line that follows another line of `bytes`. Returns `None` if there is
/// none.
pub(crate) fn end_of_blank_line(bytes: &[u8]) -> Option<usize> {
    first_blank_line(bytes).map(|(_, end)| end)
}
