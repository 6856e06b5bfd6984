//! Scripts parse, and the quick ones do their work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts")
}

/// Runs a command and returns the text it printed on both outputs.
fn printed_by(command: &mut Command) -> String {
    let run = command.output().unwrap();
    let printed =
        format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{command:?}: {printed}");
    printed
}

fn has_python() -> bool {
    Command::new("python3").arg("--version").output().is_ok()
}

#[test]
fn every_script_parses() {
    let parse_python = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
    for entry in fs::read_dir(scripts()).unwrap() {
        let path = entry.unwrap().path();
        // The budget is a list of numbers.
        if path.is_dir() || path.ends_with("budget") {
            continue;
        }
        let script = fs::read_to_string(&path).unwrap();
        let first_line = script.lines().next().unwrap();
        let is_module = path.extension().is_some_and(|extension| extension == "py");
        let printed = if is_module || first_line == "#!/usr/bin/env python3" {
            if !has_python() {
                continue;
            }
            printed_by(Command::new("python3").args(["-c", parse_python]).arg(&path))
        } else {
            // These two run first, on a machine that may have no bash yet.
            let is_early = path.ends_with("setup") || path.ends_with("demo");
            let (shell, expected_first) =
                if is_early { ("sh", "#!/bin/sh") } else { ("bash", "#!/usr/bin/env bash") };
            assert_eq!(first_line, expected_first, "{}", path.display());
            printed_by(Command::new(shell).arg("-n").arg(&path))
        };
        assert_eq!(printed, "", "{}", path.display());
    }
}

#[test]
fn scripts_that_count_find_planted_lines() {
    for script in ["prose", "figures"].map(|name| scripts().join(name)) {
        if has_python() {
            printed_by(Command::new("python3").arg(script).arg("--self-test"));
        }
    }
}

#[test]
fn setup_installs_nothing_twice() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/setup");
    let run = Command::new("sh").arg(script).arg("build").output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(String::from_utf8_lossy(&run.stderr), "");
}

/// A machine without Rust that cannot download it, in the tests: another home, and a `curl` that
/// fails.
#[cfg(unix)]
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test reports it")]
fn set_up_and_demo_fail_with_a_message_if_there_is_no_rust() {
    use std::os::unix::fs::PermissionsExt;
    let system = "/usr/bin:/bin";
    if system.split(':').any(|folder| Path::new(folder).join("cargo").exists()) {
        eprintln!("skipped: Rust is installed for the whole system");
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let curl = home.path().join("curl");
    fs::write(&curl, "#!/bin/sh\nexit 6\n").unwrap();
    fs::set_permissions(&curl, fs::Permissions::from_mode(0o755)).unwrap();
    for (script, argument) in [("setup", "build"), ("demo", "")] {
        let mut command = Command::new("sh");
        command.arg(scripts().join(script)).arg(argument).env("HOME", home.path());
        command.env("PATH", format!("{}:{system}", home.path().display()));
        command.env_remove("CARGO_HOME").env_remove("RUSTUP_HOME");
        let run = command.output().unwrap();
        let printed = String::from_utf8_lossy(&run.stderr);
        assert_eq!(run.status.code(), Some(1), "{script}: {printed}");
        assert!(printed.contains("is not here and cannot be downloaded"), "{script}: {printed}");
    }
}

#[test]
fn the_citation_has_the_version_of_the_program() {
    let citation = fs::read_to_string(scripts().join("../CITATION.cff")).unwrap();
    let version = concat!("version: ", env!("CARGO_PKG_VERSION"));
    assert!(citation.lines().any(|line| line == version), "{citation}");
}
