//! `simtool N M`: samples matched against articles.

use crate::args::{CommonArgs, ReferenceArgs, ShowProgress, ending};
use crate::inputs;
use crate::progress_line::ProgressLine;
use crate::{console, usage};
use simtool::Error;
use simtool::durable::Durability;
use simtool::kernels::Isa;
use simtool::mapped_file::FileAccess;
use simtool::pipeline::config::MatchConfig;
use simtool::pipeline::timings::Timings;
use simtool::pipeline::{MatchedQueries, match_queries};
use simtool::progress::{Progress, Work};
use simtool::run::{Face, FolderFiles, Notice, open_file, refuse_existing};
use simtool::write::output_folder::Existing;
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
    let threads = common.thread_count()?;
    let (Some(features), Some(bits)) = (&words.features, &words.bits) else {
        let given = words.features.as_deref().unwrap_or("nothing");
        return Err(Error::config("N and M are needed, not", given, usage::HINT).into());
    };
    let isa = Isa::detected();
    let access = inputs::access(common.running.no_mmap);
    let quiet = common.running.quiet;
    let files = FolderFiles { folder: &words.directory, face: &Notes { access, quiet } };
    let all_to_standard_output = args.result.as_deref() == Some(Path::new(STANDARD_OUTPUT));
    let result = result(args, &files)?;
    let hash_table = files.hash_table(words.hash_table.as_ref(), isa, features, bits)?;
    let stop_words = files.stop_words(args.stop_words.as_ref())?;
    let articles = open_file(&files.path(args.articles.as_ref(), "article.txt"), access)?;
    let samples = open_file(&files.path(args.samples.as_ref(), "sample.txt"), access)?;
    timings.end("open files");

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

/// Where the result goes: to result.txt in the folder, which every run replaces, or to the file that
/// is named.
fn result(args: &ReferenceArgs, files: &FolderFiles<'_>) -> Result<PathBuf, Error> {
    let path = files.path(args.result.as_ref(), "result.txt");
    let named = args.result.as_ref().filter(|named| named.as_os_str() != STANDARD_OUTPUT);
    let Some(named) = named else { return Ok(path) };
    if let Some(ending) = ending(named).filter(|ending| *ending != "txt") {
        let rule = format!("is text of its own format: name a file without .{ending}, or a .txt");
        return Err(Error::config("result", named.display(), rule));
    }
    let usual = files.path(None, "result.txt");
    if path::absolute(&path).ok() != Some(usual) {
        refuse_existing("result", &path, Existing::by_force(args.force))?;
    }
    Ok(path)
}

/// Shows notes, and no progress but what is asked for.
struct Notes {
    access: FileAccess,
    quiet: bool,
}

impl Face for Notes {
    fn access(&self) -> FileAccess {
        self.access
    }

    fn notice(&self, notice: Notice<'_>) {
        if let (Notice::Note(note), false) = (notice, self.quiet) {
            console::note(note);
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
