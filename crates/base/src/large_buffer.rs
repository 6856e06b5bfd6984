//! Memory for arrays of many megabytes.
//!
//! The first access to a page of memory causes a page fault. On a virtual machine, these faults take half a second or
//! more per gigabyte. So a large array has a separate memory map, for which pages of 2 MB are requested. Pages of the
//! map that are never accessed take no memory.

use crate::error::{Error, Result};
use crate::mapped_file::{AnonymousMap, give_back, map_temporary};
use crate::memory_ledger::{Ledger, Reservation};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::path::Path;

/// Smallest size in bytes of an array with a separate memory map. Smaller arrays get memory from the allocator.
const MAPPED_BYTES: usize = 64 << 10;

/// Smallest size in bytes of an array for which large pages are requested from the system. A large page is cleared as a
/// whole when it is first accessed. A virtual machine may also have to get the page from its host, which takes
/// milliseconds. So small pages are cheaper for smaller arrays.
const LARGE_PAGES_BYTES: usize = 8 << 20;

/// Number of bytes that must still be available after a large array was created. They are for small allocations. If a
/// small allocation failed, the program would end without a message about the array.
const LEFT_BYTES: usize = 8 << 20;

/// Array for many megabytes. All elements are zero at first.
#[derive(Debug)]
pub struct LargeBuffer<T> {
    memory: Memory,
    length: usize,
    element: PhantomData<T>,
    /// Reservation of the buffer's bytes in a memory ledger. `None` before [`LargeBuffer::entered_in`] is called.
    held: Option<Reservation>,
}

#[derive(Debug)]
enum Memory {
    Mapped(AnonymousMap),
    /// Memory whose pages are in a file.
    Spilled(memmap2::MmapMut),
    /// Memory from the allocator. It consists of units of 16 bytes, so that it is aligned for every element type.
    Allocated(Vec<u128>),
}

impl<T: Pod> LargeBuffer<T> {
    /// Creates a buffer of `length` zeros. The operating system provides each page of memory when the page is first
    /// accessed. The program ends if there is too little memory.
    #[must_use]
    pub fn zeroed(length: usize) -> Self {
        let memory = Memory::mapped(length * size_of::<T>());
        Self::over(memory.unwrap_or_else(|bytes| Memory::Allocated(vec![0; words(bytes)])), length)
    }

