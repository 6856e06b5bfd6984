//! Arrays that lend slices of themselves: arrays in memory, and arrays in files that are checked
//! when they are read.

use bytemuck::Pod;
use simtool_base::large_buffer::LargeBuffer;
use simtool_kernels::prefetch;
use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

/// Array that lends slices of itself.
///
/// An array in a file may find that a part is damaged. It then lends an empty slice. The owner must
/// check for damage before it uses a result.
pub trait LentArray<T>: Sync {
    /// Returns the number of elements.
    fn len(&self) -> usize;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the elements of `range`, or an empty slice if the range is not inside the array or
    /// damaged.
    fn lend(&self, range: Range<usize>) -> &[T];

    /// Returns the element at `at`, if there is one.
    #[inline]
    fn at(&self, at: usize) -> Option<T>
    where
        T: Copy,
    {
        self.lend(at..at + 1).first().copied()
    }

    /// Prefetches the memory of an element that will be needed soon.
    fn prefetch(&self, at: usize);
}

/// Storage of several arrays that belong together: in memory or in files.
pub trait Arrays {
    /// Array with elements of type `T`.
    type Array<T: Pod + Sync + Debug>: LentArray<T> + Debug;
}

/// Storage in memory.
#[derive(Debug)]
pub struct InMemory;

impl Arrays for InMemory {
    type Array<T: Pod + Sync + Debug> = LargeBuffer<T>;
}

/// Implements [`LentArray`] for types that dereference to slices.
macro_rules! as_slice {
    ($($array:ty $(, $bound:ident)?);+) => {$(
        impl<T: Sync $(+ $bound)?> LentArray<T> for $array {
            #[inline]
            fn len(&self) -> usize {
                <[T]>::len(self)
            }

            #[inline]
            fn lend(&self, range: Range<usize>) -> &[T] {
                self.get(range).unwrap_or_default()
            }

            #[inline]
            fn prefetch(&self, at: usize) {
                prefetch(self, at);
            }
        }
    )+};
}

as_slice!(&[T]; Vec<T>; Cow<'_, [T]>, Clone; LargeBuffer<T>, Pod);
