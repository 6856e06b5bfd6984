//! The input of every method: fingerprints of one type, the maximum distance, and resources.

use crate::Rows;
use crate::layout::Layout;
use crate::pair_room::{PairRoom, if_pairs_fit};
use simtool_base::error::Result;
use simtool_base::progress::Share;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::fingerprint_table::{Fingerprint, Reach};
use simtool_model::validity::Validity;
use std::borrow::Cow;

/// The maximum distance of a join, the resources that it may use, and its fraction of a progress stage.
#[derive(Clone, Copy, Debug)]
pub struct JoinWork<'w> {
    /// The shape of the fingerprints, and the maximum distance of a pair.
    pub reach: Reach,
    /// Instruction set, memory and temporary folder.
    pub context: &'w Context<'w>,
    /// The fraction of the progress stage "joining" that this work makes up. It is reported when the
    /// work is done.
    pub share: Share<'w>,
    /// Records whether pairs do not fit in memory. Such pairs are left out. If it is `None`, all pairs are kept.
    pub(crate) room: Option<&'w PairRoom>,
}

impl<'w> JoinWork<'w> {
    /// Creates the work of a whole join without progress reports.
    #[must_use]
    pub fn new(reach: Reach, context: &'w Context<'w>) -> Self {
        Self { reach, context, share: Share::silent(), room: None }
    }

    /// Returns the instruction set of the vectorized loops.
    #[must_use]
    pub fn isa(&self) -> Isa {
        self.context.isa()
    }

    /// Calls `find` with the same work, but with limits of its own for the pairs: at most `most` pairs, which must fit
    /// in memory. `find` must leave out pairs beyond these limits. Returns `None` if pairs were left out.
    ///
    /// # Errors
    ///
    /// The errors of `find`.
    pub(crate) fn in_own_room<T>(
        self,
        most: u64,
        find: impl FnOnce(JoinWork<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        if_pairs_fit(self.context, most, |context, room| {
            let share = self.share.reported_to(context.progress());
            find(JoinWork { context, share, room: Some(room), ..self })
        })
    }

    /// Creates a layout, which is a list of bit masks, for `fingerprints` and the maximum distance of this work. Its
    /// masks distinguish the fingerprints about equally well.
    pub(super) fn layout<L: Fingerprint>(&self, fingerprints: &[L]) -> Layout {
        Layout::of_fingerprints(fingerprints, self.reach.shape, self.reach.max_distance)
    }
}

/// Fingerprints of one type: 1, 2, 4 or 8 words of 64 bits.
#[derive(Clone, Debug)]
pub struct FixedRows<'a, L: Fingerprint> {
    pub(super) fingerprints: Cow<'a, [L]>,
    validity: Option<&'a Validity>,
}

impl<'a, L: Fingerprint> FixedRows<'a, L> {
    /// Borrows the fingerprints if they have as many words as the type `L`. Otherwise copies them and
    /// appends words of 0, which change no distance.
    pub(super) fn of(rows: &'a FingerprintRows<'_>) -> Self {
        let words = rows.shape.words();
        let fingerprints = if words == L::WORDS {
            Cow::Borrowed(bytemuck::cast_slice(&rows.words))
        } else {
            rows.words.chunks_exact(words).map(L::from_words).collect()
        };
        Self { fingerprints, validity: rows.validity.as_ref() }
    }

    /// Creates rows that all have a fingerprint.
    pub(super) fn all(fingerprints: &'a [L]) -> Self {
        Self { fingerprints: Cow::Borrowed(fingerprints), validity: None }
    }

    /// Returns the fingerprints as [`Rows`], which also mark the rows that have a fingerprint.
    pub(super) fn rows(&self) -> Rows<'_, L> {
        Rows { fingerprints: &self.fingerprints, validity: self.validity }
    }

    /// Returns the fingerprints of the rows that have one, and the numbers of these rows. Instead of
    /// the numbers, returns `None` if all rows have a fingerprint.
    pub(super) fn valid(self) -> (Cow<'a, [L]>, Option<Vec<u32>>) {
        let Some(validity) = self.validity else { return (self.fingerprints, None) };
        let all = self.fingerprints.iter().copied().zip(0u32..);
        let (fingerprints, rows): (Vec<L>, _) =
            all.filter(|(_, row)| validity.has_value(*row as usize)).unzip();
        (fingerprints.into(), Some(rows))
    }
}
