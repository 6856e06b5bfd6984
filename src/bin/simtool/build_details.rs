//! `simtool --version --verbose`: how this program was built, and the instruction set that it uses.

use simtool::stages::kernels::Isa;
use std::ffi::OsString;
use std::fmt::Write as _;

/// Features of the build, with their names in `Cargo.toml`.
const FEATURES: [(&str, bool); 5] = [
    ("chinese", cfg!(feature = "chinese")),
    ("parquet", cfg!(feature = "parquet")),
    ("pictures", cfg!(feature = "pictures")),
    ("remote", cfg!(feature = "remote")),
    ("serve", cfg!(feature = "serve")),
];

/// Returns whether the arguments ask for the version and for more notes, and for nothing else.
pub(crate) fn are_wanted(arguments: &[OsString]) -> bool {
    let given: Vec<_> =
        arguments.iter().skip(1).map(|argument| argument.to_string_lossy()).collect();
    let has = |names: [&str; 2]| given.iter().any(|argument| names.contains(&&**argument));
    match given.len() {
        1 => ["-vV", "-Vv"].contains(&&*given[0]),
        2 => has(["--version", "-V"]) && has(["--verbose", "-v"]),
        _ => false,
    }
}

/// Returns the version with the details of the build, one a line.
pub(crate) fn text() -> String {
    let features: Vec<&str> =
        FEATURES.iter().filter(|(_, is_on)| *is_on).map(|(name, _)| *name).collect();
    let assertions = if cfg!(debug_assertions) { "on" } else { "off" };
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!("simtool {version}\n");
    for (name, value) in [
        // scripts/release sets the commit.
        ("commit", option_env!("SIMTOOL_COMMIT").unwrap_or("unknown").to_owned()),
        ("target", env!("SIMTOOL_TARGET").to_owned()),
        ("profile", format!("{}, assertions {assertions}", env!("SIMTOOL_PROFILE"))),
        ("features", if features.is_empty() { "none".to_owned() } else { features.join(", ") }),
        ("instructions", format!("{} (this processor and SIMTOOL_ISA)", Isa::detected())),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name}: {value}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_printed_for_both_options_alone() {
        let wanted = |line: &str| {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            are_wanted(&arguments)
        };
        for line in ["simtool --version --verbose", "simtool -v -V", "simtool -Vv", "simtool -vV"] {
            assert!(wanted(line), "{line}");
        }
        for line in ["simtool --version", "simtool -v", "simtool dedup --version", "simtool -V -V"]
        {
            assert!(!wanted(line), "{line}");
        }
    }

    #[test]
    fn details_name_all_features_of_the_manifest() {
        let manifest: toml::Table = include_str!("../../../Cargo.toml").parse().unwrap();
        let known = manifest["features"].as_table().unwrap().keys();
        // Without this feature, there is no program.
        let known: Vec<&str> =
            known.map(String::as_str).filter(|name| !["default", "cli"].contains(name)).collect();
        assert_eq!(known, FEATURES.map(|(name, _)| name));
    }

    #[test]
    fn details_have_a_line_each() {
        let text = text();
        let names: Vec<&str> =
            text.lines().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
        assert_eq!(names, ["commit", "target", "profile", "features", "instructions"]);
        assert!(text.starts_with(concat!("simtool ", env!("CARGO_PKG_VERSION"), "\n")), "{text}");
    }
}
