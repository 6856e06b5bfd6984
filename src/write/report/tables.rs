//! Tables that scroll by themselves if they are wider than the window.

use super::escape::Line;
use simtool_base::quantity::percent;
use std::io::{self, Write};

/// Begins a table. It can be scrolled with the keyboard, too.
pub(super) fn begin_table(out: &mut dyn Write, name: &str, head: &str) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">\
         <table><thead><tr>{head}</tr></thead><tbody>"
    )
}

/// Ends a table.
pub(super) fn end_table(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"</tbody></table></div>\n")
}

/// Returns a share in percent, escaped: small shares are shown as `< 0.1 %`.
pub(super) fn share(part: u64, whole: u64) -> String {
    Line(percent(part, whole).as_bytes()).to_string()
}

/// Returns a table cell with a bar whose width is the share.
pub(super) fn bar(part: u64, whole: u64) -> String {
    // Counts from damaged files can be huge, so the product is computed with 128 bits.
    let percent = (u128::from(part) * 100 / u128::from(whole.max(1))).min(100);
    format!("<td class=\"share\"><i style=\"width:{percent}%\"></i></td>")
}
