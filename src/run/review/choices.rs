//! Decisions that a person makes in a review, in the file that `simtool dedup --decisions` applies.

use crate::pipeline::{Decision, Decisions, OutputName, source_name};
use crate::write::whole_file::WholeFile;
use simtool_base::durable::Durability;
use simtool_base::error::Result;
use std::path::{Path, PathBuf};

/// Decisions that a file has, for example to keep a removed document.
#[derive(Debug)]
pub(super) struct Choices {
    path: PathBuf,
    /// Decisions in the order of the file, which is the order in which they are applied.
    decisions: Vec<Decision>,
}

impl Choices {
    /// Reads the decisions in the file at `path`. A file that does not exist has no decisions, and is created by the
    /// first one.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let decisions = if path.exists() {
            Decisions::read(path)?.iter().cloned().collect()
        } else {
            Vec::new()
        };
        Ok(Self { path: path.to_owned(), decisions })
    }

    pub(super) fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    /// Adds a decision. Removes earlier decisions about the same removed document or the same kept one, because the new
    /// decision would contradict them.
    pub(super) fn add(&mut self, decision: Decision) -> Result<()> {
        let before = self.decisions.clone();
        self.decisions.retain(|earlier| !contradicts(earlier, &decision));
        self.decisions.push(decision);
        self.write().inspect_err(|_| self.decisions = before)
    }

    /// Removes a decision, also from the file.
    pub(super) fn remove(&mut self, decision: &Decision) -> Result<()> {
        self.decisions.retain(|other| other != decision);
        self.write()
    }

    /// Returns the last decision that affects the row with these two documents: `removed` was removed, and `kept` is
    /// kept in its place. `None` if no decision affects the row.
    pub(super) fn about(&self, removed: &OutputName, kept: &OutputName) -> Option<&Decision> {
        let is_about = |decision: &&Decision| match decision {
            Decision::Keep(name) => name == removed,
            Decision::KeepCluster(name) | Decision::Swap { kept: name, .. } => name == kept,
            Decision::KeepSources { source, kept_source } => {
                *source == source_name(&removed.id, &removed.file)
                    && *kept_source == source_name(&kept.id, &kept.file)
            }
        };
        self.decisions.iter().rev().find(is_about)
    }

    fn write(&self) -> Result<()> {
        let mut file = WholeFile::create(&self.path, Durability::Fast)?;
        for decision in &self.decisions {
            file.write(decision.object().to_string().as_bytes())?;
            file.write(b"\n")?;
        }
        file.sync()?;
        file.finish()
    }
}

/// Returns whether the decision `later` takes the place of `earlier`, because both are about the same removed or the
/// same kept document.
fn contradicts(earlier: &Decision, later: &Decision) -> bool {
    // A cluster is swapped or kept as a whole, so the last of these decisions holds.
    let is_same = |one: Option<&OutputName>, other| one.is_some() && one == other;
    earlier == later
        || is_same(earlier.removed(), later.removed())
        || is_same(earlier.kept(), later.kept())
}
