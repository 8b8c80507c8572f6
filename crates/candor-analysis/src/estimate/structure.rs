//! Tables with structural zeros, which skip logic makes impossible.
//!
//! Unbiased estimates of impossible cells are noise around zero, which is correlated with that of the other cells.
//! So it can be used to reduce their noise. With `A x` the impossible cells of an estimate `x`,
//!
//! ```text
//! x - W A' (A W A')^-1 A x
//! ```
//!
//! has zeros there. If `W` is the covariance of `x`, it is the least squares estimate among all such tables. Here
//! `W` is the covariance in a uniform population given the public attributes. It depends on the plan and the
//! assigned channels, and on no answer, so the map is linear in `x` and exactly unbiased. Its covariance is `P S
//! P'`, with `P` this map and `S` the covariance of `x`; if `W` is `S`, it is `S - S A' (A S A')^-1 A S`.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::components::{join, scale, split};
use super::inclusion::is_small;
use super::moments::{Moments, effective_people, smoothed};
use super::{Estimate, EstimateError, GroupLaw, Options, TableEstimator, Target, simplex};
use crate::structural_zeros::possible;
use crate::tally::{ChannelCounts, TableCounts};

/// Maximum number of cells of a table whose structural zeros are used.
const MAX_CELLS: usize = 1024;

/// Maximum number of steps for predicting errors.
const MAX_STEPS: usize = 1 << 33;

/// The map that uses the noise of impossible cells to reduce that of the others.
pub(crate) struct Structure {
    possible: Vec<bool>,
    impossible: Vec<usize>,
    /// For each cell and each impossible cell, what is subtracted per unit of the latter.
    gains: DMatrix<f64>,
}

impl Structure {
    /// Returns the estimate with structural zeros.
    pub(crate) fn shares(&self, shares: &[f64]) -> Vec<f64> {
        let own = |cell: usize| {
            let taken = |(number, &at): (usize, &usize)| self.gains[(cell, number)] * shares[at];
            shares[cell] - self.impossible.iter().enumerate().map(taken).sum::<f64>()
        };
        (0..shares.len()).map(|cell| if self.possible[cell] { own(cell) } else { 0.0 }).collect()
    }

    /// Returns the coefficients for the unbiased estimate that give the same sum as these with the mapped one.
    pub(crate) fn coefficients(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut found = coefficients.to_vec();
        for (number, &at) in self.impossible.iter().enumerate() {
            let taken =
                |(cell, g): (usize, &f64)| if self.possible[cell] { g * self.gains[(cell, number)] } else { 0.0 };
            found[at] = -coefficients.iter().enumerate().map(taken).sum::<f64>();
        }
        found
    }

    /// Returns whether a cell is possible.
    pub(crate) fn is_possible(&self, cell: usize) -> bool {
        self.possible[cell]
    }

    /// Restricts a distribution with [added](super::moments::smoothed) pseudo-respondents to the possible cells.
    pub(crate) fn likely(&self, smoothed: &[f64]) -> Vec<f64> {
        let kept: f64 = smoothed.iter().zip(&self.possible).filter(|(_, possible)| **possible).map(|(p, _)| p).sum();
        smoothed.iter().zip(&self.possible).map(|(p, possible)| if *possible { p / kept } else { 0.0 }).collect()
    }
}

