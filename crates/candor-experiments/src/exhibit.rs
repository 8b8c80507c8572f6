//! Results of experiments: tables and plots as plain data, and sentences about their agreement with the paper.

use candor::plot::Plot;
use serde::Serialize;

/// A paper whose results can be reproduced.
pub struct Paper {
    /// Name on the command line.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its reproducible tables and figures, in the order of the paper.
    pub exhibits: &'static [Exhibit],
}

/// A table or figure of a paper.
pub struct Exhibit {
    /// Name on the command line, such as `table-1`.
    pub name: &'static str,
    /// Caption: what the exhibit shows.
    pub caption: &'static str,
    /// The authors' setup in their words and symbols, one sentence per line.
    pub setup: &'static str,
    /// Running time, which decides whether every test run compares the exhibit with the page, or only the release
    /// recipe.
    pub pace: Pace,
    /// Function that computes the exhibit.
    pub make: fn(&Settings) -> Outcome,
}

/// Running time of an exhibit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Less than five seconds, with the same result on every run.
    Quick,
    /// Longer, with the same result on every run.
    Slow,
    /// Measures time, so no two runs agree.
    Timing,
}

/// Settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Seed of the random instances; the same seed gives the same result.
    pub seed: u64,
    /// Number of random instances or repetitions [default: that of the exhibit].
    pub repeats: Option<usize>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { seed: 1, repeats: None }
    }
}

/// Result of an experiment.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Tables of our numbers, next to printed ones where the paper has them.
    pub tables: Vec<Table>,
    /// Figures.
    pub plots: Vec<Plot>,
    /// Agreements and differences with the paper, and their reasons, one sentence per line.
    pub verdict: String,
}

/// A table of numbers.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// Name of the table within its exhibit; part of a file name.
    pub name: String,
    /// Column headings.
    pub columns: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
}
