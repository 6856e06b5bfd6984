//! Where the time of a run went.

use std::time::{Duration, Instant};

/// Wall time by stage, in the order of the stages.
#[derive(Clone, Debug)]
pub struct Timings {
    stages: Vec<(&'static str, Duration)>,
    last: Instant,
}

impl Timings {
    /// Starts the clock.
    #[must_use]
    pub fn start() -> Self {
        Self { stages: Vec::new(), last: Instant::now() }
    }

    /// Ends a stage, which began when the one before it ended.
    pub fn end(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.stages.push((stage, now - self.last));
        self.last = now;
    }

    /// Takes over the stages of a part of the run that has just ended.
    pub fn extend(&mut self, part: &Self) {
        self.stages.extend(&part.stages);
        self.last = Instant::now();
    }

    /// The stages with their times.
    #[must_use]
    pub fn stages(&self) -> &[(&'static str, Duration)] {
        &self.stages
    }
}
