//! The package for Debian: it is built, installed into an empty root folder, and its program runs.

use crate::program::Folder;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns whether this machine can build and install packages of Debian.
fn can_install() -> bool {
    let user = Command::new("id").arg("-u").output();
    let is_root = user.is_ok_and(|user| user.stdout == b"0\n");
    Command::new("dpkg-deb").arg("--version").output().is_ok() && is_root
}

fn done(command: &mut Command) -> String {
    let run = command.output().unwrap();
    let printed = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(run.status.success(), "{command:?}: {}", String::from_utf8_lossy(&run.stderr));
    printed
}

#[test]
#[expect(clippy::print_stdout, reason = "a skipped test reports it")]
fn the_package_installs_program_manual_pages_and_completions() {
    if !can_install() {
        println!(
            "skipped: package for Debian: this machine has no dpkg, or the user may not install"
        );
        return;
    }
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder =
        Folder::empty().with("a.txt", "one two three four").with("b.txt", "One two three four!");
    let (dist, root) = (folder.path("dist"), folder.path("root"));
    // The checksum of this archive must be in the formula and in the recipe.
    let archive = format!("simtool-{}-x86_64-unknown-linux-musl.tar.gz", env!("CARGO_PKG_VERSION"));
    fs::create_dir_all(&dist).unwrap();
    fs::write(dist.join(&archive), "an archive").unwrap();
    let packaged = done(
        Command::new(repository.join("scripts/package"))
            .arg(env!("CARGO_BIN_EXE_simtool"))
            .arg(&dist)
            .arg("https://files.example/v1")
            .env("DEB_COMPRESSION", "none"),
    );
    let package = packaged.lines().next().unwrap();
    // dpkg takes these empty files for those of a system without packages.
    for part in ["info", "updates", "triggers"] {
        fs::create_dir_all(root.join("var/lib/dpkg").join(part)).unwrap();
    }
    fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
    done(Command::new("dpkg").arg(format!("--root={}", root.display())).args(["-i", package]));

    // The installed program runs and does its work.
    let program = root.join("usr/bin/simtool");
    let version = done(Command::new(&program).arg("--version"));
    assert_eq!(version, format!("simtool {}\n", env!("CARGO_PKG_VERSION")));
    let dedup = Command::new(&program)
        .args(["dedup", "a.txt", "b.txt"])
        .current_dir(folder.path(""))
        .output();
    assert!(String::from_utf8_lossy(&dedup.unwrap().stdout).contains("removed"));
    // Manual pages are compressed, as Debian wants them.
    for file in [
        "man/man1/simtool.1.gz",
        "man/man1/simtool-dedup.1.gz",
        "bash-completion/completions/simtool",
        "zsh/vendor-completions/_simtool",
        "fish/vendor_completions.d/simtool.fish",
        "doc/simtool/copyright",
    ] {
        assert!(fs::metadata(root.join("usr/share").join(file)).unwrap().len() > 100, "{file}");
    }

    let sums = done(Command::new("sha256sum").arg(dist.join(&archive)));
    let sum = sums.split(' ').next().unwrap();
    for file in ["simtool.rb", "conda.yaml"] {
        let written = fs::read_to_string(dist.join(file)).unwrap();
        let address = format!("https://files.example/v1/{archive}");
        assert!(written.contains(&address) && written.contains(sum), "{file}: {written}");
        assert!(!written.contains('@'), "{file}: {written}");
    }
    // The address of the archive comes from the names that cargo-binstall puts in.
    let metadata: toml::Table =
        fs::read_to_string(dist.join("binstall.toml")).unwrap().parse().unwrap();
    let metadata = &metadata["package"]["metadata"]["binstall"];
    let filled = |text: &toml::Value, target: &str| {
        let text = text.as_str().unwrap().replace("{ version }", env!("CARGO_PKG_VERSION"));
        text.replace("{ target }", target).replace("{ bin }{ binary-ext }", "simtool")
    };
    let address = format!("https://files.example/v1/{archive}");
    assert_eq!(filled(&metadata["pkg-url"], "x86_64-unknown-linux-musl"), address);
    let of_glibc = &metadata["overrides"]["x86_64-unknown-linux-gnu"];
    assert_eq!(filled(&of_glibc["pkg-url"], ""), address);
    let folder = archive.strip_suffix(".tar.gz").unwrap();
    assert_eq!(filled(&of_glibc["bin-dir"], ""), format!("{folder}/simtool"));
}

/// The image itself needs a static program, so `scripts/release` builds and runs it.
#[test]
fn the_script_for_the_image_says_what_it_needs() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/image");
    let refused = Command::new(&script).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("usage: scripts/image PROGRAM"));
    // A folder with the tools of the script, and without a program that builds images.
    let tools = Folder::empty();
    for tool in ["bash", "dirname", "realpath", "id"] {
        let found = done(Command::new("sh").args(["-c", &format!("command -v {tool}")]));
        std::os::unix::fs::symlink(found.trim(), tools.path(tool)).unwrap();
    }
    let skipped = done(
        Command::new(tools.path("bash"))
            .arg(&script)
            .arg(env!("CARGO_BIN_EXE_simtool"))
            .env("PATH", tools.path("")),
    );
    assert!(skipped.starts_with("skipped: image: there is no running docker"), "{skipped}");
}

#[test]
fn the_script_for_packages_says_what_it_needs() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let refused = Command::new(repository.join("scripts/package")).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("usage: scripts/package PROGRAM DIST")
    );
}
