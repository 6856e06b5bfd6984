//! Writes the results of methods on labelled collections: lines and JSON for programs, and a table, a page
//! and plots for people.
//!
//! All numbers come from an [`Evaluation`](simtool_model::evaluation::Evaluation). Only times differ from run
//! to run, and they are always the last field.

mod json;
mod lines;
mod overview;
mod page;
mod picture;
mod plots;
mod table;
#[cfg(test)]
mod tests;

pub use json::write_json;
pub use lines::write_lines;
pub use overview::overview;
pub use page::write_page;
pub use picture::PictureWriter;
pub use plots::{PlotFile, plot_files, plot_names};
pub use table::write_table;
