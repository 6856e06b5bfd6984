//! Runs the target `read_xml` of the package: see `src/lib.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| simtool_fuzz::run("read_xml", data));
