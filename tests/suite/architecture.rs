//! Checks which crates and folders import others, by the manifests and the sources. The allowed layers are those of
//! `docs/concepts/architecture.md`.
//!
//! The compiler enforces the layers between crates. This test has the same table, so that a new dependency between
//! crates is a decision and not an accident. It also checks the rules inside the root package.
//!
//! Changing the architecture is an edit of the tables here.

// With its path, `rustc --test tests/suite/architecture.rs` compiles this file alone in seconds.
#[path = "module_graph.rs"]
mod module_graph;

use module_graph::{Crate, Edges, circles, describe};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The crates of the workspace, lowest first, with the crates of the workspace that each may import.
const CRATES: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("model", &["base"]),
    ("kernels", &["base", "model"]),
    ("compute", &["base", "kernels"]),
    ("read", &["base", "model"]),
    ("terms", &["base", "kernels", "model"]),
    ("fingerprint", &["base", "kernels", "model"]),
    ("hamming", &["base", "compute", "kernels", "model"]),
    ("set-join", &["base", "compute", "kernels", "model"]),
    ("coverage", &["base", "compute", "kernels", "set-join"]),
    ("passages", &["base", "compute", "kernels"]),
    ("contamination", &["base", "compute", "kernels", "model"]),
    ("serve", &[]),
];
/// Folders of the root package that are stages. Each may import only crates of the workspace and itself.
const STAGES: &[&str] = &["cluster", "generate", "write"];
/// Folders that combine stages, lowest first. Each may import the folders before it, and stages.
const COMPOSITION: &[&str] = &[
    "method", "sample", "pipeline", "output", "index", "evaluate", "estimate", "suggest",
    "setting", "run",
];
/// Folders that use only the public interface.
const FACES: &[&str] = &["bin"];
/// Files with `unsafe` code.
const UNSAFE: &[&str] = &["crates/kernels/", "crates/base/src/mapped_file.rs", "src/bin/simtool/"];
/// Folders of `crates/read`, lowest first. Each may use the folders before it.
const READ: &[&str] = &["source", "bytes", "formats", "documents"];
/// Folders of `crates/read` that may open files: the sources, and the walk that finds them.
const OPENING: &[&str] = &["crates/read/src/source/", "crates/read/src/documents/walk/"];
/// Files that may start threads.
const RAYON: &[&str] = &[
    "crates/compute/",
    "crates/hamming/",
    "crates/set-join/",
    "src/evaluate/",
    "src/index/",
    "src/output/",
    "src/pipeline/",
];
/// External crates, and the only places that may use them.
const ROOMS: &[(&str, &[&str])] = &[
    ("memmap2", &["crates/base/src/mapped_file.rs", "crates/base/src/large_buffer.rs"]),
    ("rustix", &["crates/base/src/durable.rs", "crates/base/src/work_time.rs"]),
    ("clap", &["src/bin/"]),
    ("anyhow", &["src/bin/"]),
    ("jieba_rs", &["crates/terms/src/tokenize/chinese_words.rs"]),
    ("similar", &["src/write/text_difference.rs"]),
    ("jiff", &["src/pipeline/date_value.rs"]),
    ("object_store", &["crates/read/src/source/remote/"]),
    ("tokio", &["crates/read/src/source/remote/"]),
    ("ureq", &["crates/read/src/source/remote/"]),
    (
        "std::arch",
        &[
            "crates/kernels/src/lib.rs",
            "crates/kernels/src/aarch64/",
            "crates/kernels/src/high_bits/",
            "crates/kernels/src/x86_64/",
        ],
    ),
    (
        "std::thread",
        &[
            "crates/base/src/durable.rs",
            "crates/base/src/memory_turns.rs",
            "crates/compute/",
            "crates/read/src/documents/collection.rs",
            "crates/read/src/source/remote/",
            "crates/serve/src/server.rs",
            "src/output/ordered_pieces.rs",
            "src/output/texts.rs",
            "src/bin/",
            "src/run/",
        ],
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Adds the sources in a folder, by their paths from the root.
fn walk(folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/");
            found.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}

/// Returns the sources of the root package and of all crates, by their paths from the root.
fn sources() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    walk(&root().join("src"), &mut found);
    for (name, _) in CRATES {
        walk(&root().join("crates").join(name).join("src"), &mut found);
    }
    found
}

/// Returns the sources of the root package, by their paths from `src`.
fn root_sources() -> BTreeMap<String, String> {
    let inside =
        |(file, text): (String, String)| Some((file.strip_prefix("src/")?.to_owned(), text));
    sources().into_iter().filter_map(inside).collect()
}

/// Returns the lines of code: comments do not import.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// Returns the part of a file before its unit tests.
fn before_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default()
}

