//! The events that a reader passes to a visitor, and the functions that pass events on.

#[cfg(doc)]
use crate::documents::Corpus;
use simtool_base::error::Result;
use simtool_base::fault::Fault;
use simtool_model::document::Record;
use std::ops::ControlFlow;

/// An event that a visitor gets while a shard is read.
#[derive(Debug)]
pub enum Event<'a> {
    /// The next record.
    Record(Record<'a>),
    /// A part of the bytes of a record that is too long to be in memory as a whole. After all parts of the record, the
    /// record itself follows as an [`Event::Record`] whose bytes are empty.
    Piece(&'a [u8]),
    /// A problem of the file. The visitor has got all records before the fault.
    Fault(Fault),
    /// Progress: approximate number of bytes of the shard that were read so far, counted like [`Corpus::shard_bytes`].
    /// This event is sent from time to time, but not at the end of a shard. So a small shard sends no such event.
    Reached(u64),
}

/// Visitor of the events of a shard, in order. The visitor returns `Continue` to get more events.
/// `Break` ends the reading without an error, and an error ends the reading with that error. After
/// `Break` or an error, the visitor gets no more events.
pub type Visit<'v> = dyn FnMut(Event<'_>) -> Result<ControlFlow<()>> + 'v;

/// Control flow inside a reader. `Break` holds the result of the reading: `Ok` if the visitor
/// stopped the reading, otherwise the visitor's error.
pub(crate) type Flow<T = ()> = ControlFlow<Result<()>, T>;

/// Passes an event to the visitor, and converts the result of the visitor to a [`Flow`].
pub(crate) fn give(event: Event<'_>, visit: &mut Visit<'_>) -> Flow {
    // A reader ends at once with the result that its caller expects.
    match visit(event) {
        Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
        Ok(ControlFlow::Break(())) => ControlFlow::Break(Ok(())),
        Err(error) => ControlFlow::Break(Err(error)),
    }
}

/// Passes `fault`, the reason why a file is not read, to the visitor. Returns 0, the number of records that were read.
pub(crate) fn refuse(fault: Fault, visit: &mut Visit<'_>) -> Result<u64> {
    visit(Event::Fault(fault)).map(|_| 0)
}

/// Returns `bytes` × `part` / `whole`, rounded down. The result is at most `bytes`.
pub(crate) fn part_of(bytes: u64, part: u64, whole: u64) -> u64 {
    let share = u128::from(bytes) * u128::from(part.min(whole)) / u128::from(whole.max(1));
    // At most `bytes`, so the cast loses nothing.
    share as u64
}
