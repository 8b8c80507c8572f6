//! Predicts standard errors before data collection.

use std::collections::BTreeMap;

use super::binomial::bounds;
use super::matrix::MatrixAxis;
use super::{Estimate, EstimateError, GroupLaw, TableEstimator, Target};
use crate::tally::ChannelCounts;

/// Maximum number of cells of tables with matrices whose worst case is computed, one true cell at a time.
const MAX_TRUTHS: usize = 4096;

impl TableEstimator<'_> {
    /// Returns the expected standard errors with this number of respondents in a uniform population.
    ///
    /// All possible cells are equally frequent.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if the table is not identifiable.
    pub fn predict(&self, respondents: f64, target: Target) -> Result<Estimate, EstimateError> {
        let groups: Vec<(GroupLaw, ChannelCounts)> = self
            .draws()
            .into_iter()
            .map(|(law, p)| {
                let total = respondents * p;
                let inclusion: f64 = law.observed[0];
                let mut counts = vec![total * inclusion];
                for axis in &self.matrices {
                    counts = counts.iter().flat_map(|c| axis.outputs_of_uniform().map(move |p| c * p)).collect();
                }
                let attribute_cells: usize = self.dims[..self.attributes.len()].iter().product();
                let counts = counts.repeat(attribute_cells);
                (law, ChannelCounts { total, squares: total, counts, square_counts: Vec::new() })
            })
            .collect();
        let groups: Vec<(GroupLaw, &ChannelCounts)> = groups.iter().map(|(law, group)| (law.clone(), group)).collect();
        let weights = self.component_weights(groups.iter().map(|(law, group)| (law, group.total)))?;
        if let Some((even, errors)) = self.predict_within(&groups, target) {
            return Ok(self.in_order(self.held_order(&even), self.held_order(&errors), respondents));
        }
        let shares = vec![1.0 / self.cells() as f64; self.cells()];
        let variances = self.variances(&groups, &weights, &shares, target);
        let standard_errors = variances.iter().map(|variance| variance.max(0.0).sqrt()).collect();
        Ok(self.in_order(shares, standard_errors, respondents))
    }

    /// Returns the expected standard errors if the table is `shares`, a distribution in the order of the table.
    ///
    /// `None` if a matrix includes attributes outside of the table.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if the table is not identifiable.
    ///
    /// # Panics
    /// Panics unless there is one share per cell.
    pub fn predict_at(&self, respondents: f64, shares: &[f64]) -> Result<Option<Estimate>, EstimateError> {
        assert_eq!(shares.len(), self.cells(), "one share per cell");
        let draws = self.draws();
        let weights = self.component_weights(draws.iter().map(|(law, p)| (law, *p)))?;
        if !self.matrices.iter().all(MatrixAxis::is_whole) {
            return Ok(None);
        }
        let held = self.held_order(shares);
        let mut variances = vec![0.0; self.cells()];
        for ((law, p), weights) in draws.iter().zip(&weights) {
            let spread = match law.has_strips() {
                true => self.spread_of_strips(&held, law, weights),
                false => {
                    let answers = self.expected(&self.forward(&held), law);
                    self.spread(&answers, None, law, weights)
                }
            };
            variances.iter_mut().zip(spread).for_each(|(sum, spread)| *sum += spread / (p * respondents));
        }
        let standard_errors = variances.iter().map(|variance| variance.max(0.0).sqrt()).collect();
        Ok(Some(self.in_order(held, standard_errors, respondents)))
    }

    /// Returns the largest standard error of any cell in any population.
    ///
    /// It is exact for plans with one channel per block, and otherwise a close upper bound. `None` if the table is
    /// too large, or a matrix includes attributes outside of it. Let `s(c, d)` be the mean square of a response's
    /// contribution to cell `c` if the true cell is `d`, and `t` the share of `c`. The variance of a response is at
    /// most `t s(c, c) + (1 - t) max_d s(c, d) - t^2`.
    ///
    /// # Errors
    /// Returns [`EstimateError`] if the table is not identifiable.
    pub fn worst_error(&self, respondents: f64) -> Result<Option<f64>, EstimateError> {
        let cells = self.cells();
        // Without matrices, cells differ only by which attributes agree with the true cell, so one true cell
        // suffices.
        let truths = if self.matrices.is_empty() { 1 } else { cells };
        if !self.matrices.iter().all(MatrixAxis::is_whole) || truths > MAX_TRUTHS {
            self.component_weights(self.draws().iter().map(|(law, p)| (law, *p)))?;
            return Ok(None);
        }
        let (mut own, mut other) = (vec![0.0; cells], vec![0.0f64; cells]);
        for truth in 0..truths {
            let squares = self.mean_squares(truth)?;
            own[truth] = squares[truth];
            let beside = |(cell, (most, square)): (usize, (&mut f64, f64))| {
                if cell != truth {
                    *most = most.max(square)
                }
            };
            other.iter_mut().zip(squares).enumerate().for_each(beside);
        }
        if truths == 1 {
            let most = bounds(other).1;
            (own, other) = (vec![own[0]], vec![most]);
        }
        let worst = |(&own, &other): (&f64, &f64)| {
            let share: f64 = ((own - other) / 2.0).clamp(0.0, 1.0);
            share * own + (1.0 - share) * other - share * share
        };
        let variance = bounds(own.iter().zip(&other).map(worst)).1;
        Ok(Some((variance.max(0.0) / respondents).sqrt()))
    }

    /// Returns the mean square of a response's contribution to its own cell; `None` with matrices, where it
    /// differs by cell.
    pub(super) fn own_square(&self) -> Option<f64> {
        if self.matrices.is_empty() { self.mean_squares(0).ok().map(|squares| squares[0]) } else { None }
    }

    /// Returns the mean square of a response's contribution to each cell in the internal order, given the true
    /// cell.
    fn mean_squares(&self, truth: usize) -> Result<Vec<f64>, EstimateError> {
        let draws = self.draws();
        let weights = self.component_weights(draws.iter().map(|(law, p)| (law, *p)))?;
        let mut certain = vec![0.0; self.cells()];
        certain[truth] = 1.0;
        let mut squares = vec![0.0; self.cells()];
        for ((law, p), weights) in draws.iter().zip(&weights) {
            let (spread, mean) = match law.has_strips() {
                true => (self.spread_of_strips(&certain, law, weights), self.mean_of_strips(&certain, law, weights)),
                false => {
                    let answers = self.expected(&self.forward(&certain), law);
                    let mut mean = self.invert(&answers, false);
                    self.apply(&mut mean, law, &self.estimate_coefficients(weights));
                    (self.spread(&answers, None, law, weights), mean)
                }
            };
            let square = |(sum, (spread, mean)): (&mut f64, (f64, f64))| *sum += (spread + mean * mean) / p;
            squares.iter_mut().zip(spread.into_iter().zip(mean)).for_each(square);
        }
        Ok(squares)
    }

    /// Returns all combinations of assigned channels, each with its law and its probability.
    pub(super) fn draws(&self) -> Vec<(GroupLaw, f64)> {
        let mut draws: BTreeMap<Vec<u16>, f64> = BTreeMap::from([(Vec::new(), 1.0)]);
        for &block in &self.layout.tagged {
            let channels = self.plan.blocks()[block].channels();
            let total: f64 = channels.iter().map(|&(weight, _)| weight as f64).sum();
            let mut longer = BTreeMap::new();
            for (tag, (weight, _)) in channels.iter().enumerate() {
                for (tags, p) in &draws {
                    let tags = [&tags[..], &[tag as u16]].concat();
                    *longer.entry(self.layout.key(self.plan, &tags)).or_insert(0.0) += p * *weight as f64 / total;
                }
            }
            draws = longer;
        }
        draws.iter().map(|(tags, &p)| (self.law(tags), p)).collect()
    }
}
