//! Writes copies of the inputs without the removed documents. Copies have the names, format and compression
//! of the inputs, and the bytes of kept records are unchanged.

use simtool_base::error::{Error, Result};
use simtool_base::unordered_map::UnorderedMap;
use simtool_model::compression::Compression;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Returns `names`, but adds numbers to repeated names so that no two results are equal. For example, the
/// second `a.jsonl.gz` becomes `a-2.jsonl.gz`.
///
/// # Complexity
///
/// Linear in the number of names, unless many names already end in numbers such as `-2`.
#[must_use]
pub(crate) fn distinct_names(names: &[PathBuf]) -> Vec<PathBuf> {
    // All given names count as taken from the start, so a numbered copy never gets the name of a later file.
    let mut taken: UnorderedMap<PathBuf, u32> =
        names.iter().map(|name| (name.clone(), 0)).collect();
    let mut distinct = Vec::with_capacity(names.len());
    for name in names {
        let uses = taken.get(name).copied().unwrap_or_default();
        let (mut copy, mut number) = (name.clone(), uses + 1);
        while number > 1 {
            copy = numbered(name, number);
            if !taken.contains_key(&copy) {
                taken.insert(copy.clone(), 1);
                break;
            }
            number += 1;
        }
        // The next equal name starts at this number and does not try the smaller ones again.
        taken.insert(name.clone(), number);
        distinct.push(copy);
    }
    distinct
}

/// Returns `name` with a number before the first dot, for example `a-2.jsonl.gz`.
fn numbered(name: &Path, number: u32) -> PathBuf {
    let file = name.file_name().unwrap_or_default().to_string_lossy();
    // A dot at the start marks a hidden file and does not begin an extension.
    let dot = file[1.min(file.len())..].find('.').map_or(file.len(), |at| at + 1);
    let mut numbered = OsString::from(&file[..dot]);
    numbered.push(format!("-{number}"));
    numbered.push(&file[dot..]);
    name.with_file_name(numbered)
}

/// Records of a copy of an input file that are compressed in one step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chunk {
    bytes: Vec<u8>,
    /// For each record that is complete, the offset in `bytes` at which it ends. The bytes after the last
    /// offset belong to a record that continues in the next chunk.
    ends: Vec<usize>,
}

impl Chunk {
    /// Appends a whole record with its separator, or the last bytes of a record that
    /// [`push_piece`](Self::push_piece) began.
    pub(crate) fn push(&mut self, record: &[u8]) {
        self.bytes.extend_from_slice(record);
        self.ends.push(self.bytes.len());
    }

    /// Appends the next bytes of a record that is too long to be in memory as a whole. [`push`](Self::push)
    /// appends the last bytes of the record.
    pub(crate) fn push_piece(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the number of bytes of the chunk.
    #[must_use]
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns whether the chunk has no bytes.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the records of the chunk that are not empty.
    fn records(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ends = self.ends.iter().copied().chain([self.bytes.len()]);
        starts.zip(ends).map(|(start, end)| &self.bytes[start..end]).filter(|r| !r.is_empty())
    }
}

/// Settings for compressing each [`Chunk`] of a file separately. Compressed chunks that are written one after
/// the other are a valid compressed file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packing {
    compression: Compression,
    /// Whether every record becomes a gzip member of its own, as readers of WARC files expect. A record that
    /// is too long to be in memory as a whole can become several members.
    by_record: bool,
}

impl Packing {
    /// Creates the settings for files with this compression. With `by_record`, every record of a gzip file
    /// becomes a gzip member of its own.
    #[must_use]
    pub(crate) fn new(compression: Compression, by_record: bool) -> Self {
        Self { compression, by_record }
    }

    /// Returns whether chunks are compressed at all. Compressing them takes longer than reading the input.
    #[must_use]
    pub(crate) fn takes_time(self) -> bool {
        self.compression != Compression::None
    }

    /// Compresses a chunk. An empty chunk becomes an empty member, frame or stream, because a
    /// compressed file must contain at least one.
    ///
    /// # Errors
    ///
    /// The compressor fails.
    pub(crate) fn pack(self, chunk: Chunk) -> io::Result<Vec<u8>> {
        match self.compression {
            Compression::Gzip => {
                let mut compressor = flate2::Compress::new_gzip(flate2::Compression::default(), 15);
                // Compressed text usually has about a third of the bytes.
                let mut packed = Vec::with_capacity(chunk.bytes.len() / 3 + 64);
                if self.by_record && !chunk.is_empty() {
                    chunk
                        .records()
                        .try_for_each(|record| pack_member(&mut compressor, record, &mut packed))?;
                } else {
                    pack_member(&mut compressor, &chunk.bytes, &mut packed)?;
                }
                Ok(packed)
            }
            Compression::Zstd => {
                let mut compressor = zstd::bulk::Compressor::new(0)?;
                // Gzip always stores a checksum, and copies in this format should not be less safe.
                compressor.include_checksum(true)?;
                compressor.compress(&chunk.bytes)
            }
            Compression::Bzip2 => {
                let level = bzip2::Compression::default();
                let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), level);
                encoder.write_all(&chunk.bytes)?;
                encoder.finish()
            }
            Compression::Xz => {
                let mut options = lzma_rust2::XzOptions::default();
                // A dictionary that is longer than the content takes memory for nothing.
                let length = u32::try_from(chunk.bytes.len()).unwrap_or(u32::MAX);
                options.lzma_options.dict_size = length.clamp(4096, 8 << 20);
                let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options)?;
                encoder.write_all(&chunk.bytes)?;
                encoder.finish()
            }
            Compression::Lz4 => {
                let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
                let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
                encoder.write_all(&chunk.bytes)?;
                encoder.finish().map_err(io::Error::other)
            }
            Compression::None => Ok(chunk.bytes),
        }
    }
}

