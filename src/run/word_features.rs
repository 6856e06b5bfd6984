//! Hash table and stop words for `simtool N M`, which fingerprints the most frequent words of documents. Both
//! come from files in a folder, or are built in.

use super::face::{Face, Notice};
use super::files::{open_file, open_file_if_there};
use crate::method::{names_file, read_stop_words};
use simtool_base::error::{Error, Result};
use simtool_base::mapped_file::MappedFile;
use simtool_base::options::Options;
use simtool_fingerprint::hash_table::{Extent, HashTable};
use simtool_kernels::Isa;
use simtool_terms::tokenize::stop_words;
use std::path::{Path, PathBuf, absolute};

/// N and M of `simtool N M` as the user wrote them, and the paths of the files that they need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WordsRequest {
    /// N as the user wrote it: the number of words that are used as features. `None` if the user gave no N.
    pub features: Option<String>,
    /// M as the user wrote it: the number of bits of a fingerprint. `None` if the user gave no M.
    pub bits: Option<String>,
    /// Folder of the input files for which the user gives no path. The hash table is looked for in
    /// `hashvalue.txt`, and the stop words in `stopwords.txt`.
    pub directory: PathBuf,
    /// Path of the file with the hash table, if the user gave one.
    pub hash_table: Option<PathBuf>,
}

/// Hash table and stop words for the given N and M.
#[derive(Clone, Debug)]
pub struct WordFeatures {
    /// Hash table with one row of bits for each feature.
    pub hash_table: HashTable,
    /// Words in lower case that are never features.
    pub stop_words: Vec<Vec<u8>>,
}

impl WordsRequest {
    /// Creates the request for N and M. Takes `directory` and `hash_table` out of `options`.
    #[must_use]
    pub fn parse(features: Option<String>, bits: Option<String>, options: &mut Options) -> Self {
        let directory = options.take_path("directory").unwrap_or_else(|| PathBuf::from("."));
        Self { features, bits, directory, hash_table: options.take_path("hash_table") }
    }

    /// Reads the hash table and the stop words for a collection. Returns `None` if N was not given.
    /// `stop_words` is the name of a built-in list, the path of a file, or several of them joined by `+`.
    ///
    /// # Errors
    ///
    /// Only one of N and M was given, or a file cannot be read or does not fit N and M.
    pub fn read(
        &self,
        stop_words: Option<&str>,
        isa: Isa,
        face: &dyn Face,
    ) -> Result<Option<WordFeatures>> {
        let Some(features) = &self.features else { return Ok(None) };
        let Some(bits) = &self.bits else {
            let rule = "N and M stand together in front, as in `simtool 1000 64 --corpus PATH`";
            return Err(Error::config("N", features, rule));
        };
        let files = FolderFiles { folder: &self.directory, face };
        let hash_table = files.hash_table(self.hash_table.as_ref(), isa, features, bits)?;
        let stop_words = match stop_words.filter(|name| !names_file(name)) {
            Some(name) => {
                let list = read_stop_words(name)?;
                stop_words::parse(list.words().join("\n").as_bytes()).collect()
            }
            None => files.stop_words(stop_words.map(PathBuf::from).as_ref())?,
        };
        Ok(Some(WordFeatures { hash_table, stop_words }))
    }

    /// Returns an error if files were named that have no effect without N and M.
    pub(super) fn refuse_files(&self) -> Result<()> {
        // The option has a default value, which must not look like a given one.
        let usual = [Path::new("."), Path::new("")];
        let directory = Some(&self.directory).filter(|folder| !usual.contains(&folder.as_path()));
        for (field, given) in [("directory", directory), ("hash_table", self.hash_table.as_ref())] {
            if let Some(given) = given {
                return Err(Error::config(field, given.display(), "goes with N and M"));
            }
        }
        Ok(())
    }
}

/// Finds and reads the files for `simtool N M`. The user can give the path of a file. Otherwise the file has
/// its usual name in a folder.
#[expect(missing_debug_implementations, reason = "a face has nothing to show")]
#[derive(Clone, Copy)]
pub struct FolderFiles<'f> {
    /// Folder in which files have their usual names, for example `hashvalue.txt`.
    pub folder: &'f Path,
    /// Face that says how files are opened, and that receives notes about missing files.
    pub face: &'f dyn Face,
}

impl FolderFiles<'_> {
    /// Returns the path `named` or, if it is `None`, the path of the file `name` in the folder. The path in
    /// the folder is absolute, so that messages show the folder.
    #[must_use]
    pub fn path(&self, named: Option<&PathBuf>, name: &str) -> PathBuf {
        named.cloned().unwrap_or_else(|| {
            let path = self.folder.join(name);
            absolute(&path).unwrap_or(path)
        })
    }

    /// Reads the stop words from the file `named` or, if it is `None`, from `stopwords.txt` in the folder. If
    /// that file does not exist, returns the built-in English list.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn stop_words(&self, named: Option<&PathBuf>) -> Result<Vec<Vec<u8>>> {
        let instead = "the built-in English stop words";
        let file = self.optional(named, "stopwords.txt", instead)?;
        let list = file.as_ref().map_or(stop_words::ENGLISH.as_bytes(), |(_, list)| list);
        Ok(stop_words::parse(list).collect())
    }

    /// Returns the hash table for N features and M bits. It comes from the file `named`, from `hashvalue.txt`
    /// in the folder, or is built in.
    ///
    /// # Errors
    ///
    /// N or M is not a number or too great, or the file cannot be read or is too small.
    pub fn hash_table(
        &self,
        named: Option<&PathBuf>,
        isa: Isa,
        features: &str,
        bits: &str,
    ) -> Result<HashTable> {
        let file = self.optional(named, "hashvalue.txt", "the built-in hash table")?;
        // The size of the table is needed only for an error, and reading it from the file takes time.
        let extent = || file.as_ref().map_or(Extent::BUILT_IN, |(_, text)| Extent::from_text(text));
        let features = number("N", features, &extent)?;
        let bits = number("M", bits, &extent)?;
        match &file {
            Some((path, text)) => HashTable::parse(isa, text, path, features, bits),
            None => HashTable::built_in(features, bits),
        }
    }

    /// Opens the file `named`, which must exist. If `named` is `None`, opens the file `name` in the folder.
    /// If that file does not exist, returns `None`, and a note reports that `instead` is used.
    fn optional(
        &self,
        named: Option<&PathBuf>,
        name: &str,
        instead: &str,
    ) -> Result<Option<(PathBuf, MappedFile)>> {
        let path = self.path(named, name);
        let access = self.face.access();
        let file = match named {
            Some(_) => Some(open_file(&path, access)?),
            None => open_file_if_there(&path, access)?,
        };
        if file.is_none() {
            let note = format!("there is no {}; using {instead}", path.display());
            self.face.notice(Notice::Note(&note));
        }
        Ok(file.map(|file| (path, file)))
    }
}

/// Parses N or M, as `name` says. If `given` is not a number, the error has the range that the hash table
/// allows. `extent` returns the size of the hash table.
fn number(name: &'static str, given: &str, extent: &dyn Fn() -> Extent) -> Result<usize> {
    given.parse().map_err(|_| Error::config(name, given, extent().offer()))
}