impl TableEstimator<'_> {
    /// Returns the map for the structural zeros of the table; `None` if it has none, or more than 1,024 cells.
    pub(crate) fn structure(&self, tally: &TableCounts) -> Option<Structure> {
        self.structure_of(&self.group_laws(tally), None)
    }

    /// Returns the map with `W` the covariance near an estimate.
    ///
    /// Errors are smaller if the population is far from uniform, and the bias vanishes as the number of responses
    /// grows.
    pub(super) fn plug_in_structure(&self, tally: &TableCounts, estimate: &Estimate) -> Option<Structure> {
        let groups = self.group_laws(tally);
        let first = self.structure_of(&groups, None)?;
        let near = Estimate { shares: first.shares(&estimate.shares), ..estimate.clone() };
        self.structure_of(&groups, Some(&first.likely(&smoothed(&near, tally, 1))))
    }

    /// Returns the map for groups of responses. `W` is the covariance for these shares, or for a uniform
    /// population.
    fn structure_of(&self, groups: &[(GroupLaw, &ChannelCounts)], truth: Option<&[f64]>) -> Option<Structure> {
        if self.cells() > MAX_CELLS || !is_small(&self.dims) {
            return None;
        }
        let possible = possible(self.plan.schema(), &self.layout.attributes)?;
        let impossible: Vec<usize> = (0..possible.len()).filter(|&cell| !possible[cell]).collect();
        let columns = match truth {
            None if self.matrices.is_empty() => self.isotropic(groups, &impossible),
            truth => {
                self.check_matrices().ok()?;
                let even = evenly(&possible);
                self.covariance(groups, truth.unwrap_or(&even)).ok()?.select_columns(&impossible)
            }
        };
        Some(Structure { gains: gains(columns, &impossible), possible, impossible })
    }

    /// Returns columns of the covariance in a uniform population, up to a factor, in the order of the table.
    ///
    /// Shares of public attributes are known, so they do not change.
    fn isotropic(&self, groups: &[(GroupLaw, &ChannelCounts)], columns: &[usize]) -> DMatrix<f64> {
        let information = self.information_of(groups.iter().map(|(law, group)| (law, group.total)));
        let open = |u: usize| {
            let mut inside = self.attributes.iter().enumerate().filter(|(i, _)| u >> i & 1 == 1);
            inside.any(|(_, &attribute)| !self.plan.schema().attributes()[attribute].is_public())
        };
        let factor = |(u, known): (usize, &f64)| if open(u) { 1.0 / known } else { 0.0 };
        let factors: Vec<f64> = information.iter().enumerate().map(factor).collect();
        let column =
            |&cell: &usize| self.to_order(scaled(&self.held_order(&unit(cell, self.cells())), &self.dims, &factors));
        DMatrix::from_vec(self.cells(), columns.len(), columns.iter().flat_map(column).collect())
    }

    /// Returns the expected standard errors if all possible cells are equally frequent.
    ///
    /// `None` if the table has no structural zeros, or the computation would take too long.
    pub(super) fn predict_within(
        &self,
        groups: &[(GroupLaw, &ChannelCounts)],
        target: Target,
    ) -> Option<(Vec<f64>, Vec<f64>)> {
        let work = self.cells().saturating_pow(3).saturating_mul(groups.len());
        let structure = self.structure_of(groups, None).filter(|_| work <= MAX_STEPS)?;
        self.check_matrices().ok()?;
        let even = evenly(&structure.possible);
        let covariance = self.covariance(groups, &even).ok()?;
        let respondents: f64 = groups.iter().map(|(_, group)| group.total).sum();
        let error = |cell: usize| {
            let g = DVector::from_vec(structure.coefficients(&unit(cell, self.cells())));
            let sampling = if target == Target::Table { even[cell] * (1.0 - even[cell]) / respondents } else { 0.0 };
            (g.dot(&(&covariance * &g)) - sampling).max(0.0).sqrt()
        };
        let errors = (0..self.cells()).map(|cell| if structure.possible[cell] { error(cell) } else { 0.0 }).collect();
        Some((even, errors))
    }

    /// Returns the estimate with structural zeros, and its standard errors.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if answers are sets and there is also a matrix.
    pub(super) fn within(
        &self,
        structure: &Structure,
        estimate: Estimate,
        tally: &TableCounts,
        target: Target,
    ) -> Result<Estimate, EstimateError> {
        let mut found = Estimate { shares: structure.shares(&estimate.shares), ..estimate };
        let moments = self.moments(tally, &simplex::project(&found.shares))?;
        let moments = (!moments.by_answers()).then_some(moments);
        let error = |cell: usize| match structure.is_possible(cell) {
            true => self.error_of_sum(
                tally,
                &found,
                moments.as_ref(),
                &structure.coefficients(&unit(cell, self.cells())),
                target,
            ),
            false => 0.0,
        };
        found.standard_errors = (0..self.cells()).map(error).collect();
        Ok(found)
    }

    /// Returns the standard error of a linear combination of shares.
    ///
    /// `moments` are the variances at the estimate, if answers are not categories.
    pub(crate) fn error_of_sum(
        &self,
        tally: &TableCounts,
        estimate: &Estimate,
        moments: Option<&Moments<'_>>,
        coefficients: &[f64],
        target: Target,
    ) -> f64 {
        let Some(moments) = moments else {
            return self.linear_of(tally, estimate, coefficients, target).standard_error.unwrap_or(f64::NAN);
        };
        let sum =
            |g: fn(f64) -> f64| coefficients.iter().zip(&estimate.shares).map(|(c, share)| g(*c) * share).sum::<f64>();
        let drawing = match target {
            Target::Population => 0.0,
            Target::Table => (sum(|c| c * c) - sum(|c| c).powi(2)).max(0.0),
        };
        (moments.variance(coefficients) - drawing / effective_people(tally)).max(0.0).sqrt()
    }

    /// Returns the interval of every cell of an estimate with structural zeros.
    pub(super) fn binomial_within(
        &self,
        structure: &Structure,
        tally: &TableCounts,
        estimate: &Estimate,
        options: &Options,
    ) -> Result<Vec<(f64, f64)>, EstimateError> {
        let sums = self.sums(tally, estimate, Some(structure), options)?;
        let interval = |cell: usize| match structure.is_possible(cell) {
            true => sums.interval(estimate.shares[cell], &structure.coefficients(&unit(cell, self.cells()))),
            false => (0.0, 0.0),
        };
        Ok((0..self.cells()).map(interval).collect())
    }
}

