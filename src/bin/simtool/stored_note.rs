//! Note at the end of a run with `--shard`.

use simtool::run::StoredParts;
use simtool::stages::shell_word::shell_argument;
use std::path::Path;

/// Returns a note about the parts of the input that a run with `--shard` has stored. `output` is the path of the
/// results, which all shards share.
pub(crate) fn stored_note(stored: &StoredParts, output: &Path) -> String {
    let output = shell_argument(output.as_os_str());
    let next = if stored.stored == stored.pieces {
        format!("the results come with `simtool combine {output}`")
    } else {
        "the others come from other shards".to_owned()
    };
    format!("{}; {next}", stored.place())
}
