//! `simtool cite`: prints the papers behind the methods, as BibTeX.

use crate::args::Call;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::papers::{PAPERS, Paper};
use std::fmt::Write as _;

/// Year of this version.
const YEAR: u32 = 2026;

/// Runs `simtool cite`: prints the BibTeX entries of the program and of the papers behind the named methods, or of all
/// papers.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let methods = call.values("methods").map(|method| method.to_string_lossy().into_owned());
    console::out(entries(&methods.collect::<Vec<_>>()).as_bytes())?;
    Ok(ExitStatus::Done)
}

/// Returns the BibTeX entries of the program and of the papers behind `methods`, or of all papers if `methods` is
/// empty.
fn entries(methods: &[String]) -> String {
    let mut text = format!(
        "@software{{simtool,\n  author = {{{{The developers of simtool}}}},\n  \
         title = {{simtool: near-duplicate documents in large text collections}},\n  version = {{{}}},\n  year = {{{YEAR}}}\n}}\n",
        env!("CARGO_PKG_VERSION")
    );
    let is_wanted = |paper: &&Paper| {
        let has = |method: &String| paper.methods.contains(&method.as_str());
        methods.is_empty() || methods.iter().any(has)
    };
    for paper in PAPERS.iter().filter(is_wanted) {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n{}\n", paper.entry);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_papers_of_the_named_methods_are_printed() {
        let keys = |methods: &[&str]| {
            let methods: Vec<String> = methods.iter().map(|&name| name.to_owned()).collect();
            let text = entries(&methods);
            let found = text.lines().filter_map(|line| line.strip_prefix('@')?.split_once('{'));
            found.map(|(_, key)| key.trim_end_matches(',').to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            keys(&["passages"]),
            ["simtool", "schleimer2003winnowing", "lee2022deduplicating"]
        );
        let both = keys(&["simhash", "i-match"]);
        assert_eq!(both[1..3], ["charikar2002similarity", "chowdhury2002collection"]);
        assert_eq!(keys(&[]).len(), PAPERS.len() + 1);
    }
}
