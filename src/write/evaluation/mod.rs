//! What methods reach on labelled collections: for programs as lines, for people as a table, a page
//! and plots.
//!
//! All numbers come from an [`Evaluation`](crate::evaluation::Evaluation). Times, which stand last
//! where they stand at all, are the only ones that differ from run to run.

mod json;
mod lines;
mod page;
mod plots;
mod table;
#[cfg(test)]
mod tests;

pub use json::write_json;
pub use lines::write_lines;
pub use page::write_page;
pub use plots::{PlotFile, plot_files, plot_names};
pub use table::write_table;
