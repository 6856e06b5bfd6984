//! Finds near-duplicates among texts in memory.
//!
//! `cargo run --example texts_in_memory`

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use simtool::{Config, Method, Texts, deduplicate};

fn main() -> simtool::Result<()> {
    let texts = [
        "The quick brown fox jumps over the lazy dog near the old river bank today",
        "Something else entirely was written here by somebody who likes long words",
        "The quick brown fox jumps over the lazy dog near the old river bank, today!",
        "The quick brown fox jumps over the lazy dog near the new river bank today",
    ];

    // Without a method, pairs with a Jaccard similarity of at least 0.8 over three-word shingles are near-duplicates.
    let found = deduplicate(&Texts::of(&texts), &Config::default())?;
    for removal in &found.removals {
        let similarity =
            removal.closeness.and_then(simtool::stages::closeness::Closeness::similarity);
        println!("text {} repeats text {}: {similarity:?}", removal.row, removal.kept);
    }
    assert_eq!(found.kept().collect::<Vec<_>>(), [0, 1, 3]);

    // The last text differs in one word: at a lower threshold it is a near-duplicate, too.
    let method: Method = "exact:similarity=0.5".parse()?;
    let found = deduplicate(&Texts::of(&texts), &Config { method, ..Config::default() })?;
    assert_eq!(found.kept().collect::<Vec<_>>(), [0, 1]);
    Ok(())
}

#[test]
fn example_runs() {
    main().unwrap();
}
