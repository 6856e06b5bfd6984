//! Prints error messages where the system would otherwise kill the program without one.
//!
//! If a mapped file shrinks, the system sends a signal as soon as bytes beyond the new end are read. The
//! handler finds the map by the address and prints the name of the file. A signal handler may do little else.
//! So the message is prepared when the map is registered, and the thread that waits for interruptions removes
//! unfinished outputs.
//!
//! The system also sends a signal if a file grows beyond a size limit of the user. This signal is ignored, so that the
//! write fails with an error. A third signal is sent when the terminal is closed. If `nohup` made the program ignore
//! this signal, it stays ignored.

/// Registers the memory map of a file, so that the handler can name the file. It stays registered until the
/// program ends.
#[cfg(unix)]
pub(crate) fn register_map(path: &std::path::Path, map: &[u8]) {
    unix::register(map, path);
}

/// Does nothing, because this system sends no signal when a mapped file shrinks.
#[cfg(not(unix))]
pub(crate) fn register_map(_path: &std::path::Path, _map: &[u8]) {}

/// Ignores the signal for a file that grows beyond the size limit of the user. Then the write fails with an
/// error, and the program is not killed.
pub(crate) fn ignore_file_size_limit() {
    #[cfg(unix)]
    unix::ignore_file_size_limit();
}

/// If the address space of the process is limited, makes the program end with a message and exit code 1 when memory
/// cannot be allocated. Otherwise the program would abort.
pub(crate) fn report_lack_of_addresses() {
    #[cfg(unix)]
    if simtool::stages::resources::addressable_memory().is_some() {
        unix::report_lack_of_addresses();
    }
}

/// Runs `run`, which may change how this process reacts to signals, and then restores the earlier reactions. So if the
/// process continues after the call, as Python does, signals end it and its child processes as usual. The next call
/// begins with the reactions that this call had at its end.
#[cfg(unix)]
pub(crate) fn restored<T>(run: impl FnOnce() -> T) -> T {
    unix::restored(run)
}

/// Runs `run`. On this system, no actions of signals are changed, so there are none to restore.
#[cfg(not(unix))]
pub(crate) fn restored<T>(run: impl FnOnce() -> T) -> T {
    run()
}

/// Installs handlers of signals by `install`. If the signal for a closed terminal was ignored before, as `nohup`
/// does, it stays ignored.
#[cfg(unix)]
pub(crate) fn keep_ignored(install: impl FnOnce()) {
    unix::keep_ignored(install);
}

/// Installs handlers of signals by `install`. This system has no signal for a closed terminal.
#[cfg(not(unix))]
pub(crate) fn keep_ignored(install: impl FnOnce()) {
    install();
}

#[cfg(unix)]
mod unix {
    #![expect(unsafe_code, reason = "signal handlers are the operating system's")]

    use crate::interrupt;
    use std::path::Path;
    use std::ptr;
    use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
    use std::sync::{Mutex, Once, PoisonError};

    /// Address range of a memory map, and the message that is printed if reading it fails. The value is never
    /// freed, so that the signal handler can always read it.
    struct Map {
        start: usize,
        end: usize,
        sentence: String,
        next: *const Map,
    }

    /// Whether a thread has already printed the message about a memory map, so that other threads do not
    /// repeat it.
    static HAS_REPORTED: AtomicBool = AtomicBool::new(false);

    static MAPS: AtomicPtr<Map> = AtomicPtr::new(ptr::null_mut());

