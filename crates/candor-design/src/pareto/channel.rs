//! Channels with a prior: the joint probabilities of answers and true categories.

use super::prior::Prior;
use super::{FrontError, FrontProblem};

/// A channel with a prior: row `z` holds `x_zj = P(answer z | category j) pi_j`, so columns sum to the prior.
///
/// A row is a posterior, scaled by the probability of its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontChannel {
    categories: usize,
    cells: Vec<f64>,
}

impl FrontChannel {
    /// Creates a channel from joint probabilities, row by row.
    ///
    /// Columns are scaled to sum to the prior, up to rounding. Answers of probability zero are dropped.
    pub(crate) fn new(prior: &Prior, mut cells: Vec<f64>) -> FrontChannel {
        let n = prior.len();
        cells.iter_mut().for_each(|cell| *cell = cell.max(0.0));
        let mut sums = vec![0.0; n];
        for row in cells.chunks_exact(n) {
            sums.iter_mut().zip(row).for_each(|(sum, cell)| *sum += cell);
        }
        for row in cells.chunks_exact_mut(n) {
            for ((cell, sum), share) in row.iter_mut().zip(&sums).zip(prior.shares()) {
                *cell *= share / sum;
            }
        }
        let came = |row: &&[f64]| row.iter().sum::<f64>() > 0.0;
        let cells = cells.chunks_exact(n).filter(came).flatten().copied().collect();
        FrontChannel { categories: n, cells }
    }

    /// Creates a channel from the columns of a matrix, `columns[j][z] = P(answer z | category j)`.
    ///
    /// # Errors
    /// Returns [`FrontError::Channel`] unless there is one column per category, all of the same length, with
    /// probabilities that sum to one within 1e-9.
    pub fn from_columns(prior: &Prior, columns: &[Vec<f64>]) -> Result<FrontChannel, FrontError> {
        let wrong = |problem: String| Err(FrontError::Channel(problem));
        if columns.len() != prior.len() {
            return wrong(format!("the channel has {} inputs, but the prior {} shares", columns.len(), prior.len()));
        }
        let outputs = columns[0].len();
        for (j, column) in columns.iter().enumerate() {
            let sum: f64 = column.iter().sum();
            let proper = column.iter().all(|p| p.is_finite() && *p >= 0.0) && (sum - 1.0).abs() < 1e-9;
            if column.len() != outputs || !proper {
                return wrong(format!("column {} of the channel is no distribution over {outputs} outputs", j + 1));
            }
        }
        let cell = |z: usize, j: usize| columns[j][z] * prior.shares()[j];
        let cells = (0..outputs).flat_map(|z| (0..prior.len()).map(move |j| cell(z, j))).collect();
        Ok(FrontChannel::new(prior, cells))
    }

    /// Returns the columns of the matrix, `columns[j][z] = P(answer z | category j)`; each sums to one.
    pub fn columns(&self, prior: &Prior) -> Vec<Vec<f64>> {
        let column = |(j, share): (usize, &f64)| {
            let mut column: Vec<f64> = self.rows().map(|row| row[j] / share).collect();
            let sum: f64 = column.iter().sum();
            column.iter_mut().for_each(|p| *p /= sum);
            column
        };
        prior.shares().iter().enumerate().map(column).collect()
    }

    /// Mixes the channel with an uninformative one until it meets the posterior bound and the guess accuracy
    /// `accuracy`.
    ///
    /// This corrects excesses due to rounding, or to a program that was not solved completely. The distribution of the
    /// answers does not change.
    pub(crate) fn within(mut self, goal: &FrontProblem, accuracy: f64) -> FrontChannel {
        let (shares, largest) = (goal.prior().shares(), goal.least_accurate());
        let guessed = goal.accuracy_of(self.rows());
        let mut part = if guessed > accuracy { (guessed - accuracy) / (guessed - largest) } else { 0.0 };
        for row in self.rows() {
            let weight: f64 = row.iter().sum();
            for (x, share) in row.iter().zip(shares).filter(|(x, _)| **x > goal.bound() * weight * (1.0 + 1e-12)) {
                part = part.max((x / weight - goal.bound()) / (x / weight - share));
            }
        }
        if part > 0.0 && part < 1.0 {
            for row in self.cells.chunks_exact_mut(self.categories) {
                let weight: f64 = row.iter().sum();
                row.iter_mut().zip(shares).for_each(|(x, share)| *x += part * (weight * share - *x));
            }
        }
        self
    }

    /// Iterates over the rows: joint probabilities of one answer with every category.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.cells.chunks_exact(self.categories)
    }

    /// Returns the number of distinct answers.
    pub fn outputs(&self) -> usize {
        self.cells.len() / self.categories
    }

    /// Returns all joint probabilities, row by row.
    pub(crate) fn cells(&self) -> &[f64] {
        &self.cells
    }
}
