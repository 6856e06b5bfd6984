//! Decompresses gzip files. A gzip file is a sequence of members, which are compressed
//! independently.

use crate::bytes::compressed_input::{CompressedBuffer, clipped, corrupt};
use crate::bytes::{DecodingLimits, Expansion, Filled, Stream, Then};
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::io::Read;

/// The first three bytes of a gzip member (RFC 1952, section 2.3.1). Two bytes identify gzip, and
/// the third byte is the number of the only compression method, deflate.
const MAGIC: [u8; 3] = [0x1F, 0x8B, 0x08];
/// Length in bytes of the header of a gzip member without optional fields.
const FIXED_HEADER: usize = 10;
/// Largest length in bytes of the header of a gzip member with its optional fields. A name or comment in the header has
/// no length field, so in a damaged file it may never end. The search for its end stops here, before it fills the
/// memory.
const LONGEST_HEADER: usize = 128 << 10;
const UNREADABLE_DATA: &str = "a gzip member with deflate data that cannot be read";
/// Length in bytes of the trailer at the end of a gzip member: four bytes of checksum and four
/// bytes of length.
const TRAILER: usize = 8;

/// Stream of the decompressed content of a gzip file.
pub(crate) struct Gzip<R> {
    input: CompressedBuffer<R>,
    inflate: Decompress,
    checksum: Crc,
    expansion: Expansion,
    /// Byte offset in the file of the gzip member that is being read. `None` between two members.
    member: Option<u64>,
    written: u64,
    /// Whether the stream has ended, at the end of the file or because of damage.
    done: bool,
}

impl<R: Read> Gzip<R> {
    pub(crate) fn new(input: CompressedBuffer<R>, limits: DecodingLimits) -> Self {
        Self {
            input,
            // `false` means raw deflate data. Header and trailer are parsed here, so that damage to
            // them can be reported with its position.
            inflate: Decompress::new(false),
            checksum: Crc::new(),
            expansion: Expansion::new(limits.max_expansion),
            member: None,
            written: 0,
            done: false,
        }
    }

    /// Reads the header of the next gzip member. Returns `false` at the end of the file. The error is the damage to
    /// report.
    fn start_member(&mut self) -> Result<bool, Then> {
        let began = self.input.position();
        loop {
            match header(self.input.ahead()) {
                MemberHeader::Complete(length) => {
                    self.input.consume(length);
                    // Each member is compressed independently and has its own checksum (RFC 1952,
                    // section 2.2).
                    self.inflate.reset(false);
                    self.checksum.reset();
                    self.member = Some(began);
                    return Ok(true);
                }
                MemberHeader::Incomplete => {
                    if !self.input.more(began)? {
                        self.done = true;
                        return match self.input.ahead() {
                            [] => Ok(false),
                            _ => Err(clipped(self.input.position(), began, "gzip header")),
                        };
                    }
                }
                MemberHeader::TooLong => {
                    let what = format!("a gzip header of over {LONGEST_HEADER} bytes");
                    return Err(self.resume(&what, began));
                }
                MemberHeader::None => {
                    let is_padding = self.input.ahead().first() == Some(&0);
                    // No member starts here, so the search for the next one begins one byte later.
                    if self.input.seek_start(began + 1, FIXED_HEADER, is_member_start)? {
                        let next = self.input.position();
                        let what = format!("{} bytes that are no gzip member", next - began);
                        return Err(corrupt("corrupt-gzip", began, &what, Some(next)));
                    }
                    self.done = true;
                    return Err(self.input.trailing(began, "gzip member", is_padding));
                }
            }
        }
    }

    /// Decompresses into `space`, until `space` is full or the gzip member ends. `bytes` is the number of filled bytes
    /// of `space`, and is updated. `began` is the byte offset of the member in the file. The error is the damage to
    /// report.
    fn inflate(&mut self, began: u64, space: &mut [u8], bytes: &mut usize) -> Result<(), Then> {
        loop {
            let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
            let ahead = self.input.ahead();
            let is_fed = !ahead.is_empty();
            let status =
                self.inflate.decompress(ahead, &mut space[*bytes..], FlushDecompress::None);
            let consumed = (self.inflate.total_in() - read) as usize;
            self.input.consume(consumed);
            let produced = (self.inflate.total_out() - written) as usize;
            self.checksum.update(&space[*bytes..*bytes + produced]);
            *bytes += produced;
            self.written += produced as u64;
            match status {
                Ok(Status::StreamEnd) => return self.end_member(began),
                Err(_) => {
                    return Err(self.resume(UNREADABLE_DATA, began));
                }
                Ok(_) if *bytes == space.len() => return Ok(()),
                // There are room in `space` and input left. So the decoder stopped between two
                // blocks and can go on.
                Ok(_) if !self.input.ahead().is_empty() && produced > 0 => {}
                // The decoder got bytes but neither consumed nor wrote any. More bytes would not
                // help it, so the data is damaged.
                Ok(_) if is_fed && consumed + produced == 0 => {
                    return Err(self.resume(UNREADABLE_DATA, began));
                }
                Ok(_) => {
                    if !self.input.more(began)? {
                        return Err(self.end_inside(began));
                    }
                }
            }
        }
    }

