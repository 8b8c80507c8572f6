//! Linear combinations of shares, for conditions and the delta method.

use nalgebra::{DMatrix, DVector};

use super::{Estimate, EstimateError, GroupLaw, TableEstimator, Target, simplex};
use crate::tally::{ChannelCounts, TableCounts};

/// An estimated linear combination of shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Linear {
    /// Unbiased estimate.
    pub value: f64,
    /// Standard error; `None` for tables of set-valued answers above 4,096 cells, for which it is not computed.
    pub standard_error: Option<f64>,
}

impl TableEstimator<'_> {
    /// Estimates `sum_c g_c share_c` over the cells of the table, with its standard error.
    ///
    /// The first attribute varies slowest. A response with answer `z` contributes `h(z) = sum_c g_c f(c, z)`, where
    /// `f` are its contributions to the cells. So the variance is that of `h` over the responses; it includes all
    /// covariances of cells, at no higher cost than the estimate.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if there are no responses, or the table is not identifiable.
    ///
    /// # Panics
    /// Panics unless there is one coefficient per cell.
    pub fn linear(&self, tally: &TableCounts, coefficients: &[f64], target: Target) -> Result<Linear, EstimateError> {
        let mut estimate = self.estimate(tally, target)?;
        let Some(structure) = self.structure(tally) else {
            return Ok(self.linear_of(tally, &estimate, coefficients, target));
        };
        estimate.shares = structure.shares(&estimate.shares);
        Ok(self.linear_of(tally, &estimate, &structure.coefficients(coefficients), target))
    }

    /// Estimates a linear combination from the estimated table.
    ///
    /// # Panics
    /// Panics unless there is one coefficient per cell.
    pub fn linear_of(&self, tally: &TableCounts, estimate: &Estimate, coefficients: &[f64], target: Target) -> Linear {
        assert_eq!(coefficients.len(), estimate.shares.len(), "one coefficient per cell");
        let value = dot(coefficients, &estimate.shares);
        match self.scatter(tally) {
            Ok(None) => {}
            Ok(Some(scatter)) => return Linear { value, standard_error: Some(scatter.variance(coefficients).sqrt()) },
            Err(_) => return Linear { value, standard_error: None },
        }
        let groups = self.group_laws(tally);
        let variance = match groups.iter().all(|(law, _)| self.answers_are_categories(law)) {
            true => Some(self.linear_variance(&groups, &estimate.shares, coefficients)),
            false => self.covariance(&groups, &simplex::project(&estimate.shares)).ok().map(|covariance| {
                let coefficients = DVector::from_column_slice(coefficients);
                coefficients.dot(&(covariance * &coefficients))
            }),
        };
        let sampling = match target {
            Target::Population => 0.0,
            Target::Table => {
                let squares: Vec<f64> = coefficients.iter().map(|g| g * g).collect();
                let sum = |of: fn(&ChannelCounts) -> f64| groups.iter().map(|(_, group)| of(group)).sum::<f64>();
                let per_response = sum(|group| group.squares) / sum(|group| group.total).powi(2);
                per_response * (dot(&squares, &estimate.shares) - value * value).max(0.0)
            }
        };
        Linear { value, standard_error: variance.map(|variance| (variance - sampling).max(0.0).sqrt()) }
    }

    /// Returns the variance of the combination, for answers that are categories.
    ///
    /// If the estimate is out of range, the variance is at least that of the closest distribution, as for single
    /// cells.
    fn linear_variance(&self, groups: &[(GroupLaw, &ChannelCounts)], shares: &[f64], coefficients: &[f64]) -> f64 {
        let weights = self
            .component_weights(groups.iter().map(|(law, group)| (law, group.total)))
            .expect("the table was estimated");
        let whole = self.matrices.iter().all(|axis| axis.is_whole());
        let held = self.held_order(shares);
        let feasible = (whole && held.iter().any(|share| *share < 0.0)).then(|| self.forward(&simplex::project(&held)));
        let mut variance = 0.0;
        for ((law, group), weights) in groups.iter().zip(&weights) {
            let values = self.contributions(law, &self.estimate_coefficients(weights), coefficients);
            let spread = |first: &[f64], second: &[f64]| {
                let (mean, other) = (dot(&values, first), dot(&values, second));
                let square: f64 = values.iter().zip(second).map(|(value, share)| value * value * share).sum();
                square - 2.0 * mean * other + mean * mean
            };
            let (first, second) = self.answer_shares(group, law, &held);
            let mut largest = spread(&first, second.as_deref().unwrap_or(&first));
            if let Some(feasible) = &feasible {
                let answers = self.expected(feasible, law);
                largest = largest.max(spread(&answers, &answers));
            }
            variance += largest.max(0.0) * group.squares / (group.total * group.total);
        }
        variance
    }

    /// Returns the covariance matrix of a one-way table.
    ///
    /// For matrices that include other attributes, it follows from the variances of sums of two shares.
    pub(crate) fn covariance_one_way(&self, tally: &TableCounts, estimate: &Estimate) -> DMatrix<f64> {
        let cells = estimate.shares.len();
        if let Ok(Some(covariance)) = self.design_covariance(tally) {
            return covariance;
        }
        let closest = simplex::project(&estimate.shares);
        if self.matrices.iter().all(|axis| axis.is_whole())
            && let Ok(covariance) = self.covariance(&self.group_laws(tally), &closest)
        {
            return covariance;
        }
        let variance = |members: &[usize]| {
            let coefficients: Vec<f64> = (0..cells).map(|cell| f64::from(members.contains(&cell))).collect();
            let found = self.linear_of(tally, estimate, &coefficients, Target::Population);
            found.standard_error.map_or(0.0, |error| error * error)
        };
        let single: Vec<f64> = (0..cells).map(|i| variance(&[i])).collect();
        DMatrix::from_fn(cells, cells, |i, j| match i == j {
            true => single[i],
            false => (variance(&[i, j]) - single[i] - single[j]) / 2.0,
        })
    }

    /// Returns whether every answer is a single category or output.
    pub(super) fn answers_are_categories(&self, law: &GroupLaw) -> bool {
        !law.has_strips() && law.shares.iter().zip(&self.dims).all(|(share, &a)| (share * a as f64 - 1.0).abs() < 1e-9)
    }

    /// Applies the transposed inverses of the matrices, from coefficients of cells to those of outputs.
    pub(super) fn invert_transposed(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut table = coefficients.to_vec();
        let mut outer: usize = self.dims[..self.attributes.len()].iter().product();
        for (i, axis) in self.matrices.iter().enumerate() {
            let inner: usize = self.matrices[i + 1..].iter().map(|axis| axis.cells()).product();
            table = axis.apply_transposed(&table, outer, inner);
            outer *= axis.outputs();
        }
        table
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
