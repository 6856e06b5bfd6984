//! A compressed list of IDs. Each ID is stored as its difference from the ID before.
//!
//! Sixteen IDs are a block, and the first ID of a block is stored whole. The other IDs are stored as:
//!
//! 1. the number of leading bytes that are equal to the leading bytes of the ID before,
//! 2. one more than the number of the bytes that follow, or 0,
//! 3. the bytes.
//!
//! If the second number is 0, the rest of the ID looks like the rest of the ID before. It has the same
//! length, hexadecimal digits (`0-9`, `a-f`) at the same positions, and equal bytes everywhere else. Then
//! only the digits are stored, two in each byte, the first in the lower half. So a UUID takes about 16 bytes,
//! and a decimal number half a byte for each digit.
//!
//! Numbers are stored with seven bits in each byte, lowest bits first. The highest bit says that more bytes
//! follow.

/// Number of IDs in a block, which can be read without the blocks before it.
pub(super) const BLOCK: usize = 16;

/// Compresses IDs one after the other.
#[derive(Debug, Default)]
pub(super) struct IdEncoder {
    last: Vec<u8>,
    count: usize,
    bytes: u64,
}

impl IdEncoder {
    /// Appends a compressed ID to `out`. If the ID is the first of a block, returns the byte offset at which
    /// the block starts in the whole list.
    pub(super) fn push(&mut self, id: &[u8], out: &mut Vec<u8>) -> Option<u64> {
        let starts_block = self.starts_block();
        if starts_block {
            // The first ID of a block is stored whole, so that a block can be read without the blocks before
            // it.
            self.last.clear();
        }
        let start = self.bytes;
        let shared = self.last.iter().zip(id).take_while(|(a, b)| a == b).count();
        let (length, rest) = (out.len(), &id[shared..]);
        push_number(shared, out);
        if !starts_block && is_of_form(rest, &self.last[shared..]) {
            push_number(0, out);
            push_digits(rest, out);
        } else {
            push_number(rest.len() + 1, out);
            out.extend_from_slice(rest);
        }
        self.last.truncate(shared);
        self.last.extend_from_slice(rest);
        self.count += 1;
        self.bytes += (out.len() - length) as u64;
        starts_block.then_some(start)
    }

    /// Returns whether the next ID is the first of a block.
    pub(super) fn starts_block(&self) -> bool {
        self.count.is_multiple_of(BLOCK)
    }

    /// Returns the number of bytes that were appended so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Counts `blocks` full blocks with `bytes` bytes that the caller has copied from another segment. Their
    /// IDs do not go through [`Self::push`].
    pub(super) fn skip_blocks(&mut self, blocks: usize, bytes: usize) {
        self.count += blocks * BLOCK;
        self.bytes += bytes as u64;
    }
}

/// Decodes the `count` IDs of a block into `id`, one after the other. Calls `visit` with the number and the
/// bytes of each ID until `visit` returns `false`. Returns whether the decoded bytes are valid.
pub(super) fn visit_block(
    mut bytes: &[u8],
    count: usize,
    id: &mut Vec<u8>,
    visit: &mut dyn FnMut(usize, &[u8]) -> bool,
) -> bool {
    id.clear();
    for number in 0..count {
        let (Some(shared), Some(length)) = (take_number(&mut bytes), take_number(&mut bytes))
        else {
            return false;
        };
        // Checksums find damage, but not bytes that were written wrongly. Such bytes must not cause a panic.
        if shared > id.len() {
            return false;
        }
        if let Some(length) = length.checked_sub(1) {
            let Some((rest, later)) = bytes.split_at_checked(length) else { return false };
            id.truncate(shared);
            id.extend_from_slice(rest);
            bytes = later;
        } else if take_digits(&mut bytes, &mut id[shared..]).is_none() {
            return false;
        }
        if !visit(number, id) {
            return true;
        }
    }
    true
}

/// Returns whether hexadecimal digits are enough to store `id`, because it differs from `form` in nothing
/// else. `id` is the end of an ID, and `form` the end of the ID before it.
fn is_of_form(id: &[u8], form: &[u8]) -> bool {
    let fits_form = |(&byte, &form): (&u8, &u8)| match digit_value(form) {
        Some(_) => digit_value(byte).is_some(),
        None => byte == form,
    };
    id.len() == form.len() && id.iter().zip(form).all(fits_form)
}

