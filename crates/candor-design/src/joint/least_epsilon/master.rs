//! The small linear program over the sets found so far, solved by a simplex method with column generation.
//!
//! ```text
//! minimize  sum over D of lambda_D   such that   sum over D of lambda_D c_i(D) >= b_i,   lambda >= 0
//! ```
//!
//! Rows are divided by `b_i` and columns by their largest entry, because the raw numbers span many orders of magnitude.
//! The solution is only a proposal: levels are recomputed from the final channel.

/// A column: the gains of a set, each divided by the need of its row.
struct Column {
    entries: Vec<f64>,
    /// The divisor of the entries, whose inverse is the column's objective.
    scale: f64,
}

/// A basic variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variable {
    Column(usize),
    /// The surplus of row `i` over its need.
    Surplus(usize),
}

/// The program. Rows are numbered like attributes, columns in the order in which they were added.
pub struct Master {
    rows: usize,
    columns: Vec<Column>,
    basis: Vec<Variable>,
    /// Inverse of the basis matrix, by rows.
    inverse: Vec<Vec<f64>>,
    /// The values of the basic variables.
    values: Vec<f64>,
    pivots: usize,
    steps: u64,
}

/// Tolerance for the sign of reduced costs.
const TOLERANCE: f64 = 1e-12;

/// Returns the number of pivots after which the inverse is recomputed.
///
/// With few rows, recomputation costs little. It is then done every time, because nearly equal attributes make bases
/// nearly singular.
fn refresh_after(rows: usize) -> usize {
    match rows {
        0..=32 => 1,
        33..=100 => 10,
        _ => 100,
    }
}

impl Master {
    /// Creates a program with one column, whose entries (gain over need) must all be positive.
    pub fn new(entries: Vec<f64>) -> Master {
        let rows = entries.len();
        let mut master = Master {
            rows,
            columns: Vec::new(),
            basis: (0..rows).map(Variable::Surplus).collect(),
            inverse: Vec::new(),
            values: Vec::new(),
            pivots: 0,
            steps: 0,
        };
        let tightest = (0..rows).min_by(|&a, &b| entries[a].total_cmp(&entries[b])).unwrap_or(0);
        master.push(entries);
        master.basis[tightest] = Variable::Column(0);
        master.refresh();
        master
    }

    /// Returns the approximate number of sums and products so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Adds a column (gain over need in each row).
    pub fn push(&mut self, mut entries: Vec<f64>) {
        let scale = entries.iter().fold(0.0f64, |largest, e| largest.max(e.abs())).max(f64::MIN_POSITIVE);
        entries.iter_mut().for_each(|e| *e /= scale);
        self.columns.push(Column { entries, scale });
    }

    fn entry(&self, variable: Variable, row: usize) -> f64 {
        match variable {
            Variable::Column(column) => self.columns[column].entries[row],
            Variable::Surplus(of) if of == row => -1.0,
            Variable::Surplus(_) => 0.0,
        }
    }

    fn cost(&self, variable: Variable) -> f64 {
        match variable {
            Variable::Column(column) => 1.0 / self.columns[column].scale,
            Variable::Surplus(_) => 0.0,
        }
    }

    /// Recomputes the inverse and the values from the basis.
    fn refresh(&mut self) {
        self.steps += (self.rows * self.rows * self.rows) as u64;
        let matrix = nalgebra::DMatrix::from_fn(self.rows, self.rows, |r, c| self.entry(self.basis[c], r));
        if let Some(inverse) = matrix.try_inverse() {
            self.inverse = inverse.row_iter().map(|row| row.iter().copied().collect()).collect();
        }
        self.values = self.inverse.iter().map(|row| row.iter().sum()).collect();
        self.pivots = 0;
    }

    /// Returns the dual prices of the rows, in units of their needs.
    fn prices(&self) -> Vec<f64> {
        let mut prices = vec![0.0; self.rows];
        for (&variable, row) in self.basis.iter().zip(&self.inverse) {
            let cost = self.cost(variable);
            if cost != 0.0 {
                prices.iter_mut().zip(row).for_each(|(price, r)| *price += cost * r);
            }
        }
        prices
    }

