//! Standard errors under sampling designs, from the variation between sampling units or between replicates.
//!
//! A weighted estimate is the mean of the contributions of responses to each cell. Its variance under a design
//! requires no model. For a sampling unit, let `t` be the sum over its responses of weight times contribution less
//! the mean, divided by the sum of all weights. The variance is `sum over strata of m / (m - 1) sum over their m
//! units of (t - mean of t)^2`. It includes the noise of the randomization, for any channels. If a fraction `f` of a
//! stratum was drawn, this is multiplied by `1 - f`, and `f` times the noise is added, which remains even if
//! everybody is asked. Units without people in the estimated group have `t = 0`. With calibrated weights, `t` is
//! reduced by what the benchmarks explain (Deville and Särndal 1992).
//!
//! The noise of one response: given the true record, its contribution less the mean, `y`, has the expectation `w / W
//! (e - share)`, where `e` is 1 in the true cell and 0 elsewhere. So its variance is that of `y y' - (w / W)^2
//! (diag(e) - e share' - share e' + share share')`. The response's own unbiased estimate of `e` can replace `e`.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::{EstimateError, GroupLaw, TableEstimator};
use crate::tally::{LonelyPsu, PsuCounts, Stratum, TableCounts, UnitCounts, UnitGroup, VarianceMethod};

/// Maximum number of stored values: units times cells.
const MAX_NUMBERS: usize = 1 << 26;

/// A covariance of all cells: the sum of the outer products of columns with themselves, less the part that is no
/// noise.
pub(crate) struct Scatter {
    columns: Vec<Vec<f64>>,
    truths: Option<Truths>,
}

/// The sum over responses of `f (w / W)^2 (diag(e) - e share' - share e' + share share')`.
struct Truths {
    /// Sum of `f (w / W)^2 e`.
    cells: Vec<f64>,
    /// Sum of `f (w / W)^2`.
    total: f64,
    shares: Vec<f64>,
}

impl Scatter {
    /// Returns the variance of `sum_c g_c share_c`.
    pub(crate) fn variance(&self, coefficients: &[f64]) -> f64 {
        let dot = |column: &Vec<f64>| column.iter().zip(coefficients).map(|(a, b)| a * b).sum::<f64>();
        let all: f64 = self.columns.iter().map(|column| dot(column).powi(2)).sum();
        let Some(Truths { cells, total, shares }) = &self.truths else { return all };
        let squares: f64 = cells.iter().zip(coefficients).map(|(cell, g)| cell * g * g).sum();
        let mean = dot(shares);
        (all - squares + 2.0 * dot(cells) * mean - total * mean * mean).max(0.0)
    }

    /// Returns the variance of each cell.
    pub(crate) fn variances(&self, cells: usize) -> Vec<f64> {
        let mut sum = vec![0.0; cells];
        for column in &self.columns {
            sum.iter_mut().zip(column).for_each(|(sum, value)| *sum += value * value);
        }
        if let Some(Truths { cells, total, shares }) = &self.truths {
            for (sum, (cell, share)) in sum.iter_mut().zip(cells.iter().zip(shares)) {
                *sum = (*sum - cell * (1.0 - 2.0 * share) - total * share * share).max(0.0);
            }
        }
        sum
    }

    /// Returns the covariance of all cells.
    pub(crate) fn dense(&self, cells: usize) -> DMatrix<f64> {
        let columns: Vec<f64> = self.columns.iter().flatten().copied().collect();
        let columns = DMatrix::from_vec(cells, self.columns.len(), columns);
        let mut covariance = &columns * columns.transpose();
        if let Some(Truths { cells, total, shares }) = &self.truths {
            let (cells, shares) = (DVector::from_column_slice(cells), DVector::from_column_slice(shares));
            covariance -= DMatrix::from_diagonal(&cells);
            covariance += &cells * shares.transpose() + &shares * cells.transpose();
            covariance -= &shares * shares.transpose() * *total;
        }
        covariance
    }
}

