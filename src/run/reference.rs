//! `simtool N M`: finds the articles that match samples.

use super::face::Face;
use super::files::{open_file, refuse_existing};
use super::standard_streams::is_standard_output;
use super::word_features::{FolderFiles, WordsRequest};
use crate::pipeline::config::MatchConfig;
use crate::pipeline::timings::Timings;
use crate::pipeline::{MatchedQueries, match_queries};
use crate::setting::known_extension;
use crate::write::output_folder::Existing;
use crate::write::whole_file::WholeFile;
use simtool_base::durable::Durability;
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use simtool_base::progress::Work;
use simtool_compute::resources::Resources;
use simtool_kernels::Isa;
use std::path::{Path, PathBuf, absolute};

/// Name of the result file if the user names none. The file is in the folder of the input files, and every run replaces
/// it.
const RESULT: &str = "result.txt";
/// Maximum distance of matches if the option `max_distance` is not given.
const MAX_DISTANCE: u32 = 3;

/// Request to find the articles that match samples. Both are documents: samples are looked up, and articles
/// are searched. If no path is given for a file, the file has its usual name in the folder of `words`.
#[derive(Clone, Debug)]
pub struct ReferenceRequest {
    /// N (the number of features) and M (the number of bits of a fingerprint), and the files that they need.
    pub words: WordsRequest,
    /// Path of the file of words that are never features.
    pub stop_words: Option<PathBuf>,
    /// Path of the file with the articles, which are searched.
    pub articles: Option<PathBuf>,
    /// Path of the file with the samples, which are looked up.
    pub samples: Option<PathBuf>,
    /// Path of the file for the matches; `-` is standard output.
    pub result: Option<PathBuf>,
    /// Whether an existing file is replaced if `result` names it. The usual result file is always replaced.
    pub existing: Existing,
    /// Maximum number of bits in which a match differs from its sample.
    pub max_distance: u32,
    /// Number of threads, at least 1.
    pub threads: usize,
}

/// Result of [`reference`](reference()): for each sample, the articles whose fingerprints differ from its fingerprint
/// in at most `max_distance` bits. It also has counts and times.
#[derive(Debug)]
pub struct MatchedSamples {
    /// Matches of all samples as text, counts, and times.
    pub matched: MatchedQueries,
    /// Whether all matches must be printed to standard output. Otherwise they are in a file.
    pub is_for_standard_output: bool,
    /// Number of bytes of the file of articles.
    pub article_bytes: usize,
    /// Instruction set of the processor that was used.
    pub isa: Isa,
    /// Time that each stage took.
    pub timings: Timings,
}

impl ReferenceRequest {
    /// Creates the request from `words`, which has N (the number of features) and M (the number of bits of a
    /// fingerprint), and from `options`. `options` may have the settings of the command `reference` and of
    /// [`Resources`].
    ///
    /// # Errors
    ///
    /// A value is wrong, the result file has the name of another format, or a setting is unknown.
    pub fn parse(words: WordsRequest, mut options: Options) -> Result<Self> {
        let rule = "must be a whole number";
        let result = options.take_path("result");
        let named = result.as_deref().filter(|path| !is_standard_output(path));
        if let Some(named) = named
            && let Some(extension) = known_extension(named).filter(|known| *known != "txt")
        {
            let rule =
                format!("is text of its own format: name a file without .{extension}, or a .txt");
            return Err(Error::config("result", named.display(), rule));
        }
        let request = Self {
            words,
            stop_words: options.take_path("stop_words"),
            articles: options.take_path("articles"),
            samples: options.take_path("samples"),
            result,
            existing: Existing::by_force(options.take_flag("force")?),
            max_distance: options.take_parsed("max_distance", rule)?.unwrap_or(MAX_DISTANCE),
            threads: Resources::parse(&mut options)?.threads,
        };
        options.refuse_rest("reference has no such option")?;
        Ok(request)
    }

    /// Returns the path of the result file. Returns an error if the file exists and may not be replaced.
    fn result_path(&self, files: &FolderFiles<'_>) -> Result<PathBuf> {
        let path = files.path(self.result.as_ref(), RESULT);
        let is_named = self.result.as_ref().is_some_and(|named| !is_standard_output(named));
        // The usual file is always replaced, even if its name was given.
        if is_named && absolute(&path).ok() != Some(files.path(None, RESULT)) {
            refuse_existing("result", &path, self.existing)?;
        }
        Ok(path)
    }
}

