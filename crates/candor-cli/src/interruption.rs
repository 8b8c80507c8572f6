//! Signals: an interrupted search gives the best so far, and an interrupted run leaves no unfinished file behind.

use std::sync::atomic::{AtomicU8, Ordering};

use candor_tables::output::abandon_unfinished;

/// What an interruption ends.
static ENDS: AtomicU8 = AtomicU8::new(PROGRAM);

/// The whole program.
const PROGRAM: u8 = 0;

/// The search under way.
const SEARCH: u8 = 1;

/// It has been asked to end; another interruption ends the program.
const ASKED: u8 = 2;

/// Whether the work shall go on, which is a search that has something at every step, or not.
pub fn goes_on(is_search: bool) -> bool {
    let (from, to) = if is_search { (PROGRAM, SEARCH) } else { (SEARCH, PROGRAM) };
    let _ = ENDS.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    !is_search || ENDS.load(Ordering::Relaxed) != ASKED
}

/// What to do when somebody interrupts: ends the search if there is one, else the program.
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

/// Ends the program, with nothing unfinished left, at signals that ask it to end, but for a search that somebody
/// interrupts; and has a file that grows too large be an error like a full disk, instead of the end.
#[cfg(unix)]
pub fn prepare() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    // Any handler keeps this one from ending the program; the write then fails by itself.
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

/// The same, where there is only one such signal.
#[cfg(not(unix))]
pub fn prepare() {
    let _ = ctrlc::set_handler(|| interrupted(130));
}
