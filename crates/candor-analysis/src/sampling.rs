//! Respondents who are no simple random sample: strata, clusters and weights, by linearisation; replicate weights.
//!
//! A weighted estimate is the mean of what responses add to each cell. Its design variance needs no model of them: with `t` the sum, over
//! the responses of a sampling unit, of their weights times what they add less the mean, over the sum of all weights, it is
//! `sum over strata of (1 - f) m / (m - 1) sum over their m units of (t - mean of t)^2`, with `f` the share of the stratum's units
//! that were drawn. The noise of the randomization scatters these sums like everything else, so it is in it, whatever the channels.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use crate::estimate::{EstimateError, TableEstimator};
use crate::tally::TableTally;

/// The responses of one unit that was drawn as a whole: a household, a school, or one person.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Its stratum.
    pub stratum: usize,
    /// Its responses, with their weights.
    pub tally: TableTally,
}

/// Why a design tells no variance.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SamplingError {
    /// The table cannot be estimated at all.
    #[error(transparent)]
    Estimate(#[from] EstimateError),
    /// One unit does not tell how far others are apart.
    #[error(
        "stratum number {0} has one sampling unit only, which does not tell how far others would be; merge it with another stratum"
    )]
    OneUnit(usize),
    /// More units were drawn than there are.
    #[error("stratum number {stratum} has {drawn} sampling units, but its population only {population}")]
    Population {
        /// The stratum, counted from 1.
        stratum: usize,
        /// How many were drawn.
        drawn: usize,
        /// How many there are.
        population: f64,
    },
}

/// The covariance of all cells of a table under the design, in the order of the table. `population` says, if it is known, how many units each stratum has.
///
/// # Errors
/// If the table cannot be estimated, or a stratum has one unit only, or more than there are.
pub fn design_covariance(
    estimator: &TableEstimator<'_>,
    all: &TableTally,
    units: &[Unit],
    population: Option<&[f64]>,
) -> Result<DMatrix<f64>, SamplingError> {
    let cells = estimator.estimate(all, Default::default())?.shares.len();
    let mut strata: BTreeMap<usize, Vec<DVector<f64>>> = BTreeMap::new();
    for unit in units.iter().filter(|unit| unit.tally.total() > 0.0) {
        let influence = DVector::from_vec(estimator.influence(all, &unit.tally)?);
        strata.entry(unit.stratum).or_default().push(influence);
    }
    let mut covariance = DMatrix::zeros(cells, cells);
    for (stratum, units) in strata {
        let drawn = units.len();
        if drawn < 2 {
            return Err(SamplingError::OneUnit(stratum + 1));
        }
        let left = match population.and_then(|population| population.get(stratum)) {
            Some(&population) if population < drawn as f64 => {
                return Err(SamplingError::Population { stratum: stratum + 1, drawn, population });
            }
            Some(&population) => 1.0 - drawn as f64 / population,
            None => 1.0,
        };
        let m = drawn as f64;
        let mean = units.iter().sum::<DVector<f64>>() / m;
        for unit in &units {
            let deviation = unit - &mean;
            covariance += &deviation * deviation.transpose() * (left * m / (m - 1.0));
        }
    }
    Ok(covariance)
}

/// How estimates with replicate weights tell the variance: the sum of their squared distances from the estimate, times a factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replicates {
    /// The jackknife that leaves one of `R` units out: `(R - 1) / R`.
    Jackknife,
    /// Balanced half samples: `1 / R`.
    Balanced,
    /// Bootstrap samples: `1 / (R - 1)`.
    Bootstrap,
}

impl Replicates {
    /// The factor for so many replicates.
    pub fn factor(self, count: usize) -> f64 {
        let count = count as f64;
        match self {
            Replicates::Jackknife => (count - 1.0) / count,
            Replicates::Balanced => 1.0 / count,
            Replicates::Bootstrap => 1.0 / (count - 1.0),
        }
    }

    /// The covariance of an estimate from those with replicate weights; `None` for fewer than two.
    pub fn covariance(self, estimate: &[f64], replicates: &[Vec<f64>]) -> Option<DMatrix<f64>> {
        let sum = replicates.iter().fold(DMatrix::zeros(estimate.len(), estimate.len()), |sum, replicate| {
            let deviation = DVector::from_fn(estimate.len(), |cell, _| replicate[cell] - estimate[cell]);
            sum + &deviation * deviation.transpose()
        });
        (replicates.len() > 1).then(|| sum * self.factor(replicates.len()))
    }
}
