//! Long work, watched: whoever waits for it is told how far it is, and may end it.
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
//! A search has something at every step. It asks a [`Deadline`], and ends with the best so far:
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

/// How far long work is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// What is counted, such as "records".
    pub what: &'static str,
    /// How many are done.
    pub done: u64,
    /// How many there are, if that is known.
    pub total: Option<u64>,
    /// For a search: what tells how good the best so far is, such as "gap", and that number.
    pub best: Option<(&'static str, f64)>,
    /// Whether this is a search, which has something at every step: ended here, it gives the best so far.
    pub is_search: bool,
}

impl Progress {
    /// So many done.
    pub fn new(what: &'static str, done: u64, total: Option<u64>) -> Progress {
        Progress { what, done, total, best: None, is_search: false }
    }

    /// So many done of a search, which gives the best so far if it is ended here.
    pub fn of_search(what: &'static str, done: u64, total: Option<u64>) -> Progress {
        Progress { is_search: true, ..Progress::new(what, done, total) }
    }

    /// The same as a step of a search.
    #[must_use]
    pub fn as_search(self) -> Progress {
        Progress { is_search: true, ..self }
    }

    /// The same, with how good the best so far is, by this name.
    #[must_use]
    pub fn with_best(self, name: &'static str, best: f64) -> Progress {
        Progress { best: Some((name, best)), ..self }
    }
}

/// Somebody who waits for long work. It is asked at every step, from any thread, whether the work shall go on; nobody
/// watches by default.
#[derive(Clone, Copy, Default)]
pub struct ProgressSink<'a>(Option<&'a (dyn Fn(&Progress) -> bool + Sync)>);

/// Why a search ended before it was done. What it gives is valid, and the best so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Its time was up.
    OutOfTime,
    /// Whoever waited for it ended it.
    Interrupted,
}

/// The outer stop of a search, in seconds, if none is given. Searches end by counted steps, most of them long before.
pub const DEFAULT_TIME_LIMIT_SECS: f64 = 30.0;

/// When a search began, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub struct Deadline<'a> {
    began: Instant,
    limit: Duration,
    progress: ProgressSink<'a>,
}

impl<'a> Deadline<'a> {
    /// From now on for so many seconds, [`DEFAULT_TIME_LIMIT_SECS`] if nothing is said.
    pub fn start(seconds: Option<f64>, progress: ProgressSink<'a>) -> Deadline<'a> {
        // A limit beyond the clock's range is none.
        let limit = Duration::try_from_secs_f64(seconds.unwrap_or(DEFAULT_TIME_LIMIT_SECS)).unwrap_or(Duration::MAX);
        Deadline { began: Instant::now(), limit, progress }
    }

    /// Returns how many seconds the search may take in all; infinite if there is no limit.
    pub fn seconds(&self) -> f64 {
        if self.limit == Duration::MAX { f64::INFINITY } else { self.limit.as_secs_f64() }
    }

    /// Tells how many of the seconds are over, and how good the best so far is if that is known; says whether the
    /// search must end, and why.
    pub fn check(&self, best: Option<(&'static str, f64)>) -> Option<Stopped> {
        let total = (self.limit != Duration::MAX).then_some(self.limit.as_secs());
        self.report(Progress { best, ..Progress::of_search("seconds", self.began.elapsed().as_secs(), total) })
    }

    /// The same as [`stops`](Deadline::check) for a search that counts something else than seconds.
    pub fn report(&self, step: Progress) -> Option<Stopped> {
        match self.progress.report(step) {
            Err(Cancelled) => Some(Stopped::Interrupted),
            Ok(()) => (self.began.elapsed() >= self.limit).then_some(Stopped::OutOfTime),
        }
    }
}

/// Whoever waited for the work ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stopped before it was done")]
pub struct Cancelled;

impl<'a> ProgressSink<'a> {
    /// Nobody waits: the work goes on to its end.
    pub const fn none() -> ProgressSink<'a> {
        ProgressSink(None)
    }

    /// `goes_on` is told every step, and says whether there shall be another.
    pub fn new(goes_on: &'a (dyn Fn(&Progress) -> bool + Sync)) -> ProgressSink<'a> {
        ProgressSink(Some(goes_on))
    }

    /// Tells a step.
    ///
    /// # Errors
    /// If it shall be the last.
    pub fn report(&self, step: Progress) -> Result<(), Cancelled> {
        match self.0.is_none_or(|goes_on| goes_on(&step)) {
            true => Ok(()),
            false => Err(Cancelled),
        }
    }
}

/// Steps of work of which nobody knows how many there will be, counted from any thread. Once ended the work stays
/// ended: a loop that has no error of its own leaves when it is told so, and whoever called it [checks](Steps::check).
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
    /// What is counted, and how many there are if that is known.
    pub fn new(what: &'static str, total: Option<u64>, progress: ProgressSink<'a>) -> Steps<'a> {
        Steps { what, total, done: AtomicU64::new(0), ended: AtomicBool::new(false), progress }
    }

    /// Tells that one more is done; says whether there shall be another.
    pub fn go_on(&self) -> bool {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.tell(done)
    }

    /// Tells that one more is done, for work that has an error of its own.
    ///
    /// # Errors
    /// If it shall be the last.
    pub fn ask(&self) -> Result<(), Cancelled> {
        if self.go_on() { Ok(()) } else { Err(Cancelled) }
    }

    /// Tells that the step under way takes a while; says whether it shall go on.
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

    /// Fails if the work was ended.
    ///
    /// # Errors
    /// If it was.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.ended.load(Ordering::Relaxed) { Err(Cancelled) } else { Ok(()) }
    }
}

impl std::fmt::Debug for ProgressSink<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "ProgressSink(somebody)" } else { "ProgressSink(nobody)" })
    }
}
