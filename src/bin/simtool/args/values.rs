//! Parsers of values that several arguments have.

use clap::builder::{PathBufValueParser, TypedValueParser};
use simtool::compression::Compression;
use simtool::read::Format;
use simtool::setting::find;
use std::path::{Path, PathBuf};

/// File extensions of formats that simtool only writes.
const WRITTEN: [&str; 1] = ["npy"];

/// Returns the file extension of a path, without the dot, if simtool reads or writes files with this extension.
pub(crate) fn ending(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let read = Format::all().flat_map(Format::extensions);
    let packed = Compression::ALL.into_iter().flat_map(Compression::extensions);
    read.chain(packed).copied().chain(WRITTEN).find(|known| *known == ending)
}

/// Returns a help text in which settings in backquotes are shown as options.
pub(super) fn spelled(help: &str) -> String {
    // The library names settings with underscores, but options have hyphens. Settings of a method are no options.
    let option = |name: &str| find(name).map(|row| format!("--{}", row.name.replace('_', "-")));
    simtool::run::spell_settings(help, &option)
}

/// Returns a parser for the folder of results. It refuses `-`, and names with a file extension unless a
/// folder of that name exists.
pub(super) fn output_folder() -> impl TypedValueParser<Value = PathBuf> {
    folder().try_map(|path| match ending(&path) {
        // A name such as out.jsonl most likely means a file, unless a folder has this name.
        Some(ending) if !path.is_dir() => {
            Err(format!("results are several files in a folder: name one, without .{ending}"))
        }
        _ => Ok(path),
    })
}

/// Returns a parser for a folder. It refuses `-`, which means standard input or output elsewhere.
pub(super) fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str().as_encoded_bytes() {
        b"-" => Err("means standard input or output, not a folder: name a folder, or write ./- if it is named -"),
        _ => Ok(path),
    })
}
