//! A common interface to arrays in memory and to arrays in files. A part of a file is checked for damage when it is
//! read.

use bytemuck::Pod;
use simtool_base::large_buffer::LargeBuffer;
use simtool_kernels::prefetch;
use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

/// An array in memory or in a file, whose elements can be borrowed as slices.
///
/// If a part of the file is damaged, slices of this part are empty, and no error is reported. So before a result is
/// used, the code that opened the file must ask it whether damage was found.
pub trait LentArray<T>: Sync {
    /// Returns the number of elements.
    fn len(&self) -> usize;

    /// Returns whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the elements with the indices `range`. Returns an empty slice if the range is not inside the array, or
    /// if this part of the file is damaged.
    fn lend(&self, range: Range<usize>) -> &[T];

    /// Returns the element with index `at`, or `None` if there is no such element or it is damaged.
    #[inline]
    fn at(&self, at: usize) -> Option<T>
    where
        T: Copy,
    {
        self.lend(at..at + 1).first().copied()
    }

    /// Asks the processor to load the element with index `at` into its caches, because the element will be read soon.
    fn prefetch(&self, at: usize);
}

/// A kind of storage of arrays: memory or files. A type with several arrays takes this trait as a parameter, so that it
/// works with both kinds.
pub trait Arrays {
    /// The type of an array of elements `T` in this kind of storage.
    type Array<T: Pod + Sync + Debug>: LentArray<T> + Debug;
}

/// The kind of storage in which arrays are in memory.
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
