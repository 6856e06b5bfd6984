//! README and the book show real output: their `console` blocks are run and compared. The scripts and files that
//! README and other pages outside of the book name exist.

use crate::book::{anchors, book, book_pages, local_links};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the contents of a page's code blocks of one language, in order.
fn blocks<'r>(page: &'r str, language: &str) -> Vec<&'r str> {
    let fence = format!("```{language}\n");
    let after_fences = page.split(fence.as_str()).skip(1);
    after_fences.map(|rest| rest.split_once("```").unwrap().0).collect()
}

/// Creates a folder with the data sets, in which the commands of a page run one after the other.
fn workplace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for set in ["datasets/demo", "datasets/crawl", "datasets/labelled"] {
        let copy = folder.path().join(set);
        std::fs::create_dir_all(&copy).unwrap();
        for entry in std::fs::read_dir(repository().join(set)).unwrap() {
            let entry = entry.unwrap();
            std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
        }
    }
    folder
}

/// Returns both outputs of a shell that runs `command` with `simtool` on its path.
fn output(command: &str, folder: &Path) -> String {
    let programs = Path::new(env!("CARGO_BIN_EXE_simtool")).parent().unwrap();
    let old_path = std::env::var_os("PATH").unwrap_or_default();
    let path = [PathBuf::from(programs)].into_iter().chain(std::env::split_paths(&old_path));
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(path).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// Splits a step into a command, with its continuation lines behind `> `, and the output shown for
/// it.
fn command_and_output(step: &str) -> (String, String) {
    let mut lines = step.lines().peekable();
    let mut command = lines.next().unwrap_or_default().to_owned();
    while let Some(more) = lines.next_if(|line| line.starts_with("> ")) {
        command.push('\n');
        command.push_str(&more[2..]);
    }
    (command, lines.collect::<Vec<_>>().join("\n"))
}

/// Runs the commands of a page one after the other in `folder`. Returns the page with the outputs that were
/// printed, and the number of commands.
fn run_page(page: &str, folder: &Path) -> (String, u32) {
    let mut blocks = page.split("```console\n");
    let mut printed_page = blocks.next().unwrap().to_owned();
    let mut commands = 0;
    for block in blocks {
        let (steps, rest) = block.split_once("```").unwrap();
        printed_page.push_str("```console\n");
        for step in format!("\n{steps}").split("\n$ ").skip(1) {
            let (command, _) = command_and_output(step);
            let printed = output(&command, folder);
            let printed = printed.trim_end_matches('\n');
            writeln!(printed_page, "$ {}", command.replace('\n', "\n> ")).unwrap();
            if !printed.is_empty() {
                writeln!(printed_page, "{printed}").unwrap();
            }
            commands += 1;
        }
        printed_page.push_str("```");
        printed_page.push_str(rest);
    }
    (printed_page, commands)
}

/// Each page has a folder of its own. `UPDATE_GOLDEN=1 cargo test` writes the printed outputs into the pages.
#[test]
fn shown_commands_print_what_is_shown() {
    let book = book_pages().into_iter();
    let pages = book.map(|page| Path::new("docs").join(page.path));
    let pages = [PathBuf::from("README.md")].into_iter().chain(pages);
    let mut commands = 0;
    for page in pages {
        let path = repository().join(&page);
        let shown = std::fs::read_to_string(&path).unwrap();
        if !shown.contains("```console\n") {
            continue;
        }
        let folder = workplace();
        let (printed, number) = run_page(&shown, folder.path());
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &printed).unwrap();
        } else {
            assert_eq!(printed, shown, "UPDATE_GOLDEN=1 rewrites {}", page.display());
        }
        commands += number;
    }
    assert!(commands > 0, "pages show commands");
}

/// A first-time visitor reads README in a few minutes. Everything longer has a page in the book.
#[test]
fn readme_is_short() {
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let words = readme.split_whitespace().count();
    assert!(words <= 1200, "README has {words} words");
}

/// A command that is not in a `console` block is not run. So only the pages about installing and about other machines
/// may show such commands.
#[test]
fn commands_of_the_book_are_in_blocks_that_are_run() {
    for page in book_pages() {
        let text = std::fs::read_to_string(book().join(&page.path)).unwrap();
        let free = ["start/install.md", "guides/real-crawl.md", "guides/stores.md"];
        let is_free = free.contains(&page.path.as_str());
        let lines = blocks(&text, "sh").concat();
        let is_shown = lines.lines().any(|line| line.starts_with("simtool "));
        assert!(is_free || !is_shown, "docs/{}: use a console block", page.path);
    }
}

/// Returns the pages whose links to files of the repository are checked, relative to its root.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "src/README.md"]
        .into_iter()
        .chain(["python/README.md", "datasets/crawl.md", "datasets/labelled/README.md"])
        .map(PathBuf::from)
        .collect();
    for entry in std::fs::read_dir(repository().join("benches/results")).unwrap() {
        pages.push(Path::new("benches/results").join(entry.unwrap().file_name()));
    }
    pages
}

#[test]
fn named_scripts_files_and_headings_exist() {
    let mut named = 0;
    for page in pages() {
        let text = std::fs::read_to_string(repository().join(&page)).unwrap();
        let folder = page.parent().unwrap();
        let commands = blocks(&text, "sh").concat();
        let scripts = commands.split_whitespace().filter(|word| word.starts_with("scripts/"));
        for script in scripts {
            assert!(repository().join(script).exists(), "{} names {script}", page.display());
            named += 1;
        }
        for link in local_links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { folder.join(file) };
            let target = repository().join(target);
            assert!(target.exists(), "{} names {link}", page.display());
            if !anchor.is_empty() {
                let headings = anchors(&std::fs::read_to_string(target).unwrap());
                let is_there = headings.iter().any(|heading| heading == anchor);
                assert!(is_there, "{} names {link}: there is no such heading", page.display());
            }
            named += 1;
        }
    }
    assert!(named > 0, "pages name files");
}

#[test]
fn the_page_about_the_input_names_every_format_and_only_options_that_exist() {
    let page = std::fs::read_to_string(repository().join("docs/reference/input.md")).unwrap();
    let formats = page.split("## Formats").nth(1).unwrap().split("##").next().unwrap();
    for format in simtool::stages::read::Format::all() {
        let name = format.name();
        assert!(formats.contains(&format!("`{name}`")), "the table of formats lacks {name}");
    }
    let help = output("simtool dedup --help; simtool match --help", repository());
    for option in page.split("`--").skip(1) {
        let name: String =
            option.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        assert!(
            [' ', '\n', '['].iter().any(|after| help.contains(&format!("--{name}{after}"))),
            "--{name}"
        );
    }
}
