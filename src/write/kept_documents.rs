//! Copies of the inputs without the documents that are not kept: the same names, format and
//! compression, and the kept records byte for byte.

#[cfg(not(all(feature = "gzip", feature = "zstd")))]
use crate::error::ErrorKind;
use crate::error::{Error, Result};
use crate::input_format::{Compression, Format};
use crate::unordered_map::UnorderedMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Bytes written to the disk at once.
const BUFFER_BYTES: usize = 256 << 10;

/// Makes names that were given twice different: the second `a.jsonl.gz` becomes `a-2.jsonl.gz`.
///
/// # Complexity
///
/// Linear in the number of names, unless many of them look like numbered ones.
#[must_use]
pub fn distinct_names(names: &[PathBuf]) -> Vec<PathBuf> {
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
        taken.insert(name.clone(), number);
        distinct.push(copy);
    }
    distinct
}

/// The name with a number before its first dot.
fn numbered(name: &Path, number: u32) -> PathBuf {
    let file = name.file_name().unwrap_or_default().to_string_lossy();
    // A dot at the start hides the file and begins no ending.
    let dot = file[1.min(file.len())..].find('.').map_or(file.len(), |at| at + 1);
    let mut numbered = OsString::from(&file[..dot]);
    numbered.push(format!("-{number}"));
    numbered.push(&file[dot..]);
    name.with_file_name(numbered)
}

/// A copy that grows by one record after the other.
///
/// The caller sees to it that the folder it stands in appears whole or not at all.
pub struct KeptFile {
    path: PathBuf,
    encoder: Encoder,
}

enum Encoder {
    Plain(BufWriter<File>),
    #[cfg(feature = "gzip")]
    Gzip(flate2::write::GzEncoder<BufWriter<File>>),
    /// Every record is a gzip member, which is how WARC files are cut.
    #[cfg(feature = "gzip")]
    GzipMembers(GzipMembers),
    #[cfg(feature = "zstd")]
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<File>>),
}

impl KeptFile {
    /// Creates the file and the folders above it.
    ///
    /// # Errors
    ///
    /// The file exists or cannot be created, or this build cannot write its compression.
    #[cfg_attr(
        not(feature = "gzip"),
        expect(unused_variables, reason = "only gzip files differ by what is in them")
    )]
    pub fn create(path: &Path, format: Format, compression: Compression) -> Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
        }
        let file = File::create_new(path).map_err(|e| Error::io(path, "create", e))?;
        let file = BufWriter::with_capacity(BUFFER_BYTES, file);
        let encoder = match compression {
            Compression::None => Encoder::Plain(file),
            #[cfg(feature = "gzip")]
            Compression::Gzip if format == Format::Warc => {
                Encoder::GzipMembers(GzipMembers::new(file))
            }
            #[cfg(feature = "gzip")]
            Compression::Gzip => {
                let level = flate2::Compression::default();
                Encoder::Gzip(flate2::write::GzEncoder::new(file, level))
            }
            #[cfg(feature = "zstd")]
            Compression::Zstd => {
                let encoder = zstd::stream::write::Encoder::new(file, 0).and_then(|mut encoder| {
                    encoder.include_checksum(true)?;
                    Ok(encoder)
                });
                Encoder::Zstd(encoder.map_err(|e| Error::io(path, "compress", e))?)
            }
            #[cfg(not(feature = "gzip"))]
            Compression::Gzip => {
                return Err(ErrorKind::FeatureOff { what: "gzip", feature: "gzip" }.into());
            }
            #[cfg(not(feature = "zstd"))]
            Compression::Zstd => {
                return Err(ErrorKind::FeatureOff { what: "zstd", feature: "zstd" }.into());
            }
        };
        Ok(Self { path: path.to_owned(), encoder })
    }

    /// Appends a record, with its separator.
    ///
    /// # Errors
    ///
    /// The disk is full, or writing fails otherwise.
    pub fn write(&mut self, record: &[u8]) -> Result<()> {
        let written = match &mut self.encoder {
            Encoder::Plain(file) => file.write_all(record),
            #[cfg(feature = "gzip")]
            Encoder::Gzip(encoder) => encoder.write_all(record),
            #[cfg(feature = "gzip")]
            Encoder::GzipMembers(members) => members.write(record),
            #[cfg(feature = "zstd")]
            Encoder::Zstd(encoder) => encoder.write_all(record),
        };
        written.map_err(|e| Error::io(&self.path, "write", e))
    }

    /// Writes what is still in memory.
    ///
    /// # Errors
    ///
    /// The disk is full, or writing fails otherwise.
    pub fn finish(self) -> Result<()> {
        let finished = match self.encoder {
            Encoder::Plain(file) => Ok(file),
            #[cfg(feature = "gzip")]
            Encoder::Gzip(encoder) => encoder.finish(),
            #[cfg(feature = "gzip")]
            Encoder::GzipMembers(members) => members.finish(),
            #[cfg(feature = "zstd")]
            Encoder::Zstd(encoder) => encoder.finish(),
        };
        finished.and_then(|mut file| file.flush()).map_err(|e| Error::io(&self.path, "write", e))
    }
}