    /// Creates a buffer of `length` zeros. The operating system provides each page of memory when the page is first
    /// accessed. `what` describes the array in the error message.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub fn try_zeroed(length: usize, what: &'static str) -> Result<Self> {
        let bytes = length.checked_mul(size_of::<T>());
        let bytes = bytes.ok_or_else(|| Error::memory(what, u64::MAX))?;
        let memory = match Memory::mapped(bytes) {
            Ok(map) if bytes < LARGE_PAGES_BYTES => map,
            // A second, small map shows whether the memory limit of the process leaves room for
            // small allocations. The second map is given back at once.
            Ok(map) if AnonymousMap::new(LEFT_BYTES).is_ok() => map,
            Err(bytes) if bytes < LARGE_PAGES_BYTES => {
                Memory::Allocated(filled(0, words(bytes), what)?)
            }
            _ => return Err(Error::memory(what, bytes as u64)),
        };
        Ok(Self::over(memory, length))
    }

    /// Creates a buffer of `length` zeros in a temporary file in `folder`. The system writes pages of the buffer to
    /// this file when memory is scarce. The file is deleted when the buffer is dropped. A short buffer is in memory and
    /// needs no file. `what` describes the array in the error message.
    ///
    /// # Errors
    ///
    /// The file cannot be created or mapped, or there is too little memory.
    pub fn spilled(length: usize, folder: &Path, what: &'static str) -> Result<Self> {
        let bytes = length.checked_mul(size_of::<T>());
        let bytes = bytes.ok_or_else(|| Error::memory(what, u64::MAX))?;
        if bytes < MAPPED_BYTES {
            return Self::try_zeroed(length, what);
        }
        Ok(Self::over(Memory::Spilled(map_temporary(folder, bytes)?), length))
    }

    fn over(memory: Memory, length: usize) -> Self {
        // Both kinds of memory are aligned to at least 16 bytes, and the casts below would panic
        // for a type that needs more.
        const { assert!(align_of::<T>() <= align_of::<u128>()) };
        Self { memory, length, element: PhantomData, held: None }
    }

    /// Counts the bytes of the buffer as used in `ledger` until the buffer is dropped. A clone of
    /// the buffer is not counted.
    #[must_use]
    pub fn entered_in(self, ledger: &Ledger) -> Self {
        let bytes = (self.length * size_of::<T>()) as u64;
        Self { held: Some(ledger.hold(bytes)), ..self }
    }

    /// Removes all elements behind the first `length` ones. If they take many megabytes, Linux gets most of their
    /// memory back.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
        let bytes = self.length * size_of::<T>();
        match &mut self.memory {
            Memory::Mapped(map) => map.give_back(bytes),
            Memory::Spilled(map) => give_back(map, bytes),
            Memory::Allocated(_) => {}
        }
        if let Some(held) = &mut self.held {
            held.shrink_to(bytes as u64);
        }
    }

    /// Makes the buffer `length` elements long if it is shorter. The new elements are arbitrary. If the system can move
    /// pages, the other elements are not copied. `what` describes the array in the error message.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub fn lengthen(&mut self, length: usize, what: &'static str) -> Result<()> {
        let more = length.saturating_sub(self.length);
        if more == 0 {
            return Ok(());
        }
        let bytes = length.checked_mul(size_of::<T>());
        if !bytes.is_some_and(|bytes| self.memory.lengthen(bytes)) {
            let mut longer = Self::try_zeroed(length, what)?;
            longer[..self.length].copy_from_slice(self);
            self.memory = longer.memory;
        }
        self.length = length;
        if let Some(held) = &mut self.held {
            held.grow((more * size_of::<T>()) as u64);
        }
        Ok(())
    }

    /// Creates a buffer of `length` zeros. The operating system provides all pages at once, unless the buffer is long
    /// enough for large pages.
    ///
    /// This is for arrays that are read before they are written, such as hash tables. A page of such an array would
    /// otherwise cause two faults: at the first read and at the first write. The second fault interrupts every
    /// processor that runs a thread of the program. Large pages are so few that this does not matter.
    #[must_use]
    pub fn resident(length: usize) -> Self {
        let buffer = Self::zeroed(length);
        buffer.memory.populate();
        buffer
    }

    /// Creates a buffer like [`Self::resident`], but returns an error if there is too little memory. `what` describes
    /// the array in the error message.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub fn try_resident(length: usize, what: &'static str) -> Result<Self> {
        let buffer = Self::try_zeroed(length, what)?;
        buffer.memory.populate();
        Ok(buffer)
    }
}

impl<T: Pod> Clone for LargeBuffer<T> {
    fn clone(&self) -> Self {
        let mut buffer = Self::zeroed(self.length);
        buffer.copy_from_slice(self);
        buffer
    }
}

impl Memory {
    /// Creates a memory map of `bytes` zero bytes. Returns `bytes` as the error if it is too small for a map, or if the
    /// system refuses the map.
    fn mapped(bytes: usize) -> Result<Self, usize> {
        if bytes < MAPPED_BYTES {
            return Err(bytes);
        }
        let map = AnonymousMap::new(bytes).map_err(|_| bytes)?;
        request_large_pages(&map);
        Ok(Self::Mapped(map))
    }

    /// Makes a memory map `bytes` long, without copying it. Returns whether that was possible.
    fn lengthen(&mut self, bytes: usize) -> bool {
        let Self::Mapped(map) = self else { return false };
        let is_longer = map.lengthen(bytes);
        request_large_pages(map);
        is_longer
    }

