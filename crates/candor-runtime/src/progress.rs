//! Progress and cancellation of long work: a callback receives each step and decides whether to continue.
//!
//! ```
//! use std::sync::atomic::{AtomicU64, Ordering};
//!
//! use candor_runtime::progress::{Progress, ProgressSink};
//!
//! let seen = AtomicU64::new(0);
//! let goes_on = |step: &Progress| {
//!     seen.store(step.done, Ordering::Relaxed);
//!     step.done < 3
//! };
//! let progress = ProgressSink::new(&goes_on);
//! assert!((1..=9).try_for_each(|done| progress.report(Progress::new("records", done, Some(9)))).is_err());
//! assert_eq!(seen.into_inner(), 3);
//! ```
//!
//! A search has a result at every step. It checks a [`Deadline`], and returns its best result when it has to stop:
//!
//! ```
//! use candor_runtime::progress::{Deadline, ProgressSink, Stopped};
//!
//! assert_eq!(Deadline::start(None, ProgressSink::none()).check(Some(("gap", 0.1))), None);
//! assert_eq!(Deadline::start(Some(0.0), ProgressSink::none()).check(None), Some(Stopped::OutOfTime));
//! let ends = ProgressSink::new(&|step| !step.is_search);
//! assert_eq!(Deadline::start(None, ends).check(None), Some(Stopped::Interrupted));
//! ```

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The state of long work.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The unit that is counted, such as "records".
    pub what: &'static str,
    /// Number of units done.
    pub done: u64,
    /// Total number of units, if known.
    pub total: Option<u64>,
    /// For a search: the name and value of its quality measure so far, such as "gap".
    pub best: Option<(&'static str, f64)>,
    /// Whether this is a search, which returns its best result if it is stopped here.
    pub is_search: bool,
}

impl Progress {
    /// Creates the state of work with this many units done.
    pub fn new(what: &'static str, done: u64, total: Option<u64>) -> Progress {
        Progress { what, done, total, best: None, is_search: false }
    }

    /// Creates the state of a search, which returns its best result if it is stopped here.
    pub fn of_search(what: &'static str, done: u64, total: Option<u64>) -> Progress {
        Progress { is_search: true, ..Progress::new(what, done, total) }
    }

    /// Returns the state marked as that of a search.
    #[must_use]
    pub fn as_search(self) -> Progress {
        Progress { is_search: true, ..self }
    }

    /// Returns the state with the name and value of a search's quality measure.
    #[must_use]
    pub fn with_best(self, name: &'static str, best: f64) -> Progress {
        Progress { best: Some((name, best)), ..self }
    }
}

/// A callback for progress, which also cancels work.
///
/// It may be called from any thread, at every step, and returns whether the work should continue. The default has no
/// callback.
#[derive(Clone, Copy, Default)]
pub struct ProgressSink<'a>(Option<&'a (dyn Fn(&Progress) -> bool + Sync)>);

/// The reason why a search stopped early. Its result is still valid: the best found so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The time limit passed.
    OutOfTime,
    /// The callback canceled the search.
    Interrupted,
}

/// Default time limit of a search in seconds. Searches end after a number of steps, usually long before.
pub const DEFAULT_TIME_LIMIT_SECS: f64 = 30.0;

/// The time limit of a search, together with its progress callback.
#[derive(Clone, Copy, Debug)]
pub struct Deadline<'a> {
    began: Instant,
    limit: Duration,
    progress: ProgressSink<'a>,
}

