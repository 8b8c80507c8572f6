//! Counts the steps of certificates, so that tests can compare them with the declared cost of a plan.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Records this number of steps; does nothing outside tests.
#[inline]
pub(crate) fn done(_steps: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + _steps as u64);
}

/// Returns a result together with the number of steps that this thread took for it.
#[cfg(test)]
pub(crate) fn counted<T>(run: impl FnOnce() -> T) -> (T, u64) {
    let before = STEPS.get();
    let result = run();
    (result, STEPS.get() - before)
}