/// Hexadecimal digits. Capital letters are not digits here, because they could not be restored.
const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";
/// For each byte, its value as a hexadecimal digit, or [`NONE`] if it is no digit.
const DIGITS: [u8; 256] = {
    let mut digits = [NONE; 256];
    let mut value = 0;
    while value < 16 {
        digits[HEXADECIMAL[value] as usize] = value as u8;
        value += 1;
    }
    digits
};
const NONE: u8 = u8::MAX;

/// Returns the value of a hexadecimal digit, or `None` for other bytes.
#[inline]
fn digit_value(byte: u8) -> Option<u8> {
    Some(DIGITS[usize::from(byte)]).filter(|&value| value != NONE)
}

fn push_digits(id: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    // There are at most as many digits as bytes.
    out.resize(start + id.len().div_ceil(2), 0);
    let mut digits = 0;
    for value in id.iter().filter_map(|&byte| digit_value(byte)) {
        out[start + digits / 2] |= value << (digits % 2 * 4);
        digits += 1;
    }
    out.truncate(start + digits.div_ceil(2));
}

/// Replaces the hexadecimal digits of `id` by the digits that are stored at the start of `bytes`. Removes the
/// bytes that it read from `bytes`. Returns `None` if `bytes` is too short.
fn take_digits(bytes: &mut &[u8], id: &mut [u8]) -> Option<()> {
    let digits = id.iter_mut().filter(|byte| digit_value(**byte).is_some());
    let mut later = 0;
    for (at, digit) in digits.enumerate() {
        if at % 2 == 0 {
            let (&both, rest) = bytes.split_first()?;
            (*bytes, later) = (rest, both >> 4);
            *digit = HEXADECIMAL[usize::from(both & 0xF)];
        } else {
            *digit = HEXADECIMAL[usize::from(later)];
        }
    }
    Some(())
}

fn push_number(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take_number(bytes: &mut &[u8]) -> Option<usize> {
    let mut number = 0;
    // Invalid bytes could continue without end, but a valid number ends within the bits of `usize`.
    for shift in (0..usize::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= usize::from(byte & 0x7F).checked_shl(shift)?;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simtool_base::stable_hash::mix;

    proptest! {
        #[test]
        fn ids_come_back(ids in proptest::collection::vec("[a-b]{0,300}|[0-9a-h]{3}-[0-9a-f]{5}", 0..40)) {
            let (mut encoder, mut bytes, mut starts) = (IdEncoder::default(), Vec::new(), Vec::new());
            for id in &ids {
                starts.extend(encoder.push(id.as_bytes(), &mut bytes));
            }
            starts.push(bytes.len() as u64);
            let (mut id, mut found) = (Vec::new(), Vec::new());
            for (block, range) in starts.windows(2).enumerate() {
                let count = (ids.len() - block * BLOCK).min(BLOCK);
                let bytes = &bytes[range[0] as usize..range[1] as usize];
                let mut visit = |_, id: &[u8]| {
                    found.push(String::from_utf8(id.to_vec()).unwrap());
                    true
                };
                prop_assert!(visit_block(bytes, count, &mut id, &mut visit));
            }
            prop_assert_eq!(found, ids);
        }

        #[test]
        fn other_bytes_are_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            visit_block(&bytes, BLOCK, &mut Vec::new(), &mut |_, _| true);
        }
    }

    #[test]
    fn neighbours_take_little() {
        let (mut encoder, mut bytes) = (IdEncoder::default(), Vec::new());
        for number in 0..1600 {
            encoder.push(format!("dump-2026-{number:06}").as_bytes(), &mut bytes);
        }
        assert!(bytes.len() < 1600 * 4, "{}", bytes.len());
    }

    #[test]
    fn digits_take_half_a_byte() {
        let id = |number: u64| format!("<urn:uuid:{:08x}-4{:03x}>", mix(number) >> 32, number);
        let (mut encoder, mut bytes) = (IdEncoder::default(), Vec::new());
        for number in 0..16 {
            encoder.push(id(number).as_bytes(), &mut bytes);
        }
        let first = 2 + id(0).len();
        // Each later ID takes two numbers, and half a byte for each digit from the first different digit on.
        assert!(bytes.len() <= first + 15 * (2 + 6), "{}", bytes.len());
        let (mut read, mut number) = (Vec::new(), 0);
        let mut visit = |_, found: &[u8]| {
            assert_eq!(found, id(number).as_bytes());
            number += 1;
            true
        };
        assert!(visit_block(&bytes, 16, &mut read, &mut visit));
        assert!(!visit_block(&bytes[..bytes.len() - 1], 16, &mut read, &mut |_, _| true));
    }
}