/// Compresses `content` as a gzip member and appends the member to `packed`. The caller passes the same
/// compressor each time, because creating a compressor takes longer than compressing a short record.
fn pack_member(
    compressor: &mut flate2::Compress,
    content: &[u8],
    packed: &mut Vec<u8>,
) -> io::Result<()> {
    compressor.reset();
    loop {
        // The output grows until the member fits. Half of the remaining text is enough space for most texts.
        let rest = &content[compressor.total_in() as usize..];
        packed.reserve(rest.len() / 2 + 256);
        let status = compressor
            .compress_vec(rest, packed, flate2::FlushCompress::Finish)
            .map_err(io::Error::other)?;
        if status == flate2::Status::StreamEnd {
            return Ok(());
        }
    }
}

/// A copy of an input file, without the removed documents, that is being written chunk by chunk.
///
/// The file has its final name from the start. So the caller must create it in a temporary folder, which is
/// renamed when all files are complete.
#[derive(Debug)]
pub(crate) struct KeptFile {
    path: PathBuf,
    file: File,
}

impl KeptFile {
    /// Creates the file at `path`, and the folders of the path that do not exist.
    ///
    /// # Errors
    ///
    /// The file exists or cannot be created.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let file = match (File::create_new(path), path.parent()) {
            // Folders are created only when creating the file fails without them, because most files share a
            // folder.
            (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
                File::create_new(path)
            }
            (file, _) => file,
        };
        let file = file.map_err(|e| Error::io(path, "create", e))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Appends a chunk that [`Packing::pack`] compressed.
    ///
    /// # Errors
    ///
    /// The disk is full, or writing fails otherwise.
    pub(crate) fn write(&mut self, packed: &[u8]) -> Result<()> {
        self.file.write_all(packed).map_err(|e| Error::io(&self.path, "write", e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_get_numbers() {
        let names =
            ["d/a.x.gz", "d/a-2.x.gz", "d/a.x.gz", "e/a.x.gz", "d/a.x.gz", ".b", ".b", "c", "c"];
        let names: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        let distinct = distinct_names(&names);
        let expected = [
            "d/a.x.gz",
            "d/a-2.x.gz",
            "d/a-3.x.gz",
            "e/a.x.gz",
            "d/a-4.x.gz",
            ".b",
            ".b-2",
            "c",
            "c-2",
        ];
        assert_eq!(distinct, expected.map(PathBuf::from));
    }

    /// Returns the content of all frames of an LZ4 file.
    fn lz4_content(path: &Path) -> Vec<u8> {
        let mut content = Vec::new();
        let mut rest = &fs::read(path).unwrap()[..];
        while !rest.is_empty() {
            let mut frame = lz4_flex::frame::FrameDecoder::new(rest);
            io::Read::read_to_end(&mut frame, &mut content).unwrap();
            rest = frame.into_inner();
        }
        content
    }

    fn read_all(mut reader: impl io::Read) -> Vec<u8> {
        let mut content = Vec::new();
        reader.read_to_end(&mut content).unwrap();
        content
    }

    #[test]
    fn chunks_are_packed_in_every_compression() {
        let folder = tempfile::tempdir().unwrap();
        let long = vec![b'x'; 100_000];
        let mut chunks = [(); 3].map(|()| Chunk::default());
        for record in [&b"first"[..], &long, b"", b"last"] {
            chunks[0].push(record);
        }
        chunks[1].push_piece(b"begun and");
        chunks[2].push_piece(b" gone on ");
        chunks[2].push(b"with");
        let whole: Vec<u8> = chunks.iter().flat_map(|chunk| chunk.bytes.clone()).collect();
        for (at, compression) in Compression::ALL.into_iter().enumerate() {
            for by_record in [true, false] {
                for (chunks, expected) in [(&chunks[..], &whole[..]), (&[Chunk::default()], &[])] {
                    let path = folder.path().join(format!("{at}/{by_record}-{}", chunks.len()));
                    let mut file = KeptFile::create(&path).unwrap();
                    let packing = Packing::new(compression, by_record);
                    for chunk in chunks {
                        file.write(&packing.pack(chunk.clone()).unwrap()).unwrap();
                    }
                    let content = match compression {
                        Compression::None => fs::read(&path).unwrap(),
                        Compression::Gzip => {
                            read_all(flate2::read::MultiGzDecoder::new(File::open(&path).unwrap()))
                        }
                        Compression::Zstd => zstd::decode_all(File::open(&path).unwrap()).unwrap(),
                        Compression::Bzip2 => {
                            read_all(bzip2::read::MultiBzDecoder::new(File::open(&path).unwrap()))
                        }
                        Compression::Xz => {
                            read_all(lzma_rust2::XzReader::new(File::open(&path).unwrap(), true))
                        }
                        Compression::Lz4 => lz4_content(&path),
                    };
                    assert!(content == expected, "{by_record} {compression:?}");
                }
            }
        }
        let error = KeptFile::create(&folder.path().join("0/true-1"));
        assert!(error.is_err(), "an existing file is not overwritten");
    }
}
