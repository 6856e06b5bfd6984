//! The probes of items, which are some of their windows. A document that contains enough of an item has at least one
//! probe of the item.

use crate::item_windows::ItemWindows;
use crate::units::Units;
use simtool_base::error::Result;
use simtool_base::large_buffer;
use std::cmp::Reverse;

/// Description of the probes. Out-of-memory messages contain it.
const PROBES: &str = "the probes of items";

/// For each window, the items that have it as a probe. An item is searched in a document only if the document has one
/// of its probes.
///
/// A document with enough of an item may lack most windows of the item, and the most common windows are also in many
/// other documents. So the most common windows are left out, as long as all windows that are left out cover less than
/// the weight that the document must have. The other windows are the probes. A document without a probe does not have
/// this weight.
#[derive(Debug)]
pub(crate) struct Probes {
    /// For each window, the index in `items` at which the list of its items begins. The last element is the length of
    /// `items`.
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Probes {
    /// Chooses the probes of all items. `commonness` has a number for each window, which is larger if more documents
    /// have the window. It affects only the speed. `needed` returns the weight of the units of an item that a document
    /// must have.
    ///
    /// # Errors
    /// Not enough memory.
    pub(crate) fn new(
        windows: &ItemWindows,
        units: &Units,
        commonness: &[u32],
        needed: impl Fn(u32) -> u64,
    ) -> Result<Self> {
        let mut probes: Vec<(u32, u32)> = Vec::new();
        let mut choice = Choice::default();
        for item in 0..windows.items().len() {
            choice.leave_out(windows, units, item, needed(item), commonness);
            large_buffer::reserve(&mut probes, choice.probes.len(), PROBES)?;
            probes.extend(choice.probes.iter().map(|&window| (window, item)));
        }
        // A window that an item has twice is listed once.
        probes.sort_unstable();
        probes.dedup();
        let mut starts = large_buffer::filled(0, windows.count() + 1, PROBES)?;
        for (window, _) in &probes {
            starts[*window as usize + 1] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Ok(Self { starts, items: probes.into_iter().map(|(_, item)| item).collect() })
    }

    /// Returns the numbers of the items that have window number `window` as a probe, in ascending order.
    pub(crate) fn of_window(&self, window: u32) -> &[u32] {
        let window = window as usize;
        &self.items[self.starts[window] as usize..self.starts[window + 1] as usize]
    }
}

/// Buffers for the choice of the probes of an item.
#[derive(Debug, Default)]
struct Choice {
    /// Positions of the windows of the item, the most common ones first.
    order: Vec<usize>,
    /// For each unit of the item, whether a window that is left out covers it.
    is_covered: Vec<bool>,
    /// Numbers of the windows that are not left out.
    probes: Vec<u32>,
}

impl Choice {
    /// Sets `probes` to the probes of item number `item`. `needed` is the weight of its units that a document must
    /// have.
    fn leave_out(
        &mut self,
        windows: &ItemWindows,
        units: &Units,
        item: u32,
        needed: u64,
        commonness: &[u32],
    ) {
        let numbers = windows.of_item(item);
        let (width, weights) = (units.width(windows, item), units.of_item(windows, item));
        self.probes.clear();
        self.order.clear();
        self.order.extend(0..numbers.len());
        // Neighbors of equal commonness follow each other, because together they cover the fewest units.
        self.order.sort_by_key(|&position| Reverse(commonness[numbers[position] as usize]));
        self.is_covered.clear();
        self.is_covered.resize(weights.len(), false);
        let mut covered = 0;
        for &position in &self.order {
            let units = position..position + width;
            let new = units.clone().filter(|&unit| !self.is_covered[unit]);
            let more: u64 = new.map(|unit| weights.get(unit)).sum();
            // A window that covers no other units is always left out.
            if covered + more < needed {
                covered += more;
                self.is_covered[units].fill(true);
            } else {
                self.probes.push(numbers[position]);
            }
        }
    }
}
