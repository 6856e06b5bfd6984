//! Runs the target `settings` of the package: see `src/lib.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simtool_fuzz::run("settings", data));
