//! A common interface to arrays in memory and to arrays in files. Parts of files are checked for damage
//! when they are read.

use bytemuck::Pod;
use simtool_base::large_buffer::LargeBuffer;
use simtool_kernels::prefetch;
use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

/// An array in memory or in a file, whose elements can be borrowed as slices.
///
/// If a part of the file is damaged, slices of this part are empty, and no error is reported. So the
/// code that opened the file must check it for damage before a result is used.
pub trait LentArray<T>: Sync {
    /// Returns the number of elements.
    fn len(&self) -> usize;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the elements of `range`. Returns an empty slice if the range is not inside the
    /// array, or if that part of the file is damaged.
    fn lend(&self, range: Range<usize>) -> &[T];

    /// Returns the element with index `at`, or `None` if there is none or it is damaged.
    #[inline]
    fn at(&self, at: usize) -> Option<T>
    where
        T: Copy,
    {
        self.lend(at..at + 1).first().copied()
    }

    /// Asks the processor to load element `at` into its caches, because it will be read soon.
    fn prefetch(&self, at: usize);
}

/// The place where arrays are stored: in memory or in files. A type with several arrays has a parameter
/// of this trait, so that it works with both.
pub trait Arrays {
    /// The type of an array with elements of type `T` that is stored in this place.
    type Array<T: Pod + Sync + Debug>: LentArray<T> + Debug;
}

/// Storage of arrays in memory, as opposed to files.
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