    /// Reads the trailer of the gzip member that began at offset `began`. Returns the damage to report as an error if
    /// the checksum or the length in the trailer does not fit the content.
    fn end_member(&mut self, began: u64) -> Result<(), Then> {
        self.member = None;
        while self.input.ahead().len() < TRAILER {
            if !self.input.more(began)? {
                return Err(self.end_inside(began));
            }
        }
        let word = |at: usize| {
            let ahead = self.input.ahead();
            u32::from_le_bytes([ahead[at], ahead[at + 1], ahead[at + 2], ahead[at + 3]])
        };
        let (checksum, length) = (word(0), word(4));
        self.input.consume(TRAILER);
        // The trailer stores the length modulo 2³² (RFC 1952, section 2.3.1), so the length is
        // truncated.
        if checksum != self.checksum.sum() || length != self.inflate.total_out() as u32 {
            return Err(self.resume("a gzip member with a checksum that does not fit", began));
        }
        Ok(())
    }

    /// Returns the damage to report for a file that ends inside the gzip member that began at offset `began`. Either
    /// the file was cut, or the member is damaged and the decoder has consumed the members after it.
    fn end_inside(&mut self, began: u64) -> Then {
        let end = self.input.position();
        // The search for another member decides between the two cases. If another member starts
        // after this one, the file was not cut.
        let then = self.resume("a gzip member with a wrong length", began);
        if self.done { clipped(end, began, "gzip member") } else { then }
    }

    /// Moves to the next gzip member after damage of the member that began at offset `began`. Returns the damage to
    /// report, described by `what`. It is not known where the damaged member ends. So the search for the next member
    /// starts right after the first byte of the damaged member, if that byte is still in memory.
    fn resume(&mut self, what: &str, began: u64) -> Then {
        self.member = None;
        let found = match self.input.seek_start(began + 1, FIXED_HEADER, is_member_start) {
            Ok(found) => found,
            Err(unreadable) => {
                self.done = true;
                return unreadable;
            }
        };
        self.done = !found;
        corrupt("corrupt-gzip", began, what, found.then(|| self.input.position()))
    }
}

impl<R: Read> Stream for Gzip<R> {
    fn fill(&mut self, space: &mut [u8]) -> Filled {
        let mut bytes = 0;
        while !self.done {
            let step = match self.member {
                Some(began) => self.inflate(began, space, &mut bytes),
                None => match self.start_member() {
                    Ok(true) => continue,
                    Ok(false) => break,
                    Err(then) => Err(then),
                },
            };
            if let Err(then) = step {
                return Filled { bytes, then };
            }
            if let Some(then) = self.expansion.check(self.input.position(), self.written) {
                self.done = true;
                return Filled { bytes, then };
            }
            // A call returns at the end of each member, so that its checksum is known before the
            // bytes are used.
            if bytes > 0 {
                return Filled { bytes, then: Then::More };
            }
        }
        Filled { bytes, then: Then::End }
    }

    fn position(&self) -> u64 {
        self.input.position()
    }
}

/// Result of parsing the header of a gzip member.
enum MemberHeader {
    /// A complete header. The number is its length in bytes.
    Complete(usize),
    /// The bytes so far may be the start of a header, but more bytes are needed.
    Incomplete,
    /// The header is longer than [`LONGEST_HEADER`].
    TooLong,
    /// The bytes are not the start of a gzip member.
    None,
}

/// Parses the header of a gzip member at the start of `bytes` (RFC 1952, section 2.3).
fn header(bytes: &[u8]) -> MemberHeader {
    // The first bytes are compared as far as they were read, so that bytes that cannot begin a
    // member are refused at once. The three highest flags are reserved and must be 0 (RFC 1952,
    // section 2.3.1.2).
    let seen = bytes.len().min(MAGIC.len());
    if bytes[..seen] != MAGIC[..seen] || bytes.get(3).is_some_and(|flags| flags & 0xE0 != 0) {
        return MemberHeader::None;
    }
    match header_length(bytes) {
        Some(length) if length <= LONGEST_HEADER => MemberHeader::Complete(length),
        None if bytes.len() < LONGEST_HEADER => MemberHeader::Incomplete,
        _ => MemberHeader::TooLong,
    }
}

