//! What the door hands on to the methods behind it: rows as lanes of one width, and the work.

use crate::Rows;
use crate::layout::Layout;
use crate::planner::{IndexName, Plan};
use crate::spilled_join::SpilledGroups;
use simtool_base::error::{Error, Result};
use simtool_base::progress::Share;
use simtool_compute::resources::Resources;
use simtool_model::fingerprint_rows::{FingerprintRows, Metric};
use simtool_model::fingerprint_table::{Lane, Reach};
use simtool_model::validity::Validity;
use std::borrow::Cow;

/// Rows have numbers of 32 bits, of which one says "none".
pub(super) fn check_count(what: &str, rows: &FingerprintRows<'_>) -> Result<()> {
    if u32::try_from(rows.len()).is_ok_and(|rows| rows < u32::MAX) {
        return Ok(());
    }
    let what = format!("{} {what}", rows.len());
    Err(Error::limit(what, format!("a join takes fewer than {}: join them in parts", u32::MAX)))
}

/// What is to be done with rows, however wide they are.
#[derive(Clone, Copy)]
pub(super) struct Work<'w> {
    pub(super) index: IndexName,
    pub(super) reach: Reach,
    pub(super) resources: &'w Resources,
    /// All of it, of which someone takes note.
    pub(super) share: Share<'w>,
}

impl<'w> Work<'w> {
    pub(super) fn of(
        rows: &FingerprintRows<'_>,
        plan: &Plan,
        resources: &'w Resources,
    ) -> Result<Self> {
        check_count("fingerprints", rows)?;
        let reach = Reach { shape: rows.shape, max_distance: plan.workload.max_distance };
        let work = Self { index: plan.index, reach, resources, share: Share::untold() };
        match rows.shape.metric() {
            metric if work.index.counts(metric) => Ok(work),
            Metric::Votes { .. } => work.refused("rows of lanes that vote"),
            Metric::Lanes { .. } | Metric::Cosine { .. } | Metric::Bits => {
                work.refused("rows that are compared lane by lane")
            }
        }
    }

    /// How many lanes must be near, where rows are joined lane by lane.
    pub(super) fn votes(&self) -> Option<u32> {
        match self.reach.shape.metric() {
            Metric::Votes { needed } if self.index != IndexName::LinearScan => Some(needed),
            _ => None,
        }
    }

    /// The layout by which these lanes are looked up.
    pub(super) fn layout<L: Lane>(&self, lanes: &[L]) -> Layout {
        Layout::of_lanes(lanes, self.reach.shape, self.reach.max_distance)
    }

    pub(super) fn spilled<L: Lane>(&self, rows: Rows<'_, L>) -> Result<SpilledGroups<L>> {
        SpilledGroups::new(rows, self.resources.memory, &self.resources.temporary_folder)
    }

    /// That the method does not serve the door that it was brought to.
    pub(super) fn refused<T>(&self, task: &str) -> Result<T> {
        Err(Error::config("index", self.index, format!("is no method for {task}")))
    }
}

/// Rows as lanes of one width.
pub(super) struct LaneRows<'a, L: Lane> {
    pub(super) lanes: Cow<'a, [L]>,
    validity: Option<&'a Validity>,
}

impl<'a, L: Lane> LaneRows<'a, L> {
    /// Lent where the rows have as many words as a lane, else copied, with words of 0 at the end.
    pub(super) fn of(rows: &'a FingerprintRows<'_>) -> Self {
        let words = rows.shape.words();
        let lanes = if words == L::WORDS {
            Cow::Borrowed(bytemuck::cast_slice(&rows.words))
        } else {
            rows.words.chunks_exact(words).map(L::from_words).collect()
        };
        Self { lanes, validity: rows.validity.as_ref() }
    }

    /// Rows that all have a fingerprint.
    pub(super) fn all(lanes: &'a [L]) -> Self {
        Self { lanes: Cow::Borrowed(lanes), validity: None }
    }

    pub(super) fn rows(&self) -> Rows<'_, L> {
        Rows { lanes: &self.lanes, validity: self.validity }
    }

    /// The rows that have a fingerprint, and their numbers where there are others.
    pub(super) fn valid(self) -> (Cow<'a, [L]>, Option<Vec<u32>>) {
        let Some(validity) = self.validity else { return (self.lanes, None) };
        let all = self.lanes.iter().copied().zip(0u32..);
        let (lanes, rows): (Vec<L>, _) =
            all.filter(|(_, row)| validity.has_value(*row as usize)).unzip();
        (lanes.into(), Some(rows))
    }
}
