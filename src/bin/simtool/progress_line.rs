//! Shows progress on standard error: as a bar on a terminal, otherwise as a line every two seconds.
//!
//! A separate thread shows the progress, so that the shown time advances even during a long step.

use crate::args::Call;
use crate::console;
use crate::console::Verbosity;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use simtool::progress::{Progress, Work};
use simtool::stages::quantity::unit;
use std::ffi::OsStr;
use std::fmt::{Display, Write as _};
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Value of `--progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShowProgress {
    /// Show progress unless --quiet is given.
    Auto,
    /// Show progress even with --quiet.
    Always,
    /// Never show progress.
    Never,
}

impl ShowProgress {
    /// Returns when to show the progress of a call.
    pub(crate) fn of(call: &Call) -> Self {
        match call.value("progress").and_then(OsStr::to_str) {
            Some("always") => Self::Always,
            Some("never") => Self::Never,
            _ => Self::Auto,
        }
    }
}

/// Name that is shown before the first stage.
const STARTING: &str = "starting";
/// Time between two printed lines of progress.
const LINE_EVERY: Duration = Duration::from_secs(2);
/// Time between two updates of the bar. More frequent updates would not be seen.
const BAR_EVERY: Duration = Duration::from_millis(200);
/// Minimum share of a stage that must be done before its remaining time is estimated.
const MIN_ESTIMATED_SHARE: f64 = 0.005;

/// Shows the progress of a run on standard error.
pub(crate) struct ProgressLine {
    shared: Arc<ShownProgress>,
    /// Whether plans of searches are printed in addition to the progress.
    explains: bool,
    shower: Mutex<Option<JoinHandle<()>>>,
}

/// State that working threads update. The thread that shows the progress reads it.
struct ShownProgress {
    bar: ProgressBar,
    show: Show,
    stage: Mutex<Stage>,
    done: AtomicU64,
    /// Signal that wakes the thread that shows the progress when the work is over.
    over: Condvar,
}

#[derive(Clone, Copy)]
struct Stage {
    name: &'static str,
    work: Work,
    begun: Instant,
    is_over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Show {
    Nothing,
    Bar,
    Lines,
}

impl ProgressLine {
    pub(crate) fn new(verbosity: Verbosity, when: ShowProgress) -> Self {
        let show = match (when, io::stderr().is_terminal()) {
            (ShowProgress::Never, _) => Show::Nothing,
            (ShowProgress::Auto, _) if verbosity.quiet => Show::Nothing,
            (_, true) => Show::Bar,
            (_, false) => Show::Lines,
        };
        // Lines are printed as notes, so the bar itself stays hidden in this case.
        let target = if show == Show::Bar {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        // The template is a constant. If it were wrong, the bar would have its default style.
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {msg}") {
            bar.set_style(style);
        }
        let stage =
            Stage { name: STARTING, work: Work::Steps(0), begun: Instant::now(), is_over: false };
        let (stage, done, over) = (Mutex::new(stage), AtomicU64::new(0), Condvar::new());
        let shared = Arc::new(ShownProgress { bar, show, stage, done, over });
        let shower = (show != Show::Nothing).then(|| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.show_until_over())
        });
        Self { shared, explains: verbosity.verbose, shower: Mutex::new(shower) }
    }

    /// Runs `print` while the bar is hidden, so that the bar and the printed text do not share a line.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.shared.bar.suspend(print);
    }

    /// Ends the progress and removes the bar.
    pub(crate) fn end(&self) {
        self.shared.stage().is_over = true;
        self.shared.over.notify_all();
        let shower = self.shower.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The thread only shows progress, so its failure does not affect the run.
        drop(shower.map(JoinHandle::join));
        self.shared.bar.finish_and_clear();
    }
}

impl ShownProgress {
    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show_until_over(&self) {
        let every = if self.show == Show::Bar { BAR_EVERY } else { LINE_EVERY };
        let mut due = Instant::now() + every;
        let mut stage = self.stage();
        while !stage.is_over {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                due += every;
                let (current, done) = (*stage, self.done.load(Ordering::Relaxed));
                // Printing can block, so the lock is released first and the work does not wait.
                drop(stage);
                self.show(current, done);
                stage = self.stage();
            } else {
                let waited = self.over.wait_timeout(stage, left);
                stage = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    fn show(&self, stage: Stage, done: u64) {
        // Before the first stage there is nothing to show. Usually it lasts less than a second.
        if stage.name == STARTING && stage.begun.elapsed() < LINE_EVERY {
            return;
        }
        let message = message(stage.name, stage.work, done, stage.begun.elapsed());
        if self.show == Show::Lines {
            return console::note(&message);
        }
        self.bar.set_length(stage.work.amount());
        self.bar.set_position(done.min(stage.work.amount()));
        self.bar.set_message(message);
        self.bar.tick();
    }
}

/// Returns the text that shows a stage: its name, how much is done, and the time.
fn message(name: &str, work: Work, done: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    let share = done as f64 / work.amount().max(1) as f64;
    let mut text = name.to_owned();
    // Writing to a string cannot fail.
    let _ = match work {
        Work::Steps(0) | Work::Bytes(0) => write!(text, ", {seconds:.0} s so far"),
        Work::Bytes(all) => {
            let (unit, size) = unit(all as f64);
            let (done, all) = (done.min(all) as f64 / size, all as f64 / size);
            // Small totals are shown with a decimal, so that progress is visible.
            let digits = usize::from(all < 10.0);
            write!(text, " {done:.digits$} of {all:.digits$} {unit}")
        }
        Work::Steps(_) => write!(text, " {:.1} %", 100.0 * share.min(1.0)),
    };
    if share >= 1.0 {
        let _ = write!(text, ", {seconds:.0} s so far");
    } else if share >= MIN_ESTIMATED_SHARE {
        let _ = write!(text, ", about {} left", span(seconds * (1.0 - share) / share));
    }
    text
}

/// Returns a number of seconds as text in seconds, minutes or hours.
#[expect(clippy::cast_sign_loss, reason = "no time is negative")]
fn span(seconds: f64) -> String {
    let whole = seconds.ceil() as u64;
    match whole {
        0..100 => format!("{whole} s"),
        100..6000 => format!("{} min", whole.div_ceil(60)),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

impl Progress for ProgressLine {
    fn planned(&self, plan: &dyn Display) {
        if self.explains {
            self.shared.bar.suspend(|| console::stats(&plan.to_string()));
        }
    }

    fn begin(&self, name: &'static str, work: Work) {
        let mut stage = self.shared.stage();
        // If a stage begins after the end was requested, the request must stay. Otherwise the thread would
        // never stop.
        let is_over = stage.is_over;
        self.shared.done.store(0, Ordering::Relaxed);
        *stage = Stage { name, work, begun: Instant::now(), is_over };
    }

    fn advance(&self, amount: u64) {
        self.shared.done.fetch_add(amount, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_shown_with_the_remaining_time() {
        let after =
            |seconds, work, done| message("reading", work, done, Duration::from_secs(seconds));
        let bytes = Work::Bytes(400_000_000);
        assert_eq!(after(2, bytes, 100_000_000), "reading 100 of 400 MB, about 6 s left");
        assert_eq!(after(2, bytes, 100), "reading 0 of 400 MB");
        assert_eq!(after(9, bytes, 500_000_000), "reading 400 of 400 MB, 9 s so far");
        let bytes = Work::Bytes(7_340_000_000);
        assert_eq!(after(9, bytes, 250_000), "reading 0.0 of 7.3 GB");
        assert_eq!(after(60, Work::Steps(1000), 125), "reading 12.5 %, about 7 min left");
        assert_eq!(after(3, Work::Steps(0), 0), "reading, 3 s so far");
        assert_eq!(after(3600, Work::Steps(3), 1), "reading 33.3 %, about 2 h 0 min left");
    }
}
