//! Counts what certificates do, so that tests can hold them to the cost that a plan's numbers declare.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Notes that many steps; nothing outside tests.
#[inline]
pub(crate) fn done(_steps: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + _steps as u64);
}

/// The steps of this thread while something ran.
#[cfg(test)]
pub(crate) fn counted<T>(run: impl FnOnce() -> T) -> (T, u64) {
    let before = STEPS.get();
    let result = run();
    (result, STEPS.get() - before)
}
