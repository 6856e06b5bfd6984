//! The time of each stage of a run.

use simtool_base::progress::{Progress, Work};
use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Wall time of each stage, in order, and the counts that stages reported.
#[derive(Clone, Debug)]
pub struct Timings {
    stages: Vec<(&'static str, Duration)>,
    counts: Vec<Count>,
    last: Instant,
}

/// A count that a stage reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The stage.
    pub stage: &'static str,
    /// Noun for the counted things: rows, terms, pairs.
    pub what: &'static str,
    /// The number. If a stage reports several times, the last number counts.
    pub count: u64,
}

impl Timings {
    /// Starts the clock.
    #[must_use]
    pub fn start() -> Self {
        Self { stages: Vec::new(), counts: Vec::new(), last: Instant::now() }
    }

    /// Ends a stage, which began when the stage before it ended. If a stage ends several times, its
    /// times are added.
    pub fn end(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.add(stage, now - self.last);
        self.last = now;
    }

    fn add(&mut self, stage: &'static str, time: Duration) {
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            // Stages such as reading return in every round, and appear once with their total.
            Some((_, total)) => *total += time,
            None => self.stages.push((stage, time)),
        }
    }

    fn count(&mut self, counted: Count) {
        // A stage that repeats, for example in rounds, replaces its count: the last one is the
        // result.
        let same = |other: &&mut Count| (other.stage, other.what) == (counted.stage, counted.what);
        match self.counts.iter_mut().find(same) {
            Some(other) => other.count = counted.count,
            None => self.counts.push(counted),
        }
    }

    /// Adds the stages of a part of the run that has just ended.
    pub fn extend(&mut self, part: &Self) {
        for &(stage, time) in &part.stages {
            self.add(stage, time);
        }
        for &counted in &part.counts {
            self.count(counted);
        }
        self.last = Instant::now();
    }

    /// Returns the stages with their times.
    #[must_use]
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }

    /// Returns the counts in the order of the stages.
    #[must_use]
    pub fn counts(&self) -> &[Count] {
        &self.counts
    }
}

/// A [`Progress`] that measures the time of the stages and forwards everything to another one.
pub(crate) struct StageClock<'p> {
    progress: &'p dyn Progress,
    /// The times so far, and the present stage.
    times: Mutex<(Timings, Option<&'static str>)>,
}

impl<'p> StageClock<'p> {
    pub(crate) fn start(progress: &'p dyn Progress) -> Self {
        Self { progress, times: Mutex::new((Timings::start(), None)) }
    }

    /// Ends the last stage and returns the times.
    pub(crate) fn into_timings(self) -> Timings {
        let (mut timings, stage) = self.times.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(stage) = stage {
            timings.end(stage);
        }
        timings
    }

    /// Locks the times. A poisoned lock is fine: a panic ends the run, so the times are never shown.
    fn times(&self) -> MutexGuard<'_, (Timings, Option<&'static str>)> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for StageClock<'_> {
    fn begin(&self, stage: &'static str, work: Work) {
        let (timings, current) = &mut *self.times();
        // A stage ends when the next one begins, since stages report only their beginning.
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