/// Returns the top-level modules of this crate that the file names, in `use` trees and in paths.
fn imports(text: &str) -> BTreeSet<String> {
    let code: String = code(text).collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    for (at, prefix) in code.match_indices("crate::") {
        let rest = &code[at + prefix.len()..];
        let names = match rest.strip_prefix('{') {
            Some(group) => top_level(group),
            None => vec![rest],
        };
        for name in names {
            let name: String =
                name.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            found.insert(name);
        }
    }
    found
}

/// Returns the members of a `use` group, up to its closing brace.
fn top_level(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut members) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                // The last member may have a comma behind it.
                if !group[start..at].trim().is_empty() {
                    members.push(&group[start..at]);
                }
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                members.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    members
}

fn room(file: &str) -> &str {
    match file.split_once('/') {
        Some((folder, _)) => folder,
        None => file.trim_end_matches(".rs"),
    }
}

fn may_import(file: &str, module: &str) -> bool {
    let own = room(file);
    let level = |name: &str| COMPOSITION.iter().position(|layer| *layer == name);
    let composed = STAGES.contains(&module) || level(module).is_some();
    if own == "lib" || own == module {
        true
    } else if STAGES.contains(&own) {
        !composed
    } else if let Some(own) = level(own) {
        module != "bin" && level(module).is_none_or(|other| other < own)
    } else if FACES.contains(&own) {
        // A face cannot import the library by a `crate::` path.
        false
    } else {
        // A file at the root, which holds data that stages share.
        !composed
    }
}

/// Returns the crates of the workspace that a manifest names as dependencies, except those of its
/// tests.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let section = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap_or_default();
    let name = |line: &'_ str| -> Option<usize> {
        line.starts_with("simtool-").then(|| line.find(['.', ' ']).unwrap_or(line.len()))
    };
    let names = section.lines().filter_map(|line| Some(&line["simtool-".len()..name(line)?]));
    names.collect()
}

#[test]
fn crates_depend_on_each_other_as_the_table_says() {
    let folders: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let names: BTreeSet<String> = CRATES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(folders, names, "every crate has its row in the table of this test");
    for (at, (name, allowed)) in CRATES.iter().enumerate() {
        let path = root().join("crates").join(name).join("Cargo.toml");
        let manifest = fs::read_to_string(path).unwrap();
        for dependency in dependencies(&manifest) {
            assert!(
                allowed.contains(&dependency),
                "crates/{name} imports {dependency}, which the table of this test does not allow"
            );
        }
        let is_lower = |lower: &&str| CRATES[..at].iter().any(|(name, _)| *name == *lower);
        assert!(allowed.iter().all(is_lower), "{name} imports a higher crate");
    }
}

#[test]
fn imports_inside_the_root_package_follow_the_layers() {
    for (file, text) in root_sources() {
        // A unit test may use a higher layer as its oracle.
        if FACES.contains(&room(&file)) || file.ends_with("tests.rs") {
            continue;
        }
        for module in imports(before_tests(&text)) {
            assert!(
                may_import(&file, &module),
                "src/{file} imports crate::{module}: {} may not; see docs/concepts/architecture.md",
                room(&file)
            );
        }
    }
}

#[test]
fn every_folder_has_its_place_in_the_table() {
    for file in root_sources().keys() {
        if file.contains('/') {
            let folder = room(file);
            assert!(
                STAGES.contains(&folder)
                    || COMPOSITION.contains(&folder)
                    || FACES.contains(&folder),
                "src/{folder}/ is in no layer: add it to the tables of this test"
            );
        }
    }
}

#[test]
fn crates_and_unsafe_code_stay_in_their_rooms() {
    for (file, text) in sources() {
        let code: Vec<&str> = code(&text).collect();
        let names = |word: &str| {
            code.iter().any(|line| {
                line.contains(&format!("{word}::")) || line.contains(&format!("use {word};"))
            })
        };
        let inside = |rooms: &[&str]| rooms.iter().any(|r| file.starts_with(r));
        for (word, allowed) in ROOMS {
            assert!(!names(word) || inside(allowed), "{file} uses {word}; only {allowed:?} may");
        }
        assert!(!names("rayon") || inside(RAYON), "{file} uses rayon; only {RAYON:?} may");
        let has_unsafe = code.iter().any(|line| {
            line.contains("unsafe {") || line.contains("unsafe fn") || line.contains("unsafe impl")
        });
        assert!(!has_unsafe || inside(UNSAFE), "{file} has unsafe code; only {UNSAFE:?} may");
    }
}

