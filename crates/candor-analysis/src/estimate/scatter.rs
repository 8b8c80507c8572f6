//! Errors of survey designs: how estimates scatter from unit to unit of the sample, or from replicate to replicate.
//!
//! A weighted estimate is the mean of what responses add to each cell. Its variance under a design needs no model of them: with `t` the sum, over
//! the responses of a sampling unit, of their weights times what they add less the mean, over the sum of all weights, it is
//! `sum over strata of (1 - f) m / (m - 1) sum over their m units of (t - mean of t)^2`, with `f` the share of the stratum's units
//! that were drawn. Units of whom nobody belongs to the group that is estimated have `t = 0`. Where weights are calibrated, `t` is less what the
//! known margins explain of it (Deville and Särndal 1992). The noise of the randomization scatters these sums like everything else, so it is in it, whatever
//! the channels.

use std::collections::BTreeMap;

use nalgebra::DMatrix;

use super::{EstimateError, GroupLaw, TableEstimator};
use crate::tally::{Drawn, TableTally, UnitCounts, UnitGroup, Units};

/// The most numbers that are held: units times cells.
const MOST_NUMBERS: usize = 1 << 26;

/// A covariance of all cells, as the sum of the outer products of these with themselves.
pub(crate) struct Scatter(Vec<Vec<f64>>);

impl Scatter {
    /// The variance of `sum_c g_c share_c`.
    pub(crate) fn variance(&self, coefficients: &[f64]) -> f64 {
        let dot = |column: &Vec<f64>| column.iter().zip(coefficients).map(|(a, b)| a * b).sum::<f64>();
        self.0.iter().map(|column| dot(column).powi(2)).sum()
    }

    /// The variance of each cell.
    pub(crate) fn variances(&self, cells: usize) -> Vec<f64> {
        self.0.iter().fold(vec![0.0; cells], |mut sum, column| {
            sum.iter_mut().zip(column).for_each(|(sum, value)| *sum += value * value);
            sum
        })
    }

    /// The covariance of all cells.
    pub(crate) fn dense(&self, cells: usize) -> DMatrix<f64> {
        let columns: Vec<f64> = self.0.iter().flatten().copied().collect();
        let columns = DMatrix::from_vec(cells, self.0.len(), columns);
        &columns * columns.transpose()
    }
}

impl TableEstimator<'_> {
    /// How the estimate scatters, in the order of the table; `None` if respondents are a simple random sample.
    ///
    /// # Errors
    /// If the table cannot be estimated, a replicate has no responses, or there are too many units for its cells.
    pub(crate) fn scatter(&self, tally: &TableTally) -> Result<Option<Scatter>, EstimateError> {
        match tally.drawn() {
            None => Ok(None),
            Some(Drawn::Units(units)) => self.scatter_of_units(tally, units).map(Some),
            Some(Drawn::Replicates(method, tallies)) => {
                let estimate = self.shares(tally)?;
                let factor = method.factor(tallies.len()).sqrt();
                let one = |replicate: &TableTally| {
                    let shares = self.shares(replicate).map_err(|_| EstimateError::EmptyReplicate)?;
                    Ok(shares.iter().zip(&estimate).map(|(a, b)| factor * (a - b)).collect())
                };
                Ok(Some(Scatter(tallies.iter().map(one).collect::<Result<_, EstimateError>>()?)))
            }
        }
    }

    /// The covariance of all cells under the design, in the order of the table; `None` if respondents are a simple random sample.
    ///
    /// # Errors
    /// If the table cannot be estimated, a replicate has no responses, or there are too many units for its cells.
    pub fn design_covariance(&self, tally: &TableTally) -> Result<Option<DMatrix<f64>>, EstimateError> {
        Ok(self.scatter(tally)?.map(|scatter| scatter.dense(self.cells())))
    }

    fn scatter_of_units(&self, tally: &TableTally, units: &Units) -> Result<Scatter, EstimateError> {
        let sample = units.sample();
        let explained = sample.calibration().is_some();
        let held = if explained { sample.stratum_of().len() } else { units.counts().len() };
        if held.saturating_mul(self.cells()) > MOST_NUMBERS {
            return Err(EstimateError::TooManyUnits { units: held, cells: self.cells() });
        }
        let mut sums = self.sums_of_units(tally, units)?;
        let mut strata: Vec<Vec<Vec<f64>>> = vec![Vec::new(); sample.strata().len()];
        for (unit, &stratum) in sample.stratum_of().iter().enumerate() {
            strata[stratum as usize].extend(sums.remove(&(unit as u32)));
        }
        let mut columns = Vec::with_capacity(held + strata.len());
        for (stratum, sums) in sample.strata().iter().zip(strata) {
            let m = stratum.units as f64;
            let left = stratum.population.map_or(1.0, |population| 1.0 - m / population).max(0.0);
            if stratum.units < 2 || left <= 0.0 || sums.is_empty() {
                continue;
            }
            let factor = (left * m / (m - 1.0)).sqrt();
            let mut mean = vec![0.0; self.cells()];
            sums.iter().for_each(|sum| mean.iter_mut().zip(sum).for_each(|(mean, value)| *mean += value / m));
            // Those of whom nobody is counted are as far from the mean as zero is.
            let others = factor * (m - sums.len() as f64).max(0.0).sqrt();
            let deviation = |sum: Vec<f64>| sum.iter().zip(&mean).map(|(a, b)| factor * (a - b)).collect();
            columns.extend(sums.into_iter().map(deviation).collect::<Vec<Vec<f64>>>());
            columns.push(mean.iter().map(|mean| others * mean).collect());
        }
        Ok(Scatter(columns))
    }

    /// What each unit adds to the estimate, by its number; of those that add nothing some are left out.
    fn sums_of_units(&self, tally: &TableTally, units: &Units) -> Result<BTreeMap<u32, Vec<f64>>, EstimateError> {
        let influences = Influences::new(self, tally)?;
        let mut sums: BTreeMap<u32, Vec<f64>> =
            units.counts().iter().map(|(unit, counts)| (*unit, influences.of(counts))).collect();
        let Some(calibration) = units.sample().calibration() else { return Ok(sums) };
        // The regression of what responses add on the margins, by the weights before.
        let mut products = DMatrix::zeros(calibration.inverse.nrows(), self.cells());
        for (combination, before) in &units.before {
            let added = influences.of(before);
            for &column in &calibration.columns[*combination] {
                (0..self.cells()).for_each(|cell| products[(column, cell)] += added[cell]);
            }
        }
        let slopes = &calibration.inverse * products;
        for (unit, weights) in calibration.of_units.iter().enumerate() {
            let sum = sums.entry(unit as u32).or_insert_with(|| vec![0.0; self.cells()]);
            for (combination, weight) in weights {
                for &column in &calibration.columns[*combination] {
                    sum.iter_mut().enumerate().for_each(|(cell, sum)| *sum -= weight * slopes[(column, cell)]);
                }
            }
        }
        Ok(sums)
    }
}

