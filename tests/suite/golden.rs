//! The demo's output, byte for byte. `UPDATE_GOLDEN=1 cargo test` rewrites it.

use crate::program::Folder;
use std::fs;
use std::path::{Path, PathBuf};

/// The arguments N and M of the golden files.
const RUNS: [(&str, &str); 3] = [("300", "16"), ("500", "64"), ("1", "1")];

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("datasets/demo")
}

#[test]
fn the_demo_gives_the_golden_results() {
    let elsewhere = Folder::empty();
    for (n, m) in RUNS {
        let path = demo().join(format!("expected-{n}-{m}.txt"));
        let directory = demo();
        let directory = directory.to_str().unwrap();
        let finished = elsewhere.run(&[n, m, "--directory", directory, "--result", "-"]);
        assert_eq!((finished.code, finished.err.as_str()), (0, ""));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &finished.out).unwrap();
        }
        let expected = fs::read_to_string(&path).unwrap();
        assert_eq!(finished.out, expected, "UPDATE_GOLDEN=1 rewrites {}", path.display());
    }
}

/// The demo's README says that this command made it.
#[test]
fn the_generator_still_makes_the_demo() {
    let folder = Folder::empty();
    let arguments = "generate --documents 80 --samples 8 --seed 2026 --with-tables --output .";
    let finished = folder.run_words(arguments);
    assert_eq!(finished.code, 0, "{finished:?}");
    for name in ["article.txt", "sample.txt", "truth.tsv", "stopwords.txt", "hashvalue.txt"] {
        let (made, kept) = (fs::read(folder.path(name)).unwrap(), fs::read(demo().join(name)));
        assert!(made == kept.unwrap(), "{name} is not what datasets/demo holds");
    }
}

/// The generated crawl agrees with `datasets/crawl.md`. Compressed bytes may differ from library to
/// library, but the documents may not.
#[test]
#[cfg(feature = "parquet")]
fn the_generator_still_makes_the_crawl() {
    let folder = Folder::empty();
    let made = ["generate", "--kind", "crawl", "--documents", "60", "--output", "datasets/crawl"];
    assert_eq!(folder.run(&made).code, 0);
    let documents = |directory: &Path| {
        let arguments = ["fingerprint", "datasets/crawl", "--id-field", "url", "--output", "-"];
        let run = crate::program::run(directory, &arguments, &[]);
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    };
    let made = documents(&folder.path(""));
    assert_eq!(made.lines().count(), 60);
    assert_eq!(made, documents(Path::new(env!("CARGO_MANIFEST_DIR"))));
}
