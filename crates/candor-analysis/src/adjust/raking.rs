//! Raking: Algorithm 2 of Domingo-Ferrer and Soria-Comas 2020 on distinct records, with a proper convergence test.
//!
//! Consecutive margins are adjusted together in a small table of their combinations. Its cells are summed once, and
//! all its margins are adjusted in turn. The records are then multiplied by the factors of their cells, in the pass
//! that sums them for the next table. This is the algorithm as printed, with fewer passes: eight attributes with 9,
//! 16, 7, 15, 6, 5, 2 and 2 categories take two passes instead of sixteen.

use candor_runtime::progress::{Cancelled, Progress, ProgressSink};

use crate::estimate::fitting::Axis;
use crate::estimate::simplex;

/// Maximum number of combinations of margins that are adjusted together, so that they stay in the fastest cache.
const TABLE_CELLS: usize = 2048;

/// Largest change that is treated as rounding error, which shows nothing about the rate of convergence.
const ROUNDING: f64 = 1e-13;

/// A margin: the cell of each record, and the target share of each cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Margin {
    /// Cell of each record.
    pub cells: Vec<u32>,
    /// Target share of each cell. Shares that are not a distribution are projected to the closest one.
    pub shares: Vec<f64>,
}

/// Stopping rule.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Largest distance of margins from their targets, and of the share of any set of records from its limit.
    pub tolerance: f64,
    /// Maximum number of sweeps over all margins.
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

/// A cell whose target share no record can provide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unattainable {
    /// Number of the margin.
    pub margin: usize,
    /// Number of the cell.
    pub cell: usize,
    /// Target share of the cell.
    pub share: f64,
}

/// Result of raking.
///
/// **Convergence.** It is not enough that weights stop changing. If the limit of a weight is zero although that is
/// not known in advance, weights approach it like `1/t` (the paper's Example 1). A change of 1e-6 between sweeps can
/// then mean a distance of 1e-3. So two conditions must hold. Every margin of the final weights must be within the
/// tolerance. The [distance](Raked::distance) to the limit, extrapolated from the changes of the last sweeps, must
/// be within it, too.
#[derive(Clone, Debug, PartialEq)]
pub struct Raked {
    /// Weight of each distinct record, for all its copies together; they sum to 1.
    pub weights: Vec<f64>,
    /// Number of sweeps over all margins.
    pub iterations: usize,
    /// Whether margins and distance are within the tolerance.
    pub converged: bool,
    /// Largest difference between a margin of the final weights and its target.
    ///
    /// Targets of [unattainable](Raked::unattainable) cells are zero here, and the others of the margin are
    /// scaled to sum to 1.
    pub largest_margin_error: f64,
    /// Largest relative change of a weight in the last sweep.
    pub largest_weight_change: f64,
    /// Extrapolated distance of the share of any set of records from its limit; `None` if changes decrease too
    /// slowly.
    ///
    /// With `d` the change of the last sweep in total variation and `r` its ratio to the one before (the larger of
    /// the last two), it is `2 d / (1 - r - 1/t)` after `t` sweeps. Without the 2, this is exact for changes that
    /// decrease geometrically, or like a power of `t` (Raabe's test). The 2 allows for slow parts that fast ones
    /// hide. If weights have settled without matching the margins, these contradict each other, or require records
    /// that do not occur.
    pub distance: Option<f64>,
    /// Cells with a positive target share, but without records of positive weight.
    pub unattainable: Vec<Unattainable>,
}