impl<'a> Deadline<'a> {
    /// Starts a time limit of this many seconds, by default [`DEFAULT_TIME_LIMIT_SECS`].
    pub fn start(seconds: Option<f64>, progress: ProgressSink<'a>) -> Deadline<'a> {
        // A limit beyond the range of the clock means no limit.
        let limit = Duration::try_from_secs_f64(seconds.unwrap_or(DEFAULT_TIME_LIMIT_SECS)).unwrap_or(Duration::MAX);
        Deadline { began: Instant::now(), limit, progress }
    }

    /// Returns the time limit in seconds; infinity if there is none.
    pub fn seconds(&self) -> f64 {
        if self.limit == Duration::MAX { f64::INFINITY } else { self.limit.as_secs_f64() }
    }

    /// Reports the elapsed seconds, and returns the reason if the search has to stop.
    ///
    /// `best` is the name and value of the search's quality measure, if known.
    pub fn check(&self, best: Option<(&'static str, f64)>) -> Option<Stopped> {
        let total = (self.limit != Duration::MAX).then_some(self.limit.as_secs());
        self.report(Progress { best, ..Progress::of_search("seconds", self.began.elapsed().as_secs(), total) })
    }

    /// Reports progress as [`check`](Deadline::check) does, for a search that counts in units other than seconds.
    pub fn report(&self, step: Progress) -> Option<Stopped> {
        match self.progress.report(step) {
            Err(Cancelled) => Some(Stopped::Interrupted),
            Ok(()) => (self.began.elapsed() >= self.limit).then_some(Stopped::OutOfTime),
        }
    }
}

/// The callback canceled the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before it was done")]
pub struct Cancelled;

impl<'a> ProgressSink<'a> {
    /// Creates a sink without a callback: the work runs to its end.
    pub const fn none() -> ProgressSink<'a> {
        ProgressSink(None)
    }

    /// Creates a sink from a callback that receives every step and returns whether to continue.
    pub fn new(goes_on: &'a (dyn Fn(&Progress) -> bool + Sync)) -> ProgressSink<'a> {
        ProgressSink(Some(goes_on))
    }

    /// Reports a step.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the callback cancels the work.
    pub fn report(&self, step: Progress) -> Result<(), Cancelled> {
        match self.0.is_none_or(|goes_on| goes_on(&step)) {
            true => Ok(()),
            false => Err(Cancelled),
        }
    }
}

/// A thread-safe counter for work whose number of steps may be unknown.
///
/// Once canceled, the work stays canceled. A loop without an error type ends when [`go_on`](Steps::go_on) returns
/// false, and its caller then calls [`check`](Steps::check).
///
/// ```
/// use candor_runtime::progress::{ProgressSink, Steps};
///
/// let twice = |step: &candor_runtime::progress::Progress| step.done < 2;
/// let steps = Steps::new("fits", None, ProgressSink::new(&twice));
/// assert_eq!((0..10).take_while(|_| steps.go_on()).count(), 1);
/// assert!(!steps.go_on() && steps.check().is_err());
/// ```
#[derive(Debug)]
pub struct Steps<'a> {
    what: &'static str,
    total: Option<u64>,
    done: AtomicU64,
    ended: AtomicBool,
    progress: ProgressSink<'a>,
}

impl<'a> Steps<'a> {
    /// Creates a counter of `what`, with the total number if it is known.
    pub fn new(what: &'static str, total: Option<u64>, progress: ProgressSink<'a>) -> Steps<'a> {
        Steps { what, total, done: AtomicU64::new(0), ended: AtomicBool::new(false), progress }
    }

    /// Counts one more step and reports it; returns whether to continue.
    pub fn go_on(&self) -> bool {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.tell(done)
    }

    /// Counts one more step and reports it, for work that has an error type.
    ///
    /// # Errors
    /// Returns [`Cancelled`] if the callback cancels the work.
    pub fn ask(&self) -> Result<(), Cancelled> {
        if self.go_on() { Ok(()) } else { Err(Cancelled) }
    }

    /// Reports that the current step is still running; returns whether to continue.
    pub fn still_goes_on(&self) -> bool {
        self.tell(self.done.load(Ordering::Relaxed))
    }

    fn tell(&self, done: u64) -> bool {
        if self.ended.load(Ordering::Relaxed) {
            return false;
        }
        let goes_on = self.progress.report(Progress::new(self.what, done, self.total)).is_ok();
        if !goes_on {
            self.ended.store(true, Ordering::Relaxed);
        }
        goes_on
    }

    /// Returns an error if the work was canceled.
    ///
    /// # Errors
    /// Returns [`Cancelled`] in this case.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.ended.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) }
    }
}

impl std::fmt::Debug for ProgressSink<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "ProgressSink(somebody)" } else { "ProgressSink(nobody)" })
    }
}
