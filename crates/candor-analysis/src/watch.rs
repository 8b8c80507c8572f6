//! Long work, watched: whoever waits for it is told how far it is, and may end it.
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! use candor_analysis::watch::{Step, Watch};
//!
//! let seen = AtomicU64::new(0);
//! let goes_on = |step: &Step| {
//!     seen.store(step.done, Ordering::Relaxed);
//!     step.done < 3
//! };
//! let watch = Watch::new(&goes_on);
//! assert!((1..=9).try_for_each(|done| watch.tell(Step::of("records", done, Some(9)))).is_err());
//! assert_eq!(seen.into_inner(), 3);
//! ```

/// How far long work is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Step {
    /// What is counted, such as "records".
    pub what: &'static str,
    /// How many are done.
    pub done: u64,
    /// How many there are, if that is known.
    pub total: Option<u64>,
    /// For a search: how good what it has found is so far.
    pub best: Option<f64>,
}

impl Step {
    /// So many done.
    pub fn of(what: &'static str, done: u64, total: Option<u64>) -> Step {
        Step { what, done, total, best: None }
    }

    /// The same, with how good what was found is so far.
    #[must_use]
    pub fn with_best(self, best: f64) -> Step {
        Step { best: Some(best), ..self }
    }
}

/// Somebody who waits for long work. It is asked at every step, from any thread, whether the work shall go on; nobody watches by default.
#[derive(Clone, Copy, Default)]
pub struct Watch<'a>(Option<&'a (dyn Fn(&Step) -> bool + Sync)>);

/// Whoever waited for the work ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before it was done")]
pub struct Cancelled;

impl<'a> Watch<'a> {
    /// Nobody waits: the work goes on to its end.
    pub const fn nobody() -> Watch<'a> {
        Watch(None)
    }

    /// `goes_on` is told every step, and says whether there shall be another.
    pub fn new(goes_on: &'a (dyn Fn(&Step) -> bool + Sync)) -> Watch<'a> {
        Watch(Some(goes_on))
    }

    /// Tells a step.
    ///
    /// # Errors
    /// If it shall be the last.
    pub fn tell(&self, step: Step) -> Result<(), Cancelled> {
        match self.0.is_none_or(|goes_on| goes_on(&step)) {
            true => Ok(()),
            false => Err(Cancelled),
        }
    }
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Watch(somebody)" } else { "Watch(nobody)" })
    }
}
