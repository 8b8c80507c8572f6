//! What an experiment returns: tables and plots as plain data, and in words what agrees with the print.

use candor::plot::Plot;

/// A paper whose results can be regenerated.
pub struct Paper {
    /// The name it goes by on the command line.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What can be regenerated, in the order of the paper.
    pub exhibits: &'static [Exhibit],
}

/// A table or figure of a paper.
pub struct Exhibit {
    /// The name it goes by on the command line, such as `table-1`.
    pub name: &'static str,
    /// What it shows.
    pub caption: &'static str,
    /// The authors' set-up in their words and symbols, a sentence per line.
    pub setup: &'static str,
    /// Whether a test compares it with the page on every run, or only the release recipe does.
    pub pace: Pace,
    /// Computes it.
    pub make: fn(&Settings) -> Outcome,
}

/// How long an exhibit takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Less than five seconds, with the same result on every run.
    Quick,
    /// Longer, with the same result on every run.
    Slow,
    /// It measures time, so no two runs agree.
    Timing,
}

/// How an experiment is run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Where its random instances come from; the same seed gives the same result.
    pub seed: u64,
    /// How many random instances or repetitions, instead of the exhibit's own number.
    pub repeats: Option<usize>,
}

/// What came out.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Numbers, ours beside the printed ones where the paper prints some.
    pub tables: Vec<Table>,
    /// Figures.
    pub plots: Vec<Plot>,
    /// What agrees with the paper, what does not, and why, a sentence per line.
    pub verdict: String,
}

/// Numbers in rows and columns.
#[derive(Clone, Debug)]
pub struct Table {
    /// Tells the tables of an exhibit apart; part of a file name.
    pub name: String,
    /// One heading per column.
    pub columns: Vec<String>,
    /// One cell per column.
    pub rows: Vec<Vec<String>>,
}
