//! Mutations of inputs by a fixed generator: the same seed makes the same inputs on every machine.

/// Generator of mutated inputs.
#[derive(Clone, Debug)]
pub struct Mutation {
    state: u64,
}

/// Numbers at the limits of their types, as bytes.
const NUMBERS: [&[u8]; 6] =
    [b"0", b"-1", b"4294967296", b"18446744073709551615", b"\xff\xff\xff\xff", b"\0\0\0\x80"];
/// Bytes with a meaning in some format.
const SIGNS: &[u8] = b"\"\\,;\t\r\n{}[]<>\0\xff=";
/// Largest length of an input.
const LONGEST: usize = 20_000;

impl Mutation {
    /// Creates the generator for a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns a number below `end`.
    fn below(&mut self, end: usize) -> usize {
        // SplitMix64 (Steele, Lea and Flood, 2014).
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % end.max(1)
    }

    /// Returns an input: one of `seeds`, changed at 1 to 8 places.
    pub fn next(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut input = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(8) {
            self.change(&mut input, seeds);
        }
        input.truncate(LONGEST);
        input
    }

    /// Changes one place of an input.
    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(40)).min(input.len());
        match self.below(8) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.below(256) as u8,
            2 => drop(input.drain(at..end)),
            3 => {
                let part = input[at..end].to_vec();
                let count = 1 + self.below(20);
                input.splice(at..at, part.repeat(count));
            }
            4 => {
                let other = &seeds[self.below(seeds.len())];
                let begin = self.below(other.len() + 1);
                let part = other[begin..(begin + 60).min(other.len())].to_vec();
                input.splice(at..end, part);
            }
            5 => {
                let number = NUMBERS[self.below(NUMBERS.len())];
                let end = (at + number.len()).min(input.len());
                input.splice(at..end, number.iter().copied());
            }
            6 => input.truncate(at),
            _ => input.insert(at, SIGNS[self.below(SIGNS.len())]),
        }
    }
}