/// Finds the articles that match the samples of `request`. Writes the result to its file. If the result is for standard
/// output, writes nothing, and the caller prints the returned text.
///
/// # Errors
///
/// N or M is missing or outside its range, the result file exists and may not be replaced, or a file cannot
/// be read or written.
pub fn reference(request: &ReferenceRequest, face: &dyn Face) -> Result<MatchedSamples> {
    let mut timings = Timings::start();
    let words = &request.words;
    let (Some(features), Some(bits)) = (&words.features, &words.bits) else {
        let given = words.features.as_deref().unwrap_or("nothing");
        return Err(Error::config("N and M", given, "both are needed"));
    };
    let isa = Isa::detected();
    let files = FolderFiles { folder: &words.directory, face };
    // A file that may not be replaced must be reported before anything is read.
    let result = request.result_path(&files)?;
    let hash_table = files.hash_table(words.hash_table.as_ref(), isa, features, bits)?;
    let stop_words = files.stop_words(request.stop_words.as_ref())?;
    let access = face.access();
    let articles = open_file(&files.path(request.articles.as_ref(), "article.txt"), access)?;
    let samples = open_file(&files.path(request.samples.as_ref(), "sample.txt"), access)?;
    timings.end("open files");

    let threads = request.threads;
    let max_distance = request.max_distance;
    let config = MatchConfig { stop_words, hash_table, max_distance, threads, isa };
    face.progress().begin("matching", Work::Steps(0));
    let matched = match_queries(&articles, &samples, &config)?;
    timings.extend(&matched.timings);

    let is_for_standard_output = request.result.as_deref().is_some_and(is_standard_output);
    if !is_for_standard_output {
        write_result(&result, &matched)?;
    }
    let article_bytes = articles.len();
    Ok(MatchedSamples { matched, is_for_standard_output, article_bytes, isa, timings })
}

fn write_result(path: &Path, matched: &MatchedQueries) -> Result<()> {
    // Syncing the file would take as long as making the result again, so it is left out.
    let mut file = WholeFile::create(path, Durability::Fast)?;
    for block in &matched.blocks {
        file.write(block)?;
    }
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Silent;
    use std::fs;

    /// A request in a folder with one article that equals the sample.
    fn request(folder: &Path) -> ReferenceRequest {
        fs::write(folder.join("article.txt"), "red green blue\n").unwrap();
        fs::write(folder.join("sample.txt"), "red green blue\n").unwrap();
        let [features, bits] = ["3", "16"].map(|number| Some(number.to_owned()));
        let words = WordsRequest { features, bits, directory: folder.to_owned(), hash_table: None };
        ReferenceRequest {
            words,
            stop_words: None,
            articles: None,
            samples: None,
            result: None,
            existing: Existing::Refuse,
            max_distance: 3,
            threads: 1,
        }
    }

    #[test]
    fn the_usual_result_is_replaced_and_another_file_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut request = request(folder.path());
        let usual = folder.path().join(RESULT);
        for content in ["", "old"] {
            fs::write(&usual, content).unwrap();
            let found = reference(&request, &Silent).unwrap();
            assert_eq!((found.matched.matches, found.is_for_standard_output), (1, false));
            assert_eq!(fs::read(&usual).unwrap(), found.matched.blocks.concat());
        }
        let other = folder.path().join("other.txt");
        fs::write(&other, "mine").unwrap();
        request.result = Some(other.clone());
        let error = reference(&request, &Silent).unwrap_err().to_string();
        assert!(error.contains("is there already"), "{error}");
        assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
        request.existing = Existing::Replace;
        reference(&request, &Silent).unwrap();
        assert_eq!(fs::read(&other).unwrap(), fs::read(&usual).unwrap());
    }

    #[test]
    fn a_result_for_standard_output_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut request = request(folder.path());
        request.result = Some("-".into());
        assert!(reference(&request, &Silent).unwrap().is_for_standard_output);
        assert!(!folder.path().join(RESULT).exists());
        request.words.bits = None;
        let error = reference(&request, &Silent).unwrap_err().to_string();
        assert_eq!(error, "N and M 3: both are needed");
    }
}
