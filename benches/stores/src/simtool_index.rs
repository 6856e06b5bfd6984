//! The job in an index of simtool, as it is right after the last commit.

use crate::{Contender, Near, Result, rows};
use simtool::durable::{Disk, Durability};
use simtool::fingerprint_rows::FingerprintRows;
use simtool::mapped_file::FileAccess;
use simtool::pipeline::index::{Added, Arrival, Index, IndexAdder};
use simtool::resources::Resources;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// An index: an adder, and behind the last commit one that is asked.
pub(crate) struct SimtoolIndex {
    folder: PathBuf,
    adder: IndexAdder,
    index: Option<Index>,
}

fn access() -> FileAccess {
    // SAFETY: nobody else knows the folder.
    unsafe { FileAccess::map(|_, _| ()) }
}

impl SimtoolIndex {
    pub(crate) fn create(folder: &Path) -> Result<Self> {
        let folder = folder.join("index");
        let disk = || Disk::new(Durability::Synced);
        IndexAdder::create(&folder, "simhash".parse()?, disk(), "a bench")?;
        let adder = IndexAdder::open(&folder, access(), disk(), "a bench", Resources::default())?;
        Ok(Self { folder, adder, index: None })
    }
}

impl Contender for SimtoolIndex {
    fn add(&mut self, fingerprints: &[u64], id: impl Fn(usize) -> [u8; 16]) -> Result<usize> {
        let id = |row: usize| Cow::Owned(id(row).to_vec());
        let arrival = Arrival { source: "bench", time: 1 };
        let added = self.adder.add(&rows(fingerprints.iter().copied()), id, arrival)?;
        self.adder.commit()?;
        Ok(added.iter().filter(|added| matches!(added, Added::New(_))).count())
    }

    fn settle(&mut self) -> Result<()> {
        let resources = Resources { threads: 1, ..Resources::default() };
        self.index = Some(Index::open(&self.folder, access(), resources)?);
        Ok(())
    }

    fn near(&self, queries: &FingerprintRows<'_>) -> Result<Vec<Option<Near>>> {
        let index = self.index.as_ref().ok_or("it is asked before it has settled")?;
        let nearest = index.near(queries, true)?;
        Ok(nearest
            .iter()
            .map(|near| near.first().map(|near| (near.distance, near.number)))
            .collect())
    }
}