    /// Makes the operating system provide all pages of a memory map at once. Does nothing if the map has large pages,
    /// or if the memory is not a map.
    fn populate(&self) {
        #[cfg(target_os = "linux")]
        if let Self::Mapped(map) = self
            && map.len() < LARGE_PAGES_BYTES
        {
            // Linux kernels before 5.14 do not know this hint.
            map.advise(memmap2::Advice::PopulateWrite);
        }
    }
}

/// Requests large pages for a map if it is long enough. Small pages work, too, but more slowly.
fn request_large_pages(map: &AnonymousMap) {
    #[cfg(target_os = "linux")]
    if map.len() >= LARGE_PAGES_BYTES {
        map.advise(memmap2::Advice::HugePage);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = map;
}

/// Returns the number of units of 16 bytes that are needed for `bytes` bytes.
fn words(bytes: usize) -> usize {
    bytes.div_ceil(size_of::<u128>())
}

/// Creates an empty vector with a capacity of `capacity` elements. `what` describes the vector in the error message.
///
/// # Errors
///
/// There is too little memory.
pub fn reserved<T>(capacity: usize, what: &'static str) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    reserve(&mut elements, capacity, what)?;
    Ok(elements)
}

/// Creates a vector of `length` elements that all equal `value`. `what` describes the vector in the error message.
///
/// # Errors
///
/// There is too little memory.
pub fn filled<T: Clone>(value: T, length: usize, what: &'static str) -> Result<Vec<T>> {
    let mut elements = reserved(length, what)?;
    elements.resize(length, value);
    Ok(elements)
}

/// Makes room for `more` additional elements. If the capacity is too small, it grows to at least twice the old
/// capacity, so that a growing vector is rarely moved. `what` describes the vector in the error message.
///
/// # Errors
///
/// There is too little memory.
pub fn reserve<T>(elements: &mut Vec<T>, more: usize, what: &'static str) -> Result<()> {
    let reserved = elements.try_reserve(more);
    let length = elements.len().saturating_add(more) as u64;
    reserved.map_err(|_| Error::memory(what, length.saturating_mul(size_of::<T>() as u64)))
}

/// Smallest capacity in bytes of a vector whose memory the allocator maps separately and returns to the system as soon
/// as it is freed. For smaller vectors, the allocator of Linux keeps up to 64 MiB of freed memory for every thread.
const RETURNED_BYTES: usize = 33 << 20;

/// Makes room for `more` additional elements of a vector that is needed only for a moment, such as the terms of a long
/// text. Its memory returns to the system when [`release`] frees it. Unused capacity takes no memory.
pub fn reserve_for_now<T>(elements: &mut Vec<T>, more: usize) {
    let least = RETURNED_BYTES / size_of::<T>().max(1);
    elements.reserve_exact(more.max(least.saturating_sub(elements.len())));
}

/// Frees the memory of a vector if its capacity is more than `bytes` bytes, and removes its elements. Otherwise does
/// nothing, because the vector will be filled again.
pub fn release<T>(elements: &mut Vec<T>, bytes: usize) {
    if elements.capacity().saturating_mul(size_of::<T>()) > bytes {
        *elements = Vec::new();
    }
}

impl<T: Pod> Deref for LargeBuffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        let bytes: &[u8] = match &self.memory {
            Memory::Mapped(map) => map,
            Memory::Spilled(map) => map,
            Memory::Allocated(words) => bytemuck::cast_slice(words),
        };
        bytemuck::cast_slice(&bytes[..self.length * size_of::<T>()])
    }
}

