//! Who may import whom: the layers of `docs/concepts/architecture.md`, read from the manifests and the sources.
//!
//! The compiler enforces the layers between crates. This test holds the same table, so that a new
//! dependency between crates is a decision and not an accident, and it holds the rules inside the
//! root package.
//!
//! Changing the architecture is an edit of the tables here.

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
    ("passages", &["base", "compute", "kernels"]),
    ("contamination", &["base", "compute", "kernels", "model"]),
];
/// Folders of the root package that are stages: each imports crates of the workspace and itself.
const STAGES: &[&str] = &["cluster", "generate", "write"];
/// Folders that join stages, the lower one first: each imports those before it, and stages.
const COMPOSITION: &[&str] = &[
    "method", "sample", "pipeline", "output", "index", "evaluate", "estimate", "suggest",
    "setting", "run",
];
/// Folders that use only the public interface.
const FACES: &[&str] = &["bin"];
/// Files with `unsafe` code.
const UNSAFE: &[&str] = &["crates/kernels/", "crates/base/src/mapped_file.rs", "src/bin/simtool/"];
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
    ("rustix", &["crates/base/src/durable.rs"]),
    ("clap", &["src/bin/"]),
    ("anyhow", &["src/bin/"]),
    ("jieba_rs", &["crates/terms/src/tokenize/chinese_words.rs"]),
    ("similar", &["src/write/text_difference.rs"]),
    ("jiff", &["src/pipeline/date_value.rs"]),
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
            "src/output/ordered_pieces.rs",
            "src/bin/",
            "src/run/",
        ],
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the sources of the root package and of all crates, by their paths from the root.
fn sources() -> BTreeMap<String, String> {
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
            !reads_environment || file == "crates/kernels/src/lib.rs",
            "{file} reads the environment: settings are given"
        );
    }
}

/// Returns the module of a file: `read/gzip.rs` is `read::gzip`, `read/mod.rs` is `read`.
fn module(file: &str) -> String {
    let path = file.trim_end_matches(".rs").replace('/', "::");
    path.strip_suffix("::mod").unwrap_or(&path).to_owned()
}

/// Returns every path in the code of a module before its tests, from the crate's root, with use
/// trees expanded. A re-export (`pub use`) is no import.
fn paths(text: &str, module: &str) -> BTreeSet<String> {
    let code: String = code(before_tests(text)).collect::<Vec<_>>().join("\n");
    let parent = module.rsplit_once("::").map_or("", |(parent, _)| parent);
    let mut found = BTreeSet::new();
    for (prefix, root) in [("crate::", ""), ("super::", parent), ("self::", module)] {
        for (at, _) in code.match_indices(prefix) {
            let before = &code[..at];
            if before.ends_with("::") || before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
            {
                continue;
            }
            let statement = before.rsplit([';', '}']).next().unwrap_or_default().trim_start();
            if statement.starts_with("pub") && statement.trim_end().ends_with("use") {
                continue;
            }
            let rest = &code[at + prefix.len()..];
            for path in expanded(rest) {
                let path = if root.is_empty() { path } else { format!("{root}::{path}") };
                found.insert(path);
            }
        }
    }
    found
}

/// Returns the paths of the use tree, or the single path, at the beginning of `rest`.
fn expanded(rest: &str) -> Vec<String> {
    if let Some(group) = rest.strip_prefix('{') {
        return top_level(group).iter().flat_map(|member| expanded(member.trim())).collect();
    }
    let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    match rest[name.len()..].strip_prefix("::") {
        Some(inner) if !name.is_empty() => {
            expanded(inner).into_iter().map(|path| format!("{name}::{path}")).collect()
        }
        _ => vec![name],
    }
}

/// Returns for each module the other modules of its room that it imports. A room is a folder of the
/// root package, or a whole crate.
fn imports_within_rooms(files: &BTreeMap<String, String>) -> BTreeMap<String, BTreeSet<String>> {
    let modules: BTreeSet<String> = files.keys().map(|file| module(file)).collect();
    let group = |module: &str| match module.split("::").next().unwrap_or_default() {
        noun if !files.keys().any(|file| room(file) == noun && file.contains('/')) => String::new(),
        folder => folder.to_owned(),
    };
    let mut graph = BTreeMap::new();
    for (file, text) in files {
        let own = module(file);
        let mut imported = BTreeSet::new();
        for path in paths(text, &own) {
            let mut target = path.as_str();
            while !modules.contains(target) {
                let Some((above, _)) = target.rsplit_once("::") else { break };
                target = above;
            }
            if modules.contains(target) && target != own && group(target) == group(&own) {
                imported.insert(target.to_owned());
            }
        }
        graph.insert(own, imported);
    }
    graph
}

/// Returns a circle among the imports, if there is one.
fn circle(graph: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn visit(
        module: &str,
        graph: &BTreeMap<String, BTreeSet<String>>,
        path: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(start) = path.iter().position(|known| known == module) {
            return Some(path[start..].to_vec());
        }
        if !done.contains(module) {
            path.push(module.to_owned());
            for next in graph.get(module).into_iter().flatten() {
                if let Some(circle) = visit(next, graph, path, done) {
                    return Some(circle);
                }
            }
            path.pop();
            done.insert(module.to_owned());
        }
        None
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|module| visit(module, graph, &mut Vec::new(), &mut done))
}

#[test]
fn no_circle_goes_through_a_room() {
    let below = |files: &BTreeMap<String, String>, folder: &str| -> BTreeMap<String, String> {
        let inside = |(file, text): (&String, &String)| {
            let file = file.strip_prefix(folder)?;
            // The roots of a crate and of the program import everything.
            let is_door = file == "lib.rs" || file == "main.rs" || file.starts_with("bin/");
            (!is_door).then(|| (file.to_owned(), text.clone()))
        };
        files.iter().filter_map(inside).collect()
    };
    let files = sources();
    let crates = CRATES.iter().map(|(name, _)| format!("crates/{name}/src/"));
    // The program is a crate of its own.
    for folder in crates.chain(["src/".to_owned(), "src/bin/simtool/".to_owned()]) {
        let circle = circle(&imports_within_rooms(&below(&files, &folder)));
        assert_eq!(circle, None, "these modules of {folder} import each other in a circle");
    }
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

    let files = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        pairs.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect()
    };
    let planted = files(&[
        ("read/mod.rs", "pub use gzip::Gzip;\nuse crate::read::walk;"),
        ("read/gzip.rs", "use super::{walk::{A, B}, Corpus};"),
        ("read/walk.rs", "fn f() { crate::read::zstd::open() }"),
        ("read/zstd.rs", "use crate::{error::Error, read::gzip::Gzip};"),
        (
            "error.rs",
            "use crate::document::Document;\n#[cfg(test)]\nmod tests { use crate::fault; }",
        ),
        ("document.rs", "pub use crate::error::Error;"),
    ]);
    let graph = imports_within_rooms(&planted);
    assert_eq!(graph["read::gzip"], ["read".to_owned(), "read::walk".to_owned()].into());
    assert_eq!(graph["error"], ["document".to_owned()].into());
    assert!(graph["document"].is_empty());
    let found: BTreeSet<String> = circle(&graph).unwrap().into_iter().collect();
    assert!(
        found.is_superset(&["read::walk", "read::zstd"].map(str::to_owned).into()),
        "{found:?}"
    );
}
