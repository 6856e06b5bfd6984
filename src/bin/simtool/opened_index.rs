//! Opens indexes for the subcommands of `simtool index`.

use crate::args::{ArrivalArgs, CommonArgs, MemoryArgs};
use crate::inputs;
use simtool::Error;
use simtool::index::{Arrival, Index, IndexAdder};
use simtool::run::OpenRequest;
use std::path::Path;
use std::time::SystemTime;

/// Returns a description of this process, which other processes show if they cannot write to the index
/// meanwhile.
pub(crate) fn holder(what: &str) -> String {
    format!("process {} (simtool index {what})", std::process::id())
}

/// Returns the request to open `index` for the command `index WHAT`, where `what` is for example `add`.
pub(crate) fn open_request(
    index: &Path,
    what: &str,
    common: &CommonArgs,
    memory: &MemoryArgs,
) -> Result<OpenRequest, Error> {
    let (index, resources) = (index.to_owned(), common.resources(memory)?);
    Ok(OpenRequest { index, resources, holder: holder(what) })
}

/// Opens an index to add documents to it, for the command `index WHAT`.
pub(crate) fn open_adder(
    index: &Path,
    what: &str,
    common: &CommonArgs,
    memory: &MemoryArgs,
) -> Result<IndexAdder, Error> {
    let access = inputs::access(common.running.no_mmap);
    open_request(index, what, common, memory)?.open_adder(access)
}

/// Opens an index to read it.
pub(crate) fn open(index: &Path, common: &CommonArgs, memory: &MemoryArgs) -> Result<Index, Error> {
    let access = inputs::access(common.running.no_mmap);
    Index::open(index, access, &common.resources(memory)?)
}

/// Returns the source and the time of documents that are added.
pub(crate) fn arrival(args: &ArrivalArgs) -> Arrival<'_> {
    let time = args.time.unwrap_or_else(|| SystemTime::now().into());
    Arrival { source: &args.source, time: time.seconds() }
}
