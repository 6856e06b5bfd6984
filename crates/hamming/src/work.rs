//! The input of every method: rows as lanes of one width, and the limits of the work.

use crate::Rows;
use crate::layout::Layout;
use simtool_base::progress::Share;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::fingerprint_table::{Lane, Reach};
use simtool_model::validity::Validity;
use std::borrow::Cow;

/// The distance of a join, and all that its work may use.
#[derive(Clone, Copy, Debug)]
pub struct Work<'w> {
    /// The shape of the rows, and the largest distance of a pair.
    pub reach: Reach,
    /// Instruction set, memory and temporary folder.
    pub context: &'w Context<'w>,
    /// The share of the stage "joining" that the work is, for its progress.
    pub share: Share<'w>,
}

impl<'w> Work<'w> {
    /// Creates the work of a whole join, whose progress nobody reads.
    #[must_use]
    pub fn new(reach: Reach, context: &'w Context<'w>) -> Self {
        Self { reach, context, share: Share::untold() }
    }

    /// The instruction set of the hot loops.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.context.isa()
    }

    /// The layout whose masks distinguish these lanes equally well.
    pub(super) fn layout<L: Lane>(&self, lanes: &[L]) -> Layout {
        Layout::of_lanes(lanes, self.reach.shape, self.reach.max_distance)
    }
}

/// Rows as lanes of one width.
#[derive(Debug)]
pub struct LaneRows<'a, L: Lane> {
    pub(super) lanes: Cow<'a, [L]>,
    validity: Option<&'a Validity>,
}

impl<'a, L: Lane> LaneRows<'a, L> {
    /// Borrows the rows if they have as many words as a lane. Otherwise copies them and appends words of
    /// 0, which change no distance.
    pub(super) fn of(rows: &'a FingerprintRows<'_>) -> Self {
        let words = rows.shape.words();
        let lanes = if words == L::WORDS {
            Cow::Borrowed(bytemuck::cast_slice(&rows.words))
        } else {
            rows.words.chunks_exact(words).map(L::from_words).collect()
        };
        Self { lanes, validity: rows.validity.as_ref() }
    }

    /// Borrows rows that all have a fingerprint.
    pub(super) fn all(lanes: &'a [L]) -> Self {
        Self { lanes: Cow::Borrowed(lanes), validity: None }
    }

    /// The lanes, and which of them are rows with a fingerprint.
    pub(super) fn rows(&self) -> Rows<'_, L> {
        Rows { lanes: &self.lanes, validity: self.validity }
    }

    /// Returns the rows that have a fingerprint, and their numbers unless all rows have one.
    pub(super) fn valid(self) -> (Cow<'a, [L]>, Option<Vec<u32>>) {
        let Some(validity) = self.validity else { return (self.lanes, None) };
        let all = self.lanes.iter().copied().zip(0u32..);
        let (lanes, rows): (Vec<L>, _) =
            all.filter(|(_, row)| validity.has_value(*row as usize)).unzip();
        (lanes.into(), Some(rows))
    }
}
