//! Runs the target `recorded_run` of the package: see `src/lib.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simtool_fuzz::run("recorded_run", data));
