//! Merkle trees over the rows of a file, as RFC 6962 (Certificate Transparency, section 2.1) defines them.
//!
//! The hash of a leaf is SHA-256 of a zero byte and the row. The hash of a node is SHA-256 of a byte 1 and the hashes
//! of its two children. The left child of a node with n rows has the largest power of two of rows that is less than n.
//! So a row can be proven with the hashes of one path, and a row cannot be taken for a node.

use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::{self, Read};

/// Result of SHA-256.
pub(crate) type Hash = [u8; 32];

/// First byte of the bytes that are hashed for a leaf of the tree, which is a row of the file.
const LEAF: [u8; 1] = [0];
/// First byte of the bytes that are hashed for an inner node of the tree, which has two children.
const NODE: [u8; 1] = [1];
/// Number of bytes of a file that are read at once.
const BLOCK: usize = 1 << 18;

/// Size and hash of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileHash {
    /// Number of bytes of the file.
    pub(crate) bytes: u64,
    /// Number of leaves of the hash tree of the file. 1 if the file is hashed as a whole.
    pub(crate) rows: u64,
    pub(crate) hash: Hash,
}

/// Merkle tree that grows by one leaf at a time. Stores only the hashes of complete subtrees, one for each power of two
/// in the number of leaves. For example, 5 leaves are subtrees of 4 and 1 leaves.
#[derive(Clone, Debug, Default)]
pub(crate) struct MerkleTree {
    /// Complete subtrees, the largest first. Each entry has the base-2 logarithm of the number of leaves, and the hash.
    complete: Vec<(u32, Hash)>,
    leaves: u64,
}

impl MerkleTree {
    /// Adds a leaf with the content `row`.
    pub(crate) fn push(&mut self, row: &[u8]) {
        self.push_hash(leaf().chain_update(row).finalize().into());
    }

    /// Adds a leaf whose hash is `hash`.
    fn push_hash(&mut self, mut hash: Hash) {
        let mut level = 0;
        // Two complete trees of the same size are one tree of twice the size.
        while let Some(&(_, left)) = self.complete.last().filter(|(of, _)| *of == level) {
            self.complete.pop();
            hash = node(left, hash);
            level += 1;
        }
        self.complete.push((level, hash));
        self.leaves += 1;
    }

    /// Returns the hash of the tree. A tree without leaves has the hash of an empty text.
    pub(crate) fn root(&self) -> Hash {
        // The smallest tree is the rightmost one, so the hashes are joined from the right.
        let hashes = self.complete.iter().map(|&(_, hash)| hash);
        let root = hashes.rev().reduce(|right, left| node(left, right));
        root.unwrap_or_else(|| Sha256::new().finalize().into())
    }
}

/// Returns the hash of the tree whose leaves are the lines of a file, each with its line break.
///
/// # Errors
///
/// The file cannot be read.
pub(crate) fn hash_of_lines(file: impl Read) -> io::Result<FileHash> {
    let (mut tree, mut line, mut is_begun) = (MerkleTree::default(), leaf(), false);
    let bytes = visit_blocks(file, |block| {
        let mut rest = block;
        // A line may be longer than a block, so its hash goes on in the next one.
        while let Some(end) = memchr::memchr(b'\n', rest) {
            line.update(&rest[..=end]);
            tree.push_hash(std::mem::replace(&mut line, leaf()).finalize().into());
            (rest, is_begun) = (&rest[end + 1..], false);
        }
        line.update(rest);
        is_begun |= !rest.is_empty();
    })?;
    // The last line of a file may have no line break.
    if is_begun {
        tree.push_hash(line.finalize().into());
    }
    Ok(FileHash { bytes, rows: tree.leaves, hash: tree.root() })
}

/// Returns the hash of the tree whose only leaf is a whole file.
///
/// # Errors
///
/// The file cannot be read.
pub(crate) fn hash_of_file(file: impl Read) -> io::Result<FileHash> {
    hash_of_bytes(leaf(), file)
}

