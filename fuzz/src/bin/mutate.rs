//! Runs targets on mutated seeds, without cargo-fuzz:
//!
//!     mutate SECONDS [TARGET…]     # all targets by default, each for so many seconds
//!     mutate --input FILE TARGET   # one input again
//!
//! Prints the number of inputs of each target. An input that panics is kept in the folder `artifacts`.

use simtool_fuzz::mutation::Mutation;
use simtool_fuzz::{TARGETS, Target, run};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

/// Number of failing inputs of a target after which it ends.
const MOST_FAILURES: usize = 3;
/// Largest memory of the process, in KiB. A reader may not need more for inputs of 20 KB.
const MOST_MEMORY: u64 = 2 << 20;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let first = arguments.next().unwrap_or_default();
    if first == "--input" {
        let input = fs::read(arguments.next().expect("a file")).expect("the input is read");
        run(&arguments.next().expect("a target"), &input);
        return ExitCode::SUCCESS;
    }
    let seconds = first.parse().expect("usage: mutate SECONDS [TARGET…]");
    let wanted: Vec<String> = arguments.collect();
    let is_wanted =
        |target: &&Target| wanted.is_empty() || wanted.iter().any(|name| name == target.name);
    let mut has_failed = false;
    for target in TARGETS.iter().filter(is_wanted) {
        has_failed |= !runs_without_failure(target, Duration::from_secs(seconds));
    }
    if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs a target for some time. Returns whether all inputs were processed.
fn runs_without_failure(target: &Target, time: Duration) -> bool {
    let seeds = (target.seeds)();
    for seed in &seeds {
        (target.run)(seed);
    }
    let started = Instant::now();
    let (mut mutation, mut inputs, mut failures) = (Mutation::new(1), 0_u64, 0_usize);
    let mut slowest = Duration::ZERO;
    while started.elapsed() < time && failures < MOST_FAILURES {
        let input = mutation.next(&seeds);
        let begun = Instant::now();
        let is_done = catch_unwind(|| (target.run)(&input)).is_ok();
        slowest = slowest.max(begun.elapsed());
        inputs += 1;
        if !is_done || peak_memory() > MOST_MEMORY {
            failures += 1;
            keep(target, inputs, &input);
        }
    }
    let megabytes = peak_memory() >> 10;
    println!(
        "{}: {inputs} inputs, {failures} failures, slowest {slowest:.1?}, peak {megabytes} MiB",
        target.name
    );
    failures == 0
}

/// Writes an input to the folder `artifacts`.
fn keep(target: &Target, number: u64, input: &[u8]) {
    let folder = PathBuf::from("artifacts");
    fs::create_dir_all(&folder).expect("the folder is created");
    let path = folder.join(format!("{}-{number}", target.name));
    fs::write(&path, input).expect("the input is written");
    println!("{}", path.display());
}

/// Returns the peak memory of the process in KiB, or 0 if the system does not say it.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
