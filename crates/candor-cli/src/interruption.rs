//! Signals: an interrupted run leaves no unfinished file behind.

use candor_tables::output::abandon_unfinished;

/// Ends the program, with nothing unfinished left, at signals that ask it to end; and has a file that grows too large be an error
/// like a full disk, instead of the end.
#[cfg(unix)]
pub fn prepare() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    // Any handler keeps this one from ending the program; the write then fails by itself.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::default());
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU]) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            abandon_unfinished();
            std::process::exit(128 + signal);
        }
    });
}

/// The same, where there is only one such signal.
#[cfg(not(unix))]
pub fn prepare() {
    let _ = ctrlc::set_handler(|| {
        abandon_unfinished();
        std::process::exit(130);
    });
}