    /// Returns the saving per unit of a variable; if positive, the variable should enter the basis.
    fn saving(&self, variable: Variable, prices: &[f64]) -> f64 {
        match variable {
            Variable::Surplus(row) => -prices[row],
            Variable::Column(column) => {
                let column = &self.columns[column];
                let worth: f64 = column.entries.iter().zip(prices).map(|(e, y)| e * y).sum();
                worth - 1.0 / column.scale
            }
        }
    }

    /// Solves the program for the current columns, and returns the dual prices. Cost: `rows^2` per pivot.
    pub fn solve(&mut self) -> Vec<f64> {
        let limit = 50 * (self.rows + self.columns.len());
        // After pivots without gain, choose pivots that cannot cycle. Nearly equal columns may still alternate forever
        // because of rounding; then the prices are as good as possible.
        let patience = 20 + self.rows;
        let (mut best, mut in_vain) = (f64::INFINITY, 0);
        for round in 0..limit {
            self.steps += (self.rows * (self.rows + self.columns.len())) as u64;
            let prices = self.prices();
            let value: f64 = prices.iter().sum();
            in_vain = if value < best * (1.0 - 1e-13) { 0 } else { in_vain + 1 };
            best = best.min(value);
            if in_vain > 20 * patience {
                return prices;
            }
            let size = prices.iter().fold(0.0f64, |size, y| size.max(y.abs()));
            let candidates = (0..self.columns.len()).map(Variable::Column).chain((0..self.rows).map(Variable::Surplus));
            let improving = |&variable: &Variable| self.saving(variable, &prices) > TOLERANCE * size;
            let mut improving = candidates.filter(improving);
            // The first improving variable never cycles; the best one is faster.
            let entering = match in_vain > patience || round > limit / 2 {
                true => improving.next(),
                false => improving.max_by(|&a, &b| self.saving(a, &prices).total_cmp(&self.saving(b, &prices))),
            };
            let Some(entering) = entering else { return prices };
            if !self.pivot(entering) {
                return prices;
            }
        }
        self.prices()
    }

    /// Brings a variable into the basis; returns `false` if nothing limits it.
    fn pivot(&mut self, entering: Variable) -> bool {
        let direction: Vec<f64> = match entering {
            Variable::Surplus(row) => self.inverse.iter().map(|inverse| -inverse[row]).collect(),
            Variable::Column(column) => {
                let entries = &self.columns[column].entries;
                self.inverse.iter().map(|row| row.iter().zip(entries).map(|(a, b)| a * b).sum()).collect()
            }
        };
        let size = direction.iter().fold(0.0f64, |size, d| size.max(d.abs()));
        let limiting: Vec<usize> = (0..self.rows).filter(|&r| direction[r] > 1e-11 * size).collect();
        // Ratios that differ only by rounding are ties; the tie with the largest pivot is the most accurate.
        let slack = 1e-13 * self.values.iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
        let ratio = |r: usize, slack: f64| (self.values[r].max(0.0) + slack) / direction[r];
        let least = limiting.iter().map(|&r| ratio(r, slack)).fold(f64::INFINITY, f64::min);
        let tied = limiting.into_iter().filter(|&r| ratio(r, 0.0) <= least);
        let leaving = tied.max_by(|&a, &b| direction[a].total_cmp(&direction[b]));
        let Some(leaving) = leaving else { return false };
        self.basis[leaving] = entering;
        let pivot = direction[leaving];
        self.inverse[leaving].iter_mut().for_each(|e| *e /= pivot);
        self.values[leaving] = self.values[leaving].max(0.0) / pivot;
        let (row, value) = (self.inverse[leaving].clone(), self.values[leaving]);
        for r in (0..self.rows).filter(|&r| r != leaving && direction[r] != 0.0) {
            self.inverse[r].iter_mut().zip(&row).for_each(|(e, p)| *e -= direction[r] * p);
            self.values[r] -= direction[r] * value;
        }
        self.pivots += 1;
        if self.pivots >= refresh_after(self.rows) {
            self.refresh();
        }
        true
    }

    /// Returns the weights of the columns in use, from a recomputed basis.
    pub fn weights(&mut self) -> Vec<(usize, f64)> {
        self.refresh();
        let weight = |(&variable, &value): (&Variable, &f64)| match variable {
            Variable::Column(column) if value > 0.0 => Some((column, value / self.columns[column].scale)),
            _ => None,
        };
        self.basis.iter().zip(&self.values).filter_map(weight).collect()
    }
}
