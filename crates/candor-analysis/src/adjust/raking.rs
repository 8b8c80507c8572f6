//! Raking: Algorithm 2 of Domingo-Ferrer and Soria-Comas 2020 on distinct records, fast, and with an honest end.
//!
//! Margins that follow each other are worked on in one small table of their combinations: its cells are
//! summed once, all its margins adjusted in it in turn, and the records then multiplied by what each cell was
//! multiplied by, in the same pass that sums them for the next table. This is the algorithm as printed, with fewer
//! passes: eight attributes of 9, 16, 7, 15, 6, 5, 2 and 2 categories take two passes instead of sixteen.

use candor_runtime::progress::{Cancelled, Progress, ProgressSink};

use crate::estimate::fitting::Axis;
use crate::estimate::simplex;

/// Margins are worked on together while their combinations stay this few: what stays in the fastest memory.
const TABLE_CELLS: usize = 2048;

/// Changes below this are rounding, and tell nothing about the rate.
const ROUNDING: f64 = 1e-13;

/// One margin: which cell each record is in, and the share that each cell should have.
#[derive(Clone, Debug, PartialEq)]
pub struct Margin {
    /// The cell of each record.
    pub cells: Vec<u32>,
    /// The share aimed at of each cell. Shares that are not a distribution are projected to the closest one.
    pub shares: Vec<f64>,
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// How far margins may be from their targets, and any set of records from its share in the limit.
    pub tolerance: f64,
    /// The most sweeps over all margins.
    pub max_iterations: usize,
}

impl Options {
    candor_runtime::options! {
        tolerance: f64,
        max_iterations: usize,
    }
}

impl Default for Options {
    fn default() -> Options {
        Options { tolerance: 1e-6, max_iterations: 1000 }
    }
}

/// A category that no record can give its share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unattainable {
    /// Which margin.
    pub margin: usize,
    /// Which of its cells.
    pub cell: usize,
    /// The share it should have.
    pub share: f64,
}

/// What raking found.
///
/// **When is it converged?** Weights that stop changing are not enough: where the limit of a weight is zero although
/// nothing says so beforehand, weights approach it like `1/t` (the paper's Example 1), and a change of 1e-6 from one
/// sweep to the next can mean a distance of 1e-3. So both are asked for: every margin within the tolerance, computed
/// from the final weights, and the [distance](Raked::distance) to the limit, extrapolated from the changes of the last
/// sweeps, within the tolerance, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Raked {
    /// The weight of each distinct record, all its repetitions together; they sum to 1.
    pub weights: Vec<f64>,
    /// How many sweeps over all margins.
    pub iterations: usize,
    /// Whether margins and distance came within the tolerance.
    pub converged: bool,
    /// The largest difference between a margin of the final weights and its target. Targets of
    /// [unattainable](Raked::unattainable) cells are zero here, the others of the margin scaled to sum to 1.
    pub largest_margin_error: f64,
    /// The largest change of a weight in the last sweep, relative to itself.
    pub largest_weight_change: f64,
    /// How far the share of any set of records may still be from its limit, if the changes go on falling as they did:
    /// with `d` the change of the last sweep in total variation and `r` its ratio to the one before (the larger of the
    /// last two), `2 d / (1 - r - 1/t)` after `t` sweeps. Without the 2 that is right for changes that fall
    /// geometrically and for those that fall like a power of `t` (Raabe's test); the 2 is for slow parts that hide
    /// behind fast ones. `None` if they do not fall that fast. Weights that have settled without agreeing with the
    /// margins mean that these contradict each other, or need records that nobody answered.
    pub distance: Option<f64>,
    /// Cells that should have a positive share, but have no record of positive weight.
    pub unattainable: Vec<Unattainable>,
}

/// Why raking cannot begin.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RakeError {
    /// Nothing to give weights to.
    #[error("no records to weight")]
    NoRecords,
    /// No margins.
    #[error("no tables to rake to")]
    NoMargins,
    /// A margin about other records.
    #[error("margin {margin} has cells for {found} records; there are {expected}")]
    Length {
        /// Which margin.
        margin: usize,
        /// How many cells it lists.
        found: usize,
        /// How many distinct records there are.
        expected: usize,
    },
    /// A cell without a share.
    #[error("margin {margin}: record {record} is in cell {cell}, but there are {shares} shares")]
    Cell {
        /// Which margin.
        margin: usize,
        /// Which record.
        record: usize,
        /// Its cell.
        cell: u32,
        /// How many cells have a share.
        shares: usize,
    },
    /// A share that is no number.
    #[error("margin {margin}: a share is not a finite number")]
    Share {
        /// Which margin.
        margin: usize,
    },
    /// No weight is left.
    #[error(
        "margin {margin} puts all its weight on categories without records, or on records that other margins exclude; \
         no weights can reproduce it"
    )]
    Empty {
        /// Which margin.
        margin: usize,
    },
    /// Cancelled by the caller.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Weights for distinct records, `counts` times each to begin with, that agree with all margins; see [`Raked`].
