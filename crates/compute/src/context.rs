//! The context of a computation: threads, processor, memory, temporary files and progress.

use crate::resources::Resources;
use crate::threads::Threads;
use simtool_base::error::{ErrorKind, Result};
use simtool_base::memory_ledger::Ledger;
use simtool_base::memory_turns::MemoryTurns;
use simtool_base::progress::{NoProgress, Progress};
use simtool_kernels::Isa;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The resources of a computation: threads, instruction set, memory, temporary folder and the receiver of progress.
/// None of them changes the result. A run of the program creates one context and passes it to all computations.
///
/// A clone is cheap and shares the threads and the memory limit with the original.
///
/// ```
/// use simtool_compute::resources::Resources;
/// use simtool_compute::context::Context;
/// use simtool_base::progress::NoProgress;
///
/// let resources = Resources { threads: 2, ..Resources::default() };
/// let context = Context::new(&resources, &NoProgress)?;
/// assert_eq!(context.threads().count(), 2);
/// context.check_cancelled()?;
/// # Ok::<(), simtool_base::error::Error>(())
/// ```
#[derive(Clone)]
pub struct Context<'p> {
    threads: Threads,
    isa: Isa,
    memory: Ledger,
    turns: MemoryTurns,
    temporary_folder: Arc<Path>,
    progress: &'p dyn Progress,
}

impl<'p> Context<'p> {
    /// Creates the context of a run of the program from `resources`, and starts its threads. `progress` receives the
    /// progress.
    ///
    /// # Errors
    ///
    /// The system cannot start the threads.
    pub fn new(resources: &Resources, progress: &'p dyn Progress) -> Result<Self> {
        let threads = Threads::new(resources.threads)?;
        Ok(Self::of_threads(threads, resources, progress))
    }

    /// Creates a context whose work always runs on a pool of threads, even if `resources` allows only one thread. Use
    /// it for work that arrives again and again. Without a pool, each piece of work would start a thread.
    ///
    /// # Errors
    ///
    /// The system cannot start the threads.
    pub fn with_pool(resources: &Resources, progress: &'p dyn Progress) -> Result<Self> {
        let threads = Threads::started(resources.threads)?;
        Ok(Self::of_threads(threads, resources, progress))
    }

    /// Creates a context that uses the running threads `threads`, and starts no new ones. `resources.threads` is
    /// ignored.
    #[must_use]
    pub fn of_threads(threads: Threads, resources: &Resources, progress: &'p dyn Progress) -> Self {
        let turns = MemoryTurns::new(resources.memory, threads.count());
        Self {
            threads,
            isa: resources.isa,
            memory: Ledger::new(resources.memory),
            turns,
            temporary_folder: Arc::from(resources.temporary_folder.as_path()),
            progress,
        }
    }

    /// Returns the threads that the computation may use.
    #[must_use]
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// Returns the instruction set of the processor, such as AVX2, that the hot loops use.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Returns the ledger that counts the bytes of large buffers against the memory limit.
    #[must_use]
    pub fn memory(&self) -> &Ledger {
        &self.memory
    }

    /// Returns the turns in which threads use much memory. A thread that needs more than its small share waits until no
    /// other thread has the turn.
    #[must_use]
    pub fn turns(&self) -> &MemoryTurns {
        &self.turns
    }

    /// Returns the folder for temporary files.
    #[must_use]
    pub fn temporary_folder(&self) -> &Path {
        &self.temporary_folder
    }

    /// Returns the receiver of progress. Each stage of a computation reports to it.
    #[must_use]
    pub fn progress(&self) -> &'p dyn Progress {
        self.progress
    }

    /// Returns an error if the user has cancelled the work. Every loop over shards, batches or rows calls this function
    /// every few milliseconds.
    ///
    /// # Errors
    ///
    /// The user wants the work to stop ([`ErrorKind::Cancelled`]).
    pub fn check_cancelled(&self) -> Result<()> {
        if self.progress.is_cancelled() {
            return Err(ErrorKind::Cancelled.into());
        }
        Ok(())
    }

    /// Returns the same context, but with `progress` as the receiver of progress. For example, `progress` can measure
    /// the time of each stage.
    #[must_use]
    pub fn with_progress<'q>(&self, progress: &'q dyn Progress) -> Context<'q> {
        Context {
            threads: self.threads.clone(),
            isa: self.isa,
            memory: self.memory.clone(),
            turns: self.turns.clone(),
            temporary_folder: Arc::clone(&self.temporary_folder),
            progress,
        }
    }

    /// Returns a context for one of many small parts of a computation. The part runs on the thread that calls it and
    /// reports no progress. Its memory limit of `memory` bytes is separate from the limit of this context.
    #[must_use]
    pub fn for_part(&self, memory: u64) -> Context<'static> {
        // Parts already run on all threads, so threads of their own would only compete with these.
        let alone = Context { threads: Threads::CALLER, ..self.with_progress(&NoProgress) };
        alone.with_memory(memory)
    }

    /// Returns the same context, but with the threads of the context `other`.
    #[must_use]
    pub fn with_threads_of(&self, other: &Context<'_>) -> Self {
        Self { threads: other.threads.clone(), ..self.clone() }
    }

    /// Returns the same context, but with a separate memory limit of `memory` bytes.
    #[must_use]
    pub fn with_memory(&self, memory: u64) -> Self {
        Self { memory: Ledger::new(memory), ..self.clone() }
    }

    /// Returns the same context, but with `turns` as the turns in which threads use much memory. Pass the turns of the
    /// readers of the input, so that only one thread at a time, in readers and computation, uses more than its share.
    #[must_use]
    pub fn with_turns(&self, turns: &MemoryTurns) -> Self {
        Self { turns: turns.clone(), ..self.clone() }
    }

    /// Returns the same context, but with another instruction set for the hot loops, for example a lower one for a
    /// test.
    #[must_use]
    pub fn with_isa(&self, isa: Isa) -> Self {
        Self { isa, ..self.clone() }
    }
}

impl Default for Context<'static> {
    /// Creates a context that uses only the thread of the caller and has no memory limit. It uses the
    /// best instruction set of the processor and the temporary folder of the system. It reports no
    /// progress.
    fn default() -> Self {
        let temporary_folder: PathBuf = std::env::temp_dir();
        Self {
            threads: Threads::CALLER,
            isa: Isa::detected(),
            memory: Ledger::new(u64::MAX),
            turns: MemoryTurns::unlimited(),
            temporary_folder: temporary_folder.into(),
            progress: &NoProgress,
        }
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("threads", &self.threads.count())
            .field("isa", &self.isa)
            .field("memory", &self.memory)
            .field("turns", &self.turns)
            .field("temporary_folder", &self.temporary_folder)
            .finish_non_exhaustive()
    }
}
