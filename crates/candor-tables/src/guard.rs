//! Converts panics of libraries on damaged files into errors.

use std::cell::Cell;

thread_local! {
    /// Whether this thread is inside [`guarded`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a panic of this thread will be caught and reported as an error; for a panic hook.
pub fn panic_is_guarded() -> bool {
    GUARDED.get()
}

/// Runs a reader or a conversion of Arrow or Parquet; `None` if it panics, as some damaged files make it.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> Option<T> {
    let before = GUARDED.replace(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    GUARDED.set(before);
    result.ok()
}