///
/// Cost: per sweep, one pass over the records for each table of margins that are worked on together; memory: a weight
/// per record, and a cell per record and table.
///
/// ```
/// use candor_analysis::adjust::{Margin, Options, rake};
///
/// // Ten records in the cells of two attributes; the estimated shares are one half everywhere.
/// let margin = |cells: [u32; 4]| Margin { cells: cells.to_vec(), shares: vec![0.5, 0.5] };
/// let raked = rake(&[4, 2, 1, 3], &[margin([0, 1, 0, 1]), margin([0, 0, 1, 1])], &Options::default())?;
/// assert!(raked.converged && raked.largest_margin_error < 1e-6);
/// assert!((raked.weights[0] + raked.weights[1] - 0.5).abs() < 1e-6);
/// # Ok::<(), candor_analysis::adjust::RakeError>(())
/// ```
///
/// # Errors
/// If there is nothing to weigh or to agree with, or a margin does not fit the records.
pub fn rake(counts: &[u64], margins: &[Margin], options: &Options) -> Result<Raked, RakeError> {
    rake_with_progress(counts, margins, options, ProgressSink::none())
}

/// As [`rake`], and reports every sweep to `progress`.
///
/// # Errors
/// As [`rake`]; returns [`RakeError::Cancelled`] if `progress` cancels.
pub fn rake_with_progress(
    counts: &[u64],
    margins: &[Margin],
    options: &Options,
    progress: ProgressSink<'_>,
) -> Result<Raked, RakeError> {
    rake_weights(counts.iter().map(|&count| count as f64).collect(), margins, options, progress)
}

/// The same from any weights, none below 0, to begin with.
pub(crate) fn rake_weights(
    mut weights: Vec<f64>,
    margins: &[Margin],
    options: &Options,
    progress: ProgressSink<'_>,
) -> Result<Raked, RakeError> {
    check(&weights, margins)?;
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= total);
    let mut tables = tables(margins);
    tables[0].sum(&weights);
    let mut course = Course::new(&weights);
    loop {
        for at in 0..tables.len() {
            tables[at].adjust(&mut course.error)?;
            pass(&mut weights, &mut tables, at);
        }
        course.end_of_sweep(&weights);
        let distance = course.distance();
        let settled = distance.is_some_and(|distance| distance <= options.tolerance);
        // Weights that stand still will not do better either.
        let last = course.sweeps >= options.max_iterations.max(1) || course.changes[0] <= ROUNDING;
        if last || settled && course.error <= options.tolerance {
            let largest_margin_error = largest_error(&mut tables, &weights);
            let converged = settled && largest_margin_error <= options.tolerance;
            if last || converged {
                let largest_weight_change = course.largest_weight_change(&weights);
                let sum: f64 = weights.iter().sum();
                weights.iter_mut().for_each(|weight| *weight /= sum);
                return Ok(Raked {
                    weights,
                    iterations: course.sweeps,
                    converged,
                    largest_margin_error,
                    largest_weight_change,
                    distance,
                    unattainable: unattainable(&tables),
                });
            }
            tables[0].sum(&weights);
        }
        progress.report(Progress::new("sweeps", course.sweeps as u64, Some(options.max_iterations as u64)))?;
        course.next_sweep(&weights);
    }
}

fn check(begin: &[f64], margins: &[Margin]) -> Result<(), RakeError> {
    if begin.iter().all(|&weight| weight == 0.0) {
        return Err(RakeError::NoRecords);
    }
    if margins.is_empty() {
        return Err(RakeError::NoMargins);
    }
    for (number, margin) in margins.iter().enumerate() {
        let (cells, shares) = (&margin.cells, margin.shares.len());
        if cells.len() != begin.len() {
            return Err(RakeError::Length { margin: number, found: cells.len(), expected: begin.len() });
        }
        if let Some(record) = cells.iter().position(|&cell| cell as usize >= shares) {
            return Err(RakeError::Cell { margin: number, record, cell: cells[record], shares });
        }
        if !margin.shares.iter().all(|share| share.is_finite()) {
            return Err(RakeError::Share { margin: number });
        }
    }
    Ok(())
}

/// Margins that are worked on together, and the weights in the combinations of their cells.
struct Table {
    /// The combination that each record is in.
    cells: Vec<u32>,
    /// The margins, each with its number.
    axes: Vec<(usize, Axis)>,
    weights: Vec<f64>,
    /// What the last adjustment multiplied each combination by.
    ratios: Vec<f64>,
}

/// How it goes, by sweeps.
struct Course {
    sweeps: usize,
    /// The weights before the last sweep.
    before: Vec<f64>,
    /// By how much the last sweeps changed them, in total variation; the latest first.
    changes: [f64; 3],
    /// The largest difference of a margin from its target, when its turn came in the last sweep.
    error: f64,
}

impl Course {
    fn new(weights: &[f64]) -> Course {
        Course { sweeps: 0, before: weights.to_vec(), changes: [f64::INFINITY; 3], error: 0.0 }
    }

    fn end_of_sweep(&mut self, weights: &[f64]) {
        self.sweeps += 1;
        self.changes = [total_variation(weights, &self.before), self.changes[0], self.changes[1]];
    }

