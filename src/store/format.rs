//! The packed fingerprint file; nothing else knows its bytes.
//!
//! Everything is little-endian, and sections start at multiples of 64 bytes, so that lanes can be
//! used where the map has them.
//!
//! ```text
//! bytes   0 ..   8   "simtoolf"
//!         8 ..  12   version of the format: 1
//!        12 ..  16   f, bits of a fingerprint
//!        16 ..  20   bits of a lane: 16, 32, 64 or 128
//!        20 ..  24   1 if there is a validity section, else 0
//!        24 ..  32   n, number of rows
//!        32 ..  40   bytes of the recipe
//!        40 ..  64   0
//!        64 ..       recipe, UTF-8
//!   64-aligned       n lanes
//!   64-aligned       validity, if there is one: a bit for each row, lowest first, in 64-bit words
//! ```

use crate::error::{ErrorKind, Result};
use crate::fingerprint_rows::{FingerprintRows, Lanes};
use crate::validity::Validity;
use std::io::{self, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"simtoolf";
const VERSION: u32 = 1;
const ALIGNMENT: usize = 64;
const HEADER_BYTES: usize = 64;

/// Whether `bytes` begin like a packed fingerprint file.
#[must_use]
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

fn aligned(bytes: usize) -> Option<usize> {
    bytes.checked_next_multiple_of(ALIGNMENT)
}

/// Writes `rows` as a packed fingerprint file.
///
/// # Errors
///
/// `out` fails.
pub fn write(rows: &FingerprintRows<'_>, out: &mut dyn Write) -> io::Result<()> {
    let recipe = rows.recipe.as_deref().unwrap_or_default().as_bytes();
    let mut header = Vec::with_capacity(HEADER_BYTES + recipe.len());
    header.extend_from_slice(MAGIC);
    for number in [VERSION, rows.bits, rows.lanes.lane_bits(), u32::from(rows.validity.is_some())] {
        header.extend_from_slice(&number.to_le_bytes());
    }
    for number in [rows.lanes.len() as u64, recipe.len() as u64] {
        header.extend_from_slice(&number.to_le_bytes());
    }
    header.resize(HEADER_BYTES, 0);
    header.extend_from_slice(recipe);
    write_section(&header, out)?;
    write_section(&rows.lanes.to_bytes(), out)?;
    if let Some(validity) = &rows.validity {
        let words = validity.words().iter().flat_map(|word| word.to_le_bytes());
        write_section(&words.collect::<Vec<_>>(), out)?;
    }
    Ok(())
}

fn write_section(section: &[u8], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(section)?;
    let rest = section.len() % ALIGNMENT;
    if rest != 0 {
        out.write_all(&[0; ALIGNMENT][rest..])?;
    }
    Ok(())
}

/// The rows of the packed fingerprint file `bytes`; `path` is for messages.
///
/// # Errors
///
/// The file is cut short, of another version, or contradicts itself.
pub fn read<'a>(bytes: &'a [u8], path: &Path) -> Result<FingerprintRows<'a>> {
    let wrong = |byte: usize, expected: String| {
        let path = path.to_owned();
        crate::Error::from(ErrorKind::Format { path, byte: byte as u64, expected })
    };
    let number_32 = |at: usize| {
        let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
        field.map(|field| u32::from_le_bytes(*field))
    };
    let number_64 = |at: usize| {
        let field = bytes.get(at..).and_then(|rest| rest.first_chunk());
        field.map(|field| u64::from_le_bytes(*field)).and_then(|n| usize::try_from(n).ok())
    };
    if !is_packed(bytes) || bytes.len() < HEADER_BYTES {
        return Err(wrong(
            0,
            "a packed fingerprint file: \"simtoolf\", a header of 64 bytes".into(),
        ));
    }
    if number_32(8) != Some(VERSION) {
        let expected = format!("version {VERSION}; make the file again with this simtool");
        return Err(wrong(8, expected));
    }
    let lane_bits = number_32(16).filter(|bits| [16, 32, 64, 128].contains(bits));
    let Some(lane_bits) = lane_bits else {
        return Err(wrong(16, "lanes of 16, 32, 64 or 128 bits".into()));
    };
    let Some(bits) = number_32(12).filter(|bits| (1..=lane_bits).contains(bits)) else {
        return Err(wrong(12, format!("1 to {lane_bits} bits of a fingerprint")));
    };
    let (Some(validity_flag @ 0..=1), Some(rows), Some(recipe_bytes)) =
        (number_32(20), number_64(24), number_64(32))
    else {
        return Err(wrong(20, "0 or 1, the number of rows, the bytes of the recipe".into()));
    };
    let lane_bytes = lane_bits as usize / 8;
    let layout = || {
        let recipe_end = HEADER_BYTES.checked_add(recipe_bytes)?;
        let lanes = aligned(recipe_end)?;
        let lanes_end = lanes.checked_add(rows.checked_mul(lane_bytes)?)?;
        let validity = aligned(lanes_end)?;
        let validity_end = validity.checked_add(rows.div_ceil(64).checked_mul(8)?)?;
        let end = aligned(if validity_flag == 1 { validity_end } else { lanes_end })?;
        (end == bytes.len()).then_some((recipe_end, lanes, lanes_end, validity, validity_end))
    };
    let Some((recipe_end, lanes, lanes_end, validity, validity_end)) = layout() else {
        let expected = format!("a file of the length that {rows} rows of {lane_bits} bits need");
        return Err(wrong(24, expected));
    };
    let Ok(recipe) = std::str::from_utf8(&bytes[HEADER_BYTES..recipe_end]) else {
        return Err(wrong(HEADER_BYTES, "a recipe in UTF-8".into()));
    };
    let Some(lanes) = Lanes::from_bytes(&bytes[lanes..lanes_end], lane_bits) else {
        return Err(wrong(lanes, "whole lanes".into()));
    };
    let validity = if validity_flag == 1 {
        let words = bytes[validity..validity_end].as_chunks().0;
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let Some(validity) = Validity::from_words(words, rows) else {
            return Err(wrong(validity, "no validity bits beyond the last row".into()));
        };
        Some(validity)
    } else {
        None
    };
    let recipe = (!recipe.is_empty()).then(|| recipe.to_owned());
    Ok(FingerprintRows { lanes, bits, validity, recipe })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn sample() -> FingerprintRows<'static> {
        let mut validity = Validity::all(5);
        validity.clear(3);
        FingerprintRows {
            lanes: Lanes::Bits64(Cow::Borrowed(&[1, 2, u64::MAX, 0, 5])),
            bits: 64,
            validity: Some(validity),
            recipe: Some("simhash64/test".to_owned()),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let none = FingerprintRows {
            lanes: Lanes::Bits128(Cow::Borrowed(&[])),
            bits: 100,
            validity: None,
            recipe: None,
        };
        for rows in [sample(), none] {
            let mut bytes = Vec::new();
            write(&rows, &mut bytes).unwrap();
            assert_eq!(read(&bytes, Path::new("f")).unwrap(), rows);
        }
    }

    #[test]
    fn a_file_cut_short_anywhere_or_with_another_header_is_refused() {
        let mut bytes = Vec::new();
        write(&sample(), &mut bytes).unwrap();
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end], Path::new("f")).is_err(), "cut at {end}");
        }
        for byte in 0..64 {
            for bit in 0..8 {
                let mut broken = bytes.clone();
                broken[byte] ^= 1 << bit;
                // Whatever comes, it is no panic.
                drop(read(&broken, Path::new("f")));
            }
        }
        bytes[8] = 9;
        let error = read(&bytes, Path::new("f")).unwrap_err().to_string();
        assert_eq!(error, "f, byte 8: expected version 1; make the file again with this simtool");
    }
}
