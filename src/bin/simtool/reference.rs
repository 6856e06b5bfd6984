//! `simtool N M`: finds the articles that match samples.

use crate::args::Call;
use crate::exit_status::ExitStatus;
use crate::inputs;
use crate::progress_line::{ProgressLine, ShowProgress};
use crate::{console, usage};
use simtool::Error;
use simtool::pipeline::MatchedQueries;
use simtool::pipeline::timings::Timings;
use simtool::progress::{NoProgress, Progress};
use simtool::run::{self, Face, MatchedSamples, Notice, ReferenceRequest, WordsRequest};
use simtool::stages::mapped_file::FileAccess;
use std::io::{self, IsTerminal};
use std::time::Duration;

/// Runs `simtool N M`: finds the articles that match samples, and writes the matches to the result file or prints them.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = request(call)?;
    let face = Notes {
        access: inputs::access(call.has("no_mmap")),
        quiet: call.has("quiet"),
        progress: progress(call),
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
    if call.has("verbose") {
        console::note(&counts(&found.matched));
    }
    if call.has("stats") {
        console::stats(&statistics(&found, &timings, request.threads));
    }
    Ok(ExitStatus::Done)
}

/// Creates the request to match samples, which the library carries out. Returns an error if N or M is
/// missing, or if a setting is wrong.
fn request(call: &Call) -> Result<ReferenceRequest, Error> {
    let mut options = call.options();
    let words = inputs::words(call, &mut options);
    let request = ReferenceRequest::parse(words, options)?;
    let WordsRequest { features, bits, .. } = &request.words;
    if features.is_none() || bits.is_none() {
        let given = features.as_deref().unwrap_or("nothing");
        return Err(Error::config("N and M are needed, not", given, usage::HINT));
    }
    Ok(request)
}

/// Returns the progress display if standard error is a terminal or the user asks for progress. Otherwise
/// returns `None`, because a program that calls simtool does not need progress.
fn progress(call: &Call) -> Option<ProgressLine> {
    let is_shown = match ShowProgress::of(call) {
        ShowProgress::Always => true,
        ShowProgress::Auto => !call.has("quiet") && io::stderr().is_terminal(),
        ShowProgress::Never => false,
    };
    is_shown.then(|| ProgressLine::new(call.verbosity(), ShowProgress::of(call)))
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
