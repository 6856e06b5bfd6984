//! Files that list the paths of input files.

use crate::bytes::magic_bytes;
use crate::bytes::{SNIFFED_BYTES, decompress};
use crate::documents::ReadOptions;
use crate::documents::walk::input_file::InputFile;
use crate::source::address::{Address, is_address, without_credentials};
use simtool_base::byte_text::os_string;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::mapped_file::FileAccess;
use simtool_model::compression::Compression;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Returns the paths in the file `list`. The paths are separated by line feeds, or by zero bytes, as `find -print0`
/// writes them. If `list` is `-`, the paths are read from `input`. Blank lines are skipped, and a carriage return at
/// the end of a line is not part of the path. The list may be compressed, as the lists of web crawls are. If `list` is
/// an address such as `https://host/list`, paths in it are relative to the root of the site or bucket.
///
/// # Errors
///
/// The list cannot be read, or its compressed data is damaged.
pub fn listed_paths(list: &Path, input: &mut dyn Read) -> Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    let is_input = list.as_os_str() == "-";
    let list = if is_input { Path::new("standard input") } else { list };
    if is_input {
        input.read_to_end(&mut bytes).map_err(|e| Error::io(list, "read", e))?;
    } else {
        bytes = InputFile::new(list).content(FileAccess::READ)?.to_vec();
    }
    let list = &without_credentials(list);
    let bytes = unpacked(list, bytes)?;
    // Lists of web crawls name files of the same site, relative to its root.
    let root = Address::parse(list).map(|address| PathBuf::from(address.root));
    // No path contains a zero byte, so that one is enough to know what ends the paths.
    let zero_separated = bytes.contains(&0);
    let separator = if zero_separated { 0 } else { b'\n' };
    Ok(bytes
        .split(|&byte| byte == separator)
        .map(|line| line.strip_suffix(b"\r").filter(|_| !zero_separated).unwrap_or(line))
        .filter(|line| !line.is_empty())
        .map(path_of_bytes)
        .map(|path| match &root {
            Some(root) if !is_address(&path) && path.as_os_str() != "-" => {
                root.join(path.strip_prefix("/").unwrap_or(&path))
            }
            _ => path,
        })
        .collect())
}

fn path_of_bytes(bytes: &[u8]) -> PathBuf {
    let string = os_string(bytes.to_vec()).map(PathBuf::from);
    string.unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned().into())
}

/// Returns the decompressed content of a small file. `bytes` are the bytes of the file. If they are not compressed,
/// they are returned as they are. `path` is for error messages.
///
/// # Errors
///
/// The compressed data is damaged, or this build cannot read it.
fn unpacked(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>> {
    let compression = magic_bytes::compression(&bytes);
    if compression == Compression::None {
        return Ok(bytes);
    }
    let limits = ReadOptions::default().decoding();
    let mut stream = decompress::open(compression, &bytes[..], limits)?;
    let mut content = Vec::new();
    loop {
        let filled = content.len();
        content.resize(filled + SNIFFED_BYTES, 0);
        let (bytes, end) = stream.fill_up(&mut content[filled..]);
        content.truncate(filled + bytes);
        match end {
            None => {}
            Some(Ok(())) => return Ok(content),
            Some(Err(damage)) => {
                let path = path.to_owned();
                let expected = format!("intact compressed data; {}", damage.detail);
                return Err(ErrorKind::Format { path, byte: damage.byte, expected }.into());
            }
        }
    }
}
