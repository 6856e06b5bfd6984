//! `simtool N M`: samples matched against articles.

use crate::args::{Args, CommonArgs, MAX_DISTANCE, ReferenceArgs};
use crate::inputs::{self, Access};
use crate::{console, usage};
use simtool::Error;
use simtool::durable::Durability;
use simtool::fingerprint::hash_table::{Extent, HashTable};
use simtool::kernels::Isa;
use simtool::mapped_file::MappedFile;
use simtool::pipeline::config::MatchConfig;
use simtool::pipeline::timings::Timings;
use simtool::pipeline::{MatchedQueries, match_queries};
use simtool::tokenize::stop_words;
use simtool::write::whole_file::WholeFile;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What an option must name for standard output.
const STANDARD_OUTPUT: &str = "-";

/// Matches the samples and writes the result.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let (args, common) = (&args.reference, &args.common);
    let mut timings = Timings::start();
    let (Some(features), Some(bits)) = (&args.features, &args.bits) else {
        let given = args.features.as_deref().unwrap_or("nothing");
        return Err(Error::config("N and M are needed, not", given, usage::HINT).into());
    };
    let isa = Isa::detected();
    let files = Files::new(args, common);
    let hash_table = files.hash_table(isa, features, bits)?;
    let stop_words = files.stop_words()?;
    let articles = inputs::open(&files.path(args.articles.as_ref(), "article.txt"), files.access)?;
    let samples = inputs::open(&files.path(args.samples.as_ref(), "sample.txt"), files.access)?;
    timings.end("open files");

    let threads = common.thread_count();
    let max_distance = args.max_distance.unwrap_or(MAX_DISTANCE);
    let config = MatchConfig { stop_words, hash_table, max_distance, threads, isa };
    let matched = match_queries(&articles, &samples, &config)?;
    timings.extend(&matched.timings);

    let all_to_standard_output = args.result.as_deref() == Some(Path::new(STANDARD_OUTPUT));
    if all_to_standard_output {
        for block in &matched.blocks {
            console::out(block)?;
        }
    } else {
        // It takes milliseconds to make it again, and a disk takes as many to tell that it has it.
        let path = files.path(args.result.as_ref(), "result.txt");
        let mut result = WholeFile::create(&path, Durability::Fast)?;
        for block in &matched.blocks {
            result.write(block)?;
        }
        result.finish()?;
        console::out(matched.first_query())?;
    }
    timings.end("write result");
    if common.stats {
        console::stats(&statistics(&matched, &timings, articles.len(), &config));
    }
    Ok(())
}

/// The hash table and the stop words that N and M stand for.
pub(crate) type WordFeatures = (HashTable, Vec<Vec<u8>>);

/// The hash table and the stop words for N and M in front of a corpus, if they are given.
pub(crate) fn word_features(
    args: &ReferenceArgs,
    common: &CommonArgs,
) -> Result<Option<WordFeatures>, Error> {
    let Some(features) = &args.features else {
        let folder = Some(&args.directory).filter(|folder| *folder != Path::new("."));
        for (field, given) in [
            ("directory", folder),
            ("stop_words", args.stop_words.as_ref()),
            ("hash_table", args.hash_table.as_ref()),
        ] {
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
    let files = Files::new(args, common);
    let table = files.hash_table(Isa::detected(), features, bits)?;
    Ok(Some((table, files.stop_words()?)))
}

/// Where the input files are and how they are opened.
struct Files<'a> {
    args: &'a ReferenceArgs,
    access: Access,
    quiet: bool,
}

impl<'a> Files<'a> {
    fn new(args: &'a ReferenceArgs, common: &CommonArgs) -> Self {
        Self { args, access: Access::of(common.no_mmap), quiet: common.quiet }
    }

    /// The file that an option names, or the one called `name` in the folder. With the folder's
    /// whole path, for messages.
    fn path(&self, named: Option<&PathBuf>, name: &str) -> PathBuf {
        named.cloned().unwrap_or_else(|| {
            let path = self.args.directory.join(name);
            std::path::absolute(&path).unwrap_or(path)
        })
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
        let named = self.args.stop_words.as_ref();
        let file = self.optional(named, "stopwords.txt", "the built-in English stop words")?;
        let list = file.as_ref().map_or(stop_words::ENGLISH.as_bytes(), |(_, list)| list);
        Ok(stop_words::parse(list).collect())
    }

    fn hash_table(&self, isa: Isa, features: &str, bits: &str) -> Result<HashTable, Error> {
        let named = self.args.hash_table.as_ref();
        let file = self.optional(named, "hashvalue.txt", "the built-in hash table")?;
        let extent = || file.as_ref().map_or(Extent::BUILT_IN, |(_, text)| Extent::of(text));
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
        "articles {}, samples {}, features {}, matches {}, threads {}, {}\n\
         {megabytes:.1} MB in {:.1} ms, {:.0} MB/s\n",
        matched.documents,
        matched.queries,
        matched.features,
        matched.matches,
        config.threads,
        config.isa,
        total.as_secs_f64() * 1e3,
        megabytes / total.as_secs_f64(),
    );
    text + &console::stage_times(timings.stages(), timings.counts())
}