#[test]
fn folders_of_the_readers_use_those_before_them() {
    let level = |module: &str| {
        let folder = module.split("::").next().unwrap_or_default();
        READ.iter().position(|room| *room == folder)
    };
    for (module, targets) in edges_of(&sources(), "crates/read/src/") {
        let own = level(&module);
        assert!(own.is_some() || module.is_empty(), "crates/read: {module} is in no folder");
        for target in targets.keys() {
            assert!(level(target) <= own, "crates/read: {module} uses {target}, which is higher");
        }
    }
}

#[test]
fn readers_get_sources_and_open_no_files() {
    let opens = ["File::open", "OpenOptions", "fs::metadata", "fs::read", "MappedFile::"];
    for (file, text) in sources() {
        let is_reader = file.starts_with("crates/read/") && !file.ends_with("tests.rs");
        if !is_reader || OPENING.iter().any(|folder| file.starts_with(folder)) {
            continue;
        }
        let found = code(before_tests(&text)).find(|line| opens.iter().any(|w| line.contains(w)));
        assert!(found.is_none(), "{file} opens a file, and not a `Source`: {found:?}");
    }
}

#[test]
fn the_library_does_not_print_and_does_not_read_the_environment() {
    for (file, text) in sources() {
        if file.starts_with("src/bin/") {
            continue;
        }
        for word in ["println!", "eprintln!", "print!(", "process::exit"] {
            assert!(!code(&text).any(|line| line.contains(word)), "{file} has {word}");
        }
        let reads_environment = code(&text).any(|line| line.contains("env::var"));
        assert!(
            !reads_environment
                || file == "crates/kernels/src/lib.rs"
                // Credentials of stores are in the variables that all of their tools read.
                || file.starts_with("crates/read/src/source/remote/"),
            "{file} reads the environment: settings are given"
        );
    }
}

/// Returns the uses among the modules of a crate. `files` has the sources of the crate and others.
fn edges_of(files: &BTreeMap<String, String>, folder: &str) -> Edges {
    let inside = |(file, text): (&String, &String)| {
        Some((file.strip_prefix(folder)?.to_owned(), text.clone()))
    };
    let files: BTreeMap<String, String> = files.iter().filter_map(inside).collect();
    let root = if files.contains_key("lib.rs") { "lib.rs" } else { "main.rs" };
    Crate::of_files(&files, root).edges()
}

#[test]
fn no_circle_goes_through_a_crate() {
    let mut files = sources();
    walk(&root().join("python/src"), &mut files);
    let crates = CRATES.iter().map(|(name, _)| format!("crates/{name}/src/"));
    // The program and the Python package are crates of their own.
    let others = ["src/", "src/bin/simtool/", "python/src/"].map(str::to_owned);
    let mut found = Vec::new();
    for folder in crates.chain(others) {
        let edges = edges_of(&files, &folder);
        assert!(edges.values().any(|uses| !uses.is_empty()), "no uses are seen in {folder}");
        let describe = |circle| format!("{folder}: {circle:?}\n{}", describe(&circle, &edges));
        found.extend(circles(&edges).into_iter().map(describe));
    }
    assert!(found.is_empty(), "files or folders use each other in circles:\n{}", found.join("\n"));
}

#[test]
fn nothing_climbs_over_two_folders() {
    for (file, text) in sources() {
        let climbs = code(&text).any(|line| line.contains("super::super"));
        assert!(!climbs, "{file} has super::super: name the module from the crate's root");
    }
}

#[test]
fn the_checks_see_what_they_look_for() {
    let planted =
        "use crate::{error::Error, hamming::{planner, linear_scan}};\nlet x = crate::write::f();";
    let found: Vec<String> = imports(planted).into_iter().collect();
    assert_eq!(found, ["error", "hamming", "write"]);
    assert!(!may_import("write/report/page.rs", "index"));
    assert!(!may_import("letter.rs", "write"));
    assert!(may_import("index/query.rs", "pipeline"));
    assert!(may_import("index/store/segment.rs", "index"));
    assert!(!may_import("pipeline/plan.rs", "index"));
    assert!(may_import("run/dedup.rs", "pipeline"));
    assert!(!may_import("pipeline/plan.rs", "run"));
    let manifest = "[dependencies]\nsimtool-base.workspace = true\nmemchr = \"2\"\n\n\
                    [dev-dependencies]\nsimtool-read = { path = \"x\" }\n";
    assert_eq!(dependencies(manifest), BTreeSet::from(["base"]));
}

/// Returns the uses in a planted crate: each module with the modules that it uses.
fn planted_uses(files: &[(&str, &str)]) -> Edges {
    let files: BTreeMap<String, String> =
        files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
    edges_of(&files, "")
}

/// Returns the names of the modules that a module of a planted crate uses.
fn used_by<'e>(edges: &'e Edges, module: &str) -> Vec<&'e str> {
    edges[module].keys().map(String::as_str).collect()
}

