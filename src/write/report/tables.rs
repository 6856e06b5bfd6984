//! Tables that are moved by themselves where they are wider than the window.

use super::escape::Line;
use simtool_base::quantity::percent;
use std::io::{self, Write};

/// Begins a table, which a keyboard moves too.
pub(super) fn begin_table(out: &mut dyn Write, name: &str, head: &str) -> io::Result<()> {
    writeln!(
        out,
        "<div class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"{name}\">\
         <table><thead><tr>{head}</tr></thead><tbody>"
    )
}

/// Ends it.
pub(super) fn end_table(out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"</tbody></table></div>\n")
}

/// A share in percent, which may be less than what is shown.
pub(super) fn share(part: u64, whole: u64) -> String {
    Line(percent(part, whole).as_bytes()).to_string()
}

/// A share as the width of a bar.
pub(super) fn bar(part: u64, whole: u64) -> String {
    let percent = (u128::from(part) * 100 / u128::from(whole.max(1))).min(100);
    format!("<td class=\"share\"><i style=\"width:{percent}%\"></i></td>")
}