/// What some of all responses add to an estimate beyond their part of its mean: over parts that make up all, these sum to zero, and what is
/// estimated from all varies as their sum does.
struct Influences<'e> {
    estimator: &'e TableEstimator<'e>,
    groups: BTreeMap<&'e [u16], Added>,
}

struct Added {
    law: GroupLaw,
    coefficients: Vec<f64>,
    total: f64,
    answers: usize,
    mean: Vec<f64>,
}

impl<'e> Influences<'e> {
    fn new(estimator: &'e TableEstimator<'e>, all: &'e TableTally) -> Result<Influences<'e>, EstimateError> {
        let laws = estimator.group_laws(all);
        let weights = estimator.component_weights(laws.iter().map(|(law, group)| (law, group.total)))?;
        let mut groups = BTreeMap::new();
        for (((law, group), weights), key) in laws.into_iter().zip(weights).zip(all.groups().keys()) {
            let coefficients = estimator.estimate_coefficients(&weights);
            let (total, answers) = (group.total, group.counts.len());
            let mut added = Added { law, coefficients, total, answers, mean: Vec::new() };
            added.mean = added.by(estimator, &group.counts);
            groups.insert(&key[..], added);
        }
        Ok(Influences { estimator, groups })
    }

    /// Of these responses, in the order of the table.
    fn of(&self, counts: &UnitCounts) -> Vec<f64> {
        let mut sum = vec![0.0; self.estimator.cells()];
        for UnitGroup { key, total, counts } in &counts.groups {
            let Some(group) = self.groups.get(&key[..]) else { continue };
            let mut dense = vec![0.0; group.answers];
            counts.iter().for_each(|(cell, count)| dense[*cell as usize] += count);
            let share = total / group.total;
            let less = |(sum, (own, mean)): (&mut f64, (f64, &f64))| *sum += own - share * mean;
            sum.iter_mut().zip(group.by(self.estimator, &dense).into_iter().zip(&group.mean)).for_each(less);
        }
        self.estimator.to_order(sum)
    }
}

impl Added {
    fn by(&self, estimator: &TableEstimator<'_>, counts: &[f64]) -> Vec<f64> {
        let mut cells = estimator.invert(&estimator.frequencies(&self.law, counts, self.total), false);
        estimator.apply(&mut cells, &self.law, &self.coefficients);
        cells
    }
}
