//! Arguments that choose the documents to read, and how to read them.

use super::MemoryArgs;
use super::given::{Given, ReadingRows};
use simtool::Error;
use simtool::options::Options;
use simtool::run::InputSettings;

/// Options for reading documents. Each command has its own arguments for paths.
pub(crate) type InputArgs = Given<ReadingRows>;

impl InputArgs {
    /// Returns the settings for reading documents. `memory` limits the length of a record.
    pub(crate) fn settings(&self, memory: &MemoryArgs) -> Result<InputSettings, Error> {
        let mut options = Options::new();
        self.set(&mut options);
        memory.set(&mut options);
        InputSettings::parse(&mut options)
    }
}