impl<T: Pod> AsRef<[T]> for LargeBuffer<T> {
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: Pod> DerefMut for LargeBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        let bytes: &mut [u8] = match &mut self.memory {
            Memory::Mapped(map) => map,
            Memory::Spilled(map) => map,
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
                assert_eq!(*buffer.clone(), *buffer);
            }
        }
    }

    #[test]
    fn truncated_buffers_keep_their_first_elements() {
        for (length, left) in [(0, 0), (5, 9), (7, 3), (1 << 20, 1 << 19), (3 << 20, 5)] {
            let ledger = Ledger::new(0);
            let mut buffer = LargeBuffer::<u64>::zeroed(length).entered_in(&ledger);
            for (place, element) in (1..).zip(&mut *buffer) {
                *element = place;
            }
            buffer.truncate(left);
            let left = left.min(length);
            assert!(buffer.iter().copied().eq(1..=left as u64));
            assert_eq!(ledger.used(), 8 * left as u64);
        }
    }

    #[test]
    fn lengthened_buffers_keep_their_elements() {
        let folder = tempfile::tempdir().unwrap();
        for (length, longer) in [(0, 5), (5, 9), (7, 1 << 14), (1 << 14, 3 << 20), (3 << 20, 4)] {
            let spilled = LargeBuffer::spilled(length, folder.path(), "numbers").unwrap();
            for mut buffer in [LargeBuffer::<u64>::zeroed(length), spilled] {
                let ledger = Ledger::new(0);
                buffer = buffer.entered_in(&ledger);
                for (place, element) in (1..).zip(&mut *buffer) {
                    *element = place;
                }
                buffer.lengthen(longer, "numbers").unwrap();
                let longer = longer.max(length);
                assert!(buffer.len() == longer && ledger.used() == 8 * longer as u64);
                assert!(buffer[..length].iter().copied().eq(1..=length as u64));
                buffer[length..].fill(7);
                let error = buffer.lengthen(1 << 57, "numbers").unwrap_err().to_string();
                assert!(error.contains("for numbers") && buffer.len() == longer, "{error}");
            }
        }
    }

    #[test]
    fn spilled_buffers_are_files_without_names() {
        let folder = tempfile::tempdir().unwrap();
        for length in [0, 7, 1 << 19] {
            let mut buffer = LargeBuffer::<u32>::spilled(length, folder.path(), "numbers").unwrap();
            assert!(buffer.len() == length && buffer.iter().all(|&number| number == 0));
            buffer.fill(7);
            assert_eq!(buffer.iter().map(|&number| number as usize).sum::<usize>(), 7 * length);
            assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        }
        let gone = folder.path().join("gone");
        let error = LargeBuffer::<u32>::spilled(1 << 19, &gone, "numbers").unwrap_err().to_string();
        assert!(error.contains("write a temporary file in"), "{error}");
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        let small = LargeBuffer::<u64>::try_zeroed(3, "numbers").unwrap();
        let large = LargeBuffer::<u64>::try_resident(1 << 17, "numbers").unwrap();
        assert!(small.iter().chain(&*large).all(|&number| number == 0));
        assert_eq!((small.len(), large.len()), (3, 1 << 17));
        let message = |error: Error| error.to_string();
        // The first length needs more bytes than any address space has. The second length needs
        // more bytes than 64 bits can count.
        for length in [1 << 57, usize::MAX / 4] {
            let error = message(LargeBuffer::<u64>::try_zeroed(length, "the numbers").unwrap_err());
            assert!(error.starts_with("cannot have ") && error.contains("the numbers"), "{error}");
        }
        let error = message(reserved::<u64>(1 << 58, "the rows").unwrap_err());
        assert!(error.starts_with("cannot have 2305843009213693952 bytes"), "{error}");
        assert!(error.contains("for the rows") && error.contains("`max_memory`"), "{error}");
        let mut numbers = vec![1_u8];
        reserve(&mut numbers, 100, "numbers").unwrap();
        assert!(numbers.capacity() > 100);
    }

    #[test]
    fn only_large_vectors_are_released() {
        let mut numbers = vec![1_u64; 10];
        release(&mut numbers, 1000);
        assert_eq!(numbers.len(), 10);
        reserve_for_now(&mut numbers, 5);
        assert!(numbers.capacity() * 8 >= RETURNED_BYTES && numbers.len() == 10);
        release(&mut numbers, 1000);
        assert_eq!(numbers.capacity(), 0);
    }
}