impl TableEstimator<'_> {
    /// Returns the covariance under the sampling design, in the order of the table; `None` for a simple random
    /// sample.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if the table cannot be estimated, a replicate has no responses, or there are too
    /// many units.
    pub(crate) fn scatter(&self, tally: &TableCounts) -> Result<Option<Scatter>, EstimateError> {
        match tally.drawn() {
            None => Ok(None),
            Some(VarianceMethod::Linearization(units)) => self.scatter_of_units(tally, units).map(Some),
            Some(VarianceMethod::Replicates(replicates, tallies)) => {
                let estimate = self.shares(tally)?;
                let one = |replicate: &TableCounts| self.shares(replicate).map_err(|_| EstimateError::EmptyReplicate);
                let shares = tallies.iter().map(one).collect::<Result<Vec<Vec<f64>>, EstimateError>>()?;
                Ok(Some(Scatter { columns: replicates.deviations(&estimate, &shares), truths: None }))
            }
        }
    }

    /// Returns the covariance matrix of all cells under the design, in the order of the table.
    ///
    /// `None` for a simple random sample.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if the table cannot be estimated, a replicate has no responses, or there are too
    /// many units.
    pub fn design_covariance(&self, tally: &TableCounts) -> Result<Option<DMatrix<f64>>, EstimateError> {
        Ok(self.scatter(tally)?.map(|scatter| scatter.dense(self.cells())))
    }

    fn scatter_of_units(&self, tally: &TableCounts, units: &PsuCounts) -> Result<Scatter, EstimateError> {
        let sample = units.sample();
        let explained = sample.calibration().is_some();
        let held = if explained { sample.stratum_of().len() } else { units.counts().len() };
        let held = held + noisy(units).map(|(_, counts)| counts.groups.len()).sum::<usize>();
        if held.saturating_mul(self.cells()) > MAX_NUMBERS {
            return Err(EstimateError::TooManyUnits { units: held, cells: self.cells() });
        }
        let influences = Influences::new(self, tally)?;
        let mut sums = self.sums_of_units(&influences, units);
        let mut strata: Vec<Vec<Vec<f64>>> = vec![Vec::new(); sample.strata().len()];
        for (unit, &stratum) in sample.stratum_of().iter().enumerate() {
            strata[stratum as usize].extend(sums.remove(&(unit as u32)));
        }
        let mut columns = Vec::with_capacity(held + strata.len());
        for (stratum, sums) in sample.strata().iter().zip(strata) {
            columns.extend(self.columns_of_stratum(stratum, sums, sample.lonely()));
        }
        if sample.lonely() == LonelyPsu::Average {
            let (all, lonely) = (sample.strata().len(), sample.strata().iter().filter(|own| own.is_lonely()).count());
            let factor = (all as f64 / (all - lonely) as f64).sqrt();
            columns.iter_mut().flatten().for_each(|value| *value *= factor);
        }
        let truths = self.add_noise(&influences, units, &mut columns);
        Ok(Scatter { columns, truths })
    }

    /// Returns the deviations of the sums of a stratum's units from their mean, times the square root of its
    /// factor.
    fn columns_of_stratum(&self, stratum: &Stratum, sums: Vec<Vec<f64>>, lonely: LonelyPsu) -> Vec<Vec<f64>> {
        let (m, left) = (stratum.units as f64, 1.0 - stratum.drawn());
        if left <= 0.0 || sums.is_empty() {
            return Vec::new();
        }
        if stratum.units < 2 {
            // Over all units, the mean of the sums is zero.
            let scaled = |sum: Vec<f64>| sum.into_iter().map(|value| left.sqrt() * value).collect();
            return if lonely == LonelyPsu::Adjust { sums.into_iter().map(scaled).collect() } else { Vec::new() };
        }
        let factor = (left * m / (m - 1.0)).sqrt();
        let mut mean = vec![0.0; self.cells()];
        sums.iter().for_each(|sum| mean.iter_mut().zip(sum).for_each(|(mean, value)| *mean += value / m));
        // Units without counted people deviate from the mean by the mean itself.
        let others = factor * (m - sums.len() as f64).max(0.0).sqrt();
        let deviation = |sum: Vec<f64>| sum.iter().zip(&mean).map(|(a, b)| factor * (a - b)).collect();
        let mut columns: Vec<Vec<f64>> = sums.into_iter().map(deviation).collect();
        columns.push(mean.iter().map(|mean| others * mean).collect());
        columns
    }

    /// Adds the noise of responses in strata with a sampled fraction `f`, times `f`: columns, and the part that
    /// is no noise.
    fn add_noise(&self, influences: &Influences<'_>, units: &PsuCounts, columns: &mut Vec<Vec<f64>>) -> Option<Truths> {
        let all: f64 = influences.groups.values().map(|group| group.total).sum();
        let mut mean = vec![0.0; self.cells()];
        influences.groups.values().for_each(|group| add(&mut mean, &group.mean, 1.0));
        let (mut cells, mut total) = (vec![0.0; self.cells()], 0.0);
        for (drawn, counts) in noisy(units) {
            for response in &counts.groups {
                let Some((own, mut beyond)) = influences.of_group(response) else { continue };
                // Its contribution is `w / W` times its unbiased estimate of its true cell.
                let share = response.total / all;
                add(&mut cells, &own, drawn * share);
                total += drawn * share * share;
                beyond.iter_mut().for_each(|value| *value *= drawn.sqrt());
                columns.push(self.to_order(beyond));
            }
        }
        (total > 0.0).then(|| Truths { cells: self.to_order(cells), total, shares: self.to_order(mean) })
    }

    /// Returns the contribution of each unit to the estimate, by its number; some units that contribute nothing
    /// are omitted.
    fn sums_of_units(&self, influences: &Influences<'_>, units: &PsuCounts) -> BTreeMap<u32, Vec<f64>> {
        let mut sums: BTreeMap<u32, Vec<f64>> =
            units.counts().iter().map(|(unit, counts)| (*unit, influences.of(counts))).collect();
        let Some(calibration) = units.sample().calibration() else { return sums };
        // Regression of the contributions on the benchmarks, with the weights before calibration.
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
        sums
    }
}

