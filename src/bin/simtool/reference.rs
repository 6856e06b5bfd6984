//! `simtool N M`: samples matched against articles.

use crate::args::{CommonArgs, ReferenceArgs, ShowProgress, WordsArgs, ending};
use crate::inputs::{self, Access};
use crate::output_file::{existing, refuse_existing};
use crate::progress_line::ProgressLine;
use crate::{console, usage};
use simtool::Error;
use simtool::durable::Durability;
use simtool::fingerprint::hash_table::{Extent, HashTable};
use simtool::kernels::Isa;
use simtool::mapped_file::MappedFile;
use simtool::pipeline::config::MatchConfig;
use simtool::pipeline::timings::Timings;
use simtool::pipeline::{MatchedQueries, match_queries};
use simtool::progress::{Progress, Work};
use simtool::tokenize::stop_words::{self, StopWords};
use simtool::write::whole_file::WholeFile;
use std::io::{self, IsTerminal};
use std::path::{self, Path, PathBuf};
use std::time::Duration;

/// What an option must name for standard output.
const STANDARD_OUTPUT: &str = "-";

/// Matches the samples and writes the result.
pub(crate) fn run(args: &ReferenceArgs) -> anyhow::Result<()> {
    let (words, common) = (&args.words, &args.common);
    let mut timings = Timings::start();
    let (Some(features), Some(bits)) = (&words.features, &words.bits) else {
        let given = words.features.as_deref().unwrap_or("nothing");
        return Err(Error::config("N and M are needed, not", given, usage::HINT).into());
    };
    let isa = Isa::detected();
    let files = Files::new(words, args.stop_words.clone(), common);
    let all_to_standard_output = args.result.as_deref() == Some(Path::new(STANDARD_OUTPUT));
    let result = files.result(args)?;
    let hash_table = files.hash_table(isa, features, bits)?;
    let stop_words = files.stop_words()?;
    let articles = inputs::open(&files.path(args.articles.as_ref(), "article.txt"), files.access)?;
    let samples = inputs::open(&files.path(args.samples.as_ref(), "sample.txt"), files.access)?;
    timings.end("open files");

    let threads = common.thread_count();
    let max_distance = args.max_distance;
    let config = MatchConfig { stop_words, hash_table, max_distance, threads, isa };
    let progress = progress(common);
    let matched = match_queries(&articles, &samples, &config)?;
    if let Some(progress) = progress {
        progress.end();
    }
    timings.extend(&matched.timings);

    if all_to_standard_output {
        for block in &matched.blocks {
            console::out(block)?;
        }
    } else {
        // It takes milliseconds to make it again, and a disk takes as many to tell that it has it.
        let mut file = WholeFile::create(&result, Durability::Fast)?;
        for block in &matched.blocks {
            file.write(block)?;
        }
        file.finish()?;
        console::out(matched.first_query())?;
    }
    timings.end("write result");
    if common.running.verbose {
        console::note(&counts(&matched));
    }
    if common.running.stats {
        console::stats(&statistics(&matched, &timings, articles.len(), &config));
    }
    Ok(())
}

/// Shows on a terminal that something goes on. Elsewhere nothing does unless it is asked for: what
/// runs this program for its result has no use for it.
fn progress(common: &CommonArgs) -> Option<ProgressLine> {
    let is_shown = match common.running.progress {
        ShowProgress::Always => true,
        ShowProgress::Auto => !common.running.quiet && io::stderr().is_terminal(),
        ShowProgress::Never => false,
    };
    is_shown.then(|| {
        let progress = ProgressLine::new(common.running.quiet, common.running.progress);
        progress.begin("matching", Work::Steps(0));
        progress
    })
}

/// The hash table and the stop words that N and M stand for.
pub(crate) type WordFeatures = (HashTable, Vec<Vec<u8>>);

/// The hash table and the stop words for N and M in front of a corpus, if they are given.
pub(crate) fn word_features(
    args: &WordsArgs,
    stop_words: Option<&str>,
    common: &CommonArgs,
) -> Result<Option<WordFeatures>, Error> {
    let Some(features) = &args.features else {
        let folder = Some(&args.directory).filter(|folder| *folder != Path::new("."));
        for (field, given) in [("directory", folder), ("hash_table", args.hash_table.as_ref())] {
            if let Some(given) = given {
                return Err(Error::config(field, given.display(), "goes with N and M"));
            }
        }
        return Ok(None);
    };
    let Some(bits) = &args.bits else {
        let rule = "N and M stand together in front, as in `simtool 1000 64 --corpus PATH`";
        return Err(Error::config("N", features, rule));
    };
    let files = Files::new(args, stop_words.map(PathBuf::from), common);
    let table = files.hash_table(Isa::detected(), features, bits)?;
    let stop_words = match stop_words.and_then(StopWords::built_in) {
        Some(list) => stop_words::parse(list.words().join("\n").as_bytes()).collect(),
        None => files.stop_words()?,
    };
    Ok(Some((table, stop_words)))
}

