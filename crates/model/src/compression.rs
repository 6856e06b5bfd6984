//! The compressions of input files, and of the copies that are written of them.

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compression {
    /// The file is not compressed.
    None,
    /// Gzip, with one member or many.
    Gzip,
    /// Zstandard, with one frame or many.
    Zstd,
}
