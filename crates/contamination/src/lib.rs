//! Finds the items of an evaluation set that documents contain, exactly.
//!
//! An item is a text of the evaluation set, for example a question with its answer. A model that was trained with
//! a document that contains the item has seen it, so the item is *contaminated*.
//!
//! A *window* is a sequence of n consecutive words of an item. A document contains a window if the same words follow
//! each other in it. An item with fewer than n words has one window, which is the whole item. A document contains an
//! item if the windows that it contains have at least a given [share](Measure) of the item. These windows must be near
//! each other: in a *region* of the document with three times as many words as the item. Otherwise, a document of a
//! million words would contain every item that is made of common phrases.
//!
//! The items are in memory, and each document is looked at once:
//!
//! 1. The windows of the document are hashed, and a filter rules out nearly all windows that are in no item
//!    (`window_table`). The words of the remaining windows are compared with the items.
//! 2. Items that the document may contain are found by their rarest windows (`probes`).
//! 3. The share of each of these items is computed, for the whole document and then for its regions (`regions`).
//!
//! Words are 64-bit hashes, and two words are equal if their hashes are equal. Apart from this, the search misses no
//! item and finds no item wrongly. The result does not depend on threads or on the instruction set.
//!
//! ```
//! use simtool_compute::context::Context;
//! use simtool_contamination::{ContaminationSearch, Items, SearchBuffers};
//!
//! let words = |text: &str| text.bytes().map(u64::from).collect::<Vec<_>>();
//! let mut items = Items::default();
//! items.push(&words("evaluation"))?;
//! items.push(&words("contamination"))?;
//!
//! let context = Context::default();
//! let search = ContaminationSearch::new(4, &context)?;
//! let index = search.index(search.windows(items)?, None)?;
//! let found = index.find(&words("the valuation of"), &mut SearchBuffers::default());
//! let [item] = &found[..] else { panic!("there is one item") };
//! assert_eq!((item.item, item.share(), item.words()), (0, 0.9, 9));
//! assert_eq!([&item.item_spans[0], &item.spans[0]], [&(1..10), &(4..13)]);
//! # Ok::<(), simtool_base::error::Error>(())
//! ```

mod document_hits;
mod found;
mod item_windows;
mod items;
mod measure;
mod probes;
mod regions;
mod search;
#[cfg(test)]
mod tests;
mod units;
mod window_filter;
mod window_table;

pub use document_hits::DocumentHits;
pub use found::FoundItem;
pub use item_windows::{DocumentCounts, ItemWindows};
pub use items::Items;
pub use measure::Measure;
pub use search::{ContaminationSearch, ItemIndex, SearchBuffers};
