//! IDs of documents in their order, each without what it begins with like the one before.
//!
//! Sixteen IDs are a block, of which the first is whole. An ID is two numbers and bytes: how many
//! bytes it shares with the one before, one more than how many follow, and these. If the second is 0,
//! the ID is of the form of the one before: as long, with the same bytes where that one has anything
//! but digits of base 16 (`0-9`, `a-f`), and where it has such a digit another, of which two are a
//! byte, the first in its lower half. So a UUID takes 16 bytes and the like, and a number half of its
//! digits. A number has seven bits a byte, the lowest first, and the highest bit where more follow.

/// IDs of a block.
pub(super) const BLOCK: usize = 16;

/// Writes IDs.
#[derive(Debug, Default)]
pub(super) struct IdEncoder {
    last: Vec<u8>,
    count: usize,
    bytes: u64,
}

impl IdEncoder {
    /// Appends an ID to `out`; the place where its block begins, counted over all that was ever
    /// appended, if it is the first of one.
    pub(super) fn push(&mut self, id: &[u8], out: &mut Vec<u8>) -> Option<u64> {
        let starts_block = self.starts_block();
        if starts_block {
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

    /// Whether the next ID is the first of a block.
    pub(super) fn starts_block(&self) -> bool {
        self.count.is_multiple_of(BLOCK)
    }

    /// Bytes of all that was ever appended.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes note of blocks that somebody else appended, of that many bytes.
    pub(super) fn skip_blocks(&mut self, blocks: usize, bytes: usize) {
        self.count += blocks * BLOCK;
        self.bytes += bytes as u64;
    }
}

/// Calls `visit` with each ID of a block, of which there are `count`, until it breaks off with
/// `false`; whether the bytes were those of so many IDs.
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

/// Whether an ID can be told by its digits alone, behind one that has this form.
fn is_of_form(id: &[u8], form: &[u8]) -> bool {
    let is_as_told = |(&byte, &form): (&u8, &u8)| match digit_value(form) {
        Some(_) => digit_value(byte).is_some(),
        None => byte == form,
    };
    id.len() == form.len() && id.iter().zip(form).all(is_as_told)
}

/// The digits of base 16.
const HEXADECIMAL: &[u8; 16] = b"0123456789abcdef";
/// What each byte is worth as a digit of base 16; of those that are none, and large letters, [`NONE`].
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

/// What a digit of base 16 is worth, which is not a large letter.
#[inline]
fn digit_value(byte: u8) -> Option<u8> {
    Some(DIGITS[usize::from(byte)]).filter(|&value| value != NONE)
}

fn push_digits(id: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    // No more than all are digits.
    out.resize(start + id.len().div_ceil(2), 0);
    let mut digits = 0;
    for value in id.iter().filter_map(|&byte| digit_value(byte)) {
        out[start + digits / 2] |= value << (digits % 2 * 4);
        digits += 1;
    }
    out.truncate(start + digits.div_ceil(2));
}

/// Puts other digits where `id` has some.
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
        // Two numbers, and half of the digits that are not those of the one before.
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
