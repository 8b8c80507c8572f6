//! Signals: an interrupted search returns the best result so far, and an interrupted run leaves no unfinished file.

use std::sync::atomic::{AtomicU8, Ordering};

use candor_tables::output::abandon_unfinished;

/// What an interruption stops.
static ENDS: AtomicU8 = AtomicU8::new(PROGRAM);

/// The whole program.
const PROGRAM: u8 = 0;

/// The current search.
const SEARCH: u8 = 1;

/// A search that has been asked to stop; another interruption ends the program.
const ASKED: u8 = 2;

/// Returns whether the work should continue; `is_search` says whether it has a result at every step.
pub fn goes_on(is_search: bool) -> bool {
    let (from, to) = if is_search { (PROGRAM, SEARCH) } else { (SEARCH, PROGRAM) };
    let _ = ENDS.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    !is_search || ENDS.load(Ordering::Relaxed) != ASKED
}

/// Handles an interruption: stops the search if there is one, else ends the program.
fn interrupted(code: i32) {
    if ENDS.compare_exchange(SEARCH, ASKED, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        crate::failure::tell("The search ends with the best so far; interrupt again to end at once.");
        return;
    }
    end(code);
}

fn end(code: i32) -> ! {
    abandon_unfinished();
    std::process::exit(code);
}

/// Installs the signal handlers. A signal ends the program without unfinished files, except that an interruption stops
/// a search. A file that exceeds the size limit becomes an error, like a full disk.
#[cfg(unix)]
pub fn prepare() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    // With any handler the signal does not end the program; the write then fails.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU]) else {
        return;
    };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            match signal {
                SIGINT => interrupted(128 + signal),
                signal => end(128 + signal),
            }
        }
    });
}

/// Installs the handler on systems with only one such signal.
#[cfg(not(unix))]
pub fn prepare() {
    let _ = ctrlc::set_handler(|| interrupted(130));
}
