//! The packed fingerprint file. Only this module knows its layout.
//!
//! All numbers are little-endian. Sections start at multiples of 64 bytes, so that rows can be used
//! directly in a mapped file.
//!
//! ```text
//! bytes   0 ..   8   "simtoolf"
//!         8 ..  12   version of the format: 2
//!        12 ..  16   bits of a row
//!        16 ..  20   0 where a distance counts bits; where it counts lanes, bits of a lane, and 256
//!                    more where they may be null; where lanes of 64 bits vote, 65,536 times the
//!                    votes needed
//!        20 ..  24   1 if there is a validity section, else 0
//!        24 ..  32   n, number of rows
//!        32 ..  40   bytes of the recipe
//!        40 ..  56   0
//!        56 ..  64   checksum of the 56 bytes before
//!        64 ..       recipe, UTF-8
//!   64-aligned       n rows of 64-bit words, the lowest word of each first
//!   64-aligned       validity, if there is one: a bit for each row, lowest first, in 64-bit words
//!   64-aligned       checksums of recipe, rows and validity; 0 up to byte 56 of this section;
//!                    checksum of these 56 bytes
//! ```
//!
//! Sections are padded with zeros. The checksums include the padding, so no byte of the file can
//! change unnoticed. A checksum is XXH3-64 with seed 0. The checksums follow the sections, so a
//! file can be written in one pass.
//!
//! Version 1 has no checksums. Its field at byte 16 is the number of bits of a row in memory: 16, 32, 64 or 128.

use super::checked_rows::ends_in_zeros;
use super::format::{FileFormat, FoundIds, MOST_BITS};
use super::little_endian;
use simtool_base::error::{ErrorKind, Result};
use simtool_base::stable_hash::{StreamedHash, hash};
use simtool_model::fingerprint_rows::{FingerprintRows, Metric, SIZE_BITS, Shape};
use simtool_model::validity::Validity;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

const MAGIC: &[u8; 8] = b"simtoolf";
const VERSION: u32 = 2;
/// Bit of the header field at byte 16: a row consists of hashes that may be missing (null).
const NULL: u32 = 1 << 8;
/// Value of the header field at byte 16 for hashes of 64 bits that may be null.
const OR_NULL: u32 = NULL | u64::BITS;
/// Bit of the header field at byte 16: the row also holds the size of a set, for estimates of a
/// cosine.
const COSINE: u32 = 1 << 9;
/// Bit position in the header field at byte 16, for fingerprints whose 64-bit words vote. From this bit on, the field
/// holds a number: two fingerprints are a pair if at least this number of their words are near.
const VOTES: u32 = 16;
/// Number of bytes of the header, and also of the block of checksums. Sections start at multiples of this number.
const BLOCK: usize = 64;
/// Number of bytes of a header, or of a block of checksums, without the checksum at its end. That checksum is computed
/// from these bytes.
const SEALED: usize = 56;

/// The packed format as an entry of [`FILE_FORMATS`](super::FILE_FORMATS), the table of file formats.
pub(super) const FORMAT: FileFormat = FileFormat {
    name: "packed",
    extensions: &["f", "simtool", "bin", ""],
    help: "a packed file, which simtool reads fastest",
    marks_missing: true,
    missing_feature: None,
    is_format_of: is_packed,
    read,
    write: |rows, _, out| write(rows, out),
    has_ids: |_, _| Ok(false),
    find_ids: |_, _| Ok(FoundIds::default()),
};

/// Whether `bytes` begin with the signature of a packed fingerprint file.
fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Writes `rows` as a packed fingerprint file.
///
/// # Errors
///
/// `out` fails.
fn write(rows: &FingerprintRows<'_>, out: &mut dyn Write) -> io::Result<()> {
    let recipe = rows.recipe.as_deref().unwrap_or_default().as_bytes();
    let metric = match rows.shape.metric() {
        Metric::Bits => 0,
        Metric::Lanes { bits, null } => bits | if null { NULL } else { 0 },
        Metric::Cosine { bits } => COSINE | bits,
        Metric::Votes { needed } => needed << VOTES,
    };
    let mut header = MAGIC.to_vec();
    for number in [VERSION, rows.shape.row_bits(), metric, u32::from(rows.validity.is_some())] {
        header.extend_from_slice(&number.to_le_bytes());
    }
    for number in [rows.len() as u64, recipe.len() as u64] {
        header.extend_from_slice(&number.to_le_bytes());
    }
    out.write_all(&sealed(header))?;

    let mut checksums = Vec::new();
    let mut section = SectionWriter::new(out);
    section.write(recipe)?;
    checksums.extend_from_slice(&section.finish()?.to_le_bytes());
    let validity = rows.validity.as_ref().map_or(&[][..], Validity::words);
    for words in [&rows.words, validity] {
        let mut section = SectionWriter::new(out);
        little_endian::hand_over(words, |bytes| section.write(bytes))?;
        checksums.extend_from_slice(&section.finish()?.to_le_bytes());
    }
    out.write_all(&sealed(checksums))
}