    fn next_sweep(&mut self, weights: &[f64]) {
        self.before.copy_from_slice(weights);
        self.error = 0.0;
    }

    fn largest_weight_change(&self, weights: &[f64]) -> f64 {
        let change = |(weight, before): (&f64, &f64)| if *before > 0.0 { (weight / before - 1.0).abs() } else { 0.0 };
        weights.iter().zip(&self.before).map(change).fold(0.0, f64::max)
    }

    fn distance(&self) -> Option<f64> {
        let [change, previous, earlier] = self.changes;
        if change <= ROUNDING {
            return Some(change);
        }
        let ratio = (change / previous).max(previous / earlier);
        // In the first sweep nothing is known, and nothing falls.
        let fall = 1.0 - ratio - 1.0 / self.sweeps as f64;
        (fall > 0.0).then(|| 2.0 * change / fall)
    }
}

/// Half the sum of absolute differences, in lanes that do not wait for each other.
fn total_variation(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            lanes[lane] += (a[lane] - b[lane]).abs();
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| (a - b).abs()).sum();
    (lanes.iter().sum::<f64>() + rest) / 2.0
}

/// The margins in tables, in their order.
fn tables(margins: &[Margin]) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for (number, margin) in margins.iter().enumerate() {
        let size = margin.shares.len();
        let axis = (number, Axis::new(distribution(&margin.shares), 1));
        match tables.last_mut().filter(|table| table.weights.len() * size <= TABLE_CELLS) {
            Some(table) => {
                table.axes.iter_mut().for_each(|(_, axis)| axis.inner *= size);
                table.axes.push(axis);
                table.weights.resize(table.weights.len() * size, 0.0);
                let size = size as u32;
                table.cells.iter_mut().zip(&margin.cells).for_each(|(cell, &code)| *cell = *cell * size + code);
            }
            None => tables.push(Table {
                cells: margin.cells.clone(),
                axes: vec![axis],
                weights: vec![0.0; size],
                ratios: Vec::new(),
            }),
        }
    }
    tables.iter_mut().for_each(|table| table.ratios = vec![0.0; table.weights.len()]);
    tables
}

/// The shares, or what is closest to them and a distribution.
fn distribution(shares: &[f64]) -> Vec<f64> {
    let sum: f64 = shares.iter().sum();
    if shares.iter().all(|&share| share >= 0.0) && (sum - 1.0).abs() < 1e-9 {
        shares.iter().map(|share| share / sum).collect()
    } else {
        simplex::project(shares)
    }
}

impl Table {
    fn sum(&mut self, weights: &[f64]) {
        self.weights.fill(0.0);
        self.cells.iter().zip(weights).for_each(|(&cell, weight)| self.weights[cell as usize] += weight);
    }

    /// Adjusts the table to its margins, one after the other; raises `error` to the largest difference found.
    fn adjust(&mut self, error: &mut f64) -> Result<(), RakeError> {
        self.ratios.fill(1.0);
        for (margin, axis) in &mut self.axes {
            axis.sum(&self.weights);
            if !axis.find_factors() {
                return Err(RakeError::Empty { margin: *margin });
            }
            *error = error.max(axis.error());
            axis.scale(&mut self.weights);
            axis.scale(&mut self.ratios);
        }
        Ok(())
    }
}

/// Multiplies the records by what their cells in one table were multiplied by, and sums them for the next one.
fn pass(weights: &mut [f64], tables: &mut [Table], at: usize) {
    let next = (at + 1) % tables.len();
    let mut sums = std::mem::take(&mut tables[next].weights);
    let (table, next_cells) = (&tables[at], &tables[next].cells);
    if next != at {
        sums.fill(0.0);
        for ((weight, &cell), &next_cell) in weights.iter_mut().zip(&table.cells).zip(next_cells) {
            *weight *= table.ratios[cell as usize];
            sums[next_cell as usize] += *weight;
        }
    } else {
        // A single table holds its own sums already.
        weights.iter_mut().zip(&table.cells).for_each(|(weight, &cell)| *weight *= table.ratios[cell as usize]);
    }
    tables[next].weights = sums;
}

/// The largest difference of any margin of these weights from its attainable target.
fn largest_error(tables: &mut [Table], weights: &[f64]) -> f64 {
    let mut largest: f64 = 0.0;
    for table in tables {
        table.sum(weights);
        for (_, axis) in &mut table.axes {
            axis.sum(&table.weights);
            largest = largest.max(axis.error());
        }
    }
    largest
}

/// The cells that should have a share, and have no weight.
fn unattainable(tables: &[Table]) -> Vec<Unattainable> {
    let of_axis = |(margin, axis): &(usize, Axis)| -> Vec<Unattainable> {
        let cells = axis.targets.iter().zip(&axis.sums).enumerate();
        let missing = cells.filter(|(_, (target, sum))| **target > 0.0 && **sum <= 0.0);
        missing.map(|(cell, (&share, _))| Unattainable { margin: *margin, cell, share }).collect()
    };
    tables.iter().flat_map(|table| &table.axes).flat_map(of_axis).collect()
}