    pub(super) fn register(map: &[u8], path: &Path) {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            handle(libc::SIGBUS, on_bus_error as *const (), libc::SA_SIGINFO);
        });
        let start = map.as_ptr().addr();
        let sentence = format!(
            "simtool: error: {} shrank or failed while it was mapped; nothing was written; use \
             SIMTOOL_NO_MMAP=true for files that change\n",
            path.display()
        );
        let node =
            Box::leak(Box::new(Map { start, end: start + map.len(), sentence, next: ptr::null() }));
        // Only one thread registers maps, so no other node can be inserted in between.
        node.next = MAPS.load(Ordering::Acquire);
        MAPS.store(node, Ordering::Release);
    }

    /// The signals that a run handles or ignores.
    const CHANGED: [libc::c_int; 6] =
        [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGXFSZ, libc::SIGBUS, libc::SIGABRT];

    /// Action of each signal of [`CHANGED`].
    type Actions = [libc::sigaction; CHANGED.len()];

    pub(super) fn restored<T>(run: impl FnOnce() -> T) -> T {
        /// The actions at the end of the last call. The next call sets them again, because handlers are installed only
        /// once.
        static OURS: Mutex<Option<Actions>> = Mutex::new(None);
        let ours = || OURS.lock().unwrap_or_else(PoisonError::into_inner);
        let before = actions();
        if let Some(actions) = &*ours() {
            set(actions);
        }
        let result = run();
        *ours() = Some(actions());
        set(&before);
        result
    }

    fn actions() -> Actions {
        CHANGED.map(|signal| {
            // SAFETY: an all-zero `sigaction` is a valid value.
            let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: without a new action, the call only writes the present one.
            unsafe { libc::sigaction(signal, ptr::null(), &raw mut action) };
            action
        })
    }

    fn set(actions: &Actions) {
        for (signal, action) in CHANGED.into_iter().zip(actions) {
            // SAFETY: the action was in force before.
            unsafe { libc::sigaction(signal, action, ptr::null_mut()) };
        }
    }

    pub(super) fn ignore_file_size_limit() {
        // SAFETY: no handler is involved.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }

    pub(super) fn report_lack_of_addresses() {
        handle(libc::SIGABRT, on_abort as *const (), 0);
    }

    extern "C" fn on_abort(_signal: libc::c_int) {
        // The standard library has already named the number of bytes that could not be allocated.
        let sentence = b"simtool: error: the address space is used up; no output was written; raise its limit (`ulimit -v`), \
            or use fewer --threads and less --max-memory\n";
        // SAFETY: both are async-signal-safe.
        unsafe {
            libc::write(libc::STDERR_FILENO, sentence.as_ptr().cast(), sentence.len());
            libc::_exit(1);
        }
    }

    pub(super) fn keep_ignored(install: impl FnOnce()) {
        // SAFETY: an all-zero `sigaction` is a valid value.
        let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the action is only read.
        unsafe { libc::sigaction(libc::SIGHUP, ptr::null(), &raw mut before) };
        install();
        if before.sa_sigaction == libc::SIG_IGN {
            // SAFETY: no handler is involved.
            unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
        }
    }

    /// Installs a handler. The handler must have the form that `flags` ask for, and it may only call functions that are
    /// async-signal-safe.
    fn handle(signal: libc::c_int, handler: *const (), flags: libc::c_int) {
        // SAFETY: an all-zero `sigaction` is a valid value; its fields are set below.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handler as usize;
        action.sa_flags = flags;
        // SAFETY: the action is complete, and this module gives two handlers of the described form.
        unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) };
    }

    extern "C" fn on_bus_error(
        _signal: libc::c_int,
        info: *mut libc::siginfo_t,
        _context: *mut libc::c_void,
    ) {
        // SAFETY: the system gives a valid `siginfo_t` to a SA_SIGINFO handler.
        let address = unsafe { (*info).si_addr() }.addr();
        let mut map: *const Map = MAPS.load(Ordering::Acquire);
        // SAFETY: the nodes of the list are never freed, and they are complete before they are linked.
        while let Some(node) = unsafe { map.as_ref() } {
            if (node.start..node.end).contains(&address) {
                if HAS_REPORTED.swap(true, Ordering::AcqRel) {
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
        // The address is in none of the maps. When the handler returns, the instruction is repeated, and the
        // default action then ends the program.
        // SAFETY: `signal` is async-signal-safe.
        unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    }

    /// Waits until another thread ends the program.
    fn wait() -> ! {
        loop {
            // SAFETY: `pause` is async-signal-safe.
            unsafe { libc::pause() };
        }
    }
}