/// Pads the content of a header, or of a block of checksums, with zeros to 56 bytes. Appends the checksum of these
/// bytes.
fn sealed(mut block: Vec<u8>) -> Vec<u8> {
    block.resize(SEALED, 0);
    block.extend_from_slice(&hash(&block).to_le_bytes());
    block
}

/// Whether a header or a block of checksums ends with its correct checksum.
fn is_sealed(block: &[u8]) -> bool {
    block[SEALED..] == hash(&block[..SEALED]).to_le_bytes()
}

/// A section that is being written to the file, with the checksum of the bytes written so far.
struct SectionWriter<'o> {
    out: &'o mut dyn Write,
    hash: StreamedHash,
    bytes: usize,
}

impl<'o> SectionWriter<'o> {
    fn new(out: &'o mut dyn Write) -> Self {
        Self { out, hash: StreamedHash::default(), bytes: 0 }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.bytes += bytes.len();
        self.out.write_all(bytes)
    }

    /// Pads the section with zeros to a multiple of 64 bytes, and returns its checksum.
    fn finish(mut self) -> io::Result<u64> {
        let rest = self.bytes.next_multiple_of(BLOCK) - self.bytes;
        self.write(&[0; BLOCK][..rest])?;
        Ok(self.hash.digest())
    }
}

/// An error in a file: its byte offset, and a phrase that describes what was expected there.
type Refusal = (usize, String);

/// Reads the rows of a packed fingerprint file. `path` is for error messages.
///
/// # Errors
///
/// The file is truncated or damaged, has an unknown version, or contradicts itself.
fn read<'a>(bytes: &'a [u8], path: &Path) -> Result<FingerprintRows<'a>> {
    rows(bytes).map_err(|(byte, expected)| {
        ErrorKind::Format { path: path.to_owned(), byte: byte as u64, expected }.into()
    })
}

fn rows(bytes: &[u8]) -> Result<FingerprintRows<'_>, Refusal> {
    let Some(header) = bytes.get(..BLOCK).filter(|header| is_packed(header)) else {
        let expected = "a packed fingerprint file: \"simtoolf\", a header of 64 bytes";
        return Err((0, expected.into()));
    };
    let is_first_version = match number_32(header, 8) {
        1 => true,
        VERSION => false,
        _ => return Err((8, "version 1 or 2; make the file again with this simtool".into())),
    };
    if !is_first_version && !is_sealed(header) {
        return Err((0, damaged("a header that agrees with its")));
    }
    let bits = number_32(header, 12);
    let metric = number_32(header, 16);
    let (shape, row_bytes) =
        if is_first_version { first_shape(bits, metric) } else { shape(bits, metric) }?;
    let numbers = [number_64(header, 24), number_64(header, 32)].map(usize::try_from);
    let ([Ok(rows), Ok(recipe_bytes)], flag @ 0..=1) = (numbers, number_32(header, 20)) else {
        return Err((20, "0 or 1, the number of rows, the bytes of the recipe".into()));
    };
    let has_checksums = !is_first_version;
    // The sizes come from the file and may be any numbers. The layout is computed with overflow
    // checks, and its end must be the end of the file. After that, every section lies inside the
    // bytes.
    let layout = PackedLayout::new(rows, row_bytes, recipe_bytes, flag == 1, has_checksums);
    let Some(layout) = layout.filter(|layout| layout.end == bytes.len()) else {
        let expected = format!("a file of the length that {rows} rows of {bits} bits need");
        return Err((24, expected));
    };
    // The checksums come before anything that relies on the content of the sections.
    if has_checksums {
        layout.check(bytes)?;
    }

    let Ok(recipe) = str::from_utf8(&bytes[layout.recipe.clone()]) else {
        return Err((BLOCK, "a recipe in UTF-8".into()));
    };
    let validity = if flag == 1 { Some(validity(bytes, &layout, rows)?) } else { None };
    let words = &bytes[layout.rows.clone()];
    // Rows of version 1 may be narrower than a word.
    let words = match row_bytes {
        2 | 4 => little_endian::widened(words, row_bytes).into(),
        _ => little_endian::words(words),
    };
    let recipe = (!recipe.is_empty()).then(|| recipe.to_owned());
    let read = FingerprintRows { shape, words, validity, recipe };
    // Joins compare whole words, so bits behind the last column would change distances.
    if !ends_in_zeros(&read) {
        return Err((layout.rows.start, format!("rows without a bit beyond their {bits}")));
    }
    Ok(read)
}

