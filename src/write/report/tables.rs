//! Writes tables that scroll on their own if they are wider than the window.

use super::escape::EscapedLine;
use simtool_base::quantity::percent;
use std::io::{self, Write};

/// Writes the start of a table. `name` describes the table for screen readers, and `head` is the HTML of the
/// cells of its heading. The table can also be scrolled with the keyboard.
pub(super) fn begin_table(out: &mut dyn Write, name: &str, head: &str) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">\
         <table><thead><tr>{head}</tr></thead><tbody>"
    )
}

/// Writes the end of a table.
pub(super) fn end_table(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"</tbody></table></div>\n")
}

/// Returns the share `part / whole` in percent as HTML. A very small share is shown as `< 0.1 %`.
pub(super) fn share(part: u64, whole: u64) -> String {
    EscapedLine(percent(part, whole).as_bytes()).to_string()
}

/// Returns an HTML table cell with a bar whose width is the share `part / whole`.
pub(super) fn bar(part: u64, whole: u64) -> String {
    // Counts from damaged files can be huge, so the product is computed with 128 bits.
    let percent = (u128::from(part) * 100 / u128::from(whole.max(1))).min(100);
    format!("<td class=\"share\"><i style=\"width:{percent}%\"></i></td>")
}
