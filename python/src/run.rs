//! Running long work without the interpreter's lock, with Ctrl-C and a progress bar.

use crate::errors::exception;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::Result;
use simtool::progress::{Progress, Work};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Time between two checks for signals. The progress bar is drawn at the same time.
const POLL: Duration = Duration::from_millis(50);
/// Stack size of the thread in bytes, as a main thread usually has.
const STACK: usize = 8 << 20;

/// Runs `work` in a separate thread, while the thread of the caller checks for signals. If `shows_progress` is true and
/// tqdm is installed, a bar of tqdm shows the progress.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    shows_progress: bool,
    work: impl FnOnce(&dyn Progress) -> Result<T> + Send,
) -> PyResult<T> {
    let mut bar = if shows_progress { TqdmBar::new(py) } else { None };
    let watch = &Watch::default();
    let done = py.detach(|| {
        thread::scope(|scope| {
            let (sender, done) = mpsc::channel();
            let body = move || {
                let result = work(watch);
                // After a signal the receiver is gone, and the result is not needed.
                let _ = sender.send(());
                result
            };
            let thread = thread::Builder::new().name("simtool".to_owned()).stack_size(STACK);
            let thread = thread.spawn_scoped(scope, body)?;
            let mut stopped = None;
            while stopped.is_none() && done.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout) {
                let looked = Python::attach(|py| {
                    py.check_signals()?;
                    bar.as_mut().map_or(Ok(()), |bar| bar.draw(py, watch))
                });
                stopped = looked.err();
            }
            if stopped.is_some() {
                watch.is_cancelled.store(true, Ordering::Relaxed);
            }
            let result = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
            match stopped {
                Some(exception) => Err(exception),
                None => result.map_err(exception),
            }
        })
    });
    if let Some(bar) = bar {
        bar.end(py)?;
    }
    done
}

/// Stores the progress for the thread that waits for the work.
#[derive(Default)]
struct Watch {
    is_cancelled: AtomicBool,
    stage: Mutex<Option<(&'static str, Work)>>,
    stages: AtomicU64,
    done: AtomicU64,
}

impl Progress for Watch {
    fn begin(&self, stage: &'static str, work: Work) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = Some((stage, work));
        self.done.store(0, Ordering::Relaxed);
        self.stages.fetch_add(1, Ordering::Relaxed);
    }

    fn advance(&self, amount: u64) {
        self.done.fetch_add(amount, Ordering::Relaxed);
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

/// A progress bar of tqdm.
struct TqdmBar {
    class: Py<PyAny>,
    shown: Option<Py<PyAny>>,
    /// Number of the stage that the bar shows, counted from 1. 0 if no stage has begun.
    stage: u64,
}

impl TqdmBar {
    fn new(py: Python<'_>) -> Option<Self> {
        let class = py.import("tqdm.auto").and_then(|module| module.getattr("tqdm")).ok()?;
        Some(Self { class: class.unbind(), shown: None, stage: 0 })
    }

    fn draw(&mut self, py: Python<'_>, watch: &Watch) -> PyResult<()> {
        let now = watch.stages.load(Ordering::Relaxed);
        let stage = *watch.stage.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((stage, work)) = stage else { return Ok(()) };
        if now != self.stage {
            self.close(py)?;
            self.stage = now;
            let settings = PyDict::new(py);
            settings.set_item("desc", stage)?;
            // A count of steps means nothing to the user, so the bar shows a percentage.
            let total = if work.amount() == 0 { None } else { Some(work.amount()) };
            settings.set_item("total", total)?;
            settings.set_item("leave", false)?;
            match work {
                Work::Bytes(_) => {
                    settings.set_item("unit", "B")?;
                    settings.set_item("unit_scale", true)?;
                }
                Work::Steps(_) => {
                    settings
                        .set_item("bar_format", "{desc}: {percentage:3.0f}%|{bar}| {elapsed}")?;
                }
            }
            self.shown = Some(self.class.call(py, (), Some(&settings))?);
        }
        let Some(bar) = &self.shown else { return Ok(()) };
        let done = watch.done.load(Ordering::Relaxed);
        let done = if work.amount() > 0 { done.min(work.amount()) } else { done };
        bar.setattr(py, "n", done)?;
        bar.call_method0(py, "refresh")?;
        Ok(())
    }

    fn close(&mut self, py: Python<'_>) -> PyResult<()> {
        if let Some(bar) = self.shown.take() {
            bar.call_method0(py, "close")?;
        }
        Ok(())
    }

    fn end(mut self, py: Python<'_>) -> PyResult<()> {
        self.close(py)
    }
}