#[test]
fn the_checks_see_every_kind_of_use() {
    let edges = planted_uses(&[
        ("lib.rs", "mod all;\nmod error;\nmod read;\nmod walk;\npub use read::Gzip;"),
        (
            "read/mod.rs",
            "mod gzip;\nmod reader;\n#[cfg(test)]\nmod tests;\npub use gzip::Gzip;\n\
             pub(crate) use reader::{Reader, open as start};\nuse reader::SIZE;\n\
             pub(crate) fn size() -> usize { SIZE }",
        ),
        ("read/reader.rs", "use crate::{error::{self, Kind}, walk};\nfn f() { walk::all() }"),
        (
            "read/gzip.rs",
            "use super::{Reader, size};\nuse crate::read::start;\n\
             #[cfg(doc)]\nuse crate::walk::all;\n#[cfg(test)]\nmod tests { use crate::walk; }",
        ),
        ("read/tests.rs", "use crate::walk::all;"),
        ("walk.rs", "pub(crate) fn all() { crate::error::kind(\"crate::read::size()\") }"),
        ("all.rs", "use crate::walk::*;\npub use crate::read::*;\nuse super::*;"),
        (
            "error.rs",
            "// crate::walk::all()\npub(crate) enum Kind { A }\nuse std::fmt::Debug;\n\
             pub(crate) fn kind(text: &'static str) -> char { '\\'' }",
        ),
    ]);
    // The root and a folder only declare and re-export, so they are doors, which have no edges.
    assert_eq!(used_by(&edges, ""), <[&str; 0]>::default());
    // An item that is imported from a parent belongs to the file that defines it, even under another name.
    assert_eq!(used_by(&edges, "read::gzip"), ["read", "read::reader"]);
    // A folder whose file has code of its own uses its members like any other.
    assert_eq!(used_by(&edges, "read"), ["read::reader"]);
    // A module that is imported is used where one of its items is named.
    assert_eq!(used_by(&edges, "read::reader"), ["error", "walk"]);
    assert_eq!(used_by(&edges, "walk"), ["error"]);
    // `use a::*` is a use of the module `a`, but `pub use a::*` is not.
    assert_eq!(used_by(&edges, "all"), ["", "walk"]);
    // Comments, literals, tests and names of other crates are no uses.
    assert_eq!(used_by(&edges, "error"), <[&str; 0]>::default());
    assert!(!edges.contains_key("read::tests"));
    assert!(circles(&edges).is_empty());
}

#[test]
fn the_checks_see_circles_of_every_kind() {
    let found = |files: &[(&str, &str)]| -> Vec<Vec<String>> {
        let circles = circles(&planted_uses(files)).into_iter();
        circles.map(|circle| circle.into_iter().collect()).collect()
    };
    let root = ("lib.rs", "mod a;\nmod b;");
    // Files at the root of a crate.
    let circle = found(&[root, ("a.rs", "use crate::b::B;"), ("b.rs", "fn f() { super::a::g() }")]);
    assert_eq!(circle, [["a", "b"]]);
    // A file and its folder, through an item that the folder defines.
    let inner = "use super::Kind;\npub(crate) const KIND: Kind = Kind;";
    let circle = found(&[
        root,
        ("a/mod.rs", "mod inner;\nstruct Kind;\nconst ALL: &[Kind] = &[inner::KIND];"),
        ("a/inner.rs", inner),
        ("b.rs", ""),
    ]);
    assert_eq!(circle, [["a", "a::inner"]]);
    // The same, through an item that the folder only offers, but uses itself.
    let circle = found(&[
        root,
        ("a/mod.rs", "mod inner;\npub use inner::KIND;\nstruct Kind;\nfn f() { KIND }"),
        ("a/inner.rs", inner),
        ("b.rs", ""),
    ]);
    assert_eq!(circle, [["a", "a::inner"]]);
    // A file at the root and a folder, through two files of the folder that do not use each other.
    let circle = found(&[
        root,
        ("a/mod.rs", "mod up;\nmod down;"),
        ("a/up.rs", "use crate::b::B;"),
        ("a/down.rs", "pub(crate) struct Down;"),
        ("b.rs", "pub(crate) struct B;\nuse crate::a::down::Down;"),
    ]);
    assert_eq!(circle, [["a", "b"]]);
    // The root of a crate and a file.
    let circle = found(&[
        ("main.rs", "mod a;\nenum Status { Done }\nfn main() { a::run() }"),
        ("a.rs", "use crate::Status;\npub(crate) fn run() -> Status { Status::Done }"),
    ]);
    assert_eq!(circle, [["", "a"]]);
}
