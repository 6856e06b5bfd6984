//! Arrays that lend parts of themselves: memory, and files that are checked where they are read.

use crate::kernels::prefetch;
use crate::large_buffer::LargeBuffer;
use bytemuck::Pod;
use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

/// An array that lends parts of itself.
///
/// One that stands in a file may find that a part is damaged. It lends nothing then, and whoever made
/// it is to ask whether that happened before an answer is believed.
pub trait LentArray<T>: Sync {
    /// Number of elements.
    fn len(&self) -> usize;

    /// Whether there are no elements.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// These elements; none if they are not all there, or damaged.
    fn lend(&self, range: Range<usize>) -> &[T];

    /// The element at `at`, where there is one.
    #[inline]
    fn at(&self, at: usize) -> Option<T>
    where
        T: Copy,
    {
        self.lend(at..at + 1).first().copied()
    }

    /// Asks for the memory of an element that will be lent soon.
    fn prefetch(&self, at: usize);
}

/// Where arrays of several types stand that belong together.
pub trait Arrays {
    /// An array of these elements.
    type Array<T: Pod + Sync + Debug>: LentArray<T> + Debug;
}

/// Arrays in memory of their own.
#[derive(Debug)]
pub struct InMemory;

impl Arrays for InMemory {
    type Array<T: Pod + Sync + Debug> = LargeBuffer<T>;
}

/// Lends what a slice lends.
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
