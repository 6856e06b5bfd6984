//! Checks of values that hold for all commands with a setting.

use super::row::{Kind, Setting};
use simtool_model::compression::Compression;
use simtool_read::Format;
use std::ffi::OsStr;
use std::path::Path;

/// File extension of a format that simtool only writes.
const WRITTEN: &str = "npy";

/// Returns the file extension of a path, without the dot, if simtool reads or writes files with this extension.
pub(crate) fn known_extension(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let read = Format::all().flat_map(Format::extensions);
    let packed = Compression::ALL.into_iter().flat_map(Compression::extensions);
    read.chain(packed).copied().chain([WRITTEN]).find(|known| *known == extension)
}

impl Setting {
    /// Checks a value as far as its kind alone decides. The part that uses the setting checks the rest.
    ///
    /// # Errors
    ///
    /// The value is none of the values that the setting can have, or names no folder. The error is the rule.
    pub fn check(&self, value: &OsStr) -> Result<(), String> {
        match self.kind {
            Kind::Choice(..) | Kind::FlagOr(..) => {
                let choices = self.kind.choices();
                let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
                if names.iter().any(|name| value == *name) {
                    return Ok(());
                }
                Err(format!("must be one of {}", names.join(", ")))
            }
            Kind::Folder(_) | Kind::Results(_) if value == "-" => {
                // In other settings, this name means standard input or output.
                Err("means standard input or output, not a folder: name a folder, or write ./- if it is named -".to_owned())
            }
            Kind::Results(_) => match known_extension(Path::new(value)) {
                // A name such as out.jsonl most likely means a file, unless a folder has this name.
                Some(extension) if !Path::new(value).is_dir() => Err(format!(
                    "results are several files in a folder: name a folder, without .{extension}"
                )),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}
