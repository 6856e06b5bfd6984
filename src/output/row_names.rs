//! Names of fingerprints in lines of text: the IDs of their documents, or the numbers of their rows.

use crate::write::pair_table::push_number;
use crate::write::tsv_field::write_field;
use simtool_base::error::Result;
use simtool_fingerprint::file::{FoundIds, RowIds};

/// IDs of the first fingerprints (`a`) and of the second fingerprints (`b`) of pairs. `None` if the file of
/// fingerprints stores no IDs.
pub type SideIds<'i, 'a> = [Option<&'i RowIds<'a>>; 2];

/// Names of the first fingerprints (`a`) and of the second fingerprints (`b`) of pairs. `None` means that row
/// numbers are the names.
pub(super) struct RowNames<'i>([Option<&'i FoundIds<'i>>; 2]);

impl<'i> RowNames<'i> {
    /// Creates the names of the first and the second fingerprints of pairs. Reads the IDs from the files, unless the
    /// IDs were read before.
    ///
    /// # Errors
    ///
    /// The IDs of a file cannot be read.
    pub(super) fn from_ids([first, second]: SideIds<'i, '_>) -> Result<Self> {
        let first = first.map(RowIds::found).transpose()?;
        let second = second.map(RowIds::found).transpose()?;
        Ok(Self([first, second]))
    }

    /// Returns the byte that separates names in a line that lists a group of equal fingerprints. `side` is 0 for the
    /// first fingerprints (`a`) of pairs and 1 for the second (`b`).
    pub(super) fn separator(&self, side: usize) -> u8 {
        // IDs may contain blanks, so a blank could not separate them.
        if self.0[side].is_some() { b'\t' } else { b' ' }
    }

    /// Appends the name of the fingerprint `row` to `out`. `side` is 0 for the first fingerprints (`a`) of
    /// pairs and 1 for the second (`b`).
    pub(super) fn push(&self, side: usize, row: u32, out: &mut Vec<u8>) {
        match self.0[side].and_then(|ids| ids.id(row)) {
            // Writing to memory does not fail.
            Some(id) => drop(write_field(out, &id)),
            None => push_number(row, out),
        }
    }

    /// Appends a line about a pair to `out`: the names of both fingerprints and their distance, separated by
    /// tabs.
    pub(super) fn push_pair(&self, [a, b]: [u32; 2], distance: u32, out: &mut Vec<u8>) {
        self.push(0, a, out);
        out.push(b'\t');
        self.push(1, b, out);
        out.push(b'\t');
        push_number(distance, out);
        out.push(b'\n');
    }
}
