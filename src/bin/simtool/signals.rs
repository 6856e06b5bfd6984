//! A sentence where the system would kill the program.
//!
//! It does so where a mapped file shrinks while it is read, when the map is read beyond the new
//! end. The handler finds the map by the address and says which file it was; it may do next to
//! nothing else, so the sentence is made when the map is registered, and what is half written is
//! removed by the thread that waits for interruptions. It also does so where a file would grow
//! beyond the user's limit; ignored, the signal becomes an error of writing.

/// Registers the map of a file, for as long as the program runs.
#[cfg(unix)]
pub(crate) fn register_map(path: &std::path::Path, map: &[u8]) {
    unix::register(map, path);
}

/// Does nothing: other systems do not kill.
#[cfg(not(unix))]
pub(crate) fn register_map(_path: &std::path::Path, _map: &[u8]) {}

/// Makes a file that would be too large an error of writing.
pub(crate) fn ignore_file_size_limit() {
    #[cfg(unix)]
    unix::ignore_file_size_limit();
}

#[cfg(unix)]
mod unix {
    #![expect(unsafe_code, reason = "signal handlers are the operating system's")]

    use crate::interrupt;
    use std::path::Path;
    use std::ptr;
    use std::sync::Once;
    use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

    /// A map and what to say if it fails; never freed, so that the handler may always read it.
    struct Map {
        start: usize,
        end: usize,
        sentence: String,
        next: *const Map,
    }

    /// Whether a thread has met the end of a map; others meet it too.
    static HAS_TOLD: AtomicBool = AtomicBool::new(false);

    static MAPS: AtomicPtr<Map> = AtomicPtr::new(ptr::null_mut());

    pub(super) fn register(map: &[u8], path: &Path) {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        let start = map.as_ptr().addr();
        let sentence = format!(
            "simtool: error: {} shrank or failed while it was mapped; nothing was written; use \
             --no-mmap for files that change\n",
            path.display()
        );
        let node =
            Box::leak(Box::new(Map { start, end: start + map.len(), sentence, next: ptr::null() }));
        // Maps are registered by one thread.
        node.next = MAPS.load(Ordering::Acquire);
        MAPS.store(node, Ordering::Release);
    }

    pub(super) fn ignore_file_size_limit() {
        // SAFETY: no handler is involved.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }

    fn install() {
        // SAFETY: an all-zero `sigaction` is a valid value; its fields are set below.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        // SAFETY: the action is complete, and the handler calls async-signal-safe functions alone.
        unsafe { libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut()) };
    }

    extern "C" fn on_bus_error(
        _signal: libc::c_int,
        info: *mut libc::siginfo_t,
        _context: *mut libc::c_void,
    ) {
        // SAFETY: the system gives a valid `siginfo_t` to a SA_SIGINFO handler.
        let address = unsafe { (*info).si_addr() }.addr();
        let mut map: *const Map = MAPS.load(Ordering::Acquire);
        // SAFETY: the list's nodes are leaked, and complete before they are linked.
        while let Some(node) = unsafe { map.as_ref() } {
            if (node.start..node.end).contains(&address) {
                if HAS_TOLD.swap(true, Ordering::AcqRel) {
                    wait();
                }
                let sentence = node.sentence.as_bytes();
                // SAFETY: `write` is async-signal-safe, and the sentence is never freed.
                unsafe {
                    libc::write(libc::STDERR_FILENO, sentence.as_ptr().cast(), sentence.len())
                };
                if interrupt::will_end_failed() {
                    // SAFETY: both are async-signal-safe.
                    unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
                    wait();
                }
                // SAFETY: `_exit` is async-signal-safe.
                unsafe { libc::_exit(1) };
            }
            map = node.next;
        }
        // What is not about our maps happens again, and then by the default action.
        // SAFETY: `signal` is async-signal-safe.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    }

    /// Another thread ends the program.
    fn wait() -> ! {
        loop {
            // SAFETY: `pause` is async-signal-safe.
            unsafe { libc::pause() };
        }
    }
}
