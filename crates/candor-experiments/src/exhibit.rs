//! What an experiment returns: tables and plots as plain data, and in words what agrees with the print.

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
    /// Computes it.
    pub make: fn(&Settings) -> Outcome,
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
    /// What agrees with the paper, what does not, and why.
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

/// A figure: curves or points over two axes.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Tells the plots of an exhibit apart; part of a file name.
    pub name: String,
    /// What is seen.
    pub title: String,
    /// The horizontal axis.
    pub x: Scale,
    /// The vertical axis.
    pub y: Scale,
    /// What is drawn, in the order of the legend.
    pub series: Vec<Series>,
}

/// One axis of a plot.
#[derive(Clone, Debug)]
pub struct Scale {
    /// Its label.
    pub label: String,
    /// Whether it is logarithmic; points that are not positive are then left out.
    pub logarithmic: bool,
}

impl Scale {
    /// An ordinary axis.
    pub fn linear(label: &str) -> Scale {
        Scale { label: label.to_owned(), logarithmic: false }
    }

    /// A logarithmic axis.
    pub fn logarithmic(label: &str) -> Scale {
        Scale { label: label.to_owned(), logarithmic: true }
    }
}

/// Points that belong together.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Whether the points are joined by a line or stand alone.
    pub joined: bool,
    /// The points.
    pub points: Vec<(f64, f64)>,
}
