//! The cost of reading a shard again.

/// The cost of reading a shard again, which decides whether results are worth keeping in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Price {
    /// About the cost of scanning the bytes. This is the cost of text in memory and of uncompressed
    /// files. Results need not be kept in memory, because the shard can just be read again.
    Cheap,
    /// A few times the cost of `Cheap`. This is the cost of Zstandard, Parquet and Arrow files.
    /// Reading uncompressed files from a slow disk costs about as much.
    Unpacked,
    /// Many times the cost of `Cheap`. This is the cost of gzip files and of HTML pages.
    Expensive,
}
