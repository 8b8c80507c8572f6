//! Tables of which some cells cannot be: questions that are asked only if another was answered in some way.
//!
//! Unbiased estimates of impossible cells are noise around zero, and this noise goes together with that of the other
//! cells. So what is seen of it can be taken out of them: with `A x` the impossible cells of an estimate `x`,
//!
//! ```text
//! x - W A' (A W A')^-1 A x
//! ```
//!
//! has zeros there, and is the least squares estimate among all tables that do, if `W` is the covariance of `x`. Here
//! `W` is the covariance at a uniform truth given the public attributes, which depends on the plan and on the tags
//! drawn, but on no answer: so this is linear in `x`, and stays exactly unbiased. Its covariance is `P S P'`, with `P`
//! this map and `S` the covariance of `x`; where `W` is `S`, that is `S - S A' (A S A')^-1 A S`.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::components::{join, scale, split};
use super::inclusion::is_small;
use super::moments::{Moments, effective_people, smoothed};
use super::{Estimate, EstimateError, GroupLaw, Options, TableEstimator, Target, simplex};
use crate::structural_zeros::possible;
use crate::tally::{Group, TableCounts};

/// The largest table whose impossible cells are made use of.
const MAX_CELLS: usize = 1024;

/// For how many steps errors are predicted.
const MAX_STEPS: usize = 1 << 33;

/// What takes the noise of impossible cells out of the others.
pub(crate) struct Structure {
    possible: Vec<bool>,
    impossible: Vec<usize>,
    /// For each cell and each impossible one what is taken away for one of it.
    gains: DMatrix<f64>,
}

impl Structure {
    /// The estimate without the impossible.
    pub(crate) fn shares(&self, shares: &[f64]) -> Vec<f64> {
        let own = |cell: usize| {
            let taken = |(number, &at): (usize, &usize)| self.gains[(cell, number)] * shares[at];
            shares[cell] - self.impossible.iter().enumerate().map(taken).sum::<f64>()
        };
        (0..shares.len()).map(|cell| if self.possible[cell] { own(cell) } else { 0.0 }).collect()
    }

    /// The coefficients with which cells of the unbiased estimate add up to what these give with the cells of this one.
    pub(crate) fn coefficients(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut found = coefficients.to_vec();
        for (number, &at) in self.impossible.iter().enumerate() {
            let taken =
                |(cell, g): (usize, &f64)| if self.possible[cell] { g * self.gains[(cell, number)] } else { 0.0 };
            found[at] = -coefficients.iter().enumerate().map(taken).sum::<f64>();
        }
        found
    }

    /// Whether a cell can be.
    pub(crate) fn is_possible(&self, cell: usize) -> bool {
        self.possible[cell]
    }

    /// A distribution over what can be, made of that in which some people of no particular kind are
    /// [added](super::moments::smoothed).
    pub(crate) fn likely(&self, smoothed: &[f64]) -> Vec<f64> {
        let kept: f64 = smoothed.iter().zip(&self.possible).filter(|(_, possible)| **possible).map(|(p, _)| p).sum();
        smoothed.iter().zip(&self.possible).map(|(p, possible)| if *possible { p / kept } else { 0.0 }).collect()
    }
}

impl TableEstimator<'_> {
    /// What the schema's conditions say of the table; `None` if all of its cells can be, or it has more than 1,024.
    pub(crate) fn structure(&self, tally: &TableCounts) -> Option<Structure> {
        self.structure_of(&self.group_laws(tally), None)
    }

    /// The same with `W` the covariance near an estimate: smaller errors where the truth is far from uniform, unbiased
    /// only with many responses.
    pub(super) fn plug_in_structure(&self, tally: &TableCounts, estimate: &Estimate) -> Option<Structure> {
        let groups = self.group_laws(tally);
        let first = self.structure_of(&groups, None)?;
        let near = Estimate { shares: first.shares(&estimate.shares), ..estimate.clone() };
        self.structure_of(&groups, Some(&first.likely(&smoothed(&near, tally, 1))))
    }

    /// The same for groups of responses; `W` is the covariance at a uniform truth, or at this one.
    fn structure_of(&self, groups: &[(GroupLaw, &Group)], truth: Option<&[f64]>) -> Option<Structure> {
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

    /// Columns of the covariance at a uniform truth, but for a factor, in the order of the table. What is public is
    /// known of everybody: its shares stay what they are.
    fn isotropic(&self, groups: &[(GroupLaw, &Group)], columns: &[usize]) -> DMatrix<f64> {
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

    /// The standard errors to expect where not all cells can be, if all that can are equally common; `None` if all can,
    /// or there is too much to work out.
    pub(super) fn predict_within(&self, groups: &[(GroupLaw, &Group)], target: Target) -> Option<(Vec<f64>, Vec<f64>)> {
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

    /// An estimate with zeros where nothing can be, and the standard errors that it has then.
    ///
    /// # Errors
    /// If answers are sets and there is a matrix beside them.
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

    /// The standard error of a sum of shares; `moments` are the variances at the estimate, where answers are not
    /// categories.
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

    /// The interval of every cell of an estimate with zeros where nothing can be.
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

/// All that can be, equally common.
fn evenly(possible: &[bool]) -> Vec<f64> {
    let each = 1.0 / possible.iter().filter(|possible| **possible).count() as f64;
    possible.iter().map(|possible| if *possible { each } else { 0.0 }).collect()
}

/// The table whose components are those of this one times these factors.
fn scaled(table: &[f64], dims: &[usize], factors: &[f64]) -> Vec<f64> {
    let mut table = table.to_vec();
    split(&mut table, dims, dims.len());
    scale(&mut table, dims, dims.len(), factors);
    join(&mut table, dims, dims.len());
    table
}

/// `W A' (A W A')^-1`, from the columns `W A'`.
fn gains(columns: DMatrix<f64>, impossible: &[usize]) -> DMatrix<f64> {
    let square = DMatrix::from_fn(impossible.len(), impossible.len(), |i, j| columns[(impossible[i], j)]);
    columns * inverse(square)
}

/// How much each component of a table, bit `i` for axis `i`, adds to the squared errors of the cells that can be, times
/// the information about it and the number of cells: the traces of `P Pi P'`, with `Pi` the projection on the
/// component, if these are the informations. Where all cells can be, the dimensions of the components.
///
/// # Panics
/// If there is not one information for each of the components, or one flag for each cell.
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

/// The inverse of a covariance, or where some of it is certain, its pseudo-inverse.
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
