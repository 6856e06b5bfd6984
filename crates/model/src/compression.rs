//! Compressions of input files and of their copies.

/// The compression of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Compression {
    /// The file is not compressed.
    None,
    /// Gzip, with one or several members.
    Gzip,
    /// Zstandard, with one or several frames.
    Zstd,
    /// Bzip2, with one or several streams.
    Bzip2,
    /// The xz format of LZMA2, with one or several streams.
    Xz,
    /// The frame format of LZ4, with one or several frames.
    Lz4,
}

impl Compression {
    /// All compressions.
    pub const ALL: [Self; 6] =
        [Self::None, Self::Gzip, Self::Zstd, Self::Bzip2, Self::Xz, Self::Lz4];

    /// Returns the name of the compression for messages.
    ///
    /// ```
    /// use simtool_model::compression::Compression;
    ///
    /// assert_eq!(Compression::Zstd.title(), "Zstandard");
    /// ```
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::None => "uncompressed",
            Self::Gzip => "gzip",
            Self::Zstd => "Zstandard",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
            Self::Lz4 => "LZ4",
        }
    }

    /// Returns the usual file name extensions of this compression, in lower case and without the dot.
    #[must_use]
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Gzip => &["gz", "gzip", "tgz"],
            Self::Zstd => &["zst", "zstd"],
            Self::Bzip2 => &["bz2", "bz", "tbz2"],
            Self::Xz => &["xz", "txz"],
            Self::Lz4 => &["lz4"],
        }
    }

    /// Returns the name of the program that decompresses a file to standard output with the option `-dc`. Returns
    /// `None` for a file that is not compressed.
    #[must_use]
    pub fn program(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
            Self::Bzip2 => Some("bzip2"),
            Self::Xz => Some("xz"),
            Self::Lz4 => Some("lz4"),
        }
    }
}
