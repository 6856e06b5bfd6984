//! The scripts, as far as they can be looked at without running them.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn every_script_is_read_by_its_shell() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let script = fs::read_to_string(&path).unwrap();
        let first = script.lines().next().unwrap();
        // Where there is no bash yet, these two are run first.
        let is_early = path.ends_with("setup") || path.ends_with("demo");
        let shell = if is_early { "#!/bin/sh" } else { "#!/usr/bin/env bash" };
        assert_eq!(first, shell, "{}", path.display());
        let shell = if is_early { "sh" } else { "bash" };
        let run = Command::new(shell).arg("-n").arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success() && said.is_empty(), "{}: {said}", path.display());
    }
}

#[test]
fn what_is_there_is_not_installed_again() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/setup");
    let run = Command::new("sh").arg(script).arg("build").output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(String::from_utf8_lossy(&run.stderr), "");
}