impl std::fmt::Debug for KeptFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptFile").field("path", &self.path).finish_non_exhaustive()
    }
}

/// Writes members with one compressor, since making one costs more than a short record.
#[cfg(feature = "gzip")]
struct GzipMembers {
    file: BufWriter<File>,
    compressor: flate2::Compress,
    member: Vec<u8>,
    is_empty: bool,
}

#[cfg(feature = "gzip")]
impl GzipMembers {
    fn new(file: BufWriter<File>) -> Self {
        let compressor = flate2::Compress::new_gzip(flate2::Compression::default(), 15);
        Self { file, compressor, member: Vec::new(), is_empty: true }
    }

    fn write(&mut self, record: &[u8]) -> std::io::Result<()> {
        self.compressor.reset();
        self.member.clear();
        self.is_empty = false;
        loop {
            let rest = &record[self.compressor.total_in() as usize..];
            self.member.reserve(rest.len() / 2 + 256);
            let status = self
                .compressor
                .compress_vec(rest, &mut self.member, flate2::FlushCompress::Finish)
                .map_err(std::io::Error::other)?;
            if status == flate2::Status::StreamEnd {
                return self.file.write_all(&self.member);
            }
        }
    }

    /// A file of no member at all is no gzip file.
    fn finish(mut self) -> std::io::Result<BufWriter<File>> {
        if self.is_empty {
            self.write(&[])?;
        }
        Ok(self.file)
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

    #[cfg(feature = "gzip")]
    fn gunzipped(path: &Path) -> Vec<u8> {
        let mut content = Vec::new();
        let file = File::open(path).unwrap();
        std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(file), &mut content)
            .unwrap();
        content
    }

    #[cfg(all(feature = "gzip", feature = "zstd"))]
    #[test]
    fn records_are_written_in_every_compression() {
        let folder = tempfile::tempdir().unwrap();
        let long = vec![b'x'; 100_000];
        let records = [&b"first"[..], &long, b"", b"last"];
        for (at, compression) in
            [Compression::None, Compression::Gzip, Compression::Zstd].into_iter().enumerate()
        {
            for format in [Format::Warc, Format::JsonLines] {
                for records in [&records[..], &[]] {
                    let path = folder.path().join(format!("{at}/{format}-{}", records.len()));
                    let mut file = KeptFile::create(&path, format, compression).unwrap();
                    for record in records {
                        file.write(record).unwrap();
                    }
                    file.finish().unwrap();
                    let content = match compression {
                        Compression::None => fs::read(&path).unwrap(),
                        Compression::Gzip => gunzipped(&path),
                        Compression::Zstd => zstd::decode_all(File::open(&path).unwrap()).unwrap(),
                    };
                    assert!(content == records.concat(), "{format} {compression:?}");
                }
            }
        }
        let error =
            KeptFile::create(&folder.path().join("0/warc-0"), Format::Warc, Compression::None);
        assert!(error.is_err(), "an existing file is not overwritten");
    }
}