/// Reads the section that says which of the `rows` rows have a fingerprint.
fn validity(bytes: &[u8], layout: &PackedLayout, rows: usize) -> Result<Validity, Refusal> {
    let words = little_endian::words(&bytes[layout.validity.clone()]).into_owned();
    Validity::from_words(words, rows)
        .ok_or_else(|| (layout.validity.start, "no validity bits beyond the last row".into()))
}

/// Returns the shape and the number of bytes of a row in a file of version 2. `bits` is the header
/// field at byte 12, and `metric` the header field at byte 16.
fn shape(bits: u32, metric: u32) -> Result<(Shape, usize), Refusal> {
    if !(1..=MOST_BITS).contains(&bits) {
        return Err((12, format!("1 to {MOST_BITS} bits of a row")));
    }
    let lanes_of = |lane_bits: u32| bits.is_multiple_of(lane_bits).then_some(bits / lane_bits);
    let needed = metric >> VOTES;
    let lane_bits = metric & 0xFFFF;
    let shape = match (needed, lane_bits) {
        (0, 0) => Some(Shape::bits(bits)),
        (0, 1 | 2 | 4 | 8 | 16 | 32 | 64) => {
            lanes_of(lane_bits).map(|count| Shape::lanes(count, lane_bits))
        }
        (0, cosine) if cosine & COSINE != 0 => {
            let lane_bits = cosine ^ COSINE;
            let words = lanes_of(u64::BITS);
            let words = words.filter(|_| lane_bits.is_power_of_two() && lane_bits <= SIZE_BITS);
            words.map(|words| Shape::cosine(words, lane_bits))
        }
        (0, OR_NULL) => lanes_of(u64::BITS).map(Shape::lanes_or_null),
        (1.., 0) => {
            let count = lanes_of(u64::BITS).filter(|&count| needed <= count);
            count.map(|count| Shape::votes(count, needed))
        }
        _ => None,
    };
    let Some(shape) = shape else {
        let expected = "0, or a number of bits in a lane that divides a fingerprint evenly, or at \
                        most as many votes as lanes";
        return Err((16, expected.into()));
    };
    Ok((shape, size_of::<u64>() * shape.words()))
}

/// Returns the shape and the number of bytes of a row in a file of version 1. `bits` is the header
/// field at byte 12, and `lane_bits` the header field at byte 16.
fn first_shape(bits: u32, lane_bits: u32) -> Result<(Shape, usize), Refusal> {
    let least = match lane_bits {
        16 | 32 | 64 => 1,
        // Version 1 used 128 bits only for fingerprints of more than 64 bits.
        128 => 65,
        _ => return Err((16, "lanes of 16, 32, 64 or 128 bits".into())),
    };
    if !(least..=lane_bits).contains(&bits) {
        return Err((12, format!("{least} to {lane_bits} bits of a fingerprint")));
    }
    Ok((Shape::bits(bits), lane_bits as usize / 8))
}

/// Byte ranges of the sections of a file, without their padding.
struct PackedLayout {
    recipe: Range<usize>,
    rows: Range<usize>,
    validity: Range<usize>,
    /// Byte offset of the block of checksums. A file of version 1 ends here, because it has no
    /// checksums.
    checksums: usize,
    end: usize,
}

