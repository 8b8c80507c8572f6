//! Long work: without the interpreter's lock, with progress, and until somebody presses Ctrl-C.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use candor_runtime::progress::{Progress, ProgressSink};
use pyo3::prelude::*;

use crate::errors::{Error, Failure};

/// How often whoever waits is looked after.
const LOOK: Duration = Duration::from_millis(50);

/// Work that takes longer shows its progress.
const LONG: Duration = Duration::from_secs(1);

/// As much as a main thread usually has.
const STACK: usize = 8 << 20;

/// Does work on another thread, while this one looks for signals and tells `progress` (what is counted, how many are
/// done, how many there are) how far it is, if that takes a while.
pub fn run<T: Send>(
    py: Python<'_>,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce(ProgressSink<'_>) -> Result<T, Failure> + Send,
) -> PyResult<T> {
    let (stopped, latest) = (AtomicBool::new(false), Mutex::new(None::<Progress>));
    let goes_on = |step: &Progress| {
        *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(step.clone());
        !stopped.load(Ordering::Relaxed)
    };
    let (done, result) = sync_channel(1);
    // Shared between two threads, though only one waits at a time.
    let result = Mutex::new(result);
    let begun = Instant::now();
    let mut interrupted = None;
    let finished = thread::scope(|scope| {
        let worker = || {
            let worked = catch_unwind(AssertUnwindSafe(|| work(ProgressSink::new(&goes_on))));
            drop(done.send(worked));
        };
        thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker).ok()?;
        loop {
            match py.detach(|| result.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK)) {
                Ok(worked) => return Some(worked),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let told = py.check_signals().and_then(|()| match (&progress, begun.elapsed() > LONG) {
                (Some(progress), true) => tell(progress, &latest),
                _ => Ok(()),
            });
            if let Err(error) = told {
                stopped.store(true, Ordering::Relaxed);
                interrupted.get_or_insert(error);
            }
        }
    });
    match (interrupted, finished) {
        (Some(error), _) => Err(error),
        (None, Some(Ok(worked))) => worked.map_err(PyErr::from),
        (None, _) => Err(Error::new_err("candor failed where it should not; please report what you did")),
    }
}

fn tell(progress: &Bound<'_, PyAny>, latest: &Mutex<Option<Progress>>) -> PyResult<()> {
    let step = latest.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match step {
        Some(step) => progress.call1((step.what, step.done, step.total)).map(drop),
        None => Ok(()),
    }
}
