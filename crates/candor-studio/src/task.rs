//! Long-running work with its progress, which can be stopped.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use candor_runtime::progress::{Progress, ProgressSink};
use serde_json::{Value, json};

/// The long-running work of a study; one at a time.
#[derive(Debug, Default)]
pub struct Task {
    stop: AtomicBool,
    now: Mutex<Option<Progress>>,
}

impl Task {
    /// Runs work that reports its progress and can be [stopped](Task::stop).
    pub fn run<T>(&self, work: impl FnOnce(ProgressSink<'_>) -> T) -> T {
        self.stop.store(false, Ordering::Relaxed);
        let goes_on = |step: &Progress| self.tell(step.clone());
        let done = work(ProgressSink::new(&goes_on));
        self.set(None);
        done
    }

    /// Tells how far it is; whether it goes on.
    pub fn tell(&self, step: Progress) -> bool {
        self.set(Some(step));
        !self.stop.load(Ordering::Relaxed)
    }

    /// Stops the current work.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns the progress; null if nothing is running.
    pub fn json(&self) -> Value {
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.as_ref().map_or(Value::Null, |step| json!({"what": step.what, "done": step.done, "total": step.total}))
    }

    fn set(&self, step: Option<Progress>) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = step;
    }
}
