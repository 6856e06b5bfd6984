//! The benchmark job in an index of simtool, in its state right after the last commit.

use crate::{Contender, Near, Result};
use simtool::index::{Added, Arrival, Index, IndexAdder};
use simtool::stages::durable::{Disk, Durability};
use simtool::stages::fingerprint_rows::{FingerprintRows, RowsBuilder, Shape};
use simtool::stages::mapped_file::FileAccess;
use simtool::stages::resources::Resources;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// An index: an adder, and after the last commit a reader.
pub(crate) struct SimtoolIndex {
    folder: PathBuf,
    adder: IndexAdder,
    index: Option<Index>,
}

fn access() -> FileAccess {
    // SAFETY: nobody else knows the folder.
    unsafe { FileAccess::map(|_, _| ()) }
}

pub(crate) fn create(folder: &Path) -> Result<SimtoolIndex> {
    let folder = folder.join("index");
    let disk = || Disk::new(Durability::Synced);
    IndexAdder::create(&folder, "simhash".parse()?, disk(), "a bench")?;
    let adder = IndexAdder::open(&folder, access(), disk(), "a bench", &Resources::default())?;
    Ok(SimtoolIndex { folder, adder, index: None })
}

fn rows(fingerprints: &[u64]) -> FingerprintRows<'static> {
    let mut rows = RowsBuilder::new(Shape::bits(64));
    fingerprints.iter().for_each(|&fingerprint| rows.push(Some(&[fingerprint])));
    rows.finish()
}

impl Contender for SimtoolIndex {
    fn add(&mut self, fingerprints: &[u64], id: impl Fn(usize) -> [u8; 16]) -> Result<usize> {
        let id = |row: usize| Cow::Owned(id(row).to_vec());
        let arrival = Arrival { source: "bench", time: 1 };
        let added = self.adder.add(&rows(fingerprints), id, arrival)?;
        self.adder.commit()?;
        Ok(added.iter().filter(|added| matches!(added, Added::New(_))).count())
    }

    fn settle(&mut self) -> Result<()> {
        let resources = Resources { threads: 1, ..Resources::default() };
        self.index = Some(Index::open(&self.folder, access(), &resources)?);
        Ok(())
    }

    fn near(&self, queries: &[u64]) -> Result<Vec<Option<Near>>> {
        let index = self.index.as_ref().ok_or("it is asked before it has settled")?;
        let nearest = index.near(&rows(queries), true)?.into_iter();
        Ok(nearest.map(|near| Some((near.first()?.distance, near.first()?.number))).collect())
    }
}
