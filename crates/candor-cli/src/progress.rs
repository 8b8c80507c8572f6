//! A progress bar on standard error, if it is a terminal.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

use candor_runtime::progress::{Progress, ProgressSink};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::interruption;

/// Runs long work with a progress bar on terminals, which is removed at the end. An interruption stops a search, which
/// returns the best result so far, and ends the program otherwise.
pub fn watched<T>(work: impl FnOnce(ProgressSink<'_>) -> T) -> T {
    let progress = Bar::new();
    let goes_on = |step: &Progress| {
        progress.show(step);
        interruption::goes_on(step.is_search)
    };
    let done = work(ProgressSink::new(&goes_on));
    interruption::goes_on(false);
    progress.bar.finish_and_clear();
    done
}

/// Runs work of unknown length; terminals show its name and the elapsed time.
pub fn working<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let progress = Bar::new();
    progress.bar.set_style(style(&format!("{{spinner}} {what}, {{elapsed}}")));
    let done = work();
    progress.bar.finish_and_clear();
    done
}

struct Bar {
    bar: ProgressBar,
    /// The unit being counted, and whether a quality is shown with it.
    shown: Mutex<(&'static str, bool)>,
}

impl Bar {
    fn new() -> Bar {
        let bar = ProgressBar::no_length();
        if !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        bar.set_style(style("{spinner} {elapsed}"));
        Bar { bar, shown: Mutex::default() }
    }

    fn show(&self, step: &Progress) {
        let kind = (step.what, step.best.is_some());
        if let Ok(mut shown) = self.shown.lock()
            && *shown != kind
        {
            *shown = kind;
            self.bar.set_style(style(&layout(step)));
        }
        if let Some(total) = step.total {
            self.bar.set_length(total);
        }
        if let Some((name, best)) = step.best {
            self.bar.set_message(format!("{name} {best:.4}"));
        }
        self.bar.set_position(step.done);
    }
}

/// Returns the layout for a kind of step.
fn layout(step: &Progress) -> String {
    let what = step.what;
    match (step.total, step.best) {
        (None, None) => format!("{{spinner}} {{human_pos}} {what}, {{per_sec}}, {{elapsed}}"),
        (None, Some(_)) => format!("{{spinner}} {{human_pos}} {what}, {{msg}}, {{elapsed}}"),
        // A search may end long before its time limit.
        (Some(_), None) if what == "seconds" => "{bar:40} searching, {pos} of at most {len} seconds".to_owned(),
        (Some(_), Some(_)) if what == "seconds" => {
            "{bar:40} searching, {pos} of at most {len} seconds, {msg}".to_owned()
        }
        (Some(_), None) => format!("{{bar:40}} {{human_pos}} of {{human_len}} {what}, {{per_sec}}, {{eta}} left"),
        (Some(_), Some(_)) => format!("{{bar:40}} {{human_pos}} of {{human_len}} {what}, {{msg}}, {{elapsed}}"),
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