impl PackedLayout {
    /// Computes the byte ranges from the sizes in the header. Returns `None` if a number overflows.
    fn new(
        rows: usize,
        row_bytes: usize,
        recipe_bytes: usize,
        has_validity: bool,
        has_checksums: bool,
    ) -> Option<Self> {
        let aligned = |bytes: usize| bytes.checked_next_multiple_of(BLOCK);
        let recipe = BLOCK..BLOCK.checked_add(recipe_bytes)?;
        let start = aligned(recipe.end)?;
        let rows_section = start..start.checked_add(rows.checked_mul(row_bytes)?)?;
        let start = aligned(rows_section.end)?;
        let validity_bytes = if has_validity { size_of::<u64>() * rows.div_ceil(64) } else { 0 };
        let validity = start..start.checked_add(validity_bytes)?;
        let checksums = aligned(validity.end)?;
        let end = checksums.checked_add(if has_checksums { BLOCK } else { 0 })?;
        Some(Self { recipe, rows: rows_section, validity, checksums, end })
    }

    /// Checks each section of the file against its checksum. `bytes` is the content of the whole
    /// file.
    fn check(&self, bytes: &[u8]) -> Result<(), Refusal> {
        let checksums = &bytes[self.checksums..self.end];
        if !is_sealed(checksums) || checksums[24..SEALED].iter().any(|&byte| byte != 0) {
            // The block of checksums has a checksum of its own. Otherwise damage to the block would
            // be reported as damage to a section that is intact.
            return Err((self.checksums, damaged("a block of checksums that agrees with its own")));
        }
        let sections = [
            ("a recipe that agrees with its", self.recipe.start..self.rows.start),
            ("rows that agree with their", self.rows.start..self.validity.start),
            ("a validity that agrees with its", self.validity.start..self.checksums),
        ];
        for (number, (name, section)) in sections.into_iter().enumerate() {
            let start = section.start;
            if hash(&bytes[section]) != number_64(checksums, size_of::<u64>() * number) {
                return Err((start, damaged(name)));
            }
        }
        Ok(())
    }
}

/// Returns the message for a section whose checksum is wrong: a phrase that describes what was expected. `section` is
/// the start of the phrase, before the word "checksum", for example `rows that agree with their`.
fn damaged(section: &str) -> String {
    format!("{section} checksum; the file is damaged, make it again")
}