/// Where the input files are and how they are opened.
struct Files<'a> {
    args: &'a WordsArgs,
    stop_words: Option<PathBuf>,
    access: Access,
    quiet: bool,
}

impl<'a> Files<'a> {
    fn new(args: &'a WordsArgs, stop_words: Option<PathBuf>, common: &CommonArgs) -> Self {
        let running = &common.running;
        Self { args, stop_words, access: Access::of(running.no_mmap), quiet: running.quiet }
    }

    /// The file that an option names, or the one called `name` in the folder. With the folder's
    /// whole path, for messages.
    fn path(&self, named: Option<&PathBuf>, name: &str) -> PathBuf {
        named.cloned().unwrap_or_else(|| {
            let path = self.args.directory.join(name);
            path::absolute(&path).unwrap_or(path)
        })
    }

    /// Where the result goes: to result.txt in the folder, which every run replaces, or to the file
    /// that is named.
    fn result(&self, args: &ReferenceArgs) -> Result<PathBuf, Error> {
        let path = self.path(args.result.as_ref(), "result.txt");
        let usual = || self.path(None, "result.txt");
        let Some(named) = args.result.as_ref().filter(|named| named.as_os_str() != STANDARD_OUTPUT)
        else {
            return Ok(path);
        };
        if let Some(ending) = ending(named).filter(|ending| *ending != "txt") {
            let rule =
                format!("is text of its own format: name a file without .{ending}, or a .txt");
            return Err(Error::config("result", named.display(), rule));
        }
        if path::absolute(&path).ok() != Some(usual()) {
            refuse_existing("result", &path, existing(args.force))?;
        }
        Ok(path)
    }

    /// The file that an option names, which must be there, or the one called `name` in the folder,
    /// which need not.
    fn optional(
        &self,
        named: Option<&PathBuf>,
        name: &str,
        instead: &str,
    ) -> Result<Option<(PathBuf, MappedFile)>, Error> {
        let path = self.path(named, name);
        let file = if named.is_some() {
            Some(inputs::open(&path, self.access)?)
        } else {
            inputs::open_if_there(&path, self.access)?
        };
        if file.is_none() && !self.quiet {
            console::note(&format!("there is no {}; using {instead}", path.display()));
        }
        Ok(file.map(|file| (path, file)))
    }

    fn stop_words(&self) -> Result<Vec<Vec<u8>>, Error> {
        let named = self.stop_words.as_ref();
        let file = self.optional(named, "stopwords.txt", "the built-in English stop words")?;
        let list = file.as_ref().map_or(stop_words::ENGLISH.as_bytes(), |(_, list)| list);
        Ok(stop_words::parse(list).collect())
    }

    fn hash_table(&self, isa: Isa, features: &str, bits: &str) -> Result<HashTable, Error> {
        let named = self.args.hash_table.as_ref();
        let file = self.optional(named, "hashvalue.txt", "the built-in hash table")?;
        let extent = || file.as_ref().map_or(Extent::BUILT_IN, |(_, text)| Extent::from_text(text));
        let number = |option, given: &str| {
            given.parse().map_err(|_| Error::config(option, given, extent().offer()))
        };
        let (features, bits) = (number("N", features)?, number("M", bits)?);
        match &file {
            Some((path, text)) => HashTable::parse(isa, text, path, features, bits),
            None => HashTable::built_in(features, bits),
        }
    }
}

/// What was read and found.
fn counts(matched: &MatchedQueries) -> String {
    let MatchedQueries { documents, queries, features, matches, .. } = matched;
    format!("articles {documents}, samples {queries}, features {features}, matches {matches}")
}

/// Counts and times, as lines.
fn statistics(
    matched: &MatchedQueries,
    timings: &Timings,
    corpus_bytes: usize,
    config: &MatchConfig,
) -> String {
    let total: Duration = timings.stages().iter().map(|(_, time)| *time).sum();
    let megabytes = corpus_bytes as f64 / 1e6;
    let text = format!(
        "{}, threads {}, {}\n{megabytes:.1} MB in {:.1} ms, {:.0} MB/s\n",
        counts(matched),
        config.threads,
        config.isa,
        total.as_secs_f64() * 1e3,
        megabytes / total.as_secs_f64(),
    );
    text + &console::stage_times(timings.stages(), timings.counts())
}
