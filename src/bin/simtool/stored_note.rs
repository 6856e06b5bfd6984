//! Note at the end of a run with `--shard`.

use simtool::quantity::counted;
use simtool::run::StoredParts;
use simtool::shell_word::shell_word;
use std::path::Path;

/// Returns a note about the parts that a run with `--shard` has stored. `output` is the output of all shards.
pub(crate) fn stored_note(stored: &StoredParts, output: &Path) -> String {
    let StoredParts { folder, pieces, stored } = stored;
    let output = shell_word(&output.to_string_lossy());
    let next = if stored == pieces {
        format!("the results come with `simtool combine {output}`")
    } else {
        "the others come from other shards".to_owned()
    };
    format!(
        "{stored} of {} of the input are in {}; {next}",
        counted(*pieces, "piece"),
        folder.display()
    )
}
