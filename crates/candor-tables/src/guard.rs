//! Panics of the libraries that read and convert tables, which damaged files provoke, become errors.

use std::cell::Cell;

thread_local! {
    /// Whether this thread is inside [`guarded`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread will be caught and told as an error; for a panic hook.
pub fn panic_is_guarded() -> bool {
    GUARDED.get()
}

/// Runs a reader or a conversion of Arrow or Parquet, which panic on some damaged files; `None` if it did.
pub(crate) fn guarded<T>(run: impl FnOnce() -> T) -> Option<T> {
    let before = GUARDED.replace(true);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    GUARDED.set(before);
    result.ok()
}
