//! What rows of fingerprints are called in lines: by the IDs of their documents, or their numbers.

use crate::write::pair_table::push_number;
use crate::write::tsv_field::write_field;
use simtool_base::error::Result;
use simtool_fingerprint::file::{FoundIds, RowIds};

/// The IDs of the rows on both sides of pairs, where these have any.
pub type SideIds<'i, 'a> = [Option<&'i RowIds<'a>>; 2];

/// The names of rows on both sides of pairs.
pub(super) struct RowNames<'i>([Option<&'i FoundIds<'i>>; 2]);

impl<'i> RowNames<'i> {
    /// The IDs, found if they were not before; numbers where there are none.
    pub(super) fn of(ids: SideIds<'i, '_>) -> Result<Self> {
        let found = |ids: Option<&'i RowIds<'_>>| -> Result<Option<&'i FoundIds<'i>>> {
            Ok(match ids {
                Some(ids) => Some(ids.found()?),
                None => None,
            })
        };
        Ok(Self([found(ids[0])?, found(ids[1])?]))
    }

    /// What stands between the rows of a group: an ID may hold blanks.
    pub(super) fn between(&self, side: usize) -> u8 {
        if self.0[side].is_some() { b'\t' } else { b' ' }
    }

    /// Appends the name of a row of a side.
    pub(super) fn push(&self, side: usize, row: u32, out: &mut Vec<u8>) {
        match self.0[side].and_then(|ids| ids.id(row)) {
            // Writing to memory does not fail.
            Some(id) => drop(write_field(out, &id)),
            None => push_number(row, out),
        }
    }

    /// Appends the names of a pair's rows and the distance as a line with tabs.
    pub(super) fn push_pair(&self, [a, b]: [u32; 2], distance: u32, out: &mut Vec<u8>) {
        self.push(0, a, out);
        out.push(b'\t');
        self.push(1, b, out);
        out.push(b'\t');
        push_number(distance, out);
        out.push(b'\n');
    }
}