fn header_length(bytes: &[u8]) -> Option<usize> {
    let flags = *bytes.get(3)?;
    let mut length = FIXED_HEADER;
    // The optional fields have a fixed order (RFC 1952, section 2.3): the extra field with its own
    // length, the name, the comment, and a checksum of the header in two bytes.
    if flags & 4 != 0 {
        let extra = [*bytes.get(length)?, *bytes.get(length + 1)?];
        length += 2 + usize::from(u16::from_le_bytes(extra));
    }
    // The two numbers are the flags of the name and of the comment. Both fields end with a zero
    // byte.
    for flag in [8, 16] {
        if flags & flag != 0 {
            length += memchr::memchr(0, bytes.get(length..)?)? + 1;
        }
    }
    if flags & 2 != 0 {
        length += 2;
    }
    (length <= bytes.len()).then_some(length)
}

/// Returns the first position in `bytes` at which a gzip member very likely begins, or `None`.
pub(crate) fn first_member(bytes: &[u8]) -> Option<usize> {
    let mut magic = memchr::memmem::find_iter(bytes, &MAGIC);
    magic.find(|&at| bytes.get(at..at + FIXED_HEADER).is_some_and(is_member_start))
}

/// Returns whether the 10 bytes in `bytes` very likely are the start of a gzip member. Of 10¹² random sequences of 10
/// bytes, about 5 are accepted by mistake.
fn is_member_start(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
        && bytes[3] & 0xE0 == 0
        // Compressors set byte 8 to 2 or 4 for their best or fastest mode, else to 0. Byte 9 is the
        // number of the operating system, from 0 to 13, or 255 if it is unknown (RFC 1952, section
        // 2.3.1).
        && matches!(bytes[8], 0 | 2 | 4)
        && matches!(bytes[9], 0..=13 | 255)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::ReadOptions;

    /// Reads a gzip file and returns its content and the reported damage. Checks that little of the
    /// file is in memory at once.
    fn read(file: impl Read) -> (Vec<u8>, Vec<String>) {
        let mut gzip = Gzip::new(CompressedBuffer::new(file), ReadOptions::default().decoding());
        let (mut content, mut damages) = (Vec::new(), Vec::new());
        for _ in 0..1000 {
            let mut space = vec![0; 100_000];
            let Filled { bytes, then } = gzip.fill(&mut space);
            assert!(gzip.input.held() < 1 << 20, "{} bytes are held", gzip.input.held());
            content.extend_from_slice(&space[..bytes]);
            match then {
                Then::More | Then::NeedsMemory { .. } => {}
                Then::End => return (content, damages),
                Then::Warning(damage) => damages.push(damage.detail),
                Then::Loss { damage, goes_on, .. } => {
                    damages.push(damage.detail);
                    if !goes_on {
                        return (content, damages);
                    }
                }
            }
        }
        panic!("no end after {damages:?}");
    }

    /// Returns a gzip member whose header holds a file name of `bytes` bytes.
    fn named(bytes: usize, content: &str) -> Vec<u8> {
        use std::io::Write;
        let mut gzip = flate2::GzBuilder::new()
            .filename(vec![b'n'; bytes])
            .write(Vec::new(), flate2::Compression::fast());
        gzip.write_all(content.as_bytes()).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn a_header_of_any_length_is_read_or_passed_over() {
        for (bytes, is_read) in [
            (0, true),
            (70_000, true),
            (LONGEST_HEADER - FIXED_HEADER - 1, true),
            (LONGEST_HEADER - FIXED_HEADER, false),
            (200_000, false),
            (262_144, false),
            (3_000_000, false),
        ] {
            let file = [named(bytes, "one "), named(0, "two")].concat();
            let (content, damages) = read(&file[..]);
            let expected = if is_read { "one two" } else { "two" };
            assert_eq!((&*content, damages.len()), (expected.as_bytes(), usize::from(!is_read)));
            assert!(damages.iter().all(|damage| damage.contains("a gzip header of over 131072")));
        }
    }

    #[test]
    fn a_header_without_end_is_passed_over_in_little_memory() {
        let start = &[0x1F, 0x8B, 8, 8, 0, 0, 0, 0, 0, 255][..];
        let (content, damages) = read(start.chain(std::io::repeat(b'n').take(50 << 20)));
        assert_eq!((content.len(), damages.len()), (0, 1));
    }

    #[test]
    fn a_file_of_nothing_but_damage_is_given_up() {
        // The file consists of headers that have no end, one after the other.
        let file = [0x1F, 0x8B, 8, 8, 9, 9, 9, 9, 0, 255].repeat(300_000);
        let mut gzip =
            Gzip::new(CompressedBuffer::new(&file[..]), ReadOptions::default().decoding());
        let mut damages = 0;
        while let Then::Loss { goes_on: true, .. } = gzip.fill(&mut [0; 100]).then {
            damages += 1;
            assert!(damages <= 20_000);
        }
    }
}
