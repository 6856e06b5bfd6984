//! Warm workers allocate no memory for each document.
#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]

use simtool::pipeline::config::MatchConfig;
use simtool::pipeline::match_queries;
use simtool::stages::fingerprint::hash_table::HashTable;
use simtool::stages::kernels::Isa;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Number of allocations of this thread. Other tests run at the same time in other threads.
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which counts allocations.
struct Counting;

// SAFETY: every call goes to the system's allocator with the caller's arguments; a thread-local
// `Cell` without a destructor needs no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the promises that the system's allocator requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Returns the number of allocations of a run over `documents` equal documents, in this thread
/// alone.
fn allocations(documents: usize) -> usize {
    let corpus = "1-1\r\nsome words of a document, a_few of them twice: words\r\n\x0c\r\n";
    let corpus = corpus.repeat(documents).into_bytes();
    let config = MatchConfig {
        stop_words: vec![b"of".to_vec()],
        hash_table: HashTable::built_in(100, 64).unwrap(),
        max_distance: 3,
        threads: 1,
        isa: Isa::detected(),
    };
    let before = ALLOCATIONS.get();
    let matched = match_queries(&corpus, b"S\nnone of these", &config).unwrap();
    let after = ALLOCATIONS.get();
    assert_eq!(matched.documents, documents);
    after - before
}

#[test]
fn nothing_is_allocated_per_document() {
    let (few, many) = (allocations(1_000), allocations(20_000));
    // Each task and each growing list allocates memory a few times, but that is once for hundreds of documents.
    assert!(many < few + 200, "{few} allocations for 1,000 documents, {many} for 20,000");
    assert!(few > 0);
}