pub(super) fn unit(cell: usize, cells: usize) -> Vec<f64> {
    (0..cells).map(|other| f64::from(u8::from(other == cell))).collect()
}

/// Returns equal shares for all possible cells.
fn evenly(possible: &[bool]) -> Vec<f64> {
    let each = 1.0 / possible.iter().filter(|possible| **possible).count() as f64;
    possible.iter().map(|possible| if *possible { each } else { 0.0 }).collect()
}

/// Multiplies the components of a table by these factors.
fn scaled(table: &[f64], dims: &[usize], factors: &[f64]) -> Vec<f64> {
    let mut table = table.to_vec();
    split(&mut table, dims, dims.len());
    scale(&mut table, dims, dims.len(), factors);
    join(&mut table, dims, dims.len());
    table
}

/// Returns `W A' (A W A')^-1`, given the columns `W A'`.
fn gains(columns: DMatrix<f64>, impossible: &[usize]) -> DMatrix<f64> {
    let square = DMatrix::from_fn(impossible.len(), impossible.len(), |i, j| columns[(impossible[i], j)]);
    columns * inverse(square)
}

/// Returns what each component of a table adds to the squared errors of the possible cells.
///
/// Bit `i` of a component stands for axis `i`. The value is multiplied by the information about the component and by
/// the number of cells. It is the trace of `P Pi P'`, with `Pi` the projection onto the component. Without
/// structural zeros, it is the dimension of the component.
///
/// # Panics
/// Panics unless there is one information for each component and one flag for each cell.
pub fn spread_of_components(dims: &[usize], possible: &[bool], information: &[f64]) -> Vec<f64> {
    let cells = possible.len();
    assert_eq!((dims.iter().product::<usize>(), 1 << dims.len()), (cells, information.len()), "as many as there are");
    let impossible: Vec<usize> = (0..cells).filter(|&cell| !possible[cell]).collect();
    let factors: Vec<f64> = (0..information.len()).map(|u| if u == 0 { 0.0 } else { 1.0 / information[u] }).collect();
    let columns = impossible.iter().flat_map(|&cell| scaled(&unit(cell, cells), dims, &factors)).collect();
    let gains = gains(DMatrix::from_vec(cells, impossible.len(), columns), &impossible);
    let structure = Structure { possible: possible.to_vec(), impossible, gains };
    let rows: Vec<Vec<f64>> =
        (0..cells).filter(|&cell| possible[cell]).map(|cell| structure.coefficients(&unit(cell, cells))).collect();
    let of_component = |u: usize| {
        let only: Vec<f64> = (0..information.len()).map(|other| f64::from(u8::from(other == u))).collect();
        rows.iter().map(|row| scaled(row, dims, &only).iter().map(|x| x * x).sum::<f64>()).sum()
    };
    (0..information.len()).map(of_component).collect()
}

/// Returns the inverse of a covariance matrix, or its pseudo-inverse if it is singular.
fn inverse(square: DMatrix<f64>) -> DMatrix<f64> {
    const CERTAIN: f64 = 1e-10;
    if let Some(found) = square.clone().cholesky() {
        let diagonal = found.l_dirty().diagonal();
        if diagonal.min() > CERTAIN.sqrt() * diagonal.max() {
            return found.inverse();
        }
    }
    let SymmetricEigen { eigenvalues, eigenvectors } = square.symmetric_eigen();
    let least = CERTAIN * eigenvalues.max();
    let inverted = eigenvalues.map(|value| if value > least { 1.0 / value } else { 0.0 });
    &eigenvectors * DMatrix::from_diagonal(&inverted) * eigenvectors.transpose()
}
