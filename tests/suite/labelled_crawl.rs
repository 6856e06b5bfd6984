//! `scripts/labelled-crawl` labels pages by their main content, and `simtool eval` reads what it writes.

#![cfg(unix)]
#![expect(clippy::print_stdout, reason = "a skipped test reports it")]

use crate::program::Folder;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns a text of `count` words that differ for each `seed`.
fn text(seed: usize, count: usize) -> String {
    let words: Vec<String> = (0..count).map(|number| format!("w{seed}x{number}")).collect();
    words.join(" ")
}

/// Returns a page as Doxygen writes it, with a menu that is longer than its content.
fn page(menu: usize, content: &str) -> String {
    let menu = text(menu, 300);
    format!(
        "<html><head><title>Page</title></head><body><div id=\"nav\">{menu}</div>\
         <div class=\"contents\"><p>{content}</p></div></body></html>"
    )
}

/// Builds a package of Debian that has these pages, in the folder of packages.
fn build_package(folder: &Folder, name: &str, pages: &[(&str, String)]) {
    let root = folder.path(name);
    let html = root.join("usr/share/doc").join(name).join("html");
    fs::create_dir_all(&html).unwrap();
    for (file, page) in pages {
        fs::write(html.join(file), page).unwrap();
    }
    fs::create_dir(root.join("DEBIAN")).unwrap();
    let control = format!(
        "Package: {name}\nVersion: 1.0\nArchitecture: all\nMaintainer: nobody <a@b.example>\n\
         Description: pages\n"
    );
    fs::write(root.join("DEBIAN/control"), control).unwrap();
    let file = folder.path("crawl/packages").join(format!("{name}_1.0_all.deb"));
    let built = Command::new("dpkg-deb").arg("-b").args([&root, &file]).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

#[test]
fn pages_are_labelled_by_their_main_content() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !has("dpkg-deb") || !has("python3") {
        println!("skipped: dpkg-deb or python3 is not there");
        return;
    }
    let folder = Folder::empty();
    fs::create_dir_all(folder.path("crawl/packages")).unwrap();
    let half = |seed| format!("{} {}", text(5, 70), text(seed, 30));
    let first = [
        ("same.html", page(1, &text(4, 100))),
        ("half.html", page(1, &half(6))),
        ("other.html", page(1, &text(7, 100))),
    ];
    let second = [("same.html", page(2, &text(4, 100))), ("half.html", page(2, &half(8)))];
    build_package(&folder, "libsigc++-2.0-doc", &first);
    build_package(&folder, "libsigc++-3.0-doc", &second);

    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/labelled-crawl");
    let make = || {
        let mut command = Command::new("python3");
        command.arg(&script).args(["--offline", "--threads", "2"]).arg(folder.path("crawl"));
        let run = command.output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        fs::read(folder.path("crawl/docs.warc.gz")).unwrap()
    };
    let crawl = make();
    let kinds = |name: &str| {
        let pairs = fs::read_to_string(folder.path("crawl").join(name)).unwrap();
        let fields = pairs.lines().map(|line| line.split('\t').map(str::to_owned).collect());
        fields.collect::<Vec<Vec<String>>>()
    };
    let url = |package: &str, page: &str| {
        format!("http://docs.example/{package}/1.0/usr/share/doc/{package}/html/{page}")
    };
    let pair = |page: &str, kind: &str| {
        let of = |version| url(&format!("libsigc++-{version}-doc"), page);
        vec![of("2.0"), of("3.0"), kind.to_owned()]
    };
    assert_eq!(kinds("truth.tsv"), [pair("same.html", "same-page")]);
    assert_eq!(kinds("gray.tsv"), [pair("half.html", "gray-between")]);

    let output =
        folder.run(&["eval", "crawl", "--method", "exact:similarity=0.8", "--format", "tsv"]);
    assert_eq!((output.code, output.out.contains("1.000000")), (0, true), "{}", output.err);
    // The same packages give the same bytes.
    assert_eq!(make(), crawl);
}
