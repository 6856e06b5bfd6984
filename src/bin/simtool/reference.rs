//! `simtool N M`: finds the articles that match samples.

use crate::args::{CommonArgs, ReferenceArgs, ShowProgress, ending};
use crate::console::Verbosity;
use crate::inputs;
use crate::progress_line::ProgressLine;
use crate::{console, usage};
use simtool::Error;
use simtool::mapped_file::FileAccess;
use simtool::pipeline::MatchedQueries;
use simtool::pipeline::timings::Timings;
use simtool::progress::{NoProgress, Progress};
use simtool::run::{self, Face, MatchedSamples, Notice, ReferenceRequest, STANDARD_OUTPUT};
use simtool::write::output_folder::Existing;
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Finds the matches of the samples. Writes them to the result file or prints them.
pub(crate) fn run(args: &ReferenceArgs) -> anyhow::Result<()> {
    let common = &args.common;
    let request = request(args)?;
    let face = Notes {
        access: inputs::access(common.running.has("no_mmap")),
        quiet: common.running.has("quiet"),
        progress: progress(common),
    };
    let found = run::reference(&request, &face)?;
    if let Some(progress) = &face.progress {
        progress.end();
    }

    let mut timings = found.timings.clone();
    if found.is_for_standard_output {
        for block in &found.matched.blocks {
            console::out(block)?;
        }
    } else {
        // The matches of the first sample are printed to the screen, and all matches are in the file.
        console::out(found.matched.first_query())?;
    }
    timings.end("write result");
    if common.running.has("verbose") {
        console::note(&counts(&found.matched));
    }
    if common.running.has("stats") {
        console::stats(&statistics(&found, &timings, request.threads));
    }
    Ok(())
}

/// Creates the request to match samples, which the library carries out. Returns an error if N or M is
/// missing, or if the name of the result file has the extension of another format.
fn request(args: &ReferenceArgs) -> Result<ReferenceRequest, Error> {
    let words = &args.words;
    let threads = args.common.thread_count()?;
    if words.features.is_none() || words.bits.is_none() {
        let given = words.features.as_deref().unwrap_or("nothing");
        return Err(Error::config("N and M are needed, not", given, usage::HINT));
    }
    let named = args.result.as_ref().filter(|named| named.as_os_str() != STANDARD_OUTPUT);
    if let Some(named) = named
        && let Some(ending) = ending(named).filter(|ending| *ending != "txt")
    {
        let rule = format!("is text of its own format: name a file without .{ending}, or a .txt");
        return Err(Error::config("result", named.display(), rule));
    }
    Ok(ReferenceRequest {
        words: words.request(),
        stop_words: args.stop_words.clone(),
        articles: args.articles.clone(),
        samples: args.samples.clone(),
        result: args.result.clone(),
        existing: Existing::by_force(args.force),
        max_distance: args.max_distance,
        threads,
    })
}

/// Returns the progress display if standard error is a terminal or the user asks for progress. Otherwise
/// returns `None`, because a program that calls simtool does not need progress.
fn progress(common: &CommonArgs) -> Option<ProgressLine> {
    let is_shown = match common.running.progress() {
        ShowProgress::Always => true,
        ShowProgress::Auto => !common.running.has("quiet") && io::stderr().is_terminal(),
        ShowProgress::Never => false,
    };
    is_shown.then(|| ProgressLine::new(Verbosity::of(&common.running), common.running.progress()))
}

/// Shows the notes and the progress of a run on standard error.
struct Notes {
    access: FileAccess,
    quiet: bool,
    progress: Option<ProgressLine>,
}

impl Face for Notes {
    fn progress(&self) -> &dyn Progress {
        match &self.progress {
            Some(progress) => progress,
            None => &NoProgress,
        }
    }

    fn access(&self) -> FileAccess {
        self.access
    }

    fn notice(&self, notice: Notice<'_>) {
        if let (Notice::Note(note), false) = (notice, self.quiet) {
            match &self.progress {
                Some(progress) => progress.suspend(|| console::note(note)),
                None => console::note(note),
            }
        }
    }
}

impl Drop for Notes {
    /// Removes the progress bar, so that an error that ends the run starts on a line of its own.
    fn drop(&mut self) {
        if let Some(progress) = &self.progress {
            progress.end();
        }
    }
}

/// Returns the numbers of articles, samples, features and matches as text.
fn counts(matched: &MatchedQueries) -> String {
    let MatchedQueries { documents, queries, features, matches, .. } = matched;
    format!("articles {documents}, samples {queries}, features {features}, matches {matches}")
}

/// Returns counts and times as lines of text.
fn statistics(found: &MatchedSamples, timings: &Timings, threads: usize) -> String {
    let total: Duration = timings.stages().iter().map(|(_, time)| *time).sum();
    let megabytes = found.article_bytes as f64 / 1e6;
    let text = format!(
        "{}, threads {threads}, {}\n{megabytes:.1} MB in {:.1} ms, {:.0} MB/s\n",
        counts(&found.matched),
        found.isa,
        total.as_secs_f64() * 1e3,
        megabytes / total.as_secs_f64(),
    );
    text + &console::stage_times(timings.stages(), timings.counts())
}