/// Reason why raking cannot start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RakeError {
    /// There are no records.
    #[error("no records to weight")]
    NoRecords,
    /// There are no margins.
    #[error("no tables to rake to")]
    NoMargins,
    /// A margin is of other records.
    #[error("margin {margin} has cells for {found} records; there are {expected}")]
    Length {
        /// Number of the margin.
        margin: usize,
        /// Number of its records.
        found: usize,
        /// Number of distinct records.
        expected: usize,
    },
    /// A cell has no target share.
    #[error("margin {margin}: record {record} is in cell {cell}, but there are {shares} shares")]
    Cell {
        /// Number of the margin.
        margin: usize,
        /// Number of the record.
        record: usize,
        /// The cell.
        cell: u32,
        /// Number of cells with a target share.
        shares: usize,
    },
    /// A target share is not a number.
    #[error("margin {margin}: a share is not a finite number")]
    Share {
        /// Number of the margin.
        margin: usize,
    },
    /// No weight remains.
    #[error(
        "margin {margin} puts all its weight on categories without records, or on records that other margins exclude; \
         no weights can reproduce it"
    )]
    Empty {
        /// Number of the margin.
        margin: usize,
    },
    /// Cancelled by the caller.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Rakes distinct records, with initial weights `counts`, to all margins; see [`Raked`].
///
/// A sweep takes one pass over the records for each table of margins that are adjusted together. Memory holds a
/// weight per record, and a cell per record and table.
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
/// Returns [`RakeError`] if there are no records or margins, or a margin does not match the records.
pub fn rake(counts: &[u64], margins: &[Margin], options: &Options) -> Result<Raked, RakeError> {
    rake_with_progress(counts, margins, options, ProgressSink::none())
}

/// Rakes as [`rake`] does. `progress` receives the sweeps.
///
/// # Errors
/// Returns the errors of [`rake`], or [`RakeError::Cancelled`] if `progress` cancels.
pub fn rake_with_progress(
    counts: &[u64],
    margins: &[Margin],
    options: &Options,
    progress: ProgressSink<'_>,
) -> Result<Raked, RakeError> {
    rake_weights(counts.iter().map(|&count| count as f64).collect(), margins, options, progress)
}

/// Rakes records with any initial weights, none of which is negative.
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
        // Weights that do not change will not improve.
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

/// Margins that are adjusted together, with the weights of the combinations of their cells.
struct Table {
    /// Combination of each record.
    cells: Vec<u32>,
    /// Margins, each with its number.
    axes: Vec<(usize, Axis)>,
    weights: Vec<f64>,
    /// Factors of the combinations in the last adjustment.
    ratios: Vec<f64>,
}

/// Progress of raking.
struct Course {
    sweeps: usize,
    /// Weights before the last sweep.
    before: Vec<f64>,
    /// Changes of the last sweeps in total variation, latest first.
    changes: [f64; 3],
    /// Largest difference of a margin from its target, when it was adjusted in the last sweep.
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
        // In the first sweep, the rate is unknown.
        let fall = 1.0 - ratio - 1.0 / self.sweeps as f64;
        (fall > 0.0).then(|| 2.0 * change / fall)
    }
}

/// Returns half the sum of absolute differences, with eight independent accumulators.
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

/// Groups the margins into tables, in their order.
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

/// Returns the shares if they are a distribution, and the closest distribution otherwise.
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

    /// Adjusts the table to its margins in turn, and raises `error` to the largest difference.
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

/// Multiplies the records by the factors of their cells in one table, and sums them for the next one.
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
        // A single table already contains its own sums.
        weights.iter_mut().zip(&table.cells).for_each(|(weight, &cell)| *weight *= table.ratios[cell as usize]);
    }
    tables[next].weights = sums;
}

/// Returns the largest difference of any margin of these weights from its attainable target.
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

/// Returns the cells with a target share and no weight.
fn unattainable(tables: &[Table]) -> Vec<Unattainable> {
    let of_axis = |(margin, axis): &(usize, Axis)| -> Vec<Unattainable> {
        let cells = axis.targets.iter().zip(&axis.sums).enumerate();
        let missing = cells.filter(|(_, (target, sum))| **target > 0.0 && **sum <= 0.0);
        missing.map(|(cell, (&share, _))| Unattainable { margin: *margin, cell, share }).collect()
    };
    tables.iter().flat_map(|table| &table.axes).flat_map(of_axis).collect()
}
