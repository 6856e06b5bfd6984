//! Divides the bytes of a file into records, and passes them to a visitor as events.

mod event;
mod record_memory;
mod split_job;
mod splitter;
pub(crate) mod stray_bytes;
mod window;

pub use event::{Event, Visit};
pub(crate) use event::{Flow, give, part_of, refuse};
pub(crate) use record_memory::RecordMemory;
pub(crate) use split_job::{SplitBytes, SplitJob};
pub(crate) use splitter::{AfterLoss, SplitStep, Splitter};
pub(crate) use window::read_slice;
