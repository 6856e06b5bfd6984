//! IDs of documents in their order, each without what it begins with like the one before.
//!
//! Sixteen IDs are a block, of which the first is whole. An ID is two numbers and bytes: how many
//! bytes it shares with the one before, how many follow, and these. A number has seven bits a byte,
//! the lowest first, and the highest bit where more follow.

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
        let starts_block = self.count.is_multiple_of(BLOCK);
        if starts_block {
            self.last.clear();
        }
        let start = self.bytes;
        let shared = self.last.iter().zip(id).take_while(|(a, b)| a == b).count();
        let length = out.len();
        push_number(shared, out);
        push_number(id.len() - shared, out);
        out.extend_from_slice(&id[shared..]);
        self.last.truncate(shared);
        self.last.extend_from_slice(&id[shared..]);
        self.count += 1;
        self.bytes += (out.len() - length) as u64;
        starts_block.then_some(start)
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
        let Some((rest, later)) = bytes.split_at_checked(length) else { return false };
        if shared > id.len() {
            return false;
        }
        id.truncate(shared);
        id.extend_from_slice(rest);
        bytes = later;
        if !visit(number, id) {
            return true;
        }
    }
    true
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

    proptest! {
        #[test]
        fn ids_come_back(ids in proptest::collection::vec("[ab]{0,300}", 0..40)) {
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
        assert!(bytes.len() < 1600 * 5, "{}", bytes.len());
    }
}