/// Returns SHA-256 of a file, as the program `sha256sum` prints it.
///
/// # Errors
///
/// The file cannot be read.
pub(crate) fn sha256_of_file(file: impl Read) -> io::Result<FileHash> {
    hash_of_bytes(Sha256::new(), file)
}

fn hash_of_bytes(mut hasher: Sha256, file: impl Read) -> io::Result<FileHash> {
    let bytes = visit_blocks(file, |block| hasher.update(block))?;
    Ok(FileHash { bytes, rows: 1, hash: hasher.finalize().into() })
}

/// Calls `visit` with each block of bytes of a file, in order. Returns the number of bytes of the file.
fn visit_blocks(mut file: impl Read, mut visit: impl FnMut(&[u8])) -> io::Result<u64> {
    let (mut block, mut bytes) = (vec![0; BLOCK], 0);
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok(bytes),
            Ok(count) => {
                bytes += count as u64;
                visit(&block[..count]);
            }
            // A signal is no end of the file.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns a hasher that has already taken the first byte of a leaf.
fn leaf() -> Sha256 {
    Sha256::new_with_prefix(LEAF)
}

fn node(left: Hash, right: Hash) -> Hash {
    Sha256::new_with_prefix(NODE).chain_update(left).chain_update(right).finalize().into()
}

/// Returns a hash as 64 hexadecimal digits.
pub(crate) fn hex(hash: &Hash) -> String {
    let mut text = String::with_capacity(2 * hash.len());
    for byte in hash {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the hash of a tree by its definition.
    fn slow_root(rows: &[&[u8]]) -> Hash {
        match rows {
            [] => Sha256::digest(b"").into(),
            [row] => Sha256::digest([&[0], *row].concat()).into(),
            _ => {
                let left = (0..).map(|level| 1 << level).take_while(|&size| size < rows.len());
                let (left, right) = rows.split_at(left.last().unwrap());
                node(slow_root(left), slow_root(right))
            }
        }
    }

    fn hash(text: &[u8]) -> FileHash {
        hash_of_lines(text).unwrap()
    }

    #[test]
    fn trees_of_lines_are_those_of_their_definition() {
        for count in 0..40 {
            let lines: Vec<String> = (0..count).map(|line| format!("row {line}\n")).collect();
            let text = lines.concat();
            let rows: Vec<&[u8]> = text.as_bytes().split_inclusive(|&byte| byte == b'\n').collect();
            let found = hash(text.as_bytes());
            assert_eq!((found.rows, found.bytes), (count, text.len() as u64));
            assert_eq!(found.hash, slow_root(&rows));
            // A last line without a break is another line.
            let cut = text.trim_end();
            assert_eq!(hash(cut.as_bytes()).rows, count);
            assert!(count == 0 || hash(cut.as_bytes()).hash != found.hash);
        }
    }

    #[test]
    fn hashes_are_those_that_others_publish() {
        // The vectors of RFC 6962 are in the sources of Certificate Transparency.
        let rows: [&[u8]; 3] = [b"", b"\0", b"\x10"];
        let mut tree = MerkleTree::default();
        let expected = [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        ];
        for (row, expected) in rows.into_iter().zip(expected) {
            tree.push(row);
            assert_eq!(hex(&tree.root()), expected);
        }
        let file = sha256_of_file(&b"abc"[..]).unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(&file.hash), abc);
    }

    #[test]
    fn long_lines_and_whole_files_are_hashed_in_blocks() {
        let long = [vec![b'x'; 3 * BLOCK + 5], b"\nend".to_vec()].concat();
        let rows: Vec<&[u8]> = long.split_inclusive(|&byte| byte == b'\n').collect();
        assert_eq!(hash(&long).hash, slow_root(&rows));
        let whole = hash_of_file(&long[..]).unwrap();
        assert_eq!((whole.rows, whole.hash), (1, slow_root(&[&long])));
    }
}
