//! Passes the target and the profile of the build to the program, for `simtool --version --verbose`.

use std::env::var;

fn main() {
    let of = |name: &str| var(name).unwrap_or_default();
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=SIMTOOL_TARGET={}", of("TARGET"));
    println!(
        "cargo::rustc-env=SIMTOOL_PROFILE={}, optimization {}",
        of("PROFILE"),
        of("OPT_LEVEL")
    );
}
