//! The time that the processor works for a thread.

use std::time::Duration;

/// Returns the time that the processor has worked for this thread. Waiting for a disk does not count.
///
/// ```
/// use simtool_base::work_time::work_time;
///
/// let before = work_time();
/// std::hint::black_box((0..1000).sum::<u32>());
/// assert!(work_time() >= before);
/// ```
#[cfg(unix)]
#[must_use]
pub fn work_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Returns the time since the first call of this function, as a replacement. This system does not report how long the
/// processor has worked for a thread.
#[cfg(not(unix))]
#[must_use]
pub fn work_time() -> Duration {
    static BEGUN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    BEGUN.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_no_work() {
        let before = work_time();
        let (_sender, receiver) = std::sync::mpsc::channel::<()>();
        receiver.recv_timeout(Duration::from_millis(100)).unwrap_err();
        assert!(work_time() < before + Duration::from_millis(50));
    }
}
