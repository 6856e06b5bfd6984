//! Runs targets on mutated seeds, without cargo-fuzz:
//!
//!     mutate SECONDS [--seed N] [TARGET…]   # all targets by default, each for so many seconds
//!     mutate --input FILE TARGET            # one input again
//!
//! Each seed of the generator gives different inputs, so that processes with different seeds share the work.
//! Prints the number of inputs of each target. An input that panics is kept in the folder `artifacts`.

use simtool_fuzz::mutation::Mutation;
use simtool_fuzz::{TARGETS, Target, run};
use std::panic::{catch_unwind, set_hook};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs};

/// Number of failing inputs of a target after which it ends.
const MOST_FAILURES: usize = 3;
/// Largest memory of the process, in KiB. A reader may not need more for inputs of 20 KB.
const MOST_MEMORY: u64 = 2 << 20;
/// Number of inputs after which the memory is checked. A check takes as long as a short execution.
const CHECKED: u64 = 256;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let first = arguments.next().unwrap_or_default();
    if first == "--input" {
        let input = fs::read(arguments.next().expect("a file")).expect("the input is read");
        run(&arguments.next().expect("a target"), &input);
        return ExitCode::SUCCESS;
    }
    let seconds = first.parse().expect("usage: mutate SECONDS [TARGET…]");
    // Panics of other libraries are part of the work: readers catch them. To print them takes longer than
    // everything else. The message of a failure is printed by `--input`.
    set_hook(Box::new(|_| {}));
    let mut wanted: Vec<String> = arguments.collect();
    let mut seed = 1;
    if let [option, number, ..] = &wanted[..]
        && option == "--seed"
    {
        seed = number.parse().expect("a number behind --seed");
        wanted.drain(..2);
    }
    let is_wanted =
        |target: &&Target| wanted.is_empty() || wanted.iter().any(|name| name == target.name);
    let mut has_failed = false;
    for target in TARGETS.iter().filter(is_wanted) {
        has_failed |= !runs_without_failure(target, seed, Duration::from_secs(seconds));
    }
    if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Runs a target for some time. Returns whether all inputs were processed.
fn runs_without_failure(target: &Target, seed: u64, time: Duration) -> bool {
    let seeds = (target.seeds)();
    for seed in &seeds {
        (target.run)(seed);
    }
    let started = Instant::now();
    let (mut mutation, mut inputs, mut failures) = (Mutation::new(seed), 0_u64, 0_usize);
    let mut slowest = Duration::ZERO;
    while started.elapsed() < time && failures < MOST_FAILURES {
        let before = mutation.clone();
        for number in inputs..inputs + CHECKED {
            let input = mutation.next(&seeds);
            let begun = Instant::now();
            let is_done = catch_unwind(|| (target.run)(&input)).is_ok();
            slowest = slowest.max(begun.elapsed());
            if !is_done {
                failures += 1;
                keep(target, number, &input);
            }
        }
        if peak_memory() > MOST_MEMORY {
            failures += keep_largest(target, before, &seeds, inputs);
        }
        inputs += CHECKED;
    }
    let megabytes = peak_memory() >> 10;
    println!(
        "{}: {inputs} inputs, {failures} failures, slowest {slowest:.1?}, peak {megabytes} MiB",
        target.name
    );
    failures == 0
}

/// Runs the inputs after the state `mutation` again. The first one has the number `first`. Keeps those that take
/// too much memory, and returns their number.
fn keep_largest(target: &Target, mut mutation: Mutation, seeds: &[Vec<u8>], first: u64) -> usize {
    let mut found = 0;
    for number in first..first + CHECKED {
        let input = mutation.next(seeds);
        // Resets the peak of the process.
        fs::write("/proc/self/clear_refs", "5").expect("the peak is reset");
        drop(catch_unwind(|| (target.run)(&input)));
        if peak_memory() > MOST_MEMORY {
            found += 1;
            keep(target, number, &input);
        }
    }
    // If no input alone takes so much, memory was lost over many of them.
    found.max(1)
}

/// Writes an input to the folder `artifacts`.
fn keep(target: &Target, number: u64, input: &[u8]) {
    let folder = PathBuf::from("artifacts");
    fs::create_dir_all(&folder).expect("the folder is created");
    let path = folder.join(format!("{}-{number}", target.name));
    fs::write(&path, input).expect("the input is written");
    println!("{}", path.display());
}

/// Returns the peak memory of the process in KiB, or 0 if the system does not report it.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
