//! A progress bar on standard error, where somebody watches.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Duration;

use candor_analysis::watch::{Step, Watch};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Long work, with a progress bar if somebody watches; the bar is taken away in the end. Interruptions end the whole program, so that the work always
/// goes on.
pub fn watched<T>(work: impl FnOnce(Watch<'_>) -> T) -> T {
    let progress = Progress::new();
    let goes_on = |step: &Step| {
        progress.show(step);
        true
    };
    let done = work(Watch::new(&goes_on));
    progress.bar.finish_and_clear();
    done
}

struct Progress {
    bar: ProgressBar,
    /// What is counted now.
    what: Mutex<&'static str>,
}

impl Progress {
    fn new() -> Progress {
        let bar = ProgressBar::no_length();
        if !std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        bar.set_style(style("{spinner} {elapsed}"));
        Progress { bar, what: Mutex::default() }
    }

    fn show(&self, step: &Step) {
        if let Ok(mut what) = self.what.lock()
            && *what != step.what
        {
            *what = step.what;
            self.bar.set_style(style(&layout(step)));
        }
        if let Some(total) = step.total {
            self.bar.set_length(total);
        }
        if let Some(best) = step.best {
            self.bar.set_message(format!("{best:.4}"));
        }
        self.bar.set_position(step.done);
    }
}

/// How a kind of step is shown.
fn layout(step: &Step) -> String {
    let what = step.what;
    match (step.total, step.best) {
        (None, _) => format!("{{spinner}} {{human_pos}} {what}, {{per_sec}}, {{elapsed}}"),
        (Some(_), None) => format!("{{bar:40}} {{human_pos}} of {{human_len}} {what}, {{per_sec}}, {{eta}} left"),
        (Some(_), Some(_)) => {
            format!("{{bar:40}} {{human_pos}} of {{human_len}} {what}, hypervolume {{msg}}, {{elapsed}}")
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
