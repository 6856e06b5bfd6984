//! The help text of the similarity measures, made from their table.

use simtool::similarity::{JACCARD, MEASURES};
use std::fmt::Write as _;

/// Returns the long help text of `--similarity`, with a line for each similarity measure.
pub(super) fn similarity_help() -> String {
    let mut help =
        "Minimum similarity of near-duplicates, as a decimal or a ratio such as 4/5 [default: 0.8, \
        or 0.9 with minhash by cosine].\n\n\
        With exact, a measure may precede the number, for example cosine:0.8:\n"
            .to_owned();
    for measure in MEASURES {
        let default = if **measure == JACCARD { " (default)" } else { "" };
        // Writing to a string cannot fail.
        let _ = writeln!(help, "  {:<12} {}{default}", measure.name, measure.definition);
    }
    help.push_str("\nWith minhash, --measure names the measure that the distances estimate.");
    help
}
