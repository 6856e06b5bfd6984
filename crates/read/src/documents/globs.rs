//! Patterns that choose the files of a folder.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use simtool_base::error::{Error, Result};
use std::path::Path;

/// Patterns such as `*.jsonl` that select files. A pattern that begins with `!` excludes files. Without other patterns,
/// all files are selected that are not excluded.
///
/// A pattern without a slash is compared with the name of a file. A pattern with a slash is
/// compared with the file's path below the folder that the user named, and `**` in it matches any
/// number of folders.
#[derive(Debug)]
pub struct Globs {
    wanted: GlobSet,
    unwanted: GlobSet,
    wants_all: bool,
}

impl Globs {
    /// Parses the patterns.
    ///
    /// # Errors
    ///
    /// A pattern cannot be parsed.
    pub fn new(patterns: &[String]) -> Result<Self> {
        let (mut wanted, mut unwanted) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        let mut wants_all = true;
        for pattern in patterns {
            let refused = |e: &globset::Error| Error::config("glob", pattern, e.kind().to_string());
            let (set, glob) = if let Some(glob) = pattern.strip_prefix('!') {
                (&mut unwanted, glob)
            } else {
                wants_all = false;
                (&mut wanted, pattern.as_str())
            };
            // A pattern without a slash matches the name in every folder, as in a `.gitignore`.
            let anywhere = if glob.contains('/') { "" } else { "**/" };
            let glob = format!("{anywhere}{}", glob.trim_start_matches('/'));
            let glob = GlobBuilder::new(&glob).literal_separator(true).build();
            set.add(glob.map_err(|e| refused(&e))?);
        }
        let built = |set: &GlobSetBuilder| {
            set.build().map_err(|e| Error::config("glob", patterns.join(" "), e.kind().to_string()))
        };
        Ok(Self { wanted: built(&wanted)?, unwanted: built(&unwanted)?, wants_all })
    }

    /// Returns whether the patterns select a file. `below` is the path of the file below the folder
    /// that the user named.
    #[must_use]
    pub fn select(&self, below: &Path) -> bool {
        (self.wants_all || self.wanted.is_match(below)) && !self.unwanted.is_match(below)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(patterns: &[&str], path: &str, expected: bool) {
        let patterns: Vec<String> = patterns.iter().map(|&p| p.to_owned()).collect();
        let selected = Globs::new(&patterns).unwrap().select(Path::new(path));
        assert_eq!(selected, expected, "{patterns:?} {path}");
    }

    #[test]
    fn patterns_select() {
        check(&[], "a/b", true);
        check(&["*.gz"], "a/b.gz", true);
        check(&["*.gz"], "a.gz/b", false);
        check(&["a/*.gz"], "a/b/c.gz", false);
        check(&["a/**/*.gz"], "a/b/c.gz", true);
        check(&["*.gz", "*.zst"], "c.zst", true);
        check(&["!*.tmp"], "a", true);
        check(&["!*.tmp"], "d/a.tmp", false);
        check(&["*.gz", "!b*"], "b.gz", false);
        assert!(Globs::new(&["[".to_owned()]).is_err());
    }
}
