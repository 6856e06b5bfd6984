//! The time of each stage of a run.

use simtool_base::progress::{Progress, Work};
use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Wall-clock time of each stage of a run, in order, and the counts that stages reported.
#[derive(Clone, Debug)]
pub struct Timings {
    stages: Vec<(&'static str, Duration)>,
    counts: Vec<Count>,
    last: Instant,
}

/// A count that a stage reported, for example a number of pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Name of the stage that reported the count.
    pub stage: &'static str,
    /// Noun for the counted things, for example `pairs`.
    pub what: &'static str,
    /// Number of the counted things. If a stage reports the same count several times, the last report is
    /// used.
    pub count: u64,
}

impl Timings {
    /// Starts measuring the time of the first stage.
    #[must_use]
    pub fn start() -> Self {
        Self { stages: Vec::new(), counts: Vec::new(), last: Instant::now() }
    }

    /// Ends a stage, which began when the stage before it ended. If a stage ends several times, its times are
    /// added up.
    pub fn end(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.add(stage, now - self.last);
        self.last = now;
    }

    fn add(&mut self, stage: &'static str, time: Duration) {
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            // Stages such as reading can come back in every round. They are listed once with their total
            // time.
            Some((_, total)) => *total += time,
            None => self.stages.push((stage, time)),
        }
    }

    fn count(&mut self, counted: Count) {
        // A repeated stage replaces its count, because the last count is the result.
        let same = |other: &&mut Count| (other.stage, other.what) == (counted.stage, counted.what);
        match self.counts.iter_mut().find(same) {
            Some(other) => other.count = counted.count,
            None => self.counts.push(counted),
        }
    }

    /// Adds the stages and counts of `part`, which was measured separately and has just ended. The next stage begins
    /// now.
    pub fn extend(&mut self, part: &Self) {
        for &(stage, time) in &part.stages {
            self.add(stage, time);
        }
        for &counted in &part.counts {
            self.count(counted);
        }
        self.last = Instant::now();
    }

    /// Returns the name and the time of each stage.
    #[must_use]
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }

    /// Returns the counts that stages reported, in the order of the stages.
    #[must_use]
    pub fn counts(&self) -> &[Count] {
        &self.counts
    }
}

/// A [`Progress`] that measures the time of each stage and forwards all calls to another `Progress`.
pub(crate) struct StageClock<'p> {
    progress: &'p dyn Progress,
    /// Times of the finished stages, and the name of the stage that is running.
    times: Mutex<(Timings, Option<&'static str>)>,
}

impl<'p> StageClock<'p> {
    pub(crate) fn start(progress: &'p dyn Progress) -> Self {
        Self { progress, times: Mutex::new((Timings::start(), None)) }
    }

    /// Ends the running stage and returns the times.
    pub(crate) fn into_timings(self) -> Timings {
        let (mut timings, stage) = self.times.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(stage) = stage {
            timings.end(stage);
        }
        timings
    }

    /// Locks the times, even if another thread panicked while it held the lock. Such a panic ends the run
    /// anyway, so the times are never shown.
    fn times(&self) -> MutexGuard<'_, (Timings, Option<&'static str>)> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for StageClock<'_> {
    fn begin(&self, stage: &'static str, work: Work) {
        let (timings, current) = &mut *self.times();
        // Stages report only their beginning, so the next stage ends the one before it.
        if let Some(before) = current.replace(stage) {
            timings.end(before);
        }
        self.progress.begin(stage, work);
    }

    fn advance(&self, amount: u64) {
        self.progress.advance(amount);
    }

    fn counted(&self, what: &'static str, count: u64) {
        let (timings, current) = &mut *self.times();
        timings.count(Count { stage: current.unwrap_or_default(), what, count });
        self.progress.counted(what, count);
    }

    fn planned(&self, plan: &dyn Display) {
        self.progress.planned(plan);
    }

    fn is_cancelled(&self) -> bool {
        self.progress.is_cancelled()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::progress::NoProgress;

    #[test]
    fn repeated_stages_are_added_up_and_keep_their_last_count() {
        let clock = StageClock::start(&NoProgress);
        for (stage, count) in [("read", 7), ("prune", 5), ("prune", 3)] {
            clock.begin(stage, Work::Steps(0));
            clock.counted("rows", count);
        }
        let mut timings = clock.into_timings();
        let more = Timings::start();
        timings.extend(&more);
        timings.end("write");
        let names: Vec<&str> = timings.stages().iter().map(|&(name, _)| name).collect();
        assert_eq!(names, ["read", "prune", "write"]);
        let rows = |stage, count| Count { stage, what: "rows", count };
        assert_eq!(timings.counts(), [rows("read", 7), rows("prune", 3)]);
    }
}
