//! A digest of the records of a shard. It shows whether a second reading gets the same bytes.

use simtool_base::stable_hash::mix;

/// Digest of the records of a shard in their order. A shard is a file or a part of a large file. Two readings of the
/// same bytes have equal digests.
///
/// If a reader passes the bytes of a record on in pieces, the record is counted, but its bytes are not part of the
/// digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordDigest(Option<u64>);

impl RecordDigest {
    /// Digest of records that were not read. [`Self::agrees_with`] returns true for it and any other digest.
    pub(crate) const UNKNOWN: Self = Self(None);

    /// Creates the digest of an empty list of records.
    #[must_use]
    pub fn new() -> Self {
        Self(Some(0))
    }

    /// Adds the hash of the content of the next record. `None` means that the hash is not known. The digest is then
    /// unknown, too.
    pub fn add(&mut self, content: Option<u64>) {
        self.0 = self.0.zip(content).map(|(before, content)| mix(before ^ content));
    }

    /// Returns whether two digests may come from the same records. If it returns false, the records differ. If one of
    /// the digests is unknown, it returns true.
    #[must_use]
    pub fn agrees_with(self, other: Self) -> bool {
        self.0.is_none() || other.0.is_none() || self == other
    }

    /// Returns the digest as a number for [`from_number`](Self::from_number), or `None` if it is unknown.
    #[must_use]
    pub fn number(self) -> Option<u64> {
        self.0
    }

    /// Creates a digest from the result of [`number`](Self::number).
    #[must_use]
    pub fn from_number(number: Option<u64>) -> Self {
        Self(number)
    }
}

impl Default for RecordDigest {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::hash;

    fn digest(records: &[&[u8]]) -> RecordDigest {
        let mut digest = RecordDigest::new();
        for bytes in records {
            digest.add(Some(hash(bytes)));
        }
        digest
    }

    #[test]
    fn a_digest_depends_on_the_bytes_and_the_order_of_records() {
        let expected = digest(&[b"one\n", b"two\n"]);
        assert!(expected.agrees_with(digest(&[b"one\n", b"two\n"])));
        assert!(RecordDigest::UNKNOWN.agrees_with(expected));
        for other in [&[&b"two\n"[..], b"one\n"][..], &[b"one\n"], &[b"one\n", b"twO\n"], &[]] {
            assert!(!expected.agrees_with(digest(other)), "{other:?}");
        }
        assert_eq!(RecordDigest::from_number(expected.number()), expected);
    }
}
