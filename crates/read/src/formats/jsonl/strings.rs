//! Decodes JSON strings: resolves their escapes.

/// Number of bytes that are examined and copied at once. Escaped text has an escape, such as a line end, every few
/// words. Searching for the next escape and then copying the text before it would cost more than copying blocks of
/// fixed length.
const BLOCK: usize = 8;

/// Decodes the string at the start of `json` into `scratch`. Returns the content of the string and
/// the rest of `json` after the string. Returns `None` if `json` does not begin with a valid
/// string, or if the string holds half a surrogate pair.
pub(super) fn string<'a>(json: &'a str, scratch: &'a mut Vec<u8>) -> Option<(&'a [u8], &'a str)> {
    let quoted = json.strip_prefix('"')?;
    let mut rest = quoted.as_bytes();
    // An escape is never shorter than its character, so the content is not longer than the JSON.
    // The additional block allows copies of whole blocks at the end.
    if scratch.len() < rest.len() + BLOCK {
        scratch.resize(rest.len() + BLOCK, 0);
    }
    let mut end = 0;
    loop {
        let plain = copy_plain(&mut rest, &mut scratch[end..]);
        end += plain;
        let (&special, behind) = rest.split_first()?;
        rest = behind;
        match special {
            b'"' => {
                // The quote is an ASCII character, so the rest after it begins at the border of a
                // character.
                return Some((&scratch[..end], &quoted[quoted.len() - rest.len()..]));
            }
            b'\\' => {}
            // Control characters must be escaped in JSON, so this string is invalid.
            _ => return None,
        }
        let (&kind, behind) = rest.split_first()?;
        rest = behind;
        scratch[end] = match kind {
            b'"' | b'\\' | b'/' => kind,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                if !rest.get(..4)?.iter().all(u8::is_ascii_hexdigit) {
                    return None;
                }
                end += character(&mut rest)?.encode_utf8(&mut scratch[end..]).len();
                continue;
            }
            _ => return None,
        };
        end += 1;
    }
}

/// Copies the first bytes of `rest` to `to` and removes them from `rest`. Stops before the first quote, backslash or
/// control character, or at the end. Returns the number of copied bytes. `to` must be at least [`BLOCK`] bytes longer
/// than `rest`.
fn copy_plain(rest: &mut &[u8], to: &mut [u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = ONES << 7;
    let mut copied = 0;
    while let Some((block, behind)) = rest.split_first_chunk::<BLOCK>() {
        to[copied..copied + BLOCK].copy_from_slice(block);
        // In each of the three masks, the lowest set bit marks the first byte that matches. Later
        // bytes may be marked by mistake.
        let word = u64::from_le_bytes(*block);
        let equals = |byte: u8| {
            let differs = word ^ (ONES * u64::from(byte));
            differs.wrapping_sub(ONES) & !differs
        };
        let below_space = word.wrapping_sub(ONES * u64::from(b' ')) & !word;
        let special = (equals(b'"') | equals(b'\\') | below_space) & HIGH;
        if special != 0 {
            let plain = special.trailing_zeros() as usize / 8;
            *rest = &rest[plain..];
            return copied + plain;
        }
        copied += BLOCK;
        *rest = behind;
    }
    let plain = rest.iter().position(|&byte| byte < b' ' || byte == b'"' || byte == b'\\');
    let plain = plain.unwrap_or(rest.len());
    to[copied..copied + plain].copy_from_slice(&rest[..plain]);
    *rest = &rest[plain..];
    copied + plain
}

/// Decodes a JSON string in quotes that is known to be valid. Returns the content of the string, and whether half a
/// surrogate pair was replaced by U+FFFD. `scratch` is reusable memory.
pub(super) fn unescaped<'a>(string: &'a str, scratch: &'a mut Vec<u8>) -> (&'a [u8], bool) {
    let quoted = string.as_bytes();
    let mut rest = &quoted[1..quoted.len() - 1];
    let Some(mut escape) = memchr::memchr(b'\\', rest) else { return (rest, false) };
    let mut repaired = false;
    scratch.clear();
    loop {
        scratch.extend_from_slice(&rest[..escape]);
        rest = &rest[escape + 1..];
        let kind = rest.first().copied().unwrap_or(b'\\');
        rest = rest.get(1..).unwrap_or_default();
        match kind {
            b'b' => scratch.push(0x08),
            b'f' => scratch.push(0x0C),
            b'n' => scratch.push(b'\n'),
            b'r' => scratch.push(b'\r'),
            b't' => scratch.push(b'\t'),
            b'u' => {
                let character = character(&mut rest);
                repaired |= character.is_none();
                let mut utf8 = [0; 4];
                let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
                scratch.extend_from_slice(character.encode_utf8(&mut utf8).as_bytes());
            }
            other => scratch.push(other),
        }
        match memchr::memchr(b'\\', rest) {
            Some(next) => escape = next,
            None => break,
        }
    }
    scratch.extend_from_slice(rest);
    (scratch, repaired)
}

/// Reads the character of one `\u` escape, or of two `\u` escapes that form a surrogate pair. `rest` begins after the
/// first `\u`. The bytes that were read are removed from `rest`. Returns `None` for half a surrogate pair.
fn character(rest: &mut &[u8]) -> Option<char> {
    let first = unit(rest)?;
    // A character beyond U+FFFF is written as two escapes, a high and a low surrogate (RFC 8259,
    // section 7). `from_u32` refuses a low surrogate that comes first.
    if !(0xD800..0xDC00).contains(&first) {
        return char::from_u32(first);
    }
    let mut ahead = rest.strip_prefix(b"\\u")?;
    let second = unit(&mut ahead)?;
    if !(0xDC00..0xE000).contains(&second) {
        return None;
    }
    *rest = ahead;
    char::from_u32(0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
}

/// Reads four hexadecimal digits, removes them from `rest`, and returns their value.
fn unit(rest: &mut &[u8]) -> Option<u32> {
    let (digits, after) = rest.split_at_checked(4)?;
    *rest = after;
    u32::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}
