//! Fingerprints as a file holds them: one lane a row, and which rows have one.

use crate::validity::Validity;
use std::borrow::Cow;

/// Lanes of one width, lent by a mapped file where its bytes can be used as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes<'a> {
    /// Up to 16 bits.
    Bits16(Cow<'a, [u16]>),
    /// Up to 32 bits.
    Bits32(Cow<'a, [u32]>),
    /// Up to 64 bits.
    Bits64(Cow<'a, [u64]>),
    /// Up to 128 bits.
    Bits128(Cow<'a, [u128]>),
}

/// Fingerprints with their rows' numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FingerprintRows<'a> {
    /// A lane for each row; what a row without fingerprint holds means nothing.
    pub lanes: Lanes<'a>,
    /// Bits of a fingerprint, at most those of a lane.
    pub bits: u32,
    /// Which rows have a fingerprint; all of them if absent.
    pub validity: Option<Validity>,
    /// How the fingerprints were made, where the file says.
    pub recipe: Option<String>,
}

impl Lanes<'_> {
    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Bits16(lanes) => lanes.len(),
            Self::Bits32(lanes) => lanes.len(),
            Self::Bits64(lanes) => lanes.len(),
            Self::Bits128(lanes) => lanes.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bits of a lane.
    #[must_use]
    pub fn lane_bits(&self) -> u32 {
        match self {
            Self::Bits16(_) => 16,
            Self::Bits32(_) => 32,
            Self::Bits64(_) => 64,
            Self::Bits128(_) => 128,
        }
    }

    /// The lanes that little-endian `bytes` hold, if they are whole lanes of 16, 32, 64 or 128 bits.
    ///
    /// Borrowed where the bytes are aligned and the machine is little-endian, else copied.
    #[must_use]
    pub fn from_bytes(bytes: &[u8], lane_bits: u32) -> Option<Lanes<'_>> {
        macro_rules! lanes {
            ($variant:ident, $lane:ty) => {{
                let (whole, rest) = bytes.as_chunks::<{ size_of::<$lane>() }>();
                if !rest.is_empty() {
                    return None;
                }
                match bytemuck::try_cast_slice(bytes) {
                    Ok(lanes) if cfg!(target_endian = "little") => {
                        Lanes::$variant(Cow::Borrowed(lanes))
                    }
                    _ => {
                        let lanes = whole.iter().map(|bytes| <$lane>::from_le_bytes(*bytes));
                        Lanes::$variant(lanes.collect())
                    }
                }
            }};
        }
        Some(match lane_bits {
            16 => lanes!(Bits16, u16),
            32 => lanes!(Bits32, u32),
            64 => lanes!(Bits64, u64),
            128 => lanes!(Bits128, u128),
            _ => return None,
        })
    }

    /// The lanes as little-endian bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Bits16(lanes) => lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect(),
            Self::Bits32(lanes) => lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect(),
            Self::Bits64(lanes) => lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect(),
            Self::Bits128(lanes) => lanes.iter().flat_map(|lane| lane.to_le_bytes()).collect(),
        }
    }
}

impl FingerprintRows<'_> {
    /// The fingerprint of `row`, if it has one.
    ///
    /// # Panics
    ///
    /// There is no such row.
    #[must_use]
    pub fn number(&self, row: usize) -> Option<u128> {
        let number = match &self.lanes {
            Lanes::Bits16(lanes) => lanes[row].into(),
            Lanes::Bits32(lanes) => lanes[row].into(),
            Lanes::Bits64(lanes) => lanes[row].into(),
            Lanes::Bits128(lanes) => lanes[row],
        };
        self.validity.as_ref().is_none_or(|validity| validity.has_value(row)).then_some(number)
    }
}

/// Fingerprints as a reader meets them, one number a row.
#[derive(Clone, Debug, Default)]
pub struct RowNumbers {
    numbers: Vec<u128>,
    missing: Vec<usize>,
}

impl RowNumbers {
    /// Adds a row, which has a fingerprint or none.
    pub fn push(&mut self, number: Option<u128>) {
        if number.is_none() {
            self.missing.push(self.numbers.len());
        }
        self.numbers.push(number.unwrap_or_default());
    }

    /// The rows, in the narrowest lanes that hold `bits` bits; 128 at most.
    #[must_use]
    pub fn finish(self, bits: u32) -> FingerprintRows<'static> {
        let Self { numbers, missing } = self;
        let mut validity = Validity::all(numbers.len());
        for row in missing.iter().copied() {
            validity.clear(row);
        }
        let lanes = match bits {
            0..=16 => Lanes::Bits16(numbers.iter().map(|&number| number as u16).collect()),
            17..=32 => Lanes::Bits32(numbers.iter().map(|&number| number as u32).collect()),
            33..=64 => Lanes::Bits64(numbers.iter().map(|&number| number as u64).collect()),
            _ => Lanes::Bits128(numbers.into()),
        };
        let validity = (!missing.is_empty()).then_some(validity);
        FingerprintRows { lanes, bits, validity, recipe: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_come_back_from_bytes_aligned_or_not() {
        for bits in [16, 32, 64, 128] {
            let bytes: Vec<u8> = (0..33).collect();
            let lanes = Lanes::from_bytes(&bytes[1..], bits).unwrap();
            assert_eq!((lanes.lane_bits(), lanes.len()), (bits, 256 / bits as usize));
            assert_eq!(lanes.to_bytes(), bytes[1..]);
            assert_eq!(Lanes::from_bytes(&bytes[..32], bits).unwrap().to_bytes(), bytes[..32]);
            assert_eq!(Lanes::from_bytes(&bytes, bits), None);
        }
        assert_eq!(Lanes::from_bytes(&[], 24), None);
    }
}
