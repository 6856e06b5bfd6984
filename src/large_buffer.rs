//! Memory for arrays of many megabytes.
//!
//! The first touch of a page costs a fault, and on a virtual machine that is half a second and
//! more a gigabyte. A large array is therefore mapped on its own and asks for pages of 2 MB, and
//! one that was made larger than it turned out to be costs nothing for what was never touched.

use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Bytes from which an array is mapped on its own.
const MAPPED_BYTES: usize = 64 << 10;

/// Bytes from which an array asks for large pages. A large page is cleared as a whole at its first
/// touch, and a virtual machine may have to fetch it from its host first, which takes milliseconds:
/// for less, small pages are cheaper.
const LARGE_PAGES_BYTES: usize = 8 << 20;

/// A fixed number of zeroed elements.
#[derive(Debug)]
pub struct LargeBuffer<T> {
    memory: Memory,
    length: usize,
    element: PhantomData<T>,
}

#[derive(Debug)]
enum Memory {
    Mapped(memmap2::MmapMut),
    /// In words of 16 bytes, which aligns every lane.
    Allocated(Vec<u128>),
}

impl<T: Pod> LargeBuffer<T> {
    /// `length` zeros. Memory is taken when it is first touched.
    #[must_use]
    pub fn zeroed(length: usize) -> Self {
        const { assert!(align_of::<T>() <= align_of::<u128>()) };
        let bytes = length * size_of::<T>();
        let map = (bytes >= MAPPED_BYTES).then(|| memmap2::MmapMut::map_anon(bytes));
        let memory = match map {
            Some(Ok(map)) => {
                // Only a hint: small pages serve as well, more slowly.
                #[cfg(target_os = "linux")]
                if bytes >= LARGE_PAGES_BYTES {
                    drop(map.advise(memmap2::Advice::HugePage));
                }
                Memory::Mapped(map)
            }
            _ => Memory::Allocated(vec![0; bytes.div_ceil(size_of::<u128>())]),
        };
        Self { memory, length, element: PhantomData }
    }

    /// `length` zeros, with their memory taken at once unless it comes in large pages.
    ///
    /// For arrays that are read before they are written, as hash tables are: there a page would
    /// fault twice, and the second time interrupt every processor that runs a thread of ours. Large
    /// pages are too few for that to count.
    #[must_use]
    pub fn resident(length: usize) -> Self {
        let buffer = Self::zeroed(length);
        #[cfg(target_os = "linux")]
        if let Memory::Mapped(map) = &buffer.memory
            && map.len() < LARGE_PAGES_BYTES
        {
            // Only a hint: kernels before 5.14 do not know it.
            drop(map.advise(memmap2::Advice::PopulateWrite));
        }
        buffer
    }
}

impl<T: Pod> Deref for LargeBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let bytes: &[u8] = match &self.memory {
            Memory::Mapped(map) => map,
            Memory::Allocated(words) => bytemuck::cast_slice(words),
        };
        bytemuck::cast_slice(&bytes[..self.length * size_of::<T>()])
    }
}

impl<T: Pod> DerefMut for LargeBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let bytes: &mut [u8] = match &mut self.memory {
            Memory::Mapped(map) => map,
            Memory::Allocated(words) => bytemuck::cast_slice_mut(words),
        };
        bytemuck::cast_slice_mut(&mut bytes[..self.length * size_of::<T>()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_buffers_are_zeroed_and_writable() {
        let lengths = [0, 1, 7, 1 << 12, 1 << 20];
        let zeroed = lengths.map(LargeBuffer::<[u64; 4]>::zeroed);
        let resident = lengths.map(LargeBuffer::resident);
        for (mut buffer, length) in zeroed.into_iter().chain(resident).zip(lengths.repeat(2)) {
            assert_eq!(buffer.len(), length);
            assert!(buffer.iter().all(|element| *element == [0; 4]));
            if let Some(last) = buffer.last_mut() {
                *last = [1, 2, 3, 4];
                assert_eq!(buffer[length - 1], [1, 2, 3, 4]);
            }
        }
    }
}
