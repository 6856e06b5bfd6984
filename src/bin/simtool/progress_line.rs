//! Progress on standard error: a bar on a terminal, else a line every ten seconds.

use crate::args::ShowProgress;
use crate::console;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use simtool::pipeline::progress::Progress;
use simtool::search::planner::Plan;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Seconds between two lines.
const SECONDS_A_LINE: u64 = 10;

/// Shows progress.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    show: Show,
    explains: bool,
    start: Instant,
    /// Seconds after the start at which the next line is due.
    next_line: AtomicU64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Show {
    Nothing,
    Bar,
    Lines,
}

impl ProgressLine {
    pub(crate) fn new(quiet: bool, when: ShowProgress) -> Self {
        let show = match (when, io::stderr().is_terminal()) {
            (ShowProgress::Never, _) => Show::Nothing,
            (ShowProgress::Auto, _) if quiet => Show::Nothing,
            (_, true) => Show::Bar,
            (_, false) => Show::Lines,
        };
        let target = if show == Show::Bar {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        let style = "{msg} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
        // The template is a constant; a wrong one would leave the default style.
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        Self {
            bar,
            show,
            explains: false,
            start: Instant::now(),
            next_line: AtomicU64::new(SECONDS_A_LINE),
        }
    }

    /// The same, which also tells of plans.
    pub(crate) fn explaining(self, explains: bool) -> Self {
        Self { explains, ..self }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for ProgressLine {
    fn planned(&self, plan: &Plan) {
        if self.explains {
            self.bar.suspend(|| console::stats(&plan.to_string()));
        }
    }

    fn begin(&self, stage: &'static str, bytes: u64) {
        self.bar.set_length(bytes);
        self.bar.set_position(0);
        self.bar.set_message(stage);
    }

    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
        let seconds = self.start.elapsed().as_secs();
        let due = self.next_line.load(Ordering::Relaxed);
        let is_mine = || {
            let later = seconds + SECONDS_A_LINE;
            self.next_line
                .compare_exchange(due, later, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        };
        if self.show == Show::Lines && seconds >= due && is_mine() {
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
            let megabytes = |bytes: u64| bytes / 1_000_000;
            console::note(&format!(
                "{}: {} of {} MB after {seconds} s",
                self.bar.message(),
                megabytes(done),
                megabytes(all)
            ));
        }
    }
}