/// Returns the counts of units in strata with a known sampled fraction, with that fraction.
fn noisy(units: &PsuCounts) -> impl Iterator<Item = (f64, &UnitCounts)> {
    let sample = units.sample();
    let share = |unit: u32| sample.strata()[sample.stratum_of()[unit as usize] as usize].drawn();
    units.counts().iter().map(move |(unit, counts)| (share(*unit), counts)).filter(|(drawn, _)| *drawn > 0.0)
}

fn add(sum: &mut [f64], values: &[f64], factor: f64) {
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
}

/// Contributions of responses to an estimate, beyond their part of its mean.
///
/// Over a partition of all responses they sum to zero, and the estimate varies as their sum does.
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
    fn new(estimator: &'e TableEstimator<'e>, all: &'e TableCounts) -> Result<Influences<'e>, EstimateError> {
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

    /// Returns the contribution of these responses, in the order of the table.
    fn of(&self, counts: &UnitCounts) -> Vec<f64> {
        let mut sum = vec![0.0; self.estimator.cells()];
        counts.groups.iter().filter_map(|some| self.of_group(some)).for_each(|(_, beyond)| add(&mut sum, &beyond, 1.0));
        self.estimator.to_order(sum)
    }

    /// Returns the contribution of responses with the same channel IDs, and the part beyond their part of the mean.
    ///
    /// `None` if these channel IDs do not occur.
    fn of_group(&self, some: &UnitGroup) -> Option<(Vec<f64>, Vec<f64>)> {
        let group = self.groups.get(&some.key[..])?;
        let mut dense = vec![0.0; group.answers];
        some.counts.iter().for_each(|(cell, count)| dense[*cell as usize] += count);
        let own = group.by(self.estimator, &dense);
        let mut beyond = own.clone();
        add(&mut beyond, &group.mean, -some.total / group.total);
        Some((own, beyond))
    }
}

impl Added {
    fn by(&self, estimator: &TableEstimator<'_>, counts: &[f64]) -> Vec<f64> {
        let mut cells = estimator.invert(&estimator.frequencies(&self.law, counts, self.total), false);
        estimator.apply(&mut cells, &self.law, &self.coefficients);
        cells
    }
}
