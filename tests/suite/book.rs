//! The book in `docs/`: `SUMMARY.md` lists its pages, its links lead somewhere, and each page begins
//! with a title and a sentence.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A page of the book, as a line of `SUMMARY.md` names it.
pub(crate) struct BookPage {
    /// Title in the table of contents.
    pub(crate) title: String,
    /// Path relative to `docs/`.
    pub(crate) path: String,
    /// Part of the book, for example `Guides`. The first page has none.
    pub(crate) part: String,
}

pub(crate) fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

/// Returns the pages of the book in the order of `SUMMARY.md`.
pub(crate) fn book_pages() -> Vec<BookPage> {
    let summary = fs::read_to_string(book().join("SUMMARY.md")).unwrap();
    let mut pages = Vec::new();
    let mut part = String::new();
    for line in summary.lines().skip(1) {
        if let Some(title) = line.strip_prefix("# ") {
            title.clone_into(&mut part);
        } else if let Some((title, path)) = line
            .trim_start_matches([' ', '-'])
            .strip_prefix('[')
            .and_then(|link| link.strip_suffix(')'))
            .and_then(|link| link.split_once("]("))
        {
            let (title, path) = (title.to_owned(), path.to_owned());
            pages.push(BookPage { title, path, part: part.clone() });
        }
    }
    pages
}

/// Returns all files under `folder` whose names end with `ending`, relative to `docs/`.
fn files(folder: &Path, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_str().unwrap().ends_with(ending) {
            found.push(path.strip_prefix(book()).unwrap().to_str().unwrap().to_owned());
        }
    }
    found
}

/// Returns a page without its code blocks and code spans.
fn without_code(page: &str) -> String {
    let mut is_code = false;
    let mut text = String::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let prose = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
            text.push_str(&prose);
            text.push('\n');
        }
    }
    text
}

/// Returns the anchors of the headings of a page, as mdBook and forges make them.
pub(crate) fn anchors(page: &str) -> Vec<String> {
    let mut is_code = false;
    let mut number_of: BTreeMap<String, u32> = BTreeMap::new();
    let mut anchors = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        let title = line.trim_start_matches('#');
        if is_code || title == line || !title.starts_with(' ') {
            continue;
        }
        let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
        let anchor: String = title.trim().to_lowercase().chars().filter(is_kept).collect();
        let anchor = anchor.replace(' ', "-");
        let number = number_of.entry(anchor.clone()).or_default();
        anchors.push(if *number == 0 { anchor } else { format!("{anchor}-{number}") });
        *number += 1;
    }
    anchors
}

/// Returns the targets of the links of a page that lead to files.
pub(crate) fn local_links(page: &str) -> Vec<String> {
    let text = without_code(page);
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.filter(|link| !link.contains("://")).map(str::to_owned).collect()
}

/// Returns `folder/link` without `..`.
fn joined(folder: &Path, link: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in folder.join(link).components() {
        if part == Component::ParentDir {
            assert!(path.pop(), "{link} leaves the book");
        } else {
            path.push(part);
        }
    }
    path
}

#[test]
fn the_summary_lists_every_page_once() {
    let mut listed: Vec<String> = book_pages().into_iter().map(|page| page.path).collect();
    listed.sort();
    let mut there = files(&book(), ".md");
    there.retain(|path| path != "SUMMARY.md");
    there.sort();
    assert_eq!(listed, there);
}

#[test]
fn links_of_the_book_lead_to_pages_and_headings_of_the_book() {
    let pages = book_pages();
    let read = |path: &str| fs::read_to_string(book().join(path)).unwrap();
    let anchors_of: BTreeMap<&str, Vec<String>> =
        pages.iter().map(|page| (page.path.as_str(), anchors(&read(&page.path)))).collect();
    for page in &pages {
        let folder = Path::new(&page.path).parent().unwrap();
        for link in local_links(&read(&page.path)) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => PathBuf::from(&page.path),
                file => joined(folder, file),
            };
            if target.extension().is_none_or(|ending| ending != "md") {
                assert!(book().join(target).is_file(), "{}: {link}", page.path);
                continue;
            }
            let Some(anchors) = anchors_of.get(target.to_str().unwrap()) else {
                panic!("{}: {link} is no page of the book", page.path);
            };
            let is_there = anchor.is_empty() || anchors.iter().any(|known| known == anchor);
            assert!(is_there, "{}: {link}: there is no such heading", page.path);
        }
    }
}

/// Pages name files of the repository in code spans, which the built book cannot link to.
#[test]
fn files_that_the_book_names_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["benches/", "scripts/", "datasets/", "examples/", "python/", "docs/", "tests/"];
    for page in book_pages() {
        let text = fs::read_to_string(book().join(&page.path)).unwrap();
        for line in text.lines().filter(|line| !line.starts_with("```")) {
            let spans = line.split('`').skip(1).step_by(2);
            let names = spans.filter_map(|span| span.split([' ', '#']).next());
            for name in names.filter(|name| folders.iter().any(|folder| name.starts_with(folder))) {
                assert!(root.join(name).exists(), "{}: {name}", page.path);
            }
        }
    }
}

#[test]
fn every_page_begins_with_its_title_and_a_sentence() {
    for page in book_pages() {
        let text = fs::read_to_string(book().join(&page.path)).unwrap();
        assert!(text.starts_with("# "), "{}", page.path);
        assert!(!first_sentence(&text).is_empty(), "{}", page.path);
    }
}

/// Returns the first sentence below the title of a page.
pub(crate) fn first_sentence(page: &str) -> String {
    let mut lines = page.lines().skip(1).skip_while(|line| line.is_empty());
    let mut paragraph = String::new();
    for line in lines.by_ref().take_while(|line| !line.is_empty()) {
        if line.starts_with("```") || line.starts_with(['|', '-', '#', '<']) {
            break;
        }
        paragraph.push_str(line);
        paragraph.push(' ');
    }
    let end = paragraph.find(". ").map_or(paragraph.trim_end().len(), |end| end + 1);
    let sentence = paragraph[..end].trim_end_matches([':', ' ']);
    // A link is replaced with its text, since its target is relative to the page.
    let mut plain = String::new();
    for (number, part) in sentence.split("](").enumerate() {
        let part =
            if number == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) };
        plain.push_str(&part.replace('[', ""));
    }
    plain
}
