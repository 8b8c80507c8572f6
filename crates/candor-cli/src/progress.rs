//! A progress bar on standard error, where somebody watches.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A progress bar on long work, if somebody watches.
pub struct Progress(ProgressBar);

impl Progress {
    pub fn new() -> Progress {
        let bar = ProgressBar::no_length();
        if !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        let style = ProgressStyle::with_template("{spinner} {human_pos} records, {per_sec}, {elapsed}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Progress(bar)
    }

    /// A bar for a search: how many of its steps are done, and the hypervolume so far.
    pub fn search(steps: &str, total: u64) -> Progress {
        let progress = Progress::new();
        let style = ProgressStyle::with_template(&format!(
            "{{bar:40}} {{human_pos}} of {{human_len}} {steps}, hypervolume {{msg}}, {{elapsed}}"
        ));
        progress.0.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        progress.0.set_length(total);
        progress
    }

    /// Tells how far a search is.
    pub fn tell(&self, step: u64, hypervolume: &str) {
        self.0.set_position(step);
        self.0.set_message(hypervolume.to_owned());
    }

    /// Tells how many records are done and, where known, how many there are.
    pub fn show(&self, records: u64, total: Option<u64>) {
        if let Some(total) = total.filter(|_| self.0.length().is_none()) {
            let style =
                ProgressStyle::with_template("{bar:40} {human_pos} of {human_len} records, {per_sec}, {eta} left");
            self.0.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.0.set_length(total);
        }
        self.0.set_position(records);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
}
