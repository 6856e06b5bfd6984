//! Setting of the allocator, so that the program keeps to a memory limit.
#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "the allocator of glibc has no safe interface")
)]

/// Makes the allocator give each large block back to the system when the block is freed.
///
/// Without this setting, glibc keeps freed blocks of up to 32 MB for later use once blocks of this size have been
/// freed. Then the peak memory of a run depends on what the process did before, for example on the estimate of its
/// cost.
pub(crate) fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        /// Number of bytes from which a block is large. Smaller blocks are soon used again. If they were given back, a
        /// page fault for each of their pages would take longer than their use.
        const LARGE: libc::c_int = 1 << 20;
        // SAFETY: `mallopt` takes two numbers and changes only the allocator, which locks itself.
        unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
    }
}