/// Returns the little-endian 32-bit number at byte offset `at` of a block.
fn number_32(block: &[u8], at: usize) -> u32 {
    block[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Returns the little-endian 64-bit number at byte offset `at` of a block.
fn number_64(block: &[u8], at: usize) -> u64 {
    block[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn sample() -> FingerprintRows<'static> {
        let mut validity = Validity::all(5);
        validity.clear(3);
        FingerprintRows {
            shape: Shape::lanes(32, 4),
            words: (1..11).map(|word| word << 50 | 7).collect(),
            validity: Some(validity),
            recipe: Some("minhash/test".to_owned()),
        }
    }

    fn written(rows: &FingerprintRows<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(rows, &mut bytes).unwrap();
        bytes
    }

    /// Returns the bytes of a file of version 1.
    fn first_version(bits: u32, lane_bits: u32, rows: u64, lanes: &[u8], valid: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [1, bits, lane_bits, u32::from(!valid.is_empty())] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&rows.to_le_bytes());
        bytes.extend_from_slice(&4_u64.to_le_bytes());
        bytes.resize(64, 0);
        for section in [b"test", lanes, valid] {
            bytes.extend_from_slice(section);
            bytes.resize(bytes.len().next_multiple_of(64), 0);
        }
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        let none = FingerprintRows {
            shape: Shape::bits(100),
            words: Cow::Borrowed(&[]),
            validity: None,
            recipe: None,
        };
        for rows in [sample(), none] {
            assert_eq!(read(&written(&rows), Path::new("f")).unwrap(), rows);
        }
    }

    #[test]
    fn every_shape_is_written_and_read() {
        for shape in [
            Shape::bits(192),
            Shape::lanes(12, 16),
            Shape::lanes_or_null(3),
            Shape::cosine(3, 1),
            Shape::votes(3, 2),
        ] {
            let words = vec![u64::MAX; 6].into();
            let rows = FingerprintRows { shape, words, validity: None, recipe: None };
            assert_eq!(read(&written(&rows), Path::new("f")).unwrap(), rows);
        }
    }

    #[test]
    fn aligned_rows_are_lent() {
        let bytes = written(&sample());
        let mut aligned = vec![0_u64; bytes.len() / 8];
        bytemuck::cast_slice_mut(&mut aligned).copy_from_slice(&bytes);
        let rows = read(bytemuck::cast_slice(&aligned), Path::new("f")).unwrap();
        assert_eq!(matches!(rows.words, Cow::Borrowed(_)), cfg!(target_endian = "little"));
    }

    #[test]
    fn files_of_the_first_version_are_read() {
        let numbers: Vec<u8> = (0..64).collect();
        let word = |at: u64| u64::from_le_bytes(std::array::from_fn(|byte| at as u8 + byte as u8));
        for (bits, lane_bits, expected) in [
            (16, 16, vec![0x0100, 0x0302]),
            (32, 32, vec![0x0302_0100, 0x0706_0504]),
            (60, 64, vec![word(0), word(8)]),
            (128, 128, vec![word(0), word(8), word(16), word(24)]),
        ] {
            let lanes = &numbers[..2 * lane_bits as usize / 8];
            let bytes = first_version(bits, lane_bits, 2, lanes, &[1, 0, 0, 0, 0, 0, 0, 0]);
            let rows = read(&bytes, Path::new("f")).unwrap();
            assert_eq!(rows.shape, Shape::bits(bits));
            assert_eq!(rows.words[..], expected);
            assert!(rows.has_fingerprint(0) && !rows.has_fingerprint(1));
            assert_eq!(rows.recipe.as_deref(), Some("test"));
            for end in 0..bytes.len() {
                assert!(read(&bytes[..end], Path::new("f")).is_err(), "cut at {end}");
            }
        }
        // A row that has a bit set beyond the width in the header.
        let bytes = first_version(8, 64, 1, &[1; 8], &[]);
        let error = read(&bytes, Path::new("f")).unwrap_err().to_string();
        assert_eq!(error, "f, byte 128: expected rows without a bit beyond their 8");
        for (bits, lane_bits) in [(0, 64), (65, 64), (64, 128), (24, 24)] {
            let bytes = first_version(bits, lane_bits, 0, &[], &[]);
            assert!(read(&bytes, Path::new("f")).is_err());
        }
    }

    #[test]
    fn a_byte_that_changed_is_noticed_and_its_section_named() {
        let bytes = written(&sample());
        assert_eq!(bytes.len(), 64 * 6);
        let names = ["header", "recipe", "rows", "rows", "validity", "checksums"];
        for byte in 0..bytes.len() {
            for change in (0..8).map(|bit| 1 << bit).chain([0xFF]) {
                let mut broken = bytes.clone();
                broken[byte] ^= change;
                let error = read(&broken, Path::new("f")).unwrap_err().to_string();
                let name = match byte {
                    0..8 => "simtoolf",
                    8..12 => "version",
                    _ => names[byte / 64],
                };
                assert!(error.contains(name), "byte {byte}: {error}");
                // Whatever the format detection makes of these bytes, they are no valid file of
                // fingerprints.
                assert!(crate::file::read(&broken, Path::new("f")).is_err());
            }
        }
    }

    #[test]
    fn a_file_cut_short_anywhere_or_of_another_version_is_refused() {
        let mut bytes = written(&sample());
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end], Path::new("f")).is_err(), "cut at {end}");
        }
        bytes.push(0);
        assert!(read(&bytes, Path::new("f")).is_err(), "one more");
        bytes[8] = 9;
        let error = read(&bytes, Path::new("f")).unwrap_err().to_string();
        let expected = "f, byte 8: expected version 1 or 2; make the file again with this simtool";
        assert_eq!(error, expected);
    }

    #[test]
    fn headers_that_contradict_themselves_are_refused() {
        let bytes = written(&sample());
        for (at, number, expected) in [
            (12, 0, "1 to 65536 bits"),
            (12, MOST_BITS + 1, "1 to 65536 bits"),
            (16, 3, "a number of bits in a lane that divides"),
            (16, 128, "a number of bits in a lane that divides"),
            (16, NULL | 32, "a number of bits in a lane that divides"),
            (16, 3 << VOTES, "as many votes as lanes"),
            (16, 1 << VOTES | 4, "as many votes as lanes"),
            (20, 2, "0 or 1"),
            (24, 9, "a file of the length that 9 rows of 128 bits need"),
            (28, u32::MAX, "a file of the length"),
            (36, u32::MAX, "a file of the length"),
        ] {
            let mut broken = bytes[..SEALED].to_vec();
            broken[at..at + 4].copy_from_slice(&number.to_le_bytes());
            let mut broken = sealed(broken);
            broken.extend_from_slice(&bytes[64..]);
            let error = read(&broken, Path::new("f")).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
