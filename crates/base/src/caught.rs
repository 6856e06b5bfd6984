//! Catches panics of libraries that read damaged input.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work`, which calls a library, and turns a panic into a message with the reason of the panic.
///
/// # Errors
///
/// Fails if `work` panics.
///
/// ```
/// use simtool_base::caught::caught;
///
/// assert_eq!(caught(|| 2), Ok(2));
/// let reason = caught(|| -> u8 { panic!("no page {}", 7) }).unwrap_err();
/// assert_eq!(reason, "the decoder gave up: no page 7");
/// ```
pub fn caught<R>(work: impl FnOnce() -> R) -> Result<R, String> {
    // What a panic may leave half changed belongs to the library and is dropped.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let message = panic.downcast_ref::<String>().map(String::as_str);
        let message = message.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("the decoder gave up: {}", message.unwrap_or("without a reason"))
    })
}
